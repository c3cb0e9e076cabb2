/* Counters of the ports that are wanted, and what they say. */
#include "backends/snmp/snmp_meter_private.h"

#include <string.h>

/* Before an interface that went is looked for. */
#define LOOK_SOON G_USEC_PER_SEC
/* Between two sentences about damaged frames on one port. */
#define ERRORS_AGAIN (60 * G_USEC_PER_SEC)
/* sysUpTime wraps after 497 days; so close to it that is no new start. */
#define TICKS_WRAP (G_MAXUINT32 - 360000u)

/* ---- Samples --------------------------------------------------------------------------------- */

/* A column has no blank in its name; labels may have anything. */
static char *
errors_column(const SnmpMeter *meter, const SnmpWanted *wanted)
{
  char *name =
      g_strdup_printf("%s/%s", layout_node(meter->layout, meter->node)->name, wanted->label);

  for (char *p = name; *p != '\0'; p++)
    if (!g_ascii_isalnum(*p) && strchr("/:_-", *p) == NULL)
      *p = '_';
  char *column = g_strconcat(name, ".errors n", NULL);
  g_free(name);
  return column;
}

static void
add_column(GPtrArray *names, GArray *values, char *name, gint64 value)
{
  g_ptr_array_add(names, name);
  g_array_append_val(values, value);
}

/* What leaves the switch by a port is what is there receives; of a link, `tx` is from → to. */
static void
add_columns(const SnmpMeter *meter, const SnmpWanted *wanted, GPtrArray *names, GArray *values)
{
  const SnmpPort *port = &wanted->port;
  gboolean outward = wanted->place.where == SNMP_TO_LINK && !wanted->from_there;
  gint64 tx = outward ? port->net.tx : port->net.rx, rx = outward ? port->net.rx : port->net.tx;

  add_column(names, values, g_strconcat(wanted->column, ".rx B", NULL), rx);
  add_column(names, values, g_strconcat(wanted->column, ".tx B", NULL), tx);
  add_column(names, values, errors_column(meter, wanted), port->errors);
}

static gboolean
same_names(const GPtrArray *a, const GPtrArray *b)
{
  if (a == NULL || a->len != b->len)
    return FALSE;
  for (guint i = 0; i < a->len; i++)
    if (!g_str_equal(a->pdata[i], b->pdata[i]))
      return FALSE;
  return TRUE;
}

static void
post_samples(SnmpMeter *meter)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(gint64));

  for (guint i = 0; i < meter->wanted->len; i++) {
    const SnmpWanted *wanted = meter->wanted->pdata[i];
    if (wanted->index != 0 && wanted->port.begun)
      add_columns(meter, wanted, names, values);
  }
  gboolean same = same_names(meter->names, names);
  Event event = {.kind = EVENT_SAMPLES,
                 .samples = {.source = meter->source,
                             .columns = same ? NULL : (const char *const *)names->pdata,
                             .values = (const gint64 *)(gpointer)values->data,
                             .n = values->len}};
  if (values->len == 0 && meter->names == NULL)
    return;
  if (!same) {
    g_clear_pointer(&meter->names, g_ptr_array_unref);
    meter->names = g_ptr_array_ref(names);
  }
  snmp_meter_post(meter, &event);
}

/* ---- Counters -------------------------------------------------------------------------------- */

static double
speed_of(const SnmpMeter *meter, const SnmpWanted *wanted)
{
  const LayoutNode *node = layout_node(meter->layout, wanted->place.node);

  switch (wanted->place.where) {
  case SNMP_TO_LINK:
    return meter->layout->links[wanted->place.link].speed;
  case SNMP_TO_SEAT:
    return node->speed;
  case SNMP_TO_PORT:
    return node->as_server->ports[wanted->place.port].speed;
  }
  g_assert_not_reached();
}

/* ifHighSpeed is in whole Mbit/s. */
static void
see_speed(const SnmpMeter *meter, SnmpWanted *wanted)
{
  gint64 speed = wanted->port.last.speed;
  double said = speed_of(meter, wanted);

  if (speed == 0 || speed == wanted->speed_told || wanted->port.last.up != 1)
    return;
  wanted->speed_told = speed;
  if ((double)speed < said - 1e6 || (double)speed > said + 1e6)
    snmp_meter_tell(meter, wanted,
                    "port %s to %s runs at %" G_GINT64_FORMAT " Mbit/s, the layout says %.0f",
                    wanted->label, wanted->column, speed / 1000000, said / 1e6);
}

static void
see_errors(const SnmpMeter *meter, SnmpWanted *wanted, gint64 now)
{
  gint64 more = wanted->port.errors - wanted->errors;

  if (more <= 0 || (wanted->errors_told != 0 && now - wanted->errors_told < ERRORS_AGAIN))
    return;
  snmp_meter_tell(meter, wanted,
                  "port %s to %s counts %" G_GINT64_FORMAT
                  " more frame%s with errors: look at its cable, "
                  "plugs and duplex",
                  wanted->label, wanted->column, more, more == 1 ? "" : "s");
  wanted->errors = wanted->port.errors;
  wanted->errors_told = now;
}

/* Of a link the switch says so that is its `from`, and the other where that is not asked. */
static void
see_state(SnmpMeter *meter, const SnmpWanted *wanted)
{
  if (wanted->place.where != SNMP_TO_LINK || wanted->port.last.up < 0)
    return;
  const LayoutLink *link = &meter->layout->links[wanted->place.link];
  const char *there = layout_node(meter->layout, link->from)->backend[ROLE_METER];
  if (wanted->from_there && g_strcmp0(there, meter->backend->name) == 0)
    return;
  g_autofree char *fact = g_strconcat(wanted->column, ".state", NULL);
  snmp_meter_observe(meter, link->from, fact, wanted->port.last.up ? "up" : "down");
}

static void
take_port(SnmpMeter *meter, SnmpWanted *wanted, const SnmpValue *values, gint64 now)
{
  SnmpReading reading;

  snmp_port_read(values, wanted->narrow, &reading);
  if (reading.there) {
    snmp_port_add(&wanted->port, &reading, meter->check_bytes);
    see_speed(meter, wanted);
    see_errors(meter, wanted, now);
    see_state(meter, wanted);
    return;
  }
  if (!wanted->narrow) {
    wanted->narrow = TRUE;
    meter->polled = FALSE;
    return;
  }
  g_autofree char *why = g_strdup_printf(
      "interface %s is gone, or its octets are not told (noSuchInstance)", wanted->label);
  snmp_meter_lack(meter, wanted, why);
  wanted->index = 0;
  meter->look_at = MIN(meter->look_at, now + LOOK_SOON);
}

/* An agent that was started again counts from nothing, and may number its interfaces anew. */
static void
see_up_time(SnmpMeter *meter, const SnmpValue *value, gint64 now)
{
  guint64 before = meter->up_time;

  if (value->kind != SNMP_NUMBER)
    return;
  meter->up_time = value->number;
  if (value->number >= before || before > TICKS_WRAP)
    return;
  for (guint i = 0; i < meter->wanted->len; i++)
    snmp_port_restart(&((SnmpWanted *)meter->wanted->pdata[i])->port);
  meter->look_at = now;
}

static void
on_counters(const SnmpValue *values, guint n, const char *trouble, gpointer data)
{
  SnmpMeter *meter = data;
  gint64 now = g_get_monotonic_time();

  if (trouble != NULL) {
    snmp_meter_suffer(meter, trouble);
    return;
  }
  see_up_time(meter, &values[0], now);
  for (guint i = 0; i < meter->asked->len && 1 + (i + 1) * SNMP_PORT_ITEMS <= n; i++)
    if (meter->asked->pdata[i] != NULL)
      take_port(meter, meter->asked->pdata[i], values + 1 + (gsize)i * SNMP_PORT_ITEMS, now);
  meter->posted = now;
  meter->pause = SNMP_PAUSE_MIN;
  g_clear_pointer(&meter->trouble, g_free);
  post_samples(meter);
}

void
snmp_meter_count(SnmpMeter *meter)
{
  static const SnmpName up_time = {9, {1, 3, 6, 1, 2, 1, 1, 3, 0}};
  g_autoptr(GArray) names = g_array_new(FALSE, FALSE, sizeof(SnmpName));

  g_array_append_val(names, up_time);
  g_ptr_array_set_size(meter->asked, 0);
  for (guint i = 0; i < meter->wanted->len; i++) {
    SnmpWanted *wanted = meter->wanted->pdata[i];
    if (wanted->index == 0)
      continue;
    g_ptr_array_add(meter->asked, wanted);
    snmp_port_names(names, wanted->index, wanted->narrow);
  }
  snmp_agent_get(meter->agent, (const SnmpName *)(gpointer)names->data, names->len, on_counters,
                 meter);
}
