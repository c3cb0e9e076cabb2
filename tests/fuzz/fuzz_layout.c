/* Any text is refused with positions, or is a layout whose parts name one another rightly, that the
 * simulator can live in and the screen can show. */
#include "fuzz.h"

#include <math.h>

#include "backends/sim/sim.h"
#include "session/data.h"
#include "ui/ui.h"

#define NODES_PLAYED 300

static gboolean
is_kind(const Layout *layout, NodeId id, NodeKind kind)
{
  return id < layout->n_nodes && layout->nodes[id].kind == kind;
}

static void
check_speed(double speed)
{
  g_assert_true(speed > 0 && isfinite(speed));
}

static void
check_server(const LayoutServer *server)
{
  for (guint i = 0; i < server->n_ports; i++) {
    const LayoutPort *port = &server->ports[i];
    check_speed(port->speed);
    g_assert_cmpint(layout_find_port(server, port->name), ==, (int)i);
    g_assert_true(port->bond >= -1 && port->bond < (int)server->n_bonds);
  }
  for (guint i = 0; i < server->n_bonds; i++) {
    const LayoutBond *bond = &server->bonds[i];
    g_assert_cmpint(layout_find_bond(server, bond->name), ==, (int)i);
    g_assert_true(bond->n_ports >= 1 && bond->n_ports <= 16);
    for (guint p = 0; p < bond->n_ports; p++) {
      g_assert_cmpuint(bond->ports[p], <, server->n_ports);
      g_assert_cmpint(server->ports[bond->ports[p]].bond, ==, (int)i);
    }
  }
}

static void
check_node(const Layout *layout, NodeId id)
{
  const LayoutNode *node = &layout->nodes[id];
  g_assert_true(node->id == id && layout_find(layout, node->name) == id);
  g_assert_true(g_ascii_isalnum(node->name[0]) && strlen(node->name) <= 64);
  for (const char *p = node->name; *p != '\0'; p++)
    g_assert_true(g_ascii_isalnum(*p) || strchr("._-", *p) != NULL);
  g_assert_true(id == 0 || layout->nodes[id - 1].kind <= node->kind);
  g_assert_true(node->attached == NODE_NONE || is_kind(layout, node->attached, NODE_SWITCH));
  g_assert_true(node->subnet >= -1 && node->subnet < (int)layout->n_subnets);
  g_assert_true((node->as_server != NULL) == (node->kind == NODE_SERVER));
  g_assert_true(node->room >= -1 && node->room < (int)layout->n_rooms);
  for (guint i = 0; i < node->n_joins; i++)
    g_assert_true(node->joins[i] >= 0 && node->joins[i] < (int)layout->n_subnets);
  if (node->kind == NODE_CLIENT) {
    check_speed(node->speed);
    g_assert_true(node->server == NODE_NONE || is_kind(layout, node->server, NODE_SERVER));
  }
  if (node->as_server != NULL)
    check_server(node->as_server);
}

static void
check_groups(const Layout *layout)
{
  const NodeId *nodes;
  guint n;
  for (guint i = 0; i < layout->n_rooms; i++) {
    const LayoutRoom *room = &layout->rooms[i];
    g_assert_true(layout_find_room(layout, room->name) == (int)i && room->columns > 0);
    g_assert_true(layout_group(layout, room->name, &nodes, &n) && n == room->n_seats);
    for (guint s = 0; s < room->n_seats; s++) {
      g_assert_true(is_kind(layout, room->seats[s], NODE_CLIENT));
      g_assert_cmpint(layout->nodes[room->seats[s]].room, ==, (int)i);
    }
  }
  for (guint i = 0; i < layout->n_blocks; i++) {
    g_assert_true(layout_group(layout, layout->blocks[i].name, &nodes, &n));
    for (guint s = 0; s < n; s++)
      g_assert_cmpuint(nodes[s], <, layout->n_nodes);
  }
  g_assert_true(layout_group(layout, "all", &nodes, &n) && n == layout->n_clients);
}

/* Every link of the way begins where the one before ended. */
static void
check_path(const Layout *layout, NodeId from, NodeId to)
{
  LayoutHop hops[LAYOUT_MAX_HOPS];
  int n = layout_path(layout, from, to, NULL, hops);
  NodeId at = layout->nodes[from].attached;
  g_assert_true(n >= -1 && n <= LAYOUT_MAX_HOPS);
  for (int i = 0; i < n; i++) {
    if (hops[i].kind == HOP_ROUTER) {
      g_assert_true(is_kind(layout, hops[i].router, NODE_ROUTER));
      g_assert_cmpuint(layout->nodes[hops[i].router].attached, ==, at);
      continue;
    }
    g_assert_cmpuint(hops[i].link, <, layout->n_links);
    const LayoutLink *link = &layout->links[hops[i].link];
    g_assert_cmpuint(hops[i].forward ? link->from : link->to, ==, at);
    at = hops[i].forward ? link->to : link->from;
  }
  if (n >= 0)
    g_assert_cmpuint(at, ==, layout->nodes[to].attached);
}

static void
check_client(const Layout *layout, NodeId client)
{
  const LayoutNode *node = &layout->nodes[client];
  if (node->server == NODE_NONE)
    return;
  check_path(layout, client, node->server);
  check_path(layout, node->server, client);
  const LayoutServer *server = layout->nodes[node->server].as_server;
  for (guint i = 0; i < server->n_bonds; i++) {
    BondState state;
    bond_state_init(&state, server, &server->bonds[i]);
    int port = layout_bond_port(layout, node->server, i, &state, client, &node->mac);
    g_assert_true(port >= -1 && port < (int)server->bonds[i].n_ports);
  }
}

static void
check_links(const Layout *layout)
{
  for (guint i = 0; i < layout->n_links; i++) {
    const LayoutLink *link = &layout->links[i];
    check_speed(link->speed);
    g_assert_cmpint(layout_find_link(layout, link->name), ==, (int)i);
    g_assert_true(is_kind(layout, link->from, NODE_SWITCH) && link->from != link->to);
    g_assert_true(is_kind(layout, link->to, NODE_SWITCH));
  }
}

typedef struct {
  CoreState *core;
  Backend *sim;
  gint64 t;
} Lab;

static void
take_output(const Event *output, gpointer data)
{
  Lab *lab = data;
  if (output->kind == EVENT_REQUEST)
    lab->sim->class->submit(lab->sim, lab->t, &output->request);
  else if (output->kind == EVENT_CANCEL)
    lab->sim->class->cancel(lab->sim, lab->t, output->cancel.request);
}

static void
take_post(const Event *event, gpointer data)
{
  Lab *lab = data;
  g_assert_cmpint(event->t, >=, lab->t);
  lab->t = event->t;
  core_step(lab->core, event, take_output, lab);
}

static void
say(Lab *lab, const char *line)
{
  g_autofree char *text = core_resolve(lab->core, line, NULL);
  if (text == NULL)
    return;
  Event event = {.kind = EVENT_COMMAND, .t = lab->t, .command = {1, line, text, -1}};
  core_step(lab->core, &event, take_output, lab);
}

static void
draw(const CoreState *core)
{
  static const HostOps none = {0};
  const HostStatus status = {.lab = "fuzz", .speed = 1, .end = -1, .wall_clock = "14:03"};
  g_autoptr(Ui) ui = ui_new(core, &none, NULL);
  g_autoptr(Canvas) canvas = canvas_new(24, 80, FALSE);
  ui_draw(ui, canvas, &status);
}

/* Every client boots for a while. */
static void
play(const Layout *layout)
{
  static JobSet *jobs;
  const CoreOptions options = {.seed = 1, .consent = CONSENT_YES};
  if (jobs == NULL)
    jobs = data_jobs(NULL);
  Lab lab = {.core = core_new(layout, &options)};
  lab.sim = sim_new("sim", layout, jobs, 1, take_post, &lab);
  lab.sim->class->start(lab.sim, 0);
  for (guint i = 0; i < 400 && lab.t < 30 * TIME_SECOND; i++) {
    gint64 due = lab.sim->class->next_due(lab.sim), wake = core_deadline(lab.core);
    if (MIN(due, wake) == TIME_NEVER)
      break;
    if (due <= wake) {
      lab.sim->class->advance(lab.sim, due);
    } else {
      lab.t = MAX(lab.t, wake);
      Event event = {.kind = EVENT_WAKE, .t = lab.t};
      core_step(lab.core, &event, take_output, &lab);
    }
    if (i == 20)
      say(&lab, "boot @all");
  }
  draw(lab.core);
  backend_free(lab.sim);
  core_free(lab.core);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup((const char *)data, size);
  g_autoptr(GError) error = NULL;
  g_autoptr(Layout) layout = layout_parse("t.yaml", text, size, &error);
  if (layout == NULL) {
    fuzz_check_positions(error, "t.yaml");
    return 0;
  }
  g_assert_cmpuint(layout->n_nodes, <=, LAYOUT_MAX_NODES);
  g_assert_true(strlen(layout->sha256) == 64 && memcmp(layout->text, data, size) == 0);
  check_links(layout);
  check_groups(layout);
  for (NodeId id = 0; id < layout->n_nodes; id++)
    check_node(layout, id);
  for (guint i = 0; i < MIN(layout->n_clients, NODES_PLAYED); i++)
    check_client(layout, layout->clients[i]);
  if (layout->n_nodes <= NODES_PLAYED)
    play(layout);
  return 0;
}
