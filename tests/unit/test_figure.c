#include "core/figure.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
near(double value, double expected)
{
  if (!(fabs(value - expected) <= 1e-9 * fabs(expected) + 1e-12))
    fail_msg("%.12f is not %.12f", value, expected);
}

static void
test_statistics(void **state)
{
  (void)state;
  const double values[] = {5, 1, 4, 2, 3};
  near(stats_mean(values, 5), 3);
  near(stats_percentile(values, 5, 0.5), 3);
  near(stats_percentile(values, 5, 0), 1);
  near(stats_percentile(values, 5, 1), 5);
  near(stats_percentile(values, 5, 0.9), 4.6);
  near(stats_percentile(values, 4, 0.5), 3); /* of 5 1 4 2 */
  assert_true(isnan(stats_mean(values, 0)));
  assert_true(isnan(stats_percentile(values, 0, 0.5)));
  near(values[0], 5); /* left as they were */
}

/* Ranks from the tables of the sign test: n = 6: 1, 9: 2, 20: 6, 100: 40. */
static void
test_median_interval(void **state)
{
  (void)state;
  static const struct {
    guint n, low;
  } known[] = {{6, 1}, {9, 2}, {20, 6}, {100, 40}};
  double values[100], low, high;
  for (guint i = 0; i < 100; i++)
    values[i] = 100 - i; /* 1 … 100, backwards */
  assert_false(stats_median_interval(values, 5, &low, &high));
  for (guint k = 0; k < G_N_ELEMENTS(known); k++) {
    guint n = known[k].n;
    assert_true(stats_median_interval(values + 100 - n, n, &low, &high));
    near(low, known[k].low);
    near(high, n + 1 - known[k].low);
  }
}

static void
count(const char *label, const char *name, const Figure *figure, gpointer data)
{
  (void)figure;
  g_string_append_printf(data, "%s.%s ", label, name);
}

static void
test_figures(void **state)
{
  (void)state;
  g_autoptr(Figures) figures = figures_new();
  const double first[] = {18, 20}, second[] = {19, 23};
  Figure figure;
  figures_add_values(figures, "one", "boot", "s", first, 2);
  figures_add(figures, "one", "ok", "", 2, 2);
  g_autoptr(Figures) copy = figures_clone(figures);
  figures_add_values(figures, "one", "boot", "s", second, 2);
  figures_add(figures, "one", "ok", "", 1, 2);

  assert_true(figures_get(figures, "one", "boot.mean", &figure));
  near(figure.value, 20);
  assert_string_equal(figure.unit, "s");
  assert_int_equal(figure.n, 4);
  assert_int_equal(figure.runs, 2);
  assert_true(figures_get(figures, "one", "boot.max", &figure));
  near(figure.value, 23);
  assert_true(figures_get(figures, "one", "ok", &figure));
  near(figure.value, 1.5); /* the median over runs */
  assert_int_equal(figure.runs, 2);

  assert_true(figures_get(copy, "one", "boot.mean", &figure));
  near(figure.value, 19);
  assert_false(figures_get(figures, "one", "boot", &figure));
  assert_false(figures_get(figures, "one", "boot.mode", &figure));
  assert_false(figures_get(figures, "two", "boot.mean", &figure));

  g_autofree char *nearest = figures_nearest(figures, "one", "boot.meen");
  assert_string_equal(nearest, "one.boot.mean");
  g_autoptr(GString) names = g_string_new(NULL);
  figures_visit(figures, "one", count, names);
  assert_string_equal(
      names->str, "one.boot.mean one.boot.median one.boot.min one.boot.max one.boot.p90 one.ok ");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_statistics),
      cmocka_unit_test(test_median_interval),
      cmocka_unit_test(test_figures),
  };
  return cmocka_run_group_tests_name("figure", tests, NULL, NULL);
}
