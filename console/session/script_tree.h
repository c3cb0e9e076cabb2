/* Inside script.h: a script as a tree of statements, its variables and its errors. */
#ifndef PULT_SESSION_SCRIPT_TREE_H
#define PULT_SESSION_SCRIPT_TREE_H

#include "core/command_words.h"
#include "session/script.h"

#define SCRIPT_DEPTH_MAX 16
#define SCRIPT_WORDS_MAX 65536
#define SCRIPT_COMMANDS_MAX 1000000

typedef enum {
  STATEMENT_COMMAND,
  STATEMENT_FOREACH,
  STATEMENT_REPEAT,
  STATEMENT_WITH,
} StatementKind;

typedef struct {
  StatementKind kind;
  guint line, column;
  char *text;      /* the command, or the block's words before "do", as written */
  gboolean dollar; /* TEXT has a $: it is replaced before it is read */
  char *name;      /* foreach: its variable */
  guint number;    /* of a block, from 0 */
  GPtrArray *body; /* of a block: Statement */
  gboolean faulty; /* an error in it was told already */
  gboolean sound;  /* it was read without error, and reads the same each time */
} Statement;

struct Script {
  char *file, *text, *layout;
  GPtrArray *statements;
  guint n_blocks;
};

/* The variables in scope, outermost first; borrowed. */
typedef struct {
  const char *names[SCRIPT_DEPTH_MAX], *values[SCRIPT_DEPTH_MAX];
  guint n;
} Variables;

/* Errors by position. */
typedef struct {
  guint line, column;
  char *message;
} ScriptProblem;

GArray *script_problems_new(void);
void script_problems_add(GArray *problems, guint line, guint column, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
/* Sorts, and writes them all into ERROR. */
void script_problems_report(GArray *problems, const char *file, GError **error);

Statement *script_statement_new(StatementKind kind, guint line, guint column, const char *text,
                                gsize length);
void script_statement_free(gpointer statement);

/* Checks every $ of STATEMENT against NAMES, or without them when NULL; adds problems. FALSE, and
 * it is marked faulty, unless script_expand() may be called. */
gboolean script_check_dollars(Statement *statement, const GPtrArray *names, GArray *problems);
/* TRUE when the value of NAME stands in STATEMENT. */
gboolean script_uses(const Statement *statement, const char *name);
/* STATEMENT's text, variables replaced. All its dollars were checked. */
char *script_expand(const Statement *statement, const Variables *variables);
/* The column in the script of column COLUMN in what script_expand() gives: of a character of a
 * value, that of the $. */
guint script_source_column(const Statement *statement, const Variables *variables, guint column);

/* A block's words, read with its variables replaced. NULL or FALSE with the message alone, its
 * place in *COLUMN of the script. */
typedef enum { ORDER_GIVEN, ORDER_RANDOM, ORDER_INTERLEAVED } ForeachOrder;
GPtrArray *script_read_foreach(const Statement *statement, const Variables *variables,
                               ForeachOrder *order, guint *column, GError **error);
gboolean script_read_repeat(const Statement *statement, const Variables *variables, guint *count,
                            guint *column, GError **error);
Command *script_read_with(const Statement *statement, const Variables *variables, guint *column,
                          GError **error); /* as a `set` */
/* The command of TEXT, which is STATEMENT expanded. */
Command *script_read_command(const Statement *statement, const Variables *variables,
                             const char *text, guint *column, GError **error);

/* The labels commands give and use: NOTE sees every command, CHECK tells of labels nothing has. */
typedef struct ScriptLabels ScriptLabels;
ScriptLabels *script_labels_new(void);
void script_labels_free(ScriptLabels *labels);
void script_labels_note(ScriptLabels *labels, const Statement *statement,
                        const Variables *variables, const char *text, const Command *command);
void script_labels_check(ScriptLabels *labels, GArray *problems);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ScriptLabels, script_labels_free)

/* Reads SCRIPT's text into its tree, as far as it makes sense. */
void script_read_tree(Script *script, GArray *problems);
/* Goes through SCRIPT's tree as a run would. */
void script_check(Script *script, GArray *problems);

#endif
