#include "backends/log/log.h"

#include <string.h>

#include "backends/ledger.h"
#include "backends/log/log_file.h"

/* ms between two looks at files. What a line tells is timed by when it is seen. */
#define LOOK_EVERY 100

typedef struct {
  Backend backend;
  const Layout *layout;
  const LayoutBackend *settings;
  Ledger *ledger;
} LogBackend;

typedef struct {
  LedgerItem *item;
  LogFile *file;
  char *told; /* why it cannot be read, as told last; NULL */
} Followed;

/* Of an item. */
typedef struct {
  GPtrArray *files; /* of Followed */
  guint timer;
} Watch;

static void
followed_free(gpointer data)
{
  Followed *followed = data;
  log_file_free(followed->file);
  g_free(followed->told);
  g_free(followed);
}

static void
on_line(const char *text, gsize length, gpointer data)
{
  const Followed *followed = data;
  if (length > 0)
    ledger_line(followed->item, "log", text);
}

/* Said once, until it is read or another thing is to be said. */
static void
tell_problem(Followed *followed)
{
  const char *problem = log_file_problem(followed->file);
  if (g_strcmp0(problem, followed->told) == 0)
    return;
  g_free(followed->told);
  followed->told = g_strdup(problem);
  if (problem == NULL)
    return;
  g_autofree char *text = g_strdup_printf("cannot read the log %s: %s; it is looked for again",
                                          log_file_path(followed->file), problem);
  ledger_line(followed->item, "err", text);
}

static gboolean
on_look(gpointer data)
{
  const Watch *watch = data;
  for (guint i = 0; i < watch->files->len; i++) {
    Followed *followed = watch->files->pdata[i];
    log_file_look(followed->file, on_line, followed);
    tell_problem(followed);
  }
  return G_SOURCE_CONTINUE;
}

/* A file is named from where the layout is. */
static char *
whole_path(const LogBackend *log, NodeId node, const char *template)
{
  g_autofree char *name = layout_expand(log->layout, node, template, NULL, 0, NULL);
  g_autofree char *folder = g_path_get_dirname(log->layout->file);
  return g_path_is_absolute(name) ? g_strdup(name) : g_build_filename(folder, name, NULL);
}

static void
begin(LedgerItem *item, gpointer data)
{
  const LogBackend *log = data;
  if (g_strcmp0(ledger_argument(item, "what"), "log") != 0) {
    ledger_answer(item, VERDICT_FAILED, "%s brings lines of logs, nothing else", log->backend.name);
    return;
  }
  g_auto(GStrv) names = layout_setting_words(log->layout, log->settings, item->node, "files");
  Watch *watch = g_new0(Watch, 1);
  item->work = watch;
  watch->files = g_ptr_array_new_with_free_func(followed_free);
  for (guint i = 0; names != NULL && names[i] != NULL; i++) {
    g_autofree char *path = whole_path(log, item->node, names[i]);
    Followed *followed = g_new0(Followed, 1);
    followed->item = item;
    followed->file = log_file_new(path);
    g_ptr_array_add(watch->files, followed);
  }
  watch->timer = g_timeout_add(LOOK_EVERY, on_look, watch);
}

static void
end(LedgerItem *item, gpointer data)
{
  Watch *watch = item->work;
  (void)data;
  if (watch == NULL)
    return;
  g_source_remove(watch->timer);
  g_ptr_array_unref(watch->files);
  g_free(watch);
}

static void
log_start(Backend *backend, gint64 now)
{
  (void)now;
  ledger_link(((LogBackend *)backend)->ledger, TRUE, "");
}

static void
log_submit(Backend *backend, gint64 now, const RequestEvent *request)
{
  ledger_submit(((LogBackend *)backend)->ledger, now, request);
}

static void
log_cancel(Backend *backend, gint64 now, guint32 request)
{
  (void)now;
  ledger_cancel(((LogBackend *)backend)->ledger, request);
}

static void
log_free(Backend *backend)
{
  LogBackend *log = (LogBackend *)backend;
  ledger_free(log->ledger);
  g_free(log);
}

static const BackendClass log_class = {
    .name = "log",
    .operations = 1u << OP_WATCH,
    .start = log_start,
    .submit = log_submit,
    .cancel = log_cancel,
    .free = log_free,
};

static gboolean
check_files(const BackendSetup *setup, NodeId id, GError **error)
{
  if (g_strcmp0(setup->layout->nodes[id].backend[ROLE_LOG], setup->name) != 0)
    return TRUE;
  g_auto(GStrv) files = layout_setting_words(setup->layout, setup->settings, id, "files");
  if (files == NULL)
    return setup_fail(setup, id, error, "it has no `files` to read");
  for (char **file = files; *file != NULL; file++) {
    g_autoptr(GError) problem = NULL;
    g_autofree char *name = layout_expand(setup->layout, id, *file, NULL, 0, &problem);
    if (name == NULL)
      return setup_fail(setup, id, error, "%s", problem->message);
  }
  return TRUE;
}

Backend *
log_backend_new(const BackendSetup *setup, GError **error)
{
  static const LedgerClass ledger = {.begin = begin, .end = end};
  for (NodeId id = 0; id < setup->layout->n_nodes; id++)
    if (!check_files(setup, id, error))
      return NULL;
  LogBackend *log = g_new0(LogBackend, 1);
  log->backend = (Backend){&log_class, setup->name, setup->post, setup->post_data};
  log->layout = setup->layout;
  log->settings = setup->settings;
  log->ledger = ledger_new(&log->backend, setup->layout, &ledger, log);
  return &log->backend;
}
