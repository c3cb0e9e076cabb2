#include "core_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const CoreOptions yes = {.seed = 1, .consent = CONSENT_YES};

static void
see_and_answer(Lab *lab, guint32 request, const char *node, const char *power)
{
  lab_see(lab, node, "power", power);
  lab_answer(lab, request, node, VERDICT_OK, "");
}

static void
test_on_is_one_request(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_at(lab, 2);
  lab_say(lab, "power on a[01-02]");
  lab_expect(lab, "plan 1: on a[01-02] by sim; 2 seats\n"
                  "request 3 on sim a[01-02] cmd=1 until 32 s\n");
  assert_true(state_node(lab->state, lab_node(lab, "a01"))->acting);
  see_and_answer(lab, 3, "a01", "on");
  assert_false(state_node(lab->state, lab_node(lab, "a01"))->acting);
  lab_expect(lab, "");
  see_and_answer(lab, 3, "a02", "on");
  lab_expect(lab, "done 1 ok\n");
  lab_answer(lab, 3, "a02", VERDICT_FAILED, "a02: too late");
  lab_expect(lab, "");
  assert_null(state_node(lab->state, lab_node(lab, "a02"))->fault);
}

/* off, seen off, pause (5 s by default), on, seen on: each seat at its own pace. */
static void
test_cycle(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_see(lab, "a01", "power", "on");
  lab_at(lab, 10);
  lab_say(lab, "power cycle a[01-02]");
  lab_expect(lab, "plan 1: cycle a[01-02] by sim; 2 seats\n"
                  "request 3 off sim a[01-02] cmd=1 how=hard until 40 s\n");
  lab_at(lab, 11);
  see_and_answer(lab, 3, "a01", "off");
  lab_expect(lab, "");
  /* An answer that nothing was seen for is not believed. */
  lab_answer(lab, 3, "a02", VERDICT_OK, "");
  lab_settle(lab);
  lab_expect(lab, "request 4 status sim a02 cmd=1 until 16 s\n");
  lab_see(lab, "a02", "power", "on");
  lab_answer(lab, 4, "a02", VERDICT_OK, "");
  lab_settle(lab);
  lab_expect(lab, "");
  lab_at(lab, 12);
  lab_expect(lab, "request 5 status sim a02 cmd=1 until 17 s\n");
  see_and_answer(lab, 5, "a02", "off");
  lab_at(lab, 15.999);
  lab_expect(lab, "");
  lab_at(lab, 16);
  lab_expect(lab, "request 6 on sim a01 cmd=1 until 46 s\n");
  see_and_answer(lab, 6, "a01", "on");
  lab_at(lab, 17);
  lab_expect(lab, "request 7 on sim a02 cmd=1 until 47 s\n");
  see_and_answer(lab, 7, "a02", "on");
  lab_expect(lab, "done 1 ok\n");
  assert_false(state_node(lab->state, lab_node(lab, "a02"))->acting);
}

/* Both answer at the same instant: what follows is one request. */
static void
test_answers_of_an_instant_go_on_together(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_at(lab, 10);
  lab_say(lab, "power cycle a[01-02]");
  see_and_answer(lab, 3, "a01", "off");
  see_and_answer(lab, 3, "a02", "off");
  lab_at(lab, 15);
  lab_expect_only(lab, "request",
                  "request 3 off sim a[01-02] cmd=1 how=hard until 40 s\n"
                  "request 4 on sim a[01-02] cmd=1 until 45 s\n");
}

static void
test_never_seen_off_is_never_switched_on(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_see(lab, "a01", "power", "on");
  lab_at(lab, 10);
  lab_say(lab, "power cycle a01");
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  lab_settle(lab);
  for (guint32 request = 4; request < 34; request++) {
    lab_see(lab, "a01", "power", "on");
    lab_answer(lab, request, "a01", VERDICT_OK, "");
    lab_at(lab, request + 7);
  }
  lab_expect_only(lab, "request 34", "request 34 status sim a01 cmd=1 until 45 s\n");
  lab_see(lab, "a01", "power", "on");
  lab_answer(lab, 34, "a01", VERDICT_OK, "");
  lab_expect(lab, "note error a01: a01: told to go off, but its power is still on\n"
                  "done 1 timeout\n");
  assert_string_equal(state_node(lab->state, lab_node(lab, "a01"))->fault,
                      "a01: told to go off, but its power is still on");
}

/* A soft off may take as long as one may, in a cycle too. */
static void
test_soft_cycle_is_patient(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_see(lab, "a01", "power", "on");
  lab_say(lab, "power cycle a01 soft");
  lab_expect(lab, "plan 1: cycle soft a01 by sim; 1 seats\n"
                  "request 3 off sim a01 cmd=1 how=soft until 120 s\n");
  lab_at(lab, 60);
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  lab_settle(lab);
  lab_see(lab, "a01", "power", "on");
  lab_answer(lab, 4, "a01", VERDICT_OK, "");
  lab_at(lab, 61);
  see_and_answer(lab, 5, "a01", "off");
  lab_at(lab, 66);
  lab_expect_only(lab, "request 6", "request 6 on sim a01 cmd=1 until 96 s\n");
}

static void
test_unknown_off_is_looked_into(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_see(lab, "a01", "power", "on");
  lab_at(lab, 10);
  lab_say(lab, "power cycle a01");
  lab_at(lab, 40);
  lab_answer(lab, 3, "a01", VERDICT_UNKNOWN, "a01: sent, then the BMC fell silent");
  lab_settle(lab);
  lab_expect_only(lab, "request 4", "request 4 status sim a01 cmd=1 until 45 s\n");
  see_and_answer(lab, 4, "a01", "off");
  lab_at(lab, 45);
  lab_expect(lab, "request 5 on sim a01 cmd=1 until 75 s\n");
  lab_answer(lab, 5, "a01", VERDICT_TIMEOUT, "a01: no answer");
  lab_expect(lab, "done 1 timeout\n");
  assert_string_equal(state_node(lab->state, lab_node(lab, "a01"))->fault, "a01: no answer");
}

static void
test_verdicts_add_up(void **state)
{
  (void)state;
  static const struct {
    Verdict a01, a02, all;
  } cases[] = {
      {VERDICT_OK, VERDICT_OK, VERDICT_OK},
      {VERDICT_OK, VERDICT_FAILED, VERDICT_PARTIAL},
      {VERDICT_FAILED, VERDICT_FAILED, VERDICT_FAILED},
      {VERDICT_TIMEOUT, VERDICT_TIMEOUT, VERDICT_TIMEOUT},
      {VERDICT_UNKNOWN, VERDICT_TIMEOUT, VERDICT_FAILED},
      {VERDICT_UNSUPPORTED, VERDICT_UNSUPPORTED, VERDICT_UNSUPPORTED},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(Lab) lab = lab_two_seats(&yes);
    lab_say(lab, "power off a[01-02] soft");
    lab_expect_only(lab, "request", "request 3 off sim a[01-02] cmd=1 how=soft until 120 s\n");
    lab_answer(lab, 3, "a01", cases[i].a01, "a01: so");
    lab_answer(lab, 3, "a02", cases[i].a02, "a02: so");
    g_autofree char *done = g_strdup_printf("done 1 %s\n", verdict_name(cases[i].all));
    lab_expect(lab, done);
  }
}

static void
test_status_without_answer_is_unknown(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "power status a[01-02],s1");
  lab_expect(lab, "request 3 status sim a[01-02],s1 cmd=1 until 5 s\n");
  lab_answer(lab, 3, "s1", VERDICT_OK, "");
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  lab_answer(lab, 3, "a02", VERDICT_TIMEOUT, "a02: BMC silent for 5 s");
  lab_expect(lab, "done 1 partial\n");
  const NodeState *a02 = state_node(lab->state, lab_node(lab, "a02"));
  assert_int_equal(a02->power, POWER_UNKNOWN);
  assert_string_equal(a02->fault, "a02: BMC silent for 5 s");
  lab_say(lab, "power status a02");
  see_and_answer(lab, 4, "a02", "off");
  assert_int_equal(a02->power, POWER_OFF);
  assert_null(a02->fault);
}

static void
test_switch_has_no_power(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "power status a01,sw1");
  lab_expect(lab, "note warning: left out: sw1 (no power backend)\n"
                  "request 3 status sim a01 cmd=1 until 5 s\n");
  see_and_answer(lab, 3, "a01", "off");
  lab_expect(lab, "done 1 partial\n");
  lab_say(lab, "power status sw1");
  lab_expect(lab, "note warning: nothing is left to status: sw1 (no power backend)\n"
                  "done 2 refused\n");
}

/* ---- Stagger, and Ctrl-C ------------------------------------------------------------------- */

static Lab *
two_rooms(void)
{
  Lab *lab = lab_new("layouts/openslx-two-rooms.yaml", &yes);
  lab_link(lab, "sim", TRUE, "simulated lab");
  for (guint i = 0; i < lab->layout->n_nodes; i++) {
    const LayoutNode *node = &lab->layout->nodes[i];
    if (node->backend[ROLE_POWER])
      see_and_answer(lab, 1, node->name, node->kind == NODE_SERVER ? "on" : "off");
  }
  g_string_truncate(lab->out, 0);
  return lab;
}

static void
test_stagger(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = two_rooms();
  lab_at(lab, 1);
  lab_say(lab, "power on a[01-03],b01 stagger 0.5s");
  lab_expect(lab, "plan 1: on a[01-03],b01 by sim; 4 seats\n"
                  "request 3 on sim a01 cmd=1 until 31 s\n");
  assert_int_equal(core_deadline(lab->state), 1500 * TIME_MS);
  lab_at(lab, 2.2);
  lab_expect(lab, "request 4 on sim a02 cmd=1 until 31.5 s\n"
                  "request 5 on sim a03 cmd=1 until 32 s\n");
  see_and_answer(lab, 3, "a01", "on");
  see_and_answer(lab, 4, "a02", "on");
  lab_at(lab, 3);
  see_and_answer(lab, 5, "a03", "on");
  see_and_answer(lab, 6, "b01", "on");
  lab_expect(lab, "request 6 on sim b01 cmd=1 until 32.5 s\n"
                  "done 1 ok\n");
}

static void
test_stop_sends_nothing_more(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = two_rooms();
  lab_say(lab, "power on a[01-17] stagger 1s");
  lab_at(lab, 8);
  static const char *const done[] = {"a01", "a02", "a03", "a04", "a05", "a06", "a07", "a08", "a09"};
  for (guint i = 0; i < G_N_ELEMENTS(done); i++)
    see_and_answer(lab, 3 + i, done[i], "on");
  g_string_truncate(lab->out, 0);
  lab_say(lab, "stop");
  lab_expect(lab, "note warning: 9 done, 8 not sent\n"
                  "done 1 cancelled\n"
                  "done 2 ok\n");
  lab_at(lab, 100);
  lab_expect(lab, "");
  assert_false(state_node(lab->state, lab_node(lab, "a17"))->acting);
}

static void
test_stop_lets_what_was_sent_end(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = two_rooms();
  lab_say(lab, "power cycle a[01-03] stagger 0.4s");
  see_and_answer(lab, 3, "a01", "off");
  lab_at(lab, 0.5);
  g_string_truncate(lab->out, 0);
  lab_say(lab, "stop");
  lab_expect(lab, "note warning: 0 done, 1 under way, 2 not sent; "
                  "told to go off and not on again: a01\n"
                  "done 2 ok\n");
  see_and_answer(lab, 4, "a02", "off");
  lab_expect(lab, "note warning: 0 done, 3 not sent; "
                  "told to go off and not on again: a[01-02]\n"
                  "done 1 cancelled\n");
  lab_at(lab, 60);
  lab_expect(lab, "");
}

/* ---- Backends that break the rules --------------------------------------------------------- */

static void
test_silent_backend_cannot_hang_a_command(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "power on a[01-02]");
  see_and_answer(lab, 3, "a01", "on");
  g_string_truncate(lab->out, 0);
  lab_at(lab, 30.999);
  lab_expect(lab, "");
  lab_at(lab, 31);
  lab_expect(lab, "note warning a02: sim gave no result for on of a02 by its deadline\n"
                  "done 1 partial\n");
  lab_say(lab, "power status a[01-02]");
  lab_at(lab, 37);
  lab_expect(lab, "request 4 status sim a[01-02] cmd=2 until 36 s\n"
                  "note warning: sim gave no result for status of a[01-02] by its deadline\n"
                  "done 2 timeout\n");
}

static void
test_nonsense_from_a_backend(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "power on a01");
  g_string_truncate(lab->out, 0);
  lab_answer(lab, 99, "a01", VERDICT_OK, "");
  lab_answer(lab, 3, "s1", VERDICT_OK, "");
  lab_see(lab, "a01", "power", "verification");
  assert_int_equal(state_node(lab->state, lab_node(lab, "a01"))->power, POWER_UNKNOWN);
  lab_expect(lab, "");
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  lab_expect(lab, "done 1 ok\n");
}

static void
test_link_down(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_at(lab, 3);
  lab_link(lab, "sim", FALSE, "connection reset");
  lab_expect(lab, "note warning: sim went down (connection reset): power of a[01-02],s1 unknown\n");
  assert_int_equal(state_node(lab->state, lab_node(lab, "s1"))->power, POWER_UNKNOWN);
  Severity severity;
  g_autofree char *sentence = state_sentence(lab->state, &severity);
  assert_string_equal(sentence, "sim is down: connection reset");
  lab_say(lab, "power on a01");
  lab_expect(lab, "plan 1: on a01 by sim; 1 seats\n"
                  "done 1 failed\n");
  assert_string_equal(state_node(lab->state, lab_node(lab, "a01"))->fault,
                      "a01: sim is not connected");
  lab_link(lab, "sim", TRUE, "again");
  lab_expect_only(lab, "request",
                  "request 4 status sim a[01-02],s1 cmd=0 until 8 s\n"
                  "request 5 watch sim a[01-02],s1 cmd=0 interval_ns=100000000\n");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_on_is_one_request),
      cmocka_unit_test(test_cycle),
      cmocka_unit_test(test_answers_of_an_instant_go_on_together),
      cmocka_unit_test(test_never_seen_off_is_never_switched_on),
      cmocka_unit_test(test_soft_cycle_is_patient),
      cmocka_unit_test(test_unknown_off_is_looked_into),
      cmocka_unit_test(test_verdicts_add_up),
      cmocka_unit_test(test_status_without_answer_is_unknown),
      cmocka_unit_test(test_switch_has_no_power),
      cmocka_unit_test(test_stagger),
      cmocka_unit_test(test_stop_sends_nothing_more),
      cmocka_unit_test(test_stop_lets_what_was_sent_end),
      cmocka_unit_test(test_silent_backend_cannot_hang_a_command),
      cmocka_unit_test(test_nonsense_from_a_backend),
      cmocka_unit_test(test_link_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
