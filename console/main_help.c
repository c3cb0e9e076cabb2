#include "main_help.h"

#include <string.h>

#include "core/command_words.h"
#include "main_device.h"
#include "main_say.h"
#include "main_subcommand.h"
#include "model/layout_backend.h"
#include "session/data.h"
#include "ui/ui.h"

static const char closing[] =
    "\n`pult help COMMAND` tells about one; `pult help bindings`, views, subcommands,\n"
    "layouts, scripts, jobs and settings list those. A SET is a node set: a01,\n"
    "a[01-17], a room or block such as roomA, @all @on @off @unknown @failed @booting\n"
    "@inuse @free, first(3,@off). A DUR is a time with its unit: 5 s, 2 min.\n"
    "In scripts a new line or ; ends a command, and # begins a remark.\n"
    "pult-script(5) tells the rest.\n";

static int
print_table(void)
{
  g_autofree char *table = command_help_table();
  fputs("Commands, for the : line, `pult do` and scripts:\n\n", stdout);
  fputs(table, stdout);
  fputs(closing, stdout);
  return main_finish_output(0);
}

/* What `pult help TOPIC` lists, each with what it is, or the names alone. */
typedef struct {
  GString *text;
  gboolean names_only;
} List;

static void
add(List *list, const char *name, const char *about)
{
  if (list->names_only)
    g_string_append_printf(list->text, "%s\n", name);
  else
    g_string_append_printf(list->text, "  %-18s  %s\n", name, about);
}

static gboolean
list_keys(List *list, GError **error)
{
  (void)error;
  g_autofree char *keys = ui_keys_text();
  g_string_append(list->text, keys);
  return TRUE;
}

static gboolean
list_views(List *list, GError **error)
{
  (void)error;
  const char *name, *about;
  for (guint i = 0; (name = ui_view_name(i, &about)) != NULL; i++)
    add(list, name, about);
  return TRUE;
}

static gboolean
list_commands(List *list, GError **error)
{
  (void)error;
  for (const VerbInfo *verb = command_verbs; verb->name != NULL; verb++)
    add(list, verb->name, verb->summary);
  return TRUE;
}

static gboolean
list_subcommands(List *list, GError **error)
{
  (void)error;
  for (const Subcommand *sub = main_subcommands; sub->name != NULL; sub++)
    add(list, sub->name, sub->about);
  return TRUE;
}

static gboolean
list_jobs(List *list, GError **error)
{
  g_autoptr(JobSet) jobs = data_jobs_for(NULL, NULL, error);
  for (guint i = 0; jobs != NULL && i < jobs->n; i++)
    add(list, jobs->jobs[i]->name, jobs->jobs[i]->about);
  return jobs != NULL;
}

static gboolean
list_layouts(List *list, GError **error)
{
  g_auto(GStrv) names = data_names("layouts", ".yaml");
  for (char **name = names; *name != NULL; name++) {
    g_autoptr(Layout) layout = list->names_only ? NULL : data_layout(*name, error);
    if (layout == NULL && !list->names_only)
      return FALSE;
    add(list, *name, layout != NULL ? layout->lab : NULL);
  }
  return TRUE;
}

static gboolean
list_stages(List *list, GError **error)
{
  g_auto(GStrv) names = data_names(DATA_STAGES, ".yaml");
  for (char **name = names; *name != NULL; name++) {
    g_autoptr(StageSource) source = list->names_only ? NULL : data_stage_source(*name, error);
    if (source == NULL && !list->names_only)
      return FALSE;
    add(list, *name, source != NULL ? stage_source_about(source) : NULL);
  }
  return TRUE;
}

static gboolean
list_devices(List *list, GError **error)
{
  g_auto(GStrv) names = data_names(DEVICE_FOLDER, ".yaml");
  for (char **name = names; *name != NULL; name++) {
    g_autoptr(Device) device = list->names_only ? NULL : main_read_device(*name, error);
    if (device == NULL && !list->names_only)
      return FALSE;
    add(list, *name, device != NULL ? device->about : NULL);
  }
  return TRUE;
}

/* A script is about what its first line remarks. */
static gboolean
list_scripts(List *list, GError **error)
{
  g_auto(GStrv) names = data_names("scripts", ".pult");
  for (char **name = names; *name != NULL; name++) {
    g_autofree char *path = NULL;
    g_autofree char *text = NULL;
    gsize length;
    if (!data_read("scripts", *name, ".pult", &path, &text, &length, error))
      return FALSE;
    text[strcspn(text, "\n")] = '\0';
    add(list, *name, text + strspn(text, "# "));
  }
  return TRUE;
}

/* `what it may be: about; VALUE by default`, of these what there is to say. */
static char *
setting_about(const SettingKey *key)
{
  static const char *const kinds[] = {
      [SETTING_TEXT] = "text", [SETTING_WORDS] = "words",        [SETTING_SECRET] = "secret",
      [SETTING_TIME] = "time", [SETTING_FLAG] = "true or false", [SETTING_PATTERN] = "pattern"};
  g_autoptr(GString) text = g_string_new(NULL);
  if (key->kind == SETTING_COUNT)
    g_string_append_printf(text, "%u to %u", key->min, key->max);
  else if (key->kind != SETTING_CHOICE)
    g_string_append(text, kinds[key->kind]);
  for (guint i = 0; key->kind == SETTING_CHOICE && key->choices[i] != NULL; i++)
    g_string_append_printf(text, "%s%s", i == 0 ? "" : " or ", key->choices[i]);
  if (*key->about != '\0')
    g_string_append_printf(text, ": %s", key->about);
  if (key->fallback != NULL)
    g_string_append_printf(text, "; %s by default", key->fallback);
  return g_string_free(g_steal_pointer(&text), FALSE);
}

static gboolean
list_settings(List *list, GError **error)
{
  (void)error;
  guint n;
  const SettingKey *keys = layout_setting_keys(&n);
  for (guint i = 0; i < n; i++) {
    g_autofree char *name = g_strdup_printf("%s %s", keys[i].type, keys[i].key);
    g_autofree char *about = setting_about(&keys[i]);
    add(list, name, about);
  }
  return TRUE;
}

typedef struct {
  const char *name;
  gboolean (*list)(List *list, GError **error);
} Topic;

static const Topic topics[] = {
    {"bindings", list_keys},
    {"views", list_views},
    {"commands", list_commands},
    {"subcommands", list_subcommands},
    {"layouts", list_layouts},
    {"scripts", list_scripts},
    {"jobs", list_jobs},
    {"devices", list_devices},
    {"stages", list_stages},
    {"settings", list_settings},
    {NULL, NULL},
};

static const Topic *
find_topic(const char *name)
{
  for (const Topic *topic = topics; topic->name != NULL; topic++)
    if (strcmp(topic->name, name) == 0)
      return topic;
  return NULL;
}

static int
print_topic(const Topic *topic, gboolean names_only)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GString) text = g_string_new(NULL);
  List list = {text, names_only};
  if (!topic->list(&list, &error))
    return main_fail(error);
  main_print(stdout, text->str);
  return main_finish_output(0);
}

static int
refuse(const char *word)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (const VerbInfo *info = command_verbs; info->name != NULL; info++)
    g_ptr_array_add(names, (gpointer)info->name);
  for (const Subcommand *sub = main_subcommands; sub->name != NULL; sub++)
    g_ptr_array_add(names, (gpointer)sub->name);
  for (const Topic *topic = topics; topic->name != NULL; topic++)
    g_ptr_array_add(names, (gpointer)topic->name);
  g_ptr_array_add(names, NULL);
  /* An argument of a process may be any bytes. */
  g_autofree char *valid = g_utf8_make_valid(word, -1);
  g_autofree char *shown = words_shown(valid);
  const char *nearest = units_nearest_word(word, (const char *const *)names->pdata);
  g_autofree char *message =
      nearest != NULL ? g_strdup_printf("unknown command %s; did you mean \"%s\"?", shown, nearest)
                      : g_strdup_printf("unknown command %s; `pult help` lists them", shown);
  main_complain(message);
  return EXIT_USAGE;
}

static int
print_help(const char *word)
{
  g_autofree char *text = command_help(word);
  if (text != NULL) {
    fputs(text, stdout);
    return main_finish_output(0);
  }
  if (find_topic(word) != NULL)
    return print_topic(find_topic(word), FALSE);
  char *arguments[] = {(char *)word, (char *)"--help", NULL};
  const Subcommand *sub = main_subcommand_find(word);
  if (sub != NULL && sub->run != main_help)
    return main_subcommand_run(sub, 2, arguments);
  return refuse(word);
}

static int
usage(void)
{
  g_autoptr(GString) text = g_string_new("usage: pult help [[names] ");
  for (const Topic *topic = topics; topic->name != NULL; topic++)
    g_string_append_printf(text, "%s%s", topic == topics ? "" : "|", topic->name);
  g_string_append(text, " | COMMAND | SUBCOMMAND]");
  main_complain(text->str);
  return EXIT_USAGE;
}

int
main_help(int argc, char **argv)
{
  if (argc == 1)
    return print_table();
  gboolean names_only = argc == 3 && strcmp(argv[1], "names") == 0;
  if (names_only && find_topic(argv[2]) != NULL && find_topic(argv[2])->list != list_keys)
    return print_topic(find_topic(argv[2]), TRUE);
  return argc == 2 && argv[1][0] != '-' ? print_help(argv[1]) : usage();
}
