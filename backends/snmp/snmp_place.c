#include "backends/snmp/snmp_place.h"

#include <string.h>

char *
snmp_place_word(const Layout *layout, const SnmpPlace *place)
{
  const LayoutNode *node = layout_node(layout, place->node);

  if (place->where == SNMP_TO_PORT)
    return g_strdup_printf("%s/%s", node->name, node->as_server->ports[place->port].name);
  return g_strdup(node->name);
}

char *
snmp_place_column(const Layout *layout, const SnmpPlace *place)
{
  if (place->where == SNMP_TO_LINK)
    return g_strconcat("link:", layout->links[place->link].name, NULL);
  return snmp_place_word(layout, place);
}

guint32
snmp_place_seen(const Layout *layout, const SnmpTable *table, NodeId seat)
{
  const LayoutNode *node = layout_node(layout, seat);

  return node->has_mac ? snmp_table_behind(table, &node->mac) : 0;
}

/* ---- What the layout says -------------------------------------------------------------------- */

/* NULL: nothing. */
static const char *
word_behind(const char *const *ports, const char *name)
{
  gsize length = strlen(name);

  for (guint i = 0; ports != NULL && ports[i] != NULL; i++)
    if (strncmp(ports[i], name, length) == 0 && ports[i][length] == '=')
      return ports[i] + length + 1;
  return NULL;
}

/* ---- The forwarding table -------------------------------------------------------------------- */

static gboolean
leads_by(const Layout *layout, NodeId on, NodeId to, guint link)
{
  LayoutHop hops[LAYOUT_MAX_HOPS];
  int n = layout_path(layout, on, to, NULL, hops);

  return n > 0 && hops[0].kind == HOP_LINK && hops[0].link == link;
}

/* All that were seen of the machines behind LINK must have been seen on one port. */
static guint32
link_by_addresses(const Layout *layout, NodeId on, const SnmpTable *table, guint link)
{
  guint32 found = 0;

  for (NodeId id = 0; id < layout->n_nodes; id++) {
    const LayoutNode *node = layout_node(layout, id);
    if (node->kind != NODE_CLIENT || node->attached == on || !leads_by(layout, on, id, link))
      continue;
    guint32 seen = snmp_place_seen(layout, table, id);
    if (seen == 0)
      continue;
    if (found != 0 && seen != found)
      return 0;
    found = seen;
  }
  return found;
}

/* Another seat on this switch that was learned on the port INDEX, too. */
static const LayoutNode *
sharer(const Layout *layout, NodeId on, const SnmpTable *table, NodeId seat, guint32 index)
{
  for (NodeId id = 0; id < layout->n_nodes; id++) {
    const LayoutNode *node = layout_node(layout, id);
    if (id != seat && node->kind == NODE_CLIENT && node->attached == on &&
        snmp_place_seen(layout, table, id) == index)
      return node;
  }
  return NULL;
}

/* A machine that is elsewhere than the layout says is seen where that leads. */
static const LayoutNode *
far_machine(const Layout *layout, NodeId on, const SnmpTable *table, guint32 index)
{
  for (NodeId id = 0; id < layout->n_nodes; id++) {
    const LayoutNode *node = layout_node(layout, id);
    if (node->kind == NODE_CLIENT && node->attached != on &&
        snmp_place_seen(layout, table, id) == index)
      return node;
  }
  return NULL;
}

static guint32
seat_by_address(const Layout *layout, NodeId on, const SnmpTable *table, NodeId seat, char **why)
{
  guint32 index = snmp_place_seen(layout, table, seat);
  const char *name = layout_node(layout, seat)->name;

  if (index == 0)
    return 0;
  const LayoutNode *other = sharer(layout, on, table, seat, index);
  if (other == NULL)
    other = far_machine(layout, on, table, index);
  if (other == NULL)
    return index;
  g_autofree char *label = snmp_table_label(table, index);
  *why = g_strdup_printf("port %s leads to %s and to %s as well: what it carries is not %s's alone",
                         label, name, other->name, name);
  return 0;
}

/* ---- All ways -------------------------------------------------------------------------------- */

static guint32
by_addresses(const Layout *layout, NodeId on, const SnmpTable *table, const SnmpPlace *place,
             char **why)
{
  const LayoutNode *node = layout_node(layout, place->node);

  switch (place->where) {
  case SNMP_TO_LINK:
    return link_by_addresses(layout, on, table, place->link);
  case SNMP_TO_SEAT:
    return seat_by_address(layout, on, table, place->node, why);
  case SNMP_TO_PORT:
    /* The ports of a bond have one address, which is learned on their aggregate. */
    return node->as_server->ports[place->port].bond >= 0
               ? 0
               : snmp_table_behind(table, &node->as_server->ports[place->port].mac);
  }
  g_assert_not_reached();
}

guint32
snmp_place_find(const Layout *layout, NodeId on, const SnmpTable *table, const char *const *ports,
                const SnmpPlace *place, char **why)
{
  g_autofree char *word = snmp_place_word(layout, place);
  const char *said = word_behind(ports, word);

  *why = NULL;
  guint32 index = snmp_table_find(table, said != NULL ? said : word);
  if (index == 0 && said != NULL)
    *why = g_strdup_printf("there is no one interface called %s, which `ports` gives for %s", said,
                           word);
  else if (index == 0)
    index = by_addresses(layout, on, table, place, why);
  if (index == 0 && *why == NULL)
    *why = g_strdup_printf("which port leads to %s cannot be told: none of its %u interfaces is "
                           "called so, and no address behind it was learned on one of its own; "
                           "name it: `ports: [%s=INTERFACE]`",
                           word, snmp_table_count(table), word);
  return index;
}
