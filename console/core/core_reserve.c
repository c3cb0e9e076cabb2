/* Reservations: seats held until a time. They are a guard against slips, so they bind whoever gives
 * a command, and `including in-use` is what it takes to act all the same. */
#include "core/core_private.h"

#include <string.h>

static void
hold(CoreState *state, NodeId id, gint64 until, const char *why)
{
  NodeState *seen = &state->nodes[id].seen;
  core_undue(state, DUE_RESERVED, seen->reserved_t < 0 ? TIME_NEVER : seen->reserved_t);
  g_free(seen->reserved);
  seen->reserved = core_bounded(why);
  seen->reserved_t = until;
  core_due(state, DUE_RESERVED, until);
}

static gboolean
let_go(CoreState *state, NodeId id)
{
  NodeState *seen = &state->nodes[id].seen;
  if (seen->reserved_t < 0)
    return FALSE;
  core_undue(state, DUE_RESERVED, seen->reserved_t);
  g_clear_pointer(&seen->reserved, g_free);
  seen->reserved_t = -1;
  return TRUE;
}

gint64
reservations_due(const CoreState *state)
{
  gint64 due = TIME_NEVER;
  for (NodeId id = 0; id < state->layout->n_nodes; id++)
    if (state->nodes[id].seen.reserved_t >= 0)
      due = MIN(due, state->nodes[id].seen.reserved_t);
  return due;
}

static void
say(CoreState *state, const GArray *nodes, const char *what)
{
  if (nodes->len == 0)
    return;
  g_autofree char *names = core_fold(state, (const NodeId *)(gpointer)nodes->data, nodes->len);
  core_note(state, SEVERITY_INFO, NODE_NONE, "%s: %s", names, what);
}

void
reservations_wake(CoreState *state)
{
  if (state->due[DUE_RESERVED] > state->now)
    return;
  g_autoptr(GArray) over = g_array_new(FALSE, FALSE, sizeof(NodeId));
  for (NodeId id = 0; id < state->layout->n_nodes; id++)
    if (state->nodes[id].seen.reserved_t <= state->now && let_go(state, id))
      g_array_append_val(over, id);
  say(state, over, "the reservation is over");
}

/* `until N s WHO-AND-WHY`; the length of what stands before the last, 0 when it reads otherwise. */
static gsize
read_until(const char *value, gint64 *duration)
{
  const char *const begin = "until ";
  if (!g_str_has_prefix(value, begin))
    return 0;
  const char *number = value + strlen(begin);
  gsize digits = strspn(number, "0123456789");
  if (digits == 0 || digits > 9 || !g_str_has_prefix(number + digits, " s "))
    return 0;
  *duration = g_ascii_strtoll(number, NULL, 10) * TIME_SECOND;
  return *duration > 0 && *duration <= RESERVE_MAX ? strlen(begin) + digits + strlen(" s ") : 0;
}

void
reserve_observe(CoreState *state, const ObserveEvent *observe)
{
  gint64 duration;
  gsize length = read_until(observe->value, &duration);
  gboolean ends = g_str_equal(observe->value, "no");
  if (length > 0)
    hold(state, observe->node, state->now + duration, observe->value + length);
  else if (ends)
    let_go(state, observe->node);
  g_autofree char *text = g_strdup_printf(length > 0 ? "reserved %s"
                                          : ends     ? "not reserved any more"
                                                     : "a reservation that means nothing: %s",
                                          observe->value);
  log_add(state, length > 0 || ends ? SEVERITY_INFO : SEVERITY_WARNING, observe->node,
          observe->source, text);
}

/* The nodes of COMMAND's set; NULL when it has been answered. */
static GArray *
named(CoreState *state, const CommandEvent *event, const Command *command)
{
  g_autoptr(GError) error = NULL;
  GArray *nodes = resolve_set(state, command->set, TRUE, &error);
  if (nodes != NULL)
    return nodes;
  core_note(state, SEVERITY_ERROR, NODE_NONE, "%s", error->message);
  core_done(state, event->cmd, event->text, VERDICT_FAILED);
  return NULL;
}

void
reserve_start(CoreState *state, const CommandEvent *event, const Command *command)
{
  if (command->clock != NULL) {
    core_note(state, SEVERITY_ERROR, NODE_NONE, "%s was not turned into a duration",
              command->clock);
    core_done(state, event->cmd, event->text, VERDICT_FAILED);
    return;
  }
  g_autoptr(GArray) nodes = named(state, event, command);
  if (nodes == NULL)
    return;
  g_autoptr(GArray) again = g_array_new(FALSE, FALSE, sizeof(NodeId));
  for (guint i = 0; i < nodes->len; i++) {
    NodeId id = g_array_index(nodes, NodeId, i);
    if (state->nodes[id].seen.reserved_t >= 0)
      g_array_append_val(again, id);
    hold(state, id, state->now + command->duration, command->text);
  }
  say(state, again, "reserved before already; this takes its place");
  core_done(state, event->cmd, event->text, VERDICT_OK);
}

void
release_start(CoreState *state, const CommandEvent *event, const Command *command)
{
  g_autoptr(GArray) nodes = named(state, event, command);
  if (nodes == NULL)
    return;
  guint n_held = 0;
  for (guint i = 0; i < nodes->len; i++)
    n_held += let_go(state, g_array_index(nodes, NodeId, i));
  if (n_held == 0)
    say(state, nodes, "not reserved");
  core_done(state, event->cmd, event->text, VERDICT_OK);
}
