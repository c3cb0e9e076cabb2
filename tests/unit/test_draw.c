#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/draw.h"

/* Computed apart from this code, with unbounded integers. */
static void
test_vectors(void **state)
{
  (void)state;
  assert_true(draw_uniform(0, "", "", 0) == 0x1.961c63053b07dp-1);
  assert_true(draw_uniform(1, "start-delay", "a01", 0) == 0x1.668158ad53577p-1);
  assert_true(draw_uniform(1, "trace.a", "", 19) == 0x1.09eaad26a6d61p-1);
  assert_true(draw_uniform(20, "start-delay", "b17", 3) == 0x1.b0c759fa2107ep-1);
  assert_true(draw_uniform(G_MAXUINT64, "trace.b", "slx1", G_MAXUINT64) == 0x1.90baa310743b0p-5);
}

static void
test_key_parts_do_not_run_together(void **state)
{
  (void)state;
  double one = draw_uniform(1, "ab", "c", 0);
  assert_true(one != draw_uniform(1, "a", "bc", 0));
  assert_true(one != draw_uniform(1, "abc", "", 0));
  assert_true(one != draw_uniform(1, "ab", "c", 1));
  assert_true(one != draw_uniform(2, "ab", "c", 0));
}

#define CELLS 64
#define DRAWS 65536

typedef double (*Stream)(guint n);

static double
by_n(guint n)
{
  return draw_uniform(1, "trace.a", "", n);
}

static double
by_seed(guint n)
{
  return draw_uniform(n, "start-delay", "a01", 0);
}

static double
by_node(guint n)
{
  char node[16];
  g_snprintf(node, sizeof node, "a%02u", n);
  return draw_uniform(1, "start-delay", node, 0);
}

/* χ² of single draws and of pairs of neighbours over 64 cells: 63 degrees of freedom, so 126 is
 * more than five standard deviations off. The mean is held to four. */
static void
check_uniform(Stream stream)
{
  guint single[CELLS] = {0}, pair[CELLS] = {0};
  double sum = 0, last = stream(DRAWS);
  for (guint n = 0; n < DRAWS; n++) {
    double x = stream(n);
    assert_true(x >= 0 && x < 1);
    single[(guint)(x * CELLS)]++;
    pair[(guint)(x * 8) * 8 + (guint)(last * 8)]++;
    sum += x;
    last = x;
  }
  double expected = (double)DRAWS / CELLS, single_chi = 0, pair_chi = 0;
  for (guint i = 0; i < CELLS; i++) {
    single_chi += (single[i] - expected) * (single[i] - expected) / expected;
    pair_chi += (pair[i] - expected) * (pair[i] - expected) / expected;
  }
  assert_true(single_chi < 126 && pair_chi < 126);
  assert_true(single_chi > 25 && pair_chi > 25); /* too even is not random either */
  assert_true(fabs(sum / DRAWS - 0.5) < 4 * sqrt(1.0 / 12 / DRAWS));
}

static void
test_uniform_along_every_part_of_the_key(void **state)
{
  (void)state;
  check_uniform(by_n);
  check_uniform(by_seed);
  check_uniform(by_node);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vectors),
      cmocka_unit_test(test_key_parts_do_not_run_together),
      cmocka_unit_test(test_uniform_along_every_part_of_the_key),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
