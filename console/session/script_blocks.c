#include <string.h>

#include "session/script_tree.h"

static const char *const orders[] = {"given", "random", "interleaved", NULL};

/* The words of a block and where to say what is wrong with them. */
typedef struct {
  const Statement *statement;
  const Variables *variables;
  GArray *words;
  guint *column;
  GError **error;
} Header;

static gboolean fail(Header *header, guint column, const char *format, ...) G_GNUC_PRINTF(3, 4);

static gboolean
fail(Header *header, guint column, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *message = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  *header->column = script_source_column(header->statement, header->variables, column);
  g_set_error_literal(header->error, SCRIPT_ERROR, 0, message);
  return FALSE;
}

/* Where something is missing before word I. */
static guint
column_before(const Header *header, guint i)
{
  return i < header->words->len ? words_at(header->words, i)->column
                                : words_at(header->words, header->words->len - 1)->end_column;
}

static gboolean
read_header(Header *header)
{
  g_autofree char *text = script_expand(header->statement, header->variables);
  guint column = 0;
  header->words = words_read(text, COMMAND_TEXT_MAX, &column, header->error);
  if (header->words == NULL) {
    *header->column = script_source_column(header->statement, header->variables, column);
    return FALSE;
  }
  for (guint i = 0; i < header->words->len; i++)
    if (words_at(header->words, i)->separator)
      return fail(header, words_at(header->words, i)->column, "\";\" has no place here");
  return TRUE;
}

/* Takes `order X` off the end of the words; *N is how many are left. */
static gboolean
read_order(Header *header, guint first, guint *n, ForeachOrder *order)
{
  *order = ORDER_GIVEN;
  *n = header->words->len;
  for (guint i = first; i < header->words->len; i++) {
    if (!word_is(words_at(header->words, i), "order"))
      continue;
    if (i + 1 == header->words->len)
      return fail(header, column_before(header, i + 1),
                  "an order is missing: given, random, interleaved");
    if (i + 2 < header->words->len)
      return fail(header, words_at(header->words, i)->column,
                  "\"order\" and its order stand last; as a word it is quoted");
    const Word *word = words_at(header->words, i + 1);
    *n = i;
    for (int o = 0; orders[o] != NULL; o++)
      if (word_is(word, orders[o])) {
        *order = (ForeachOrder)o;
        return TRUE;
      }
    g_autofree char *shown = words_shown(word->text);
    const char *nearest = units_nearest_word(word->text, orders);
    if (nearest != NULL)
      return fail(header, word->column, "unknown order %s; did you mean \"%s\"?", shown, nearest);
    return fail(header, word->column, "unknown order %s: one of given, random, interleaved is due",
                shown);
  }
  return TRUE;
}

static gboolean
read_integer(Header *header, guint column, const char *text, guint64 max, guint64 *value)
{
  g_autoptr(GError) error = NULL;
  return units_parse_count(text, max, value, &error) || fail(header, column, "%s", error->message);
}

/* Where the points of a WORD that reads `1..17` or `1..` are; NULL when it does not. */
static const char *
find_points(const Word *word)
{
  gsize digits = strspn(word->text, "0123456789");
  return digits > 0 && !word->quoted && g_str_has_prefix(word->text + digits, "..")
             ? word->text + digits
             : NULL;
}

/* `1..17`, also with blanks around the points; *FIRST and *LAST are its ends when it is one. */
static gboolean
is_range(const Header *header, guint from, guint n, char **first, char **last)
{
  const Word *word = words_at(header->words, from);
  const char *points = find_points(word);
  if (n - from == 1 && points != NULL) {
    *first = g_strndup(word->text, (gsize)(points - word->text));
    *last = g_strdup(points + strlen(".."));
    return TRUE;
  }
  if (n - from != 3 || !word_is(words_at(header->words, from + 1), ".."))
    return FALSE;
  *first = g_strdup(word->text);
  *last = g_strdup(words_at(header->words, from + 2)->text);
  return TRUE;
}

static gboolean
add_range(Header *header, guint column, const char *first, const char *last, GPtrArray *values)
{
  guint64 a, b;
  if (!read_integer(header, column, first, G_MAXINT32, &a) ||
      !read_integer(header, column, last, G_MAXINT32, &b))
    return FALSE;
  guint64 steps = a < b ? b - a : a - b;
  if (steps >= SCRIPT_WORDS_MAX)
    return fail(header, column, "more than %d words", SCRIPT_WORDS_MAX);
  int width = first[0] == '0' ? (int)MIN(strlen(first), 10) : 1;
  for (guint64 i = 0; i <= steps; i++)
    g_ptr_array_add(values, g_strdup_printf("%0*" G_GUINT64_FORMAT, width, a < b ? a + i : a - i));
  return TRUE;
}

static gboolean
add_words(Header *header, guint from, guint n, GPtrArray *values)
{
  if (from >= n)
    return fail(header, column_before(header, n), "words are missing");
  if (n - from > SCRIPT_WORDS_MAX)
    return fail(header, words_at(header->words, from)->column, "more than %d words",
                SCRIPT_WORDS_MAX);
  g_autofree char *first = NULL, *last = NULL;
  if (is_range(header, from, n, &first, &last))
    return add_range(header, words_at(header->words, from)->column, first, last, values);
  for (guint i = from; i < n; i++) {
    const Word *word = words_at(header->words, i);
    if (find_points(word) != NULL)
      return fail(header, word->column, "INT..INT stands alone; as a word it is quoted");
    g_ptr_array_add(values, g_strdup(word->text));
  }
  return TRUE;
}

GPtrArray *
script_read_foreach(const Statement *statement, const Variables *variables, ForeachOrder *order,
                    guint *column, GError **error)
{
  Header header = {statement, variables, NULL, column, error};
  g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
  guint n;
  gboolean read = read_header(&header);
  g_autoptr(GArray) words = header.words;
  /* `foreach NAME in` was checked when the tree was read. */
  read = read && read_order(&header, 3, &n, order) && add_words(&header, 3, n, values);
  return read ? g_steal_pointer(&values) : NULL;
}

gboolean
script_read_repeat(const Statement *statement, const Variables *variables, guint *count,
                   guint *column, GError **error)
{
  Header header = {statement, variables, NULL, column, error};
  gboolean read = read_header(&header);
  g_autoptr(GArray) words = header.words;
  if (!read)
    return FALSE;
  if (words->len < 2)
    return fail(&header, column_before(&header, 1), "a number is missing");
  if (words->len > 2) {
    g_autofree char *shown = words_shown(words_at(words, 2)->text);
    return fail(&header, words_at(words, 2)->column, "unexpected %s", shown);
  }
  guint64 value;
  if (!read_integer(&header, words_at(words, 1)->column, words_at(words, 1)->text,
                    SCRIPT_COMMANDS_MAX, &value))
    return FALSE;
  *count = (guint)value;
  return value > 0 || fail(&header, words_at(words, 1)->column, "\"0\": at least 1 is due");
}

Command *
script_read_command(const Statement *statement, const Variables *variables, const char *text,
                    guint *column, GError **error)
{
  Command *command = command_parse_at(text, column, error);
  if (command == NULL)
    *column = script_source_column(statement, variables, *column);
  return command;
}

Command *
script_read_with(const Statement *statement, const Variables *variables, guint *column,
                 GError **error)
{
  g_autofree char *text = script_expand(statement, variables);
  /* The same columns: `with PATH VALUE` takes what `set PATH VALUE` takes. */
  memcpy(text, " set", strlen("with"));
  return script_read_command(statement, variables, text, column, error);
}
