/* What is due next, and when it is due on the wall.
 *
 * Order at equal t: backend events as posted, then wake, then command. So everything due at a time
 * is folded before a command is stamped with it. */
#include "core/state.h"
#include "session/session_private.h"

#define SLICE_US 20000 /* of wall time, before keys and the screen have their turn */
#define STEPS_A_LOOK 256

static Backend *
first_due(const Session *session, gint64 *t)
{
  Backend *first = NULL;
  *t = TIME_NEVER;
  for (guint i = 0; i < session->backends->len; i++) {
    Backend *backend = session->backends->pdata[i];
    gint64 due = backend->class->virtual_time ? backend->class->next_due(backend) : TIME_NEVER;
    if (due < *t) {
      *t = due;
      first = backend;
    }
  }
  return first;
}

/* A command that is late is due now. */
static gint64
given_due(const Session *session)
{
  return session->feed != NULL ? MAX(session->feed->due(session->feed_data), session->now)
                               : TIME_NEVER;
}

static gint64
next_due(const Session *session)
{
  gint64 t;
  first_due(session, &t);
  return MIN(MIN(t, core_deadline(session->core)), given_due(session));
}

/* The earliest thing due, if that is not after LIMIT. */
static gboolean
step(Session *session, gint64 limit)
{
  gint64 t;
  Backend *backend = first_due(session, &t);
  gint64 wake = core_deadline(session->core);
  gint64 given = given_due(session);
  gint64 first = MIN(MIN(t, wake), given);
  if (first > limit || first == TIME_NEVER)
    return FALSE;
  if (t == first) {
    session->advancing = TRUE;
    backend->class->advance(backend, t);
    session->advancing = FALSE;
    /* It is t even if there was nothing to tell of: what comes next must not be stamped before. */
    session->now = MAX(session->now, t);
  } else if (wake == first) {
    Event event = {.kind = EVENT_WAKE, .t = MAX(wake, session->now)};
    session_fold(session, &event);
  } else {
    session->now = given;
    session->feed->give(session->feed_data);
  }
  return TRUE;
}

void
loop_run_due(Session *session, gint64 t)
{
  while (step(session, t))
    ;
}

void
loop_catch_up(Session *session)
{
  gint64 t = session_now(session);
  loop_run_due(session, t);
  session->now = MAX(session->now, t);
}

/* Even with more due at this very time. */
static gboolean
ended_at_once(const Session *session)
{
  return session->play.aborted || session->quit ||
         (session->feed != NULL && session->feed->is_over(session->feed_data));
}

static gboolean
ended(const Session *session)
{
  return ended_at_once(session) ||
         (session->feed == NULL && session->play.ended && feed_is_idle(session));
}

/* FALSE when the slice was too short for what is due. */
static gboolean
catch_up_in_slice(Session *session)
{
  gint64 end = g_get_monotonic_time() + SLICE_US;
  gint64 t = session_now(session);
  do {
    for (guint i = 1; step(session, t); i++)
      if (i % STEPS_A_LOOK == 0 && g_get_monotonic_time() > end)
        return FALSE;
    session->now = MAX(session->now, t);
  } while (!ended(session) && feed_next(session));
  return TRUE;
}

static gboolean
on_timer(gpointer data)
{
  Session *session = data;
  /* Below keys: a simulator that cannot keep up must not shut the operator out. */
  if (g_source_get_priority(session->timer) != G_PRIORITY_DEFAULT_IDLE)
    g_source_set_priority(session->timer, G_PRIORITY_DEFAULT_IDLE);
  if (!catch_up_in_slice(session))
    g_source_set_ready_time(session->timer, 0);
  else
    loop_arm(session);
  if (session->loop != NULL && ended(session))
    g_main_loop_quit(session->loop);
  return G_SOURCE_CONTINUE;
}

static gboolean
dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
  (void)source;
  return callback(data);
}

static GSourceFuncs timer_class = {.dispatch = dispatch};

void
loop_arm(Session *session)
{
  if (session->jumps)
    return;
  if (session->timer == NULL) {
    session->timer = g_source_new(&timer_class, sizeof(GSource));
    g_source_set_callback(session->timer, on_timer, session, NULL);
    g_source_attach(session->timer, NULL);
  }
  gint64 due = clock_when(&session->clock, next_due(session), g_get_monotonic_time());
  gboolean at_once = feed_is_ready(session) || (session->loop != NULL && ended(session));
  g_source_set_ready_time(session->timer, at_once ? 0 : due);
}

void
loop_clear(Session *session)
{
  if (session->timer == NULL)
    return;
  g_source_destroy(session->timer);
  g_source_unref(session->timer);
}

/* A transcript's second on its way to the kernel, and Ctrl-C, which comes by the main context. */
static void
look_around(Session *session)
{
  if (g_get_monotonic_time() - session->recording.flushed_us > G_USEC_PER_SEC)
    recording_flush(session);
  while (g_main_context_iteration(NULL, FALSE))
    ;
}

static void
jump(Session *session)
{
  for (guint i = 1; !ended_at_once(session); i++) {
    if (i % STEPS_A_LOOK == 0)
      look_around(session);
    if (step(session, session->now) || feed_next(session))
      continue;
    if (ended(session))
      return;
    if (!step(session, TIME_NEVER)) {
      session->play.ended = TRUE;
      g_set_error(&session->play.error, SESSION_ERROR, 0,
                  "a command is not done, and nothing is due that could end it");
      return;
    }
  }
}

static void
run_in_main_loop(Session *session)
{
  session->loop = g_main_loop_new(NULL, FALSE);
  /* The first time right behind what backends begin with, and before that is answered: what is
   * asked first can then be answered by the look that a session begins with. */
  loop_arm(session);
  g_source_set_priority(session->timer, G_PRIORITY_DEFAULT);
  g_source_set_ready_time(session->timer, 0);
  g_main_loop_run(session->loop);
  g_clear_pointer(&session->loop, g_main_loop_unref);
}

static int
exit_status(const Session *session)
{
  const Play *play = &session->play;
  if (play->interrupted)
    return 130;
  if (play->error != NULL || play->unconfirmed)
    return 2;
  if ((play->run != NULL && script_run_failed(play->run)) || session->recording.error != NULL ||
      session->keeping.failed)
    return 3;
  return play->n_unheld > 0 ? 1 : 0;
}

int
session_run(Session *session, const Script *script, GError **error)
{
  Play *play = &session->play;
  g_assert(play->run == NULL);
  play->run = script != NULL ? script_run_new(script, state_options(session->core)->seed) : NULL;
  play->ended = script == NULL;
  if (session->jumps)
    jump(session);
  else
    run_in_main_loop(session);
  recording_flush(session);
  int status = exit_status(session);
  g_clear_pointer(&play->run, script_run_free);
  if (play->error != NULL)
    g_propagate_error(error, g_steal_pointer(&play->error));
  return status;
}
