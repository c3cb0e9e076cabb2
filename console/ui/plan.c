/* Rooms as seat plans: as one walks in, aisles included. */
#include "ui/view.h"

#include <string.h>

#define NUMBER_MAX 12

/* How the seats of a room lie on the screen. */
typedef struct {
  int number;   /* columns of a seat's number; its tile and a blank follow */
  int per_line; /* seats side by side */
  int folds;    /* lines that one row of seats takes */
  int lines;
  gboolean aisles; /* drawn: only where a row is one line */
} Grid;

static int
columns_of_row(const LayoutRoom *room, int number)
{
  return (int)room->columns * (number + 2) + (int)room->n_aisles * 2;
}

/* Columns between what is shown of NAME and the tile: a letter behind letters were part of them. */
static int
gap_after(const char *name)
{
  return *name && !g_ascii_isdigit(name[strlen(name) - 1]);
}

static int
number_width(const Ui *ui, const LayoutRoom *room)
{
  int width = 1;
  for (guint i = 0; i < room->n_seats; i++) {
    const char *name = layout_node(state_layout(ui->state), room->seats[i])->name;
    width = MAX(width, (int)strlen(seat_number(name)) + gap_after(name));
  }
  return MIN(width, NUMBER_MAX);
}

static Grid
grid_of(const Ui *ui, const LayoutRoom *room, int columns)
{
  int seats = MAX(1, (int)room->columns);
  Grid grid = {.number = number_width(ui, room), .per_line = seats, .folds = 1, .aisles = TRUE};
  if (columns_of_row(room, grid.number) - 1 > columns) {
    grid.per_line = CLAMP((columns + 1) / (grid.number + 2), 1, seats);
    grid.folds = (seats + grid.per_line - 1) / grid.per_line;
    grid.aisles = FALSE;
  }
  int rows = ((int)room->n_seats + seats - 1) / seats;
  grid.lines = rows * grid.folds;
  if (rows > 0) { /* the last row may be short */
    int last = (int)room->n_seats - (rows - 1) * seats;
    grid.lines -= grid.folds - (last + grid.per_line - 1) / grid.per_line;
  }
  return grid;
}

static int
aisles_before(const LayoutRoom *room, guint seat_in_row)
{
  int n = 0;
  for (guint i = 0; i < room->n_aisles; i++)
    n += room->aisles[i] <= seat_in_row;
  return n;
}

static void
place_seat(const LayoutRoom *room, const Grid *grid, guint i, int *line, int *column)
{
  guint seats = MAX(1, room->columns), in_row = i % seats;
  *line = (int)(i / seats) * grid->folds + (int)in_row / grid->per_line;
  *column = (int)in_row % grid->per_line * (grid->number + 2) +
            (grid->aisles ? 2 * aisles_before(room, in_row) : 0);
}

static void
draw_seat(const Ui *ui, Canvas *canvas, int row, int column, int width, NodeId id)
{
  Style style;
  const char *tile = seat_tile(ui, canvas, id, &style);
  const char *name = layout_node(state_layout(ui->state), id)->name;
  int gap = gap_after(name);
  g_autofree char *shown = text_tail(canvas, seat_number(name), width - gap);
  int used = gap + canvas_put(canvas, row, column, width - gap,
                              ui->selected == id ? STYLE_SELECTED : style, shown);
  canvas_put(canvas, row, column + used, 1, style, tile);
  spot_mark(ui, row, column, used + 1, SPOT_SEAT, id);
}

/* A plan higher than its ROWS is shown around the selected seat. */
static void
draw_seats(const Ui *ui, Canvas *canvas, Area area, const LayoutRoom *room, const Grid *grid)
{
  int line, column, skip = 0;
  int selected = ui_place(room, ui->selected);
  if (selected >= 0) {
    place_seat(room, grid, (guint)selected, &line, &column);
    skip = CLAMP(line - area.rows / 2, 0, MAX(0, grid->lines - area.rows));
  }
  for (guint i = 0; i < room->n_seats; i++) {
    place_seat(room, grid, i, &line, &column);
    if (line >= skip && line - skip < area.rows && column + grid->number + 1 <= area.columns)
      draw_seat(ui, canvas, area.row + line - skip, area.column + column, grid->number,
                room->seats[i]);
  }
}

static char *
room_title(const Ui *ui, const LayoutRoom *room)
{
  const Layout *layout = state_layout(ui->state);
  g_autoptr(GString) title = g_string_new(room->title);
  NodeId last = NODE_NONE;
  for (guint i = 0; i < room->n_seats; i++) {
    NodeId on = layout_node(layout, room->seats[i])->attached;
    if (on == NODE_NONE || on == last)
      continue;
    g_string_append_printf(title, "%s%s", last == NODE_NONE ? "  " : ", ",
                           layout_node(layout, on)->name);
    last = on;
  }
  return g_strdup(title->str);
}

static void
draw_heading(const Ui *ui, Canvas *canvas, Area area, int row, guint index)
{
  const LayoutRoom *room = &ui->rooms[index];
  StateCounts counts = state_counts(ui->state, room->seats, room->n_seats);
  gboolean focus = index == ui->room;
  g_autofree char *name = room_title(ui, room);
  g_autofree char *title = g_strdup_printf("%s%s", focus ? (canvas->ascii ? "*" : "▸") : "", name);
  g_autofree char *failed =
      counts.failed ? g_strdup_printf(", %u err", counts.failed) : g_strdup("");
  g_autofree char *reserved =
      counts.reserved ? g_strdup_printf(", %u L", counts.reserved) : g_strdup("");
  g_autofree char *right =
      g_strdup_printf("%u of %u on%s%s", counts.on, room->n_seats, reserved, failed);
  frame_draw_heading(canvas, area, row, focus ? STYLE_FOCUS : STYLE_TITLE, title,
                     counts.failed ? STYLE_ERROR : STYLE_TITLE, right);
  spot_mark(ui, row, area.column, area.columns, SPOT_BLOCK, index);
}

/* Which rooms are shown, and how many lines of seats each: where not all have room, the one in
 * focus is shown first, then headings of its neighbours, then the seats of those. */
typedef struct {
  guint first, last;
  int *lines; /* by room */
} Choice;

static void
choose_headings(const Ui *ui, Choice *choice, int *left)
{
  while (*left > 0 && (choice->first > 0 || choice->last + 1 < ui->n_rooms)) {
    gboolean behind = choice->last + 1 < ui->n_rooms &&
                      (choice->first == 0 || choice->last - ui->room <= ui->room - choice->first);
    if (behind)
      choice->last++;
    else
      choice->first--;
    (*left)--;
  }
}

static void
choose_seats(const Ui *ui, const Grid *grids, Choice *choice, int left)
{
  for (guint d = 1; d < ui->n_rooms; d++) {
    guint near[2] = {ui->room + d, ui->room - d}; /* may wrap: then it is above last */
    for (guint k = 0; k < 2; k++) {
      guint i = near[k];
      if (i < choice->first || i > choice->last)
        continue;
      choice->lines[i] = MIN(grids[i].lines, left);
      left -= choice->lines[i];
    }
  }
}

static void
draw_more(const Ui *ui, Canvas *canvas, Area area, const Choice *choice)
{
  guint hidden = ui->n_rooms - (choice->last - choice->first + 1);
  if (hidden == 0)
    return;
  g_autofree char *text = g_strdup_printf(" %u more: Tab ", hidden);
  int row = area.row + area.rows - 1, column = area.column + 2;
  int used = canvas_put(canvas, row, column, area.columns - 4, STYLE_TITLE, text);
  spot_mark(ui, row, column, used, SPOT_KEY, UI_KEY_TAB);
}

void
plan_draw(const Ui *ui, Canvas *canvas, Area area)
{
  int rows = area.rows - 1, row = area.row; /* the first heading shares the box's upper border */
  g_autofree Grid *grids = g_new(Grid, ui->n_rooms);
  g_autofree int *lines = g_new0(int, ui->n_rooms);
  Choice choice = {ui->room, ui->room, lines};
  for (guint i = 0; i < ui->n_rooms; i++)
    grids[i] = grid_of(ui, &ui->rooms[i], area.columns - 5);
  lines[ui->room] = MIN(grids[ui->room].lines, rows - 1);
  int left = rows - 1 - lines[ui->room];
  choose_headings(ui, &choice, &left);
  choose_seats(ui, grids, &choice, left);

  frame_draw_box(canvas, area);
  for (guint i = choice.first; i <= choice.last; i++) {
    Area seats = {row + 1, area.column + 3, lines[i], area.columns - 4};
    draw_heading(ui, canvas, area, row, i);
    draw_seats(ui, canvas, seats, &ui->rooms[i], &grids[i]);
    row += 1 + lines[i];
  }
  draw_more(ui, canvas, area, &choice);
}

int
plan_height(const Ui *ui, int columns)
{
  int rows = 1;
  for (guint i = 0; i < ui->n_rooms; i++)
    rows += 1 + grid_of(ui, &ui->rooms[i], columns - 5).lines;
  return rows;
}

int
plan_width(const Ui *ui)
{
  int width = 0;
  for (guint i = 0; i < ui->n_rooms; i++)
    width = MAX(width, columns_of_row(&ui->rooms[i], number_width(ui, &ui->rooms[i])) - 1 + 5);
  return width;
}
