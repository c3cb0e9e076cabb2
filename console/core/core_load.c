#include "core/core_private.h"

#include <math.h>
#include <string.h>

#include "model/units.h"

/* Of the median of its seconds. */
#define SKEW_SHARE 0.05
/* For a sample of the server's disk behind the load's end, which real labs have once a second. */
#define SETTLE (3 * TIME_SECOND)

static void
load_clear(gpointer data)
{
  Load *load = data;
  g_free(load->seen.label);
  g_free(load->seen.job);
  g_free(load->seen.seats);
}

void
load_unref(Load *load)
{
  g_rc_box_release_full(load, load_clear);
}

Load *
load_clone(Load *load)
{
  if (load->seen.end_t >= 0)
    return g_rc_box_acquire(load);
  Load *copy = g_rc_box_dup(sizeof *load, load);
  copy->seen.label = g_strdup(load->seen.label);
  copy->seen.job = g_strdup(load->seen.job);
  copy->seen.seats = g_memdup2(load->seen.seats, load->seen.n * sizeof(LoadSeat));
  return copy;
}

static Load *
load_of_serial(const CoreState *state, guint serial)
{
  for (guint i = state->loads->len; i-- > 0;) {
    Load *load = state->loads->pdata[i];
    if (load->serial == serial)
      return load;
  }
  return NULL;
}

static Load *
newest(const CoreState *state, const char *label, guint run)
{
  for (guint i = state->loads->len; i-- > 0;) {
    Load *load = state->loads->pdata[i];
    if (g_str_equal(load->seen.label, label) && (run == 0 || load->seen.run == run))
      return load;
  }
  return NULL;
}

const LoadRun *
load_find(const CoreState *state, const char *label, guint run)
{
  const Load *load = newest(state, label, run);
  return load ? &load->seen : NULL;
}

static LoadSeat *
seat_of(const Load *load, NodeId node)
{
  return load ? node_search(load->seen.seats, load->seen.n, sizeof(LoadSeat), node) : NULL;
}

/* ---- Figures of a run ---------------------------------------------------------------------- */

typedef enum { LOAD_RATE, LOAD_SECONDS, LOAD_BYTES, LOAD_FILES } LoadQuantity;

static double
quantity_of(const LoadSeat *seat, LoadQuantity quantity)
{
  switch (quantity) {
  case LOAD_RATE:
    return seat->seconds > 0 ? seat->bytes * 8 / seat->seconds : NAN;
  case LOAD_SECONDS:
    return seat->seconds;
  case LOAD_BYTES:
    return seat->bytes;
  case LOAD_FILES:
    return seat->files;
  }
  g_assert_not_reached();
}

static guint
gather(const LoadRun *run, LoadQuantity quantity, double *values)
{
  guint n = 0;
  for (guint i = 0; i < run->n; i++) {
    double value = quantity_of(&run->seats[i], quantity);
    if (run->seats[i].outcome == SEAT_OK && isfinite(value))
      values[n++] = value;
  }
  return n;
}

static double
sum_of(const double *values, guint n)
{
  double sum = 0;
  for (guint i = 0; i < n; i++)
    sum += values[i];
  return sum;
}

/* From the first start to the last end, and how far apart the starts were; seats that said how
 * long they took. */
static guint
span_of(const LoadRun *run, double *makespan, double *skew)
{
  double first = INFINITY, last_start = -INFINITY, end = -INFINITY;
  guint n = 0;
  for (guint i = 0; i < run->n; i++) {
    const LoadSeat *seat = &run->seats[i];
    if (seat->outcome != SEAT_OK || !isfinite(seat->seconds))
      continue;
    double start = (double)seat->start_t / (double)TIME_SECOND;
    first = MIN(first, start);
    last_start = MAX(last_start, start);
    end = MAX(end, start + seat->seconds);
    n++;
  }
  *makespan = end - first;
  *skew = last_start - first;
  return n;
}

/* What is not simultaneous is not one load: past 5 % of its duration it is said. */
static void
flag_skew(CoreState *state, LoadRun *run, double skew, double median)
{
  run->uneven = skew > SKEW_SHARE * median;
  if (!run->uneven)
    return;
  g_autofree char *apart = units_print(skew, DIMENSION_TIME);
  g_autofree char *took = units_print(median, DIMENSION_TIME);
  core_note(state, SEVERITY_WARNING, NODE_NONE,
            "%s was not simultaneous: its clients began %s apart, and took %s", run->label, apart,
            took);
}

/* Of clients whose programs did not count. */
static void
note_by_wire(CoreState *state, const LoadRun *run)
{
  g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));
  for (guint i = 0; i < run->n; i++)
    if (run->seats[i].by_wire)
      g_array_append_val(nodes, run->seats[i].node);
  if (nodes->len == 0)
    return;
  g_autofree char *names = core_fold(state, (const NodeId *)(gpointer)nodes->data, nodes->len);
  core_note(state, SEVERITY_INFO, NODE_NONE,
            "%s: bytes of %s are what the interface saw, headers included", run->label, names);
}

/* Clients that failed without ever having begun. */
static void
note_unbegun(CoreState *state, const LoadRun *run)
{
  g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));
  for (guint i = 0; i < run->n; i++)
    if (run->seats[i].outcome == SEAT_FAILED && !run->seats[i].begun)
      g_array_append_val(nodes, run->seats[i].node);
  if (nodes->len == 0)
    return;
  g_autofree char *names = core_fold(state, (const NodeId *)(gpointer)nodes->data, nodes->len);
  core_note(state, SEVERITY_WARNING, NODE_NONE, "%s: %s never began%s", run->label, names,
            nodes->len == run->n ? ": there was no load" : "");
}

static void
say_figures(CoreState *state, LoadRun *run)
{
  g_autofree double *values = g_new(double, run->n);
  double makespan, skew;
  guint n_timed = span_of(run, &makespan, &skew);
  guint n = gather(run, LOAD_RATE, values);
  if (n)
    figure_values(state, run->label, "rate", "bit/s", values, n, "min median max");
  n = gather(run, LOAD_BYTES, values);
  double bytes = sum_of(values, n);
  if (n && n_timed && makespan > 0)
    figure_one(state, run->label, "rate.sum", "bit/s", bytes * 8 / makespan, n);
  guint n_seconds = gather(run, LOAD_SECONDS, values);
  if (n_seconds)
    figure_values(state, run->label, "seconds", "s", values, n_seconds, "mean median min max p90");
  double median = n_seconds ? stats_percentile(values, n_seconds, 0.5) : NAN;
  if (n)
    figure_one(state, run->label, "bytes", "B", bytes, n);
  guint n_files = gather(run, LOAD_FILES, values);
  if (n_files)
    figure_one(state, run->label, "files", "", sum_of(values, n_files), n_files);
  if (n_timed)
    figure_one(state, run->label, "skew", "s", skew, n_timed);
  figure_one(state, run->label, "ok", "", run->n_ok, run->n);
  figure_one(state, run->label, "failed", "", run->n_failed, run->n);
  if (n_timed > 1)
    flag_skew(state, run, skew, median);
  note_unbegun(state, run);
  note_by_wire(state, run);
}

/* ---- Starting ------------------------------------------------------------------------------ */

char *
load_label(const Command *command)
{
  if (command->label)
    return g_strdup(command->label);
  GString *label = g_string_new(NULL);
  if (!g_ascii_isalpha(command->job[0]))
    g_string_append(label, "load_");
  for (const char *c = command->job; *c && label->len < 64; c++)
    g_string_append_c(label, g_ascii_isalnum(*c) ? *c : '_');
  return g_string_free(label, FALSE);
}

static void
keep_few(CoreState *state)
{
  if (state->loads->len < RUNS_MAX)
    return;
  for (guint i = 0; i < state->loads->len; i++) {
    if (((const Load *)state->loads->pdata[i])->seen.end_t >= 0) {
      g_ptr_array_remove_index(state->loads, i);
      return;
    }
  }
}

static Load *
add_load(CoreState *state, const Command *command, const Plan *plan)
{
  keep_few(state);
  Load *load = g_rc_box_new0(Load);
  LoadRun *run = &load->seen;
  load->serial = ++state->last_serial;
  load->duration = command->duration;
  load->stop_t = load->settle_t = TIME_NEVER;
  run->label = load_label(command);
  const LoadRun *before = load_find(state, run->label, 0);
  run->job = g_strdup(command->job);
  run->run = before ? before->run + 1 : 1;
  run->start_t = state->now;
  run->end_t = -1;
  run->cache = command->cache == CACHE_COLD ? "cold" : command->cache == CACHE_WARM ? "warm" : "";
  run->n = plan->nodes->len;
  run->seats = g_new0(LoadSeat, run->n);
  for (guint i = 0; i < run->n; i++) {
    NodeId node = g_array_index(plan->nodes, NodeId, i);
    run->seats[i] = (LoadSeat){.node = node,
                               .outcome = SEAT_RUNNING,
                               .bytes = NAN,
                               .seconds = NAN,
                               .files = NAN,
                               .disk_bytes = NAN,
                               .readers = 1,
                               .start_t = state->now};
    node_clear_fault(state, node, FAULT_LOAD);
  }
  cache_begin(state, load, plan);
  g_ptr_array_add(state->loads, load);
  return load;
}

static void
note_requests(CoreState *state, Load *load)
{
  for (guint r = 0; r < state->requests->len; r++) {
    const Request *exec = state->requests->pdata[r];
    for (guint i = 0; exec->serial == load->serial && i < exec->n; i++)
      seat_of(load, exec->nodes[i])->request = exec->id;
  }
}

void
load_start(CoreState *state, const CommandEvent *event, const Command *command, const Plan *plan)
{
  Load *load = add_load(state, command, plan);
  g_autofree char *servers = cache_servers(state, plan->nodes, command->cache);
  g_autoptr(GArray) arguments = g_array_new(FALSE, FALSE, sizeof(Argument));
  Argument job = {"job", command->job}, label = {"label", load->seen.label};
  g_array_append_val(arguments, job);
  g_array_append_val(arguments, label);
  if (command->cache != CACHE_ANY) {
    Argument cache = {"cache", load->seen.cache};
    g_array_append_val(arguments, cache);
  }
  if (servers != NULL) {
    Argument prepared = {command->cache == CACHE_COLD ? "drop" : "fill", servers};
    g_array_append_val(arguments, prepared);
  }
  for (guint i = 0; command->keys && command->keys[i]; i++) {
    Argument argument = {command->keys[i], command->values[i]};
    g_array_append_val(arguments, argument);
  }
  RequestSpec spec = {.cmd = event->cmd,
                      .owner = OWNER_LOAD,
                      .serial = load->serial,
                      .operation = OP_EXEC,
                      .role = ROLE_EXEC,
                      .arguments = (const Argument *)(gpointer)arguments->data,
                      .n_arguments = arguments->len,
                      .deadline = TIME_NEVER};
  requests_send(state, &spec, (const NodeId *)(gpointer)plan->nodes->data, plan->nodes->len);
  note_requests(state, load);
  core_done(state, event->cmd, event->text, VERDICT_OK);
}

/* ---- What jobs say, and how they end ------------------------------------------------------- */

/* A client makes ready before it begins, however long that takes: the duration is that of the load
 * itself. No clock that is wrong makes it begin before the command, or later than now. */
static void
take_start(CoreState *state, Load *load, LoadSeat *seat, gint64 start)
{
  seat->start_t = start;
  seat->begun = TRUE;
  if (load->begun)
    return;
  load->begun = TRUE;
  cache_started(state, load);
  if (load->duration < 0 || load->stopping)
    return;
  load->stop_t = CLAMP(start, load->seen.start_t, state->now) + load->duration;
  core_due(state, DUE_LOADS, load->stop_t);
}

gboolean
load_is_start(const char *text)
{
  return g_str_has_prefix(text, "start_ns=") && !strchr(text, ' ');
}

void
load_line(CoreState *state, const Request *request, NodeId node, const char *text)
{
  Load *load = load_of_serial(state, request->serial);
  LoadSeat *seat = seat_of(load, node);
  double wire = NAN;
  if (!seat || seat->outcome != SEAT_RUNNING)
    return;
  g_auto(GStrv) words = g_strsplit(text, " ", 32);
  for (guint i = 0; words[i]; i++) {
    char *number = strchr(words[i], '='), *end = NULL;
    if (!number)
      continue;
    *number++ = '\0';
    double value = g_ascii_strtod(number, &end);
    if (end == number || *end || !(value >= 0) || value > 1e18)
      continue;
    if (g_str_equal(words[i], "bytes"))
      seat->bytes = value;
    else if (g_str_equal(words[i], "wire_bytes"))
      wire = value;
    else if (g_str_equal(words[i], "seconds"))
      seat->seconds = value;
    else if (g_str_equal(words[i], "files"))
      seat->files = value;
    else if (g_str_equal(words[i], "disk_bytes"))
      seat->disk_bytes = value;
    else if (g_str_equal(words[i], "readers") && value >= 1)
      seat->readers = value;
    else if (g_str_equal(words[i], "start_ns"))
      take_start(state, load, seat, (gint64)value);
  }
  if (isnan(seat->bytes) && isfinite(wire)) {
    seat->bytes = wire;
    seat->by_wire = TRUE;
  }
}

static void
finish(CoreState *state, Load *load)
{
  LoadRun *run = &load->seen;
  run->end_t = state->now;
  core_undue(state, DUE_LOADS, load->stop_t);
  core_undue(state, DUE_LOADS, load->settle_t);
  load->stop_t = load->settle_t = TIME_NEVER;
  say_figures(state, run);
  cache_decide(state, load);
}

void
loads_settle(CoreState *state)
{
  for (guint i = 0; i < state->loads->len; i++) {
    Load *load = state->loads->pdata[i];
    if (load->settle_t != TIME_NEVER && !cache_waits(state, load, load->settle_t - SETTLE)) {
      finish(state, load);
      core_touch(state);
    }
  }
}

void
load_result(CoreState *state, const Request *request, NodeId node, Verdict verdict,
            const char *text)
{
  Load *load = load_of_serial(state, request->serial);
  LoadSeat *seat = seat_of(load, node);
  if (!seat || seat->outcome != SEAT_RUNNING)
    return;
  LoadRun *run = &load->seen;
  /* A job that was told to stop ends with its signal: that is how it should, once it ran. */
  gboolean as_told = (load->stopping || load->leaving) && seat->begun &&
                     (verdict == VERDICT_FAILED || verdict == VERDICT_CANCELLED);
  seat->outcome = verdict == VERDICT_OK || as_told ? SEAT_OK : SEAT_FAILED;
  if (seat->outcome == SEAT_OK)
    run->n_ok++;
  else
    run->n_failed++;
  if (seat->outcome == SEAT_FAILED)
    node_set_fault(state, node, FAULT_LOAD, text);
  core_touch(state);
  if (run->n_ok + run->n_failed < run->n)
    return;
  if (!cache_waits(state, load, state->now)) {
    finish(state, load);
    return;
  }
  core_undue(state, DUE_LOADS, load->stop_t);
  load->stop_t = TIME_NEVER;
  load->settle_t = state->now + SETTLE;
  core_due(state, DUE_LOADS, load->settle_t);
}

/* ---- Stopping ------------------------------------------------------------------------------ */

/* Tells every seat that still runs; results go to the task of CMD, 0 none. LEFT: how
 * long what is left runs on; NULL: to its own end. */
static void
signal_load(CoreState *state, Load *load, guint32 cmd, const char *signal, const char *left)
{
  for (guint r = 0; r < state->requests->len; r++) {
    const Request *exec = state->requests->pdata[r];
    if (exec->owner != OWNER_LOAD || exec->serial != load->serial)
      continue;
    g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));
    for (guint i = 0; i < exec->n; i++)
      if (!exec->answered[i])
        g_array_append_val(nodes, exec->nodes[i]);
    g_autofree char *id = g_strdup_printf("%u", exec->id);
    Argument arguments[] = {{"request", id}, {"signal", signal}, {"for", left}};
    RequestSpec spec = {.cmd = cmd,
                        .owner = cmd ? OWNER_TASK : OWNER_NONE,
                        .operation = OP_SIGNAL,
                        .role = ROLE_EXEC,
                        .arguments = arguments,
                        .n_arguments = left != NULL ? 3 : 2,
                        .deadline = state->now + state->layout->deadline[DEADLINE_CONNECT]};
    if (nodes->len)
      request_send_to(state, &spec, exec->backend, (const NodeId *)(gpointer)nodes->data,
                      nodes->len);
  }
}

static void
end_load(CoreState *state, Load *load, guint32 cmd)
{
  load->stopping = TRUE;
  signal_load(state, load, cmd, "TERM", NULL);
}

/* What is left keeps its duration by itself. */
static void
leave_load(CoreState *state, Load *load, guint32 cmd)
{
  g_autofree char *left = NULL;
  load->leaving = TRUE;
  if (load->stop_t != TIME_NEVER)
    left = units_print((double)(load->stop_t - state->now) / (double)TIME_SECOND, DIMENSION_TIME);
  core_note(state, SEVERITY_WARNING, NODE_NONE, "%s is left running%s%s, and has no figures",
            load->seen.label, left != NULL ? " for " : " to its own end", left != NULL ? left : "");
  signal_load(state, load, cmd, "LEAVE", left);
}

void
load_stop(CoreState *state, const CommandEvent *event, const Command *command)
{
  Load *load = newest(state, command->label, 0);
  if (!load || load->seen.end_t >= 0) {
    core_note(state, SEVERITY_ERROR, NODE_NONE, "no load called %s is running", command->label);
    core_done(state, event->cmd, event->text, VERDICT_FAILED);
    return;
  }
  Task *task = task_add(state, event->cmd, TASK_LOAD_STOP, event->text);
  task->stop.serial = load->serial;
  task->stop.n = load->seen.n;
  task->stop.deaf = g_new0(gboolean, load->seen.n);
  (command->load_leave ? leave_load : end_load)(state, load, event->cmd);
  load->stop_t = TIME_NEVER;
  state->stale[DUE_LOADS] = TRUE;
}

void
load_stop_result(CoreState *state, Task *task, NodeId node, Verdict verdict)
{
  Load *load = load_of_serial(state, task->stop.serial);
  const LoadSeat *seat = seat_of(load, node);
  if (!seat || verdict == VERDICT_OK)
    return;
  task->stop.deaf[seat - load->seen.seats] = TRUE;
}

gboolean
load_stop_settled(CoreState *state, Task *task, Verdict *verdict)
{
  const Load *load = load_of_serial(state, task->stop.serial);
  guint n_left = 0, n_deaf = 0;
  for (guint i = 0; load && i < load->seen.n; i++) {
    gboolean runs = load->seen.seats[i].outcome == SEAT_RUNNING;
    n_left += runs && !task->stop.deaf[i];
    n_deaf += runs && task->stop.deaf[i];
  }
  gboolean wants_figures = load && n_deaf == 0 && load->seen.end_t < 0;
  if ((n_left > 0 || wants_figures) && !task->stopped)
    return FALSE;
  *verdict = task->stopped                   ? VERDICT_CANCELLED
             : n_deaf == 0                   ? VERDICT_OK
             : load && n_deaf < load->seen.n ? VERDICT_PARTIAL
                                             : VERDICT_FAILED;
  return TRUE;
}

void
loads_wake(CoreState *state)
{
  if (state->due[DUE_LOADS] > state->now)
    return;
  state->stale[DUE_LOADS] = TRUE;
  for (guint i = 0; i < state->loads->len; i++) {
    Load *load = state->loads->pdata[i];
    if (load->settle_t <= state->now) {
      finish(state, load);
      core_touch(state);
    }
    if (load->stop_t > state->now)
      continue;
    load->stop_t = TIME_NEVER;
    end_load(state, load, 0);
  }
}

gint64
loads_due(const CoreState *state)
{
  gint64 due = TIME_NEVER;
  for (guint i = 0; i < state->loads->len; i++)
    due = MIN(due, MIN(((const Load *)state->loads->pdata[i])->stop_t,
                       ((const Load *)state->loads->pdata[i])->settle_t));
  return due;
}
