/* Any bytes are refused with a position, or are a tree in which everything has its place. */
#include "fuzz.h"

#include "model/yaml.h"

static void
check_scalar(const YamlNode *node)
{
  g_assert_true(node->kind == YAML_SCALAR && node->text != NULL);
  g_assert_true(g_utf8_validate(node->text, -1, NULL));
}

/* Returns how many lines the tree spans at least, for positions only grow. */
static void
check_node(const YamlNode *node, guint depth, guint *line)
{
  g_assert_true(depth <= 17 && node->line >= *line && node->column >= 1);
  *line = node->line;
  if (node->kind == YAML_SCALAR) {
    check_scalar(node);
    return;
  }
  g_assert_true(node->n <= 65536);
  g_autoptr(GHashTable) keys = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < node->n; i++) {
    if (node->kind == YAML_MAP) {
      check_scalar(node->keys[i]);
      g_assert_true(g_hash_table_add(keys, (gpointer)node->keys[i]->text));
      g_assert_true(yaml_get(node, node->keys[i]->text) == node->items[i]);
      g_assert_true(node->keys[i]->line >= *line);
      *line = node->keys[i]->line;
    }
    check_node(node->items[i], depth + 1, line);
  }
}

/* What a reader of this file would tell of keys it does not know. */
static void
check_errors(const YamlNode *root)
{
  static const char *const known[] = {"lab", "clients", "servers", NULL};
  g_autoptr(YamlErrors) errors = yaml_errors_new("t.yaml");
  yaml_check_keys(root, known, errors);
  g_assert_true(yaml_errors_count(errors) <= root->n);
  if (yaml_errors_count(errors) == 0)
    return;
  g_autofree char *text = yaml_errors_text(errors);
  g_autoptr(GError) error = g_error_new_literal(YAML_ERROR, 0, text);
  fuzz_check_positions(error, "t.yaml");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup((const char *)data, size);
  g_autoptr(GError) error = NULL;
  g_autoptr(YamlFile) file = yaml_parse("t.yaml", text, size, &error);
  if (file == NULL) {
    fuzz_check_positions(error, "t.yaml");
    return 0;
  }
  guint line = 1;
  const YamlNode *root = yaml_root(file);
  check_node(root, 1, &line);
  if (root->kind == YAML_MAP)
    check_errors(root);
  return 0;
}
