#include <math.h>

#include "backends/sim/sim_private.h"
#include "model/units.h"

/* Linux, kernel/sched/loadavg.c: every 5 s load = load · EXP_1 + active · (1 - EXP_1). */
#define LOAD_STEP (5 * TIME_SECOND)
#define LOAD_DECAY (1884.0 / 2048.0)
/* After this many steps at one value nothing in thousandths is left to change. */
#define LOAD_MAX_STEPS 600

#define MIN_INTERVAL TIME_MS
#define MAX_INTERVAL (3600 * TIME_SECOND)

typedef enum {
  SOURCE_RECEIVED,
  SOURCE_SENT,
  SOURCE_RESOURCE, /* as it is used, in its unit */
  SOURCE_BUSY,     /* the same in ns of a thread */
  SOURCE_LOAD,
} SourceKind;

typedef struct {
  SourceKind kind;
  guint index; /* node or resource */
} Source;

static double
busy_threads(const Sim *sim, const SimNode *server)
{
  const World *world = &sim->world;
  double requests = world->pull[server->resource + RESOURCE_NBD];
  double busy = world->pull[server->resource + RESOURCE_NFSD];
  /* The block server is one thread, busy all the time at its ceiling. */
  if (requests > 0)
    busy += requests / world->capacity[server->resource + RESOURCE_NBD];
  return busy;
}

static double
load_at(const Sim *sim, const SimNode *server, gint64 from, gint64 to)
{
  gint64 steps = MIN(to / LOAD_STEP - from / LOAD_STEP, LOAD_MAX_STEPS);
  double load = server->load, busy = steps > 0 ? busy_threads(sim, server) : 0;
  for (gint64 i = 0; i < steps; i++)
    load = load * LOAD_DECAY + busy * (1 - LOAD_DECAY);
  return load;
}

void
sim_meter_load(Sim *sim, gint64 from, gint64 to)
{
  if (from / LOAD_STEP == to / LOAD_STEP)
    return;
  for (NodeId i = 0; i < sim->layout->n_nodes; i++)
    if (sim->nodes[i].layout->kind == NODE_SERVER)
      sim->nodes[i].load = load_at(sim, &sim->nodes[i], from, to);
}

static void
add_column(Watch *watch, SourceKind kind, guint index, const char *owner, const char *what)
{
  Source source = {kind, index};
  gint64 zero = 0;
  g_ptr_array_add(watch->columns, g_strconcat(owner, what, NULL));
  g_array_append_val(watch->sources, source);
  g_array_append_val(watch->values, zero);
}

static void
add_client(Sim *sim, NodeId id)
{
  Watch *watch = &sim->watch;
  const char *name = sim_name(sim, id);
  add_column(watch, SOURCE_RECEIVED, id, name, ".rx B");
  add_column(watch, SOURCE_SENT, id, name, ".tx B");
}

static void
add_server(Sim *sim, NodeId id)
{
  Watch *watch = &sim->watch;
  const SimNode *node = &sim->nodes[id];
  const LayoutServer *server = node->layout->as_server;
  const char *name = node->layout->name;
  for (guint i = 0; i < server->n_ports; i++) {
    g_autofree char *port = g_strconcat(name, "/", server->ports[i].name, NULL);
    add_column(watch, SOURCE_RESOURCE, sim_path_port(node, i, FALSE), port, ".tx B");
    add_column(watch, SOURCE_RESOURCE, sim_path_port(node, i, TRUE), port, ".rx B");
  }
  add_column(watch, SOURCE_RESOURCE, node->resource + RESOURCE_DISK, name, ".disk B");
  add_column(watch, SOURCE_BUSY, node->resource + RESOURCE_NFSD, name, ".nfsd ns");
  add_column(watch, SOURCE_LOAD, id, name, ".load m");
}

static void
add_links(Sim *sim)
{
  for (guint i = 0; i < sim->layout->n_links; i++) {
    g_autofree char *link = g_strconcat("link:", sim->layout->links[i].name, NULL);
    add_column(&sim->watch, SOURCE_RESOURCE, 2 * i, link, ".tx B");
    add_column(&sim->watch, SOURCE_RESOURCE, 2 * i + 1, link, ".rx B");
  }
}

static gboolean
read_interval(const Sim *sim, const RequestEvent *event, gint64 *interval)
{
  const char *text = sim_request_argument(event, "interval_ns");
  guint64 value;
  if (text == NULL) {
    *interval = CLAMP(sim_duration(sim->layout->boot.tick), MIN_INTERVAL, MAX_INTERVAL);
    return TRUE;
  }
  if (!units_parse_count(text, MAX_INTERVAL, &value, NULL) || value < MIN_INTERVAL)
    return FALSE;
  *interval = (gint64)value;
  return TRUE;
}

/* The links of the lab come with any watch: they belong to no node. */
void
sim_meter_submit(Sim *sim, Request *request, const RequestEvent *event)
{
  Watch *watch = &sim->watch;
  gint64 interval;
  const char *what = sim_request_argument(event, "what");
  if (what != NULL) {
    sim_request_answer_all(sim, request, 0, VERDICT_FAILED,
                           g_str_equal(what, "console")
                               ? "simulated machines have no serial console"
                               : "the simulator has no logs");
    return;
  }
  if (watch->request != NULL) {
    g_autofree char *text =
        g_strdup_printf("the lab is watched already, by request %u", watch->request->id);
    sim_request_answer_all(sim, request, 0, VERDICT_FAILED, text);
    return;
  }
  if (!read_interval(sim, event, &interval)) {
    sim_request_answer_all(sim, request, 0, VERDICT_FAILED,
                           "interval_ns is a whole number, of 1 ms to 1 h");
    return;
  }
  *watch = (Watch){.request = request, .interval = interval, .due = sim->now};
  watch->columns = g_ptr_array_new_with_free_func(g_free);
  watch->sources = g_array_new(FALSE, FALSE, sizeof(Source));
  watch->values = g_array_new(FALSE, FALSE, sizeof(gint64));
  for (guint i = 0; i < request->n_targets; i++)
    if (sim->nodes[request->targets[i].node].layout->kind == NODE_CLIENT)
      add_client(sim, request->targets[i].node);
    else if (sim->nodes[request->targets[i].node].layout->kind == NODE_SERVER)
      add_server(sim, request->targets[i].node);
  add_links(sim);
}

void
sim_meter_end(Sim *sim)
{
  if (sim->watch.request == NULL)
    return;
  g_ptr_array_unref(sim->watch.columns);
  g_array_unref(sim->watch.sources);
  g_array_unref(sim->watch.values);
  sim->watch = (Watch){.due = TIME_NEVER};
}

/* The first multiple of the interval that is not before T. */
static gint64
next_tick(const Watch *watch, gint64 t)
{
  return (t + watch->interval - 1) / watch->interval * watch->interval;
}

/* What begins to move between two quiet samples is seen at the next tick. */
void
sim_meter_plan(Sim *sim)
{
  if (sim->watch.request == NULL || !sim->world.moving)
    return;
  gint64 tick = next_tick(&sim->watch, sim->now + 1);
  sim->watch.due = MIN(sim->watch.due, tick);
}

static double
payload_of(const Sim *sim, const SimNode *client, gboolean sent)
{
  double bytes = sent ? client->sent : client->received;
  for (const GList *i = client->transfers.head; i != NULL; i = i->next) {
    const Transfer *transfer = i->data;
    if (transfer->job->moves_data && transfer->job->writes == sent)
      bytes += sim_class_moved(sim, transfer);
  }
  return bytes;
}

/* Bytes are added up at changes of rate only: since then they moved at today's. */
static double
value_of(const Sim *sim, const Source *source, double seconds)
{
  const World *world = &sim->world;
  switch (source->kind) {
  case SOURCE_RECEIVED:
    return payload_of(sim, &sim->nodes[source->index], FALSE);
  case SOURCE_SENT:
    return payload_of(sim, &sim->nodes[source->index], TRUE);
  case SOURCE_RESOURCE:
    return world->used[source->index] + world->pull[source->index] * seconds;
  case SOURCE_BUSY:
    return (world->used[source->index] + world->pull[source->index] * seconds) * 1e9;
  case SOURCE_LOAD:
    return 1000 * load_at(sim, &sim->nodes[source->index], world->since, sim->now);
  }
  g_assert_not_reached();
}

static void
read_values(const Sim *sim, double *values)
{
  double seconds = (double)(sim->now - sim->world.since) / 1e9;
  for (guint i = 0; i < sim->watch.columns->len; i++)
    values[i] = value_of(sim, &g_array_index(sim->watch.sources, Source, i), seconds);
}

/* A counter is never sent smaller than before: added up piece by piece or as a whole, bytes may
 * differ by a rounding error just below a whole one. */
static void
update_values(Sim *sim)
{
  Watch *watch = &sim->watch;
  g_autofree double *values = g_new(double, watch->columns->len);
  read_values(sim, values);
  for (guint i = 0; i < watch->columns->len; i++) {
    gint64 *sent = &g_array_index(watch->values, gint64, i);
    gint64 value = (gint64)floor(values[i]);
    gboolean gauge = g_array_index(watch->sources, Source, i).kind == SOURCE_LOAD;
    *sent = gauge ? value : MAX(*sent, value);
  }
}

gboolean
sim_meter_sample(Sim *sim)
{
  Watch *watch = &sim->watch;
  if (watch->due > sim->now)
    return FALSE;
  update_values(sim);
  const char *const *columns = (const char *const *)watch->columns->pdata;
  SamplesEvent samples = {
      .source = sim->backend.name,
      .columns = watch->columns_sent ? NULL : columns,
      .values = (const gint64 *)(const void *)watch->values->data,
      .n = watch->columns->len,
  };
  sim_samples(sim, &samples);
  watch->columns_sent = TRUE;
  watch->due = next_tick(watch, sim->now + SIM_QUIET_INTERVAL);
  return TRUE;
}
