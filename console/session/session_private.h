/* What session*.c share. */
#ifndef PULT_SESSION_PRIVATE_H
#define PULT_SESSION_PRIVATE_H

#include "session/clock.h"
#include "session/reservations.h"
#include "session/session.h"

/* A command that waits for its turn. */
typedef struct {
  char *text;
  gint confirm;
  guint line; /* of which typed line it is */
} Typed;

typedef struct {
  GQueue waiting; /* of Typed */
  GQueue held;    /* the rest of a line whose command lacks consent */
  guint32 cmd;    /* outstanding; 0 none */
  gboolean quits; /* it is `quit` */
  guint line;     /* whose line that is */
  guint n_lines;
} Prompt;

typedef struct {
  ScriptRun *run;   /* NULL: no script */
  guint32 cmd;      /* outstanding; 0 none */
  const char *held; /* the run's next command, not to be resolved yet; NULL none */
  gboolean quits;
  gboolean ended; /* nothing more to come */
  gboolean unconfirmed, interrupted, aborted;
  GError *error;
  guint n_unheld; /* expectations */
} Play;

typedef struct {
  TranscriptWriter *writer; /* NULL: not recording (any more) */
  TranscriptSession about;  /* but for the time at which it started */
  char *path, *error;
  GString *line;
  guint64 lines;
  gint64 flushed_us;
  guint timer;
} Recording;

typedef struct {
  Reservations *file; /* NULL: none */
  char **told;        /* by NodeId: what core was last told of the file's; NULL nothing */
  char *by;           /* anna@desk1 */
  guint timer;
  gboolean warned, failed; /* that nothing is kept; something could not be */
} Keeping;

typedef struct {
  SeatFinder *finder;
  StageMatcher *matcher; /* NULL: lines tell nothing */
  gboolean shipped;      /* still to be read */
  GPtrArray *read;       /* of StageSource; NULL: none were */
} Stages;

struct Session {
  const Layout *layout;
  CoreState *core;
  gboolean jumps, must_record;
  Clock clock;
  GPtrArray *backends;
  GPtrArray *by_request; /* request id → its backend, borrowed */
  gboolean any_real;
  gint64 now; /* t of the last input */
  guint64 seq;
  guint32 last_cmd;
  gboolean folding, advancing, quit;
  GSource *timer;
  GMainLoop *loop;
  Recording recording;
  Keeping keeping;
  Stages stages;
  Prompt prompt;
  Play play;
  const SessionFeed *feed; /* NULL: none */
  gpointer feed_data;
  SessionWatch watch;
  SessionComplain complain;
  gpointer watch_data;
};

/* session.c */
void session_fold(Session *session, Event *input);
void session_complain(Session *session, const char *message);

/* session_record.c */
gboolean recording_start(Session *session, const SessionOptions *options, GError **error);
/* The session's time is 0: writes the two lines before the first event. */
void recording_begin(Session *session);
void recording_add(Session *session, const Event *event);
void recording_flush(Session *session);
void recording_sync(Session *session);
void recording_end(Session *session);

/* session_reserve.c */
void reserve_init(Session *session, const SessionOptions *options);
void reserve_begin(Session *session);
void reserve_clear(Session *session);
/* Tells core what other sessions have reserved or released since. Not while folding. */
void reserve_look(Session *session);
/* SAID, a wall-clock time in it turned into a duration from now. NULL with an error. */
char *reserve_resolve(const char *said, GError **error);
/* Writes down what COMMAND, which was just folded, reserved or released. */
void reserve_keep(Session *session, const Command *command);

/* session_stages.c */
void stages_init(Session *session, const SessionOptions *options);
void stages_clear(Session *session);
/* Folds a line that a backend posted, and what it tells of a boot. */
void stages_fold_line(Session *session, Event *line);

/* session_feed.c: the prompt's and the script's commands, one outstanding each. */
/* Feeds the next command whose turn it is at session->now; FALSE when there is none. */
gboolean feed_next(Session *session);
gboolean feed_is_ready(const Session *session);
void feed_told(Session *session, const DoneEvent *done);
gboolean feed_is_idle(const Session *session);
void feed_clear(Session *session);

/* session_loop.c */
/* Folds all that is due up to and including T. */
void loop_run_due(Session *session, gint64 t);
/* The time a command said now is stamped with; what is due before it has been folded then. */
void loop_catch_up(Session *session);
/* Lets the timer see to what is due next. */
void loop_arm(Session *session);
void loop_clear(Session *session);

#endif
