#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/core_lab.h"

static const CoreOptions yes = {.consent = CONSENT_YES};

static void
test_open_and_close(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "console a[01-02]");
  lab_expect(lab, "request 3 watch sim a01 cmd=1 what=console from=anyone\n"
                  "request 4 watch sim a02 cmd=1 what=console from=anyone\n"
                  "done 1 ok\n");
  lab_line(lab, 3, "a01", "console", "a01 login:");
  guint64 last = state_log_end(lab->state) - 1;
  assert_string_equal(state_log(lab->state, last)->text, "a01 login:");
  assert_string_equal(state_log(lab->state, last)->source, "console");
  lab_say(lab, "console a01"); /* it is open */
  lab_expect(lab, "done 2 ok\n");
  lab_say(lab, "console a01 off");
  lab_expect(lab, "cancel 3\ndone 3 ok\n");
  lab_answer(lab, 3, "a01", VERDICT_CANCELLED, "a01: watch cancelled");
  lab_say(lab, "console a01 off"); /* it is closed */
  lab_expect(lab, "done 4 ok\n");
  lab_say(lab, "console a01");
  lab_expect(lab, "request 5 watch sim a01 cmd=5 what=console from=anyone\ndone 5 ok\n");
}

static void
test_lost(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "console a01");
  lab_expect(lab, "request 3 watch sim a01 cmd=1 what=console from=anyone\ndone 1 ok\n");
  lab_answer(lab, 3, "a01", VERDICT_FAILED, "a01: its BMC stopped answering");
  assert_string_equal(state_log(lab->state, state_log_end(lab->state) - 1)->text,
                      "a01: its BMC stopped answering");
  /* No fault of the machine's. */
  assert_null(state_node(lab->state, lab_node(lab, "a01"))->fault);
  lab_say(lab, "console a01");
  lab_expect(lab, "request 4 watch sim a01 cmd=2 what=console from=anyone\ndone 2 ok\n");
}

static void
test_without(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "console a01,sw1");
  lab_expect(lab, "request 3 watch sim a01 cmd=1 what=console from=anyone\n"
                  "note warning: no console backend: sw1\n"
                  "done 1 partial\n");
  lab_say(lab, "console sw1");
  lab_expect(lab, "note warning: no console backend: sw1\ndone 2 unsupported\n");
  lab_say(lab, "plan console a01");
  lab_expect(lab, "note info: that touches no seat\ndone 3 ok\n");
}

/* What the layout alone lets watch takes no console from anybody; who asks for one does. */
static void
test_own_watch(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_new("tests/unit/samples/two-seats.yaml", &yes);
  lab->layout->watch_consoles = TRUE;
  lab_link(lab, "sim", TRUE, "simulated lab");
  lab_expect_only(lab, "request 3 ", "request 3 watch sim a01 cmd=0 what=console\n");
  lab_say(lab, "console a01");
  lab_expect(lab, "cancel 3\nrequest 5 watch sim a01 cmd=1 what=console from=anyone\ndone 1 ok\n");
  lab_say(lab, "console a01 off");
  lab_expect(lab, "cancel 5\ndone 2 ok\n");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_open_and_close),
      cmocka_unit_test(test_lost),
      cmocka_unit_test(test_without),
      cmocka_unit_test(test_own_watch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
