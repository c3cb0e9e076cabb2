#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "tests/contract/backend_ask.h"
#include "tests/unit/sim_lab.h"

static SimLab *
new_room(guint n, guint step, guint nfsd, const char *simulate)
{
  g_autofree char *layout = sim_lab_room(n, step, nfsd, simulate);
  return sim_lab_new(layout, 1);
}

static SimLab *
new_rooms(gboolean odd)
{
  g_autofree char *layout = sim_lab_two_rooms(odd, NULL);
  return sim_lab_new(layout, 1);
}

static void
boot(SimLab *lab, const char *set)
{
  sim_lab_boot(lab, set, "x::nfs");
}

/* Runs JOB on SET for 4 s, ends it, and gives back each seat's rate, B/s, by its own figures. */
static void
measure(SimLab *lab, const char *set, const char *const *arguments, double *rates)
{
  g_autoptr(GArray) nodes = sim_lab_nodes(lab, set);
  guint32 load = sim_lab_ask(lab, OP_EXEC, set, arguments);
  g_autofree char *request = g_strdup_printf("%u", load);
  sim_lab_run(lab, 4);
  sim_lab_do(lab, OP_SIGNAL, set, WITH("request", request, "signal", "TERM"));
  for (guint i = 0; i < nodes->len; i++) {
    NodeId node = g_array_index(nodes, NodeId, i);
    const char *name = lab->layout->nodes[node].name;
    assert_int_equal(backend_check_verdict(lab->check, load, node), VERDICT_OK);
    rates[i] = sim_lab_figure(lab, name, "bytes") / sim_lab_figure(lab, name, "seconds");
  }
}

/* To 1e-7: the figures give whole bytes, of many millions. */
static guint
count_near(const double *rates, guint n, double rate)
{
  guint near = 0;
  for (guint i = 0; i < n; i++)
    near += fabs(rates[i] / rate - 1) < 1e-7 ? 1 : 0;
  return near;
}

/* facts, closed forms: 17 clients on (5, 4, 4, 4): 5 at 23.54, 12 at 29.42 MB/s. */
static void
test_greedy_on_balanced_ports(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(17, 1, 64, NULL);
  double rates[17];
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, INFINITY, INFINITY);
  boot(lab, "roomA");
  measure(lab, "roomA", WITH("job", "dd"), rates);
  assert_int_equal(count_near(rates, 17, SIM_LAB_GE / 5), 5);
  assert_int_equal(count_near(rates, 17, SIM_LAB_GE / 4), 12);
}

/* facts, closed forms: 34 greedy on two ports: 6.923 MB/s each; 14 alone on the uplink: 8.406. */
static void
test_greedy_in_two_rooms(void **state)
{
  static const char behind_sw3[] = "b04,b05,b06,b07,b08,b09,b10,b11,b12,b13,b14,b15,b16,b17";
  (void)state;
  g_autoptr(SimLab) lab = new_rooms(FALSE);
  double rates[34];
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, INFINITY, INFINITY);
  sim_lab_set(lab, "b01.mac", "52:54:00:0b:00:62"); /* else 18 and 16 */
  boot(lab, "all");
  measure(lab, "all", WITH("job", "dd"), rates);
  assert_int_equal(count_near(rates, 34, SIM_LAB_GE / 17), 34);
  measure(lab, behind_sw3, WITH("job", "dd"), rates);
  assert_int_equal(count_near(rates, 14, SIM_LAB_GE / 14), 14);
}

/* facts, closed forms: X(N) = W · min(N / (t0 + W/GE), R), with its knee at 10.0 readers. */
static void
test_block_device_readers(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(16, 1, 64, NULL);
  const BootModel *model = &lab->layout->boot;
  Job *job = sim_lab_add_job(lab, "dd-nbd", PROTOCOL_NBD, INFINITY, INFINITY);
  job->request = model->nbd_request;
  job->request_time = model->nbd_t0;
  double alone = job->request / (model->nbd_t0 + job->request / SIM_LAB_GE), rates[16];
  assert_true(fabs(alone * 8 / 175e6 - 1) < 1e-9);
  boot(lab, "roomA");
  g_autoptr(GString) set = g_string_new(NULL);
  for (guint n = 1; n <= 16; n++) {
    g_string_append_printf(set, "%sa%02u", n > 1 ? "," : "", n);
    measure(lab, set->str, WITH("job", "dd-nbd"), rates);
    double each =
        job->request * MIN(n / (model->nbd_t0 + job->request / SIM_LAB_GE), model->nbd_rate) / n;
    assert_int_equal(count_near(rates, n, each), n);
  }
}

/* facts, closed forms: nfsd ceiling = threads · rsize / t_srv: 8 · 32 KiB / 5 ms = 52.4 MB/s. */
static void
test_server_threads(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(4, 1, 8, "nfs-service: 5 ms");
  double rates[4];
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, INFINITY, INFINITY);
  sim_lab_watch(lab);
  boot(lab, "roomA");
  measure(lab, "roomA", WITH("job", "dd"), rates);
  assert_int_equal(count_near(rates, 4, 8 * 32768 / 5e-3 / 4), 4);
  gint64 end = sim_lab_now(lab);
  double busy = sim_lab_peak(lab, "slx1", ".nfsd ns", end - 3 * TIME_SECOND, end);
  assert_true(fabs(busy / 8e9 - 1) < 1e-6);
}

static void
test_a_job_ends_with_its_bytes(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(2, 1, 64, NULL);
  Job *job = sim_lab_add_job(lab, "find", PROTOCOL_NFS, 1e6, 10e6);
  job->file_size = 32000;
  boot(lab, "roomA");
  gint64 start = sim_lab_now(lab);
  sim_lab_do(lab, OP_EXEC, "roomA", WITH("job", "find", "label", "x"));
  assert_int_equal(sim_lab_now(lab) - start, 10 * TIME_SECOND);
  g_autofree char *expected = g_strdup_printf(
      "bytes=10000000 seconds=10.000000000 files=312 start_ns=%" G_GINT64_FORMAT " disk_bytes=0",
      start);
  assert_string_equal(lab->figures[sim_lab_node(lab, "a01")], expected);
  sim_lab_do(lab, OP_EXEC, "roomA", WITH("job", "find", "rate", "16 Mbit/s", "bytes", "1 MB"));
  assert_true(sim_lab_figure(lab, "a02", "seconds") == 0.5);
  sim_lab_do(lab, OP_EXEC, "roomA", WITH("job", "find", "bytes", "0 B"));
  assert_true(sim_lab_figure(lab, "a02", "seconds") == 0);
}

/* Rates are solved anew at every turn; a job whose rate stays ends when it would have alone. */
static void
test_others_do_not_round_it(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(3, 1, 64, NULL);
  sim_lab_add_job(lab, "find", PROTOCOL_NFS, 1e6, 10e6);
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, 7e6 / 3, INFINITY);
  boot(lab, "roomA");
  guint32 find = sim_lab_ask(lab, OP_EXEC, "a01", WITH("job", "find"));
  for (guint i = 0; i < 40; i++) {
    guint32 other = sim_lab_ask(lab, OP_EXEC, i % 2 ? "a02" : "a03", WITH("job", "dd"));
    sim_lab_run(lab, 0.0912345671 + i * 1e-3);
    backend_check_cancel(lab->check, other);
    sim_lab_run(lab, 0.0712345679);
  }
  assert_true(backend_check_finish(lab->check, find, sim_lab_now(lab) + 10 * TIME_SECOND));
  assert_non_null(strstr(lab->figures[sim_lab_node(lab, "a01")], " seconds=10.000000000 "));
}

/* facts, serial hops and small files: rate = W / (t_rpc + Σ W/C) and size / (t_file + size/c). */
static void
test_one_request_in_flight(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(1, 1, 64, NULL);
  Job *job = sim_lab_add_job(lab, "dd", PROTOCOL_NFS, INFINITY, INFINITY);
  job->request = 8192;
  job->request_time = 0.31e-3;
  Job *tree = sim_lab_add_job(lab, "tree", PROTOCOL_NFS, 5e6, INFINITY);
  tree->file_size = 13e3;
  tree->per_file = 12.4e-3;
  double rate;
  boot(lab, "a01");
  measure(lab, "a01", WITH("job", "dd"), &rate);
  assert_int_equal(count_near(&rate, 1, 8192 / (0.31e-3 + 8192 / SIM_LAB_GE)), 1);
  measure(lab, "a01", WITH("job", "dd", "cache", "cold"), &rate);
  assert_int_equal(count_near(&rate, 1, 8192 / (0.31e-3 + 8192 / SIM_LAB_GE + 8192 / 100e6)), 1);
  measure(lab, "a01", WITH("job", "tree"), &rate);
  assert_int_equal(count_near(&rate, 1, 13e3 / (12.4e-3 + 13e3 / 5e6)), 1);
}

/* The disk gives 100 MB/s, and gives each byte once, to whoever asks first. */
static void
test_a_cold_cache(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(4, 1, 64, NULL);
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, INFINITY, 1e9);
  sim_lab_watch(lab);
  boot(lab, "roomA");
  sim_lab_do(lab, OP_EXEC, "a01", WITH("job", "dd", "cache", "cold"));
  assert_true(fabs(sim_lab_figure(lab, "a01", "seconds") - 10) < 1e-6);
  assert_true(sim_lab_figure(lab, "a01", "disk_bytes") == 1e9);
  sim_lab_do(lab, OP_EXEC, "roomA", WITH("job", "dd", "cache", "cold"));
  assert_true(fabs(sim_lab_figure(lab, "a03", "seconds") - 10) < 1e-6);
  assert_true(sim_lab_figure(lab, "a03", "disk_bytes") == 250e6);
  sim_lab_do(lab, OP_EXEC, "roomA", WITH("job", "dd", "cache", "warm"));
  assert_true(fabs(sim_lab_figure(lab, "a03", "seconds") - 1e9 / SIM_LAB_GE) < 1e-6);
  assert_true(sim_lab_figure(lab, "a03", "disk_bytes") == 0);
  sim_lab_run(lab, 2);
  assert_in_range(sim_lab_total(lab, "slx1", ".disk B"), 2000000000 - 1, 2000000000);
}

/* `tar` into /dev/null: attributes, and not a byte of the files. */
static void
test_a_job_that_reads_nothing(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(1, 1, 64, NULL);
  Job *tar = sim_lab_add_job(lab, "tar", PROTOCOL_NFS, INFINITY, 32e6);
  tar->moves_data = FALSE;
  tar->per_file = 1e-3;
  tar->file_size = 32e3;
  sim_lab_watch(lab);
  boot(lab, "a01");
  sim_lab_run(lab, 2);
  gint64 before = sim_lab_total(lab, "a01", ".rx B");
  gint64 busy = sim_lab_total(lab, "slx1", ".nfsd ns");
  sim_lab_do(lab, OP_EXEC, "a01", WITH("job", "tar"));
  sim_lab_run(lab, 2);
  assert_true(sim_lab_figure(lab, "a01", "bytes") == 0);
  assert_true(sim_lab_figure(lab, "a01", "files") == 1000);
  assert_true(sim_lab_total(lab, "a01", ".rx B") - before <= 1);
  gint64 calls = 1000 * (gint64)(lab->layout->boot.nfs_service * 1e9);
  assert_in_range(sim_lab_total(lab, "slx1", ".nfsd ns") - busy, calls - 2, calls + 2);
}

static void
test_who_cannot_run_what(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(2, 1, 64, NULL);
  sim_lab_add_job(lab, "find-cat", PROTOCOL_NFS, 1e6, 10e6);
  const char *const *find = WITH("job", "find-cat");
  assert_string_equal(sim_lab_fails(lab, OP_EXEC, "a02", find), "a02 is not up");
  sim_lab_do(lab, OP_ON, "a02", NULL);
  assert_string_equal(sim_lab_fails(lab, OP_EXEC, "a02", find), "a02 is not up");
  assert_string_equal(sim_lab_fails(lab, OP_EXEC, "slx1", find),
                      "slx1 is no client and runs no load");
  assert_string_equal(sim_lab_fails(lab, OP_EXEC, "a02", WITH("job", "find-cta")),
                      "a02: no job `find-cta`; did you mean find-cat?");
  assert_string_equal(sim_lab_fails(lab, OP_EXEC, "a02", NULL), "a02: no job ``");
  assert_string_equal(sim_lab_fails(lab, OP_EXEC, "a02", WITH("job", "find-cat", "rat", "1")),
                      "a02: no argument `rat`; did you mean rate?");
  assert_string_equal(
      sim_lab_fails(lab, OP_EXEC, "a02", WITH("job", "find-cat", "cache", "lukewarm")),
      "a02: no cache `lukewarm`");
  assert_string_equal(sim_lab_fails(lab, OP_EXEC, "a02", WITH("job", "find-cat", "rate", "0 MB/s")),
                      "a02: a load at a rate of 0 would never end");
  assert_non_null(strstr(
      sim_lab_fails(lab, OP_EXEC, "a02", WITH("job", "find-cat", "bytes", "10 Mbit/s")), "a02: "));
  assert_string_equal(sim_lab_fails(lab, OP_SIGNAL, "a02", WITH("request", "1")),
                      "a02 runs no load of request 1");
  assert_string_equal(sim_lab_fails(lab, OP_SIGNAL, "a02", NULL),
                      "a02: a signal needs request=N, the load it is for");
}

static void
test_one_of_several_is_stopped(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(2, 1, 64, NULL);
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, INFINITY, INFINITY);
  boot(lab, "roomA");
  guint32 load = sim_lab_ask(lab, OP_EXEC, "roomA", WITH("job", "dd"));
  g_autofree char *request = g_strdup_printf("%u", load);
  g_autofree char *begun = g_strdup_printf("start_ns=%" G_GINT64_FORMAT, sim_lab_now(lab));
  sim_lab_run(lab, 1);
  sim_lab_do(lab, OP_SIGNAL, "a02", WITH("request", request));
  assert_int_equal(backend_check_verdict(lab->check, load, sim_lab_node(lab, "a02")), VERDICT_OK);
  assert_int_equal(backend_check_verdict(lab->check, load, sim_lab_node(lab, "a01")), -1);
  sim_lab_run(lab, 1);
  backend_check_cancel(lab->check, load);
  sim_lab_run(lab, 1);
  assert_int_equal(backend_check_verdict(lab->check, load, sim_lab_node(lab, "a01")),
                   VERDICT_CANCELLED);
  assert_string_equal(backend_check_text(lab->check, load, sim_lab_node(lab, "a01")),
                      "a01: dd stopped: cancelled");
  assert_string_equal(lab->figures[sim_lab_node(lab, "a01")], begun);
}

static const char routed[] =
    "lab: Routed\n"
    "defaults: {power: sim, exec: sim, server: s1}\n"
    "subnets: {pool: {net: 10.21.0.0/24}, lab2: {net: 10.22.0.0/24}}\n"
    "routers: {r1: {joins: [pool, lab2], switch: sw1, mac: \"52:54:00:00:00:01\", "
    "speed: 100 Mbit/s}}\n"
    "switches: {sw1: {}, sw2: {}}\n"
    "links: [{from: sw2, to: sw1, speed: 1 Gbit/s}]\n"
    "servers:\n"
    "  s1:\n"
    "    switch: sw1\n"
    "    subnet: pool\n"
    "    bonds:\n"
    "      bond0: {ports: [eth0, eth1, eth2, eth3], speed: 1 Gbit/s, mode: 802.3ad, "
    "policy: layer2, era: 2.6.32, mac: \"52:54:00:21:00:10\", ip: 10.21.0.254}\n"
    "clients:\n"
    "  near: {switch: sw2, subnet: pool, speed: 1 Gbit/s, mac: \"52:54:00:0a:00:02\"}\n"
    "  far[1-4]: {switch: sw2, subnet: lab2, speed: 1 Gbit/s, mac: 52:54:00:0b:00:00 step 1}\n"
    "  old: {switch: sw1, subnet: pool, speed: 100 Mbit/s, mac: \"52:54:00:0a:00:03\"}\n"
    "  dark: {switch: sw1, subnet: pool, speed: 1 Gbit/s}\n";

static void
test_two_jobs_share_a_port(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = sim_lab_new(routed, 1);
  double rate, port = layout_payload(100e6) / 8;
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, INFINITY, INFINITY);
  sim_lab_add_job(lab, "other", PROTOCOL_NFS, INFINITY, INFINITY);
  sim_lab_add_job(lab, "slow", PROTOCOL_NFS, 1e6, INFINITY);
  boot(lab, "old");
  guint32 slow = sim_lab_ask(lab, OP_EXEC, "old", WITH("job", "slow"));
  measure(lab, "old", WITH("job", "dd"), &rate);
  assert_int_equal(count_near(&rate, 1, port - 1e6), 1);
  guint32 other = sim_lab_ask(lab, OP_EXEC, "old", WITH("job", "other"));
  measure(lab, "old", WITH("job", "dd"), &rate);
  assert_int_equal(count_near(&rate, 1, (port - 1e6) / 2), 1);
  backend_check_cancel(lab->check, slow);
  measure(lab, "old", WITH("job", "dd"), &rate);
  assert_int_equal(count_near(&rate, 1, port / 2), 1);
  backend_check_cancel(lab->check, other);
  measure(lab, "old", WITH("job", "dd"), &rate);
  assert_int_equal(count_near(&rate, 1, port), 1);
}

/* It has its share of the port until it is over: by its time, its bytes, or its machine's power. */
static void
test_one_that_is_left_goes_on(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = sim_lab_new(routed, 1);
  double rate, port = layout_payload(100e6) / 8;
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, INFINITY, INFINITY);
  sim_lab_add_job(lab, "some", PROTOCOL_NFS, INFINITY, 5 * port);
  boot(lab, "old");
  guint32 left = sim_lab_ask(lab, OP_EXEC, "old", WITH("job", "dd"));
  sim_lab_run(lab, 1);
  backend_ask_leave(lab->check, left, "old", "6 s");
  measure(lab, "old", WITH("job", "dd"), &rate);
  assert_int_equal(count_near(&rate, 1, port / 2), 1);
  sim_lab_run(lab, 2);
  measure(lab, "old", WITH("job", "dd"), &rate);
  assert_int_equal(count_near(&rate, 1, port), 1);

  left = sim_lab_ask(lab, OP_EXEC, "old", WITH("job", "some"));
  sim_lab_run(lab, 1);
  backend_ask_leave(lab->check, left, "old", "1h");
  measure(lab, "old", WITH("job", "dd"), &rate);
  assert_int_equal(count_near(&rate, 1, port / 2), 1);
  sim_lab_run(lab, 2);
  measure(lab, "old", WITH("job", "dd"), &rate);
  assert_int_equal(count_near(&rate, 1, port), 1);

  left = sim_lab_ask(lab, OP_EXEC, "old", WITH("job", "dd"));
  sim_lab_run(lab, 1);
  backend_ask_leave(lab->check, left, "old", "1h");
  sim_lab_do(lab, OP_OFF, "old", WITH("how", "hard"));
  boot(lab, "old");
  measure(lab, "old", WITH("job", "dd"), &rate);
  assert_int_equal(count_near(&rate, 1, port), 1);
}

/* Across a router all have its MAC, and so one port; it sends on what its own port carries. */
static void
test_across_a_router(void **state)
{
  static const char far[] = "far1,far2,far3,far4";
  (void)state;
  g_autoptr(SimLab) lab = sim_lab_new(routed, 1);
  double rates[4], fast = layout_payload(100e6) / 8;
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, INFINITY, INFINITY);
  sim_lab_watch(lab);
  boot(lab, far);
  boot(lab, "near");
  boot(lab, "dark"); /* without addresses in the layout, yet it has some */
  sim_lab_run(lab, 2);
  gint64 all = sim_lab_total(lab, "s1/", ".tx B"), one = sim_lab_total(lab, "s1/eth1", ".tx B");
  gint64 out = sim_lab_total(lab, "link:sw2-sw1", ".rx B");
  measure(lab, far, WITH("job", "dd"), rates);
  assert_int_equal(count_near(rates, 4, fast / 4), 4);
  sim_lab_run(lab, 2);
  gint64 moved = sim_lab_total(lab, "s1/", ".tx B") - all;
  assert_true(moved > 1000000);
  assert_int_equal(sim_lab_total(lab, "s1/eth1", ".tx B") - one, moved);
  assert_int_equal(sim_lab_total(lab, "link:sw2-sw1", ".rx B") - out, moved);
  measure(lab, "near", WITH("job", "dd"), rates);
  assert_int_equal(count_near(rates, 1, SIM_LAB_GE), 1);
  measure(lab, "dark", WITH("job", "dd"), rates);
  assert_int_equal(count_near(rates, 1, SIM_LAB_GE), 1);
  guint32 load = sim_lab_ask(lab, OP_EXEC, "far1", WITH("job", "dd", "bytes", "100 MB"));
  sim_lab_do(lab, OP_OFF, "r1", NULL);
  sim_lab_run(lab, 100);
  assert_int_equal(backend_check_verdict(lab->check, load, sim_lab_node(lab, "far1")), -1);
  sim_lab_do(lab, OP_ON, "r1", NULL);
  sim_lab_run(lab, 100);
  assert_int_equal(backend_check_verdict(lab->check, load, sim_lab_node(lab, "far1")), VERDICT_OK);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_greedy_on_balanced_ports),
      cmocka_unit_test(test_greedy_in_two_rooms),
      cmocka_unit_test(test_block_device_readers),
      cmocka_unit_test(test_server_threads),
      cmocka_unit_test(test_a_job_ends_with_its_bytes),
      cmocka_unit_test(test_others_do_not_round_it),
      cmocka_unit_test(test_one_request_in_flight),
      cmocka_unit_test(test_a_cold_cache),
      cmocka_unit_test(test_two_jobs_share_a_port),
      cmocka_unit_test(test_a_job_that_reads_nothing),
      cmocka_unit_test(test_who_cannot_run_what),
      cmocka_unit_test(test_one_of_several_is_stopped),
      cmocka_unit_test(test_one_that_is_left_goes_on),
      cmocka_unit_test(test_across_a_router),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
