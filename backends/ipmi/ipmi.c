#include "backends/ipmi/ipmi_private.h"

#include <string.h>

#include "backends/module.h"

/* So much before the deadline what is known is said: the ledger only knows that there is none. On a
 * machine that is late for both, by coming first. */
#define BEFORE_END_US 20000
#define BEFORE_LEDGER (G_PRIORITY_DEFAULT - 10)
/* Whose time ends so shortly after each other asked together. */
#define TOGETHER_US 100000
/* A target without a deadline is not looked after for ever. */
#define LONGEST_US (G_GINT64_CONSTANT(600) * G_USEC_PER_SEC)

struct Ipmi {
  Backend base;
  Ledger *ledger;
  const Layout *layout;
  IpmiBmc **bmcs; /* by NodeId; NULL: it has none here */
  guint workers, n_busy;
  gboolean engine; /* of the consoles; up once one was opened */
  GQueue ready;    /* of IpmiBmc, whose turn comes when there is a place */
};

/* ---- Queues -------------------------------------------------------------------------------- */

static void
run(IpmiBmc *bmc)
{
  IpmiTarget *target = g_queue_peek_head(&bmc->waiting);

  bmc->busy = TRUE;
  bmc->ipmi->n_busy++;
  bmc->job = ipmi_job_new(target);
  target->job = bmc->job;
  ipmi_job_start(bmc->job);
}

static void
fill_places(Ipmi *ipmi)
{
  while (ipmi->n_busy < ipmi->workers && !g_queue_is_empty(&ipmi->ready)) {
    IpmiBmc *bmc = g_queue_pop_head(&ipmi->ready);
    bmc->ready = FALSE;
    if (!g_queue_is_empty(&bmc->waiting))
      run(bmc);
  }
}

static void
make_ready(IpmiBmc *bmc)
{
  if (bmc->job != NULL || bmc->ready || g_queue_is_empty(&bmc->waiting))
    return;
  bmc->ready = TRUE;
  g_queue_push_tail(&bmc->ipmi->ready, bmc);
}

static void
leave_place(IpmiBmc *bmc)
{
  if (bmc->busy)
    bmc->ipmi->n_busy--;
  bmc->busy = FALSE;
}

void
ipmi_slow(IpmiBmc *bmc)
{
  leave_place(bmc);
  fill_places(bmc->ipmi);
}

void
ipmi_over(IpmiBmc *bmc)
{
  g_clear_pointer(&bmc->job, ipmi_job_free);
  leave_place(bmc);
  make_ready(bmc);
  fill_places(bmc->ipmi);
}

/* The first that waits to know the power, and by LATEST; NULL where something is to change it
 * before. */
static const IpmiTarget *
next_asking(const IpmiBmc *bmc, gint64 latest)
{
  for (const GList *at = bmc->waiting.head; at != NULL; at = at->next) {
    const IpmiTarget *target = at->data;
    if (target->item->operation != OP_STATUS && !target->item->sent)
      return NULL;
    if (target->job == NULL)
      return target->item->operation == OP_STATUS && target->end_us <= latest ? target : NULL;
  }
  return NULL;
}

/* Whoever only wanted to know need not ask again. */
void
ipmi_seen(IpmiBmc *bmc, gboolean on)
{
  const IpmiTarget *other;

  bmc->seen_us = g_get_monotonic_time();
  bmc->on = on;
  ledger_observe(bmc->ipmi->ledger, bmc->node, "power", on ? "on" : "off");
  while ((other = next_asking(bmc, G_MAXINT64)) != NULL)
    ledger_answer(other->item, VERDICT_OK, NULL);
}

void
ipmi_unseen(const IpmiTarget *target, Verdict verdict, const char *text)
{
  const IpmiBmc *bmc = target->bmc;
  gint64 latest = target->end_us + TOGETHER_US;
  const IpmiTarget *other;

  while ((other = next_asking(bmc, latest)) != NULL)
    ledger_answer(other->item, verdict, "%s", text);
}

/* ---- Targets ------------------------------------------------------------------------------- */

const char *
ipmi_operation_word(const IpmiTarget *target)
{
  gboolean soft = target->item->operation == OP_OFF && target->soft;

  return soft ? "soft off" : operation_name(target->item->operation);
}

static gboolean
on_deadline(gpointer data)
{
  IpmiTarget *target = data;

  if (target->job != NULL) {
    ipmi_job_expire(target->job);
  } else {
    g_autofree char *text = ipmi_say(target->bmc,
                                     "was busy with what was asked before; %s was not "
                                     "sent",
                                     ipmi_operation_word(target));
    ledger_answer(target->item, VERDICT_TIMEOUT, "%s", text);
  }
  return G_SOURCE_REMOVE;
}

static gboolean
dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
  (void)source;
  return callback(data);
}

static GSourceFuncs deadline_class = {.dispatch = dispatch};

/* FALSE when they make no sense. */
static gboolean
read_arguments(IpmiTarget *target)
{
  const char *how = ledger_argument(target->item, "how");
  const char *device = ledger_argument(target->item, "device");
  gboolean pxe = g_strcmp0(device, "pxe") == 0;

  target->soft = g_strcmp0(how, "soft") == 0;
  target->device = pxe ? IPMI_SYSTEM_BOOT_OPTION_BOOT_FLAG_BOOT_DEVICE_FORCE_PXE
                       : IPMI_SYSTEM_BOOT_OPTION_BOOT_FLAG_BOOT_DEVICE_FORCE_HARD_DRIVE;
  if (target->item->operation == OP_BOOT_DEVICE)
    return pxe || g_strcmp0(device, "disk") == 0;
  return target->soft || how == NULL || g_str_equal(how, "hard");
}

static void
wait_in_line(IpmiTarget *target)
{
  target->timer = g_source_new(&deadline_class, sizeof(GSource));
  g_source_set_callback(target->timer, on_deadline, target, NULL);
  g_source_set_ready_time(target->timer, target->end_us);
  g_source_set_priority(target->timer, BEFORE_LEDGER);
  g_source_attach(target->timer, NULL);
  g_queue_push_tail(&target->bmc->waiting, target);
  make_ready(target->bmc);
  fill_places(target->bmc->ipmi);
}

static void
open_console(Ipmi *ipmi, LedgerItem *item)
{
  const IpmiBmc *bmc = ipmi->bmcs[item->node];

  if (g_strcmp0(ledger_argument(item, "what"), "console") != 0)
    ledger_answer(item, VERDICT_FAILED, "a BMC lets its console be watched, and nothing else");
  else if (bmc == NULL)
    ledger_answer(item, VERDICT_FAILED, "the layout gives it no BMC in `%s`", ipmi->base.name);
  else if (!ipmi->engine && !(ipmi->engine = ipmi_console_engine_up()))
    ledger_answer(item, VERDICT_FAILED, "libipmiconsole cannot be used");
  else
    item->work = ipmi_console_open(item, bmc);
}

static void
begin(LedgerItem *item, gpointer data)
{
  Ipmi *ipmi = data;

  if (item->operation == OP_WATCH) {
    open_console(ipmi, item);
    return;
  }
  IpmiTarget *target = g_new0(IpmiTarget, 1);

  item->work = target;
  target->item = item;
  target->bmc = ipmi->bmcs[item->node];
  target->end_us = MIN(item->deadline - BEFORE_END_US, g_get_monotonic_time() + LONGEST_US);
  if (target->bmc == NULL)
    ledger_answer(item, VERDICT_FAILED, "the layout gives it no BMC in `%s`", ipmi->base.name);
  else if (!read_arguments(target))
    ledger_answer(item, VERDICT_FAILED, "a BMC goes off soft or hard, and boots from pxe or disk");
  else
    wait_in_line(target);
}

static void
end(LedgerItem *item, gpointer data)
{
  IpmiTarget *target = item->work;

  (void)data;
  if (target == NULL)
    return;
  if (item->operation == OP_WATCH) {
    ipmi_console_free(item->work);
    return;
  }
  if (target->job != NULL)
    ipmi_job_wind_up(target->job);
  if (target->bmc != NULL)
    g_queue_remove(&target->bmc->waiting, target);
  if (target->timer != NULL) {
    g_source_destroy(target->timer);
    g_source_unref(target->timer);
  }
  g_free(target);
}

/* ---- The class ----------------------------------------------------------------------------- */

static void
start(Backend *backend, gint64 now)
{
  (void)now;
  ledger_link(((Ipmi *)backend)->ledger, TRUE, "IPMI over LAN");
}

static void
submit(Backend *backend, gint64 now, const RequestEvent *request)
{
  ledger_submit(((Ipmi *)backend)->ledger, now, request);
}

static void
cancel(Backend *backend, gint64 now, guint32 request)
{
  (void)now;
  ledger_cancel(((Ipmi *)backend)->ledger, request);
}

static void
bmc_free(IpmiBmc *bmc)
{
  if (bmc == NULL)
    return;
  ipmi_job_free(bmc->job);
  ipmi_bmc_clear(bmc);
  g_free(bmc);
}

static void
free_all(Backend *backend)
{
  Ipmi *ipmi = (Ipmi *)backend;

  ledger_free(ipmi->ledger);
  if (ipmi->engine)
    ipmi_console_engine_down();
  for (NodeId node = 0; node < ipmi->layout->n_nodes; node++)
    bmc_free(ipmi->bmcs[node]);
  g_free(ipmi->bmcs);
  g_queue_clear(&ipmi->ready);
  g_free(ipmi);
}

static const BackendClass ipmi_class = {
    .name = "ipmi",
    .operations = 1u << OP_STATUS | 1u << OP_ON | 1u << OP_OFF | 1u << OP_RESET |
                  1u << OP_BOOT_DEVICE | 1u << OP_WATCH,
    .start = start,
    .submit = submit,
    .cancel = cancel,
    .free = free_all,
};

static gboolean
add_bmcs(Ipmi *ipmi, const BackendSetup *setup, GError **error)
{
  for (NodeId node = 0; node < setup->layout->n_nodes; node++) {
    if (!setup_reaches(setup, node))
      continue;
    ipmi->bmcs[node] = g_new0(IpmiBmc, 1);
    ipmi->bmcs[node]->ipmi = ipmi;
    if (!ipmi_bmc_init(ipmi->bmcs[node], setup, node, error))
      return FALSE;
  }
  return TRUE;
}

Backend *
ipmi_backend_new(const BackendSetup *setup, GError **error)
{
  static const LedgerClass ledger_class = {.begin = begin, .end = end};
  Ipmi *ipmi = g_new0(Ipmi, 1);
  g_autoptr(Backend) backend = &ipmi->base;

  ipmi->base = (Backend){&ipmi_class, setup->name, setup->post, setup->post_data};
  ipmi->layout = setup->layout;
  ipmi->bmcs = g_new0(IpmiBmc *, setup->layout->n_nodes);
  ipmi->workers = layout_setting_count(setup->layout, setup->settings, NODE_NONE, "workers");
  ipmi->ledger = ledger_new(&ipmi->base, setup->layout, &ledger_class, ipmi);
  g_queue_init(&ipmi->ready);
  if (!ipmi_packet_init()) {
    g_set_error(error, BACKEND_ERROR, 0, "libgcrypt, which IPMI needs, cannot be used");
    return NULL;
  }
  return add_bmcs(ipmi, setup, error) ? g_steal_pointer(&backend) : NULL;
}

BACKEND_MODULE(ipmi, ipmi_backend_new);
