#include "model/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
assert_press(const Layout *layout, LayoutBootWhere where, const char *entry, const char *keys)
{
  const char *const *press = layout_boot_press(layout, where, entry);
  g_autofree char *all = press != NULL ? g_strjoinv(" ", (char **)press) : NULL;

  if (keys == NULL)
    assert_null(all);
  else
    assert_string_equal(all, keys);
}

static Layout *
parse(const char *keys, GError **error)
{
  g_autofree char *text = g_strdup_printf("lab: x\nboot: {keys: %s}\n", keys);

  return layout_parse("x.yaml", text, strlen(text), error);
}

static void
test_keys(void **state)
{
  g_autoptr(Layout) layout = parse("{firmware: {after: 500 ms, press: f12}, menu: {after: 0 s, "
                                   "press: {one: Enter, 'two::nbd': Down  ctrl-return}}}",
                                   NULL);
  g_autoptr(Layout) any = parse("{menu: {after: 2 min, press: Enter}}", NULL);
  (void)state;

  assert_non_null(layout);
  assert_int_equal(layout->boot_keys[LAYOUT_IN_FIRMWARE].after, 500 * TIME_MS);
  assert_press(layout, LAYOUT_IN_FIRMWARE, "one", "F12");
  assert_press(layout, LAYOUT_IN_MENU, "one", "Enter");
  assert_press(layout, LAYOUT_IN_MENU, "two::nbd", "Down Ctrl-Enter");
  assert_press(layout, LAYOUT_IN_MENU, "three", NULL);
  assert_non_null(any);
  assert_press(any, LAYOUT_IN_FIRMWARE, "three", NULL);
  assert_press(any, LAYOUT_IN_MENU, "three", "Enter");
}

static void
test_errors(void **state)
{
  static const struct {
    const char *keys, *said;
  } cases[] = {
      {"{}", "one of \"firmware\" and \"menu\" has to be there"},
      {"{bios: {after: 1 s, press: F12}}", "bios"},
      {"{firmware: {press: F12}}", "after"},
      {"{firmware: {after: 1 s}}", "press"},
      {"{firmware: {after: 2 h, press: F12}}", "2 h"},
      {"{firmware: {after: 1 s, press: {a: F12}}}", "what is pressed in firmware is one for all"},
      {"{firmware: {after: 1 s, press: F13}}", "there is no key \"F13\"; did you mean \"F1"},
      {"{firmware: {after: 1 s, press: ' '}}", "0 keys to press"},
      {"{menu: {after: 1 s, press: {}}}", "0 entries: 1 to 64"},
      {"{menu: {after: 1 s, press: [Down]}}", "keys are due here"},
      {"{menu: {after: 1 s, press: {a: [Down]}}}", "a"},
  };
  (void)state;

  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(Layout) layout = parse(cases[i].keys, &error);
    if (layout != NULL || strstr(error->message, cases[i].said) == NULL)
      fail_msg("%s: %s", cases[i].keys, error != NULL ? error->message : "no error");
  }
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_keys),
      cmocka_unit_test(test_errors),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
