#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/state.h"
#include "session_lab.h"

static void
test_said_nonsense_does_nothing(void **state)
{
  (void)state;
  g_autoptr(SessionLab) lab = session_lab_new(&session_lab_jumping, &session_lab_slow);
  assert_int_equal(session_run(lab->session, NULL, NULL), 0);
  guint n = lab->events->len;
  static const char *const lines[] = {"powr on a01", "power on z99", "mark \"open",
                                      "power on z99; mark \"x\""};
  for (gsize i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_autoptr(GError) error = NULL;
    assert_false(session_say(lab->session, lines[i], -1, &error));
    assert_non_null(error);
    assert_false(session_is_busy(lab->session));
  }
  assert_true(session_say(lab->session, "  # nothing", -1, NULL));
  assert_int_equal(lab->events->len, n);
}

/* Columns are the line's, and what stands before the fault is not done. */
static void
test_a_fault_anywhere_in_a_line(void **state)
{
  (void)state;
  g_autoptr(SessionLab) lab = session_lab_new(&session_lab_jumping, &session_lab_slow);
  session_run(lab->session, NULL, NULL);
  guint n = lab->events->len;
  g_autoptr(GError) error = NULL;
  assert_false(session_say(lab->session, "mark \"ü\"; powr on a01", -1, &error));
  assert_string_equal(error->message,
                      "column 11: unknown command \"powr\"; did you mean \"power\"?");
  session_run(lab->session, NULL, NULL);
  assert_int_equal(lab->events->len, n);
}

static void
test_line_goes_on_after_each_done(void **state)
{
  (void)state;
  g_autoptr(SessionLab) lab = session_lab_new(&session_lab_jumping, &session_lab_slow);
  session_run(lab->session, NULL, NULL);
  assert_true(session_say(lab->session, "power on a01; power on a02; mark \"x\"", -1, NULL));
  assert_true(session_is_busy(lab->session));
  assert_true(session_say(lab->session, "mark \"behind\"", -1, NULL));
  assert_int_equal(session_waiting(lab->session), 3);
  session_run(lab->session, NULL, NULL);
  assert_int_equal(session_waiting(lab->session), 0);
  session_lab_find(lab, "command power on a02@2000", 0);
  session_lab_find(lab, "command mark \"behind\"@4000", session_lab_find(lab, "command mark", 0));
}

static void
test_failure_drops_the_rest_of_its_line(void **state)
{
  (void)state;
  g_autoptr(SessionLab) lab = session_lab_new(&session_lab_jumping, &session_lab_slow);
  lab->slow->broken = layout_find(lab->layout, "a01");
  assert_true(session_say(lab->session, "power on a01; mark \"dropped\"", -1, NULL));
  assert_true(session_say(lab->session, "mark \"kept\"", -1, NULL));
  session_run(lab->session, NULL, NULL);
  assert_false(session_lab_has(lab, "command mark \"dropped\""));
  session_lab_find(lab, "command mark \"kept\"@", 0);
  assert_true(session_say(lab->session, "mark \"a\"; power on z99; mark \"b\"", -1, NULL));
  session_run(lab->session, NULL, NULL);
  assert_int_equal(lab->complaints->len, 1);
  assert_true(session_lab_has(lab, "command mark \"a\""));
  assert_false(session_lab_has(lab, "command mark \"b\""));
}

static void
test_consent_resumes_the_line(void **state)
{
  (void)state;
  SessionOptions options = session_lab_jumping;
  options.core.consent = CONSENT_ASK;
  g_autoptr(SessionLab) lab = session_lab_new(&options, &session_lab_slow);
  session_run(lab->session, NULL, NULL);
  for (int consents = 0; consents < 2; consents++) {
    assert_true(session_say(lab->session, "power on a01; mark \"rest\"", -1, NULL));
    session_run(lab->session, NULL, NULL);
    const PendingConsent *pending = state_pending(session_state(lab->session));
    assert_int_equal(pending->seats, 1);
    assert_false(session_lab_has(lab, "command mark \"rest\""));
    g_autofree char *again = g_strdup(pending->text);
    assert_true(consents ? session_say(lab->session, again, 1, NULL)
                         : session_say(lab->session, "mark \"something else\"", -1, NULL));
    session_run(lab->session, NULL, NULL);
    assert_int_equal(session_lab_has(lab, "command mark \"rest\""), consents);
  }
}

static gboolean
stop(gpointer session)
{
  session_stop(session);
  return G_SOURCE_REMOVE;
}

static void
test_stop(void **state)
{
  (void)state;
  SessionOptions options = session_lab_jumping;
  options.clock = CLOCK_SCALED;
  options.speed = 100;
  g_autoptr(SessionLab) lab = session_lab_new(&options, &session_lab_slow);
  g_timeout_add(50, stop, lab->session);
  gint64 begin = g_get_monotonic_time();
  assert_int_equal(session_lab_run(lab, "mark \"x\"\nsleep 100h\nmark \"not reached\"\n", NULL),
                   130);
  assert_true(g_get_monotonic_time() - begin < 10 * G_USEC_PER_SEC);
  session_lab_find(lab, "done cancelled@", session_lab_find(lab, "command stop@", 0));
  assert_false(session_lab_has(lab, "command mark \"not"));
}

static gboolean
say_slowly(gpointer session)
{
  assert_true(session_say(session, "sleep 1s; mark \"typed\"; quit", -1, NULL));
  return G_SOURCE_REMOVE;
}

static void
test_quit_ends_the_session(void **state)
{
  (void)state;
  SessionOptions options = session_lab_jumping;
  options.clock = CLOCK_SCALED;
  options.speed = 100;
  g_autoptr(SessionLab) lab = session_lab_new(&options, &session_lab_slow);
  g_timeout_add(20, say_slowly, lab->session);
  assert_int_equal(session_lab_run(lab, "sleep 100h\n", NULL), 0);
  assert_true(session_has_quit(lab->session));
  assert_true(session_lab_has(lab, "command mark \"typed\""));
}

static gboolean
wait_over(gpointer over)
{
  *(gboolean *)over = TRUE;
  return G_SOURCE_REMOVE;
}

static void
wait_ms(guint ms)
{
  gboolean over = FALSE;
  g_timeout_add(ms, wait_over, &over);
  while (!over)
    g_main_context_iteration(NULL, TRUE);
}

static void
test_pause(void **state)
{
  (void)state;
  SessionOptions options = session_lab_jumping;
  options.clock = CLOCK_SCALED;
  options.speed = 1000;
  g_autoptr(SessionLab) lab = session_lab_new(&options, &session_lab_slow);
  wait_ms(5);
  session_pause(lab->session, TRUE);
  gint64 t = session_now(lab->session);
  assert_true(session_say(lab->session, "power on a01", -1, NULL));
  wait_ms(50);
  assert_true(session_now(lab->session) == t);
  assert_false(session_lab_has(lab, "done ok"));
  session_set_speed(lab->session, 100);
  session_pause(lab->session, FALSE);
  for (int i = 0; i < 500 && !session_lab_has(lab, "done ok"); i++)
    wait_ms(10);
  session_lab_find(lab, "done ok", 0);
  assert_true(session_now(lab->session) >= t + 2 * TIME_SECOND);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_said_nonsense_does_nothing),
      cmocka_unit_test(test_a_fault_anywhere_in_a_line),
      cmocka_unit_test(test_line_goes_on_after_each_done),
      cmocka_unit_test(test_failure_drops_the_rest_of_its_line),
      cmocka_unit_test(test_consent_resumes_the_line),
      cmocka_unit_test(test_stop),
      cmocka_unit_test(test_quit_ends_the_session),
      cmocka_unit_test(test_pause),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
