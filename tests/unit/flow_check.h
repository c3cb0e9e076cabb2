/* Judges rates by the bottleneck property alone: rates are max-min fair if and only if they are
 * feasible, and every flow is at its cap or crosses a full resource on which no flow is faster.
 * Shares no code and no reasoning with the solver; sums in long double. */
#ifndef PULT_TESTS_FLOW_CHECK_H
#define PULT_TESTS_FLOW_CHECK_H

#include <math.h>

#include "model/flow.h"

/* Relative; 0 is perfect. */
typedef struct {
  double infeasible; /* how far the worst resource is overfull, or a flow above its cap */
  double unfair;     /* how far the worst flow is from having a bottleneck */
  double misnamed;   /* how far the worst flow's named bottleneck is from being one */
} FlowSlack;

typedef struct {
  long double used;
  double fastest;
} FlowCheckLoad;

static inline double
flow_check_missing(double have, double bound)
{
  if (have == bound)
    return 0;
  return bound == INFINITY ? 1 : 1 - have / bound;
}

/* How far the resource is from being a bottleneck of a flow of RATE. */
static inline double
flow_check_resource(const FlowCheckLoad *load, double capacity, double rate)
{
  double room = flow_check_missing((double)load->used, capacity);
  double envy = rate == load->fastest ? 0 : 1 - rate / load->fastest;
  return MAX(MAX(room, envy), 0);
}

static inline void
flow_check_flow(const Flow *flow, const double *capacity, const FlowCheckLoad *loads,
                FlowSlack *slack)
{
  double at_cap = fabs(flow_check_missing(flow->rate, flow->cap));
  double unfair = at_cap, misnamed = flow->bottleneck == FLOW_AT_CAP ? at_cap : 1;
  for (guint u = 0; u < flow->n_uses; u++) {
    guint r = flow->uses[u].resource;
    double off = flow_check_resource(&loads[r], capacity[r], flow->rate);
    unfair = MIN(unfair, off);
    if ((int)r == flow->bottleneck)
      misnamed = off;
  }
  if (!(flow->rate >= 0)) /* NAN too */
    slack->infeasible = INFINITY;
  if (flow->rate > flow->cap)
    slack->infeasible = MAX(slack->infeasible, flow->rate / flow->cap - 1);
  slack->unfair = MAX(slack->unfair, unfair);
  slack->misnamed = MAX(slack->misnamed, misnamed);
}

static inline FlowSlack
flow_check(const double *capacity, guint n_resources, const Flow *flows, guint n_flows)
{
  g_autofree FlowCheckLoad *loads = g_new0(FlowCheckLoad, n_resources);
  FlowSlack slack = {0};
  for (guint i = 0; i < n_flows; i++)
    for (guint u = 0; u < flows[i].n_uses; u++) {
      FlowCheckLoad *load = &loads[flows[i].uses[u].resource];
      load->used += (long double)flows[i].uses[u].weight * flows[i].rate * flows[i].count;
      load->fastest = MAX(load->fastest, flows[i].rate);
    }
  for (guint r = 0; r < n_resources; r++)
    if (loads[r].used > capacity[r])
      slack.infeasible = MAX(slack.infeasible, (double)(loads[r].used / capacity[r] - 1));
  for (guint i = 0; i < n_flows; i++)
    flow_check_flow(&flows[i], capacity, loads, &slack);
  return slack;
}

#endif
