#include "core/core_private.h"

/* Between all answers to a poll of power and the next one. */
#define POLL_AGAIN TIME_SECOND

/* How those waited for stand. */
typedef struct {
  guint n, n_reached, n_hopeless;
  GArray *missing; /* NodeId */
} Standing;

static gboolean
reached_stage(const gint64 stage_t[LAYOUT_MAX_STAGES], Stage stage)
{
  for (Stage later = stage; later < LAYOUT_MAX_STAGES; later++)
    if (stage_t[later] >= 0)
      return TRUE;
  return FALSE;
}

/* Nobody will tell when NODE reaches a stage. */
static gboolean
is_unseen(const CoreState *state, NodeId node)
{
  return !state->map->told[node] && !console_is_open(state, node) &&
         state->nodes[node].seen.stage == STAGE_NONE;
}

static void
count(Standing *standing, NodeId node, gboolean reached, gboolean hopeless)
{
  standing->n++;
  standing->n_reached += reached;
  standing->n_hopeless += !reached && hopeless;
  if (!reached)
    g_array_append_val(standing->missing, node);
}

static void
look_at_boot(const CoreState *state, const WaitTask *wait, Standing *standing)
{
  const BootRun *run = boot_find(state, wait->label, wait->run);
  for (guint i = 0; run && i < run->n; i++) {
    const BootSeat *seat = &run->seats[i];
    count(standing, seat->node, reached_stage(seat->stage_t, wait->stage),
          seat->outcome == SEAT_FAILED || is_unseen(state, seat->node));
  }
}

static void
look_at_load(const CoreState *state, const WaitTask *wait, Standing *standing)
{
  const LoadRun *run = load_find(state, wait->label, wait->run);
  for (guint i = 0; run && i < run->n; i++) {
    const LoadSeat *seat = &run->seats[i];
    count(standing, seat->node, seat->outcome == SEAT_OK, seat->outcome == SEAT_FAILED);
  }
}

static void
look_at_nodes(const CoreState *state, const WaitTask *wait, Standing *standing)
{
  for (guint i = 0; i < wait->n; i++) {
    const Node *node = &state->nodes[wait->nodes[i]];
    gboolean reached = wait->kind == WAIT_POWER ? node->seen.power == wait->power
                                                : reached_stage(node->seen.stage_t, wait->stage);
    count(standing, wait->nodes[i], reached,
          wait->kind == WAIT_BOOT &&
              (node->fault == FAULT_STAGE || is_unseen(state, wait->nodes[i])));
  }
}

static void
say_unseen(CoreState *state, const Standing *standing)
{
  g_autoptr(GArray) unseen = g_array_new(FALSE, FALSE, sizeof(NodeId));
  for (guint i = 0; i < standing->missing->len; i++) {
    NodeId node = g_array_index(standing->missing, NodeId, i);
    if (is_unseen(state, node))
      g_array_append_val(unseen, node);
  }
  if (unseen->len == 0)
    return;
  g_autofree char *names =
      core_fold(state, (const NodeId *)(gconstpointer)unseen->data, unseen->len);
  core_note(state, SEVERITY_WARNING, NODE_NONE,
            "nothing sees the stages of %s: a `log` or an open console would", names);
}

/* Who is missing, for whoever wants to go there. */
static void
say_missing(CoreState *state, const Task *task, const Standing *standing)
{
  g_autofree char *missing =
      core_fold(state, (const NodeId *)(gpointer)standing->missing->data, standing->missing->len);
  core_note(state, SEVERITY_WARNING, NODE_NONE, "%s: %u of %u, without %s", task->text,
            standing->n_reached, standing->n, missing);
  if (task->wait.kind == WAIT_BOOT)
    say_unseen(state, standing);
}

static void
look_at(const CoreState *state, const WaitTask *wait, Standing *standing)
{
  if (wait->kind == WAIT_LOAD)
    look_at_load(state, wait, standing);
  else if (wait->label)
    look_at_boot(state, wait, standing);
  else
    look_at_nodes(state, wait, standing);
}

/* Every seat of a load is through, and its last figures are still to come. */
static gboolean
wants_figures(const CoreState *state, const WaitTask *wait)
{
  const LoadRun *run = wait->kind == WAIT_LOAD ? load_find(state, wait->label, wait->run) : NULL;
  return run && run->end_t < 0 && run->n_ok + run->n_failed == run->n;
}

gboolean
wait_settled(CoreState *state, Task *task, Verdict *verdict)
{
  WaitTask *wait = &task->wait;
  if (task->stopped) {
    *verdict = VERDICT_CANCELLED;
    return TRUE;
  }
  if (state->touches < wait->look && state->now < wait->timeout_t)
    return FALSE;
  if (wants_figures(state, wait)) { /* the load has a deadline of its own for them */
    wait->timeout_t = TIME_NEVER;
    task_due(state, task, TIME_NEVER);
    return FALSE;
  }
  g_autoptr(GArray) missing = g_array_new(FALSE, FALSE, sizeof(NodeId));
  Standing standing = {.missing = missing};
  look_at(state, wait, &standing);
  guint wanted = wait->at_least < 0 ? standing.n : (guint)wait->at_least;
  if (standing.n_reached >= wanted) {
    *verdict = VERDICT_OK;
    return TRUE;
  }
  /* When it cannot succeed any more, the seats still on their way are waited for all the same: then
   * the run is over, and has its figures. */
  guint n_on_way = standing.n - standing.n_reached - standing.n_hopeless;
  if (n_on_way > 0 && state->now < wait->timeout_t) {
    wait->look = state->touches + MIN(n_on_way, wanted - standing.n_reached);
    return FALSE;
  }
  say_missing(state, task, &standing);
  *verdict = n_on_way > 0 ? VERDICT_TIMEOUT : standing.n_reached ? VERDICT_PARTIAL : VERDICT_FAILED;
  return TRUE;
}

void
wait_poll(CoreState *state, Task *task)
{
  WaitTask *wait = &task->wait;
  if (wait->poll_t <= state->now) {
    /* A backend may tell its power only when asked. The next time, this answer or its absence is
     * known. */
    gint64 patience = 0;
    g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));
    for (guint i = 0; i < wait->n; i++)
      if (state->nodes[wait->nodes[i]].seen.power != wait->power) {
        int backend = state->map->doer[OP_STATUS][wait->nodes[i]];
        g_array_append_val(nodes, wait->nodes[i]);
        if (backend >= 0)
          patience = MAX(patience, core_map_patience(state->map, (guint)backend, DEADLINE_STATUS));
      }
    RequestSpec spec = {.cmd = task->cmd,
                        .owner = OWNER_TASK,
                        .operation = OP_STATUS,
                        .role = ROLE_POWER,
                        .deadline = DEADLINE_OWN,
                        .patience = DEADLINE_STATUS};
    wait->poll_t = state->now + patience + GUARD;
    wait->n_asked = nodes->len;
    requests_send(state, &spec, (const NodeId *)(gpointer)nodes->data, nodes->len);
  }
  task_due(state, task, MIN(wait->poll_t, wait->timeout_t));
}

/* Those who cannot tell are not asked every second. */
void
wait_answered(CoreState *state, Task *task, Verdict verdict)
{
  WaitTask *wait = &task->wait;
  if (verdict != VERDICT_OK)
    wait->n_asked = 0;
  if (wait->n_asked == 0 || --wait->n_asked > 0)
    return;
  wait->poll_t = MIN(wait->poll_t, state->now + POLL_AGAIN);
  task_due(state, task, MIN(wait->poll_t, wait->timeout_t));
}

static gboolean
fail(CoreState *state, const CommandEvent *event, char *why)
{
  core_note(state, SEVERITY_ERROR, NODE_NONE, "%s", why);
  core_done(state, event->cmd, event->text, VERDICT_FAILED);
  g_free(why);
  return FALSE;
}

/* WAIT's label and run when TARGET is one's label; FALSE when it is a set. */
static gboolean
take_label(const CoreState *state, const Command *command, WaitTask *wait)
{
  if (command->wait == WAIT_POWER)
    return FALSE;
  if (command->wait == WAIT_LOAD) {
    const LoadRun *load = load_find(state, command->target, 0);
    wait->run = load ? load->run : 0;
  } else {
    const BootRun *boot = boot_find(state, command->target, 0);
    wait->run = boot ? boot->run : 0;
  }
  if (wait->run)
    wait->label = g_strdup(command->target);
  return wait->run > 0;
}

static gboolean
take_nodes(CoreState *state, const CommandEvent *event, const Command *command, WaitTask *wait)
{
  g_autoptr(GError) error = NULL;
  if (command->wait == WAIT_LOAD)
    return fail(state, event, g_strdup_printf("no load is called %s", command->target));
  GArray *nodes = resolve_set(state, command->target, command->wait == WAIT_POWER, &error);
  if (!nodes)
    return fail(state, event, g_strdup(error->message));
  wait->n = nodes->len;
  wait->nodes = (NodeId *)(gpointer)g_array_free(nodes, FALSE);
  return TRUE;
}

static gboolean
take_stage(CoreState *state, const CommandEvent *event, const Command *command, WaitTask *wait)
{
  int stage = layout_find_stage(state->layout, command->stage);
  if (stage < 0)
    return fail(state, event, g_strdup_printf("no boot here has a stage %s", command->stage));
  wait->stage = (Stage)stage;
  return TRUE;
}

void
wait_start(CoreState *state, const CommandEvent *event, const Command *command)
{
  WaitTask wait = {.kind = command->wait,
                   .at_least = command->at_least,
                   .power = command->power == POWER_TURN_OFF ? POWER_OFF : POWER_ON,
                   .poll_t = TIME_NEVER};
  if (wait.kind == WAIT_BOOT && !take_stage(state, event, command, &wait))
    return;
  if (!take_label(state, command, &wait) && !take_nodes(state, event, command, &wait))
    return;
  gint64 patience =
      command->duration < 0 ? state->layout->deadline[DEADLINE_WAIT] : command->duration;
  wait.timeout_t = state->now + patience;
  guint n = wait.label == NULL       ? wait.n
            : wait.kind == WAIT_LOAD ? load_find(state, wait.label, wait.run)->n
                                     : boot_find(state, wait.label, wait.run)->n;
  if (wait.at_least > (gint)n) {
    fail(state, event, g_strdup_printf("at-least %d of %u can never be", wait.at_least, n));
    g_free(wait.label);
    g_free(wait.nodes);
    return;
  }
  Task *task = task_add(state, event->cmd, TASK_WAIT, event->text);
  task->wait = wait;
  task_due(state, task, wait.timeout_t);
  if (wait.kind == WAIT_POWER) {
    task->wait.poll_t = state->now;
    wait_poll(state, task);
  }
}
