/* Rates from cumulative counters, and measurements over windows.
 *
 * A meter is one column of one source. Its rate is the difference over the last second of samples
 * (at most 23 of them), or over the second before it too where a sample has come late; a peak is
 * the largest difference over a stated window at sample ticks. Between samples a counter stands
 * still (a source that has nothing new may be silent for a second). A counter that goes backwards
 * has wrapped at 2^32 where its line can carry that much, else it was reset: that interval has no
 * rate.
 *
 * What is above the wire speed of a seat's, a port's or a link's line is refused: payload stays 6 %
 * below it, which is room for samples that come some ms late. One that comes later, or whose agent
 * counted at an unknown time since it was last asked, makes its source's rates too high over the
 * last second (or gap) and too low over the one before: what both together can be is taken, over
 * both. More than that the line never carried: the whole sample of the source is then not there,
 * and the next one counts for both; after a counter that jumped once it goes on from there, while a
 * line that is faster than its layout says goes stale.
 *
 * Sources tick on their own. A sum over one source's meters is of one instant; a sum over several
 * adds up rates, each over a second (or window) that ends with its source's own last sample.
 */
#ifndef PULT_CORE_METER_H
#define PULT_CORE_METER_H

#include "model/event.h"
#include "model/layout.h"

#define METER_HISTORY 60

typedef enum { METER_BYTES, METER_COUNT, METER_NS, METER_GAUGE } MeterKind;

typedef struct {
  char *name; /* `slx1/eth0.tx` */
  MeterKind kind;
  gint64 value; /* latest, cumulative */
  gint64 total; /* what it counted since it came, wraps and resets apart */
  gint64 t;     /* of the latest sample; -1 none */
  gint64 gap;   /* ns between the latest two; 0 */
  double limit; /* bit/s on the wire that it cannot exceed; INFINITY */
  guint serial; /* of this meter alone: one of the same name that comes later has another */
  double rate;  /* bytes: bit/s · count: 1/s · ns: mean busy number · gauge: its value */
  float history[METER_HISTORY]; /* one rate a second, ring */
  guint history_end, history_n; /* next slot; filled slots */
} Meter;

typedef struct Meters Meters;

#define METER_ERROR (g_quark_from_static_string("pult-meter"))
typedef enum {
  METER_ERROR_SAMPLES, /* they make no sense */
  METER_ERROR_RATE,    /* more than a line carries */
} MeterError;

Meters *meters_new(const Layout *layout);
Meters *meters_clone(const Meters *meters);
void meters_free(Meters *meters);

/* Folds a samples event (columns on a source's first, and when they change). FALSE with error:
 * columns that make no sense, another number of values than columns, samples before columns, a
 * counter below 0 or above 2^60, or a rate that its line cannot carry. */
gboolean meters_fold(Meters *meters, gint64 t, const SamplesEvent *samples, GError **error);
/* What to say of SOURCE's rates that its line cannot carry; NULL when that is nothing. While
 * all that was refused is younger than a second it is nothing yet: if one came late, the next
 * samples have all that it counted. */
const char *meters_refusal(const Meters *meters, const char *source);
/* Forgets the columns of SOURCE, and of all whose names begin with SOURCE and a slash: after its
 * `link down`, before it sends new ones. */
void meters_forget(Meters *meters, const char *source);

/* Changes whenever meters come or go, and with them the index of every meter. */
guint meters_generation(const Meters *meters);
guint meters_count(const Meters *meters);
const Meter *meters_at(const Meters *meters, guint i);
/* NULL when no source carries it ("no meter"). Constant time. */
const Meter *meters_find(const Meters *meters, const char *name);
int meters_index(const Meters *meters, const char *name); /* for meters_at(); -1 */
/* Of the I-th meter; the source has another serial each time it comes. */
const char *meters_source_of(const Meters *meters, guint i, guint *serial);
const Meter *meters_seat_rx(const Meters *meters, NodeId client);
const Meter *meters_seat_tx(const Meters *meters, NodeId client);
/* What its server says it was sent. */
const Meter *meters_seat_served(const Meters *meters, NodeId client);
const Meter *meters_port(const Meters *meters, NodeId server, guint port, gboolean tx);
const Meter *meters_link(const Meters *meters, guint link, gboolean forward);
/* TRUE when no sample of it came for 3 s, or three times as long as between the latest two. */
gboolean meter_is_stale(const Meter *meter, gint64 now);

/* A measurement: mean and peak of sums of meters from its start on. */
typedef struct Measurement Measurement;

/* SOURCE: `bond` or `bond:NAME` (of SERVER: the sum over its ports; a bond and its ports are never
 * added), `port:eth0`, `link:A-B`, `seats`, `server`. NULL with an error naming what there is. */
Measurement *measurement_new(const Meters *meters, const Layout *layout, NodeId server,
                             const char *source, gint64 window, GError **error);
Measurement *measurement_clone(const Measurement *measurement);
void measurement_free(Measurement *measurement);
/* As it was given. */
const char *measurement_source(const Measurement *measurement);
/* After every meters_fold(). */
void measurement_fold(Measurement *measurement, const Meters *meters, gint64 t);

typedef void (*MeasurementFigure)(const char *name, double value, const char *unit, guint n,
                                  gpointer data);
/* bond.tx.peak .mean, bond.rx.… · eth0.… · sw2-sw3.tx.… (from→to) · seats.rx.min .median .max (of
 * each seat's mean) · load.max nfsd.max disk.bytes. There is no peak when less than a window
 * passed, and no figure at all of what no meter measured. A mean is over the time that each was
 * metered: while its source was gone nothing is known. */
void measurement_figures(const Measurement *measurement, MeasurementFigure figure, gpointer data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Meters, meters_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Measurement, measurement_free)

#endif
