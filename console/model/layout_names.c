#include "model/layout_private.h"

#include <string.h>

const char *
layout_role_name(BackendRole role)
{
  static const char *const names[ROLE_N] = {"power", "keys",  "exec", "console",
                                            "wake",  "meter", "log"};

  return names[role];
}

static gboolean
is_name(const char *name)
{
  if (!g_ascii_isalnum(*name))
    return FALSE;
  for (const char *p = name; *p != '\0'; p++) {
    if (!g_ascii_isalnum(*p) && strchr("._-", *p) == NULL)
      return FALSE;
  }
  return TRUE;
}

gboolean
layout_check_name(LayoutParser *parser, const YamlNode *at, const char *name)
{
  if (!is_name(name)) {
    yaml_errors_add(parser->errors, at,
                    "bad name \"%s\": a letter or digit, then letters, digits, \".\", \"_\", \"-\"",
                    name);
    return FALSE;
  }
  if (strlen(name) > LAYOUT_MAX_NAME) {
    yaml_errors_add(parser->errors, at, "name of %zu bytes: at most %d", strlen(name),
                    LAYOUT_MAX_NAME);
    return FALSE;
  }
  return TRUE;
}

gboolean
layout_check_group_name(LayoutParser *parser, const YamlNode *at)
{
  static const char *const reserved[] = {"all",     "on",    "off",  "unknown", "failed",
                                         "booting", "inuse", "free", NULL};

  if (!layout_check_name(parser, at, at->text))
    return FALSE;
  if (g_strv_contains(reserved, at->text)) {
    yaml_errors_add(parser->errors, at, "\"%s\" is reserved: @%s is a live group", at->text,
                    at->text);
    return FALSE;
  }
  return TRUE;
}

const char *
layout_kind_name(NodeKind kind)
{
  static const char *const names[] = {"switch", "router", "server", "client"};

  return names[kind];
}

LayoutNode *
layout_parser_node(LayoutParser *parser, NodeId id)
{
  return parser->nodes != NULL ? &g_array_index(parser->nodes, LayoutNode, id)
                               : &parser->layout->nodes[id]; /* sealed */
}

LayoutOrigin *
layout_origin(LayoutParser *parser, NodeId id)
{
  return &g_array_index(parser->origins, LayoutOrigin, id);
}

static gboolean
check_new_node(LayoutParser *parser, const YamlNode *at, const char *name)
{
  if (!layout_check_name(parser, at, name))
    return FALSE;
  NodeId id = layout_find(parser->layout, name);
  if (id != NODE_NONE) {
    yaml_errors_add(parser->errors, at, "\"%s\" is a %s already, in line %u", name,
                    layout_kind_name(layout_parser_node(parser, id)->kind),
                    layout_origin(parser, id)->at->line);
    return FALSE;
  }
  if (parser->nodes->len == LAYOUT_MAX_NODES) {
    if (!parser->full)
      yaml_errors_add(parser->errors, at, "more than %d nodes", LAYOUT_MAX_NODES);
    parser->full = TRUE;
    return FALSE;
  }
  return TRUE;
}

LayoutNode *
layout_add_node(LayoutParser *parser, const YamlNode *at, NodeKind kind, const char *name)
{
  if (!check_new_node(parser, at, name))
    return NULL;
  LayoutNode node = {.id = parser->nodes->len,
                     .kind = kind,
                     .name = g_strdup(name),
                     .attached = NODE_NONE,
                     .subnet = -1,
                     .server = NODE_NONE,
                     .room = -1};
  LayoutOrigin origin = {.at = at};

  g_array_append_val(parser->nodes, node);
  g_array_append_val(parser->origins, origin);
  g_hash_table_insert(parser->layout->by_name, node.name, GUINT_TO_POINTER(node.id + 1));
  return layout_parser_node(parser, node.id);
}

NodeId
layout_find_kind(LayoutParser *parser, const YamlNode *value, NodeKind kind)
{
  NodeId id = layout_find(parser->layout, value->text);

  if (id != NODE_NONE && layout_parser_node(parser, id)->kind == kind)
    return id;
  if (id != NODE_NONE) {
    yaml_errors_add(parser->errors, value, "\"%s\" is a %s, not a %s", value->text,
                    layout_kind_name(layout_parser_node(parser, id)->kind), layout_kind_name(kind));
    return NODE_NONE;
  }
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  guint n = parser->nodes != NULL ? parser->nodes->len : parser->layout->n_nodes;
  for (guint i = 0; i < n; i++) {
    const LayoutNode *node = layout_parser_node(parser, i);
    if (node->kind == kind)
      g_ptr_array_add(names, node->name);
  }
  g_ptr_array_add(names, NULL);
  yaml_unknown_word(value, layout_kind_name(kind), (const char *const *)names->pdata,
                    parser->errors);
  return NODE_NONE;
}

int
layout_find_subnet(LayoutParser *parser, const YamlNode *value)
{
  const Layout *layout = parser->layout;

  for (guint i = 0; i < layout->n_subnets; i++) {
    if (strcmp(layout->subnets[i].name, value->text) == 0)
      return i;
  }
  g_autofree const char **names = g_new0(const char *, layout->n_subnets + 1);
  for (guint i = 0; i < layout->n_subnets; i++)
    names[i] = layout->subnets[i].name;
  yaml_unknown_word(value, "subnet", names, parser->errors);
  return -1;
}

/* Whether there is such a backend is for those to say who know which are compiled in. */
static gboolean
is_backend_word(const char *word)
{
  if (!g_ascii_islower(*word) || strlen(word) > LAYOUT_MAX_NAME)
    return FALSE;
  for (const char *p = word; *p != '\0'; p++) {
    if (!g_ascii_islower(*p) && !g_ascii_isdigit(*p) && *p != '-')
      return FALSE;
  }
  return TRUE;
}

gboolean
layout_check_backend_word(LayoutParser *parser, const YamlNode *value)
{
  if (is_backend_word(value->text))
    return TRUE;
  yaml_errors_add(parser->errors, value,
                  "bad backend \"%s\": a word of small letters, digits and \"-\"", value->text);
  return FALSE;
}

void
layout_read_backends(LayoutParser *parser, const YamlNode *map, const char *backend[ROLE_N])
{
  for (guint role = 0; role < ROLE_N; role++) {
    const YamlNode *value = yaml_get_scalar(map, layout_role_name(role), parser->errors);
    if (value != NULL && layout_check_backend_word(parser, value))
      backend[role] = value->text;
  }
}

/* Who runs a machine's commands reads its counters too, unless another is named for that. A switch
 * has no meter unless it names one: its shell is there for its ports. */
void
layout_set_backends(LayoutNode *node, const char *const backend[ROLE_N])
{
  gboolean machine = node->kind == NODE_SERVER || node->kind == NODE_CLIENT;
  gboolean follows = machine && backend[ROLE_METER] == NULL &&
                     g_strcmp0(node->backend[ROLE_METER], node->backend[ROLE_EXEC]) == 0;

  for (guint role = 0; role < ROLE_N; role++) {
    if (backend[role] == NULL)
      continue;
    g_free(node->backend[role]);
    node->backend[role] = strcmp(backend[role], "none") == 0 ? NULL : g_strdup(backend[role]);
  }
  if (!follows)
    return;
  g_free(node->backend[ROLE_METER]);
  node->backend[ROLE_METER] = g_strdup(node->backend[ROLE_EXEC]);
}

void
layout_seal_nodes(LayoutParser *parser)
{
  Layout *layout = parser->layout;

  layout->n_nodes = parser->nodes->len;
  layout->nodes = (LayoutNode *)g_array_free(g_steal_pointer(&parser->nodes), FALSE);
  layout->clients = g_new(NodeId, layout->n_nodes);
  for (guint i = 0; i < layout->n_nodes; i++) {
    if (layout->nodes[i].kind == NODE_CLIENT)
      layout->clients[layout->n_clients++] = i;
  }
}
