/* Network counters of domains, as their host sees them: one call a tick for all of a host, which
 * leaves out whoever is busy rather than wait. A driver that has no such call is asked for each. */
#include <string.h>

#include "backends/libvirt/libvirt_private.h"
#include "backends/proc/proc_net.h"
#include "model/units.h"

#define INTERVAL_MIN (10 * TIME_MS)
#define INTERVAL_MAX (3600 * TIME_SECOND)
#define CARDS_MAX 64

struct LibvirtMeter {
  LedgerItem *item;
  LibvirtDomain *domain;
  gint64 interval;
  char *source;    /* `vm:a03` */
  char *interface; /* NULL: all */
  ProcNet cards[CARDS_MAX];
  guint n_cards;
  guint n_told; /* columns as told last */
  gboolean complained;
};

struct LibvirtMeters {
  LibvirtHost *host;
  GPtrArray *all; /* of LibvirtMeter */
  guint timer;
  gboolean asking;
};

/* By the worker. */
typedef struct {
  char *domain, *device; /* device: to be asked for alone; NULL: it cannot be */
  guint n;
  char *names[CARDS_MAX];
  ProcCounters cards[CARDS_MAX];
} Counted;

typedef struct {
  LibvirtCall call;
  LibvirtMeters *meters;
  GPtrArray *counted; /* of Counted, one a meter */
} CountCall;

static void
counted_free(gpointer data)
{
  Counted *counted = data;

  for (guint i = 0; i < counted->n; i++)
    g_free(counted->names[i]);
  g_free(counted->domain);
  g_free(counted->device);
  g_free(counted);
}

/* ---- Worker -------------------------------------------------------------------------------- */

/* FIELD is `net.3.rx.bytes`. */
static void
take_field(Counted *counted, const virTypedParameter *field)
{
  char *rest = NULL;
  guint64 card = 0;
  ProcCounters *counters;

  if (!g_str_has_prefix(field->field, "net.") || !g_ascii_isdigit(field->field[4]))
    return;
  card = g_ascii_strtoull(field->field + strlen("net."), &rest, 10);
  if (card >= CARDS_MAX)
    return;
  counted->n = MAX(counted->n, (guint)card + 1);
  counters = &counted->cards[card];
  if (g_str_equal(rest, ".name") && field->type == VIR_TYPED_PARAM_STRING)
    counted->names[card] = g_strdup(field->value.s);
  if (field->type != VIR_TYPED_PARAM_ULLONG)
    return;
  if (g_str_equal(rest, ".rx.bytes"))
    counters->rx_bytes = field->value.ul;
  else if (g_str_equal(rest, ".rx.pkts"))
    counters->rx_packets = field->value.ul;
  else if (g_str_equal(rest, ".tx.bytes"))
    counters->tx_bytes = field->value.ul;
  else if (g_str_equal(rest, ".tx.pkts"))
    counters->tx_packets = field->value.ul;
}

static Counted *
find_counted(const GPtrArray *all, const char *domain)
{
  for (guint i = 0; i < all->len; i++) {
    Counted *counted = all->pdata[i];
    if (g_str_equal(counted->domain, domain))
      return counted;
  }
  return NULL;
}

/* FALSE: the driver cannot tell this way. */
static gboolean
count_all(CountCall *count)
{
  virDomainStatsRecordPtr *records = NULL;
  gboolean any = FALSE;
  int n = virConnectGetAllDomainStats(count->call.connection, VIR_DOMAIN_STATS_INTERFACE, &records,
                                      VIR_CONNECT_GET_ALL_DOMAINS_STATS_ACTIVE |
                                          VIR_CONNECT_GET_ALL_DOMAINS_STATS_NOWAIT);

  if (n < 0)
    return FALSE;
  for (int i = 0; i < n; i++) {
    Counted *counted = find_counted(count->counted, virDomainGetName(records[i]->dom));
    for (int k = 0; k < records[i]->nparams; k++) {
      any = any || g_str_has_prefix(records[i]->params[k].field, "net.");
      if (counted != NULL)
        take_field(counted, &records[i]->params[k]);
    }
  }
  virDomainStatsRecordListFree(records);
  return any || n == 0;
}

static void
count_one(const CountCall *count, Counted *counted)
{
  virDomainInterfaceStatsStruct stats;
  virDomainPtr domain = virDomainLookupByName(count->call.connection, counted->domain);

  if (domain == NULL)
    return;
  if (virDomainIsActive(domain) == 1 &&
      virDomainInterfaceStats(domain, counted->device, &stats, sizeof stats) == 0) {
    counted->n = 1;
    counted->names[0] = g_strdup(counted->device);
    counted->cards[0] = (ProcCounters){(guint64)stats.rx_bytes, (guint64)stats.rx_packets,
                                       (guint64)stats.tx_bytes, (guint64)stats.tx_packets};
  }
  virDomainFree(domain);
}

static void
count_work(LibvirtCall *call)
{
  CountCall *count = (CountCall *)call;

  if (count_all(count))
    return;
  for (guint i = 0; i < count->counted->len; i++) {
    Counted *counted = count->counted->pdata[i];
    if (counted->device != NULL)
      count_one(count, counted);
  }
}

/* ---- What is posted ------------------------------------------------------------------------ */

static void
take_cards(LibvirtMeter *meter, const Counted *counted)
{
  guint used = 0;

  for (guint i = 0; i < counted->n; i++)
    if (meter->interface == NULL || g_strcmp0(meter->interface, counted->names[i]) == 0)
      proc_net_add(&meter->cards[used++], &counted->cards[i]);
  meter->n_cards = MAX(meter->n_cards, used);
}

static GPtrArray *
columns_of(const LayoutNode *node, guint n_pairs)
{
  GPtrArray *columns = g_ptr_array_new_with_free_func(g_free);
  static const char *const ways[] = {"rx", "tx"};

  for (guint i = 0; i < 2 * n_pairs; i++)
    g_ptr_array_add(columns, node->as_server != NULL
                                 ? g_strdup_printf("%s/%s.%s B", node->name,
                                                   node->as_server->ports[i / 2].name, ways[i % 2])
                                 : g_strdup_printf("%s.%s B", node->name, ways[i % 2]));
  return columns;
}

/* A server's ports each, a client's cards together. */
static guint
fill_values(const LibvirtMeter *meter, const LayoutNode *node, gint64 *values)
{
  guint n_pairs = node->as_server != NULL ? MIN(meter->n_cards, node->as_server->n_ports) : 1;

  for (guint i = 0; i < meter->n_cards; i++) {
    guint pair = node->as_server != NULL ? i : 0;
    if (pair >= n_pairs)
      break;
    values[2 * pair] += meter->cards[i].rx;
    values[2 * pair + 1] += meter->cards[i].tx;
  }
  return n_pairs;
}

static void
post_samples(LibvirtMeter *meter)
{
  Libvirt *libvirt = meter->domain->libvirt;
  const LayoutNode *node = &libvirt->layout->nodes[meter->domain->node];
  gint64 values[2 * CARDS_MAX] = {0};
  guint n = 2 * fill_values(meter, node, values);
  g_autoptr(GPtrArray) columns = columns_of(node, n / 2);
  Event event = {.kind = EVENT_SAMPLES,
                 .samples = {.source = meter->source, .values = values, .n = n}};

  if (n == 0)
    return;
  if (n != meter->n_told)
    event.samples.columns = (const char *const *)columns->pdata;
  meter->n_told = n;
  libvirt->base.post(&event, libvirt->base.post_data);
}

static void
complain(LibvirtMeter *meter)
{
  if (meter->complained)
    return;
  meter->complained = TRUE;
  g_autofree char *text = libvirt_say(
      meter->domain->host, "counts no network card of it%s%s; give its `interface`",
      meter->interface != NULL ? " called " : "", meter->interface != NULL ? meter->interface : "");
  ledger_line(meter->item, "err", text);
}

static void
count_done(LibvirtCall *call)
{
  CountCall *count = (CountCall *)call;
  LibvirtMeters *meters = count->meters;

  meters->asking = FALSE;
  if (libvirt_call_is_old(call))
    return;
  for (guint i = 0; i < meters->all->len; i++) {
    LibvirtMeter *meter = meters->all->pdata[i];
    const Counted *counted = find_counted(count->counted, meter->domain->called);
    if (counted != NULL)
      take_cards(meter, counted);
    /* Who is off counts nothing, which is known; who was busy is not. */
    if (meter->n_cards > 0 &&
        ((counted != NULL && counted->n > 0) || meter->domain->seen == SEEN_OFF))
      post_samples(meter);
    else if (counted != NULL && counted->n > 0)
      complain(meter);
  }
}

static void
count_clear(LibvirtCall *call)
{
  g_ptr_array_unref(((CountCall *)call)->counted);
}

/* ---- Asking -------------------------------------------------------------------------------- */

static Counted *
counted_new(const LibvirtMeter *meter)
{
  const LayoutNode *node = &meter->domain->libvirt->layout->nodes[meter->domain->node];
  Counted *counted = g_new0(Counted, 1);

  counted->domain = g_strdup(meter->domain->called);
  if (meter->interface != NULL)
    counted->device = g_strdup(meter->interface);
  else if (node->has_mac)
    counted->device = mac_print(&node->mac);
  return counted;
}

static gboolean
on_tick(gpointer data)
{
  static const LibvirtCallClass class = {
      .work = count_work, .done = count_done, .clear = count_clear};
  LibvirtMeters *meters = data;
  CountCall *count;

  if (meters->asking || !libvirt_host_is_up(meters->host))
    return G_SOURCE_CONTINUE;
  count = libvirt_call_new(sizeof *count, &class, NULL);
  count->meters = meters;
  count->counted = g_ptr_array_new_with_free_func(counted_free);
  for (guint i = 0; i < meters->all->len; i++)
    g_ptr_array_add(count->counted, counted_new(meters->all->pdata[i]));
  meters->asking = TRUE;
  libvirt_host_call(meters->host, &count->call);
  return G_SOURCE_CONTINUE;
}

/* At the shortest interval that was asked for. */
static void
set_timer(LibvirtMeters *meters)
{
  gint64 interval = INTERVAL_MAX;

  if (meters->timer != 0)
    g_source_remove(meters->timer);
  meters->timer = 0;
  for (guint i = 0; i < meters->all->len; i++)
    interval = MIN(interval, ((const LibvirtMeter *)meters->all->pdata[i])->interval);
  if (meters->all->len > 0)
    meters->timer = g_timeout_add((guint)(interval / TIME_MS), on_tick, meters);
}

void
libvirt_meter_begin(LedgerItem *item, LibvirtDomain *domain)
{
  const char *text = ledger_argument(item, "interval_ns");
  Libvirt *libvirt = domain->libvirt;
  LibvirtMeters *meters = libvirt_host_meters(domain->host);
  guint64 interval = TIME_SECOND;
  LibvirtMeter *meter;

  if (text != NULL && (!units_parse_count(text, INTERVAL_MAX, &interval, NULL) ||
                       interval < (guint64)INTERVAL_MIN)) {
    ledger_answer(item, VERDICT_FAILED, "watch each `%s` ns", text);
    return;
  }
  if (domain->meter != NULL) {
    ledger_answer(item, VERDICT_FAILED, "its counters are watched already");
    return;
  }
  meter = g_new0(LibvirtMeter, 1);
  item->work = domain->meter = meter;
  meter->item = item;
  meter->domain = domain;
  meter->interval = (gint64)interval;
  meter->source = g_strdup_printf("%s:%s", libvirt->base.name, domain->name);
  meter->interface =
      layout_setting_text(libvirt->layout, libvirt->settings, domain->node, "interface");
  g_ptr_array_add(meters->all, meter);
  set_timer(meters);
  libvirt_host_want(domain->host);
}

void
libvirt_meter_end(LibvirtMeter *meter)
{
  LibvirtMeters *meters = libvirt_host_meters(meter->domain->host);

  meter->domain->meter = NULL;
  g_ptr_array_remove(meters->all, meter);
  set_timer(meters);
  g_free(meter->source);
  g_free(meter->interface);
  g_free(meter);
}

LibvirtMeters *
libvirt_meters_new(LibvirtHost *host)
{
  LibvirtMeters *meters = g_new0(LibvirtMeters, 1);

  meters->host = host;
  meters->all = g_ptr_array_new();
  return meters;
}

/* All meters have ended. */
void
libvirt_meters_free(LibvirtMeters *meters)
{
  g_ptr_array_unref(meters->all);
  g_free(meters);
}
