#include "model/units.h"
#include "model/yaml.h"

#include <string.h>

#define MAX_MESSAGES 100
#define MAX_BYTES 400

typedef struct {
  guint line, column;
  char *text;
} Message;

struct YamlErrors {
  char *file_name;
  GArray *first; /* of Message, sorted by position, at most MAX_MESSAGES */
  guint count;
};

static void
message_clear(Message *message)
{
  g_free(message->text);
}

YamlErrors *
yaml_errors_new(const char *file_name)
{
  YamlErrors *errors = g_new0(YamlErrors, 1);

  errors->file_name = g_strdup(file_name);
  errors->first = g_array_new(FALSE, FALSE, sizeof(Message));
  g_array_set_clear_func(errors->first, (GDestroyNotify)message_clear);
  return errors;
}

void
yaml_errors_free(YamlErrors *errors)
{
  if (errors == NULL)
    return;
  g_array_unref(errors->first);
  g_free(errors->file_name);
  g_free(errors);
}

/* A message is one line of bounded length, whatever value it quotes. */
static char *
one_line(const char *text)
{
  GString *line = g_string_new(NULL);

  for (const char *p = text; *p != '\0'; p = g_utf8_next_char(p)) {
    if (line->len > MAX_BYTES)
      return g_string_free(g_string_append(line, "..."), FALSE);
    if (*p == '\n' || *p == '\t')
      g_string_append(line, *p == '\n' ? "\\n" : "\\t");
    else
      g_string_append_unichar(line, g_utf8_get_char(p));
  }
  return g_string_free(line, FALSE);
}

void
yaml_errors_add(YamlErrors *errors, const YamlNode *at, const char *format, ...)
{
  Message message = {.line = at->line, .column = at->column};
  va_list arguments;

  errors->count++;
  guint i = errors->first->len;
  for (; i > 0; i--) { /* behind its equals: told in the order found */
    const Message *before = &g_array_index(errors->first, Message, i - 1);
    if (before->line < at->line || (before->line == at->line && before->column <= at->column))
      break;
  }
  if (i == MAX_MESSAGES)
    return;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  message.text = one_line(text);
  g_array_insert_val(errors->first, i, message);
  if (errors->first->len > MAX_MESSAGES)
    g_array_set_size(errors->first, MAX_MESSAGES);
}

guint
yaml_errors_count(const YamlErrors *errors)
{
  return errors->count;
}

char *
yaml_errors_text(const YamlErrors *errors)
{
  GString *text = g_string_new(NULL);

  for (guint i = 0; i < errors->first->len; i++) {
    const Message *message = &g_array_index(errors->first, Message, i);
    g_string_append_printf(text, "%s%s:%u:%u: %s", i > 0 ? "\n" : "", errors->file_name,
                           message->line, message->column, message->text);
  }
  if (errors->count > errors->first->len)
    g_string_append_printf(text, "\n%s: and %u more", errors->file_name,
                           errors->count - errors->first->len);
  return g_string_free(text, FALSE);
}

void
yaml_check_keys(const YamlNode *map, const char *const *known, YamlErrors *errors)
{
  g_assert(map->kind == YAML_MAP);
  for (guint i = 0; i < map->n; i++) {
    const char *key = map->keys[i]->text;
    if (g_strv_contains(known, key))
      continue;
    const char *nearest = units_nearest_word(key, known);
    if (nearest != NULL) {
      yaml_errors_add(errors, map->keys[i], "unknown key \"%s\": did you mean \"%s\"?", key,
                      nearest);
    } else {
      g_autofree char *all = g_strjoinv(", ", (char **)known);
      yaml_errors_add(errors, map->keys[i], "unknown key \"%s\": known here are %s", key, all);
    }
  }
}
