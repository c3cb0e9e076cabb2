#include "backends/ssh/ssh_meter.h"

#include <string.h>

#include "backends/proc/proc_meter.h"
#include "backends/ssh/ssh_private.h"
#include "model/units.h"

#define INTERVAL_MIN (10 * TIME_MS)
#define INTERVAL_MAX (3600 * TIME_SECOND)
/* Of silence on a question, while the connection stands, before the loop is begun anew. */
#define ANSWER_WITHIN (20 * G_USEC_PER_SEC)
/* A loop that ended on a host that is there is begun again after so long, and longer each time. */
#define PAUSE_MIN G_USEC_PER_SEC
#define PAUSE_MAX (60 * G_USEC_PER_SEC)
/* A look that is not over when the next is due is given up, within these limits. */
#define USAGE_MIN (3 * G_USEC_PER_SEC)
#define USAGE_MAX (10 * G_USEC_PER_SEC)
#define USAGE_OUTPUT (64 * 1024)

/* Of a request: one timer asks all hosts, so that 34 of them cost one wake. */
typedef struct {
  guint timer;
  guint every, left; /* ticks of the timer from one question to the next; to go */
} Watch;

/* Of a target. TARGET->command is the loop. */
typedef struct {
  SshTarget *target;
  ProcMeter *meter; /* NULL: the loop does not run */
  gint64 asked;     /* µs; 0: answered */
  gint64 begin_at;  /* µs: the loop is to begin anew; 0: it is there */
  gint64 pause;     /* µs, if it ends once more */
  gboolean stopping;
  char *complaint; /* what the loop's shell said last on its error stream; NULL */
  char *told;      /* why there are no counters, as told last */

  SshCommand *usage;
  char *usage_line;   /* NULL: nobody asks */
  gint64 usage_every; /* µs */
  gint64 usage_begun; /* µs: the last look; 0: none yet */
  gboolean used;      /* by what was read of the look under way */
} Metered;

static void begin_loop(Metered *metered);

/* Said once, until another thing is to be said. */
static void
tell(Metered *metered, const char *text)
{
  if (g_strcmp0(metered->told, text) == 0)
    return;
  g_free(metered->told);
  metered->told = g_strdup(text);
  ssh_target_line(metered->target, "err", text, strlen(text));
}

/* ---- What the host says ------------------------------------------------------------------------
 */

static void
on_samples(const SamplesEvent *samples, gpointer data)
{
  const Metered *metered = data;
  Event event = {.kind = EVENT_SAMPLES, .samples = *samples};
  ssh_post(metered->target->request->ssh, &event);
}

static void
on_observe(NodeId node, const char *fact, const char *value, gpointer data)
{
  SshBackend *ssh = ((Metered *)data)->target->request->ssh;
  g_autofree char *shown = ssh_printable(value, strlen(value), 200);
  Event event = {.kind = EVENT_OBSERVE,
                 .observe = {.node = node, .fact = fact, .value = shown, .source = ssh->base.name}};
  ssh_post(ssh, &event);
}

static void
on_note(const char *text, gpointer data)
{
  tell(data, text);
}

static void
ask(Metered *metered)
{
  g_autoptr(GString) line = g_string_new(NULL);
  gint64 now = g_get_monotonic_time();
  if (metered->meter == NULL || !proc_meter_ask(metered->meter, now, line))
    return;
  metered->asked = now;
  ssh_command_write(metered->target->command, line->str, line->len);
}

static void
on_started(SshCommand *command, gpointer data)
{
  static const ProcMeterCalls calls = {on_samples, on_observe, on_note};
  Metered *metered = data;
  const SshTarget *target = metered->target;
  SshBackend *ssh = target->request->ssh;
  g_autofree char *interface =
      layout_setting_text(ssh->layout, ssh->settings, target->node, "interface");
  gboolean sockets = layout_setting_flag(ssh->layout, ssh->settings, target->node, "sockets");
  (void)command;
  g_clear_pointer(&metered->complaint, g_free);
  metered->meter = proc_meter_new(ssh->layout, target->node, ssh_link_source(target->link),
                                  interface, sockets, &calls, metered);
  ask(metered);
}

static void
on_line(SshCommand *command, gboolean is_error, const char *text, gsize length, gpointer data)
{
  Metered *metered = data;
  g_autoptr(GError) error = NULL;
  if (is_error || metered->meter == NULL) {
    g_free(metered->complaint);
    metered->complaint = ssh_printable(text, length, 200);
    return;
  }
  if (!proc_meter_line(metered->meter, g_get_monotonic_time(), text, &error)) {
    tell(metered, error->message);
    g_clear_pointer(&metered->meter, proc_meter_free);
    ssh_command_cancel(command);
  } else if (*text == '.') {
    metered->asked = 0;
    metered->pause = PAUSE_MIN;
  }
}

static void
on_ended(SshCommand *command, const SshEnd *end, gpointer data)
{
  Metered *metered = data;
  (void)command;
  metered->target->command = NULL;
  metered->asked = 0;
  g_clear_pointer(&metered->meter, proc_meter_free);
  if (metered->stopping) {
    ssh_target_result(metered->target, VERDICT_CANCELLED, "no longer watched");
    return;
  }
  if (end->kind == SSH_LOST) {
    begin_loop(metered);
    return;
  }
  g_autofree char *text = g_strdup_printf(
      "%s: the loop that gives counters ended: %s%s%s", metered->target->name, end->text,
      metered->complaint != NULL ? ": " : "", metered->complaint != NULL ? metered->complaint : "");
  tell(metered, text);
  metered->begin_at = g_get_monotonic_time() + metered->pause;
  metered->pause = MIN(2 * metered->pause, PAUSE_MAX);
}

/* It waits for the host as long as it takes, so for a client that boots. */
static void
begin_loop(Metered *metered)
{
  static const SshCommandCalls calls = {on_started, on_line, on_ended};
  SshTarget *target = metered->target;
  SshBackend *ssh = target->request->ssh;
  static const ProcMeterCalls none = {0};
  g_autofree char *interface =
      layout_setting_text(ssh->layout, ssh->settings, target->node, "interface");
  g_autoptr(ProcMeter) meter =
      proc_meter_new(ssh->layout, target->node, "", interface, FALSE, &none, NULL);
  g_autofree char *line = proc_meter_command(meter);
  SshCommandSpec spec = {.line = line, .reads = TRUE, .patience = SSH_FOREVER};
  metered->begin_at = 0;
  target->command = ssh_command_start(target->link, &spec, &calls, metered);
}

/* ---- Who is logged in --------------------------------------------------------------------------
 */

static void
on_usage_line(SshCommand *command, gboolean is_error, const char *text, gsize length, gpointer data)
{
  Metered *metered = data;
  (void)command;
  (void)length;
  if (!is_error)
    metered->used = metered->used || text[strspn(text, " \t\r")] != '\0';
}

static void
on_usage_ended(SshCommand *command, const SshEnd *end, gpointer data)
{
  Metered *metered = data;
  (void)command;
  metered->usage = NULL;
  if (end->kind == SSH_EXITED && end->status == 0) {
    ssh_target_observe(metered->target, "usage", metered->used ? "in use" : "free");
  } else if (end->kind != SSH_NOT_STARTED && end->kind != SSH_LOST) {
    g_autofree char *text =
        g_strdup_printf("%s: who uses it cannot be told: %s", metered->target->name, end->text);
    tell(metered, text);
    ssh_target_observe(metered->target, "usage", "unknown");
  }
}

static void
look_at_usage(Metered *metered, gint64 now)
{
  static const SshCommandCalls calls = {.line = on_usage_line, .ended = on_usage_ended};
  SshCommandSpec spec = {.line = metered->usage_line, .budget = USAGE_OUTPUT};
  gint64 since = now - metered->usage_begun;
  if (metered->usage != NULL && since >= CLAMP(metered->usage_every, USAGE_MIN, USAGE_MAX))
    ssh_command_cancel(metered->usage);
  if (metered->usage_line == NULL || metered->usage != NULL || metered->meter == NULL ||
      (metered->usage_begun != 0 && since < metered->usage_every) ||
      !ssh_link_is_up(metered->target->link))
    return;
  metered->used = FALSE;
  metered->usage_begun = now;
  metered->usage = ssh_command_start(metered->target->link, &spec, &calls, metered);
}

static void
prepare_usage(Metered *metered)
{
  const SshTarget *target = metered->target;
  SshBackend *ssh = target->request->ssh;
  gint64 every = layout_setting_time(ssh->layout, ssh->settings, target->node, "usage-every");
  if (layout_node(ssh->layout, target->node)->kind != NODE_CLIENT || every <= 0)
    return;
  metered->usage_every = every / 1000;
  metered->usage_line = layout_control(ssh->layout, target->node, "usage", "run", NULL);
  if (metered->usage_line == NULL)
    metered->usage_line = g_strdup(SSH_METER_USERS);
}

/* ---- The operation -----------------------------------------------------------------------------
 */

static void
tick_target(Metered *metered, gint64 now, gboolean is_due)
{
  if (metered->begin_at != 0 && now >= metered->begin_at)
    begin_loop(metered);
  if (metered->asked != 0 && now - metered->asked >= ANSWER_WITHIN) {
    g_autofree char *text =
        g_strdup_printf("%s is connected to, and gives no counters", metered->target->name);
    tell(metered, text);
    metered->asked = 0;
    g_clear_pointer(&metered->meter, proc_meter_free);
    ssh_command_cancel(metered->target->command);
  }
  if (is_due)
    ask(metered);
  look_at_usage(metered, now);
}

static gboolean
on_tick(gpointer data)
{
  SshRequest *request = data;
  Watch *watch = request->data;
  gint64 now = g_get_monotonic_time();
  gboolean is_due = --watch->left == 0;
  if (is_due)
    watch->left = watch->every;
  for (guint i = 0; i < request->n_targets; i++)
    if (request->targets[i].open)
      tick_target(request->targets[i].data, now, is_due);
  return G_SOURCE_CONTINUE;
}

/* A long interval is cut, so that what else is due waits no longer than a second. */
static void
start_timer(SshRequest *request, gint64 interval)
{
  Watch *watch = g_new0(Watch, 1);
  gint64 ms = MAX(interval / TIME_MS, 1);
  watch->every = watch->left = (guint)((ms + 999) / 1000);
  watch->timer = g_timeout_add((guint)(ms / watch->every), on_tick, request);
  request->data = watch;
}

/* By another request, or by another target of this one: two loops would tell of the same counters
 * by turns, and the one that was slower would have them go back. */
static gboolean
is_watched(const SshTarget *target)
{
  const GPtrArray *requests = target->request->ssh->requests;
  for (guint i = 0; i < requests->len; i++) {
    const SshRequest *other = g_ptr_array_index(requests, i);
    for (guint k = 0; other->class == &ssh_meter_operation && k < other->n_targets; k++) {
      const SshTarget *its = &other->targets[k];
      if (its->open && its->data != NULL && its->node == target->node)
        return TRUE;
    }
  }
  return FALSE;
}

static void
begin(SshRequest *request)
{
  const char *text = ssh_request_argument(request, "interval_ns");
  guint64 interval = TIME_SECOND;
  if (text != NULL && (!units_parse_count(text, INTERVAL_MAX, &interval, NULL) ||
                       interval < (guint64)INTERVAL_MIN)) {
    for (guint i = 0; i < request->n_targets; i++)
      ssh_target_result(&request->targets[i], VERDICT_FAILED, "watch each `%s` ns", text);
    return;
  }
  start_timer(request, (gint64)interval);
  for (guint i = 0; i < request->n_targets; i++) {
    if (is_watched(&request->targets[i])) {
      ssh_target_result(&request->targets[i], VERDICT_FAILED, "it is watched already");
      continue;
    }
    Metered *metered = g_new0(Metered, 1);
    metered->target = &request->targets[i];
    metered->pause = PAUSE_MIN;
    metered->target->data = metered;
    prepare_usage(metered);
    begin_loop(metered);
  }
}

static void
stop(SshTarget *target, Verdict why)
{
  Metered *metered = target->data;
  if (target->command == NULL || why != VERDICT_CANCELLED) {
    ssh_target_result(target, why, "no longer watched");
    return;
  }
  metered->stopping = TRUE;
  ssh_command_cancel(target->command);
}

static void
free_target(SshTarget *target)
{
  Metered *metered = target->data;
  if (metered == NULL)
    return;
  ssh_command_forget(metered->usage);
  proc_meter_free(metered->meter);
  g_free(metered->complaint);
  g_free(metered->told);
  g_free(metered->usage_line);
  g_free(metered);
  target->data = NULL;
}

static void
free_data(gpointer data)
{
  Watch *watch = data;
  if (watch == NULL)
    return;
  g_source_remove(watch->timer);
  g_free(watch);
}

const SshOperation ssh_meter_operation = {
    .begin = begin, .stop = stop, .free_target = free_target, .free_data = free_data};
