/* Lists with a row a seat: the one selected stays in sight. */
#include "ui/view.h"

static NodeId
row_node(const SeatRows *seats, guint i)
{
  return *(const NodeId *)(gconstpointer)((const char *)seats->first + i * seats->stride);
}

static int
row_of(const SeatRows *seats, NodeId node)
{
  for (guint i = 0; i < seats->n; i++) {
    if (row_node(seats, i) == node)
      return (int)i;
  }
  return -1;
}

int
rows_names_width(const Ui *ui, const SeatRows *seats, int most)
{
  int width = 3;
  for (guint i = 0; i < seats->n; i++) {
    NodeId id = row_node(seats, i);
    width = MAX(width, text_names_width(state_layout(ui->state), &id, 1, most));
  }
  return width;
}

int
rows_scroll(Ui *ui, const SeatRows *seats, int shown)
{
  int *scroll = &ui->scroll[ui->view], at = row_of(seats, ui->selected);
  if (at >= 0)
    *scroll = CLAMP(*scroll, at - shown + 1, at);
  *scroll = CLAMP(*scroll, 0, MAX(0, (int)seats->n - shown));
  return *scroll;
}

char *
rows_range_text(const SeatRows *seats, int first, int shown)
{
  if (shown >= (int)seats->n)
    return g_strdup("");
  return g_strdup_printf("%d-%d of %u", first + 1, first + shown, seats->n);
}

void
rows_move(Ui *ui, const SeatRows *seats, Move move)
{
  int last = (int)seats->n - 1, at = row_of(seats, ui->selected);
  switch (move) {
  case MOVE_UP:
    at = MAX(at - 1, 0);
    break;
  case MOVE_DOWN:
    at = MIN(at + 1, last);
    break;
  case MOVE_PAGE_UP:
    at = MAX(at - ui->page, 0);
    break;
  case MOVE_PAGE_DOWN:
    at = MIN(at + ui->page, last);
    break;
  case MOVE_HOME:
    at = 0;
    break;
  case MOVE_END:
    at = last;
    break;
  default:
    return;
  }
  if (at >= 0 && at <= last)
    ui_select(ui, row_node(seats, (guint)at));
}
