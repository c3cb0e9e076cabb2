/* Keys pressed, texts typed and pictures routed, by whatever carries a seat's keyboard. */
#include "core/core_private.h"

#include "model/keyboard.h"
#include "model/layout_backend.h"

#define ALL_AT_ONCE "at once"

/* For the device beneath a request, however many seats it goes round. */
#define PER_SEAT (2 * TIME_SECOND)
#define PER_KEY (TIME_SECOND / 2)

/* ---- Which way they go --------------------------------------------------------------------- */

static const char *
manner(const CoreState *state, NodeId id)
{
  g_autofree char *path = g_strconcat(state->layout->nodes[id].name, ".keys-go", NULL);
  const char *value = state_property(state, path);
  return value ? value : "";
}

/* Firmware and menus know the US keyboard only; a system has the one its layout says. */
static Keyboard
keyboard_of(const CoreState *state, NodeId id)
{
  const Node *node = &state->nodes[id];
  int backend = state->map->backend[ROLE_KEYS][id];
  gboolean boots = node->boot || node->seen.booting;
  const LayoutBackend *settings =
      backend < 0 ? NULL : layout_backend(state->layout, state->map->backends[backend]);
  if (!settings || (boots && (int)node->seen.stage < layout_find_stage(state->layout, "root")))
    return KEYBOARD_US;
  g_autofree char *name = layout_setting_text(state->layout, settings, id, "keyboard");
  return g_strcmp0(name, keyboard_names[KEYBOARD_DE]) == 0 ? KEYBOARD_DE : KEYBOARD_US;
}

/* A device sends the same to all its seats at once, or goes round: all that say the same are of
 * one. */
static gboolean
goes_at_once(const CoreState *state, const Plan *plan, NodeId id)
{
  const int *backend = state->map->backend[ROLE_KEYS];
  const char *mine = manner(state, id);
  if (!g_str_has_prefix(mine, ALL_AT_ONCE))
    return FALSE;
  for (NodeId other = 0; other < state->layout->n_nodes; other++)
    if (backend[other] == backend[id] && g_str_equal(manner(state, other), mine) &&
        (!node_search(plan->nodes->data, plan->nodes->len, sizeof(NodeId), other) ||
         (plan->verb == VERB_TYPE && keyboard_of(state, other) != keyboard_of(state, id))))
      return FALSE;
  return TRUE;
}

KeysWay
keys_way(const CoreState *state, const Plan *plan, NodeId id)
{
  if (plan->verb == VERB_ROUTE)
    return KEYS_ROUTE;
  KeysWay way = goes_at_once(state, plan, id) ? KEYS_AT_ONCE : KEYS_ONE_BY_ONE;
  if (plan->verb == VERB_TYPE && keyboard_of(state, id) == KEYBOARD_DE)
    way += KEYS_DE_ONE_BY_ONE - KEYS_ONE_BY_ONE;
  return way;
}

const char *
keys_way_text(KeysWay way)
{
  static const char *const texts[] = {
      [KEYS_ROUTE] = "",
      [KEYS_ONE_BY_ONE] = ", one by one",
      [KEYS_AT_ONCE] = ", at once",
      [KEYS_DE_ONE_BY_ONE] = " on a German keyboard, one by one",
      [KEYS_DE_AT_ONCE] = " on a German keyboard, at once",
  };
  return texts[way];
}

char *
keys_action(const Command *command)
{
  if (command->verb == VERB_ROUTE)
    return g_strdup("show");
  if (command->verb == VERB_TYPE)
    return g_strdup_printf("type \"%s\"", command->text);
  g_autofree char *keys = g_strjoinv(" ", command->press);
  return g_strdup_printf("press %s", keys);
}

/* ---- Pictures ------------------------------------------------------------------------------ */

static gboolean
may_follow(const CoreState *state, NodeId id, const Command *command)
{
  const NodeState *seen = &state->nodes[id].seen;
  return state->map->backend[ROLE_KEYS][id] >= 0 &&
         (command->including_in_use || (!seen->in_use && seen->reserved_t < 0));
}

NodeId
keys_next(const CoreState *state, const Command *command)
{
  guint n = state->layout->n_nodes;
  NodeId from = state->routed ? state->routed - 1 : n - 1;
  for (guint i = 1; i <= n; i++) {
    NodeId id = (from + i) % n;
    if (may_follow(state, id, command))
      return id;
  }
  return NODE_NONE;
}

/* ---- Sending ------------------------------------------------------------------------------- */

/* So long a device may take that goes round N seats. */
static gint64
keys_deadline(const CoreState *state, guint n, guint n_keys)
{
  return state->now + state->layout->deadline[DEADLINE_ON] + n * (PER_SEAT + n_keys * PER_KEY);
}

void
keys_press(CoreState *state, guint32 cmd, const char *const *press, const NodeId *nodes, guint n)
{
  g_autofree char *list = g_strjoinv(" ", (char **)press);
  Argument argument = {"keys", list};
  RequestSpec spec = {.cmd = cmd,
                      .owner = OWNER_TASK,
                      .operation = OP_KEYS,
                      .role = ROLE_KEYS,
                      .arguments = &argument,
                      .n_arguments = 1,
                      .deadline = keys_deadline(state, n, g_strv_length((char **)press))};
  requests_send(state, &spec, nodes, n);
}

static void
send_text(CoreState *state, Task *task, Keyboard keyboard, const Command *command)
{
  KeysTask *keys = &task->keys;
  g_autofree NodeId *nodes = g_new(NodeId, keys->n);
  guint n = 0;
  for (guint i = 0; i < keys->n; i++)
    if (keyboard_of(state, keys->seats[i].node) == keyboard)
      nodes[n++] = keys->seats[i].node;
  Argument arguments[2] = {{"text", command->text}, {"keyboard", keyboard_names[keyboard]}};
  RequestSpec spec = {.cmd = task->cmd,
                      .owner = OWNER_TASK,
                      .operation = OP_TYPE,
                      .role = ROLE_KEYS,
                      .arguments = arguments,
                      .n_arguments = 2,
                      .deadline = keys_deadline(state, n, (guint)g_utf8_strlen(command->text, -1))};
  if (n)
    requests_send(state, &spec, nodes, n);
}

static void
send_route(CoreState *state, Task *task, NodeId node, gboolean back)
{
  Argument argument = {"to", "back"};
  RequestSpec spec = {.cmd = task->cmd,
                      .owner = OWNER_TASK,
                      .operation = OP_ROUTE,
                      .role = ROLE_KEYS,
                      .arguments = &argument,
                      .n_arguments = back,
                      .deadline = DEADLINE_OWN,
                      .patience = DEADLINE_ON};
  requests_send(state, &spec, &node, 1);
}

static Task *
begin(CoreState *state, const CommandEvent *event, Verb verb, const NodeId *nodes, guint n)
{
  Task *task = task_add(state, event->cmd, TASK_KEYS, event->text);
  KeysTask *keys = &task->keys;
  keys->verb = verb;
  keys->n = keys->n_open = n;
  keys->seats = g_new0(KeysSeat, n);
  for (guint i = 0; i < n; i++)
    keys->seats[i] = (KeysSeat){.node = nodes[i], .done_t = -1};
  return task;
}

void
keys_start(CoreState *state, const CommandEvent *event, const Command *command, const Plan *plan)
{
  const NodeId *nodes = (const NodeId *)(gconstpointer)plan->nodes->data;
  Task *task = begin(state, event, command->verb, nodes, plan->nodes->len);
  task->keys.n_without = plan->without->len;
  if (command->verb == VERB_ROUTE) {
    send_route(state, task, nodes[0], FALSE);
  } else if (command->verb == VERB_TYPE) {
    send_text(state, task, KEYBOARD_US, command);
    send_text(state, task, KEYBOARD_DE, command);
  } else {
    keys_press(state, task->cmd, (const char *const *)command->press, nodes, plan->nodes->len);
  }
}

gboolean
keys_back(CoreState *state, const CommandEvent *event)
{
  if (!state->routed)
    return FALSE;
  NodeId node = state->routed - 1;
  send_route(state, begin(state, event, VERB_ROUTE, &node, 1), node, TRUE);
  return TRUE;
}

/* ---- Answers ------------------------------------------------------------------------------- */

void
keys_result(CoreState *state, Task *task, NodeId node, Verdict verdict)
{
  KeysTask *keys = &task->keys;
  KeysSeat *seat = node_search(keys->seats, keys->n, sizeof(KeysSeat), node);
  if (!seat || seat->done_t >= 0)
    return;
  seat->done_t = state->now;
  seat->verdict = verdict;
  keys->n_open--;
  if (keys->verb == VERB_ROUTE && verdict == VERDICT_OK)
    state->routed = node + 1;
}

/* From the first seat that had all its keys to the last. */
void
keys_say_spread(CoreState *state, const char *what, const KeysSeat *seats, guint n)
{
  g_autoptr(GArray) told = g_array_new(FALSE, FALSE, sizeof(NodeId));
  gint64 first = TIME_NEVER, last = 0;
  for (guint i = 0; i < n; i++) {
    const KeysSeat *seat = &seats[i];
    if (seat->verdict != VERDICT_OK)
      continue;
    g_array_append_val(told, seat->node);
    first = MIN(first, seat->done_t);
    last = MAX(last, seat->done_t);
  }
  if (told->len < 2)
    return;
  g_autofree char *names = core_fold(state, (const NodeId *)(gpointer)told->data, told->len);
  g_autofree char *spread = units_fixed((double)(last - first) / (double)TIME_SECOND, 2);
  core_note(state, SEVERITY_INFO, NODE_NONE, "%s have %s: %s s from the first to the last", names,
            what, spread);
}

/* What goes round seat by seat is taken back from those whose turn has not come. */
void
keys_stop(CoreState *state, const Task *task)
{
  for (guint i = 0; i < state->requests->len; i++) {
    const Request *request = state->requests->pdata[i];
    Event event = {.kind = EVENT_CANCEL, .cancel = {.request = request->id}};
    if (request->cmd == task->cmd)
      core_emit(state, &event);
  }
}

gboolean
keys_settled(CoreState *state, const Task *task, Verdict *verdict)
{
  const KeysTask *keys = &task->keys;
  Tally tally = {0};
  guint n_done = 0;
  if (keys->n_open > 0)
    return FALSE;
  for (guint i = 0; i < keys->n; i++) {
    tally_add(&tally, keys->seats[i].verdict);
    n_done += keys->seats[i].verdict != VERDICT_CANCELLED;
  }
  for (guint i = 0; i < keys->n_without; i++)
    tally_add(&tally, VERDICT_UNSUPPORTED);
  keys_say_spread(state, "their keys", keys->seats, keys->n);
  if (task->stopped)
    core_note(state, SEVERITY_WARNING, NODE_NONE, "%u done, %u not sent", n_done, keys->n - n_done);
  *verdict = tally_verdict(&tally);
  return TRUE;
}
