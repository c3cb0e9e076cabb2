/* What core makes of stages: how sure they are, who tells them, and which a layout has. */
#include "core_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const CoreOptions yes = {.seed = 1, .consent = CONSENT_YES};

static const NodeState *
a01(const Lab *lab)
{
  return state_node(lab->state, lab_node(lab, "a01"));
}

static const char *
stage_now(const Lab *lab)
{
  return state_stage_name(lab->state, a01(lab)->stage);
}

/* VALUE as SOURCE says, at T. */
static void
tell(Lab *lab, double t, const char *source, const char *value)
{
  lab_at(lab, t);
  lab_see_by(lab, "a01", "stage", value, source);
}

static void
boot(Lab *lab)
{
  lab_see(lab, "a01", "power", "on");
  tell(lab, 5, "ipxe", "firmware");
}

static void
test_who_and_how_sure(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  boot(lab);
  tell(lab, 8, "dnsmasq", "dhcp likely");
  Stage dhcp = lab_stage(lab, "dhcp");
  assert_int_equal(a01(lab)->stage, dhcp);
  assert_int_equal(a01(lab)->stage_t[dhcp], 8 * TIME_SECOND);
  assert_string_equal(a01(lab)->stage_source[dhcp], "dnsmasq");
  assert_int_equal(a01(lab)->stage_certainty[dhcp], CERTAINTY_LIKELY);
  assert_int_equal(a01(lab)->stage_limit, 28 * TIME_SECOND);
  /* Whoever tells it later changes nothing. */
  tell(lab, 9, "ipxe", "dhcp");
  assert_int_equal(a01(lab)->stage_t[dhcp], 8 * TIME_SECOND);
  assert_string_equal(a01(lab)->stage_source[dhcp], "dnsmasq");
  assert_null(a01(lab)->stage_source[lab_stage(lab, "kernel")]);
}

static void
test_stages_that_do_not_occur(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  boot(lab);
  tell(lab, 6, "getty", "login");
  assert_string_equal(stage_now(lab), "login");
  assert_false(a01(lab)->booting);
  assert_null(a01(lab)->fault);
  lab_at(lab, 1000);
  lab_expect(lab, "");
}

/* A renewed lease and a new mount are no boot. */
static void
test_possible_is_no_beginning(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  tell(lab, 1, "dnsmasq", "dhcp possible");
  assert_int_equal(a01(lab)->power, POWER_OFF);
  boot(lab);
  tell(lab, 8, "dnsmasq", "dhcp possible");
  assert_string_equal(stage_now(lab), "dhcp");
  tell(lab, 9, "mountd", "root possible");
  tell(lab, 10, "getty", "login");
  tell(lab, 400, "dnsmasq", "dhcp possible");
  tell(lab, 401, "mountd", "root possible");
  assert_string_equal(stage_now(lab), "login");
  assert_false(a01(lab)->booting);
  lab_expect(lab, "");
}

/* Nor is an address asked for anew by a system that runs; of one nothing is known of, it is. */
static void
test_likely_leads_forward(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  tell(lab, 1, "dnsmasq", "dhcp likely");
  assert_string_equal(stage_now(lab), "dhcp");
  assert_int_equal(a01(lab)->power, POWER_ON);
  assert_string_equal(a01(lab)->power_source, "dnsmasq");
  tell(lab, 2, "nginx", "http likely");
  tell(lab, 10, "dnsmasq", "dhcp likely"); /* by iPXE, and again by the kernel */
  assert_string_equal(stage_now(lab), "http");
  tell(lab, 20, "getty", "login");
  tell(lab, 500, "dnsmasq", "dhcp likely");
  assert_string_equal(stage_now(lab), "login");
  lab_expect(lab, "");
}

/* Found on when the session began, it may run for days already. */
static void
test_likely_of_one_that_is_up(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_new("tests/unit/samples/two-seats.yaml", &yes);
  lab_link(lab, "sim", TRUE, "two seats");
  lab_see(lab, "a01", "power", "on");
  tell(lab, 1, "dnsmasq", "dhcp likely");
  assert_int_equal(a01(lab)->stage, STAGE_NONE);
  assert_false(a01(lab)->booting);
  tell(lab, 2, "dnsmasq", "tftp");
  assert_string_equal(stage_now(lab), "tftp");
  assert_true(a01(lab)->booting);
}

static void
test_back_is_a_reboot(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  boot(lab);
  tell(lab, 10, "getty", "login");
  tell(lab, 60, "dnsmasq", "tftp");
  lab_expect(lab, "note warning a01: a01 began to boot again: tftp after login\n");
  assert_true(a01(lab)->booting);
  assert_int_equal(a01(lab)->stage_t[lab_stage(lab, "firmware")], -1);
  assert_null(a01(lab)->stage_source[lab_stage(lab, "login")]);
  assert_int_equal(a01(lab)->stage_t[lab_stage(lab, "tftp")], 60 * TIME_SECOND);
}

/* A log comes by a longer way than a console: 0.8 s behind it is the same boot, 8 s another. */
static void
test_a_slower_source(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  boot(lab);
  tell(lab, 10, "linux", "kernel");
  tell(lab, 10.8, "dnsmasq", "tftp");
  lab_expect(lab, "");
  assert_string_equal(stage_now(lab), "kernel");
  /* The same source is never behind itself. */
  tell(lab, 11, "linux", "initramfs");
  tell(lab, 11.5, "linux", "kernel");
  lab_expect(lab, "note warning a01: a01 began to boot again: kernel after initramfs\n");
  tell(lab, 20, "dnsmasq", "tftp");
  lab_expect(lab, "note warning a01: a01 began to boot again: tftp after kernel\n");
}

/* What a log still tells of a machine whose plug was pulled does not switch it on. */
static void
test_a_log_behind_the_plug(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  boot(lab);
  lab_at(lab, 8);
  lab_see(lab, "a01", "power", "off");
  tell(lab, 8.5, "dnsmasq", "tftp");
  assert_int_equal(a01(lab)->power, POWER_OFF);
  tell(lab, 9, "ipxe", "firmware");
  assert_int_equal(a01(lab)->power, POWER_ON);
  lab_at(lab, 9.5);
  lab_see(lab, "a01", "power", "off");
  tell(lab, 12, "dnsmasq", "tftp");
  assert_int_equal(a01(lab)->power, POWER_ON);
}

/* Nobody can tell its power for a while: its boot goes on all the same, and its times stand. */
static void
test_power_unknown_in_mid_boot(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "boot a01 as one");
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  lab_settle(lab);
  lab_see(lab, "a01", "power", "on");
  lab_answer(lab, 4, "a01", VERDICT_OK, "");
  tell(lab, 5, "dnsmasq", "tftp");
  lab_link(lab, "sim", FALSE, "restarted");
  assert_int_equal(a01(lab)->power, POWER_UNKNOWN);
  tell(lab, 7, "linux", "kernel");
  assert_int_equal(a01(lab)->power, POWER_ON);
  lab_link(lab, "sim", FALSE, "again");
  lab_link(lab, "sim", TRUE, "two seats");
  lab_see(lab, "a01", "power", "on");
  tell(lab, 10, "getty", "login");
  lab_expect_only(lab, "figure one.boot.mean", "figure one.boot.mean 5.000 s n=1 runs=1\n");
  const BootSeat *seat = &state_boot(lab->state, 0)->seats[0];
  assert_int_equal(boot_seat_took(lab->state, seat, BOOT_FROM_MENU), 5 * TIME_SECOND);
  assert_int_equal(boot_seat_took(lab->state, seat, BOOT_FROM_KERNEL), 3 * TIME_SECOND);
  assert_int_equal(boot_seat_took(lab->state, seat, BOOT_FROM_POWER), 10 * TIME_SECOND);
}

static void
test_named_at_its_deadline(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  boot(lab);
  tell(lab, 8, "dnsmasq", "dhcp likely");
  lab_at(lab, 28);
  lab_expect(lab, "note error a01: a01 dhcp for 20 s (limit 20 s)\n");
  assert_string_equal(a01(lab)->fault, "a01 dhcp for 20 s (limit 20 s)");
  tell(lab, 30, "dnsmasq", "tftp");
  assert_null(a01(lab)->fault);
}

static void
test_no_such_stage(void **state)
{
  (void)state;
  static const char *const words[] = {"grub", "dhcp perhaps", "dhcp ", " dhcp", "", "dhcp likely "};
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  boot(lab);
  for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
    guint64 before = state_log_end(lab->state);
    tell(lab, 6, "own", words[i]);
    assert_string_equal(stage_now(lab), "firmware");
    assert_int_equal(state_log_end(lab->state), before + 1);
  }
}

/* ---- A set of its own ---------------------------------------------------------------------- */

static void
test_own_set(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_new("tests/unit/samples/own-stages.yaml", &yes);
  lab_link(lab, "sim", TRUE, "one seat");
  g_string_truncate(lab->out, 0);
  lab_say(lab, "boot a01 as one");
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  lab_settle(lab);
  lab_see(lab, "a01", "power", "on");
  lab_answer(lab, 4, "a01", VERDICT_OK, "");
  tell(lab, 1, "nginx", "uefi-http");
  tell(lab, 2, "linux", "tftp"); /* none of its stages */
  tell(lab, 3, "linux", "kernel");
  tell(lab, 4, "own", "restore-image");
  g_string_truncate(lab->out, 0);
  lab_say(lab, "wait boot one restore-image");
  lab_expect(lab, "done 2 ok\n");
  lab_at(lab, 1203);
  lab_expect_only(lab, "note error", "");
  tell(lab, 1203.5, "getty", "login");
  lab_expect_only(lab, "figure one.boot.mean", "figure one.boot.mean 1200.500 s n=1 runs=1\n");
}

static void
test_own_set_names(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_new("tests/unit/samples/own-stages.yaml", &yes);
  g_autoptr(GError) error = NULL;
  g_autofree char *known = core_resolve(lab->state, "wait boot a01 restore-image", &error);
  assert_string_equal(known, "wait boot a01 restore-image");
  assert_null(core_resolve(lab->state, "wait boot a01 dhcp", &error));
  assert_string_equal(error->message, "no boot here has a stage dhcp");
}

/* No time is spent on a stage that nobody would tell. */
static void
test_wait_for_what_nobody_sees(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_new("tests/unit/samples/unseen-boots.yaml", &yes);
  lab_link(lab, "bmc", TRUE, "there");
  lab_expect_only(lab, "note", "");
  lab_say(lab, "wait boot a[01-03] login");
  lab_expect(lab,
             "note warning: wait boot a[01-03] login: 0 of 3, without a[01-03]\n"
             "note warning: nothing sees the stages of a[01-03]: a `log` or an open console would\n"
             "done 1 failed\n");
  lab_say(lab, "console a03");
  lab_expect(lab, "request 2 watch bmc a03 cmd=2 what=console from=anyone\ndone 2 ok\n");
  lab_say(lab, "wait boot a[02-04] login timeout 30 s");
  lab_expect(lab, ""); /* for a03 and a04 */
  lab_see_by(lab, "a03", "stage", "login", "getty");
  lab_see_by(lab, "a04", "stage", "login likely", "ports");
  lab_expect(lab, "note warning: wait boot a[02-04] login timeout 30 s: 2 of 3, without a02\n"
                  "note warning: nothing sees the stages of a02: a `log` or an open console would\n"
                  "done 3 partial\n");
  /* Whoever has told one stage may tell another. */
  lab_see_by(lab, "a02", "stage", "kernel", "somebody");
  lab_say(lab, "wait boot a02 login timeout 30 s");
  lab_expect(lab, "");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_who_and_how_sure),
      cmocka_unit_test(test_stages_that_do_not_occur),
      cmocka_unit_test(test_possible_is_no_beginning),
      cmocka_unit_test(test_likely_leads_forward),
      cmocka_unit_test(test_likely_of_one_that_is_up),
      cmocka_unit_test(test_back_is_a_reboot),
      cmocka_unit_test(test_a_slower_source),
      cmocka_unit_test(test_a_log_behind_the_plug),
      cmocka_unit_test(test_power_unknown_in_mid_boot),
      cmocka_unit_test(test_named_at_its_deadline),
      cmocka_unit_test(test_no_such_stage),
      cmocka_unit_test(test_own_set),
      cmocka_unit_test(test_own_set_names),
      cmocka_unit_test(test_wait_for_what_nobody_sees),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
