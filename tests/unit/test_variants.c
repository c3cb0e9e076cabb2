#include "session/variants.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void
say(Variants *variants, const char *text)
{
  Event event = {.kind = EVENT_COMMAND, .command = {1, text, text, -1}};
  variants_add(variants, &event);
}

static void
expect(Variants *variants, const char *text, gboolean held, double value)
{
  Event event = {.kind = EVENT_EXPECT, .expect = {text, held, value}};
  variants_add(variants, &event);
}

static char *
printed(const Variants *variants)
{
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  variants_print(variants, out);
  fclose(out);
  return text;
}

static void
test_side_by_side(void **state)
{
  (void)state;
  g_autoptr(Variants) variants = variants_new();
  say(variants, "mark \"room A: peak\"");
  expect(variants, "expect a_out_H4.bond.tx.peak within 270 MiB/s +-8%", TRUE, 267 * 8 * 1048576.0);
  say(variants, "mark \"16 clients: mean\"");
  expect(variants, "try expect b_H4.boot.mean within 22 s +-8%", TRUE, 22);
  assert_false(variants_has_table(variants));
  expect(variants, "try expect a_out_H1.bond.tx.peak within 270 MiB/s +-8%", FALSE,
         357 * 8 * 1048576.0);
  expect(variants, "expect c_H1.ok >= 17", TRUE, 17); /* no mark: named by its figure */
  expect(variants, "expect b_H1.boot.mean within 22 s +-8%", FALSE, NAN);
  expect(variants, "expect c_H4.failed <= 0", TRUE, 0); /* a bound has no percents */
  expect(variants, "expect plain.boot.mean within 22 s +-8%", TRUE, 22); /* no variant */
  assert_true(variants_has_table(variants));
  g_autofree char *text = printed(variants);
  assert_string_equal(
      text, "expected                         H4         H1\n"
            "room A: peak     270 MiB/s  267  -1%   357 +32%!\n"
            "16 clients: mean      22 s 22.0  +0%      none X\n"
            "c.ok                 >= 17              17\n"
            "c.failed              <= 0    0\n"
            "% difference; ! known mismatch, only compared; X expected to hold and did not\n");
}

static void
figure(Variants *variants, const char *label, const char *name)
{
  Event event = {.kind = EVENT_FIGURE, .figure = {label, name, 1, "", 1, 1}};
  variants_add(variants, &event);
}

/* Of a load and of what was measured beside it; other loads have nothing to do with it. */
static void
test_unverified(void **state)
{
  (void)state;
  g_autoptr(Variants) variants = variants_new();
  say(variants, "measure bond during d_H4 as out_H4");
  say(variants, "measure bond during d_H1 as out_H1");
  say(variants, "measure bond for 5 s as idle_H4");
  figure(variants, "d_H4", "unverified");
  figure(variants, "d_H1", "rate.sum");
  for (int i = 0; i < 2; i++) {
    const char *variant = i ? "H1" : "H4";
    static const char *const names[] = {"d_%s.ok >= 1", "out_%s.bond.tx.peak > 1 bit/s",
                                        "idle_%s.bond.tx.peak > 1 bit/s"};
    for (guint n = 0; n < G_N_ELEMENTS(names); n++) {
      g_auto(GStrv) parts = g_strsplit(names[n], "%s", 2);
      g_autofree char *text = g_strconcat("expect ", parts[0], variant, parts[1], NULL);
      expect(variants, text, TRUE, 1);
    }
  }
  g_autofree char *text = printed(variants);
  assert_string_equal(
      text, "expected                          H4         H1\n"
            "d.ok                   >= 1    1          1\n"
            "  caches                    unverified\n"
            "out.bond.tx.peak  > 1 bit/s 1.00       1.00\n"
            "  caches                    unverified\n"
            "idle.bond.tx.peak > 1 bit/s 1.00       1.00\n"
            "% difference; ! known mismatch, only compared; X expected to hold and did not\n");
}

static void
test_bounded(void **state)
{
  (void)state;
  g_autoptr(Variants) variants = variants_new();
  for (int i = 0; i < 20; i++) {
    g_autofree char *text = g_strdup_printf("expect a_v%d.ok >= 1", i);
    expect(variants, text, TRUE, 1);
  }
  g_autofree char *text = printed(variants);
  assert_non_null(g_strstr_len(text, -1, "v7"));
  assert_null(g_strstr_len(text, -1, "v8"));
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_side_by_side),
      cmocka_unit_test(test_unverified),
      cmocka_unit_test(test_bounded),
  };
  return cmocka_run_group_tests_name("variants", tests, NULL, NULL);
}
