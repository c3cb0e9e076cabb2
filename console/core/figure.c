#include "core/figure.h"
#include "model/units.h"

#include <math.h>
#include <string.h>

typedef struct {
  char *label, *name;
  const char *unit;
  gboolean pooled; /* NAME.mean … over values; else one value a run */
  guint n, runs;
  GArray *values;
} Entry;

struct Figures {
  GPtrArray *entries;  /* of Entry, in the order first added */
  GHashTable *by_name; /* `LABEL.NAME` → Entry */
};

static const struct {
  const char *name;
  double fraction; /* percentile; -1: the mean */
} pooled_statistics[] = {{"mean", -1}, {"median", 0.5}, {"min", 0}, {"max", 1}, {"p90", 0.9}};

static void
entry_free(gpointer data)
{
  Entry *entry = data;
  g_free(entry->label);
  g_free(entry->name);
  g_array_unref(entry->values);
  g_free(entry);
}

Figures *
figures_new(void)
{
  Figures *figures = g_new0(Figures, 1);
  figures->entries = g_ptr_array_new_with_free_func(entry_free);
  figures->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  return figures;
}

void
figures_free(Figures *figures)
{
  if (!figures)
    return;
  g_hash_table_unref(figures->by_name);
  g_ptr_array_unref(figures->entries);
  g_free(figures);
}

static Entry *
find_entry(const Figures *figures, const char *label, const char *name)
{
  g_autofree char *key = g_strconcat(label, ".", name, NULL);
  return g_hash_table_lookup(figures->by_name, key);
}

static Entry *
take_entry(Figures *figures, const char *label, const char *name, const char *unit, gboolean pooled)
{
  Entry *entry = find_entry(figures, label, name);
  if (!entry) {
    entry = g_new0(Entry, 1);
    entry->label = g_strdup(label);
    entry->name = g_strdup(name);
    entry->unit = g_intern_string(unit);
    entry->pooled = pooled;
    entry->values = g_array_new(FALSE, FALSE, sizeof(double));
    g_ptr_array_add(figures->entries, entry);
    g_hash_table_insert(figures->by_name, g_strconcat(label, ".", name, NULL), entry);
  }
  return entry;
}

Figures *
figures_clone(const Figures *figures)
{
  Figures *copy = figures_new();
  for (guint i = 0; i < figures->entries->len; i++) {
    const Entry *from = figures->entries->pdata[i];
    Entry *to = take_entry(copy, from->label, from->name, from->unit, from->pooled);
    to->n = from->n;
    to->runs = from->runs;
    g_array_append_vals(to->values, from->values->data, from->values->len);
  }
  return copy;
}

void
figures_add_values(Figures *figures, const char *label, const char *name, const char *unit,
                   const double *values, guint n)
{
  Entry *entry = take_entry(figures, label, name, unit, TRUE);
  g_array_append_vals(entry->values, values, n);
  entry->n += n;
  entry->runs++;
}

void
figures_add(Figures *figures, const char *label, const char *name, const char *unit, double value,
            guint n)
{
  Entry *entry = take_entry(figures, label, name, unit, FALSE);
  g_array_append_val(entry->values, value);
  entry->n += n;
  entry->runs++;
}

static void
evaluate(const Entry *entry, double fraction, Figure *figure)
{
  const double *values = (const double *)(gpointer)entry->values->data;
  guint n = entry->values->len;
  figure->value = fraction < 0 ? stats_mean(values, n) : stats_percentile(values, n, fraction);
  figure->unit = entry->unit;
  figure->n = entry->n;
  figure->runs = entry->runs;
}

gboolean
figures_get(const Figures *figures, const char *label, const char *name, Figure *figure)
{
  const Entry *entry = find_entry(figures, label, name);
  if (entry && !entry->pooled) {
    evaluate(entry, 0.5, figure);
    return TRUE;
  }
  const char *dot = strrchr(name, '.');
  if (!dot)
    return FALSE;
  g_autofree char *base = g_strndup(name, (gsize)(dot - name));
  entry = find_entry(figures, label, base);
  if (!entry || !entry->pooled)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS(pooled_statistics); i++) {
    if (g_str_equal(dot + 1, pooled_statistics[i].name)) {
      evaluate(entry, pooled_statistics[i].fraction, figure);
      return TRUE;
    }
  }
  return FALSE;
}

void
figures_visit(const Figures *figures, const char *label, FiguresVisit visit, gpointer data)
{
  for (guint i = 0; i < figures->entries->len; i++) {
    const Entry *entry = figures->entries->pdata[i];
    Figure figure;
    if (label && !g_str_equal(label, entry->label))
      continue;
    if (!entry->pooled) {
      evaluate(entry, 0.5, &figure);
      visit(entry->label, entry->name, &figure, data);
      continue;
    }
    for (guint s = 0; s < G_N_ELEMENTS(pooled_statistics); s++) {
      g_autofree char *name = g_strconcat(entry->name, ".", pooled_statistics[s].name, NULL);
      evaluate(entry, pooled_statistics[s].fraction, &figure);
      visit(entry->label, name, &figure, data);
    }
  }
}

static void
collect_name(const char *label, const char *name, const Figure *figure, gpointer data)
{
  (void)figure;
  g_ptr_array_add(data, g_strconcat(label, ".", name, NULL));
}

char *
figures_nearest(const Figures *figures, const char *label, const char *name)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  figures_visit(figures, NULL, collect_name, names);
  g_ptr_array_add(names, NULL);
  g_autofree char *wanted = g_strconcat(label, ".", name, NULL);
  return g_strdup(units_nearest_word(wanted, (const char *const *)names->pdata));
}

double
stats_mean(const double *values, guint n)
{
  double sum = 0;
  for (guint i = 0; i < n; i++)
    sum += values[i];
  return n ? sum / n : NAN;
}

static int
compare_doubles(gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double *
sorted(const double *values, guint n)
{
  double *copy = g_memdup2(values, n * sizeof *values);
  qsort(copy, n, sizeof *copy, compare_doubles);
  return copy;
}

double
stats_percentile(const double *values, guint n, double fraction)
{
  if (n == 0)
    return NAN;
  g_autofree double *ordered = sorted(values, n);
  double place = fraction * (n - 1);
  guint below = (guint)place;
  if (below + 1 >= n)
    return ordered[n - 1];
  return ordered[below] + (place - below) * (ordered[below + 1] - ordered[below]);
}

gboolean
stats_median_interval(const double *values, guint n, double *low, double *high)
{
  if (n < 6)
    return FALSE;
  /* The widest k with P(Binomial(n, 1/2) < k) ≤ 2.5 %: the k-th and (n+1-k)-th order statistics
   * then enclose the median with at least 95 %. Terms in logarithms, so that n may be large. */
  double below = 0;
  guint k = 0;
  for (guint i = 0; i < n; i++) {
    below += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) - n * G_LN2);
    if (below > 0.025)
      break;
    k = i + 1;
  }
  g_autofree double *ordered = sorted(values, n);
  *low = ordered[k - 1];
  *high = ordered[n - k];
  return TRUE;
}
