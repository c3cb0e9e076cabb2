/* Clicks and the wheel: they select, show and scroll as keys do, and never act. */
#include "recording_host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define KEY_BAR 23

/* Presses KEY of the mouse on the first place of the screen, from row FROM on, that says TEXT. */
static void
mouse_from(Fixture *fixture, UiKey key, int from, const char *text)
{
  g_autofree char *screen = screen_lab_draw(fixture->lab, 24, 80, FALSE);
  g_auto(GStrv) rows = g_strsplit(screen, "\n", -1);
  for (int row = from; row < 24; row++) {
    const char *found = strstr(rows[row], text);
    if (!found)
      continue;
    *strstr(rows[row], text) = '\0';
    ui_mouse(fixture->lab->ui, key, row, canvas_text_width(rows[row]));
    return;
  }
  fail_msg("there is no `%s` on this screen:\n%s", text, screen);
}

static void
click(Fixture *fixture, const char *text)
{
  mouse_from(fixture, UI_KEY_CLICK, 0, text);
}

static void
wheel(Fixture *fixture, UiKey key, int times)
{
  for (int i = 0; i < times; i++)
    ui_mouse(fixture->lab->ui, key, 5, 5);
}

static void
row_lacks(Fixture *fixture, int row, const char *text)
{
  g_autofree char *screen = screen_lab_draw(fixture->lab, 24, 80, FALSE);
  g_auto(GStrv) rows = g_strsplit(screen, "\n", -1);
  if (strstr(rows[row], text))
    fail_msg("row %d is `%s`, with `%s`", row, rows[row], text);
}

/* What the keys would act on: `b` offers it. */
static void
selection_is(Fixture *fixture, const char *name)
{
  g_autofree char *line = g_strdup_printf(" :boot %s", name);
  ui_key(fixture->lab->ui, UI_KEY_F1 + 1);
  ui_key(fixture->lab->ui, 'b');
  row_is(fixture->lab, PROMPT, line);
  ui_key(fixture->lab->ui, UI_KEY_ESCAPE);
  asked(fixture, "");
}

static void
test_a_click_selects(void **state)
{
  Fixture *fixture = *state;
  selection_is(fixture, "roomA");
  click(fixture, "11-");
  selection_is(fixture, "a11");
  mouse_from(fixture, UI_KEY_CLICK, 6, "02-"); /* room B's */
  selection_is(fixture, "b02");
  row_has(fixture->lab, 5, "▸Room B");
  mouse_from(fixture, UI_KEY_CLICK, 12, "b09"); /* in the list below */
  selection_is(fixture, "b09");
  click(fixture, "Room A");
  selection_is(fixture, "roomA");
  mouse_from(fixture, UI_KEY_CLICK, 12, "a09");
  selection_is(fixture, "a09");
  mouse_from(fixture, UI_KEY_CLICK, 10, "Room A, received");
  selection_is(fixture, "roomA");
  ui_mouse(fixture->lab->ui, UI_KEY_CLICK, 0, 0); /* nothing there */
  ui_mouse(fixture->lab->ui, UI_KEY_CLICK, 999, 999);
  ui_mouse(fixture->lab->ui, UI_KEY_CLICK, -1, -1);
  selection_is(fixture, "roomA");
}

static void
test_a_click_on_the_selected_seat_opens_its_card(void **state)
{
  Fixture *fixture = *state;
  click(fixture, "07-");
  row_has(fixture->lab, 1, "Room A");
  click(fixture, "07-");
  row_has(fixture->lab, 1, "─ a07  Room A ─");
  click(fixture, "F2"); /* nothing is left of the plan that lay below */
  selection_is(fixture, "a07");
}

static void
test_the_key_bar(void **state)
{
  Fixture *fixture = *state;
  click(fixture, "F3Boot");
  row_has(fixture->lab, 1, "─ Boot ─");
  click(fixture, "F6");
  row_has(fixture->lab, 1, "─ Log ─");
  click(fixture, "F2Lab");
  mouse_from(fixture, UI_KEY_CLICK, KEY_BAR, "Boot  l"); /* `b Boot`, its word */
  row_is(fixture->lab, PROMPT, " :boot roomA");
  /* A line is open: letters of the bar do not get into it, and nothing gives it. */
  mouse_from(fixture, UI_KEY_CLICK, KEY_BAR, "p Power");
  click(fixture, "03-");
  wheel(fixture, UI_KEY_WHEEL_DOWN, 3);
  row_is(fixture->lab, PROMPT, " :boot roomA");
  ui_key(fixture->lab->ui, UI_KEY_ESCAPE);
  asked(fixture, "");
  selection_is(fixture, "roomA");
  click(fixture, "slx1  bond0"); /* the server's pane: the net */
  row_has(fixture->lab, 1, "─ Net ─");
}

static void
test_lists(void **state)
{
  Fixture *fixture = *state;
  screen_lab_say(fixture->lab, "boot @all as all", 34);
  screen_lab_run(fixture->lab, 80);
  ui_key(fixture->lab->ui, UI_KEY_F1 + 2);
  click(fixture, "a05");
  wheel(fixture, UI_KEY_WHEEL_DOWN, 2);
  selection_is(fixture, "a07");
  screen_lab_say(fixture->lab, "load start find-cat on roomB for 60 s as reading", -1);
  screen_lab_run(fixture->lab, 85);
  ui_key(fixture->lab->ui, UI_KEY_F1 + 3);
  click(fixture, "b03");
  click(fixture, "b03");
  row_has(fixture->lab, 1, "─ b03  Room B ─");
  ui_key(fixture->lab->ui, UI_KEY_F1 + 4);
  click(fixture, "Room A  a[01-17]");
  selection_is(fixture, "roomA");
  ui_key(fixture->lab->ui, UI_KEY_F1 + 4);
  click(fixture, "Room A  a[01-17]"); /* again: it is shown */
  row_has(fixture->lab, 1, "▸Room A");
}

static void
test_the_log(void **state)
{
  Fixture *fixture = *state;
  screen_lab_say(fixture->lab, "boot roomA", 17);
  screen_lab_run(fixture->lab, 1);
  screen_lab_say(fixture->lab, "set a12/eth0.state down", 1);
  screen_lab_run(fixture->lab, 62);
  for (int i = 0; i < 12; i++)
    screen_lab_say(fixture->lab, "mark \"onward\"", -1);
  ui_key(fixture->lab->ui, UI_KEY_F1 + 5);
  row_lacks(fixture, 1, "newer below");
  wheel(fixture, UI_KEY_WHEEL_UP, 2);
  row_has(fixture->lab, 1, "6 newer below");
  wheel(fixture, UI_KEY_WHEEL_DOWN, 1);
  row_has(fixture->lab, 1, "3 newer below");
  click(fixture, "newer below");
  row_lacks(fixture, 1, "newer below");
  wheel(fixture, UI_KEY_WHEEL_UP, 4);
  click(fixture, "! note a12");
  selection_is(fixture, "a12");
  ui_key(fixture->lab->ui, UI_KEY_F1 + 5);
  click(fixture, "! note a12");
  row_has(fixture->lab, 1, "─ a12  Room A ─");
}

static void
test_the_wheel_in_the_lab(void **state)
{
  Fixture *fixture = *state;
  wheel(fixture, UI_KEY_WHEEL_DOWN, 1);
  selection_is(fixture, "a01");
  wheel(fixture, UI_KEY_WHEEL_DOWN, 2);
  selection_is(fixture, "a13");
  wheel(fixture, UI_KEY_WHEEL_DOWN, 1); /* the plan ends: the next room */
  selection_is(fixture, "roomB");
  wheel(fixture, UI_KEY_WHEEL_UP, 1);
  selection_is(fixture, "roomA");
  wheel(fixture, UI_KEY_WHEEL_UP, 1);
  selection_is(fixture, "roomB");
  ui_key(fixture->lab->ui, UI_KEY_F1);
  row_has(fixture->lab, 1, " Keys");
  wheel(fixture, UI_KEY_WHEEL_DOWN, 1);
  row_lacks(fixture, 1, " Keys");
  wheel(fixture, UI_KEY_WHEEL_UP, 1);
  row_has(fixture->lab, 1, " Keys");
}

static void
test_a_question_is_not_answered(void **state)
{
  Fixture *fixture = *state;
  screen_lab_say(fixture->lab, "boot roomA", -1);
  row_has(fixture->lab, PROMPT, " Type 17 to go on");
  for (int row = 0; row < 24; row++) {
    for (int column = 0; column < 80; column++)
      ui_mouse(fixture->lab->ui, UI_KEY_CLICK, row, column);
  }
  row_is(fixture->lab, PROMPT, " Type 17 to go on, Esc leaves it:");
  asked(fixture, "");
}

/* Every cell of every view, clicked twice: the most that comes of it is a line left open. */
static void
test_no_click_acts(void **state)
{
  Fixture *fixture = *state;
  screen_lab_say(fixture->lab, "boot @all", 34);
  screen_lab_run(fixture->lab, 20);
  for (int view = 0; view < 6; view++) {
    for (int at = 0; at < 24 * 80; at++) {
      ui_key(fixture->lab->ui, UI_KEY_F1 + view);
      g_free(screen_lab_draw(fixture->lab, 24, 80, FALSE));
      ui_mouse(fixture->lab->ui, UI_KEY_CLICK, at / 80, at % 80);
      ui_mouse(fixture->lab->ui, UI_KEY_CLICK, at / 80, at % 80);
      ui_key(fixture->lab->ui, UI_KEY_ESCAPE);
    }
  }
  asked(fixture, "");
}

static void
test_too_small_is_no_place_to_click(void **state)
{
  Fixture *fixture = *state;
  g_free(screen_lab_draw(fixture->lab, 9, 80, FALSE));
  for (int at = 0; at < 9 * 80; at++)
    ui_mouse(fixture->lab->ui, UI_KEY_CLICK, at / 80, at % 80);
  wheel(fixture, UI_KEY_WHEEL_DOWN, 3);
  g_free(screen_lab_draw(fixture->lab, 24, 80, FALSE));
  selection_is(fixture, "roomA");
}

/* A drawing that is not shown: Boot's in place of the Lab's. */
static void
test_a_click_is_for_what_is_seen(void **state)
{
  Fixture *fixture = *state;
  Ui *ui = fixture->lab->ui;
  g_autofree char *screen = screen_lab_draw(fixture->lab, 24, 80, FALSE);
  g_auto(GStrv) rows = g_strsplit(screen, "\n", -1);
  const char *seat = strstr(rows[2], "03-");
  assert_non_null(seat);
  ui_set_view(ui, "boot");
  g_free(screen_lab_draw(fixture->lab, 24, 80, FALSE));
  ui_undraw(ui);
  ui_set_view(ui, "log");
  g_free(screen_lab_draw(fixture->lab, 24, 80, FALSE));
  ui_undraw(ui);
  ui_set_view(ui, "lab");
  *(char *)seat = '\0';
  ui_mouse(ui, UI_KEY_CLICK, 2, canvas_text_width(rows[2]));
  selection_is(fixture, "a03");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_a_click_selects, fixture_set_up, fixture_tear_down),
      cmocka_unit_test_setup_teardown(test_a_click_on_the_selected_seat_opens_its_card,
                                      fixture_set_up, fixture_tear_down),
      cmocka_unit_test_setup_teardown(test_the_key_bar, fixture_set_up, fixture_tear_down),
      cmocka_unit_test_setup_teardown(test_lists, fixture_set_up, fixture_tear_down),
      cmocka_unit_test_setup_teardown(test_the_log, fixture_set_up, fixture_tear_down),
      cmocka_unit_test_setup_teardown(test_the_wheel_in_the_lab, fixture_set_up, fixture_tear_down),
      cmocka_unit_test_setup_teardown(test_a_question_is_not_answered, fixture_set_up,
                                      fixture_tear_down),
      cmocka_unit_test_setup_teardown(test_no_click_acts, fixture_set_up, fixture_tear_down),
      cmocka_unit_test_setup_teardown(test_a_click_is_for_what_is_seen, fixture_set_up,
                                      fixture_tear_down),
      cmocka_unit_test_setup_teardown(test_too_small_is_no_place_to_click, fixture_set_up,
                                      fixture_tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
