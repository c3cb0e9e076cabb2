#include "backends/ssh/ssh_log.h"

#include <string.h>

#include "backends/ssh/ssh_private.h"

/* ms: tail that ended is begun again after so long, longer each time that it told nothing. */
#define PAUSE_MIN 1000
#define PAUSE_MAX 60000

/* Of a target. TARGET->command is the tail. */
typedef struct {
  SshTarget *target;
  char *line;  /* of the command */
  char *told;  /* what the host complained of, as told last; NULL */
  guint again; /* source */
  guint pause; /* ms, if it ends once more */
  gboolean stopping;
  gboolean long_line; /* what comes is the rest of one */
} Tail;

static void begin_tail(Tail *tail);

static void
complain(Tail *tail, const char *text)
{
  if (g_strcmp0(tail->told, text) == 0)
    return;
  g_free(tail->told);
  tail->told = g_strdup(text);
  ssh_target_line(tail->target, "err", text, strlen(text));
}

/* A line that comes in pieces is left out whole: its middle could pass for the beginning of one. A
 * piece may end before its last byte, where a character would be cut. */
static gboolean
is_whole(Tail *tail, gsize length)
{
  gboolean whole = !tail->long_line && length < SSH_LINE_MAX - 3;
  tail->long_line = length >= SSH_LINE_MAX - 3;
  return whole;
}

static void
on_line(SshCommand *command, gboolean is_error, const char *text, gsize length, gpointer data)
{
  Tail *tail = data;
  (void)command;
  if (is_error) {
    complain(tail, text);
    return;
  }
  tail->pause = PAUSE_MIN;
  if (is_whole(tail, length) && length > 0)
    ssh_target_line(tail->target, "log", text, length);
}

static gboolean
on_again(gpointer data)
{
  Tail *tail = data;
  tail->again = 0;
  begin_tail(tail);
  return G_SOURCE_REMOVE;
}

static void
on_ended(SshCommand *command, const SshEnd *end, gpointer data)
{
  Tail *tail = data;
  (void)command;
  tail->target->command = NULL;
  if (tail->stopping) {
    ssh_target_result(tail->target, VERDICT_CANCELLED, "no longer watched");
    return;
  }
  /* A lost connection has been told, and is made again when it can be. */
  if (end->kind != SSH_LOST) {
    g_autofree char *text =
        g_strdup_printf("%s: reading its logs ended: %s", tail->target->name, end->text);
    complain(tail, text);
  }
  tail->again = g_timeout_add(tail->pause, on_again, tail);
  tail->pause = MIN(2 * tail->pause, PAUSE_MAX);
}

/* It waits for the host as long as it takes. */
static void
begin_tail(Tail *tail)
{
  static const SshCommandCalls calls = {.line = on_line, .ended = on_ended};
  tail->long_line = FALSE;
  SshCommandSpec spec = {.line = tail->line, .patience = SSH_FOREVER};
  tail->target->command = ssh_command_start(tail->target->link, &spec, &calls, tail);
}

gboolean
ssh_log_check(const BackendSetup *setup, NodeId node, GError **error)
{
  const Layout *layout = setup->layout;
  if (g_strcmp0(layout->nodes[node].backend[ROLE_LOG], setup->name) != 0)
    return TRUE;
  g_auto(GStrv) files = layout_setting_words(layout, setup->settings, node, "logs");
  if (files == NULL)
    return setup_fail(setup, node, error, "it has no `logs` to read");
  for (char **file = files; *file != NULL; file++) {
    g_autoptr(GError) problem = NULL;
    g_autofree char *name = layout_expand(layout, node, *file, NULL, 0, &problem);
    if (name == NULL)
      return setup_fail(setup, node, error, "%s", problem->message);
    /* From the home of whoever we are there it would be another with each user. */
    if (!g_path_is_absolute(name))
      return setup_fail(setup, node, error, "`logs`: %s has no / before it", name);
  }
  return TRUE;
}

/* NULL: the layout names no files. */
static char *
command_line(const SshTarget *target)
{
  const SshBackend *ssh = target->request->ssh;
  g_auto(GStrv) files = layout_setting_words(ssh->layout, ssh->settings, target->node, "logs");
  if (files == NULL)
    return NULL;
  g_autoptr(GString) line = g_string_new("exec tail -q -n 0 -F --");
  for (char **file = files; *file != NULL; file++) {
    g_autofree char *name = layout_expand(ssh->layout, target->node, *file, NULL, 0, NULL);
    g_autofree char *quoted = g_shell_quote(name);
    g_string_append_printf(line, " %s", quoted);
  }
  return g_string_free(g_steal_pointer(&line), FALSE);
}

static void
begin(SshRequest *request)
{
  for (guint i = 0; i < request->n_targets; i++) {
    SshTarget *target = &request->targets[i];
    char *line = command_line(target);
    if (line == NULL) {
      ssh_target_result(target, VERDICT_FAILED, "the layout names no `logs` of it");
      continue;
    }
    Tail *tail = g_new0(Tail, 1);
    tail->target = target;
    tail->line = line;
    tail->pause = PAUSE_MIN;
    target->data = tail;
    begin_tail(tail);
  }
}

static void
stop(SshTarget *target, Verdict why)
{
  Tail *tail = target->data;
  if (target->command == NULL || why != VERDICT_CANCELLED) {
    ssh_target_result(target, why, "no longer watched");
    return;
  }
  tail->stopping = TRUE;
  ssh_command_cancel(target->command);
}

static void
free_target(SshTarget *target)
{
  Tail *tail = target->data;
  if (tail == NULL)
    return;
  if (tail->again != 0)
    g_source_remove(tail->again);
  g_free(tail->line);
  g_free(tail->told);
  g_free(tail);
  target->data = NULL;
}

const SshOperation ssh_log_operation = {.begin = begin, .stop = stop, .free_target = free_target};
