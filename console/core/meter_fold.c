#include "core/meter_private.h"

#include <math.h>
#include <string.h>

/* Samples that come a little early do not make the second before them two. */
#define SECOND_AT_LEAST (TIME_SECOND * 96 / 100)

static Meter *
meter_of(const Meters *meters, const MeterSource *source, guint i)
{
  return meters->meters->pdata[source->first + i];
}

/* Of the rows in use, those that are still there when the next one has come. */
static guint
rows_kept(const MeterSource *source)
{
  return MIN(source->filled, METER_RING - 1);
}

/* The row to take a rate against at T: the latest that is a second old, else the oldest there is.
 */
static guint
base_row(const MeterSource *source, gint64 t)
{
  guint kept = rows_kept(source);
  for (guint age = 1; age <= kept; age++) {
    guint candidate = (source->end + METER_RING - age) % METER_RING;
    if (source->t[candidate] <= t - SECOND_AT_LEAST)
      return candidate;
  }
  return (source->end + METER_RING - kept) % METER_RING;
}

/* What METER counted since its last sample. A counter that went back has wrapped if it had 32 bits
 * and its line can carry that much; else it was reset, and what it counted is not known. */
static gint64
step_of(const Meter *meter, gint64 value, gint64 t)
{
  const gint64 top = G_GINT64_CONSTANT(1) << 32;

  if (meter->t < 0 || meter->kind == METER_GAUGE)
    return 0;
  if (value >= meter->value)
    return value - meter->value;
  gint64 wrapped = value + top - meter->value;
  double most = meter->limit / 8 * (double)MAX(t - meter->t, TIME_SECOND) / (double)TIME_SECOND;
  return meter->value < top && isfinite(most) && (double)wrapped <= most ? wrapped : 0;
}

/* ---- What no line can carry ---------------------------------------------------------------- */

/* Whether STEP more makes the I-th meter faster than its line since the row BASE. */
static gboolean
is_too_fast(const Meters *meters, const MeterSource *source, guint i, gint64 step, guint base,
            gint64 t)
{
  const Meter *meter = meter_of(meters, source, i);

  if (isinf(meter->limit) || source->filled == 0)
    return FALSE;
  gint64 grown = meter->total + step - source->totals[(gsize)base * source->n + i];
  gint64 span = MAX(t - source->t[base], TIME_SECOND);
  return (double)grown * 8 > meter->limit * ((double)span / (double)TIME_SECOND);
}

/* A counter may have jumped once: since the sample refused first it went on as a line can carry. */
static gboolean
has_calmed(const Meters *meters, const MeterSource *source, const gint64 *values, gint64 t)
{
  double seconds = (double)(t - source->refused_t) / (double)TIME_SECOND;

  for (guint i = 0; i < source->n; i++) {
    gint64 grown = values[i] - source->refused[i];
    const Meter *meter = meter_of(meters, source, i);
    if (isfinite(meter->limit) && (grown < 0 || (double)grown * 8 > meter->limit * seconds))
      return FALSE;
  }
  return TRUE;
}

static void
remember_refused(MeterSource *source, const gint64 *values, gint64 t)
{
  if (!source->refused)
    source->refused = g_new(gint64, source->n);
  memcpy(source->refused, values, source->n * sizeof *values);
  source->refused_t = t;
}

static gboolean
refuse_rate(const Meters *meters, MeterSource *source, guint i, const gint64 *values, gint64 t,
            GError **error)
{
  const Meter *meter = meter_of(meters, source, i);

  g_autofree char *text =
      g_strdup_printf("samples of %s: %s rose by %" G_GINT64_FORMAT " B in %.3f s, more than its "
                      "line of %.0f Mbit/s carries; such are not counted",
                      source->name, meter->name, values[i] - meter->value,
                      (double)(t - meter->t) / (double)TIME_SECOND, meter->limit / 1e6);
  g_set_error_literal(error, METER_ERROR, METER_ERROR_RATE, text);
  gboolean first = !source->refused, later = t - source->refused_t >= SECOND_AT_LEAST;
  source->sure = !first && (source->sure || later);
  if (first || later)
    remember_refused(source, values, t);
  if (first) {
    g_free(source->refusal);
    source->refusal = g_steal_pointer(&text);
  }
  return FALSE;
}

/* The first meter that is faster than its line since BASE; the number of meters when none is. */
static guint
first_too_fast(const Meters *meters, const MeterSource *source, const gint64 *steps, guint base,
               gint64 t)
{
  guint i = 0;
  while (i < source->n && !is_too_fast(meters, source, i, steps[i], base, t))
    i++;
  return i;
}

/* Chooses the row BASE to take rates against, and leaves out of STEPS what a counter jumped by.
 * FALSE: the sample is refused. */
static gboolean
check_rates(const Meters *meters, MeterSource *source, gint64 t, const gint64 *values,
            gint64 *steps, guint *base, GError **error)
{
  *base = base_row(source, t);
  if (first_too_fast(meters, source, steps, *base, t) < source->n)
    *base = base_row(source, source->t[*base]);
  guint fast = first_too_fast(meters, source, steps, *base, t);
  gboolean calm = source->refused && t - source->refused_t >= SECOND_AT_LEAST &&
                  has_calmed(meters, source, values, t);
  if (fast < source->n && !calm)
    return refuse_rate(meters, source, fast, values, t, error);
  source->sure = fast < source->n;
  if (!source->sure)
    g_clear_pointer(&source->refusal, g_free);
  for (guint i = fast; i < source->n; i++)
    if (is_too_fast(meters, source, i, steps[i], *base, t))
      steps[i] = values[i] - source->refused[i];
  g_clear_pointer(&source->refused, g_free);
  return TRUE;
}

/* ---- What is folded ------------------------------------------------------------------------ */

static gboolean
check_values(const Meters *meters, const MeterSource *source, const gint64 *values, GError **error)
{
  for (guint i = 0; i < source->n; i++) {
    const Meter *meter = meter_of(meters, source, i);
    gint64 least = meter->kind == METER_GAUGE ? -METER_VALUE_MAX : 0;
    if (values[i] <= METER_VALUE_MAX && values[i] >= least)
      continue;
    g_set_error(error, METER_ERROR, METER_ERROR_SAMPLES,
                "samples of %s: %" G_GINT64_FORMAT " is no value of %s", source->name, values[i],
                meter->name);
    return FALSE;
  }
  return TRUE;
}

static double
rate_of(const Meter *meter, gint64 change, double per_second, gint64 value)
{
  switch (meter->kind) {
  case METER_BYTES:
    return (double)change * per_second * 8;
  case METER_COUNT:
    return (double)change * per_second;
  case METER_NS:
    return (double)change * per_second / (double)TIME_SECOND;
  case METER_GAUGE:
    return (double)value / 1000;
  }
  g_assert_not_reached();
}

/* Rates are against the row BASE. */
static void
fold_row(Meters *meters, MeterSource *source, gint64 t, const gint64 *values, const gint64 *steps,
         guint base)
{
  guint n = source->n, end = source->end;
  gint64 *row = source->totals + (gsize)end * n;
  source->t[end] = t;
  source->end = (end + 1) % METER_RING;
  source->filled = MIN(source->filled + 1, METER_RING);
  const gint64 *from = source->totals + (gsize)base * n;
  gint64 span = t - source->t[base];
  double per_second = span > 0 ? (double)TIME_SECOND / (double)span : 0;

  for (guint i = 0; i < n; i++) {
    Meter *meter = meter_of(meters, source, i);
    meter->total = row[i] = MIN(meter->total + steps[i], METER_TOTAL_MAX);
    meter->rate = rate_of(meter, row[i] - from[i], per_second, values[i]);
    meter->gap = meter->t < 0 ? 0 : t - meter->t;
    meter->value = values[i];
    meter->t = t;
  }
}

static void
fold_history(Meters *meters, MeterSource *source, gint64 t)
{
  if (source->history_t >= 0 && t - source->history_t < TIME_SECOND)
    return;
  source->history_t = t;
  for (guint i = 0; i < source->n; i++) {
    Meter *meter = meter_of(meters, source, i);
    meter->history[meter->history_end] = (float)meter->rate;
    meter->history_end = (meter->history_end + 1) % METER_HISTORY;
    meter->history_n = MIN(meter->history_n + 1, METER_HISTORY);
  }
}

gboolean
meters_fold(Meters *meters, gint64 t, const SamplesEvent *samples, GError **error)
{
  MeterSource *source = samples->columns ? meters_give(meters, samples, error)
                                         : meters_source(meters, samples->source);
  if (!source) {
    if (!samples->columns)
      g_set_error(error, METER_ERROR, METER_ERROR_SAMPLES,
                  "samples of %s came before their columns", samples->source);
    return FALSE;
  }
  if (source->n != samples->n) {
    g_set_error(error, METER_ERROR, METER_ERROR_SAMPLES, "samples of %s: %u values for %u columns",
                samples->source, samples->n, source->n);
    return FALSE;
  }
  if (!check_values(meters, source, samples->values, error))
    return FALSE;
  g_autofree gint64 *steps = g_new(gint64, source->n + 1);
  for (guint i = 0; i < source->n; i++)
    steps[i] = step_of(meter_of(meters, source, i), samples->values[i], t);
  guint base;
  if (!check_rates(meters, source, t, samples->values, steps, &base, error))
    return FALSE;
  fold_row(meters, source, t, samples->values, steps, base);
  fold_history(meters, source, t);
  return TRUE;
}
