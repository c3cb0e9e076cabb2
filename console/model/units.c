#include "model/units.h"

#include <math.h>
#include <string.h>

#define MAX_TEXT 64
#define MAX_DECIMALS 15 /* 10^15 < 2^53: round_scaled() is exact */
#define MAX_HOURS 1000000

/* A unit is multiplier · 10^exponent base units. The power of ten is read together with the
 * digits, so that 1.9 Gbit/s is the double nearest to 1900000000 and not one beside it. */
typedef struct {
  const char *name;
  Dimension dimension;
  int exponent;
  double multiplier;
} Unit;

/* Within a dimension from small to large; decimal prefixes before binary ones. */
static const Unit units[] = {
    {"ns", DIMENSION_TIME, -9, 1},
    {"us", DIMENSION_TIME, -6, 1},
    {"ms", DIMENSION_TIME, -3, 1},
    {"s", DIMENSION_TIME, 0, 1},
    {"min", DIMENSION_TIME, 0, 60},
    {"h", DIMENSION_TIME, 0, 3600},
    {"B", DIMENSION_SIZE, 0, 1},
    {"kB", DIMENSION_SIZE, 3, 1},
    {"MB", DIMENSION_SIZE, 6, 1},
    {"GB", DIMENSION_SIZE, 9, 1},
    {"KiB", DIMENSION_SIZE, 0, 0x1p10},
    {"MiB", DIMENSION_SIZE, 0, 0x1p20},
    {"GiB", DIMENSION_SIZE, 0, 0x1p30},
    {"bit/s", DIMENSION_RATE, 0, 1},
    {"kbit/s", DIMENSION_RATE, 3, 1},
    {"Mbit/s", DIMENSION_RATE, 6, 1},
    {"Gbit/s", DIMENSION_RATE, 9, 1},
    {"B/s", DIMENSION_RATE, 0, 8},
    {"kB/s", DIMENSION_RATE, 3, 8},
    {"MB/s", DIMENSION_RATE, 6, 8},
    {"GB/s", DIMENSION_RATE, 9, 8},
    {"KiB/s", DIMENSION_RATE, 0, 8 * 0x1p10},
    {"MiB/s", DIMENSION_RATE, 0, 8 * 0x1p20},
    {"GiB/s", DIMENSION_RATE, 0, 8 * 0x1p30},
    {"%", DIMENSION_PERCENT, -2, 1},
};

static const struct {
  const char *base, *described;
} dimensions[] = {
    [DIMENSION_COUNT] = {"", "a number without unit, such as 64,"},
    [DIMENSION_TIME] = {"s", "a time, such as 5 s,"},
    [DIMENSION_SIZE] = {"B", "a size, such as 40 MiB,"},
    [DIMENSION_RATE] = {"bit/s", "a rate, such as 1 Gbit/s,"},
    [DIMENSION_PERCENT] = {"", "a percentage, such as 8 %,"},
};

/* What people write elsewhere and no edit distance leads home. */
static const struct {
  const char *foreign, *ours;
} habits[] = {
    {"bps", "bit/s"}, {"kbps", "kbit/s"}, {"Mbps", "Mbit/s"},  {"Gbps", "Gbit/s"},
    {"b/s", "bit/s"}, {"kb/s", "kbit/s"}, {"Mb/s", "Mbit/s"},  {"Gb/s", "Gbit/s"},
    {"sec", "s"},     {"secs", "s"},      {"second", "s"},     {"seconds", "s"},
    {"msec", "ms"},   {"usec", "us"},     {"\u00b5s", "us"},   {"\u03bcs", "us"},
    {"m", "min"},     {"mins", "min"},    {"minute", "min"},   {"minutes", "min"},
    {"hour", "h"},    {"hours", "h"},     {"K", "KiB"},        {"M", "MiB"},
    {"G", "GiB"},     {"MByte", "MB"},    {"MByte/s", "MB/s"}, {"MBps", "MB/s"},
    {"percent", "%"},
};

static const Unit *
unit_find(const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS(units); i++)
    if (g_str_equal(units[i].name, name))
      return &units[i];
  return NULL;
}

static const char *
unit_suggest(const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS(habits); i++)
    if (g_str_equal(habits[i].foreign, name))
      return habits[i].ours;
  const char *names[G_N_ELEMENTS(units) + 1] = {NULL};
  for (gsize i = 0; i < G_N_ELEMENTS(units); i++)
    names[i] = units[i].name;
  return units_nearest_word(name, names);
}

/* TEXT fit for a message: outside input may hold what a terminal would obey. */
static char *
shown(const char *text)
{
  if (g_utf8_validate(text, -1, NULL)) {
    const char *p = text;
    while (*p != 0 && g_unichar_isprint(g_utf8_get_char(p)))
      p = g_utf8_next_char(p);
    if (*p == 0)
      return g_strdup(text);
  }
  return g_strescape(text, NULL);
}

static gboolean G_GNUC_PRINTF(3, 4)
    refuse(GError **error, const char *text, const char *format, ...)
{
  g_autofree char *quoted = shown(text);
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *reason = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_set_error(error, UNITS_ERROR, 0, "\"%s\" %s", quoted, reason);
  return FALSE;
}

static const char *
skip_digits(const char *p)
{
  while (g_ascii_isdigit(*p))
    p++;
  return p;
}

/* digits [ "." digits ]; NULL when TEXT does not begin so. */
static const char *
skip_number(const char *text)
{
  const char *end = skip_digits(text);
  if (end == text || *end != '.')
    return end == text ? NULL : end;
  const char *point = end;
  end = skip_digits(point + 1);
  return end == point + 1 ? NULL : end;
}

/* The number TEXT … END times 10^EXPONENT, correctly rounded. */
static double
read_scaled(const char *text, const char *end, int exponent)
{
  char buffer[MAX_TEXT + 16];
  g_snprintf(buffer, sizeof buffer, "%.*se%d", (int)(end - text), text, exponent);
  return g_ascii_strtod(buffer, NULL);
}

static gboolean
refuse_unit(const char *text, const char *name, GError **error)
{
  g_autofree char *quoted = shown(name);
  if (*name == ',')
    return refuse(error, text, "has a comma: write a decimal point");
  if (*name == 0 || strchr(name, ' ') != NULL)
    return refuse(error, text, "is not one number and one unit");
  const char *nearest = unit_suggest(name);
  if (nearest == NULL)
    return refuse(error, text, "has the unknown unit \"%s\"", quoted);
  return refuse(error, text, "has the unknown unit \"%s\"; did you mean \"%s\"?", quoted, nearest);
}

/* Splits TEXT: the number ends at *END; *UNIT is NULL for a bare number. */
static gboolean
split(const char *text, const char **end, const Unit **unit, GError **error)
{
  *unit = NULL;
  if (*text == 0)
    return refuse(error, text, "is empty where a number is due");
  if (strlen(text) > MAX_TEXT) {
    g_set_error(error, UNITS_ERROR, 0, "a value of more than %d bytes is refused", MAX_TEXT);
    return FALSE;
  }
  *end = skip_number(text);
  if (*end == NULL)
    return refuse(error, text, "does not begin with a plain decimal number, such as 5 or 0.5");
  if (**end == 0)
    return TRUE;
  const char *name = *end + (**end == ' ' ? 1 : 0);
  *unit = unit_find(name);
  return *unit != NULL || refuse_unit(text, name, error);
}

gboolean
units_parse(const char *text, Quantity *quantity, GError **error)
{
  const char *end;
  const Unit *unit;
  if (!split(text, &end, &unit, error))
    return FALSE;
  if (unit == NULL) {
    *quantity = (Quantity){read_scaled(text, end, 0), DIMENSION_COUNT};
  } else {
    double value = read_scaled(text, end, unit->exponent) * unit->multiplier;
    *quantity = (Quantity){value, unit->dimension};
  }
  return TRUE;
}

gboolean
units_parse_as(const char *text, Dimension dimension, double *value, GError **error)
{
  Quantity quantity;
  if (!units_parse(text, &quantity, error))
    return FALSE;
  if (quantity.dimension != dimension && quantity.dimension == DIMENSION_COUNT)
    return refuse(error, text, "has no unit; %s is due", dimensions[dimension].described);
  if (quantity.dimension != dimension)
    return refuse(error, text, "has the wrong unit; %s is due", dimensions[dimension].described);
  *value = quantity.value;
  return TRUE;
}

gboolean
units_parse_duration(const char *text, gint64 *nanoseconds, GError **error)
{
  double seconds;
  if (!units_parse_as(text, DIMENSION_TIME, &seconds, error))
    return FALSE;
  if (seconds > MAX_HOURS * 3600.0)
    return refuse(error, text, "is longer than %d h", MAX_HOURS);
  const char *end;
  const Unit *unit;
  if (!split(text, &end, &unit, error))
    return FALSE;
  /* Read a second time in nanoseconds: 0.1 s is exactly 100000000, not a rounded 0.1 times 10^9. */
  *nanoseconds = llround(read_scaled(text, end, unit->exponent + 9) * unit->multiplier);
  return TRUE;
}

gboolean
units_parse_count(const char *text, guint64 max, guint64 *value, GError **error)
{
  if (*text == 0 || *skip_digits(text) != 0)
    return refuse(error, text, "is not a plain whole number");
  guint64 total = 0;
  for (const char *p = text; *p != 0; p++) {
    guint digit = (guint)g_ascii_digit_value(*p);
    if (digit > max || total > (max - digit) / 10)
      return refuse(error, text, "is more than %" G_GUINT64_FORMAT, max);
    total = total * 10 + digit;
  }
  *value = total;
  return TRUE;
}

gboolean
units_is_unit(const char *word)
{
  return unit_find(word) != NULL;
}

const char *
units_base_name(Dimension dimension)
{
  g_assert((gsize)dimension < G_N_ELEMENTS(dimensions));
  return dimensions[dimension].base;
}

/* Optimal string alignment: insert, delete, substitute, swap neighbours, each 1; case is free. */
static guint
edit_distance(const char *a, gsize a_length, const char *b, gsize b_length)
{
  guint rows[3][MAX_TEXT + 1];
  guint *before = rows[0], *above = rows[1], *row = rows[2];
  for (gsize j = 0; j <= b_length; j++)
    row[j] = (guint)j;
  for (gsize i = 1; i <= a_length; i++) {
    guint *oldest = before;
    before = above;
    above = row;
    row = oldest;
    row[0] = (guint)i;
    for (gsize j = 1; j <= b_length; j++) {
      char x = g_ascii_tolower(a[i - 1]), y = g_ascii_tolower(b[j - 1]);
      row[j] = MIN(above[j - 1] + (x != y), MIN(above[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && x == g_ascii_tolower(b[j - 2]) && y == g_ascii_tolower(a[i - 2]))
        row[j] = MIN(row[j], before[j - 2] + 1);
    }
  }
  return row[b_length];
}

const char *
units_nearest_word(const char *word, const char *const *words)
{
  gsize length = strlen(word);
  if (length == 0 || length > MAX_TEXT)
    return NULL;
  const char *nearest = NULL;
  guint least = G_MAXUINT;
  for (; *words != NULL; words++) {
    gsize other = strlen(*words);
    if (other > MAX_TEXT)
      continue;
    guint distance = edit_distance(word, length, *words, other);
    if (distance < least && distance * 3 <= MAX(length, other)) {
      least = distance;
      nearest = *words;
    }
  }
  return nearest;
}

static double
power_of_ten(guint exponent)
{
  double power = 1;
  while (exponent-- > 0)
    power *= 10; /* exact up to 10^22 */
  return power;
}

/* FRACTION · SCALE rounded half away from zero. The product's rounding error, known exactly from
 * fma(), decides what only looks like a tie: 1.005 lies below it. */
static guint64
round_scaled(double fraction, double scale)
{
  double product = fraction * scale;
  double error = fma(fraction, scale, -product);
  double whole = floor(product);
  double beyond_half = product - whole - 0.5;
  return (guint64)whole + (beyond_half + error >= 0);
}

char *
units_fixed(double value, guint decimals)
{
  g_assert(decimals <= MAX_DECIMALS);
  if (isnan(value))
    return g_strdup("nan");
  if (isinf(value))
    return g_strdup(value > 0 ? "inf" : "-inf");
  double size = fabs(value);
  char digits[320]; /* the largest double has 309 digits */
  guint64 decimal = 0;
  gboolean zero = FALSE;
  if (size < 0x1p53) {
    double scale = power_of_ten(decimals);
    guint64 whole = (guint64)size;
    decimal = round_scaled(size - (double)whole, scale);
    if (decimal == (guint64)scale) {
      whole++;
      decimal = 0;
    }
    g_snprintf(digits, sizeof digits, "%" G_GUINT64_FORMAT, whole);
    zero = whole == 0 && decimal == 0;
  } else {
    g_ascii_formatd(digits, sizeof digits, "%.0f", size); /* a whole number already */
  }
  const char *sign = value < 0 && !zero ? "-" : "";
  if (decimals == 0)
    return g_strconcat(sign, digits, NULL);
  return g_strdup_printf("%s%s.%0*" G_GUINT64_FORMAT, sign, digits, (int)decimals, decimal);
}

/* Digits of NUMBER from its first that is not the 0 before the point. */
static guint
significant_digits(const char *number)
{
  number += *number == '-';
  number += *number == '0';
  guint n = 0;
  while (*number != 0)
    n += g_ascii_isdigit(*number++) ? 1 : 0;
  return n;
}

static char *
three_digits(double value)
{
  /* Counted after rounding: 9.996 is 10.0, not 10.00. */
  for (guint decimals = 3;; decimals--) {
    char *text = units_fixed(value, decimals);
    if (decimals == 0 || !isfinite(value) || significant_digits(text) <= 3)
      return text;
    g_free(text);
  }
}

static double
in_unit(double value, const Unit *unit)
{
  double power = power_of_ten((guint)ABS(unit->exponent));
  return (unit->exponent < 0 ? value * power : value / power) / unit->multiplier;
}

static gboolean
below_1000(double value)
{
  g_autofree char *text = units_fixed(value, 0);
  return significant_digits(text) <= 3;
}

/* The unit units_print() takes, NULL for a plain number. Binary sizes and bytes a second are
 * never chosen: whoever wants one names it. */
static const Unit *
choose_unit(double value, Dimension dimension)
{
  const Unit *chosen = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS(units); i++) {
    const Unit *unit = &units[i];
    gboolean offered =
        unit->dimension == dimension && (unit->multiplier == 1 || dimension == DIMENSION_TIME);
    if (!offered)
      continue;
    if ((value == 0 || !isfinite(value)) && unit->exponent != 0 && dimension != DIMENSION_PERCENT)
      continue; /* nothing is 0 s, not 0 ns */
    chosen = unit;
    if (below_1000(in_unit(value, unit)))
      break;
  }
  return chosen;
}

char *
units_print(double value, Dimension dimension)
{
  const Unit *unit = choose_unit(value, dimension);
  double shown_value = unit == NULL ? value : in_unit(value, unit);
  gboolean whole = unit == NULL || g_str_equal(unit->name, "B") || value == 0;
  g_autofree char *number = whole && shown_value == floor(shown_value) ? units_fixed(shown_value, 0)
                                                                       : three_digits(shown_value);
  return unit == NULL ? g_steal_pointer(&number) : g_strconcat(number, " ", unit->name, NULL);
}

char *
units_print_in(double value, const char *name)
{
  const Unit *unit = unit_find(name);
  g_assert(unit != NULL);
  g_autofree char *number = three_digits(in_unit(value, unit));
  return g_strconcat(number, " ", unit->name, NULL);
}
