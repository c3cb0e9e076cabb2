#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/units.h"

static void
check_parses(const char *text, double value, Dimension dimension)
{
  Quantity quantity;
  g_autoptr(GError) error = NULL;
  if (!units_parse(text, &quantity, &error))
    fail_msg("%s", error->message);
  assert_int_equal(quantity.dimension, dimension);
  if (quantity.value != value)
    fail_msg("%s: %.17g instead of %.17g", text, quantity.value, value);
}

static void
check_refused(const char *text, const char *message)
{
  Quantity quantity = {-7, DIMENSION_SIZE};
  g_autoptr(GError) error = NULL;
  if (units_parse(text, &quantity, &error))
    fail_msg("%s was accepted", text);
  assert_string_equal(error->message, message);
  assert_true(error->domain == UNITS_ERROR);
  assert_true(quantity.value == -7 && quantity.dimension == DIMENSION_SIZE);
}

static void
test_every_unit(void **state)
{
  (void)state;
  check_parses("1 ns", 1e-9, DIMENSION_TIME);
  check_parses("1us", 1e-6, DIMENSION_TIME);
  check_parses("0.5 ms", 0.0005, DIMENSION_TIME);
  check_parses("5s", 5, DIMENSION_TIME);
  check_parses("5 s", 5, DIMENSION_TIME);
  check_parses("2 min", 120, DIMENSION_TIME);
  check_parses("1.5 h", 5400, DIMENSION_TIME);
  check_parses("1 B", 1, DIMENSION_SIZE);
  check_parses("1 kB", 1000, DIMENSION_SIZE);
  check_parses("14.5 MB", 14500000, DIMENSION_SIZE);
  check_parses("1 GB", 1e9, DIMENSION_SIZE);
  check_parses("32 KiB", 32768, DIMENSION_SIZE);
  check_parses("40 MiB", 41943040, DIMENSION_SIZE);
  check_parses("0.5 GiB", 536870912, DIMENSION_SIZE);
  check_parses("7 bit/s", 7, DIMENSION_RATE);
  check_parses("7 kbit/s", 7000, DIMENSION_RATE);
  check_parses("680 Mbit/s", 680e6, DIMENSION_RATE);
  check_parses("1.9 Gbit/s", 1.9e9, DIMENSION_RATE);
  check_parses("1 B/s", 8, DIMENSION_RATE);
  check_parses("1 kB/s", 8e3, DIMENSION_RATE);
  check_parses("9.25 MB/s", 74e6, DIMENSION_RATE);
  check_parses("1 GB/s", 8e9, DIMENSION_RATE);
  check_parses("1 KiB/s", 8192, DIMENSION_RATE);
  check_parses("270 MiB/s", 270 * 8388608.0, DIMENSION_RATE);
  check_parses("1 GiB/s", 8589934592.0, DIMENSION_RATE);
  check_parses("34 %", 0.34, DIMENSION_PERCENT);
  check_parses("34%", 0.34, DIMENSION_PERCENT);
  check_parses("010", 10, DIMENSION_COUNT);
  check_parses("0.25", 0.25, DIMENSION_COUNT);
}

static void
test_refusals(void **state)
{
  (void)state;
  check_refused("", "\"\" is empty where a number is due");
  check_refused("5S", "\"5S\" has the unknown unit \"S\"; did you mean \"s\"?");
  check_refused("1,9 s", "\"1,9 s\" has a comma: write a decimal point");
  check_refused("5 mb", "\"5 mb\" has the unknown unit \"mb\"; did you mean \"MB\"?");
  check_refused("5 Mbps", "\"5 Mbps\" has the unknown unit \"Mbps\"; did you mean \"Mbit/s\"?");
  check_refused("5 Mbts/s", "\"5 Mbts/s\" has the unknown unit \"Mbts/s\"; did you mean "
                            "\"Mbit/s\"?");
  check_refused("5 \u00b5s", "\"5 \u00b5s\" has the unknown unit \"\u00b5s\"; did you mean "
                             "\"us\"?");
  check_refused("5 parsecs", "\"5 parsecs\" has the unknown unit \"parsecs\"");
  check_refused("1e3", "\"1e3\" has the unknown unit \"e3\"");
  check_refused("0x10", "\"0x10\" has the unknown unit \"x10\"");
  check_refused("5 s s", "\"5 s s\" is not one number and one unit");
  check_refused("5  s", "\"5  s\" is not one number and one unit");
  check_refused("5 ", "\"5 \" is not one number and one unit");
  check_refused("5\x1b[2Js", "\"5\\033[2Js\" has the unknown unit \"\\033[2Js\"");
  static const char *const no_numbers[] = {"nan",  "inf", "-5 s", "+5 s", " 5 s", ".5 s",
                                           "5. s", "s",   "%",    "5.",   "\t5"};
  for (gsize i = 0; i < G_N_ELEMENTS(no_numbers); i++) {
    g_autofree char *quoted =
        g_strcmp0(no_numbers[i], "\t5") == 0 ? g_strdup("\\t5") : g_strdup(no_numbers[i]);
    g_autofree char *message = g_strdup_printf(
        "\"%s\" does not begin with a plain decimal number, such as 5 or 0.5", quoted);
    check_refused(no_numbers[i], message);
  }
  g_autofree char *longest = g_strnfill(64, '9');
  check_parses(longest, 1e64, DIMENSION_COUNT);
  g_autofree char *longer = g_strnfill(65, '9');
  check_refused(longer, "a value of more than 64 bytes is refused");
}

static void
test_one_dimension(void **state)
{
  (void)state;
  double value = -7;
  assert_true(units_parse_as("941.5 Mbit/s", DIMENSION_RATE, &value, NULL));
  assert_true(value == 941.5e6);
  g_autoptr(GError) error = NULL;
  assert_false(units_parse_as("5", DIMENSION_TIME, &value, &error));
  assert_string_equal(error->message, "\"5\" has no unit; a time, such as 5 s, is due");
  g_clear_error(&error);
  assert_false(units_parse_as("5 MB", DIMENSION_RATE, &value, &error));
  assert_string_equal(error->message,
                      "\"5 MB\" has the wrong unit; a rate, such as 1 Gbit/s, is due");
  g_clear_error(&error);
  assert_false(units_parse_as("5 s", DIMENSION_COUNT, &value, &error));
  assert_string_equal(error->message,
                      "\"5 s\" has the wrong unit; a number without unit, such as 64, is due");
  assert_true(value == 941.5e6);
}

static void
test_durations(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    gint64 nanoseconds;
  } good[] = {
      {"0 s", 0},
      {"0.1 s", 100000000},
      {"0.3s", 300000000},
      {"1.000000001 s", 1000000001},
      {"4.878113 ms", 4878113},
      {"0.4 ns", 0},
      {"0.5 ns", 1},
      {"0.1 min", 6000000000},
      {"600 s", 600000000000},
      {"1000000 h", G_GINT64_CONSTANT(3600000000000000000)},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(good); i++) {
    gint64 nanoseconds = -1;
    assert_true(units_parse_duration(good[i].text, &nanoseconds, NULL));
    assert_int_equal(nanoseconds, good[i].nanoseconds);
  }
  static const char *const bad[] = {"1000000.1 h", "9999999999999999999999999 h", "5", "5 B",
                                    "-1 s"};
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    gint64 nanoseconds = -1;
    g_autoptr(GError) error = NULL;
    assert_false(units_parse_duration(bad[i], &nanoseconds, &error));
    assert_non_null(error);
    assert_int_equal(nanoseconds, -1);
  }
}

static void
test_counts(void **state)
{
  (void)state;
  guint64 value = 7;
  assert_true(units_parse_count("0", 0, &value, NULL) && value == 0);
  assert_true(units_parse_count("064", 64, &value, NULL) && value == 64);
  assert_true(units_parse_count("18446744073709551615", G_MAXUINT64, &value, NULL));
  assert_true(value == G_MAXUINT64);
  static const struct {
    const char *text;
    guint64 max;
  } bad[] = {{"", 9},
             {"65", 64},
             {"1", 0},
             {"5", 4},
             {"-1", 9},
             {"+1", 9},
             {"1 ", 9},
             {"0x1", 99},
             {"1.0", 9},
             {"1e1", 99},
             {" 1", 9},
             {"99999999999999999999", 9},
             {"18446744073709551616", G_MAXUINT64}};
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) error = NULL;
    if (units_parse_count(bad[i].text, bad[i].max, &value, &error))
      fail_msg("%s was accepted", bad[i].text);
    assert_non_null(strstr(error->message, bad[i].text));
    assert_true(value == G_MAXUINT64);
  }
}

static void
test_unit_words(void **state)
{
  (void)state;
  assert_true(units_is_unit("s"));
  assert_true(units_is_unit("%"));
  assert_true(units_is_unit("KiB/s"));
  assert_false(units_is_unit("S"));
  assert_false(units_is_unit(""));
  assert_false(units_is_unit("5 s"));
  assert_string_equal(units_base_name(DIMENSION_COUNT), "");
  assert_string_equal(units_base_name(DIMENSION_TIME), "s");
  assert_string_equal(units_base_name(DIMENSION_SIZE), "B");
  assert_string_equal(units_base_name(DIMENSION_RATE), "bit/s");
  assert_string_equal(units_base_name(DIMENSION_PERCENT), "");
}

static void
test_nearest_word(void **state)
{
  (void)state;
  static const char *const words[] = {"status", "on",   "off",   "cycle",
                                      "reset",  "boot", "boots", NULL};
  static const struct {
    const char *word, *nearest;
  } cases[] = {
      {"statsu", "status"}, /* swapped: one */
      {"sttaus", "status"},
      {"stattus", "status"},
      {"statuses", "status"},
      {"status", "status"},
      {"stat", "status"},
      {"RESET", "reset"},
      {"ofg", "off"},
      {"bootz", "boot"},
      {"boost", "boot"},
      {"cylce", "cycle"},
      {"n", NULL},
      {"so", NULL},
      {"x", NULL},
      {"", NULL},
      {"cylec", NULL},
      {"plan", NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *nearest = units_nearest_word(cases[i].word, words);
    if (g_strcmp0(nearest, cases[i].nearest) != 0)
      fail_msg("%s: %s", cases[i].word, nearest != NULL ? nearest : "none");
  }
  g_autofree char *endless = g_strnfill(100000, 'a');
  const char *const with_endless[] = {endless, "aa", NULL};
  assert_null(units_nearest_word(endless, words));
  assert_string_equal(units_nearest_word("aab", with_endless), "aa");
}

static void
check_fixed(double value, guint decimals, const char *expected)
{
  g_autofree char *text = units_fixed(value, decimals);
  assert_string_equal(text, expected);
}

static void
test_fixed(void **state)
{
  (void)state;
  check_fixed(0.125, 2, "0.13"); /* exact ties go away from zero */
  check_fixed(-0.125, 2, "-0.13");
  check_fixed(0.5, 0, "1");
  check_fixed(2.5, 0, "3");
  check_fixed(-2.5, 0, "-3");
  check_fixed(1.005, 2, "1.00"); /* its binary value lies below the tie, … */
  check_fixed(1.115, 2, "1.11"); /* … and this one's product with 100 rounds to one */
  check_fixed(1.015, 2, "1.01");
  check_fixed(8.345, 2, "8.35"); /* above */
  check_fixed(0.49999999999999994, 0, "0");
  check_fixed(9.999, 2, "10.00");
  check_fixed(0.999999, 3, "1.000");
  check_fixed(1.0625, 3, "1.063");
  check_fixed(3.05, 3, "3.050");
  check_fixed(-0.001, 2, "0.00");
  check_fixed(-0.0, 1, "0.0");
  check_fixed(-0.5, 1, "-0.5");
  check_fixed(1e15 + 0.5, 0, "1000000000000001");
  check_fixed(1e22, 1, "10000000000000000000000.0");
  check_fixed(0x1p64, 0, "18446744073709551616");
  check_fixed(0.1, 15, "0.100000000000000");
  check_fixed(5e-324, 15, "0.000000000000000");
  check_fixed(NAN, 2, "nan");
  check_fixed(INFINITY, 2, "inf");
  check_fixed(-INFINITY, 2, "-inf");
  g_autofree char *largest = units_fixed(G_MAXDOUBLE, 3);
  assert_int_equal(strlen(largest), 313);
}

/* Against printf, which rounds the exact binary value too; random values are no exact ties. */
static void
test_fixed_against_printf(void **state)
{
  (void)state;
  g_autoptr(GRand) rand = g_rand_new_with_seed(1);
  for (int i = 0; i < 200000; i++) {
    double value = ldexp(g_rand_double_range(rand, -1, 1), g_rand_int_range(rand, -30, 60));
    guint decimals = (guint)g_rand_int_range(rand, 0, 16);
    if (i % 2 == 0) /* near ties: n + 0.5 in the last place, give or take the binary error */
      value = (g_rand_int_range(rand, 0, 100000) + 0.5) / pow(10, decimals);
    char expected[512];
    g_snprintf(expected, sizeof expected, "%.*f", (int)decimals, value);
    char exact[512];
    g_snprintf(exact, sizeof exact, "%.60f", value);
    const char *rest = strchr(exact, '.') + 1 + decimals;
    if (rest[0] == '5' && strspn(rest + 1, "0") == strlen(rest + 1))
      continue; /* an exact tie, where printf goes to even */
    g_autofree char *text = units_fixed(value, decimals);
    const char *unsigned_zero =
        expected[0] == '-' && strspn(expected, "-0.") == strlen(expected) ? expected + 1 : expected;
    assert_string_equal(text, unsigned_zero);
  }
}

static void
check_print(double value, Dimension dimension, const char *expected)
{
  g_autofree char *text = units_print(value, dimension);
  assert_string_equal(text, expected);
}

static void
test_print(void **state)
{
  (void)state;
  check_print(18, DIMENSION_TIME, "18.0 s");
  check_print(-1.8, DIMENSION_TIME, "-1.80 s");
  check_print(0, DIMENSION_TIME, "0 s");
  check_print(0.00031, DIMENSION_TIME, "310 us");
  check_print(0.0048781, DIMENSION_TIME, "4.88 ms");
  check_print(0.4e-9, DIMENSION_TIME, "0.400 ns");
  check_print(600, DIMENSION_TIME, "600 s");
  check_print(999.5, DIMENSION_TIME, "16.7 min");
  check_print(86400, DIMENSION_TIME, "24.0 h");
  check_print(3600e6, DIMENSION_TIME, "1000000 h");
  check_print(1.88e9, DIMENSION_RATE, "1.88 Gbit/s");
  check_print(941.48e6, DIMENSION_RATE, "941 Mbit/s");
  check_print(999.4e6, DIMENSION_RATE, "999 Mbit/s");
  check_print(999.6e6, DIMENSION_RATE, "1.00 Gbit/s");
  check_print(9.996e6, DIMENSION_RATE, "10.0 Mbit/s");
  check_print(0, DIMENSION_RATE, "0 bit/s");
  check_print(3.7e12, DIMENSION_RATE, "3700 Gbit/s");
  check_print(512, DIMENSION_SIZE, "512 B");
  check_print(512.5, DIMENSION_SIZE, "513 B");
  check_print(271.5e6, DIMENSION_SIZE, "272 MB"); /* exact tie */
  check_print(54.2e6, DIMENSION_SIZE, "54.2 MB");
  check_print(0.34, DIMENSION_PERCENT, "34.0 %");
  check_print(0.00034, DIMENSION_PERCENT, "0.034 %");
  check_print(1, DIMENSION_PERCENT, "100 %");
  check_print(17, DIMENSION_COUNT, "17");
  check_print(123456, DIMENSION_COUNT, "123456");
  check_print(3.14159, DIMENSION_COUNT, "3.14");
  check_print(NAN, DIMENSION_TIME, "nan s");
  check_print(INFINITY, DIMENSION_RATE, "inf bit/s");
  g_autofree char *binary = units_print_in(267 * 8388608.0, "MiB/s");
  assert_string_equal(binary, "267 MiB/s");
  g_autofree char *slow = units_print_in(0.79 * 8388608.0, "MiB/s");
  assert_string_equal(slow, "0.790 MiB/s");
  g_autofree char *share = units_print_in(0.029, "%");
  assert_string_equal(share, "2.90 %");
}

/* Whoever sets LC_NUMERIC changes nothing here. */
static void
test_locale(void **state)
{
  (void)state;
  static const char *const comma_locales[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", NULL};
  for (int i = 0; comma_locales[i] != NULL; i++)
    if (setlocale(LC_NUMERIC, comma_locales[i]) != NULL)
      break;
  check_parses("1.9 Gbit/s", 1.9e9, DIMENSION_RATE);
  check_fixed(1e22, 1, "10000000000000000000000.0");
  check_print(1.88e9, DIMENSION_RATE, "1.88 Gbit/s");
  setlocale(LC_NUMERIC, "C");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_unit),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_one_dimension),
      cmocka_unit_test(test_durations),
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_unit_words),
      cmocka_unit_test(test_nearest_word),
      cmocka_unit_test(test_fixed),
      cmocka_unit_test(test_fixed_against_printf),
      cmocka_unit_test(test_print),
      cmocka_unit_test(test_locale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
