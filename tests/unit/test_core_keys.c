#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core_lab.h"

static const CoreOptions yes = {.seed = 1, .consent = CONSENT_YES};
static const CoreOptions asks = {.seed = 1, .consent = CONSENT_ASK};

static Lab *
new_lab(const CoreOptions *options)
{
  Lab *lab = lab_new("tests/unit/samples/keyed-seats.yaml", options);
  lab_link(lab, "kvm", TRUE, "");
  lab_link(lab, "other", TRUE, "");
  for (int i = 1; i <= 3; i++) {
    char name[] = {'a', '0', (char)('0' + i), '\0'};
    lab_see(lab, name, "keys-go", "at once by kvm1");
  }
  lab_see(lab, "b01", "keys-go", "one by one");
  lab_expect_only(lab, "request", "");
  return lab;
}

/* All seats of a device go at once, fewer one by one; protected nodes never get a key. */
static void
test_ways(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&asks);
  lab_see(lab, "s1", "keys-go", "one by one");
  lab_say(lab, "plan keys a[01-03],b01,s1 Down ctrl-alt-del");
  lab_expect(lab, "plan 1: press Down Ctrl-Alt-Delete, one by one b01 by other; "
                  "press Down Ctrl-Alt-Delete, at once a[01-03] by kvm; 4 seats; protected s1\n"
                  "done 1 ok\n");
  lab_say(lab, "keys a[01-02] F12");
  assert_string_equal(state_pending(lab->state)->plan,
                      "press F12 a[01-02] by kvm, one by one: 2 seats, 0 in use");
  lab_expect_only(lab, "done", "done 2 unconfirmed\n");
  lab_confirm(lab, "keys a[01-02] F12", 2);
  lab_expect_only(lab, "request", "request 1 keys kvm a[01-02] cmd=3 keys=F12 until 35 s\n");
}

static void
test_spread(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&yes);
  lab_say(lab, "keys a[01-03] F12 Enter");
  lab_expect_only(lab, "request", "request 1 keys kvm a[01-03] cmd=1 keys=F12 Enter until 39 s\n");
  lab_reach(lab, 1.5);
  lab_answer(lab, 1, "a01", VERDICT_OK, "");
  lab_reach(lab, 2);
  lab_answer(lab, 1, "a02", VERDICT_FAILED, "a02: it answered \"E22\": it is busy");
  g_autoptr(CoreState) copy = core_clone(lab->state);
  lab_reach(lab, 3.75);
  lab_answer(lab, 1, "a03", VERDICT_OK, "");
  lab_expect_only(lab, "note info",
                  "note info: a[01,03] have their keys: 2.25 s from the first to the last\n");
}

/* What is sent has been sent; what waits is taken back. */
static void
test_stop(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&yes);
  lab_say(lab, "keys a[01-02] F12");
  lab_expect_only(lab, "done", "");
  lab_answer(lab, 1, "a01", VERDICT_OK, "");
  lab_say(lab, "stop");
  lab_expect(lab, "cancel 1\ndone 2 ok\n");
  lab_answer(lab, 1, "a02", VERDICT_CANCELLED, "a02: called off");
  lab_expect_only(lab, "note warning: 1", "note warning: 1 done, 1 not sent\n");
}

/* Firmware and menus have a US keyboard, the system its own. */
static void
test_keyboard(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&yes);
  lab_see(lab, "a01", "power", "on");
  lab_see(lab, "a01", "stage", "firmware");
  lab_see(lab, "a02", "power", "on");
  lab_see(lab, "a02", "stage", "login");
  lab_expect_only(lab, "x", "");
  lab_say(lab, "type a[01-02],b01 yz");
  lab_expect(lab, "plan 1: type \"yz\", one by one a01 by kvm; "
                  "type \"yz\", one by one b01 by other; "
                  "type \"yz\" on a German keyboard, one by one a02 by kvm; 3 seats\n"
                  "request 1 type kvm a01 cmd=1 text=yz keyboard=us until 36 s\n"
                  "request 2 type other b01 cmd=1 text=yz keyboard=us until 36 s\n"
                  "request 3 type kvm a02 cmd=1 text=yz keyboard=de until 33 s\n");
}

static void
test_route(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&yes);
  lab_say(lab, "route back");
  lab_expect(lab, "note warning: nothing was shown by route yet\ndone 1 refused\n");
  lab_say(lab, "route a[01-02]");
  lab_expect(lab, "note error: route shows one seat, and a[01-02] are 2\ndone 2 failed\n");
  lab_see(lab, "a02", "usage", "in use");
  lab_say(lab, "route a02");
  lab_expect(lab, "note warning: nothing is left to show: a02 (in use)\ndone 3 refused\n");
  lab_say(lab, "route a02 including in-use");
  lab_expect(lab, "request 1 route kvm a02 cmd=4 until 30 s\n");
  lab_answer(lab, 1, "a02", VERDICT_OK, "");
  lab_expect(lab, "done 4 ok\n");
  lab_say(lab, "route back");
  lab_expect(lab, "request 2 route kvm a02 cmd=5 to=back until 30 s\n");
}

/* Written out before it is recorded; who is in use is passed over, and the last is before the
 * first. */
static void
test_next(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&yes);
  lab_see(lab, "a02", "usage", "in use");
  lab_say(lab, "route a01");
  lab_answer(lab, 1, "a01", VERDICT_OK, "");
  g_autofree char *next = core_resolve(lab->state, "route next", NULL);
  assert_string_equal(next, "route a03");
  g_autofree char *any = core_resolve(lab->state, "route next including in-use", NULL);
  assert_string_equal(any, "route a02 including in-use");
  lab_say(lab, "route s1");
  lab_answer(lab, 2, "s1", VERDICT_OK, "");
  g_autofree char *around = core_resolve(lab->state, "route next", NULL);
  assert_string_equal(around, "route a01");
}

static void
test_read_only(void **state)
{
  (void)state;
  static const CoreOptions options = {.seed = 1, .read_only = TRUE};
  static const char *const lines[] = {"keys a01 F12", "type a01 x", "route a01", "route back"};
  g_autoptr(Lab) lab = new_lab(&options);
  for (gsize i = 0; i < G_N_ELEMENTS(lines); i++) {
    lab_say(lab, lines[i]);
    lab_expect_only(lab, "request", "");
    lab_say(lab, lines[i]);
    g_autofree char *done = g_strdup_printf("done %u refused\n", lab->cmd);
    lab_expect_only(lab, "done", done);
  }
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ways),      cmocka_unit_test(test_spread), cmocka_unit_test(test_stop),
      cmocka_unit_test(test_keyboard),  cmocka_unit_test(test_route),  cmocka_unit_test(test_next),
      cmocka_unit_test(test_read_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
