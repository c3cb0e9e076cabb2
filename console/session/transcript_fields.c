#include "session/transcript_fields.h"

#include <math.h>
#include <string.h>

#include "model/nodeset.h"
#include "session/transcript.h"

#define ARRAY_MAX 65536

void
fields_begin(Fields *fields, json_t *object, const char *name, GPtrArray *owned)
{
  *fields = (Fields){.object = object, .owned = owned};
  if (!json_is_object(object))
    fields_fail(fields, "%s is no JSON object", name);
}

void
fields_fail(Fields *fields, const char *format, ...)
{
  if (fields->error != NULL)
    return;
  va_list arguments;
  va_start(arguments, format);
  fields->error = g_error_new_valist(TRANSCRIPT_ERROR, 0, format, arguments);
  va_end(arguments);
}

static gboolean
was_asked(const Fields *fields, const char *key)
{
  for (guint i = 0; i < fields->n_asked; i++)
    if (strcmp(fields->asked[i], key) == 0)
      return TRUE;
  return FALSE;
}

gboolean
fields_end(Fields *fields, GError **error)
{
  if (fields->error == NULL && json_object_size(fields->object) > fields->n_asked) {
    const char *key;
    json_t *value;
    json_object_foreach(fields->object, key, value) if (!was_asked(fields, key))
        fields_fail(fields, "has an unknown key `%s`", key);
  }
  if (fields->error == NULL)
    return TRUE;
  g_propagate_error(error, g_steal_pointer(&fields->error));
  return FALSE;
}

gboolean
fields_has(Fields *fields, const char *key)
{
  return json_object_get(fields->object, key) != NULL;
}

json_t *
fields_take(Fields *fields, const char *key)
{
  json_t *value = json_object_get(fields->object, key);
  if (value == NULL) {
    fields_fail(fields, "`%s` is missing", key);
    return NULL;
  }
  g_assert(fields->n_asked < FIELDS_MAX);
  fields->asked[fields->n_asked++] = key;
  return value;
}

gpointer
fields_new(Fields *fields, gsize size, gsize n)
{
  gpointer memory = g_malloc0_n(MAX(n, 1), size);
  g_ptr_array_add(fields->owned, memory);
  return memory;
}

const char *
fields_unescape(Fields *fields, const char *text, const char *key)
{
  if (strchr(text, '\\') == NULL)
    return text;
  gsize length;
  char *bytes = transcript_unescape(text, &length);
  if (bytes == NULL) {
    fields_fail(fields, "`%s` has a backslash before neither a backslash nor xNN", key);
    return "";
  }
  g_ptr_array_add(fields->owned, bytes);
  if (strlen(bytes) != length)
    fields_fail(fields, "`%s` has a NUL character", key);
  return bytes;
}

const char *
fields_text(Fields *fields, json_t *value, const char *key)
{
  const char *text = json_string_value(value);
  if (text != NULL)
    return fields_unescape(fields, text, key);
  if (value != NULL)
    fields_fail(fields, "`%s` is no string", key);
  return "";
}

const char *
fields_string(Fields *fields, const char *key)
{
  return fields_text(fields, fields_take(fields, key), key);
}

const char *
fields_string_or_null(Fields *fields, const char *key)
{
  json_t *value = fields_take(fields, key);
  return json_is_null(value) ? NULL : fields_text(fields, value, key);
}

gint64
fields_integer(Fields *fields, const char *key, gint64 min, gint64 max)
{
  json_t *value = fields_take(fields, key);
  if (value == NULL)
    return min;
  if (!json_is_integer(value)) {
    fields_fail(fields, "`%s` is no whole number", key);
    return min;
  }
  gint64 integer = json_integer_value(value);
  if (integer >= min && integer <= max)
    return integer;
  fields_fail(fields,
              "`%s` is %" G_GINT64_FORMAT "; %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
              " is allowed",
              key, integer, min, max);
  return min;
}

guint32
fields_count(Fields *fields, const char *key)
{
  return (guint32)fields_integer(fields, key, 0, G_MAXUINT32);
}

gboolean
fields_bool(Fields *fields, const char *key)
{
  json_t *value = fields_take(fields, key);
  if (value != NULL && !json_is_boolean(value))
    fields_fail(fields, "`%s` is neither true nor false", key);
  return json_is_true(value);
}

double
fields_number(Fields *fields, const char *key)
{
  json_t *value = fields_take(fields, key);
  if (value == NULL || json_is_null(value))
    return NAN;
  if (!json_is_number(value))
    fields_fail(fields, "`%s` is no number", key);
  return json_number_value(value);
}

int
fields_word(Fields *fields, const char *key, int (*parse)(const char *word))
{
  const char *word = fields_string(fields, key);
  int value = fields->error != NULL ? 0 : parse(word);
  if (value < 0)
    fields_fail(fields, "`%s` is `%s`, a word unknown to this version", key, word);
  return MAX(value, 0);
}

static NodeId
find_node(Fields *fields, const char *key, const Layout *layout, const char *name)
{
  NodeId node = layout_find(layout, name);
  if (node == NODE_NONE)
    fields_fail(fields, "`%s` names `%s`, which the layout has not", key, name);
  return node;
}

NodeId
fields_node(Fields *fields, const char *key, const Layout *layout)
{
  if (!fields_has(fields, key))
    return NODE_NONE;
  const char *name = fields_string(fields, key);
  return fields->error != NULL ? NODE_NONE : find_node(fields, key, layout, name);
}

void
fields_nodes(Fields *fields, const char *key, const Layout *layout, const NodeId **nodes, guint *n)
{
  *nodes = NULL;
  *n = 0;
  if (!fields_has(fields, key))
    return;
  const char *text = fields_string(fields, key);
  if (fields->error != NULL || *text == 0)
    return;
  g_autoptr(GError) error = NULL;
  g_autoptr(Nodeset) set = nodeset_parse(text, NULL, NULL, &error);
  if (set == NULL) {
    fields_fail(fields, "`%s`: %s", key, error->message);
    return;
  }
  NodeId *ids = fields_new(fields, sizeof *ids, nodeset_count(set));
  for (guint i = 0; i < nodeset_count(set); i++)
    ids[i] = find_node(fields, key, layout, nodeset_name(set, i));
  *nodes = ids;
  *n = nodeset_count(set);
}

json_t *
fields_array(Fields *fields, const char *key, gsize *n)
{
  json_t *array = fields_take(fields, key);
  if (array != NULL && !json_is_array(array))
    fields_fail(fields, "`%s` is no list", key);
  *n = json_array_size(array);
  if (*n > ARRAY_MAX) {
    fields_fail(fields, "`%s` has %" G_GSIZE_FORMAT " entries; at most %d are allowed", key, *n,
                ARRAY_MAX);
    *n = 0;
  }
  return array;
}
