/* The terminal: the one file that knows ncurses. Copies a canvas to the screen and reads keys.
 *
 * The terminal is put back as it was at any exit: by term_close(), at exit(), and from signal
 * handlers for SEGV, ABRT, BUS, FPE, ILL; TERM and HUP come as a callback of the main loop's.
 */
#ifndef PULT_UI_TERM_H
#define PULT_UI_TERM_H

#include "ui/canvas.h"
#include "ui/key.h"

#define TERM_ERROR (g_quark_from_static_string("pult-term"))

typedef enum { THEME_DEFAULT, THEME_CONTRAST, THEME_MONO } Theme;
#define THEME_N (THEME_MONO + 1)

const char *term_theme_name(Theme theme); /* default contrast mono */
int term_theme_parse(const char *name);   /* -1 */
/* Before term_open() or after; without colours every theme is mono. */
void term_set_theme(Theme theme);
Theme term_theme(void); /* as shown */

/* Colours are off with NO_COLOR or a terminal that has none; *UTF8 tells whether block elements can
 * be shown. FALSE with an error (no terminal, TERM unknown). setlocale(LC_CTYPE, "") is the
 * caller's. */
gboolean term_open(gboolean *utf8, GError **error);
void term_close(void);
void term_size(int *rows, int *columns);
void term_show(const Canvas *canvas);
/* About how many bytes term_show() would write now. */
gsize term_cost(const Canvas *canvas);
/* Before term_open(): whether it is to tell of the mouse, if it can (by default yes). */
void term_set_mouse(gboolean wanted);
/* The next key, or -1 when none waits; for one of the mouse also the cell it points to. */
UiKey term_read_key(int *row, int *column);
/* ^Z: leaves the screen, stops the process, comes back. */
void term_suspend(void);
void term_redraw_all(void); /* ^L, and after a resize */

#endif
