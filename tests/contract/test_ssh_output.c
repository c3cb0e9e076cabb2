#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/resource.h>

#ifdef HAVE_SSH

#include "tests/contract/sshd_group.h"

static void
test_binary(void **state)
{
  (void)state;
  sshd_group_need_lab();
  sshd_lab_open(lab, "", "", "");
  guint32 odd = sshd_lab_exec(
      lab, "h1", "printf 'a\\000b\\033[2J\\377\\r\\n'; printf '\\303\\244\\n\\n'; printf 'x' >&2",
      30);
  sshd_lab_expect(lab, odd, "h1", VERDICT_OK);
  assert_non_null(strstr(lab->lines->str, "h1 out a\\x00b\033[2J\377\r\n"));
  assert_non_null(strstr(lab->lines->str, "h1 out \303\244\nh1 out \n"));
  assert_non_null(strstr(lab->lines->str, "h1 err x\n"));
  sshd_lab_close(lab);
}

static void
test_long_line(void **state)
{
  (void)state;
  sshd_group_need_lab();
  sshd_lab_open(lab, "", "", "");
  guint32 line =
      sshd_lab_exec(lab, "h1", "head -c 10000000 /dev/zero | tr '\\0' y; echo; echo z", 90);
  sshd_lab_expect(lab, line, "h1", VERDICT_OK);
  assert_true(lab->longest <= 4096);
  assert_true(lab->n_bytes <= 1024 * 1024 + 200);
  assert_true(lab->n_bytes > 1000 * 1000);
  assert_non_null(strstr(lab->last, "bytes of output more than 1048576 are not shown"));
  sshd_lab_close(lab);
}

/* What the process has at most had; AddressSanitizer keeps what was freed, so there it is what is
 * allocated now. */
#ifdef __SANITIZE_ADDRESS__
gsize __sanitizer_get_current_allocated_bytes(void);

static glong
memory_kib(void)
{
  return (glong)(__sanitizer_get_current_allocated_bytes() / 1024);
}
#else
static glong
memory_kib(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}
#endif

/* A gigabyte from one host, and meanwhile the other answers. */
static void
test_flood(void **state)
{
  (void)state;
  sshd_group_need_lab();
  sshd_lab_open(lab, "", "", "");
  guint32 first = sshd_lab_exec(lab, "h1", "yes | head -c 10000000", 60);
  sshd_lab_expect(lab, first, "h1", VERDICT_OK);
  glong before = memory_kib();
  guint32 flood = sshd_lab_exec(lab, "h1",
                                "yes 0123456789012345678901234567890123456789012345678 | "
                                "head -c 1000000000; echo end >&2",
                                170);
  guint32 beside = sshd_lab_exec(lab, "h2", "true", 20);
  sshd_lab_expect(lab, beside, "h2", VERDICT_OK);
  assert_true(backend_check_verdict(lab->check, flood, sshd_lab_node(lab, "h1")) < 0);
  sshd_lab_expect(lab, flood, "h1", VERDICT_OK);
  assert_true(lab->n_bytes <= 2 * 1024 * 1024 + 400);
  assert_non_null(strstr(lab->last, "998930"));
  assert_true(memory_kib() - before < 32 * 1024);
  sshd_lab_close(lab);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_binary),
      cmocka_unit_test(test_long_line),
      cmocka_unit_test(test_flood),
  };
  return cmocka_run_group_tests(tests, sshd_group_set_up, sshd_group_tear_down);
}

#else

#include <stdio.h>

int
main(void)
{
  puts("built without libssh");
  return 77;
}

#endif
