#include "core_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const CoreOptions asks = {.seed = 1, .consent = CONSENT_ASK};
static const CoreOptions yes = {.seed = 1, .consent = CONSENT_YES};
static const CoreOptions one_seat = {.seed = 1, .consent = CONSENT_SEATS, .consent_seats = 1};
static const CoreOptions read_only = {.seed = 1, .consent = CONSENT_YES, .read_only = TRUE};
static const CoreOptions dry_run = {.seed = 1, .consent = CONSENT_YES, .dry_run = TRUE};

static void
test_consent(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&asks);
  const PendingConsent *pending = state_pending(lab->state);
  lab_see(lab, "a01", "power", "on");
  assert_null(pending->text);
  lab_say(lab, "power cycle a[01-02] stagger 0.5s");
  lab_expect(lab, "plan 1: cycle a[01-02] by sim; 2 seats\n"
                  "done 1 unconfirmed\n");
  assert_string_equal(pending->text, "power cycle a[01-02] stagger 0.5s");
  assert_string_equal(pending->plan,
                      "cycle a[01-02] by sim, stagger 0.5 s: 2 seats, 1 on, 0 in use");
  assert_int_equal(pending->seats, 2);
  assert_int_equal(pending->cmd, 1);

  lab_confirm(lab, "power cycle a[01-02] stagger 0.5s", 16);
  lab_expect(lab, "plan 2: cycle a[01-02] by sim; 2 seats\n"
                  "note warning: you typed 16; the plan touches 2 seats\n"
                  "done 2 refused\n");
  assert_null(pending->text);
  assert_int_equal(core_deadline(lab->state), TIME_NEVER); /* nothing was sent */

  lab_confirm(lab, "power cycle a[01-02] stagger 0.5s", 2);
  lab_expect(lab, "plan 3: cycle a[01-02] by sim; 2 seats\n"
                  "request 3 off sim a01 cmd=3 how=hard until 30 s\n");
}

static void
test_pending_ends_with_the_next_command(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&asks);
  lab_say(lab, "power off a02");
  assert_string_equal(state_pending(lab->state)->plan, "off a02 by sim: 1 seat, 0 on, 0 in use");
  lab_say(lab, "mark \"never mind\"");
  assert_null(state_pending(lab->state)->text);
  assert_int_equal(state_pending(lab->state)->seats, 0);
}

static void
test_what_asks_nobody(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&asks);
  lab_say(lab, "power status a01");
  lab_expect_only(lab, "done", "");
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  lab_expect(lab, "done 1 ok\n");
  lab_say(lab, "load start find-cat on a[01-02] as ours");
  lab_expect(lab, "request 4 exec sim a[01-02] cmd=2 job=find-cat label=ours\n"
                  "done 2 ok\n");
}

static void
test_consent_up_to_seats(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&one_seat);
  lab_say(lab, "power on a01");
  lab_expect_only(lab, "request", "request 3 on sim a01 cmd=1 until 30 s\n");
  lab_say(lab, "power on a[01-02]");
  lab_expect(lab, "plan 2: on a[01-02] by sim; 2 seats\n"
                  "note warning: an earlier command still acts on a01; stop it, or wait\n"
                  "done 2 refused\n");
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  g_string_truncate(lab->out, 0);
  lab_say(lab, "power on a[01-02]");
  lab_expect_only(lab, "done", "done 3 unconfirmed\n");
  assert_int_equal(state_pending(lab->state)->seats, 2);
}

static void
test_set_is_planned(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&asks);
  lab_say(lab, "set s1/bond0.policy layer2+3");
  lab_expect(lab, "plan 1: set bond0.policy layer2+3 s1 by sim; 1 seats\n"
                  "done 1 unconfirmed\n");
  assert_string_equal(state_pending(lab->state)->plan,
                      "set bond0.policy layer2+3 s1 by sim: 1 node");
  lab_confirm(lab, "set s1/bond0.policy layer2+3", 1);
  lab_expect_only(lab, "request",
                  "request 3 set sim s1 cmd=2 path=s1/bond0.policy value=layer2+3 until 10 s\n");
  lab_see(lab, "s1", "bond0.policy", "layer2+3");
  lab_answer(lab, 3, "s1", VERDICT_OK, "");
  lab_expect(lab, "done 2 ok\n");
  assert_string_equal(state_property(lab->state, "s1/bond0.policy"), "layer2+3");
}

static void
test_protected_and_in_use_are_left_out(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "power off s1");
  lab_expect(lab, "plan 1: 0 seats; protected s1\n"
                  "note warning: nothing is left to off: s1 (protected)\n"
                  "done 1 refused\n");
  lab_see(lab, "a02", "usage", "in use");
  lab_say(lab, "power off s1,a[01-02]");
  lab_expect(lab, "plan 2: off a01 by sim; 1 seats; protected s1; in use a02\n"
                  "note warning: left out: s1 (protected), a02 (in use)\n"
                  "request 3 off sim a01 cmd=2 how=hard until 30 s\n");
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  lab_expect(lab, "done 2 ok\n");
  lab_say(lab, "power off a[01-02] including in-use");
  lab_expect(lab, "plan 3: off a[01-02] by sim; 2 seats; in use a02\n"
                  "request 4 off sim a[01-02] cmd=3 how=hard until 30 s\n");
  lab_see(lab, "a02", "usage", "free");
  assert_false(state_node(lab->state, lab_node(lab, "a02"))->in_use);
}

static void
test_left_out_stands_in_the_question(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&asks);
  lab_see(lab, "a02", "usage", "in use");
  lab_say(lab, "boot a[01-02],s1 warm");
  assert_string_equal(state_pending(lab->state)->plan,
                      "boot pxe ubuntu-10.04::nfs warm a01 by sim: 1 seat, 0 on, 1 in use; "
                      "left out: s1 (protected), a02 (in use)");
}

static void
test_read_only(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&read_only);
  static const char *const refused[] = {"power on a01",
                                        "power cycle a01",
                                        "boot a01",
                                        "set s1.nfsd 8",
                                        "load start find-cat on a01",
                                        "load start find-cat on a01 cold",
                                        "load stop x",
                                        "load leave x"};
  for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
    guint32 cmd = lab_say(lab, refused[i]);
    g_autofree char *lines =
        g_strdup_printf("note warning: this session is read-only\ndone %u refused\n", cmd);
    lab_expect(lab, lines);
  }
  lab_say(lab, "power status a01");
  lab_expect(lab, "request 3 status sim a01 cmd=9 until 5 s\n");
  lab_say(lab, "get s1.nfsd");
  lab_expect(lab, "request 4 get sim s1 cmd=10 path=s1.nfsd until 10 s\n");
  lab_say(lab, "plan power on a01");
  lab_expect(lab, "plan 11: on a01 by sim; 1 seats\n"
                  "done 11 ok\n");
}

static void
test_plan_only(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "plan boot a[01-02] via disk entry local cold");
  lab_expect(lab, "plan 1: boot disk local cold a[01-02] by sim; 2 seats\n"
                  "done 1 ok\n");
  lab_say(lab, "plan sleep 5s");
  lab_expect(lab, "note info: that touches no seat\n"
                  "done 2 ok\n");
  assert_int_equal(state_n_boots(lab->state), 0);
}

static void
test_dry_run(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&dry_run);
  lab_say(lab, "boot a[01-02] as one");
  lab_expect(lab, "plan 1: boot pxe ubuntu-10.04::nfs a[01-02] by sim; 2 seats\n"
                  "done 1 ok\n");
  static const char *const passed[] = {"wait boot one login", "sleep 1h",
                                       "measure bond during one as m",
                                       "expect one.boot.mean < 20 s", "load stop one"};
  for (guint i = 0; i < G_N_ELEMENTS(passed); i++) {
    guint32 cmd = lab_say(lab, passed[i]);
    g_autofree char *line = g_strdup_printf("done %u ok\n", cmd);
    lab_expect(lab, line);
  }
  lab_say(lab, "get s1.nfsd");
  lab_expect_only(lab, "request", "request 3 get sim s1 cmd=7 path=s1.nfsd until 10 s\n");
}

/* A question, so a session that changes nothing may ask it. */
static void
test_menu(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_new("tests/unit/samples/boot-menu.yaml", &read_only);
  lab_link(lab, "sim", TRUE, "");
  lab_expect_only(lab, "done", "");
  lab_say(lab, "pxe show");
  lab_expect(lab, "request 3 get sim s1 cmd=1 path=s1.pxe until 10 s\n");
  lab_line(lab, 3, "s1", "out", "timeout none");
  lab_answer(lab, 3, "s1", VERDICT_OK, "");
  lab_expect(lab, "done 1 ok\n");
  lab_say(lab, "pxe show");
  lab_answer(lab, 4, "s1", VERDICT_FAILED, "s1: there is no pxelinux.cfg/default");
  lab_expect_only(lab, "done", "done 2 failed\n");
  lab_say(lab, "plan pxe show");
  lab_expect(lab, "note info: that touches no seat\n"
                  "done 3 ok\n");
}

static void
test_nonsense(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "power onn a01");
  lab_expect_only(lab, "done", "done 1 failed\n");
  lab_say(lab, "power on a03");
  lab_expect(lab, "note error: there is no node or group a03; did you mean a01?\n"
                  "done 2 failed\n");
  lab_say(lab, "get s2.nfsd");
  lab_expect(lab, "note error: there is no node s2\n"
                  "done 3 failed\n");
  lab_say(lab, "get s1/eth7.state");
  lab_expect(lab, "note error: there is no port or bond of s1 called eth7; did you mean eth0?\n"
                  "done 4 failed\n");
  lab_say(lab, "pxe show");
  lab_expect(lab, "note error: the layout does not say where the menu is; it wants boot: {server: "
                  "NODE, root: DIR}\n"
                  "done 5 failed\n");
  lab_say(lab, "wait load nothing");
  lab_expect(lab, "note error: no load is called nothing\n"
                  "done 6 failed\n");
  lab_say(lab, "load stop nothing");
  lab_expect(lab, "note error: no load called nothing is running\n"
                  "done 7 failed\n");
  lab_say(lab, "measure bond during nothing as m");
  lab_expect(lab, "note error: no boot or load is called nothing\n"
                  "done 8 failed\n");
}

static void
test_small_ones(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "mark \"here we go\"");
  lab_say(lab, "quit");
  lab_expect(lab, "done 1 ok\ndone 2 ok\n");
  lab_say(lab, "sleep 2.5s");
  lab_say(lab, "sleep 10s");
  lab_at(lab, 2.4);
  lab_expect(lab, "");
  lab_at(lab, 2.5);
  lab_expect(lab, "done 3 ok\n");
  lab_say(lab, "stop");
  lab_expect(lab, "done 4 cancelled\ndone 5 ok\n");
  assert_int_equal(core_deadline(lab->state), TIME_NEVER);
}

static void
test_too_many_at_once(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  for (guint i = 0; i < 64; i++)
    lab_say(lab, "sleep 1h");
  lab_expect(lab, "");
  lab_say(lab, "sleep 1h");
  lab_expect(lab, "note error: 64 commands are under way: too many\n"
                  "done 65 failed\n");
  lab_say(lab, "stop");
  lab_expect_only(lab, "done 6",
                  "done 6 cancelled\ndone 60 cancelled\ndone 61 cancelled\n"
                  "done 62 cancelled\ndone 63 cancelled\ndone 64 cancelled\n"
                  "done 66 ok\n");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_consent),
      cmocka_unit_test(test_pending_ends_with_the_next_command),
      cmocka_unit_test(test_what_asks_nobody),
      cmocka_unit_test(test_consent_up_to_seats),
      cmocka_unit_test(test_set_is_planned),
      cmocka_unit_test(test_protected_and_in_use_are_left_out),
      cmocka_unit_test(test_left_out_stands_in_the_question),
      cmocka_unit_test(test_menu),
      cmocka_unit_test(test_read_only),
      cmocka_unit_test(test_plan_only),
      cmocka_unit_test(test_dry_run),
      cmocka_unit_test(test_menu),
      cmocka_unit_test(test_nonsense),
      cmocka_unit_test(test_small_ones),
      cmocka_unit_test(test_too_many_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
