/* Boots of a named entry by files of the seats' own on the boot server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core_lab.h"

static const CoreOptions yes = {.seed = 1, .consent = CONSENT_YES};
static const CoreOptions asks = {.seed = 1, .consent = CONSENT_ASK};

#define HOW "until login pxelinux.cfg/01-MAC and /srv/www/once/MAC.ipxe on s1 for"
#define PLAN(cmd, nodes, seats)                                                                    \
  "plan " cmd ": boot pxe nbd " nodes " by sim; " HOW " " nodes " by sim; " seats " seats\n"
#define WRITE(n, nodes, cmd, until)                                                                \
  "request " n " set sim " nodes " cmd=" cmd " path=s1.pxe once=nbd until " until " s\n"
#define BACK(n, nodes, until)                                                                      \
  "request " n " set sim " nodes " cmd=0 path=s1.pxe once= until " until " s\n"

static Lab *
new_lab(const CoreOptions *options)
{
  Lab *lab = lab_new("tests/unit/samples/boot-once.yaml", options);
  lab_link(lab, "sim", TRUE, "");
  lab_answer(lab, 1, "s1", VERDICT_OK, "");
  lab_see_and_answer(lab, 1, "a01", "off");
  lab_see_and_answer(lab, 1, "a02", "off");
  lab_expect_only(lab, "done", "");
  return lab;
}

/* Both seats are told to go on, by request 5. */
static Lab *
new_boot(void)
{
  Lab *lab = new_lab(&yes);
  lab_say(lab, "boot a[01-02] entry nbd as one");
  lab_expect(lab, PLAN("1", "a[01-02]", "2") WRITE("3", "a[01-02]", "1", "30"));
  lab_answer_both(lab, 3);
  lab_settle(lab);
  lab_expect(lab, "request 4 boot-device sim a[01-02] cmd=1 device=pxe entry=nbd until 30 s\n");
  lab_answer_both(lab, 4);
  lab_settle(lab);
  lab_expect(lab, "request 5 on sim a[01-02] cmd=1 until 30 s\n");
  lab_see_and_answer(lab, 5, "a01", "on");
  lab_see_and_answer(lab, 5, "a02", "on");
  lab_expect(lab, "done 1 ok\n");
  return lab;
}

/* At the login of each; of one that does not come up at its deadline. */
static void
test_taken_back(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_boot();
  lab_at(lab, 3);
  lab_see(lab, "a01", "stage", "dhcp");
  lab_see(lab, "a02", "stage", "dhcp");
  lab_expect(lab, "");
  lab_at(lab, 9);
  lab_see(lab, "a02", "stage", "login");
  lab_expect(lab, BACK("6", "a02", "39"));
  lab_answer(lab, 6, "a02", VERDICT_OK, "");
  lab_at(lab, 23);
  lab_expect_only(lab, "request", BACK("7", "a01", "53"));
  lab_answer(lab, 7, "a01", VERDICT_FAILED, "a01: its boot-once file is not taken back: no");
  lab_see(lab, "a01", "stage", "login");
  lab_expect(lab, "");
}

/* What cannot be written is not switched on, and the others go on. */
static void
test_refused(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&yes);
  lab_say(lab, "boot a[01-02] entry nbd");
  lab_answer(lab, 3, "a01", VERDICT_FAILED, "a01: no boot-once file: it is there already");
  lab_answer(lab, 3, "a02", VERDICT_OK, "");
  lab_settle(lab);
  lab_expect_only(lab, "request",
                  WRITE("3", "a[01-02]", "1", "30") "request 4 boot-device sim a02 cmd=1 "
                                                    "device=pxe entry=nbd until 30 s\n");
  lab_answer(lab, 4, "a02", VERDICT_FAILED, "a02: no");
  lab_expect(lab, BACK("5", "a02", "30") "done 1 failed\n");
}

/* It may have been written: nothing is switched on, and it is taken back. */
static void
test_unknown(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&yes);
  lab_say(lab, "boot a01 entry nbd");
  lab_answer(lab, 3, "a01", VERDICT_UNKNOWN, "a01: its boot-once file: the connection has ended");
  lab_expect_only(lab, "request", WRITE("3", "a01", "1", "30") BACK("4", "a01", "30"));
  lab_expect_only(lab, "done", "");
}

static void
test_stopped(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&yes);
  lab_say(lab, "boot a[01-02] entry nbd stagger 5 s");
  lab_expect_only(lab, "request", WRITE("3", "a01", "1", "30"));
  lab_say(lab, "stop");
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  lab_expect_only(lab, "request", BACK("4", "a01", "30"));
  lab_at(lab, 60);
  lab_expect_only(lab, "request", "");
}

/* The next boot's file is written over this one's; without one of its own this one's goes first. */
static void
test_booted_again(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_boot();
  lab_say(lab, "boot a01 entry nbd warm");
  lab_expect_only(lab, "request", WRITE("6", "a01", "2", "30"));
  lab_say(lab, "boot a02 warm");
  lab_expect_only(lab, "request",
                  BACK("7", "a02", "30") "request 8 boot-device sim a02 cmd=3 device=pxe "
                                         "until 30 s\n");
  lab_answer(lab, 6, "a01", VERDICT_FAILED, "a01: no");
  lab_expect_only(lab, "request", BACK("9", "a01", "30"));
}

/* Without an entry, or from elsewhere, everything is as without such files. */
static void
test_without(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&yes);
  lab_say(lab, "boot a01");
  lab_expect_only(lab, "request 3 set", "");
  lab_say(lab, "boot a02 via disk entry nbd");
  lab_expect_only(lab, "plan", "plan 2: boot disk nbd a02 by sim; 1 seats\n");
}

/* What is not simulated is not told an entry that nobody there heeds. */
static void
test_nobody_chooses(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_new("tests/unit/samples/composed.yaml", &yes);
  lab_say(lab, "boot @all entry nbd");
  lab_expect_only(lab, "request", "");
  lab_expect_only(lab, "done", "");
}

static void
test_sentence(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = new_lab(&asks);
  lab_say(lab, "boot a[01-02] entry nbd");
  lab_expect(lab, PLAN("1", "a[01-02]", "2") "done 1 unconfirmed\n");
  assert_string_equal(state_pending(lab->state)->plan,
                      "boot pxe nbd a[01-02] by sim, " HOW " a[01-02] by sim: 2 seats, 0 on, 0 in "
                      "use");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_taken_back),   cmocka_unit_test(test_refused),
      cmocka_unit_test(test_unknown),      cmocka_unit_test(test_stopped),
      cmocka_unit_test(test_booted_again), cmocka_unit_test(test_without),
      cmocka_unit_test(test_sentence),     cmocka_unit_test(test_nobody_chooses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
