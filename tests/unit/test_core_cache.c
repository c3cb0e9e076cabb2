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

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_proof),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
