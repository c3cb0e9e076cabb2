#include "model/job_run.h"

#include <math.h>
#include <string.h>

#define MOST 1e18
#define LONGEST 64 /* of a number or unit */

typedef enum { TAKES_BYTES, TAKES_SECONDS, TAKES_FILES, TAKES_RATE, TAKES_STATUS } Takes;

/* Groups that take a number alone; scale to B, s, B/s. */
static const struct {
  const char *name;
  Takes takes;
  double scale;
} groups[] = {
    {"bytes", TAKES_BYTES, 1},
    {"kb", TAKES_BYTES, 1e3},
    {"mb", TAKES_BYTES, 1e6},
    {"gb", TAKES_BYTES, 1e9},
    {"kib", TAKES_BYTES, 0x1p10},
    {"mib", TAKES_BYTES, 0x1p20},
    {"gib", TAKES_BYTES, 0x1p30},
    {"seconds", TAKES_SECONDS, 1},
    {"ms", TAKES_SECONDS, 1e-3},
    {"us", TAKES_SECONDS, 1e-6},
    {"files", TAKES_FILES, 1},
    {"status", TAKES_STATUS, 1},
    {"bytes_per_s", TAKES_RATE, 1},
    {"kb_per_s", TAKES_RATE, 1e3},
    {"mb_per_s", TAKES_RATE, 1e6},
    {"gb_per_s", TAKES_RATE, 1e9},
    {"kib_per_s", TAKES_RATE, 0x1p10},
    {"mib_per_s", TAKES_RATE, 0x1p20},
    {"gib_per_s", TAKES_RATE, 0x1p30},
    {"bit_per_s", TAKES_RATE, 1.0 / 8},
    {"kbit_per_s", TAKES_RATE, 1e3 / 8},
    {"mbit_per_s", TAKES_RATE, 1e6 / 8},
    {"gbit_per_s", TAKES_RATE, 1e9 / 8},
};

/* Units that programs write and units.h does not read. */
static const struct {
  const char *name;
  Takes takes;
  double scale;
} spellings[] = {
    {"Bytes", TAKES_BYTES, 1},          {"KBytes", TAKES_BYTES, 0x1p10},
    {"MBytes", TAKES_BYTES, 0x1p20},    {"GBytes", TAKES_BYTES, 0x1p30},
    {"TBytes", TAKES_BYTES, 0x1p40},    {"bits/sec", TAKES_RATE, 1.0 / 8},
    {"Kbits/sec", TAKES_RATE, 1e3 / 8}, {"Mbits/sec", TAKES_RATE, 1e6 / 8},
    {"Gbits/sec", TAKES_RATE, 1e9 / 8}, {"KBytes/sec", TAKES_RATE, 0x1p10},
    {"MBytes/sec", TAKES_RATE, 0x1p20}, {"GBytes/sec", TAKES_RATE, 0x1p30},
};

void
job_figures_init(JobFigures *figures)
{
  *figures = (JobFigures){.bytes = NAN, .seconds = NAN, .files = NAN, .rate = NAN, .status = -1};
}

gboolean
job_figures_know(const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS(groups); i++)
    if (strcmp(groups[i].name, name) == 0)
      return TRUE;
  return strcmp(name, "amount") == 0 || strcmp(name, "unit") == 0;
}

static gboolean
read_number(const char *text, double *number)
{
  char *end = NULL;

  if (text == NULL || *text == '\0' || strlen(text) > LONGEST ||
      strspn(text, "0123456789.eE+-") != strlen(text))
    return FALSE;
  double value = g_ascii_strtod(text, &end);
  if (end == text || *end != '\0' || !(value >= 0 && value <= MOST))
    return FALSE;
  *number = value;
  return TRUE;
}

static void
take(JobFigures *figures, Takes takes, double value)
{
  switch (takes) {
  case TAKES_BYTES:
    figures->bytes = value;
    break;
  case TAKES_SECONDS:
    figures->seconds = value;
    break;
  case TAKES_FILES:
    figures->files = value;
    break;
  case TAKES_RATE:
    figures->rate = value;
    break;
  case TAKES_STATUS:
    figures->status = value <= 255 ? (int)value : 255;
    break;
  }
}

/* `1.10` of `GBytes`, `944` of `Mbit/s`. */
static void
take_amount(JobFigures *figures, const char *amount, const char *unit)
{
  double number, base;

  if (unit == NULL || strlen(unit) > LONGEST || !read_number(amount, &number))
    return;
  for (guint i = 0; i < G_N_ELEMENTS(spellings); i++)
    if (strcmp(spellings[i].name, unit) == 0) {
      take(figures, spellings[i].takes, number * spellings[i].scale);
      return;
    }
  g_autofree char *one = g_strconcat("1", unit, NULL);
  if (units_parse_as(one, DIMENSION_SIZE, &base, NULL))
    take(figures, TAKES_BYTES, number * base);
  else if (units_parse_as(one, DIMENSION_RATE, &base, NULL))
    take(figures, TAKES_RATE, number * base / 8);
}

static void
take_groups(JobFigures *figures, const Pattern *pattern, const PatternMatch *match)
{
  const char *const *names = pattern_names(pattern);

  for (guint n = 0; names[n] != NULL; n++)
    for (guint i = 0; i < G_N_ELEMENTS(groups); i++) {
      double number;
      if (strcmp(groups[i].name, names[n]) != 0)
        continue;
      g_autofree char *text = pattern_match_get(match, names[n]);
      if (read_number(text, &number))
        take(figures, groups[i].takes, number * groups[i].scale);
    }
  g_autofree char *amount = pattern_match_get(match, "amount");
  g_autofree char *unit = pattern_match_get(match, "unit");
  if (amount != NULL)
    take_amount(figures, amount, unit);
}

static const Pattern *
common_pattern(void)
{
  static gsize made = 0;

  if (g_once_init_enter(&made)) {
    Pattern *pattern = pattern_new("(?=bytes |files |seconds |status )(?:bytes (?<bytes>\\d+) ?)?"
                                   "(?:files (?<files>\\d+) ?)?(?:seconds (?<seconds>[\\d.]+) ?)?"
                                   "(?:status (?<status>\\d+))?",
                                   NULL);
    g_once_init_leave(&made, (gsize)pattern);
  }
  return (const Pattern *)made;
}

gboolean
job_figures_take(JobFigures *figures, const JobRecipe *recipe, PatternMatch *match,
                 const char *line, gsize length)
{
  for (guint i = 0; i <= recipe->figures->len; i++) {
    const Pattern *pattern =
        i < recipe->figures->len ? recipe->figures->pdata[i] : common_pattern();
    if (pattern_match(pattern, match, line, length) == PATTERN_YES) {
      take_groups(figures, pattern, match);
      return TRUE;
    }
  }
  return FALSE;
}

double
job_figures_bytes(const JobFigures *figures)
{
  return isfinite(figures->bytes) ? figures->bytes : floor(figures->rate * figures->seconds + 0.5);
}
