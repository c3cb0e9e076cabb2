#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#ifdef HAVE_SSH

#include "backends/ssh/ssh_lines.h"
#include "backends/ssh/ssh_text.h"

static void
append(const char *text, gsize length, gpointer data)
{
  assert_int_equal(text[length], 0);
  g_string_append_len(data, text, (gssize)length);
  g_string_append_c(data, '|');
}

/* TEXT in pieces of SIZE, cut into lines of MAX. */
static char *
split(const char *text, gsize length, gsize size, gsize max)
{
  GString *out = g_string_new(NULL);
  SshLines lines;
  ssh_lines_init(&lines, max);
  for (gsize i = 0; i < length; i += size)
    ssh_lines_take(&lines, text + i, MIN(size, length - i), append, out);
  ssh_lines_end(&lines, append, out);
  ssh_lines_clear(&lines);
  return g_string_free(out, FALSE);
}

/* However the bytes come, the lines are the same. */
static void
check_split(const char *text, gsize length, gsize max, const char *expected)
{
  for (gsize size = 1; size <= length; size++) {
    g_autofree char *lines = split(text, length, size, max);
    if (strcmp(lines, expected) != 0)
      fail_msg("%s instead of %s by %zu", lines, expected, (size_t)size);
  }
}

static void
test_lines(void **state)
{
  (void)state;
  check_split("a\nbc\n\nd", 7, 10, "a|bc||d|");
  check_split("a\n", 2, 10, "a|");
  check_split("\n\n", 2, 10, "||");
  check_split("abcdefgh\nxy\n", 12, 4, "abcd|efgh|xy|");
  check_split("abcd\nefghi", 10, 4, "abcd|efgh|i|");
  /* Not in the middle of a character, unless it is none. */
  check_split("abc\303\244d", 6, 4, "abc|\303\244d|");
  check_split("ab\342\202\254d", 6, 4, "ab|\342\202\254d|");
  check_split("\200\200\200\200\200\200", 6, 4, "\200\200\200\200|\200\200|");
  check_split("\360\237\230\200\360\237\230\200", 8, 6, "\360\237\230\200|\360\237\230\200|");
}

static void
check_shown(const char *text, gsize limit, const char *expected)
{
  g_autofree char *shown = ssh_printable(text, strlen(text), limit);
  assert_string_equal(shown, expected);
  g_autofree char *again = ssh_printable(shown, strlen(shown), G_MAXSIZE);
  assert_string_equal(again, expected);
}

static void
test_printable(void **state)
{
  (void)state;
  check_shown("plain \303\244\342\202\254", 100, "plain \303\244\342\202\254");
  check_shown("\033[2J\n\t\177", 100, "\\x1b[2J\\x0a\\x09\\x7f");
  check_shown("\377\303", 100, "\\xff\\xc3");
  check_shown("\302\205", 100, "\\xc2\\x85");                  /* NEL, a C1 control */
  check_shown("\342\200\256evil", 100, "\\xe2\\x80\\xaeevil"); /* right to left */
  check_shown("abcdef", 3, "abc\342\200\246");
  g_autofree char *zero = ssh_printable("a\0b", 3, 100);
  assert_string_equal(zero, "a\\x00b");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lines),
      cmocka_unit_test(test_printable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
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
