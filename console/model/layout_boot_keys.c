/* Keys that lead a boot to where it should go: `boot: {keys: {firmware: …, menu: …}}`. */
#include <string.h>

#include "model/keyboard.h"
#include "model/layout_private.h"

#define MAX_PRESSED 100 /* keys, for one entry */
#define MAX_ENTRIES 64

static const char *const names[] = {"firmware", "menu", NULL};
G_STATIC_ASSERT(G_N_ELEMENTS(names) == LAYOUT_BOOT_KEYS_N + 1);

/* `Down Down Enter`, each key as keyboard_key() writes it; NULL with errors added. */
static char **
read_press(LayoutParser *parser, const YamlNode *value)
{
  g_autoptr(GStrvBuilder) keys = g_strv_builder_new();
  g_auto(GStrv) words = g_strsplit(value->text, " ", -1);
  guint n = 0;

  for (guint i = 0; words[i] != NULL; i++) {
    g_autoptr(GError) error = NULL;
    g_autofree char *key = *words[i] != '\0' ? keyboard_key(words[i], &error) : NULL;
    if (error != NULL) {
      yaml_errors_add(parser->errors, value, "%s", error->message);
      return NULL;
    }
    if (key == NULL)
      continue;
    g_strv_builder_add(keys, key);
    n++;
  }
  if (n > 0 && n <= MAX_PRESSED)
    return g_strv_builder_end(keys);
  yaml_errors_add(parser->errors, value, "%u keys to press: 1 to %d", n, MAX_PRESSED);
  return NULL;
}

/* Of ENTRY, or of any that is not named. */
static void
add_press(LayoutParser *parser, LayoutBootKeys *keys, const char *entry, const YamlNode *value)
{
  char **press = read_press(parser, value);

  if (press != NULL)
    keys->presses[keys->n++] = (LayoutPress){g_strdup(entry), press};
}

static void
read_presses(LayoutParser *parser, const YamlNode *value, gboolean by_entry, LayoutBootKeys *keys)
{
  if (value->kind != YAML_MAP && value->kind != YAML_SCALAR) {
    yaml_errors_add(parser->errors, value, "keys are due here, as F12%s",
                    by_entry ? ", or a map of entries, each with its own" : "");
    return;
  }
  if (value->kind == YAML_MAP && (!by_entry || value->n == 0 || value->n > MAX_ENTRIES)) {
    yaml_errors_add(parser->errors, value,
                    by_entry ? "%u entries: 1 to 64" : "what is pressed in firmware is one for all",
                    value->n);
    return;
  }
  guint n = value->kind == YAML_MAP ? value->n : 1;
  keys->presses = g_new0(LayoutPress, n);
  if (value->kind == YAML_SCALAR)
    add_press(parser, keys, NULL, value);
  for (guint i = 0; value->kind == YAML_MAP && i < value->n; i++) {
    const YamlNode *press = yaml_get_scalar(value, value->keys[i]->text, parser->errors);
    if (press != NULL)
      add_press(parser, keys, value->keys[i]->text, press);
  }
}

static void
read_part(LayoutParser *parser, const YamlNode *map, const char *name, gboolean by_entry,
          LayoutBootKeys *keys)
{
  static const char *const known[] = {"after", "press", NULL};
  const YamlNode *after = yaml_get_scalar(map, "after", parser->errors);
  const YamlNode *press = yaml_get(map, "press");
  double seconds;

  yaml_check_keys(map, known, parser->errors);
  yaml_require(map, map, name, "after", parser->errors);
  yaml_require(map, map, name, "press", parser->errors);
  if (after != NULL && yaml_read_quantity(after, DIMENSION_TIME, 0, 3600, &seconds, parser->errors))
    keys->after = (gint64)(seconds * 1e9 + 0.5);
  if (press != NULL)
    read_presses(parser, press, by_entry, keys);
}

void
layout_read_boot_keys(LayoutParser *parser, const YamlNode *boot)
{
  const YamlNode *map = yaml_get_map(boot, "keys", parser->errors);

  if (map == NULL)
    return;
  yaml_check_keys(map, names, parser->errors);
  for (guint i = 0; i < LAYOUT_BOOT_KEYS_N; i++) {
    const YamlNode *part = yaml_get_map(map, names[i], parser->errors);
    if (part != NULL)
      read_part(parser, part, names[i], i == LAYOUT_IN_MENU, &parser->layout->boot_keys[i]);
  }
  if (map->n == 0)
    yaml_errors_add(parser->errors, map, "one of \"firmware\" and \"menu\" has to be there");
}

void
layout_boot_keys_clear(Layout *layout)
{
  for (guint i = 0; i < LAYOUT_BOOT_KEYS_N; i++) {
    LayoutBootKeys *keys = &layout->boot_keys[i];
    for (guint k = 0; k < keys->n; k++) {
      g_free(keys->presses[k].entry);
      g_strfreev(keys->presses[k].press);
    }
    g_free(keys->presses);
  }
}

const char *const *
layout_boot_press(const Layout *layout, LayoutBootWhere where, const char *entry)
{
  const LayoutBootKeys *keys = &layout->boot_keys[where];

  for (guint i = 0; i < keys->n; i++)
    if (keys->presses[i].entry == NULL || g_strcmp0(keys->presses[i].entry, entry) == 0)
      return (const char *const *)keys->presses[i].press;
  return NULL;
}
