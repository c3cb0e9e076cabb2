#include "session/load_runs.h"

#include <math.h>
#include <string.h>

#include "core/figure.h"
#include "model/units.h"

#define MOST_COLUMNS 6
#define ENOUGH 6 /* runs for a 95 % interval of their median */
#define CELL_WIDTH 6

typedef struct {
  guint32 cmd; /* the command that began it; its requests, one a backend, are one run */
  GArray *seconds;
} Run;

/* Runs of one label that are alike in what a result depends on. */
typedef struct {
  char *label, *mount, *cache;
  gboolean unverified; /* its caches, in one of its runs */
  GArray *runs;        /* of Run */
} Row;

typedef struct {
  guint32 id;
  guint row, run;
} Sent;

struct LoadRuns {
  GPtrArray *rows;
  GArray *sent;
};

static void
run_clear(gpointer data)
{
  g_array_unref(((Run *)data)->seconds);
}

static void
row_free(gpointer data)
{
  Row *row = data;
  g_free(row->label);
  g_free(row->mount);
  g_free(row->cache);
  g_array_unref(row->runs);
  g_free(row);
}

LoadRuns *
load_runs_new(void)
{
  LoadRuns *runs = g_new0(LoadRuns, 1);
  runs->rows = g_ptr_array_new_with_free_func(row_free);
  runs->sent = g_array_new(FALSE, FALSE, sizeof(Sent));
  return runs;
}

void
load_runs_free(LoadRuns *runs)
{
  if (runs == NULL)
    return;
  g_ptr_array_unref(runs->rows);
  g_array_unref(runs->sent);
  g_free(runs);
}

static const char *
argument(const RequestEvent *request, const char *key)
{
  for (guint i = 0; i < request->n_arguments; i++)
    if (g_str_equal(request->arguments[i].key, key))
      return request->arguments[i].value;
  return "-";
}

static guint
row_of(LoadRuns *runs, const char *label, const char *mount, const char *cache)
{
  for (guint i = 0; i < runs->rows->len; i++) {
    const Row *row = runs->rows->pdata[i];
    if (g_str_equal(row->label, label) && g_str_equal(row->mount, mount) &&
        g_str_equal(row->cache, cache))
      return i;
  }
  Row *row = g_new0(Row, 1);
  row->label = g_strdup(label);
  row->mount = g_strdup(mount);
  row->cache = g_strdup(cache);
  row->runs = g_array_new(FALSE, FALSE, sizeof(Run));
  g_array_set_clear_func(row->runs, run_clear);
  g_ptr_array_add(runs->rows, row);
  return runs->rows->len - 1;
}

static void
add_request(LoadRuns *runs, const RequestEvent *request)
{
  guint index = row_of(runs, argument(request, "label"), argument(request, "mount"),
                       argument(request, "cache"));
  Row *row = runs->rows->pdata[index];
  if (row->runs->len == 0 ||
      g_array_index(row->runs, Run, row->runs->len - 1).cmd != request->cmd) {
    Run run = {request->cmd, g_array_new(FALSE, FALSE, sizeof(double))};
    g_array_append_val(row->runs, run);
  }
  Sent sent = {request->id, index, row->runs->len - 1};
  g_array_append_val(runs->sent, sent);
}

/* The value of `seconds=` among the words of TEXT; NAN. */
static double
seconds_in(const char *text)
{
  g_auto(GStrv) words = g_strsplit(text, " ", 32);
  for (guint i = 0; words[i] != NULL; i++) {
    if (!g_str_has_prefix(words[i], "seconds="))
      continue;
    char *number = words[i] + strlen("seconds="), *end;
    double value = g_ascii_strtod(number, &end);
    if (end != number && *end == 0 && value >= 0 && isfinite(value))
      return value;
  }
  return NAN;
}

static void
add_line(LoadRuns *runs, const LineEvent *line)
{
  double seconds = seconds_in(line->text);
  for (guint i = runs->sent->len; i-- > 0 && !isnan(seconds);) {
    const Sent *sent = &g_array_index(runs->sent, Sent, i);
    if (sent->id != line->request)
      continue;
    const Row *row = runs->rows->pdata[sent->row];
    g_array_append_val(g_array_index(row->runs, Run, sent->run).seconds, seconds);
    return;
  }
}

/* The label's latest run: figures come at its end. */
static void
add_figure(LoadRuns *runs, const FigureEvent *figure)
{
  if (!g_str_equal(figure->name, "unverified"))
    return;
  for (guint i = runs->sent->len; i-- > 0;) {
    Row *row = runs->rows->pdata[g_array_index(runs->sent, Sent, i).row];
    if (!g_str_equal(row->label, figure->label))
      continue;
    row->unverified = TRUE;
    return;
  }
}

void
load_runs_add(LoadRuns *runs, const Event *event)
{
  if (event->kind == EVENT_REQUEST && event->request.operation == OP_EXEC)
    add_request(runs, &event->request);
  else if (event->kind == EVENT_LINE && g_str_equal(event->line.stream, "figures"))
    add_line(runs, &event->line);
  else if (event->kind == EVENT_FIGURE)
    add_figure(runs, &event->figure);
}

gboolean
load_runs_has_table(const LoadRuns *runs)
{
  for (guint i = 0; i < runs->rows->len; i++)
    if (!g_str_equal(((const Row *)runs->rows->pdata[i])->mount, "-"))
      return TRUE;
  return FALSE;
}

static void
print_row(const Row *row, int label_width, int mount_width, FILE *out)
{
  fprintf(out, "%-*s  %-*s  %-5s", label_width, row->label, mount_width, row->mount, row->cache);
  for (guint i = 0; i < MIN(row->runs->len, MOST_COLUMNS); i++) {
    const GArray *seconds = g_array_index(row->runs, Run, i).seconds;
    const double *values = (const double *)(const void *)seconds->data;
    g_autofree char *text = seconds->len > 0
                                ? units_print_in(stats_percentile(values, seconds->len, 0.5), "s")
                                : g_strdup("-");
    fprintf(out, "%*.*s", CELL_WIDTH, (int)strcspn(text, " "), text);
  }
  if (row->runs->len > MOST_COLUMNS)
    fprintf(out, "  and %u more", row->runs->len - MOST_COLUMNS);
  if (row->unverified)
    fprintf(out, "  %s unverified", row->cache);
  fputc('\n', out);
}

void
load_runs_print(const LoadRuns *runs, FILE *out)
{
  int label_width = (int)strlen("seconds, by repeat"), mount_width = (int)strlen("mount");
  guint most = 0, least = G_MAXUINT;
  for (guint i = 0; i < runs->rows->len; i++) {
    const Row *row = runs->rows->pdata[i];
    label_width = MAX(label_width, (int)strlen(row->label));
    mount_width = MAX(mount_width, (int)strlen(row->mount));
    most = MAX(most, row->runs->len);
    least = MIN(least, row->runs->len);
  }
  fprintf(out, "%-*s  %-*s  cache", label_width, "seconds, by repeat", mount_width, "mount");
  for (guint i = 1; i <= MIN(most, MOST_COLUMNS); i++)
    fprintf(out, "%*u", CELL_WIDTH, i);
  fputc('\n', out);
  for (guint i = 0; i < runs->rows->len; i++)
    print_row(runs->rows->pdata[i], label_width, mount_width, out);
  if (least < ENOUGH)
    fprintf(out, "below %d repeats there is no 95 %% interval of a median\n", ENOUGH);
}
