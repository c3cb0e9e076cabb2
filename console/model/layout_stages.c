/* The stages of a layout's boots: the usual ones, or a set of its own. */
#include <string.h>

#include "model/layout_private.h"
#include "model/stage_source.h"

#define OWN_SECONDS 60
#define MAX_SOURCES 64
#define MAX_SOURCE 1024 /* bytes of a file's name */

/* `http`: a firmware or a loader that fetches by HTTP; `kexec`: a kernel that starts another. */
static const struct {
  const char *name;
  char letter;
  int seconds;
} usual[] = {
    {"firmware", 'f', 120}, {"dhcp", 'd', 20},  {"tftp", 't', 20},
    {"http", 'h', 30},      {"kexec", 'x', 30}, {"kernel", 'k', 30},
    {"initramfs", 'i', 30}, {"root", 'r', 120}, {"login", ' ', 0},
};
G_STATIC_ASSERT(G_N_ELEMENTS(usual) < LAYOUT_MAX_STAGES);

const char *const *
layout_usual_stages(void)
{
  static const char *names[G_N_ELEMENTS(usual) + 1];
  for (guint i = 0; i < G_N_ELEMENTS(usual); i++)
    names[i] = usual[i].name;
  return names;
}

static int
find_usual(const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS(usual); i++)
    if (strcmp(usual[i].name, name) == 0)
      return (int)i;
  return -1;
}

static void
add(Layout *layout, const char *name, char letter, int seconds)
{
  layout->stages[layout->n_stages++] =
      (LayoutStage){g_strdup(name), {letter, '\0'}, seconds * TIME_SECOND};
}

static void
begin(Layout *layout)
{
  layout_stages_clear(layout);
  layout->stages = g_new0(LayoutStage, LAYOUT_MAX_STAGES);
  add(layout, "", ' ', 0);
}

static void
end(Layout *layout)
{
  layout->stages[0].deadline = layout->stages[1].deadline;
}

void
layout_stages_clear(Layout *layout)
{
  for (guint i = 0; i < layout->n_stages; i++)
    g_free(layout->stages[i].name);
  g_clear_pointer(&layout->stages, g_free);
  layout->n_stages = 0;
}

void
layout_stages_default(Layout *layout)
{
  begin(layout);
  for (guint i = 0; i < G_N_ELEMENTS(usual); i++)
    add(layout, usual[i].name, usual[i].letter, usual[i].seconds);
  end(layout);
}

/* The first letter of NAME that no stage has, nor stands for something else in a seat's tile. */
static char
own_letter(const Layout *layout, const char *name)
{
  static const char others[] = "u";
  char taken[LAYOUT_MAX_STAGES + G_N_ELEMENTS(usual) + 1] = {0};
  gsize n = 0;

  for (guint i = 0; i < G_N_ELEMENTS(usual); i++)
    taken[n++] = usual[i].letter;
  for (guint i = 0; i < layout->n_stages; i++)
    taken[n++] = *layout->stages[i].letter;
  const char *from[] = {name, "abcdefghijklmnopqrstuvwxyz"};
  for (guint i = 0; i < G_N_ELEMENTS(from); i++)
    for (const char *p = from[i]; *p != '\0'; p++)
      if (g_ascii_islower(*p) && strchr(taken, *p) == NULL && strchr(others, *p) == NULL)
        return *p;
  g_assert_not_reached(); /* there are more letters than stages */
}

static gboolean
check_stage(LayoutParser *parser, const YamlNode *value)
{
  const char *const *words = layout_usual_stages();

  if (value->kind != YAML_SCALAR || !stage_is_name(value->text)) {
    yaml_errors_add(parser->errors, value,
                    "a stage is a word of small letters, digits and -, at most %d bytes",
                    STAGE_MAX_NAME);
    return FALSE;
  }
  if (layout_find_stage(parser->layout, value->text) > 0) {
    yaml_errors_add(parser->errors, value, "the stage %s stands here twice", value->text);
    return FALSE;
  }
  /* `wait boot` takes such a name for a slip, too: it knows no layout. */
  if (find_usual(value->text) < 0 && units_nearest_word(value->text, words) != NULL) {
    yaml_unknown_word(value, "stage", words, parser->errors);
    return FALSE;
  }
  return TRUE;
}

static void
read_set(LayoutParser *parser, const YamlNode *list)
{
  Layout *layout = parser->layout;
  guint n = list->n;

  if (n < 2 || n >= LAYOUT_MAX_STAGES || list->items[n - 1]->kind != YAML_SCALAR ||
      strcmp(list->items[n - 1]->text, "login") != 0) {
    yaml_errors_add(parser->errors, list, "2 to %d stages in their order, `login` the last",
                    LAYOUT_MAX_STAGES - 1);
    return;
  }
  begin(layout);
  for (guint i = 0; i < n; i++) {
    const YamlNode *value = list->items[i];
    if (!check_stage(parser, value))
      continue;
    int known = find_usual(value->text);
    add(layout, value->text, known >= 0 ? usual[known].letter : own_letter(layout, value->text),
        known >= 0 ? usual[known].seconds : OWN_SECONDS);
  }
  end(layout);
}

static void
read_sources(LayoutParser *parser, const YamlNode *list)
{
  if (list->n == 0 || list->n > MAX_SOURCES) {
    yaml_errors_add(parser->errors, list, "1 to %d sources of stages", MAX_SOURCES);
    return;
  }
  char **names = parser->layout->stage_sources = g_new0(char *, list->n + 1);
  for (guint i = 0; i < list->n; i++) {
    const YamlNode *value = list->items[i];
    if (value->kind != YAML_SCALAR || *value->text == '\0') {
      yaml_errors_add(parser->errors, value,
                      "a source of stages is a shipped one's name, or a file");
      names[i] = g_strdup("");
    } else if (!yaml_read_line(value, MAX_SOURCE, &names[i], parser->errors)) {
      names[i] = g_strdup("");
    }
  }
}

void
layout_read_stages(LayoutParser *parser, const YamlNode *boot)
{
  const YamlNode *set = yaml_get_list(boot, "stages", parser->errors);
  const YamlNode *sources = yaml_get_list(boot, "sources", parser->errors);
  const YamlNode *consoles = yaml_get_scalar(boot, "consoles", parser->errors);

  if (set != NULL)
    read_set(parser, set);
  if (sources != NULL)
    read_sources(parser, sources);
  if (consoles != NULL)
    yaml_read_bool(consoles, &parser->layout->watch_consoles, parser->errors);
}
