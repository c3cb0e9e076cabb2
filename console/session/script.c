#include "session/script.h"

#include <string.h>

#include "session/script_tree.h"

#define FILE_MAX (4 * 1024 * 1024)
#define PROBLEMS_MAX 100

static void
problem_clear(gpointer problem)
{
  g_free(((ScriptProblem *)problem)->message);
}

GArray *
script_problems_new(void)
{
  GArray *problems = g_array_new(FALSE, FALSE, sizeof(ScriptProblem));
  g_array_set_clear_func(problems, problem_clear);
  return problems;
}

void
script_problems_add(GArray *problems, guint line, guint column, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  ScriptProblem problem = {line, column, g_strdup_vprintf(format, arguments)};
  va_end(arguments);
  g_array_append_val(problems, problem);
}

static int
compare_problems(gconstpointer a, gconstpointer b)
{
  const ScriptProblem *x = a, *y = b;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  return x->column < y->column ? -1 : x->column > y->column;
}

void
script_problems_report(GArray *problems, const char *file, GError **error)
{
  g_array_sort(problems, compare_problems);
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < problems->len && i < PROBLEMS_MAX; i++) {
    const ScriptProblem *problem = &g_array_index(problems, ScriptProblem, i);
    g_string_append_printf(text, "%s%s:%u:%u: %s", i == 0 ? "" : "\n", file, problem->line,
                           problem->column, problem->message);
  }
  if (problems->len > PROBLEMS_MAX)
    g_string_append_printf(text, "\n%s: %u more errors", file, problems->len - PROBLEMS_MAX);
  g_set_error_literal(error, SCRIPT_ERROR, 0, text->str);
}

Statement *
script_statement_new(StatementKind kind, guint line, guint column, const char *text, gsize length)
{
  Statement *statement = g_new0(Statement, 1);
  statement->kind = kind;
  statement->line = line;
  statement->column = column;
  statement->text = g_strndup(text, length);
  statement->dollar = strchr(statement->text, '$') != NULL;
  if (kind != STATEMENT_COMMAND)
    statement->body = g_ptr_array_new_with_free_func(script_statement_free);
  return statement;
}

void
script_statement_free(gpointer data)
{
  Statement *statement = data;
  g_free(statement->text);
  g_free(statement->name);
  g_clear_pointer(&statement->body, g_ptr_array_unref);
  g_free(statement);
}

/* What no line of it can say. */
static gboolean
check_file(const char *text, gsize length, GArray *problems)
{
  if (length > FILE_MAX) {
    script_problems_add(problems, 1, 1, "longer than 4 MiB");
    return FALSE;
  }
  const char *zero = memchr(text, 0, length);
  if (zero == NULL)
    return TRUE;
  guint line = 1, column = 1;
  for (const char *p = text; p < zero; p++) {
    line += *p == '\n' ? 1 : 0;
    if (*p == '\n')
      column = 1;
    else if ((*p & 0xc0) != 0x80) /* no byte within a character */
      column++;
  }
  script_problems_add(problems, line, column, "a NUL byte: this is no text");
  return FALSE;
}

Script *
script_parse(const char *file_name, const char *text, gsize length, GError **error)
{
  g_autoptr(Script) script = g_new0(Script, 1);
  g_autoptr(GArray) problems = script_problems_new();
  script->file = g_strdup(file_name);
  script->statements = g_ptr_array_new_with_free_func(script_statement_free);
  if (check_file(text, length, problems)) {
    script->text = g_strndup(text, length);
    script_read_tree(script, problems);
    script_check(script, problems);
  }
  if (problems->len == 0)
    return g_steal_pointer(&script);
  script_problems_report(problems, file_name, error);
  return NULL;
}

void
script_free(Script *script)
{
  if (script == NULL)
    return;
  g_free(script->file);
  g_free(script->text);
  g_free(script->layout);
  g_ptr_array_unref(script->statements);
  g_free(script);
}

const char *
script_layout(const Script *script)
{
  return script->layout;
}

const char *
script_text(const Script *script)
{
  return script->text;
}
