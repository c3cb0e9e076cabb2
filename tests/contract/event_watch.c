#include "event_watch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/state.h"

typedef struct {
  gint64 deadline;
  GArray *nodes; /* of NodeId, that have no result yet */
} Asked;

static void
asked_free(gpointer data)
{
  Asked *asked = data;
  if (asked == NULL)
    return;
  g_array_unref(asked->nodes);
  g_free(asked);
}

static void
take_request(EventWatch *watch, const RequestEvent *request)
{
  Asked *asked = g_new(Asked, 1);
  assert_int_equal(request->id, watch->asked->len);
  assert_true(request->n_nodes > 0 && request->deadline >= watch->t);
  asked->deadline = request->operation == OP_WATCH ? TIME_NEVER : request->deadline;
  asked->nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));
  g_array_append_vals(asked->nodes, request->nodes, request->n_nodes);
  g_ptr_array_add(watch->asked, asked);
  watch->n_requests++;
}

static void
take_result(EventWatch *watch, const ResultEvent *result)
{
  assert_true(result->request > 0 && result->request < watch->asked->len);
  const Asked *asked = watch->asked->pdata[result->request];
  for (guint i = 0; i < asked->nodes->len; i++) {
    if (g_array_index(asked->nodes, NodeId, i) != result->node)
      continue;
    g_array_remove_index_fast(asked->nodes, i);
    assert_true(watch->t <= asked->deadline);
    return;
  }
  fail_msg("request %u has a result too many of %s", result->request,
           layout_node(watch->layout, result->node)->name);
}

void
event_watch_check_deadlines(const EventWatch *watch)
{
  for (guint id = 1; id < watch->asked->len; id++) {
    const Asked *asked = watch->asked->pdata[id];
    if (asked->nodes->len > 0 && asked->deadline < watch->t)
      fail_msg("request %u has no result of %s", id,
               layout_node(watch->layout, g_array_index(asked->nodes, NodeId, 0))->name);
  }
}

static void
check_rate(const Meter *meter, double capacity)
{
  if (meter == NULL)
    return;
  if (!(meter->rate >= 0 && meter->rate <= capacity * 1.001 + 1000))
    fail_msg("%s: %.0f bit/s of %.0f", meter->name, meter->rate, capacity);
}

void
event_watch_check_rates(const EventWatch *watch, const CoreState *state)
{
  const Meters *meters = state_meters(state);
  double received = 0;
  for (guint i = 0; i < meters_count(meters); i++)
    if (!(meters_at(meters, i)->rate >= 0 && isfinite(meters_at(meters, i)->rate)))
      fail_msg("%s: %f", meters_at(meters, i)->name, meters_at(meters, i)->rate);
  for (NodeId id = 0; id < watch->layout->n_nodes; id++) {
    const LayoutNode *node = &watch->layout->nodes[id];
    for (guint p = 0; node->as_server != NULL && p < node->as_server->n_ports; p++)
      check_rate(meters_port(meters, id, p, TRUE), layout_payload(node->as_server->ports[p].speed));
    const Meter *rx = node->kind == NODE_CLIENT ? meters_seat_rx(meters, id) : NULL;
    check_rate(rx, layout_payload(node->speed));
    received += rx != NULL ? rx->rate : 0;
  }
  if (received > watch->port_capacity * 1.001 + 1000)
    fail_msg("seats receive %.0f bit/s, ports carry %.0f", received, watch->port_capacity);
}

static void
take_command(EventWatch *watch, const CommandEvent *command)
{
  const guint8 open = 0;
  assert_int_equal(command->cmd, watch->done->len);
  g_array_append_val(watch->done, open);
}

static void
take_done(EventWatch *watch, const DoneEvent *done)
{
  assert_true(done->cmd > 0 && done->cmd < watch->done->len);
  if (g_array_index(watch->done, guint8, done->cmd)++ != 0)
    fail_msg("command %u is done twice", done->cmd);
}

void
event_watch_init(EventWatch *watch, const Layout *layout)
{
  *watch = (EventWatch){.layout = layout};
  watch->asked = g_ptr_array_new_with_free_func(asked_free);
  g_ptr_array_add(watch->asked, NULL);
  watch->done = g_array_new(FALSE, TRUE, 1);
  g_array_set_size(watch->done, 1);
  for (NodeId id = 0; id < layout->n_nodes; id++) {
    const LayoutServer *server = layout->nodes[id].as_server;
    for (guint p = 0; server != NULL && p < server->n_ports; p++)
      watch->port_capacity += layout_payload(server->ports[p].speed);
  }
}

void
event_watch_clear(EventWatch *watch)
{
  g_ptr_array_unref(watch->asked);
  g_array_unref(watch->done);
}

void
event_watch_take(EventWatch *watch, const Event *event)
{
  assert_true(event->t >= watch->t && event->seq == watch->seq + 1);
  watch->t = event->t;
  watch->seq = event->seq;
  if (event->kind == EVENT_COMMAND)
    take_command(watch, &event->command);
  else if (event->kind == EVENT_DONE)
    take_done(watch, &event->done);
  else if (event->kind == EVENT_REQUEST)
    take_request(watch, &event->request);
  else if (event->kind == EVENT_RESULT)
    take_result(watch, &event->result);
}

guint
event_watch_commands(const EventWatch *watch)
{
  return watch->done->len - 1;
}

void
event_watch_check_done(const EventWatch *watch)
{
  for (guint cmd = 1; cmd < watch->done->len; cmd++)
    if (g_array_index(watch->done, guint8, cmd) != 1)
      fail_msg("command %u is not done", cmd);
}
