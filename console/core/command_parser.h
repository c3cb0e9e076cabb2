/* Inside command_parse(): a reader over the words of one command, and the takers that move it.
 *
 * A taker takes what it names from where the reader stands, or fails with a message at the column
 * to blame. The first failure is kept; after it the reader is no longer used.
 */
#ifndef PULT_CORE_COMMAND_PARSER_H
#define PULT_CORE_COMMAND_PARSER_H

#include "core/command_words.h"

typedef struct {
  const GArray *words;
  guint at;
  guint end_column; /* behind the last word, where something may be missing */
  guint *error_column;
  GError **error;
} Parser;

typedef gboolean (*ParserTake)(Parser *parser, Command *command);

/* `stagger DUR`, `cold`: a word and what follows it. Options of one group exclude each other. */
typedef struct {
  const char *word;
  int group; /* 0: none */
  ParserTake take;
} ParserOption;

/* Words that begin an option of some command, NULL-terminated: as arguments they are quoted. */
extern const char *const parser_reserved[];

gboolean parser_fail(Parser *parser, guint column, const char *format, ...) G_GNUC_PRINTF(3, 4);
const Word *parser_peek(const Parser *parser); /* NULL at the end */
guint parser_column(const Parser *parser);     /* of the next word, or of the end */
/* TRUE, and passes it, when the next word is the bare TEXT. */
gboolean parser_pass(Parser *parser, const char *text);
/* Fails when words are left. */
gboolean parser_end(Parser *parser);
/* Takes OPTIONS (word NULL ends them) in any order to the end of the command. OTHERWISE, which may
 * be NULL, takes words that no option begins and returns FALSE without failing for none of its. */
gboolean parser_options(Parser *parser, Command *command, const ParserOption *options,
                        ParserTake otherwise);

/* WHAT is for messages: `a label`. *OUT is newly allocated. */
gboolean parser_argument(Parser *parser, const char *what, char **out);
gboolean parser_text(Parser *parser, const char *what, char **out); /* reserved words too */
gboolean parser_set(Parser *parser, char **out);
gboolean parser_label(Parser *parser, char **out);
gboolean parser_path(Parser *parser, char **out);
/* One of WORDS (NULL-terminated), by index. */
gboolean parser_choice(Parser *parser, const char *what, const char *const *words, int *index);
gboolean parser_count(Parser *parser, guint max, gint *value); /* from 1 */
/* One or two words as `NUMBER UNIT` or `NUMBER`; *COLUMN is the first one's. */
gboolean parser_value(Parser *parser, const char *what, char **out, guint *column);
gboolean parser_duration(Parser *parser, gboolean zero_allowed, gint64 *nanoseconds);

/* Verbs of core/command_reserve.c */
gboolean parser_reserve(Parser *parser, Command *command);
gboolean parser_release(Parser *parser, Command *command);
/* of core/command_console.c */
gboolean parser_console(Parser *parser, Command *command);
/* of core/command_keys.c, which prints them too */
gboolean parser_keys(Parser *parser, Command *command);
gboolean parser_type(Parser *parser, Command *command);
gboolean parser_route(Parser *parser, Command *command);
gboolean parser_pxe(Parser *parser, Command *command);
void command_print_keys(GString *out, const Command *command);
/* A blank and TEXT, in quotes also where it would read as an option. */
void command_print_argument(GString *out, const char *text);

#endif
