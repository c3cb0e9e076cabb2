/* Events a second core folds, on the two-room lab: boots of 34 seats with their results, stages and
 * samples at 10 a second, as a storm in the simulator has them. */
#include <stdio.h>
#include <time.h>

#include "core/state.h"

#define COLUMNS 74 /* rx and tx of 34 seats, tx of 4 ports, nfsd and load */
#define BOOTS 4000

typedef struct {
  CoreState *state;
  guint64 events;
  guint32 request; /* the last core sent */
  gint64 t;
} Bench;

static void
take(const Event *output, gpointer data)
{
  Bench *bench = data;
  if (output->kind == EVENT_REQUEST)
    bench->request = output->request.id;
}

static void
feed(Bench *bench, Event event)
{
  event.t = bench->t;
  core_step(bench->state, &event, take, bench);
  bench->events++;
}

static void
settle(Bench *bench)
{
  while (core_deadline(bench->state) <= bench->t)
    feed(bench, (Event){.kind = EVENT_WAKE});
}

static void
see(Bench *bench, NodeId node, const char *fact, const char *value)
{
  feed(bench, (Event){.kind = EVENT_OBSERVE, .observe = {node, fact, value, "sim"}});
}

static void
sample(Bench *bench, const char *const *columns)
{
  static gint64 values[COLUMNS];
  for (guint i = 0; i < COLUMNS; i++)
    values[i] += 1000000 + i;
  feed(bench, (Event){.kind = EVENT_SAMPLES, .samples = {"sim", columns, values, COLUMNS}});
}

/* One storm: power on, stages 3 s apart, samples every 0.1 s. */
static void
boot(Bench *bench, guint32 cmd, const NodeId *seats, guint n)
{
  static const char *const stages[] = {"firmware",  "dhcp", "tftp", "kernel",
                                       "initramfs", "root", "login"};
  for (guint i = 0; i < n; i++)
    see(bench, seats[i], "power", "off");
  feed(bench,
       (Event){.kind = EVENT_COMMAND, .command = {cmd, "boot @all", "boot a[01-17],b[01-17]", -1}});
  for (guint phase = 0; phase < 2; phase++) {
    guint32 request = bench->request;
    for (guint i = 0; i < n; i++) {
      if (phase == 1)
        see(bench, seats[i], "power", "on");
      feed(bench, (Event){.kind = EVENT_RESULT, .result = {request, seats[i], VERDICT_OK, ""}});
    }
    settle(bench);
  }
  for (guint s = 0; s < G_N_ELEMENTS(stages); s++) {
    for (guint i = 0; i < n; i++)
      see(bench, seats[i], "stage", stages[s]);
    for (guint tick = 0; tick < 30; tick++) {
      bench->t += 100 * TIME_MS;
      sample(bench, NULL);
      settle(bench);
    }
  }
}

static char **
columns_new(const Layout *layout)
{
  GPtrArray *columns = g_ptr_array_new();
  for (guint i = 0; i < layout->n_nodes; i++) {
    if (layout->nodes[i].kind != NODE_CLIENT)
      continue;
    g_ptr_array_add(columns, g_strdup_printf("%s.rx B", layout->nodes[i].name));
    g_ptr_array_add(columns, g_strdup_printf("%s.tx B", layout->nodes[i].name));
  }
  for (guint i = 0; i < 4; i++)
    g_ptr_array_add(columns, g_strdup_printf("slx1/eth%u.tx B", i));
  g_ptr_array_add(columns, g_strdup("slx1.nfsd ns"));
  g_ptr_array_add(columns, g_strdup("slx1.load m"));
  g_assert(columns->len == COLUMNS);
  g_ptr_array_add(columns, NULL);
  return (char **)g_ptr_array_free(columns, FALSE);
}

int
main(void)
{
  g_autofree char *file = g_build_filename(g_getenv("SRC") ? g_getenv("SRC") : ".",
                                           "layouts/openslx-two-rooms.yaml", NULL);
  g_autofree char *text = NULL;
  gsize length;
  g_autoptr(GError) error = NULL;
  g_autoptr(Layout) layout = NULL;
  if (g_file_get_contents(file, &text, &length, &error))
    layout = layout_parse(file, text, length, &error);
  if (!layout) {
    fprintf(stderr, "%s\n", error->message);
    return 1;
  }
  const NodeId *seats;
  guint n;
  layout_group(layout, "all", &seats, &n);
  g_auto(GStrv) columns = columns_new(layout);
  CoreOptions options = {.consent = CONSENT_YES};
  Bench bench = {.state = core_new(layout, &options)};
  feed(&bench, (Event){.kind = EVENT_LINK, .link = {"sim", TRUE, ""}});
  for (guint i = 0; i < layout->n_nodes; i++)
    feed(&bench, (Event){.kind = EVENT_RESULT, .result = {1, i, VERDICT_OK, ""}});
  sample(&bench, (const char *const *)columns);
  clock_t start = clock(); /* CPU time: others may want the machine too */
  for (guint i = 0; i < BOOTS; i++)
    boot(&bench, i + 1, seats, n);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  printf("core: %.2f M events/s (%" G_GUINT64_FORMAT " events, 34 seats; aim 3, floor 1.5)\n",
         (double)bench.events / seconds / 1e6, bench.events);
  start = clock();
  for (guint i = 0; i < 50; i++)
    core_free(core_clone(bench.state));
  printf("core: %.2f ms a clone (log full)\n", (double)(clock() - start) / CLOCKS_PER_SEC * 20);
  core_free(bench.state);
  return (double)bench.events / seconds < 1.5e6;
}
