#include "model/layout_private.h"
#include "model/nodeset.h"

#include <string.h>

#define MAC_LAST G_GUINT64_CONSTANT(0xffffffffffff)

/* What one entry says for every node it names. */
typedef struct {
  const YamlNode *at;
  gboolean switch_given, subnet_given, speed_given, server_given, protected_given;
  NodeId attached, server;
  int subnet;
  double speed;
  gboolean protected_node;
  const YamlNode *outlet;
  const char *backend[ROLE_N];
  LayoutSequence mac, ip;
} Entry;

static void
read_references(LayoutParser *parser, const YamlNode *map, Entry *entry)
{
  const YamlNode *at = yaml_get_scalar(map, "switch", parser->errors);
  const YamlNode *subnet = yaml_get_scalar(map, "subnet", parser->errors);
  const YamlNode *server = yaml_get_scalar(map, "server", parser->errors);

  entry->switch_given = yaml_get(map, "switch") != NULL;
  entry->subnet_given = yaml_get(map, "subnet") != NULL;
  entry->server_given = server != NULL;
  entry->attached = at != NULL ? layout_find_kind(parser, at, NODE_SWITCH) : NODE_NONE;
  entry->subnet = subnet != NULL ? layout_find_subnet(parser, subnet) : -1;
  entry->server = server != NULL ? layout_find_kind(parser, server, NODE_SERVER) : NODE_NONE;
}

static void
read_entry(LayoutParser *parser, const YamlNode *name, const YamlNode *map, guint n, Entry *entry)
{
  static const char *const known[] = {
      "switch", "subnet",  "speed", "mac",   "ip",  "server",    "power",         "keys",
      "exec",   "console", "wake",  "meter", "log", "protected", "shares-outlet", NULL};

  entry->at = name;
  yaml_check_keys(map, known, parser->errors);
  read_references(parser, map, entry);
  layout_read_backends(parser, map, entry->backend);
  const YamlNode *speed = yaml_get_scalar(map, "speed", parser->errors);
  const YamlNode *protected_value = yaml_get_scalar(map, "protected", parser->errors);
  const YamlNode *mac = yaml_get_scalar(map, "mac", parser->errors);
  const YamlNode *ip = yaml_get_scalar(map, "ip", parser->errors);
  entry->outlet = yaml_get_scalar(map, "shares-outlet", parser->errors);
  if (entry->outlet != NULL && !layout_check_name(parser, entry->outlet, entry->outlet->text))
    entry->outlet = NULL;
  entry->speed_given = yaml_get(map, "speed") != NULL;
  if (speed != NULL)
    layout_read_speed(parser, speed, &entry->speed);
  entry->protected_given = protected_value != NULL &&
                           yaml_read_bool(protected_value, &entry->protected_node, parser->errors);
  if (mac != NULL && layout_read_macs(parser, mac, &entry->mac) &&
      !layout_check_sequence(parser, &entry->mac, n, MAC_LAST, "mac"))
    entry->mac.at = NULL;
  if (ip != NULL && layout_read_ips(parser, ip, &entry->ip) &&
      !layout_check_sequence(parser, &entry->ip, n, G_MAXUINT32, "ip"))
    entry->ip.at = NULL;
}

static LayoutNode *
find_or_add(LayoutParser *parser, const YamlNode *at, const char *name)
{
  NodeId id = layout_find(parser->layout, name);

  if (id != NODE_NONE && layout_parser_node(parser, id)->kind == NODE_CLIENT)
    return layout_parser_node(parser, id);
  LayoutNode *node = layout_add_node(parser, at, NODE_CLIENT, name);
  if (node == NULL)
    return NULL;
  node->server = parser->default_server;
  layout_set_backends(node, parser->default_backend);
  return node;
}

/* POSITION: of the node in the entry's set. */
static void
apply(LayoutParser *parser, const Entry *entry, LayoutNode *node, guint position)
{
  LayoutOrigin *origin = layout_origin(parser, node->id);

  if (entry->switch_given)
    node->attached = entry->attached;
  if (entry->subnet_given)
    node->subnet = entry->subnet;
  if (entry->speed_given)
    node->speed = entry->speed;
  if (entry->server_given)
    node->server = entry->server;
  if (entry->protected_given)
    node->protected_node = entry->protected_node;
  if (entry->outlet != NULL) {
    g_free(node->outlet);
    node->outlet = g_strdup(entry->outlet->text);
  }
  layout_set_backends(node, entry->backend);
  if (entry->mac.at != NULL) {
    node->mac = layout_mac_from(entry->mac.start + entry->mac.step * position);
    node->has_mac = TRUE;
    origin->mac_at = entry->mac.at;
  }
  if (entry->ip.at != NULL) {
    node->ip = entry->ip.start + entry->ip.step * position;
    node->has_ip = TRUE;
    origin->ip_at = entry->ip.at;
  }
  origin->switch_given |= entry->switch_given;
  origin->subnet_given |= entry->subnet_given;
  origin->speed_given |= entry->speed_given;
}

static void
read_client(LayoutParser *parser, const YamlNode *name, const YamlNode *map)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Nodeset) set = nodeset_parse(name->text, NULL, NULL, &error);
  Entry entry = {0};

  if (set == NULL) {
    yaml_errors_add(parser->errors, name, "%s", error->message);
    return;
  }
  if (nodeset_count(set) == 0) {
    yaml_errors_add(parser->errors, name, "\"%s\" names no node", name->text);
    return;
  }
  if (!yaml_check_map(name, map, parser->errors))
    return;
  read_entry(parser, name, map, nodeset_count(set), &entry);
  for (guint i = 0; i < nodeset_count(set); i++) {
    LayoutNode *node = find_or_add(parser, name, nodeset_name(set, i));
    if (node == NULL) /* one bad name tells enough about the set */
      return;
    apply(parser, &entry, node, i);
  }
}

static void
missing(LayoutParser *parser, const LayoutNode *node, const LayoutOrigin *origin)
{
  const struct {
    const char *key;
    gboolean given;
  } required[] = {
      {"switch", origin->switch_given},
      {"subnet", origin->subnet_given || parser->layout->n_subnets == 0},
      {"speed", origin->speed_given},
  };

  for (guint i = 0; i < G_N_ELEMENTS(required); i++) {
    if (!required[i].given)
      yaml_errors_add(parser->errors, origin->at, "%s: \"%s\" is missing", node->name,
                      required[i].key);
  }
}

/* Whether ORIGIN's node lacks what LAST's does: an entry's nodes follow one another, so the first
 * of them speaks for the next; but a later entry may have given some of them more. */
static gboolean
lacks_the_same(const LayoutOrigin *origin, const LayoutOrigin *last)
{
  return last != NULL && origin->at == last->at && origin->switch_given == last->switch_given &&
         origin->subnet_given == last->subnet_given && origin->speed_given == last->speed_given;
}

static void
check_clients(LayoutParser *parser)
{
  const LayoutOrigin *last = NULL;

  for (guint i = 0; i < parser->nodes->len; i++) {
    const LayoutNode *node = layout_parser_node(parser, i);
    const LayoutOrigin *origin = layout_origin(parser, i);
    if (node->kind != NODE_CLIENT)
      continue;
    if (!lacks_the_same(origin, last))
      missing(parser, node, origin);
    last = origin;
    if (node->has_mac)
      layout_use_mac(parser, i, NULL, &node->mac, origin->mac_at);
    if (node->has_ip)
      layout_use_ip(parser, i, NULL, node->ip, origin->ip_at);
  }
}

void
layout_read_clients(LayoutParser *parser)
{
  const YamlNode *map = yaml_get_map(parser->root, "clients", parser->errors);

  for (guint i = 0; map != NULL && i < map->n; i++)
    read_client(parser, map->keys[i], map->items[i]);
  check_clients(parser);
}

static void
check_way(LayoutParser *parser, const LayoutNode *client)
{
  const Layout *layout = parser->layout;
  const LayoutNode *server = layout_node(layout, client->server);
  const YamlNode *at = layout_origin(parser, client->id)->at;
  LayoutHop hops[LAYOUT_MAX_HOPS];

  if (server->attached == NODE_NONE || client->attached == NODE_NONE)
    return;
  int n = layout_path(layout, server->id, client->id, NULL, hops);
  if (n >= 0 && n + layout_longest_leg(layout, server->id) > LAYOUT_MAX_HOPS)
    yaml_errors_add(parser->errors, at, "%s is more than %d hops from data %s exports",
                    client->name, LAYOUT_MAX_HOPS, server->name);
  if (n >= 0)
    return;
  if (layout_crosses_router(server, client) &&
      layout_router_between(layout, server->id, client->id) == NODE_NONE)
    yaml_errors_add(parser->errors, at, "%s cannot reach %s: no router joins %s and %s",
                    client->name, server->name, layout->subnets[client->subnet].name,
                    layout->subnets[server->subnet].name);
  else
    yaml_errors_add(parser->errors, at, "%s cannot reach %s: no links lead there within %d hops",
                    client->name, server->name, LAYOUT_MAX_HOPS);
}

/* Neighbours mostly share a switch and a server: one look for each run of those. */
void
layout_check_reach(LayoutParser *parser)
{
  const Layout *layout = parser->layout;
  const LayoutNode *last = NULL;

  for (guint i = 0; i < layout->n_nodes; i++) {
    const LayoutNode *node = &layout->nodes[i];
    if (node->kind != NODE_CLIENT || node->server == NODE_NONE)
      continue;
    if (last == NULL || last->attached != node->attached || last->subnet != node->subnet ||
        last->server != node->server)
      check_way(parser, node);
    last = node;
  }
}
