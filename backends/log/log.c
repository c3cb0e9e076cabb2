#include "backends/log/log.h"

#include <string.h>

#include "backends/ledger.h"
#include "backends/log/log_file.h"
#include "backends/log/log_syslog.h"

/* ms between two looks at files. What a line tells is timed by when it is seen. */
#define LOOK_EVERY 100
/* Lines of syslog that a machine is heard with between two looks: one that floods drowns no other.
 */
#define LINES_A_LOOK 200
/* Senders that the layout does not know are told, each once, as long as they are so few. */
#define STRANGERS_MAX 16

typedef struct {
  Backend backend;
  const Layout *layout;
  const LayoutBackend *settings;
  Ledger *ledger;
  GPtrArray *watches;    /* of Watch, borrowed */
  GHashTable *senders;   /* address → node id + 1, of who is heard by syslog */
  GHashTable *strangers; /* addresses that were told */
  GPtrArray *ports;      /* of LogSyslog, once it was started */
} LogBackend;

typedef struct {
  LedgerItem *item;
  LogFile *file;
  char *told; /* why it cannot be read, as told last; NULL */
} Followed;

/* Of an item. */
typedef struct {
  LedgerItem *item;
  GPtrArray *files; /* of Followed */
  guint timer;
  guint lines, dropped; /* of syslog, since the last look */
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

static void
tell_dropped(Watch *watch)
{
  g_autofree char *text = g_strdup_printf("%u lines of syslog were left out: more than %d in %d ms",
                                          watch->dropped, LINES_A_LOOK, LOOK_EVERY);
  watch->dropped = 0;
  ledger_line(watch->item, "err", text);
}

static gboolean
on_look(gpointer data)
{
  Watch *watch = data;
  /* A flood is told when it ends, or has gone on for long. */
  if (watch->dropped > 0 && (watch->lines < LINES_A_LOOK || watch->dropped > 100 * LINES_A_LOOK))
    tell_dropped(watch);
  watch->lines = 0;
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
  LogBackend *log = data;
  if (g_strcmp0(ledger_argument(item, "what"), "log") != 0) {
    ledger_answer(item, VERDICT_FAILED, "%s brings lines of logs, nothing else", log->backend.name);
    return;
  }
  g_auto(GStrv) names = layout_setting_words(log->layout, log->settings, item->node, "files");
  Watch *watch = g_new0(Watch, 1);
  item->work = watch;
  watch->item = item;
  g_ptr_array_add(log->watches, watch);
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
  const LogBackend *log = data;
  Watch *watch = item->work;
  if (watch == NULL)
    return;
  g_ptr_array_remove_fast(log->watches, watch);
  g_source_remove(watch->timer);
  g_ptr_array_unref(watch->files);
  g_free(watch);
}

/* ---- Syslog ----------------------------------------------------------------------------------
 */

static void
meet_stranger(const LogBackend *log, const char *sender)
{
  if (g_hash_table_size(log->strangers) == STRANGERS_MAX ||
      !g_hash_table_add(log->strangers, g_strdup(sender)))
    return;
  g_autofree char *text = g_strdup_printf(
      "syslog comes from %s, which is no machine's here that has `log: %s`: it is left out%s",
      sender, log->backend.name,
      g_hash_table_size(log->strangers) == STRANGERS_MAX ? ", as is any other's" : "");
  ledger_remark(log->ledger, "err", text);
}

static void
on_syslog(const char *sender, const char *text, gsize length, gpointer data)
{
  const LogBackend *log = data;
  NodeId node = GPOINTER_TO_UINT(g_hash_table_lookup(log->senders, sender)) - 1;
  (void)length;
  if (node == NODE_NONE)
    meet_stranger(log, sender);
  for (guint i = 0; i < log->watches->len && node != NODE_NONE; i++) {
    Watch *watch = log->watches->pdata[i];
    if (watch->item->node != node)
      continue;
    if (watch->lines == LINES_A_LOOK) {
      watch->dropped++;
      continue;
    }
    watch->lines++;
    ledger_line(watch->item, "log", text);
  }
}

static void
on_trouble(const char *what, gpointer data)
{
  ledger_remark(((const LogBackend *)data)->ledger, "err", what);
}

/* At each address that the layout names, once. */
static void
listen_for(LogBackend *log, NodeId node)
{
  static const LogSyslogCalls calls = {on_syslog, on_trouble};
  g_autofree char *where = layout_setting_text(log->layout, log->settings, node, "syslog");
  if (g_strcmp0(log->layout->nodes[node].backend[ROLE_LOG], log->backend.name) != 0 ||
      where == NULL)
    return;
  for (guint i = 0; i < log->ports->len; i++)
    if (g_str_equal(log_syslog_name(log->ports->pdata[i]), where))
      return;
  g_ptr_array_add(log->ports, log_syslog_new(where, &calls, log));
}

/* ---- The backend ------------------------------------------------------------------------------
 */

static void
log_start(Backend *backend, gint64 now)
{
  LogBackend *log = (LogBackend *)backend;
  (void)now;
  ledger_link(log->ledger, TRUE, "");
  for (NodeId node = 0; node < log->layout->n_nodes; node++)
    listen_for(log, node);
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
  g_ptr_array_unref(log->ports);
  ledger_free(log->ledger);
  g_ptr_array_unref(log->watches);
  g_hash_table_unref(log->senders);
  g_hash_table_unref(log->strangers);
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

/* ---- What the layout says of it ----------------------------------------------------------------
 */

static gboolean
check_files(const BackendSetup *setup, NodeId id, char **files, GError **error)
{
  for (char **file = files; file != NULL && *file != NULL; file++) {
    g_autoptr(GError) problem = NULL;
    g_autofree char *name = layout_expand(setup->layout, id, *file, NULL, 0, &problem);
    if (name == NULL)
      return setup_fail(setup, id, error, "%s", problem->message);
  }
  return TRUE;
}

static gboolean
add_sender(const BackendSetup *setup, GHashTable *senders, NodeId id, const char *text,
           GError **error)
{
  g_autoptr(GInetAddress) address = g_inet_address_new_from_string(text);
  if (address == NULL)
    return setup_fail(setup, id, error, "`sends-from`: %s is no IP address", text);
  char *name = g_inet_address_to_string(address);
  NodeId other = GPOINTER_TO_UINT(g_hash_table_lookup(senders, name)) - 1;
  g_hash_table_replace(senders, name, GUINT_TO_POINTER(id + 1));
  if (other != NODE_NONE && other != id)
    return setup_fail(setup, id, error, "syslog from %s could be its own or %s's", text,
                      setup->layout->nodes[other].name);
  return TRUE;
}

/* Files alone are enough. */
static gboolean
add_senders(const BackendSetup *setup, GHashTable *senders, NodeId id, gboolean needed,
            GError **error)
{
  const LayoutNode *node = &setup->layout->nodes[id];
  g_auto(GStrv) more = layout_setting_words(setup->layout, setup->settings, id, "sends-from");
  if (needed && !node->has_ip && more == NULL)
    return setup_fail(setup, id, error,
                      "from where it sends syslog is not known: it has no `ip`, nor `sends-from`");
  for (char **address = more; address != NULL && *address != NULL; address++)
    if (!add_sender(setup, senders, id, *address, error))
      return FALSE;
  if (!node->has_ip)
    return TRUE;
  guint32 bytes = g_htonl(node->ip);
  g_autoptr(GInetAddress) address =
      g_inet_address_new_from_bytes((const guint8 *)&bytes, G_SOCKET_FAMILY_IPV4);
  g_autofree char *text = g_inet_address_to_string(address);
  return add_sender(setup, senders, id, text, error);
}

static gboolean
take_node(const BackendSetup *setup, GHashTable *senders, NodeId id, GError **error)
{
  if (g_strcmp0(setup->layout->nodes[id].backend[ROLE_LOG], setup->name) != 0)
    return TRUE;
  g_auto(GStrv) files = layout_setting_words(setup->layout, setup->settings, id, "files");
  g_autofree char *where = layout_setting_text(setup->layout, setup->settings, id, "syslog");
  if (files == NULL && where == NULL)
    return setup_fail(setup, id, error, "it has no `files` to read, nor `syslog`");
  g_autoptr(GError) problem = NULL;
  g_autoptr(GSocketAddress) address = where != NULL ? log_syslog_where(where, &problem) : NULL;
  if (problem != NULL)
    return setup_fail(setup, id, error, "`syslog`: %s", problem->message);
  return check_files(setup, id, files, error) &&
         (where == NULL || add_senders(setup, senders, id, files == NULL, error));
}

Backend *
log_backend_new(const BackendSetup *setup, GError **error)
{
  static const LedgerClass ledger = {.begin = begin, .end = end};
  g_autoptr(GHashTable) senders = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (NodeId id = 0; id < setup->layout->n_nodes; id++)
    if (!take_node(setup, senders, id, error))
      return NULL;
  LogBackend *log = g_new0(LogBackend, 1);
  log->backend = (Backend){&log_class, setup->name, setup->post, setup->post_data};
  log->layout = setup->layout;
  log->settings = setup->settings;
  log->ledger = ledger_new(&log->backend, setup->layout, &ledger, log);
  log->watches = g_ptr_array_new();
  log->senders = g_steal_pointer(&senders);
  log->strangers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  log->ports = g_ptr_array_new_with_free_func((GDestroyNotify)log_syslog_free);
  return &log->backend;
}
