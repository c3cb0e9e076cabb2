#include "backends/vswitch/device.h"

#include <string.h>

#include "backends/vswitch/device_private.h"
#include "backends/vswitch/device_template.h"

#define MAX_SHOWN 200

const char *
device_way_name(DeviceWay way)
{
  static const char *const names[] = {"serial", "tcp", "telnet", "https"};

  return names[way];
}

const DeviceScript *
device_script(const Device *device, const char *name)
{
  for (guint i = 0; i < device->scripts->len; i++) {
    const DeviceScript *script = device->scripts->pdata[i];
    if (strcmp(script->name, name) == 0)
      return script;
  }
  return NULL;
}

const DeviceScript *
device_script_get(const Device *device, const char *name, GError **error)
{
  const DeviceScript *script = device_script(device, name);

  if (script != NULL)
    return script;
  g_autoptr(GPtrArray) known = g_ptr_array_new();
  for (guint i = 0; i < device->scripts->len; i++)
    g_ptr_array_add(known, ((DeviceScript *)device->scripts->pdata[i])->name);
  g_ptr_array_add(known, NULL);
  const char *nearest = units_nearest_word(name, (const char *const *)known->pdata);
  g_autofree char *all = g_strjoinv(", ", (char **)known->pdata);
  if (nearest != NULL)
    g_set_error(error, DEVICE_ERROR, 0, "%s has no script \"%s\"; did you mean \"%s\"?",
                device->name, name, nearest);
  else
    g_set_error(error, DEVICE_ERROR, 0, "%s has no script \"%s\"; it has %s", device->name, name,
                all);
  return NULL;
}

int
device_parameter(const Device *device, const char *name)
{
  for (guint i = 0; i < device->n_parameters; i++)
    if (strcmp(device->parameters[i].name, name) == 0)
      return (int)i;
  return -1;
}

gboolean
device_script_takes(const DeviceScript *script, guint parameter)
{
  for (guint i = 0; i < script->n_steps; i++)
    if (script->steps[i].item == (int)parameter ||
        (script->steps[i].send != NULL && device_template_takes(script->steps[i].send, parameter)))
      return TRUE;
  return FALSE;
}

static void
parameter_clear(DeviceParameter *parameter)
{
  g_free(parameter->name);
  g_free(parameter->fallback);
  g_strfreev(parameter->words);
  g_strfreev(parameter->device_words);
  g_free(parameter->chord);
}

void
device_free(Device *device)
{
  if (device == NULL)
    return;
  for (guint i = 0; i < device->n_parameters; i++)
    parameter_clear(&device->parameters[i]);
  for (guint i = 0; i < device->n_errors; i++) {
    pattern_free(device->errors[i].pattern);
    g_free(device->errors[i].says);
  }
  g_free(device->errors);
  g_clear_pointer(&device->ignores, g_ptr_array_unref);
  g_clear_pointer(&device->states, g_ptr_array_unref);
  g_clear_pointer(&device->scripts, g_ptr_array_unref);
  g_clear_pointer(&device->headers, device_script_free);
  g_free(device->end);
  g_free(device->name);
  g_free(device->about);
  g_free(device->source);
  g_free(device);
}

/* ---- Values -------------------------------------------------------------------------------- */

static gboolean
take_number(DeviceValues *values, guint index, const char *text, GError **error)
{
  const DeviceParameter *parameter = &values->device->parameters[index];
  guint64 number;

  if (!units_parse_count(text, G_MAXUINT32, &number, NULL) || number < parameter->min ||
      number > parameter->max) {
    g_set_error(error, DEVICE_ERROR, 0, "%s=%s: it takes %u to %u", parameter->name, text,
                parameter->min, parameter->max);
    return FALSE;
  }
  values->number[index] = (guint)number;
  values->text[index] = g_strdup_printf("%u", (guint)number);
  return TRUE;
}

/* What the device calls WORD; NULL with an error. */
static const char *
find_word(const DeviceParameter *parameter, const char *word, GError **error)
{
  const char *const *words = (const char *const *)parameter->words;

  for (guint i = 0; words[i] != NULL; i++)
    if (strcmp(words[i], word) == 0)
      return parameter->device_words[i];
  const char *nearest = units_nearest_word(word, words);
  g_set_error(error, DEVICE_ERROR, 0, "%s=%s: it knows no such word%s%s%s", parameter->name, word,
              nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
              nearest != NULL ? "\"?" : "");
  return NULL;
}

static gboolean
take_word(DeviceValues *values, guint index, const char *text, GError **error)
{
  const DeviceParameter *parameter = &values->device->parameters[index];
  g_auto(GStrv) words = g_strsplit(text, parameter->chord != NULL ? "-" : "\n", -1);
  g_autoptr(GString) all = g_string_new(NULL);

  if (words[0] == NULL)
    return find_word(parameter, "", error) != NULL;
  for (guint i = 0; words[i] != NULL; i++) {
    const char *word = find_word(parameter, words[i], error);
    if (word == NULL)
      return FALSE;
    g_string_append_printf(all, "%s%s", i > 0 ? parameter->chord : "", word);
  }
  values->text[index] = g_strdup(all->str);
  return TRUE;
}

static gboolean
take_text(DeviceValues *values, guint index, const char *text, GError **error)
{
  const DeviceParameter *parameter = &values->device->parameters[index];
  gsize length = strlen(text);

  if (length > DEVICE_MAX_VALUE) {
    g_set_error(error, DEVICE_ERROR, 0, "%s is %zu bytes long: at most %d", parameter->name, length,
                DEVICE_MAX_VALUE);
    return FALSE;
  }
  for (const char *p = text; *p != '\0'; p++)
    if (g_ascii_iscntrl(*p)) {
      g_set_error(error, DEVICE_ERROR, 0, "%s holds a control character", parameter->name);
      return FALSE;
    }
  values->text[index] = g_strdup(text);
  return TRUE;
}

static gboolean
take(DeviceValues *values, guint index, const char *text, GError **error)
{
  if (values->text[index] != NULL) {
    g_set_error(error, DEVICE_ERROR, 0, "%s is given twice",
                values->device->parameters[index].name);
    return FALSE;
  }
  switch (values->device->parameters[index].kind) {
  case DEVICE_NUMBER:
    return take_number(values, index, text, error);
  case DEVICE_WORDS:
    return take_word(values, index, text, error);
  case DEVICE_TEXT:
  case DEVICE_SECRET:
    break;
  }
  return take_text(values, index, text, error);
}

static gboolean
take_given(DeviceValues *values, const DeviceScript *script, const Argument *given, GError **error)
{
  const Device *device = values->device;
  int index = device_parameter(device, given->key);

  if (index >= 0 && device_script_takes(script, (guint)index))
    return take(values, (guint)index, given->value, error);
  const char *known[DEVICE_MAX_PARAMETERS + 1] = {NULL};
  guint n = 0;
  for (guint i = 0; i < device->n_parameters; i++)
    if (device_script_takes(script, i))
      known[n++] = device->parameters[i].name;
  g_autofree char *all = n > 0 ? g_strjoinv(", ", (char **)known) : g_strdup("nothing");
  g_set_error(error, DEVICE_ERROR, 0, "%s of %s takes no \"%s\": it takes %s", script->name,
              device->name, given->key, all);
  return FALSE;
}

static gboolean
take_rest(DeviceValues *values, const DeviceScript *script, GError **error)
{
  for (guint i = 0; i < values->device->n_parameters; i++) {
    const DeviceParameter *parameter = &values->device->parameters[i];
    if (values->text[i] != NULL || !device_script_takes(script, i))
      continue;
    if (parameter->fallback == NULL) {
      g_set_error(error, DEVICE_ERROR, 0, "%s of %s needs %s=", script->name, values->device->name,
                  parameter->name);
      return FALSE;
    }
    if (!take(values, i, parameter->fallback, error))
      return FALSE;
  }
  return TRUE;
}

DeviceValues *
device_values_new(const Device *device, const DeviceScript *script, const Argument *given, guint n,
                  GError **error)
{
  g_autoptr(DeviceValues) values = g_new0(DeviceValues, 1);

  values->device = device;
  for (guint i = 0; i < n; i++)
    if (!take_given(values, script, &given[i], error))
      return NULL;
  return take_rest(values, script, error) ? g_steal_pointer(&values) : NULL;
}

void
device_values_free(DeviceValues *values)
{
  if (values == NULL)
    return;
  for (guint i = 0; i < DEVICE_MAX_PARAMETERS; i++) {
    if (values->text[i] != NULL)
      explicit_bzero(values->text[i], strlen(values->text[i]));
    g_free(values->text[i]);
  }
  g_free(values);
}

/* How long a secret is that stands at AT; 0: none does. As it was given or percent-encoded. */
static gsize
secret_at(const DeviceValues *values, const char *at, gsize n)
{
  for (guint i = 0; values != NULL && i < values->device->n_parameters; i++) {
    const char *secret = values->text[i];
    if (values->device->parameters[i].kind != DEVICE_SECRET || secret == NULL || *secret == '\0')
      continue;
    if (strlen(secret) <= n && memcmp(at, secret, strlen(secret)) == 0)
      return strlen(secret);
    g_autofree char *encoded = g_uri_escape_string(secret, NULL, FALSE);
    if (strlen(encoded) <= n && memcmp(at, encoded, strlen(encoded)) == 0)
      return strlen(encoded);
  }
  return 0;
}

char *
device_shown(const DeviceValues *values, const char *bytes, gsize n)
{
  GString *out = g_string_new(NULL);

  for (gsize i = 0; i < n; i++) {
    gsize secret = secret_at(values, bytes + i, n - i);
    if (out->len > MAX_SHOWN) {
      g_string_append(out, "...");
      break;
    }
    if (secret > 0) {
      g_string_append(out, "***");
      i += secret - 1;
    } else if (bytes[i] == '\r' || bytes[i] == '\n' || bytes[i] == '\t') {
      g_string_append(out, bytes[i] == '\r' ? "\\r" : bytes[i] == '\n' ? "\\n" : "\\t");
    } else if (bytes[i] == '\\') {
      g_string_append(out, "\\\\");
    } else if (g_ascii_isprint(bytes[i])) {
      g_string_append_c(out, bytes[i]);
    } else {
      g_string_append_printf(out, "\\x%02x", (guint8)bytes[i]);
    }
  }
  return g_string_free(out, FALSE);
}
