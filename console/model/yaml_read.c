#include "model/yaml_read.h"

#include <string.h>

#define MAX_TOLD 16 /* words in a message */
#define ENOUGH 100  /* errors told; looking for near words would only take time */

static const YamlNode *
value_of_kind(const YamlNode *map, const char *key, YamlKind kind, YamlErrors *errors)
{
  static const char *const kinds[] = {"a single value", "a list, as [a, b]",
                                      "a map, as {key: value}"};
  const YamlNode *value = yaml_get(map, key);

  if (value == NULL || value->kind == kind)
    return value;
  yaml_errors_add(errors, value, "\"%s\" must be %s", key, kinds[kind]);
  return NULL;
}

const YamlNode *
yaml_get_scalar(const YamlNode *map, const char *key, YamlErrors *errors)
{
  const YamlNode *value = value_of_kind(map, key, YAML_SCALAR, errors);

  if (value == NULL || *value->text != '\0')
    return value;
  yaml_errors_add(errors, value, "\"%s\" has no value", key);
  return NULL;
}

const YamlNode *
yaml_get_map(const YamlNode *map, const char *key, YamlErrors *errors)
{
  return value_of_kind(map, key, YAML_MAP, errors);
}

const YamlNode *
yaml_get_list(const YamlNode *map, const char *key, YamlErrors *errors)
{
  return value_of_kind(map, key, YAML_LIST, errors);
}

gboolean
yaml_check_map(const YamlNode *name, const YamlNode *value, YamlErrors *errors)
{
  if (value->kind == YAML_MAP)
    return TRUE;
  yaml_errors_add(errors, value, "%s must be a map, {} if there is nothing to say", name->text);
  return FALSE;
}

gboolean
yaml_require(const YamlNode *map, const YamlNode *at, const char *owner, const char *key,
             YamlErrors *errors)
{
  if (yaml_get(map, key) != NULL)
    return TRUE;
  yaml_errors_add(errors, at, "%s: \"%s\" is missing", owner, key);
  return FALSE;
}

gboolean
yaml_read_line(const YamlNode *value, gsize max, char **line, YamlErrors *errors)
{
  if (strpbrk(value->text, "\n\t") != NULL) {
    yaml_errors_add(errors, value, "must be one line, without tabs");
    return FALSE;
  }
  if (strlen(value->text) > max) {
    yaml_errors_add(errors, value, "%zu bytes long: at most %zu", strlen(value->text), max);
    return FALSE;
  }
  g_free(*line);
  *line = g_strdup(value->text);
  return TRUE;
}

gboolean
yaml_read_bool(const YamlNode *value, gboolean *result, YamlErrors *errors)
{
  if (strcmp(value->text, "true") != 0 && strcmp(value->text, "false") != 0) {
    yaml_errors_add(errors, value, "\"%s\" is neither true nor false", value->text);
    return FALSE;
  }
  *result = *value->text == 't';
  return TRUE;
}

gboolean
yaml_read_count(const YamlNode *value, guint min, guint max, guint *result, YamlErrors *errors)
{
  g_autoptr(GError) error = NULL;
  guint64 count;

  if (!units_parse_count(value->text, G_MAXUINT64, &count, &error)) {
    yaml_errors_add(errors, value, "%s", error->message);
    return FALSE;
  }
  if (count < min || count > max) {
    yaml_errors_add(errors, value, "%s is out of range: %u to %u", value->text, min, max);
    return FALSE;
  }
  *result = count;
  return TRUE;
}

gboolean
yaml_read_quantity(const YamlNode *value, Dimension dimension, double min, double max,
                   double *result, YamlErrors *errors)
{
  g_autoptr(GError) error = NULL;
  double number;

  if (!units_parse_as(value->text, dimension, &number, &error)) {
    yaml_errors_add(errors, value, "%s", error->message);
    return FALSE;
  }
  if (!(number >= min && number <= max)) {
    g_autofree char *from = units_print(min, dimension), *to = units_print(max, dimension);
    yaml_errors_add(errors, value, "%s is out of range: %s to %s", value->text, from, to);
    return FALSE;
  }
  *result = number;
  return TRUE;
}

void
yaml_unknown_word(const YamlNode *value, const char *what, const char *const *words,
                  YamlErrors *errors)
{
  guint n = g_strv_length((char **)words);
  const char *nearest =
      yaml_errors_count(errors) < ENOUGH ? units_nearest_word(value->text, words) : NULL;
  g_autofree char *hint = NULL;

  if (nearest != NULL) {
    hint = g_strdup_printf(": did you mean \"%s\"?", nearest);
  } else if (n == 0) {
    hint = g_strdup(": none is given");
  } else if (n <= MAX_TOLD) {
    g_autofree char *all = g_strjoinv(", ", (char **)words);
    hint = g_strconcat(": known are ", all, NULL);
  }
  yaml_errors_add(errors, value, "unknown %s \"%s\"%s", what, value->text,
                  hint != NULL ? hint : "");
}

gboolean
yaml_read_choice(const YamlNode *value, const char *what, const char *const *words, guint *index,
                 YamlErrors *errors)
{
  for (guint i = 0; words[i] != NULL; i++) {
    if (strcmp(words[i], value->text) == 0) {
      *index = i;
      return TRUE;
    }
  }
  yaml_unknown_word(value, what, words, errors);
  return FALSE;
}
