/* How a line falls into words: blanks, quotes, `;` and comments, with the column of each word.
 *
 * A word is a run of characters without blanks; any part of it may stand in "quotes", where blanks,
 * `;` and `#` are plain characters. A backslash before `"`, `\` or `$` stands for that character,
 * before anything else for itself. `#` at a word's start begins a comment. Text must be UTF-8
 * without control characters (a tab is a blank).
 *
 * Columns count characters from 1. Errors here say what is wrong without saying where: *COLUMN has
 * that, and whoever knows the line and the file puts it in front.
 */
#ifndef PULT_CORE_COMMAND_WORDS_H
#define PULT_CORE_COMMAND_WORDS_H

#include "core/command.h"

#define WORDS_LABEL_MAX 64

typedef struct {
  char *text;               /* quotes and backslashes undone; ";" of a separator */
  gboolean separator;       /* `;` */
  gboolean quoted;          /* some of it stood in quotes: then it is no keyword */
  gsize start, end;         /* bytes of the line */
  guint column, end_column; /* of its first character, and of the one behind its last */
} Word;

/* The words of LINE in order, as a GArray of Word that frees them. NULL with error: an open quote,
 * more than MAX bytes, no UTF-8, a control character, or a no-break space outside quotes. */
GArray *words_read(const char *line, gsize max, guint *column, GError **error);
static inline const Word *
words_at(const GArray *words, guint i)
{
  return &g_array_index(words, Word, i);
}
/* TRUE when WORD stands without quotes and reads TEXT. */
gboolean word_is(const Word *word, const char *text);
/* Appends TEXT so that words_read() gives it back as one word: bare where it can, else in quotes.
 */
void words_print(GString *out, const char *text);
/* TEXT in quotes for a message: what a terminal would obey is escaped, 40 characters at most. */
char *words_shown(const char *text);
/* Characters of TEXT, which is UTF-8. */
guint words_columns(const char *text);

/* [A-Za-z][A-Za-z0-9_]* of at most WORDS_LABEL_MAX, then the text's end or END. */
gboolean words_is_label(const char *text, char end);

/* command_parse(), but the error lacks its `column N: `, which *COLUMN has. */
Command *command_parse_at(const char *text, guint *column, GError **error);

#endif
