#include "model/flow.h"

#include <math.h>

/* Resources this close to the fullest are full with it, or equal ports would part by a rounding
 * error and be filled in rounds of their own. */
#define TIE 1e-12

/* Weights taken away leave the rounding error of the whole in what remains; below this share of
 * the last true sum it is added up anew. */
#define RESUM_BELOW 0x1p-8

typedef struct {
  double left;   /* capacity not taken by stopped flows */
  double weight; /* Σ weight · count of the flows still rising */
  double summed; /* weight when it was last a true sum */
  double level;  /* the rate at which it is full; INFINITY: never */
  guint n_rising;
  guint64 solve; /* for which it was last set up */
} Resource;

typedef struct {
  double cap;
  guint64 mask; /* resources it may cross, by index modulo 64: what most tests need to know */
  guint flow;
} Rising;

struct FlowSolver {
  Resource *resources;
  guint *open; /* finite resources that rising flows cross */
  guint room_resources, n_open;
  guint64 solve;  /* how many there were */
  Rising *rising; /* in index order */
  guint room_rising, n_rising;
};

FlowSolver *
flow_solver_new(void)
{
  return g_new0(FlowSolver, 1);
}

void
flow_solver_free(FlowSolver *solver)
{
  if (solver == NULL)
    return;
  g_free(solver->resources);
  g_free(solver->open);
  g_free(solver->rising);
  g_free(solver);
}

static void
reserve(FlowSolver *solver, guint n_resources, guint n_flows)
{
  if (n_resources > solver->room_resources) {
    guint old = solver->room_resources;
    solver->room_resources = n_resources;
    solver->resources = g_renew(Resource, solver->resources, n_resources);
    for (guint r = old; r < n_resources; r++)
      solver->resources[r].solve = 0;
    solver->open = g_renew(guint, solver->open, n_resources);
  }
  if (n_flows > solver->room_rising) {
    solver->room_rising = n_flows;
    solver->rising = g_renew(Rising, solver->rising, n_flows);
  }
}

static guint64
mask_of(guint resource)
{
  return G_GUINT64_CONSTANT(1) << (resource % 64);
}

/* Only resources that a flow uses are looked at: a lab has thousands of ports at rest. */
static Resource *
use_resource(FlowSolver *solver, const double *capacity, guint r)
{
  Resource *resource = &solver->resources[r];
  if (resource->solve == solver->solve)
    return resource;
  g_assert(capacity[r] >= 0);
  *resource = (Resource){.left = capacity[r], .level = INFINITY, .solve = solver->solve};
  if (capacity[r] < INFINITY)
    solver->open[solver->n_open++] = r;
  return resource;
}

static void
load(FlowSolver *solver, const double *capacity, guint n_resources, const Flow *flows,
     guint n_flows)
{
  solver->solve++;
  solver->n_open = 0;
  for (guint i = 0; i < n_flows; i++) {
    const Flow *flow = &flows[i];
    g_assert(flow->cap >= 0 && flow->count >= 1 && flow->n_uses <= FLOW_MAX_USES);
    g_assert(flow->n_uses > 0 || flow->cap < INFINITY);
    guint64 mask = 0;
    for (guint u = 0; u < flow->n_uses; u++) {
      g_assert(flow->uses[u].resource < n_resources && flow->uses[u].weight > 0);
      Resource *resource = use_resource(solver, capacity, flow->uses[u].resource);
      resource->weight += flow->uses[u].weight * flow->count;
      resource->n_rising++;
      mask |= mask_of(flow->uses[u].resource);
    }
    solver->rising[i] = (Rising){flow->cap, mask, i};
  }
  solver->n_rising = n_flows;
  for (guint i = 0; i < solver->n_open; i++) {
    Resource *resource = &solver->resources[solver->open[i]];
    resource->summed = resource->weight;
  }
}

static void
sum_weights(FlowSolver *solver, guint r, const Flow *flows)
{
  double weight = 0;
  for (guint i = 0; i < solver->n_rising; i++) {
    if ((solver->rising[i].mask & mask_of(r)) == 0)
      continue;
    const Flow *flow = &flows[solver->rising[i].flow];
    for (guint u = 0; u < flow->n_uses; u++)
      if (flow->uses[u].resource == r)
        weight += flow->uses[u].weight * flow->count;
  }
  solver->resources[r].weight = solver->resources[r].summed = weight;
}

/* The rate at which the first open resource is full; INFINITY when none is open. */
static double
next_level(FlowSolver *solver, const Flow *flows)
{
  double lowest = INFINITY;
  guint n_open = 0;
  for (guint i = 0; i < solver->n_open; i++) {
    guint r = solver->open[i];
    Resource *resource = &solver->resources[r];
    if (resource->n_rising == 0)
      continue;
    solver->open[n_open++] = r;
    if (resource->weight < resource->summed * RESUM_BELOW)
      sum_weights(solver, r, flows);
    /* A finite resource stops at a finite rate, also where the quotient overflows. */
    resource->level = MIN(MAX(resource->left, 0) / resource->weight, G_MAXDOUBLE / 2);
    lowest = MIN(lowest, resource->level);
  }
  solver->n_open = n_open;
  return lowest;
}

static void
stop_flow(FlowSolver *solver, Flow *flow, double rate, int bottleneck)
{
  flow->rate = rate;
  flow->bottleneck = bottleneck;
  for (guint u = 0; u < flow->n_uses; u++) {
    Resource *resource = &solver->resources[flow->uses[u].resource];
    double weight = flow->uses[u].weight * flow->count;
    resource->left -= weight * rate;
    resource->weight -= weight;
    resource->n_rising--;
  }
}

/* Stops every flow whose cap lies at or below LEVEL. Each takes less than its share, so this only
 * raises the level: all can stop before it is computed again. */
static gboolean
stop_capped(FlowSolver *solver, Flow *flows, double level)
{
  guint kept = 0;
  for (guint i = 0; i < solver->n_rising; i++) {
    Rising rising = solver->rising[i];
    if (rising.cap <= level)
      stop_flow(solver, &flows[rising.flow], rising.cap, FLOW_AT_CAP);
    else
      solver->rising[kept++] = rising;
  }
  gboolean stopped = kept < solver->n_rising;
  solver->n_rising = kept;
  return stopped;
}

static int
full_resource(const FlowSolver *solver, const Flow *flow, double bound)
{
  for (guint u = 0; u < flow->n_uses; u++)
    if (solver->resources[flow->uses[u].resource].level <= bound)
      return (int)flow->uses[u].resource;
  return FLOW_AT_CAP;
}

/* Stops every flow that crosses a resource full at LEVEL, and names the first such of its uses. */
static void
stop_full(FlowSolver *solver, Flow *flows, double level)
{
  double bound = level * (1 + TIE);
  guint64 full = 0;
  for (guint i = 0; i < solver->n_open; i++)
    if (solver->resources[solver->open[i]].level <= bound)
      full |= mask_of(solver->open[i]);
  guint kept = 0;
  for (guint i = 0; i < solver->n_rising; i++) {
    Rising rising = solver->rising[i];
    Flow *flow = &flows[rising.flow];
    int bottleneck = (rising.mask & full) == 0 ? FLOW_AT_CAP : full_resource(solver, flow, bound);
    if (bottleneck != FLOW_AT_CAP)
      stop_flow(solver, flow, level, bottleneck);
    else
      solver->rising[kept++] = rising;
  }
  g_assert(kept < solver->n_rising);
  solver->n_rising = kept;
}

void
flow_solve(FlowSolver *solver, const double *capacity, guint n_resources, Flow *flows,
           guint n_flows)
{
  reserve(solver, n_resources, n_flows);
  load(solver, capacity, n_resources, flows, n_flows);
  double level = 0;
  while (solver->n_rising > 0) {
    /* Never lower than before: a resource filled to a rounding error beyond stops its flows here.
     */
    level = MAX(level, next_level(solver, flows));
    if (!stop_capped(solver, flows, level))
      stop_full(solver, flows, level);
  }
}

double
flow_serial_rate(double size, double time, const double *capacity, guint n_hops)
{
  for (guint i = 0; i < n_hops; i++)
    time += size / capacity[i];
  return size / time;
}
