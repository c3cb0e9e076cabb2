/* Figures by label: `one.boot.mean`, with how many values and runs stand behind it.
 *
 * A repeated run adds to its label's figures. Values of one run are reduced at its end to the run's
 * own statistics; over several runs a figure is the pooled one over all values (`n` counts values,
 * `runs` runs).
 */
#ifndef PULT_CORE_FIGURE_H
#define PULT_CORE_FIGURE_H

#include <glib.h>

typedef struct {
  double value;
  const char *unit; /* interned */
  guint n, runs;
} Figure;

typedef struct Figures Figures;

Figures *figures_new(void);
Figures *figures_clone(const Figures *figures);
void figures_free(Figures *figures);

/* Adds a run's VALUES of quantity NAME (`boot`): gives the label figures NAME.mean .median .min
 * .max .p90 over all runs' values. */
void figures_add_values(Figures *figures, const char *label, const char *name, const char *unit,
                        const double *values, guint n);
/* Adds one run's value of a single figure (`ok`, `bond.tx.peak`): over runs it is the median. */
void figures_add(Figures *figures, const char *label, const char *name, const char *unit,
                 double value, guint n);
gboolean figures_get(const Figures *figures, const char *label, const char *name, Figure *figure);
/* In the order first added. */
typedef void (*FiguresVisit)(const char *label, const char *name, const Figure *figure,
                             gpointer data);
void figures_visit(const Figures *figures, const char *label, FiguresVisit visit, gpointer data);
/* The nearest known `LABEL.NAME`, or NULL; for "did you mean". */
char *figures_nearest(const Figures *figures, const char *label, const char *name);

/* Statistics on VALUES, which are left as they are. Percentile by linear interpolation between
 * order statistics (type 7). n = 0 gives NAN. */
double stats_mean(const double *values, guint n);
double stats_percentile(const double *values, guint n, double fraction);
/* Distribution-free 95 % interval of the median by order statistics; FALSE below n = 6. */
gboolean stats_median_interval(const double *values, guint n, double *low, double *high);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Figures, figures_free)

#endif
