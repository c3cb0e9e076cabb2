/* OP_EXEC of a command line, and OP_SIGNAL. */
#include <string.h>

#include "backends/ssh/ssh_private.h"

/* Of output of one command that is told; of more only how much it was. */
#define OUTPUT_MAX (1024 * 1024)
#define MESSAGE_MAX 1000

static void
on_line(SshCommand *command, gboolean is_error, const char *text, gsize length, gpointer data)
{
  (void)command;
  ssh_target_line(data, is_error ? "err" : "out", text, length);
}

static void
on_ended(SshCommand *command, const SshEnd *end, gpointer data)
{
  SshTarget *target = data;
  (void)command;
  gboolean stopped = target->data != NULL;
  target->command = NULL;
  switch (end->kind) {
  case SSH_EXITED:
    if (end->status == 0)
      ssh_target_result(target, VERDICT_OK, NULL);
    else
      ssh_target_result(target, VERDICT_FAILED, "%s", end->text);
    break;
  case SSH_SIGNALLED:
    ssh_target_result(target, stopped ? VERDICT_CANCELLED : VERDICT_FAILED, "%s", end->text);
    break;
  case SSH_NOT_STARTED:
    ssh_target_result(target, stopped ? VERDICT_CANCELLED : VERDICT_FAILED, "%s", end->text);
    break;
  case SSH_LOST:
    ssh_target_result(target, VERDICT_UNKNOWN, "the command was running: %s", end->text);
    break;
  }
}

static void
begin(SshRequest *request)
{
  static const SshCommandCalls calls = {.line = on_line, .ended = on_ended};
  const char *line = ssh_request_argument(request, "command");
  for (guint i = 0; i < request->n_targets; i++) {
    SshTarget *target = &request->targets[i];
    SshCommandSpec spec = {.line = line, .budget = OUTPUT_MAX};
    if (line == NULL)
      ssh_target_result(target, VERDICT_FAILED, "exec of nothing");
    else
      target->command = ssh_command_start(target->link, &spec, &calls, target);
  }
}

static gboolean
may_have_begun(const SshTarget *target)
{
  return target->command != NULL && ssh_command_is_started(target->command);
}

static void
stop(SshTarget *target, Verdict why)
{
  if (why == VERDICT_CANCELLED) {
    target->data = target; /* it is to end */
    ssh_command_cancel(target->command);
  } else if (may_have_begun(target)) {
    ssh_target_result(target, VERDICT_UNKNOWN, "not ended by its deadline, and stopped");
  } else {
    ssh_target_result(target, VERDICT_TIMEOUT, "not started by its deadline: %s",
                      ssh_link_trouble(target->link));
  }
}

static void
give_signal(SshTarget *target, const char *signal)
{
  ssh_command_signal(target->command, signal);
}

const SshOperation ssh_shell_operation = {.begin = begin, .stop = stop, .signal = give_signal};

/* ---- Signals -----------------------------------------------------------------------------------
 */

static SshTarget *
find_target(SshRequest *request, NodeId node)
{
  for (guint i = 0; request != NULL && i < request->n_targets; i++)
    if (request->targets[i].node == node && request->targets[i].open)
      return &request->targets[i];
  return NULL;
}

static gboolean
is_signal(const char *name)
{
  static const char *const names[] = {"TERM", "KILL", "INT", "HUP", "USR1", "USR2", "LEAVE", NULL};
  return name != NULL && g_strv_contains(names, name);
}

/* By argument `for`; -1. */
static gint64
seconds_left(const SshRequest *request)
{
  const char *text = ssh_request_argument(request, "for");
  gint64 left;
  if (text == NULL || !units_parse_duration(text, &left, NULL))
    return -1;
  return MAX((left + TIME_SECOND - 1) / TIME_SECOND, 0);
}

static void
begin_signal(SshRequest *request)
{
  const char *id = ssh_request_argument(request, "request");
  const char *name = ssh_request_argument(request, "signal");
  guint64 number = 0;
  gboolean sound = id != NULL && g_ascii_string_to_unsigned(id, 10, 1, G_MAXUINT32, &number, NULL);
  if (name == NULL)
    name = "TERM";
  for (guint i = 0; i < request->n_targets; i++) {
    SshTarget *target = &request->targets[i];
    SshTarget *meant =
        sound ? find_target(ssh_request_find(request->ssh, (guint32)number), target->node) : NULL;
    if (!is_signal(name)) {
      ssh_target_result(target, VERDICT_FAILED, "no signal %s is known here", name);
    } else if (meant != NULL && meant->request->class->leave != NULL &&
               strcmp(name, "LEAVE") == 0) {
      meant->request->class->leave(meant, seconds_left(request));
      ssh_target_result(target, VERDICT_OK, NULL);
    } else if (meant == NULL || meant->request->class->signal == NULL ||
               strcmp(name, "LEAVE") == 0) {
      ssh_target_result(target, VERDICT_FAILED, "nothing that a signal could be given to runs");
    } else {
      meant->request->class->signal(meant, name);
      ssh_target_result(target, VERDICT_OK, NULL);
    }
  }
}

static void
stop_signal(SshTarget *target, Verdict why)
{
  ssh_target_result(target, why, "no signal was given");
}

const SshOperation ssh_signal_operation = {.begin = begin_signal, .stop = stop_signal};

/* ---- Messages ----------------------------------------------------------------------------------
 */

static char *
message_line(const SshRequest *request)
{
  const char *text = ssh_request_argument(request, "text");
  if (text == NULL || *text == '\0')
    return NULL;
  g_autofree char *plain = ssh_printable(text, strlen(text), MESSAGE_MAX);
  g_autofree char *quoted = g_shell_quote(plain);
  return g_strdup_printf("printf '%%s\\n' %s | wall", quoted);
}

static void
begin_message(SshRequest *request)
{
  static const SshCommandCalls calls = {.line = on_line, .ended = on_ended};
  g_autofree char *line = message_line(request);
  for (guint i = 0; i < request->n_targets; i++) {
    SshTarget *target = &request->targets[i];
    SshCommandSpec spec = {.line = line, .budget = OUTPUT_MAX};
    if (line == NULL)
      ssh_target_result(target, VERDICT_FAILED, "a message without a text");
    else
      target->command = ssh_command_start(target->link, &spec, &calls, target);
  }
}

const SshOperation ssh_message_operation = {.begin = begin_message, .stop = stop};
