/* What meter.c and meter_fold.c share. */
#ifndef PULT_CORE_METER_PRIVATE_H
#define PULT_CORE_METER_PRIVATE_H

#include "core/meter.h"

/* Two seconds of samples at 10 Hz, and some. A faster source's rates are over its last RING
 * samples.
 */
#define METER_RING 24
/* No counter of anything comes that far, and differences of two and their sums stay whole numbers.
 */
#define METER_VALUE_MAX (G_GINT64_CONSTANT(1) << 60)
#define METER_TOTAL_MAX (G_GINT64_CONSTANT(1) << 62)

typedef struct {
  char *name;
  guint serial;   /* another each time it comes, but not when its columns change */
  guint first, n; /* its meters */
  gint64 t[METER_RING];
  gint64 *totals;    /* METER_RING rows of n */
  guint end, filled; /* next row; rows in use */
  gint64 history_t;  /* of the last history entry; -1 */
  gint64 *refused;   /* values of the sample refused first of those in a row; NULL none */
  gint64 refused_t;
  char *refusal; /* what was said of the first of them; NULL none */
  gboolean sure; /* no late sample: others were refused for a second, or a jump was left out */
} MeterSource;

struct Meters {
  guint n_nodes, n_links;
  guint *port_base; /* by node: its first slot in port_meter */
  guint n_ports;
  int *seat_rx, *seat_tx, *seat_served; /* by node: meter, or -1 */
  int *port_meter;                      /* by port slot, tx and rx */
  int *link_meter;                      /* by link, forward and back */
  GPtrArray *meters;                    /* of Meter */
  GArray *sources;                      /* of MeterSource */
  GHashTable *source_by_name;           /* borrowed name → index + 1 */
  GHashTable *by_name;                  /* borrowed name → index + 1 */
  const Layout *layout;
  guint generation;  /* changes when meters come or go */
  guint last_serial; /* of the meter or source that came last */
};

/* The columns of SAMPLES become its source's, new or instead of those it had: meters of the same
 * name go on. NULL with an error; then nothing has changed. */
MeterSource *meters_give(Meters *meters, const SamplesEvent *samples, GError **error);
MeterSource *meters_source(const Meters *meters, const char *name);

#endif
