#include "model/layout_private.h"
#include "model/layout_setting_private.h"
#include "model/nodeset.h"
#include "model/pattern.h"

#include <string.h>

#define MAX_TEXT 1024
#define MAX_WORDS 64

/* Where a map of settings stands: the instance's own, or that of some of its nodes. */
typedef struct {
  LayoutBackend *backend;
  NodeId *nodes;
  guint *place;
  guint n_nodes;
} Scope;

static void
setting_free(gpointer data)
{
  Setting *setting = data;

  g_free(setting->nodes);
  g_free(setting->place);
  g_free(setting->text);
  g_strfreev(setting->words);
  g_free(setting);
}

void
layout_backend_free(gpointer data)
{
  LayoutBackend *backend = data;

  g_free(backend->name);
  g_ptr_array_unref(backend->settings);
  g_free(backend);
}

static LayoutBackend *
backend_new(const char *name, const char *type)
{
  LayoutBackend *backend = g_new0(LayoutBackend, 1);

  backend->name = g_strdup(name);
  backend->type = type;
  backend->settings = g_ptr_array_new_with_free_func(setting_free);
  return backend;
}

/* ---- Values -------------------------------------------------------------------------------- */

static gboolean
check_text(LayoutParser *parser, const YamlNode *value, const Argument *extra, guint n)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *expanded =
      layout_expand(parser->layout, NODE_NONE, value->text, extra, n, &error);

  if (expanded != NULL)
    return TRUE;
  yaml_errors_add(parser->errors, value, "%s", error->message);
  return FALSE;
}

static gboolean
read_text(LayoutParser *parser, const Scope *scope, const YamlNode *value, Setting *setting)
{
  g_auto(GStrv) words = g_strsplit(value->text, " ", 4);
  guint32 start;

  if (!yaml_read_line(value, MAX_TEXT, &setting->text, parser->errors) ||
      !check_text(parser, value, NULL, 0))
    return FALSE;
  /* `10.9.0.1 step 1`: one address after the other over the set. */
  if (g_strv_length(words) != 3 || strcmp(words[1], "step") != 0 || !ip_parse(words[0], &start))
    return TRUE;
  LayoutSequence sequence;
  if (!layout_read_ips(parser, value, &sequence))
    return FALSE;
  if (scope->nodes == NULL) {
    yaml_errors_add(parser->errors, value, "a step wants a set of nodes: put it under \"nodes\"");
    return FALSE;
  }
  setting->start = (guint32)sequence.start;
  setting->step = sequence.step;
  return layout_check_sequence(parser, &sequence, scope->n_nodes, G_MAXUINT32, "address");
}

static gboolean
read_secret(LayoutParser *parser, const YamlNode *value, Setting *setting)
{
  const char *text = value->text;
  gboolean known = strcmp(text, "prompt") == 0 ||
                   ((g_str_has_prefix(text, "file:") || g_str_has_prefix(text, "env:")) &&
                    strchr(text, ':')[1] != '\0');

  if (!known) {
    /* Not shown: it may be the secret itself. */
    yaml_errors_add(parser->errors, value,
                    "a secret does not stand in a layout: file:PATH, env:NAME or prompt");
    return FALSE;
  }
  return yaml_read_line(value, MAX_TEXT, &setting->text, parser->errors);
}

static gboolean
read_words(LayoutParser *parser, const YamlNode *value, Setting *setting)
{
  static const Argument extra[] = {{"address", ""}, {"device", ""}};
  if (value->kind != YAML_LIST || value->n == 0 || value->n > MAX_WORDS) {
    yaml_errors_add(parser->errors, value, "a list of 1 to %d words is due", MAX_WORDS);
    return FALSE;
  }
  g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < value->n; i++) {
    char *word = NULL;
    if (value->items[i]->kind != YAML_SCALAR) {
      yaml_errors_add(parser->errors, value->items[i], "a word is due");
      return FALSE;
    }
    if (!yaml_read_line(value->items[i], MAX_TEXT, &word, parser->errors))
      return FALSE;
    g_ptr_array_add(words, word);
    if (!check_text(parser, value->items[i], extra, G_N_ELEMENTS(extra)))
      return FALSE;
  }
  g_ptr_array_add(words, NULL);
  setting->words = (char **)g_ptr_array_steal(words, NULL);
  return TRUE;
}

static gboolean
read_pattern(LayoutParser *parser, const YamlNode *value, Setting *setting)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Pattern) pattern = pattern_new(value->text, &error);

  if (pattern == NULL) {
    yaml_errors_add(parser->errors, value, "bad pattern, %s", error->message);
    return FALSE;
  }
  setting->text = g_strdup(value->text);
  return TRUE;
}

static gboolean
read_number(LayoutParser *parser, const YamlNode *value, Setting *setting)
{
  g_autoptr(GError) error = NULL;
  const SettingKey *key = setting->key;
  guint count;
  gboolean flag;

  setting->text = g_strdup(value->text);
  if (key->kind == SETTING_COUNT) {
    if (!yaml_read_count(value, key->min, key->max, &count, parser->errors))
      return FALSE;
    setting->number = count;
    return TRUE;
  }
  if (key->kind == SETTING_FLAG) {
    if (!yaml_read_bool(value, &flag, parser->errors))
      return FALSE;
    setting->number = flag;
    return TRUE;
  }
  if (units_parse_duration(value->text, &setting->number, &error))
    return TRUE;
  yaml_errors_add(parser->errors, value, "%s", error->message);
  return FALSE;
}

static gboolean
read_value(LayoutParser *parser, const Scope *scope, const YamlNode *value, Setting *setting)
{
  guint index;

  if (setting->key->kind == SETTING_WORDS)
    return read_words(parser, value, setting);
  if (value->kind != YAML_SCALAR || *value->text == '\0') {
    yaml_errors_add(parser->errors, value, "%s wants a value", setting->key->key);
    return FALSE;
  }
  switch (setting->key->kind) {
  case SETTING_TEXT:
    return read_text(parser, scope, value, setting);
  case SETTING_SECRET:
    return read_secret(parser, value, setting);
  case SETTING_PATTERN:
    return read_pattern(parser, value, setting);
  case SETTING_CHOICE:
    setting->text = g_strdup(value->text);
    return yaml_read_choice(value, setting->key->key, setting->key->choices, &index,
                            parser->errors);
  default:
    return read_number(parser, value, setting);
  }
}

/* ---- Keys ---------------------------------------------------------------------------------- */

static void
unknown_key(LayoutParser *parser, const Scope *scope, const YamlNode *at, const char *name)
{
  guint n, n_known = 0;
  const SettingKey *keys = layout_setting_keys(&n);
  g_autofree const char **known = g_new0(const char *, n + 1);

  for (guint i = 0; i < n; i++)
    if (layout_setting_key(scope->backend->type, keys[i].key) == &keys[i])
      known[n_known++] = keys[i].key;
  const char *nearest = units_nearest_word(name, known);
  if (nearest != NULL)
    yaml_errors_add(parser->errors, at, "%s has no setting \"%s\"; did you mean \"%s\"?",
                    scope->backend->type, name, nearest);
  else
    yaml_errors_add(parser->errors, at, "%s has no setting \"%s\"", scope->backend->type, name);
}

static void
read_setting(LayoutParser *parser, const Scope *scope, const YamlNode *at, const char *name,
             const YamlNode *value)
{
  const SettingKey *key = layout_setting_key(scope->backend->type, name);

  if (key == NULL) {
    unknown_key(parser, scope, at, name);
    return;
  }
  Setting *setting = g_new0(Setting, 1);
  setting->key = key;
  if (!read_value(parser, scope, value, setting)) {
    setting_free(setting);
    return;
  }
  setting->n_nodes = scope->n_nodes;
  setting->nodes = g_memdup2(scope->nodes, scope->n_nodes * sizeof(NodeId));
  setting->place = g_memdup2(scope->place, scope->n_nodes * sizeof(guint));
  g_ptr_array_add(scope->backend->settings, setting);
}

/* `status: {run: …}` is `status.run`, wherever the type has keys that begin so. */
static gboolean
is_group(const Scope *scope, const char *name)
{
  g_autofree char *prefix = g_strconcat(name, ".", NULL);
  guint n;
  const SettingKey *keys = layout_setting_keys(&n);

  for (guint i = 0; i < n; i++)
    if (g_str_has_prefix(keys[i].key, prefix) &&
        layout_setting_key(scope->backend->type, keys[i].key) == &keys[i])
      return TRUE;
  return FALSE;
}

static void
read_map(LayoutParser *parser, const Scope *scope, const YamlNode *map)
{
  for (guint i = 0; i < map->n; i++) {
    const YamlNode *at = map->keys[i], *value = map->items[i];
    gboolean own = strcmp(at->text, "type") == 0 || strcmp(at->text, "nodes") == 0;
    if (own && scope->nodes == NULL)
      continue;
    if (!is_group(scope, at->text)) {
      read_setting(parser, scope, at, at->text, value);
      continue;
    }
    if (!yaml_check_map(at, value, parser->errors))
      continue;
    for (guint k = 0; k < value->n; k++) {
      g_autofree char *name = g_strconcat(at->text, ".", value->keys[k]->text, NULL);
      read_setting(parser, scope, value->keys[k], name, value->items[k]);
    }
  }
}

/* ---- Sets of nodes ------------------------------------------------------------------------- */

static int
compare_places(gconstpointer a, gconstpointer b)
{
  guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;

  return x < y ? -1 : x > y;
}

gboolean
layout_read_node_set(LayoutParser *parser, const YamlNode *at, NodeId **nodes, guint **place,
                     guint *n)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Nodeset) set = nodeset_parse(at->text, NULL, NULL, &error);

  if (set == NULL || nodeset_count(set) == 0) {
    yaml_errors_add(parser->errors, at, "%s", set == NULL ? error->message : "names no node");
    return FALSE;
  }
  g_autofree guint64 *order = g_new(guint64, nodeset_count(set));
  *n = nodeset_count(set);
  for (guint i = 0; i < *n; i++) {
    NodeId id = layout_find(parser->layout, nodeset_name(set, i));
    if (id == NODE_NONE) {
      yaml_errors_add(parser->errors, at, "there is no node %s", nodeset_name(set, i));
      return FALSE;
    }
    order[i] = (guint64)id << 32 | i;
  }
  qsort(order, *n, sizeof *order, compare_places);
  *nodes = g_new(NodeId, *n);
  *place = g_new(guint, *n);
  for (guint i = 0; i < *n; i++) {
    (*nodes)[i] = (NodeId)(order[i] >> 32);
    (*place)[i] = (guint)order[i];
  }
  return TRUE;
}

static void
read_nodes(LayoutParser *parser, LayoutBackend *backend, const YamlNode *map)
{
  for (guint i = 0; i < map->n; i++) {
    Scope scope = {.backend = backend};
    if (!yaml_check_map(map->keys[i], map->items[i], parser->errors) ||
        !layout_read_node_set(parser, map->keys[i], &scope.nodes, &scope.place, &scope.n_nodes))
      continue;
    read_map(parser, &scope, map->items[i]);
    g_free(scope.nodes);
    g_free(scope.place);
  }
}

/* ---- The section --------------------------------------------------------------------------- */

static const char *
find_type(const char *name)
{
  const char *const *types = layout_backend_types();

  for (guint i = 0; types[i] != NULL; i++)
    if (strcmp(types[i], name) == 0)
      return types[i];
  return NULL;
}

static void
read_backend(LayoutParser *parser, const YamlNode *name, const YamlNode *map)
{
  if (!layout_check_backend_word(parser, name) || !yaml_check_map(name, map, parser->errors))
    return;
  const YamlNode *type = yaml_get_scalar(map, "type", parser->errors);
  const YamlNode *nodes = yaml_get_map(map, "nodes", parser->errors);
  const char *found = find_type(type != NULL ? type->text : name->text);
  if (found == NULL) {
    yaml_unknown_word(type != NULL ? type : name, "type of backend", layout_backend_types(),
                      parser->errors);
    return;
  }
  LayoutBackend *backend = backend_new(name->text, found);
  g_ptr_array_add(parser->layout->backends, backend);
  Scope scope = {.backend = backend};
  read_map(parser, &scope, map);
  if (nodes != NULL)
    read_nodes(parser, backend, nodes);
}

/* Who can only wake cannot be all of a machine's power, and what it says it did nobody has seen. */
static void
check_power(LayoutParser *parser)
{
  const Layout *layout = parser->layout;

  for (NodeId id = 0; id < layout->n_nodes; id++) {
    const LayoutNode *node = &layout->nodes[id];
    const char *name = node->backend[ROLE_POWER];
    const LayoutBackend *backend = name != NULL ? layout_backend(layout, name) : NULL;
    if (backend == NULL || strcmp(layout_backend_type(backend), "wol") != 0)
      continue;
    yaml_errors_add(parser->errors, layout_origin(parser, id)->at,
                    "%s: %s can only switch on: \"wake: %s\"", node->name, name, name);
    return;
  }
}

/* Instances that nodes name and nobody described go by their type's name. */
static void
add_undescribed(Layout *layout)
{
  for (NodeId id = 0; id < layout->n_nodes; id++)
    for (guint role = 0; role < ROLE_N; role++) {
      const char *name = layout->nodes[id].backend[role];
      const char *type = name != NULL ? find_type(name) : NULL;
      if (type != NULL && layout_backend(layout, name) == NULL)
        g_ptr_array_add(layout->backends, backend_new(name, type));
    }
}

void
layout_read_backend_settings(LayoutParser *parser)
{
  const YamlNode *map = yaml_get_map(parser->root, "backends", parser->errors);

  for (guint i = 0; map != NULL && i < map->n; i++)
    read_backend(parser, map->keys[i], map->items[i]);
  add_undescribed(parser->layout);
  check_power(parser);
}
