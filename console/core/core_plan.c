#include "core/core_boot_lead.h"

static GArray *
ids_new(void)
{
  return g_array_new(FALSE, FALSE, sizeof(NodeId));
}

static const NodeId *
ids_of(const GArray *ids)
{
  return (const NodeId *)(gconstpointer)ids->data;
}

void
plan_free(Plan *plan)
{
  if (!plan)
    return;
  g_array_unref(plan->nodes);
  g_array_unref(plan->protected_nodes);
  g_array_unref(plan->in_use);
  g_array_unref(plan->reserved);
  g_array_unref(plan->without);
  g_array_unref(plan->co_victims);
  g_array_unref(plan->spared);
  g_free(plan->presses);
  g_free(plan->once_how);
  g_free(plan->action);
  g_free(plan->difference);
  g_free(plan);
}

static char *
boot_action(const CoreState *state, const Command *command)
{
  const char *entry = boot_entry(state, command);
  return g_strdup_printf("boot %s%s%s%s", command->via ? command->via : state->layout->boot_profile,
                         entry ? " " : "", entry ? entry : "",
                         command->warm   ? " warm"
                         : command->cold ? " cold"
                                         : "");
}

static char *
load_action(const CoreState *state, const Command *command, const GArray *nodes)
{
  static const char *const caches[] = {
      [CACHE_ANY] = "", [CACHE_COLD] = " cold", [CACHE_WARM] = " warm"};
  g_autofree char *servers = cache_servers(state, nodes, command->cache);
  const char *does = command->cache == CACHE_COLD ? "drops" : "fills";
  return servers ? g_strdup_printf("load %s%s, which %s the caches of %s", command->job,
                                   caches[command->cache], does, servers)
                 : g_strconcat("load ", command->job, caches[command->cache], NULL);
}

static char *
action_text(const CoreState *state, const Command *command, const GArray *nodes, const char *fact)
{
  static const char *const actions[] = {[POWER_STATUS] = "status",
                                        [POWER_TURN_ON] = "on",
                                        [POWER_TURN_OFF] = "off",
                                        [POWER_CYCLE] = "cycle",
                                        [POWER_RESET] = "reset"};
  switch (command->verb) {
  case VERB_POWER:
    return g_strconcat(actions[command->power], command->soft ? " soft" : NULL, NULL);
  case VERB_BOOT:
    return boot_action(state, command);
  case VERB_KEYS:
  case VERB_TYPE:
  case VERB_ROUTE:
    return keys_action(command);
  case VERB_SET:
    return g_strdup_printf("set %s %s", fact, command->text);
  case VERB_PXE:
    return menu_action(command);
  default:
    return load_action(state, command, nodes);
  }
}

/* Changes the power of what it names: there protected seats, and those in use or reserved, are left
 * out. */
static gboolean
changes_power(const Command *command)
{
  return command->verb == VERB_BOOT ||
         (command->verb == VERB_POWER && command->power != POWER_STATUS);
}

/* What is asked of a seat's keyboard or picture. Routing changes nothing of the node. */
static gboolean
takes_keys(const Command *command)
{
  return command->verb == VERB_KEYS || command->verb == VERB_TYPE || command->verb == VERB_ROUTE;
}

/* What PLAN asks of a node, as bits of Operation; 0: what its role's backend does. */
static guint
operations_of(const Command *command)
{
  if (command->verb == VERB_BOOT)
    return 1u << OP_ON;
  if (command->verb != VERB_POWER)
    return 0;
  switch (command->power) {
  case POWER_STATUS:
    return 1u << OP_STATUS;
  case POWER_TURN_ON:
    return 1u << OP_ON;
  case POWER_TURN_OFF:
    return 1u << OP_OFF;
  case POWER_CYCLE:
    return 1u << OP_OFF | 1u << OP_ON;
  case POWER_RESET:
    return 1u << OP_RESET;
  }
  g_assert_not_reached();
}

static gboolean
has_doers(const CoreState *state, const Plan *plan, NodeId id)
{
  guint operations = plan->operations;
  if (operations == 0)
    return state->map->backend[plan->role][id] >= 0;
  for (Operation operation = OP_STATUS; operation <= OP_BOOT_DEVICE; operation++)
    if ((operations & 1u << operation) != 0 && state->map->doer[operation][id] < 0)
      return FALSE;
  return !plan->by_keys || state->map->backend[ROLE_KEYS][id] >= 0;
}

static gboolean
cuts_power(const Command *command)
{
  return command->verb == VERB_BOOT ? !command->warm
                                    : command->verb == VERB_POWER &&
                                          (command->power == POWER_CYCLE ||
                                           (command->power == POWER_TURN_OFF && !command->soft));
}

static void
sort_out(const CoreState *state, const Command *command, Plan *plan, NodeId id)
{
  const NodeState *seen = &state->nodes[id].seen;
  if (!has_doers(state, plan, id)) {
    g_array_append_val(plan->without, id);
    return;
  }
  gboolean heeds = changes_power(command) || takes_keys(command);
  if (heeds && command->verb != VERB_ROUTE && state->layout->nodes[id].protected_node) {
    g_array_append_val(plan->protected_nodes, id);
    return;
  }
  if (heeds && (seen->in_use || seen->reserved_t >= 0)) {
    g_array_append_val(seen->in_use ? plan->in_use : plan->reserved, id);
    if (!command->including_in_use)
      return;
  }
  g_array_append_val(plan->nodes, id);
  plan->on += seen->power == POWER_ON;
}

/* The node of a property, or the one that has the boot menu. */
static gboolean
of_one_node(const CoreState *state, const Command *command, Plan *plan, GError **error)
{
  NodeId node;
  g_autofree char *fact = NULL;
  gboolean found = command->verb == VERB_PXE
                       ? menu_target(state, &node, &plan->backend, error)
                       : property_target(state, command->path, &node, &fact, &plan->backend, error);
  if (!found)
    return FALSE;
  g_array_append_val(plan->nodes, node);
  plan->one_backend = TRUE;
  plan->action = action_text(state, command, plan->nodes, fact);
  return TRUE;
}

Plan *
plan_new(const CoreState *state, const Command *command, GError **error)
{
  Plan *plan = g_new0(Plan, 1);
  plan->nodes = ids_new();
  plan->protected_nodes = ids_new();
  plan->in_use = ids_new();
  plan->reserved = ids_new();
  plan->without = ids_new();
  plan->co_victims = ids_new();
  plan->spared = ids_new();
  plan->changes_power = changes_power(command);
  plan->operations = operations_of(command);
  plan->boots = command->verb == VERB_BOOT;
  plan->by_keys = boot_keys_lead(state, command);
  plan->presses = plan->by_keys ? boot_keys_text(state, command) : NULL;
  plan->verb = command->verb;
  plan->role = command->verb == VERB_POWER || command->verb == VERB_BOOT ? ROLE_POWER
               : takes_keys(command)                                     ? ROLE_KEYS
                                                                         : ROLE_EXEC;
  if (!boot_keys_check(state, command, error)) {
    plan_free(plan);
    return NULL;
  }
  if (command->verb == VERB_SET || command->verb == VERB_PXE) {
    if (of_one_node(state, command, plan, error))
      return plan;
    plan_free(plan);
    return NULL;
  }
  g_autoptr(GArray) named = resolve_set(state, command->set, TRUE, error);
  if (named && command->verb == VERB_ROUTE && named->len > 1) {
    g_set_error(error, COMMAND_ERROR, 0, "route shows one seat, and %s are %u", command->set,
                named->len);
    g_clear_pointer(&named, g_array_unref);
  }
  if (!named) {
    plan_free(plan);
    return NULL;
  }
  for (guint i = 0; i < named->len; i++)
    sort_out(state, command, plan, g_array_index(named, NodeId, i));
  if (!once_check(state, command, plan->nodes, error)) {
    plan_free(plan);
    return NULL;
  }
  plan->once_how = once_leads(state, command) ? once_text(state) : NULL;
  if (cuts_power(command))
    outlets_sort_out(state, command, plan);
  plan->action = action_text(state, command, plan->nodes, NULL);
  return plan;
}

guint
plan_seats(const Plan *plan)
{
  return plan->nodes->len + plan->co_victims->len;
}

/* Who does what comes first of PLAN for ID. */
static int
first_backend(const CoreState *state, const Plan *plan, NodeId id)
{
  if (plan->one_backend)
    return (int)plan->backend;
  int of_role = state->map->backend[plan->role][id];
  if (plan->operations == 0 || of_role >= 0)
    return plan->operations == 1u << OP_ON && !plan->boots ? state->map->doer[OP_ON][id] : of_role;
  for (Operation operation = OP_OFF; operation <= OP_RESET; operation++)
    if ((plan->operations & 1u << operation) != 0)
      return state->map->doer[operation][id];
  return state->map->doer[(plan->operations & 1u << OP_ON) != 0 ? OP_ON : OP_STATUS][id];
}

/* Who switches it on, where that is another; -1. */
static int
waking_backend(const CoreState *state, const Plan *plan, NodeId id)
{
  int on = state->map->doer[OP_ON][id];
  return (plan->operations & 1u << OP_ON) != 0 && on != first_backend(state, plan, id) ? on : -1;
}

/* A backend has a part of a plan for what it does, and for whom it wakes; for keyboards one for
 * each way that keys go, which stand behind those two where keys lead a boot. */
#define PART_WAKES 1
#define PART_ONCE 2
#define PART_PRESSES 3
#define PART_KINDS (PART_PRESSES + KEYS_N_WAYS)

static gboolean
part_is_of_keys(const Plan *plan, guint kind)
{
  return plan->role == ROLE_KEYS || (plan->by_keys && kind >= PART_PRESSES);
}

static KeysWay
part_way(const Plan *plan, guint kind)
{
  return plan->role == ROLE_KEYS ? kind : kind - PART_PRESSES;
}

/* The nodes of PLAN that BACKEND is asked for as part KIND. */
static GArray *
part_nodes(const CoreState *state, const Plan *plan, guint backend, guint kind)
{
  GArray *nodes = ids_new();
  gboolean keys = part_is_of_keys(plan, kind);
  if (!keys && (kind > PART_ONCE || (kind == PART_ONCE && !plan->once_how)))
    return nodes;
  for (guint i = 0; i < plan->nodes->len; i++) {
    NodeId id = g_array_index(plan->nodes, NodeId, i);
    int doer = keys                 ? state->map->backend[ROLE_KEYS][id]
               : kind == PART_WAKES ? waking_backend(state, plan, id)
               : kind == PART_ONCE  ? property_carrier(state, state->layout->boot_server)
                                    : first_backend(state, plan, id);
    if (doer == (int)backend && (!keys || keys_way(state, plan, id) == part_way(plan, kind)))
      g_array_append_val(nodes, id);
  }
  return nodes;
}

/* What part KIND does, of parts that are not all of PLAN's action. */
static char *
part_action(const Plan *plan, guint kind)
{
  if (part_is_of_keys(plan, kind))
    return g_strconcat(plan->by_keys ? plan->presses : plan->action,
                       keys_way_text(part_way(plan, kind)), NULL);
  return g_strdup(kind == PART_WAKES ? "on" : kind == PART_ONCE ? plan->once_how : plan->action);
}

/* Who does what is asked of BACKEND for NODES, ascending: itself, or others that wake for it. */
static char *
part_doer(const CoreState *state, guint backend, const GArray *nodes)
{
  g_autoptr(GArray) helpers = ids_new();
  for (guint i = 0; i < nodes->len; i++) {
    NodeId helper = wake_helper(state, backend, g_array_index(nodes, NodeId, i));
    if (helper != NODE_NONE)
      g_array_append_val(helpers, helper);
  }
  if (helpers->len == 0)
    return g_strdup(state->map->backends[backend]);
  g_autofree char *names = core_fold(state, ids_of(helpers), helpers->len);
  return g_strdup_printf("%s via %s", state->map->backends[backend], names);
}

void
plan_emit(CoreState *state, guint32 cmd, const Plan *plan)
{
  g_autoptr(GPtrArray) lists = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
  g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
  guint n_backends = state->map->n_backends, n_parts = 0;
  g_autofree PlanPart *parts = g_new0(PlanPart, PART_KINDS * n_backends + 1);
  for (guint i = 0; i < PART_KINDS * n_backends; i++) {
    GArray *nodes = part_nodes(state, plan, i % n_backends, i / n_backends);
    char *action = nodes->len ? part_action(plan, i / n_backends) : NULL;
    g_ptr_array_add(lists, nodes);
    char *doer = part_doer(state, i % n_backends, nodes);
    g_ptr_array_add(words, action);
    g_ptr_array_add(words, doer);
    if (nodes->len)
      parts[n_parts++] = (PlanPart){doer, action, ids_of(nodes), nodes->len};
  }
  Event event = {.kind = EVENT_PLAN,
                 .plan = {.cmd = cmd,
                          .parts = parts,
                          .n_parts = n_parts,
                          .seats = plan_seats(plan),
                          .protected_nodes = ids_of(plan->protected_nodes),
                          .n_protected = plan->protected_nodes->len,
                          .in_use = ids_of(plan->in_use),
                          .n_in_use = plan->in_use->len,
                          .reserved = ids_of(plan->reserved),
                          .n_reserved = plan->reserved->len,
                          .co_victims = ids_of(plan->co_victims),
                          .n_co_victims = plan->co_victims->len,
                          .spared = ids_of(plan->spared),
                          .n_spared = plan->spared->len,
                          .difference = plan->difference}};
  core_emit(state, &event);
}

char *
plan_left_out(const CoreState *state, const Command *command, const Plan *plan)
{
  const struct {
    const GArray *nodes;
    const char *why;
  } kinds[] = {
      {plan->protected_nodes, "protected"},
      {command->including_in_use ? NULL : plan->in_use, "in use"},
      {command->including_in_use ? NULL : plan->reserved, "reserved"},
      {plan->spared, "the other on its outlet must be left alone"},
      {plan->without, plan->by_keys              ? "no power backend, or nothing carries its keys"
                      : plan->role == ROLE_POWER ? "no power backend"
                      : plan->role == ROLE_KEYS  ? "nothing carries its keys"
                                                 : "no exec backend"},
  };
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    if (!kinds[i].nodes || kinds[i].nodes->len == 0)
      continue;
    g_autofree char *names = core_fold(state, ids_of(kinds[i].nodes), kinds[i].nodes->len);
    g_string_append_printf(text, "%s%s (%s)", text->len ? ", " : "", names, kinds[i].why);
  }
  return g_string_free(g_steal_pointer(&text), FALSE);
}

char *
plan_sentence(const CoreState *state, const Command *command, const Plan *plan)
{
  g_autoptr(GString) text = g_string_new(plan->action);
  guint n_backends = state->map->n_backends, n_parts = 0;
  gboolean keys = plan->role == ROLE_KEYS;
  for (guint i = 0; i < PART_KINDS * n_backends; i++) {
    guint kind = i / n_backends;
    g_autoptr(GArray) nodes = part_nodes(state, plan, i % n_backends, kind);
    if (nodes->len == 0)
      continue;
    g_autofree char *names = core_fold(state, ids_of(nodes), nodes->len);
    g_autofree char *doer = part_doer(state, i % n_backends, nodes);
    gboolean presses = part_is_of_keys(plan, kind);
    const char *what = keys                 ? NULL
                       : presses            ? plan->presses
                       : kind == PART_WAKES ? "on"
                       : kind == PART_ONCE  ? plan->once_how
                                            : NULL;
    g_string_append_printf(text, "%s %s%s%s by %s%s", n_parts++ ? "," : "", what ? what : "",
                           what ? " " : "", names, doer,
                           presses ? keys_way_text(part_way(plan, kind)) : "");
  }
  if (command->stagger > 0) {
    g_autofree char *stagger = core_seconds(command->stagger);
    g_string_append_printf(text, ", stagger %s", stagger);
  }
  if (plan->co_victims->len) {
    g_autofree char *names = core_fold(state, ids_of(plan->co_victims), plan->co_victims->len);
    g_string_append_printf(text, ", and %s on the same outlets", names);
  }
  guint n = plan_seats(plan);
  const char *word =
      plan->role == ROLE_POWER || keys || command->verb == VERB_LOAD ? "seat" : "node";
  g_string_append_printf(text, ": %u %s%s", n, word, n == 1 ? "" : "s");
  if (plan->changes_power)
    g_string_append_printf(text, ", %u on, %u in use", plan->on, plan->in_use->len);
  else if (keys)
    g_string_append_printf(text, ", %u in use", plan->in_use->len);
  if (plan->reserved->len)
    g_string_append_printf(text, ", %u reserved", plan->reserved->len);
  g_autofree char *left_out = plan_left_out(state, command, plan);
  if (*left_out)
    g_string_append_printf(text, "; left out: %s", left_out);
  return g_string_free(g_steal_pointer(&text), FALSE);
}
