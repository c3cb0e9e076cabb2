#include <math.h>
#include <string.h>

#include "backends/ssh/ssh_job_private.h"
#include "backends/ssh/ssh_runner.h"

#define QUESTIONS_BEFORE 5
#define QUESTIONS_AFTER 3
/* Of a host's own output: what is told, and what is looked through for figures. */
#define SHOWN_MAX (32 * 1024)
#define EXAMINED_MAX (16 * 1024 * 1024)
#define COMPLAINT_MAX 200
/* A step of the uptime, and what reading it may cost on a busy host. */
#define UPTIME_SLACK (30 * TIME_MS)
/* What two clocks may drift apart in a run, beside what the answers leave open. */
#define DRIFT_SLACK (20 * TIME_MS)

static JobHost *
host_of(const SshTarget *target)
{
  return target->data;
}

static JobPlan *
plan_of(const SshTarget *target)
{
  return target->request->data;
}

void
ssh_job_host_free(JobHost *host)
{
  if (host == NULL)
    return;
  g_free(host->command);
  g_free(host->why);
  g_free(host->complaint);
  g_free(host);
}

/* ---- What the host is told --------------------------------------------------------------------
 */

static void tell(SshTarget *target, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void
tell(SshTarget *target, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *line = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  if (target->command != NULL)
    ssh_command_write(target->command, line, strlen(line));
}

static void
ask_time(SshTarget *target)
{
  JobHost *host = host_of(target);
  host->n_questions--;
  host->question++;
  host->asked = g_get_monotonic_time();
  tell(target, "echo %u\n", host->question);
}

void
ssh_job_host_fire(SshTarget *target, gint64 at)
{
  JobHost *host = host_of(target);
  host->phase = HOST_FIRED;
  tell(target, "fire %" G_GINT64_FORMAT "\n", at * 1000 + host->before.offset);
}

void
ssh_job_host_stop(SshTarget *target, const char *signal)
{
  JobHost *host = host_of(target);
  if (host == NULL || target->command == NULL || host->told)
    return;
  host->told = TRUE;
  if (host->phase < HOST_ENDED)
    host->over = TRUE;
  if (ssh_command_is_started(target->command))
    tell(target, "stop %s\n", signal);
  else
    ssh_command_cancel(target->command);
}

void
ssh_job_host_leave(SshTarget *target, gint64 seconds)
{
  JobHost *host = host_of(target);
  if (host == NULL || target->command == NULL || host->told || host->phase >= HOST_ENDED)
    return;
  host->told = TRUE;
  tell(target, "leave %" G_GINT64_FORMAT "\n", seconds);
}

/* ---- Its end ----------------------------------------------------------------------------------
 */

/* ns; by the uptime when its clock was set meanwhile. */
static gint64
duration_of(const JobHost *host)
{
  gint64 by_clock = host->end - host->start;
  return ABS(by_clock - host->uptime) <= UPTIME_SLACK ? by_clock : host->uptime;
}

/* Session time of a reading of the host's clock. */
static gint64
session_time(const SshTarget *target, gint64 clock)
{
  return MAX(clock - host_of(target)->before.offset - target->request->epoch * 1000, 0);
}

static void
add_number(GString *text, const char *name, double value, guint decimals)
{
  if (!isfinite(value))
    return;
  g_autofree char *number = units_fixed(value, decimals);
  g_string_append_printf(text, " %s=%s", name, number);
}

static void
post_figures(SshTarget *target)
{
  const JobHost *host = host_of(target);
  double measured = (double)duration_of(host) / (double)TIME_SECOND;
  double seconds = isfinite(host->figures.seconds) ? host->figures.seconds : measured;
  gint64 wall = (g_get_real_time() - g_get_monotonic_time()) * 1000;
  JobFigures told = host->figures;
  told.seconds = seconds;
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text, "start_ns=%" G_GINT64_FORMAT, session_time(target, host->start));
  add_number(text, "bytes", job_figures_bytes(&told), 0);
  add_number(text, "seconds", seconds, 9);
  add_number(text, "files", host->figures.files, 0);
  if (host->wire >= 0)
    g_string_append_printf(text, " wire_bytes=%" G_GINT64_FORMAT, host->wire);
  g_string_append_printf(text,
                         " readers=%u rtt_ns=%" G_GINT64_FORMAT " offset_ns=%" G_GINT64_FORMAT,
                         host->readers, host->before.trip, host->before.offset - wall);
  ssh_target_line(target, "figures", text->str, text->len);
}

static void
check_clock(SshTarget *target)
{
  const JobHost *host = host_of(target);
  gint64 moved = host->after.offset - host->before.offset;
  gint64 open = (host->after.trip + host->before.trip) / 2 + DRIFT_SLACK;
  if (!host->after.known || ABS(moved) <= open)
    return;
  g_autofree char *seconds = units_fixed((double)moved / (double)TIME_SECOND, 3);
  g_autofree char *text = g_strdup_printf(
      "the clock was set by %s s while the job ran: its start is only known to that", seconds);
  ssh_target_line(target, "err", text, strlen(text));
}

static void
give_result(SshTarget *target)
{
  const JobHost *host = host_of(target);
  int status = host->figures.status >= 0 ? host->figures.status : host->status;
  post_figures(target);
  check_clock(target);
  if (host->verdict != VERDICT_OK)
    ssh_target_result(target, host->verdict, "%s", host->why);
  else if (host->over || (status < 256 && plan_of(target)->job->run->expected[status]))
    ssh_target_result(target, VERDICT_OK, NULL);
  else if (host->complaint != NULL)
    ssh_target_result(target, VERDICT_FAILED, "exit status %d: %s", status, host->complaint);
  else
    ssh_target_result(target, VERDICT_FAILED, "exit status %d", status);
}

/* Its connection has ended on this side; the host may not have noticed yet. */
static void
give_lost(SshTarget *target, const char *cause)
{
  const JobPlan *plan = plan_of(target);
  SshLink *link = target->link;
  ssh_after_ask(link, plan->job->name, plan->token);
  if (link->leased)
    ssh_target_result(target, VERDICT_UNKNOWN,
                      "the job was running: %s; it ends there within %.0f s", cause,
                      (double)link->host->lease / G_USEC_PER_SEC);
  else
    ssh_target_result(target, VERDICT_UNKNOWN, "the job was running: %s", cause);
}

static void
on_ended(SshCommand *command, const SshEnd *end, gpointer data)
{
  SshTarget *target = data;
  JobHost *host = host_of(target);
  SshRequest *request = target->request;
  (void)command;
  target->command = NULL;
  if (host->phase == HOST_ENDED) {
    give_result(target);
  } else if (host->left) {
    ssh_target_result(target, VERDICT_CANCELLED, "left running");
  } else if (host->verdict != VERDICT_OK) {
    ssh_target_result(target, host->verdict, "%s", host->why);
  } else if (host->told) {
    gboolean last = request->n_open == 1;
    ssh_target_result(target, VERDICT_CANCELLED, "stopped before it had begun");
    if (!last)
      ssh_job_barrier(request);
  } else if (host->phase < HOST_FIRED) {
    g_autofree char *why = host->why == NULL ? g_strdup(end->text)
                           : host->complaint == NULL
                               ? g_strdup(host->why)
                               : g_strdup_printf("%s: %s", host->why, host->complaint);
    ssh_job_unready(target, why);
  } else if (end->kind == SSH_LOST) {
    give_lost(target, end->text);
  } else {
    ssh_target_result(target, VERDICT_FAILED, "the job's shell went away: %s", end->text);
  }
}

/* ---- What it says -----------------------------------------------------------------------------
 */

static void
take_time(SshTarget *target, const char *question, const char *answer)
{
  JobHost *host = host_of(target);
  gint64 now = g_get_monotonic_time();
  HostClock *clock = host->phase < HOST_FIRED ? &host->before : &host->after;
  gint64 number;
  if (!g_ascii_string_to_signed(question, 10, host->question, host->question, &number, NULL) ||
      !g_ascii_string_to_signed(answer, 10, 0, TIME_LATEST, &number, NULL))
    return;
  gint64 trip = (now - host->asked) * 1000 + (host->coarse ? 10 * TIME_MS : 0);
  if (!clock->known || trip < clock->trip)
    *clock = (HostClock){TRUE, number - (now + host->asked) / 2 * 1000, trip};
  if (host->n_questions > 0) {
    ask_time(target);
  } else if (host->phase == HOST_SETTING) {
    host->phase = HOST_READY;
    ssh_job_barrier(target->request);
  } else if (host->phase == HOST_ENDED) {
    tell(target, "bye\n");
  }
}

/* `end START END UP0 UP1 STATUS WIRE STOPPED` */
static void
take_end(SshTarget *target, char **words)
{
  JobHost *host = host_of(target);
  gint64 numbers[7];
  if (host->phase != HOST_RUNNING)
    return;
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
    if (words[i] != NULL && strcmp(words[i], "-") == 0)
      numbers[i] = -1;
    else if (words[i] == NULL ||
             !g_ascii_string_to_signed(words[i], 10, 0, TIME_LATEST, &numbers[i], NULL))
      return;
  }
  host->start = numbers[0];
  host->end = numbers[1];
  host->uptime = (numbers[3] - numbers[2]) * 10 * TIME_MS;
  host->status = (int)CLAMP(numbers[4], 0, 255);
  host->wire = numbers[5];
  host->phase = HOST_ENDED;
  host->n_questions = QUESTIONS_AFTER;
  ask_time(target);
}

static void
take_start(SshTarget *target, const char *word)
{
  JobHost *host = host_of(target);
  if (host->phase != HOST_FIRED || word == NULL ||
      !g_ascii_string_to_signed(word, 10, 0, TIME_LATEST, &host->start, NULL))
    return;
  host->phase = HOST_RUNNING;
  g_autofree char *text =
      g_strdup_printf("start_ns=%" G_GINT64_FORMAT, session_time(target, host->start));
  ssh_target_line(target, "figures", text, strlen(text));
}

static void
take_words(SshTarget *target, const char *said)
{
  JobHost *host = host_of(target);
  g_auto(GStrv) words = g_strsplit(said, " ", 10);
  if (words[0] == NULL)
    return;
  if (strcmp(words[0], "armed") == 0 && host->phase == HOST_ARMING) {
    host->coarse = g_strcmp0(words[1], "uptime") == 0;
    host->phase = HOST_SETTING;
    host->n_questions = QUESTIONS_BEFORE;
    ask_time(target);
  } else if (strcmp(words[0], "unarmed") == 0 && host->phase == HOST_ARMING) {
    g_free(host->why);
    host->why = ssh_printable(said + strlen("unarmed "), strlen(said) - strlen("unarmed "), 200);
  } else if (strcmp(words[0], "uncold") == 0) {
    g_autofree char *text =
        g_strdup_printf("its caches were not made cold: exit status %s", words[1] ? words[1] : "?");
    ssh_target_line(target, "err", text, strlen(text));
  } else if (strcmp(words[0], "echo") == 0 && words[1] != NULL && words[2] != NULL) {
    take_time(target, words[1], words[2]);
  } else if (strcmp(words[0], "start") == 0) {
    take_start(target, words[1]);
  } else if (strcmp(words[0], "left") == 0 && target->command != NULL) {
    host_of(target)->left = TRUE;
    ssh_command_leave(target->command);
  } else if (strcmp(words[0], "end") == 0) {
    take_end(target, words + 1);
  }
}

static void
show(SshTarget *target, gboolean is_error, const char *text, gsize length)
{
  static const char more[] = "more output is not shown";
  JobHost *host = host_of(target);
  if (is_error) {
    g_free(host->complaint);
    host->complaint = ssh_printable(text, length, COMPLAINT_MAX);
  }
  gboolean room = host->shown <= SHOWN_MAX;
  host->shown += length + 1;
  if (host->shown <= SHOWN_MAX)
    ssh_target_line(target, is_error ? "err" : "out", text, length);
  else if (room)
    ssh_target_line(target, "err", more, strlen(more));
}

static void
on_line(SshCommand *command, gboolean is_error, const char *text, gsize length, gpointer data)
{
  SshTarget *target = data;
  JobPlan *plan = plan_of(target);
  JobHost *host = host_of(target);
  gsize mark = strlen(plan->token);
  (void)command;
  if (length == 0)
    return;
  if (!is_error && length > mark && memcmp(text, plan->token, mark) == 0 && text[mark] == ' ') {
    take_words(target, text + mark + 1);
    return;
  }
  host->examined += length;
  if (host->phase == HOST_RUNNING && host->examined <= EXAMINED_MAX &&
      job_figures_take(&host->figures, plan->job->run, plan->match, text, length))
    is_error = FALSE;
  show(target, is_error, text, length);
}

/* ---- Its beginning ----------------------------------------------------------------------------
 */

/* The client's counter of the direction its job goes; NULL: none. */
static char *
counter_file(const SshTarget *target)
{
  const SshBackend *ssh = target->request->ssh;
  JobNetwork network = plan_of(target)->job->run->network;
  g_autofree char *interface =
      layout_setting_text(ssh->layout, ssh->settings, target->node, "interface");
  if (network == JOB_NO_NETWORK || interface == NULL || strchr(interface, '/') != NULL)
    return NULL;
  g_autofree char *path = g_strdup_printf("/sys/class/net/%s/statistics/%s", interface,
                                          network == JOB_SENDS ? "tx_bytes" : "rx_bytes");
  return g_shell_quote(path);
}

/* The layout's way to cold caches: mounted anew, then dropped. */
static char *
cold_line(SshTarget *target)
{
  static const char nothing[] = "nothing is known here that makes its caches cold";
  const Layout *layout = target->request->ssh->layout;
  g_autofree char *mount = layout_control(layout, target->node, "remount", "run", NULL);
  g_autofree char *drop = layout_control(layout, target->node, "drop-caches", "run", NULL);
  if (mount == NULL && drop == NULL)
    ssh_target_line(target, "err", nothing, strlen(nothing));
  if (mount == NULL || drop == NULL)
    return g_strdup(mount != NULL ? mount : drop);
  return g_strdup_printf("{ %s; } && { %s; }", mount, drop);
}

static char *
runner_text(SshTarget *target, const JobCommands *commands)
{
  const JobPlan *plan = plan_of(target);
  g_autofree char *counter = counter_file(target);
  g_autofree char *needs = commands->needs != NULL ? g_strjoinv(" ", commands->needs) : NULL;
  g_autofree char *cold = NULL;
  if (plan->cold && commands->lines[JOB_COLD] == NULL)
    cold = cold_line(target);
  const char *warm = commands->lines[JOB_WARM];
  SshRunner runner = {.token = plan->token,
                      .shell = ssh_link_shell(target->link),
                      .counter = counter,
                      .needs = needs,
                      .prepare = commands->lines[JOB_PREPARE],
                      .cold = !plan->cold    ? NULL
                              : cold != NULL ? cold
                                             : commands->lines[JOB_COLD],
                      .warm = !plan->warm    ? NULL
                              : warm != NULL ? warm
                                             : commands->lines[JOB_COMMAND],
                      .command = commands->lines[JOB_COMMAND],
                      .measure = commands->lines[JOB_MEASURE],
                      .cleanup = commands->lines[JOB_CLEANUP]};
  return ssh_runner_text(&runner);
}

void
ssh_job_host_begin(SshTarget *target)
{
  static const SshCommandCalls calls = {.line = on_line, .ended = on_ended};
  const SshRequest *request = target->request;
  const JobPlan *plan = request->data;
  g_autoptr(GError) error = NULL;
  guint n;
  const Argument *arguments = ssh_request_arguments(request, &n);
  g_autoptr(JobCommands) commands = job_commands_new(
      plan->job->run, plan->job->name, request->ssh->layout, target->node, arguments, n, &error);
  JobHost *host = g_new0(JobHost, 1);
  target->data = host;
  host->verdict = VERDICT_OK;
  host->wire = -1;
  host->readers = 1;
  job_figures_init(&host->figures);
  if (commands == NULL) {
    ssh_job_unready(target, error->message);
    return;
  }
  host->command = g_strdup(commands->lines[JOB_COMMAND]);
  g_autofree char *text = runner_text(target, commands);
  SshCommandSpec spec = {.line = text, .reads = TRUE};
  target->command = ssh_command_start(target->link, &spec, &calls, target);
  ssh_lease_want(target->link);
}
