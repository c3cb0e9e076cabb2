#include "core/command_words.h"

#include <string.h>

#define SHOWN_MAX 40

typedef struct {
  const char *line, *at;
  guint column;
  guint *error_column;
  GError **error;
} Reader;

static gboolean
fail(Reader *reader, guint column, const char *message)
{
  *reader->error_column = column;
  g_set_error_literal(reader->error, COMMAND_ERROR, 0, message);
  return FALSE;
}

static void
word_clear(gpointer data)
{
  g_free(((Word *)data)->text);
}

static gboolean
is_blank(char c)
{
  return c == ' ' || c == '\t';
}

static void
advance(Reader *reader)
{
  reader->at = g_utf8_next_char(reader->at);
  reader->column++;
}

static gboolean
check_characters(Reader *reader)
{
  const char *bad;
  gboolean valid = g_utf8_validate(reader->line, -1, &bad);
  guint column = 1;
  for (const char *p = reader->line; p < bad; p = g_utf8_next_char(p), column++) {
    gunichar c = g_utf8_get_char(p);
    if (c != '\t' && (c < 0x20 || (c >= 0x7f && c <= 0x9f)))
      return fail(reader, column, "a control character");
  }
  return valid || fail(reader, column, "this is not UTF-8");
}

/* Appends one character, a backslash before `"`, `\` or `$` undone. */
static void
take_character(Reader *reader, GString *text)
{
  if (reader->at[0] == '\\' && reader->at[1] != 0 && strchr("\"\\$", reader->at[1]) != NULL)
    advance(reader);
  const char *from = reader->at;
  advance(reader);
  g_string_append_len(text, from, reader->at - from);
}

static gboolean
take_quotes(Reader *reader, GString *text)
{
  guint opened = reader->column;
  advance(reader);
  while (*reader->at != '"') {
    if (*reader->at == 0)
      return fail(reader, opened, "this quote is not closed");
    take_character(reader, text);
  }
  advance(reader);
  return TRUE;
}

static gboolean
take_word(Reader *reader, Word *word)
{
  g_autoptr(GString) text = g_string_new(NULL);
  word->quoted = FALSE;
  while (*reader->at != 0 && *reader->at != ';' && !is_blank(*reader->at)) {
    if (g_utf8_get_char(reader->at) == 0xa0)
      return fail(reader, reader->column, "a no-break space: type a plain one, or use quotes");
    if (*reader->at == '"') {
      word->quoted = TRUE;
      if (!take_quotes(reader, text))
        return FALSE;
    } else {
      take_character(reader, text);
    }
  }
  word->text = g_string_free(g_steal_pointer(&text), FALSE);
  return TRUE;
}

GArray *
words_read(const char *line, gsize max, guint *column, GError **error)
{
  Reader reader = {line, line, 1, column, error};
  if (strlen(line) > max) {
    g_autofree char *message = g_strdup_printf("longer than %" G_GSIZE_FORMAT " bytes", max);
    fail(&reader, 1, message);
    return NULL;
  }
  if (!check_characters(&reader))
    return NULL;
  g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(Word));
  g_array_set_clear_func(words, word_clear);
  for (;;) {
    while (is_blank(*reader.at))
      advance(&reader);
    if (*reader.at == 0 || *reader.at == '#')
      return g_steal_pointer(&words);
    Word word = {.column = reader.column, .start = (gsize)(reader.at - line)};
    if (*reader.at == ';') {
      word.separator = TRUE;
      word.text = g_strdup(";");
      advance(&reader);
    } else if (!take_word(&reader, &word)) {
      return NULL;
    }
    word.end = (gsize)(reader.at - line);
    word.end_column = reader.column;
    g_array_append_val(words, word);
  }
}

gboolean
word_is(const Word *word, const char *text)
{
  return !word->quoted && !word->separator && g_str_equal(word->text, text);
}

static gboolean
reads_bare(const char *text)
{
  return *text != 0 && *text != '#' && strpbrk(text, " \t;\"\\$") == NULL &&
         strstr(text, "\u00a0") == NULL;
}

void
words_print(GString *out, const char *text)
{
  if (reads_bare(text)) {
    g_string_append(out, text);
    return;
  }
  g_string_append_c(out, '"');
  for (; *text != 0; text++) {
    if (strchr("\"\\$", *text) != NULL)
      g_string_append_c(out, '\\');
    g_string_append_c(out, *text);
  }
  g_string_append_c(out, '"');
}

char *
words_shown(const char *text)
{
  g_autoptr(GString) out = g_string_new("\"");
  guint n = 0;
  const char *p = text;
  for (; *p != 0 && n < SHOWN_MAX; p = g_utf8_next_char(p), n++) {
    gunichar c = g_utf8_get_char(p);
    if (g_unichar_isprint(c))
      g_string_append_unichar(out, c);
    else
      g_string_append_printf(out, "\\u%04x", c);
  }
  g_string_append(out, *p != 0 ? "…\"" : "\"");
  return g_string_free(g_steal_pointer(&out), FALSE);
}

guint
words_columns(const char *text)
{
  return (guint)g_utf8_strlen(text, -1);
}

gboolean
words_is_label(const char *text, char end)
{
  const char *p = text;
  if (!g_ascii_isalpha(*p))
    return FALSE;
  while (g_ascii_isalnum(*p) || *p == '_')
    p++;
  return (*p == 0 || *p == end) && p - text <= WORDS_LABEL_MAX;
}
