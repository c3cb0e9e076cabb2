/* How much the screen writes: what the lab moves comes in at most PACE_BYTES a second, whichever
 * second one looks at, so that the console can stay open over any line. A key's answer never waits,
 * but counts as well. A frame that is larger than all that comes alone.
 *
 * Times are those of a monotonic clock, us. No I/O; one thread.
 */
#ifndef PULT_UI_PACE_H
#define PULT_UI_PACE_H

#include <glib.h>

#define PACE_BYTES 1800 /* of the 2,000 promised: what a frame takes is estimated to a tenth */
#define PACE_FRAMES 64  /* that are kept, oldest first to go */

/* All zeroes is one that has seen nothing. */
typedef struct {
  gint64 t[PACE_FRAMES];
  gsize bytes[PACE_FRAMES];
  guint n;              /* frames seen */
  gint64 waiting_since; /* since when frames are refused; 0: the last was not */
} Pace;

/* Whether a frame of BYTES may be written now; if so, it is to be, and pace_note() told. It waits a
 * second at most. */
gboolean pace_allows(Pace *pace, gint64 now, gsize bytes);
/* A frame was written, asked about or not. */
void pace_note(Pace *pace, gint64 now, gsize bytes);

#endif
