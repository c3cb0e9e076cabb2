#include <math.h>
#include <string.h>

#include "model/draw.h"
#include "session/script_tree.h"

typedef enum {
  WITH_NEW,
  WITH_GOT,     /* `get` was given */
  WITH_CHANGED, /* `set` was given, and is to be undone */
  WITH_DONE,
} WithState;

/* A place in the script: the script itself at the bottom, above it the blocks around. */
typedef struct {
  const Statement *block; /* NULL: the script */
  const GPtrArray *body;
  guint next;        /* statement of the body */
  guint round, n;    /* of foreach and repeat */
  GPtrArray *values; /* foreach, in the order of this pass */
  WithState with;
  Command *set; /* with: what is put back stands in its text from WITH_CHANGED on */
  char *value;  /* with: until then the value to set */
} Frame;

typedef enum { GIVEN_NOTHING, GIVEN_COMMAND, GIVEN_GET, GIVEN_SET, GIVEN_BACK } Given;

struct ScriptRun {
  const Script *script;
  guint64 seed;
  GArray *frames;
  guint *passes; /* by block number: how often a foreach was entered */
  guint commands;
  char *command, *where;
  Given given;
  gboolean tried;  /* the command given began with `try` */
  gboolean ending; /* nothing more but what is put back, then QUIT and ERROR */
  gboolean interrupted, failed;
  const Statement *quit; /* `quit` to give at the end; its text */
  char *quit_text;
  GError *error;
};

static void
frame_clear(gpointer data)
{
  Frame *frame = data;
  g_clear_pointer(&frame->values, g_ptr_array_unref);
  g_clear_pointer(&frame->set, command_free);
  g_free(frame->value);
}

static Frame *
top(const ScriptRun *run)
{
  return run->frames->len > 0 ? &g_array_index(run->frames, Frame, run->frames->len - 1) : NULL;
}

static void
push(ScriptRun *run, const Statement *block, const GPtrArray *body)
{
  Frame frame = {.block = block, .body = body};
  g_array_append_val(run->frames, frame);
}

ScriptRun *
script_run_new(const Script *script, guint64 seed)
{
  ScriptRun *run = g_new0(ScriptRun, 1);
  run->script = script;
  run->seed = seed;
  run->frames = g_array_new(FALSE, FALSE, sizeof(Frame));
  g_array_set_clear_func(run->frames, frame_clear);
  run->passes = g_new0(guint, MAX(script->n_blocks, 1));
  run->where = g_strdup(script->file);
  push(run, NULL, script->statements);
  return run;
}

void
script_run_free(ScriptRun *run)
{
  if (run == NULL)
    return;
  g_array_unref(run->frames);
  g_free(run->passes);
  g_free(run->command);
  g_free(run->where);
  g_free(run->quit_text);
  g_clear_error(&run->error);
  g_free(run);
}

static Variables
variables_of(const ScriptRun *run)
{
  Variables variables = {.n = 0};
  for (guint i = 0; i < run->frames->len; i++) {
    const Frame *frame = &g_array_index(run->frames, Frame, i);
    if (frame->values == NULL)
      continue;
    variables.names[variables.n] = frame->block->name;
    variables.values[variables.n++] = g_ptr_array_index(frame->values, frame->round);
  }
  return variables;
}

static void
end_with_error(ScriptRun *run, const Statement *statement, guint column, const char *message)
{
  g_clear_error(&run->error);
  g_set_error(&run->error, SCRIPT_ERROR, 0, "%s:%u:%u: %s", run->script->file, statement->line,
              column, message);
  run->ending = TRUE;
  run->failed = TRUE;
}

/* Hands TEXT out as the next command. */
static const char *
give(ScriptRun *run, const Statement *statement, Given given, char *text)
{
  g_free(run->command);
  run->command = text;
  g_free(run->where);
  run->where = g_strdup_printf("%s:%u", run->script->file, statement->line);
  run->given = given;
  run->tried = FALSE;
  run->commands++;
  return run->command;
}

static void
reverse(GPtrArray *values)
{
  for (guint i = 0, j = values->len - 1; i < j; i++, j--) {
    gpointer value = values->pdata[i];
    values->pdata[i] = values->pdata[j];
    values->pdata[j] = value;
  }
}

static void
shuffle(const ScriptRun *run, const Statement *block, guint pass, GPtrArray *values)
{
  g_autofree char *key = g_strdup_printf("%s/%u", block->name, block->number);
  for (guint i = 0; i + 1 < values->len; i++) {
    guint left = values->len - i;
    double u = draw_uniform(run->seed, "foreach", key, (guint64)pass * SCRIPT_WORDS_MAX + i);
    guint j = i + (guint)floor(u * left);
    gpointer value = values->pdata[i];
    values->pdata[i] = values->pdata[j];
    values->pdata[j] = value;
  }
}

static gboolean
enter_foreach(ScriptRun *run, Frame *frame, const Variables *variables, guint *column,
              GError **error)
{
  ForeachOrder order;
  GPtrArray *values = script_read_foreach(frame->block, variables, &order, column, error);
  if (values == NULL)
    return FALSE;
  guint pass = run->passes[frame->block->number]++;
  if (order == ORDER_RANDOM)
    shuffle(run, frame->block, pass, values);
  else if (order == ORDER_INTERLEAVED && pass % 2 == 1)
    reverse(values);
  frame->values = values;
  frame->n = values->len;
  return TRUE;
}

static gboolean
enter_with(Frame *frame, const Variables *variables, guint *column, GError **error)
{
  frame->set = script_read_with(frame->block, variables, column, error);
  if (frame->set == NULL)
    return FALSE;
  frame->n = 1;
  return TRUE;
}

static void
enter(ScriptRun *run, const Statement *block)
{
  Variables variables = variables_of(run);
  push(run, block, block->body);
  Frame *frame = top(run);
  guint column;
  g_autoptr(GError) error = NULL;
  gboolean entered = FALSE;
  if (block->kind == STATEMENT_FOREACH)
    entered = enter_foreach(run, frame, &variables, &column, &error);
  else if (block->kind == STATEMENT_REPEAT)
    entered = script_read_repeat(block, &variables, &frame->n, &column, &error);
  else
    entered = enter_with(frame, &variables, &column, &error);
  if (!entered)
    end_with_error(run, block, column, error->message);
}

/* NULL when there is nothing to give: it is not a command, or one that ends the script. */
static const char *
give_statement(ScriptRun *run, const Statement *statement)
{
  if (run->commands >= SCRIPT_COMMANDS_MAX) {
    end_with_error(run, statement, statement->column, "more commands than a script may run");
    return NULL;
  }
  if (statement->kind != STATEMENT_COMMAND) {
    enter(run, statement);
    return NULL;
  }
  guint column;
  g_autoptr(GError) error = NULL;
  Variables variables = variables_of(run);
  g_autofree char *text = script_expand(statement, &variables);
  g_autoptr(Command) command = script_read_command(statement, &variables, text, &column, &error);
  if (command == NULL) {
    end_with_error(run, statement, column, error->message);
    return NULL;
  }
  if (command->verb == VERB_QUIT && !run->ending) {
    run->quit = statement;
    run->quit_text = g_steal_pointer(&text);
    run->ending = TRUE;
    return NULL;
  }
  give(run, statement, GIVEN_COMMAND, g_steal_pointer(&text));
  run->tried = command->try_only;
  return run->command;
}

static const char *
give_back(ScriptRun *run, Frame *frame)
{
  frame->with = WITH_DONE;
  return give(run, frame->block, GIVEN_BACK, command_print(frame->set));
}

/* The two commands before a with's body; NULL behind them, and in other blocks. */
static const char *
begin_with(ScriptRun *run, Frame *frame, ScriptProperty property, gpointer data)
{
  if (frame->set == NULL)
    return NULL;
  if (frame->with == WITH_NEW) {
    frame->with = WITH_GOT;
    return give(run, frame->block, GIVEN_GET, g_strconcat("get ", frame->set->path, NULL));
  }
  if (frame->with != WITH_GOT)
    return NULL;
  const char *old = property(frame->set->path, data);
  if (old == NULL || *old == 0) {
    g_autofree char *message =
        g_strdup_printf("%s has no value that could be put back", frame->set->path);
    end_with_error(run, frame->block, frame->block->column, message);
    return NULL;
  }
  char *set = command_print(frame->set);
  g_free(frame->set->text);
  frame->set->text = g_strdup(old);
  frame->with = WITH_CHANGED;
  return give(run, frame->block, GIVEN_SET, set);
}

/* At the end of a body: the next round, or what the block leaves to do, or out of it. */
static const char *
end_round(ScriptRun *run, Frame *frame)
{
  if (frame->round + 1 < frame->n) {
    frame->round++;
    frame->next = 0;
    return NULL;
  }
  if (frame->with == WITH_CHANGED)
    return give_back(run, frame);
  g_array_set_size(run->frames, run->frames->len - 1);
  return NULL;
}

static const char *
wind_down(ScriptRun *run)
{
  while (run->frames->len > 0) {
    Frame *frame = top(run);
    if (frame->with == WITH_CHANGED)
      return give_back(run, frame);
    g_array_set_size(run->frames, run->frames->len - 1);
  }
  const Statement *quit = g_steal_pointer(&run->quit);
  return quit != NULL ? give(run, quit, GIVEN_COMMAND, g_steal_pointer(&run->quit_text)) : NULL;
}

const char *
script_run_next(ScriptRun *run, ScriptProperty property, gpointer data, GError **error)
{
  const char *command = NULL;
  while (command == NULL && run->frames->len > 0 && !run->ending) {
    Frame *frame = top(run);
    command = begin_with(run, frame, property, data);
    if (command != NULL || run->ending)
      continue;
    if (frame->next < frame->body->len)
      command = give_statement(run, g_ptr_array_index(frame->body, frame->next++));
    else
      command = end_round(run, frame);
  }
  if (command == NULL)
    command = wind_down(run);
  if (command == NULL && run->error != NULL)
    g_propagate_error(error, g_steal_pointer(&run->error));
  return command;
}

/* What leaves no doubt that nothing was changed. */
static gboolean
changed_nothing(Verdict verdict)
{
  return verdict == VERDICT_REFUSED || verdict == VERDICT_UNCONFIRMED ||
         verdict == VERDICT_UNSUPPORTED;
}

void
script_run_told(ScriptRun *run, Verdict verdict)
{
  Given given = run->given;
  run->given = GIVEN_NOTHING;
  if (given == GIVEN_SET && changed_nothing(verdict) && top(run)->with == WITH_CHANGED)
    top(run)->with = WITH_DONE;
  if (verdict == VERDICT_OK || verdict == VERDICT_UNCONFIRMED || run->tried)
    return;
  if (verdict == VERDICT_CANCELLED && run->interrupted)
    return;
  run->failed = TRUE;
  run->ending = TRUE;
}

void
script_run_interrupt(ScriptRun *run)
{
  run->interrupted = TRUE;
  run->ending = TRUE;
  run->quit = NULL;
  g_clear_pointer(&run->quit_text, g_free);
}

const char *
script_run_where(const ScriptRun *run)
{
  return run->where;
}

gboolean
script_run_failed(const ScriptRun *run)
{
  return run->failed;
}
