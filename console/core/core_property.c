#include "core/core_private.h"

#include <string.h>

/* ---- Paths --------------------------------------------------------------------------------- */

static gboolean fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static gboolean
fail(GError **error, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  if (error)
    *error = g_error_new_valist(COMMAND_ERROR, 0, format, arguments);
  va_end(arguments);
  return FALSE;
}

static gboolean
fail_unknown(const char *what, const char *name, const char *const *known, GError **error)
{
  const char *nearest = error ? units_nearest_word(name, known) : NULL;
  if (nearest)
    return fail(error, "there is no %s %s; did you mean %s?", what, name, nearest);
  return fail(error, "there is no %s %s", what, name);
}

static gboolean
split_link(const Layout *layout, const char *path, const char *dot, NodeId *node, GError **error)
{
  g_autofree char *name = g_strndup(path + strlen("link:"), (gsize)(dot - path) - strlen("link:"));
  int link = layout_find_link(layout, name);
  if (link >= 0) {
    *node = layout->links[link].from;
    return TRUE;
  }
  g_autofree const char **known = g_new0(const char *, layout->n_links + 1);
  for (guint i = 0; i < layout->n_links; i++)
    known[i] = layout->links[i].name;
  return fail_unknown("link", name, known, error);
}

static gboolean
find_owner(const Layout *layout, const char *name, NodeId *node, GError **error)
{
  *node = layout_find(layout, name);
  if (*node != NODE_NONE)
    return TRUE;
  g_autofree const char **known = g_new0(const char *, layout->n_nodes + 1);
  for (guint i = 0; i < layout->n_nodes; i++)
    known[i] = layout->nodes[i].name;
  return fail_unknown("node", name, known, error);
}

static gboolean
check_part(const LayoutNode *node, const char *part, GError **error)
{
  const LayoutServer *server = node->as_server;
  if (!server || layout_find_port(server, part) >= 0 || layout_find_bond(server, part) >= 0)
    return TRUE;
  g_autofree const char **known = g_new0(const char *, server->n_ports + server->n_bonds + 1);
  for (guint i = 0; i < server->n_bonds; i++)
    known[i] = server->bonds[i].name;
  for (guint i = 0; i < server->n_ports; i++)
    known[server->n_bonds + i] = server->ports[i].name;
  g_autofree char *what = g_strdup_printf("port or bond of %s called", node->name);
  return fail_unknown(what, part, known, error);
}

/* NODE and FACT (free it) of PATH; FALSE with an error that names the nearest. */
static gboolean
split_path(const Layout *layout, const char *path, NodeId *node, char **fact, GError **error)
{
  const char *dot = strrchr(path, '.');
  if (!dot || !dot[1] || dot == path)
    return fail(error,
                "%s is no property: write NODE.PROPERTY, NODE/PORT.PROPERTY or "
                "link:A-B.PROPERTY",
                path);
  if (g_str_has_prefix(path, "link:")) {
    if (!split_link(layout, path, dot, node, error))
      return FALSE;
    *fact = g_strdup(path);
    return TRUE;
  }
  g_autofree char *owner = g_strndup(path, (gsize)(dot - path));
  char *slash = strchr(owner, '/');
  if (slash)
    *slash = '\0';
  if (!find_owner(layout, owner, node, error))
    return FALSE;
  if (slash && !check_part(&layout->nodes[*node], slash + 1, error))
    return FALSE;
  *fact = slash ? g_strconcat(slash + 1, dot, NULL) : g_strdup(dot + 1);
  return TRUE;
}

/* ---- Values -------------------------------------------------------------------------------- */

static const char *
server_default(const CoreState *state, NodeId id, const char *fact)
{
  const LayoutServer *server = state->layout->nodes[id].as_server;
  if (g_str_equal(fact, "nfsd"))
    return state->map->nfsd[id];
  if (g_str_equal(fact, "transmit-ceiling"))
    return state->map->ceiling[id];
  if (g_str_equal(fact, "disk-rate"))
    return state->map->disk_rate[id];
  const char *dot = strrchr(fact, '.');
  if (!dot)
    return NULL;
  g_autofree char *part = g_strndup(fact, (gsize)(dot - fact));
  int bond = layout_find_bond(server, part);
  if (bond >= 0 && g_str_equal(dot, ".policy"))
    return bond_policy_name(server->bonds[bond].policy);
  if (bond >= 0 && g_str_equal(dot, ".era"))
    return bond_era_name(server->bonds[bond].era);
  if (layout_find_port(server, part) >= 0 && g_str_equal(dot, ".state"))
    return "up";
  return NULL;
}

static const char *
property_default(const CoreState *state, NodeId id, const char *fact)
{
  if (g_str_has_prefix(fact, "link:"))
    return g_str_has_suffix(fact, ".state") ? "up" : NULL;
  if (state->layout->nodes[id].as_server)
    return server_default(state, id, fact);
  if (g_str_equal(fact, "mac"))
    return state->map->mac[id];
  if (state->layout->nodes[id].kind == NODE_CLIENT && g_str_equal(fact, "eth0.state"))
    return "up";
  return NULL;
}

static Property *
find_property(const Node *node, const char *fact)
{
  for (guint i = 0; i < node->n_properties; i++)
    if (g_str_equal(node->properties[i].fact, fact))
      return &node->properties[i];
  return NULL;
}

const char *
state_property(const CoreState *state, const char *path)
{
  NodeId id;
  g_autofree char *fact = NULL;
  if (!split_path(state->layout, path, &id, &fact, NULL))
    return NULL;
  const Property *property = find_property(&state->nodes[id], fact);
  return property ? property->value : property_default(state, id, fact);
}

/* ---- What follows from them ---------------------------------------------------------------- */

/* `10.0.0.9:2049 10.0.0.1:873`: the server's end, the client's. */
static gboolean
parse_flow(const char *text, guint32 ip[2], guint16 port[2])
{
  g_auto(GStrv) ends = g_strsplit(text, " ", 3);
  if (g_strv_length(ends) != 2)
    return FALSE;
  for (guint i = 0; i < 2; i++) {
    char *colon = strchr(ends[i], ':');
    guint64 number;
    if (!colon || !g_ascii_string_to_unsigned(colon + 1, 10, 0, G_MAXUINT16, &number, NULL))
      return FALSE;
    *colon = '\0';
    port[i] = (guint16)number;
    if (!ip_parse(ends[i], &ip[i]))
      return FALSE;
  }
  return TRUE;
}

/* Where the hash looks at layer-4 ports, by those of the connection that was seen; -1: of none. */
static int
flow_port(const CoreState *state, NodeId server, NodeId client)
{
  const LayoutBond *bond = &state->layout->nodes[server].as_server->bonds[0];
  const BondState *bond_state = &state->bonds[state->map->first_bond[server]];
  const Property *flow = find_property(&state->nodes[client], "flow");
  guint32 ip[2];
  guint16 port[2];
  if (!flow || bond_state->policy != BOND_LAYER3_4 || !parse_flow(flow->value, ip, port))
    return -1;
  guint32 hash = bond_hash_ipv4(bond_state->policy, bond_state->era, &bond->mac,
                                &state->nodes[client].seen.mac, ip[0], ip[1], port[0], port[1]);
  return bond_port(bond_state->era, hash, bond_state->usable, bond->n_ports);
}

/* FALSE: its bond was seen in a mode that sends by something else than a hash. */
static gboolean
bond_hashes(const CoreState *state, NodeId server)
{
  static const char *const hashing[] = {"balance-xor", "802.3ad", "active-backup", NULL};
  g_autofree char *fact =
      g_strconcat(state->layout->nodes[server].as_server->bonds[0].name, ".mode", NULL);
  const Property *mode = find_property(&state->nodes[server], fact);
  return !mode || g_strv_contains(hashing, mode->value);
}

static void
update_port(CoreState *state, NodeId client)
{
  NodeId server = state->layout->nodes[client].server;
  Node *node = &state->nodes[client];
  node->seen.port = -1;
  if (server == NODE_NONE || !state->layout->nodes[server].as_server ||
      state->layout->nodes[server].as_server->n_bonds == 0 || !bond_hashes(state, server))
    return;
  node->seen.port =
      layout_bond_port(state->layout, server, 0, &state->bonds[state->map->first_bond[server]],
                       client, &node->seen.mac);
  if (node->seen.port < 0)
    node->seen.port = flow_port(state, server, client);
}

static void
update_ports(CoreState *state, NodeId server)
{
  for (guint i = 0; i < state->map->n_clients; i++)
    if (state->layout->nodes[state->map->clients[i]].server == server)
      update_port(state, state->map->clients[i]);
}

void
property_init(CoreState *state)
{
  state->bonds = g_new0(BondState, state->map->n_bonds);
  state->port_up = g_new(gboolean, state->map->n_ports);
  state->port_speed = g_new(double, state->map->n_ports);
  state->link_up = g_new(gboolean, state->layout->n_links);
  for (guint i = 0; i < state->map->n_ports; i++)
    state->port_up[i] = TRUE;
  for (guint i = 0; i < state->layout->n_links; i++)
    state->link_up[i] = TRUE;
  for (NodeId id = 0; id < state->layout->n_nodes; id++) {
    const LayoutServer *server = state->layout->nodes[id].as_server;
    for (guint p = 0; server && p < server->n_ports; p++)
      state->port_speed[state->map->first_port[id] + p] = server->ports[p].speed;
    for (guint b = 0; server && b < server->n_bonds; b++)
      bond_state_init(&state->bonds[state->map->first_bond[id] + b], server, &server->bonds[b]);
  }
  for (guint i = 0; i < state->map->n_clients; i++)
    update_port(state, state->map->clients[i]);
}

static void
apply_port(CoreState *state, NodeId id, guint port, gboolean up)
{
  const LayoutServer *server = state->layout->nodes[id].as_server;
  state->port_up[state->map->first_port[id] + port] = up;
  int bond = server->ports[port].bond;
  if (bond < 0)
    return;
  BondState *bond_state = &state->bonds[state->map->first_bond[id] + (guint)bond];
  for (guint i = 0; i < server->bonds[bond].n_ports; i++)
    if (server->bonds[bond].ports[i] == port)
      bond_state->usable[i] = up;
}

/* What a port was negotiated to is what it can carry, whatever the layout says. FALSE: no speed. */
static gboolean
apply_speed(CoreState *state, NodeId id, guint port, const char *value)
{
  const LayoutNode *node = &state->layout->nodes[id];
  double speed, drawn = node->as_server->ports[port].speed;
  if (!units_parse_as(value, DIMENSION_RATE, &speed, NULL) || !(speed > 0))
    return FALSE;
  state->port_speed[state->map->first_port[id] + port] = speed;
  if (speed < 0.99 * drawn || speed > 1.01 * drawn) {
    g_autofree char *given = units_print(drawn, DIMENSION_RATE);
    core_note(state, SEVERITY_WARNING, id, "%s/%s runs at %s, and its layout says %s", node->name,
              node->as_server->ports[port].name, value, given);
  }
  return TRUE;
}

/* FALSE: a word it does not know. */
static gboolean
apply_server(CoreState *state, NodeId id, const char *fact, const char *value)
{
  const LayoutServer *server = state->layout->nodes[id].as_server;
  const char *dot = strrchr(fact, '.');
  if (!dot)
    return TRUE;
  g_autofree char *part = g_strndup(fact, (gsize)(dot - fact));
  int bond = layout_find_bond(server, part), port = layout_find_port(server, part);
  BondState *bond_state = bond < 0 ? NULL : &state->bonds[state->map->first_bond[id] + (guint)bond];
  if (bond_state && g_str_equal(dot, ".policy")) {
    int policy = bond_policy_parse(value);
    if (policy < 0)
      return FALSE;
    bond_state->policy = (BondPolicy)policy;
  } else if (bond_state && g_str_equal(dot, ".era")) {
    int era = bond_era_parse(value);
    if (era < 0)
      return FALSE;
    bond_state->era = (BondEra)era;
  } else if (port >= 0 && g_str_equal(dot, ".state")) {
    apply_port(state, id, (guint)port, g_str_equal(value, "up"));
  } else if (port >= 0 && g_str_equal(dot, ".speed")) {
    return apply_speed(state, id, (guint)port, value);
  } else if (bond < 0 || !g_str_equal(dot, ".mode")) {
    return TRUE;
  }
  update_ports(state, id);
  return TRUE;
}

static gboolean
apply(CoreState *state, NodeId id, const char *fact, const char *value)
{
  if (g_str_has_prefix(fact, "link:") && g_str_has_suffix(fact, ".state")) {
    g_autofree char *name = g_strndup(fact + 5, strlen(fact) - strlen("link:.state"));
    int link = layout_find_link(state->layout, name);
    if (link >= 0)
      state->link_up[link] = g_str_equal(value, "up");
    return link >= 0;
  }
  if (state->layout->nodes[id].as_server)
    return apply_server(state, id, fact, value);
  if (g_str_equal(fact, "flow") && state->layout->nodes[id].kind == NODE_CLIENT) {
    update_port(state, id);
  } else if (g_str_equal(fact, "mac")) {
    if (!mac_parse(value, &state->nodes[id].seen.mac))
      return FALSE;
    if (state->layout->nodes[id].kind == NODE_CLIENT)
      update_port(state, id);
  }
  return TRUE;
}

/* Whether somebody waits for what a property of the node is. */
static gboolean
is_asked(const CoreState *state, NodeId id)
{
  for (guint i = 0; i < state->requests->len; i++) {
    const Request *request = state->requests->pdata[i];
    if (request->operation == OP_GET && request->nodes[0] == id)
      return TRUE;
  }
  return FALSE;
}

/* Connections come and go by the hundred while a room boots. */
static void
log_property(CoreState *state, const ObserveEvent *observe)
{
  if (!g_str_equal(observe->fact, "flow"))
    log_add_property(state, observe->node, observe->source, observe->fact, observe->value);
}

void
property_observe(CoreState *state, const ObserveEvent *observe)
{
  Node *node = &state->nodes[observe->node];
  Property *property = find_property(node, observe->fact);
  if (property && g_str_equal(property->value, observe->value)) {
    if (is_asked(state, observe->node))
      log_property(state, observe);
    return;
  }
  if (strlen(observe->fact) > PROPERTY_BYTES || strlen(observe->value) > PROPERTY_BYTES ||
      (!property && node->n_properties == PROPERTIES_MAX)) {
    log_add(state, SEVERITY_WARNING, observe->node, observe->source,
            "a property too long, or one too many, is not kept");
    return;
  }
  if (!property) {
    node->properties = g_renew(Property, node->properties, node->n_properties + 1);
    property = &node->properties[node->n_properties++];
    *property = (Property){.fact = g_strdup(observe->fact)};
  }
  g_free(property->value);
  property->value = g_strdup(observe->value);
  log_property(state, observe);
  if (!apply(state, observe->node, observe->fact, observe->value))
    log_add(state, SEVERITY_WARNING, observe->node, observe->source,
            "that value means nothing here");
}

void
property_free(CoreState *state, NodeId id)
{
  Property *usage = find_property(&state->nodes[id], "usage");
  if (!usage || !state->nodes[id].seen.in_use)
    return;
  state->nodes[id].seen.in_use = FALSE;
  g_free(usage->value);
  usage->value = g_strdup("free");
}

/* ---- get and set --------------------------------------------------------------------------- */

/* The backend that carries it out: the node's, for a switch or router without one its server's. */
int
property_carrier(const CoreState *state, NodeId id)
{
  int backend = state->map->backend[ROLE_EXEC][id];
  NodeKind kind = state->layout->nodes[id].kind;
  if (backend < 0 && (kind == NODE_SWITCH || kind == NODE_ROUTER) &&
      state->map->server != NODE_NONE)
    backend = state->map->backend[ROLE_EXEC][state->map->server];
  return backend;
}

gboolean
property_target(const CoreState *state, const char *path, NodeId *node, char **fact, guint *backend,
                GError **error)
{
  if (!split_path(state->layout, path, node, fact, error))
    return FALSE;
  int index = property_carrier(state, *node);
  if (index < 0)
    return fail(error, "no backend carries out commands on %s", state->layout->nodes[*node].name);
  *backend = (guint)index;
  return TRUE;
}

void
property_start(CoreState *state, const CommandEvent *event, const Command *command, NodeId node,
               guint backend)
{
  Argument arguments[] = {{"path", command->path}, {"value", command->text}};
  gboolean sets = command->verb == VERB_SET;
  RequestSpec spec = {.cmd = event->cmd,
                      .owner = OWNER_TASK,
                      .operation = sets ? OP_SET : OP_GET,
                      .role = ROLE_EXEC,
                      .arguments = arguments,
                      .n_arguments = sets ? 2 : 1,
                      .deadline = state->now + state->layout->deadline[DEADLINE_CONNECT]};
  task_add(state, event->cmd, TASK_PROPERTY, event->text);
  request_send_to(state, &spec, backend, &node, 1);
}

void
property_result(Task *task, Verdict verdict, const char *text)
{
  task->property.answered = TRUE;
  task->property.verdict = verdict;
  if (verdict == VERDICT_OK)
    return;
  g_free(task->text); /* why tells more than what was said, which stands before it */
  task->text = g_strdup(text);
}
