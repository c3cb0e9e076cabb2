/* OP_STATUS, OP_OFF, OP_RESET, OP_BOOT_DEVICE (kexec): by the layout's `control` commands.
 *
 * SSH sees that a host is on, and that it goes; it never sees that one is off. So an `off` is ok
 * when the connection has ended and a new one cannot be made, and until then unknown. */
#include <string.h>

#include "backends/ssh/ssh_private.h"

#define LOOK_AGAIN_MS 500
/* Of a host that is to go and no longer answers, though its connection has not ended. */
#define SILENCE (5 * G_USEC_PER_SEC)

/* ---- Status ------------------------------------------------------------------------------------
 */

static void
on_answered(SshCommand *command, const SshEnd *end, gpointer data)
{
  SshTarget *target = data;
  (void)command;
  target->command = NULL;
  if (end->kind == SSH_EXITED || end->kind == SSH_SIGNALLED) {
    ssh_target_observe(target, "power", "on");
    ssh_target_result(target, VERDICT_OK, NULL);
  } else {
    ssh_target_result(target, VERDICT_FAILED, "%s", end->text);
  }
}

static void
begin_status(SshRequest *request)
{
  static const SshCommandCalls calls = {.ended = on_answered};
  SshCommandSpec spec = {.line = ":", .reads = TRUE};
  for (guint i = 0; i < request->n_targets; i++) {
    SshTarget *target = &request->targets[i];
    target->command = ssh_command_start(target->link, &spec, &calls, target);
  }
}

static void
stop_status(SshTarget *target, Verdict why)
{
  ssh_target_result(target, why, "%s",
                    why == VERDICT_CANCELLED ? "cancelled" : ssh_link_trouble(target->link));
}

const SshOperation ssh_status_operation = {.begin = begin_status, .stop = stop_status};

/* ---- Off and reset ------------------------------------------------------------------------------
 */

typedef enum { GOING_ASKED, GOING_WATCHED, GOING_TRIED } Going;

typedef struct {
  SshTarget *target;
  const char *what; /* control command: `off` */
  Going going;
  guint timer;  /* before the next look */
  gint64 heard; /* µs: its last answer while it was watched */
  char *complaint;
} Leave;

static void
free_leave(SshTarget *target)
{
  Leave *leave = g_steal_pointer(&target->data);
  if (leave == NULL)
    return;
  if (leave->timer != 0)
    g_source_remove(leave->timer);
  g_free(leave->complaint);
  g_free(leave);
}

static void
on_complaint(SshCommand *command, gboolean is_error, const char *text, gsize length, gpointer data)
{
  Leave *leave = data;
  (void)command;
  if (is_error && leave->complaint == NULL)
    leave->complaint = ssh_printable(text, length, 200);
}

static gboolean look_again(gpointer data);

static void
look_later(Leave *leave)
{
  leave->timer = g_timeout_add(LOOK_AGAIN_MS, look_again, leave);
}

/* It has left its connection; an `off` is to stay away as well. */
static void
see_gone(Leave *leave, const char *text)
{
  leave->going = GOING_TRIED;
  if (leave->target->request->operation == OP_OFF)
    look_later(leave);
  else
    ssh_target_result(leave->target, VERDICT_OK, "%s: %s", leave->what, text);
}

static void
on_echo(SshCommand *command, gboolean is_error, const char *text, gsize length, gpointer data)
{
  (void)command;
  (void)is_error;
  (void)text;
  (void)length;
  ((Leave *)data)->heard = g_get_monotonic_time();
}

static void
on_watched(SshCommand *command, const SshEnd *end, gpointer data)
{
  Leave *leave = data;
  (void)command;
  leave->target->command = NULL;
  g_clear_handle_id(&leave->timer, g_source_remove);
  see_gone(leave, end->text);
}

/* Waits for the end of the connection, with questions that do not let a dead one stand. */
static void
watch(Leave *leave)
{
  static const SshCommandCalls calls = {.line = on_echo, .ended = on_watched};
  SshCommandSpec spec = {.line = "cat", .reads = TRUE};
  leave->going = GOING_WATCHED;
  leave->heard = g_get_monotonic_time();
  leave->target->command = ssh_command_start(leave->target->link, &spec, &calls, leave);
  look_later(leave);
}

static void
on_tried(SshCommand *command, const SshEnd *end, gpointer data)
{
  Leave *leave = data;
  (void)command;
  leave->target->command = NULL;
  if (end->kind == SSH_NOT_STARTED)
    ssh_target_result(leave->target, VERDICT_OK, "%s: it is gone: %s", leave->what, end->text);
  else
    look_later(leave);
}

/* Whether a new connection can be made, once the old one has ended. */
static void
try_again(Leave *leave)
{
  static const SshCommandCalls calls = {.ended = on_tried};
  SshCommandSpec spec = {.line = ":", .reads = TRUE};
  leave->target->command = ssh_command_start(leave->target->link, &spec, &calls, leave);
}

static gboolean
look_again(gpointer data)
{
  Leave *leave = data;
  leave->timer = 0;
  if (leave->going == GOING_TRIED) {
    try_again(leave);
  } else if (g_get_monotonic_time() - leave->heard > (gint64)SILENCE) {
    /* Ends the watching command, and so comes to see_gone(). */
    ssh_link_drop(leave->target->link, "it went silent");
  } else {
    ssh_command_write(leave->target->command, "\n", 1);
    look_later(leave);
  }
  return G_SOURCE_REMOVE;
}

static void
on_asked(SshCommand *command, const SshEnd *end, gpointer data)
{
  Leave *leave = data;
  SshTarget *target = leave->target;
  (void)command;
  target->command = NULL;
  if (end->kind == SSH_NOT_STARTED)
    ssh_target_result(target, VERDICT_FAILED, "%s: %s", leave->what, end->text);
  else if (end->kind == SSH_LOST)
    see_gone(leave, end->text);
  else if (end->kind == SSH_EXITED && end->status == 0)
    watch(leave);
  else
    ssh_target_result(target, VERDICT_FAILED, "%s: %s%s%s", leave->what, end->text,
                      leave->complaint != NULL ? ": " : "",
                      leave->complaint != NULL ? leave->complaint : "");
}

static const char *
control_name(const SshRequest *request, NodeId node)
{
  const char *how = ssh_request_argument(request, "how");
  gboolean kexec = request->ssh->kexec[node];
  request->ssh->kexec[node] = FALSE;
  if (request->operation == OP_RESET)
    return kexec ? "kexec" : "reset";
  return how != NULL && strcmp(how, "soft") == 0 ? "soft-off" : "off";
}

static void
begin_target(SshTarget *target)
{
  static const SshCommandCalls calls = {.line = on_complaint, .ended = on_asked};
  const Layout *layout = target->request->ssh->layout;
  const char *what = control_name(target->request, target->node);
  g_autofree char *control = layout_control(layout, target->node, what, "run", NULL);
  if (control == NULL) {
    ssh_target_result(target, VERDICT_FAILED, "the layout has no control command `%s` for it",
                      what);
    return;
  }
  g_autofree char *line = g_strconcat("exec </dev/null; ", control, NULL);
  SshCommandSpec spec = {.line = line, .reads = TRUE, .budget = 64 * 1024};
  Leave *leave = g_new0(Leave, 1);
  *leave = (Leave){.target = target, .what = what};
  target->data = leave;
  target->command = ssh_command_start(target->link, &spec, &calls, leave);
}

static void
begin_power(SshRequest *request)
{
  for (guint i = 0; i < request->n_targets; i++)
    begin_target(&request->targets[i]);
}

static void
stop_power(SshTarget *target, Verdict why)
{
  Leave *leave = target->data;
  gboolean asked = leave->going != GOING_ASKED || ssh_command_is_started(target->command);
  if (!asked)
    ssh_target_result(target, why, "%s was not sent: %s", leave->what,
                      why == VERDICT_CANCELLED ? "cancelled" : ssh_link_trouble(target->link));
  else if (leave->going == GOING_ASKED)
    ssh_target_result(target, VERDICT_UNKNOWN, "%s: its command has not ended", leave->what);
  else
    ssh_target_result(target, VERDICT_UNKNOWN, "%s was carried out, and %s", leave->what,
                      ssh_link_is_up(target->link) ? "it still answers"
                                                   : ssh_link_trouble(target->link));
}

const SshOperation ssh_power_operation = {
    .begin = begin_power, .stop = stop_power, .free_target = free_leave};

/* ---- Boot by kexec ------------------------------------------------------------------------------
 */

static void
begin_device(SshRequest *request)
{
  const char *device = ssh_request_argument(request, "device");
  gboolean kexec = device != NULL && strcmp(device, "kexec") == 0;
  for (guint i = 0; i < request->n_targets; i++) {
    SshTarget *target = &request->targets[i];
    g_autofree char *line =
        layout_control(request->ssh->layout, target->node, "kexec", "run", NULL);
    if (kexec && line == NULL) {
      ssh_target_result(target, VERDICT_FAILED, "the layout has no control command `kexec` for it");
    } else if (!kexec) {
      ssh_target_result(target, VERDICT_FAILED, "ssh chooses no boot device but kexec");
    } else {
      request->ssh->kexec[target->node] = TRUE;
      ssh_target_result(target, VERDICT_OK, NULL);
    }
  }
}

static void
stop_device(SshTarget *target, Verdict why)
{
  ssh_target_result(target, why, "the boot device was not set");
}

const SshOperation ssh_device_operation = {.begin = begin_device, .stop = stop_device};
