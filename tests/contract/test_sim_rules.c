#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "tests/unit/sim_lab.h"

static const CheckAsk asks[] = {
    {OP_STATUS, 4, NULL, NULL},
    {OP_ON, 12, NULL, NULL},
    {OP_OFF, 3, WITH("how", "hard"), NULL},
    {OP_OFF, 3, WITH("how", "soft"), NULL},
    {OP_OFF, 1, WITH("how", "gently"), NULL},
    {OP_RESET, 4, NULL, NULL},
    {OP_BOOT_DEVICE, 2, WITH("device", "pxe", "entry", "x::nbd"), NULL},
    {OP_BOOT_DEVICE, 2, WITH("device", "pxe", "entry", "x::nfs"), NULL},
    {OP_BOOT_DEVICE, 1, WITH("device", "disk"), NULL},
    {OP_BOOT_DEVICE, 1, WITH("device", "kexec\n\033[2J"), NULL},
    {OP_EXEC, 6, WITH("job", "dd", "label", "x"), NULL},
    {OP_EXEC, 6, WITH("job", "find", "cache", "cold"), NULL},
    {OP_EXEC, 2, WITH("job", "find", "rate", "1 MB/s", "bytes", "3 MB", "protocol", "nbd"), NULL},
    {OP_EXEC, 4, WITH("job", "write", "version", "4"), NULL},
    {OP_EXEC, 2, WITH("job", "find", "protocol", "local", "cache", "cold"), NULL},
    {OP_EXEC, 1, WITH("job", "find", "mount", "home"), NULL},
    {OP_EXEC, 1, WITH("job", "fnd"), NULL},
    {OP_EXEC, 1, WITH("job", "find", "bytes", "0 B"), NULL},
    {OP_SIGNAL, 6, WITH("request", "%request", "signal", "TERM"), NULL},
    {OP_SIGNAL, 3, WITH("request", "%request", "signal", "LEAVE", "for", "300 ms"), NULL},
    {OP_SIGNAL, 1, WITH("request", "%request", "signal", "LEAVE"), NULL},
    {OP_SIGNAL, 1, WITH("request", "0"), NULL},
    {OP_WATCH, 3, WITH("interval_ns", "100000000"), NULL},
    {OP_WATCH, 1, WITH("interval_ns", "33000000"), NULL},
    {OP_WATCH, 1, WITH("interval_ns", "1"), NULL},
    {OP_GET, 2, WITH("path", "slx1/bond0.policy"), "slx1"},
    {OP_SET, 1, WITH("path", "slx1.nfsd", "value", "8"), NULL},
    {OP_GET, 1, WITH("path", "slx1/bond0.polcy"), "slx1"},
    {OP_SET, 2, WITH("path", "slx1/bond0.policy", "value", "layer2+3"), "slx1"},
    {OP_SET, 2, WITH("path", "slx1/bond0.policy", "value", "layer3+4"), "slx1"},
    {OP_SET, 2, WITH("path", "slx1/bond0.policy", "value", "layer2"), "slx1"},
    {OP_SET, 2, WITH("path", "slx1/eth0.state", "value", "down"), "slx1"},
    {OP_SET, 2, WITH("path", "slx1/eth0.state", "value", "up"), "slx1"},
    {OP_SET, 2, WITH("path", "slx1.nfsd", "value", "0"), "slx1"},
    {OP_SET, 2, WITH("path", "slx1.nfsd", "value", "8"), "slx1"},
    {OP_SET, 2, WITH("path", "link:sw1-sw2.state", "value", "down"), "sw1"},
    {OP_SET, 3, WITH("path", "link:sw1-sw2.state", "value", "up"), "sw1"},
    {OP_SET, 1, WITH("path", "a01/eth0.state", "value", "down"), "a01"},
    {OP_SET, 2, WITH("path", "a01/eth0.state", "value", "up"), "a01"},
    {OP_KEYS, 1, NULL, NULL},
    {OP_MESSAGE, 1, NULL, NULL},
    {OP_STATUS, 0, NULL, NULL},
};

/* Seats of both rooms, the server, a switch between. */
static GArray *
walk_nodes(const SimLab *lab)
{
  return sim_lab_nodes(lab, "slx1,sw1,sw2,a01,a02,a03,a04,b01,b02,b04,b05");
}

static guint seen[VERDICT_UNSUPPORTED + 1];

static void
walk(guint32 seed, gint64 longest, guint n_steps)
{
  g_autofree char *layout = sim_lab_two_rooms(TRUE, NULL);
  g_autoptr(SimLab) lab = sim_lab_new(layout, seed);
  g_autoptr(GArray) nodes = walk_nodes(lab);
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, INFINITY, INFINITY);
  sim_lab_add_job(lab, "find", PROTOCOL_NFS, 9e6, 90e6)->file_size = 32000;
  sim_lab_add_job(lab, "write", PROTOCOL_NFS, INFINITY, 30e6)->writes = TRUE;
  CheckWalk steps = {asks, (const NodeId *)(const void *)nodes->data, nodes->len, n_steps, longest};
  backend_check_walk(lab->check, &steps, seed);
  if (backend_check_violation(lab->check) != NULL)
    fail_msg("seed %u: %s", seed, backend_check_violation(lab->check));
  for (Verdict verdict = 0; verdict <= VERDICT_UNSUPPORTED; verdict++)
    seen[verdict] += backend_check_count(lab->check, verdict);
}

/* A walk that never comes by some verdict would show nothing of it. */
static void
check_seen(guint least)
{
  print_message("results:");
  for (Verdict verdict = 0; verdict <= VERDICT_UNSUPPORTED; verdict++)
    print_message(" %u %s", seen[verdict], verdict_name(verdict));
  print_message("\n");
  for (Verdict verdict = 0; verdict <= VERDICT_UNSUPPORTED; verdict++) {
    assert_true(seen[verdict] >= least);
    seen[verdict] = 0;
  }
}

static void
test_in_a_hurry(void **state)
{
  (void)state;
  for (guint32 seed = 1; seed <= 200; seed++)
    walk(seed, 60 * TIME_MS, 150);
  check_seen(100);
}

static void
test_at_leisure(void **state)
{
  (void)state;
  for (guint32 seed = 1; seed <= 60; seed++)
    walk(seed, 10 * TIME_SECOND, 150);
  check_seen(5);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_in_a_hurry),
      cmocka_unit_test(test_at_leisure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
