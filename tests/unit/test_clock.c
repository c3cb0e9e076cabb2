#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/clock.h"

static void
test_clock(void **state)
{
  (void)state;
  Clock clock;
  clock_start(&clock, 1, 5000000);
  assert_true(clock_now(&clock, 5000000) == 0);
  assert_true(clock_now(&clock, 6000000) == TIME_SECOND);
  assert_true(clock_when(&clock, TIME_NEVER, 6000000) == -1);
  assert_true(clock_when(&clock, 0, 6000000) == 6000000);
  clock_set_speed(&clock, 10, 6000000);
  assert_true(clock_now(&clock, 6000000) == TIME_SECOND);
  assert_true(clock_now(&clock, 7000000) == 11 * TIME_SECOND);
  gint64 when = clock_when(&clock, 12 * TIME_SECOND, 7000000);
  assert_in_range(when, 7100000, 7100001);
  assert_true(clock_now(&clock, when) >= 12 * TIME_SECOND);
  clock_pause(&clock, TRUE, 7000000);
  assert_true(clock_now(&clock, 99000000) == 11 * TIME_SECOND);
  assert_true(clock_when(&clock, 12 * TIME_SECOND, 99000000) == -1);
  clock_pause(&clock, FALSE, 99000000);
  assert_true(clock_now(&clock, 99100000) == 12 * TIME_SECOND);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
