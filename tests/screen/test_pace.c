/* The screen's pace: no second in which the lab moves more than is promised, and no endless wait.
 */
#include "ui/pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define FRAME (G_USEC_PER_SEC / 4)

static gboolean
offer(Pace *pace, gint64 now, gsize bytes)
{
  gboolean allowed = pace_allows(pace, now, bytes);
  if (allowed)
    pace_note(pace, now, bytes);
  return allowed;
}

static void
test_any_second_is_kept(void **state)
{
  Pace pace = {0};
  gint64 t[1000];
  gsize bytes[1000];
  guint n = 0, refused = 0;
  g_autoptr(GRand) random = g_rand_new_with_seed(3);
  (void)state;
  for (gint64 now = FRAME; n < G_N_ELEMENTS(t); now += FRAME) {
    gsize size = (gsize)g_rand_int_range(random, 0, PACE_BYTES + 1);
    if (!offer(&pace, now, size)) {
      refused++;
      continue;
    }
    t[n] = now;
    bytes[n++] = size;
    gsize sum = 0;
    for (guint i = n; i > 0 && now - t[i - 1] < G_USEC_PER_SEC; i--)
      sum += bytes[i - 1];
    assert_true(sum <= PACE_BYTES);
  }
  assert_true(refused > 0);
}

static void
test_small_frames_never_wait(void **state)
{
  Pace pace = {0};
  (void)state;
  for (gint64 i = 1; i <= 1000; i++)
    assert_true(offer(&pace, i * FRAME, PACE_BYTES / 4));
}

static void
test_a_frame_too_large_comes_alone(void **state)
{
  Pace pace = {0};
  (void)state;
  assert_true(offer(&pace, FRAME, 5 * PACE_BYTES));
  for (gint64 i = 2; i <= 4; i++)
    assert_false(offer(&pace, i * FRAME, 1));
  assert_true(offer(&pace, 5 * FRAME, 1));
}

/* What keys draw counts, and the lab still gets its turn. */
static void
test_keys_delay_a_second_at_most(void **state)
{
  Pace pace = {0};
  (void)state;
  for (gint64 i = 1; i <= 40; i++) {
    gint64 now = i * FRAME;
    pace_note(&pace, now - 1, PACE_BYTES);
    assert_int_equal(offer(&pace, now, 10), i % 5 == 0);
  }
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_any_second_is_kept),
      cmocka_unit_test(test_small_frames_never_wait),
      cmocka_unit_test(test_a_frame_too_large_comes_alone),
      cmocka_unit_test(test_keys_delay_a_second_at_most),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
