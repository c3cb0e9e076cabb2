/* Whatever happens goes through session_fold(): stamped, recorded, folded, and what core says to
 * it recorded and handed on. */
#include <string.h>

#include "session/session_private.h"

static gboolean
check_clock(const SessionOptions *options, GError **error)
{
  if (options->clock != CLOCK_SCALED || (options->speed >= 0.001 && options->speed <= 1e6))
    return TRUE;
  g_set_error(error, SESSION_ERROR, 0, "a speed is 0.001 to 1000000 times real time");
  return FALSE;
}

Session *
session_new(const SessionOptions *options, GError **error)
{
  if (!check_clock(options, error))
    return NULL;
  g_autoptr(Session) session = g_new0(Session, 1);
  session->layout = options->layout;
  session->jumps = options->clock == CLOCK_JUMP;
  session->must_record = options->must_record;
  session->clock.speed = options->clock == CLOCK_SCALED ? options->speed : 1;
  session->backends = g_ptr_array_new_with_free_func((GDestroyNotify)backend_free);
  session->by_request = g_ptr_array_new();
  session->core = core_new(options->layout, &options->core);
  g_queue_init(&session->prompt.waiting);
  g_queue_init(&session->prompt.held);
  reserve_init(session, options);
  stages_init(session, options);
  if (!recording_start(session, options, error))
    return NULL;
  return g_steal_pointer(&session);
}

void
session_free(Session *session)
{
  if (session == NULL)
    return;
  loop_clear(session);
  feed_clear(session);
  reserve_clear(session);
  stages_clear(session);
  recording_end(session);
  /* Backends last: core's outputs name them by their own strings. */
  core_free(session->core);
  g_ptr_array_unref(session->by_request);
  g_ptr_array_unref(session->backends);
  g_free(session);
}

gboolean
session_add_backend(Session *session, Backend *backend, GError **error)
{
  g_autoptr(Backend) owned = backend;
  gboolean is_virtual = backend->class->virtual_time;
  if (!is_virtual && (session->jumps || session->clock.speed != 1)) {
    g_set_error(error, SESSION_ERROR, 0,
                "backend `%s` reaches real machines, and their time can neither be jumped over nor "
                "scaled",
                backend->name);
    return FALSE;
  }
  session->any_real |= !is_virtual;
  g_ptr_array_add(session->backends, g_steal_pointer(&owned));
  return TRUE;
}

void
session_watch(Session *session, SessionWatch watch, SessionComplain complain, gpointer data)
{
  session->watch = watch;
  session->complain = complain;
  session->watch_data = data;
}

void
session_complain(Session *session, const char *message)
{
  if (session->complain != NULL)
    session->complain(message, session->watch_data);
}

void
session_set_feed(Session *session, const SessionFeed *feed, gpointer data)
{
  session->feed = feed;
  session->feed_data = data;
}

void
session_start(Session *session)
{
  clock_start(&session->clock, session->clock.speed, g_get_monotonic_time());
  recording_begin(session);
  for (guint i = 0; i < session->backends->len; i++) {
    Backend *backend = session->backends->pdata[i];
    backend->class->start(backend, 0);
  }
  reserve_begin(session);
  loop_arm(session);
}

const CoreState *
session_state(const Session *session)
{
  return session->core;
}

gint64
session_now(const Session *session)
{
  if (session->jumps)
    return session->now;
  return MAX(session->now, clock_now(&session->clock, g_get_monotonic_time()));
}

static void
say_event(Session *session, const Event *event)
{
  recording_add(session, event);
  if (session->watch != NULL)
    session->watch(event, session->watch_data);
}

static Backend *
find_backend(const Session *session, const char *name)
{
  for (guint i = 0; i < session->backends->len; i++) {
    Backend *backend = session->backends->pdata[i];
    if (strcmp(backend->name, name) == 0)
      return backend;
  }
  return NULL;
}

static void
submit(Session *session, const RequestEvent *request)
{
  Backend *backend = find_backend(session, request->backend);
  g_assert(backend != NULL); /* core asks only those whose link it saw */
  if (request->id >= session->by_request->len)
    g_ptr_array_set_size(session->by_request, (gint)request->id + 1);
  session->by_request->pdata[request->id] = backend;
  backend->class->submit(backend, session->now, request);
}

static void
cancel(Session *session, guint32 request)
{
  g_assert(request < session->by_request->len);
  Backend *backend = session->by_request->pdata[request];
  g_assert(backend != NULL);
  backend->class->cancel(backend, session->now, request);
}

static void
on_output(const Event *output, gpointer data)
{
  Session *session = data;
  Event event = *output;
  event.t = session->now;
  event.seq = ++session->seq;
  say_event(session, &event);
  if (event.kind == EVENT_REQUEST)
    submit(session, &event.request);
  else if (event.kind == EVENT_CANCEL)
    cancel(session, event.cancel.request);
  else if (event.kind == EVENT_DONE)
    feed_told(session, &event.done);
  else if (event.kind == EVENT_EXPECT && !event.expect.held &&
           !g_str_has_prefix(event.expect.text, "try "))
    session->play.n_unheld++;
}

void
session_fold(Session *session, Event *input)
{
  g_assert(!session->folding && input->t >= session->now);
  session->folding = TRUE;
  session->now = input->t;
  input->seq = ++session->seq;
  say_event(session, input);
  core_step(session->core, input, on_output, session);
  session->folding = FALSE;
}

void
session_post(const Event *event, gpointer data)
{
  Session *session = data;
  Event input = *event;
  if (session->advancing) {
    input.t = MAX(event->t, session->now);
  } else {
    loop_catch_up(session);
    input.t = session->now;
  }
  if (input.kind == EVENT_LINE)
    stages_fold_line(session, &input);
  else
    session_fold(session, &input);
  if (!session->advancing)
    loop_arm(session);
}

gboolean
session_has_quit(const Session *session)
{
  return session->quit;
}

void
session_set_speed(Session *session, double speed)
{
  if (session->any_real || session->jumps)
    return;
  clock_set_speed(&session->clock, CLAMP(speed, 0.001, 1e6), g_get_monotonic_time());
  loop_arm(session);
}

void
session_pause(Session *session, gboolean paused)
{
  if (session->any_real || session->jumps)
    return;
  clock_pause(&session->clock, paused, g_get_monotonic_time());
  /* What is due by now has happened: the screen that time stands still on must show it. */
  loop_catch_up(session);
  loop_arm(session);
}
