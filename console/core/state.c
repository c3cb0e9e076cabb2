#include "core/core_private.h"

#include <string.h>

guint
state_n_stages(const CoreState *state)
{
  return state->layout->n_stages;
}

Stage
state_login(const CoreState *state)
{
  return state->layout->n_stages - 1;
}

const char *
state_stage_name(const CoreState *state, Stage stage)
{
  return state->layout->stages[stage].name;
}

const char *
state_stage_letter(const CoreState *state, Stage stage)
{
  return state->layout->stages[stage].letter;
}

const Layout *
state_layout(const CoreState *state)
{
  return state->layout;
}

gint64
state_now(const CoreState *state)
{
  return state->now;
}

const CoreOptions *
state_options(const CoreState *state)
{
  return &state->options;
}

const NodeState *
state_node(const CoreState *state, NodeId id)
{
  g_assert(id < state->layout->n_nodes);
  return &state->nodes[id].seen;
}

const Meters *
state_meters(const CoreState *state)
{
  return state->meters;
}

const Figures *
state_figures(const CoreState *state)
{
  return state->figures;
}

const PendingConsent *
state_pending(const CoreState *state)
{
  return &state->pending;
}

guint
state_n_boots(const CoreState *state)
{
  return state->boots->len;
}

const BootRun *
state_boot(const CoreState *state, guint i)
{
  g_assert(i < state->boots->len);
  return &((const Boot *)state->boots->pdata[i])->seen;
}

guint
state_n_loads(const CoreState *state)
{
  return state->loads->len;
}

const LoadRun *
state_load(const CoreState *state, guint i)
{
  g_assert(i < state->loads->len);
  return &((const Load *)state->loads->pdata[i])->seen;
}

guint64
state_log_first(const CoreState *state)
{
  return state->log_first;
}

guint64
state_log_end(const CoreState *state)
{
  return state->log_end;
}

const LogEntry *
state_log(const CoreState *state, guint64 number)
{
  g_assert(number >= state->log_first && number < state->log_end);
  return &state->log[number % STATE_LOG_MAX];
}

const BondState *
state_bond(const CoreState *state, NodeId server, guint bond)
{
  g_assert(state->layout->nodes[server].as_server);
  g_assert(bond < state->layout->nodes[server].as_server->n_bonds);
  return &state->bonds[state->map->first_bond[server] + bond];
}

gboolean
state_port_up(const CoreState *state, NodeId server, guint port)
{
  g_assert(state->layout->nodes[server].as_server);
  g_assert(port < state->layout->nodes[server].as_server->n_ports);
  return state->port_up[state->map->first_port[server] + port];
}

gboolean
state_link_up(const CoreState *state, guint link)
{
  g_assert(link < state->layout->n_links);
  return state->link_up[link];
}

gboolean
state_backend_up(const CoreState *state, const char *backend)
{
  int index = core_map_backend(state->map, backend);
  return index >= 0 && state->backends[index].up;
}

StateCounts
state_counts(const CoreState *state, const NodeId *nodes, guint n)
{
  StateCounts counts = {0};
  if (!nodes) {
    nodes = state->map->clients;
    n = state->map->n_clients;
  }
  for (guint i = 0; i < n; i++) {
    const NodeState *node = state_node(state, nodes[i]);
    counts.on += node->power == POWER_ON;
    counts.off += node->power == POWER_OFF;
    counts.unknown += node->power == POWER_UNKNOWN;
    counts.booting += node->booting;
    counts.failed += node->fault != NULL;
    counts.in_use += node->in_use;
    counts.reserved += node->reserved_t >= 0;
  }
  return counts;
}

double
state_port_capacity(const CoreState *state, NodeId server, guint port)
{
  if (!state_port_up(state, server, port))
    return 0;
  return layout_payload(state->port_speed[state->map->first_port[server] + port]);
}

double
state_link_capacity(const CoreState *state, guint link)
{
  return state_link_up(state, link) ? layout_payload(state->layout->links[link].speed) : 0;
}
