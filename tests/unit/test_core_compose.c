#include "core_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* samples/composed.yaml: p1 and p2 share an outlet, as p3 and p4 do, and p4 is protected; w1 is cut
 * by the PDU and woken; x1 has a shell and is woken, x2 by way of x3; x4 can be woken and not seen.
 */

static const CoreOptions yes = {.seed = 1, .consent = CONSENT_YES};
static const CoreOptions one = {.seed = 1, .consent = CONSENT_SEATS, .consent_seats = 1};

static Lab *
lab(const CoreOptions *options)
{
  Lab *made = lab_new("tests/unit/samples/composed.yaml", options);
  lab_link(made, "pdu", TRUE, "");
  lab_link(made, "wol", TRUE, "");
  lab_link(made, "ssh", TRUE, "");
  /* Whoever can see is asked, each within its own time. */
  lab_expect_only(made, "request",
                  "request 1 status pdu p[1-4],w1 cmd=0 until 9 s\n"
                  "request 2 status ssh x[1-2] cmd=0 until 5 s\n"
                  "request 3 watch ssh x[1-3] cmd=0 interval_ns=1000000000\n");
  lab_at(made, 20);
  lab_expect_only(made, "none", "");
  return made;
}

static void
test_shared_outlets(void **state)
{
  (void)state;
  g_autoptr(Lab) l = lab(&yes);
  lab_say(l, "plan power off p1");
  lab_expect(l, "plan 1: off p1 by pdu; 2 seats; dark p2\ndone 1 ok\n");
  lab_say(l, "plan power off p[1-2]");
  lab_expect(l, "plan 2: off p[1-2] by pdu; 2 seats\ndone 2 ok\n");
  lab_say(l, "plan power off p1 soft");
  lab_expect(l, "plan 3: off soft p1 by pdu; 1 seats\ndone 3 ok\n");
  lab_say(l, "plan power on p1");
  lab_expect(l, "plan 4: on p1 by pdu; 1 seats\ndone 4 ok\n");
  lab_say(l, "plan power cycle p[1-4]");
  lab_expect(l, "plan 5: cycle p[1-2] by pdu; 2 seats; protected p4; spared p3\ndone 5 ok\n");
  lab_see(l, "p2", "usage", "in use");
  lab_say(l, "plan power off p1");
  lab_expect(l, "plan 6: 0 seats; spared p1\ndone 6 ok\n");
  lab_say(l, "plan power off p1 including in-use");
  lab_expect(l, "plan 7: off p1 by pdu; 2 seats; dark p2\ndone 7 ok\n");
}

/* The number that consents counts whoever goes dark. */
static void
test_consent_counts_them(void **state)
{
  (void)state;
  g_autoptr(Lab) l = lab(&one);
  lab_say(l, "power off p1");
  lab_expect(l, "plan 1: off p1 by pdu; 2 seats; dark p2\ndone 1 unconfirmed\n");
  lab_confirm(l, "power off p1", 1);
  lab_expect_only(l, "done", "done 2 refused\n");
  lab_confirm(l, "power off p1", 2);
  lab_expect_only(l, "request", "request 4 off pdu p1 cmd=3 how=hard until 31 s\n");
}

/* One backend cuts, another wakes; the first is asked what it sees. */
static void
test_cycle_by_two(void **state)
{
  (void)state;
  g_autoptr(Lab) l = lab(&yes);
  lab_say(l, "power cycle w1");
  lab_expect(l, "plan 1: cycle w1 by pdu; on w1 by wol; 1 seats\n"
                "request 4 off pdu w1 cmd=1 how=hard until 31 s\n");
  lab_see(l, "w1", "power", "off");
  lab_answer(l, 4, "w1", VERDICT_OK, "");
  lab_at(l, 25);
  lab_expect(l, "request 5 on wol w1 cmd=1 until 55 s\n");
  lab_answer(l, 5, "w1", VERDICT_OK, "");
  lab_settle(l);
  lab_expect(l, "request 6 status pdu w1 cmd=1 until 34 s\n");
  lab_see(l, "w1", "power", "on");
  lab_answer(l, 6, "w1", VERDICT_OK, "");
  lab_expect(l, "done 1 ok\n");
}

/* Told is not seen: a packet sent is no success until its shell answers. */
static void
test_wake_is_seen_by_exec(void **state)
{
  (void)state;
  g_autoptr(Lab) l = lab(&yes);
  lab_say(l, "power on x1");
  lab_expect(l, "plan 1: on x1 by wol; 1 seats\nrequest 4 on wol x1 cmd=1 until 50 s\n");
  lab_answer(l, 4, "x1", VERDICT_OK, "");
  lab_settle(l);
  lab_expect(l, "request 5 status ssh x1 cmd=1 until 25 s\n");
  lab_answer(l, 5, "x1", VERDICT_UNKNOWN, "x1: does not answer");
  lab_at(l, 21);
  lab_expect(l, "request 6 status ssh x1 cmd=1 until 26 s\n");
  lab_see(l, "x1", "power", "on");
  lab_answer(l, 6, "x1", VERDICT_OK, "");
  lab_expect(l, "done 1 ok\n");
}

static void
test_wake_by_a_helper(void **state)
{
  (void)state;
  g_autoptr(Lab) l = lab(&yes);
  lab_say(l, "plan power on x[1-2]");
  lab_expect(l, "plan 1: on x[1-2] by wol via x3; 2 seats\ndone 1 ok\n");
  lab_say(l, "power on x2");
  lab_expect_only(l, "request",
                  "request 4 exec ssh x3 cmd=2 command=wakeonlan 52:54:00:00:01:01 until 50 s\n");
  lab_answer(l, 4, "x3", VERDICT_FAILED, "x3: wakeonlan: not found");
  lab_expect(l, "done 2 failed\n");
  assert_string_equal(state_node(l->state, lab_node(l, "x2"))->fault,
                      "x2: by its helper x3: wakeonlan: not found");
  assert_null(state_node(l->state, lab_node(l, "x3"))->fault);
}

static void
test_nothing_sees(void **state)
{
  (void)state;
  g_autoptr(Lab) l = lab(&yes);
  lab_say(l, "power on x4");
  lab_answer(l, 4, "x4", VERDICT_OK, "");
  lab_expect(l, "plan 1: on x4 by wol; 1 seats\n"
                "request 4 on wol x4 cmd=1 until 50 s\n"
                "note warning x4: x4: told to go on, and nothing here sees whether it did\n"
                "done 1 unknown\n");
  lab_say(l, "power off x4");
  lab_expect_only(l, "done", "done 2 refused\n");
}

/* Off and reset by their shell, where the layout says how. */
static void
test_off_by_exec(void **state)
{
  (void)state;
  g_autoptr(Lab) l = lab(&yes);
  lab_say(l, "power off x[1-3]");
  lab_expect_only(l, "request", "request 4 off ssh x[1-2] cmd=1 how=hard until 50 s\n");
  lab_answer(l, 4, "x1", VERDICT_OK, "");
  lab_answer(l, 4, "x2", VERDICT_OK, "");
  lab_say(l, "power reset x1");
  lab_expect_only(l, "request", "request 5 reset ssh x1 cmd=2 until 50 s\n");
}

/* Two a second, whichever commands they belong to. */
static void
test_starts_are_limited(void **state)
{
  (void)state;
  g_autoptr(Lab) l = lab(&yes);
  lab_say(l, "power on p[1-3]");
  lab_say(l, "power on w1");
  lab_expect_only(l, "request", "request 4 on pdu p1 cmd=1 until 50 s\n");
  lab_at(l, 20.499);
  lab_expect(l, "");
  lab_at(l, 22);
  lab_expect(l, "request 5 on pdu p2 cmd=1 until 50.5 s\n"
                "request 6 on pdu p3 cmd=1 until 51 s\n"
                "request 7 on wol w1 cmd=2 until 51.5 s\n");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shared_outlets),   cmocka_unit_test(test_consent_counts_them),
      cmocka_unit_test(test_cycle_by_two),     cmocka_unit_test(test_wake_is_seen_by_exec),
      cmocka_unit_test(test_wake_by_a_helper), cmocka_unit_test(test_nothing_sees),
      cmocka_unit_test(test_off_by_exec),      cmocka_unit_test(test_starts_are_limited),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
