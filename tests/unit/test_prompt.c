#include "ui/prompt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define CTRL(letter) ((letter) - '@')

static void
type(Prompt *prompt, const char *text)
{
  for (const char *p = text; *p; p = g_utf8_next_char(p))
    assert_int_equal(prompt_key(prompt, (UiKey)g_utf8_get_char(p)), PROMPT_OPEN);
}

static void
enter(Prompt *prompt, const char *text)
{
  prompt_open(prompt, "");
  type(prompt, text);
  assert_int_equal(prompt_key(prompt, UI_KEY_ENTER), PROMPT_ENTERED);
  assert_false(prompt_is_open(prompt));
  assert_string_equal(prompt_text(prompt), text);
}

static void
keys(Prompt *prompt, UiKey key, int times)
{
  for (int i = 0; i < times; i++)
    assert_int_equal(prompt_key(prompt, key), PROMPT_OPEN);
}

static void
test_editing(void **state)
{
  (void)state;
  Prompt *prompt = prompt_new();
  prompt_open(prompt, "boot ");
  assert_int_equal(prompt_cursor(prompt), 5);
  type(prompt, "röom");
  keys(prompt, UI_KEY_LEFT, 3);
  assert_int_equal(prompt_cursor(prompt), 6);
  keys(prompt, UI_KEY_DELETE, 1); /* a whole character, of two bytes */
  type(prompt, "o");
  assert_string_equal(prompt_text(prompt), "boot room");
  keys(prompt, UI_KEY_HOME, 1);
  keys(prompt, UI_KEY_LEFT, 1); /* stays */
  type(prompt, "re");
  keys(prompt, UI_KEY_BACKSPACE, 1);
  assert_string_equal(prompt_text(prompt), "rboot room");
  keys(prompt, CTRL('E'), 1);
  keys(prompt, UI_KEY_RIGHT, 1);  /* stays */
  keys(prompt, UI_KEY_DELETE, 1); /* nothing there */
  type(prompt, "A é");
  keys(prompt, UI_KEY_BACKSPACE, 1);
  keys(prompt, CTRL('W'), 1); /* blanks before the cursor, and the word before them */
  assert_string_equal(prompt_text(prompt), "rboot ");
  keys(prompt, CTRL('W'), 2);
  assert_string_equal(prompt_text(prompt), "");
  type(prompt, "on; off");
  keys(prompt, UI_KEY_LEFT, 4);
  keys(prompt, CTRL('K'), 1);
  assert_string_equal(prompt_text(prompt), "on;");
  keys(prompt, UI_KEY_LEFT, 1);
  keys(prompt, CTRL('U'), 1);
  assert_string_equal(prompt_text(prompt), ";");
  assert_int_equal(prompt_cursor(prompt), 0);
  prompt_free(prompt);
}

static void
test_what_is_no_text(void **state)
{
  (void)state;
  Prompt *prompt = prompt_new();
  prompt_open(prompt, "x");
  keys(prompt, CTRL('G'), 1);
  keys(prompt, UI_KEY_F1, 1);
  keys(prompt, UI_KEY_ALT + 'a', 1);
  keys(prompt, UI_KEY_PAGE_UP, 1);
  keys(prompt, 0x9b, 1);   /* a C1 control character */
  keys(prompt, 0xd800, 1); /* half of a surrogate pair */
  assert_string_equal(prompt_text(prompt), "x");
  prompt_free(prompt);
}

static void
test_leaving(void **state)
{
  (void)state;
  Prompt *prompt = prompt_new();
  prompt_open(prompt, "x");
  assert_int_equal(prompt_key(prompt, UI_KEY_ESCAPE), PROMPT_CANCELLED);
  assert_false(prompt_is_open(prompt));
  prompt_open(prompt, "x");
  assert_int_equal(prompt_key(prompt, UI_KEY_CTRL_C), PROMPT_CANCELLED);
  prompt_open(prompt, "x");
  keys(prompt, UI_KEY_BACKSPACE, 1);
  assert_int_equal(prompt_key(prompt, UI_KEY_BACKSPACE), PROMPT_CANCELLED);
  assert_false(prompt_is_open(prompt));
  /* What was left is not in the history. */
  prompt_open(prompt, "");
  keys(prompt, UI_KEY_UP, 1);
  assert_string_equal(prompt_text(prompt), "");
  prompt_free(prompt);
}

static void
test_history(void **state)
{
  (void)state;
  Prompt *prompt = prompt_new();
  enter(prompt, "one");
  enter(prompt, "two");
  enter(prompt, "two"); /* once is enough */
  enter(prompt, "");
  prompt_open(prompt, "");
  type(prompt, "half");
  keys(prompt, UI_KEY_DOWN, 1); /* there is nothing newer */
  assert_string_equal(prompt_text(prompt), "half");
  keys(prompt, UI_KEY_UP, 1);
  assert_string_equal(prompt_text(prompt), "two");
  keys(prompt, UI_KEY_UP, 2); /* nothing older than the first */
  assert_string_equal(prompt_text(prompt), "one");
  keys(prompt, UI_KEY_DOWN, 2);
  assert_string_equal(prompt_text(prompt), "half");
  assert_int_equal(prompt_cursor(prompt), 4);
  prompt_free(prompt);
}

static void
test_replacing(void **state)
{
  (void)state;
  Prompt *prompt = prompt_new();
  prompt_open(prompt, "boot ro as x");
  keys(prompt, UI_KEY_LEFT, 5);
  g_autofree char *before = prompt_before(prompt);
  assert_string_equal(before, "boot ro");
  prompt_replace(prompt, 5, "roomA");
  assert_string_equal(prompt_text(prompt), "boot roomA as x");
  assert_int_equal(prompt_cursor(prompt), 10);
  g_autofree char *much = g_strnfill(PROMPT_MAX_BYTES, 'x');
  prompt_replace(prompt, 5, much); /* more than a line holds: as it was */
  assert_string_equal(prompt_text(prompt), "boot roomA as x");
  prompt_free(prompt);
}

static void
test_limits(void **state)
{
  (void)state;
  Prompt *prompt = prompt_new();
  prompt_open(prompt, "");
  keys(prompt, 0x20ac, PROMPT_MAX_BYTES); /* three bytes each */
  assert_int_equal(strlen(prompt_text(prompt)), PROMPT_MAX_BYTES / 3 * 3);
  assert_int_equal(prompt_key(prompt, UI_KEY_ENTER), PROMPT_ENTERED);
  for (int i = 0; i < PROMPT_MAX_HISTORY + 10; i++) {
    g_autofree char *line = g_strdup_printf("line %d", i);
    enter(prompt, line);
  }
  prompt_open(prompt, "");
  keys(prompt, UI_KEY_UP, 2 * PROMPT_MAX_HISTORY);
  assert_string_equal(prompt_text(prompt), "line 10");
  prompt_free(prompt);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_editing),   cmocka_unit_test(test_what_is_no_text),
      cmocka_unit_test(test_leaving),   cmocka_unit_test(test_history),
      cmocka_unit_test(test_replacing), cmocka_unit_test(test_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
