#include "core/core_private.h"

void
measure_fold(CoreState *state)
{
  for (guint i = 0; i < state->tasks->len; i++) {
    const Task *task = state->tasks->pdata[i];
    if (task->kind != TASK_MEASURE)
      continue;
    for (guint m = 0; m < task->measure.measurements->len; m++)
      measurement_fold(task->measure.measurements->pdata[m], state->meters, state->now);
  }
}

/* FALSE with *RUN 0: nothing of that label. */
static gboolean
is_running(const CoreState *state, const char *label, guint *run)
{
  const LoadRun *load = load_find(state, label, *run);
  const BootRun *boot = boot_find(state, label, *run);
  *run = load ? load->run : boot ? boot->run : 0;
  return load ? load->end_t < 0 : boot && boot->end_t < 0;
}

typedef struct {
  CoreState *state;
  const char *label;
  guint n; /* said */
} Sayer;

static void
say_figure(const char *name, double value, const char *unit, guint n, gpointer data)
{
  Sayer *sayer = data;
  sayer->n++;
  figure_one(sayer->state, sayer->label, name, unit, value, n);
}

gboolean
measure_settled(CoreState *state, Task *task, Verdict *verdict)
{
  const MeasureTask *measure = &task->measure;
  guint run = measure->run;
  if (task->stopped) {
    *verdict = VERDICT_CANCELLED;
    return TRUE;
  }
  if (measure->during ? is_running(state, measure->during, &run) : state->now < task->due)
    return FALSE;
  for (guint i = 0; i < measure->measurements->len; i++) {
    const Measurement *measurement = measure->measurements->pdata[i];
    Sayer sayer = {state, measure->label, 0};
    measurement_figures(measurement, say_figure, &sayer);
    if (sayer.n == 0)
      core_note(state, SEVERITY_WARNING, NODE_NONE, "%s: %s has no meter", measure->label,
                measurement_source(measurement));
  }
  *verdict = VERDICT_OK;
  return TRUE;
}

static char *
refusal(const CoreState *state, const Command *command, guint *run)
{
  if (state->map->server == NODE_NONE)
    return g_strdup("this layout has no server to measure");
  if (!command->target || is_running(state, command->target, run))
    return NULL;
  return *run ? g_strdup_printf("%s is over: nothing is left to measure", command->target)
              : g_strdup_printf("no boot or load is called %s", command->target);
}

static GPtrArray *
measurements_new(const CoreState *state, const Command *command, GError **error)
{
  g_autoptr(GPtrArray) measurements =
      g_ptr_array_new_with_free_func((GDestroyNotify)measurement_free);
  for (guint i = 0; command->sources[i]; i++) {
    Measurement *measurement = measurement_new(state->meters, state->layout, state->map->server,
                                               command->sources[i], command->window, error);
    if (!measurement)
      return NULL;
    g_ptr_array_add(measurements, measurement);
  }
  return g_steal_pointer(&measurements);
}

void
measure_start(CoreState *state, const CommandEvent *event, const Command *command)
{
  g_autoptr(GError) error = NULL;
  guint run = 0;
  g_autofree char *why = refusal(state, command, &run);
  GPtrArray *measurements = why ? NULL : measurements_new(state, command, &error);
  if (!measurements) {
    core_note(state, SEVERITY_ERROR, NODE_NONE, "%s", why ? why : error->message);
    core_done(state, event->cmd, event->text, VERDICT_FAILED);
    return;
  }
  Task *task = task_add(state, event->cmd, TASK_MEASURE, event->text);
  task->measure.measurements = measurements;
  task->measure.label = g_strdup(command->label);
  task->measure.during = g_strdup(command->target);
  task->measure.run = run;
  if (!command->target)
    task_due(state, task, state->now + command->duration);
}
