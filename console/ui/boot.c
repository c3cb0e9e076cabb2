/* Boot: a waterfall, a row a seat, a letter and a colour a stage. */
#include "ui/view.h"

#include "model/units.h"

#include <string.h>

#define MENU_COLUMNS 5 /* of them: its login since the menu; then since power was seen on */
#define LOGIN_COLUMNS 13
#define NAME_COLUMNS 12

static Stage
stage_at(const CoreState *state, const BootSeat *seat, gint64 t)
{
  Stage found = STAGE_NONE;
  for (Stage stage = 1; stage < state_n_stages(state); stage++) {
    if (seat->stage_t[stage] >= 0 && seat->stage_t[stage] <= t)
      found = stage;
  }
  return found;
}

/* Time a column stands for, so that the whole run fits. */
static gint64
column_step(gint64 span, int columns)
{
  static const int steps_ms[] = {250, 500, 1000, 2000, 5000, 10000, 20000, 30000, 60000, 300000};
  for (guint i = 0; i < G_N_ELEMENTS(steps_ms); i++) {
    if (span / (steps_ms[i] * TIME_MS) < columns)
      return steps_ms[i] * TIME_MS;
  }
  return MAX(span / MAX(columns, 1), 1) + 1;
}

static void
draw_axis(Canvas *canvas, Area area, int name_width, int columns, gint64 step)
{
  static const int every_s[] = {1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600};
  gint64 every = every_s[G_N_ELEMENTS(every_s) - 1] * TIME_SECOND;
  for (guint i = 0; i < G_N_ELEMENTS(every_s); i++) {
    if (every_s[i] * TIME_SECOND >= 8 * step) {
      every = every_s[i] * TIME_SECOND;
      break;
    }
  }
  int start = area.column + name_width + 2;
  for (gint64 t = 0; t / step < columns - 3; t += every)
    canvas_printf(canvas, area.row, start + (int)(t / step), -1, STYLE_OFF,
                  "%" G_GINT64_FORMAT "%s", t / TIME_SECOND, t ? "" : " s");
  canvas_put_right(canvas, area.row, area.column + area.columns - LOGIN_COLUMNS - 1, LOGIN_COLUMNS,
                   STYLE_OFF, "menu power s");
}

/* `tftp 22`: the stage it did not get through, and its seconds in it. */
static char *
failure_text(const CoreState *state, const BootSeat *seat)
{
  Stage stage = seat->failed_stage;
  if (stage == STAGE_NONE)
    return g_strdup("failed");
  const char *name = state_stage_name(state, stage);
  if (seat->stage_t[stage] < 0 || seat->end_t < seat->stage_t[stage])
    return g_strdup(name);
  gint64 seconds = (seat->end_t - seat->stage_t[stage] + TIME_SECOND / 2) / TIME_SECOND;
  return g_strdup_printf("%.9s %" G_GINT64_FORMAT, name, seconds);
}

static void
draw_took(Canvas *canvas, int row, int column, int columns, gint64 took)
{
  if (took < 0)
    return;
  g_autofree char *text = units_fixed((double)took / (double)TIME_SECOND, 1);
  canvas_put_right(canvas, row, column, columns, STYLE_NORMAL, text);
}

static void
draw_outcome(const CoreState *state, Canvas *canvas, int row, int column, const BootSeat *seat)
{
  if (seat->outcome == SEAT_FAILED) {
    g_autofree char *text = failure_text(state, seat);
    canvas_put_right(canvas, row, column, LOGIN_COLUMNS, STYLE_ERROR, text);
    return;
  }
  draw_took(canvas, row, column, MENU_COLUMNS, boot_seat_took(state, seat, BOOT_FROM_MENU));
  draw_took(canvas, row, column, LOGIN_COLUMNS, boot_seat_took(state, seat, BOOT_FROM_POWER));
}

static void
draw_seat(const Ui *ui, Canvas *canvas, int row, Area area, int name_width, const BootRun *run,
          const BootSeat *seat, gint64 step)
{
  int start = area.column + name_width + 2;
  int columns = area.columns - name_width - LOGIN_COLUMNS - 4;
  gint64 end = seat->end_t >= 0 ? seat->end_t : ui_now(ui);
  Style name_style = seat->node == ui->selected     ? STYLE_SELECTED
                     : seat->outcome == SEAT_FAILED ? STYLE_ERROR
                                                    : STYLE_NORMAL;
  g_autofree char *name =
      text_tail(canvas, layout_node(state_layout(ui->state), seat->node)->name, name_width);
  canvas_put(canvas, row, area.column + 1, name_width, name_style, name);
  spot_mark(ui, row, area.column, area.columns, SPOT_SEAT, seat->node);
  for (int i = 0; i < columns; i++) {
    gint64 t = run->start_t + i * step;
    if (t >= end)
      break;
    Stage stage = stage_at(ui->state, seat, t);
    Style style = seat->outcome == SEAT_FAILED && stage == seat->failed_stage ? STYLE_ERROR
                  : seat->outcome == SEAT_OK                                  ? STYLE_UP
                                                                              : STYLE_BOOTING;
    canvas_put(canvas, row, start + i, 1, style, state_stage_letter(ui->state, stage));
  }
  draw_outcome(ui->state, canvas, row, area.column + area.columns - LOGIN_COLUMNS - 1, seat);
}

/* Seconds that the seats took which are up, of doubles. */
static GArray *
times_since(const CoreState *state, const BootRun *run, BootFrom from)
{
  GArray *times = g_array_new(FALSE, FALSE, sizeof(double));
  for (guint i = 0; i < run->n; i++) {
    gint64 took = boot_seat_took(state, &run->seats[i], from);
    double seconds = (double)took / (double)TIME_SECOND;
    if (took >= 0)
      g_array_append_val(times, seconds);
  }
  return times;
}

static char *
percentile_text(const GArray *times, double rank)
{
  return units_fixed(stats_percentile((const double *)(gpointer)times->data, times->len, rank), 1);
}

static void
add_menu_times(GString *text, const Canvas *canvas, const GArray *times)
{
  double low, high;
  if (times->len == 0)
    return;
  g_autofree char *median = percentile_text(times, 0.5), *max = percentile_text(times, 1);
  g_string_append_printf(text, "   menu %s login median %s s", canvas->ascii ? "->" : "→", median);
  if (stats_median_interval((const double *)(gpointer)times->data, times->len, &low, &high)) {
    g_autofree char *from = units_fixed(low, 1), *to = units_fixed(high, 1);
    g_string_append_printf(text, " [%s, %s]", from, to);
  }
  g_string_append_printf(text, " max %s", max);
}

static void
draw_summary(const CoreState *state, Canvas *canvas, int row, Area area, const BootRun *run)
{
  g_autoptr(GArray) menu = times_since(state, run, BOOT_FROM_MENU);
  g_autoptr(GArray) power = times_since(state, run, BOOT_FROM_POWER);
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text, "%u of %u up", run->n_ok, run->n);
  if (run->n_failed)
    g_string_append_printf(text, ", %u not", run->n_failed);
  add_menu_times(text, canvas, menu);
  if (power->len) {
    g_autofree char *median = percentile_text(power, 0.5);
    g_autofree char *more = g_strdup_printf("   power %s", median);
    if (g_utf8_strlen(text->str, -1) + (glong)strlen(more) <= area.columns - 2)
      g_string_append(text, more);
  }
  canvas_put(canvas, row, area.column + 1, area.columns - 2,
             run->n_failed ? STYLE_WARNING : STYLE_NORMAL, text->str);
}

static char *
run_title(const Ui *ui, const BootRun *run)
{
  g_autofree NodeId *nodes = g_new(NodeId, run->n + 1);
  for (guint i = 0; i < run->n; i++)
    nodes[i] = run->seats[i].node;
  g_autofree char *set = ui_set_name(ui, nodes, run->n);
  g_autofree char *repeat = run->run > 1 ? g_strdup_printf(" (run %u)", run->run) : g_strdup("");
  return g_strdup_printf("Boot %s%s%s%s  %s%s%s", set, *run->label ? " as " : "", run->label,
                         repeat, run->via, *run->entry ? "  " : "", run->entry);
}

/* Names of the stages that it shows. */
static char *
stages_text(const CoreState *state, const BootRun *run)
{
  g_autoptr(GString) text = g_string_new(NULL);
  for (Stage stage = 1; stage < state_login(state); stage++) {
    gboolean seen = FALSE;
    for (guint i = 0; i < run->n && !seen; i++)
      seen = run->seats[i].stage_t[stage] >= 0;
    if (seen)
      g_string_append_printf(text, "%s%s", text->len ? " " : "", state_stage_name(state, stage));
  }
  return g_strdup(text->str);
}

static void
draw_run(Ui *ui, Canvas *canvas, Area area, const BootRun *run)
{
  gint64 span = (run->end_t >= 0 ? run->end_t : ui_now(ui)) - run->start_t;
  SeatRows seats = {&run->seats->node, sizeof *run->seats, run->n};
  int name_width = rows_names_width(ui, &seats, NAME_COLUMNS);
  int shown = MIN(area.rows - 3, (int)run->n), first = rows_scroll(ui, &seats, shown);
  gint64 step = column_step(span, area.columns - name_width - LOGIN_COLUMNS - 4);
  g_autofree char *title = run_title(ui, run);
  g_autofree char *some = rows_range_text(&seats, first, shown);
  g_autofree char *stages = stages_text(ui->state, run);
  frame_draw_rule(canvas, area.row, area.column, area.columns, STYLE_FOCUS, title, STYLE_TITLE,
                  *some ? some : stages);
  area.row++;
  draw_axis(canvas, area, name_width, area.columns - name_width - LOGIN_COLUMNS - 4, step);
  for (int i = 0; i < shown; i++)
    draw_seat(ui, canvas, area.row + 1 + i, area, name_width, run, &run->seats[first + i], step);
  draw_summary(ui->state, canvas, area.row + 1 + shown, area, run);
}

static const BootRun *
shown_run(Ui *ui)
{
  guint n = state_n_boots(ui->state);
  if (n == 0)
    return NULL;
  ui->boot_back = CLAMP(ui->boot_back, 0, (int)n - 1);
  return state_boot(ui->state, n - 1 - (guint)ui->boot_back);
}

static void
boot_draw(Ui *ui, Canvas *canvas, Area area)
{
  const BootRun *run = shown_run(ui);
  if (run) {
    draw_run(ui, canvas, area, run);
    return;
  }
  frame_draw_rule(canvas, area.row, area.column, area.columns, STYLE_FOCUS, "Boot", STYLE_TITLE,
                  "");
  canvas_put(canvas, area.row + 2, area.column + 1, area.columns - 2, STYLE_OFF,
             "Nothing was booted yet. `b` in the Lab offers to boot the block in focus.");
}

static void
boot_move(Ui *ui, Move move)
{
  const BootRun *run = shown_run(ui);
  if (!run)
    return;
  SeatRows seats = {&run->seats->node, sizeof *run->seats, run->n};
  if (move == MOVE_LEFT)
    ui->boot_back++;
  else if (move == MOVE_RIGHT)
    ui->boot_back = MAX(ui->boot_back - 1, 0);
  else
    rows_move(ui, &seats, move);
}

const View view_boot = {"boot", "a waterfall: a row a seat, a letter a stage; older runs with Left",
                        boot_draw, boot_move};
