#include <string.h>

#include "backends/sim/sim_private.h"

#define MAX_QUOTE 64

const char *
sim_request_argument(const RequestEvent *event, const char *key)
{
  for (guint i = 0; i < event->n_arguments; i++)
    if (g_str_equal(event->arguments[i].key, key))
      return event->arguments[i].value;
  return NULL;
}

char *
sim_request_quote(const char *text)
{
  g_autofree char *head = g_strndup(text, MAX_QUOTE);
  return g_strescape(head, NULL);
}

/* The answer TARGET will not have, if one was to come. */
static void
drop_answer(Sim *sim, const Request *request, guint target)
{
  for (guint i = 0; i < sim->answers->len; i++) {
    Answer *answer = &g_array_index(sim->answers, Answer, i);
    if (answer->request != request || answer->target != target)
      continue;
    g_free(answer->text);
    g_array_remove_index(sim->answers, i);
    return;
  }
}

static void
request_free(gpointer data)
{
  Request *request = data;
  for (guint i = 0; i < request->n_targets; i++)
    g_free(request->targets[i].run);
  g_strfreev(request->keys);
  g_free(request->targets);
  g_free(request);
}

void
sim_request_init(Sim *sim)
{
  sim->requests = g_ptr_array_new_with_free_func(request_free);
  sim->answers = g_array_new(FALSE, FALSE, sizeof(Answer));
}

void
sim_request_clear(Sim *sim)
{
  for (guint i = 0; i < sim->answers->len; i++)
    g_free(g_array_index(sim->answers, Answer, i).text);
  g_array_unref(sim->answers);
  g_ptr_array_unref(sim->requests);
}

void
sim_request_result(Sim *sim, Request *request, guint target, Verdict verdict, char *text)
{
  g_assert(request->targets[target].open);
  drop_answer(sim, request, target);
  sim_result(sim, request, request->targets[target].node, verdict, text);
  request->targets[target].open = FALSE;
  if (--request->n_open > 0)
    return;
  if (sim->watch.request == request)
    sim_meter_end(sim);
  g_ptr_array_remove(sim->requests, request);
}

void
sim_request_answer(Sim *sim, Request *request, guint target, gint64 delay, Verdict verdict,
                   char *text)
{
  Answer answer = {sim->now + delay, request, target, verdict, text};
  g_array_append_val(sim->answers, answer);
}

void
sim_request_answer_all(Sim *sim, Request *request, gint64 delay, Verdict verdict, const char *text)
{
  for (guint i = 0; i < request->n_targets; i++) {
    const char *name = sim_name(sim, request->targets[i].node);
    char *named = verdict == VERDICT_OK ? NULL : g_strconcat(name, ": ", text, NULL);
    sim_request_answer(sim, request, i, delay, verdict, named);
  }
}

static Request *
add_request(Sim *sim, const RequestEvent *event)
{
  Request *request = g_new0(Request, 1);
  request->id = event->id;
  request->operation = event->operation;
  request->deadline = MAX(event->deadline, sim->now);
  request->n_targets = request->n_open = event->n_nodes;
  request->targets = g_new0(Target, event->n_nodes);
  for (guint i = 0; i < event->n_nodes; i++) {
    g_assert(event->nodes[i] < sim->layout->n_nodes);
    request->targets[i] = (Target){.node = event->nodes[i], .open = TRUE};
  }
  g_ptr_array_add(sim->requests, request);
  return request;
}

void
sim_request_submit(Sim *sim, const RequestEvent *event)
{
  static void (*const submit[OP_N])(Sim *, Request *, const RequestEvent *) = {
      [OP_STATUS] = sim_power_submit, [OP_ON] = sim_power_submit,
      [OP_OFF] = sim_power_submit,    [OP_RESET] = sim_power_submit,
      [OP_EXEC] = sim_load_submit,    [OP_BOOT_DEVICE] = sim_power_boot_device,
      [OP_WATCH] = sim_meter_submit,  [OP_SIGNAL] = sim_load_signal_submit,
      [OP_GET] = sim_property_submit, [OP_SET] = sim_property_submit,
      [OP_KEYS] = sim_keys_submit,    [OP_TYPE] = sim_keys_submit,
      [OP_ROUTE] = sim_keys_submit,
  };
  if (event->n_nodes == 0)
    return;
  Request *request = add_request(sim, event);
  if (submit[event->operation] != NULL) {
    submit[event->operation](sim, request, event);
    return;
  }
  g_autofree char *text =
      g_strdup_printf("the simulated lab has no %s", operation_name(event->operation));
  sim_request_answer_all(sim, request, 0, VERDICT_UNSUPPORTED, text);
}

/* What an ok answer stands for. NULL, or why it failed after all; owned. */
static char *
carry_out(Sim *sim, const Request *request, NodeId node)
{
  switch (request->operation) {
  case OP_STATUS:
  case OP_ON:
  case OP_OFF:
  case OP_RESET:
    return sim_power_do(sim, request, node);
  case OP_BOOT_DEVICE:
    sim->nodes[node].next_disk = request->next_disk;
    sim->nodes[node].next_protocol = request->next_protocol;
    return NULL;
  case OP_SIGNAL:
    return sim_load_signal(sim, request, node);
  case OP_GET:
  case OP_SET:
    if (!request->of_menu)
      sim_property_observe(sim, &request->property);
    return NULL;
  case OP_KEYS:
  case OP_TYPE:
  case OP_ROUTE:
    return sim_keys_do(sim, request, node);
  default:
    g_assert_not_reached();
  }
}

static void
give_answer(Sim *sim, const Answer *answer)
{
  Request *request = answer->request;
  if (answer->verdict != VERDICT_OK) {
    sim_request_result(sim, request, answer->target, answer->verdict, answer->text);
    return;
  }
  char *failure = carry_out(sim, request, request->targets[answer->target].node);
  sim_request_result(sim, request, answer->target, failure ? VERDICT_FAILED : VERDICT_OK, failure);
}

/* Each is taken off the list before it is given: that may end other targets and add answers. */
void
sim_request_give_answers(Sim *sim)
{
  guint i = 0;
  while (i < sim->answers->len) {
    Answer answer = g_array_index(sim->answers, Answer, i);
    if (answer.due > sim->now) {
      i++;
      continue;
    }
    g_array_remove_index(sim->answers, i);
    give_answer(sim, &answer);
    i = 0;
  }
}

/* Ends what TARGET still waits for, and says how things stand with it. */
static char *
abandon(Sim *sim, Request *request, guint target, const char *why)
{
  const char *name = sim_name(sim, request->targets[target].node);
  JobRun *run = request->targets[target].run;

  if (run != NULL) {
    char *text = g_strdup_printf("%s: %s stopped: %s", name, run->job.name, why);
    sim_load_end(sim, run);
    return text;
  }
  if (request->operation == OP_WATCH)
    return g_strdup_printf("%s is watched no more: %s", name, why);
  if (request->operation == OP_OFF && request->soft)
    return g_strdup_printf("%s was asked to shut down and is still on: %s", name, why);
  return g_strdup_printf("%s: %s was not carried out: %s", name, operation_name(request->operation),
                         why);
}

/* An answer due now stands: what it tells has happened. */
static gboolean
is_settled(const Sim *sim, const Request *request, guint target)
{
  for (guint i = 0; i < sim->answers->len; i++) {
    const Answer *answer = &g_array_index(sim->answers, Answer, i);
    if (answer->request == request && answer->target == target)
      return answer->due <= sim->now;
  }
  return FALSE;
}

static void
cancel_target(Sim *sim, Request *request, guint target)
{
  gboolean asked = request->operation == OP_OFF && request->soft;
  char *text = abandon(sim, request, target, "cancelled");
  drop_answer(sim, request, target);
  sim_request_answer(sim, request, target, 0, asked ? VERDICT_UNKNOWN : VERDICT_CANCELLED, text);
}

void
sim_request_cancel(Sim *sim, guint32 id)
{
  for (guint i = 0; i < sim->requests->len; i++) {
    Request *request = g_ptr_array_index(sim->requests, i);
    if (request->id != id)
      continue;
    for (guint target = 0; target < request->n_targets; target++)
      if (request->targets[target].open && !is_settled(sim, request, target))
        cancel_target(sim, request, target);
    return;
  }
}

static void
time_out(Sim *sim, Request *request)
{
  guint open = request->n_open; /* the last result frees it */
  for (guint target = 0; open > 0; target++) {
    if (!request->targets[target].open)
      continue;
    open--;
    char *text = abandon(sim, request, target, "not done by its deadline");
    sim_request_result(sim, request, target, VERDICT_TIMEOUT, text);
  }
}

void
sim_request_keep_deadlines(Sim *sim)
{
  guint i = 0;
  while (i < sim->requests->len) {
    Request *request = g_ptr_array_index(sim->requests, i);
    if (request->deadline <= sim->now)
      time_out(sim, request);
    else
      i++;
  }
}

gint64
sim_request_next(const Sim *sim)
{
  gint64 next = TIME_NEVER;
  for (guint i = 0; i < sim->answers->len; i++)
    next = MIN(next, g_array_index(sim->answers, Answer, i).due);
  for (guint i = 0; i < sim->requests->len; i++)
    next = MIN(next, ((const Request *)g_ptr_array_index(sim->requests, i))->deadline);
  return next;
}
