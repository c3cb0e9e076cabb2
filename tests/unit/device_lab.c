#include "tests/unit/device_lab.h"

#include <string.h>

static void
spoke(gboolean sent, const char *text, gpointer data)
{
  DeviceLab *lab = data;

  g_string_append_printf(lab->said, "%c %s\n", sent ? '>' : '<', text);
}

static void
told(const Pattern *pattern, const PatternMatch *match, gpointer data)
{
  DeviceLab *lab = data;
  const char *const *names = pattern_names(pattern);

  g_string_append_c(lab->said, '=');
  for (guint i = 0; names[i] != NULL; i++) {
    g_autofree char *value = pattern_match_get(match, names[i]);
    g_string_append_printf(lab->said, " %s %s", names[i], value != NULL ? value : "?");
  }
  g_string_append_c(lab->said, '\n');
}

DeviceLab *
device_lab_new(const char *text)
{
  static const DeviceHooks hooks = {spoke, told};
  g_autoptr(GError) error = NULL;
  DeviceLab *lab = g_new0(DeviceLab, 1);

  lab->device = device_parse("t.yaml", text, strlen(text), &error);
  if (lab->device == NULL)
    g_error("%s", error->message);
  lab->said = g_string_new(NULL);
  lab->talk = device_talk_new(lab->device, &hooks, lab);
  return lab;
}

DeviceLab *
device_lab_open(const char *name)
{
  g_autofree char *path = g_strdup_printf("backends/devices/%s.yaml", name);
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;

  if (!g_file_get_contents(path, &text, NULL, &error))
    g_error("%s", error->message);
  return device_lab_new(text);
}

void
device_lab_free(DeviceLab *lab)
{
  device_talk_free(lab->talk);
  device_free(lab->device);
  g_string_free(lab->said, TRUE);
  g_free(lab);
}

char *
device_lab_take(DeviceLab *lab)
{
  g_autoptr(GString) all = g_string_new(NULL);
  char bytes[64];
  gsize n;

  while ((n = device_talk_take(lab->talk, bytes, sizeof bytes, lab->now)) > 0)
    g_string_append_len(all, bytes, (gssize)n);
  return g_string_free(g_steal_pointer(&all), FALSE);
}

void
device_lab_begin(DeviceLab *lab, const char *script, const char *words)
{
  g_auto(GStrv) list = g_strsplit(words, " ", -1);
  Argument given[DEVICE_MAX_PARAMETERS];
  const DeviceScript *found = device_script(lab->device, script);
  g_autoptr(GError) error = NULL;
  guint n = 0;

  for (; list[n] != NULL && *list[n] != '\0'; n++) {
    char *equals = strchr(list[n], '=');
    *equals = '\0';
    given[n] = (Argument){list[n], equals + 1};
  }
  DeviceValues *values = device_values_new(lab->device, found, given, n, &error);
  if (values == NULL)
    g_error("%s", error->message);
  device_talk_begin(lab->talk, found, values, lab->now);
  g_autofree char *sent = device_lab_take(lab);
}

void
device_lab_hear(DeviceLab *lab, const char *bytes)
{
  device_talk_hear(lab->talk, bytes, strlen(bytes), lab->now);
}

void
device_lab_wait(DeviceLab *lab, gint64 ns)
{
  gint64 until = lab->now + ns;

  for (gint64 due; (due = device_talk_due(lab->talk)) <= until;) {
    lab->now = MAX(lab->now, due);
    g_autofree char *sent = device_lab_take(lab);
    device_talk_tick(lab->talk, lab->now);
  }
  lab->now = until;
}
