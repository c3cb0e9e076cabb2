#include "backends/sim/sim_private.h"

#include "model/keyboard.h"

#define MAX_SHOWN 64

void
sim_keys_init(Sim *sim)
{
  sim->shown = g_array_new(FALSE, FALSE, sizeof(NodeId));
}

void
sim_keys_clear(Sim *sim)
{
  g_array_unref(sim->shown);
}

/* ---- Pictures ------------------------------------------------------------------------------ */

static NodeId
latest(const Sim *sim)
{
  return sim->shown->len == 0 ? NODE_NONE : g_array_index(sim->shown, NodeId, sim->shown->len - 1);
}

static void
show(Sim *sim, NodeId from, NodeId to)
{
  if (from == to)
    return;
  if (from != NODE_NONE)
    sim_observe(sim, from, "shown", "no");
  if (to != NODE_NONE)
    sim_observe(sim, to, "shown", "yes");
}

static char *
route_back(Sim *sim, NodeId node)
{
  NodeId from = latest(sim);
  if (sim->shown->len < 2)
    return g_strdup_printf("%s: nothing was shown before", sim_name(sim, node));
  g_array_set_size(sim->shown, sim->shown->len - 1);
  show(sim, from, latest(sim));
  return NULL;
}

static void
route(Sim *sim, NodeId node)
{
  show(sim, latest(sim), node);
  if (latest(sim) == node)
    return;
  if (sim->shown->len == MAX_SHOWN)
    g_array_remove_index(sim->shown, 0);
  g_array_append_val(sim->shown, node);
}

/* ---- Requests ------------------------------------------------------------------------------ */

char *
sim_keys_do(Sim *sim, const Request *request, NodeId node)
{
  if (request->operation == OP_ROUTE && request->back)
    return route_back(sim, node);
  if (request->operation == OP_ROUTE)
    route(sim, node);
  for (guint i = 0; request->keys != NULL && request->keys[i] != NULL; i++)
    sim_boot_press(sim, node, request->keys[i]);
  return NULL;
}

/* NULL with an error. */
static char **
read_keys(const RequestEvent *event, GError **error)
{
  const char *keys = sim_request_argument(event, "keys");
  const char *text = sim_request_argument(event, "text");
  const char *keyboard = sim_request_argument(event, "keyboard");

  if (event->operation == OP_TYPE)
    return keyboard_type(g_strcmp0(keyboard, "de") == 0 ? KEYBOARD_DE : KEYBOARD_US,
                         text != NULL ? text : "", error);
  return keyboard_press(keys != NULL ? keys : "", error);
}

void
sim_keys_submit(Sim *sim, Request *request, const RequestEvent *event)
{
  g_autoptr(GError) error = NULL;
  gint64 time = SIM_ROUTE;

  request->back = sim_request_argument(event, "to") != NULL;
  if (event->operation != OP_ROUTE) {
    request->keys = read_keys(event, &error);
    if (request->keys == NULL) {
      sim_request_answer_all(sim, request, 0, VERDICT_FAILED, error->message);
      return;
    }
    time += g_strv_length(request->keys) * SIM_KEY;
  }
  sim->keys_free = MAX(sim->keys_free, sim->now);
  for (guint i = 0; i < request->n_targets; i++) {
    sim->keys_free += time;
    sim_request_answer(sim, request, i, sim->keys_free - sim->now, VERDICT_OK, NULL);
  }
}
