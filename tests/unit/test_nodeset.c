#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/nodeset.h"

static void
check_fold(const char *text, guint count, const char *folded)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Nodeset) set = nodeset_parse(text, NULL, NULL, &error);
  if (!set)
    fail_msg("%s: %s", text, error->message);
  g_autofree char *got = nodeset_fold(set);
  assert_string_equal(got, folded);
  assert_int_equal(nodeset_count(set), count);
}

static void
check_names(const char *text, const char *names)
{
  g_autoptr(Nodeset) set = nodeset_parse(text, NULL, NULL, NULL);
  assert_non_null(set);
  g_autoptr(GString) got = g_string_new(NULL);
  for (guint i = 0; i < nodeset_count(set); i++)
    g_string_append_printf(got, "%s%s", i ? " " : "", nodeset_name(set, i));
  assert_string_equal(got->str, names);
}

static void
check_refused_with(const char *text, NodesetGroupFunc groups, const char *message)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Nodeset) set = nodeset_parse(text, groups, NULL, &error);
  if (set)
    fail_msg("%.80s was accepted", text);
  assert_true(error->domain == NODESET_ERROR);
  assert_string_equal(error->message, message);
}

static void
check_refused(const char *text, const char *message)
{
  check_refused_with(text, NULL, message);
}

static void
test_ranges(void **state)
{
  (void)state;
  check_fold("a[01-17,20]", 18, "a[01-17,20]");
  check_fold("a[0-8/2]", 5, "a[0,2,4,6,8]");
  check_fold("a[3,1,2],a2,a4", 4, "a[1-4]");
  check_fold("a7", 1, "a7");
  check_fold("login,a1", 2, "a1,login");
  check_fold("a[1-3]-ib", 3, "a[1-3]-ib");
  check_fold("a[-2-1]", 4, "a[-2-1]");
  check_fold("", 0, "");
  check_fold(" \t", 0, "");
  check_refused("a[5-1]", "\"5-1\": the range ends before it begins");
  check_refused("a[1-]", "\"1-\": not a number, nor a range FROM-TO or FROM-TO/STEP");
  check_refused("a[1-3/0]", "\"1-3/0\": the step must be at least 1");
  check_refused("a[1-3/x]", "\"1-3/x\": the step is not a number");
  check_refused("a[1,]", "\"\": empty range");
  check_refused("a[5/2]", "\"5/2\": a step needs a range FROM-TO before it");
  check_refused("a[0-1000000000]", "\"0-1000000000\": the range is too wide");
}

static void
test_padding(void **state)
{
  (void)state;
  check_fold("a[1-10],a[08-11]", 13, "a[1-9,08-11]"); /* both have the 10 and 11 */
  check_fold("a[9-10,09-10]", 3, "a[9,09-10]");
  check_fold("a[098-101]", 4, "a[098-101]");
  check_fold("a0,a00,a000", 3, "a[0,00,000]");
  check_fold("a[09,98-100]", 4, "a[09,98-99,100]"); /* ClusterShell does not write 98-100 here */
  check_refused("a[1-05]", "\"1-05\": both ends need the same number of digits");
  check_refused("a[-05]", "\"-05\": a negative number cannot be padded with zeros");
}

static void
test_operators(void **state)
{
  (void)state;
  check_fold("a[1-5]!a[2-3]", 3, "a[1,4-5]");
  check_fold("a[1-5]&a[4-9]", 2, "a[4-5]");
  check_fold("a[1-5]^a[4-9]", 7, "a[1-3,6-9]");
  check_fold("a[1-5]!a3,a3", 5, "a[1-5]"); /* from left to right */
  check_fold("b,a ! b & a", 1, "a");
  check_fold("a[1-3]!a[1-3]", 0, "");
  check_fold("a1!b1", 1, "a1");
  check_fold("a^a", 0, "");
  check_refused("a,", "\",\": a node set is missing beside the operator");
  check_refused("!a", "\"!\": a node set is missing beside the operator");
  check_refused("a,,b", "\",\": a node set is missing beside the operator");
}

static void
test_brackets(void **state)
{
  (void)state;
  check_fold("a1[2-3]", 2, "a[12-13]");
  check_fold("a[1-2]3", 2, "a[13,23]");
  check_fold("a1[1-2]3", 2, "a[113,123]");
  check_fold("[1-3]", 3, "[1-3]");
  check_refused("a[1", "\"a[1\": a bracket is not closed");
  check_refused("a1]", "\"a1]\": a bracket closes that was not opened");
  check_refused("a[1]]", "\"]\": a bracket closes that was not opened");
  check_refused("a[1][2]", "\"a[1][2]\": a bracket follows another without a word between them");
  check_refused("a[1-3/2]5", "\"1-3/2\": digits behind a bracket with a step");
}

static void
test_several_numbers(void **state)
{
  (void)state;
  check_fold("r[1-2]n[1-4]", 8, "r[1-2]n[1-4]");
  check_fold("r1n1,r2n2", 2, "r1n1,r2n2");
  check_fold("r1n1,r2n1,r1n2,r2n2", 4, "r[1-2]n[1-2]");
  check_fold("a[1-3]b[1-3]!a2b2", 8, "a[1,3]b[1-3],a2b[1,3]");
  check_fold("10.0.[0-1].[1-3],10.0.2.1", 7, "10.0.[0-1].[1-3],10.0.2.1");
  check_names("r[1-2]n[9-10]", "r1n9 r1n10 r2n9 r2n10");
  check_names("a1b[8-9],a2b[1-3]", "a2b1 a2b2 a2b3 a1b8 a1b9"); /* the larger box first */
}

static void
test_names(void **state)
{
  (void)state;
  g_autoptr(Nodeset) set = nodeset_parse("b2,a[9-11],a%s,login", NULL, NULL, NULL);
  assert_non_null(set);
  assert_string_equal(nodeset_name(set, 0), "a%s");
  assert_string_equal(nodeset_name(set, 1), "a9");
  assert_string_equal(nodeset_name(set, 3), "a11");
  assert_string_equal(nodeset_name(set, 5), "login");
  for (guint i = 0; i < nodeset_count(set); i++)
    assert_true(nodeset_contains(set, nodeset_name(set, i)));
  for (const char *const *name = (const char *const[]){"a8", "a09", "a", "b", "a[9-11]", "", NULL};
       *name; name++)
    assert_false(nodeset_contains(set, *name));
}

static void
test_combine(void **state)
{
  (void)state;
  g_autoptr(Nodeset) set = nodeset_parse("a[1-5]", NULL, NULL, NULL);
  g_autoptr(Nodeset) other = nodeset_parse("a[4-8]", NULL, NULL, NULL);
  assert_string_equal(nodeset_name(set, 4), "a5");
  assert_true(nodeset_combine(set, ',', other, NULL));
  assert_int_equal(nodeset_count(set), 8);
  assert_string_equal(nodeset_name(set, 7), "a8");
  assert_true(nodeset_combine(set, '!', other, NULL));
  assert_int_equal(nodeset_count(set), 3);
  assert_true(nodeset_combine(set, '^', other, NULL));
  assert_true(nodeset_combine(set, '&', other, NULL));
  g_autofree char *folded = nodeset_fold(set);
  assert_string_equal(folded, "a[4-8]");
  assert_int_equal(nodeset_count(other), 5);
}

static void
test_fold_names(void **state)
{
  (void)state;
  const char *const names[] = {"a3", "login", "a1", "a2", "a1", " b7 ", "x,[1"};
  g_autofree char *folded = nodeset_fold_names(names, G_N_ELEMENTS(names));
  assert_string_equal(folded, "a[1-3],b7,login,x,[1");
  g_autofree char *nothing = nodeset_fold_names(NULL, 0);
  assert_string_equal(nothing, "");
  const char *const beyond[] = {"1.2.3.4.5.6.7.8.9%", "a1"};
  g_autofree char *plain = nodeset_fold_names(beyond, G_N_ELEMENTS(beyond));
  assert_string_equal(plain, "1.2.3.4.5.6.7.8.9%,a1");
}

static char *
give_group(const char *name, gpointer data, GError **error)
{
  (void)data;
  if (g_str_has_prefix(name, "deep")) {
    int depth = name[4] - 'a';
    return depth == 0 ? g_strdup("a1") : g_strdup_printf("@deep%c", 'a' + depth - 1);
  }
  const char *const texts[] = {"roomA", "a[1-4]",
                               "roomB", "b[1-2]",
                               "rooms", "@room[A,B]",
                               "all",   "@roomA,@roomB",
                               "loop",  "a1,@loop",
                               "none",  "",
                               "1",     "a1",
                               "2",     "a2",
                               "bad",   "a[",
                               "bomb0", "a[1-60000]",
                               "bomb1", "@bomb0&@all,@bomb0&@all"};
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i += 2)
    if (g_str_equal(name, texts[i]))
      return g_strdup(texts[i + 1]);
  g_set_error(error, NODESET_ERROR, 0, "no group \"%s\"", name);
  return NULL;
}

static void
check_group(const char *text, const char *folded)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Nodeset) set = nodeset_parse(text, give_group, NULL, &error);
  if (!set)
    fail_msg("%s: %s", text, error->message);
  g_autofree char *got = nodeset_fold(set);
  assert_string_equal(got, folded);
}

static void
test_groups(void **state)
{
  (void)state;
  check_group("@roomA", "a[1-4]");
  check_group("@all!a2,c", "a[1,3-4],b[1-2],c");
  check_group("a[3-9]&@roomA", "a[3-4]");
  check_group("@[1-2]", "a[1-2]");
  check_group("@none", "");
  check_group("@roomA!@none", "a[1-4]");
  check_group("a*", "a[1-4]");
  check_group("@all!?[1,3]", "a[2,4],b2");
  check_group("x*", "");
  check_refused("@roomA", "\"roomA\": no groups are known here");
  check_refused("a*", "\"all\": no groups are known here");
  check_refused_with("@attic", give_group, "no group \"attic\"");
  check_refused_with("@bad", give_group, "\"a[\": a bracket is not closed");
}

static void
test_group_nesting(void **state)
{
  (void)state;
  check_group("@deepp", "a1"); /* 16 groups, one in the other */
  const char *too_deep = "\"deepa\": groups are nested too deeply, or name each other";
  check_refused_with("@deepq", give_group, too_deep);
  check_refused_with("@loop", give_group,
                     "\"loop\": groups are nested too deeply, or name each other");
}

/* Twice the text before it, sixteen times over. */
static char *
give_doubling(const char *name, gpointer data, GError **error)
{
  (void)error;
  ++*(guint *)data;
  return *name == 'a' ? g_strdup("n1,n2,n3")
                      : g_strdup_printf("@%c,@%c,@%c", *name - 1, *name - 1, *name - 1);
}

static char *
give_large(const char *name, gpointer data, GError **error)
{
  (void)name;
  (void)error;
  ++*(guint *)data;
  return g_strdup("n[1-60000]");
}

static void
test_work_is_bounded(void **state)
{
  (void)state;
  guint asked = 0;
  g_autoptr(GError) error = NULL;
  assert_null(nodeset_parse("@o", give_doubling, &asked, &error));
  assert_true(asked <= 65536);
  assert_string_equal(error->message, "more than 65536 operands, those of groups included");
  g_clear_error(&error);
  asked = 0;
  assert_null(nodeset_parse("@g[1-60000]", give_large, &asked, &error));
  assert_true(asked > 0 && asked < 5000);
  assert_true(g_str_has_prefix(error->message, "too much to work out"));
}

static char *
repeat(const char *part, guint n)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < n; i++)
    g_string_append(text, part);
  return g_string_free(text, FALSE);
}

static void
test_text_limit(void **state)
{
  (void)state;
  g_autofree char *longest = repeat("a1, ", 65536 / 4 - 1);
  g_autofree char *fits = g_strconcat(longest, "aa12", NULL);
  check_fold(fits, 2, "a1,aa12");
  g_autofree char *longer = g_strconcat(longest, "aa123", NULL);
  check_refused(longer, "a node set's text has at most 64 KiB");
  check_refused("a\xff", "a node set's text must be UTF-8");
}

static void
test_names_limit(void **state)
{
  (void)state;
  check_fold("a[00001-65536]", 65536, "a[00001-65536]");
  check_fold("a[1-256]b[1-256]", 65536, "a[1-256]b[1-256]");
  check_fold("a[1-65536],a[1-65536],a[2-9]", 65536, "a[1-65536]");
  check_refused("a[1-65536],b[1-65536]!b[1-65536]", "more than 65536 names");
  check_fold("a1[-599-600/3]", 1599, "a[1-1599]"); /* 400 ranges of up to 1600 */
  check_refused("a1[-16000-64000/2]", "more than 65536 names");
  check_refused("a[1-65537]", "more than 65536 names");
  check_refused("a[1-65536],b", "more than 65536 names");
  check_refused("a[1-257]b[1-256]", "more than 65536 names");
  check_refused("a[1-65536,70001-135536,140001-140002]", "more than 65536 names");
  g_autoptr(Nodeset) set = nodeset_parse("a[1-65535],b", NULL, NULL, NULL);
  g_autoptr(Nodeset) other = nodeset_parse("c,b", NULL, NULL, NULL);
  g_autoptr(GError) error = NULL;
  assert_false(nodeset_combine(set, ',', other, &error));
  assert_string_equal(error->message, "more than 65536 names");
}

static void
test_name_limits(void **state)
{
  (void)state;
  check_fold("1.2.3.4.5.6.7.[8-9]", 2, "1.2.3.4.5.6.7.[8-9]");
  check_refused("1.2.3.4.5.6.7.8.9", "a node name has at most 8 numbers");
  check_refused("1.2.3.4.5.6.7.8.[9]", "a node name has at most 8 numbers");
  g_autofree char *a254 = repeat("a", 254), *zeros = repeat("0", 256);
  g_autofree char *longest = g_strconcat(a254, "[1-9]", NULL);
  g_autofree char *folded = g_strdup(longest);
  check_fold(longest, 9, folded);
  g_autofree char *longer = g_strconcat(a254, "[1-10]", NULL);
  check_refused(longer, "a node name has at most 255 bytes");
  check_fold("a1000000000000000000000000000000000000", 1, "a1000000000000000000000000000000000000");
  check_refused("a1000000000000000000000000000000000001",
                "\"1000000000000000000000000000000000001\": "
                "the number is too large for a node name");
  check_fold("a99999999999999999999,a100000000000000000000", 2,
             "a[99999999999999999999-100000000000000000000]");
  g_autofree char *padded = g_strconcat("a[", zeros, "]", NULL);
  g_autoptr(GError) error = NULL;
  assert_null(nodeset_parse(padded, NULL, NULL, &error));
  assert_true(g_str_has_suffix(error->message, "too many zeros for a node name"));
}

/* What is printed names the same set, and prints as itself. */
static void
test_folding_loses_nothing(void **state)
{
  (void)state;
  guint32 seed = 1;
  for (guint round = 0; round < 200; round++) {
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < round; i++) {
      seed = seed * 1664525u + 1013904223u;
      g_ptr_array_add(names, g_strdup_printf("r%un%0*u", (seed >> 16) % 7, 1 + (seed >> 30) % 2,
                                             (seed >> 24) % 13));
    }
    g_autofree char *folded = nodeset_fold_names((const char *const *)names->pdata, names->len);
    g_autoptr(Nodeset) set = nodeset_parse(folded, NULL, NULL, NULL);
    assert_non_null(set);
    g_autoptr(GHashTable) unique = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < names->len; i++) {
      assert_true(nodeset_contains(set, names->pdata[i]));
      g_hash_table_add(unique, names->pdata[i]);
    }
    assert_int_equal(nodeset_count(set), g_hash_table_size(unique));
    g_autofree char *again = nodeset_fold(set);
    assert_string_equal(again, folded);
  }
}

static void
test_error_text_is_printable(void **state)
{
  (void)state;
  check_refused("a[\033\xc2\x9b é]", "\"\\x1b\\xc2 é\": not a number, nor a range FROM-TO or "
                                     "FROM-TO/STEP");
  g_autofree char *words = repeat("ab", 100);
  g_autofree char *text = g_strconcat(words, "]", NULL);
  g_autoptr(GError) error = NULL;
  assert_null(nodeset_parse(text, NULL, NULL, &error));
  assert_true(strlen(error->message) < 120);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ranges),
      cmocka_unit_test(test_padding),
      cmocka_unit_test(test_operators),
      cmocka_unit_test(test_brackets),
      cmocka_unit_test(test_several_numbers),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_combine),
      cmocka_unit_test(test_fold_names),
      cmocka_unit_test(test_groups),
      cmocka_unit_test(test_group_nesting),
      cmocka_unit_test(test_work_is_bounded),
      cmocka_unit_test(test_text_limit),
      cmocka_unit_test(test_names_limit),
      cmocka_unit_test(test_name_limits),
      cmocka_unit_test(test_folding_loses_nothing),
      cmocka_unit_test(test_error_text_is_printable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
