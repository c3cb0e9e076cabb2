#include "session/report.h"

#include <math.h>
#include <string.h>

#include "core/command.h"
#include "session/load_runs.h"
#include "session/variants.h"

typedef struct {
  char *name; /* `b16.boot.mean` */
  char *unit;
  double value;
  guint n, runs;
} Found;

typedef struct {
  char *text;
  gboolean held;
  double value;
} Expected;

struct Report {
  GPtrArray *figures;  /* of Found, in the order first given */
  GHashTable *by_name; /* name → Found */
  GArray *expected;
  Variants *variants;
  LoadRuns *load_runs;
};

static void
found_free(gpointer data)
{
  Found *found = data;
  g_free(found->name);
  g_free(found->unit);
  g_free(found);
}

static void
expected_clear(gpointer data)
{
  g_free(((Expected *)data)->text);
}

Report *
report_new(void)
{
  Report *report = g_new0(Report, 1);
  report->figures = g_ptr_array_new_with_free_func(found_free);
  report->by_name = g_hash_table_new(g_str_hash, g_str_equal);
  report->expected = g_array_new(FALSE, FALSE, sizeof(Expected));
  g_array_set_clear_func(report->expected, expected_clear);
  report->variants = variants_new();
  report->load_runs = load_runs_new();
  return report;
}

void
report_free(Report *report)
{
  if (report == NULL)
    return;
  g_hash_table_unref(report->by_name);
  g_ptr_array_unref(report->figures);
  g_array_unref(report->expected);
  variants_free(report->variants);
  load_runs_free(report->load_runs);
  g_free(report);
}

/* A later figure of the same name is the one over more runs. */
static void
add_figure(Report *report, const FigureEvent *figure)
{
  g_autofree char *name = g_strconcat(figure->label, ".", figure->name, NULL);
  Found *found = g_hash_table_lookup(report->by_name, name);
  if (found == NULL) {
    found = g_new0(Found, 1);
    found->name = g_steal_pointer(&name);
    g_ptr_array_add(report->figures, found);
    g_hash_table_insert(report->by_name, found->name, found);
  }
  g_free(found->unit);
  found->unit = g_strdup(figure->unit);
  found->value = figure->value;
  found->n = figure->n;
  found->runs = figure->runs;
}

void
report_add(Report *report, const Event *event)
{
  variants_add(report->variants, event);
  load_runs_add(report->load_runs, event);
  if (event->kind == EVENT_FIGURE) {
    add_figure(report, &event->figure);
  } else if (event->kind == EVENT_EXPECT) {
    Expected expected = {g_strdup(event->expect.text), event->expect.held, event->expect.value};
    g_array_append_val(report->expected, expected);
  }
}

char *
report_value(double value, const char *unit)
{
  if (isnan(value))
    return g_strdup("none");
  for (Dimension dimension = DIMENSION_TIME; dimension <= DIMENSION_RATE; dimension++)
    if (strcmp(unit, units_base_name(dimension)) == 0)
      return units_print(value, dimension);
  g_autofree char *number = units_print(value, DIMENSION_COUNT);
  return *unit != 0 ? g_strconcat(number, " ", unit, NULL) : g_steal_pointer(&number);
}

/* What a figure's name may end in when it belongs into a row with others of its kind. */
static const char *const statistics[] = {"mean", "median", "min", "max", "p90", "peak", "sum"};
#define N_STATISTICS G_N_ELEMENTS(statistics)

/* A row of the table: figures that differ in their statistic only, or one that has none. */
typedef struct {
  char *name;
  const Found *found[N_STATISTICS];
  const Found *alone;
} FigureRow;

static void
figure_row_clear(gpointer data)
{
  g_free(((FigureRow *)data)->name);
}

static GArray *
figure_rows(const Report *report)
{
  GArray *rows = g_array_new(FALSE, TRUE, sizeof(FigureRow));
  g_array_set_clear_func(rows, figure_row_clear);
  for (guint i = 0; i < report->figures->len; i++) {
    const Found *found = report->figures->pdata[i];
    const char *dot = strrchr(found->name, '.');
    guint s = 0;
    while (s < N_STATISTICS && strcmp(dot + 1, statistics[s]) != 0)
      s++;
    g_autofree char *name = s < N_STATISTICS ? g_strndup(found->name, (gsize)(dot - found->name))
                                             : g_strdup(found->name);
    FigureRow *row = rows->len > 0 ? &g_array_index(rows, FigureRow, rows->len - 1) : NULL;
    if (row == NULL || strcmp(row->name, name) != 0) {
      FigureRow fresh = {.name = g_steal_pointer(&name)};
      g_array_append_val(rows, fresh);
      row = &g_array_index(rows, FigureRow, rows->len - 1);
    }
    if (s < N_STATISTICS)
      row->found[s] = found;
    else
      row->alone = found;
  }
  return rows;
}

/* The unit a row is printed in: what suits its largest figure. */
static const char *
row_unit(const FigureRow *row)
{
  const Found *largest = NULL;
  for (guint s = 0; s < N_STATISTICS; s++)
    if (row->found[s] != NULL && (largest == NULL || row->found[s]->value > largest->value))
      largest = row->found[s];
  g_assert(largest != NULL); /* a row has figures */
  g_autofree char *text = report_value(largest->value, largest->unit);
  const char *blank = strchr(text, ' ');
  return blank != NULL ? g_intern_string(blank + 1) : "";
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Columns of the figures' table: its name, a column a statistic, then these. */
enum { COLUMN_UNIT = N_STATISTICS + 1, COLUMN_N, COLUMN_RUNS, N_COLUMNS };
/* Columns of the expectations'. */
enum { EXPECTED_HELD, EXPECTED_VALUE, EXPECTED_UNIT, EXPECTED_TEXT, N_EXPECTED };

static char **
add_cells(GPtrArray *table, guint n)
{
  char **cells = g_new0(char *, n + 1);
  for (guint c = 0; c < n; c++)
    cells[c] = g_strdup("");
  g_ptr_array_add(table, cells);
  return cells;
}

static void
set_cell(char **cell, char *text)
{
  g_free(*cell);
  *cell = text;
}

/* A value's number and its unit, which stand in columns of their own. */
static void
set_value(char **number, char **unit, const char *value)
{
  gsize length = strcspn(value, " ");
  set_cell(number, g_strndup(value, length));
  set_cell(unit, g_strdup(value[length] != '\0' ? value + length + 1 : ""));
}

/* As wide as the cells want it, for a table is to have room in 80 columns. ON_LEFT has a bit set
 * for a column whose text begins rather than ends where the others of it do. */
static void
print_table(const GPtrArray *table, guint n, guint on_left, const char *gap, FILE *out)
{
  int widths[N_COLUMNS] = {0};
  g_assert(n <= G_N_ELEMENTS(widths));
  for (guint r = 0; r < table->len; r++)
    for (guint c = 0; c < n; c++)
      widths[c] = MAX(widths[c], (int)strlen(((char **)table->pdata[r])[c]));
  for (guint r = 0; r < table->len; r++) {
    g_autoptr(GString) line = g_string_new(NULL);
    for (guint c = 0; c < n; c++)
      if (widths[c] > 0)
        g_string_append_printf(line, "%s%*s", line->len > 0 ? gap : "",
                               on_left & 1u << c ? -widths[c] : widths[c],
                               ((char **)table->pdata[r])[c]);
    fprintf(out, "%s\n", g_strchomp(line->str));
  }
}

static void
add_row(GPtrArray *table, const FigureRow *row)
{
  char **cells = add_cells(table, N_COLUMNS);
  const Found *any = row->alone;
  set_cell(&cells[0], g_strdup(row->name));
  if (any != NULL) {
    g_autofree char *value = report_value(any->value, any->unit);
    set_value(&cells[1], &cells[COLUMN_UNIT], value);
  } else {
    const char *unit = row_unit(row);
    for (guint s = 0; s < N_STATISTICS; s++) {
      const Found *found = row->found[s];
      if (found == NULL)
        continue;
      any = found;
      g_autofree char *value = *unit != '\0' ? units_print_in(found->value, unit)
                                             : units_print(found->value, DIMENSION_COUNT);
      set_value(&cells[s + 1], &cells[COLUMN_UNIT], value);
    }
  }
  set_cell(&cells[COLUMN_N], g_strdup_printf("%u", any->n));
  set_cell(&cells[COLUMN_RUNS], g_strdup_printf("%u", any->runs));
}

/* A statistic that no figure has is no column. */
static void
add_head(GPtrArray *table, const GArray *rows)
{
  char **cells = add_cells(table, N_COLUMNS);
  set_cell(&cells[0], g_strdup("figure"));
  for (guint i = 0; i < rows->len; i++) {
    const FigureRow *row = &g_array_index(rows, FigureRow, i);
    for (guint s = 0; s < N_STATISTICS; s++)
      if (row->found[s] != NULL || (s == 0 && row->alone != NULL))
        set_cell(&cells[s + 1], g_strdup(statistics[s]));
  }
  set_cell(&cells[COLUMN_N], g_strdup("n"));
  set_cell(&cells[COLUMN_RUNS], g_strdup("runs"));
}

static void
print_figures(const Report *report, FILE *out)
{
  g_autoptr(GArray) rows = figure_rows(report);
  g_autoptr(GPtrArray) table = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
  add_head(table, rows);
  for (guint i = 0; i < rows->len; i++)
    add_row(table, &g_array_index(rows, FigureRow, i));
  print_table(table, N_COLUMNS, 1u << 0 | 1u << COLUMN_UNIT, " ", out);
}

/* The unit an expectation's figure has. */
static const char *
expected_unit(const Report *report, const char *text)
{
  g_autoptr(Command) command = command_parse(text, NULL);
  const Found *found = command != NULL && command->figure != NULL
                           ? g_hash_table_lookup(report->by_name, command->figure)
                           : NULL;
  return found != NULL ? found->unit : "";
}

static void
print_expected(const Report *report, FILE *out)
{
  g_autoptr(GPtrArray) table = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
  for (guint i = 0; i < report->expected->len; i++) {
    const Expected *expected = &g_array_index(report->expected, Expected, i);
    g_autofree char *value = report_value(expected->value, expected_unit(report, expected->text));
    char **cells = add_cells(table, N_EXPECTED);
    set_cell(&cells[EXPECTED_HELD], g_strdup(expected->held ? "held" : "NOT held"));
    set_value(&cells[EXPECTED_VALUE], &cells[EXPECTED_UNIT], value);
    set_cell(&cells[EXPECTED_TEXT], g_strdup(expected->text));
  }
  print_table(table, N_EXPECTED, (1u << N_EXPECTED) - 1 - (1u << EXPECTED_VALUE), " ", out);
}

/* `try expect` compares and does not count. */
static void
print_count(const Report *report, FILE *out)
{
  guint n_held = 0, n = 0, n_tried = 0;
  for (guint i = 0; i < report->expected->len; i++) {
    const Expected *expected = &g_array_index(report->expected, Expected, i);
    gboolean tried = g_str_has_prefix(expected->text, "try ");
    n_tried += tried ? 1 : 0;
    n += tried ? 0 : 1;
    n_held += !tried && expected->held ? 1 : 0;
  }
  fprintf(out, "%u of %u expectations held", n_held, n);
  if (n_tried > 0)
    fprintf(out, "; %u more only compared", n_tried);
  fputc('\n', out);
}

void
report_print(const Report *report, FILE *out)
{
  gboolean side_by_side = variants_has_table(report->variants);
  if (load_runs_has_table(report->load_runs)) {
    load_runs_print(report->load_runs, out);
    fputc('\n', out);
  }
  if (report->figures->len > 0 && !side_by_side)
    print_figures(report, out);
  if (report->figures->len > 0 && report->expected->len > 0 && !side_by_side)
    fputc('\n', out);
  if (side_by_side)
    variants_print(report->variants, out);
  else
    print_expected(report, out);
  if (report->expected->len > 0)
    print_count(report, out);
}
