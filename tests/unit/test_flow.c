#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/flow_check.h"

/* TCP payload of a Gigabit and of a Fast Ethernet port, bytes a second. */
#define GE (125e6 * 1448 / 1538)
#define FAST_ETHERNET (GE / 10)
#define MIB 1048576.0

#define BLOCK 131072.0 /* of NBD */
#define NBD_T0 (BLOCK / (175e6 / 8) - BLOCK / GE)
#define NBD_REQUESTS (1.75e9 / 8 / BLOCK)

static void
assert_close(double found, double expected, double tolerance)
{
  if (!(fabs(found - expected) <= tolerance * fabs(expected)))
    fail_msg("%.15g instead of %.15g", found, expected);
}

static Flow
flow_of(double cap, guint count)
{
  return (Flow){.cap = cap, .count = count, .rate = NAN, .bottleneck = -7};
}

static void
use(Flow *flow, guint resource, double weight)
{
  flow->uses[flow->n_uses++] = (FlowUse){resource, weight};
}

static void
solve(const double *capacity, guint n_resources, Flow *flows, guint n_flows)
{
  g_autoptr(FlowSolver) solver = flow_solver_new();
  flow_solve(solver, capacity, n_resources, flows, n_flows);
}

/* The rate of COUNT equal flows that cross the resources 0 … N-1 with weight 1. */
static double
equal_share(double cap, guint count, const double *capacity, guint n)
{
  Flow flow = flow_of(cap, count);
  for (guint r = 0; r < n; r++)
    use(&flow, r, 1);
  solve(capacity, n, &flow, 1);
  return flow.rate;
}

static void
test_uplink(void **state)
{
  (void)state;
  double capacity[] = {GE, 10 * GE, 4 * GE};
  assert_close(equal_share(INFINITY, 14, capacity, 3), GE / 14, 1e-9);
  assert_close(equal_share(INFINITY, 14, capacity, 3), 8.406e6, 5e-5);
}

/* COUNTS[p] clients on port P, each with CAP; RATE[p] is what each got, the result their sum. */
static double
solve_ports(const guint *counts, guint n_ports, double cap, double *rate)
{
  Flow flows[16];
  double capacity[16], total = 0;
  guint n = 0;
  for (guint p = 0; p < n_ports; p++) {
    capacity[p] = GE;
    if (counts[p] == 0)
      continue;
    flows[n] = flow_of(cap, counts[p]);
    use(&flows[n++], p, 1);
  }
  solve(capacity, n_ports, flows, n);
  n = 0;
  for (guint p = 0; p < n_ports; p++) {
    rate[p] = counts[p] == 0 ? 0 : flows[n++].rate;
    total += rate[p] * counts[p];
  }
  return total;
}

static void
test_bond_ports(void **state)
{
  (void)state;
  double rate[4];
  solve_ports((guint[]){5, 4, 4, 4}, 4, INFINITY, rate);
  assert_close(rate[0], 23.54e6, 2e-4);
  assert_close(rate[1], 29.42e6, 2e-4);
  assert_close(rate[3], rate[1], 0);
  solve_ports((guint[]){17, 0, 17, 0}, 4, INFINITY, rate);
  assert_close(rate[0], GE / 17, 1e-9);
  assert_close(rate[2], 6.923e6, 1e-4);
}

static void
test_bond_total(void **state)
{
  (void)state;
  g_autoptr(GRand) rand = g_rand_new_with_seed(2);
  for (int i = 0; i < 1000; i++) {
    guint counts[4];
    double cap = g_rand_double_range(rand, 1e6, 200e6), expected = 0, rate[4];
    for (guint p = 0; p < 4; p++) {
      counts[p] = (guint)g_rand_int_range(rand, 0, 20);
      expected += MIN(counts[p] * cap, GE);
    }
    assert_close(solve_ports(counts, 4, cap, rate), expected, 1e-9);
  }
}

/* T = Tcpu + B / min(c, C/N), with that case's own calibration: a single boot takes 18 s. */
static void
test_lock_step_boot(void **state)
{
  (void)state;
  double bytes = 184.5e6, cpu = 10.51, cap = bytes / (18 - cpu), capacity[] = {GE};
  assert_close(cpu + bytes / equal_share(cap, 14, capacity, 1), cpu + bytes * 14 / GE, 1e-9);
  assert_close(cpu + bytes / equal_share(cap, 14, capacity, 1), 32.458, 2e-5);
  assert_close(cpu + bytes / equal_share(cap, 4, capacity, 1), 18, 1e-9);
  assert_close(cpu + bytes / equal_share(cap, 5, capacity, 1), cpu + bytes * 5 / GE, 1e-9);
}

/* What N readers of a network block device get together. */
static double
nbd_total(guint n, int *bottleneck)
{
  Flow flow = flow_of(BLOCK / (NBD_T0 + BLOCK / GE), n);
  use(&flow, 0, 1);
  use(&flow, 1, 1 / BLOCK);
  solve((double[]){4 * GE, NBD_REQUESTS}, 2, &flow, 1);
  *bottleneck = flow.bottleneck;
  return flow.rate * n;
}

static void
test_nbd(void **state)
{
  (void)state;
  assert_close(NBD_T0, 4.878113e-3, 1e-7);
  assert_close(NBD_REQUESTS, 1668.930, 1e-6);
  int bottleneck;
  for (guint n = 1; n <= 40; n++) {
    double alone = n / (NBD_T0 + BLOCK / GE);
    assert_close(nbd_total(n, &bottleneck), BLOCK * MIN(alone, NBD_REQUESTS), 1e-9);
    if (n != 10) /* the knee, where both limits meet */
      assert_int_equal(bottleneck, n < 10 ? FLOW_AT_CAP : 1);
  }
  assert_close(NBD_REQUESTS * (NBD_T0 + BLOCK / GE), 10, 1e-9);
  assert_close(nbd_total(1, &bottleneck), 175e6 / 8, 1e-9);
  assert_close(nbd_total(16, &bottleneck), 1.75e9 / 8, 1e-9);
  /* SquashFS: 52,429 B on the wire a request. */
  double wire = 0.4 * BLOCK;
  assert_close(wire / (NBD_T0 + wire / GE), 9.848e6, 1e-4);
}

static void
test_nfsd(void **state)
{
  (void)state;
  Flow flow = flow_of(INFINITY, 34);
  use(&flow, 0, 1);
  use(&flow, 1, 0.005 / 32768);
  solve((double[]){4 * GE, 8}, 2, &flow, 1);
  assert_close(flow.rate * 34, 8 * 32768 / 0.005, 1e-9);
  assert_close(flow.rate * 34, 52.4e6, 1e-3);
  assert_int_equal(flow.bottleneck, 1);
}

static void
test_serial_hops(void **state)
{
  (void)state;
  double page = 8192, hops[] = {FAST_ETHERNET, 6 * MIB};
  double exact = page / (0.31e-3 + page / FAST_ETHERNET + page / (6 * MIB));
  assert_close(flow_serial_rate(page, 0.31e-3, hops, 2), exact, 1e-9);
  assert_close(flow_serial_rate(page, 0.31e-3, hops, 2) / MIB, 3.385, 5e-4);
  assert_close(flow_serial_rate(page, 0, hops, 2) / MIB, 3.91, 1e-3);

  double dd = 104857600 / 29.54, file = 36113 * 1024.0 / 2773;
  assert_close(flow_serial_rate(file, 12.4e-3, &dd, 1) / MIB, 0.79, 5e-3);

  double blocks = 40 * MIB / page, slow = 1.294e-3, fast = 0.914e-3, lan[] = {FAST_ETHERNET};
  assert_close(40 * MIB / flow_serial_rate(page, slow, NULL, 0), 6.624, 5e-4);
  assert_close(40 * MIB / flow_serial_rate(page, fast, NULL, 0), 4.678, 5e-4);
  assert_close(40 * MIB / flow_serial_rate(page, fast, lan, 1), 8.24, 1e-3);
  assert_close(40 * MIB / flow_serial_rate(page, slow, lan, 1), 10.2, 2e-3);
  assert_close(40 * MIB / flow_serial_rate(page, fast, lan, 1),
               blocks * (fast + page / FAST_ETHERNET), 1e-9);
}

/* Rates are equal, not usages: a flow that costs ten times as much gets the same rate. */
static void
test_weights(void **state)
{
  (void)state;
  Flow flows[] = {flow_of(INFINITY, 1), flow_of(INFINITY, 2), flow_of(3, 1)};
  use(&flows[0], 0, 10);
  use(&flows[1], 0, 1);
  use(&flows[2], 0, 1);
  solve((double[]){63}, 1, flows, 3);
  assert_close(flows[2].rate, 3, 0);
  assert_close(flows[0].rate, 5, 1e-15);
  assert_close(flows[1].rate, 5, 1e-15);
}

static void
test_extremes(void **state)
{
  (void)state;
  Flow flows[] = {flow_of(INFINITY, 3), flow_of(INFINITY, 1), flow_of(7, 2),
                  flow_of(0, 1),        flow_of(INFINITY, 1), flow_of(5, 1)};
  use(&flows[0], 0, 1); /* nothing to be had */
  use(&flows[1], 1, 1); /* no limit at all */
  use(&flows[3], 2, 1);
  use(&flows[4], 2, 5e-324); /* the quotient overflows */
  use(&flows[5], 1, 1e300);
  use(&flows[5], 3, 1e-300);
  solve((double[]){0, INFINITY, 1e10, 5e-324}, 4, flows, 6);
  assert_true(flows[0].rate == 0 && flows[0].bottleneck == 0);
  assert_true(flows[1].rate == INFINITY && flows[1].bottleneck == FLOW_AT_CAP);
  assert_true(flows[2].rate == 7 && flows[2].bottleneck == FLOW_AT_CAP);
  assert_true(flows[3].rate == 0 && flows[3].bottleneck == FLOW_AT_CAP);
  assert_true(isfinite(flows[4].rate) && flows[4].bottleneck == 2);
  assert_true(flows[5].rate < 1e-20 && flows[5].bottleneck == 3);
  solve(NULL, 0, NULL, 0);
}

/* Many weights gone from a resource must leave no rounding error of theirs behind. */
static void
test_cancellation(void **state)
{
  (void)state;
  Flow flows[3] = {flow_of(1e-9, 1), flow_of(2e-9, 1), flow_of(INFINITY, 1)};
  use(&flows[0], 0, 1e9 + 0.1);
  use(&flows[1], 0, 3e8 + 0.7);
  use(&flows[2], 0, 1e-9);
  solve((double[]){10}, 1, flows, 3);
  double left = 10 - (1e9 + 0.1) * 1e-9 - (3e8 + 0.7) * 2e-9;
  assert_close(flows[2].rate, left / 1e-9, 1e-12);
}

#define MAX_RESOURCES 100
#define MAX_FLOWS 40

typedef struct {
  double capacity[MAX_RESOURCES];
  Flow flows[MAX_FLOWS];
  guint n_resources, n_flows;
} Case;

static double
log_uniform(GRand *rand, double low, double high)
{
  return exp(g_rand_double_range(rand, log(low), log(high)));
}

static void
random_flow(GRand *rand, const Case *c, gboolean weighted, Flow *flow)
{
  *flow = flow_of(INFINITY,
                  g_rand_int_range(rand, 0, 3) > 0 ? 1 : (guint)g_rand_int_range(rand, 2, 1000));
  guint n_uses = (guint)g_rand_int_range(rand, 0, 7);
  for (guint u = 0; u < n_uses; u++) {
    guint r = (guint)g_rand_int_range(rand, 0, (gint32)c->n_resources);
    use(flow, r, weighted && g_rand_boolean(rand) ? log_uniform(rand, 1e-7, 1e4) : 1);
  }
  if (n_uses == 0 || g_rand_boolean(rand))
    flow->cap = g_rand_int_range(rand, 0, 20) == 0 ? 0 : log_uniform(rand, 1e-3, 1e4);
}

/* A third each: odd weights and capacities; round ones, full of ties; many resources. */
static void
random_case(GRand *rand, guint number, Case *c)
{
  gboolean round = number % 3 == 1;
  c->n_resources = (guint)g_rand_int_range(rand, 1, number % 3 == 2 ? MAX_RESOURCES + 1 : 9);
  c->n_flows = (guint)g_rand_int_range(rand, 1, MAX_FLOWS + 1);
  for (guint r = 0; r < c->n_resources; r++) {
    guint kind = (guint)g_rand_int_range(rand, 0, 20);
    double finite = round ? 10 * g_rand_int_range(rand, 1, 4) : log_uniform(rand, 1e-3, 1e6);
    c->capacity[r] = kind == 0 ? 0 : kind == 1 ? INFINITY : finite;
  }
  for (guint i = 0; i < c->n_flows; i++) {
    random_flow(rand, c, !round, &c->flows[i]);
    if (round && c->flows[i].cap > 0 && c->flows[i].cap < INFINITY)
      c->flows[i].cap = g_rand_int_range(rand, 1, 11);
  }
}

static void
test_bottleneck_property(void **state)
{
  (void)state;
  g_autoptr(GRand) rand = g_rand_new_with_seed(1);
  g_autoptr(FlowSolver) solver = flow_solver_new();
  FlowSlack worst = {0};
  for (guint i = 0; i < 10000; i++) {
    Case c;
    random_case(rand, i, &c);
    flow_solve(solver, c.capacity, c.n_resources, c.flows, c.n_flows);
    FlowSlack slack = flow_check(c.capacity, c.n_resources, c.flows, c.n_flows);
    worst.infeasible = MAX(worst.infeasible, slack.infeasible);
    worst.unfair = MAX(worst.unfair, slack.unfair);
    worst.misnamed = MAX(worst.misnamed, slack.misnamed);
  }
  print_message("10000 cases, worst relative slack: feasible %.1e, fair %.1e, bottleneck %.1e\n",
                worst.infeasible, worst.unfair, worst.misnamed);
  assert_true(worst.infeasible < 1e-9 && worst.unfair < 1e-9 && worst.misnamed < 1e-9);
}

/* The judge must notice: each rate of a right answer, moved by a percent, is wrong. */
static void
test_checker_notices(void **state)
{
  (void)state;
  g_autoptr(GRand) rand = g_rand_new_with_seed(3);
  guint raised = 0, lowered = 0;
  for (guint i = 0; i < 1000; i++) {
    Case c;
    random_case(rand, 3 * i + 1, &c);
    solve(c.capacity, c.n_resources, c.flows, c.n_flows);
    for (guint f = 0; f < c.n_flows; f++) {
      double rate = c.flows[f].rate;
      if (rate == 0 || rate == INFINITY)
        continue;
      c.flows[f].rate = rate * 1.01;
      raised += flow_check(c.capacity, c.n_resources, c.flows, c.n_flows).infeasible < 1e-9;
      c.flows[f].rate = rate * 0.99;
      lowered += flow_check(c.capacity, c.n_resources, c.flows, c.n_flows).unfair < 1e-9;
      c.flows[f].rate = rate;
    }
  }
  assert_int_equal(raised, 0);
  assert_int_equal(lowered, 0);
}

static void
test_scaling(void **state)
{
  (void)state;
  g_autoptr(GRand) rand = g_rand_new_with_seed(4);
  for (guint i = 0; i < 1000; i++) {
    Case c, scaled;
    random_case(rand, i, &c);
    scaled = c;
    double k = log_uniform(rand, 1e-6, 1e6);
    for (guint r = 0; r < c.n_resources; r++)
      scaled.capacity[r] *= k;
    for (guint f = 0; f < c.n_flows; f++)
      scaled.flows[f].cap *= k;
    solve(c.capacity, c.n_resources, c.flows, c.n_flows);
    solve(scaled.capacity, c.n_resources, scaled.flows, c.n_flows);
    for (guint f = 0; f < c.n_flows; f++)
      if (c.flows[f].rate < INFINITY)
        assert_close(scaled.flows[f].rate, c.flows[f].rate * k, 1e-9);
  }
}

static void
shuffle(GRand *rand, guint *order, guint n)
{
  for (guint i = 0; i < n; i++)
    order[i] = i;
  for (guint i = n; i > 1; i--) {
    guint j = (guint)g_rand_int_range(rand, 0, (gint32)i), kept = order[i - 1];
    order[i - 1] = order[j];
    order[j] = kept;
  }
}

static void
test_permutation(void **state)
{
  (void)state;
  g_autoptr(GRand) rand = g_rand_new_with_seed(5);
  for (guint i = 0; i < 1000; i++) {
    Case c, permuted;
    random_case(rand, i, &c);
    guint order[MAX_FLOWS];
    shuffle(rand, order, c.n_flows);
    permuted = c;
    for (guint f = 0; f < c.n_flows; f++)
      permuted.flows[f] = c.flows[order[f]];
    solve(c.capacity, c.n_resources, c.flows, c.n_flows);
    solve(permuted.capacity, c.n_resources, permuted.flows, c.n_flows);
    for (guint f = 0; f < c.n_flows; f++)
      if (c.flows[order[f]].rate < INFINITY)
        assert_close(permuted.flows[f].rate, c.flows[order[f]].rate, 1e-9);
  }
}

/* One flow that stands for N equals N flows, and equal flows get equal bits. */
static void
test_counts(void **state)
{
  (void)state;
  g_autoptr(GRand) rand = g_rand_new_with_seed(6);
  for (guint i = 0; i < 1000; i++) {
    Case c;
    random_case(rand, i, &c);
    g_autofree Flow *apart = g_new(Flow, MAX_FLOWS * 4);
    guint n = 0;
    for (guint f = 0; f < c.n_flows; f++) {
      c.flows[f].count = 1 + f % 4;
      for (guint k = 0; k < c.flows[f].count; k++) {
        apart[n] = c.flows[f];
        apart[n++].count = 1;
      }
    }
    solve(c.capacity, c.n_resources, c.flows, c.n_flows);
    solve(c.capacity, c.n_resources, apart, n);
    n = 0;
    for (guint f = 0; f < c.n_flows; f++)
      for (guint k = 0; k < c.flows[f].count; k++, n++) {
        assert_true(k == 0 || apart[n].rate == apart[n - 1].rate);
        if (c.flows[f].rate < INFINITY)
          assert_close(apart[n].rate, c.flows[f].rate, 1e-9);
      }
  }
}

/* A used solver gives the same bits as a fresh one, after larger and after smaller cases. */
static void
test_reuse(void **state)
{
  (void)state;
  g_autoptr(GRand) rand = g_rand_new_with_seed(7);
  g_autoptr(FlowSolver) used = flow_solver_new();
  for (guint i = 0; i < 500; i++) {
    Case c, again;
    random_case(rand, i, &c);
    again = c;
    flow_solve(used, c.capacity, c.n_resources, c.flows, c.n_flows);
    solve(again.capacity, again.n_resources, again.flows, again.n_flows);
    for (guint f = 0; f < c.n_flows; f++) {
      assert_memory_equal(&c.flows[f].rate, &again.flows[f].rate, sizeof(double));
      assert_int_equal(c.flows[f].bottleneck, again.flows[f].bottleneck);
    }
  }
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_uplink),
      cmocka_unit_test(test_bond_ports),
      cmocka_unit_test(test_bond_total),
      cmocka_unit_test(test_lock_step_boot),
      cmocka_unit_test(test_nbd),
      cmocka_unit_test(test_nfsd),
      cmocka_unit_test(test_serial_hops),
      cmocka_unit_test(test_weights),
      cmocka_unit_test(test_extremes),
      cmocka_unit_test(test_cancellation),
      cmocka_unit_test(test_bottleneck_property),
      cmocka_unit_test(test_checker_notices),
      cmocka_unit_test(test_scaling),
      cmocka_unit_test(test_permutation),
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_reuse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
