#include "backends/ssh/ssh_job.h"

#include <string.h>

#include "backends/ssh/ssh_job_private.h"

#define ARM_COLD (60 * TIME_SECOND)
#define ARM_WARM (600 * TIME_SECOND)
/* Between telling all hosts when to begin and that instant: for the slowest of them to hear of it,
 * and to go to sleep. */
#define LEAD (G_USEC_PER_SEC / 2)
#define LEAD_EACH 2000
/* For a sample of the server's disk behind what made caches warm, which was none of the load's. */
#define LEAD_WARM (G_USEC_PER_SEC * 3 / 2)

/* A server whose caches are dropped or filled before the load begins. */
typedef struct {
  SshRequest *request;
  NodeId node;
  SshCommand *command; /* NULL when it is over */
} Cache;

static JobHost *
host_at(const SshRequest *request, guint i)
{
  return request->targets[i].open ? request->targets[i].data : NULL;
}

/* ---- Beginning together ------------------------------------------------------------------------
 */

/* How many run the same command: they read the same, unless it says otherwise. */
static void
count_readers(SshRequest *request)
{
  g_autoptr(GHashTable) counts = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < request->n_targets; i++) {
    const JobHost *host = host_at(request, i);
    if (host == NULL)
      continue;
    guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, host->command));
    g_hash_table_insert(counts, host->command, GUINT_TO_POINTER(n + 1));
  }
  for (guint i = 0; i < request->n_targets; i++) {
    JobHost *host = host_at(request, i);
    if (host != NULL)
      host->readers = GPOINTER_TO_UINT(g_hash_table_lookup(counts, host->command));
  }
}

static void
fire(SshRequest *request)
{
  JobPlan *plan = request->data;
  gint64 slowest = 0;
  plan->fired = TRUE;
  g_clear_handle_id(&plan->timer, g_source_remove);
  count_readers(request);
  for (guint i = 0; i < request->n_targets; i++) {
    const JobHost *host = host_at(request, i);
    if (host != NULL)
      slowest = MAX(slowest, host->before.trip / 1000);
  }
  gint64 at = g_get_monotonic_time() + LEAD + 2 * slowest + LEAD_EACH * (gint64)request->n_open;
  if (plan->warm)
    at += LEAD_WARM;
  for (guint i = 0; i < request->n_targets; i++)
    if (host_at(request, i) != NULL)
      ssh_job_host_fire(&request->targets[i], at);
}

static void
post_cache(const Cache *cache, const char *text)
{
  Event event = {
      .kind = EVENT_LINE,
      .line = {.request = cache->request->id, .node = cache->node, .stream = "out", .text = text}};
  ssh_post(cache->request->ssh, &event);
}

static void
on_cache_ready(SshCommand *command, const SshEnd *end, gpointer data)
{
  Cache *cache = data;
  JobPlan *plan = cache->request->data;
  const char *done = plan->cold ? "dropped" : "filled";
  gboolean good = end->kind == SSH_EXITED && end->status == 0;
  (void)command;
  cache->command = NULL;
  g_autofree char *text = good ? g_strdup_printf("its caches are %s", done)
                               : g_strdup_printf("its caches were not %s: %s", done, end->text);
  post_cache(cache, text);
  plan->n_caches--;
  if (plan->n_caches == 0)
    ssh_job_barrier(cache->request);
}

static void
prepare_caches(SshRequest *request)
{
  static const SshCommandCalls calls = {.ended = on_cache_ready};
  JobPlan *plan = request->data;
  const Layout *layout = request->ssh->layout;
  const char *control = plan->cold ? "drop-caches" : "fill-caches";
  const char *names = ssh_request_argument(request, plan->cold ? "drop" : "fill");
  g_auto(GStrv) words = g_strsplit(names != NULL ? names : "", ",", -1);
  plan->prepared = TRUE;
  for (guint i = 0; words[i] != NULL; i++) {
    NodeId node = layout_find(layout, words[i]);
    SshLink *link = node != NODE_NONE ? ssh_link_of(request->ssh, node) : NULL;
    g_autofree char *line =
        link != NULL ? layout_control(layout, node, control, "run", NULL) : NULL;
    if (line == NULL)
      continue;
    Cache *cache = g_new0(Cache, 1);
    *cache = (Cache){.request = request, .node = node};
    g_ptr_array_add(plan->caches, cache);
    plan->n_caches++;
    SshCommandSpec spec = {.line = line};
    cache->command = ssh_command_start(link, &spec, &calls, cache);
  }
}

void
ssh_job_barrier(SshRequest *request)
{
  JobPlan *plan = request->data;
  guint ready = 0;
  if (plan->fired || plan->called_off || plan->n_caches > 0)
    return;
  for (guint i = 0; i < request->n_targets; i++) {
    const JobHost *host = host_at(request, i);
    if (host == NULL ? request->targets[i].open : host->phase < HOST_READY)
      return;
    ready += host != NULL;
  }
  if (ready == 0)
    return;
  if ((plan->cold || plan->warm) && !plan->prepared)
    prepare_caches(request);
  if (plan->n_caches == 0)
    fire(request);
}

/* ---- Those that do not get ready ---------------------------------------------------------------
 */

static void
call_off(SshRequest *request, const char *culprit)
{
  JobPlan *plan = request->data;
  if (plan->called_off)
    return;
  plan->called_off = TRUE;
  g_clear_handle_id(&plan->timer, g_source_remove);
  for (guint i = 0; i < request->n_targets; i++) {
    JobHost *host = host_at(request, i);
    if (host == NULL || host->verdict != VERDICT_OK)
      continue;
    host->verdict = VERDICT_CANCELLED;
    g_free(host->why);
    host->why = g_strdup_printf("called off, for %s was not ready", culprit);
    ssh_job_host_stop(&request->targets[i], "TERM");
  }
}

void
ssh_job_unready(SshTarget *target, const char *why)
{
  SshRequest *request = target->request;
  const JobPlan *plan = request->data;
  gboolean last = request->n_open == 1;
  const char *name = target->name;
  ssh_target_result(target, VERDICT_FAILED, "not ready%s: %s",
                    plan->call_off ? "" : ", and left out", why);
  if (last)
    return;
  if (plan->call_off)
    call_off(request, name);
  else
    ssh_job_barrier(request);
}

static gboolean
on_late(gpointer data)
{
  SshRequest *request = data;
  JobPlan *plan = request->data;
  guint left = request->n_open;
  plan->timer = 0;
  for (guint i = 0; left > 0; i++) {
    SshTarget *target = &request->targets[i];
    if (!target->open)
      continue;
    left--;
    if (host_at(request, i)->phase < HOST_READY)
      ssh_job_unready(target, target->command != NULL && ssh_command_is_started(target->command)
                                  ? "it still made ready when all should have been"
                                  : "it could not be reached in time");
  }
  return G_SOURCE_REMOVE;
}

/* ---- The request -------------------------------------------------------------------------------
 */

static const Job *
find_job(const SshRequest *request, GError **error)
{
  const char *name = ssh_request_argument(request, "job");
  const Job *job = job_set_get(request->ssh->jobs, name, error);
  if (job == NULL || job->run != NULL)
    return job;
  g_set_error(error, JOB_ERROR, 0, "%s is for the simulator alone: its file has no `run`", name);
  return NULL;
}

static gboolean
read_plan(const SshRequest *request, JobPlan *plan, gint64 *patience, GError **error)
{
  const char *cache = ssh_request_argument(request, "cache");
  const char *unarmed = ssh_request_argument(request, "unarmed");
  const char *arm = ssh_request_argument(request, "arm");
  plan->cold = g_strcmp0(cache, "cold") == 0;
  plan->warm = g_strcmp0(cache, "warm") == 0;
  plan->call_off = g_strcmp0(unarmed, "call-off") == 0;
  *patience = plan->warm ? ARM_WARM : ARM_COLD;
  if (unarmed != NULL && !plan->call_off && strcmp(unarmed, "leave-out") != 0) {
    g_set_error(error, JOB_ERROR, 0, "unarmed=%s is neither leave-out nor call-off", unarmed);
    return FALSE;
  }
  return arm == NULL || units_parse_duration(arm, patience, error);
}

static void
refuse(SshRequest *request, const char *why)
{
  guint left = request->n_open;
  for (guint i = 0; left > 0; i++)
    if (request->targets[i].open) {
      left--;
      ssh_target_result(&request->targets[i], VERDICT_FAILED, "%s", why);
    }
}

static void
cache_free(gpointer data)
{
  Cache *cache = data;
  ssh_command_forget(cache->command);
  g_free(cache);
}

static JobPlan *
plan_new(const Job *job)
{
  JobPlan *plan = g_new0(JobPlan, 1);
  plan->job = job;
  plan->token = g_strdup_printf("pult-%08x%08x", g_random_int(), g_random_int());
  plan->match = pattern_match_new();
  plan->caches = g_ptr_array_new_with_free_func(cache_free);
  return plan;
}

static void
begin(SshRequest *request)
{
  g_autoptr(GError) error = NULL;
  gint64 patience;
  const Job *job = find_job(request, &error);
  JobPlan *plan = request->data = plan_new(job);
  if (job == NULL || !read_plan(request, plan, &patience, &error)) {
    refuse(request, error->message);
    return;
  }
  guint ms = (guint)CLAMP(patience / TIME_MS, 1, G_MAXUINT / 2);
  plan->timer = g_timeout_add(ms, on_late, request);
  for (guint i = 0; i < request->n_targets; i++) {
    SshTarget *target = &request->targets[i];
    if (target->open && !plan->called_off)
      ssh_job_host_begin(target);
    else if (target->open)
      ssh_target_result(target, VERDICT_CANCELLED, "called off before it was asked");
  }
}

static void
stop(SshTarget *target, Verdict why)
{
  JobHost *host = target->data;
  if (why == VERDICT_CANCELLED) {
    host->verdict = VERDICT_CANCELLED;
    g_free(host->why);
    host->why = g_strdup("cancelled");
    ssh_job_host_stop(target, ((JobPlan *)target->request->data)->job->run->stop);
  } else if (host->phase >= HOST_FIRED) {
    ssh_target_result(target, VERDICT_UNKNOWN, "not ended by its deadline, and stopped");
  } else {
    ssh_target_result(target, VERDICT_TIMEOUT, "not begun by its deadline");
  }
}

/* A job has its own way to end; only KILL is meant as it stands. */
static void
give_signal(SshTarget *target, const char *signal)
{
  const JobPlan *plan = target->request->data;
  gboolean kill = strcmp(signal, "KILL") == 0;
  ssh_job_host_stop(target, kill ? signal : plan->job->run->stop);
}

/* What has not begun yet is not left behind. */
static void
leave(SshTarget *target, gint64 seconds)
{
  const JobHost *host = target->data;
  if (host != NULL && host->phase < HOST_FIRED)
    give_signal(target, "TERM");
  else
    ssh_job_host_leave(target, seconds);
}

static void
free_target(SshTarget *target)
{
  ssh_job_host_free(target->data);
  target->data = NULL;
}

static void
free_plan(gpointer data)
{
  JobPlan *plan = data;
  if (plan == NULL)
    return;
  if (plan->timer != 0)
    g_source_remove(plan->timer);
  g_ptr_array_unref(plan->caches);
  pattern_match_free(plan->match);
  g_free(plan->token);
  g_free(plan);
}

const SshOperation ssh_job_operation = {.begin = begin,
                                        .stop = stop,
                                        .signal = give_signal,
                                        .leave = leave,
                                        .free_target = free_target,
                                        .free_data = free_plan};
