/* Any text is refused, or is a quantity that reads the same however it is asked for. */
#include "fuzz.h"

#include <math.h>

#include "model/units.h"

static void
check_parse_as(const char *text, const Quantity *quantity)
{
  for (Dimension dimension = DIMENSION_COUNT; dimension <= DIMENSION_PERCENT; dimension++) {
    double value = -1;
    g_autoptr(GError) error = NULL;
    if (units_parse_as(text, dimension, &value, &error)) {
      g_assert_true(dimension == quantity->dimension && value == quantity->value);
    } else {
      fuzz_check_error(error);
      g_assert_true(dimension != quantity->dimension && value == -1);
    }
  }
}

/* What is printed for a person reads as about the same again. */
static void
check_print(const Quantity *quantity)
{
  g_autofree char *shown = units_print(quantity->value, quantity->dimension);
  Quantity again;
  g_autoptr(GError) error = NULL;
  if (quantity->value > 1e15) /* the largest unit may need more digits than one types */
    return;
  if (!units_parse(shown, &again, &error))
    g_error("%s", error->message);
  g_assert_true(again.dimension == quantity->dimension);
  g_assert_true(fabs(again.value - quantity->value) <= 0.0051 * quantity->value + 0.00051);
}

static void
check_duration(const char *text, const Quantity *quantity)
{
  gint64 duration = -1;
  g_autoptr(GError) error = NULL;
  if (units_parse_duration(text, &duration, &error)) {
    g_assert_true(quantity != NULL && quantity->dimension == DIMENSION_TIME);
    g_assert_true(fabs((double)duration / 1e9 - quantity->value) <= 1e-9 + 1e-12 * quantity->value);
  } else {
    fuzz_check_error(error);
    g_assert_true(duration == -1);
  }
}

static void
check_count(const char *text)
{
  guint64 count = 7;
  g_autoptr(GError) error = NULL;
  if (!units_parse_count(text, 1000000, &count, &error)) {
    fuzz_check_error(error);
    g_assert_true(count == 7);
    return;
  }
  g_assert_true(count <= 1000000);
  for (const char *p = text; *p != '\0'; p++)
    g_assert_true(g_ascii_isdigit(*p));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const char *const words[] = {"power", "boot", "wait", "load", "measure", "expect", NULL};
  g_autofree char *text = g_strndup((const char *)data, size);
  Quantity quantity = {-1, DIMENSION_COUNT};
  g_autoptr(GError) error = NULL;
  gboolean good = units_parse(text, &quantity, &error);
  if (good) {
    g_assert_true(strlen(text) <= 64 && isfinite(quantity.value) && quantity.value >= 0);
    check_parse_as(text, &quantity);
    check_print(&quantity);
  } else {
    fuzz_check_error(error);
    g_assert_true(quantity.value == -1);
  }
  check_duration(text, good ? &quantity : NULL);
  check_count(text);
  if (units_is_unit(text)) {
    g_autofree char *with = g_strconcat("1 ", text, NULL);
    g_assert_true(units_parse(with, &quantity, NULL));
  }
  const char *near = units_nearest_word(text, words);
  g_assert_true(near == NULL || g_strv_contains(words, near));
  return 0;
}
