#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "tests/unit/sim_lab.h"

#define TICK (100 * TIME_MS)

static SimLab *
new_room(guint n, const char *simulate)
{
  g_autofree char *layout = sim_lab_room(n, 1, 64, simulate);
  return sim_lab_new(layout, 1);
}

static const LabSample *
sample(const SimLab *lab, guint i)
{
  return &g_array_index(lab->samples, LabSample, i);
}

static void
test_columns(void **state)
{
  static const char *const columns[] = {
      "slx1/eth0.tx B",    "slx1/eth0.rx B",    "slx1/eth1.tx B",    "slx1/eth1.rx B",
      "slx1/eth2.tx B",    "slx1/eth2.rx B",    "slx1/eth3.tx B",    "slx1/eth3.rx B",
      "slx1.disk B",       "slx1.nfsd ns",      "slx1.load m",       "a01.rx B",
      "a01.tx B",          "b17.rx B",          "b17.tx B",          "link:sw1-sw2.tx B",
      "link:sw1-sw2.rx B", "link:sw2-sw3.tx B", "link:sw2-sw3.rx B",
  };
  (void)state;
  g_autofree char *layout = sim_lab_two_rooms(TRUE, NULL);
  g_autoptr(SimLab) lab = sim_lab_new(layout, 1);
  sim_lab_ask(lab, OP_WATCH, "slx1,sw1,a01,b17", NULL);
  sim_lab_run(lab, 0);
  assert_int_equal(lab->n_columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < lab->n_columns; i++)
    assert_string_equal(lab->columns[i], columns[i]);
  assert_int_equal(lab->samples->len, 1);
  for (guint i = 0; i < lab->n_columns; i++)
    assert_int_equal(sample(lab, 0)->values[i], 0);
}

/* Quiet: one a second. Moving: every tick, from the first after it began. */
static void
test_when_samples_come(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(1, NULL);
  sim_lab_boot(lab, "a01", "x::nfs");
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, 10e6, 3.3e6);
  sim_lab_run(lab, 0.123456789);
  gint64 begin = sim_lab_now(lab);
  sim_lab_watch(lab);
  sim_lab_run(lab, 5.15);
  assert_int_equal(lab->samples->len, 6);
  assert_int_equal(sample(lab, 0)->t, begin);
  for (guint i = 1; i < 6; i++)
    assert_int_equal(sample(lab, i)->t % TICK, 0);
  assert_in_range(sample(lab, 1)->t - begin, TIME_SECOND, TIME_SECOND + TICK - 1);
  assert_int_equal(sample(lab, 5)->t - sample(lab, 1)->t, 4 * TIME_SECOND);
  gint64 start = sim_lab_now(lab);
  sim_lab_do(lab, OP_EXEC, "a01", WITH("job", "dd"));
  gint64 end = sim_lab_now(lab);
  guint last = 6;
  sim_lab_run(lab, 1.5);
  assert_in_range(sample(lab, 6)->t - start, 1, TICK);
  while (sample(lab, last)->t < end) {
    assert_int_equal(sample(lab, last + 1)->t - sample(lab, last)->t, TICK);
    last++;
  }
  assert_int_equal(sample(lab, last + 1)->t - sample(lab, last)->t, TIME_SECOND);
  guint received = lab->n_columns - 2;
  assert_string_equal(lab->columns[received], "a01.rx B");
  assert_int_equal(sample(lab, last)->values[received] - sample(lab, 5)->values[received], 3300000);
}

static void
test_values_between_changes_of_rate(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(1, NULL);
  sim_lab_boot(lab, "a01", "x::nfs");
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, 10e6, INFINITY);
  sim_lab_watch(lab);
  sim_lab_run(lab, 2);
  gint64 before = sim_lab_total(lab, "a01", ".rx B");
  gint64 start = sim_lab_now(lab);
  sim_lab_ask(lab, OP_EXEC, "a01", WITH("job", "dd"));
  sim_lab_run(lab, 1);
  for (guint i = lab->samples->len - 8; i < lab->samples->len; i++) {
    gint64 moved = (sample(lab, i)->t - start) / 100; /* 10 MB/s: a byte in 100 ns */
    assert_in_range(sample(lab, i)->values[lab->n_columns - 2] - before, moved - 1, moved + 1);
  }
  assert_string_equal(lab->columns[lab->n_columns - 2], "a01.rx B");
}

/* The load averages computed by the time of the last sample. */
static double
load_steps(const SimLab *lab)
{
  return (double)(sample(lab, lab->samples->len - 1)->t / (5 * TIME_SECOND));
}

/* Linux's one-minute average: after t of n busy threads n · (1 - 0.92^(t/5 s)), then it decays. */
static void
test_load_average(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(4, "nfs-service: 5 ms");
  sim_lab_boot(lab, "roomA", "x::nfs");
  sim_lab_run(lab, 3000);
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, 6.5536e6, INFINITY); /* 1 thread each */
  sim_lab_watch(lab);
  sim_lab_run(lab, 1);
  assert_int_equal(sim_lab_total(lab, "slx1", ".load m"), 0);
  double decay = 1884.0 / 2048;
  double steps = (double)(sim_lab_now(lab) / (5 * TIME_SECOND));
  guint32 load = sim_lab_ask(lab, OP_EXEC, "roomA", WITH("job", "dd"));
  for (guint i = 0; i < 100; i++) {
    sim_lab_run(lab, 0.7);
    double n = load_steps(lab) - steps;
    gint64 expected = (gint64)floor(4000 * (1 - pow(decay, n)) + 1e-6);
    assert_in_range(sim_lab_total(lab, "slx1", ".load m"), MAX(expected - 1, 0), expected);
  }
  backend_check_cancel(lab->check, load);
  gint64 high = sim_lab_total(lab, "slx1", ".load m");
  steps = load_steps(lab);
  sim_lab_run(lab, 60);
  double n = load_steps(lab) - steps;
  gint64 low = (gint64)((double)high * pow(decay, n));
  assert_in_range(sim_lab_total(lab, "slx1", ".load m"), low - 2, low + 2);
}

static void
test_who_watches(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(1, NULL);
  assert_string_equal(sim_lab_fails(lab, OP_WATCH, "a01", WITH("interval_ns", "1")),
                      "a01: interval_ns is a whole number, of 1 ms to 1 h");
  guint32 watch = sim_lab_ask(lab, OP_WATCH, "a01,slx1", WITH("interval_ns", "250000000"));
  assert_string_equal(sim_lab_fails(lab, OP_WATCH, "a01", NULL),
                      "a01: the lab is watched already, by request 2");
  sim_lab_do(lab, OP_ON, "a01", NULL);
  sim_lab_run(lab, 20);
  assert_true(lab->samples->len > 30);
  for (guint i = 1; i < lab->samples->len; i++)
    assert_int_equal(sample(lab, i)->t % (250 * TIME_MS), 0);
  backend_check_cancel(lab->check, watch);
  sim_lab_run(lab, 0);
  assert_int_equal(backend_check_verdict(lab->check, watch, sim_lab_node(lab, "a01")),
                   VERDICT_CANCELLED);
  guint n = lab->samples->len;
  sim_lab_run(lab, 20);
  assert_int_equal(lab->samples->len, n);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_when_samples_come),
      cmocka_unit_test(test_values_between_changes_of_rate),
      cmocka_unit_test(test_load_average),
      cmocka_unit_test(test_who_watches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
