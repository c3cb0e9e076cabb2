#include "session_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#define LAYOUT "tests/unit/samples/two-seats.yaml"

static void
plan(Slow *slow, gint64 t, Event event)
{
  Answer answer = {t, event};
  answer.event.t = t;
  g_array_append_val(slow->answers, answer);
}

static void
slow_start(Backend *backend, gint64 now)
{
  plan((Slow *)backend, now,
       (Event){.kind = EVENT_LINK, .link = {backend->name, TRUE, "slow lab"}});
}

static const char *
learned(Operation operation)
{
  return operation == OP_STATUS ? "off" : operation == OP_ON ? "on" : NULL;
}

static void
slow_submit(Backend *backend, gint64 now, const RequestEvent *request)
{
  Slow *slow = (Slow *)backend;
  Operation operation = request->operation;
  gint64 t = operation == OP_STATUS ? now + slow->look
             : operation == OP_GET  ? now
                                    : now + 2 * TIME_SECOND;
  for (guint i = 0; operation != OP_WATCH && i < request->n_nodes; i++) {
    NodeId node = request->nodes[i];
    gboolean fails = operation == OP_ON && node == slow->broken;
    if (learned(operation) != NULL && !fails)
      plan(slow, t,
           (Event){.kind = EVENT_OBSERVE,
                   .observe = {node, "power", learned(operation), backend->name}});
    if (operation == OP_GET)
      plan(slow, t, (Event){.kind = EVENT_OBSERVE, .observe = {node, "nfsd", "8", backend->name}});
    plan(slow, t,
         (Event){.kind = EVENT_RESULT,
                 .result = {request->id, node, fails ? VERDICT_FAILED : VERDICT_OK,
                            fails ? "it smokes" : ""}});
  }
}

static void
slow_cancel(Backend *backend, gint64 now, guint32 request)
{
  Slow *slow = (Slow *)backend;
  for (guint i = 0; i < slow->answers->len; i++) {
    Answer *answer = &g_array_index(slow->answers, Answer, i);
    if (answer->event.kind != EVENT_RESULT || answer->event.result.request != request)
      continue;
    answer->t = answer->event.t = now;
    answer->event.result.verdict = VERDICT_CANCELLED;
    answer->event.result.text = "cancelled";
  }
}

static gint64
slow_next_due(const Backend *backend)
{
  const Slow *slow = (const Slow *)backend;
  gint64 t = TIME_NEVER;
  for (guint i = 0; i < slow->answers->len; i++)
    t = MIN(t, g_array_index(slow->answers, Answer, i).t);
  return t;
}

static void
slow_advance(Backend *backend, gint64 t)
{
  Slow *slow = (Slow *)backend;
  assert_true(t <= slow_next_due(backend));
  for (guint i = 0; i < slow->answers->len;) {
    Answer answer = g_array_index(slow->answers, Answer, i);
    if (answer.t > t) {
      i++;
      continue;
    }
    g_array_remove_index(slow->answers, i);
    backend->post(&answer.event, backend->post_data);
  }
}

static void
slow_free(Backend *backend)
{
  g_array_unref(((Slow *)backend)->answers);
  g_free(backend);
}

#define SLOW_OPERATIONS ((1u << OP_N) - 1)
const BackendClass session_lab_slow = {"slow",        SLOW_OPERATIONS, TRUE,
                                       slow_start,    slow_submit,     slow_cancel,
                                       slow_next_due, slow_advance,    slow_free};
const BackendClass session_lab_real = {
    "real", SLOW_OPERATIONS, FALSE, slow_start, slow_submit, slow_cancel, NULL, NULL, slow_free};

const SessionOptions session_lab_jumping = {
    .core = {.seed = 1, .consent = CONSENT_YES}, .clock = CLOCK_JUMP, .speed = 1};

static void
on_event(const Event *event, gpointer data)
{
  SessionLab *lab = data;
  assert_true(event->t >= lab->last_t);
  lab->last_t = event->t;
  const char *what = event->kind == EVENT_COMMAND ? event->command.said
                     : event->kind == EVENT_DONE  ? verdict_name(event->done.verdict)
                                                  : "";
  g_ptr_array_add(lab->events, g_strdup_printf("%s%s%s@%d", event_kind_name(event->kind),
                                               *what ? " " : "", what, (int)(event->t / TIME_MS)));
}

static void
on_complaint(const char *message, gpointer data)
{
  g_ptr_array_add(((SessionLab *)data)->complaints, g_strdup(message));
}

SessionLab *
session_lab_new(const SessionOptions *options, const BackendClass *class)
{
  SessionLab *lab = g_new0(SessionLab, 1);
  char *text;
  gsize length;
  g_autoptr(GError) error = NULL;
  assert_true(g_file_get_contents(LAYOUT, &text, &length, NULL));
  lab->layout = layout_parse("two-seats.yaml", text, length, &error);
  g_free(text);
  SessionOptions all = *options;
  all.layout = lab->layout;
  lab->session = session_new(&all, &error);
  assert_null(error);
  lab->slow = g_new0(Slow, 1);
  lab->slow->backend = (Backend){class, "sim", session_post, lab->session};
  lab->slow->answers = g_array_new(FALSE, FALSE, sizeof(Answer));
  lab->slow->broken = NODE_NONE;
  lab->events = g_ptr_array_new_with_free_func(g_free);
  lab->complaints = g_ptr_array_new_with_free_func(g_free);
  session_watch(lab->session, on_event, on_complaint, lab);
  if (!session_add_backend(lab->session, &lab->slow->backend, &error)) {
    on_complaint(error->message, lab);
    return lab;
  }
  session_start(lab->session);
  return lab;
}

void
session_lab_free(SessionLab *lab)
{
  session_free(lab->session);
  layout_free(lab->layout);
  g_ptr_array_unref(lab->events);
  g_ptr_array_unref(lab->complaints);
  g_free(lab);
}

int
session_lab_run(SessionLab *lab, const char *text, GError **error)
{
  g_autoptr(Script) script = script_parse("test.pult", text, strlen(text), error);
  assert_non_null(script);
  return session_run(lab->session, script, error);
}

guint
session_lab_find(const SessionLab *lab, const char *wanted, guint from)
{
  for (guint i = from; i < lab->events->len; i++)
    if (g_str_has_prefix(lab->events->pdata[i], wanted))
      return i;
  fail_msg("no %s", wanted);
  return 0;
}

gboolean
session_lab_has(const SessionLab *lab, const char *wanted)
{
  for (guint i = 0; i < lab->events->len; i++)
    if (g_str_has_prefix(lab->events->pdata[i], wanted))
      return TRUE;
  return FALSE;
}
