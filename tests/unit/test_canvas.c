#include "ui/canvas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void
shows(const Canvas *canvas, const char *expected)
{
  g_autofree char *text = canvas_dump(canvas, FALSE);
  assert_string_equal(text, expected);
}

static void
test_clipping(void **state)
{
  (void)state;
  g_autoptr(Canvas) canvas = canvas_new(2, 6, FALSE);
  assert_int_equal(canvas_put(canvas, 0, 4, -1, STYLE_UP, "abc"), 2);
  assert_int_equal(canvas_put(canvas, 1, 0, 2, STYLE_UP, "xyz"), 2);
  canvas_put(canvas, 7, 0, -1, STYLE_UP, "nowhere");
  canvas_put(canvas, -1, 0, -1, STYLE_UP, "nowhere");
  canvas_put(canvas, 1, -1, -1, STYLE_UP, "pq"); /* its first letter is outside */
  canvas_put_right(canvas, 0, 0, 4, STYLE_NORMAL, "7");
  shows(canvas, "   7ab\nqy\n");
}

static void
test_wide_and_combining(void **state)
{
  (void)state;
  g_autoptr(Canvas) canvas = canvas_new(1, 8, FALSE);
  assert_int_equal(canvas_put(canvas, 0, 0, -1, STYLE_NORMAL, "部屋a\xcc\x88z"), 6);
  shows(canvas, "部屋a\xcc\x88z\n");
  canvas_put(canvas, 0, 1, 1, STYLE_NORMAL, "x"); /* half of 部 goes, and so does the other half */
  shows(canvas, " x屋a\xcc\x88z\n");
  canvas_put(canvas, 0, 2, 1, STYLE_NORMAL, "y");
  shows(canvas, " xy a\xcc\x88z\n");
  assert_int_equal(canvas_put(canvas, 0, 7, -1, STYLE_NORMAL, "部"),
                   0); /* no room for both halves */
  /* A hostile run of marks stays inside its cell. */
  g_autoptr(GString) marks = g_string_new("e");
  for (int i = 0; i < 100; i++)
    g_string_append(marks, "\xcc\x88");
  assert_int_equal(canvas_put(canvas, 0, 0, -1, STYLE_NORMAL, marks->str), 1);
}

static void
test_escapes(void **state)
{
  (void)state;
  g_autoptr(Canvas) canvas = canvas_new(1, 40, FALSE);
  canvas_put(canvas, 0, 0, -1, STYLE_NORMAL, "a\x1b[31m\tb\xff\xc2\x9b\xe2\x80\xae!");
  shows(canvas, "a\\x1b[31m\\x09b\\xff\\x9b\\u202e!\n");
}

static void
test_ascii(void **state)
{
  (void)state;
  g_autoptr(Canvas) canvas = canvas_new(2, 12, TRUE);
  canvas_put(canvas, 0, 0, -1, STYLE_NORMAL, "Tür 部\x01");
  canvas_bar(canvas, 1, 0, 4, STYLE_UP, 0.6);
  canvas_put(canvas, 1, 6, -1, STYLE_NORMAL, canvas_level(canvas, 1));
  shows(canvas, "T?r ??\\x01\n##+   #\n");
}

static void
test_bars(void **state)
{
  (void)state;
  g_autoptr(Canvas) canvas = canvas_new(5, 4, FALSE);
  canvas_bar(canvas, 0, 0, 4, STYLE_UP, 1);
  canvas_bar(canvas, 1, 0, 4, STYLE_UP, 0.5 + 1.0 / 32);
  canvas_bar(canvas, 2, 0, 4, STYLE_UP, 1e-9); /* a little is not nothing */
  canvas_bar(canvas, 3, 0, 4, STYLE_UP, 0);
  canvas_bar(canvas, 4, 0, 4, STYLE_UP, 7);
  shows(canvas, "████\n██▏\n▏\n\n████\n");
  assert_string_equal(canvas_level(canvas, 0.5), "▄");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clipping), cmocka_unit_test(test_wide_and_combining),
      cmocka_unit_test(test_escapes),  cmocka_unit_test(test_ascii),
      cmocka_unit_test(test_bars),
  };
  return cmocka_run_group_tests_name("canvas", tests, NULL, NULL);
}
