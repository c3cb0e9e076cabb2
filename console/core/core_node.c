#include "core/core_private.h"

#include <string.h>

void
node_clear(Node *node)
{
  g_free(node->seen.fault);
  g_free(node->seen.reserved);
  for (guint i = 0; i < node->n_properties; i++) {
    g_free(node->properties[i].fact);
    g_free(node->properties[i].value);
  }
  g_free(node->properties);
}

void
node_set_fault(CoreState *state, NodeId id, FaultKind kind, const char *text)
{
  Node *node = &state->nodes[id];
  if (kind < node->fault)
    return;
  g_free(node->seen.fault);
  node->seen.fault = core_bounded(text);
  node->seen.fault_t = state->now;
  node->fault = kind;
  core_touch(state);
}

void
node_clear_fault(CoreState *state, NodeId id, FaultKind kind)
{
  Node *node = &state->nodes[id];
  if (node->fault != kind || kind == FAULT_NONE)
    return;
  g_clear_pointer(&node->seen.fault, g_free);
  node->seen.fault_t = -1;
  node->fault = FAULT_NONE;
}

/* ---- Deadlines of stages ------------------------------------------------------------------- */

static gint64
stage_time(const CoreState *state, Stage stage)
{
  g_assert(stage < state_login(state));
  return state->layout->stages[stage].deadline;
}

static gint64
stage_start(const Node *node)
{
  return node->seen.stage == STAGE_NONE ? node->begun_t : node->seen.stage_t[node->seen.stage];
}

void
node_expect_stage(CoreState *state, NodeId id)
{
  Node *node = &state->nodes[id];
  node->begun_t = state->now;
  limit_set(state, id, state->now + stage_time(state, STAGE_NONE));
}

void
node_expect_nothing(CoreState *state, NodeId id)
{
  if (state->nodes[id].seen.stage == STAGE_NONE)
    limit_set(state, id, TIME_NEVER);
}

char *
node_overdue_text(const CoreState *state, NodeId id)
{
  const Node *node = &state->nodes[id];
  Stage stage = node->seen.stage;
  gint64 spent = state->now - stage_start(node);
  g_autofree char *limit = core_seconds(stage_time(state, stage));
  g_autofree char *time = core_seconds(spent - spent % TIME_SECOND);
  const char *what = stage != STAGE_NONE             ? state_stage_name(state, stage)
                     : node->seen.power == POWER_OFF ? "off"
                                                     : "shows no stage";
  const char *lost =
      node->lost_stage != STAGE_NONE ? state_stage_name(state, node->lost_stage) : NULL;
  return g_strdup_printf("%s %s%s%s%s for %s (limit %s)", state->layout->nodes[id].name,
                         lost ? "went off at " : "", lost ? lost : "", lost ? ", " : "", what, time,
                         limit);
}

static void
overdue(CoreState *state, NodeId id)
{
  Stage stage = state->nodes[id].seen.stage;
  limit_set(state, id, TIME_NEVER);
  g_autofree char *text = node_overdue_text(state, id);
  node_set_fault(state, id, FAULT_STAGE, text);
  core_note(state, SEVERITY_ERROR, id, "%s", text);
  boot_seat_failed(state, id, stage != STAGE_NONE ? stage : state->nodes[id].lost_stage);
}

void
nodes_wake(CoreState *state)
{
  while (limits_due(state) <= state->now)
    overdue(state, state->limits[0]);
}

/* ---- Boots --------------------------------------------------------------------------------- */

static void
forget_stages(CoreState *state, NodeId id)
{
  Node *node = &state->nodes[id];
  node->seen.stage = STAGE_NONE;
  for (guint stage = 0; stage < LAYOUT_MAX_STAGES; stage++) {
    node->seen.stage_t[stage] = -1;
    node->seen.stage_source[stage] = NULL;
  }
  node->begun_t = -1;
  node->lost_stage = STAGE_NONE;
  limit_set(state, id, TIME_NEVER);
}

/* A boot begins now, whatever was before. */
static void
begin_boot(CoreState *state, NodeId id)
{
  Node *node = &state->nodes[id];
  forget_stages(state, id);
  node_clear_fault(state, id, FAULT_STAGE);
  node_clear_fault(state, id, FAULT_LOAD);
  node->seen.booting = TRUE;
  node->begun_t = state->now;
  boot_seat_again(state, id);
  if (node->boot)
    node_expect_stage(state, id);
}

void
node_restart(CoreState *state, NodeId id, gint64 since)
{
  const NodeState *seen = &state->nodes[id].seen;
  /* Its first stage may be seen before the answer to the reset comes. */
  if (seen->stage != STAGE_NONE && seen->stage_t[seen->stage] >= since)
    return;
  begin_boot(state, id);
  core_touch(state);
}

/* What one source tells may reach us so much later than what another does. */
#define LATENESS (2 * TIME_SECOND)

typedef struct {
  Stage stage;
  Certainty certainty;
  const char *source;
} StageSeen;

/* Another source was faster: of the same boot, and no reboot. */
static gboolean
is_late(const CoreState *state, const Node *node, const StageSeen *seen)
{
  Stage last = node->seen.stage;
  return seen->stage < last && state->now - node->seen.stage_t[last] < LATENESS &&
         !g_str_equal(node->seen.stage_source[last], seen->source);
}

/* Its log may tell of what was before its power went. A firmware's lines come by consoles, which
 * are prompt. */
static gboolean
was_before_off(const CoreState *state, const Node *node, const StageSeen *seen)
{
  return node->seen.power == POWER_OFF && node->off_t >= 0 && state->now - node->off_t < LATENESS &&
         seen->stage > 1;
}

/* Whether it changes anything. Only what is sure leads back, or to a boot of a machine that is up;
 * what is but possible begins none at all. */
static gboolean
is_news(const CoreState *state, const Node *node, const StageSeen *seen)
{
  gboolean up = node->seen.power == POWER_ON && !node->seen.booting;
  if (seen->stage == node->seen.stage || is_late(state, node, seen) ||
      was_before_off(state, node, seen))
    return FALSE;
  switch (seen->certainty) {
  case CERTAINTY_SURE:
    return TRUE;
  case CERTAINTY_LIKELY:
    return seen->stage > node->seen.stage && !up;
  case CERTAINTY_POSSIBLE:
    return seen->stage > node->seen.stage && node->seen.booting;
  }
  return FALSE;
}

static void
see_stage(CoreState *state, NodeId id, const StageSeen *seen)
{
  Node *node = &state->nodes[id];
  Stage stage = seen->stage;
  if (stage < node->seen.stage) {
    if (!node->actor)
      core_note(state, SEVERITY_WARNING, id, "%s began to boot again: %s after %s",
                state->layout->nodes[id].name, state_stage_name(state, stage),
                state_stage_name(state, node->seen.stage));
    begin_boot(state, id);
  }
  node_clear_fault(state, id, FAULT_STAGE);
  node_clear_fault(state, id, FAULT_POWER);
  if (node->begun_t < 0)
    node->begun_t = state->now;
  node->seen.stage = stage;
  node->seen.stage_t[stage] = state->now;
  node->seen.stage_source[stage] = core_source(state, seen->source);
  node->seen.stage_certainty[stage] = (guint8)seen->certainty;
  node->seen.booting = stage != state_login(state);
  limit_set(state, id, node->seen.booting ? state->now + stage_time(state, stage) : TIME_NEVER);
  boot_seat_stage(state, id, stage);
  core_touch(state);
}

/* ---- Power --------------------------------------------------------------------------------- */

/* Off in the midst of a boot, and no command of ours: a plug was pulled, a virtual machine's
 * process killed. Somebody may switch it on again. */
static void
lose_boot(CoreState *state, NodeId id, Stage stage)
{
  state->nodes[id].lost_stage = stage;
  g_autofree char *text = g_strdup_printf("%s went off at %s", state->layout->nodes[id].name,
                                          state_stage_name(state, stage));
  node_set_fault(state, id, FAULT_STAGE, text);
  core_note(state, SEVERITY_ERROR, id, "%s", text);
}

static void
power_changed(CoreState *state, NodeId id, PowerState power)
{
  Node *node = &state->nodes[id];
  PowerState before = node->seen.power;
  node->seen.power = power;
  node_clear_fault(state, id, power == POWER_UNKNOWN ? FAULT_NONE : FAULT_POWER);
  core_touch(state);
  if (power == POWER_ON) {
    /* From unknown it may have been on all the time, unless a command has just told it to; and in
     * the midst of a boot it has. */
    if (before == POWER_OFF || (node->boot && node->seen.stage == STAGE_NONE))
      begin_boot(state, id);
  } else if (power == POWER_OFF) {
    if (before == POWER_ON) { /* whoever sat there has left it, however */
      property_free(state, id);
      node->off_t = state->now;
    }
    Stage stage = node->seen.booting && !node->actor ? node->seen.stage : STAGE_NONE;
    forget_stages(state, id);
    node_clear_fault(state, id, FAULT_STAGE);
    node->seen.booting = FALSE;
    if (node->boot) {
      boot_seat_again(state, id);
      node_expect_stage(state, id);
    }
    if (stage != STAGE_NONE)
      lose_boot(state, id, stage);
  }
  if (power == POWER_ON)
    boot_seat_on(state, id);
}

static const char *
seen_by(CoreState *state, const char *before, const char *source)
{
  return before && g_str_equal(before, source) ? before : core_source(state, source);
}

static void
see_power(CoreState *state, const ObserveEvent *observe)
{
  Node *node = &state->nodes[observe->node];
  PowerState power = g_str_equal(observe->value, "on")    ? POWER_ON
                     : g_str_equal(observe->value, "off") ? POWER_OFF
                                                          : POWER_UNKNOWN;
  node->seen.power_t = state->now;
  node->seen.power_source = seen_by(state, node->seen.power_source, observe->source);
  if (power != node->seen.power)
    power_changed(state, observe->node, power);
}

void
node_power_unknown(CoreState *state, NodeId id)
{
  if (state->nodes[id].seen.power != POWER_UNKNOWN)
    power_changed(state, id, POWER_UNKNOWN);
}

/* `dhcp`, `dhcp likely`. FALSE: no boot here has it. */
static gboolean
read_stage(const CoreState *state, const ObserveEvent *observe, StageSeen *seen)
{
  const char *blank = strchr(observe->value, ' ');
  g_autofree char *name = blank ? g_strndup(observe->value, (gsize)(blank - observe->value)) : NULL;
  int stage = layout_find_stage(state->layout, name ? name : observe->value);
  int certainty = blank ? certainty_parse(blank + 1) : CERTAINTY_SURE;
  *seen = (StageSeen){(Stage)stage, (Certainty)certainty, observe->source};
  return stage > 0 && certainty >= 0;
}

static void
see_some_stage(CoreState *state, const ObserveEvent *observe)
{
  Node *node = &state->nodes[observe->node];
  StageSeen seen;
  if (!read_stage(state, observe, &seen)) {
    log_add(state, SEVERITY_INFO, observe->node, observe->source, observe->value);
    return;
  }
  if (!is_news(state, node, &seen))
    return;
  /* What boots is on: where nothing tells its power, or someone pressed its button. */
  if (node->seen.power != POWER_ON) {
    node->seen.power_t = state->now;
    node->seen.power_source = core_source(state, observe->source);
    power_changed(state, observe->node, POWER_ON);
  }
  see_stage(state, observe->node, &seen);
}

/* A property as well: `set` and `get` know it in a lab that can be told. */
static void
see_usage(CoreState *state, const ObserveEvent *observe)
{
  NodeState *seen = &state->nodes[observe->node].seen;
  seen->in_use = g_str_equal(observe->value, "in use");
  seen->usage_t = state->now;
  seen->usage_source = seen_by(state, seen->usage_source, observe->source);
  property_observe(state, observe);
}

void
node_observe(CoreState *state, const ObserveEvent *observe)
{
  if (observe->node >= state->layout->n_nodes)
    return;
  if (g_str_equal(observe->fact, "power"))
    see_power(state, observe);
  else if (g_str_equal(observe->fact, "stage"))
    see_some_stage(state, observe);
  else if (g_str_equal(observe->fact, "reserved"))
    reserve_observe(state, observe);
  else if (g_str_equal(observe->fact, "usage"))
    see_usage(state, observe);
  else
    property_observe(state, observe);
}
