#include "core/core_private.h"

#include "model/nodeset.h"

#include <string.h>

typedef struct {
  const CoreState *state;
  gboolean bare;
  GPtrArray *firsts; /* what each `first(…)` holds; the set names it @_0, @_1 … */
} Resolver;

/* ---- Groups -------------------------------------------------------------------------------- */

typedef gboolean (*Member)(const NodeState *seen);

static gboolean
is_on(const NodeState *seen)
{
  return seen->power == POWER_ON;
}

static gboolean
is_off(const NodeState *seen)
{
  return seen->power == POWER_OFF;
}

static gboolean
is_unknown(const NodeState *seen)
{
  return seen->power == POWER_UNKNOWN;
}

static gboolean
is_failed(const NodeState *seen)
{
  return seen->fault != NULL;
}

static gboolean
is_booting(const NodeState *seen)
{
  return seen->booting;
}

static gboolean
is_in_use(const NodeState *seen)
{
  return seen->in_use;
}

static gboolean
is_free(const NodeState *seen)
{
  return !seen->in_use && seen->reserved_t < 0;
}

/* Of clients: a server is named, never met by accident. */
static const struct {
  const char *name;
  Member member;
} live_groups[] = {
    {"on", is_on},           {"off", is_off},      {"unknown", is_unknown}, {"failed", is_failed},
    {"booting", is_booting}, {"inuse", is_in_use}, {"free", is_free},
};

static Member
live_group(const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS(live_groups); i++)
    if (g_str_equal(live_groups[i].name, name))
      return live_groups[i].member;
  return NULL;
}

static gboolean
has_power_group(const char *text)
{
  static const char *const groups[] = {"@on", "@off", "@unknown", "@failed"};
  for (const char *at = strchr(text, '@'); at != NULL; at = strchr(at + 1, '@'))
    for (guint i = 0; i < G_N_ELEMENTS(groups); i++) {
      gsize n = strlen(groups[i]);
      if (strncmp(at, groups[i], n) == 0 && !g_ascii_isalnum(at[n]) && !strchr("._-", at[n] ?: ' '))
        return TRUE;
    }
  return FALSE;
}

gboolean
core_resolves_later(const CoreState *state, const char *text)
{
  return has_power_group(text) && requests_look(state);
}

static char *
fold(const CoreState *state, const NodeId *nodes, guint n)
{
  return n ? core_fold(state, nodes, n) : g_strdup("");
}

static char *
fold_live(const CoreState *state, Member member)
{
  g_autofree NodeId *nodes = g_new(NodeId, state->map->n_clients + 1);
  guint n = 0;
  for (guint i = 0; i < state->map->n_clients; i++)
    if (member(&state->nodes[state->map->clients[i]].seen))
      nodes[n++] = state->map->clients[i];
  return fold(state, nodes, n);
}

static gboolean
is_group(const CoreState *state, const char *name)
{
  const NodeId *nodes;
  guint n;
  return live_group(name) || layout_group(state->layout, name, &nodes, &n);
}

/* Every name that may stand there, for "did you mean"; labels of boots too. Free with g_free. */
static const char **
known_names(const CoreState *state, gboolean labels)
{
  const Layout *layout = state->layout;
  GPtrArray *names = g_ptr_array_new();
  for (guint i = 0; labels && i < state->boots->len; i++)
    g_ptr_array_add(names, state_boot(state, i)->label);
  for (guint i = 0; i < layout->n_rooms; i++)
    g_ptr_array_add(names, layout->rooms[i].name);
  for (guint i = 0; i < layout->n_blocks; i++)
    g_ptr_array_add(names, layout->blocks[i].name);
  for (guint i = 0; i < G_N_ELEMENTS(live_groups); i++)
    g_ptr_array_add(names, (gpointer)live_groups[i].name);
  for (NodeId id = 0; id < layout->n_nodes; id++)
    g_ptr_array_add(names, layout->nodes[id].name);
  g_ptr_array_add(names, NULL);
  return (const char **)g_ptr_array_free(names, FALSE);
}

static void
set_unknown(const CoreState *state, const char *what, const char *name, gboolean labels,
            GError **error)
{
  g_autofree const char **known = known_names(state, labels);
  const char *nearest = units_nearest_word(name, known);
  g_set_error(error, COMMAND_ERROR, 0,
              nearest ? "there is no %s %s; did you mean %s?" : "there is no %s %s", what, name,
              nearest);
}

static char *
give_group(const char *name, gpointer data, GError **error)
{
  const Resolver *resolver = data;
  const CoreState *state = resolver->state;
  if (name[0] == '_') {
    guint64 index;
    if (resolver->firsts->len > 0 &&
        units_parse_count(name + 1, resolver->firsts->len - 1, &index, NULL))
      return g_strdup(resolver->firsts->pdata[index]);
  }
  Member member = live_group(name);
  if (member)
    return fold_live(state, member);
  const NodeId *nodes;
  guint n;
  if (layout_group(state->layout, name, &nodes, &n))
    return fold(state, nodes, n);
  set_unknown(state, "group", name, FALSE, error);
  return NULL;
}

/* ---- first(N,SET), and groups without their @ ---------------------------------------------- */

/* Nesting is bounded by the parser, which reads every set before it comes here. */
static GArray *resolve(Resolver *resolver, const char *text, GError **error);

/* The end of the operand that begins at TEXT: an operator outside brackets, or the end. */
static const char *
operand_end(const char *text)
{
  int brackets = 0, parentheses = 0;
  for (; *text; text++) {
    if (*text == '[')
      brackets++;
    else if (*text == ']')
      brackets--;
    else if (*text == '(')
      parentheses++;
    else if (*text == ')')
      parentheses--;
    else if (strchr(",!&^", *text) && brackets <= 0 && parentheses <= 0)
      break;
  }
  return text;
}

static gboolean
append_first(Resolver *resolver, const char *operand, GString *out, GError **error)
{
  gsize length = strlen(operand);
  const char *comma = strchr(operand, ',');
  guint64 count = 0;
  g_autofree char *number =
      comma ? g_strstrip(g_strndup(operand + 6, (gsize)(comma - operand) - 6)) : NULL;
  if (!comma || operand[length - 1] != ')' ||
      !units_parse_count(number, LAYOUT_MAX_NODES, &count, NULL) || count == 0) {
    g_set_error(error, COMMAND_ERROR, 0, "%s should read first(N,SET), with N from 1", operand);
    return FALSE;
  }
  g_autofree char *inner = g_strndup(comma + 1, length - (gsize)(comma + 1 - operand) - 1);
  g_autoptr(GArray) nodes = resolve(resolver, inner, error);
  if (!nodes)
    return FALSE;
  g_string_append_printf(out, "@_%u", resolver->firsts->len);
  g_ptr_array_add(resolver->firsts, fold(resolver->state, (const NodeId *)(gpointer)nodes->data,
                                         MIN(nodes->len, (guint)count)));
  return TRUE;
}

static gboolean
append_operand(Resolver *resolver, const char *operand, GString *out, GError **error)
{
  const CoreState *state = resolver->state;
  if (g_str_has_prefix(operand, "first("))
    return append_first(resolver, operand, out, error);
  if (resolver->bare && layout_find(state->layout, operand) == NODE_NONE &&
      is_group(state, operand))
    g_string_append_c(out, '@');
  g_string_append(out, operand);
  return TRUE;
}

static char *
rewrite(Resolver *resolver, const char *text, GError **error)
{
  g_autoptr(GString) out = g_string_new(NULL);
  for (;;) {
    const char *end = operand_end(text);
    g_autofree char *operand = g_strstrip(g_strndup(text, (gsize)(end - text)));
    if (!append_operand(resolver, operand, out, error))
      return NULL;
    if (!*end)
      return g_string_free(g_steal_pointer(&out), FALSE);
    g_string_append_c(out, *end);
    text = end + 1;
  }
}

static int
compare_ids(gconstpointer a, gconstpointer b)
{
  NodeId x = *(const NodeId *)a, y = *(const NodeId *)b;
  return (x > y) - (x < y);
}

static void
set_no_node(const Resolver *resolver, const char *name, GError **error)
{
  if (resolver->bare)
    set_unknown(resolver->state, "node or group", name, FALSE, error);
  else if (is_group(resolver->state, name))
    g_set_error(error, COMMAND_ERROR, 0, "%s is a group; where a label may stand it is written @%s",
                name, name);
  else
    set_unknown(resolver->state, "boot or node", name, TRUE, error);
}

static GArray *
resolve(Resolver *resolver, const char *text, GError **error)
{
  g_autofree char *plain = rewrite(resolver, text, error);
  g_autoptr(Nodeset) set = plain ? nodeset_parse(plain, give_group, resolver, error) : NULL;
  if (!set)
    return NULL;
  g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));
  for (guint i = 0; i < nodeset_count(set); i++) {
    NodeId id = layout_find(resolver->state->layout, nodeset_name(set, i));
    if (id == NODE_NONE) {
      set_no_node(resolver, nodeset_name(set, i), error);
      return NULL;
    }
    g_array_append_val(nodes, id);
  }
  g_array_sort(nodes, compare_ids);
  return g_steal_pointer(&nodes);
}

GArray *
resolve_set(const CoreState *state, const char *text, gboolean bare, GError **error)
{
  g_autoptr(GPtrArray) firsts = g_ptr_array_new_with_free_func(g_free);
  Resolver resolver = {state, bare, firsts};
  GArray *nodes = resolve(&resolver, text, error);
  if (nodes && nodes->len == 0) {
    g_set_error(error, COMMAND_ERROR, 0, "%s holds no node now", text);
    g_clear_pointer(&nodes, g_array_unref);
  }
  return nodes;
}

/* ---- Commands ------------------------------------------------------------------------------ */

/* After `wait boot` a word that is both would mean the boot alone, and the node never. */
static gboolean
check_label(const CoreState *state, const Command *command, GError **error)
{
  if (command->label == NULL || command->load_stop ||
      layout_find(state->layout, command->label) == NODE_NONE)
    return TRUE;
  g_set_error(error, COMMAND_ERROR, 0, "%s is a node here, and cannot be a label as well",
              command->label);
  return FALSE;
}

static gboolean
check_stage(const CoreState *state, const char *stage, GError **error)
{
  if (layout_find_stage(state->layout, stage) > 0)
    return TRUE;
  g_set_error(error, COMMAND_ERROR, 0, "no boot here has a stage %s", stage);
  return FALSE;
}

static gboolean
replace_set(const CoreState *state, char **set, gboolean bare, GError **error)
{
  g_autoptr(GArray) nodes = resolve_set(state, *set, bare, error);
  if (!nodes)
    return FALSE;
  g_free(*set);
  *set = core_fold(state, (const NodeId *)(gpointer)nodes->data, nodes->len);
  return TRUE;
}

char *
core_resolve(const CoreState *state, const char *text, GError **error)
{
  g_autoptr(Command) command = command_parse(text, error);
  if (!command || !check_label(state, command, error))
    return NULL;
  if (command->verb == VERB_ROUTE && command->route == ROUTE_NEXT) {
    NodeId next = keys_next(state, command);
    if (next == NODE_NONE) {
      g_set_error_literal(error, COMMAND_ERROR, 0,
                          "there is no seat to show: they are in use, or nothing carries their "
                          "pictures");
      return NULL;
    }
    command->route = ROUTE_NODE;
    command->set = g_strdup(state->layout->nodes[next].name);
  }
  if (command->set && !replace_set(state, &command->set, TRUE, error))
    return NULL;
  if (command->stage && !check_stage(state, command->stage, error))
    return NULL;
  /* After `wait boot` a label goes before a node, and groups need their @. */
  gboolean by_label =
      command->wait == WAIT_LOAD ||
      (command->wait == WAIT_BOOT && command->target && boot_find(state, command->target, 0));
  if (command->verb == VERB_WAIT && !by_label &&
      !replace_set(state, &command->target, command->wait == WAIT_POWER, error))
    return NULL;
  return command_print(command);
}
