#include "backends/snmp/snmp.h"

#include <string.h>

#include "backends/ledger.h"
#include "backends/module.h"
#include "backends/snmp/snmp_meter.h"
#include "model/units.h"

#define INTERVAL_MIN (100 * TIME_MS)
#define INTERVAL_MAX (3600 * TIME_SECOND)

typedef struct {
  Backend backend;
  const Layout *layout;
  Ledger *ledger;
  SnmpMeter **meters; /* by switch; NULL: nothing on it is metered */
} Snmp;

static NodeId
switch_of(const LayoutNode *node)
{
  return node->kind == NODE_SWITCH ? node->id : node->attached;
}

static void
begin(LedgerItem *item, gpointer data)
{
  Snmp *snmp = data;
  NodeId on = switch_of(layout_node(snmp->layout, item->node));
  SnmpMeter *meter = on != NODE_NONE ? snmp->meters[on] : NULL;
  const char *text = ledger_argument(item, "interval_ns");
  guint64 interval = TIME_SECOND;

  if (ledger_argument(item, "what") != NULL)
    ledger_answer(item, VERDICT_FAILED, "%s gives counters and nothing else", snmp->backend.name);
  else if (text != NULL && (!units_parse_count(text, INTERVAL_MAX, &interval, NULL) ||
                            interval < (guint64)INTERVAL_MIN))
    ledger_answer(item, VERDICT_FAILED, "watch each `%s` ns", text);
  else if (meter == NULL)
    ledger_answer(item, VERDICT_FAILED, "%s is not its meter", snmp->backend.name);
  else if (snmp_meter_watches(meter, item->node))
    ledger_answer(item, VERDICT_FAILED, "it is watched already");
  else {
    item->work = meter;
    snmp_meter_watch(meter, item, (gint64)interval);
  }
}

static void
end(LedgerItem *item, gpointer data)
{
  (void)data;
  if (item->work != NULL)
    snmp_meter_unwatch(item->work, item);
}

static void
snmp_start(Backend *backend, gint64 now)
{
  (void)now;
  ledger_link(((Snmp *)backend)->ledger, TRUE, "switches are asked as they are watched");
}

static void
snmp_submit(Backend *backend, gint64 now, const RequestEvent *request)
{
  ledger_submit(((Snmp *)backend)->ledger, now, request);
}

static void
snmp_cancel(Backend *backend, gint64 now, guint32 request)
{
  (void)now;
  ledger_cancel(((Snmp *)backend)->ledger, request);
}

static void
snmp_backend_free(Backend *backend)
{
  Snmp *snmp = (Snmp *)backend;

  ledger_free(snmp->ledger);
  for (NodeId id = 0; id < snmp->layout->n_nodes; id++)
    snmp_meter_free(snmp->meters[id]);
  g_free(snmp->meters);
  g_free(snmp);
}

static const BackendClass snmp_class = {
    .name = "snmp",
    .operations = 1u << OP_WATCH,
    .start = snmp_start,
    .submit = snmp_submit,
    .cancel = snmp_cancel,
    .free = snmp_backend_free,
};

static gboolean
make_meters(Snmp *snmp, const BackendSetup *setup, GError **error)
{
  for (NodeId id = 0; id < setup->layout->n_nodes; id++) {
    const LayoutNode *node = layout_node(setup->layout, id);
    NodeId on = switch_of(node);
    if (g_strcmp0(node->backend[ROLE_METER], setup->name) != 0 || on == NODE_NONE ||
        snmp->meters[on] != NULL)
      continue;
    snmp->meters[on] = snmp_meter_new(setup, &snmp->backend, on, error);
    if (snmp->meters[on] == NULL)
      return FALSE;
  }
  return TRUE;
}

Backend *
snmp_backend_new(const BackendSetup *setup, GError **error)
{
  static const LedgerClass ledger = {.begin = begin, .end = end};
  Snmp *snmp = g_new0(Snmp, 1);

  snmp->backend = (Backend){&snmp_class, setup->name, setup->post, setup->post_data};
  snmp->layout = setup->layout;
  snmp->meters = g_new0(SnmpMeter *, setup->layout->n_nodes);
  snmp->ledger = ledger_new(&snmp->backend, setup->layout, &ledger, snmp);
  if (make_meters(snmp, setup, error))
    return &snmp->backend;
  backend_free(&snmp->backend);
  return NULL;
}

BACKEND_MODULE(snmp, snmp_backend_new);
