/* Serial consoles, opened and closed by command, or all open where the layout says so: what they
 * say stands in the log. */
#include "core/core_private.h"

/* The latest request that watches NODE's console; 0: none does. */
static guint32
watching(const CoreState *state, NodeId node)
{
  for (guint i = state->requests->len; i > 0; i--) {
    const Request *request = state->requests->pdata[i - 1];
    if (request->owner == OWNER_CONSOLE && request->nodes[0] == node)
      return request->id;
  }
  return 0;
}

/* One request a node, so that each can be ended alone. Who asks for it in so many words takes it
 * from whoever has it. */
static void
open_console(CoreState *state, guint32 cmd, NodeId node)
{
  Argument arguments[] = {{"what", "console"}, {"from", "anyone"}};
  RequestSpec spec = {.cmd = cmd,
                      .owner = OWNER_CONSOLE,
                      .operation = OP_WATCH,
                      .role = ROLE_CONSOLE,
                      .arguments = arguments,
                      .n_arguments = cmd != 0 ? 2 : 1,
                      .deadline = TIME_NEVER};
  requests_send(state, &spec, &node, 1);
}

static void
close_console(CoreState *state, guint32 request)
{
  Event event = {.kind = EVENT_CANCEL, .cancel = {.request = request}};
  core_emit(state, &event);
}

gboolean
console_is_open(const CoreState *state, NodeId node)
{
  return watching(state, node) != 0;
}

static void
say_without(CoreState *state, const GArray *without)
{
  g_autofree char *names =
      core_fold(state, (const NodeId *)(gconstpointer)without->data, without->len);
  core_note(state, SEVERITY_WARNING, NODE_NONE, "no console backend: %s", names);
}

void
consoles_link_up(CoreState *state, guint backend)
{
  for (guint i = 0; state->layout->watch_consoles && i < state->map->n_clients; i++) {
    NodeId node = state->map->clients[i];
    if (state->map->backend[ROLE_CONSOLE][node] == (int)backend && !watching(state, node))
      open_console(state, 0, node);
  }
}

/* A watch of core's own may be waiting for somebody else to let go of it: it makes way for one that
 * does not. */
static void
take_console(CoreState *state, guint32 cmd, NodeId node)
{
  guint32 request = watching(state, node);
  if (request && !state->layout->watch_consoles)
    return;
  if (request)
    close_console(state, request);
  open_console(state, cmd, node);
}

/* It is done when the requests are out. How they fare shows in the log. */
void
console_start(CoreState *state, const CommandEvent *event, const Command *command)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) nodes = resolve_set(state, command->set, TRUE, &error);
  if (!nodes) {
    core_note(state, SEVERITY_ERROR, NODE_NONE, "%s", error->message);
    core_done(state, event->cmd, event->text, VERDICT_FAILED);
    return;
  }
  g_autoptr(GArray) without = g_array_new(FALSE, FALSE, sizeof(NodeId));
  Tally tally = {0};
  for (guint i = 0; i < nodes->len; i++) {
    NodeId node = g_array_index(nodes, NodeId, i);
    guint32 request = watching(state, node);
    gboolean can = state->map->backend[ROLE_CONSOLE][node] >= 0;
    tally_add(&tally, can ? VERDICT_OK : VERDICT_UNSUPPORTED);
    if (!can)
      g_array_append_val(without, node);
    else if (command->console_off && request)
      close_console(state, request);
    else if (!command->console_off)
      take_console(state, event->cmd, node);
  }
  if (without->len)
    say_without(state, without);
  core_done(state, event->cmd, event->text, tally_verdict(&tally));
}
