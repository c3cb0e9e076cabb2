#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core_lab.h"

static const CoreOptions yes = {.seed = 1, .consent = CONSENT_YES};
static const CoreOptions asks = {.seed = 1, .consent = CONSENT_ASK};

/* Request 1, for the power of all, is gone by. */
static Lab *
new_lab(const CoreOptions *options)
{
  static const char *const seats[] = {"a01", "a02", "n01", "w01"};
  Lab *lab = lab_new("tests/unit/samples/keyed-boots.yaml", options);
  lab_link(lab, "sim", TRUE, "");
  lab_link(lab, "kvm", TRUE, "");
  lab_link(lab, "wol", TRUE, "");
  for (guint i = 0; i < G_N_ELEMENTS(seats); i++)
    lab_see(lab, seats[i], "keys-go", "one by one");
  lab_see(lab, "a01", "power", "off");
  lab_see(lab, "a02", "power", "off");
  for (guint i = 0; i < 3; i++)
    lab_answer(lab, 1, seats[i], VERDICT_OK, "");
  lab_expect_only(lab, "nothing", "");
  return lab;
}

static void
switched_on(Lab *lab, guint32 request, const char *node)
{
  lab_see(lab, node, "power", "on");
  lab_answer(lab, request, node, VERDICT_OK, "");
}

/* The plan says which way keys go, and who cannot be led by them. */
static void
test_plan(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&asks);
  lab_say(lab, "boot @all");
  lab_expect(lab, "plan 1: boot keys two a[01-02] by sim; boot keys two w01 by wol; "
                  "press F12 after 3 s, Down Enter after 10 s, one by one a[01-02],w01 by kvm; "
                  "3 seats\n"
                  "done 1 unconfirmed\n");
  assert_string_equal(
      state_pending(lab->state)->plan,
      "boot keys two a[01-02] by sim, w01 by wol, press F12 after 3 s, Down Enter after 10 s "
      "a[01-02],w01 by kvm, one by one: 3 seats, 0 on, 0 in use; left out: n01 (no power backend, "
      "or nothing carries its keys)");
}

/* Keys come so long after the seats were switched on, all at one time, and when they had them is
 * told. */
static void
test_boot(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&yes);
  lab_say(lab, "boot a[01-02] as b");
  lab_settle(lab);
  lab_expect_only(lab, "request", "request 2 on sim a[01-02] cmd=1 until 30 s\n");
  lab_reach(lab, 0.5);
  switched_on(lab, 2, "a01");
  switched_on(lab, 2, "a02");
  lab_at(lab, 2.9);
  lab_expect(lab, "");
  lab_at(lab, 3);
  lab_expect(lab, "request 3 keys kvm a[01-02] cmd=1 keys=F12 until 38 s\n");
  lab_reach(lab, 4);
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  lab_reach(lab, 5.5);
  lab_answer(lab, 3, "a02", VERDICT_OK, "");
  g_autoptr(CoreState) copy = core_clone(lab->state);
  lab_at(lab, 10);
  lab_expect(lab, "request 4 keys kvm a[01-02] cmd=1 keys=Down Enter until 46 s\n");
  lab_reach(lab, 11);
  lab_answer(lab, 4, "a01", VERDICT_OK, "");
  lab_reach(lab, 12);
  lab_answer(lab, 4, "a02", VERDICT_OK, "");
  lab_expect(lab, "note info: a[01-02] have F12: 1.50 s from the first to the last\n"
                  "note info: a[01-02] have Down Enter: 1.00 s from the first to the last\n"
                  "done 1 ok\n");
  assert_int_equal(state_boot(lab->state, 0)->seats[0].outcome, SEAT_RUNNING);
}

/* A seat whose keys did not arrive is not led any further, and its boot failed; the other's goes
 * on. */
static void
test_lost_key(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&yes);
  lab_say(lab, "boot a[01-02] entry one as b");
  lab_settle(lab);
  switched_on(lab, 2, "a01");
  switched_on(lab, 2, "a02");
  lab_at(lab, 3);
  lab_answer(lab, 3, "a01", VERDICT_FAILED, "a01: it is busy");
  lab_answer(lab, 3, "a02", VERDICT_OK, "");
  lab_at(lab, 10);
  lab_expect_only(lab, "request 4", "request 4 keys kvm a02 cmd=1 keys=Enter until 42.5 s\n");
  lab_answer(lab, 4, "a02", VERDICT_OK, "");
  lab_expect_only(lab, "done", "done 1 partial\n");
  const BootRun *run = state_boot(lab->state, 0);
  assert_int_equal(run->seats[0].outcome, SEAT_FAILED);
  assert_int_equal(run->seats[1].outcome, SEAT_RUNNING);
}

/* What wakes it sees nothing: keys go all the same, and its power stays unknown. */
static void
test_woken(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&yes);
  lab_say(lab, "boot w01");
  lab_settle(lab);
  lab_expect_only(lab, "request", "request 2 on wol w01 cmd=1 until 30 s\n");
  lab_answer(lab, 2, "w01", VERDICT_OK, "");
  lab_at(lab, 3);
  lab_answer(lab, 3, "w01", VERDICT_OK, "");
  lab_at(lab, 10);
  lab_answer(lab, 4, "w01", VERDICT_OK, "");
  lab_expect(lab, "request 3 keys kvm w01 cmd=1 keys=F12 until 35.5 s\n"
                  "request 4 keys kvm w01 cmd=1 keys=Down Enter until 43 s\n"
                  "note warning w01: w01: told to go on, and nothing here sees whether it did\n"
                  "done 1 unknown\n");
  assert_int_equal(state_node(lab->state, lab_node(lab, "w01"))->power, POWER_UNKNOWN);
}

/* One that is on goes off first; a reset one gets its keys after the reset. */
static void
test_from_on(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&yes);
  lab_see(lab, "a01", "power", "on");
  lab_see(lab, "a02", "power", "on");
  lab_say(lab, "boot a01");
  lab_settle(lab);
  lab_expect_only(lab, "request 2", "request 2 off sim a01 cmd=1 how=hard until 30 s\n");
  lab_see(lab, "a01", "power", "off");
  lab_answer(lab, 2, "a01", VERDICT_OK, "");
  lab_at(lab, 5);
  lab_expect_only(lab, "request 3", "request 3 on sim a01 cmd=1 until 35 s\n");
  switched_on(lab, 3, "a01");
  lab_at(lab, 8);
  lab_expect_only(lab, "request 4", "request 4 keys kvm a01 cmd=1 keys=F12 until 40.5 s\n");
  lab_say(lab, "stop");
  lab_answer(lab, 4, "a01", VERDICT_OK, "");
  lab_expect_only(lab, "note warning",
                  "note warning: 0 done, 1 under way, 0 not sent\n"
                  "note warning: 0 done, 1 not sent\n");
  lab_say(lab, "boot a02 warm");
  lab_settle(lab);
  lab_answer(lab, 5, "a02", VERDICT_OK, "");
  lab_at(lab, 11);
  lab_expect_only(lab, "request",
                  "request 5 reset sim a02 cmd=3 until 38 s\n"
                  "request 6 keys kvm a02 cmd=3 keys=F12 until 43.5 s\n");
}

static void
test_refused(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&yes);
  lab_say(lab, "boot a01 entry three");
  lab_expect(lab, "note error: which keys choose three in the menu is not in the layout; it knows "
                  "one, two\n"
                  "done 1 failed\n");
  g_autoptr(Lab) plain = lab_two_seats(&yes);
  lab_say(plain, "boot a01 via keys");
  lab_expect(plain, "note error: which keys lead to a boot is not in the layout: boot: {keys: "
                    "{firmware: ..., menu: ...}}\n"
                    "done 1 failed\n");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plan),  cmocka_unit_test(test_boot),    cmocka_unit_test(test_lost_key),
      cmocka_unit_test(test_woken), cmocka_unit_test(test_from_on), cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
