#include "model/layout_private.h"

#include <string.h>

#define MAX_SUBNETS 256
#define MAX_SPEED 10e12 /* bit/s */

gboolean
layout_read_speed(LayoutParser *parser, const YamlNode *value, double *bits)
{
  return yaml_read_quantity(value, DIMENSION_RATE, 1, MAX_SPEED, bits, parser->errors);
}

static gboolean
overlap(const LayoutSubnet *a, const LayoutSubnet *b)
{
  guint prefix = MIN(a->prefix, b->prefix);

  return prefix > 0 && ((a->net ^ b->net) & (G_MAXUINT32 << (32 - prefix))) == 0;
}

static void
read_subnet(LayoutParser *parser, const YamlNode *name, const YamlNode *map)
{
  static const char *const known[] = {"net", NULL};
  Layout *layout = parser->layout;
  LayoutSubnet *subnet = &layout->subnets[layout->n_subnets];

  if (!layout_check_name(parser, name, name->text) || !yaml_check_map(name, map, parser->errors))
    return;
  *subnet = (LayoutSubnet){.name = g_strdup(name->text)};
  layout->n_subnets++;
  yaml_check_keys(map, known, parser->errors);
  const YamlNode *net = yaml_get_scalar(map, "net", parser->errors);
  if (net == NULL || !layout_read_net(parser, net, &subnet->net, &subnet->prefix))
    return;
  for (guint i = 0; i + 1 < layout->n_subnets; i++) {
    if (overlap(subnet, &layout->subnets[i]))
      yaml_errors_add(parser->errors, net, "%s overlaps %s", name->text, layout->subnets[i].name);
  }
}

void
layout_read_subnets(LayoutParser *parser)
{
  const YamlNode *map = yaml_get_map(parser->root, "subnets", parser->errors);

  if (map == NULL)
    return;
  if (map->n > MAX_SUBNETS) {
    yaml_errors_add(parser->errors, map, "more than %d subnets", MAX_SUBNETS);
    return;
  }
  parser->layout->subnets = g_new0(LayoutSubnet, map->n);
  for (guint i = 0; i < map->n; i++)
    read_subnet(parser, map->keys[i], map->items[i]);
}

/* Of the defaults only exec goes to switches and routers, so that their ports can be got and set:
 * a default way to power must not reach what carries everybody's traffic. */
static void
read_common(LayoutParser *parser, const YamlNode *map, LayoutNode *node)
{
  const char *backend[ROLE_N] = {[ROLE_EXEC] = parser->default_backend[ROLE_EXEC]};
  const YamlNode *protected_value = yaml_get_scalar(map, "protected", parser->errors);

  layout_read_backends(parser, map, backend);
  layout_set_backends(node, backend);
  if (protected_value != NULL)
    yaml_read_bool(protected_value, &node->protected_node, parser->errors);
}

void
layout_read_switches(LayoutParser *parser)
{
  static const char *const known[] = {"protected", "power", "keys", "exec", "console",
                                      "wake",      "meter", "log",  NULL};
  const YamlNode *map = yaml_get_map(parser->root, "switches", parser->errors);

  for (guint i = 0; map != NULL && i < map->n; i++) {
    const YamlNode *name = map->keys[i];
    LayoutNode *node = layout_add_node(parser, name, NODE_SWITCH, name->text);
    if (node == NULL || !yaml_check_map(name, map->items[i], parser->errors))
      continue;
    yaml_check_keys(map->items[i], known, parser->errors);
    read_common(parser, map->items[i], node);
  }
}

static gboolean
joins_already(const LayoutNode *node, int subnet)
{
  for (guint i = 0; i < node->n_joins; i++) {
    if (node->joins[i] == subnet)
      return TRUE;
  }
  return FALSE;
}

static void
read_joins(LayoutParser *parser, const YamlNode *list, LayoutNode *node)
{
  node->joins = g_new0(int, list->n);
  for (guint i = 0; i < list->n; i++) {
    const YamlNode *item = list->items[i];
    int subnet = item->kind == YAML_SCALAR ? layout_find_subnet(parser, item) : -1;
    if (item->kind != YAML_SCALAR)
      yaml_errors_add(parser->errors, item, "a subnet's name is due");
    else if (subnet >= 0 && joins_already(node, subnet))
      yaml_errors_add(parser->errors, item, "%s joins %s twice", node->name, item->text);
    else if (subnet >= 0)
      node->joins[node->n_joins++] = subnet;
  }
  if (list->n < 2)
    yaml_errors_add(parser->errors, list, "%s joins fewer than two subnets", node->name);
}

static void
read_router(LayoutParser *parser, const YamlNode *name, const YamlNode *map)
{
  static const char *const known[] = {"joins", "switch", "mac",  "speed",   "protected",
                                      "power", "keys",   "exec", "console", NULL};
  static const char *const required[] = {"joins", "switch", "mac", "speed"};
  LayoutNode *node = layout_add_node(parser, name, NODE_ROUTER, name->text);

  if (node == NULL || !yaml_check_map(name, map, parser->errors))
    return;
  yaml_check_keys(map, known, parser->errors);
  for (guint i = 0; i < G_N_ELEMENTS(required); i++)
    yaml_require(map, name, name->text, required[i], parser->errors);
  read_common(parser, map, node);
  const YamlNode *joins = yaml_get_list(map, "joins", parser->errors);
  const YamlNode *at = yaml_get_scalar(map, "switch", parser->errors);
  const YamlNode *mac = yaml_get_scalar(map, "mac", parser->errors);
  const YamlNode *speed = yaml_get_scalar(map, "speed", parser->errors);
  if (joins != NULL)
    read_joins(parser, joins, node);
  if (at != NULL)
    node->attached = layout_find_kind(parser, at, NODE_SWITCH);
  if (speed != NULL)
    layout_read_speed(parser, speed, &node->speed);
  node->has_mac = mac != NULL && layout_read_mac(parser, mac, &node->mac);
  if (node->has_mac)
    layout_use_mac(parser, node->id, NULL, &node->mac, mac);
}

void
layout_read_routers(LayoutParser *parser)
{
  const YamlNode *map = yaml_get_map(parser->root, "routers", parser->errors);

  for (guint i = 0; map != NULL && i < map->n; i++)
    read_router(parser, map->keys[i], map->items[i]);
}

/* Links are told apart by their two ends, and by name: a-b and c, a and b-c would share one. */
static gboolean
check_new_link(LayoutParser *parser, GHashTable *seen, const YamlNode *at, const LayoutLink *link)
{
  const char *a = layout_parser_node(parser, link->from)->name;
  const char *b = layout_parser_node(parser, link->to)->name;
  g_autofree char *back = g_strconcat(b, "-", a, NULL);

  if (link->from == link->to) {
    yaml_errors_add(parser->errors, at, "a link from %s to itself", a);
    return FALSE;
  }
  const YamlNode *before = g_hash_table_lookup(seen, link->name);
  if (before == NULL)
    before = g_hash_table_lookup(seen, back);
  if (before != NULL) {
    yaml_errors_add(parser->errors, at, "link %s again: it is given in line %u already", link->name,
                    before->line);
    return FALSE;
  }
  g_hash_table_insert(seen, link->name, (gpointer)at);
  return TRUE;
}

static void
read_link(LayoutParser *parser, GHashTable *seen, const YamlNode *map)
{
  static const char *const known[] = {"from", "to", "speed", NULL};
  Layout *layout = parser->layout;
  LayoutLink link = {.from = NODE_NONE, .to = NODE_NONE};

  if (map->kind != YAML_MAP) {
    yaml_errors_add(parser->errors, map, "a link is {from: SWITCH, to: SWITCH, speed: RATE}");
    return;
  }
  yaml_check_keys(map, known, parser->errors);
  for (guint i = 0; known[i] != NULL; i++)
    yaml_require(map, map, "link", known[i], parser->errors);
  const YamlNode *from = yaml_get_scalar(map, "from", parser->errors);
  const YamlNode *to = yaml_get_scalar(map, "to", parser->errors);
  const YamlNode *speed = yaml_get_scalar(map, "speed", parser->errors);
  if (from != NULL)
    link.from = layout_find_kind(parser, from, NODE_SWITCH);
  if (to != NULL)
    link.to = layout_find_kind(parser, to, NODE_SWITCH);
  gboolean has_speed = speed != NULL && layout_read_speed(parser, speed, &link.speed);
  if (link.from == NODE_NONE || link.to == NODE_NONE || !has_speed)
    return;
  link.name = g_strconcat(layout_parser_node(parser, link.from)->name, "-",
                          layout_parser_node(parser, link.to)->name, NULL);
  if (check_new_link(parser, seen, map, &link))
    layout->links[layout->n_links++] = link;
  else
    g_free(link.name);
}

void
layout_read_links(LayoutParser *parser)
{
  const YamlNode *list = yaml_get_list(parser->root, "links", parser->errors);
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

  if (list == NULL)
    return;
  parser->layout->links = g_new0(LayoutLink, list->n);
  for (guint i = 0; i < list->n; i++)
    read_link(parser, seen, list->items[i]);
}
