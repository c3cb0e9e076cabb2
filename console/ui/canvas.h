/* A canvas of cells: what every view draws into, what goldens and casts are made from.
 *
 * A cell holds one base character with its combining characters, UTF-8, and is 1 or 2 columns wide
 * (a wide character's second cell is empty and belongs to it; overwriting either half blanks the
 * other). Control characters never reach a cell: they are drawn as escapes (`\x1b`).
 * Coordinates are row, column from 0; drawing outside is clipped.
 */
#ifndef PULT_UI_CANVAS_H
#define PULT_UI_CANVAS_H

#include <glib.h>

typedef enum {
  STYLE_NORMAL,
  STYLE_OFF,     /* dim */
  STYLE_BOOTING, /* cyan */
  STYLE_UP,      /* green */
  STYLE_WARNING, /* yellow */
  STYLE_ERROR,   /* red */
  STYLE_FRAME,
  STYLE_TITLE,    /* of a pane */
  STYLE_FOCUS,    /* title of the pane in focus */
  STYLE_SELECTED, /* reverse */
  STYLE_REAL,     /* `REAL`, reverse */
  STYLE_KEY,      /* key bar: the key */
  STYLE_KEY_TEXT, /* key bar: what it does */
} Style;
#define STYLE_N (STYLE_KEY_TEXT + 1)

#define CELL_BYTES 24 /* base and combining characters that fit; more are dropped */

typedef struct {
  char text[CELL_BYTES]; /* NUL-terminated; "" is a wide character's second half */
  guint8 width;          /* 1, 2; 0 for a second half */
  guint8 style;
} Cell;

typedef struct {
  int rows, columns;
  gboolean ascii;                /* draw with ASCII only: bars, frames, arrows have stand-ins */
  Cell *cells;                   /* row by row */
  int cursor_row, cursor_column; /* -1: hidden */
} Canvas;

Canvas *canvas_new(int rows, int columns, gboolean ascii);
void canvas_free(Canvas *canvas);
void canvas_clear(Canvas *canvas);
/* Draws TEXT, at most WIDTH columns (-1: to the edge); returns the columns used. Invalid UTF-8 and
 * control characters become escapes. */
int canvas_put(Canvas *canvas, int row, int column, int width, Style style, const char *text);
int canvas_printf(Canvas *canvas, int row, int column, int width, Style style, const char *format,
                  ...) G_GNUC_PRINTF(6, 7);
void canvas_put_right(Canvas *canvas, int row, int column, int width, Style style,
                      const char *text);
void canvas_fill(Canvas *canvas, int row, int column, int width, Style style, const char *text);
void canvas_style(Canvas *canvas, int row, int column, int width, Style style);
/* A bar of WIDTH cells, FRACTION of it full, in eighths of a cell (ASCII: `#` and `+`). */
void canvas_bar(Canvas *canvas, int row, int column, int width, Style style, double fraction);
/* One cell ▁▂▃▄▅▆▇█ for a fraction (ASCII: `,:;=+*%#`). */
const char *canvas_level(const Canvas *canvas, double fraction);
/* Columns TEXT takes by the cell rule (wide 2, combining 0). */
int canvas_text_width(const char *text);
/* Rows of text, trailing blanks cut, a newline each. With STYLES, each row is followed by one of
 * style letters. */
char *canvas_dump(const Canvas *canvas, gboolean styles);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Canvas, canvas_free)

#endif
