#include "core/core_private.h"

/* When which node's stage is overdue: a binary heap of nodes, the earliest limit first and of equal
 * ones the lower node. A boot storm moves a limit with nearly every event. */

static gboolean
is_before(const CoreState *state, NodeId a, NodeId b)
{
  gint64 x = state->nodes[a].seen.stage_limit, y = state->nodes[b].seen.stage_limit;
  return x != y ? x < y : a < b;
}

static void
place(CoreState *state, guint at, NodeId id)
{
  state->limits[at] = id;
  state->nodes[id].limit_at = at + 1;
}

static void
rise(CoreState *state, guint at, NodeId id)
{
  while (at > 0 && is_before(state, id, state->limits[(at - 1) / 2])) {
    place(state, at, state->limits[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  place(state, at, id);
}

static void
sink(CoreState *state, guint at, NodeId id)
{
  for (guint child; (child = 2 * at + 1) < state->n_limits; at = child) {
    if (child + 1 < state->n_limits &&
        is_before(state, state->limits[child + 1], state->limits[child]))
      child++;
    if (!is_before(state, state->limits[child], id))
      break;
    place(state, at, state->limits[child]);
  }
  place(state, at, id);
}

void
limit_set(CoreState *state, NodeId id, gint64 t)
{
  Node *node = &state->nodes[id];
  gint64 old = node->seen.stage_limit;
  if (t == old)
    return;
  node->seen.stage_limit = t;
  if (t == TIME_NEVER) {
    guint at = node->limit_at - 1;
    NodeId last = state->limits[--state->n_limits];
    node->limit_at = 0;
    if (last != id) { /* it takes the place left, and may belong above it or below */
      rise(state, at, last);
      sink(state, state->nodes[last].limit_at - 1, last);
    }
  } else if (old == TIME_NEVER) {
    rise(state, state->n_limits++, id);
  } else if (t < old) {
    rise(state, node->limit_at - 1, id);
  } else {
    sink(state, node->limit_at - 1, id);
  }
  state->due[DUE_NODES] = limits_due(state);
}

gint64
limits_due(const CoreState *state)
{
  return state->n_limits ? state->nodes[state->limits[0]].seen.stage_limit : TIME_NEVER;
}
