/* The ipmi backend before BMC simulators that are slow, broken or dead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#ifdef HAVE_IPMI

#include "tests/contract/bmc_lab.h"

#define S TIME_SECOND

static BmcLab *lab;

static int
set_up(void **state)
{
  (void)state;
  lab = bmc_lab_new(6);
  return 0;
}

static int
tear_down(void **state)
{
  (void)state;
  g_clear_pointer(&lab, bmc_lab_free);
  return 0;
}

static void
begin(const char *settings, const char *overrides, gboolean on)
{
  if (lab == NULL)
    skip();
  bmc_lab_begin(lab, settings, overrides, on);
}

/* Other tools carry these out two to fourteen times. */
static void
test_slow_once(void **state)
{
  (void)state;
  /* The slowest take longer than a status is waited for. */
  begin("    session-timeout: 2 s\n", NULL, TRUE);
  guint resets[7], offs[7];
  for (guint i = 1; i <= 6; i++) {
    resets[i] = bmc_lab_count(lab, i, "set reset 1");
    offs[i] = bmc_lab_count(lab, i, "set power 0");
  }
  g_free(bmc_lab_tell(lab, "break", "1", "slow=0.5", NULL));
  g_free(bmc_lab_tell(lab, "break", "2", "slow=2", NULL));
  g_free(bmc_lab_tell(lab, "break", "3", "slow=3", NULL));
  g_free(bmc_lab_tell(lab, "break", "4", "late=2", NULL));
  g_free(bmc_lab_tell(lab, "break", "5", "late=3", NULL));
  g_free(bmc_lab_tell(lab, "break", "6", "lag=2", NULL));
  guint32 reset = bmc_lab_ask(lab, OP_RESET, "a1,a2,a3,a4", 30 * S, NULL);
  guint32 off = bmc_lab_do(lab, OP_OFF, "a1,a2,a4,a5,a6", 30 * S, BMC_WITH("how", "hard"));
  assert_true(backend_check_finish(lab->check, reset, backend_check_now(lab->check) + 30 * S));
  for (guint i = 1; i <= 6; i++) {
    g_autofree char *name = g_strdup_printf("a%u", i);
    if (i <= 4)
      bmc_lab_expect(lab, reset, name, VERDICT_OK, NULL);
    if (i != 3)
      bmc_lab_expect(lab, off, name, VERDICT_OK, NULL);
    assert_int_equal(bmc_lab_count(lab, i, "set reset 1"), resets[i] + (i <= 4));
    assert_int_equal(bmc_lab_count(lab, i, "set power 0"), offs[i] + (i != 3));
  }
}

static void
test_broken(void **state)
{
  (void)state;
  begin("    session-timeout: 2 s\n    retransmit: 500 ms\n", NULL, TRUE);
  guint off[7];
  for (guint i = 1; i <= 6; i++)
    off[i] = bmc_lab_count(lab, i, "set power 0");
  g_free(bmc_lab_tell(lab, "break", "1", "deaf", NULL));
  g_free(bmc_lab_tell(lab, "break", "2", "fail-set", NULL));
  g_free(bmc_lab_tell(lab, "break", "3", "hang-set", NULL));
  g_free(bmc_lab_tell(lab, "break", "4", "mute", NULL));
  g_free(bmc_lab_tell(lab, "break", "5", "password", NULL));
  guint32 request = bmc_lab_do(lab, OP_OFF, "all", 6 * S, BMC_WITH("how", "hard"));
  bmc_lab_expect(lab, request, "a1", VERDICT_TIMEOUT, "said yes to off, but the power is still on");
  bmc_lab_expect(lab, request, "a2", VERDICT_FAILED, "failed at off (0x");
  bmc_lab_expect(lab, request, "a3", VERDICT_UNKNOWN, "was told off once and has answered nothing");
  bmc_lab_expect(lab, request, "a4", VERDICT_TIMEOUT, "does not answer");
  bmc_lab_expect(lab, request, "a5", VERDICT_FAILED, "password");
  bmc_lab_expect(lab, request, "a6", VERDICT_OK, NULL);
  assert_int_equal(bmc_lab_count(lab, 6, "set power 0"), off[6] + 1);
  for (guint i = 1; i <= 5; i++)
    assert_int_equal(bmc_lab_count(lab, i, "set power 0"), off[i]);
}

static void
test_dead_delays_nobody(void **state)
{
  (void)state;
  /* One place, which the dead one comes to first. */
  begin("    workers: 1\n    retransmit: 200 ms\n    session-timeout: 2 s\n", NULL, TRUE);
  g_free(bmc_lab_tell(lab, "break", "1", "mute", NULL));
  g_free(bmc_lab_tell(lab, "break", "2", "dead", NULL));
  guint32 request = bmc_lab_ask(lab, OP_STATUS, "all", 5 * S, NULL);
  gint64 began = backend_check_now(lab->check);
  while (backend_check_n_open(lab->check) > 1)
    assert_true(backend_check_step(lab->check, began + 10 * S));
  assert_int_equal(backend_check_verdict(lab->check, request, layout_find(lab->layout, "a1")), -1);
  for (guint i = 3; i <= 6; i++) {
    g_autofree char *name = g_strdup_printf("a%u", i);
    bmc_lab_expect(lab, request, name, VERDICT_OK, NULL);
  }
  bmc_lab_expect(lab, request, "a2", VERDICT_FAILED, "nothing answers IPMI on it");
  assert_true(backend_check_finish(lab->check, request, began + 10 * S));
  bmc_lab_expect(lab, request, "a1", VERDICT_TIMEOUT, "a1: its BMC (");
}

static void
test_cancel(void **state)
{
  (void)state;
  begin(NULL, NULL, TRUE);
  g_free(bmc_lab_tell(lab, "break", "1-3", "slow=2", NULL));
  guint32 off = bmc_lab_ask(lab, OP_OFF, "a1", 30 * S, BMC_WITH("how", "hard"));
  guint32 behind = bmc_lab_ask(lab, OP_RESET, "a1", 30 * S, NULL);
  backend_check_run(lab->check, backend_check_now(lab->check) + S);
  guint32 not_begun = bmc_lab_ask(lab, OP_OFF, "a4", 30 * S, NULL);
  backend_check_cancel(lab->check, not_begun);
  backend_check_cancel(lab->check, off);
  backend_check_cancel(lab->check, behind);
  backend_check_cancel(lab->check, 99);
  assert_true(backend_check_finish(lab->check, off, backend_check_now(lab->check) + S));
  assert_true(backend_check_finish(lab->check, behind, backend_check_now(lab->check) + S));
  bmc_lab_expect(lab, off, "a1", VERDICT_UNKNOWN, "may have happened");
  bmc_lab_expect(lab, behind, "a1", VERDICT_CANCELLED, NULL);
  bmc_lab_expect(lab, not_begun, "a4", VERDICT_CANCELLED, NULL);
  bmc_lab_expect(lab, bmc_lab_do(lab, OP_STATUS, "a4", 5 * S, NULL), "a4", VERDICT_OK, NULL);
  assert_non_null(strstr(lab->seen->str, "a4 power on"));
}

/* More sessions than the 63 a BMC has: each must have been closed. */
static void
test_sessions_are_closed(void **state)
{
  (void)state;
  begin(NULL, NULL, TRUE);
  for (guint i = 0; i < 70; i++) {
    guint32 request = bmc_lab_do(lab, OP_STATUS, "a1", 5 * S, NULL);
    bmc_lab_expect(lab, request, "a1", VERDICT_OK, NULL);
    backend_check_run(lab->check, backend_check_now(lab->check) + TIME_MS);
  }
}

static const CheckAsk asks[] = {
    {OP_STATUS, 6, NULL, NULL},
    {OP_ON, 4, NULL, NULL},
    {OP_OFF, 2, BMC_WITH("how", "hard"), NULL},
    {OP_OFF, 2, BMC_WITH("how", "soft"), NULL},
    {OP_OFF, 1, BMC_WITH("how", "\033[2J"), NULL},
    {OP_RESET, 3, NULL, NULL},
    {OP_BOOT_DEVICE, 2, BMC_WITH("device", "pxe", "entry", "x::nfs"), NULL},
    {OP_BOOT_DEVICE, 1, BMC_WITH("device", "kexec"), NULL},
    {OP_STATUS, 1, NULL, "x"},
    {OP_EXEC, 1, BMC_WITH("job", "dd"), NULL},
    {OP_WATCH, 2, BMC_WITH("what", "console"), NULL},
    {OP_KEYS, 1, NULL, NULL},
    {OP_STATUS, 0, NULL, NULL},
};

/* How far a walk comes in real time depends on the machine; that behind it every BMC is as well as
 * before does not. */
static void
test_rules(void **state)
{
  (void)state;
  /* Without these libipmiconsole ends the simulator. */
  begin("    session-timeout: 1 s\n    retransmit: 300 ms\n    workers: 3\n",
        "      \"a[1-6]\": {workaround: [opensesspriv, solpayloadsize, solport, solstatus, "
        "solchannelsupport]}\n",
        FALSE);
  g_free(bmc_lab_tell(lab, "break", "2", "slow=0.3", NULL));
  g_free(bmc_lab_tell(lab, "break", "3", "mute", NULL));
  g_free(bmc_lab_tell(lab, "break", "4", "hang-set", NULL));
  g_free(bmc_lab_tell(lab, "break", "5", "deaf", NULL));
  g_free(bmc_lab_tell(lab, "break", "6", "password", NULL));
  NodeId nodes[6];
  for (guint i = 0; i < 6; i++) {
    g_autofree char *name = g_strdup_printf("a%u", i + 1);
    nodes[i] = layout_find(lab->layout, name);
  }
  CheckWalk walk = {asks, nodes, 6, 120, 100 * TIME_MS};
  for (guint32 seed = 1; seed <= 2; seed++) {
    backend_check_walk(lab->check, &walk, seed);
    if (backend_check_violation(lab->check) != NULL)
      fail_msg("seed %u: %s", seed, backend_check_violation(lab->check));
  }
  print_message("results:");
  for (Verdict verdict = 0; verdict <= VERDICT_UNSUPPORTED; verdict++)
    print_message(" %u %s", backend_check_count(lab->check, verdict), verdict_name(verdict));
  print_message("\n");
  assert_true(backend_check_count(lab->check, VERDICT_CANCELLED) > 0);
  assert_true(backend_check_count(lab->check, VERDICT_UNSUPPORTED) > 0);
  g_free(bmc_lab_tell(lab, "mend", "4", NULL)); /* it hangs in what it was told last */
  guint32 request = bmc_lab_do(lab, OP_STATUS, "all", 20 * S, NULL);
  const Verdict verdicts[] = {VERDICT_OK, VERDICT_OK, VERDICT_TIMEOUT,
                              VERDICT_OK, VERDICT_OK, VERDICT_FAILED};
  for (guint i = 0; i < 6; i++)
    bmc_lab_expect(lab, request, layout_node(lab->layout, nodes[i])->name, verdicts[i], NULL);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_slow_once),           cmocka_unit_test(test_broken),
      cmocka_unit_test(test_dead_delays_nobody),  cmocka_unit_test(test_cancel),
      cmocka_unit_test(test_sessions_are_closed), cmocka_unit_test(test_rules),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

#else

#include <stdio.h>

int
main(void)
{
  puts("built without libfreeipmi");
  return 77;
}

#endif
