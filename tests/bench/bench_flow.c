/* Nanoseconds a solve takes, for the shapes the simulator has. */
#include <math.h>
#include <stdio.h>

#include "model/flow.h"

#define PORTS 4
#define PORT_RATE 117.685e6

typedef struct {
  const char *name;
  guint n_flows, n_resources;
  void (*build)(guint i, Flow *flow, GRand *rand);
} Shape;

static void
use(Flow *flow, guint resource, double weight)
{
  flow->uses[flow->n_uses++] = (FlowUse){resource, weight};
}

/* 34 seats booting over two of four ports, nfsd, disk, two links; every fifth computes. */
static void
build_storm(guint i, Flow *flow, GRand *rand)
{
  (void)rand;
  *flow = (Flow){.cap = i % 5 == 0 ? 5.632e6 : 24.62e6, .count = 1};
  use(flow, i % 17 == 4 ? 1 : i % 2 * 2, 1);
  use(flow, 4, 0.0005 / 32768);
  use(flow, 5, 0.02);
  use(flow, i < 17 ? 6 : 7, 1);
}

/* The same with caps that all differ, which stop one by one. */
static void
build_caps(guint i, Flow *flow, GRand *rand)
{
  build_storm(i, flow, rand);
  flow->cap = g_rand_double_range(rand, 1e6, 30e6);
}

/* A room of rooms: a port, a switch and a seat link each, caps at random. */
static void
build_large(guint i, Flow *flow, GRand *rand)
{
  *flow = (Flow){.cap = g_rand_double_range(rand, 1e3, 1e6), .count = 1};
  use(flow, i % PORTS, 1);
  use(flow, PORTS + i % 100, 1);
  use(flow, 200 + i % 300, g_rand_double_range(rand, 0.1, 10));
}

/* Ten thousand seats in eight classes. */
static void
build_classes(guint i, Flow *flow, GRand *rand)
{
  build_storm(i, flow, rand);
  flow->count = 1250;
}

static void
run(const Shape *shape)
{
  g_autoptr(FlowSolver) solver = flow_solver_new();
  g_autoptr(GRand) rand = g_rand_new_with_seed(1);
  g_autofree Flow *flows = g_new0(Flow, shape->n_flows);
  g_autofree double *capacity = g_new(double, shape->n_resources);
  for (guint r = 0; r < shape->n_resources; r++)
    capacity[r] = r == 4 ? 64 : r == 5 ? 100e6 : PORT_RATE;
  if (shape->n_resources > 20)
    capacity[4] = capacity[5] = PORT_RATE;
  for (guint i = 0; i < shape->n_flows; i++)
    shape->build(i, &flows[i], rand);

  gint64 least = G_MAXINT64;
  guint repeats = MAX(1, 2000000 / (shape->n_flows * 40));
  double sum = 0;
  for (guint round = 0; round < 7; round++) {
    gint64 start = g_get_monotonic_time();
    for (guint i = 0; i < repeats; i++) {
      flow_solve(solver, capacity, shape->n_resources, flows, shape->n_flows);
      sum += flows[i % shape->n_flows].rate;
    }
    least = MIN(least, g_get_monotonic_time() - start);
  }
  g_assert(sum > 0);
  printf("flow %-22s %6u flows %4u resources %10.0f ns\n", shape->name, shape->n_flows,
         shape->n_resources, (double)least * 1000 / repeats);
}

int
main(void)
{
  static const Shape shapes[] = {
      {"two-room storm", 34, 20, build_storm},
      {"caps all different", 34, 20, build_caps},
      {"10,000 seats, 8 classes", 8, 20, build_classes},
      {"10,000 different", 10000, 500, build_large},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(shapes); i++)
    run(&shapes[i]);
  return 0;
}
