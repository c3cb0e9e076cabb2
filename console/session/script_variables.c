#include <string.h>

#include "session/script_tree.h"

#define NAME_MAX_LENGTH 64

/* One step through a text: plain characters, `\$`, or a variable. */
typedef struct {
  const char *from, *end; /* what stands in the text */
  const char *name;       /* of a variable; NULL for plain text */
  gsize name_length;      /* 0: there is no name behind the $ */
  gboolean open;          /* `${NAME` without } */
  gboolean quoted;        /* it stands in quotes */
  gboolean dollar;        /* `\$` */
} Piece;

static gsize
name_length(const char *p)
{
  gsize n = 0;
  if (g_ascii_isalpha(*p))
    while (g_ascii_isalnum(p[n]) || p[n] == '_')
      n++;
  return n <= NAME_MAX_LENGTH ? n : 0;
}

static void
read_variable(Piece *piece)
{
  gboolean braces = piece->from[1] == '{';
  piece->name = piece->from + (braces ? 2 : 1);
  piece->name_length = name_length(piece->name);
  piece->end = piece->name + piece->name_length;
  piece->open = braces && *piece->end != '}';
  if (braces && !piece->open)
    piece->end++;
}

/* The piece at AT; FALSE at the end. Quotes and backslashes are those of words_read(). */
static gboolean
next_piece(const char *at, gboolean *in_quotes, Piece *piece)
{
  *piece = (Piece){.from = at, .end = at, .quoted = *in_quotes};
  if (*at == 0)
    return FALSE;
  if (*at == '$') {
    read_variable(piece);
    return TRUE;
  }
  if (*at == '\\' && at[1] != 0) {
    piece->dollar = at[1] == '$';
    piece->end = g_utf8_next_char(at + 1);
  } else if (*at == '"' || *at == '\\') {
    *in_quotes ^= *at == '"';
    piece->end = at + 1;
  } else {
    piece->end = at + strcspn(at, "$\\\"");
  }
  return TRUE;
}

static void
add_unknown(GArray *problems, const Statement *statement, guint column, const char *name,
            const GPtrArray *names)
{
  g_autoptr(GPtrArray) words = g_ptr_array_new();
  for (guint i = 0; i < names->len; i++)
    g_ptr_array_add(words, g_ptr_array_index(names, i));
  g_ptr_array_add(words, NULL);
  const char *nearest = units_nearest_word(name, (const char *const *)words->pdata);
  if (nearest != NULL)
    script_problems_add(problems, statement->line, column,
                        "unknown variable \"%s\"; did you mean \"%s\"?", name, nearest);
  else
    script_problems_add(problems, statement->line, column, "unknown variable \"%s\"", name);
}

static gboolean
is_among(const char *name, const GPtrArray *names)
{
  for (guint i = 0; i < names->len; i++)
    if (g_str_equal(name, g_ptr_array_index(names, i)))
      return TRUE;
  return FALSE;
}

gboolean
script_check_dollars(Statement *statement, const GPtrArray *names, GArray *problems)
{
  if (!statement->dollar)
    return TRUE;
  guint before = problems->len, column = statement->column;
  gboolean in_quotes = FALSE, known = TRUE;
  Piece piece;
  for (const char *p = statement->text; next_piece(p, &in_quotes, &piece); p = piece.end) {
    if (piece.name != NULL) {
      g_autofree char *name = g_strndup(piece.name, piece.name_length);
      if (piece.name_length == 0)
        script_problems_add(problems, statement->line, column,
                            "a variable's name is due behind $; a dollar is written \\$");
      else if (piece.open)
        script_problems_add(problems, statement->line, column, "\"${%s\" lacks its }", name);
      else if (names == NULL)
        known = FALSE;
      else if (!is_among(name, names))
        add_unknown(problems, statement, column, name, names);
    }
    column += (guint)g_utf8_strlen(piece.from, piece.end - piece.from);
  }
  statement->faulty = problems->len > before || !known;
  return !statement->faulty;
}

gboolean
script_uses(const Statement *statement, const char *name)
{
  gboolean in_quotes = FALSE;
  Piece piece;
  for (const char *p = statement->text; next_piece(p, &in_quotes, &piece); p = piece.end)
    if (piece.name != NULL && strlen(name) == piece.name_length &&
        strncmp(name, piece.name, piece.name_length) == 0)
      return TRUE;
  return FALSE;
}

static const char *
value_of(const Piece *piece, const Variables *variables)
{
  for (guint i = 0; i < variables->n; i++)
    if (strlen(variables->names[i]) == piece->name_length &&
        strncmp(variables->names[i], piece->name, piece->name_length) == 0)
      return variables->values[i];
  g_assert_not_reached(); /* script_check_dollars() saw to that */
}

static void
append_piece(GString *out, const Piece *piece, const Variables *variables)
{
  if (piece->dollar) {
    g_string_append_c(out, '$');
  } else if (piece->name == NULL) {
    g_string_append_len(out, piece->from, piece->end - piece->from);
  } else {
    for (const char *value = value_of(piece, variables); *value != 0; value++) {
      if (piece->quoted && (*value == '"' || *value == '\\'))
        g_string_append_c(out, '\\');
      g_string_append_c(out, *value);
    }
  }
}

char *
script_expand(const Statement *statement, const Variables *variables)
{
  if (!statement->dollar)
    return g_strdup(statement->text);
  g_autoptr(GString) out = g_string_new(NULL);
  gboolean in_quotes = FALSE;
  Piece piece;
  const char *p = statement->text;
  /* A long value many times in a long line: what is over the limit is refused, not built. */
  for (; out->len <= COMMAND_TEXT_MAX && next_piece(p, &in_quotes, &piece); p = piece.end)
    append_piece(out, &piece, variables);
  return g_string_free(g_steal_pointer(&out), FALSE);
}

guint
script_source_column(const Statement *statement, const Variables *variables, guint column)
{
  guint source = statement->column, expanded = 1;
  gboolean in_quotes = FALSE;
  Piece piece;
  for (const char *p = statement->text; next_piece(p, &in_quotes, &piece); p = piece.end) {
    g_autoptr(GString) out = g_string_new(NULL);
    append_piece(out, &piece, variables);
    guint after = expanded + words_columns(out->str);
    if (column < after)
      return piece.name != NULL || piece.dollar ? source : source + column - expanded;
    expanded = after;
    source += (guint)g_utf8_strlen(piece.from, piece.end - piece.from);
  }
  return source + column - expanded;
}
