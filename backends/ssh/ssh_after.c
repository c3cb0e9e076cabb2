#include <string.h>

#include "backends/ssh/ssh_private.h"

/* Between two looks at a host where something is left, and how long it is waited for one. */
#define PAUSE_S 2
#define PATIENCE (G_GINT64_CONSTANT(3600) * G_USEC_PER_SEC)

struct SshAfter {
  SshLink *link;
  SshCommand *command; /* NULL between two looks */
  char *job, *token;
  gint64 lost; /* µs */
  guint timer;
  char *answer;
};

void
ssh_after_free(struct SshAfter *after)
{
  if (after == NULL)
    return;
  g_clear_handle_id(&after->timer, g_source_remove);
  g_free(after->answer);
  g_free(after->token);
  g_free(after->job);
  g_free(after);
}

static void
tell(const struct SshAfter *after, gboolean rebooted)
{
  SshLink *link = after->link;
  g_autofree char *text =
      g_strdup_printf("over: %s%s has left nothing there, %.1f s after contact was lost",
                      rebooted ? "it has booted since, " : "", after->job,
                      (double)(g_get_monotonic_time() - after->lost) / G_USEC_PER_SEC);
  Event event = {
      .kind = EVENT_OBSERVE,
      .observe = {.node = link->node, .fact = "job", .value = text, .source = link->source}};
  ssh_post(link->ssh, &event);
}

static void
on_line(SshCommand *command, gboolean is_error, const char *text, gsize length, gpointer data)
{
  struct SshAfter *after = data;
  (void)command;
  (void)length;
  if (is_error)
    return;
  g_free(after->answer);
  after->answer = g_strdup(text);
}

static void look(struct SshAfter *after);

static gboolean
on_pause(gpointer data)
{
  struct SshAfter *after = data;
  after->timer = 0;
  look(after);
  return G_SOURCE_REMOVE;
}

/* It cannot be reached for too long, or cannot tell: then nothing is told. */
static gboolean
is_hopeless(const SshEnd *end, gint64 away)
{
  return away >= PATIENCE || end->kind == SSH_NOT_STARTED ||
         (end->kind == SSH_EXITED && end->status != 0);
}

/* `left UPTIME`, or `nothing UPTIME`, in seconds. */
static void
on_ended(SshCommand *command, const SshEnd *end, gpointer data)
{
  struct SshAfter *after = data;
  SshLink *link = after->link;
  gint64 away = g_get_monotonic_time() - after->lost;
  (void)command;
  after->command = NULL;
  if (end->kind == SSH_EXITED && end->status == 0 && after->answer != NULL &&
      g_str_has_prefix(after->answer, "nothing ")) {
    gint64 up = g_ascii_strtoll(strchr(after->answer, ' '), NULL, 10);
    tell(after, up * G_USEC_PER_SEC < away);
  } else if (!is_hopeless(end, away)) {
    after->timer = g_timeout_add_seconds(PAUSE_S, on_pause, after);
    return;
  }
  link->after = NULL;
  ssh_after_free(after);
}

/* The token is looked for by a pattern that is not among the asking shell's own arguments. */
static void
look(struct SshAfter *after)
{
  static const SshCommandCalls calls = {.line = on_line, .ended = on_ended};
  g_autofree char *line = g_strdup_printf(
      "command -v grep >/dev/null || exit; "
      "grep -q '[%c]%s' /proc/[0-9]*/cmdline 2>/dev/null && left=left || left=nothing; "
      "read -r up rest </proc/uptime && echo $left $up",
      after->token[0], after->token + 1);
  SshCommandSpec spec = {.line = line, .patience = PATIENCE};
  g_clear_pointer(&after->answer, g_free);
  after->command = ssh_command_start(after->link, &spec, &calls, after);
}

void
ssh_after_ask(SshLink *link, const char *job, const char *token)
{
  struct SshAfter *before = g_steal_pointer(&link->after);
  if (before != NULL) {
    ssh_command_forget(before->command);
    ssh_after_free(before);
  }
  struct SshAfter *after = link->after = g_new0(struct SshAfter, 1);
  after->link = link;
  after->job = g_strdup(job);
  after->token = g_strdup(token);
  after->lost = g_get_monotonic_time();
  look(after);
}
