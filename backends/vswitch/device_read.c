#include "backends/vswitch/device_private.h"

#include <string.h>

#include "backends/vswitch/device_template.h"

#define MAX_NAME 64
#define MAX_ABOUT 400
#define MAX_WORDS 256
#define MAX_FRAME 256
#define MAX_END 8

static const char *const known[] = {
    "device", "about",  "source", "serial",     "tcp",   "telnet", "https",      "replies", "pace",
    "errors", "ignore", "state",  "parameters", "login", "init",   "keep-alive", "scripts", NULL};

/* ---- Small readers ------------------------------------------------------------------------- */

static Pattern *
read_pattern(const YamlNode *value, YamlErrors *errors)
{
  g_autoptr(GError) error = NULL;

  if (value->kind != YAML_SCALAR || *value->text == '\0') {
    yaml_errors_add(errors, value, "a pattern is due here");
    return NULL;
  }
  Pattern *pattern = pattern_new(value->text, &error);
  if (pattern == NULL)
    yaml_errors_add(errors, value, "%s", error->message);
  return pattern;
}

GPtrArray *
device_read_patterns(const YamlNode *map, const char *key, YamlErrors *errors)
{
  GPtrArray *patterns = g_ptr_array_new_with_free_func((GDestroyNotify)pattern_free);
  const YamlNode *value = yaml_get(map, key);
  gboolean list = value != NULL && value->kind == YAML_LIST;
  guint n = value == NULL ? 0 : list ? value->n : 1;

  if (value != NULL && (n == 0 || n > DEVICE_MAX_PATTERNS)) {
    yaml_errors_add(errors, value, "%u patterns: 1 to %d", n, DEVICE_MAX_PATTERNS);
    return patterns;
  }
  for (guint i = 0; i < n; i++) {
    Pattern *pattern = read_pattern(list ? value->items[i] : value, errors);
    if (pattern != NULL)
      g_ptr_array_add(patterns, pattern);
  }
  return patterns;
}

void
device_read_time(const YamlNode *map, const char *key, gint64 *ns, YamlErrors *errors)
{
  const YamlNode *value = yaml_get_scalar(map, key, errors);
  double seconds;

  if (value != NULL && yaml_read_quantity(value, DIMENSION_TIME, 0, 3600, &seconds, errors))
    *ns = (gint64)(seconds * 1e9 + 0.5);
}

char *
device_read_bytes(const YamlNode *value, YamlErrors *errors)
{
  const Device none = {0};
  const DeviceValues values = {.device = &none};
  g_autoptr(GError) error = NULL;
  DeviceTemplate *template = device_template_new(&none, value->text, &error);

  if (template == NULL) {
    yaml_errors_add(errors, value, "%s", error->message);
    return NULL;
  }
  GString *bytes = g_string_new(NULL);
  device_template_fill(template, &values, bytes, NULL);
  device_template_free(template);
  if (bytes->len > 0 && bytes->len <= MAX_END && strlen(bytes->str) == bytes->len)
    return g_string_free(bytes, FALSE);
  yaml_errors_add(errors, value, "1 to %d bytes, none of them 0", MAX_END);
  g_string_free(bytes, TRUE);
  return NULL;
}

static gboolean
is_name(const char *name)
{
  if (!g_ascii_islower(*name) || strlen(name) > MAX_NAME)
    return FALSE;
  for (const char *p = name; *p != '\0'; p++)
    if (!g_ascii_islower(*p) && !g_ascii_isdigit(*p) && *p != '-')
      return FALSE;
  return TRUE;
}

/* ---- Sections ------------------------------------------------------------------------------ */

static void
read_head(Device *device, const YamlNode *root, YamlErrors *errors)
{
  static const char *const needed[] = {"device", "about", "source", "scripts"};
  const YamlNode *name = yaml_get_scalar(root, "device", errors);
  const YamlNode *about = yaml_get_scalar(root, "about", errors);
  const YamlNode *source = yaml_get_scalar(root, "source", errors);

  yaml_check_keys(root, known, errors);
  for (guint i = 0; i < G_N_ELEMENTS(needed); i++)
    yaml_require(root, root, "device", needed[i], errors);
  if (name != NULL && is_name(name->text))
    yaml_read_line(name, MAX_NAME, &device->name, errors);
  else if (name != NULL)
    yaml_errors_add(errors, name,
                    "bad device name \"%s\": a word of small letters, digits and \"-\"",
                    name->text);
  if (about != NULL)
    yaml_read_line(about, MAX_ABOUT, &device->about, errors);
  if (source != NULL)
    yaml_read_line(source, MAX_ABOUT, &device->source, errors);
}

static void
read_serial(Device *device, const YamlNode *map, YamlErrors *errors)
{
  static const char *const keys[] = {"speed", "bits", "parity", "stop", NULL};
  static const char *const parities[] = {"none", "even", "odd", NULL};
  const YamlNode *speed = yaml_get_scalar(map, "speed", errors);
  const YamlNode *bits = yaml_get_scalar(map, "bits", errors);
  const YamlNode *parity = yaml_get_scalar(map, "parity", errors);
  const YamlNode *stop = yaml_get_scalar(map, "stop", errors);
  guint choice;

  yaml_check_keys(map, keys, errors);
  yaml_require(map, map, "serial", "speed", errors);
  if (speed != NULL)
    yaml_read_count(speed, 300, 230400, &device->speed, errors);
  if (bits != NULL)
    yaml_read_count(bits, 7, 8, &device->bits, errors);
  if (parity != NULL && yaml_read_choice(parity, "parity", parities, &choice, errors))
    device->parity = "neo"[choice];
  if (stop != NULL)
    yaml_read_count(stop, 1, 2, &device->stop_bits, errors);
}

static void
read_ways(Device *device, const YamlNode *root, YamlErrors *errors)
{
  static const char *const port_only[] = {"port", NULL}, *const with_headers[] = {"port", "headers",
                                                                                  NULL};
  gboolean any = FALSE;

  for (DeviceWay way = 0; way < DEVICE_WAYS; way++) {
    const YamlNode *map = yaml_get_map(root, device_way_name(way), errors);
    if (map == NULL)
      continue;
    any = device->offers[way] = TRUE;
    if (way == DEVICE_SERIAL) {
      read_serial(device, map, errors);
      continue;
    }
    const YamlNode *port = yaml_get_scalar(map, "port", errors);
    yaml_check_keys(map, way == DEVICE_HTTPS ? with_headers : port_only, errors);
    device->port[way] = way == DEVICE_TELNET ? 23 : way == DEVICE_HTTPS ? 443 : 0;
    if (port != NULL)
      yaml_read_count(port, 1, 65535, &device->port[way], errors);
    if (way == DEVICE_TCP)
      yaml_require(map, map, "tcp", "port", errors);
  }
  if (!any)
    yaml_errors_add(errors, root,
                    "device: one of \"serial\", \"tcp\", \"telnet\", \"https\" has to be there");
  if (!device->offers[DEVICE_HTTPS])
    return;
  device->framing = DEVICE_MESSAGES;
  if (device->offers[DEVICE_SERIAL] || device->offers[DEVICE_TCP] || device->offers[DEVICE_TELNET])
    yaml_errors_add(errors, yaml_get(root, "https"),
                    "https speaks in requests, the others in lines: two descriptions");
}

static void
read_replies(Device *device, const YamlNode *root, YamlErrors *errors)
{
  static const char *const keys[] = {"end", "length", NULL};
  const YamlNode *map = yaml_get_map(root, "replies", errors);

  if (device->framing == DEVICE_MESSAGES) {
    if (map != NULL)
      yaml_errors_add(errors, map, "over https each reply is \"STATUS BODY\"");
    return;
  }
  if (map == NULL) {
    yaml_require(root, root, "device", "replies", errors);
    return;
  }
  const YamlNode *end = yaml_get_scalar(map, "end", errors);
  const YamlNode *length = yaml_get_scalar(map, "length", errors);
  yaml_check_keys(map, keys, errors);
  if ((end == NULL) == (length == NULL))
    yaml_errors_add(errors, map, "replies have an \"end\" or a \"length\"");
  if (end != NULL)
    device->end = device_read_bytes(end, errors);
  if (length == NULL)
    return;
  device->framing = DEVICE_FRAMES;
  yaml_read_count(length, 1, MAX_FRAME, &device->length, errors);
}

static void
read_pace(Device *device, const YamlNode *root, YamlErrors *errors)
{
  static const char *const keys[] = {"bytes", "commands", NULL};
  const YamlNode *map = yaml_get_map(root, "pace", errors);

  if (map == NULL)
    return;
  yaml_check_keys(map, keys, errors);
  device_read_time(map, "bytes", &device->byte_gap, errors);
  device_read_time(map, "commands", &device->command_gap, errors);
}

static void
read_errors(Device *device, const YamlNode *root, YamlErrors *errors)
{
  const YamlNode *map = yaml_get_map(root, "errors", errors);

  if (map == NULL)
    return;
  if (map->n > DEVICE_MAX_PATTERNS) {
    yaml_errors_add(errors, map, "%u errors: at most %d", map->n, DEVICE_MAX_PATTERNS);
    return;
  }
  device->errors = g_new0(DeviceError, map->n);
  for (guint i = 0; i < map->n; i++) {
    const YamlNode *says = yaml_get_scalar(map, map->keys[i]->text, errors);
    DeviceError read = {read_pattern(map->keys[i], errors), NULL};
    if (read.pattern != NULL && says != NULL)
      yaml_read_line(says, MAX_ABOUT, &read.says, errors);
    if (read.pattern == NULL || read.says == NULL)
      pattern_free(read.pattern);
    else
      device->errors[device->n_errors++] = read;
  }
}

/* ---- Parameters ---------------------------------------------------------------------------- */

static void
read_kind(DeviceParameter *parameter, const YamlNode *value, YamlErrors *errors)
{
  g_auto(GStrv) ends = g_strsplit(value->text, " to ", 2);
  guint64 min, max;

  if (strcmp(value->text, "text") == 0) {
    parameter->kind = DEVICE_TEXT;
  } else if (strcmp(value->text, "secret") == 0) {
    parameter->kind = DEVICE_SECRET;
  } else if (g_strv_length(ends) == 2 && units_parse_count(ends[0], G_MAXUINT32, &min, NULL) &&
             units_parse_count(ends[1], G_MAXUINT32, &max, NULL) && min <= max) {
    parameter->kind = DEVICE_NUMBER;
    parameter->min = (guint)min;
    parameter->max = (guint)max;
  } else {
    yaml_errors_add(errors, value, "\"%s\" is no parameter: 1 to 64, text, secret, or {words: ...}",
                    value->text);
  }
}

static void
read_words(DeviceParameter *parameter, const YamlNode *map, YamlErrors *errors)
{
  parameter->kind = DEVICE_WORDS;
  parameter->words = g_new0(char *, map->n + 1);
  parameter->device_words = g_new0(char *, map->n + 1);
  if (map->n == 0 || map->n > MAX_WORDS) {
    yaml_errors_add(errors, map, "%u words: 1 to %d", map->n, MAX_WORDS);
    return;
  }
  for (guint i = 0; i < map->n; i++) {
    parameter->words[i] = g_strdup(map->keys[i]->text);
    parameter->device_words[i] = g_strdup("");
    if (map->items[i]->kind == YAML_SCALAR)
      yaml_read_line(map->items[i], DEVICE_MAX_VALUE, &parameter->device_words[i], errors);
    else
      yaml_errors_add(errors, map->items[i], "what the device calls it is due here");
  }
}

static void
read_fallback(DeviceParameter *parameter, const YamlNode *value, YamlErrors *errors)
{
  guint number;

  if (parameter->kind == DEVICE_SECRET)
    yaml_errors_add(errors, value, "a secret does not stand in a description");
  else if (parameter->kind == DEVICE_NUMBER &&
           !yaml_read_count(value, parameter->min, parameter->max, &number, errors))
    return;
  else if (parameter->kind == DEVICE_WORDS &&
           !g_strv_contains((const char *const *)parameter->words, value->text))
    yaml_unknown_word(value, "word", (const char *const *)parameter->words, errors);
  else
    yaml_read_line(value, DEVICE_MAX_VALUE, &parameter->fallback, errors);
}

static void
read_parameter(DeviceParameter *parameter, const YamlNode *value, YamlErrors *errors)
{
  static const char *const keys[] = {"is", "words", "chord", "default", NULL};

  if (value->kind == YAML_SCALAR) {
    read_kind(parameter, value, errors);
    return;
  }
  if (value->kind != YAML_MAP) {
    yaml_errors_add(errors, value, "a parameter is 1 to 64, text, secret, or {words: ...}");
    return;
  }
  yaml_check_keys(value, keys, errors);
  const YamlNode *is = yaml_get_scalar(value, "is", errors);
  const YamlNode *words = yaml_get_map(value, "words", errors);
  const YamlNode *chord = yaml_get_scalar(value, "chord", errors);
  const YamlNode *fallback = yaml_get_scalar(value, "default", errors);
  if ((is == NULL) == (words == NULL))
    yaml_errors_add(errors, value, "one of \"is\" and \"words\" has to be there");
  if (is != NULL)
    read_kind(parameter, is, errors);
  else if (words != NULL)
    read_words(parameter, words, errors);
  if (chord != NULL && words == NULL)
    yaml_errors_add(errors, chord, "only words come in chords");
  else if (chord != NULL)
    yaml_read_line(chord, MAX_END, &parameter->chord, errors);
  if (fallback != NULL)
    read_fallback(parameter, fallback, errors);
}

static void
read_parameters(Device *device, const YamlNode *root, YamlErrors *errors)
{
  const YamlNode *map = yaml_get_map(root, "parameters", errors);

  if (map == NULL)
    return;
  if (map->n > DEVICE_MAX_PARAMETERS) {
    yaml_errors_add(errors, map, "%u parameters: at most %d", map->n, DEVICE_MAX_PARAMETERS);
    return;
  }
  for (guint i = 0; i < map->n; i++) {
    DeviceParameter *parameter = &device->parameters[device->n_parameters];
    if (!is_name(map->keys[i]->text)) {
      yaml_errors_add(errors, map->keys[i], "bad name \"%s\": small letters, digits and \"-\"",
                      map->keys[i]->text);
      continue;
    }
    device->n_parameters++;
    parameter->name = g_strdup(map->keys[i]->text);
    read_parameter(parameter, map->items[i], errors);
  }
}

/* ---- The whole ----------------------------------------------------------------------------- */

static void
read_root(Device *device, const YamlNode *root, YamlErrors *errors)
{
  if (root->kind != YAML_MAP) {
    yaml_errors_add(errors, root, "a description is a map that begins with device: NAME");
    return;
  }
  read_head(device, root, errors);
  read_ways(device, root, errors);
  read_replies(device, root, errors);
  read_pace(device, root, errors);
  read_errors(device, root, errors);
  device->ignores = device_read_patterns(root, "ignore", errors);
  device->states = device_read_patterns(root, "state", errors);
  read_parameters(device, root, errors);
  device_read_headers(device, yaml_get_map(root, "https", errors), errors);
  device_read_scripts(device, root, errors);
}

Device *
device_parse(const char *file_name, const char *text, gsize length, GError **error)
{
  g_autoptr(YamlFile) file = yaml_parse(file_name, text, length, error);

  if (file == NULL)
    return NULL;
  g_autoptr(YamlErrors) errors = yaml_errors_new(file_name);
  g_autoptr(Device) device = g_new0(Device, 1);

  device->bits = 8;
  device->stop_bits = 1;
  device->parity = 'n';
  read_root(device, yaml_root(file), errors);
  if (yaml_errors_count(errors) == 0)
    return g_steal_pointer(&device);
  g_autofree char *message = yaml_errors_text(errors);
  g_set_error_literal(error, DEVICE_ERROR, 0, message);
  return NULL;
}
