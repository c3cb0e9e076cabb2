#include "model/layout_private.h"
#include "model/nodeset.h"

#include <string.h>

#define MAX_COLUMNS 100
#define MAX_TITLE 64
#define MAX_GROUPS 1024 /* each may name every client */

static char *
all_clients(LayoutParser *parser)
{
  const Layout *layout = parser->layout;

  if (parser->all == NULL) {
    g_autofree const char **names = g_new(const char *, layout->n_clients);
    for (guint i = 0; i < layout->n_clients; i++)
      names[i] = layout_node(layout, layout->clients[i])->name;
    parser->all = nodeset_fold_names(names, layout->n_clients);
  }
  return g_strdup(parser->all);
}

/* The set a group stands for, as its own entry says it: rooms and blocks build on each other. */
static char *
group_text(const char *name, gpointer data, GError **error)
{
  static const struct {
    const char *section, *key;
  } places[] = {{"rooms", "seats"}, {"blocks", NULL}};
  LayoutParser *parser = data;

  if (strcmp(name, "all") == 0)
    return all_clients(parser);
  for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
    const YamlNode *map = yaml_get(parser->root, places[i].section);
    const YamlNode *entry = map != NULL && map->kind == YAML_MAP ? yaml_get(map, name) : NULL;
    if (entry != NULL && entry->kind == YAML_MAP && places[i].key != NULL)
      entry = yaml_get(entry, places[i].key);
    if (entry != NULL && entry->kind == YAML_SCALAR)
      return g_strdup(entry->text);
  }
  g_set_error(error, LAYOUT_ERROR, 0, "@%s is no room or block of this layout", name);
  return NULL;
}

static void
tell_names(LayoutParser *parser, const YamlNode *at, const GPtrArray *names, const char *what)
{
  if (names->len == 0)
    return;
  g_autofree char *folded = nodeset_fold_names((const char *const *)names->pdata, names->len);
  yaml_errors_add(parser->errors, at, "%s: %s", folded, what);
}

/* The clients VALUE names; free with g_free. */
static NodeId *
read_clients(LayoutParser *parser, const YamlNode *value, guint *n)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Nodeset) set = nodeset_parse(value->text, group_text, parser, &error);
  g_autoptr(GPtrArray) strangers = g_ptr_array_new();

  *n = 0;
  if (set == NULL) {
    yaml_errors_add(parser->errors, value, "%s", error->message);
    return NULL;
  }
  if (nodeset_count(set) == 0)
    yaml_errors_add(parser->errors, value, "\"%s\" names no client", value->text);
  NodeId *ids = g_new(NodeId, nodeset_count(set));
  for (guint i = 0; i < nodeset_count(set); i++) {
    const char *name = nodeset_name(set, i);
    NodeId id = layout_find(parser->layout, name);
    if (id != NODE_NONE && layout_node(parser->layout, id)->kind == NODE_CLIENT)
      ids[(*n)++] = id;
    else
      g_ptr_array_add(strangers, (char *)name);
  }
  tell_names(parser, value, strangers, "no client of this layout");
  return ids;
}

static void
read_seats(LayoutParser *parser, const YamlNode *value, LayoutRoom *room)
{
  Layout *layout = parser->layout;
  int index = room - layout->rooms;
  g_autoptr(GPtrArray) seated = g_ptr_array_new();

  room->seats = read_clients(parser, value, &room->n_seats);
  for (guint i = 0; i < room->n_seats; i++) {
    LayoutNode *node = &layout->nodes[room->seats[i]];
    if (node->room >= 0)
      g_ptr_array_add(seated, node->name);
    else
      node->room = index;
  }
  tell_names(parser, value, seated, "seated in another room already");
}

static void
read_aisles(LayoutParser *parser, const YamlNode *list, LayoutRoom *room)
{
  guint before = 0;

  room->aisles = g_new0(guint, list->n);
  for (guint i = 0; i < list->n; i++) {
    const YamlNode *item = list->items[i];
    guint after;
    if (item->kind != YAML_SCALAR) {
      yaml_errors_add(parser->errors, item, "a number of seats is due");
      continue;
    }
    if (!yaml_read_count(item, 1, MAX_COLUMNS, &after, parser->errors))
      continue;
    if (room->columns > 0 && after >= room->columns)
      yaml_errors_add(parser->errors, item, "an aisle after seat %u of a row of %u", after,
                      room->columns);
    else if (after <= before)
      yaml_errors_add(parser->errors, item, "aisles must be in order, each once");
    else
      room->aisles[room->n_aisles++] = before = after;
  }
}

static gboolean
check_new_group(LayoutParser *parser, const YamlNode *name)
{
  const NodeId *nodes;
  guint n;

  if (!layout_check_group_name(parser, name))
    return FALSE;
  if (!layout_group(parser->layout, name->text, &nodes, &n))
    return TRUE;
  yaml_errors_add(parser->errors, name, "\"%s\" is a room already: rooms and blocks share names",
                  name->text);
  return FALSE;
}

static void
read_room(LayoutParser *parser, const YamlNode *name, const YamlNode *map)
{
  static const char *const known[] = {"title", "seats", "columns", "aisle-after", NULL};
  Layout *layout = parser->layout;

  if (!check_new_group(parser, name) || !yaml_check_map(name, map, parser->errors))
    return;
  LayoutRoom *room = &layout->rooms[layout->n_rooms++];
  *room = (LayoutRoom){.name = g_strdup(name->text), .title = g_strdup(name->text)};
  yaml_check_keys(map, known, parser->errors);
  yaml_require(map, name, name->text, "seats", parser->errors);
  yaml_require(map, name, name->text, "columns", parser->errors);
  const YamlNode *title = yaml_get_scalar(map, "title", parser->errors);
  const YamlNode *seats = yaml_get_scalar(map, "seats", parser->errors);
  const YamlNode *columns = yaml_get_scalar(map, "columns", parser->errors);
  const YamlNode *aisles = yaml_get_list(map, "aisle-after", parser->errors);
  if (title != NULL)
    yaml_read_line(title, MAX_TITLE, &room->title, parser->errors);
  if (columns != NULL)
    yaml_read_count(columns, 1, MAX_COLUMNS, &room->columns, parser->errors);
  if (seats != NULL)
    read_seats(parser, seats, room);
  if (aisles != NULL)
    read_aisles(parser, aisles, room);
}

static const YamlNode *
read_groups(LayoutParser *parser, const char *section)
{
  const YamlNode *map = yaml_get_map(parser->root, section, parser->errors);

  if (map == NULL || map->n <= MAX_GROUPS)
    return map;
  yaml_errors_add(parser->errors, map, "more than %d %s", MAX_GROUPS, section);
  return NULL;
}

void
layout_read_rooms(LayoutParser *parser)
{
  const YamlNode *map = read_groups(parser, "rooms");

  if (map == NULL)
    return;
  parser->layout->rooms = g_new0(LayoutRoom, map->n);
  for (guint i = 0; i < map->n; i++)
    read_room(parser, map->keys[i], map->items[i]);
}

static void
read_block(LayoutParser *parser, const YamlNode *name, const YamlNode *value)
{
  Layout *layout = parser->layout;

  if (!check_new_group(parser, name))
    return;
  if (value->kind != YAML_SCALAR) {
    yaml_errors_add(parser->errors, value, "%s must be a node set: \"a[01-06]\"", name->text);
    return;
  }
  LayoutBlock *block = &layout->blocks[layout->n_blocks++];
  block->name = g_strdup(name->text);
  block->nodes = read_clients(parser, value, &block->n_nodes);
}

void
layout_read_blocks(LayoutParser *parser)
{
  const YamlNode *map = read_groups(parser, "blocks");

  if (map == NULL)
    return;
  parser->layout->blocks = g_new0(LayoutBlock, map->n);
  for (guint i = 0; i < map->n; i++)
    read_block(parser, map->keys[i], map->items[i]);
}
