#include "core_lab.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const CoreOptions yes = {.seed = 1, .consent = CONSENT_YES};

static void
stages(Lab *lab, const char *node, double start, const double seconds[7])
{
  static const char *const names[] = {"firmware",  "dhcp", "tftp", "kernel",
                                      "initramfs", "root", "login"};
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    lab_at(lab, start + seconds[i]);
    lab_see(lab, node, "stage", names[i]);
  }
}

static void
test_boot_from_off(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_at(lab, 2);
  lab_say(lab, "boot a[01-02] as one");
  lab_expect(lab, "plan 1: boot pxe ubuntu-10.04::nfs a[01-02] by sim; 2 seats\n"
                  "request 3 boot-device sim a[01-02] cmd=1 device=pxe entry=ubuntu-10.04::nfs "
                  "until 32 s\n");
  lab_answer_both(lab, 3);
  lab_settle(lab);
  lab_expect(lab, "request 4 on sim a[01-02] cmd=1 until 32 s\n");
  const BootRun *run = state_boot(lab->state, 0);
  assert_string_equal(run->label, "one");
  assert_int_equal(run->run, 1);
  assert_int_equal(run->start_t, 2 * TIME_SECOND);
  assert_int_equal(run->seats[1].outcome, SEAT_RUNNING);
  lab_see_and_answer(lab, 4, "a01", "on");
  lab_see_and_answer(lab, 4, "a02", "on");
  lab_expect(lab, "done 1 ok\n");
  const NodeState *a01 = state_node(lab->state, lab_node(lab, "a01"));
  assert_true(a01->booting);
  assert_int_equal(state_counts(lab->state, NULL, 0).booting, 2);
  lab_at(lab, 3);
  lab_see(lab, "a01", "stage", "dhcp");
  assert_int_equal(a01->stage, lab_stage(lab, "dhcp"));
  assert_int_equal(a01->stage_limit, 23 * TIME_SECOND);
  lab_see(lab, "a01", "stage", "login");
  assert_false(a01->booting);
  assert_int_equal(a01->stage_limit, TIME_NEVER);
  assert_int_equal(run->n_ok, 1);
  assert_int_equal(run->end_t, -1);
}

/* Only the seat that is on goes through off; it counts from its own on. */
static void
test_boot_cold_of_one_that_is_on(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_see(lab, "a01", "power", "on");
  lab_see(lab, "a01", "stage", "login");
  lab_say(lab, "boot a[01-02]");
  lab_answer_both(lab, 3);
  lab_settle(lab);
  lab_expect_only(lab, "request",
                  "request 3 boot-device sim a[01-02] cmd=1 device=pxe "
                  "entry=ubuntu-10.04::nfs until 30 s\n"
                  "request 4 off sim a01 cmd=1 how=hard until 30 s\n"
                  "request 5 on sim a02 cmd=1 until 30 s\n");
  const BootRun *run = state_boot(lab->state, 0);
  assert_int_equal(run->seats[0].outcome, SEAT_WAITING);
  assert_int_equal(run->seats[1].outcome, SEAT_RUNNING);
  assert_string_equal(run->label, "");
  lab_see_and_answer(lab, 5, "a02", "on");
  lab_see_and_answer(lab, 4, "a01", "off");
  lab_at(lab, 5);
  lab_expect(lab, "request 6 on sim a01 cmd=1 until 35 s\n");
  lab_see_and_answer(lab, 6, "a01", "on");
  lab_expect(lab, "done 1 ok\n");
  assert_int_equal(run->seats[0].outcome, SEAT_RUNNING);
  assert_int_equal(run->seats[0].power_t, 5 * TIME_SECOND);
}

static void
test_boot_warm_resets(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_see(lab, "a01", "power", "on");
  lab_see(lab, "a01", "stage", "login");
  lab_say(lab, "boot a01 warm as w");
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  lab_at(lab, 1);
  lab_expect_only(lab, "request 4", "request 4 reset sim a01 cmd=1 until 30 s\n");
  /* Its first stage may come before the answer. */
  lab_see(lab, "a01", "stage", "firmware");
  lab_answer(lab, 4, "a01", VERDICT_OK, "");
  lab_expect(lab, "done 1 ok\n");
  const NodeState *a01 = state_node(lab->state, lab_node(lab, "a01"));
  assert_int_equal(a01->stage, lab_stage(lab, "firmware"));
  assert_true(a01->booting);
  lab_at(lab, 5);
  lab_see(lab, "a01", "stage", "tftp");
  lab_at(lab, 24);
  lab_see(lab, "a01", "stage", "login");
  assert_int_equal(state_boot(lab->state, 0)->n_ok, 1);
  lab_expect_only(lab, "figure w.power", ""); /* its power stayed on */
}

static void
test_reset_forgets_the_login(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_see(lab, "a01", "power", "on");
  lab_see(lab, "a01", "stage", "login");
  lab_at(lab, 1);
  lab_say(lab, "power reset a01");
  lab_at(lab, 2);
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  const NodeState *a01 = state_node(lab->state, lab_node(lab, "a01"));
  assert_int_equal(a01->stage, STAGE_NONE);
  assert_int_equal(a01->stage_t[lab_stage(lab, "login")], -1);
  assert_true(a01->booting);
}

static const double fast[] = {0, 5, 6, 10, 11, 13, 24};

static const char all_figures[] = "figure one.boot.mean 20.000 s n=2 runs=1\n"
                                  "figure one.boot.median 20.000 s n=2 runs=1\n"
                                  "figure one.boot.min 18.000 s n=2 runs=1\n"
                                  "figure one.boot.max 22.000 s n=2 runs=1\n"
                                  "figure one.boot.p90 21.600 s n=2 runs=1\n"
                                  "figure one.menu.mean 15.500 s n=2 runs=1\n"
                                  "figure one.menu.median 15.500 s n=2 runs=1\n"
                                  "figure one.menu.min 14.000 s n=2 runs=1\n"
                                  "figure one.menu.max 17.000 s n=2 runs=1\n"
                                  "figure one.menu.p90 16.700 s n=2 runs=1\n"
                                  "figure one.power.mean 26.000 s n=2 runs=1\n"
                                  "figure one.power.median 26.000 s n=2 runs=1\n"
                                  "figure one.power.min 24.000 s n=2 runs=1\n"
                                  "figure one.power.max 28.000 s n=2 runs=1\n"
                                  "figure one.power.p90 27.600 s n=2 runs=1\n"
                                  "figure one.stage.firmware.mean 4.750 s n=2 runs=1\n"
                                  "figure one.stage.firmware.median 4.750 s n=2 runs=1\n"
                                  "figure one.stage.firmware.min 4.500 s n=2 runs=1\n"
                                  "figure one.stage.firmware.max 5.000 s n=2 runs=1\n"
                                  "figure one.stage.firmware.p90 4.950 s n=2 runs=1\n"
                                  "figure one.stage.dhcp.mean 1.000 s n=2 runs=1\n"
                                  "figure one.stage.dhcp.median 1.000 s n=2 runs=1\n"
                                  "figure one.stage.dhcp.min 1.000 s n=2 runs=1\n"
                                  "figure one.stage.dhcp.max 1.000 s n=2 runs=1\n"
                                  "figure one.stage.dhcp.p90 1.000 s n=2 runs=1\n"
                                  "figure one.stage.tftp.mean 4.500 s n=2 runs=1\n"
                                  "figure one.stage.tftp.median 4.500 s n=2 runs=1\n"
                                  "figure one.stage.tftp.min 4.000 s n=2 runs=1\n"
                                  "figure one.stage.tftp.max 5.000 s n=2 runs=1\n"
                                  "figure one.stage.tftp.p90 4.900 s n=2 runs=1\n"
                                  "figure one.stage.kernel.mean 1.000 s n=2 runs=1\n"
                                  "figure one.stage.kernel.median 1.000 s n=2 runs=1\n"
                                  "figure one.stage.kernel.min 1.000 s n=2 runs=1\n"
                                  "figure one.stage.kernel.max 1.000 s n=2 runs=1\n"
                                  "figure one.stage.kernel.p90 1.000 s n=2 runs=1\n"
                                  "figure one.stage.initramfs.mean 2.000 s n=2 runs=1\n"
                                  "figure one.stage.initramfs.median 2.000 s n=2 runs=1\n"
                                  "figure one.stage.initramfs.min 2.000 s n=2 runs=1\n"
                                  "figure one.stage.initramfs.max 2.000 s n=2 runs=1\n"
                                  "figure one.stage.initramfs.p90 2.000 s n=2 runs=1\n"
                                  "figure one.stage.root.mean 12.500 s n=2 runs=1\n"
                                  "figure one.stage.root.median 12.500 s n=2 runs=1\n"
                                  "figure one.stage.root.min 11.000 s n=2 runs=1\n"
                                  "figure one.stage.root.max 14.000 s n=2 runs=1\n"
                                  "figure one.stage.root.p90 13.700 s n=2 runs=1\n"
                                  "figure one.ok 2.000 n=2 runs=1\n"
                                  "figure one.failed 0.000 n=2 runs=1\n";

static void
test_figures(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_boot_both(lab, 10, "boot a[01-02] as one", 3);
  g_string_truncate(lab->out, 0);
  static const struct {
    double t;
    const char *node, *stage;
  } seen[] = {{10, "a01", "firmware"},  {10.5, "a02", "firmware"}, {15, "a01", "dhcp"},
              {15, "a02", "dhcp"},      {16, "a01", "tftp"},       {16, "a02", "tftp"},
              {20, "a01", "kernel"},    {21, "a02", "kernel"},     {21, "a01", "initramfs"},
              {22, "a02", "initramfs"}, {23, "a01", "root"},       {24, "a02", "root"},
              {34, "a01", "login"},     {38, "a02", "login"}};
  for (guint i = 0; i < G_N_ELEMENTS(seen); i++) {
    lab_at(lab, seen[i].t);
    lab_see(lab, seen[i].node, "stage", seen[i].stage);
  }
  lab_expect(lab, all_figures);
  assert_int_equal(state_boot(lab->state, 0)->end_t, 38 * TIME_SECOND);
}

/* A boot that shows no TFTP counts from its kernel. */
static void
boot_without_tftp(Lab *lab, double start, guint32 first, double seconds)
{
  lab_at(lab, start);
  lab_see(lab, "a01", "power", "off");
  lab_say(lab, "boot a01 as r");
  lab_answer(lab, first, "a01", VERDICT_OK, "");
  lab_settle(lab);
  lab_see_and_answer(lab, first + 1, "a01", "on");
  lab_at(lab, start + 10);
  lab_see(lab, "a01", "stage", "kernel");
  g_string_truncate(lab->out, 0);
  lab_at(lab, start + 10 + seconds);
  lab_see(lab, "a01", "stage", "login");
}

static void
test_repeats_add_up(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  boot_without_tftp(lab, 0, 3, 18);
  lab_expect_only(lab, "figure r.boot.m",
                  "figure r.boot.mean 18.000 s n=1 runs=1\n"
                  "figure r.boot.median 18.000 s n=1 runs=1\n"
                  "figure r.boot.min 18.000 s n=1 runs=1\n"
                  "figure r.boot.max 18.000 s n=1 runs=1\n");
  boot_without_tftp(lab, 100, 5, 22);
  lab_expect_only(lab, "figure r.boot.m",
                  "figure r.boot.mean 20.000 s n=2 runs=2\n"
                  "figure r.boot.median 20.000 s n=2 runs=2\n"
                  "figure r.boot.min 18.000 s n=2 runs=2\n"
                  "figure r.boot.max 22.000 s n=2 runs=2\n");
  assert_int_equal(state_boot(lab->state, 1)->run, 2);
}

static void
test_stage_overdue(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_boot_both(lab, 0, "boot a[01-02] as one", 3);
  g_string_truncate(lab->out, 0);
  stages(lab, "a01", 1, fast);
  lab_see(lab, "a02", "stage", "tftp");
  lab_at(lab, 44.999);
  lab_expect(lab, "");
  lab_at(lab, 45);
  lab_expect_only(lab, "note", "note error a02: a02 tftp for 20 s (limit 20 s)\n");
  const BootRun *run = state_boot(lab->state, 0);
  const NodeState *a02 = state_node(lab->state, lab_node(lab, "a02"));
  assert_int_equal(run->seats[1].outcome, SEAT_FAILED);
  assert_int_equal(run->seats[1].failed_stage, lab_stage(lab, "tftp"));
  assert_int_equal(run->n_failed, 1);
  assert_int_equal(run->end_t, 45 * TIME_SECOND);
  assert_string_equal(a02->fault, "a02 tftp for 20 s (limit 20 s)");
  lab_at(lab, 47.5);
  lab_see(lab, "s1", "usage", "free");
  Severity severity;
  g_autofree char *sentence = state_sentence(lab->state, &severity);
  assert_string_equal(sentence, "a02 tftp for 22 s (limit 20 s). c console, P cycle a02");
  assert_int_equal(severity, SEVERITY_ERROR);
  /* It goes on after all: the fault is gone, the run's verdict is not. */
  lab_see(lab, "a02", "stage", "kernel");
  assert_null(a02->fault);
  assert_int_equal(a02->fault_t, -1);
  assert_int_equal(run->n_failed, 1);
  assert_true(core_deadline(lab->state) == (gint64)(77.5 * 1e9));
}

static void
test_no_stage_at_all(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_boot_both(lab, 0, "boot a[01-02] as one", 3);
  g_string_truncate(lab->out, 0);
  lab_at(lab, 60);
  lab_see(lab, "a02", "power", "off");
  lab_at(lab, 200);
  lab_expect_only(lab, "note",
                  "note error a01: a01 shows no stage for 120 s (limit 120 s)\n"
                  "note error a02: a02 off for 120 s (limit 120 s)\n");
  assert_int_equal(state_boot(lab->state, 0)->n_failed, 2);
}

/* Named at once, at the stage it had reached; it may be switched on again. */
static void
test_lost(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_boot_both(lab, 0, "boot a[01-02] as one", 3);
  lab_at(lab, 5);
  lab_see(lab, "a01", "stage", "kernel");
  lab_see(lab, "a02", "stage", "kernel");
  g_string_truncate(lab->out, 0);
  lab_at(lab, 7);
  lab_see(lab, "a01", "power", "off");
  lab_expect(lab, "note error a01: a01 went off at kernel\n");
  const NodeState *a01 = state_node(lab->state, lab_node(lab, "a01"));
  assert_string_equal(a01->fault, "a01 went off at kernel");
  lab_at(lab, 8);
  lab_see(lab, "a02", "stage", "login");
  lab_at(lab, 7 + 120);
  lab_expect_only(lab, "note",
                  "note error a01: a01 went off at kernel, off for 120 s (limit 120 s)\n");
  const BootRun *run = state_boot(lab->state, 0);
  assert_int_equal(run->n_failed, 1);
  assert_int_equal(run->seats[0].failed_stage, lab_stage(lab, "kernel"));
  lab_see(lab, "a01", "power", "on");
  assert_null(a01->fault);
}

static void
test_seats_that_could_not_be_told(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "boot a[01-02] as one");
  lab_answer(lab, 3, "a01", VERDICT_FAILED, "a01: no such entry");
  lab_answer(lab, 3, "a02", VERDICT_OK, "");
  lab_settle(lab);
  g_string_truncate(lab->out, 0);
  lab_answer(lab, 4, "a02", VERDICT_TIMEOUT, "a02: no answer");
  lab_expect(lab, "figure one.ok 0.000 n=2 runs=1\n"
                  "figure one.failed 2.000 n=2 runs=1\n"
                  "done 1 failed\n");
  lab_at(lab, 300);
  lab_expect(lab, "");
}

static void
test_backend_without_boot_device(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "boot a01");
  lab_answer(lab, 3, "a01", VERDICT_UNSUPPORTED, "a01: wol cannot choose the boot device");
  lab_settle(lab);
  lab_expect_only(lab, "request 4", "request 4 on sim a01 cmd=1 until 30 s\n");
  lab_say(lab, "boot a02 via disk");
  lab_answer(lab, 5, "a02", VERDICT_UNSUPPORTED, "a02: wol cannot choose the boot device");
  lab_expect_only(lab, "done", "done 2 unsupported\n");
}

static void
test_begins_again(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_boot_both(lab, 0, "boot a[01-02] as one", 3);
  lab_at(lab, 5);
  lab_see(lab, "a01", "stage", "tftp");
  lab_at(lab, 9);
  lab_see(lab, "a01", "stage", "kernel");
  g_string_truncate(lab->out, 0);
  lab_at(lab, 30);
  lab_see(lab, "a01", "stage", "dhcp");
  lab_expect(lab, "note warning a01: a01 began to boot again: dhcp after kernel\n");
  const NodeState *a01 = state_node(lab->state, lab_node(lab, "a01"));
  assert_int_equal(a01->stage_t[lab_stage(lab, "kernel")], -1);
  assert_int_equal(state_boot(lab->state, 0)->seats[0].stage_t[lab_stage(lab, "kernel")], -1);
  lab_at(lab, 31);
  lab_see(lab, "a01", "power", "off");
  assert_false(a01->booting);
  assert_int_equal(a01->stage, STAGE_NONE);
  lab_see(lab, "a01", "power", "on");
  assert_true(a01->booting);
  assert_int_equal(state_boot(lab->state, 0)->seats[0].power_t, 31 * TIME_SECOND);
}

static void
test_booted_in_a_later_run(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_boot_both(lab, 0, "boot a[01-02] as one", 3);
  lab_see(lab, "a02", "stage", "login");
  g_string_truncate(lab->out, 0);
  lab_at(lab, 1);
  lab_say(lab, "boot a01 as two");
  lab_expect_only(lab, "figure one.failed", "figure one.failed 1.000 n=2 runs=1\n");
  assert_int_equal(state_boot(lab->state, 0)->seats[0].outcome, SEAT_FAILED);
  assert_int_equal(state_boot(lab->state, 1)->n_failed, 0);
}

/* The oldest that ended goes; one that still runs stays. */
static void
test_few_runs_are_kept(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "boot a02 as stays");
  for (guint32 i = 0; i < 600; i++) {
    lab_say(lab, "boot a01 as goes");
    lab_answer(lab, 4 + i, "a01", VERDICT_FAILED, "a01: no such entry");
  }
  assert_int_equal(state_n_boots(lab->state), 512);
  assert_string_equal(state_boot(lab->state, 0)->label, "stays");
  assert_int_equal(state_boot(lab->state, 1)->run, 90);
  assert_int_equal(state_boot(lab->state, 511)->run, 600);
  lab_answer(lab, 3, "a02", VERDICT_FAILED, "a02: no such entry");
  assert_int_equal(state_boot(lab->state, 0)->n_failed, 1);
}

static void
test_pressed_its_button(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_at(lab, 4);
  lab_see(lab, "a01", "stage", "kernel");
  const NodeState *a01 = state_node(lab->state, lab_node(lab, "a01"));
  assert_int_equal(a01->power, POWER_ON);
  assert_true(a01->booting);
  lab_see(lab, "a01", "stage", "grub");
  assert_int_equal(a01->stage, lab_stage(lab, "kernel"));
}

/* Whatever happens to 34 seats, the next deadline is the earliest of their limits. */
static void
test_deadline_is_the_earliest_limit(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_new("layouts/openslx-two-rooms.yaml", &yes);
  g_autoptr(GRand) rand = g_rand_new_with_seed(7);
  static const char *const words[] = {"firmware", "dhcp",  "tftp", "kernel", "initramfs",
                                      "root",     "login", "off",  "on"};
  for (guint i = 0; i < 20000; i++) {
    guint id = (guint)g_rand_int_range(rand, 0, (gint)lab->layout->n_nodes);
    guint word = (guint)g_rand_int_range(rand, 0, G_N_ELEMENTS(words));
    lab_at(lab, i * 0.5);
    lab_see(lab, lab->layout->nodes[id].name, word < 7 ? "stage" : "power", words[word]);
    gint64 earliest = TIME_NEVER;
    for (guint n = 0; n < lab->layout->n_nodes; n++)
      earliest = MIN(earliest, state_node(lab->state, n)->stage_limit);
    if (core_deadline(lab->state) != earliest)
      fail_msg("event %u: %" G_GINT64_FORMAT " instead of %" G_GINT64_FORMAT, i,
               core_deadline(lab->state), earliest);
  }
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_boot_from_off),
      cmocka_unit_test(test_boot_cold_of_one_that_is_on),
      cmocka_unit_test(test_boot_warm_resets),
      cmocka_unit_test(test_reset_forgets_the_login),
      cmocka_unit_test(test_figures),
      cmocka_unit_test(test_repeats_add_up),
      cmocka_unit_test(test_stage_overdue),
      cmocka_unit_test(test_no_stage_at_all),
      cmocka_unit_test(test_lost),
      cmocka_unit_test(test_seats_that_could_not_be_told),
      cmocka_unit_test(test_backend_without_boot_device),
      cmocka_unit_test(test_begins_again),
      cmocka_unit_test(test_booted_in_a_later_run),
      cmocka_unit_test(test_few_runs_are_kept),
      cmocka_unit_test(test_pressed_its_button),
      cmocka_unit_test(test_deadline_is_the_earliest_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
