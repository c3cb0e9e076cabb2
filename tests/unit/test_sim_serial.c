#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "tests/unit/sim_lab.h"

/* Writes, mounts, gateways and local baselines, to 1e-9: figures give whole ns of whole seconds. */

#define FE (12.5e6 * 1448 / 1538) /* B/s of payload of a Fast Ethernet port */
#define BLOCK 8192.0
#define FILE_40M 41943040.0

static SimLab *
lab_with_jobs(const char *layout)
{
  SimLab *lab = sim_lab_new(layout, 1);
  g_autoptr(GDir) jobs = g_dir_open("scripts/jobs", 0, NULL);
  assert_non_null(jobs);
  for (const char *name; (name = g_dir_read_name(jobs)) != NULL;) {
    g_autofree char *path = g_build_filename("scripts/jobs", name, NULL), *text = NULL;
    gsize length;
    assert_true(g_file_get_contents(path, &text, &length, NULL));
    Job *job = job_parse(name, text, length, NULL);
    assert_non_null(job);
    job_set_take(lab->jobs, job);
  }
  sim_lab_watch(lab);
  sim_lab_boot(lab, "all", "x::nfs");
  return lab;
}

static SimLab *
shipped(const char *name)
{
  g_autofree char *path = g_strdup_printf("layouts/%s.yaml", name), *text = NULL;
  assert_true(g_file_get_contents(path, &text, NULL, NULL));
  return lab_with_jobs(text);
}

/* A gateway g between two clients and the server d; g has a disk of its own. Across the switches
 * GATEWAY adds to what stands at g. */
static SimLab *
gateway_lab(const char *exports)
{
  g_autofree char *text = g_strdup_printf(
      "lab: gateway\n"
      "defaults: {power: sim, exec: sim, console: sim, server: g}\n"
      "switches: {s1: {}, s2: {}}\n"
      "links: [{from: s1, to: s2, speed: 1 Gbit/s}]\n"
      "servers:\n"
      "  g: {switch: s1, nfsd: 64, disk: {rate: 20 MB/s}, ports: {eth0: {speed: 1 Gbit/s}}, "
      "exports: {%s}}\n"
      "  d: {switch: s2, disk: {rate: 50 MB/s}, ports: {eth0: {speed: 100 Mbit/s}}}\n"
      "clients:\n"
      "  c[1-2]: {switch: s1, speed: 100 Mbit/s}\n"
      "boot: {simulate: {bytes: 1 kB}}\n",
      exports);
  return lab_with_jobs(text);
}

static void
assert_seconds(SimLab *lab, const char *node, const char *const *arguments, double expected)
{
  sim_lab_do(lab, OP_EXEC, node, arguments);
  double seconds = sim_lab_figure(lab, node, "seconds");
  if (!(fabs(seconds / expected - 1) <= 1e-9))
    fail_msg("%s %s: %.12g s, not %.12g s", node, arguments[1], seconds, expected);
}

/* What COLUMN has grown by since the sample before. */
static gint64
grown(SimLab *lab, const char *column, gint64 *before)
{
  sim_lab_run(lab, 2);
  gint64 now = sim_lab_total(lab, column, ""), difference = now - *before;
  *before = now;
  return difference;
}

/* --- the two notes --- */

static void
test_rip(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = shipped("rip-cluster");
  const double wire = BLOCK / FE, disk = BLOCK / (6 * 0x1p20), bytes = 36113 * 1024.0;
  const double request = 0.31e-3 + wire + disk, rate = BLOCK / request;

  assert_seconds(lab, "rip7", WITH("job", "dd-write", "mount", "home"), 12800 * request);
  assert_true(fabs(104857600 / sim_lab_figure(lab, "rip7", "seconds") / 0x1p20 - 3.385) < 5e-4);
  assert_true(sim_lab_figure(lab, "rip7", "disk_bytes") == 104857600);
  assert_seconds(lab, "rip7", WITH("job", "dd-write"), 12800 * (wire + disk));
  assert_true(fabs(104857600 / sim_lab_figure(lab, "rip7", "seconds") / 0x1p20 - 3.91) < 5e-3);
  assert_seconds(lab, "rip8", WITH("job", "dd-write-local"), 100 / 6.0);
  assert_seconds(lab, "rip7", WITH("job", "tree-copy", "mount", "home"),
                 2773 * 12.4e-3 + bytes / rate);
  assert_true(sim_lab_figure(lab, "rip7", "files") == 2773);
  assert_true(fabs(bytes / sim_lab_figure(lab, "rip7", "seconds") / 0x1p20 - 0.79) < 5e-3);
  assert_true(fabs(2773 / sim_lab_figure(lab, "rip7", "seconds") - 62) < 0.5);
  assert_seconds(lab, "rip8", WITH("job", "tree-copy-local"), bytes / (6 * 0x1p20));
}

static void
test_lustre(void **state)
{
  static const struct {
    const char *mount;
    double time, legs, note, published;
  } mounts[] = {
      {"ext3_kernel", 0.218e-3, 1, 4.678, 4.678},
      {"ext3_user", 0.598e-3, 1, 6.624, 6.624},
      {"lustre_kernel", 0.218e-3, 2, 8.544, 8.24},
      {"lustre_user", 0.598e-3, 2, 21.093, 10.2},
  };
  static const char *const caches[] = {"cold", "warm"};
  (void)state;
  g_autoptr(SimLab) lab = shipped("lustre-gateway");
  for (guint i = 0; i < G_N_ELEMENTS(mounts); i++) {
    double copy = 5120 * (mounts[i].time + mounts[i].legs * BLOCK / FE);
    for (guint c = 0; c < 2; c++)
      assert_seconds(lab, "nfsclient",
                     WITH("job", "cp-read", "mount", mounts[i].mount, "cache", caches[c]), copy);
    assert_seconds(lab, "nfsclient",
                   WITH("job", "dd-write", "mount", mounts[i].mount, "bytes", "40 MiB"), copy);
    assert_true(fabs(copy / mounts[i].published - 1) < 0.003);
    print_message("%-14s %6.3f s, the note's %6.3f: %+.1f %%\n", mounts[i].mount, copy,
                  mounts[i].note, 100 * (copy / mounts[i].note - 1));
  }
  const char *mount = "lustre_kernel";
  assert_seconds(lab, "gateway", WITH("job", "dd-write-1k-local", "mount", mount), 7.234);
  assert_seconds(lab, "gateway", WITH("job", "cp-read-local", "mount", mount), 2.376);
  assert_seconds(lab, "gateway", WITH("job", "cp-read-local", "mount", mount, "cache", "cold"),
                 FILE_40M / FE);
}

/* The other reading: one server, and disks that a first copy waits for. */
static void
test_lustre_from_disk(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = shipped("lustre-gateway");
  const double one = 0.218e-3 + BLOCK / FE, disk = BLOCK / 21.56e6;
  g_autofree char *before = sim_lab_get(lab, "gateway.disk-rate");
  assert_string_equal(before, "none");
  sim_lab_set(lab, "gateway.disk-rate", "21.56 MB/s");
  sim_lab_set(lab, "lserve.disk-rate", "21.56 MB/s");
  const char *const *cold = WITH("job", "cp-read", "mount", "ext3_kernel", "cache", "cold");
  assert_seconds(lab, "nfsclient", cold, 5120 * (one + disk));
  assert_true(fabs(sim_lab_figure(lab, "nfsclient", "seconds") / 6.624 - 1) < 0.001);
  assert_seconds(lab, "nfsclient",
                 WITH("job", "cp-read", "mount", "lustre_kernel", "cache", "cold"),
                 5120 * (one + BLOCK / FE + disk));
  sim_lab_set(lab, "gateway.disk-rate", "none");
  assert_seconds(lab, "nfsclient", cold, 5120 * one);
}

/* --- what counts where --- */

static void
test_what_a_gateway_carries(void **state)
{
  static const char *const columns[] = {
      "c1.rx B",  "c1.tx B",  "g/eth0.rx B",     "g/eth0.tx B", "d/eth0.rx B",    "d/eth0.tx B",
      "g.disk B", "d.disk B", "link:s1-s2.tx B", "c2.rx B",     "link:s1-s2.rx B"};
  static const gint64 of_read[] = {1, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1};
  static const gint64 of_write[] = {0, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0};
  (void)state;
  g_autoptr(SimLab) lab = gateway_lab("far: {data: d}, near: {}");
  gint64 before[G_N_ELEMENTS(columns)];
  sim_lab_run(lab, 2);
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    before[i] = sim_lab_total(lab, columns[i], "");
  sim_lab_do(lab, OP_EXEC, "c1", WITH("job", "cp-read", "mount", "far", "cache", "cold"));
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    assert_in_range(grown(lab, columns[i], &before[i]) - of_read[i] * (gint64)FILE_40M + 1, 0, 2);
  sim_lab_do(lab, OP_EXEC, "c1", WITH("job", "dd-write", "mount", "far", "bytes", "40 MiB"));
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    assert_in_range(grown(lab, columns[i], &before[i]) - of_write[i] * (gint64)FILE_40M + 1, 0, 2);
}

/* A synchronous export makes each request wait for the disk, an async one only all of them. */
static void
test_async(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = gateway_lab("sync: {}, async: {async: true}, slow: {request-time: 1 ms}");
  const char *const bytes = "40 MiB";
  double wire = BLOCK / FE, disk = BLOCK / 20e6;
  assert_seconds(lab, "c1", WITH("job", "dd-write", "mount", "sync", "bytes", bytes),
                 5120 * (wire + disk));
  assert_seconds(lab, "c1", WITH("job", "dd-write", "mount", "async", "bytes", bytes), 5120 * wire);
  assert_seconds(lab, "c1", WITH("job", "dd-write", "mount", "slow", "bytes", bytes),
                 5120 * (1e-3 + wire + disk));
  assert_seconds(lab, "c1", WITH("job", "cp-read", "mount", "async"), 5120 * wire);
  sim_lab_set(lab, "g.disk-rate", "4 MB/s");
  assert_seconds(lab, "c1", WITH("job", "dd-write", "mount", "async", "bytes", bytes),
                 FILE_40M / 4e6);
}

/* d's port is what two clients of the gateway share; each port carries its rate both ways. */
static void
test_ports_are_shared(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = gateway_lab("far: {data: d}, near: {async: true}");
  Job *read = sim_lab_add_job(lab, "read", PROTOCOL_NFS, INFINITY, FE);
  Job *write = sim_lab_add_job(lab, "write", PROTOCOL_NFS, INFINITY, FE);
  write->writes = TRUE;
  sim_lab_set(lab, "g.disk-rate", "none");
  sim_lab_set(lab, "d.disk-rate", "none");
  sim_lab_do(lab, OP_EXEC, "c1,c2", WITH("job", "read", "mount", "near"));
  assert_true(fabs(sim_lab_figure(lab, "c2", "seconds") - 1) < 1e-9);
  sim_lab_do(lab, OP_EXEC, "c1,c2", WITH("job", "read", "mount", "far"));
  assert_true(fabs(sim_lab_figure(lab, "c2", "seconds") - 2) < 1e-9);
  sim_lab_ask(lab, OP_EXEC, "c1", WITH("job", "read", "mount", "far"));
  sim_lab_do(lab, OP_EXEC, "c1", WITH("job", "write", "mount", "far"));
  assert_true(fabs(sim_lab_figure(lab, "c1", "seconds") - 1) < 1e-9);
  read->bytes = 2 * FE;
  sim_lab_ask(lab, OP_EXEC, "c1", WITH("job", "write", "mount", "near"));
  sim_lab_do(lab, OP_EXEC, "c1", WITH("job", "write", "mount", "near"));
  assert_true(fabs(sim_lab_figure(lab, "c1", "seconds") - 2) < 1e-9);
}

/* Without the machine its data lie on a load stands still, as a hard mount does. */
static void
test_a_machine_goes(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = gateway_lab("far: {data: d}, near: {}");
  static const char *const machines[] = {"d", "g"};
  for (guint i = 0; i < 2; i++) {
    double without = 5120 * 2 * BLOCK / FE;
    guint32 far = sim_lab_ask(lab, OP_EXEC, "c1", WITH("job", "cp-read", "mount", "far"));
    guint32 near = sim_lab_ask(lab, OP_EXEC, "c2", WITH("job", "cp-read", "mount", "near"));
    sim_lab_run(lab, 2);
    gint64 off = sim_lab_now(lab);
    sim_lab_do(lab, OP_OFF, machines[i], NULL);
    gint64 went = sim_lab_now(lab);
    sim_lab_run(lab, 20);
    assert_int_equal(backend_check_verdict(lab->check, far, sim_lab_node(lab, "c1")), -1);
    assert_int_equal(backend_check_verdict(lab->check, near, sim_lab_node(lab, "c2")),
                     i == 0 ? VERDICT_OK : -1);
    sim_lab_do(lab, OP_ON, machines[i], NULL);
    double stood = (double)(sim_lab_now(lab) - went) / 1e9;
    assert_true(backend_check_finish(lab->check, far, off + 60 * TIME_SECOND));
    assert_true(fabs(sim_lab_figure(lab, "c1", "seconds") / (without + stood) - 1) < 1e-9);
    assert_true(backend_check_finish(lab->check, near, off + 60 * TIME_SECOND));
  }
  guint32 local = sim_lab_ask(lab, OP_EXEC, "g", WITH("job", "dd-write-local"));
  sim_lab_do(lab, OP_OFF, "g", NULL);
  assert_int_equal(backend_check_verdict(lab->check, local, sim_lab_node(lab, "g")),
                   VERDICT_FAILED);
  assert_string_equal(backend_check_text(lab->check, local, sim_lab_node(lab, "g")),
                      "g lost power");
  assert_string_equal(sim_lab_fails(lab, OP_EXEC, "g", WITH("job", "dd-write-local")), "g is off");
}

/* --- what is refused, and what is said --- */

static void
test_refused(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = gateway_lab("far: {data: d}, near: {}");
  assert_string_equal(sim_lab_fails(lab, OP_EXEC, "c1", WITH("job", "cp-read", "mount", "nera")),
                      "c1: no export of g called `nera`; did you mean near?");
  assert_string_equal(
      sim_lab_fails(lab, OP_EXEC, "d", WITH("job", "dd-write-local", "mount", "far")),
      "d: no export of d called `far`");
  assert_string_equal(sim_lab_fails(lab, OP_EXEC, "c1", WITH("job", "dd-write-local")),
                      "c1 is no server: a local load runs where the disk is");
  assert_string_equal(sim_lab_fails(lab, OP_EXEC, "g", WITH("job", "dd-write")),
                      "g is no client and runs no load");
  assert_string_equal(
      sim_lab_fails(lab, OP_EXEC, "g", WITH("job", "dd-write", "protocol", "local")),
      "g: a local load needs a rate: what the machine itself can do");
  assert_string_equal(sim_lab_fails(lab, OP_EXEC, "c1", WITH("job", "dd-nbd", "version", "4")),
                      "c1: version=4 is one of NFS, and dd-nbd does not use it");
  assert_string_equal(sim_lab_fails(lab, OP_EXEC, "c1", WITH("job", "cp-read", "version", "2")),
                      "c1: no NFS version `2`");
}

static void
test_version_4_is_an_assumption(void **state)
{
  static const char said[] = "err an assumption: NFSv4 was never measured";
  (void)state;
  g_autoptr(SimLab) lab = gateway_lab("near: {}");
  sim_lab_keep_all(lab);
  sim_lab_do(lab, OP_EXEC, "c1", WITH("job", "cp-read", "version", "3"));
  double seconds = sim_lab_figure(lab, "c1", "seconds");
  assert_null(strstr(lab->said->str, said));
  sim_lab_do(lab, OP_EXEC, "c1", WITH("job", "cp-read", "version", "4"));
  assert_non_null(strstr(lab->said->str, said));
  assert_true(fabs(sim_lab_figure(lab, "c1", "seconds") - seconds) < 2e-9);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rip),
      cmocka_unit_test(test_lustre),
      cmocka_unit_test(test_lustre_from_disk),
      cmocka_unit_test(test_what_a_gateway_carries),
      cmocka_unit_test(test_async),
      cmocka_unit_test(test_ports_are_shared),
      cmocka_unit_test(test_a_machine_goes),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_version_4_is_an_assumption),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
