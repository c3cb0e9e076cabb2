#include <string.h>

#include "backends/ssh/ssh_lifeline.h"
#include "backends/ssh/ssh_lines.h"
#include "backends/ssh/ssh_link_private.h"
#include "backends/ssh/ssh_text.h"

#define INPUT_MAX (64 * 1024)
#define TEXT_MAX 300
/* What a channel may still be open for when its command has ended: something it started holds it.
 */
#define LINGER G_USEC_PER_SEC
/* sshd counts a session until it has gone through everything it was sent, closed ones too. */
#define REFUSALS_MAX 40
#define REFUSAL_PAUSE (50 * 1000)
/* For the host to tell of an end, behind KILL. */
#define LAST_WORD (5 * G_USEC_PER_SEC)

typedef enum { COMMAND_WAITING, COMMAND_OPENING, COMMAND_ASKING, COMMAND_RUNNING } CommandState;

struct SshCommand {
  SshLink *link;
  const SshCommandCalls *calls; /* NULL: forgotten */
  gpointer data;
  char *line;
  char *host; /* a stream to it, and LINE is NULL */
  guint port;
  void (*drained)(gpointer data);
  gboolean full; /* of what is to be sent, a write was refused */
  gboolean reads;
  guint64 budget, given, dropped;
  gint64 give_up;    /* µs */
  gint64 not_before; /* µs: of the next attempt at a channel */
  guint refusals;
  guint64 failures; /* of the link, when it came */
  CommandState state;
  ssh_channel channel;
  struct ssh_channel_callbacks_struct callbacks;
  GByteArray *inbox[2]; /* out, err: as libssh gave it, until it has returned */
  SshLines lines[2];
  gboolean giving_error;
  GString *outbox;
  gboolean closed, exited;
  int status;
  char *signal;
  gboolean cancelled, left;
  gint64 due;      /* µs: KILL, then the end; or of a lingering channel */
  gboolean killed; /* KILL was sent */
};

/* ---- What libssh says ------------------------------------------------------------------------ */

static int
on_data(ssh_session session, ssh_channel channel, void *bytes, uint32_t length, int is_error,
        void *data)
{
  SshCommand *command = data;
  (void)session;
  (void)channel;
  g_byte_array_append(command->inbox[is_error != 0], bytes, length);
  return (int)length;
}

static void
on_close(ssh_session session, ssh_channel channel, void *data)
{
  SshCommand *command = data;
  (void)session;
  (void)channel;
  command->closed = TRUE;
}

static void
on_status(ssh_session session, ssh_channel channel, int status, void *data)
{
  SshCommand *command = data;
  (void)session;
  (void)channel;
  command->exited = TRUE;
  command->status = status;
}

static void
on_signal(ssh_session session, ssh_channel channel, const char *signal, int core,
          const char *message, const char *language, void *data)
{
  SshCommand *command = data;
  (void)session;
  (void)channel;
  (void)core;
  (void)message;
  (void)language;
  command->exited = TRUE;
  g_free(command->signal);
  command->signal = ssh_printable(signal, strlen(signal), 16);
}

/* ---- From outside ------------------------------------------------------------------------------
 */

static SshCommand *
command_new(SshLink *link, const SshCommandCalls *calls, gpointer data)
{
  SshCommand *command = g_new0(SshCommand, 1);
  command->link = link;
  command->calls = calls;
  command->data = data;
  command->budget = G_MAXUINT64;
  command->failures = link->failures;
  command->due = G_MAXINT64;
  command->outbox = g_string_new(NULL);
  for (int i = 0; i < 2; i++) {
    command->inbox[i] = g_byte_array_new();
    ssh_lines_init(&command->lines[i], SSH_LINE_MAX);
  }
  g_ptr_array_add(link->commands, command);
  ssh_link_hurry(link);
  return command;
}

SshCommand *
ssh_command_start(SshLink *link, const SshCommandSpec *spec, const SshCommandCalls *calls,
                  gpointer data)
{
  SshCommand *command = command_new(link, calls, data);
  gint64 now = g_get_monotonic_time();
  command->reads = spec->reads;
  command->drained = spec->drained;
  command->line = spec->reads ? ssh_lifeline_without(ssh_link_shell(link), spec->line)
                              : ssh_lifeline_wrap(ssh_link_shell(link), spec->line);
  if (spec->budget != 0)
    command->budget = spec->budget;
  command->give_up = spec->patience < G_MAXINT64 - now ? now + spec->patience : G_MAXINT64;
  return command;
}

SshCommand *
ssh_command_start_stream(SshLink *link, const char *host, guint port, const SshCommandCalls *calls,
                         void (*drained)(gpointer data), gpointer data)
{
  SshCommand *command = command_new(link, calls, data);
  command->host = g_strdup(host);
  command->port = port;
  command->drained = drained;
  command->reads = TRUE;
  return command;
}

SshLink *
ssh_command_link(const SshCommand *command)
{
  return command->link;
}

gboolean
ssh_command_is_started(const SshCommand *command)
{
  return command->state >= COMMAND_ASKING;
}

gboolean
ssh_command_write(SshCommand *command, const char *bytes, gsize length)
{
  if (command->cancelled)
    return TRUE;
  command->full = command->outbox->len + length > INPUT_MAX;
  if (command->full)
    return FALSE;
  g_string_append_len(command->outbox, bytes, (gssize)length);
  ssh_link_wake(command->link);
  return TRUE;
}

void
ssh_command_signal(SshCommand *command, const char *signal)
{
  if (command->state != COMMAND_RUNNING || command->exited || command->host != NULL)
    return;
  if (command->reads) {
    ssh_channel_request_send_signal(command->channel, signal);
    /* sshd gives no signals to what it runs as root. */
    if (command->cancelled)
      ssh_channel_send_eof(command->channel);
  } else {
    g_string_append_printf(command->outbox, "%s\n", signal);
  }
  ssh_link_wake(command->link);
}

void
ssh_command_cancel(SshCommand *command)
{
  if (command->cancelled)
    return;
  command->cancelled = TRUE;
  if (command->reads)
    g_string_truncate(command->outbox, 0);
  command->due = g_get_monotonic_time() + SSH_GRACE * G_USEC_PER_SEC;
  ssh_command_signal(command, "TERM");
  ssh_link_wake(command->link);
}

void
ssh_command_leave(SshCommand *command)
{
  command->left = TRUE;
  ssh_link_wake(command->link);
}

void
ssh_command_forget(SshCommand *command)
{
  if (command == NULL)
    return;
  command->calls = NULL;
  ssh_command_cancel(command);
}

/* ---- Its end -----------------------------------------------------------------------------------
 */

static void
command_free(SshCommand *command)
{
  ssh_channel_free(command->channel);
  for (int i = 0; i < 2; i++) {
    g_byte_array_unref(command->inbox[i]);
    ssh_lines_clear(&command->lines[i]);
  }
  g_string_free(command->outbox, TRUE);
  g_free(command->signal);
  g_free(command->host);
  g_free(command->line);
  g_free(command);
}

void
ssh_command_drop(SshCommand *command)
{
  command_free(command);
}

void
ssh_command_detach(SshCommand *command)
{
  if (command->channel == NULL)
    return;
  ssh_remove_channel_callbacks(command->channel, &command->callbacks);
  ssh_channel_free(command->channel);
  command->channel = NULL;
}

static void
give_line(const char *text, gsize length, gpointer data)
{
  SshCommand *command = data;
  if (command->calls == NULL || command->calls->line == NULL)
    return;
  if (command->given + length > command->budget) {
    command->dropped += length + 1;
    command->given = command->budget;
    return;
  }
  command->given += length;
  command->calls->line(command, command->giving_error, text, length, command->data);
}

static void
deliver(SshCommand *command)
{
  for (int i = 0; i < 2; i++) {
    if (command->inbox[i]->len == 0)
      continue;
    g_autoptr(GByteArray) bytes = g_steal_pointer(&command->inbox[i]);
    command->inbox[i] = g_byte_array_new();
    if (command->dropped > 0) {
      command->dropped += bytes->len;
      continue;
    }
    command->giving_error = i == 1;
    if (command->host != NULL)
      give_line((const char *)bytes->data, bytes->len, command);
    else
      ssh_lines_take(&command->lines[i], (const char *)bytes->data, bytes->len, give_line, command);
  }
}

static void
deliver_rest(SshCommand *command)
{
  deliver(command);
  for (int i = 0; i < 2; i++) {
    command->giving_error = i == 1;
    ssh_lines_end(&command->lines[i], give_line, command);
  }
  if (command->dropped == 0 || command->calls == NULL)
    return;
  g_autofree char *text = g_strdup_printf(
      "%" G_GUINT64_FORMAT " bytes of output more than %" G_GUINT64_FORMAT " are not shown",
      command->dropped, command->budget);
  command->calls->line(command, TRUE, text, strlen(text), command->data);
}

static gboolean end(SshCommand *command, SshEndKind kind, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* Always TRUE. */
static gboolean
end(SshCommand *command, SshEndKind kind, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *raw = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_autofree char *text = ssh_printable(raw, strlen(raw), TEXT_MAX);
  deliver_rest(command);
  ssh_command_detach(command);
  g_ptr_array_remove(command->link->commands, command);
  SshEnd how = {kind, command->status, command->signal, text};
  if (command->calls != NULL)
    command->calls->ended(command, &how, command->data);
  command_free(command);
  return TRUE;
}

static const char *
shell_signal(int status)
{
  static const char *const names[] = {
      [1] = "HUP",   [2] = "INT",   [3] = "QUIT",  [4] = "ILL",   [6] = "ABRT",  [7] = "BUS",
      [8] = "FPE",   [9] = "KILL",  [10] = "USR1", [11] = "SEGV", [12] = "USR2", [13] = "PIPE",
      [14] = "ALRM", [15] = "TERM", [24] = "XCPU", [25] = "XFSZ"};
  int number = status - 128;
  return number > 0 && number < (int)G_N_ELEMENTS(names) ? names[number] : NULL;
}

static gboolean
end_exited(SshCommand *command)
{
  /* A shell tells a signal as a status. */
  if (command->signal == NULL)
    command->signal = g_strdup(shell_signal(command->status));
  if (command->signal != NULL)
    return end(command, SSH_SIGNALLED, "ended by signal %s", command->signal);
  return end(command, SSH_EXITED, "exit status %d", command->status);
}

/* ---- Driven by its link ------------------------------------------------------------------------
 */

gboolean
ssh_command_is_open(const SshCommand *command)
{
  return command->channel != NULL && command->host == NULL;
}

gint64
ssh_command_due(const SshCommand *command)
{
  if (command->state >= COMMAND_ASKING)
    return command->due;
  if (command->state != COMMAND_WAITING)
    return G_MAXINT64;
  gint64 now = g_get_monotonic_time();
  return MIN(command->give_up > now ? command->give_up : G_MAXINT64,
             command->not_before > now ? command->not_before : G_MAXINT64);
}

gboolean
ssh_command_without(SshCommand *command, const char *cause, gint64 now)
{
  if (command->state == COMMAND_ASKING)
    return end(command, SSH_LOST, "whether it was started is not known: %s", cause);
  if (command->state == COMMAND_RUNNING)
    return command->exited ? end_exited(command) : end(command, SSH_LOST, "%s", cause);
  command->state = COMMAND_WAITING;
  if (command->cancelled)
    return end(command, SSH_NOT_STARTED, "cancelled before it was started");
  if (command->failures != command->link->failures && now >= command->give_up)
    return end(command, SSH_NOT_STARTED, "%s", command->link->cause);
  return FALSE;
}

static void
open_channel(SshCommand *command)
{
  g_assert(command->channel == NULL);
  command->channel = ssh_channel_new(command->link->session);
  command->callbacks = (struct ssh_channel_callbacks_struct){
      .userdata = command,
      .channel_data_function = on_data,
      .channel_close_function = on_close,
      .channel_exit_status_function = on_status,
      .channel_exit_signal_function = on_signal,
  };
  ssh_callbacks_init(&command->callbacks);
  ssh_set_channel_callbacks(command->channel, &command->callbacks);
  command->state = COMMAND_OPENING;
}

static gboolean
refused(SshCommand *command, const char *what)
{
  return end(command, SSH_NOT_STARTED, "the host refused %s: %s", what,
             ssh_get_error(command->link->session));
}

static void
send_input(SshCommand *command)
{
  GString *outbox = command->outbox;
  gsize room = MIN(outbox->len, ssh_channel_window_size(command->channel));
  int sent = room > 0 ? ssh_channel_write(command->channel, outbox->str, (guint32)room) : 0;
  if (sent > 0)
    g_string_erase(outbox, 0, sent);
  if (command->full && outbox->len < INPUT_MAX / 2 && command->calls != NULL) {
    command->full = FALSE;
    if (command->drained != NULL)
      command->drained(command->data);
  }
}

/* What was sent has not helped. */
static gboolean
be_late(SshCommand *command, gint64 now)
{
  if (command->exited)
    return end_exited(command);
  if (command->killed)
    return end(command, SSH_LOST, "it was sent KILL, and the host did not tell its end");
  command->killed = TRUE;
  command->due = now + LAST_WORD;
  ssh_command_signal(command, "KILL");
  return FALSE;
}

static gboolean
step_running(SshCommand *command, gint64 now)
{
  deliver(command);
  if (command->closed && command->exited)
    return end_exited(command);
  if (command->left)
    return end(command, SSH_LOST, "left running");
  if (command->closed || (command->host != NULL && command->cancelled))
    return end(command, SSH_LOST, "the host closed it without telling its status");
  if (command->exited && !command->killed && command->due > now + LINGER)
    command->due = now + LINGER;
  if (command->due <= now && be_late(command, now))
    return TRUE;
  send_input(command);
  return FALSE;
}

/* The host runs it. */
static void
become_running(SshCommand *command)
{
  command->state = COMMAND_RUNNING;
  if (command->cancelled)
    ssh_command_signal(command, "TERM");
  if (command->calls != NULL && command->calls->started != NULL)
    command->calls->started(command, command->data);
}

static gboolean
ask(SshCommand *command, gint64 now)
{
  if (command->due <= now)
    return end(command, SSH_LOST, "whether it was started is not known: the host does not tell");
  int status = ssh_channel_request_exec(command->channel, command->line);
  if (status == SSH_ERROR)
    return refused(command, "to run it");
  if (status == SSH_OK)
    become_running(command);
  return FALSE;
}

/* TRUE: it has ended. */
static gboolean
step_opening(SshCommand *command, gint64 now)
{
  int status = command->host == NULL ? ssh_channel_open_session(command->channel)
                                     : ssh_channel_open_forward(command->channel, command->host,
                                                                (int)command->port, "127.0.0.1", 0);
  if (status == SSH_AGAIN)
    return FALSE;
  if (status == SSH_OK && !command->cancelled) {
    command->state = COMMAND_ASKING;
    if (command->host != NULL)
      become_running(command);
    return FALSE;
  }
  if (status == SSH_ERROR && (command->host != NULL || ++command->refusals > REFUSALS_MAX))
    return refused(command, command->host != NULL ? "the way on" : "a channel");
  ssh_command_detach(command);
  command->state = COMMAND_WAITING;
  command->not_before = now + REFUSAL_PAUSE;
  return FALSE;
}

gboolean
ssh_command_step(SshCommand *command, gboolean may_open, gint64 now)
{
  if (command->state == COMMAND_WAITING && !command->cancelled &&
      (may_open || command->host != NULL) && command->not_before <= now)
    open_channel(command);
  if (command->state == COMMAND_OPENING && step_opening(command, now))
    return TRUE;
  if (command->state == COMMAND_WAITING && command->cancelled)
    return end(command, SSH_NOT_STARTED, "cancelled before it was started");
  if (command->state == COMMAND_ASKING && ask(command, now))
    return TRUE;
  return command->state == COMMAND_RUNNING && step_running(command, now);
}
