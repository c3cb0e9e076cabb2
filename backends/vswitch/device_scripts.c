#include "backends/vswitch/device_private.h"

#include <string.h>

#include "backends/vswitch/device_template.h"

#define STEP_WITHIN (2 * TIME_SECOND)
#define SCRIPT_WITHIN (10 * TIME_SECOND)

/* What only asks leaves nothing behind that could be unknown. Sections are no scripts to call, but
 * are run as such. */
static const struct {
  const char *name;
  gboolean changes, idempotent;
} known_scripts[] = {
    {"connect", TRUE, TRUE},         {"query", FALSE, TRUE},       {"keys", TRUE, FALSE},
    {"broadcast", TRUE, FALSE},      {"power-on", TRUE, FALSE},    {"power-off", TRUE, FALSE},
    {"power-soft-off", TRUE, FALSE}, {"power-reset", TRUE, FALSE}, {"power-status", FALSE, TRUE},
};

void
device_script_free(gpointer data)
{
  DeviceScript *script = data;

  for (guint i = 0; i < script->n_steps; i++) {
    device_template_free(script->steps[i].send);
    g_clear_pointer(&script->steps[i].expects, g_ptr_array_unref);
  }
  g_free(script->steps);
  g_free(script->name);
  g_free(script);
}

static void
read_send(const Device *device, const YamlNode *value, DeviceStep *step, YamlErrors *errors)
{
  g_autoptr(GError) error = NULL;

  step->send = device_template_new(device, value->text, &error);
  if (step->send == NULL) {
    yaml_errors_add(errors, value, "%s", error->message);
    return;
  }
  if (device->framing != DEVICE_MESSAGES)
    return;
  if (!device_template_begins(step->send, "GET /") && !device_template_begins(step->send, "POST /"))
    yaml_errors_add(errors, value, "over https a step sends \"GET /...\" or \"POST /...\"");
  if (device_template_is_raw(step->send, device))
    yaml_errors_add(errors, value, "a text in a request needs :url, as {key:url}");
}

static void
read_item(const Device *device, const YamlNode *map, DeviceStep *step, YamlErrors *errors)
{
  const YamlNode *value = yaml_get_scalar(map, "item", errors);

  step->item = value != NULL ? device_parameter(device, value->text) : -1;
  if (value != NULL && (step->item < 0 || device->parameters[step->item].kind != DEVICE_NUMBER))
    yaml_errors_add(errors, value, "which of a list is counted by a parameter that is a number");
  else if (value != NULL && yaml_get(map, "expect") == NULL)
    yaml_errors_add(errors, value, "a list has to be expected");
}

static void
check_step(const Device *device, const YamlNode *map, const DeviceStep *step, YamlErrors *errors)
{
  gboolean answered = step->expects->len > 0 || step->echo || step->silence > 0;

  if (yaml_get(map, "send") == NULL && yaml_get(map, "expect") == NULL && step->pause == 0)
    yaml_errors_add(errors, map, "a step sends, expects or pauses");
  else if (step->send != NULL && !answered && yaml_get(map, "expect") == NULL)
    yaml_errors_add(errors, map,
                    "how does one see that it worked? \"expect\", \"echo\" or \"silence\" says so");
  if (step->prompt && device->framing != DEVICE_LINES)
    yaml_errors_add(errors, map, "a prompt is the beginning of a line, and there are no lines");
  if (step->prompt && step->expects->len == 0)
    yaml_errors_add(errors, map, "a prompt has to be expected");
  if (step->echo && (step->send == NULL || device->framing == DEVICE_MESSAGES))
    yaml_errors_add(errors, map, "there is nothing that could be echoed");
}

static void
read_step(const Device *device, const YamlNode *map, DeviceStep *step, YamlErrors *errors)
{
  static const char *const known[] = {"send",  "expect", "prompt", "echo", "silence",
                                      "pause", "within", "item",   NULL};

  step->item = -1;
  step->within = STEP_WITHIN;
  if (map->kind != YAML_MAP) {
    yaml_errors_add(errors, map, "a step is a map: {send: ..., expect: ...}");
    step->expects = g_ptr_array_new();
    return;
  }
  yaml_check_keys(map, known, errors);
  const YamlNode *send = yaml_get_scalar(map, "send", errors);
  const YamlNode *prompt = yaml_get_scalar(map, "prompt", errors);
  const YamlNode *echo = yaml_get_scalar(map, "echo", errors);
  if (send != NULL)
    read_send(device, send, step, errors);
  step->expects = device_read_patterns(map, "expect", errors);
  read_item(device, map, step, errors);
  if (prompt != NULL)
    yaml_read_bool(prompt, &step->prompt, errors);
  if (echo != NULL)
    yaml_read_bool(echo, &step->echo, errors);
  device_read_time(map, "silence", &step->silence, errors);
  device_read_time(map, "pause", &step->pause, errors);
  device_read_time(map, "within", &step->within, errors);
  check_step(device, map, step, errors);
}

static void
read_steps(const Device *device, const YamlNode *list, DeviceScript *script, YamlErrors *errors)
{
  if (list->n == 0 || list->n > DEVICE_MAX_STEPS) {
    yaml_errors_add(errors, list, "%u steps: 1 to %d", list->n, DEVICE_MAX_STEPS);
    return;
  }
  script->steps = g_new0(DeviceStep, list->n);
  script->n_steps = list->n;
  for (guint i = 0; i < list->n; i++)
    read_step(device, list->items[i], &script->steps[i], errors);
}

static void
read_script(const Device *device, const char *name, const YamlNode *value, const char *const *known,
            YamlErrors *errors)
{
  DeviceScript *script = g_new0(DeviceScript, 1);

  script->name = g_strdup(name);
  script->within = SCRIPT_WITHIN;
  script->idempotent = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS(known_scripts); i++)
    if (strcmp(known_scripts[i].name, name) == 0) {
      script->changes = known_scripts[i].changes;
      script->idempotent = known_scripts[i].idempotent;
    }
  g_ptr_array_add(device->scripts, script);
  if (value->kind != YAML_MAP) {
    yaml_errors_add(errors, value, "%s is a map: {steps: [...]}", name);
    return;
  }
  yaml_check_keys(value, known, errors);
  const YamlNode *steps = yaml_get_list(value, "steps", errors);
  const YamlNode *idempotent = yaml_get_scalar(value, "idempotent", errors);
  yaml_require(value, value, name, "steps", errors);
  if (steps != NULL)
    read_steps(device, steps, script, errors);
  if (idempotent != NULL)
    yaml_read_bool(idempotent, &script->idempotent, errors);
  device_read_time(value, "within", &script->within, errors);
}

static void
read_section(Device *device, const YamlNode *root, const char *name, YamlErrors *errors)
{
  static const char *const known[] = {"steps", "within", NULL};
  static const char *const keeping[] = {"steps", "within", "every", NULL};
  gboolean keeps = strcmp(name, "keep-alive") == 0;
  const YamlNode *value = yaml_get_map(root, name, errors);

  if (value == NULL)
    return;
  read_script(device, name, value, keeps ? keeping : known, errors);
  if (!keeps)
    return;
  device->keep_alive = 30 * TIME_SECOND;
  device_read_time(value, "every", &device->keep_alive, errors);
}

void
device_read_scripts(Device *device, const YamlNode *root, YamlErrors *errors)
{
  static const char *const keys[] = {"steps", "within", "idempotent", NULL};
  const char *names[G_N_ELEMENTS(known_scripts) + 1] = {NULL};
  const YamlNode *scripts = yaml_get_map(root, "scripts", errors);

  for (guint i = 0; i < G_N_ELEMENTS(known_scripts); i++)
    names[i] = known_scripts[i].name;
  device->scripts = g_ptr_array_new_with_free_func(device_script_free);
  read_section(device, root, "login", errors);
  read_section(device, root, "init", errors);
  read_section(device, root, "keep-alive", errors);
  if (scripts == NULL)
    return;
  if (scripts->n == 0)
    yaml_errors_add(errors, scripts, "a device without scripts can do nothing");
  for (guint i = 0; i < scripts->n; i++) {
    if (!g_strv_contains(names, scripts->keys[i]->text))
      yaml_unknown_word(scripts->keys[i], "script", names, errors);
    else
      read_script(device, scripts->keys[i]->text, scripts->items[i], keys, errors);
  }
}

void
device_read_headers(Device *device, const YamlNode *map, YamlErrors *errors)
{
  const YamlNode *list = map != NULL ? yaml_get_list(map, "headers", errors) : NULL;

  if (list == NULL)
    return;
  if (list->n == 0 || list->n > DEVICE_MAX_STEPS) {
    yaml_errors_add(errors, list, "%u headers: 1 to %d", list->n, DEVICE_MAX_STEPS);
    return;
  }
  device->headers = g_new0(DeviceScript, 1);
  device->headers->name = g_strdup("headers");
  device->headers->steps = g_new0(DeviceStep, list->n);
  device->headers->n_steps = list->n;
  for (guint i = 0; i < list->n; i++) {
    g_autoptr(GError) error = NULL;
    DeviceStep *step = &device->headers->steps[i];
    step->expects = g_ptr_array_new();
    step->item = -1;
    if (list->items[i]->kind != YAML_SCALAR || strstr(list->items[i]->text, ": ") == NULL) {
      yaml_errors_add(errors, list->items[i], "a header is \"NAME: VALUE\"");
      continue;
    }
    step->send = device_template_new(device, list->items[i]->text, &error);
    if (step->send == NULL)
      yaml_errors_add(errors, list->items[i], "%s", error->message);
  }
}
