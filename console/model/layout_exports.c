#include "model/layout_private.h"

#define MAX_EXPORTS 64 /* of one server */
#define MAX_ABOUT 100
#define MAX_TIME 3600.0

static void
read_export(LayoutParser *parser, LayoutNode *node, const YamlNode *name, const YamlNode *map)
{
  static const char *const known[] = {"about", "data", "async", "request-time", NULL};
  LayoutServer *server = node->as_server;

  if (!layout_check_name(parser, name, name->text) || !yaml_check_map(name, map, parser->errors))
    return;
  LayoutExport *export = &server->exports[server->n_exports++];
  *export = (LayoutExport){.name = g_strdup(name->text), .about = g_strdup(""), .data = node->id};
  yaml_check_keys(map, known, parser->errors);
  const YamlNode *about = yaml_get_scalar(map, "about", parser->errors);
  const YamlNode *data = yaml_get_scalar(map, "data", parser->errors);
  const YamlNode *async = yaml_get_scalar(map, "async", parser->errors);
  const YamlNode *time = yaml_get_scalar(map, "request-time", parser->errors);
  if (about != NULL)
    yaml_read_line(about, MAX_ABOUT, &export->about, parser->errors);
  if (data != NULL)
    export->data = layout_find_kind(parser, data, NODE_SERVER);
  if (async != NULL)
    yaml_read_bool(async, &export->async, parser->errors);
  if (time != NULL)
    yaml_read_quantity(time, DIMENSION_TIME, 0, MAX_TIME, &export->request_time, parser->errors);
}

void
layout_read_exports(LayoutParser *parser, const YamlNode *name, const YamlNode *map)
{
  const YamlNode *exports =
      map->kind == YAML_MAP ? yaml_get_map(map, "exports", parser->errors) : NULL;
  NodeId id = layout_find(parser->layout, name->text);
  LayoutNode *node = id != NODE_NONE ? layout_parser_node(parser, id) : NULL;

  if (exports == NULL || node == NULL || node->kind != NODE_SERVER)
    return;
  if (exports->n > MAX_EXPORTS) {
    yaml_errors_add(parser->errors, exports, "%s has %u exports: at most %d", name->text,
                    exports->n, MAX_EXPORTS);
    return;
  }
  node->as_server->exports = g_new0(LayoutExport, exports->n);
  for (guint i = 0; i < exports->n; i++)
    read_export(parser, node, exports->keys[i], exports->items[i]);
}

/* Hops from where the data of EXPORT lie to SERVER; 0 when they lie there, -1 when there is no
 * way. What has no switch has been told already. */
static int
leg_of(const Layout *layout, const LayoutNode *server, const LayoutExport *export)
{
  LayoutHop hops[LAYOUT_MAX_HOPS];

  if (export->data == NODE_NONE || export->data == server->id || server->attached == NODE_NONE ||
      layout_node(layout, export->data)->attached == NODE_NONE)
    return 0;
  return layout_path(layout, export->data, server->id, NULL, hops);
}

guint
layout_longest_leg(const Layout *layout, NodeId server)
{
  const LayoutNode *node = layout_node(layout, server);
  int longest = 0;

  for (guint i = 0; i < node->as_server->n_exports; i++)
    longest = MAX(longest, leg_of(layout, node, &node->as_server->exports[i]));
  return (guint)longest;
}

static void
check_server(LayoutParser *parser, const YamlNode *map, const LayoutNode *node)
{
  for (guint i = 0; i < node->as_server->n_exports; i++) {
    const LayoutExport *export = &node->as_server->exports[i];
    if (leg_of(parser->layout, node, export) < 0)
      yaml_errors_add(parser->errors,
                      yaml_get(yaml_get(yaml_get(map, "exports"), export->name), "data"),
                      "%s cannot reach %s: neither links nor a router lead there within %d hops",
                      node->name, layout_node(parser->layout, export->data)->name, LAYOUT_MAX_HOPS);
  }
}

void
layout_check_exports(LayoutParser *parser)
{
  const YamlNode *map = yaml_get(parser->root, "servers");

  for (guint i = 0; map != NULL && map->kind == YAML_MAP && i < map->n; i++) {
    NodeId id = layout_find(parser->layout, map->keys[i]->text);
    if (id != NODE_NONE && layout_node(parser->layout, id)->kind == NODE_SERVER)
      check_server(parser, map->items[i], layout_node(parser->layout, id));
  }
}
