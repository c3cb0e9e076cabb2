#include "backends/command/command.h"

#include <string.h>

#include "backends/command/command_run.h"
#include "backends/ledger.h"
#include "backends/secret.h"
#include "model/pattern.h"

#define MAX_SHOWN 160
/* ms between two looks what came of a command, growing from the one to the other. */
#define POLL_FIRST 250
#define POLL_LAST 2000
/* µs before its deadline at which what was seen is told, and that are left at most to see it in
 * when the command itself does not end. */
#define TELL_BEFORE 50000
#define LOOK_AT_MOST (10 * G_USEC_PER_SEC)

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

/* What is done for an item: a look before, unless there is none, the command, looks after. */
typedef struct {
  CommandBackend *owner;
  LedgerItem *item;
  const char *key; /* of its command */
  CommandRun *run; /* NULL: none is under way */
  guint timer;     /* to the next look, or to wait no longer for the command; 0 none */
  guint last;      /* to tell what was seen, before the deadline; 0 none */
  guint pause;     /* ms */
  gboolean taken;  /* the command went well */
  gboolean seen;   /* since the command */
  gboolean on;     /* as last seen */
  char *words;     /* the last that the command has said */
} Work;

static gboolean start(Work *work, const char *key, CommandRunDone done, GError **error);
static void look(Work *work);
static void tell(Work *work);

/* ---- What was said ------------------------------------------------------------------------- */

static gboolean
has_line(const Work *work, const char *key, const char *output)
{
  const CommandBackend *command = work->owner;
  g_autofree char *text =
      layout_setting_text(command->layout, command->settings, work->item->node, key);
  if (text == NULL)
    return FALSE;
  g_autoptr(Pattern) pattern = pattern_new(text, NULL);
  g_autoptr(PatternMatch) match = pattern_match_new();
  g_auto(GStrv) lines = g_strsplit(output, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    gsize length = strlen(lines[i]);
    if (length > 0 && lines[i][length - 1] == '\r')
      length--;
    if (pattern_match(pattern, match, lines[i], length) == PATTERN_YES)
      return TRUE;
  }
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

static char **
words_of(const Work *work, const char *key)
{
  return layout_setting_words(work->owner->layout, work->owner->settings, work->item->node, key);
}

static gboolean
has_status(const Work *work)
{
  g_auto(GStrv) words = words_of(work, "status.run");
  return words != NULL;
}

/* Whether a look shows what came of the command. */
static gboolean
shows(const Work *work)
{
  return (work->item->operation == OP_ON || work->item->operation == OP_OFF) && has_status(work);
}

/* FALSE: it says neither, or both. */
static gboolean
read_state(Work *work, const char *output)
{
  gboolean on = has_line(work, "status.on", output), off = has_line(work, "status.off", output);

  if (on == off)
    return FALSE;
  work->on = on;
  ledger_observe(work->owner->ledger, work->item->node, "power", on ? "on" : "off");
  return TRUE;
}

static gboolean
is_as_asked(const Work *work)
{
  return work->item->operation != OP_RESET && work->on == (work->item->operation == OP_ON);
}

/* Answers when a command failed, as its settings have it, or by its exit status. */
static gboolean
answer_failed(Work *work, const char *output, int status)
{
  g_autofree char *words = last_words(output);

  if (has_line(work, "lost", output))
    ledger_answer(work->item, VERDICT_TIMEOUT, "its status has no answer%s", words);
  else if (has_line(work, "fails", output))
    ledger_answer(work->item, VERDICT_FAILED, "%s refused%s", work->owner->backend.name, words);
  else if (status > 0)
    ledger_answer(work->item, VERDICT_FAILED, "its command ended with status %d%s", status, words);
  else
    return FALSE;
  return TRUE;
}

/* ---- Status -------------------------------------------------------------------------------- */

static void
on_status(const char *output, int status, int signal, gpointer data)
{
  Work *work = data;

  work->run = NULL;
  if (answer_failed(work, output, status))
    return;
  g_autofree char *words = last_words(output);
  if (signal != 0)
    ledger_answer(work->item, VERDICT_FAILED, "its command ended by signal %d%s", signal, words);
  else if (read_state(work, output))
    ledger_answer(work->item, VERDICT_OK, NULL);
  else {
    gboolean both = has_line(work, "status.on", output);
    ledger_answer(work->item, VERDICT_UNKNOWN, "its status says %s on %s off%s",
                  both ? "both" : "neither", both ? "and" : "nor", words);
  }
}

/* ---- What changes something ---------------------------------------------------------------- */

static gboolean
on_pause_over(gpointer data)
{
  Work *work = data;

  work->timer = 0;
  look(work);
  return G_SOURCE_REMOVE;
}

static gboolean
on_last_moment(gpointer data)
{
  Work *work = data;

  work->last = 0;
  tell(work);
  return G_SOURCE_REMOVE;
}

/* From here on only looking helps: at once, again and again until it is seen, or time is over. */
static void
see_what_came(Work *work)
{
  gint64 deadline = work->item->deadline;
  gint64 left = (deadline - TELL_BEFORE - g_get_monotonic_time()) / 1000;

  if (!shows(work)) {
    tell(work);
    return;
  }
  work->pause = POLL_FIRST;
  if (deadline != G_MAXINT64)
    work->last = g_timeout_add((guint)CLAMP(left, 0, G_MAXINT32), on_last_moment, work);
  look(work);
}

/* What is known of a command that is out, and looked for no more. */
static void
tell(Work *work)
{
  const char *what = operation_name(work->item->operation);
  const char *words = work->words != NULL ? work->words : "";

  if (work->taken && !shows(work))
    ledger_answer(work->item, VERDICT_OK, NULL);
  else if (work->seen)
    ledger_answer(work->item, VERDICT_TIMEOUT, "%s %s, but the power is still %s%s",
                  work->taken ? "its command said yes to" : "was told", what,
                  work->on ? "on" : "off", work->taken ? "" : words);
  else if (work->taken)
    ledger_answer(work->item, VERDICT_UNKNOWN,
                  "its command said yes to %s, and its status says neither on nor off", what);
  else
    ledger_answer(work->item, VERDICT_UNKNOWN, "was told %s once: it may have happened%s", what,
                  words);
}

static void
on_look(const char *output, int status, int signal, gpointer data)
{
  Work *work = data;

  (void)status;
  (void)signal;
  work->run = NULL;
  if (read_state(work, output))
    work->seen = TRUE;
  if (work->seen && is_as_asked(work)) {
    ledger_answer(work->item, VERDICT_OK, NULL);
    return;
  }
  work->timer = g_timeout_add(work->pause, on_pause_over, work);
  work->pause = MIN(2 * work->pause, POLL_LAST);
}

static void
look(Work *work)
{
  if (!start(work, "status.run", on_look, NULL))
    tell(work);
}

static void
on_done(const char *output, int status, int signal, gpointer data)
{
  Work *work = data;

  work->run = NULL;
  if (work->timer > 0)
    g_source_remove(work->timer);
  work->timer = 0;
  work->words = last_words(output);
  gboolean lost = signal != 0 || has_line(work, "lost", output);
  if (!lost && answer_failed(work, output, status))
    return;
  g_autofree char *ok =
      layout_setting_text(work->owner->layout, work->owner->settings, work->item->node, "ok");
  work->taken = !lost;
  if (work->taken && ok != NULL && !has_line(work, "ok", output))
    ledger_answer(work->item, VERDICT_FAILED, "its command did not say that it went well%s",
                  work->words);
  else
    see_what_came(work);
}

static gboolean
on_no_end(gpointer data)
{
  Work *work = data;

  work->timer = 0;
  command_run_stop(g_steal_pointer(&work->run), FALSE);
  work->words = g_strdup(": its command did not end");
  see_what_came(work);
  return G_SOURCE_REMOVE;
}

/* Where a look can tell more than the command, that is not waited for until the deadline. */
static void
carry_out(Work *work)
{
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) words = words_of(work, work->key);
  gint64 left = work->item->deadline - g_get_monotonic_time();

  if (!start(work, work->key, on_done, &error)) {
    ledger_answer(work->item, VERDICT_FAILED, "cannot run %s: %s", words[0], error->message);
    return;
  }
  work->item->sent = TRUE;
  if (shows(work) && work->item->deadline != G_MAXINT64)
    work->timer = g_timeout_add(
        (guint)CLAMP((left - MIN(left / 2, LOOK_AT_MOST)) / 1000, 0, G_MAXINT32), on_no_end, work);
}

static void
on_look_before(const char *output, int status, int signal, gpointer data)
{
  Work *work = data;

  work->run = NULL;
  if (answer_failed(work, output, status))
    return;
  if (signal != 0 || !read_state(work, output))
    carry_out(work);
  else if (is_as_asked(work))
    ledger_answer(work->item, VERDICT_OK, NULL);
  else if (work->item->operation == OP_RESET && !work->on)
    ledger_answer(work->item, VERDICT_FAILED,
                  "it is off, and a reset does not switch it on; `power on %s` does",
                  work->owner->layout->nodes[work->item->node].name);
  else
    carry_out(work);
}

/* ---- An item ------------------------------------------------------------------------------- */

static char **
fill_words(const Work *work, const char *key)
{
  const CommandBackend *command = work->owner;
  NodeId node = work->item->node;
  char **words = words_of(work, key);
  g_autofree char *address =
      layout_setting_text(command->layout, command->settings, node, "address");
  const char *device = ledger_argument(work->item, "device");
  Argument extra[] = {{"address", address != NULL ? address : ""},
                      {"device", device != NULL ? device : ""}};

  for (guint i = 0; words != NULL && words[i] != NULL; i++) {
    char *filled = layout_expand(command->layout, node, words[i], extra, G_N_ELEMENTS(extra), NULL);
    g_free(words[i]);
    words[i] = filled;
  }
  return words;
}

static gboolean
start(Work *work, const char *key, CommandRunDone done, GError **error)
{
  const CommandBackend *command = work->owner;
  g_auto(GStrv) words = fill_words(work, key);
  g_autofree char *variable =
      layout_setting_text(command->layout, command->settings, work->item->node, "secret-variable");
  g_autofree char *input =
      layout_setting_text(command->layout, command->settings, work->item->node, "input");
  CommandCall call = {(const char *const *)words, command->secrets[work->item->node], variable,
                      input};

  work->run = command_run_new(&call, done, work, error);
  return work->run != NULL;
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
  Work *work = g_new0(Work, 1);
  g_autoptr(GError) error = NULL;

  item->work = work;
  work->owner = command;
  work->item = item;
  work->key = template_key(item);
  g_auto(GStrv) words = words_of(work, work->key);
  gboolean is_status = item->operation == OP_STATUS;
  if (words == NULL)
    ledger_answer(item, VERDICT_UNSUPPORTED, "%s gives no command for it: %s",
                  command->backend.name, work->key);
  else if (!is_status && (item->operation == OP_BOOT_DEVICE || !has_status(work)))
    carry_out(work);
  else if (!start(work, "status.run", is_status ? on_status : on_look_before, &error))
    ledger_answer(item, VERDICT_FAILED, "cannot run %s: %s", words[0], error->message);
}

static void
end(LedgerItem *item, gpointer data)
{
  const CommandBackend *command = data;
  Work *work = item->work;

  if (work == NULL)
    return;
  if (work->run != NULL)
    command_run_stop(work->run, command->closing);
  if (work->timer > 0)
    g_source_remove(work->timer);
  if (work->last > 0)
    g_source_remove(work->last);
  g_free(work->words);
  g_free(work);
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
    if (setup_reaches(setup, id))
      command->secrets[id] = setup_secret(setup, id, "secret", &problem);
    if (problem == NULL)
      continue;
    g_propagate_error(error, problem);
    backend_free(&command->backend);
    return NULL;
  }
  return &command->backend;
}
