#include <math.h>

#include "backends/sim/sim_private.h"

/* The well-known ports the model's services answer on, and what a client connects from: a
 * reserved port for NFS, as the kernel takes it, an ephemeral one else. TFTP answers from one. */
#define PORT_NFS 2049
#define PORT_NBD 10809
#define RESERVED_FIRST 665
#define RESERVED_LAST 1023
#define EPHEMERAL_FIRST 32768
#define EPHEMERAL_LAST 60999

/* Wire speed in bit/s to payload in B/s. */
static double
payload(double speed)
{
  return layout_payload(speed) / 8;
}

guint
sim_path_port(const SimNode *server, guint port, gboolean in)
{
  return server->resource + RESOURCE_PORTS + (in ? server->layout->as_server->n_ports : 0) + port;
}

static void
server_capacities(Sim *sim, const SimNode *node)
{
  const LayoutServer *server = node->layout->as_server;
  double *capacity = sim->world.capacity;
  capacity[node->resource + RESOURCE_NFSD] = node->nfsd;
  capacity[node->resource + RESOURCE_NBD] = sim->layout->boot.nbd_rate;
  capacity[node->resource + RESOURCE_DISK] = node->disk_rate;
  capacity[node->resource + RESOURCE_CEILING] = node->ceiling / 8;
  for (guint i = 0; i < server->n_ports; i++)
    capacity[sim_path_port(node, i, FALSE)] = capacity[sim_path_port(node, i, TRUE)] =
        node->ports_up[i] ? payload(server->ports[i].speed) : 0;
}

void
sim_path_capacities(Sim *sim)
{
  double *capacity = sim->world.capacity;
  for (guint l = 0; l < sim->layout->n_links; l++)
    capacity[2 * l] = capacity[2 * l + 1] =
        sim->world.links_up[l] ? payload(sim->layout->links[l].speed) : 0;
  for (NodeId i = 0; i < sim->layout->n_nodes; i++) {
    const SimNode *node = &sim->nodes[i];
    if (node->layout->kind == NODE_SERVER)
      server_capacities(sim, node);
    else if (node->layout->kind != NODE_SWITCH)
      capacity[node->resource] = payload(node->layout->speed);
    if (node->layout->kind == NODE_CLIENT)
      capacity[node->resource + 1] = capacity[node->resource];
  }
}

/* Links whose switches are off carry nothing. */
static int
find_hops(const Sim *sim, NodeId from, NodeId to, LayoutHop hops[LAYOUT_MAX_HOPS])
{
  const Layout *layout = sim->layout;
  g_autofree gboolean *up = g_new(gboolean, layout->n_links);
  for (guint l = 0; l < layout->n_links; l++)
    up[l] = sim->world.links_up[l] && sim->nodes[layout->links[l].from].on &&
            sim->nodes[layout->links[l].to].on;
  return layout_path(layout, from, to, up, hops);
}

static gboolean
add_hop(const Sim *sim, const LayoutHop *hop, Path *path)
{
  guint resource;
  if (hop->kind == HOP_LINK) {
    resource = 2 * hop->link + (hop->forward ? 0 : 1);
  } else {
    const SimNode *router = &sim->nodes[hop->router];
    if (!router->on || !sim->nodes[router->layout->attached].on)
      return FALSE;
    resource = router->resource;
  }
  path->resources[path->n++] = resource;
  path->slowest = MIN(path->slowest, sim->world.capacity[resource]);
  return TRUE;
}

/* Whether PEER is on is asked only of a server: a client's switch would change the topology. */
static gboolean
search(const Sim *sim, NodeId server, const SimNode *peer, Path *path)
{
  LayoutHop hops[LAYOUT_MAX_HOPS];
  if (!sim->nodes[server].on || !peer->port_up || !sim->nodes[peer->layout->attached].on ||
      (peer->layout->kind == NODE_SERVER && !peer->on) ||
      !sim->nodes[sim->nodes[server].layout->attached].on)
    return FALSE;
  int n = find_hops(sim, server, peer->layout->id, hops);
  for (int i = 0; i < n; i++)
    if (!add_hop(sim, &hops[i], path))
      return FALSE;
  return n >= 0;
}

/* Found once for each peer and topology, as long as it asks for one server. */
static const Path *
path_of(const Sim *sim, NodeId server, SimNode *peer)
{
  Path *path = &peer->path;
  if (path->epoch == sim->world.epoch && path->server == server)
    return path;
  *path = (Path){.epoch = sim->world.epoch, .server = server, .slowest = INFINITY};
  path->there = search(sim, server, peer, path);
  return path;
}

static guint16
draw_port(const Sim *sim, const SimNode *peer, const char *purpose, guint first, guint last)
{
  double u = draw_uniform(sim->seed, purpose, peer->layout->name, peer->boot.n);
  return (guint16)(first + (guint)(u * (last - first + 1)));
}

/* Ports are drawn anew with every boot's mounts. */
static guint32
hash_connection(const Sim *sim, const Job *job, const SimNode *server, const SimNode *peer)
{
  const LayoutBond *bond = &server->layout->as_server->bonds[0];
  const BondState *state = &server->bonds[0];
  NodeId router = layout_router_between(sim->layout, server->layout->id, peer->layout->id);
  const MacAddress *mac = router == NODE_NONE ? &peer->mac : &sim->layout->nodes[router].mac;
  guint16 from, to;
  if (job == &sim->tftp) {
    from = draw_port(sim, peer, "port.tftp-server", EPHEMERAL_FIRST, EPHEMERAL_LAST);
    to = draw_port(sim, peer, "port.tftp", EPHEMERAL_FIRST, EPHEMERAL_LAST);
  } else if (job->protocol == PROTOCOL_NBD) {
    from = PORT_NBD;
    to = draw_port(sim, peer, "port.nbd", EPHEMERAL_FIRST, EPHEMERAL_LAST);
  } else {
    from = PORT_NFS;
    to = draw_port(sim, peer, "port.nfs", RESERVED_FIRST, RESERVED_LAST);
  }
  return bond_hash_ipv4(state->policy, state->era, &bond->mac, mac, bond->ip, peer->ip, from, to);
}

/* A router may lie on both legs of a way. */
static void
add_use(Flow *flow, guint resource, double weight)
{
  if (weight <= 0)
    return;
  for (guint u = 0; u < flow->n_uses; u++) {
    if (flow->uses[u].resource == resource) {
      flow->uses[u].weight += weight;
      return;
    }
  }
  g_assert(flow->n_uses < FLOW_MAX_USES);
  flow->uses[flow->n_uses++] = (FlowUse){resource, weight};
}

/* The bond's port for JOB's frames from SERVER to PEER: what the layout can tell, and where it
 * cannot, because an address or the connection's ports are not in it, what the machines' own make
 * of it. */
static int
bond_port_of(const Sim *sim, const Job *job, const SimNode *server, const SimNode *peer)
{
  const LayoutBond *bond = &server->layout->as_server->bonds[0];
  const BondState *state = &server->bonds[0];
  int port =
      layout_bond_port(sim->layout, server->layout->id, 0, state, peer->layout->id, &peer->mac);
  if (port >= 0)
    return port;
  return bond_port(state->era, hash_connection(sim, job, server, peer), state->usable,
                   bond->n_ports);
}

/* The server's port between it and PEER; returns what it can carry, 0 when there is none. By what
 * a switch chooses the port of a bond it sends to no layout tells: taken as the bond's own choice.
 */
static double
add_port(const Sim *sim, const Job *job, const SimNode *server, const SimNode *peer, gboolean in,
         Flow *flow)
{
  const LayoutServer *layout = server->layout->as_server;
  int port = layout->n_ports > 0 ? 0 : -1;
  if (layout->n_bonds > 0) {
    int index = bond_port_of(sim, job, server, peer);
    port = index >= 0 ? (int)layout->bonds[0].ports[index] : -1;
  }
  if (port < 0)
    return 0;
  guint resource = sim_path_port(server, (guint)port, in);
  add_use(flow, resource, 1);
  if (!in && server->ceiling < INFINITY)
    add_use(flow, server->resource + RESOURCE_CEILING, 1);
  return sim->world.capacity[resource];
}

static double
add_client_port(const Sim *sim, const SimNode *client, gboolean in, Flow *flow)
{
  guint resource = client->resource + (in ? 0 : 1);
  double port = sim->world.capacity[resource];
  if (client->transfers.length > 1)
    add_use(flow, resource, 1);
  flow->cap = MIN(flow->cap, port);
  return port;
}

/* One leg of TRANSFER's way, between SERVER and PEER, which is a client or a gateway; what is
 * written runs from PEER. Returns what its slowest hop carries, 0 when there is no way. */
static double
add_leg(Sim *sim, const Job *job, SimNode *server, SimNode *peer, Flow *flow)
{
  const Path *path = path_of(sim, server->layout->id, peer);
  if (!path->there)
    return 0;
  double port = add_port(sim, job, server, peer, job->writes, flow);
  /* Forward and back are neighbours: what came one way goes the other. A router's one port does
   * both at once. */
  for (guint i = 0; i < path->n; i++) {
    gboolean link = path->resources[i] < 2 * sim->layout->n_links;
    add_use(flow, path->resources[i] ^ (link && job->writes ? 1 : 0), 1);
  }
  double end = peer->layout->kind == NODE_CLIENT
                   ? add_client_port(sim, peer, !job->writes, flow)
                   : add_port(sim, job, peer, server, !job->writes, flow);
  return MIN(MIN(port, end), path->slowest);
}

static void
add_service(const Sim *sim, const Transfer *transfer, const SimNode *server, Flow *flow)
{
  const BootModel *model = &sim->layout->boot;
  const Job *job = transfer->job;
  if (job == &sim->tftp || job->protocol == PROTOCOL_LOCAL)
    return;
  if (job->protocol == PROTOCOL_NBD) {
    double request = job->request > 0 ? job->request : model->nbd_request;
    add_use(flow, server->resource + RESOURCE_NBD, 1 / request);
  } else if (job->moves_data) {
    add_use(flow, server->resource + RESOURCE_NFSD, model->nfs_service / model->nfs_rsize);
  } else if (job->file_size > 0) { /* a call a file, for its attributes */
    add_use(flow, server->resource + RESOURCE_NFSD, model->nfs_service / job->file_size);
  }
}

typedef struct {
  double capacity[3]; /* two legs and a disk */
  guint n;
} SerialHops;

/* FALSE: there is no way. */
static gboolean
add_legs(Sim *sim, const Transfer *transfer, SimNode *node, SimNode *server, SimNode *data,
         Flow *flow, SerialHops *hops)
{
  const Job *job = transfer->job;
  if (server != node)
    hops->capacity[hops->n++] = add_leg(sim, job, server, node, flow);
  /* What a machine reads again itself comes out of its own memory. */
  if (data != server && (server != node || job->writes || transfer->disk > 0))
    hops->capacity[hops->n++] = add_leg(sim, job, data, server, flow);
  for (guint i = 0; i < hops->n; i++)
    if (hops->capacity[i] <= 0)
      return FALSE;
  return TRUE;
}

/* Switches pass a request's frames on as they come, so that it waits for the slowest hop of each
 * leg only; a gateway takes a request whole before it asks on. The disk it waits for besides, as
 * often as it needs it. */
gboolean
sim_path_flow(Sim *sim, const Transfer *transfer, Flow *flow)
{
  const Job *job = transfer->job;
  SimNode *node = &sim->nodes[transfer->client];
  NodeId at = job->protocol == PROTOCOL_LOCAL ? transfer->client : node->layout->server;
  if (at == NODE_NONE)
    return FALSE;
  const LayoutExport *mount = transfer->mount;
  SimNode *server = &sim->nodes[at], *data = mount ? &sim->nodes[mount->data] : server;
  SerialHops hops = {.n = 0};
  flow->n_uses = 0;
  flow->cap = INFINITY;
  if (!add_legs(sim, transfer, node, server, data, flow, &hops))
    return FALSE;
  if (!job->moves_data)
    flow->n_uses = hops.n = 0;
  add_service(sim, transfer, server, flow);
  double disk = sim->world.capacity[data->resource + RESOURCE_DISK];
  add_use(flow, data->resource + RESOURCE_DISK, transfer->disk);
  if (transfer->disk > 0 && disk < INFINITY && !(job->writes && mount && mount->async))
    hops.capacity[hops.n++] = disk / transfer->disk;
  double cap = job_cap(job, hops.capacity, hops.n);
  flow->cap = MIN(flow->cap, cap);
  return TRUE;
}
