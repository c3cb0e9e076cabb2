#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/event.h"

typedef const char *(*NameFunction)(guint value);
typedef int (*ParseFunction)(const char *name);

/* WORDS, separated by blanks, are the names of 0, 1, … in order, and no other word is one. */
static void
check_words(const char *words, NameFunction name, ParseFunction parse)
{
  g_auto(GStrv) list = g_strsplit(words, " ", -1);
  for (guint i = 0; list[i] != NULL; i++) {
    assert_string_equal(name(i), list[i]);
    assert_int_equal(parse(list[i]), i);
    g_autofree char *upper = g_ascii_strup(list[i], -1);
    g_autofree char *longer = g_strconcat(list[i], "s", NULL);
    assert_int_equal(parse(upper), -1);
    assert_int_equal(parse(longer), -1);
  }
  assert_int_equal(parse(""), -1);
  assert_int_equal(parse("verification"), -1);
}

static const char *
kind_name(guint value)
{
  return event_kind_name((EventKind)value);
}

static const char *
verdict_name_of(guint value)
{
  return verdict_name((Verdict)value);
}

static const char *
operation_name_of(guint value)
{
  return operation_name((Operation)value);
}

static const char *
severity_name_of(guint value)
{
  return severity_name((Severity)value);
}

static void
test_words(void **state)
{
  (void)state;
  check_words("link command wake result line samples observe request cancel done note figure "
              "expect plan",
              kind_name, event_kind_parse);
  check_words("ok failed timeout unknown cancelled unsupported partial unconfirmed refused",
              verdict_name_of, verdict_parse);
  check_words("status on off reset boot-device keys type route exec signal watch get set message",
              operation_name_of, operation_parse);
  check_words("info warning error", severity_name_of, severity_parse);
}

static void
test_outputs(void **state)
{
  (void)state;
  for (int i = 0; i < EVENT_N_KINDS; i++)
    assert_int_equal(event_is_output((EventKind)i), i > EVENT_OBSERVE);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_outputs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
