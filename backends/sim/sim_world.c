#include <math.h>

#include "backends/sim/sim_private.h"

static guint
count_resources(SimNode *node, guint first)
{
  node->resource = first;
  switch (node->layout->kind) {
  case NODE_SERVER:
    return RESOURCE_PORTS + 2 * node->layout->as_server->n_ports;
  case NODE_ROUTER:
    return 1;
  case NODE_CLIENT:
    return 2;
  default:
    return 0;
  }
}

void
sim_world_init(Sim *sim)
{
  World *world = &sim->world;
  world->n_resources = 2 * sim->layout->n_links; /* forward, back */
  for (NodeId i = 0; i < sim->layout->n_nodes; i++)
    world->n_resources += count_resources(&sim->nodes[i], world->n_resources);
  world->capacity = g_new0(double, world->n_resources);
  world->used = g_new0(double, world->n_resources);
  world->pull = g_new0(double, world->n_resources);
  world->links_up = g_new(gboolean, sim->layout->n_links);
  for (guint i = 0; i < sim->layout->n_links; i++)
    world->links_up[i] = TRUE;
  world->epoch = 1;
  world->next = TIME_NEVER;
  world->finished = g_ptr_array_new();
  sim_class_init(world);
  world->solver = flow_solver_new();
  sim_path_capacities(sim);
}

void
sim_world_clear(Sim *sim)
{
  World *world = &sim->world;
  g_free(world->capacity);
  g_free(world->used);
  g_free(world->pull);
  g_free(world->links_up);
  g_ptr_array_unref(world->finished);
  sim_class_clear(world);
  flow_solver_free(world->solver);
}

/* One transfer alone never fills more than its client's port, so there the port is but a cap, and
 * clients alike share a class. Several on one client share the port as a resource of its own. */
static void
rejoin(Sim *sim, NodeId client)
{
  for (GList *i = sim->nodes[client].transfers.head; i != NULL; i = i->next) {
    Transfer *transfer = i->data;
    sim_class_leave(sim, transfer);
    if (transfer->left > 0)
      sim_class_join(sim, transfer);
  }
}

static void
end_at_once(World *world, Transfer *transfer, gint64 now)
{
  g_ptr_array_add(world->over, transfer);
  world->next = now;
}

void
sim_world_start(Sim *sim, Transfer *transfer, const Job *job, double bytes)
{
  World *world = &sim->world;
  GQueue *others = &sim->nodes[transfer->client].transfers;
  sim_world_settle(sim);
  transfer->job = job;
  transfer->number = world->begun++;
  transfer->left = bytes;
  transfer->moved = 0;
  transfer->class = NULL;
  transfer->of_client = (GList){.data = transfer};
  g_queue_push_tail_link(others, &transfer->of_client);
  if (bytes <= 0)
    end_at_once(world, transfer, sim->now);
  if (others->length == 2)
    rejoin(sim, transfer->client);
  else if (bytes > 0)
    sim_class_join(sim, transfer);
}

void
sim_world_stop(Sim *sim, Transfer *transfer)
{
  if (transfer->job == NULL)
    return;
  GQueue *others = &sim->nodes[transfer->client].transfers;
  sim_world_settle(sim);
  if (transfer->class == NULL)
    g_ptr_array_remove(sim->world.over, transfer);
  sim_class_leave(sim, transfer);
  g_queue_unlink(others, &transfer->of_client);
  transfer->job = NULL;
  if (others->length == 1)
    rejoin(sim, transfer->client);
}

double
sim_world_moved(const Sim *sim, const Transfer *transfer)
{
  return transfer->moved + sim_class_moved(sim, transfer);
}

void
sim_world_settle(Sim *sim)
{
  World *world = &sim->world;
  if (world->since == sim->now)
    return;
  double seconds = (double)(sim->now - world->since) / 1e9;
  sim_meter_load(sim, world->since, sim->now);
  world->since = sim->now;
  for (guint i = 0; i < world->active->len; i++) {
    guint resource = g_array_index(world->active, guint, i);
    world->used[resource] += world->pull[resource] * seconds;
  }
}

void
sim_world_changed(Sim *sim)
{
  sim_world_settle(sim);
  sim->world.epoch++;
  sim_path_capacities(sim);
  for (NodeId i = 0; i < sim->layout->n_nodes; i++)
    rejoin(sim, i);
  sim->world.stale = TRUE;
  sim_boot_retry(sim);
}

gboolean
sim_world_reaches(Sim *sim, NodeId client)
{
  Transfer probe = {.job = &sim->tftp, .client = client};
  Flow flow;
  return sim_path_flow(sim, &probe, &flow);
}

static void
add_pulls(World *world)
{
  for (guint i = 0; i < world->active->len; i++)
    world->pull[g_array_index(world->active, guint, i)] = 0;
  for (guint i = 0; i < world->flows->len; i++) {
    const Flow *flow = &g_array_index(world->flows, Flow, i);
    for (guint u = 0; u < flow->n_uses; u++)
      world->pull[flow->uses[u].resource] += flow->uses[u].weight * flow->rate * flow->count;
  }
}

/* What has ended by the old rates has ended, whatever the new ones are. */
void
sim_world_solve(Sim *sim)
{
  World *world = &sim->world;
  if (!world->stale)
    return;
  sim_world_settle(sim);
  if (world->next <= sim->now)
    sim_class_take_due(sim);
  world->stale = world->moving = FALSE;
  Flow *flows = (Flow *)(void *)world->flows->data;
  flow_solve(world->solver, world->capacity, world->n_resources, flows, world->flows->len);
  add_pulls(world);
  world->next = world->over->len > 0 ? sim->now : TIME_NEVER;
  for (guint i = 0; i < world->classes->len; i++) {
    Class *class = g_ptr_array_index(world->classes, i);
    sim_class_set_rate(sim, class, flows[i].rate);
    world->next = MIN(world->next, class->end);
    if (flows[i].rate > 0 && flows[i].n_uses > 0)
      world->moving = TRUE;
  }
}

static int
compare_begin(gconstpointer a, gconstpointer b)
{
  const Transfer *s = *(const Transfer *const *)a, *t = *(const Transfer *const *)b;
  return (s->number > t->number) - (s->number < t->number);
}

/* Those that end together are taken together, in the order they began: what comes next of one
 * must not depend on which rates another's end has changed. */
void
sim_world_finish(Sim *sim)
{
  World *world = &sim->world;
  if (world->next > sim->now)
    return;
  sim_world_settle(sim);
  sim_class_take_due(sim);
  GPtrArray *finished = world->over;
  world->over = world->finished;
  world->finished = finished;
  g_ptr_array_sort(finished, compare_begin);
  for (guint i = 0; i < finished->len; i++) {
    Transfer *transfer = g_ptr_array_index(finished, i);
    if (transfer->run != NULL) {
      sim_load_moved(sim, transfer->run);
      continue;
    }
    sim_world_stop(sim, transfer);
    sim_boot_moved(sim, transfer->client);
  }
  g_ptr_array_set_size(finished, 0);
}
