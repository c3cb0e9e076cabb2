#include <string.h>

#include "session/script_tree.h"

/* A label mistyped in the last line of a script is found before its first boot. */
struct ScriptLabels {
  GHashTable *begun;   /* label → itself */
  GPtrArray *names;    /* the same, in the order begun */
  GHashTable *missing; /* labels looked up in vain so far: each is told once */
  GArray *uses;        /* Use */
  gboolean unnamed;    /* a load has a label of core's making */
};

typedef struct {
  guint line, column;
  char *label;
} Use;

static void
use_clear(gpointer use)
{
  g_free(((Use *)use)->label);
}

ScriptLabels *
script_labels_new(void)
{
  ScriptLabels *labels = g_new0(ScriptLabels, 1);
  labels->names = g_ptr_array_new_with_free_func(g_free);
  labels->begun = g_hash_table_new(g_str_hash, g_str_equal);
  labels->missing = g_hash_table_new(g_str_hash, g_str_equal);
  labels->uses = g_array_new(FALSE, FALSE, sizeof(Use));
  g_array_set_clear_func(labels->uses, use_clear);
  return labels;
}

void
script_labels_free(ScriptLabels *labels)
{
  g_hash_table_unref(labels->begun);
  g_hash_table_unref(labels->missing);
  g_ptr_array_unref(labels->names);
  g_array_unref(labels->uses);
  g_free(labels);
}

/* The word of TEXT that COMMAND names a label with, and the label; FALSE when it names none. What
 * stands behind `wait boot` may be a node. */
static gboolean
find_use(const Command *command, const char **word, char **label)
{
  *word = NULL;
  if (command->verb == VERB_EXPECT)
    *word = command->figure;
  else if (command->verb == VERB_LOAD && command->load_stop)
    *word = command->label;
  else if (command->verb == VERB_MEASURE ||
           (command->verb == VERB_WAIT && command->wait == WAIT_LOAD))
    *word = command->target;
  if (*word == NULL)
    return FALSE;
  *label = g_strndup(*word, strcspn(*word, "."));
  return TRUE;
}

static void
add_use(ScriptLabels *labels, const Statement *statement, const Variables *variables,
        const char *text, const char *word, char *label)
{
  if (g_hash_table_contains(labels->begun, label) ||
      g_hash_table_contains(labels->missing, label)) {
    g_free(label);
    return;
  }
  g_hash_table_add(labels->missing, label);
  guint column;
  g_autoptr(GArray) words = words_read(text, COMMAND_TEXT_MAX, &column, NULL);
  guint i = 0;
  while (i + 1 < words->len && !g_str_equal(words_at(words, i)->text, word))
    i++;
  column = script_source_column(statement, variables, words_at(words, i)->column);
  Use use = {statement->line, column, label};
  g_array_append_val(labels->uses, use);
}

void
script_labels_note(ScriptLabels *labels, const Statement *statement, const Variables *variables,
                   const char *text, const Command *command)
{
  const char *word;
  char *used;
  if (find_use(command, &word, &used))
    add_use(labels, statement, variables, text, word, used);
  if (command->verb == VERB_LOAD && command->load_stop)
    return;
  labels->unnamed |= command->verb == VERB_LOAD && command->label == NULL;
  if (command->label == NULL || g_hash_table_contains(labels->begun, command->label))
    return;
  char *begun = g_strdup(command->label);
  g_hash_table_add(labels->begun, begun);
  g_ptr_array_add(labels->names, begun);
}

void
script_labels_check(ScriptLabels *labels, GArray *problems)
{
  if (labels->unnamed)
    return;
  g_ptr_array_add(labels->names, NULL);
  for (guint i = 0; i < labels->uses->len; i++) {
    const Use *use = &g_array_index(labels->uses, Use, i);
    if (g_hash_table_contains(labels->begun, use->label))
      continue;
    const char *nearest = units_nearest_word(use->label, (const char *const *)labels->names->pdata);
    if (nearest != NULL)
      script_problems_add(problems, use->line, use->column,
                          "nothing has the label \"%s\"; did you mean \"%s\"?", use->label,
                          nearest);
    else
      script_problems_add(problems, use->line, use->column, "nothing has the label \"%s\"",
                          use->label);
  }
}
