/* From the monotonic clock to session time: as it goes, at another speed, or standing still.
 *
 * Session time in ns since the session began; monotonic time in µs, as g_get_monotonic_time() has
 * it, given by the caller.
 */
#ifndef PULT_SESSION_CLOCK_H
#define PULT_SESSION_CLOCK_H

#include "model/event.h"

typedef struct {
  double speed;
  gboolean paused;
  gint64 base_t;  /* session time … */
  gint64 base_us; /* … at this monotonic time */
} Clock;

void clock_start(Clock *clock, double speed, gint64 us);
gint64 clock_now(const Clock *clock, gint64 us);
void clock_set_speed(Clock *clock, double speed, gint64 us);
void clock_pause(Clock *clock, gboolean paused, gint64 us);
/* Monotonic time by which T has come, -1 when it never comes by itself: paused, or TIME_NEVER. */
gint64 clock_when(const Clock *clock, gint64 t, gint64 us);

#endif
