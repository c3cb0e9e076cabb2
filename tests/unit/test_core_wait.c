/* `wait boot` and `wait power`. */
#include "core_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const CoreOptions yes = {.seed = 1, .consent = CONSENT_YES};

static void
test_wait_boot(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_boot_both(lab, 0, "boot a[01-02] as one", 3);
  g_string_truncate(lab->out, 0);
  lab_say(lab, "wait boot one tftp");
  lab_say(lab, "wait boot one login at-least 1");
  lab_say(lab, "wait boot a02 login");
  lab_see(lab, "a01", "stage", "tftp");
  lab_expect(lab, "");
  lab_see(lab, "a02", "stage", "kernel"); /* beyond tftp */
  lab_expect(lab, "done 2 ok\n");
  lab_see(lab, "a01", "stage", "login");
  lab_expect(lab, "done 3 ok\n");
  lab_see(lab, "a02", "stage", "login");
  lab_expect_only(lab, "done", "done 4 ok\n");
  lab_say(lab, "wait boot one login");
  lab_expect(lab, "done 5 ok\n");
}

static void
test_wait_partial_and_failed(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_boot_both(lab, 0, "boot a[01-02] as one", 3);
  g_string_truncate(lab->out, 0);
  lab_say(lab, "wait boot one login");
  lab_say(lab, "wait boot one login at-least 2");
  lab_see(lab, "a02", "stage", "dhcp");
  lab_at(lab, 20);
  /* a01 is still on its way. */
  lab_expect(lab, "note error a02: a02 dhcp for 20 s (limit 20 s)\n");
  lab_at(lab, 21);
  lab_see(lab, "a01", "stage", "login");
  lab_expect_only(lab, "done", "done 2 partial\ndone 3 partial\n");
  lab_say(lab, "wait boot one login");
  lab_expect(lab, "note warning: wait boot one login: 1 of 2, without a02\n"
                  "done 4 partial\n");
  lab_say(lab, "wait boot one login at-least 3");
  lab_expect(lab, "note error: at-least 3 of 2 can never be\n"
                  "done 5 failed\n");
}

static void
test_wait_runs_out(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_boot_both(lab, 0, "boot a[01-02] as one", 3);
  lab_see(lab, "a01", "stage", "root");
  g_string_truncate(lab->out, 0);
  lab_say(lab, "wait boot one root timeout 30s");
  lab_at(lab, 29.999);
  lab_expect(lab, "");
  lab_at(lab, 30);
  lab_expect(lab, "note warning: wait boot one root timeout 30s: 1 of 2, without a02\n"
                  "done 2 timeout\n");
}

static void
test_wait_has_a_default(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_at(lab, 30);
  lab_say(lab, "wait boot @all login");
  lab_at(lab, 629.9);
  lab_expect(lab, "");
  lab_at(lab, 630);
  lab_expect_only(lab, "done", "done 1 timeout\n");
}

static void
test_wait_power_asks(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_see(lab, "a01", "power", "on");
  lab_at(lab, 1);
  lab_say(lab, "wait power a[01-02] on timeout 20s");
  lab_expect(lab, "request 3 status sim a02 cmd=1 until 6 s\n");
  lab_see_and_answer(lab, 3, "a02", "off");
  lab_at(lab, 1.9);
  lab_expect(lab, "");
  lab_at(lab, 2);
  lab_expect(lab, "request 4 status sim a02 cmd=1 until 7 s\n");
  lab_answer(lab, 4, "a02", VERDICT_FAILED, "a02: no");
  lab_at(lab, 7.9); /* who cannot tell is not asked every second */
  lab_expect(lab, "");
  lab_at(lab, 8);
  lab_expect(lab, "request 5 status sim a02 cmd=1 until 13 s\n");
  lab_at(lab, 9);
  lab_see_and_answer(lab, 5, "a02", "on");
  lab_expect(lab, "done 1 ok\n");
  lab_say(lab, "wait power roomA off at-least 1 timeout 3s");
  lab_at(lab, 13);
  lab_expect(lab, "request 6 status sim a[01-02] cmd=2 until 14 s\n"
                  "note warning: wait power roomA off at-least 1 timeout 3s: 0 of 2, "
                  "without a[01-02]\n"
                  "done 2 timeout\n");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wait_boot),       cmocka_unit_test(test_wait_partial_and_failed),
      cmocka_unit_test(test_wait_runs_out),   cmocka_unit_test(test_wait_has_a_default),
      cmocka_unit_test(test_wait_power_asks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
