#include "main_changes.h"

#include <string.h>

#include "model/nodeset.h"

/* Seen and not yet told for so long at most. */
#define TOGETHER TIME_SECOND
/* A rate swings about its limit: what is full is free when it was not full for so long. */
#define FREE_AFTER (2 * TIME_SECOND)

/* What was told of a node last. */
typedef struct {
  PowerState power;
  Stage stage;
  gboolean in_use;
  char *fault;
  gboolean waits; /* stands in `expected` */
} Known;

/* `kernel` of some nodes. */
typedef struct {
  const char *word;
  gint64 t;
  GArray *nodes; /* of NodeId, in the order seen */
} Change;

/* A port or link that may be full. */
typedef struct {
  char *name;
  NodeId server; /* NODE_NONE: a link */
  guint index;
  gboolean full;
  gint64 full_t; /* last seen full */
} Limit;

struct Changes {
  const Layout *layout;
  ChangesTell tell;
  gpointer data;
  Known *known;
  GArray *expected; /* of NodeId */
  GArray *changes;
  GArray *limits;
  gint64 looked_t; /* at the limits */
};

static void
change_clear(gpointer data)
{
  g_array_unref(((Change *)data)->nodes);
}

static void
limit_clear(gpointer data)
{
  g_free(((Limit *)data)->name);
}

/* Takes NAME. */
static void
add_limit(Changes *changes, char *name, NodeId server, guint index)
{
  Limit limit = {.name = name, .server = server, .index = index};
  g_array_append_val(changes->limits, limit);
}

static void
add_limits(Changes *changes)
{
  const Layout *layout = changes->layout;
  for (NodeId id = 0; id < layout->n_nodes; id++) {
    const LayoutNode *node = layout_node(layout, id);
    for (guint i = 0; node->as_server != NULL && i < node->as_server->n_ports; i++)
      add_limit(changes, g_strconcat(node->name, "/", node->as_server->ports[i].name, NULL), id, i);
  }
  for (guint i = 0; i < layout->n_links; i++)
    add_limit(changes, g_strdup(layout->links[i].name), NODE_NONE, i);
}

Changes *
changes_new(const Layout *layout, ChangesTell tell, gpointer data)
{
  Changes *changes = g_new0(Changes, 1);
  changes->layout = layout;
  changes->tell = tell;
  changes->data = data;
  changes->known = g_new0(Known, layout->n_nodes);
  changes->expected = g_array_new(FALSE, FALSE, sizeof(NodeId));
  changes->changes = g_array_new(FALSE, FALSE, sizeof(Change));
  changes->limits = g_array_new(FALSE, FALSE, sizeof(Limit));
  g_array_set_clear_func(changes->changes, change_clear);
  g_array_set_clear_func(changes->limits, limit_clear);
  add_limits(changes);
  return changes;
}

void
changes_free(Changes *changes)
{
  if (changes == NULL)
    return;
  for (NodeId id = 0; id < changes->layout->n_nodes; id++)
    g_free(changes->known[id].fault);
  g_free(changes->known);
  g_array_unref(changes->expected);
  g_array_unref(changes->changes);
  g_array_unref(changes->limits);
  g_free(changes);
}

static void
expect(Changes *changes, NodeId node)
{
  if (node >= changes->layout->n_nodes || changes->known[node].waits)
    return;
  changes->known[node].waits = TRUE;
  g_array_append_val(changes->expected, node);
}

void
changes_expect(Changes *changes, const Event *event)
{
  if (event->kind == EVENT_OBSERVE) {
    expect(changes, event->observe.node);
  } else if (event->kind == EVENT_RESULT) {
    expect(changes, event->result.node);
  } else if (event->kind == EVENT_NOTE) {
    expect(changes, event->note.node);
  } else if (event->kind == EVENT_LINK) { /* with a backend goes what it knew */
    for (NodeId id = 0; id < changes->layout->n_nodes; id++)
      expect(changes, id);
  }
}

static void
add(Changes *changes, gint64 t, const char *word, NodeId node)
{
  for (guint i = 0; i < changes->changes->len; i++) {
    Change *change = &g_array_index(changes->changes, Change, i);
    if (g_str_equal(change->word, word)) {
      g_array_append_val(change->nodes, node);
      return;
    }
  }
  Change change = {word, t, g_array_new(FALSE, FALSE, sizeof(NodeId))};
  g_array_append_val(change.nodes, node);
  g_array_append_val(changes->changes, change);
}

static void
look_at_fault(Changes *changes, gint64 t, Known *known, const char *fault)
{
  if (g_strcmp0(known->fault, fault) == 0)
    return;
  g_free(known->fault);
  known->fault = g_strdup(fault);
  if (fault == NULL)
    return;
  changes_flush(changes);
  changes->tell(t, '!', fault, changes->data);
}

static void
look_at_node(Changes *changes, gint64 t, NodeId id, const NodeState *now)
{
  static const char *const powers[] = {
      [POWER_UNKNOWN] = "power unknown", [POWER_OFF] = "off", [POWER_ON] = "on"};
  Known *known = &changes->known[id];
  known->waits = FALSE;
  if (now->power != known->power)
    add(changes, t, powers[now->power], id);
  if (now->stage != known->stage && now->stage != STAGE_NONE)
    add(changes, t, changes->layout->stages[now->stage].name, id);
  if (now->in_use != known->in_use)
    add(changes, t, now->in_use ? "in use" : "free", id);
  known->power = now->power;
  known->stage = now->stage;
  known->in_use = now->in_use;
  look_at_fault(changes, t, known, now->fault);
}

static gboolean
is_full(const CoreState *state, const Limit *limit)
{
  if (limit->server != NODE_NONE)
    return state_port_full(state, limit->server, limit->index);
  return state_link_full(state, limit->index, TRUE) || state_link_full(state, limit->index, FALSE);
}

/* The sentence says who is behind it, unless a failure takes its place. */
static void
tell_full(Changes *changes, const CoreState *state, const char *names)
{
  Severity severity;
  g_autofree char *sentence = state_sentence(state, &severity);
  g_autofree char *plain = g_strconcat(names, " full", NULL);
  changes->tell(state_now(state), '^', severity == SEVERITY_WARNING ? sentence : plain,
                changes->data);
}

static void
look_at_limits(Changes *changes, const CoreState *state)
{
  gint64 now = state_now(state);
  g_autoptr(GString) full = g_string_new(NULL);
  g_autoptr(GString) free = g_string_new(NULL);
  for (guint i = 0; i < changes->limits->len; i++) {
    Limit *limit = &g_array_index(changes->limits, Limit, i);
    GString *list = NULL;
    if (is_full(state, limit)) {
      list = limit->full ? NULL : full;
      limit->full = TRUE;
      limit->full_t = now;
    } else if (limit->full && now - limit->full_t >= FREE_AFTER) {
      limit->full = FALSE;
      list = free;
    }
    if (list != NULL)
      g_string_append_printf(list, "%s%s", list->len > 0 ? ", " : "", limit->name);
  }
  if (full->len == 0 && free->len == 0)
    return;
  changes_flush(changes);
  if (full->len > 0)
    tell_full(changes, state, full->str);
  g_string_append(free, " free again");
  if (free->str[0] != ' ')
    changes->tell(now, '^', free->str, changes->data);
}

void
changes_look(Changes *changes, const CoreState *state, gint64 now)
{
  for (guint i = 0; i < changes->expected->len; i++) {
    NodeId id = g_array_index(changes->expected, NodeId, i);
    look_at_node(changes, state_now(state), id, state_node(state, id));
  }
  g_array_set_size(changes->expected, 0);
  if (changes->changes->len > 0 && now - g_array_index(changes->changes, Change, 0).t >= TOGETHER)
    changes_flush(changes);
  /* By the time of what was folded: NOW is ahead of it where a fast clock is not kept up with. */
  gint64 folded = state_now(state);
  if (folded - changes->looked_t >= TIME_SECOND) {
    changes->looked_t = folded;
    look_at_limits(changes, state);
  }
}

void
changes_flush(Changes *changes)
{
  for (guint i = 0; i < changes->changes->len; i++) {
    const Change *change = &g_array_index(changes->changes, Change, i);
    g_autofree const char **names = g_new(const char *, change->nodes->len);
    for (guint n = 0; n < change->nodes->len; n++)
      names[n] = layout_node(changes->layout, g_array_index(change->nodes, NodeId, n))->name;
    g_autofree char *folded = nodeset_fold_names(names, change->nodes->len);
    g_autofree char *text = g_strconcat(change->word, " ", folded, NULL);
    changes->tell(change->t, '*', text, changes->data);
  }
  g_array_set_size(changes->changes, 0);
}
