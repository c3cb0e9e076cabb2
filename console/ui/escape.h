/* Escape sequences that the terminal's description does not name: Alt with a letter, and reports of
 * the mouse (xterm's SGR mode 1006: `ESC [ < button ; column ; row M`). Any other is swallowed
 * whole: a letter out of its middle is no key that somebody pressed.
 *
 * Curses itself reads the rest of a report with a read() that blocks until it is complete, and
 * takes a report that came in two pieces for so many keys; hence this.
 */
#ifndef PULT_UI_ESCAPE_H
#define PULT_UI_ESCAPE_H

#include "ui/key.h"

#include <glib.h>

#define ESCAPE_TEXT 24 /* bytes of a sequence that are kept; a longer one means nothing */

typedef enum {
  ESCAPE_GROUND,
  ESCAPE_BEGUN,   /* ESC */
  ESCAPE_ALONE,   /* ESC, given as a key of its own: what follows may be late */
  ESCAPE_CONTROL, /* ESC [ */
  ESCAPE_SINGLE,  /* ESC O */
  ESCAPE_OLD,     /* ESC [ M of an older kind of mouse: so many letters follow */
} EscapeState;

/* All zero to begin with. */
typedef struct {
  EscapeState state;
  gint64 last; /* when the last character came, us */
  char text[ESCAPE_TEXT];
  guint length, left;
  int row, column; /* of the pointer, from 0, behind a key of the mouse */
} Escape;

/* Takes the next character, which came at NOW (monotonic, us). TRUE when a key is whole with it. */
gboolean escape_take(Escape *escape, guint32 c, gint64 now, UiKey *key);
/* No further character waits. TRUE when an ESC stands alone, which is a key then. */
gboolean escape_pause(Escape *escape, UiKey *key);

#endif
