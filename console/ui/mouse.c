/* The mouse: what lies where, and what a click there does. It does what keys do, by the same table;
 * like a selection, it never acts on a machine. */
#include "ui/view.h"

#define WHEEL_ROWS 3

void
spot_mark(const Ui *ui, int row, int column, int columns, SpotKind kind, guint value)
{
  Spot spot = {row, column, columns, kind, value};
  g_array_append_val(ui->spots, spot);
}

/* What was drawn last lies on top. */
static const Spot *
spot_under(const Ui *ui, int row, int column)
{
  for (guint i = ui->spots->len; i > 0; i--) {
    const Spot *spot = &g_array_index(ui->spots, Spot, i - 1);
    if (row == spot->row && column >= spot->column && column < spot->column + spot->columns)
      return spot;
  }
  return NULL;
}

void
ui_mouse(Ui *ui, UiKey key, int row, int column)
{
  ui->pointed_row = row;
  ui->pointed_column = column;
  ui_key(ui, key);
}

void
press_click(Ui *ui, UiKey key)
{
  const Spot *spot = spot_under(ui, ui->pointed_row, ui->pointed_column);
  (void)key;
  if (!spot)
    return;
  switch (spot->kind) {
  case SPOT_SEAT:
    if (ui->selected == spot->value)
      bindings_press(ui, UI_KEY_ENTER);
    else
      ui_select(ui, spot->value);
    break;
  case SPOT_BLOCK:
    if (ui->view != VIEW_LAB && ui->room == spot->value && ui->selected == NODE_NONE)
      press_view(ui, UI_KEY_F1 + VIEW_LAB);
    else
      ui_select_block(ui, spot->value);
    break;
  case SPOT_KEY:
    bindings_press(ui, (UiKey)spot->value);
    break;
  }
}

/* In lists of seats the selection moves with each notch, in the Lab on to the next block at the
 * end of one. */
void
press_wheel(Ui *ui, UiKey key)
{
  gboolean up = key == UI_KEY_WHEEL_UP;
  gboolean whole = ui->selected == NODE_NONE;
  NodeId before = ui->selected;
  guint rows =
      ui->view == VIEW_HELP || ui->view == VIEW_NET || ui->view == VIEW_LOG ? WHEEL_ROWS : 1;
  if (ui->view == VIEW_LAB && whole && up) {
    bindings_press(ui, UI_KEY_BACKTAB);
    return;
  }
  for (guint i = 0; i < rows; i++)
    bindings_press(ui, up ? UI_KEY_UP : UI_KEY_DOWN);
  if (ui->view == VIEW_LAB && ui->selected == before)
    bindings_press(ui, up ? UI_KEY_BACKTAB : UI_KEY_TAB);
}
