#include <math.h>

#include "backends/sim/sim_private.h"
#include "model/units.h"

/* Digits behind the point of a whole number of ns. */
#define NS_DIGITS 9

/* A file counts when it is whole, but for what adding up its bytes may have lost. */
#define FILE_SLACK 1e-6

static void
unknown_word(GError **error, const char *what, const char *word, const char *const *known)
{
  const char *nearest = units_nearest_word(word, known);
  g_autofree char *quoted = sim_request_quote(word);
  g_autofree char *hint = nearest ? g_strdup_printf("; did you mean %s?", nearest) : g_strdup("");
  g_set_error(error, JOB_ERROR, 0, "no %s `%s`%s", what, quoted, hint);
}

static const Job *
find_job(const Sim *sim, const char *name, GError **error)
{
  const Job *job = name ? job_set_find(sim->jobs, name) : NULL;
  if (job != NULL)
    return job;
  g_autofree const char **known = g_new0(const char *, sim->jobs->n + 1);
  for (guint i = 0; i < sim->jobs->n; i++)
    known[i] = sim->jobs->jobs[i]->name;
  unknown_word(error, "job", name ? name : "", known);
  return NULL;
}

static gboolean
read_choice(const char *what, const char *value, const char *const *words, guint *index,
            GError **error)
{
  for (guint i = 0; words[i] != NULL; i++) {
    if (g_str_equal(words[i], value)) {
      *index = i;
      return TRUE;
    }
  }
  unknown_word(error, what, value, words);
  return FALSE;
}

static gboolean
read_rate(const char *value, Job *job, GError **error)
{
  double bits;
  if (!units_parse_as(value, DIMENSION_RATE, &bits, error))
    return FALSE;
  if (bits <= 0) {
    g_set_error(error, JOB_ERROR, 0, "a load at a rate of 0 would never end");
    return FALSE;
  }
  job->cap = bits / 8;
  return TRUE;
}

/* What a request asks for. Texts are the request's. */
typedef struct {
  Job job;
  gboolean cold;
  const char *mount; /* NULL: none */
  gboolean v4;
} Wanted;

static gboolean
read_argument(const Argument *argument, Wanted *wanted, GError **error)
{
  static const char *const keys[] = {"job",      "label", "cache",   "rate", "bytes",
                                     "protocol", "mount", "version", "drop", "fill",
                                     "unarmed",  "arm",   NULL};
  static const char *const caches[] = {"warm", "cold", NULL};
  static const char *const versions[] = {"3", "4", NULL};
  static const char *const protocols[] = {
      [PROTOCOL_NFS] = "nfs", [PROTOCOL_NBD] = "nbd", [PROTOCOL_LOCAL] = "local", NULL};
  Job *job = &wanted->job;
  guint key, index = 0;

  if (!read_choice("argument", argument->key, keys, &key, error))
    return FALSE;
  switch (key) {
  case 2:
    if (!read_choice("cache", argument->value, caches, &index, error))
      return FALSE;
    wanted->cold = index == 1;
    return TRUE;
  case 3:
    return read_rate(argument->value, job, error);
  case 4:
    return units_parse_as(argument->value, DIMENSION_SIZE, &job->bytes, error);
  case 5:
    if (!read_choice("protocol", argument->value, protocols, &index, error))
      return FALSE;
    job->protocol = index;
    return TRUE;
  case 6:
    wanted->mount = argument->value;
    return TRUE;
  case 7:
    if (!read_choice("NFS version", argument->value, versions, &index, error))
      return FALSE;
    wanted->v4 = index == 1;
    return TRUE;
  default:
    return TRUE;
  }
}

static gboolean
read_load(const Sim *sim, const RequestEvent *event, Wanted *wanted, GError **error)
{
  const Job *named = find_job(sim, sim_request_argument(event, "job"), error);
  if (named == NULL)
    return FALSE;
  if (named->machines_only) {
    g_set_error(error, JOB_ERROR, 0,
                "%s is for machines alone: its file does not say how to simulate it", named->name);
    return FALSE;
  }
  *wanted = (Wanted){.job = *named};
  for (guint i = 0; i < event->n_arguments; i++)
    if (!read_argument(&event->arguments[i], wanted, error))
      return FALSE;
  if (wanted->job.protocol == PROTOCOL_LOCAL && wanted->job.cap == INFINITY) {
    g_set_error(error, JOB_ERROR, 0, "a local load needs a rate: what the machine itself can do");
    return FALSE;
  }
  if (wanted->v4 && wanted->job.protocol != PROTOCOL_NFS) {
    g_set_error(error, JOB_ERROR, 0, "version=4 is one of NFS, and %s does not use it",
                wanted->job.name);
    return FALSE;
  }
  return TRUE;
}

/* NULL when NODE can run JOB; else what stands in the way, behind its name. */
static const char *
obstacle(const SimNode *node, const Job *job)
{
  if (job->protocol == PROTOCOL_LOCAL) {
    if (node->layout->kind != NODE_SERVER)
      return "is no server: a local load runs where the disk is";
    return node->on ? NULL : "is off";
  }
  if (node->layout->kind != NODE_CLIENT)
    return "is no client and runs no load";
  if (!node->on || !node->up)
    return "is not up";
  if (node->layout->server == NODE_NONE)
    return "has no server to load";
  return NULL;
}

static const SimNode *
server_of(const Sim *sim, const SimNode *node)
{
  return node->layout->kind == NODE_SERVER ? node : &sim->nodes[node->layout->server];
}

static guint
count_readers(const Sim *sim, const Request *request, const Job *job, const SimNode *server)
{
  guint n = 0;
  for (guint i = 0; i < request->n_targets; i++) {
    const SimNode *node = &sim->nodes[request->targets[i].node];
    if (obstacle(node, job) == NULL && server_of(sim, node) == server)
      n++;
  }
  return n;
}

/* NULL with an error when SERVER exports nothing of that name. */
static const LayoutExport *
find_mount(const SimNode *server, const char *name, GError **error)
{
  const LayoutServer *layout = server->layout->as_server;
  int index = layout_find_export(layout, name);
  if (index >= 0)
    return &layout->exports[index];
  g_autofree const char **known = g_new0(const char *, layout->n_exports + 1);
  for (guint i = 0; i < layout->n_exports; i++)
    known[i] = layout->exports[i].name;
  g_autofree char *what = g_strdup_printf("export of %s called", server->layout->name);
  unknown_word(error, what, name, known);
  return NULL;
}

/* NULL, or why not; owned. */
static char *
start_run(Sim *sim, Request *request, guint target, const Wanted *wanted)
{
  NodeId id = request->targets[target].node;
  const SimNode *node = &sim->nodes[id];
  const char *failure = obstacle(node, &wanted->job);
  g_autoptr(GError) error = NULL;
  const LayoutExport *mount = NULL;

  if (failure != NULL)
    return g_strdup_printf("%s %s", node->layout->name, failure);
  const SimNode *server = server_of(sim, node);
  if (wanted->mount != NULL && (mount = find_mount(server, wanted->mount, &error)) == NULL)
    return g_strdup_printf("%s: %s", node->layout->name, error->message);
  JobRun *run = g_new0(JobRun, 1);
  run->request = request;
  run->target = target;
  run->job = wanted->job;
  run->start = sim->now;
  run->transfer.client = id;
  run->transfer.run = run;
  run->transfer.mount = mount;
  run->v4 = wanted->v4;
  if (mount != NULL && run->job.protocol != PROTOCOL_LOCAL)
    run->job.request_time += mount->request_time;
  if (run->job.writes)
    run->transfer.disk = 1;
  else if (wanted->cold)
    run->transfer.disk = 1.0 / count_readers(sim, request, &wanted->job, server);
  request->targets[target].run = run;
  g_autofree char *begun = g_strdup_printf("start_ns=%" G_GINT64_FORMAT, run->start);
  sim_line(sim, request, id, "figures", begun);
  sim_world_start(sim, &run->transfer, &run->job, run->job.bytes);
  return NULL;
}

void
sim_load_submit(Sim *sim, Request *request, const RequestEvent *event)
{
  g_autoptr(GError) error = NULL;
  Wanted wanted;

  if (!read_load(sim, event, &wanted, &error)) {
    sim_request_answer_all(sim, request, 0, VERDICT_FAILED, error->message);
    return;
  }
  for (guint i = 0; i < request->n_targets; i++) {
    char *failure = start_run(sim, request, i, &wanted);
    if (failure != NULL)
      sim_request_answer(sim, request, i, 0, VERDICT_FAILED, failure);
  }
}

void
sim_load_end(Sim *sim, JobRun *run)
{
  sim_world_stop(sim, &run->transfer);
  run->request->targets[run->target].run = NULL;
  g_free(run);
}

/* As the job measures itself: whole bytes, and exact ns as seconds. */
static char *
print_figures(const Sim *sim, const JobRun *run)
{
  double moved = sim_world_moved(sim, &run->transfer);
  gint64 duration = sim->now - run->start;
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "bytes=%" G_GINT64_FORMAT,
                         run->job.moves_data ? (gint64)(moved + 0.5) : 0);
  g_string_append_printf(text, " seconds=%" G_GINT64_FORMAT ".%0*" G_GINT64_FORMAT,
                         duration / TIME_SECOND, NS_DIGITS, duration % TIME_SECOND);
  if (run->job.file_size > 0)
    g_string_append_printf(text, " files=%" G_GINT64_FORMAT,
                           (gint64)(moved / run->job.file_size + FILE_SLACK));
  g_string_append_printf(text, " start_ns=%" G_GINT64_FORMAT, run->start);
  g_string_append_printf(text, " disk_bytes=%" G_GINT64_FORMAT,
                         (gint64)(moved * run->transfer.disk + 0.5));
  if (run->transfer.disk > 0 && run->transfer.disk < 1)
    g_string_append_printf(text, " readers=%.0f", 1 / run->transfer.disk);
  return g_string_free(text, FALSE);
}

void
sim_load_moved(Sim *sim, JobRun *run)
{
  if (run->request == NULL) {
    sim_left_end(sim, run);
    return;
  }
  Request *request = run->request;
  guint target = run->target;
  g_autofree char *figures = print_figures(sim, run);

  if (run->v4)
    sim_line(sim, request, request->targets[target].node, "err",
             "an assumption: NFSv4 was never measured, and is played exactly as version 3");
  sim_line(sim, request, request->targets[target].node, "figures", figures);
  sim_load_end(sim, run);
  sim_request_result(sim, request, target, VERDICT_OK, NULL);
}

/* The first run on NODE that belongs to request ID (0: to any, or to none any more). */
static JobRun *
find_run(const Sim *sim, NodeId node, guint32 id)
{
  for (const GList *i = sim->nodes[node].transfers.head; i != NULL; i = i->next) {
    const Transfer *transfer = i->data;
    JobRun *run = transfer->run;
    if (run != NULL && (id == 0 || (run->request != NULL && run->request->id == id)))
      return run;
  }
  return NULL;
}

/* What a machine measured is lost with it: no figures. */
void
sim_load_lost_power(Sim *sim, NodeId node)
{
  JobRun *run;
  while ((run = find_run(sim, node, 0)) != NULL) {
    if (run->request == NULL) {
      sim_left_end(sim, run);
      continue;
    }
    Request *request = run->request;
    guint target = run->target;
    sim_load_end(sim, run);
    sim_request_result(sim, request, target, VERDICT_FAILED,
                       g_strdup_printf("%s lost power", sim_name(sim, node)));
  }
}

void
sim_load_signal_submit(Sim *sim, Request *request, const RequestEvent *event)
{
  const char *text = sim_request_argument(event, "request");
  const char *left = sim_request_argument(event, "for");
  guint64 id;

  if (text == NULL || !units_parse_count(text, G_MAXUINT32, &id, NULL) || id == 0) {
    sim_request_answer_all(sim, request, 0, VERDICT_FAILED,
                           "a signal needs request=N, the load it is for");
    return;
  }
  request->signalled = (guint32)id;
  request->leaves = g_strcmp0(sim_request_argument(event, "signal"), "LEAVE") == 0;
  if (left == NULL || !units_parse_duration(left, &request->leaves_for, NULL))
    request->leaves_for = TIME_NEVER;
  sim_request_answer_all(sim, request, 0, VERDICT_OK, NULL);
}

/* Every signal ends a job, which then gives its figures: that is all a load knows of signals. */
char *
sim_load_signal(Sim *sim, const Request *request, NodeId node)
{
  JobRun *run = find_run(sim, node, request->signalled);
  if (run == NULL)
    return g_strdup_printf("%s runs no load of request %u", sim_name(sim, node),
                           request->signalled);
  if (!request->leaves) {
    sim_load_moved(sim, run);
    return NULL;
  }
  Request *exec = run->request;
  guint target = run->target;
  sim_left_add(sim, run, request->leaves_for);
  sim_request_result(sim, exec, target, VERDICT_CANCELLED,
                     g_strdup_printf("%s: left running", sim_name(sim, node)));
  return NULL;
}
