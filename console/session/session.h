/* Between core and world: backends, clock, script, transcript and core on one main loop.
 *
 * Every input is stamped, recorded, folded; outputs are recorded behind it; requests go to their
 * backends. Before a command is told or carried out the kernel has it recorded, and where any
 * backend is real the disk.
 * Threading: the default main context's thread only.
 */
#ifndef PULT_SESSION_H
#define PULT_SESSION_H

#include "backends/backend.h"
#include "core/core.h"
#include "model/stage_source.h"
#include "session/script.h"
#include "session/transcript.h"

typedef enum {
  CLOCK_REAL,
  CLOCK_SCALED, /* virtual backends and replays only */
  CLOCK_JUMP,
} ClockMode;

typedef struct {
  const Layout *layout; /* borrowed */
  CoreOptions core;
  ClockMode clock;
  double speed;                          /* CLOCK_SCALED */
  const char *record;                    /* path; NULL: not recorded */
  const char *script_name, *script_text; /* for the transcript's head */
  gboolean must_record;                  /* real power is refused once recording failed */
  const char *reservations;              /* path; NULL, or jumping: they end with the session */
  const GPtrArray *stages; /* of StageSource, borrowed: what lines tell of boots; NULL: nothing */
  gboolean shipped_stages; /* instead: those that LAYOUT means, read when a line comes to tell */
} SessionOptions;

typedef struct Session Session;

/* Sees every event as the transcript has them: an input once it is recorded and before it is
 * folded, then each output as core says it. Must not call session_say() or session_stop(). */
typedef void (*SessionWatch)(const Event *event, gpointer data);
/* One line for the operator that no event carries: a queued command that makes no sense any more,
 * a recording that failed, reservations that could not be read or kept. */
typedef void (*SessionComplain)(const char *message, gpointer data);

#define PULT_VERSION "0.1"
#define SESSION_ERROR (g_quark_from_static_string("pult-session"))

Session *session_new(const SessionOptions *options, GError **error);
void session_free(Session *session); /* ends the recording */
/* What a backend posts to: pass these to its constructor. */
void session_post(const Event *event, gpointer session);
/* Takes BACKEND. Jump or scaled time with one that is not virtual is an error. */
gboolean session_add_backend(Session *session, Backend *backend, GError **error);
void session_watch(Session *session, SessionWatch watch, SessionComplain complain, gpointer data);
/* Starts backends and the clock; t = 0. */
void session_start(Session *session);
const CoreState *session_state(const Session *session);
gint64 session_now(const Session *session);

/* A line typed at the prompt; its commands are fed one after the other, behind those of earlier
 * lines. FALSE with the error to show, and then nothing was done. A command that does not end ok
 * drops the rest of its line; one that waits for consent holds it back until it is given again with
 * CONFIRM (the number of seats typed; -1 none). */
gboolean session_say(Session *session, const char *line, gint confirm, GError **error);
guint session_waiting(const Session *session);     /* typed commands that wait for their turn */
gboolean session_is_busy(const Session *session);  /* a command of prompt or script is not done */
gboolean session_has_quit(const Session *session); /* `quit` was said and is done */
/* Ctrl-C: cancels what has not been sent, drops what was typed and interrupts the script; open
 * `with` blocks put their values back. The second time session_run() returns at once. */
void session_stop(Session *session);
/* Both only without real backends. */
void session_set_speed(Session *session, double speed);
void session_pause(Session *session, gboolean paused);

/* Commands that come neither from the prompt nor from a script, at times of their own; at equal t
 * behind all else. */
typedef struct {
  gint64 (*due)(gpointer data); /* t of the next; TIME_NEVER: not before something happens */
  void (*give)(gpointer data);  /* that time has come: calls session_give(), or lets it pass */
  gboolean (*is_over)(gpointer data); /* nothing more is wanted: session_run() returns */
} SessionFeed;
/* Before session_start(). FEED and DATA are borrowed. */
void session_set_feed(Session *session, const SessionFeed *feed, gpointer data);
/* For SessionFeed.give alone. SAID is recorded as what was typed, TEXT is carried out. *CMD, its
 * number, is set before it is folded. FALSE: it makes no sense, and nothing was recorded. */
gboolean session_give(Session *session, const char *said, const char *text, gint confirm,
                      guint32 *cmd, GError **error);

/* Loads that still run end with the session: says so in the transcript. Their labels, blanks
 * between; NULL: none runs. A feed has that among its commands. Last of all. */
char *session_end_loads(Session *session);

/* Runs SCRIPT (borrowed; NULL: what was said so far, or the feed). Jumping, time passes in here and
 * nowhere else; otherwise a main loop runs until the script's end. Returns the exit status of the
 * contract: 0 all held, 1 an expectation failed, 2 a command made no sense or lacks consent, 3
 * something was not carried out, not recorded or not reserved for other sessions, 130 interrupted.
 * The status 2 of bad input comes with an error.
 */
int session_run(Session *session, const Script *script, GError **error);

typedef struct {
  gboolean recording;       /* now */
  const char *record_path;  /* NULL: never asked */
  const char *record_error; /* NULL, or why recording ended */
  guint64 lines;
} SessionRecord;
void session_record_status(const Session *session, SessionRecord *record);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Session, session_free)

#endif
