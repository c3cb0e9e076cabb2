/* Bars of the seats of a room: name, the bond port that serves it, state, rate of its fuller
 * direction. */
#include "ui/view.h"

#define BAR_MIN_COLUMNS 38
#define BAR_MAX 18 /* as at 80 columns: more tells no more, and is more to send at every sample */
#define NAME_COLUMNS 12
#define WORD_COLUMNS 5
#define VALUE_COLUMNS 5 /* the sign of its direction follows */

static void
draw_seat(const Ui *ui, Canvas *canvas, int row, int column, int columns, NodeId id, int name_width)
{
  char port[8];
  Style style;
  const char *word = seat_word(ui, id, &style);
  Traffic traffic = traffic_of_seat(ui, id);
  const Meter *meter = traffic.meter;
  g_autofree char *stale = stale_text(ui, meter);
  g_autofree char *name =
      text_tail(canvas, layout_node(state_layout(ui->state), id)->name, name_width);
  int at = column + 1, bar_at = at + name_width + 4 + WORD_COLUMNS + 1;
  int bar = MIN(column + columns - 3 - VALUE_COLUMNS - bar_at, BAR_MAX);
  seat_port(ui, id, port);
  spot_mark(ui, row, column, columns, SPOT_SEAT, id);
  canvas_put(canvas, row, at, name_width, ui->selected == id ? STYLE_SELECTED : STYLE_NORMAL, name);
  canvas_put(canvas, row, at + name_width + 1, 2, STYLE_NORMAL, port);
  canvas_put(canvas, row, at + name_width + 4, WORD_COLUMNS, style, word);
  if (stale || !meter) {
    canvas_put(canvas, row, bar_at, bar + VALUE_COLUMNS, meter ? STYLE_WARNING : STYLE_OFF, stale);
    return;
  }
  g_autofree char *text = rate_text(ui, meter->rate);
  canvas_bar(canvas, row, bar_at, bar, style, meter->rate / ui->full_scale);
  canvas_put_right(canvas, row, bar_at + bar, VALUE_COLUMNS, style, text);
  canvas_put(canvas, row, bar_at + bar + VALUE_COLUMNS, 1, style,
             traffic_sign(canvas, traffic.goes_up));
}

/* The sign is told where it stands, so that it needs no room where nothing is sent. */
static char *
room_title(const Ui *ui, const Canvas *canvas, const LayoutRoom *room)
{
  for (guint i = 0; i < room->n_seats; i++) {
    if (traffic_of_seat(ui, room->seats[i]).goes_up)
      return g_strdup_printf("%s, received, %s sent", room->title, traffic_sign(canvas, TRUE));
  }
  return g_strdup_printf("%s, received", room->title);
}

int
bars_draw(const Ui *ui, Canvas *canvas, Area area, guint index)
{
  const LayoutRoom *room = &ui->rooms[index];
  int n = (int)room->n_seats, across = CLAMP(area.columns / BAR_MIN_COLUMNS, 1, 4);
  int columns = area.columns / across, most = MAX(area.rows - 1, 1);
  int rows = CLAMP((n + across - 1) / across, 1, most), shown = MIN(n, rows * across);
  int selected = MAX(0, ui_place(room, ui->selected));
  int first = selected / (rows * across) * (rows * across); /* page by page */
  int name_width =
      text_names_width(state_layout(ui->state), room->seats, room->n_seats, NAME_COLUMNS);
  g_autofree char *full = rate_text(ui, ui->full_scale);
  g_autofree char *some =
      shown < n ? g_strdup_printf("%d-%d of %d, ", first + 1, MIN(first + shown, n), n)
                : g_strdup("");
  g_autofree char *right = g_strdup_printf("%s%s, full = %s", some, rate_unit(ui), full);
  g_autofree char *title = room_title(ui, canvas, room);

  frame_draw_rule(canvas, area.row, area.column, area.columns,
                  index == ui->room ? STYLE_FOCUS : STYLE_TITLE, title, STYLE_TITLE, right);
  spot_mark(ui, area.row, area.column, area.columns, SPOT_BLOCK, index);
  for (int i = 0; i < rows * across && first + i < n; i++)
    draw_seat(ui, canvas, area.row + 1 + i % rows, area.column + i / rows * columns, columns,
              room->seats[first + i], name_width);
  return rows + 1;
}
