#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/pattern.h"

static Pattern *
pattern(const char *text)
{
  GError *error = NULL;
  Pattern *made = pattern_new(text, &error);

  if (made == NULL)
    fail_msg("%s: %s", text, error->message);
  return made;
}

static void
test_whole_lines(void **state)
{
  g_autoptr(Pattern) on = pattern("on|Power is (?<what>on)");
  g_autoptr(PatternMatch) match = pattern_match_new();
  const struct {
    const char *text;
    PatternResult result;
  } cases[] = {
      {"on", PATTERN_YES},          {"on\r\n", PATTERN_YES}, {"Power is on", PATTERN_YES},
      {"verification", PATTERN_NO}, {"on ", PATTERN_NO},     {"Power is on again", PATTERN_NO},
      {"ready\non", PATTERN_NO},    {"", PATTERN_NO},
  };
  (void)state;

  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    if (pattern_match(on, match, cases[i].text, strlen(cases[i].text)) != cases[i].result)
      fail_msg("\"%s\"", cases[i].text);
}

static void
test_names(void **state)
{
  g_autoptr(Pattern) dd = pattern("(?<bytes>\\d+) bytes .*, (?<seconds>[\\d.]+) s(?<rest>,.*)?");
  g_autoptr(PatternMatch) match = pattern_match_new();
  const char *line = "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.25 s";
  (void)state;

  const char *const *names = pattern_names(dd);
  assert_string_equal(names[0], "bytes");
  assert_string_equal(names[1], "seconds");
  assert_string_equal(names[2], "rest");
  assert_null(names[3]);
  assert_int_equal(pattern_match(dd, match, line, strlen(line)), PATTERN_YES);
  g_autofree char *bytes = pattern_match_get(match, "bytes");
  g_autofree char *seconds = pattern_match_get(match, "seconds");
  assert_string_equal(bytes, "1048576");
  assert_string_equal(seconds, "0.25");
  assert_null(pattern_match_get(match, "rest"));
  assert_null(pattern_match_get(match, "other"));
  assert_int_equal(pattern_match(dd, match, "x", 1), PATTERN_NO);
  assert_null(pattern_match_get(match, "bytes"));
}

static void
test_partial(void **state)
{
  g_autoptr(Pattern) out = pattern("Out(?<out>\\d\\d) In(?<in>\\d\\d) All");
  g_autoptr(PatternMatch) match = pattern_match_new();
  const char *line = "Out03 In01 All";
  (void)state;

  for (gsize length = 1; length < strlen(line); length++)
    assert_int_equal(pattern_match_partial(out, match, line, length), PATTERN_PARTIAL);
  assert_int_equal(pattern_match_partial(out, match, "E01", 3), PATTERN_NO);
  assert_int_equal(pattern_match(out, match, line, strlen(line)), PATTERN_YES);
}

/* What backtracks without end is given up, and soon. */
static void
test_hostile(void **state)
{
  g_autoptr(Pattern) bad = pattern("(a+)+b|(?:(x+x+)+y)*z");
  g_autoptr(PatternMatch) match = pattern_match_new();
  g_autofree char *text = g_strnfill(4096, 'a');
  gint64 before = g_get_monotonic_time();
  (void)state;

  PatternResult result = pattern_match(bad, match, text, 4096);
  assert_true(result == PATTERN_LIMIT || result == PATTERN_NO);
  print_message("given up after %.3f s\n", (double)(g_get_monotonic_time() - before) / 1e6);
}

static void
test_errors(void **state)
{
  g_autofree char *too_long = g_strnfill(PATTERN_MAX_LENGTH + 1, 'a');
  g_autoptr(GString) names = g_string_new(NULL);
  (void)state;

  for (int i = 0; i <= PATTERN_MAX_NAMES; i++)
    g_string_append_printf(names, "(?<n%d>a)", i);
  const char *const bad[] = {"(", "[a", "a{2,1}", "(?<a>x)(?<a>y)", "\\C", too_long, names->str};
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) error = NULL;
    assert_null(pattern_new(bad[i], &error));
    assert_non_null(error);
  }
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole_lines), cmocka_unit_test(test_names),
      cmocka_unit_test(test_partial),     cmocka_unit_test(test_hostile),
      cmocka_unit_test(test_errors),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
