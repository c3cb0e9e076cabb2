/* The keys that move a replay about in time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recording_host.h"

static int
replay_set_up(void **state)
{
  Fixture *fixture = fixture_new(LAYOUT, NULL, &replay_ops);
  screen_lab_run(fixture->lab, 30);
  fixture->lab->status.replay = TRUE;
  fixture->lab->status.end = 100 * TIME_SECOND;
  g_free(screen_lab_draw(fixture->lab, 24, 80, FALSE));
  *state = fixture;
  return 0;
}

static void
test_there_and_back(void **state)
{
  Fixture *fixture = *state;
  screen_lab_type(fixture->lab, "<>,.");
  asked(fixture, "seek 20.0\nseek 30.0\nseek 29.0\nseek 30.0\n");
  screen_lab_type(fixture->lab, "eEmM");
  asked(fixture, "step on\nstep back\nmark on\nmark back\n");
  fixture->refusal = "there is no mark before";
  screen_lab_type(fixture->lab, "M");
  row_is(fixture->lab, SENTENCE, " there is no mark before");
  fixture->refusal = "that is the end";
  screen_lab_type(fixture->lab, "e");
  row_is(fixture->lab, SENTENCE, " that is the end");
}

static void
test_go_to(void **state)
{
  Fixture *fixture = *state;
  ScreenLab *lab = fixture->lab;
  screen_lab_type(lab, "T1:3");
  row_is(lab, PROMPT, " go to: 1:3");
  screen_lab_type(lab, "0");
  ui_key(lab->ui, UI_KEY_ENTER);
  asked(fixture, "go 1:30\n");
  row_is(lab, PROMPT, "");
  fixture->refusal = "`nowhere` is neither";
  screen_lab_type(lab, "Tnowhere");
  ui_key(lab->ui, UI_KEY_ENTER);
  asked(fixture, "go nowhere\n");
  row_is(lab, SENTENCE, " ! `nowhere` is neither");
  /* An empty line, and one that is left, go nowhere; the next brings earlier ones back. */
  screen_lab_type(lab, "T");
  ui_key(lab->ui, UI_KEY_ENTER);
  screen_lab_type(lab, "T5s");
  ui_key(lab->ui, UI_KEY_ESCAPE);
  asked(fixture, "");
  screen_lab_type(lab, "T");
  ui_key(lab->ui, UI_KEY_UP);
  row_is(lab, PROMPT, " go to: nowhere");
}

/* The question of the session that is shown hides no line that is typed now. */
static void
test_go_to_from_a_question(void **state)
{
  Fixture *fixture = *state;
  screen_lab_say(fixture->lab, "boot roomA", -1);
  row_is(fixture->lab, PROMPT, " Type 17 to go on, Esc leaves it:");
  screen_lab_type(fixture->lab, "Tend");
  row_is(fixture->lab, PROMPT, " go to: end");
  ui_key(fixture->lab->ui, UI_KEY_ENTER);
  asked(fixture, "go end\n");
  row_is(fixture->lab, PROMPT, " Type 17 to go on, Esc leaves it:");
}

static void
test_speeds(void **state)
{
  Fixture *fixture = *state;
  static const struct {
    double speed;
    const char *keys, *asked;
  } speeds[] = {
      {1, "+", "speed 2.000\n"},      {1, "-", "speed 0.500\n"},
      {0.1, "-", "speed 0.100\n"},    {3, "+", "speed 5.000\n"},
      {3, "-", "speed 2.000\n"},      {100, "+", "speed 100.000\n"},
      {1000, "-", "speed 100.000\n"}, {0.01, "+", "speed 0.100\n"},
      {0.01, "-", "speed 0.100\n"},   {20, "++-", "speed 50.000\nspeed 100.000\nspeed 50.000\n"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(speeds); i++) {
    fixture->lab->status.speed = speeds[i].speed;
    g_free(screen_lab_draw(fixture->lab, 24, 80, FALSE));
    screen_lab_type(fixture->lab, speeds[i].keys);
    asked(fixture, speeds[i].asked);
  }
}

static void
test_not_in_a_session(void **state)
{
  Fixture *fixture = *state;
  const char *keys[] = {"<", ".", "e", "M", "T"};
  for (gsize i = 0; i < G_N_ELEMENTS(keys); i++) {
    screen_lab_type(fixture->lab, keys[i]);
    row_is(fixture->lab, SENTENCE, " only a replay can go back and forth in time");
    ui_key(fixture->lab->ui, UI_KEY_ESCAPE);
  }
  asked(fixture, "");
}

int
main(void)
{
#define REPLAY(test) cmocka_unit_test_setup_teardown(test, replay_set_up, fixture_tear_down)
  const struct CMUnitTest tests[] = {
      REPLAY(test_there_and_back),
      REPLAY(test_go_to),
      REPLAY(test_go_to_from_a_question),
      REPLAY(test_speeds),
      cmocka_unit_test_setup_teardown(test_not_in_a_session, fixture_set_up, fixture_tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
