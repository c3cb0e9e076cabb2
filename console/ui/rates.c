#include "ui/view.h"

#include "model/units.h"

char *
stale_text(const Ui *ui, const Meter *meter)
{
  if (!meter || meter->t < 0)
    return g_strdup("no meter");
  if (!meter_is_stale(meter, ui_now(ui)))
    return NULL;
  return g_strdup_printf("stale %" G_GINT64_FORMAT " s", (ui_now(ui) - meter->t) / TIME_SECOND);
}

char *
rate_text(const Ui *ui, double rate)
{
  if (rate < 0)
    return g_strdup("no meter");
  double value = ui->bytes ? rate / 8e6 : rate / 1e6;
  return units_fixed(value, ui->bytes && value < 99.95 ? 1 : 0);
}

const char *
rate_unit(const Ui *ui)
{
  return ui->bytes ? "MB/s" : "Mbit/s";
}

gboolean
rate_is_full(double rate, double capacity)
{
  return rate >= 0.97 * capacity;
}

/* Seconds to a cell, so that the whole minute has room: a divisor of it, for the ring of seconds to
 * fall into whole cells. The picture then moves only every so many seconds. */
static guint
seconds_a_cell(int columns)
{
  guint seconds = 1;
  while (METER_HISTORY / seconds > (guint)columns || METER_HISTORY % seconds != 0)
    seconds++;
  return seconds;
}

/* Of the seconds from place FIRST of the ring on, N of them. */
static double
mean_rate(const Meter *meter, guint first, guint n)
{
  double sum = 0;
  for (guint i = 0; i < n; i++)
    sum += (double)meter->history[first + i];
  return sum / n;
}

void
rate_draw_history(Canvas *canvas, int row, int column, int columns, const Meter *meter,
                  double capacity)
{
  if (columns < 1 || meter->history_n == 0)
    return;
  guint span = seconds_a_cell(columns), cells = METER_HISTORY / span;
  guint newest = (meter->history_end + METER_HISTORY - 1) % METER_HISTORY;
  guint n = newest % span + 1, left = meter->history_n; /* of this cell; of all */
  for (guint i = 0; i < cells && left > 0; i++) {
    guint cell = (newest / span + cells - i) % cells;
    guint first = cell * span + (n > left ? n - left : 0);
    double rate = mean_rate(meter, first, MIN(n, left));
    if (rate > 0)
      canvas_put(canvas, row, column + columns - 1 - (int)i, 1, STYLE_NORMAL,
                 canvas_level(canvas, rate / capacity));
    left -= MIN(n, left);
    n = span;
  }
}
