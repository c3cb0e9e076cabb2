#include <string.h>

#include "session/script_tree.h"

/* Statements are appended to the innermost open block, or to the script. */
typedef struct {
  Script *script;
  GArray *problems;
  GPtrArray *open;     /* Statement, outermost first */
  guint too_deep;      /* blocks opened beyond SCRIPT_DEPTH_MAX, and not kept */
  gboolean unreadable; /* a line fell out: it may have opened a block, and named a variable */
  gboolean begun;      /* a statement was seen: too late for layout */

  guint line;
  const char *text; /* of the line */
  GArray *words;
  guint at;
} Tree;

static const Word *
peek(const Tree *tree)
{
  return tree->at < tree->words->len ? words_at(tree->words, tree->at) : NULL;
}

static void G_GNUC_PRINTF(3, 4) complain(Tree *tree, guint column, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *message = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  script_problems_add(tree->problems, tree->line, column, "%s", message);
}

/* To the next `;` or the line's end. */
static void
skip_statement(Tree *tree)
{
  while (peek(tree) != NULL && !peek(tree)->separator)
    tree->at++;
}

/* Names of the variables in scope; NULL when they cannot be known. */
static GPtrArray *
scope(const Tree *tree)
{
  if (tree->unreadable)
    return NULL;
  GPtrArray *names = g_ptr_array_new();
  for (guint i = 0; i < tree->open->len; i++) {
    const Statement *block = g_ptr_array_index(tree->open, i);
    if (block->name != NULL)
      g_ptr_array_add(names, block->name);
  }
  return names;
}

static void
append(Tree *tree, Statement *statement)
{
  Statement *block =
      tree->open->len > 0 ? g_ptr_array_index(tree->open, tree->open->len - 1) : NULL;
  g_ptr_array_add(block != NULL ? block->body : tree->script->statements, statement);
  tree->begun = TRUE;
}

static Statement *
statement_of(Tree *tree, StatementKind kind, guint first, guint end)
{
  const Word *word = words_at(tree->words, first);
  return script_statement_new(kind, tree->line, word->column, tree->text + word->start,
                              words_at(tree->words, end - 1)->end - word->start);
}

static void
read_command(Tree *tree)
{
  guint first = tree->at;
  skip_statement(tree);
  Statement *statement = statement_of(tree, STATEMENT_COMMAND, first, tree->at);
  append(tree, statement);
  g_autoptr(GPtrArray) names = scope(tree);
  script_check_dollars(statement, names, tree->problems);
}

/* Takes `foreach NAME in`; the words themselves are read when their values are known. */
static void
read_name(Tree *tree, Statement *block, guint first, guint end)
{
  guint here = words_at(tree->words, end - 1)->end_column;
  const Word *name = first + 1 < end ? words_at(tree->words, first + 1) : NULL;
  const Word *in = first + 2 < end ? words_at(tree->words, first + 2) : NULL;
  gboolean named = name != NULL && !name->quoted && words_is_label(name->text, 0);
  gboolean opened = in != NULL && word_is(in, "in");
  block->faulty = !named || !opened;
  block->name = named ? g_strdup(name->text) : NULL;
  if (name == NULL) {
    complain(tree, here, "a variable's name is missing");
  } else if (!named) {
    g_autofree char *shown = words_shown(name->text);
    complain(tree, name->column,
             "%s is no variable's name: a letter, then letters, digits and _, at most %d", shown,
             WORDS_LABEL_MAX);
  } else if (!opened) {
    complain(tree, in != NULL ? in->column : here, "\"in\" is due behind the variable's name");
  }
  g_autoptr(GPtrArray) names = scope(tree);
  for (guint i = 0; named && names != NULL && i < names->len; i++)
    if (g_str_equal(name->text, g_ptr_array_index(names, i)))
      complain(tree, name->column, "\"%s\" is the variable of a block around this one", name->text);
}

static void
open_block(Tree *tree, Statement *block)
{
  if (tree->open->len == SCRIPT_DEPTH_MAX) {
    if (tree->too_deep++ == 0)
      complain(tree, block->column, "blocks nest more than %d deep", SCRIPT_DEPTH_MAX);
    script_statement_free(block);
    return;
  }
  append(tree, block);
  g_ptr_array_add(tree->open, block);
}

static void
read_block(Tree *tree, StatementKind kind)
{
  guint first = tree->at, end = first;
  while (end < tree->words->len && !words_at(tree->words, end)->separator &&
         !word_is(words_at(tree->words, end), "do"))
    end++;
  gboolean has_do = end < tree->words->len && !words_at(tree->words, end)->separator;
  Statement *block = statement_of(tree, kind, first, end);
  if (!has_do)
    complain(tree, words_at(tree->words, end - 1)->end_column,
             "\"do\" is missing at the end of the block's words");
  block->number = tree->script->n_blocks++;
  tree->at = has_do ? end + 1 : end;
  g_autoptr(GPtrArray) names = scope(tree);
  gboolean sound = script_check_dollars(block, names, tree->problems);
  if (kind == STATEMENT_FOREACH)
    read_name(tree, block, first, end);
  block->faulty |= !sound || !has_do;
  open_block(tree, block);
}

static void
read_end(Tree *tree)
{
  guint column = peek(tree)->column;
  tree->at++;
  const Word *more = peek(tree);
  if (more != NULL && !more->separator) {
    g_autofree char *shown = words_shown(more->text);
    complain(tree, more->column, "unexpected %s behind \"end\"", shown);
    skip_statement(tree);
  }
  if (tree->too_deep > 0) {
    tree->too_deep--;
  } else if (tree->open->len == 0 && tree->unreadable) {
    return;
  } else if (tree->open->len == 0) {
    complain(tree, column, "\"end\" ends no block");
  } else {
    Statement *block = g_ptr_array_index(tree->open, tree->open->len - 1);
    if (block->body->len == 0)
      script_problems_add(tree->problems, block->line, block->column,
                          "nothing stands between \"do\" and \"end\"");
    g_ptr_array_set_size(tree->open, (gint)tree->open->len - 1);
  }
}

static void
read_layout(Tree *tree)
{
  const Word *word = peek(tree);
  if (tree->script->layout != NULL)
    complain(tree, word->column, "a script has one layout");
  else if (tree->begun)
    complain(tree, word->column, "\"layout\" stands first in a script");
  tree->at++;
  const Word *name = peek(tree);
  if (name == NULL || name->separator) {
    complain(tree, word->end_column, "a layout is missing: its name or file");
    return;
  }
  if (*name->text == 0)
    complain(tree, name->column, "a layout's name is empty");
  if (tree->script->layout == NULL)
    tree->script->layout = g_strdup(name->text);
  tree->at++;
  if (peek(tree) != NULL && !peek(tree)->separator) {
    g_autofree char *shown = words_shown(peek(tree)->text);
    complain(tree, peek(tree)->column, "unexpected %s", shown);
  }
  skip_statement(tree);
}

static gboolean
block_kind(const Word *word, StatementKind *kind)
{
  static const char *const names[] = {
      [STATEMENT_FOREACH] = "foreach", [STATEMENT_REPEAT] = "repeat", [STATEMENT_WITH] = "with"};
  for (int k = STATEMENT_FOREACH; k <= STATEMENT_WITH; k++)
    if (word_is(word, names[k])) {
      *kind = (StatementKind)k;
      return TRUE;
    }
  return FALSE;
}

static void
read_statement(Tree *tree)
{
  StatementKind kind;
  const Word *word = peek(tree);
  const Word *next = tree->at + 1 < tree->words->len ? words_at(tree->words, tree->at + 1) : NULL;
  if (next != NULL && (word_is(word, "try") || word_is(word, "plan")) && block_kind(next, &kind)) {
    complain(tree, word->column, "\"%s\" goes before a command, not before a block", word->text);
    tree->at++;
    read_block(tree, kind);
  } else if (block_kind(word, &kind)) {
    read_block(tree, kind);
  } else if (word_is(word, "end")) {
    read_end(tree);
  } else if (word_is(word, "layout")) {
    read_layout(tree);
  } else if (word_is(word, "do")) {
    complain(tree, word->column, "\"do\" stands in the line of its foreach, repeat or with");
    tree->at++;
  } else {
    read_command(tree);
  }
}

static void
read_line(Tree *tree, const char *text)
{
  guint column;
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) words = words_read(text, COMMAND_LINE_MAX, &column, &error);
  if (words == NULL) {
    complain(tree, column, "%s", error->message);
    tree->unreadable = TRUE;
    Statement *lost = script_statement_new(STATEMENT_COMMAND, tree->line, column, "", 0);
    lost->faulty = TRUE;
    append(tree, lost);
    return;
  }
  tree->text = text;
  tree->words = words;
  tree->at = 0;
  while (peek(tree) != NULL) {
    if (peek(tree)->separator)
      tree->at++;
    else
      read_statement(tree);
  }
}

void
script_read_tree(Script *script, GArray *problems)
{
  g_autoptr(GPtrArray) open = g_ptr_array_new();
  Tree tree = {.script = script, .problems = problems, .open = open};
  const char *p = script->text, *text_end = p + strlen(p);
  if (g_str_has_prefix(p, "\xef\xbb\xbf")) /* some editors begin UTF-8 so */
    p += 3;
  while (p < text_end) {
    tree.line++;
    /* Not strcspn(): strict string checks of AddressSanitizer read all the rest for each line. */
    const char *newline = memchr(p, '\n', (gsize)(text_end - p));
    const char *end = newline != NULL ? newline : text_end;
    gboolean crlf = end > p && end[-1] == '\r';
    g_autofree char *line = g_strndup(p, (gsize)(end - p) - (crlf ? 1 : 0));
    read_line(&tree, line);
    p = newline != NULL ? newline + 1 : text_end;
  }
  for (guint i = 0; i < open->len; i++) {
    const Statement *block = g_ptr_array_index(open, i);
    script_problems_add(problems, block->line, block->column, "this block has no \"end\"");
  }
}
