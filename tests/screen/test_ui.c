/* Keys, and what they ask the host for. */
#include "recording_host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const HostOps no_ops = {0};

/* ---- Lines --------------------------------------------------------------------------------- */

static void
test_a_line_is_said_when_entered(void **state)
{
  Fixture *fixture = *state;
  screen_lab_type(fixture->lab, ":boot @off");
  row_is(fixture->lab, PROMPT, " :boot @off");
  asked(fixture, "");
  ui_key(fixture->lab->ui, UI_KEY_ENTER);
  asked(fixture, "say boot @off|-1\n");
  screen_lab_type(fixture->lab, ":  ");
  ui_key(fixture->lab->ui, UI_KEY_ENTER); /* nothing to say */
  screen_lab_type(fixture->lab, ":power off @all");
  ui_key(fixture->lab->ui, UI_KEY_ESCAPE);
  asked(fixture, "");
  row_is(fixture->lab, PROMPT, "");
}

/* Types LINE, and has it carried out with CONFIRM; it is over at UNTIL. */
static void
say(Fixture *fixture, const char *line, int confirm, double until)
{
  screen_lab_type(fixture->lab, ":");
  screen_lab_type(fixture->lab, line);
  ui_key(fixture->lab->ui, UI_KEY_ENTER);
  screen_lab_say(fixture->lab, line, confirm);
  screen_lab_run(fixture->lab, until);
}

static void
test_what_came_of_a_property(void **state)
{
  Fixture *fixture = *state;
  for (int i = 0; i < 2; i++) { /* known already the second time */
    say(fixture, "get slx1/bond0.policy", -1, 1 + i);
    row_is(fixture->lab, SENTENCE, " bond0.policy is layer2");
    ui_key(fixture->lab->ui, UI_KEY_DOWN);
    row_is(fixture->lab, SENTENCE, "");
  }
  say(fixture, "set slx1/bond0.policy layer2+3", 1, 3);
  row_is(fixture->lab, SENTENCE, " bond0.policy is layer2+3");
  screen_lab_type(fixture->lab, ":get a02.mac");
  ui_key(fixture->lab->ui, UI_KEY_ENTER);
  screen_lab_say(fixture->lab, "get a01.mac", -1); /* somebody else's */
  screen_lab_run(fixture->lab, 3.5);
  row_is(fixture->lab, SENTENCE, "");
  say(fixture, "get slx1.nfs", -1, 4);
  row_is(fixture->lab, SENTENCE,
         " ! failed: slx1: no property `slx1.nfs`; did you mean slx1.nfsd?");
}

static void
test_words_of_the_screen(void **state)
{
  Fixture *fixture = *state;
  fixture->lab->status.busy = TRUE;
  fixture->lab->status.waiting = 2;
  row_is(fixture->lab, PROMPT, " working, 2 more to come; Ctrl-C stops what has not been sent");
  screen_lab_type(fixture->lab, ":help");
  ui_key(fixture->lab->ui, UI_KEY_ENTER);
  row_is(fixture->lab, 1, " Keys");
  screen_lab_type(fixture->lab, "q: q");
  asked(fixture, "");
  ui_key(fixture->lab->ui, UI_KEY_ENTER);
  asked(fixture, "quit\n");
}

static void
test_a_hint_before_the_first_key(void **state)
{
  Fixture *fixture = *state;
  row_has(fixture->lab, SENTENCE, " b offers to boot the block,");
  ui_key(fixture->lab->ui, UI_KEY_DOWN);
  row_is(fixture->lab, SENTENCE, "");
}

static void
test_tab_completes(void **state)
{
  Fixture *fixture = *state;
  Ui *ui = fixture->lab->ui;
  static const struct {
    const char *keys, *line, *choices;
  } tabs[] = {
      {":bo", " :boot", ""},
      {"r", " :boot room", ""}, /* as far as roomA and roomB agree */
      {"", " :boot room", " roomA  roomB"},
      {"A c", " :boot roomA cold", ""},
      {"q", " :boot roomA cold q", ""}, /* nothing begins so */
  };
  for (guint i = 0; i < G_N_ELEMENTS(tabs); i++) {
    screen_lab_type(fixture->lab, tabs[i].keys);
    ui_key(ui, UI_KEY_TAB);
    row_is(fixture->lab, PROMPT, tabs[i].line);
    row_is(fixture->lab, SENTENCE, tabs[i].choices);
  }
  ui_key(ui, UI_KEY_ESCAPE);
  screen_lab_type(fixture->lab, ":load start fi");
  ui_key(ui, UI_KEY_TAB);
  screen_lab_type(fixture->lab, "on ");
  ui_key(ui, UI_KEY_TAB);
  row_is(fixture->lab, PROMPT, " :load start find-cat on");
  row_has(fixture->lab, SENTENCE, " more");
  asked(fixture, "");
}

static void
test_an_error_is_shown_until_the_next_key(void **state)
{
  Fixture *fixture = *state;
  fixture->refusal = "column 1: no command `frobnicate`";
  screen_lab_type(fixture->lab, ":frobnicate");
  ui_key(fixture->lab->ui, UI_KEY_ENTER);
  row_is(fixture->lab, SENTENCE, " ! column 1: no command `frobnicate`");
  ui_key(fixture->lab->ui, UI_KEY_DOWN);
  row_is(fixture->lab, SENTENCE, "");
}

static void
test_letters_in_a_line_are_no_bindings(void **state)
{
  Fixture *fixture = *state;
  screen_lab_type(fixture->lab, ":qQ?bpP+-<> 0");
  ui_key(fixture->lab->ui, UI_KEY_F1);
  row_is(fixture->lab, PROMPT, " :qQ?bpP+-<> 0");
  asked(fixture, "");
}

static void
test_a_long_line_stays_in_sight_at_its_cursor(void **state)
{
  Fixture *fixture = *state;
  g_autoptr(GString) line = g_string_new(":");
  for (int i = 0; i < 200; i++)
    g_string_append_c(line, (char)('a' + i % 26));
  g_string_append(line, "部屋end");
  screen_lab_type(fixture->lab, line->str);
  row_has(fixture->lab, PROMPT, "部屋end");
  ui_key(fixture->lab->ui, UI_KEY_HOME);
  row_has(fixture->lab, PROMPT, " :abcdef");
}

/* ---- Nothing acts by itself ---------------------------------------------------------------- */

static void
test_a_selection_never_acts(void **state)
{
  Fixture *fixture = *state;
  static const UiKey keys[] = {UI_KEY_DOWN,
                               UI_KEY_RIGHT,
                               UI_KEY_UP,
                               UI_KEY_LEFT,
                               UI_KEY_TAB,
                               UI_KEY_HOME,
                               UI_KEY_BACKTAB,
                               UI_KEY_ENTER,
                               UI_KEY_END,
                               '1',
                               '7',
                               'h',
                               'j',
                               'k',
                               'g',
                               'G',
                               UI_KEY_ESCAPE,
                               'u',
                               'n',
                               'N',
                               UI_KEY_CTRL_L};
  for (guint i = 0; i < G_N_ELEMENTS(keys); i++)
    ui_key(fixture->lab->ui, keys[i]);
  asked(fixture, "");
}

static void
test_offers_name_the_selection_and_wait(void **state)
{
  Fixture *fixture = *state;
  Ui *ui = fixture->lab->ui;
  static const struct {
    const char *keys, *line;
  } offers[] = {
      {"b", " :boot roomA"},        {"p", " :power off roomA"},
      {"P", " :power cycle roomA"}, {"l", " :load start find-cat on roomA for 60 s"},
      {"12b", " :boot a12"},        {"P", " :power cycle a12"},
      {"123p", " :power off a03"}, /* there is no seat 123: the last digit begins anew */
  };
  for (guint i = 0; i < G_N_ELEMENTS(offers); i++) {
    screen_lab_type(fixture->lab, offers[i].keys);
    row_is(fixture->lab, PROMPT, offers[i].line);
    ui_key(ui, UI_KEY_ESCAPE);
  }
  ui_key(ui, UI_KEY_TAB);
  screen_lab_type(fixture->lab, "b");
  row_is(fixture->lab, PROMPT, " :boot roomB");
  asked(fixture, "");
  ui_key(ui, UI_KEY_ENTER);
  asked(fixture, "say boot roomB|-1\n");
}

/* ---- Consent ------------------------------------------------------------------------------- */

static void
ask_for_consent(Fixture *fixture)
{
  screen_lab_say(fixture->lab, "power on roomA stagger 0.5 s", -1);
  assert_int_equal(fixture->lab->last_verdict, VERDICT_UNCONFIRMED);
  row_has(fixture->lab, SENTENCE, "a[01-17]");
  row_has(fixture->lab, SENTENCE, "17 seats, 0 on, 0 in use");
  row_is(fixture->lab, PROMPT, " Type 17 to go on, Esc leaves it:");
  asked(fixture, "");
}

static void
test_the_number_consents(void **state)
{
  Fixture *fixture = *state;
  ask_for_consent(fixture);
  screen_lab_type(fixture->lab, "17");
  asked(fixture, "");
  g_autofree char *expected =
      g_strdup_printf("say %s|17\n", state_pending(fixture->lab->core)->text);
  ui_key(fixture->lab->ui, UI_KEY_ENTER);
  asked(fixture, expected);
  row_is(fixture->lab, PROMPT, ""); /* the same question is not asked again */
}

static void
test_a_wrong_number_is_for_core_to_refuse(void **state)
{
  Fixture *fixture = *state;
  ask_for_consent(fixture);
  screen_lab_type(fixture->lab, "16");
  g_autofree char *expected =
      g_strdup_printf("say %s|16\n", state_pending(fixture->lab->core)->text);
  ui_key(fixture->lab->ui, UI_KEY_ENTER);
  asked(fixture, expected);
  screen_lab_say(fixture->lab, "power on roomA stagger 0.5 s", 16);
  assert_int_not_equal(fixture->lab->last_verdict, VERDICT_OK);
  screen_lab_run(fixture->lab, 30);
  row_has(fixture->lab, 0, " 0 on  34 off ");
}

static void
test_what_is_no_number_says_nothing(void **state)
{
  static const char *const typed[] = {"",   "yes", "17x", "-17", "17 ", "99999999999999999999",
                                      "1e1"};
  Fixture *fixture = *state;
  for (guint i = 0; i < G_N_ELEMENTS(typed); i++) {
    ask_for_consent(fixture);
    screen_lab_type(fixture->lab, typed[i]);
    ui_key(fixture->lab->ui, UI_KEY_ENTER);
    row_is(fixture->lab, SENTENCE, " that is not the number of seats; nothing was sent");
    asked(fixture, "");
  }
}

static void
test_escape_leaves_it(void **state)
{
  static const UiKey keys[] = {UI_KEY_ESCAPE, UI_KEY_CTRL_C};
  Fixture *fixture = *state;
  for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
    ask_for_consent(fixture);
    screen_lab_type(fixture->lab, "17");
    ui_key(fixture->lab->ui, keys[i]);
    row_is(fixture->lab, SENTENCE, " left as it was; nothing was sent");
    asked(fixture, "");
    /* Enter now belongs to nobody. */
    ui_key(fixture->lab->ui, UI_KEY_ENTER);
    asked(fixture, "");
  }
}

static void
test_consent_keeps_what_was_being_typed(void **state)
{
  Fixture *fixture = *state;
  screen_lab_type(fixture->lab, ":mark \"hal");
  ask_for_consent(fixture);
  screen_lab_type(fixture->lab, "5");
  ui_key(fixture->lab->ui, UI_KEY_ESCAPE);
  row_is(fixture->lab, PROMPT, " :mark \"hal");
  ui_key(fixture->lab->ui, UI_KEY_ESCAPE);
  screen_lab_type(fixture->lab, ":");
  ui_key(fixture->lab->ui, UI_KEY_UP); /* a number is no line of the history */
  row_is(fixture->lab, PROMPT, " :");
}

/* ---- Too small ----------------------------------------------------------------------------- */

static void
has(const char *screen, const char *text)
{
  if (!strstr(screen, text))
    fail_msg("no `%s` in\n%s", text, screen);
}

/* On the smallest screen the plan takes the view's place. */
static void
test_the_plan_is_seen_whole(void **state)
{
  Fixture *fixture = *state;
  screen_lab_say(fixture->lab, "boot a[01,03,05,07,09,11,13,15,17],b[01,03,05,07,09,11,13,15,17]",
                 -1);
  g_autofree char *whole = screen_lab_draw(fixture->lab, 10, 40, FALSE);
  has(whole, " boot pxe ubuntu-10.04::nfs\n");
  has(whole, "0 in use\n Type 18 to go on");
}

static void
test_too_small_no_key_acts(void **state)
{
  static const struct {
    int rows, columns;
  } sizes[] = {{9, 80}, {24, 39}, {1, 1}, {1, 200}};
  Fixture *fixture = *state;
  ask_for_consent(fixture);
  screen_lab_type(fixture->lab, "17");
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    g_free(screen_lab_draw(fixture->lab, sizes[i].rows, sizes[i].columns, FALSE));
    ui_key(fixture->lab->ui, UI_KEY_ENTER);
    screen_lab_type(fixture->lab, "bpP:power off @all 17");
    ui_key(fixture->lab->ui, UI_KEY_ENTER);
    asked(fixture, "");
    ui_key(fixture->lab->ui, UI_KEY_CTRL_C);
    ui_key(fixture->lab->ui, UI_KEY_CTRL_Z);
    ui_key(fixture->lab->ui, 'Q');
    asked(fixture, "stop\nsuspend\nquit\n");
  }
  /* Large again, the question stands where it stood. */
  row_is(fixture->lab, PROMPT, " Type 17 to go on, Esc leaves it: 17");
}

/* ---- Time ---------------------------------------------------------------------------------- */

static void
test_time_of_a_session(void **state)
{
  Fixture *fixture = *state;
  Ui *ui = fixture->lab->ui;
  /* Keys in one burst build on one another. */
  screen_lab_type(fixture->lab, "++-");
  asked(fixture, "speed 2.000\nspeed 5.000\nspeed 2.000\n");
  screen_lab_type(fixture->lab, "  ");
  asked(fixture, "pause\ngo on\n");
  fixture->lab->status.speed = 60;
  g_free(screen_lab_draw(fixture->lab, 24, 80, FALSE));
  screen_lab_type(fixture->lab, "++");
  asked(fixture, "speed 100.000\nspeed 100.000\n");
  fixture->lab->status.paused = TRUE;
  row_has(fixture->lab, 0, "00:00:00 paused");
  ui_key(ui, ' ');
  asked(fixture, "go on\n");
  ui_key(ui, '>');
  asked(fixture, "");
  row_is(fixture->lab, SENTENCE, " only a replay can go back and forth in time");
}

static void
test_a_replay_takes_no_commands(void **state)
{
  (void)state;
  Fixture *fixture = fixture_new(LAYOUT, NULL, &replay_ops);
  ScreenLab *lab = fixture->lab;
  screen_lab_run(lab, 30);
  screen_lab_say(lab, "boot roomA", -1);
  lab->status.replay = TRUE;
  lab->status.end = 100 * TIME_SECOND;
  row_has(lab, 0, "REPLAY  00:00:30/00:01:40 ×1");
  row_is(lab, PROMPT, " Type 17 to go on, Esc leaves it:"); /* as it stood on the first screen */
  screen_lab_type(lab, "17");
  ui_key(lab->ui, UI_KEY_ENTER);
  ui_key(lab->ui, UI_KEY_ESCAPE);
  screen_lab_type(lab, ":bpPl");
  asked(fixture, "");
  screen_lab_type(lab, "<<>");
  asked(fixture, "seek 20.0\nseek 10.0\nseek 20.0\n");
  screen_lab_type(lab, "<<<");
  asked(fixture, "seek 10.0\nseek 0.0\nseek 0.0\n");
  fixture_free(fixture);
}

static void
test_no_host_no_harm(void **state)
{
  (void)state;
  g_autoptr(ScreenLab) lab = screen_lab_new(LAYOUT, NULL, &no_ops, NULL);
  for (UiKey key = 0; key < 300; key++)
    ui_key(lab->ui, key);
  for (UiKey key = UI_KEY_BASE; key < UI_KEY_ALT + 128; key++)
    ui_key(lab->ui, key);
  g_free(screen_lab_draw(lab, 24, 80, FALSE));
}

static void
test_leaving(void **state)
{
  Fixture *fixture = *state;
  screen_lab_type(fixture->lab, "q");
  row_is(fixture->lab, SENTENCE, " Q leaves pult");
  asked(fixture, "");
  ui_key(fixture->lab->ui, UI_KEY_CTRL_C);
  row_is(fixture->lab, SENTENCE, " nothing was under way; Q leaves pult");
  ui_key(fixture->lab->ui, UI_KEY_F1 + 9);
  asked(fixture, "stop\nquit\n");
}

static void
test_leaving_while_loads_run(void **state)
{
  Fixture *fixture = *state;
  screen_lab_say(fixture->lab, "boot roomA", 17);
  screen_lab_run(fixture->lab, 60);
  screen_lab_say(fixture->lab, "load start dd-read on roomA as reading", -1);
  screen_lab_type(fixture->lab, "Q");
  row_is(fixture->lab, SENTENCE, " leave? s stops, l lets run, Esc stays: reading");
  asked(fixture, "");
  screen_lab_type(fixture->lab, "q"); /* thought better of it */
  screen_lab_type(fixture->lab, ":quit");
  ui_key(fixture->lab->ui, UI_KEY_ENTER);
  row_is(fixture->lab, SENTENCE, " leave? s stops, l lets run, Esc stays: reading");
  asked(fixture, "");
  screen_lab_type(fixture->lab, "q");
  screen_lab_type(fixture->lab, "Q");
  asked(fixture, "");
  screen_lab_type(fixture->lab, "Q");
  asked(fixture, "quit\n");
  screen_lab_type(fixture->lab, "s"); /* not asked */
  asked(fixture, "");
  screen_lab_type(fixture->lab, "Ql");
  asked(fixture, "say try load leave reading; quit|-1\n");
  fixture->lab->status.busy = TRUE;
  g_free(screen_lab_draw(fixture->lab, 10, 40, FALSE));
  screen_lab_type(fixture->lab, "Q");
  g_autofree char *small = screen_lab_draw(fixture->lab, 10, 40, FALSE);
  assert_non_null(strstr(small, "s stops, l lets run, Esc stays"));
  screen_lab_type(fixture->lab, "s");
  asked(fixture, "stop\nsay try load stop reading; quit|-1\n");
}

int
main(void)
{
#define WITH(test) cmocka_unit_test_setup_teardown(test, fixture_set_up, fixture_tear_down)
  const struct CMUnitTest tests[] = {
      WITH(test_a_line_is_said_when_entered),
      WITH(test_what_came_of_a_property),
      WITH(test_words_of_the_screen),
      WITH(test_a_hint_before_the_first_key),
      WITH(test_tab_completes),
      WITH(test_an_error_is_shown_until_the_next_key),
      WITH(test_letters_in_a_line_are_no_bindings),
      WITH(test_a_long_line_stays_in_sight_at_its_cursor),
      WITH(test_a_selection_never_acts),
      WITH(test_offers_name_the_selection_and_wait),
      WITH(test_the_number_consents),
      WITH(test_a_wrong_number_is_for_core_to_refuse),
      WITH(test_what_is_no_number_says_nothing),
      WITH(test_escape_leaves_it),
      WITH(test_consent_keeps_what_was_being_typed),
      WITH(test_the_plan_is_seen_whole),
      WITH(test_too_small_no_key_acts),
      WITH(test_time_of_a_session),
      cmocka_unit_test(test_a_replay_takes_no_commands),
      cmocka_unit_test(test_no_host_no_harm),
      WITH(test_leaving_while_loads_run),
      WITH(test_leaving),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
