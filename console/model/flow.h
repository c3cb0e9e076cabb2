/* Max-min fair rates of flows over shared resources.
 *
 * Maximise the smallest rate, then the next, …, subject to
 *     for every resource:  Σ over its flows of weight · rate · count ≤ capacity,
 *     for every flow:      rate ≤ cap.
 * Solved by progressive filling: all unfrozen rates rise together; a flow stops at its cap, or when
 * a resource it crosses is full. Source: Bertsekas & Gallager, Data Networks, 6.5.2.
 *
 * Deterministic: flows and resources are taken in index order, so equal input gives equal bits.
 */
#ifndef PULT_MODEL_FLOW_H
#define PULT_MODEL_FLOW_H

#include <glib.h>

#define FLOW_MAX_USES 24 /* a way of 16 hops, a gateway in it, all ports, what servers limit */
#define FLOW_AT_CAP (-1)

typedef struct {
  guint resource;
  double weight; /* resource units per unit of rate; > 0 */
} FlowUse;

typedef struct {
  double cap;  /* may be INFINITY if it uses a resource */
  guint count; /* identical flows this one stands for; ≥ 1; the rate is that of each */
  guint n_uses;
  FlowUse uses[FLOW_MAX_USES];
  double rate;    /* result */
  int bottleneck; /* result: the first of its uses that stopped it, or FLOW_AT_CAP */
} Flow;

typedef struct FlowSolver FlowSolver; /* scratch memory, reused between calls */

FlowSolver *flow_solver_new(void);
void flow_solver_free(FlowSolver *solver);
/* A flow that crosses a resource of capacity 0 gets rate 0; a capacity may be INFINITY. Resources
 * full within 1e-12 of each other are full together. Allocates only when it meets more flows or
 * resources than ever before; time grows with the number of Flow entries, not with their counts nor
 * with the resources none of them uses. */
void flow_solve(FlowSolver *solver, const double *capacity, guint n_resources, Flow *flows,
                guint n_flows);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FlowSolver, flow_solver_free)

/* Serial hops, request by request: bytes a second when each request of SIZE bytes waits for TIME
 * (s) and then for each hop's transfer in turn. rate = size / (time + Σ size / capacity). */
double flow_serial_rate(double size, double time, const double *capacity, guint n_hops);

#endif
