#include "core/core_private.h"

void
pending_clear(CoreState *state)
{
  g_free(state->pending.text);
  g_free(state->pending.plan);
  g_free(state->pending.difference);
  state->pending = (PendingConsent){0};
}

/* Says why, and that it is over. */
void
command_end(CoreState *state, const CommandEvent *event, Severity severity, Verdict verdict,
            const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *why = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  core_note(state, severity, NODE_NONE, "%s", why);
  core_done(state, event->cmd, event->text, verdict);
}

/* ---- What touches seats: plan, consent, then do -------------------------------------------- */

static gboolean
has_plan(const Command *command)
{
  return command->verb == VERB_POWER || command->verb == VERB_BOOT || command->verb == VERB_SET ||
         command->verb == VERB_KEYS || command->verb == VERB_TYPE ||
         (command->verb == VERB_ROUTE && command->route != ROUTE_BACK) ||
         (command->verb == VERB_PXE && command->menu != MENU_SHOW) ||
         (command->verb == VERB_LOAD && !command->load_stop);
}

/* Enforced read-only: whatever changes something out there, a warm load's reading included. */
static gboolean
acts(const Command *command)
{
  if (command->verb == VERB_POWER)
    return command->power != POWER_STATUS;
  return command->verb == VERB_LOAD || command->verb == VERB_RESERVE ||
         command->verb == VERB_RELEASE || command->verb == VERB_ROUTE || has_plan(command);
}

/* NULL, or why it cannot be begun now. */
static char *
obstacle(const CoreState *state, const Command *command, const Plan *plan)
{
  g_autoptr(GArray) busy = g_array_new(FALSE, FALSE, sizeof(NodeId));
  for (guint i = 0; plan->changes_power && i < plan->nodes->len; i++) {
    NodeId id = g_array_index(plan->nodes, NodeId, i);
    if (state->nodes[id].actor)
      g_array_append_val(busy, id);
  }
  if (busy->len) {
    g_autofree char *names = core_fold(state, (const NodeId *)(gpointer)busy->data, busy->len);
    return g_strdup_printf("an earlier command still acts on %s; stop it, or wait", names);
  }
  g_autofree char *label = command->verb == VERB_LOAD ? load_label(command) : NULL;
  const char *name = label ? label : command->verb == VERB_BOOT ? command->label : NULL;
  if (!name)
    return NULL;
  const LoadRun *load = load_find(state, name, 0);
  if (label ? boot_find(state, name, 0) != NULL : load != NULL)
    return g_strdup_printf("%s is the label of a %s already", name, label ? "boot" : "load");
  if (load && load->end_t < 0)
    return g_strdup_printf("the load %s is still running; stop it, or give another label", name);
  return NULL;
}

gboolean
plan_is_consented(CoreState *state, const CommandEvent *event, const Command *command,
                  const Plan *plan, Verdict *verdict)
{
  guint seats = plan_seats(plan);
  if (!command_disturbs(command))
    return TRUE;
  if (event->confirm >= 0) {
    if ((guint)event->confirm == seats)
      return TRUE;
    core_note(state, SEVERITY_WARNING, NODE_NONE, "you typed %d; the plan touches %u %s",
              event->confirm, seats, seats == 1 ? "seat" : "seats");
    *verdict = VERDICT_REFUSED;
    return FALSE;
  }
  const CoreOptions *options = &state->options;
  if (options->consent == CONSENT_YES ||
      (options->consent == CONSENT_SEATS && seats <= options->consent_seats))
    return TRUE;
  state->pending = (PendingConsent){.cmd = event->cmd,
                                    .text = g_strdup(event->text),
                                    .plan = plan_sentence(state, command, plan),
                                    .difference = g_strdup(plan->difference),
                                    .seats = seats};
  *verdict = VERDICT_UNCONFIRMED;
  return FALSE;
}

static void
carry_out(CoreState *state, const CommandEvent *event, const Command *command, const Plan *plan)
{
  switch (command->verb) {
  case VERB_SET:
    property_start(state, event, command, g_array_index(plan->nodes, NodeId, 0), plan->backend);
    break;
  case VERB_LOAD:
    load_start(state, event, command, plan);
    break;
  case VERB_KEYS:
  case VERB_TYPE:
  case VERB_ROUTE:
    keys_start(state, event, command, plan);
    break;
  default:
    power_start(state, event, command, plan);
  }
}

static void
act(CoreState *state, const CommandEvent *event, const Command *command)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Plan) plan = plan_new(state, command, &error);
  if (!plan) {
    command_end(state, event, SEVERITY_ERROR, VERDICT_FAILED, "%s", error->message);
    return;
  }
  if (command->plan_only || state->options.dry_run) {
    plan_emit(state, event->cmd, plan);
    core_done(state, event->cmd, event->text, VERDICT_OK);
    return;
  }
  if (command_disturbs(command))
    plan_emit(state, event->cmd, plan);
  g_autofree char *left_out = plan_left_out(state, command, plan);
  if (plan->nodes->len == 0) {
    command_end(state, event, SEVERITY_WARNING, VERDICT_REFUSED, "nothing is left to %s: %s",
                plan->action, left_out);
    return;
  }
  g_autofree char *why = obstacle(state, command, plan);
  if (why) {
    command_end(state, event, SEVERITY_WARNING, VERDICT_REFUSED, "%s", why);
    return;
  }
  Verdict verdict;
  if (!plan_is_consented(state, event, command, plan, &verdict)) {
    core_done(state, event->cmd, event->text, verdict);
    return;
  }
  if (*left_out)
    core_note(state, SEVERITY_WARNING, NODE_NONE, "left out: %s", left_out);
  carry_out(state, event, command, plan);
}

/* ---- Everything else ----------------------------------------------------------------------- */

static void
start_get(CoreState *state, const CommandEvent *event, const Command *command)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *fact = NULL;
  NodeId node;
  guint backend;
  if (property_target(state, command->path, &node, &fact, &backend, &error))
    property_start(state, event, command, node, backend);
  else
    command_end(state, event, SEVERITY_ERROR, VERDICT_FAILED, "%s", error->message);
}

static void
route(CoreState *state, const CommandEvent *event, const Command *command)
{
  if (command->route != ROUTE_BACK)
    act(state, event, command);
  else if (!keys_back(state, event))
    command_end(state, event, SEVERITY_WARNING, VERDICT_REFUSED, "nothing was shown by route yet");
}

static void
stop(CoreState *state, const CommandEvent *event)
{
  tasks_stop(state);
  tasks_settle(state);
  core_done(state, event->cmd, event->text, VERDICT_OK);
}

static void
start(CoreState *state, const CommandEvent *event, const Command *command)
{
  switch (command->verb) {
  case VERB_POWER:
  case VERB_BOOT:
  case VERB_SET:
  case VERB_KEYS:
  case VERB_TYPE:
    act(state, event, command);
    break;
  case VERB_LOAD:
    (command->load_stop ? load_stop : act)(state, event, command);
    break;
  case VERB_ROUTE:
    route(state, event, command);
    break;
  case VERB_GET:
    start_get(state, event, command);
    break;
  case VERB_PXE:
    menu_start(state, event, command);
    break;
  case VERB_WAIT:
    wait_start(state, event, command);
    break;
  case VERB_MEASURE:
    measure_start(state, event, command);
    break;
  case VERB_SLEEP:
    task_due(state, task_add(state, event->cmd, TASK_SLEEP, event->text),
             state->now + command->duration);
    break;
  case VERB_EXPECT:
    expect_step(state, event, command);
    break;
  case VERB_STOP:
    stop(state, event);
    break;
  case VERB_RESERVE:
    reserve_start(state, event, command);
    break;
  case VERB_RELEASE:
    release_start(state, event, command);
    break;
  case VERB_CONSOLE:
    console_start(state, event, command);
    break;
  case VERB_MARK: /* it stands in the log */
  case VERB_QUIT: /* the session's to do */
    core_done(state, event->cmd, event->text, VERDICT_OK);
    break;
  }
}

/* What a dry run does as ever: it asks, or says something. */
static gboolean
is_harmless(const Command *command)
{
  return command->verb == VERB_GET || (command->verb == VERB_PXE && command->menu == MENU_SHOW) ||
         command->verb == VERB_MARK || command->verb == VERB_STOP || command->verb == VERB_QUIT ||
         (command->verb == VERB_POWER && command->power == POWER_STATUS);
}

void
command_step(CoreState *state, const CommandEvent *event)
{
  pending_clear(state);
  log_add(state, SEVERITY_INFO, NODE_NONE, ":", event->text);
  g_autoptr(GError) error = NULL;
  g_autoptr(Command) command = command_parse(event->text, &error);
  if (!command) {
    command_end(state, event, SEVERITY_ERROR, VERDICT_FAILED, "%s", error->message);
    return;
  }
  if (command->plan_only && !has_plan(command)) {
    command_end(state, event, SEVERITY_INFO, VERDICT_OK, "that touches no seat");
    return;
  }
  if (state->options.dry_run && !has_plan(command) && !is_harmless(command)) {
    core_done(state, event->cmd, event->text, VERDICT_OK);
    return;
  }
  if (state->options.read_only && !command->plan_only && acts(command)) {
    command_end(state, event, SEVERITY_WARNING, VERDICT_REFUSED, "this session is read-only");
    return;
  }
  if (command->verb != VERB_STOP &&
      (state->tasks->len >= TASKS_MAX || task_find(state, event->cmd))) {
    command_end(state, event, SEVERITY_ERROR, VERDICT_FAILED, "%u commands are under way: too many",
                state->tasks->len);
    return;
  }
  start(state, event, command);
}
