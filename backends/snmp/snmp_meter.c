#include "backends/snmp/snmp_meter.h"

#include <string.h>

#include "backends/snmp/snmp_account.h"
#include "backends/snmp/snmp_meter_private.h"

/* An agent that has counted nothing for so long is believed: it is no cache that stands still. */
#define QUIET (10 * G_USEC_PER_SEC)

static void step(SnmpMeter *meter);

/* ---- What is told ---------------------------------------------------------------------------- */

void
snmp_meter_post(const SnmpMeter *meter, const Event *event)
{
  meter->backend->post(event, meter->backend->post_data);
}

static void
say_link(SnmpMeter *meter, gboolean up, const char *text)
{
  g_autofree char *whole =
      g_strdup_printf("%s: %s", layout_node(meter->layout, meter->node)->name, text);
  Event event = {.kind = EVENT_LINK, .link = {meter->source, up, whole}};

  meter->up = up;
  g_clear_pointer(&meter->names, g_ptr_array_unref);
  snmp_meter_post(meter, &event);
}

void
snmp_meter_observe(SnmpMeter *meter, NodeId node, const char *fact, const char *value)
{
  g_autofree char *key = g_strdup_printf("%u %s", node, fact);

  if (g_strcmp0(g_hash_table_lookup(meter->seen, key), value) == 0)
    return;
  g_hash_table_replace(meter->seen, g_steal_pointer(&key), g_strdup(value));
  Event event = {.kind = EVENT_OBSERVE, .observe = {node, fact, value, meter->backend->name}};
  snmp_meter_post(meter, &event);
}

void
snmp_meter_tell(const SnmpMeter *meter, const SnmpWanted *wanted, const char *format, ...)
{
  va_list arguments;

  va_start(arguments, format);
  g_autofree char *what = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_autofree char *text =
      g_strdup_printf("%s: %s", layout_node(meter->layout, meter->node)->name, what);
  ledger_line(wanted->item, "err", text);
}

/* Told once, until it is another thing. */
void
snmp_meter_lack(const SnmpMeter *meter, SnmpWanted *wanted, const char *why)
{
  if (g_strcmp0(wanted->told, why) == 0)
    return;
  g_free(wanted->told);
  wanted->told = g_strdup(why);
  if (why != NULL)
    snmp_meter_tell(meter, wanted, "no meter of %s: %s", wanted->column, why);
}

/* ---- Trouble --------------------------------------------------------------------------------- */

void
snmp_meter_suffer(SnmpMeter *meter, const char *trouble)
{
  gint64 now = g_get_monotonic_time();

  meter->not_before = now + meter->pause;
  meter->pause = MIN(2 * meter->pause, meter->pause_max);
  meter->look_at = 0;
  meter->polled = FALSE;
  g_clear_pointer(&meter->fresh, snmp_table_free);
  if (!meter->up && g_strcmp0(meter->trouble, trouble) == 0)
    return;
  g_free(meter->trouble);
  meter->trouble = g_strdup(trouble);
  g_hash_table_remove_all(meter->seen);
  say_link(meter, FALSE, trouble);
}

/* ---- Where ports are ------------------------------------------------------------------------- */

static void
place(SnmpMeter *meter, SnmpWanted *wanted)
{
  g_autofree char *why = NULL;
  guint32 index = snmp_place_find(meter->layout, meter->node, meter->table,
                                  (const char *const *)meter->ports, &wanted->place, &why);

  snmp_meter_lack(meter, wanted, why);
  if (index == wanted->index)
    return;
  wanted->index = index;
  wanted->narrow = FALSE;
  meter->polled = FALSE; /* the new port is to be told of, counted anew or not */
  snmp_port_restart(&wanted->port);
  g_free(wanted->label);
  wanted->label = index != 0 ? snmp_table_label(meter->table, index) : NULL;
}

static void
observe_seats(SnmpMeter *meter)
{
  const char *name = layout_node(meter->layout, meter->node)->name;

  for (NodeId id = 0; id < meter->layout->n_nodes; id++) {
    const LayoutNode *node = layout_node(meter->layout, id);
    if (node->kind != NODE_CLIENT || node->attached != meter->node || !node->has_mac)
      continue;
    guint32 index = snmp_place_seen(meter->layout, meter->table, id);
    g_autofree char *label = index != 0 ? snmp_table_label(meter->table, index) : NULL;
    g_autofree char *value = label != NULL ? g_strdup_printf("%s/%s", name, label) : NULL;
    if (value != NULL)
      snmp_meter_observe(meter, id, "port", value);
  }
}

static void
take_table(SnmpMeter *meter)
{
  snmp_table_free(meter->table);
  meter->table = g_steal_pointer(&meter->fresh);
  meter->look_at = g_get_monotonic_time() + meter->ports_every;
  if (snmp_table_count(meter->table) == 0) {
    snmp_meter_suffer(meter,
                      "its agent answers, and shows no interfaces (noSuchObject): the view of this "
                      "user or community leaves IF-MIB out; widen it at the agent");
    return;
  }
  if (!meter->up) {
    g_autofree char *text =
        g_strdup_printf("its agent tells of %u interfaces", snmp_table_count(meter->table));
    say_link(meter, TRUE, text);
  }
  for (guint i = 0; i < meter->wanted->len; i++)
    place(meter, meter->wanted->pdata[i]);
  observe_seats(meter);
  step(meter);
}

static void
on_column(const SnmpValue *values, guint n, const char *trouble, gpointer data)
{
  SnmpMeter *meter = data;

  if (trouble != NULL) {
    snmp_meter_suffer(meter, trouble);
    return;
  }
  for (guint i = 0; i < n; i++)
    snmp_table_take(meter->fresh, meter->column, &values[i]);
  if (++meter->column == SNMP_COLUMN_N)
    take_table(meter);
  else
    snmp_agent_walk(meter->agent, snmp_table_root(meter->column), on_column, meter);
}

static void
look_for_ports(SnmpMeter *meter)
{
  snmp_table_free(meter->fresh);
  meter->fresh = snmp_table_new();
  meter->column = 0;
  snmp_agent_walk(meter->agent, snmp_table_root(meter->column), on_column, meter);
}

/* Whatever is asked moves a counter of the interface that it is asked by: where none has moved,
 * these are the counters of before. */
static void
on_octets(const SnmpValue *values, guint n, const char *trouble, gpointer data)
{
  SnmpMeter *meter = data;
  guint64 mark = n;

  if (trouble != NULL) {
    snmp_meter_suffer(meter, trouble);
    return;
  }
  for (guint i = 0; i < n; i++)
    mark = (mark ^ values[i].number) * G_GUINT64_CONSTANT(1099511628211);
  gboolean stands = n > 0 && meter->polled && mark == meter->mark;
  meter->polled = TRUE;
  meter->mark = mark;
  if (!stands || g_get_monotonic_time() - meter->posted >= QUIET)
    snmp_meter_count(meter);
}

static void
step(SnmpMeter *meter)
{
  static const SnmpName in_octets = {11, {1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 6}};
  gint64 now = g_get_monotonic_time();

  if (snmp_agent_is_busy(meter->agent) || now < meter->not_before || meter->wanted->len == 0)
    return;
  if (meter->table == NULL || now >= meter->look_at)
    look_for_ports(meter);
  else
    snmp_agent_walk(meter->agent, &in_octets, on_octets, meter);
}

/* ---- Who watches ----------------------------------------------------------------------------- */

static void
wanted_free(gpointer data)
{
  SnmpWanted *wanted = data;

  g_free(wanted->column);
  g_free(wanted->label);
  g_free(wanted->told);
  g_free(wanted);
}

static void
want(SnmpMeter *meter, LedgerItem *item, SnmpPlace there, gboolean from_there)
{
  SnmpWanted *wanted = g_new0(SnmpWanted, 1);

  wanted->item = item;
  wanted->place = there;
  wanted->from_there = from_there;
  wanted->column = snmp_place_column(meter->layout, &there);
  g_ptr_array_add(meter->wanted, wanted);
  meter->look_at = 0;
}

static gboolean
on_tick(gpointer data)
{
  step(data);
  return G_SOURCE_CONTINUE;
}

static void
want_all(SnmpMeter *meter, LedgerItem *item)
{
  const LayoutNode *node = layout_node(meter->layout, item->node);

  for (guint l = 0; node->kind == NODE_SWITCH && l < meter->layout->n_links; l++) {
    const LayoutLink *link = &meter->layout->links[l];
    if (link->from == node->id)
      want(meter, item, (SnmpPlace){SNMP_TO_LINK, l, link->to, 0}, FALSE);
    else if (link->to == node->id)
      want(meter, item, (SnmpPlace){SNMP_TO_LINK, l, link->from, 0}, TRUE);
  }
  if (node->kind == NODE_CLIENT)
    want(meter, item, (SnmpPlace){SNMP_TO_SEAT, 0, node->id, 0}, FALSE);
  for (guint p = 0; node->as_server != NULL && p < node->as_server->n_ports; p++)
    want(meter, item, (SnmpPlace){SNMP_TO_PORT, 0, node->id, p}, FALSE);
}

void
snmp_meter_watch(SnmpMeter *meter, LedgerItem *item, gint64 interval)
{
  want_all(meter, item);
  if (meter->timer > 0 && interval >= meter->interval)
    return;
  if (meter->timer > 0)
    g_source_remove(meter->timer);
  meter->interval = interval;
  meter->timer = g_timeout_add((guint)MAX(interval / TIME_MS, 1), on_tick, meter);
  step(meter);
}

void
snmp_meter_unwatch(SnmpMeter *meter, const LedgerItem *item)
{
  for (guint i = meter->wanted->len; i-- > 0;) {
    SnmpWanted *wanted = meter->wanted->pdata[i];
    guint at;
    if (wanted->item != item)
      continue;
    if (g_ptr_array_find(meter->asked, wanted, &at))
      meter->asked->pdata[at] = NULL;
    g_ptr_array_remove_index(meter->wanted, i);
  }
  if (meter->wanted->len > 0 || meter->timer == 0)
    return;
  g_source_remove(meter->timer);
  meter->timer = 0;
  snmp_agent_drop(meter->agent);
}

gboolean
snmp_meter_watches(const SnmpMeter *meter, NodeId node)
{
  for (guint i = 0; i < meter->wanted->len; i++)
    if (((const SnmpWanted *)meter->wanted->pdata[i])->item->node == node)
      return TRUE;
  return FALSE;
}

/* ---- Making ---------------------------------------------------------------------------------- */

SnmpMeter *
snmp_meter_new(const BackendSetup *setup, const Backend *backend, NodeId node, GError **error)
{
  const Layout *layout = setup->layout;
  SnmpMeter *meter = g_new0(SnmpMeter, 1);

  meter->backend = backend;
  meter->layout = layout;
  meter->node = node;
  meter->source = g_strdup_printf("%s:%s", setup->name, layout_node(layout, node)->name);
  meter->ports = layout_setting_words(layout, setup->settings, node, "ports");
  meter->check_bytes = layout_setting_flag(layout, setup->settings, node, "check-bytes");
  meter->ports_every = layout_setting_time(layout, setup->settings, node, "ports-every") / 1000;
  meter->pause_max = layout_setting_time(layout, setup->settings, node, "retry") / 1000;
  meter->pause = SNMP_PAUSE_MIN;
  meter->wanted = g_ptr_array_new_with_free_func(wanted_free);
  meter->asked = g_ptr_array_new();
  meter->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  meter->agent = snmp_agent_new(&meter->account);
  if (snmp_account_read(&meter->account, setup, node, error))
    return meter;
  snmp_meter_free(meter);
  return NULL;
}

void
snmp_meter_free(SnmpMeter *meter)
{
  if (meter == NULL)
    return;
  if (meter->timer > 0)
    g_source_remove(meter->timer);
  snmp_agent_free(meter->agent);
  snmp_account_clear(&meter->account);
  snmp_table_free(meter->table);
  snmp_table_free(meter->fresh);
  g_ptr_array_unref(meter->wanted);
  g_ptr_array_unref(meter->asked);
  g_hash_table_unref(meter->seen);
  g_clear_pointer(&meter->names, g_ptr_array_unref);
  g_strfreev(meter->ports);
  g_free(meter->source);
  g_free(meter->trouble);
  g_free(meter);
}
