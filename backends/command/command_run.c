#include "backends/command/command_run.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <gio/gio.h>

#include "backends/secret.h"

#define MAX_OUTPUT (64 * 1024)
#define CHUNK 4096
/* ms between TERM and KILL, and from a program's end to that of its output. */
#define GRACE 2000
#define DRAIN 500

struct CommandRun {
  CommandRunDone done; /* NULL: stopped */
  gpointer data;
  GSubprocess *process;
  GString *output;
  GCancellable *cancellable;
  guint timer;  /* to KILL, or to wait no longer for the end of the output */
  guint n_open; /* of the two: output, exit */
};

static void
run_close(CommandRun *run)
{
  if (--run->n_open > 0)
    return;
  gboolean exited = g_subprocess_get_if_exited(run->process);

  if (run->timer > 0)
    g_source_remove(run->timer);
  if (run->done != NULL)
    run->done(run->output->str, exited ? g_subprocess_get_exit_status(run->process) : -1,
              exited ? 0 : g_subprocess_get_term_sig(run->process), run->data);
  g_object_unref(run->process);
  g_object_unref(run->cancellable);
  g_string_free(run->output, TRUE);
  g_free(run);
}

static void read_more(CommandRun *run);

static void
on_output(GObject *stream, GAsyncResult *result, gpointer data)
{
  CommandRun *run = data;
  g_autoptr(GBytes) bytes = g_input_stream_read_bytes_finish(G_INPUT_STREAM(stream), result, NULL);
  gsize n = 0;
  const char *text = bytes != NULL ? g_bytes_get_data(bytes, &n) : NULL;

  if (n == 0) {
    run_close(run);
    return;
  }
  /* What is beyond the limit is read and forgotten, lest the program block. */
  for (gsize i = 0; i < n && run->output->len < MAX_OUTPUT; i++)
    g_string_append_c(run->output, text[i] != '\0' ? text[i] : ' ');
  read_more(run);
}

static void
read_more(CommandRun *run)
{
  g_input_stream_read_bytes_async(g_subprocess_get_stdout_pipe(run->process), CHUNK,
                                  G_PRIORITY_DEFAULT, run->cancellable, on_output, run);
}

static void
signal_group(const CommandRun *run, int number)
{
  const char *id = g_subprocess_get_identifier(run->process);
  if (id != NULL)
    kill(-(pid_t)g_ascii_strtoll(id, NULL, 10), number);
}

static gboolean
stop_reading(gpointer data)
{
  CommandRun *run = data;

  run->timer = 0;
  g_cancellable_cancel(run->cancellable);
  return G_SOURCE_REMOVE;
}

/* A child it left behind may hold the pipe open: what was said by now, or soon, is all. */
static void
on_exit_status(GObject *process, GAsyncResult *result, gpointer data)
{
  CommandRun *run = data;

  g_subprocess_wait_finish(G_SUBPROCESS(process), result, NULL);
  if (run->timer > 0)
    g_source_remove(run->timer);
  run->timer = g_timeout_add(run->done != NULL ? DRAIN : 0, stop_reading, run);
  run_close(run);
}

static gboolean
kill_at_last(gpointer data)
{
  CommandRun *run = data;

  run->timer = 0;
  signal_group(run, SIGKILL);
  return G_SOURCE_REMOVE;
}

static void
own_group(gpointer data)
{
  (void)data;
  setpgid(0, 0);
}

static void
on_told(GObject *stream, GAsyncResult *result, gpointer secret)
{
  secret_free(secret);
  g_output_stream_write_all_finish(G_OUTPUT_STREAM(stream), result, NULL, NULL);
  g_output_stream_close_async(G_OUTPUT_STREAM(stream), G_PRIORITY_DEFAULT, NULL, NULL, NULL);
}

static GSubprocess *
spawn(const CommandCall *call, GError **error)
{
  const char *secret = call->secret, *variable = secret != NULL ? call->variable : NULL;
  gboolean by_input = (secret != NULL && variable == NULL) || call->input != NULL;
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(
      G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE |
      (by_input ? G_SUBPROCESS_FLAGS_STDIN_PIPE : G_SUBPROCESS_FLAGS_NONE));

  g_subprocess_launcher_set_child_setup(launcher, own_group, NULL, NULL);
  g_subprocess_launcher_setenv(launcher, "LC_ALL", "C", TRUE);
  if (variable != NULL)
    g_subprocess_launcher_setenv(launcher, variable, secret, TRUE);
  GSubprocess *process = g_subprocess_launcher_spawnv(launcher, call->words, error);
  if (process != NULL && by_input) {
    gboolean tells = secret != NULL && variable == NULL;
    char *lines =
        g_strconcat(tells ? secret : "", tells ? "\n" : "", call->input != NULL ? call->input : "",
                    call->input != NULL ? "\n" : "", NULL);
    g_output_stream_write_all_async(g_subprocess_get_stdin_pipe(process), lines, strlen(lines),
                                    G_PRIORITY_DEFAULT, NULL, on_told, lines);
  }
  return process;
}

CommandRun *
command_run_new(const CommandCall *call, CommandRunDone done, gpointer data, GError **error)
{
  GSubprocess *process = spawn(call, error);

  if (process == NULL)
    return NULL;
  CommandRun *run = g_new0(CommandRun, 1);
  run->done = done;
  run->data = data;
  run->process = process;
  run->output = g_string_new(NULL);
  run->cancellable = g_cancellable_new();
  run->n_open = 2;
  read_more(run);
  g_subprocess_wait_async(process, NULL, on_exit_status, run);
  return run;
}

void
command_run_stop(CommandRun *run, gboolean at_once)
{
  run->done = NULL;
  if (run->timer > 0)
    g_source_remove(run->timer);
  signal_group(run, at_once ? SIGKILL : SIGTERM);
  run->timer = at_once ? 0 : g_timeout_add(GRACE, kill_at_last, run);
  if (g_subprocess_get_identifier(run->process) == NULL)
    g_cancellable_cancel(run->cancellable);
}
