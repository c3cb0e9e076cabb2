/* Load: what each client of a run reads or writes now, or came to in the end. */
#include "ui/view.h"

#include "model/units.h"

#include <math.h>
#include <string.h>

#define NAME_COLUMNS 12
#define WORD_COLUMNS 6
#define BAR_MAX 26
#define NUMBER_COLUMNS 8
#define FIGURE_COLUMNS 38

typedef struct {
  int name, word, bar, bar_columns, rate, bytes, files, seconds; /* bytes, files: 0 none */
} Columns;

static gboolean
counts_files(const LoadRun *run)
{
  for (guint i = 0; i < run->n; i++) {
    if (isfinite(run->seats[i].files))
      return TRUE;
  }
  return FALSE;
}

static Columns
place_columns(Area area, int name_width, const LoadRun *run)
{
  Columns columns = {.name = area.column + 1};
  gboolean wide = area.columns >= 60;
  int right = area.column + area.columns - 1;
  columns.word = columns.name + name_width + 1 + 3;
  columns.bar = columns.word + WORD_COLUMNS;
  columns.bar_columns = CLAMP(right - columns.bar - NUMBER_COLUMNS * (wide ? 4 : 2), 0, BAR_MAX);
  columns.rate = columns.bar + columns.bar_columns;
  columns.seconds = columns.rate + NUMBER_COLUMNS;
  if (wide) {
    columns.bytes = columns.seconds + NUMBER_COLUMNS;
    columns.files = counts_files(run) ? columns.bytes + NUMBER_COLUMNS : 0;
  }
  return columns;
}

static void
put_number(Canvas *canvas, int row, int column, double value, guint decimals)
{
  g_autofree char *text = isfinite(value) ? units_fixed(value, decimals) : g_strdup("");
  if (column > 0)
    canvas_put_right(canvas, row, column, NUMBER_COLUMNS, STYLE_NORMAL, text);
}

/* bit/s: what its port carries while it runs, then what the job said; NAN: neither. */
static double
rate_of(const Ui *ui, const LoadSeat *seat, gboolean *goes_up)
{
  *goes_up = FALSE;
  if (seat->outcome == SEAT_RUNNING) {
    Traffic traffic = traffic_of_seat(ui, seat->node);
    double rate = traffic.goes_up ? traffic.up : traffic.down;
    *goes_up = traffic.goes_up;
    return rate < 0 ? NAN : rate;
  }
  return seat->seconds > 0 ? seat->bytes * 8 / seat->seconds : NAN;
}

static void
draw_seat(const Ui *ui, Canvas *canvas, int row, const Columns *columns, int name_width,
          const LoadSeat *seat)
{
  Style style;
  char port[8];
  const char *word = outcome_word(seat->outcome, &style);
  gboolean goes_up;
  double rate = rate_of(ui, seat, &goes_up), seconds = seat->seconds;
  g_autofree char *name =
      text_tail(canvas, layout_node(state_layout(ui->state), seat->node)->name, name_width);
  if (seat->outcome == SEAT_RUNNING)
    seconds = (double)(ui_now(ui) - seat->start_t) / (double)TIME_SECOND;
  seat_port(ui, seat->node, port);
  canvas_put(canvas, row, columns->name, name_width,
             ui->selected == seat->node ? STYLE_SELECTED : STYLE_NORMAL, name);
  canvas_put(canvas, row, columns->name + name_width + 1, 2, STYLE_NORMAL, port);
  canvas_put(canvas, row, columns->word, WORD_COLUMNS, style, word);
  if (isfinite(rate)) {
    g_autofree char *text = rate_text(ui, rate);
    canvas_bar(canvas, row, columns->bar, columns->bar_columns, style, rate / ui->full_scale);
    canvas_put_right(canvas, row, columns->rate, NUMBER_COLUMNS, style, text);
    canvas_put(canvas, row, columns->rate + NUMBER_COLUMNS, 1, style,
               traffic_sign(canvas, goes_up));
  }
  put_number(canvas, row, columns->seconds, seconds, 1);
  put_number(canvas, row, columns->bytes, seat->bytes / 1e6, 1);
  put_number(canvas, row, columns->files, seat->files, 0);
}

static void
draw_heads(const Ui *ui, Canvas *canvas, int row, const Columns *columns)
{
  canvas_put(canvas, row, columns->name, -1, STYLE_OFF, "seat");
  canvas_put_right(canvas, row, columns->rate, NUMBER_COLUMNS, STYLE_OFF, rate_unit(ui));
  canvas_put_right(canvas, row, columns->seconds, NUMBER_COLUMNS, STYLE_OFF, "s");
  if (columns->bytes > 0)
    canvas_put_right(canvas, row, columns->bytes, NUMBER_COLUMNS, STYLE_OFF, "MB");
  if (columns->files > 0)
    canvas_put_right(canvas, row, columns->files, NUMBER_COLUMNS, STYLE_OFF, "files");
}

static char *
run_title(const Ui *ui, const LoadRun *run)
{
  g_autofree NodeId *nodes = g_new(NodeId, run->n + 1);
  for (guint i = 0; i < run->n; i++)
    nodes[i] = run->seats[i].node;
  g_autofree char *set = ui_set_name(ui, nodes, run->n);
  g_autofree char *repeat = run->run > 1 ? g_strdup_printf(" (run %u)", run->run) : g_strdup("");
  return g_strdup_printf("Load %s%s%s%s on %s%s%s%s", run->job, *run->cache ? " " : "", run->cache,
                         run->proof == PROOF_UNVERIFIED ? " unverified" : "", set,
                         *run->label ? " as " : "", run->label, repeat);
}

/* Appends what the seats that are through came to, from slowest to fastest. */
static void
append_spread(GString *text, const Ui *ui, const double *rates, guint n)
{
  g_autofree char *median = rate_text(ui, stats_percentile(rates, n, 0.5));
  g_autofree char *least = rate_text(ui, stats_percentile(rates, n, 0));
  g_autofree char *most = rate_text(ui, stats_percentile(rates, n, 1));
  g_string_append_printf(text, "   median %s %s, %s to %s", median, rate_unit(ui), least, most);
}

/* What those that run carry now, reads and writes apart. */
static void
append_together(GString *text, const Ui *ui, const Canvas *canvas, double down, double up)
{
  g_autofree char *reads = rate_text(ui, down), *writes = rate_text(ui, up);
  g_string_append(text, ", together ");
  if (down >= 0)
    g_string_append_printf(text, "%s%s", reads, up >= 0 ? " and " : "");
  if (up >= 0)
    g_string_append_printf(text, "%s%s", writes, traffic_sign(canvas, TRUE));
  g_string_append_printf(text, " %s", rate_unit(ui));
}

static void
draw_summary(const Ui *ui, Canvas *canvas, int row, Area area, const LoadRun *run)
{
  g_autoptr(GString) text = g_string_new(NULL);
  g_autofree double *rates = g_new(double, run->n + 1);
  double down = -1, up = -1;
  guint running = 0, n = 0;
  for (guint i = 0; i < run->n; i++) {
    gboolean goes_up;
    double rate = rate_of(ui, &run->seats[i], &goes_up);
    running += run->seats[i].outcome == SEAT_RUNNING;
    if (run->seats[i].outcome == SEAT_RUNNING)
      traffic_add(goes_up ? &up : &down, isfinite(rate) ? rate : -1);
    else if (run->seats[i].outcome == SEAT_OK && isfinite(rate))
      rates[n++] = rate;
  }
  g_string_append_printf(text, "%u of %u ok", run->n_ok, run->n);
  if (n)
    append_spread(text, ui, rates, n);
  if (running)
    g_string_append_printf(text, "   %u running", running);
  if (down >= 0 || up >= 0)
    append_together(text, ui, canvas, down, up);
  if (run->n_failed)
    g_string_append_printf(text, "   %u failed", run->n_failed);
  if (run->uneven)
    g_string_append(text, "   ! not simultaneous");
  canvas_put(canvas, row, area.column + 1, area.columns - 2,
             run->n_failed || run->uneven ? STYLE_WARNING : STYLE_NORMAL, text->str);
}

/* ---- The label's figures -----------------------------------------------------------------------
 */

typedef struct {
  const Ui *ui;
  Canvas *canvas;
  Area area;
  int n;
} FigureList;

static char *
figure_text(const Ui *ui, const Figure *figure)
{
  if (g_str_equal(figure->unit, "bit/s")) {
    g_autofree char *rate = rate_text(ui, figure->value);
    return g_strdup_printf("%s %s", rate, rate_unit(ui));
  }
  if (g_str_equal(figure->unit, "s"))
    return units_print(figure->value, DIMENSION_TIME);
  if (g_str_equal(figure->unit, "B"))
    return units_print(figure->value, DIMENSION_SIZE);
  return units_fixed(figure->value, 0);
}

static void
draw_figure(const char *label, const char *name, const Figure *figure, gpointer data)
{
  FigureList *list = data;
  if (list->n == 0) { /* no heading without figures */
    g_autofree char *title = g_strdup_printf("Figures of %s", label);
    frame_draw_rule(list->canvas, list->area.row - 1, list->area.column, list->area.columns,
                    STYLE_TITLE, title, STYLE_TITLE, "");
  }
  int across = MAX(1, list->area.columns / FIGURE_COLUMNS), n = list->n++;
  int row = n / across, column = list->area.column + 1 + n % across * FIGURE_COLUMNS;
  if (row >= list->area.rows)
    return;
  g_autofree char *value = figure_text(list->ui, figure);
  canvas_put(list->canvas, list->area.row + row, column, 14, STYLE_NORMAL, name);
  canvas_put_right(list->canvas, list->area.row + row, column + 14, 16, STYLE_NORMAL, value);
}

static void
draw_figures(const Ui *ui, Canvas *canvas, Area area, const LoadRun *run)
{
  if (area.rows < 3 || *run->label == '\0')
    return;
  FigureList list = {ui, canvas, {area.row + 1, area.column, area.rows - 1, area.columns}, 0};
  figures_visit(state_figures(ui->state), run->label, draw_figure, &list);
}

/* ---- The view ----------------------------------------------------------------------------------
 */

static const LoadRun *
shown_run(Ui *ui)
{
  guint n = state_n_loads(ui->state);
  if (n == 0)
    return NULL;
  ui->load_back = CLAMP(ui->load_back, 0, (int)n - 1);
  return state_load(ui->state, n - 1 - (guint)ui->load_back);
}

static void
draw_run(Ui *ui, Canvas *canvas, Area area, const LoadRun *run)
{
  SeatRows seats = {&run->seats->node, sizeof *run->seats, run->n};
  int name_width = rows_names_width(ui, &seats, NAME_COLUMNS);
  int shown = MIN(area.rows - 3, (int)run->n), first = rows_scroll(ui, &seats, shown);
  Columns columns = place_columns(area, name_width, run);
  gint64 end = run->end_t >= 0 ? run->end_t : ui_now(ui);
  g_autofree char *title = run_title(ui, run);
  g_autofree char *full = rate_text(ui, ui->full_scale);
  g_autofree char *some = rows_range_text(&seats, first, shown);
  g_autofree char *right =
      g_strdup_printf("%s%s%s %" G_GINT64_FORMAT " s, full = %s", some, *some ? ", " : "",
                      run->end_t >= 0 ? "took" : "for", (end - run->start_t) / TIME_SECOND, full);
  frame_draw_rule(canvas, area.row, area.column, area.columns, STYLE_FOCUS, title, STYLE_TITLE,
                  right);
  draw_heads(ui, canvas, area.row + 1, &columns);
  for (int i = 0; i < shown; i++) {
    const LoadSeat *seat = &run->seats[first + i];
    draw_seat(ui, canvas, area.row + 2 + i, &columns, name_width, seat);
    spot_mark(ui, area.row + 2 + i, area.column, area.columns, SPOT_SEAT, seat->node);
  }
  draw_summary(ui, canvas, area.row + 2 + shown, area, run);
  draw_figures(ui, canvas,
               (Area){area.row + 4 + shown, area.column, area.rows - 4 - shown, area.columns}, run);
}

static void
load_draw(Ui *ui, Canvas *canvas, Area area)
{
  const LoadRun *run = shown_run(ui);
  if (run) {
    draw_run(ui, canvas, area, run);
    return;
  }
  frame_draw_rule(canvas, area.row, area.column, area.columns, STYLE_FOCUS, "Load", STYLE_TITLE,
                  "");
  canvas_put(canvas, area.row + 2, area.column + 1, area.columns - 2, STYLE_OFF,
             "No load was started yet. `l` in the Lab offers one.");
}

static void
load_move(Ui *ui, Move move)
{
  const LoadRun *run = shown_run(ui);
  if (!run)
    return;
  SeatRows seats = {&run->seats->node, sizeof *run->seats, run->n};
  if (move == MOVE_LEFT)
    ui->load_back++;
  else if (move == MOVE_RIGHT)
    ui->load_back = MAX(ui->load_back - 1, 0);
  else
    rows_move(ui, &seats, move);
}

const View view_load = {"load",
                        "jobs: what each client reads or writes, and the figures they came to",
                        load_draw, load_move};
