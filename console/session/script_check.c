#include <string.h>

#include "session/script_tree.h"

#define CHECKED_MAX (64 * 1024 * 1024) /* bytes of text: some seconds */

/* A run without effects: every command with every value it will have. What runs several times the
 * same is checked once, but counted. */
typedef struct {
  GArray *problems;
  ScriptLabels *labels;
  Variables variables;
  guint blind;      /* foreach around that could not be read */
  guint loops;      /* foreach and repeat around where it is */
  gsize checked;    /* bytes read so far */
  gboolean stopped; /* too many commands, or too much text */
} Check;

static guint64 check_body(Check *check, const GPtrArray *body);

static gboolean
spend(Check *check, const char *text)
{
  check->checked += strlen(text);
  check->stopped |= check->checked > CHECKED_MAX;
  return check->stopped;
}

/* `message (with x "a01")`: one error a statement, with the first values that show it. */
static void
add_problem(Check *check, Statement *statement, guint column, const char *message)
{
  g_autoptr(GString) text = g_string_new(message);
  for (guint i = 0; statement->dollar && i < check->variables.n; i++) {
    if (!script_uses(statement, check->variables.names[i]))
      continue;
    g_autofree char *shown = words_shown(check->variables.values[i]);
    g_string_append_printf(text, " (with $%s %s)", check->variables.names[i], shown);
  }
  script_problems_add(check->problems, statement->line, column, "%s", text->str);
  statement->faulty = TRUE;
}

static guint64
check_command(Check *check, Statement *statement)
{
  if (statement->faulty || statement->sound)
    return 1;
  guint column;
  g_autoptr(GError) error = NULL;
  g_autofree char *text = script_expand(statement, &check->variables);
  if (spend(check, text))
    return 1;
  g_autoptr(Command) command =
      script_read_command(statement, &check->variables, text, &column, &error);
  if (command == NULL)
    add_problem(check, statement, column, error->message);
  else
    script_labels_note(check->labels, statement, &check->variables, text, command);
  statement->sound = command != NULL && !statement->dollar;
  return 1;
}

/* The body of a block that could not be read; below a foreach a value is missing then. */
static guint64
check_unread(Check *check, Statement *block)
{
  guint missing = block->kind == STATEMENT_FOREACH ? 1 : 0;
  check->blind += missing;
  guint64 n = check_body(check, block->body);
  check->blind -= missing;
  return n;
}

static guint64
check_foreach(Check *check, Statement *block)
{
  ForeachOrder order;
  guint column;
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) values =
      script_read_foreach(block, &check->variables, &order, &column, &error);
  if (values == NULL) {
    add_problem(check, block, column, error->message);
    return check_unread(check, block);
  }
  if (order == ORDER_INTERLEAVED && check->loops == 0) {
    add_problem(check, block, block->column,
                "\"interleaved\" turns from pass to pass: put a repeat around this block");
    return check_unread(check, block);
  }
  guint64 n = 0;
  guint mine = check->variables.n++;
  check->loops++;
  check->variables.names[mine] = block->name;
  for (guint i = 0; i < values->len && n <= SCRIPT_COMMANDS_MAX && !check->stopped; i++) {
    check->variables.values[mine] = g_ptr_array_index(values, i);
    n += check_body(check, block->body);
  }
  check->loops--;
  check->variables.n--;
  return n;
}

static guint64
check_repeat(Check *check, Statement *block)
{
  guint count, column;
  g_autoptr(GError) error = NULL;
  if (!script_read_repeat(block, &check->variables, &count, &column, &error)) {
    add_problem(check, block, column, error->message);
    return check_unread(check, block);
  }
  check->loops++;
  guint64 n = check_body(check, block->body);
  check->loops--;
  return n * count;
}

static guint64
check_with(Check *check, Statement *block)
{
  guint column;
  g_autoptr(GError) error = NULL;
  g_autoptr(Command) set = script_read_with(block, &check->variables, &column, &error);
  if (set == NULL)
    add_problem(check, block, column, error->message);
  return 3 + check_body(check, block->body); /* get, set, and set again */
}

/* How many commands STATEMENT gives. */
static guint64
check_statement(Check *check, Statement *statement)
{
  gboolean known = check->blind == 0 || !statement->dollar;
  if (statement->kind == STATEMENT_COMMAND)
    return known ? check_command(check, statement) : 1;
  if (statement->faulty || !known)
    return check_unread(check, statement);
  g_autofree char *text = script_expand(statement, &check->variables);
  if (spend(check, text))
    return 0;
  guint64 n = 0;
  if (statement->kind == STATEMENT_FOREACH)
    n = check_foreach(check, statement);
  else if (statement->kind == STATEMENT_REPEAT)
    n = check_repeat(check, statement);
  else
    n = check_with(check, statement);
  if (n > SCRIPT_COMMANDS_MAX && !check->stopped) {
    script_problems_add(check->problems, statement->line, statement->column,
                        "more than %d commands would run", SCRIPT_COMMANDS_MAX);
    check->stopped = TRUE;
  }
  return n;
}

static guint64
check_body(Check *check, const GPtrArray *body)
{
  guint64 n = 0;
  for (guint i = 0; i < body->len && !check->stopped; i++)
    n += check_statement(check, g_ptr_array_index(body, i));
  return n;
}

void
script_check(Script *script, GArray *problems)
{
  g_autoptr(ScriptLabels) labels = script_labels_new();
  Check check = {.problems = problems, .labels = labels};
  guint64 n = check_body(&check, script->statements);
  if (n > SCRIPT_COMMANDS_MAX && !check.stopped)
    script_problems_add(problems, 1, 1, "more than %d commands would run", SCRIPT_COMMANDS_MAX);
  /* A command that could not be read may have given the label. */
  if (problems->len == 0 && !check.stopped)
    script_labels_check(labels, problems);
}
