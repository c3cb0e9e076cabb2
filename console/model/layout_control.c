#include "model/layout_private.h"
#include "model/layout_setting_private.h"

#include <string.h>

#define MAX_COMMAND 4096

void
layout_control_free(gpointer data)
{
  LayoutControlEntry *entry = data;

  g_free(entry->nodes);
  g_free(entry->name);
  g_free(entry->run);
  g_free(entry->get);
  g_free(entry->set);
  g_free(entry);
}

static void
read_command(LayoutParser *parser, const YamlNode *value, gboolean takes_value, char **command)
{
  static const Argument stand_in = {"value", ""};
  g_autoptr(GError) error = NULL;

  if (value == NULL || !yaml_read_line(value, MAX_COMMAND, command, parser->errors))
    return;
  g_autofree char *expanded =
      layout_expand(parser->layout, NODE_NONE, *command, &stand_in, takes_value, &error);
  if (expanded == NULL)
    yaml_errors_add(parser->errors, value, "%s", error->message);
}

static void
read_entry(LayoutParser *parser, const YamlNode *name, const YamlNode *value,
           LayoutControlEntry *entry)
{
  static const char *const known[] = {"get", "set", NULL};

  entry->name = g_strdup(name->text);
  if (value->kind == YAML_SCALAR) {
    read_command(parser, value, FALSE, &entry->run);
    return;
  }
  if (!yaml_check_map(name, value, parser->errors))
    return;
  yaml_check_keys(value, known, parser->errors);
  read_command(parser, yaml_get_scalar(value, "get", parser->errors), FALSE, &entry->get);
  read_command(parser, yaml_get_scalar(value, "set", parser->errors), TRUE, &entry->set);
}

static void
read_set(LayoutParser *parser, const YamlNode *at, const YamlNode *map)
{
  g_autofree NodeId *nodes = NULL;
  g_autofree guint *place = NULL;
  guint n;

  if (!yaml_check_map(at, map, parser->errors) ||
      !layout_read_node_set(parser, at, &nodes, &place, &n))
    return;
  for (guint i = 0; i < map->n; i++) {
    LayoutControlEntry *entry = g_new0(LayoutControlEntry, 1);
    entry->nodes = g_memdup2(nodes, n * sizeof *nodes);
    entry->n_nodes = n;
    read_entry(parser, map->keys[i], map->items[i], entry);
    g_ptr_array_add(parser->layout->controls, entry);
  }
}

void
layout_read_control(LayoutParser *parser)
{
  const YamlNode *map = yaml_get_map(parser->root, "control", parser->errors);

  for (guint i = 0; map != NULL && i < map->n; i++)
    read_set(parser, map->keys[i], map->items[i]);
}

char *
layout_control(const Layout *layout, NodeId node, const char *name, const char *action,
               const char *value)
{
  g_autofree char *quoted = value != NULL ? g_shell_quote(value) : NULL;
  Argument extra = {"value", quoted};

  for (guint i = layout->controls->len; i-- > 0;) {
    const LayoutControlEntry *entry = layout->controls->pdata[i];
    guint index;
    if (strcmp(entry->name, name) != 0 ||
        !layout_nodes_have(entry->nodes, entry->n_nodes, node, &index))
      continue;
    const char *command = strcmp(action, "get") == 0   ? entry->get
                          : strcmp(action, "set") == 0 ? entry->set
                                                       : entry->run;
    return command != NULL ? layout_expand(layout, node, command, &extra, quoted != NULL, NULL)
                           : NULL;
  }
  return NULL;
}
