/* `/`: the next seat, or in Log the next entry, that holds the text. */
#include "ui/view.h"

#include <string.h>

static gboolean
holds(const char *text, const char *wanted)
{
  g_autofree char *in = g_utf8_casefold(text, -1);
  g_autofree char *what = g_utf8_casefold(wanted, -1);
  return strstr(in, what) != NULL;
}

static gboolean
seat_holds(const Ui *ui, NodeId id, const char *wanted)
{
  const LayoutNode *node = layout_node(state_layout(ui->state), id);
  g_autofree char *mac = mac_print(&state_node(ui->state, id)->mac);
  g_autofree char *ip = g_strdup_printf("%u.%u.%u.%u", node->ip >> 24, node->ip >> 16 & 255,
                                        node->ip >> 8 & 255, node->ip & 255);
  return holds(node->name, wanted) || (node->has_mac && holds(mac, wanted)) ||
         (node->has_ip && holds(ip, wanted));
}

static guint
count_seats(const Ui *ui, guint rooms)
{
  guint n = 0;
  for (guint r = 0; r < rooms; r++)
    n += ui->rooms[r].n_seats;
  return n;
}

/* Seats of all blocks one behind the other, from the selected one on (else from the block's first),
 * around the end. */
static gboolean
find_seat(Ui *ui, gboolean back)
{
  guint n = count_seats(ui, ui->n_rooms), before = count_seats(ui, ui->room);
  int place = ui_place(ui_room(ui), ui->selected);
  guint at = place >= 0 ? before + (guint)place : before + n - (back ? 0 : 1);
  for (guint step = 1; step <= n; step++) {
    guint i = (at + (back ? n - step : step)) % n, room = 0;
    while (i >= ui->rooms[room].n_seats)
      i -= ui->rooms[room++].n_seats;
    if (seat_holds(ui, ui->rooms[room].seats[i], ui->wanted)) {
      ui_select(ui, ui->rooms[room].seats[i]);
      return TRUE;
    }
  }
  return FALSE;
}

static gboolean
entry_holds(const Ui *ui, guint64 number)
{
  const LogEntry *entry = state_log(ui->state, number);
  return holds(entry->text, ui->wanted) || holds(entry->source, ui->wanted) ||
         (entry->node != NODE_NONE &&
          holds(layout_node(state_layout(ui->state), entry->node)->name, ui->wanted));
}

/* In the log the next one is the one before: what is looked for lies in the past. */
static gboolean
find_entry(Ui *ui, gboolean back)
{
  guint64 first = state_log_first(ui->state), end = state_log_end(ui->state);
  guint64 at = ui->found >= first && ui->found < end ? ui->found : back ? first : end;
  while (back ? at + 1 < end : at > first) {
    at = back ? at + 1 : at - 1;
    if (entry_holds(ui, at)) {
      ui->found = at;
      ui->scroll[VIEW_LOG] = (int)(end - 1 - at);
      return TRUE;
    }
  }
  return FALSE;
}

void
find_again(Ui *ui, gboolean back)
{
  if (!ui->wanted) {
    ui_message(ui, SEVERITY_INFO, "nothing was looked for yet; / does");
    return;
  }
  if (ui->view == VIEW_LOG ? find_entry(ui, back) : find_seat(ui, back))
    return;
  g_autofree char *text =
      g_strdup_printf("%s with `%s`%s", ui->view == VIEW_LOG ? "no entry" : "no seat", ui->wanted,
                      ui->view == VIEW_LOG && ui->found != NOTHING_FOUND ? " beyond this one" : "");
  ui_message(ui, SEVERITY_INFO, text);
}

void
find_text(Ui *ui, const char *text)
{
  g_free(ui->wanted);
  ui->wanted = g_strdup(text);
  ui->found = NOTHING_FOUND;
  find_again(ui, FALSE);
}
