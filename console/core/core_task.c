#include "core/core_private.h"

void
tally_add(Tally *tally, Verdict verdict)
{
  tally->n++;
  if (verdict == VERDICT_OK) {
    tally->n_ok++;
    return;
  }
  if (tally->n - tally->n_ok == 1)
    tally->other = verdict;
  else if (verdict != tally->other)
    tally->mixed = TRUE;
}

Verdict
tally_verdict(const Tally *tally)
{
  if (tally->n_ok == tally->n)
    return VERDICT_OK;
  if (tally->n_ok > 0)
    return VERDICT_PARTIAL;
  return tally->mixed ? VERDICT_FAILED : tally->other;
}

Task *
task_add(CoreState *state, guint32 cmd, TaskKind kind, const char *text)
{
  Task *task = g_new0(Task, 1);
  task->cmd = cmd;
  task->kind = kind;
  task->text = g_strdup(text);
  task->due = TIME_NEVER;
  g_ptr_array_add(state->tasks, task);
  core_touch(state);
  return task;
}

Task *
task_find(const CoreState *state, guint32 cmd)
{
  for (guint i = 0; i < state->tasks->len; i++) {
    Task *task = state->tasks->pdata[i];
    if (task->cmd == cmd)
      return task;
  }
  return NULL;
}

void
task_free(Task *task)
{
  if (!task)
    return;
  switch (task->kind) {
  case TASK_POWER:
    g_free(task->power.via);
    g_free(task->power.entry);
    g_free(task->power.seats);
    break;
  case TASK_WAIT:
    g_free(task->wait.label);
    g_free(task->wait.nodes);
    break;
  case TASK_MEASURE:
    g_free(task->measure.label);
    g_free(task->measure.during);
    g_ptr_array_unref(task->measure.measurements);
    break;
  case TASK_LOAD_STOP:
    g_free(task->stop.deaf);
    break;
  case TASK_KEYS:
    g_free(task->keys.seats);
    break;
  case TASK_MENU:
    g_string_free(task->menu.difference, TRUE);
    g_free(task->menu.was);
    break;
  case TASK_PROPERTY:
  case TASK_SLEEP:
    break;
  }
  g_free(task->text);
  g_free(task);
}

static gpointer
copy_measurement(gconstpointer measurement, gpointer data)
{
  (void)data;
  return measurement_clone(measurement);
}

Task *
task_clone(const Task *task)
{
  Task *copy = g_memdup2(task, sizeof *task);
  copy->text = g_strdup(task->text);
  switch (task->kind) {
  case TASK_POWER:
    copy->power.via = g_strdup(task->power.via);
    copy->power.entry = g_strdup(task->power.entry);
    copy->power.seats = g_memdup2(task->power.seats, task->power.n * sizeof(PowerSeat));
    break;
  case TASK_WAIT:
    copy->wait.label = g_strdup(task->wait.label);
    copy->wait.nodes = g_memdup2(task->wait.nodes, task->wait.n * sizeof(NodeId));
    break;
  case TASK_MEASURE:
    copy->measure.label = g_strdup(task->measure.label);
    copy->measure.during = g_strdup(task->measure.during);
    copy->measure.measurements =
        g_ptr_array_copy(task->measure.measurements, copy_measurement, NULL);
    g_ptr_array_set_free_func(copy->measure.measurements, (GDestroyNotify)measurement_free);
    break;
  case TASK_LOAD_STOP:
    copy->stop.deaf = g_memdup2(task->stop.deaf, task->stop.n * sizeof(gboolean));
    break;
  case TASK_KEYS:
    copy->keys.seats = g_memdup2(task->keys.seats, task->keys.n * sizeof(KeysSeat));
    break;
  case TASK_MENU:
    copy->menu.difference = g_string_new(task->menu.difference->str);
    copy->menu.was = g_strdup(task->menu.was);
    break;
  case TASK_PROPERTY:
  case TASK_SLEEP:
    break;
  }
  return copy;
}

void
task_due(CoreState *state, Task *task, gint64 t)
{
  gint64 old = task->due;
  task->due = t;
  if (t > old)
    core_undue(state, DUE_TASKS, old);
  core_due(state, DUE_TASKS, t);
}

gint64
tasks_due(const CoreState *state)
{
  gint64 due = TIME_NEVER;
  for (guint i = 0; i < state->tasks->len; i++)
    due = MIN(due, ((const Task *)state->tasks->pdata[i])->due);
  return due;
}

void
task_result(CoreState *state, const Request *request, NodeId node, Verdict verdict,
            const char *text)
{
  Task *task = task_find(state, request->cmd);
  if (!task)
    return;
  core_touch(state);
  switch (task->kind) {
  case TASK_POWER:
    power_result(state, task, node, verdict);
    break;
  case TASK_PROPERTY:
    property_result(task, verdict, text);
    break;
  case TASK_MENU:
    menu_result(state, task, verdict, text);
    break;
  case TASK_LOAD_STOP:
    load_stop_result(state, task, node, verdict);
    break;
  case TASK_KEYS:
    keys_result(state, task, node, verdict);
    break;
  case TASK_WAIT: /* what matters is what they saw */
    wait_answered(state, task, verdict);
    break;
  case TASK_SLEEP:
  case TASK_MEASURE:
    break;
  }
}

/* TRUE when TASK has ended, with *VERDICT. */
static gboolean
settled(CoreState *state, Task *task, Verdict *verdict)
{
  switch (task->kind) {
  case TASK_POWER:
    return power_settled(state, task, verdict);
  case TASK_PROPERTY:
    *verdict = task->property.verdict;
    return task->property.answered;
  case TASK_MENU:
    *verdict = task->menu.verdict;
    return task->menu.answered;
  case TASK_WAIT:
    return wait_settled(state, task, verdict);
  case TASK_SLEEP:
    *verdict = task->stopped ? VERDICT_CANCELLED : VERDICT_OK;
    return task->stopped || task->due <= state->now;
  case TASK_MEASURE:
    return measure_settled(state, task, verdict);
  case TASK_LOAD_STOP:
    return load_stop_settled(state, task, verdict);
  case TASK_KEYS:
    return keys_settled(state, task, verdict);
  }
  g_assert_not_reached();
}

void
tasks_settle(CoreState *state)
{
  state->settled = state->touches;
  for (guint i = 0; i < state->tasks->len;) {
    Task *task = state->tasks->pdata[i];
    Verdict verdict = VERDICT_OK;
    if (!settled(state, task, &verdict)) {
      i++;
      continue;
    }
    core_undue(state, DUE_TASKS, task->due);
    core_done(state, task->cmd, task->text, verdict);
    g_ptr_array_remove_index(state->tasks, i);
  }
}

void
tasks_wake(CoreState *state)
{
  if (state->due[DUE_TASKS] > state->now)
    return;
  state->stale[DUE_TASKS] = TRUE;
  core_touch(state);
  for (guint i = 0; i < state->tasks->len; i++) {
    Task *task = state->tasks->pdata[i];
    if (task->due > state->now)
      continue;
    if (task->kind == TASK_POWER)
      power_send(state, task);
    else if (task->kind == TASK_WAIT)
      wait_poll(state, task);
  }
}

void
tasks_stop(CoreState *state)
{
  for (guint i = 0; i < state->tasks->len; i++) {
    Task *task = state->tasks->pdata[i];
    if (task->stopped || task->kind == TASK_PROPERTY)
      continue; /* a property's request is out already */
    task->stopped = TRUE;
    if (task->kind == TASK_POWER)
      power_stop(state, task);
    else if (task->kind == TASK_KEYS)
      keys_stop(state, task);
  }
  core_touch(state);
}
