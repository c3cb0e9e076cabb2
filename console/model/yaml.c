#include "model/yaml.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#define MAX_FILE (4u << 20)
#define MAX_LINE (64u << 10)
#define MAX_ENTRIES 65536
#define MAX_DEPTH 16

struct YamlFile {
  YamlNode *root;
};

/* One pass over one file. libyaml's marks count characters from 0; `at` follows them in bytes. */
typedef struct {
  yaml_parser_t yaml;
  const char *name;
  const char *at;
  gsize at_index;
  GError **error;
} Reader;

static YamlNode *read_node(Reader *reader, yaml_event_t *event, guint depth);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(yaml_event_t, yaml_event_delete)

static gboolean G_GNUC_PRINTF(3, 4)
    fail_at(Reader *reader, const yaml_mark_t *mark, const char *format, ...)
{
  va_list arguments;

  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_autoptr(YamlErrors) errors = yaml_errors_new(reader->name);
  yaml_errors_add(errors, &(YamlNode){.line = mark->line + 1, .column = mark->column + 1}, "%s",
                  text);
  g_autofree char *told = yaml_errors_text(errors);
  g_set_error_literal(reader->error, YAML_ERROR, 0, told);
  return FALSE;
}

static void
node_free(YamlNode *node)
{
  if (node == NULL)
    return;
  for (guint i = 0; i < node->n; i++) {
    if (node->keys != NULL)
      node_free((YamlNode *)node->keys[i]);
    node_free((YamlNode *)node->items[i]);
  }
  g_free((char *)node->text);
  g_free(node->keys);
  g_free(node->items);
  g_free(node);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(YamlNode, node_free)

static void
node_free_each(GPtrArray *nodes)
{
  g_ptr_array_set_free_func(nodes, (GDestroyNotify)node_free);
  g_ptr_array_unref(nodes);
}

static YamlNode *
node_new(YamlKind kind, const yaml_mark_t *mark)
{
  YamlNode *node = g_new0(YamlNode, 1);

  node->kind = kind;
  node->line = mark->line + 1;
  node->column = mark->column + 1;
  return node;
}

static gboolean
next_event(Reader *reader, yaml_event_t *event)
{
  yaml_parser_t *yaml = &reader->yaml;

  if (yaml_parser_parse(yaml, event))
    return TRUE;
  memset(event, 0, sizeof *event);
  const char *problem = yaml->problem != NULL ? yaml->problem : "cannot be read as YAML";
  if (yaml->context != NULL)
    return fail_at(reader, &yaml->problem_mark, "%s %s begun in line %zu", problem, yaml->context,
                   yaml->context_mark.line + 1);
  return fail_at(reader, &yaml->problem_mark, "%s", problem);
}

/* Tags are seen in the text itself: libyaml drops a bare `!` before its event. */
static char
first_character(Reader *reader, const yaml_mark_t *mark)
{
  while (reader->at_index < mark->index && *reader->at != '\0') {
    reader->at = g_utf8_next_char(reader->at);
    reader->at_index++;
  }
  return *reader->at;
}

static gboolean
check_plain_data(Reader *reader, const yaml_event_t *event)
{
  const yaml_mark_t *mark = &event->start_mark;
  const yaml_char_t *anchor = event->type == YAML_SCALAR_EVENT ? event->data.scalar.anchor
                              : event->type == YAML_SEQUENCE_START_EVENT
                                  ? event->data.sequence_start.anchor
                                  : event->data.mapping_start.anchor;

  if (event->type == YAML_ALIAS_EVENT)
    return fail_at(reader, mark, "alias *%s: write the value out", event->data.alias.anchor);
  if (first_character(reader, mark) == '!')
    return fail_at(reader, mark,
                   "a tag (!) has no meaning here: put text that begins with it in "
                   "quotes");
  if (anchor != NULL)
    return fail_at(reader, mark, "anchor &%s: write the value out where it is meant", anchor);
  return TRUE;
}

static gboolean
is_control(gunichar c)
{
  return (c < 0x20 && c != '\t' && c != '\n') || (c >= 0x7f && c < 0xa0) || c == 0x2028 ||
         c == 0x2029;
}

static YamlNode *
read_scalar(Reader *reader, yaml_event_t *event)
{
  const char *text = (const char *)event->data.scalar.value;
  gsize length = event->data.scalar.length;

  if (strlen(text) != length) {
    fail_at(reader, &event->start_mark, "an escaped NUL (\\0) in a value");
    return NULL;
  }
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char(p)) {
    if (is_control(g_utf8_get_char(p))) {
      fail_at(reader, &event->start_mark, "an escaped control character (U+%04X) in a value",
              g_utf8_get_char(p));
      return NULL;
    }
  }
  YamlNode *node = node_new(YAML_SCALAR, &event->start_mark);
  node->text = g_strndup(text, length);
  return node;
}

static gboolean
check_key(Reader *reader, const yaml_event_t *event)
{
  if (event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT)
    return fail_at(reader, &event->start_mark, "a key must be a word, not a list or a map");
  if (event->type == YAML_SCALAR_EVENT && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
      strcmp((const char *)event->data.scalar.value, "<<") == 0)
    return fail_at(reader, &event->start_mark, "merge key <<: write the keys out");
  return TRUE;
}

static gboolean
check_new_key(Reader *reader, GHashTable *seen, YamlNode *key, const yaml_mark_t *mark)
{
  const YamlNode *before = g_hash_table_lookup(seen, key->text);

  if (before != NULL)
    return fail_at(reader, mark, "key \"%s\" again: it is given in line %u already", key->text,
                   before->line);
  g_hash_table_insert(seen, (char *)key->text, key);
  return TRUE;
}

/* Reads the entries up to the map's end event. */
static gboolean
read_pairs(Reader *reader, GPtrArray *keys, GPtrArray *items, guint depth)
{
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

  for (;;) {
    g_auto(yaml_event_t) key_event = {0}, event = {0};
    if (!next_event(reader, &key_event))
      return FALSE;
    if (key_event.type == YAML_MAPPING_END_EVENT)
      return TRUE;
    if (keys->len == MAX_ENTRIES)
      return fail_at(reader, &key_event.start_mark, "more than %d entries in a map", MAX_ENTRIES);
    if (!check_key(reader, &key_event))
      return FALSE;
    g_autoptr(YamlNode) key = read_node(reader, &key_event, depth);
    if (key == NULL || !check_new_key(reader, seen, key, &key_event.start_mark) ||
        !next_event(reader, &event))
      return FALSE;
    YamlNode *item = read_node(reader, &event, depth);
    if (item == NULL)
      return FALSE;
    g_ptr_array_add(keys, g_steal_pointer(&key));
    g_ptr_array_add(items, item);
  }
}

static gboolean
read_items(Reader *reader, GPtrArray *items, guint depth)
{
  for (;;) {
    g_auto(yaml_event_t) event = {0};
    if (!next_event(reader, &event))
      return FALSE;
    if (event.type == YAML_SEQUENCE_END_EVENT)
      return TRUE;
    if (items->len == MAX_ENTRIES)
      return fail_at(reader, &event.start_mark, "more than %d entries in a list", MAX_ENTRIES);
    YamlNode *item = read_node(reader, &event, depth);
    if (item == NULL)
      return FALSE;
    g_ptr_array_add(items, item);
  }
}

/* EVENT begins the node; recursion ends at MAX_DEPTH. */
static YamlNode *
read_node(Reader *reader, yaml_event_t *event, guint depth)
{
  if (!check_plain_data(reader, event))
    return NULL;
  if (event->type == YAML_SCALAR_EVENT)
    return read_scalar(reader, event);
  if (depth == MAX_DEPTH) {
    fail_at(reader, &event->start_mark, "nested more than %d deep", MAX_DEPTH);
    return NULL;
  }
  gboolean is_map = event->type == YAML_MAPPING_START_EVENT;
  GPtrArray *keys = g_ptr_array_new(), *items = g_ptr_array_new();
  if (!(is_map ? read_pairs(reader, keys, items, depth + 1)
               : read_items(reader, items, depth + 1))) {
    node_free_each(keys);
    node_free_each(items);
    return NULL;
  }
  YamlNode *node = node_new(is_map ? YAML_MAP : YAML_LIST, &event->start_mark);
  node->n = items->len;
  node->keys = (const YamlNode **)g_ptr_array_free(keys, !is_map);
  node->items = (const YamlNode **)g_ptr_array_free(items, FALSE);
  return node;
}

static YamlNode *
read_document(Reader *reader)
{
  g_auto(yaml_event_t) stream = {0}, begin = {0}, event = {0}, end = {0}, last = {0};

  if (!next_event(reader, &stream) || !next_event(reader, &begin))
    return NULL;
  if (begin.type == YAML_STREAM_END_EVENT) {
    fail_at(reader, &stream.start_mark, "the file is empty");
    return NULL;
  }
  if (!next_event(reader, &event))
    return NULL;
  g_autoptr(YamlNode) root = read_node(reader, &event, 0);
  if (root == NULL || !next_event(reader, &end) || !next_event(reader, &last))
    return NULL;
  if (last.type != YAML_STREAM_END_EVENT) {
    fail_at(reader, &last.start_mark, "a second document begins: a file holds one");
    return NULL;
  }
  return g_steal_pointer(&root);
}

/* libyaml tells a bad byte's offset, not its line; and it has no limit on lines. */
static gboolean
check_text(Reader *reader, const char *text, gsize length)
{
  yaml_mark_t mark = {0};
  const char *line = text;

  if (length > MAX_FILE)
    return fail_at(reader, &mark, "larger than %u MiB", MAX_FILE >> 20);
  for (const char *p = text; p < text + length; p = g_utf8_next_char(p)) {
    gunichar c = *p == '\0' ? 0 : g_utf8_get_char_validated(p, text + length - p);
    if (c == (gunichar)-1 || c == (gunichar)-2)
      return fail_at(reader, &mark, "byte 0x%02x is not UTF-8", (guint8)*p);
    gboolean line_end = c == '\n' || (c == '\r' && p + 1 < text + length && p[1] == '\n');
    if (!line_end && is_control(c))
      return fail_at(reader, &mark, "control character U+%04X", c);
    if (!line_end && (gsize)(p - line) >= MAX_LINE)
      return fail_at(reader, &mark, "a line longer than %u KiB", MAX_LINE >> 10);
    mark.column++;
    if (c == '\n') {
      mark.line++;
      mark.column = 0;
      line = p + 1;
    }
  }
  return TRUE;
}

YamlFile *
yaml_parse(const char *name, const char *text, gsize length, GError **error)
{
  Reader reader = {.name = name, .error = error};

  if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
    text += 3;
    length -= 3;
  }
  if (!check_text(&reader, text, length))
    return NULL;
  g_autofree char *copy = g_strndup(text, length); /* first_character() needs its end */
  reader.at = copy;
  gboolean ready = yaml_parser_initialize(&reader.yaml);
  g_assert(ready);
  yaml_parser_set_encoding(&reader.yaml, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&reader.yaml, (const guint8 *)copy, length);
  YamlNode *root = read_document(&reader);
  yaml_parser_delete(&reader.yaml);
  if (root == NULL)
    return NULL;
  YamlFile *file = g_new0(YamlFile, 1);
  file->root = root;
  return file;
}

YamlFile *
yaml_load(const char *path, GError **error)
{
  FILE *stream = fopen(path, "re");

  if (stream == NULL) {
    g_set_error(error, YAML_ERROR, 0, "%s: %s", path, g_strerror(errno));
    return NULL;
  }
  /* One byte more than allowed, so that yaml_parse() sees a file too large. */
  g_autofree char *text = g_malloc(MAX_FILE + 1);
  gsize length = fread(text, 1, MAX_FILE + 1, stream);
  int failure = ferror(stream) ? errno : 0;
  fclose(stream);
  if (failure != 0) {
    g_set_error(error, YAML_ERROR, 0, "%s: %s", path, g_strerror(failure));
    return NULL;
  }
  return yaml_parse(path, text, length, error);
}

void
yaml_file_free(YamlFile *file)
{
  if (file == NULL)
    return;
  node_free(file->root);
  g_free(file);
}

const YamlNode *
yaml_root(const YamlFile *file)
{
  return file->root;
}

const YamlNode *
yaml_get(const YamlNode *map, const char *key)
{
  g_assert(map->kind == YAML_MAP);
  for (guint i = 0; i < map->n; i++) {
    if (strcmp(map->keys[i]->text, key) == 0)
      return map->items[i];
  }
  return NULL;
}
