#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/core_private.h"
#include "tests/unit/core_lab.h"

static void
test_proof(void **state)
{
  (void)state;
  static const struct {
    const char *asked;
    double disk, data;
    CacheProof proof;
  } cases[] = {
      {"", 5, 5, PROOF_NONE},
      {"cold", 100, 100, PROOF_COLD},
      {"cold", 90, 100, PROOF_COLD},
      {"cold", 89, 100, PROOF_UNVERIFIED},
      {"cold", 500, 100, PROOF_COLD}, /* other readers, read-ahead */
      {"cold", 0, 100, PROOF_UNVERIFIED},
      {"cold", NAN, 100, PROOF_UNVERIFIED},
      {"cold", 100, NAN, PROOF_UNVERIFIED},
      {"cold", 0, 0, PROOF_UNVERIFIED}, /* nothing read proves nothing */
      {"warm", 0, 100, PROOF_WARM},
      {"warm", 5, 100, PROOF_WARM},
      {"warm", 6, 100, PROOF_UNVERIFIED},
      {"warm", NAN, 100, PROOF_UNVERIFIED},
      {"warm", 0, 0, PROOF_UNVERIFIED},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    if (cache_proof(cases[i].asked, cases[i].disk, cases[i].data) != cases[i].proof)
      fail_msg("%s, disk %g of %g", cases[i].asked, cases[i].disk, cases[i].data);
}

#define SEATS 17

/* What N seats read: BYTES of each, READERS alike. */
static double
data_of(guint n, const double bytes[], const double readers[])
{
  LoadSeat seats[SEATS];
  assert_true(n <= SEATS);
  for (guint i = 0; i < n; i++)
    seats[i] = (LoadSeat){.outcome = SEAT_OK, .bytes = bytes[i], .readers = readers[i]};
  return cache_data(seats, n);
}

static void
test_data(void **state)
{
  (void)state;
  static const struct {
    const char *what;
    guint n;
    double bytes[6], readers[6], data;
  } cases[] = {
      {"nobody", 0, {0}, {0}, 0},
      {"each its own", 3, {10, 20, 30}, {1, 1, 1}, 60},
      {"all the same", 3, {10, 10, 10}, {3, 3, 3}, 10},
      {"one came further", 3, {10, 400, 10}, {3, 3, 3}, 400},
      {"two trees by two each, whoever read which", 4, {4, 10, 6, 8}, {2, 2, 2, 2}, 16},
      {"two trees, one of them by two", 3, {5, 7, 9}, {2, 1, 2}, 16},
      {"one of three alike failed", 2, {5, 7}, {3, 3}, 7},
      {"one did not tell", 2, {5, NAN}, {2, 2}, NAN},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    double data = data_of(cases[i].n, cases[i].bytes, cases[i].readers);
    if (isnan(cases[i].data) ? !isnan(data) : data != cases[i].data)
      fail_msg("%s: %g, not %g", cases[i].what, data, cases[i].data);
  }
}

/* Sixteen that began the tree and one that read it to its end: what the sixteen took out of the
 * cache does not make its reading cold. */
static void
test_sizes_that_differ(void **state)
{
  (void)state;
  double bytes[SEATS], readers[SEATS];
  for (guint i = 0; i < SEATS; i++) {
    bytes[i] = i == 3 ? 1000 : 10;
    readers[i] = SEATS;
  }
  double data = data_of(SEATS, bytes, readers);
  assert_int_equal(cache_proof("cold", 70, data), PROOF_UNVERIFIED); /* the mean is 68 */
  assert_int_equal(cache_proof("cold", 900, data), PROOF_COLD);
  assert_int_equal(cache_proof("warm", 50, data), PROOF_WARM);
}

static void
test_failed_seats_count_nothing(void **state)
{
  (void)state;
  const LoadSeat seats[] = {{.outcome = SEAT_FAILED, .bytes = NAN, .readers = 1},
                            {.outcome = SEAT_FAILED, .bytes = 50, .readers = 1},
                            {.outcome = SEAT_OK, .bytes = 20, .readers = 1}};
  assert_true(cache_data(seats, G_N_ELEMENTS(seats)) == 20);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_data),
      cmocka_unit_test(test_sizes_that_differ),
      cmocka_unit_test(test_failed_seats_count_nothing),
      cmocka_unit_test(test_proof),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
