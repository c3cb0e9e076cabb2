#include "main_means.h"

#include "core/core_map.h"
#include "main_say.h"
#include "model/nodeset.h"

/* The roles besides power, and what a person gets of them. */
static const struct {
  BackendRole role;
  const char *word;
} others[] = {{ROLE_EXEC, "commands"},
              {ROLE_METER, "counters"},
              {ROLE_CONSOLE, "console"},
              {ROLE_KEYS, "keys"},
              {ROLE_LOG, "logs"}};

/* Operations one after the other, those done by the same backend said together. */
static const struct {
  Operation operation;
  const char *word;
} powers[] = {{OP_STATUS, "status"},
              {OP_ON, "on"},
              {OP_OFF, "off"},
              {OP_RESET, "reset"},
              {OP_BOOT_DEVICE, "boot device"}};

static void
add(GString *text, const char *what, const char *backend)
{
  g_string_append_printf(text, "%s%s by %s", text->len > 0 ? ", " : "", what, backend);
}

static void
add_power(GString *text, const CoreMap *map, NodeId id)
{
  gboolean told[G_N_ELEMENTS(powers)] = {FALSE};
  for (gsize i = 0; i < G_N_ELEMENTS(powers); i++) {
    int doer = map->doer[powers[i].operation][id];
    if (doer < 0 || told[i])
      continue;
    g_autoptr(GString) words = g_string_new(NULL);
    gsize n = 0;
    for (gsize k = i; k < G_N_ELEMENTS(powers); k++) {
      if (map->doer[powers[k].operation][id] != doer)
        continue;
      g_string_append_printf(words, "%s%s", words->len > 0 ? "/" : "", powers[k].word);
      told[k] = TRUE;
      n++;
    }
    add(text, n == G_N_ELEMENTS(powers) ? "power" : words->str, map->backends[doer]);
  }
}

static char *
means_of(const Layout *layout, const CoreMap *map, NodeId id)
{
  const LayoutNode *node = &layout->nodes[id];
  g_autoptr(GString) text = g_string_new(NULL);
  add_power(text, map, id);
  for (gsize i = 0; i < G_N_ELEMENTS(others); i++) {
    const char *backend = node->backend[others[i].role];
    if (backend != NULL)
      add(text, others[i].word, backend);
  }
  if (text->len == 0)
    g_string_append(text, "by nothing");
  if (node->outlet != NULL)
    g_string_append_printf(text, "; outlet %s", node->outlet);
  if (node->protected_node)
    g_string_append(text, "; protected");
  return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Of nodes reached alike, in the order of the first. */
typedef struct {
  char *means;
  GPtrArray *names;
} Alike;

static void
alike_free(gpointer data)
{
  Alike *alike = data;
  g_free(alike->means);
  g_ptr_array_unref(alike->names);
  g_free(alike);
}

static GPtrArray *
sort_by_means(const Layout *layout, const CoreMap *map)
{
  GPtrArray *all = g_ptr_array_new_with_free_func(alike_free);
  g_autoptr(GHashTable) by_means = g_hash_table_new(g_str_hash, g_str_equal);
  for (NodeId id = 0; id < layout->n_nodes; id++) {
    g_autofree char *means = means_of(layout, map, id);
    Alike *alike = g_hash_table_lookup(by_means, means);
    if (alike == NULL) {
      alike = g_new0(Alike, 1);
      alike->means = g_steal_pointer(&means);
      alike->names = g_ptr_array_new();
      g_ptr_array_add(all, alike);
      g_hash_table_insert(by_means, alike->means, alike);
    }
    g_ptr_array_add(alike->names, layout->nodes[id].name);
  }
  return all;
}

void
main_print_means(FILE *out, const Layout *layout)
{
  CoreMap *map = core_map_new(layout);
  g_autoptr(GPtrArray) all = sort_by_means(layout, map);
  for (guint i = 0; i < all->len; i++) {
    const Alike *alike = all->pdata[i];
    g_autofree char *folded =
        nodeset_fold_names((const char *const *)alike->names->pdata, alike->names->len);
    g_autofree char *line = g_strdup_printf("  %-20s  %s", folded, alike->means);
    main_print(out, line);
    fputc('\n', out);
  }
  core_map_unref(map);
}
