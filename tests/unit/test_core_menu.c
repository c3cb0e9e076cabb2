#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core_lab.h"

static const CoreOptions yes = {.seed = 1, .consent = CONSENT_YES};
static const CoreOptions asks = {.seed = 1, .consent = CONSENT_ASK};
static const CoreOptions read_only = {.seed = 1, .consent = CONSENT_YES, .read_only = TRUE};
static const CoreOptions dry = {.seed = 1, .consent = CONSENT_ASK, .dry_run = TRUE};

#define SAY "pxe set timeout 10 s"

static Lab *
new_lab(const CoreOptions *options)
{
  Lab *lab = lab_new("tests/unit/samples/boot-menu.yaml", options);
  lab_link(lab, "sim", TRUE, "");
  lab_expect_only(lab, "done", "");
  return lab;
}

/* What would change is that 1 becomes 100, of a file that WAS. */
static void
tell(Lab *lab, guint32 request, const char *was)
{
  lab_line(lab, request, "s1", "difference", "-TIMEOUT 1");
  lab_line(lab, request, "s1", "difference", "+TIMEOUT 100");
  lab_line(lab, request, "s1", "was", was);
  lab_answer(lab, request, "s1", VERDICT_OK, "");
}

#define GET(n, cmd)                                                                                \
  "request " n " get sim s1 cmd=" cmd " path=s1.pxe setting=timeout value=100 until 10 s\n"
#define SET(n, cmd, was)                                                                           \
  "request " n " set sim s1 cmd=" cmd " path=s1.pxe setting=timeout value=100 was=" was            \
  " until 30 s\n"
#define PLANNED(cmd)                                                                               \
  "plan " cmd ": set timeout 10 s (100 tenths) s1 by sim; 1 seats; -TIMEOUT 1|+TIMEOUT 100|\n"

static void
test_at_once(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&yes);
  lab_say(lab, SAY);
  lab_expect(lab, GET("3", "1"));
  tell(lab, 3, "aa menu");
  lab_expect(lab, PLANNED("1") SET("4", "1", "aa menu"));
  lab_answer(lab, 4, "s1", VERDICT_OK, "");
  lab_expect(lab, "done 1 ok\n");
  lab_say(lab, SAY); /* it says so already */
  lab_answer(lab, 5, "s1", VERDICT_OK, "");
  lab_expect(lab, GET("5", "2") "note info: the menu says so already: nothing is to be done\n"
                                "done 2 ok\n");
  lab_say(lab, SAY);
  lab_answer(lab, 6, "s1", VERDICT_FAILED, "s1: there is no menu");
  lab_expect_only(lab, "done", "done 3 failed\n");
}

/* The number is of the difference that was shown. */
static void
test_consent(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&asks);
  lab_say(lab, SAY);
  tell(lab, 3, "aa menu");
  lab_expect(lab, GET("3", "1") PLANNED("1") "done 1 unconfirmed\n");
  assert_string_equal(state_pending(lab->state)->plan,
                      "set timeout 10 s (100 tenths) s1 by sim: 1 node");
  assert_string_equal(state_pending(lab->state)->difference, "-TIMEOUT 1\n+TIMEOUT 100\n");
  g_autoptr(CoreState) copy = core_clone(lab->state);
  assert_string_equal(state_pending(copy)->difference, "-TIMEOUT 1\n+TIMEOUT 100\n");
  core_free(g_steal_pointer(&copy));
  lab_confirm(lab, SAY, 1);
  tell(lab, 4, "bb menu");
  lab_expect(lab,
             GET("4", "2") PLANNED(
                 "2") "note warning: the menu has changed since its plan was shown; nothing was "
                      "done\ndone 2 refused\n");
  lab_confirm(lab, SAY, 1); /* of what the plan has shown by now */
  tell(lab, 5, "bb menu");
  lab_expect(lab, GET("5", "3") PLANNED("3") SET("6", "3", "bb menu"));
  lab_answer(lab, 6, "s1", VERDICT_OK, "");
  lab_expect(lab, "done 3 ok\n");
  lab_confirm(lab, SAY, 2);
  tell(lab, 7, "cc menu");
  lab_expect_only(lab, "done", "done 4 refused\n");
}

static void
test_stop(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&yes);
  lab_say(lab, SAY);
  lab_say(lab, "stop");
  tell(lab, 3, "aa menu");
  lab_expect_only(lab, "done", "done 2 ok\ndone 1 cancelled\n");
  lab_say(lab, SAY); /* what is on its way is not called back */
  tell(lab, 4, "aa menu");
  lab_say(lab, "stop");
  lab_answer(lab, 5, "s1", VERDICT_OK, "");
  lab_expect_only(lab, "done", "done 4 ok\ndone 3 ok\n");
}

static void
test_without_acting(void **state)
{
  (void)state;
  g_autoptr(Lab) safe = new_lab(&read_only), tried = new_lab(&dry);
  lab_say(safe, "pxe undo");
  lab_expect(safe, "note warning: this session is read-only\ndone 1 refused\n");
  lab_say(safe, "plan " SAY);
  tell(safe, 3, "aa menu");
  lab_expect(safe, GET("3", "2") PLANNED("2") "done 2 ok\n");
  lab_say(tried, "pxe undo");
  tell(tried, 3, "aa menu");
  lab_expect(tried, "request 3 get sim s1 cmd=1 path=s1.pxe undo=yes until 10 s\n"
                    "plan 1: take back what pxe set changed last s1 by sim; 1 seats; "
                    "-TIMEOUT 1|+TIMEOUT 100|\ndone 1 ok\n");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_at_once),
      cmocka_unit_test(test_consent),
      cmocka_unit_test(test_stop),
      cmocka_unit_test(test_without_acting),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
