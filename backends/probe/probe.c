#include "backends/probe/probe.h"

#include <string.h>

#include "backends/ledger.h"
#include "backends/probe/probe_ask.h"

/* A machine that answers is asked less often, as is one that has been silent for so many rounds. */
#define SELDOM 5
#define SILENT_ROUNDS 900

typedef struct {
  Backend backend;
  const Layout *layout;
  const LayoutBackend *settings;
  Ledger *ledger;
  GQueue waiting; /* of Watch: their round is due */
  guint n_asking, limit;
} Probe;

/* Of an item. */
typedef struct {
  Probe *probe;
  LedgerItem *item;
  char *host;
  GArray *ways;           /* of ProbeWay */
  guint way;              /* that is tried, or next */
  gint64 patience, every; /* µs */
  ProbeAsk *ask;
  guint timer; /* source: until its next round */
  gboolean up;
  guint silent; /* rounds without an answer since it had one, or was watched */
} Watch;

static void take_turns(Probe *probe);

static gboolean
on_due(gpointer data)
{
  Watch *watch = data;
  watch->timer = 0;
  g_queue_push_tail(&watch->probe->waiting, watch);
  take_turns(watch->probe);
  return G_SOURCE_REMOVE;
}

/* It has answered, after it did not: its system is up. Before the first answer it may have been up
 * for days. */
static void
end_round(Watch *watch, gboolean answered)
{
  gboolean came_up = answered && !watch->up && watch->silent > 0;
  gboolean seldom = answered || watch->silent > SILENT_ROUNDS;
  watch->up = answered;
  watch->silent = answered ? 0 : watch->silent + 1;
  watch->timer = g_timeout_add((guint)(watch->every / 1000) * (seldom ? SELDOM : 1), on_due, watch);
  if (came_up)
    ledger_observe(watch->probe->ledger, watch->item->node, "stage", "login likely");
}

static void
on_answer(gboolean answered, gpointer data)
{
  Watch *watch = data;
  Probe *probe = watch->probe;
  watch->ask = NULL;
  probe->n_asking--;
  watch->way = answered ? 0 : (watch->way + 1) % watch->ways->len;
  if (answered || watch->way == 0)
    end_round(watch, answered);
  else
    g_queue_push_head(&probe->waiting, watch);
  take_turns(probe);
}

static void
take_turns(Probe *probe)
{
  Watch *watch;
  while (probe->n_asking < probe->limit && (watch = g_queue_pop_head(&probe->waiting)) != NULL) {
    probe->n_asking++;
    watch->ask = probe_ask_start(watch->host, &g_array_index(watch->ways, ProbeWay, watch->way),
                                 watch->patience, on_answer, watch);
  }
}

/* ---- The ledger's items ------------------------------------------------------------------------
 */

static gint64
microseconds(const Probe *probe, NodeId node, const char *key)
{
  return layout_setting_time(probe->layout, probe->settings, node, key) / 1000;
}

static void
begin(LedgerItem *item, gpointer data)
{
  Probe *probe = data;
  if (g_strcmp0(ledger_argument(item, "what"), "log") != 0) {
    ledger_answer(item, VERDICT_FAILED, "%s tells when a system is up, nothing else",
                  probe->backend.name);
    return;
  }
  g_auto(GStrv) words = layout_setting_words(probe->layout, probe->settings, item->node, "ways");
  Watch *watch = g_new0(Watch, 1);
  item->work = watch;
  watch->probe = probe;
  watch->item = item;
  watch->host = layout_setting_text(probe->layout, probe->settings, item->node, "address");
  watch->patience = microseconds(probe, item->node, "patience");
  watch->every = microseconds(probe, item->node, "every");
  watch->ways = g_array_new(FALSE, FALSE, sizeof(ProbeWay));
  for (guint i = 0; words != NULL && words[i] != NULL; i++) {
    ProbeWay way;
    if (probe_way_parse(words[i], &way, NULL))
      g_array_append_val(watch->ways, way);
  }
  /* All at once, they would come in waves for ever. */
  watch->timer =
      g_timeout_add((guint)g_random_int_range(0, (gint32)CLAMP(watch->every / 1000, 1, G_MAXINT32)),
                    on_due, watch);
}

static void
end(LedgerItem *item, gpointer data)
{
  Probe *probe = data;
  Watch *watch = item->work;
  if (watch == NULL)
    return;
  if (watch->timer != 0)
    g_source_remove(watch->timer);
  if (watch->ask != NULL)
    probe->n_asking--;
  probe_ask_drop(watch->ask);
  g_queue_remove(&probe->waiting, watch);
  g_array_unref(watch->ways);
  g_free(watch->host);
  g_free(watch);
  take_turns(probe); /* its place is another's */
}

/* ---- The class ---------------------------------------------------------------------------------
 */

static void
probe_start(Backend *backend, gint64 now)
{
  (void)now;
  ledger_link(((Probe *)backend)->ledger, TRUE, "");
}

static void
probe_submit(Backend *backend, gint64 now, const RequestEvent *request)
{
  ledger_submit(((Probe *)backend)->ledger, now, request);
}

static void
probe_cancel(Backend *backend, gint64 now, guint32 request)
{
  (void)now;
  ledger_cancel(((Probe *)backend)->ledger, request);
}

static void
probe_free(Backend *backend)
{
  Probe *probe = (Probe *)backend;
  ledger_free(probe->ledger);
  g_free(probe);
}

static const BackendClass probe_class = {
    .name = "probe",
    .operations = 1u << OP_WATCH,
    .start = probe_start,
    .submit = probe_submit,
    .cancel = probe_cancel,
    .free = probe_free,
};

static gboolean
check_node(const BackendSetup *setup, NodeId id, GError **error)
{
  if (g_strcmp0(setup->layout->nodes[id].backend[ROLE_LOG], setup->name) != 0)
    return TRUE;
  g_auto(GStrv) words = layout_setting_words(setup->layout, setup->settings, id, "ways");
  g_autoptr(GError) problem = NULL;
  ProbeWay way;
  if (words == NULL)
    return setup_fail(setup, id, error, "it has no `ways`, such as [rdp, ssh]");
  for (char **word = words; *word != NULL; word++)
    if (!probe_way_parse(*word, &way, &problem))
      return setup_fail(setup, id, error, "`ways`: %s", problem->message);
  return TRUE;
}

Backend *
probe_backend_new(const BackendSetup *setup, GError **error)
{
  static const LedgerClass ledger = {.begin = begin, .end = end};
  for (NodeId id = 0; id < setup->layout->n_nodes; id++)
    if (!check_node(setup, id, error))
      return NULL;
  Probe *probe = g_new0(Probe, 1);
  probe->backend = (Backend){&probe_class, setup->name, setup->post, setup->post_data};
  probe->layout = setup->layout;
  probe->settings = setup->settings;
  probe->limit = layout_setting_count(setup->layout, setup->settings, NODE_NONE, "at-once");
  probe->ledger = ledger_new(&probe->backend, setup->layout, &ledger, probe);
  g_queue_init(&probe->waiting);
  return &probe->backend;
}
