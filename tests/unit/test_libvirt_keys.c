/* Every key of the command language has a number of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#ifdef HAVE_LIBVIRT

#include <linux/input-event-codes.h>

#include "backends/libvirt/libvirt_keys.h"
#include "model/keyboard.h"

static void
test_every_key(void **state)
{
  const char *const *keys = keyboard_keys();
  gboolean taken[KEY_MAX + 1] = {FALSE};
  guint codes[LIBVIRT_KEYS_HELD];
  (void)state;
  for (guint i = 0; keys[i] != NULL; i++) {
    if (libvirt_keys_read(keys[i], codes) != 1)
      fail_msg("%s has no number", keys[i]);
    if (codes[0] == KEY_RESERVED || codes[0] > KEY_MAX || taken[codes[0]])
      fail_msg("%s has the number %u", keys[i], codes[0]);
    taken[codes[0]] = TRUE;
  }
}

static void
test_numbers(void **state)
{
  static const struct {
    const char *key;
    guint n, codes[3];
  } cases[] = {
      {"Ctrl-Alt-Delete", 3, {KEY_LEFTCTRL, KEY_LEFTALT, KEY_DELETE}},
      {"Shift-z", 2, {KEY_LEFTSHIFT, KEY_Z}},
      {"0", 1, {KEY_0}},
      {"1", 1, {KEY_1}},
      {"9", 1, {KEY_9}},
      {"F10", 1, {KEY_F10}},
      {"F12", 1, {KEY_F12}},
      {"F13", 0, {0}},
      {"Down-", 0, {0}},
      {"", 0, {0}},
      {"\xc3", 0, {0}},
      {"a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a", 0, {0}}, /* 17 */
  };
  guint codes[LIBVIRT_KEYS_HELD];
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    assert_int_equal(libvirt_keys_read(cases[i].key, codes), cases[i].n);
    assert_memory_equal(codes, cases[i].codes, cases[i].n * sizeof *codes);
  }
}

/* What is typed is made of keys, too. */
static void
test_typed(void **state)
{
  guint codes[LIBVIRT_KEYS_HELD];
  (void)state;
  g_auto(GStrv) keys = keyboard_type(KEYBOARD_DE, "z@\xc3\xa4?\n", NULL);
  assert_int_equal(g_strv_length(keys), 5);
  static const guint expected[][2] = {
      {KEY_Y}, {KEY_RIGHTALT, KEY_Q}, {KEY_APOSTROPHE}, {KEY_LEFTSHIFT, KEY_MINUS}, {KEY_ENTER}};
  for (guint i = 0; keys[i] != NULL; i++) {
    guint n = libvirt_keys_read(keys[i], codes);
    assert_int_equal(n, expected[i][1] != 0 ? 2 : 1);
    assert_memory_equal(codes, expected[i], n * sizeof *codes);
  }
}

int
main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_key),
                                     cmocka_unit_test(test_numbers), cmocka_unit_test(test_typed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

#include <stdio.h>

int
main(void)
{
  puts("built without libvirt");
  return 77;
}

#endif
