/* Lab: rooms as seat plans, the server beside them, bars of the block in focus below. */
#include "ui/view.h"

#define PLAN_COLUMNS 44
#define SERVER_COLUMNS 36

static void
draw_log(const Ui *ui, Canvas *canvas, Area area)
{
  if (area.rows < 3)
    return;
  frame_draw_rule(canvas, area.row, area.column, area.columns, STYLE_TITLE, "Log", STYLE_TITLE, "");
  spot_mark(ui, area.row, area.column, area.columns, SPOT_KEY, UI_KEY_F1 + 5);
  area.row++, area.rows--;
  log_draw_tail(ui, canvas, area, NODE_NONE, state_log_end(ui->state));
}

/* Bars of the block in focus, then of the others while there is room, then the log's last lines. */
static void
draw_bars(Ui *ui, Canvas *canvas, Area area)
{
  int taken = bars_draw(ui, canvas, area, ui->room);
  for (guint k = 1; k < ui->n_rooms; k++) {
    Area rest = {area.row + taken, area.column, area.rows - taken, area.columns};
    if (rest.rows < 8)
      break;
    taken += bars_draw(ui, canvas, rest, (ui->room + k) % ui->n_rooms);
  }
  draw_log(ui, canvas, (Area){area.row + taken, area.column, area.rows - taken, area.columns});
}

/* PLAN columns of the area for the rooms, the rest for the server. */
static void
draw_top(Ui *ui, Canvas *canvas, Area area, int plan)
{
  Area server = {area.row, area.column + plan, area.rows, area.columns - plan};
  area.columns = plan;
  plan_draw(ui, canvas, area);
  if (server.columns > 0)
    server_draw(ui, canvas, server);
}

static void
lab_draw(Ui *ui, Canvas *canvas, Area area)
{
  const Layout *layout = state_layout(ui->state);
  if (ui->n_rooms == 0) {
    server_draw(ui, canvas, area);
    return;
  }
  gboolean one_pane = area.columns < PLAN_COLUMNS + SERVER_COLUMNS || area.rows < 20;
  int plan =
      one_pane ? area.columns : CLAMP(plan_width(ui), PLAN_COLUMNS, area.columns - SERVER_COLUMNS);
  int wanted = MAX(plan_height(ui, plan), one_pane ? 0 : server_height(layout));
  int top = MIN(wanted, one_pane ? area.rows : area.rows / 2), left = area.rows - top;
  draw_top(ui, canvas, (Area){area.row, area.column, top, area.columns}, plan);
  if (left >= 3)
    draw_bars(ui, canvas, (Area){area.row + top, area.column, left, area.columns});
}

static void
lab_move(Ui *ui, Move move)
{
  const LayoutRoom *room = ui_room(ui);
  if (!room || room->n_seats == 0)
    return;
  int last = (int)room->n_seats - 1, row = MAX(1, (int)room->columns);
  int at = ui_place(room, ui->selected), to = at;
  switch (move) {
  case MOVE_UP:
    to = at - row;
    break;
  case MOVE_DOWN:
    to = at / row < last / row ? MIN(at + row, last) : at;
    break;
  case MOVE_LEFT:
    to = at - 1;
    break;
  case MOVE_RIGHT:
    to = at + 1;
    break;
  case MOVE_HOME:
    to = 0;
    break;
  case MOVE_END:
    to = last;
    break;
  default:
    return;
  }
  if (at < 0) /* from the whole block to its first seat */
    to = move == MOVE_END ? last : 0;
  if (to >= 0 && to <= last)
    ui->selected = room->seats[to];
}

const View view_lab = {"lab", "rooms as seat plans, the server's ports, bars of the block in focus",
                       lab_draw, lab_move};
