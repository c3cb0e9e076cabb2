#include "backends/sim/sim_private.h"

static NodeId
node_at(GSequenceIter *place)
{
  return GPOINTER_TO_UINT(g_sequence_get(place));
}

static gint64
first_due(const Sim *sim, NodeId node)
{
  return MIN(sim->due[node].boot, sim->due[node].halt);
}

static int
compare(gconstpointer a, gconstpointer b, gpointer data)
{
  const Sim *sim = data;
  NodeId left = GPOINTER_TO_UINT(a), right = GPOINTER_TO_UINT(b);
  gint64 s = first_due(sim, left), t = first_due(sim, right);
  if (s != t)
    return s < t ? -1 : 1;
  return (left > right) - (left < right);
}

void
sim_agenda_init(Sim *sim)
{
  sim->due = g_new(Due, sim->layout->n_nodes);
  for (NodeId i = 0; i < sim->layout->n_nodes; i++)
    sim->due[i] = (Due){TIME_NEVER, TIME_NEVER, NULL};
  sim->agenda = g_sequence_new(NULL);
  sim->stepping = g_array_new(FALSE, FALSE, sizeof(NodeId));
}

void
sim_agenda_clear(Sim *sim)
{
  g_sequence_free(sim->agenda);
  g_array_unref(sim->stepping);
  g_free(sim->due);
}

static void
set(Sim *sim, NodeId node, gint64 boot, gint64 halt)
{
  Due *due = &sim->due[node];
  if (due->boot == boot && due->halt == halt)
    return;
  if (due->place != NULL)
    g_sequence_remove(due->place);
  *due = (Due){boot, halt, NULL};
  if (first_due(sim, node) < TIME_NEVER)
    due->place = g_sequence_insert_sorted(sim->agenda, GUINT_TO_POINTER(node), compare, sim);
}

void
sim_agenda_boot(Sim *sim, NodeId node, gint64 t)
{
  set(sim, node, t, sim->due[node].halt);
}

void
sim_agenda_halt(Sim *sim, NodeId node, gint64 t)
{
  set(sim, node, sim->due[node].boot, t);
}

gint64
sim_agenda_next(const Sim *sim)
{
  GSequenceIter *first = g_sequence_get_begin_iter(sim->agenda);
  return g_sequence_iter_is_end(first) ? TIME_NEVER : first_due(sim, node_at(first));
}

/* What a step makes due at once waits for the next round: transfers that end now come before it. */
void
sim_agenda_step(Sim *sim)
{
  g_array_set_size(sim->stepping, 0);
  for (GSequenceIter *i = g_sequence_get_begin_iter(sim->agenda); !g_sequence_iter_is_end(i);
       i = g_sequence_iter_next(i)) {
    NodeId node = node_at(i);
    if (first_due(sim, node) > sim->now)
      break;
    g_array_append_val(sim->stepping, node);
  }
  for (guint i = 0; i < sim->stepping->len; i++) {
    NodeId node = g_array_index(sim->stepping, NodeId, i);
    if (sim->due[node].halt <= sim->now)
      sim_power_halt(sim, node);
    if (sim->due[node].boot <= sim->now)
      sim_boot_step(sim, node);
  }
}
