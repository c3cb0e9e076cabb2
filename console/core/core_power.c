#include "core/core_boot_lead.h"

/* Between two looks whether it is off (or on) at last, when its backend did not say. */
#define LOOK_AGAIN TIME_SECOND

static const struct {
  Operation operation;
  DeadlineKind deadline;
} steps[] = {
    [STEP_ONCE] = {OP_SET, DEADLINE_ON},           [STEP_DEVICE] = {OP_BOOT_DEVICE, DEADLINE_ON},
    [STEP_STATUS] = {OP_STATUS, DEADLINE_STATUS},  [STEP_OFF] = {OP_OFF, DEADLINE_OFF},
    [STEP_SEE_OFF] = {OP_STATUS, DEADLINE_STATUS}, [STEP_ON] = {OP_ON, DEADLINE_ON},
    [STEP_SEE_ON] = {OP_STATUS, DEADLINE_STATUS},  [STEP_RESET] = {OP_RESET, DEADLINE_RESET},
    [STEP_FIRMWARE] = {OP_KEYS, DEADLINE_ON},      [STEP_MENU] = {OP_KEYS, DEADLINE_ON},
};
G_STATIC_ASSERT(G_N_ELEMENTS(steps) == STEP_END);

static void begin_device(CoreState *state, Task *task, PowerSeat *seat, gint64 due);

static int
doer(const CoreState *state, NodeId node, Operation operation)
{
  return state->map->doer[operation][node];
}

static Step
first_step(const PowerTask *power)
{
  if (power->boots)
    return power->once ? STEP_ONCE : STEP_DEVICE;
  switch (power->action) {
  case POWER_STATUS:
    return STEP_STATUS;
  case POWER_TURN_ON:
    return STEP_ON;
  case POWER_TURN_OFF:
  case POWER_CYCLE:
    return STEP_OFF;
  case POWER_RESET:
    return STEP_RESET;
  }
  g_assert_not_reached();
}

static gboolean
acts(const PowerTask *power)
{
  return power->boots || power->action != POWER_STATUS;
}

void
power_start(CoreState *state, const CommandEvent *event, const Command *command, const Plan *plan)
{
  Task *task = task_add(state, event->cmd, TASK_POWER, event->text);
  PowerTask *power = &task->power;
  power->action = command->power;
  power->boots = command->verb == VERB_BOOT;
  power->soft = command->soft;
  power->warm = command->warm;
  power->by_keys = boot_keys_lead(state, command);
  power->once = once_leads(state, command);
  power->device_asked = command->via || (command->entry && !power->once);
  power->via = g_strdup(command->via ? command->via : state->layout->boot_profile);
  power->entry = g_strdup(boot_entry(state, command));
  power->n_without = plan->without->len;
  power->n = power->n_open = plan->nodes->len;
  power->seats = g_new0(PowerSeat, power->n);
  /* Whatever was typed, the last one's turn is a time. */
  gint64 stagger = MIN(command->stagger, TIME_LATEST / MAX(power->n, 1));
  for (guint i = 0; i < power->n; i++) {
    PowerSeat *seat = &power->seats[i];
    seat->node = g_array_index(plan->nodes, NodeId, i);
    seat->step = first_step(power);
    seat->cycles = !power->boots && power->action == POWER_CYCLE;
    seat->due = state->now + (gint64)i * stagger;
    seat->sent_t = -1;
    seat->started = STEP_END;
    for (guint where = 0; where < LAYOUT_BOOT_KEYS_N; where++)
      seat->pressed_t[where] = -1;
    if (acts(power)) {
      state->nodes[seat->node].actor = event->cmd;
      state->nodes[seat->node].seen.acting = TRUE;
    }
  }
  if (power->boots)
    power->boot = boot_begin(state, command, power);
  for (guint i = 0; power->boots && !power->once && i < power->n; i++)
    begin_device(state, task, &power->seats[i], power->seats[i].due);
  power_send(state, task);
}

/* ---- Sending ------------------------------------------------------------------------------- */

static guint
arguments_of(const PowerTask *power, Step step, Argument arguments[2])
{
  if (step == STEP_DEVICE) {
    arguments[0] = (Argument){"device", power->via};
    arguments[1] = (Argument){"entry", power->entry};
    return power->entry ? 2 : 1;
  }
  if (step == STEP_OFF) {
    arguments[0] = (Argument){"how", power->soft ? "soft" : "hard"};
    return 1;
  }
  return 0;
}

static DeadlineKind
deadline_of(const PowerTask *power, Step step)
{
  return step == STEP_OFF && power->soft ? DEADLINE_SOFT_OFF : steps[step].deadline;
}

/* A machine that is woken has been told, and whether it heard is for another to see. */
static gboolean
is_woken(const CoreState *state, NodeId node)
{
  return state->map->backend[ROLE_WAKE][node] >= 0;
}

/* How long NODE has to be seen as STEP wants it, ns. One whose shell must answer has to boot first.
 */
static gint64
patience(const CoreState *state, const PowerTask *power, const PowerSeat *seat)
{
  NodeId node = seat->node;
  int backend = doer(state, node, steps[seat->step].operation);
  int sees = doer(state, node, OP_STATUS);
  gboolean boots =
      seat->step == STEP_ON && sees >= 0 && sees != state->map->backend[ROLE_POWER][node];
  if (boots || backend < 0)
    return state->layout->deadline[DEADLINE_WAIT];
  return core_map_patience(state->map, (guint)backend, deadline_of(power, seat->step));
}

static void
send_step(CoreState *state, Task *task, Step step, const NodeId *nodes, guint n)
{
  const PowerTask *power = &task->power;
  if (step == STEP_ONCE) {
    once_send(state, task, nodes, n);
    return;
  }
  if (step == STEP_FIRMWARE || step == STEP_MENU) {
    boot_keys_send(state, task, step, nodes, n);
    return;
  }
  g_autofree NodeId *direct = g_new(NodeId, n);
  Argument arguments[2];
  RequestSpec spec = {.cmd = task->cmd,
                      .owner = OWNER_TASK,
                      .operation = steps[step].operation,
                      .role = ROLE_POWER,
                      .arguments = arguments,
                      .n_arguments = arguments_of(power, step, arguments),
                      .deadline = DEADLINE_OWN,
                      .patience = deadline_of(power, step)};
  guint n_direct = 0;
  for (guint i = 0; i < n; i++)
    if (step != STEP_ON || !wake_send(state, &spec, nodes[i]))
      direct[n_direct++] = nodes[i];
  if (n_direct)
    requests_send(state, &spec, direct, n_direct);
}

static void
mark_sent(CoreState *state, Task *task, PowerSeat *seat)
{
  seat->due = TIME_NEVER;
  if (seat->step == STEP_ONCE) {
    seat->had = state->nodes[seat->node].once;
    state->nodes[seat->node].once = TRUE;
  }
  if (seat->step != STEP_OFF && seat->step != STEP_ON && seat->step != STEP_RESET)
    return;
  seat->sent_t = state->now;
  if (task->power.boots && seat->step != STEP_OFF)
    boot_seat_sent(state, task->power.boot, seat->node);
}

/* As many starts a second as the layout allows, whichever commands they belong to. */
static gboolean
may_start(CoreState *state, PowerSeat *seat)
{
  guint limit = state->layout->starts;
  if (limit == 0)
    return TRUE;
  if (state->next_start_t > state->now) {
    seat->due = state->next_start_t;
    return FALSE;
  }
  state->next_start_t = state->now + TIME_SECOND / limit;
  return TRUE;
}

static void
update_due(CoreState *state, Task *task)
{
  gint64 due = TIME_NEVER;
  for (guint i = 0; i < task->power.n; i++)
    due = MIN(due, task->power.seats[i].due);
  task_due(state, task, due);
}

void
power_send(CoreState *state, Task *task)
{
  PowerTask *power = &task->power;
  g_autofree NodeId *nodes = g_new(NodeId, power->n);
  for (Step step = 0; step < STEP_END; step++) {
    guint n = 0;
    for (guint i = 0; i < power->n; i++) {
      PowerSeat *seat = &power->seats[i];
      if (seat->step != step || seat->due > state->now ||
          (step == STEP_ON && !may_start(state, seat)))
        continue;
      nodes[n++] = seat->node;
      mark_sent(state, task, seat);
    }
    if (n)
      send_step(state, task, step, nodes, n);
  }
  update_due(state, task);
}

/* ---- Answers ------------------------------------------------------------------------------- */

static void
end_seat(CoreState *state, Task *task, PowerSeat *seat, Verdict verdict)
{
  Node *node = &state->nodes[seat->node];
  seat->step = STEP_END;
  seat->due = TIME_NEVER;
  seat->verdict = verdict;
  task->power.n_open--;
  if (node->actor == task->cmd) {
    node->actor = 0;
    node->seen.acting = FALSE;
  }
  /* What may have happened is left to its stages to show. */
  if (task->power.boots && verdict != VERDICT_OK && verdict != VERDICT_UNKNOWN)
    boot_seat_refused(state, task->power.boot, seat->node);
}

static void
go_on(CoreState *state, Task *task, PowerSeat *seat, Step step, gint64 due)
{
  if (task->stopped && step != STEP_SEE_ON) {
    seat->dropped = TRUE;
    end_seat(state, task, seat, VERDICT_CANCELLED);
    return;
  }
  seat->step = step;
  seat->due = due;
  if (due < task->due)
    task_due(state, task, due);
}

static gboolean
is_seen(const CoreState *state, const PowerSeat *seat, PowerState power)
{
  const NodeState *seen = &state->nodes[seat->node].seen;
  return seen->power == power && seen->power_t >= seat->sent_t;
}

static void
seen_off(CoreState *state, Task *task, PowerSeat *seat)
{
  go_on(state, task, seat, STEP_ON, state->now + state->layout->deadline[DEADLINE_PAUSE]);
}

static void
seen_on(CoreState *state, Task *task, PowerSeat *seat)
{
  end_seat(state, task, seat, VERDICT_OK);
}

static void
say_unseen(CoreState *state, const PowerSeat *seat)
{
  core_note(state, SEVERITY_WARNING, seat->node,
            "%s: told to go %s, and nothing here sees whether it did",
            state->layout->nodes[seat->node].name, seat->step == STEP_OFF ? "off" : "on");
}

/* `off` or `on` of a cycle was answered. Only seeing is believing, so an answer of unknown is
 * looked into as well. */
static void
look(CoreState *state, Task *task, PowerSeat *seat, Verdict verdict)
{
  gboolean off = seat->step == STEP_OFF;
  if (verdict != VERDICT_OK && verdict != VERDICT_UNKNOWN) {
    end_seat(state, task, seat, verdict);
    return;
  }
  seat->limit = seat->sent_t + patience(state, &task->power, seat);
  if (doer(state, seat->node, OP_STATUS) < 0) {
    say_unseen(state, seat);
    end_seat(state, task, seat, VERDICT_UNKNOWN);
    return;
  }
  if (!is_seen(state, seat, off ? POWER_OFF : POWER_ON))
    go_on(state, task, seat, off ? STEP_SEE_OFF : STEP_SEE_ON, state->now);
  else if (off)
    seen_off(state, task, seat);
  else
    seen_on(state, task, seat);
}

static void
look_again(CoreState *state, Task *task, PowerSeat *seat)
{
  gboolean off = seat->step == STEP_SEE_OFF;
  if (is_seen(state, seat, off ? POWER_OFF : POWER_ON)) {
    (off ? seen_off : seen_on)(state, task, seat);
    return;
  }
  if (state->now + LOOK_AGAIN <= seat->limit) {
    go_on(state, task, seat, seat->step, state->now + LOOK_AGAIN);
    return;
  }
  const char *name = state->layout->nodes[seat->node].name;
  PowerState power = state->nodes[seat->node].seen.power;
  g_autofree char *text =
      g_strdup_printf("%s: told to go %s, but its power is %s", name, off ? "off" : "on",
                      power == POWER_UNKNOWN ? "unknown"
                      : power == POWER_ON    ? "still on"
                                             : "still off");
  node_set_fault(state, seat->node, FAULT_POWER, text);
  core_note(state, SEVERITY_ERROR, seat->node, "%s", text);
  end_seat(state, task, seat, power == POWER_UNKNOWN ? VERDICT_UNKNOWN : VERDICT_TIMEOUT);
}

static void
device_answered(CoreState *state, Task *task, PowerSeat *seat, Verdict verdict, gint64 due)
{
  PowerTask *power = &task->power;
  /* A backend that cannot choose leaves it to the firmware, which is fine if nothing was asked. */
  if (verdict != VERDICT_OK && (verdict != VERDICT_UNSUPPORTED || power->device_asked)) {
    end_seat(state, task, seat, verdict);
    return;
  }
  gboolean on = state->nodes[seat->node].seen.power == POWER_ON;
  seat->cycles = on && !power->warm;
  go_on(state, task, seat, !on ? STEP_ON : power->warm ? STEP_RESET : STEP_OFF, due);
}

/* Where keys choose the boot device, or nobody can, that step is over before it begins. */
static void
begin_device(CoreState *state, Task *task, PowerSeat *seat, gint64 due)
{
  if (task->power.by_keys)
    device_answered(state, task, seat, VERDICT_OK, due);
  else if (doer(state, seat->node, OP_BOOT_DEVICE) < 0)
    device_answered(state, task, seat, VERDICT_UNSUPPORTED, due);
  else
    go_on(state, task, seat, STEP_DEVICE, due);
}

/* It is not switched on for an entry that it may not boot. */
static void
written(CoreState *state, Task *task, PowerSeat *seat, Verdict verdict)
{
  if (verdict == VERDICT_OK) {
    begin_device(state, task, seat, state->now);
    return;
  }
  if (verdict != VERDICT_UNKNOWN)
    state->nodes[seat->node].once = seat->had;
  end_seat(state, task, seat, verdict == VERDICT_UNKNOWN ? VERDICT_FAILED : verdict);
}

/* Of a boot that keys lead the next are pressed; what sees the power is asked behind them, as it
 * may be the system that they start. */
static void
press_from(CoreState *state, Task *task, PowerSeat *seat, Step step)
{
  gint64 after;
  if (task->power.by_keys && boot_keys_next(state, &task->power, &step, &after)) {
    go_on(state, task, seat, step, MAX(state->now, seat->sent_t + after));
    return;
  }
  seat->step = STEP_ON;
  if (seat->started == STEP_ON && (seat->cycles || is_woken(state, seat->node)))
    look(state, task, seat, seat->answer);
  else
    end_seat(state, task, seat, seat->answer);
}

static void
pressed(CoreState *state, Task *task, PowerSeat *seat, Verdict verdict)
{
  if (verdict != VERDICT_OK) {
    end_seat(state, task, seat, verdict);
    return;
  }
  seat->pressed_t[seat->step - STEP_FIRMWARE] = state->now;
  press_from(state, task, seat, seat->step + 1);
}

static void
started(CoreState *state, Task *task, PowerSeat *seat, Verdict verdict)
{
  if (verdict != VERDICT_OK && verdict != VERDICT_UNKNOWN) {
    end_seat(state, task, seat, verdict);
    return;
  }
  seat->started = seat->step;
  seat->answer = verdict;
  press_from(state, task, seat, STEP_FIRMWARE);
}

void
power_result(CoreState *state, Task *task, NodeId node, Verdict verdict)
{
  PowerSeat *seat = node_search(task->power.seats, task->power.n, sizeof(PowerSeat), node);
  if (!seat || seat->step == STEP_END || seat->due != TIME_NEVER)
    return;
  switch (seat->step) {
  case STEP_ONCE:
    written(state, task, seat, verdict);
    break;
  case STEP_DEVICE:
    device_answered(state, task, seat, verdict, state->now);
    break;
  case STEP_OFF:
    if (seat->cycles)
      look(state, task, seat, verdict);
    else
      end_seat(state, task, seat, verdict);
    break;
  case STEP_ON:
    started(state, task, seat, verdict);
    break;
  case STEP_FIRMWARE:
  case STEP_MENU:
    pressed(state, task, seat, verdict);
    break;
  case STEP_SEE_OFF:
  case STEP_SEE_ON:
    look_again(state, task, seat);
    break;
  case STEP_RESET:
    if (verdict == VERDICT_OK || verdict == VERDICT_UNKNOWN)
      node_restart(state, node, seat->sent_t);
    started(state, task, seat, verdict);
    break;
  case STEP_STATUS:
    end_seat(state, task, seat, verdict);
    break;
  case STEP_END:
    break;
  }
}

/* ---- The end ------------------------------------------------------------------------------- */

/* What Ctrl-C left: `9 done, 8 not sent`. A seat stopped between off and on is named. */
static void
say_stopped(CoreState *state, const PowerTask *power)
{
  guint n_dropped = 0;
  g_autoptr(GArray) left_off = g_array_new(FALSE, FALSE, sizeof(NodeId));
  for (guint i = 0; i < power->n; i++) {
    const PowerSeat *seat = &power->seats[i];
    n_dropped += seat->dropped;
    if (seat->dropped && seat->cycles && seat->sent_t >= 0 && seat->started == STEP_END)
      g_array_append_val(left_off, seat->node);
  }
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text, "%u done, ", power->n - power->n_open - n_dropped);
  if (power->n_open)
    g_string_append_printf(text, "%u under way, ", power->n_open);
  g_string_append_printf(text, "%u not sent", n_dropped);
  if (left_off->len) {
    g_autofree char *names =
        core_fold(state, (const NodeId *)(gpointer)left_off->data, left_off->len);
    g_string_append_printf(text, "; told to go off and not on again: %s", names);
  }
  core_note(state, SEVERITY_WARNING, NODE_NONE, "%s", text->str);
}

void
power_stop(CoreState *state, Task *task)
{
  PowerTask *power = &task->power;
  for (guint i = 0; i < power->n; i++) {
    PowerSeat *seat = &power->seats[i];
    if (seat->step == STEP_END || seat->step == STEP_SEE_ON || seat->due == TIME_NEVER)
      continue;
    seat->dropped = TRUE;
    end_seat(state, task, seat, VERDICT_CANCELLED);
  }
  update_due(state, task);
  say_stopped(state, power);
  power->n_at_stop = power->n_open;
}

gboolean
power_settled(CoreState *state, Task *task, Verdict *verdict)
{
  const PowerTask *power = &task->power;
  if (power->n_open > 0)
    return FALSE;
  Tally tally = {0};
  gboolean dropped = FALSE;
  for (guint i = 0; i < power->n; i++) {
    tally_add(&tally, power->seats[i].verdict);
    dropped = dropped || power->seats[i].dropped;
  }
  for (guint i = 0; i < power->n_without; i++)
    tally_add(&tally, VERDICT_UNSUPPORTED);
  if (task->stopped && power->n_at_stop > 0)
    say_stopped(state, power);
  if (power->by_keys)
    boot_keys_say_spread(state, power);
  *verdict = dropped ? VERDICT_CANCELLED : tally_verdict(&tally);
  return TRUE;
}
