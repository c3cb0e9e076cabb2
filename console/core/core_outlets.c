#include "core/core_private.h"

#include <string.h>

typedef enum { ALONE, GOES_DARK, LEAVE_ALONE } Company;

static gboolean
holds(const GArray *ids, NodeId id)
{
  for (guint i = 0; i < ids->len; i++)
    if (g_array_index(ids, NodeId, i) == id)
      return TRUE;
  return FALSE;
}

/* What is due to OTHER, which hangs on an outlet that PLAN is going to cut. */
static Company
company_of(const CoreState *state, const Command *command, const Plan *plan, NodeId other)
{
  const NodeState *seen = &state->nodes[other].seen;
  if (holds(plan->nodes, other))
    return ALONE;
  if (state->layout->nodes[other].protected_node)
    return LEAVE_ALONE;
  return (seen->in_use || seen->reserved_t >= 0) && !command->including_in_use ? LEAVE_ALONE
                                                                               : GOES_DARK;
}

/* TRUE: ID may be cut, and who goes dark with it is in DARK. */
static gboolean
look_round(const CoreState *state, const Command *command, const Plan *plan, NodeId id,
           GArray *dark)
{
  const char *outlet = state->layout->nodes[id].outlet;
  for (NodeId other = 0; outlet && other < state->layout->n_nodes; other++) {
    if (other == id || g_strcmp0(state->layout->nodes[other].outlet, outlet) != 0)
      continue;
    switch (company_of(state, command, plan, other)) {
    case LEAVE_ALONE:
      return FALSE;
    case GOES_DARK:
      if (!holds(dark, other))
        g_array_append_val(dark, other);
      break;
    case ALONE:
      break;
    }
  }
  return TRUE;
}

static int
compare_ids(gconstpointer a, gconstpointer b)
{
  NodeId x = *(const NodeId *)a, y = *(const NodeId *)b;
  return x < y ? -1 : x > y;
}

void
outlets_sort_out(const CoreState *state, const Command *command, Plan *plan)
{
  GArray *kept = g_array_new(FALSE, FALSE, sizeof(NodeId));
  for (guint i = 0; i < plan->nodes->len; i++) {
    NodeId id = g_array_index(plan->nodes, NodeId, i);
    g_autoptr(GArray) dark = g_array_new(FALSE, FALSE, sizeof(NodeId));
    if (!look_round(state, command, plan, id, dark)) {
      g_array_append_val(plan->spared, id);
      plan->on -= state->nodes[id].seen.power == POWER_ON;
      continue;
    }
    g_array_append_val(kept, id);
    for (guint k = 0; k < dark->len; k++)
      if (!holds(plan->co_victims, g_array_index(dark, NodeId, k)))
        g_array_append_val(plan->co_victims, g_array_index(dark, NodeId, k));
  }
  g_array_sort(plan->co_victims, compare_ids);
  g_array_unref(plan->nodes);
  plan->nodes = kept;
}
