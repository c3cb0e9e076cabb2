#include "core/core_private.h"

#include <math.h>
#include <string.h>

/* Columns the sentence may have: an 80-column screen, less its margins and the sign in front. */
#define WIDTH 76
/* A port or link is full from here on. */
#define FULL 0.97
/* As many as a BondState knows. */
#define BOND_PORTS_MAX G_N_ELEMENTS(((BondState *)0)->usable)
/* A seat that receives this part of what its port carries is served; one that sends it, writes. */
#define SERVED 0.001

/* ---- The worst failure --------------------------------------------------------------------- */

static NodeId
worst_node(const CoreState *state, guint *n)
{
  NodeId worst = NODE_NONE;
  *n = 0;
  for (NodeId id = 0; id < state->layout->n_nodes; id++) {
    const Node *node = &state->nodes[id];
    if (node->fault == FAULT_NONE)
      continue;
    (*n)++;
    const Node *other = worst == NODE_NONE ? NULL : &state->nodes[worst];
    if (!other || node->fault > other->fault ||
        (node->fault == other->fault && node->seen.fault_t < other->seen.fault_t))
      worst = id;
  }
  return worst;
}

/* Cuts TEXT so that it and REST have room. */
static char *
with_rest(const char *text, const char *rest)
{
  glong room = WIDTH - g_utf8_strlen(rest, -1);
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  if (g_utf8_strlen(valid, -1) <= room)
    return g_strconcat(valid, rest, NULL);
  g_autofree char *cut = g_utf8_substring(valid, 0, room - 3);
  return g_strconcat(cut, "...", rest, NULL);
}

static char *
failure_sentence(const CoreState *state)
{
  for (guint i = 0; i < state->map->n_backends; i++) {
    if (!state->backends[i].down)
      continue;
    g_autofree char *down =
        g_strdup_printf("%s is down: %s", state->map->backends[i], state->backends[i].down);
    return with_rest(down, "");
  }
  guint n;
  NodeId worst = worst_node(state, &n);
  if (worst == NODE_NONE)
    return NULL;
  const Node *node = &state->nodes[worst];
  const char *name = state->layout->nodes[worst].name;
  g_autofree char *fault =
      node->fault == FAULT_STAGE ? node_overdue_text(state, worst) : g_strdup(node->seen.fault);
  g_autofree char *others = n > 1 ? g_strdup_printf(" (and %u more)", n - 1) : g_strdup("");
  g_autofree char *keys = node->fault == FAULT_STAGE || node->fault == FAULT_POWER
                              ? g_strdup_printf(". c console, P cycle %s", name)
                              : g_strdup(". Enter its card");
  g_autofree char *rest = g_strconcat(others, keys, NULL);
  return with_rest(fault, rest);
}

/* ---- What is full -------------------------------------------------------------------------- */

static double
share(const CoreState *state, const Meter *meter, double capacity)
{
  if (!meter || capacity <= 0 || meter_is_stale(meter, state->now))
    return 0;
  return meter->rate / capacity;
}

static double
port_share(const CoreState *state, NodeId server, guint port, gboolean tx)
{
  return share(state, meters_port(state->meters, server, port, tx),
               state_port_capacity(state, server, port));
}

gboolean
state_port_full(const CoreState *state, NodeId server, guint port)
{
  return port_share(state, server, port, TRUE) >= FULL ||
         port_share(state, server, port, FALSE) >= FULL;
}

gboolean
state_link_full(const CoreState *state, guint link, gboolean forward)
{
  return share(state, meters_link(state->meters, link, forward),
               state_link_capacity(state, link)) >= FULL;
}

static gboolean
is_served(const CoreState *state, NodeId client)
{
  const LayoutNode *node = &state->layout->nodes[client];
  return share(state, meters_seat_rx(state->meters, client), layout_payload(node->speed)) >= SERVED;
}

/* Acknowledging what it reads is not writing. */
static gboolean
writes(const CoreState *state, NodeId client)
{
  const LayoutNode *node = &state->layout->nodes[client];
  const Meter *tx = meters_seat_tx(state->meters, client);
  const Meter *rx = meters_seat_rx(state->meters, client);
  return share(state, tx, layout_payload(node->speed)) >= SERVED && (!rx || tx->rate > rx->rate);
}

/* `eth0`, `eth0 and eth2`, `eth0, eth1 and eth2`; AND is what stands before the last. */
static char *
listed(GPtrArray *names, const char *and)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < names->len; i++) {
    if (i > 0)
      g_string_append(text, i + 1 == names->len ? and : ", ");
    g_string_append(text, names->pdata[i]);
  }
  return g_string_free(text, FALSE);
}

static char *
count_word(guint n)
{
  static const char *const words[] = {"none", "one", "two",   "three", "four",
                                      "five", "six", "seven", "eight", "nine"};
  return n < G_N_ELEMENTS(words) ? g_strdup(words[n]) : g_strdup_printf("%u", n);
}

/* `, eth1 and eth3 21 %`, from the ports that are not full; `at most` where they differ. */
static char *
idle_ports(const CoreState *state, NodeId server, const LayoutBond *bond)
{
  const LayoutServer *as_server = state->layout->nodes[server].as_server;
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  int most = -1;
  gboolean differ = FALSE;
  for (guint i = 0; i < bond->n_ports; i++) {
    double filled = port_share(state, server, bond->ports[i], TRUE);
    if (filled >= FULL || !state_port_up(state, server, bond->ports[i]))
      continue;
    int percent = (int)lround(filled * 100);
    differ = differ || (most >= 0 && percent != most);
    most = MAX(most, percent);
    g_ptr_array_add(names, as_server->ports[bond->ports[i]].name);
  }
  if (names->len == 0)
    return g_strdup("");
  g_autofree char *list = listed(names, " and ");
  return g_strdup_printf(", %s %s%d %%", list, differ ? "at most " : "", most);
}

/* The sentence in its variants, each a list of parts, the longest first. */
#define N_VARIANTS 5
typedef struct {
  GPtrArray *variants[N_VARIANTS];
} Sentence;

/* Takes PART for the variants FROM … TO. */
static void
add_part(Sentence *sentence, guint from, guint to, char *part)
{
  for (guint v = from; v <= to; v++)
    g_ptr_array_add(sentence->variants[v], g_strdup(part));
  g_free(part);
}

static void
say_bond(const CoreState *state, NodeId server, GPtrArray *full, guint n_behind, guint n_served,
         Sentence *sentence)
{
  const LayoutBond *bond = &state->layout->nodes[server].as_server->bonds[0];
  const char *policy = bond_policy_name(state_bond(state, server, 0)->policy);
  g_autofree char *n = count_word(full->len);
  g_autofree char *list = listed(full, " and ");
  g_autofree char *commas = listed(full, ", ");
  g_autofree char *idle = idle_ports(state, server, bond);
  add_part(sentence, 4, 4, g_strdup_printf("%s full", commas));
  if (n_served == 0) {
    add_part(sentence, 0, 0, g_strdup_printf("%s full%s", list, idle));
    add_part(sentence, 1, 3, g_strdup_printf("%s full", list));
    return;
  }
  add_part(sentence, 0, 0,
           g_strdup_printf("%s full%s: %s puts %u of %u seats on %s", list, idle, policy, n_behind,
                           n_served, n));
  add_part(sentence, 1, 1,
           g_strdup_printf("%s full: %s puts %u of %u seats on %s", list, policy, n_behind,
                           n_served, n));
  add_part(sentence, 2, 3,
           g_strdup_printf("%s full: %u of %u seats on %s port%s", commas, n_behind, n_served, n,
                           full->len == 1 ? "" : "s"));
}

static void
add_bond(const CoreState *state, NodeId server, Sentence *sentence)
{
  const LayoutServer *as_server = state->layout->nodes[server].as_server;
  const LayoutBond *bond = &as_server->bonds[0];
  g_autoptr(GPtrArray) full = g_ptr_array_new();
  gboolean is_full[BOND_PORTS_MAX] = {FALSE};
  guint n_served = 0, n_behind = 0;
  for (guint i = 0; i < bond->n_ports; i++) {
    is_full[i] = port_share(state, server, bond->ports[i], TRUE) >= FULL;
    if (is_full[i])
      g_ptr_array_add(full, as_server->ports[bond->ports[i]].name);
  }
  if (full->len == 0)
    return;
  gboolean placed = TRUE; /* every seat's port is known */
  for (guint i = 0; i < state->map->n_clients; i++) {
    NodeId client = state->map->clients[i];
    int port = state->nodes[client].seen.port;
    if (state->layout->nodes[client].server != server || !is_served(state, client))
      continue;
    n_served++;
    placed = placed && port >= 0;
    n_behind += port >= 0 && is_full[port];
  }
  say_bond(state, server, full, n_behind, placed ? n_served : 0, sentence);
}

static void
add_ports(const CoreState *state, NodeId server, Sentence *sentence)
{
  const LayoutServer *as_server = state->layout->nodes[server].as_server;
  for (guint i = 0; i < as_server->n_ports; i++)
    if (as_server->ports[i].bond != 0 && port_share(state, server, i, TRUE) >= FULL)
      add_part(sentence, 0, N_VARIANTS - 1, g_strdup_printf("%s full", as_server->ports[i].name));
}

/* What comes in: on which port of a bond, the switch chooses, and no policy of the server's. */
static void
add_writes(const CoreState *state, NodeId server, Sentence *sentence)
{
  const LayoutServer *as_server = state->layout->nodes[server].as_server;
  g_autoptr(GPtrArray) full = g_ptr_array_new();
  g_autoptr(GArray) seats = g_array_new(FALSE, FALSE, sizeof(NodeId));
  for (guint i = 0; i < as_server->n_ports; i++) {
    if (port_share(state, server, i, FALSE) >= FULL)
      g_ptr_array_add(full, as_server->ports[i].name);
  }
  if (full->len == 0)
    return;
  for (guint i = 0; i < state->map->n_clients; i++) {
    NodeId client = state->map->clients[i];
    if (state->layout->nodes[client].server == server && writes(state, client))
      g_array_append_val(seats, client);
  }
  g_autofree char *list = listed(full, " and ");
  g_autofree char *commas = listed(full, ", ");
  g_autofree char *names = core_fold(state, (const NodeId *)(gpointer)seats->data, seats->len);
  guint from = seats->len > 0 ? 4 : 0; /* nobody known writes: no more to say */
  add_part(sentence, from, 4, g_strdup_printf("%s full of writes", commas));
  if (seats->len == 0)
    return;
  add_part(sentence, 0, 2,
           g_strdup_printf("%s full of what %s write%s", list, names, seats->len == 1 ? "s" : ""));
  add_part(sentence, 3, 3,
           g_strdup_printf("%s full of writes of %u seat%s", commas, seats->len,
                           seats->len == 1 ? "" : "s"));
}

/* Served seats whose way from their server leads over LINK in that direction, and those that write
 * whose way to it does. */
static GArray *
seats_behind(const CoreState *state, guint link, gboolean forward)
{
  GArray *seats = g_array_new(FALSE, FALSE, sizeof(NodeId));
  const LayoutNode *before = NULL;
  gboolean served_over = FALSE, writes_over = FALSE;
  for (guint i = 0; i < state->map->n_clients; i++) {
    const LayoutNode *client = &state->layout->nodes[state->map->clients[i]];
    gboolean served = is_served(state, client->id), sends = writes(state, client->id);
    if (client->server == NODE_NONE || (!served && !sends))
      continue;
    /* Neighbours in a layout mostly share their way. */
    if (!before || before->attached != client->attached || before->subnet != client->subnet ||
        before->server != client->server) {
      LayoutHop hops[LAYOUT_MAX_HOPS];
      int n = layout_path(state->layout, client->server, client->id, state->link_up, hops);
      served_over = writes_over = FALSE;
      for (int h = 0; h < n; h++) {
        if (hops[h].kind != HOP_LINK || hops[h].link != link)
          continue;
        served_over = served_over || hops[h].forward == forward;
        writes_over = writes_over || hops[h].forward != forward;
      }
      before = client;
    }
    if ((served && served_over) || (sends && writes_over))
      g_array_append_val(seats, client->id);
  }
  return seats;
}

static void
add_link(const CoreState *state, guint link, gboolean forward, Sentence *sentence)
{
  const char *name = state->layout->links[link].name;
  g_autoptr(GArray) seats = seats_behind(state, link, forward);
  if (seats->len == 0) {
    add_part(sentence, 0, N_VARIANTS - 1, g_strdup_printf("%s full", name));
    return;
  }
  g_autofree char *names = core_fold(state, (const NodeId *)(gpointer)seats->data, seats->len);
  add_part(sentence, 0, 2, g_strdup_printf("%s full for %s", name, names));
  add_part(sentence, 3, 3,
           g_strdup_printf("%s full for %u seat%s", name, seats->len, seats->len == 1 ? "" : "s"));
  add_part(sentence, 4, 4, g_strdup_printf("%s full", name));
}

static void
add_links(const CoreState *state, Sentence *sentence)
{
  for (guint link = 0; link < state->layout->n_links; link++) {
    if (state_link_full(state, link, TRUE))
      add_link(state, link, TRUE, sentence);
    else if (state_link_full(state, link, FALSE))
      add_link(state, link, FALSE, sentence);
  }
}

static char *
full_sentence(const CoreState *state)
{
  Sentence sentence;
  char *text = NULL;
  for (guint v = 0; v < N_VARIANTS; v++)
    sentence.variants[v] = g_ptr_array_new_with_free_func(g_free);
  for (NodeId id = 0; id < state->layout->n_nodes; id++) {
    const LayoutServer *server = state->layout->nodes[id].as_server;
    if (server && server->n_bonds)
      add_bond(state, id, &sentence);
    if (!server)
      continue;
    add_ports(state, id, &sentence);
    add_writes(state, id, &sentence);
  }
  add_links(state, &sentence);
  for (guint v = 0; v < N_VARIANTS; v++) {
    GPtrArray *parts = sentence.variants[v];
    g_ptr_array_add(parts, NULL);
    if (!text || strlen(text) > WIDTH) {
      g_free(text);
      text = g_strjoinv("; ", (char **)parts->pdata);
    }
    g_ptr_array_unref(parts);
  }
  return text;
}

char *
state_sentence(const CoreState *state, Severity *severity)
{
  char *failure = failure_sentence(state);
  if (failure) {
    *severity = SEVERITY_ERROR;
    return failure;
  }
  g_autofree char *full = full_sentence(state);
  *severity = *full ? SEVERITY_WARNING : SEVERITY_INFO;
  return with_rest(full, "");
}
