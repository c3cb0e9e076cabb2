#include "model/layout_private.h"

#include <string.h>

gboolean
layout_crosses_router(const LayoutNode *a, const LayoutNode *b)
{
  return a->subnet >= 0 && b->subnet >= 0 && a->subnet != b->subnet;
}

static gboolean
joins(const LayoutNode *router, int subnet)
{
  for (guint i = 0; i < router->n_joins; i++) {
    if (router->joins[i] == subnet)
      return TRUE;
  }
  return FALSE;
}

NodeId
layout_router_between(const Layout *layout, NodeId server, NodeId client)
{
  const LayoutNode *a = layout_node(layout, server), *b = layout_node(layout, client);

  if (!layout_crosses_router(a, b))
    return NODE_NONE;
  for (guint i = 0; i < layout->n_nodes && layout->nodes[i].kind <= NODE_ROUTER; i++) {
    const LayoutNode *node = &layout->nodes[i];
    if (node->kind == NODE_ROUTER && joins(node, a->subnet) && joins(node, b->subnet))
      return node->id;
  }
  return NODE_NONE;
}

static guint
count_switches(const Layout *layout)
{
  guint n = 0;

  while (n < layout->n_nodes && layout->nodes[n].kind == NODE_SWITCH)
    n++;
  return n;
}

/* Breadth first from TO, a round over all links for each hop: no adjacency to build, and the first
 * link in file order wins. AWAY[s] becomes the hops from s to TO, TOWARDS[s] the link to take. */
static void
measure(const Layout *layout, NodeId to, NodeId until, const gboolean *up, int *away, int *towards)
{
  away[to] = 0;
  for (int hop = 0; hop < LAYOUT_MAX_HOPS && away[until] < 0; hop++) {
    for (guint l = 0; l < layout->n_links; l++) {
      const LayoutLink *link = &layout->links[l];
      if (up != NULL && !up[l])
        continue;
      NodeId far = away[link->from] == hop ? link->to : link->from;
      NodeId near = far == link->to ? link->from : link->to;
      if (away[near] != hop || away[far] >= 0)
        continue;
      away[far] = hop + 1;
      towards[far] = l;
    }
  }
}

/* Hops between two switches, appended at N; the new number of hops, or -1. */
static int
append_way(const Layout *layout, NodeId from, NodeId to, const gboolean *up, LayoutHop *hops, int n)
{
  guint n_switches = count_switches(layout);

  if (n < 0 || from == NODE_NONE || to == NODE_NONE)
    return -1;
  if (from == to)
    return n;
  g_autofree int *away = g_new(int, n_switches), *towards = g_new(int, n_switches);
  memset(away, 0xff, n_switches * sizeof *away); /* -1 */
  measure(layout, to, from, up, away, towards);
  if (away[from] < 0 || n + away[from] > LAYOUT_MAX_HOPS)
    return -1;
  for (NodeId at = from; at != to; n++) {
    const LayoutLink *link = &layout->links[towards[at]];
    gboolean forward = link->from == at;
    hops[n] = (LayoutHop){.kind = HOP_LINK, .link = towards[at], .forward = forward};
    at = forward ? link->to : link->from;
  }
  return n;
}

/* The switch a machine's traffic enters by; a switch is its own. */
static NodeId
entry_switch(const LayoutNode *node)
{
  return node->kind == NODE_SWITCH ? node->id : node->attached;
}

int
layout_path(const Layout *layout, NodeId from, NodeId to, const gboolean *up,
            LayoutHop hops[LAYOUT_MAX_HOPS])
{
  const LayoutNode *a = layout_node(layout, from), *b = layout_node(layout, to);

  if (!layout_crosses_router(a, b))
    return append_way(layout, entry_switch(a), entry_switch(b), up, hops, 0);
  NodeId router = layout_router_between(layout, from, to);
  if (router == NODE_NONE)
    return -1;
  NodeId middle = layout_node(layout, router)->attached;
  int n = append_way(layout, entry_switch(a), middle, up, hops, 0);
  if (n < 0 || n == LAYOUT_MAX_HOPS)
    return -1;
  hops[n++] = (LayoutHop){.kind = HOP_ROUTER, .router = router};
  return append_way(layout, middle, entry_switch(b), up, hops, n);
}

void
bond_state_init(BondState *state, const LayoutServer *server, const LayoutBond *bond)
{
  g_assert(bond->n_ports <= G_N_ELEMENTS(state->usable));
  g_assert(bond >= server->bonds && bond < server->bonds + server->n_bonds);
  *state = (BondState){.policy = bond->policy, .era = bond->era};
  for (guint i = 0; i < bond->n_ports; i++)
    state->usable[i] = TRUE;
}

static int
first_usable(const BondState *state, guint n_ports)
{
  for (guint i = 0; i < n_ports; i++) {
    if (state->usable[i])
      return i;
  }
  return -1;
}

int
layout_bond_port(const Layout *layout, NodeId server, guint bond_index, const BondState *state,
                 NodeId client, const MacAddress *client_mac)
{
  const LayoutServer *as_server = layout_node(layout, server)->as_server;
  const LayoutNode *client_node = layout_node(layout, client);
  g_assert(as_server != NULL && bond_index < as_server->n_bonds);
  const LayoutBond *bond = &as_server->bonds[bond_index];
  NodeId router = layout_router_between(layout, server, client);
  const MacAddress *mac = router != NODE_NONE ? &layout_node(layout, router)->mac : client_mac;

  if (strcmp(bond->mode, "active-backup") == 0)
    return first_usable(state, bond->n_ports);
  if (state->policy == BOND_LAYER3_4 || mac == NULL ||
      (state->policy == BOND_LAYER2_3 && !client_node->has_ip))
    return -1;
  guint32 hash =
      bond_hash_ipv4(state->policy, state->era, &bond->mac, mac, bond->ip, client_node->ip, 0, 0);
  return bond_port(state->era, hash, state->usable, bond->n_ports);
}
