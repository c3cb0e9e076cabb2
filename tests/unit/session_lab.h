/* A session over two seats and a backend of the tests' own, and what it said. */
#ifndef PULT_TEST_SESSION_LAB_H
#define PULT_TEST_SESSION_LAB_H

#include "session/session.h"

/* A backend that answers status after LOOK, at once if nobody sets it, `get` with 8, and all else
 * after two seconds. `on` for a node of ours that is broken fails. */
typedef struct {
  gint64 t;
  Event event;
} Answer;

typedef struct {
  Backend backend;
  GArray *answers; /* of Answer, in the order they were planned */
  NodeId broken;
  gint64 look;
} Slow;

extern const BackendClass session_lab_slow;
/* The same, but of the real world: it answers nothing. */
extern const BackendClass session_lab_real;

/* What a session said, each event as `KIND@MILLISECONDS`, and complaints. */
typedef struct {
  Layout *layout;
  Session *session;
  Slow *slow;
  GPtrArray *events, *complaints;
  gint64 last_t;
} SessionLab;

/* Jumping, seed 1, every plan consented to. */
extern const SessionOptions session_lab_jumping;

/* Started, unless the backend's time does not go with OPTIONS: that is a complaint then. */
SessionLab *session_lab_new(const SessionOptions *options, const BackendClass *class);
void session_lab_free(SessionLab *lab);
/* The exit status of a script of this TEXT. */
int session_lab_run(SessionLab *lab, const char *text, GError **error);
/* Place of the first event that begins with WANTED, from FROM on; the test fails without one. */
guint session_lab_find(const SessionLab *lab, const char *wanted, guint from);
gboolean session_lab_has(const SessionLab *lab, const char *wanted);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SessionLab, session_lab_free)

#endif
