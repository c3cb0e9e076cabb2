/* Log: commands, notes, figures and what machines said, newest last. */
#include "ui/view.h"

#include <string.h>

#define LEAD_COLUMNS 13 /* time, mark */

static gboolean
begins_with_word(const char *text, const char *word)
{
  gsize length = strlen(word);
  return strncmp(text, word, length) == 0 && (text[length] == ' ' || text[length] == ':');
}

/* An entry's lines; the first stands behind its time. */
static GPtrArray *
entry_lines(const Ui *ui, const LogEntry *entry, int columns)
{
  const char *node =
      entry->node == NODE_NONE ? "" : layout_node(state_layout(ui->state), entry->node)->name;
  if (begins_with_word(entry->text, node)) /* it names its node itself */
    node = "";
  g_autofree char *text =
      g_strdup_printf("%-4.8s %s%s%s", entry->source, node, *node ? " " : "", entry->text);
  return text_wrap(text, columns - LEAD_COLUMNS);
}

static gboolean
is_of_seat(const Ui *ui, const LogEntry *entry)
{
  return entry->node != NODE_NONE &&
         layout_node(state_layout(ui->state), entry->node)->kind == NODE_CLIENT;
}

static void
draw_line(const Ui *ui, Canvas *canvas, int row, Area area, const LogEntry *entry, const char *line,
          int index)
{
  static const char *const marks[] = {" ", "w", "!"};
  gint64 ms = entry->t / TIME_MS;
  Style style = frame_severity_style(entry->severity);
  gboolean selected = is_of_seat(ui, entry) && entry->node == ui->selected;
  if (index == 0) {
    canvas_printf(canvas, row, area.column, LEAD_COLUMNS, selected ? STYLE_SELECTED : STYLE_OFF,
                  "%3" G_GINT64_FORMAT ":%02" G_GINT64_FORMAT ".%03" G_GINT64_FORMAT, ms / 60000,
                  ms / 1000 % 60, ms % 1000);
    canvas_put(canvas, row, area.column + 11, 1, style, marks[entry->severity]);
  }
  canvas_put(canvas, row, area.column + LEAD_COLUMNS, area.columns - LEAD_COLUMNS, style, line);
  if (is_of_seat(ui, entry))
    spot_mark(ui, row, area.column, area.columns, SPOT_SEAT, entry->node);
}

/* From the top where they do not fill the area. */
void
log_draw_tail(const Ui *ui, Canvas *canvas, Area area, NodeId only, guint64 end)
{
  g_autoptr(GPtrArray) shown = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  g_autoptr(GPtrArray) entries = g_ptr_array_new();
  int height = 0;
  for (guint64 at = end; at > state_log_first(ui->state) && height < area.rows; at--) {
    const LogEntry *entry = state_log(ui->state, at - 1);
    if (only != NODE_NONE && entry->node != only)
      continue;
    GPtrArray *lines = entry_lines(ui, entry, area.columns);
    g_ptr_array_add(shown, lines);
    g_ptr_array_add(entries, (gpointer)entry);
    height += (int)lines->len;
  }
  int row = area.row + MIN(height, area.rows);
  for (guint i = 0; i < shown->len; i++) {
    const GPtrArray *lines = shown->pdata[i];
    row -= (int)lines->len;
    for (guint k = 0; k < lines->len; k++) {
      if (row + (int)k >= area.row)
        draw_line(ui, canvas, row + (int)k, area, entries->pdata[i], lines->pdata[k], (int)k);
    }
  }
}

/* scroll counts entries back from the newest; 0 follows. */
static void
log_draw(Ui *ui, Canvas *canvas, Area area)
{
  guint64 end = state_log_end(ui->state), kept = end - state_log_first(ui->state);
  int *back = &ui->scroll[VIEW_LOG];
  *back = CLAMP(*back, 0, MAX(0, (int)kept - 1));
  g_autofree char *right = *back ? g_strdup_printf("%d newer below: End", *back) : g_strdup("");
  frame_draw_rule(canvas, area.row, area.column, area.columns, STYLE_FOCUS, "Log", STYLE_WARNING,
                  right);
  if (*back)
    spot_mark(ui, area.row, area.column, area.columns, SPOT_KEY, UI_KEY_END);
  area.row++, area.rows--;
  log_draw_tail(ui, canvas, area, NODE_NONE, end - (guint64)*back);
}

static void
log_move(Ui *ui, Move move)
{
  ui_scroll(ui, move, TRUE);
}

const View view_log = {"log", "commands, notes, figures and what machines said", log_draw,
                       log_move};
