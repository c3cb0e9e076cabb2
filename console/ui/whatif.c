/* What another policy or era of the bond's hash would make of the same seats: each client is placed
 * by the hash, then all of them read as fast as ports, links and threads let them (model/flow.h).
 */
#include "ui/view.h"

#include "model/flow.h"
#include "model/units.h"

#include <math.h>
#include <string.h>

/* Resources of the solver, in this order: the bond's ports, each link there and back, switches and
 * routers by id (routers have a port to cross), then these two. */
enum { LAST_THREADS, LAST_CEILING, LAST_N };

typedef struct {
  const Ui *ui;
  const Layout *layout;
  NodeId server;
  const LayoutBond *bond;
  BondState hash; /* as it would be */
  guint links, routers, last, n;
  double *capacity;
  GArray *flows;
  gboolean *link_up;
} Problem;

static const LayoutServer *
server_of(const Problem *problem)
{
  return layout_node(problem->layout, problem->server)->as_server;
}

static const char *
property(const Problem *problem, const char *name)
{
  g_autofree char *path =
      g_strconcat(layout_node(problem->layout, problem->server)->name, ".", name, NULL);
  return state_property(problem->ui->state, path);
}

static void
set_capacities(Problem *problem)
{
  const CoreState *state = problem->ui->state;
  const Layout *layout = problem->layout;
  const char *threads = property(problem, "nfsd"), *ceiling = property(problem, "transmit-ceiling");
  guint64 n_threads;
  for (guint i = 0; i < problem->bond->n_ports; i++)
    problem->capacity[i] = state_port_capacity(state, problem->server, problem->bond->ports[i]);
  for (guint l = 0; l < layout->n_links; l++) {
    problem->link_up[l] = state_link_up(state, l);
    problem->capacity[problem->links + 2 * l] = state_link_capacity(state, l);
    problem->capacity[problem->links + 2 * l + 1] = state_link_capacity(state, l);
  }
  for (guint i = problem->routers; i < problem->last; i++)
    problem->capacity[i] = layout_payload(layout_node(layout, i - problem->routers)->speed);
  problem->capacity[problem->last + LAST_THREADS] = INFINITY;
  if (threads && units_parse_count(threads, G_MAXUINT32, &n_threads, NULL))
    problem->capacity[problem->last + LAST_THREADS] = (double)n_threads;
  problem->capacity[problem->last + LAST_CEILING] = INFINITY;
  if (ceiling)
    units_parse_as(ceiling, DIMENSION_RATE, &problem->capacity[problem->last + LAST_CEILING], NULL);
}

static void
problem_init(Problem *problem, const Ui *ui, NodeId server, BondPolicy policy, BondEra era)
{
  const Layout *layout = state_layout(ui->state);
  guint n_switches = 0; /* and routers, which come next */
  while (n_switches < layout->n_nodes && layout->nodes[n_switches].kind <= NODE_ROUTER)
    n_switches++;
  *problem = (Problem){.ui = ui, .layout = layout, .server = server};
  problem->bond = &server_of(problem)->bonds[0];
  problem->hash = *state_bond(ui->state, server, 0);
  problem->hash.policy = policy;
  problem->hash.era = era;
  problem->links = problem->bond->n_ports;
  problem->routers = problem->links + 2 * layout->n_links;
  problem->last = problem->routers + n_switches;
  problem->n = problem->last + LAST_N;
  problem->capacity = g_new0(double, problem->n);
  problem->link_up = g_new0(gboolean, layout->n_links + 1);
  problem->flows = g_array_new(FALSE, FALSE, sizeof(Flow));
  set_capacities(problem);
}

static void
problem_clear(Problem *problem)
{
  g_free(problem->capacity);
  g_free(problem->link_up);
  g_array_unref(problem->flows);
}

static void
use(Flow *flow, guint resource, double weight)
{
  if (flow->n_uses < FLOW_MAX_USES)
    flow->uses[flow->n_uses++] = (FlowUse){resource, weight};
}

/* A read of CLIENT as a flow; FALSE when there is no way to it. */
static gboolean
flow_to(const Problem *problem, const LayoutNode *client, int port, Flow *flow)
{
  const BootModel *model = &problem->layout->boot;
  LayoutHop hops[LAYOUT_MAX_HOPS];
  int n = layout_path(problem->layout, problem->server, client->id, problem->link_up, hops);
  *flow = (Flow){.cap = MIN(model->nfs_cap * 8, layout_payload(client->speed)), .count = 1};
  use(flow, (guint)port, 1);
  use(flow, problem->last + LAST_THREADS, model->nfs_service / (model->nfs_rsize * 8));
  use(flow, problem->last + LAST_CEILING, 1);
  for (int h = 0; h < n; h++) {
    if (hops[h].kind == HOP_LINK)
      use(flow, problem->links + 2 * hops[h].link + (hops[h].forward ? 0 : 1), 1);
    else
      use(flow, problem->routers + hops[h].router, 1);
  }
  return n >= 0;
}

/* Clients that stand side by side in a layout mostly go the same way: those behind one port are one
 * flow. */
typedef struct {
  const LayoutNode *like;     /* the run's first; NULL */
  gboolean reached;           /* there is a way to them */
  int flow[WHATIF_MAX_PORTS]; /* -1: none yet */
} Run;

static gboolean
continues(const Run *run, const LayoutNode *client)
{
  return run->like && run->like->attached == client->attached &&
         run->like->subnet == client->subnet && run->like->speed == client->speed;
}

static void
add_client(Problem *problem, Run *run, const LayoutNode *client, int port)
{
  Flow flow;
  if (!continues(run, client)) {
    run->like = client;
    for (guint i = 0; i < G_N_ELEMENTS(run->flow); i++)
      run->flow[i] = -1;
    run->reached = TRUE;
  }
  if (run->flow[port] >= 0) {
    g_array_index(problem->flows, Flow, run->flow[port]).count++;
  } else if (run->reached && (run->reached = flow_to(problem, client, port, &flow))) {
    run->flow[port] = (int)problem->flows->len;
    g_array_append_val(problem->flows, flow);
  }
}

static gboolean
takes_part(const Ui *ui, NodeId server, NodeId id, gboolean any_on)
{
  const LayoutNode *node = layout_node(state_layout(ui->state), id);
  return node->kind == NODE_CLIENT && node->server == server &&
         (!any_on || state_node(ui->state, id)->power == POWER_ON);
}

guint
whatif_seats(const Ui *ui, NodeId server, gboolean *on)
{
  guint n = 0, n_on = 0;
  for (NodeId id = 0; id < state_layout(ui->state)->n_nodes; id++) {
    n += takes_part(ui, server, id, FALSE);
    n_on += takes_part(ui, server, id, TRUE);
  }
  *on = n_on > 0;
  return n_on ? n_on : n;
}

static void
place_seats(Problem *problem, gboolean any_on, WhatIf *result)
{
  Run run = {0};
  for (NodeId id = 0; id < problem->layout->n_nodes; id++) {
    if (!takes_part(problem->ui, problem->server, id, any_on))
      continue;
    const MacAddress *mac = &state_node(problem->ui->state, id)->mac;
    int port = layout_bond_port(problem->layout, problem->server, 0, &problem->hash, id, mac);
    if (port < 0) {
      result->n_unplaced++;
      continue;
    }
    result->seats[port]++;
    add_client(problem, &run, layout_node(problem->layout, id), port);
  }
}

static char *
resource_name(const Problem *problem, guint resource)
{
  static const char *const names[LAST_N] = {"nfsd", "transmit ceiling"};
  if (resource < problem->links)
    return g_strdup(server_of(problem)->ports[problem->bond->ports[resource]].name);
  if (resource < problem->routers)
    return g_strdup(problem->layout->links[(resource - problem->links) / 2].name);
  if (resource < problem->last)
    return g_strdup(layout_node(problem->layout, resource - problem->routers)->name);
  return g_strdup(names[resource - problem->last]);
}

static char *
full_text(const Problem *problem)
{
  g_autofree double *load = g_new0(double, problem->n);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  guint full_ports = 0;
  for (guint i = 0; i < problem->flows->len; i++) {
    const Flow *flow = &g_array_index(problem->flows, Flow, i);
    for (guint u = 0; u < flow->n_uses; u++)
      load[flow->uses[u].resource] += flow->uses[u].weight * flow->rate * flow->count;
  }
  for (guint r = 0; r < problem->n; r++) {
    if (load[r] > 0 && rate_is_full(load[r], problem->capacity[r])) {
      full_ports += r < problem->links;
      g_ptr_array_add(names, resource_name(problem, r));
    }
  }
  if (full_ports == problem->bond->n_ports && full_ports > 1) {
    g_ptr_array_remove_range(names, 0, full_ports);
    g_ptr_array_insert(names, 0, g_strdup_printf("all %u ports", full_ports));
  }
  g_ptr_array_add(names, NULL);
  return g_strjoinv(", ", (char **)names->pdata);
}

void
whatif_compute(const Ui *ui, NodeId server, BondPolicy policy, BondEra era, WhatIf *result)
{
  Problem problem;
  gboolean any_on;
  *result = (WhatIf){0};
  whatif_seats(ui, server, &any_on);
  problem_init(&problem, ui, server, policy, era);
  result->n_ports = problem.bond->n_ports;
  place_seats(&problem, any_on, result);
  g_autoptr(FlowSolver) solver = flow_solver_new();
  Flow *flows = (Flow *)(gpointer)problem.flows->data;
  flow_solve(solver, problem.capacity, problem.n, flows, problem.flows->len);
  for (guint i = 0; i < problem.flows->len; i++)
    result->total += flows[i].rate * flows[i].count;
  result->full = full_text(&problem);
  problem_clear(&problem);
}

void
whatif_clear(WhatIf *result)
{
  g_clear_pointer(&result->full, g_free);
}
