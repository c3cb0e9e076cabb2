#include "ui/canvas.h"

#include <string.h>

Canvas *
canvas_new(int rows, int columns, gboolean ascii)
{
  Canvas *canvas = g_new0(Canvas, 1);
  canvas->rows = MAX(rows, 1);
  canvas->columns = MAX(columns, 1);
  canvas->ascii = ascii;
  canvas->cells = g_new0(Cell, (gsize)canvas->rows * (gsize)canvas->columns);
  canvas_clear(canvas);
  return canvas;
}

void
canvas_free(Canvas *canvas)
{
  if (!canvas)
    return;
  g_free(canvas->cells);
  g_free(canvas);
}

static void
cell_blank(Cell *cell, Style style)
{
  cell->text[0] = ' ';
  cell->text[1] = '\0';
  cell->width = 1;
  cell->style = (guint8)style;
}

void
canvas_clear(Canvas *canvas)
{
  for (int i = 0; i < canvas->rows * canvas->columns; i++)
    cell_blank(&canvas->cells[i], STYLE_NORMAL);
  canvas->cursor_row = canvas->cursor_column = -1;
}

static Cell *
cell_at(Canvas *canvas, int row, int column)
{
  return &canvas->cells[row * canvas->columns + column];
}

/* Frees a cell for something new: half a wide character is no character. */
static Cell *
cell_claim(Canvas *canvas, int row, int column)
{
  Cell *cell = cell_at(canvas, row, column);
  if (cell->width == 0 && column > 0)
    cell_blank(cell - 1, (Style)cell[-1].style);
  if (cell->width == 2 && column + 1 < canvas->columns)
    cell_blank(cell + 1, (Style)cell[1].style);
  return cell;
}

/* Columns a character takes by our own rule (East Asian Width and general category), so that a
 * screen does not depend on the C library's tables. */
static int
char_width(gunichar c)
{
  if (g_unichar_iszerowidth(c) || g_unichar_ismark(c))
    return 0;
  return g_unichar_iswide(c) ? 2 : 1;
}

/* The next thing to draw of TEXT: its bytes, or the escape that stands for what may not be drawn.
 * Returns the bytes of TEXT it took; *SHOWN is NUL-terminated. */
static gsize
next_glyph(const char *text, gboolean ascii, char shown[16], int *width)
{
  gunichar c = g_utf8_get_char_validated(text, -1);
  if (c == (gunichar)-1 || c == (gunichar)-2) {
    g_snprintf(shown, 16, "\\x%02x", (guchar)*text);
    *width = 4;
    return 1;
  }
  gsize length = (gsize)(g_utf8_next_char(text) - text);
  gboolean drawable = g_unichar_isprint(c) || g_unichar_ismark(c);
  if (g_unichar_iscntrl(c) || !drawable || (ascii && c > 0x7e)) {
    if (ascii && drawable)
      g_snprintf(shown, 16, "?");
    else if (c < 0x100)
      g_snprintf(shown, 16, "\\x%02x", c);
    else
      g_snprintf(shown, 16, "\\u%04x", c);
    *width = ascii && drawable ? MAX(char_width(c), 1) : (int)strlen(shown);
    if (ascii && *width == 2)
      g_strlcpy(shown, "??", 16);
    return length;
  }
  memcpy(shown, text, length);
  shown[length] = '\0';
  *width = char_width(c);
  return length;
}

static void
append_mark(Canvas *canvas, int row, int column, const char *mark)
{
  if (column <= 0)
    return;
  Cell *cell = cell_at(canvas, row, column - 1);
  if (cell->width == 0 && column > 1)
    cell--;
  /* Whole marks only: what does not fit is dropped. */
  if (strlen(cell->text) + strlen(mark) < CELL_BYTES)
    g_strlcat(cell->text, mark, CELL_BYTES);
}

static void
set_cell(Canvas *canvas, int row, int column, int width, Style style, const char *text)
{
  Cell *cell = cell_claim(canvas, row, column);
  g_strlcpy(cell->text, text, CELL_BYTES);
  cell->width = (guint8)width;
  cell->style = (guint8)style;
  if (width == 2) {
    Cell *half = cell_claim(canvas, row, column + 1);
    half->text[0] = '\0';
    half->width = 0;
    half->style = (guint8)style;
  }
}

int
canvas_put(Canvas *canvas, int row, int column, int width, Style style, const char *text)
{
  int start = column, end = canvas->columns;
  if (width >= 0)
    end = MIN(end, column + width);
  if (row < 0 || row >= canvas->rows)
    return 0;
  while (*text) {
    char shown[16];
    int columns;
    text += next_glyph(text, canvas->ascii, shown, &columns);
    if (columns == 0) {
      if (!canvas->ascii && column > start && column <= end)
        append_mark(canvas, row, column, shown);
      continue;
    }
    if (column + columns > end)
      break;
    if (columns == (int)strlen(shown) && columns > 1) { /* an escape: a cell for each letter */
      for (int i = 0; i < columns; i++, column++) {
        if (column >= 0)
          set_cell(canvas, row, column, 1, style, (char[]){shown[i], '\0'});
      }
      continue;
    }
    if (column >= 0)
      set_cell(canvas, row, column, columns, style, shown);
    column += columns;
  }
  return column - start;
}

int
canvas_printf(Canvas *canvas, int row, int column, int width, Style style, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  return canvas_put(canvas, row, column, width, style, text);
}

void
canvas_put_right(Canvas *canvas, int row, int column, int width, Style style, const char *text)
{
  int pad = MAX(0, width - canvas_text_width(text));
  canvas_put(canvas, row, column + pad, width - pad, style, text);
}

void
canvas_fill(Canvas *canvas, int row, int column, int width, Style style, const char *text)
{
  int step = MAX(1, canvas_text_width(text));
  for (int i = 0; i + step <= width; i += step)
    canvas_put(canvas, row, column + i, step, style, text);
}

void
canvas_style(Canvas *canvas, int row, int column, int width, Style style)
{
  if (row < 0 || row >= canvas->rows)
    return;
  for (int i = MAX(column, 0); i < MIN(column + width, canvas->columns); i++)
    cell_at(canvas, row, i)->style = (guint8)style;
}

static int
eighths(double fraction, int width)
{
  double full = CLAMP(fraction, 0, 1) * width * 8;
  int n = (int)(full + 0.5);
  return n == 0 && fraction > 0 ? 1 : n; /* a little is not nothing */
}

void
canvas_bar(Canvas *canvas, int row, int column, int width, Style style, double fraction)
{
  static const char *const part[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  int n = eighths(fraction, width);
  for (int i = 0; i < width; i++, n -= 8) {
    const char *text = " ";
    if (n >= 8)
      text = canvas->ascii ? "#" : "█";
    else if (n > 0)
      text = canvas->ascii ? "+" : part[n];
    canvas_put(canvas, row, column + i, 1, style, text);
  }
}

const char *
canvas_level(const Canvas *canvas, double fraction)
{
  static const char *const level[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  /* No digits: a level stands behind a seat's number. Nor what is a state there: `.` or `-`. */
  static const char *const plain[] = {",", ":", ";", "=", "+", "*", "%", "#"};
  int n = eighths(fraction, 1);
  return (canvas->ascii ? plain : level)[CLAMP(n - 1, 0, 7)];
}

int
canvas_text_width(const char *text)
{
  int total = 0;
  while (*text) {
    char shown[16];
    int columns;
    text += next_glyph(text, FALSE, shown, &columns);
    total += columns;
  }
  return total;
}

static void
dump_row(const Canvas *canvas, int row, gboolean styles, GString *out)
{
  static const char letter[STYLE_N] = " obuwe-tf*Rk.";
  gsize start = out->len;
  for (int column = 0; column < canvas->columns; column++) {
    const Cell *cell = &canvas->cells[row * canvas->columns + column];
    if (styles)
      g_string_append_c(out, letter[cell->style]);
    else
      g_string_append(out, cell->text);
  }
  while (out->len > start && out->str[out->len - 1] == ' ')
    g_string_truncate(out, out->len - 1);
  g_string_append_c(out, '\n');
}

char *
canvas_dump(const Canvas *canvas, gboolean styles)
{
  GString *out = g_string_new(NULL);
  for (int row = 0; row < canvas->rows; row++) {
    dump_row(canvas, row, FALSE, out);
    if (styles)
      dump_row(canvas, row, TRUE, out);
  }
  return g_string_free(out, FALSE);
}
