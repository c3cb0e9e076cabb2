#include "backends/command.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <gio/gio.h>

#include "backends/ledger.h"
#include "model/pattern.h"

#define MAX_OUTPUT (64 * 1024)
#define CHUNK 4096
#define MAX_SHOWN 160
/* ms between TERM and KILL, and from a program's end to that of its output. */
#define GRACE 2000
#define DRAIN 500

static const struct {
  Operation operation;
  const char *key;
} templates[] = {
    {OP_STATUS, "status.run"}, {OP_ON, "on.run"},       {OP_OFF, "off.run"},
    {OP_OFF, "soft-off.run"},  {OP_RESET, "reset.run"}, {OP_BOOT_DEVICE, "boot-device.run"},
};

typedef struct {
  Backend backend;
  BackendClass class; /* with what this layout gives commands for */
  const Layout *layout;
  const LayoutBackend *settings;
  Ledger *ledger;
  char **secrets; /* by node; NULL: none */
  gboolean closing;
} CommandBackend;

/* A program that runs for an item. It outlives the item until it has ended, so that no result
 * comes from a program of an item that is over. */
typedef struct {
  CommandBackend *owner;
  LedgerItem *item; /* NULL: over */
  gboolean is_status;
  gboolean is_look; /* the status behind an operation that went well */
  GSubprocess *process;
  GString *output;
  GCancellable *cancellable;
  guint timer;  /* to KILL, or to wait no longer for the end of the output */
  guint n_open; /* of the two: output, exit */
} Run;

static gboolean run_template(CommandBackend *command, LedgerItem *item, const char *key,
                             gboolean is_look, GError **error);

/* ---- What was said ------------------------------------------------------------------------- */

static gboolean
any_line_matches(const CommandBackend *command, NodeId node, const char *key, const char *output)
{
  g_autofree char *text = layout_setting_text(command->layout, command->settings, node, key);
  if (text == NULL)
    return FALSE;
  g_autoptr(Pattern) pattern = pattern_new(text, NULL);
  g_autoptr(PatternMatch) match = pattern_match_new();
  g_auto(GStrv) lines = g_strsplit(output, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (pattern_match(pattern, match, lines[i], strlen(lines[i])) == PATTERN_YES)
      return TRUE;
  return FALSE;
}

/* The last line that says anything, cut to what a message bears. */
static char *
last_words(const char *output)
{
  g_auto(GStrv) lines = g_strsplit(output, "\n", -1);
  for (guint i = g_strv_length(lines); i-- > 0;) {
    g_strstrip(lines[i]);
    if (*lines[i] != '\0')
      return g_strdup_printf(": %.*s", MAX_SHOWN, lines[i]);
  }
  return g_strdup("");
}

static void
answer_status(CommandBackend *command, LedgerItem *item, const char *output)
{
  gboolean on = any_line_matches(command, item->node, "status.on", output);
  gboolean off = any_line_matches(command, item->node, "status.off", output);
  g_autofree char *words = last_words(output);

  if (on == off) {
    ledger_answer(item, VERDICT_UNKNOWN, "its status says %s on %s off%s", on ? "both" : "neither",
                  on ? "and" : "nor", words);
    return;
  }
  ledger_observe(command->ledger, item->node, "power", on ? "on" : "off");
  ledger_answer(item, VERDICT_OK, NULL);
}

/* Seen, if there is a way to see; what the operation itself came to is told already by its going
 * well. */
static void
look_and_answer(CommandBackend *command, LedgerItem *item)
{
  g_auto(GStrv) words =
      layout_setting_words(command->layout, command->settings, item->node, "status.run");
  if (item->operation == OP_BOOT_DEVICE || words == NULL ||
      !run_template(command, item, "status.run", TRUE, NULL))
    ledger_answer(item, VERDICT_OK, NULL);
}

static void
answer_look(CommandBackend *command, LedgerItem *item, const char *output)
{
  gboolean on = any_line_matches(command, item->node, "status.on", output);
  gboolean off = any_line_matches(command, item->node, "status.off", output);

  if (on != off)
    ledger_observe(command->ledger, item->node, "power", on ? "on" : "off");
  ledger_answer(item, VERDICT_OK, NULL);
}

static void
judge(Run *run)
{
  CommandBackend *command = run->owner;
  LedgerItem *item = g_steal_pointer(&run->item);
  const char *output = run->output->str;
  gboolean exited = g_subprocess_get_if_exited(run->process);
  int status = exited ? g_subprocess_get_exit_status(run->process) : 0;
  g_autofree char *words = last_words(output);
  g_autofree char *wants_ok =
      layout_setting_text(command->layout, command->settings, item->node, "ok");

  item->work = NULL;
  if (run->is_look)
    answer_look(command, item, output);
  else if (any_line_matches(command, item->node, "fails", output))
    ledger_answer(item, VERDICT_FAILED, "%s refused%s", command->backend.name, words);
  else if (!exited)
    ledger_answer(item, run->is_status ? VERDICT_FAILED : VERDICT_UNKNOWN,
                  "its command ended by signal %d%s", g_subprocess_get_term_sig(run->process),
                  words);
  else if (status != 0)
    ledger_answer(item, VERDICT_FAILED, "its command ended with status %d%s", status, words);
  else if (run->is_status)
    answer_status(command, item, output);
  else if (wants_ok != NULL && !any_line_matches(command, item->node, "ok", output))
    ledger_answer(item, VERDICT_FAILED, "its command did not say that it went well%s", words);
  else
    look_and_answer(command, item);
}

/* ---- Running ------------------------------------------------------------------------------- */

static void
run_close(Run *run)
{
  if (--run->n_open > 0)
    return;
  if (run->timer > 0)
    g_source_remove(run->timer);
  if (run->item != NULL)
    judge(run);
  g_object_unref(run->process);
  g_object_unref(run->cancellable);
  g_string_free(run->output, TRUE);
  g_free(run);
}

static void read_more(Run *run);

static void
on_output(GObject *stream, GAsyncResult *result, gpointer data)
{
  Run *run = data;
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
read_more(Run *run)
{
  g_input_stream_read_bytes_async(g_subprocess_get_stdout_pipe(run->process), CHUNK,
                                  G_PRIORITY_DEFAULT, run->cancellable, on_output, run);
}

static void
signal_group(const Run *run, int number)
{
  const char *id = g_subprocess_get_identifier(run->process);
  if (id != NULL)
    kill(-(pid_t)g_ascii_strtoll(id, NULL, 10), number);
}

static gboolean
stop_reading(gpointer data)
{
  Run *run = data;

  run->timer = 0;
  g_cancellable_cancel(run->cancellable);
  return G_SOURCE_REMOVE;
}

/* A child it left behind may hold the pipe open: what was said by now, or soon, is all. */
static void
on_exit_status(GObject *process, GAsyncResult *result, gpointer data)
{
  Run *run = data;

  g_subprocess_wait_finish(G_SUBPROCESS(process), result, NULL);
  if (run->timer > 0)
    g_source_remove(run->timer);
  run->timer = g_timeout_add(run->item != NULL ? DRAIN : 0, stop_reading, run);
  run_close(run);
}

static gboolean
kill_at_last(gpointer data)
{
  Run *run = data;

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
spawn(const CommandBackend *command, NodeId node, const char *const *words, GError **error)
{
  const char *secret = command->secrets[node];
  g_autofree char *variable =
      layout_setting_text(command->layout, command->settings, node, "secret-variable");
  gboolean by_input = secret != NULL && variable == NULL;
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(
      G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE |
      (by_input ? G_SUBPROCESS_FLAGS_STDIN_PIPE : G_SUBPROCESS_FLAGS_NONE));

  g_subprocess_launcher_set_child_setup(launcher, own_group, NULL, NULL);
  g_subprocess_launcher_setenv(launcher, "LC_ALL", "C", TRUE);
  if (secret != NULL && variable != NULL)
    g_subprocess_launcher_setenv(launcher, variable, secret, TRUE);
  GSubprocess *process = g_subprocess_launcher_spawnv(launcher, words, error);
  if (process != NULL && by_input) {
    char *line = g_strconcat(secret, "\n", NULL);
    g_output_stream_write_all_async(g_subprocess_get_stdin_pipe(process), line, strlen(line),
                                    G_PRIORITY_DEFAULT, NULL, on_told, line);
  }
  return process;
}

static char **
fill_words(const CommandBackend *command, const LedgerItem *item, const char *key)
{
  char **words = layout_setting_words(command->layout, command->settings, item->node, key);
  g_autofree char *address =
      layout_setting_text(command->layout, command->settings, item->node, "address");
  const char *device = ledger_argument(item, "device");
  Argument extra[] = {{"address", address != NULL ? address : ""},
                      {"device", device != NULL ? device : ""}};

  for (guint i = 0; words != NULL && words[i] != NULL; i++) {
    char *filled =
        layout_expand(command->layout, item->node, words[i], extra, G_N_ELEMENTS(extra), NULL);
    g_free(words[i]);
    words[i] = filled;
  }
  return words;
}

static gboolean
run_template(CommandBackend *command, LedgerItem *item, const char *key, gboolean is_look,
             GError **error)
{
  g_auto(GStrv) words = fill_words(command, item, key);
  GSubprocess *process = spawn(command, item->node, (const char *const *)words, error);

  if (process == NULL)
    return FALSE;
  Run *run = g_new0(Run, 1);
  run->owner = command;
  run->item = item;
  run->is_status = item->operation == OP_STATUS;
  run->is_look = is_look;
  run->process = process;
  run->output = g_string_new(NULL);
  run->cancellable = g_cancellable_new();
  run->n_open = 2;
  item->sent = TRUE;
  item->work = run;
  read_more(run);
  g_subprocess_wait_async(process, NULL, on_exit_status, run);
  return TRUE;
}

static const char *
template_key(const LedgerItem *item)
{
  for (gsize i = 0; i < G_N_ELEMENTS(templates); i++)
    if (templates[i].operation == item->operation)
      return item->operation == OP_OFF && g_strcmp0(ledger_argument(item, "how"), "soft") == 0
                 ? "soft-off.run"
                 : templates[i].key;
  g_assert_not_reached();
}

static void
begin(LedgerItem *item, gpointer data)
{
  CommandBackend *command = data;
  const char *key = template_key(item);
  g_auto(GStrv) words = layout_setting_words(command->layout, command->settings, item->node, key);
  g_autoptr(GError) error = NULL;

  if (words == NULL)
    ledger_answer(item, VERDICT_UNSUPPORTED, "%s gives no command for it: %s",
                  command->backend.name, key);
  else if (!run_template(command, item, key, FALSE, &error))
    ledger_answer(item, VERDICT_FAILED, "cannot run %s: %s", words[0], error->message);
}

static void
end(LedgerItem *item, gpointer data)
{
  const CommandBackend *command = data;
  Run *run = item->work;

  if (run == NULL)
    return;
  run->item = NULL;
  if (run->timer > 0)
    g_source_remove(run->timer);
  /* Nobody is there later to kill what ignores TERM. */
  signal_group(run, command->closing ? SIGKILL : SIGTERM);
  run->timer = command->closing ? 0 : g_timeout_add(GRACE, kill_at_last, run);
  if (g_subprocess_get_identifier(run->process) == NULL)
    g_cancellable_cancel(run->cancellable);
}

/* ---- The backend --------------------------------------------------------------------------- */

static void
command_start(Backend *backend, gint64 now)
{
  (void)now;
  ledger_link(((CommandBackend *)backend)->ledger, TRUE, "");
}

static void
command_submit(Backend *backend, gint64 now, const RequestEvent *request)
{
  ledger_submit(((CommandBackend *)backend)->ledger, now, request);
}

static void
command_cancel(Backend *backend, gint64 now, guint32 request)
{
  (void)now;
  ledger_cancel(((CommandBackend *)backend)->ledger, request);
}

static void
command_free(Backend *backend)
{
  CommandBackend *command = (CommandBackend *)backend;

  command->closing = TRUE;
  ledger_free(command->ledger);
  for (guint i = 0; i < command->layout->n_nodes; i++)
    secret_free(command->secrets[i]);
  g_free(command->secrets);
  g_free(command);
}

static guint32
operations_of(const BackendSetup *setup)
{
  guint32 operations = 0;

  for (gsize i = 0; i < G_N_ELEMENTS(templates); i++)
    for (NodeId id = 0; id < setup->layout->n_nodes; id++) {
      g_auto(GStrv) words =
          layout_setting_words(setup->layout, setup->settings, id, templates[i].key);
      if (words != NULL)
        operations |= 1u << templates[i].operation;
    }
  return operations;
}

static gboolean
names_backend(const BackendSetup *setup, NodeId id)
{
  for (guint role = 0; role < ROLE_N; role++)
    if (g_strcmp0(setup->layout->nodes[id].backend[role], setup->name) == 0)
      return TRUE;
  return FALSE;
}

Backend *
command_backend_new(const BackendSetup *setup, GError **error)
{
  CommandBackend *command = g_new0(CommandBackend, 1);

  command->class = (BackendClass){.name = "command",
                                  .operations = operations_of(setup),
                                  .start = command_start,
                                  .submit = command_submit,
                                  .cancel = command_cancel,
                                  .free = command_free};
  command->backend = (Backend){&command->class, setup->name, setup->post, setup->post_data};
  command->layout = setup->layout;
  command->settings = setup->settings;
  command->secrets = g_new0(char *, setup->layout->n_nodes);
  LedgerClass ledger = {
      .begin = begin,
      .end = end,
      .limit = layout_setting_count(setup->layout, setup->settings, NODE_NONE, "workers"),
      .one_each_node = TRUE};
  command->ledger = ledger_new(&command->backend, setup->layout, &ledger, command);
  for (NodeId id = 0; id < setup->layout->n_nodes; id++) {
    GError *problem = NULL;
    if (names_backend(setup, id))
      command->secrets[id] = setup_secret(setup, id, "secret", &problem);
    if (problem == NULL)
      continue;
    g_propagate_error(error, problem);
    backend_free(&command->backend);
    return NULL;
  }
  return &command->backend;
}
