#include "session/report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void
figure(Report *report, const char *name, double value, const char *unit, guint n)
{
  Event event = {
      .kind = EVENT_FIGURE,
      .figure = {.label = "nfs16", .name = name, .value = value, .unit = unit, .n = n, .runs = 1}};
  report_add(report, &event);
}

static void
expect(Report *report, const char *text, gboolean held, double value)
{
  Event event = {.kind = EVENT_EXPECT, .expect = {text, held, value}};
  report_add(report, &event);
}

static char *
printed(const Report *report)
{
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  report_print(report, out);
  fclose(out);
  return text;
}

/* Numbers below their heads, units in a column of their own, no column that nothing stands in. */
static void
test_tables(void **state)
{
  (void)state;
  g_autoptr(Report) report = report_new();
  figure(report, "stage.kernel.mean", 0.5, "s", 16);
  figure(report, "stage.kernel.max", 0.512, "s", 16);
  figure(report, "ok", 16, "", 16);
  figure(report, "rate.max", 0.117688e9, "bit/s", 1);
  figure(report, "rate.sum", 1.88e9, "bit/s", 1);
  expect(report, "expect nfs16.rate.sum within 1.8 Gbit/s +-8%", TRUE, 1.88e9);
  expect(report, "try expect nfs16.ok >= 17", FALSE, 16);
  expect(report, "expect nfs16.missing < 1 s", FALSE, NAN);
  g_autofree char *text = printed(report);
  assert_string_equal(text, "figure             mean   max  sum         n runs\n"
                            "nfs16.stage.kernel  500   512      ms     16    1\n"
                            "nfs16.ok             16                   16    1\n"
                            "nfs16.rate              0.118 1.88 Gbit/s  1    1\n"
                            "\n"
                            "held     1.88 Gbit/s expect nfs16.rate.sum within 1.8 Gbit/s +-8%\n"
                            "NOT held   16        try expect nfs16.ok >= 17\n"
                            "NOT held none        expect nfs16.missing < 1 s\n"
                            "1 of 2 expectations held; 1 more only compared\n");
}

static void
test_nothing(void **state)
{
  (void)state;
  g_autoptr(Report) report = report_new();
  g_autofree char *text = printed(report);
  assert_string_equal(text, "");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tables),
      cmocka_unit_test(test_nothing),
  };
  return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
