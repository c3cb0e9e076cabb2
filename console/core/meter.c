#include "core/meter_private.h"

#include <math.h>
#include <string.h>

#define STALE_AFTER (3 * TIME_SECOND)

static void
meter_free(gpointer data)
{
  Meter *meter = data;
  g_free(meter->name);
  g_free(meter);
}

static void
source_clear(gpointer data)
{
  MeterSource *source = data;
  g_free(source->name);
  g_free(source->totals);
  g_free(source->refused);
  g_free(source->refusal);
}

static int *
none_array(guint n)
{
  int *array = g_new(int, n ? n : 1);
  for (guint i = 0; i < n; i++)
    array[i] = -1;
  return array;
}

Meters *
meters_new(const Layout *layout)
{
  Meters *meters = g_new0(Meters, 1);
  meters->layout = layout;
  meters->n_nodes = layout->n_nodes;
  meters->n_links = layout->n_links;
  meters->port_base = g_new0(guint, layout->n_nodes);
  for (guint i = 0; i < layout->n_nodes; i++) {
    meters->port_base[i] = meters->n_ports;
    if (layout->nodes[i].as_server)
      meters->n_ports += layout->nodes[i].as_server->n_ports;
  }
  meters->seat_rx = none_array(meters->n_nodes);
  meters->seat_tx = none_array(meters->n_nodes);
  meters->seat_served = none_array(meters->n_nodes);
  meters->port_meter = none_array(2 * meters->n_ports);
  meters->link_meter = none_array(2 * meters->n_links);
  meters->meters = g_ptr_array_new_with_free_func(meter_free);
  meters->sources = g_array_new(FALSE, TRUE, sizeof(MeterSource));
  g_array_set_clear_func(meters->sources, source_clear);
  meters->source_by_name = g_hash_table_new(g_str_hash, g_str_equal);
  meters->by_name = g_hash_table_new(g_str_hash, g_str_equal);
  return meters;
}

void
meters_free(Meters *meters)
{
  if (!meters)
    return;
  g_hash_table_unref(meters->source_by_name);
  g_hash_table_unref(meters->by_name);
  g_array_unref(meters->sources);
  g_ptr_array_unref(meters->meters);
  g_free(meters->port_base);
  g_free(meters->seat_rx);
  g_free(meters->seat_tx);
  g_free(meters->seat_served);
  g_free(meters->port_meter);
  g_free(meters->link_meter);
  g_free(meters);
}

/* What carries a counter of this name, `a01.rx`: its wire speed, bit/s; INFINITY where none is
 * known. SLOT: where views look for it, seats, ports and links by index; NULL when they do not. */
static double
find_line(Meters *meters, const char *name, int **slot)
{
  const char *dot = strrchr(name, '.');
  g_autofree char *what = g_strndup(name, (gsize)(dot - name));
  gboolean tx = g_str_equal(dot + 1, "tx"), served = g_str_equal(dot + 1, "served");
  *slot = NULL;
  if (!tx && !served && !g_str_equal(dot + 1, "rx"))
    return INFINITY;
  if (g_str_has_prefix(what, "link:")) {
    int link = served ? -1 : layout_find_link(meters->layout, what + 5);
    if (link < 0)
      return INFINITY;
    *slot = &meters->link_meter[2 * link + !tx];
    return meters->layout->links[link].speed;
  }
  char *slash = strchr(what, '/');
  if (slash)
    *slash = '\0';
  NodeId id = layout_find(meters->layout, what);
  if (id == NODE_NONE)
    return INFINITY;
  const LayoutNode *node = layout_node(meters->layout, id);
  if (!slash) {
    *slot = served ? &meters->seat_served[id] : tx ? &meters->seat_tx[id] : &meters->seat_rx[id];
    return served || node->kind != NODE_CLIENT ? INFINITY : node->speed;
  }
  int port = node->as_server && !served ? layout_find_port(node->as_server, slash + 1) : -1;
  if (port < 0)
    return INFINITY;
  *slot = &meters->port_meter[2 * (meters->port_base[id] + (guint)port) + !tx];
  return node->as_server->ports[port].speed;
}

/* Of meters with one name the first counts. */
static void
index_meter(Meters *meters, guint i)
{
  const Meter *meter = meters->meters->pdata[i];
  int *slot;

  find_line(meters, meter->name, &slot);
  if (slot && *slot < 0)
    *slot = (int)i;
  if (!g_hash_table_contains(meters->by_name, meter->name))
    g_hash_table_insert(meters->by_name, meter->name, GUINT_TO_POINTER(i + 1));
}

static void
index_sources(Meters *meters)
{
  g_hash_table_remove_all(meters->source_by_name);
  for (guint i = 0; i < meters->sources->len; i++)
    g_hash_table_insert(meters->source_by_name, g_array_index(meters->sources, MeterSource, i).name,
                        GUINT_TO_POINTER(i + 1));
}

static void
no_meters(int *slots, gsize n)
{
  for (gsize i = 0; i < n; i++)
    slots[i] = -1;
}

static void
index_all(Meters *meters)
{
  no_meters(meters->seat_rx, meters->n_nodes);
  no_meters(meters->seat_tx, meters->n_nodes);
  no_meters(meters->seat_served, meters->n_nodes);
  no_meters(meters->port_meter, (gsize)2 * meters->n_ports);
  no_meters(meters->link_meter, (gsize)2 * meters->n_links);
  g_hash_table_remove_all(meters->by_name);
  for (guint i = 0; i < meters->meters->len; i++)
    index_meter(meters, i);
  index_sources(meters);
  meters->generation++;
}

Meters *
meters_clone(const Meters *meters)
{
  Meters *copy = g_memdup2(meters, sizeof *meters);
  copy->port_base = g_memdup2(meters->port_base, meters->n_nodes * sizeof(guint));
  copy->seat_rx = g_memdup2(meters->seat_rx, meters->n_nodes * sizeof(int));
  copy->seat_tx = g_memdup2(meters->seat_tx, meters->n_nodes * sizeof(int));
  copy->seat_served = g_memdup2(meters->seat_served, meters->n_nodes * sizeof(int));
  copy->port_meter = g_memdup2(meters->port_meter, 2 * meters->n_ports * sizeof(int));
  copy->link_meter = g_memdup2(meters->link_meter, 2 * meters->n_links * sizeof(int));
  copy->meters = g_ptr_array_new_with_free_func(meter_free);
  copy->by_name = g_hash_table_new(g_str_hash, g_str_equal);
  copy->source_by_name = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < meters->meters->len; i++) {
    Meter *meter = g_memdup2(meters->meters->pdata[i], sizeof *meter);
    meter->name = g_strdup(meter->name);
    g_ptr_array_add(copy->meters, meter);
    if (!g_hash_table_contains(copy->by_name, meter->name))
      g_hash_table_insert(copy->by_name, meter->name, GUINT_TO_POINTER(i + 1));
  }
  copy->sources = g_array_new(FALSE, TRUE, sizeof(MeterSource));
  g_array_set_clear_func(copy->sources, source_clear);
  for (guint i = 0; i < meters->sources->len; i++) {
    MeterSource source = g_array_index(meters->sources, MeterSource, i);
    source.name = g_strdup(source.name);
    source.totals = g_memdup2(source.totals, METER_RING * source.n * sizeof(gint64));
    source.refused = g_memdup2(source.refused, source.n * sizeof(gint64));
    source.refusal = g_strdup(source.refusal);
    g_array_append_val(copy->sources, source);
  }
  index_sources(copy);
  return copy;
}

MeterSource *
meters_source(const Meters *meters, const char *name)
{
  guint place = GPOINTER_TO_UINT(g_hash_table_lookup(meters->source_by_name, name));
  return place ? &g_array_index(meters->sources, MeterSource, place - 1) : NULL;
}

const char *
meters_refusal(const Meters *meters, const char *name)
{
  const MeterSource *source = meters_source(meters, name);
  return source && source->sure ? source->refusal : NULL;
}

/* ---- Columns ------------------------------------------------------------------------------- */

static gboolean
parse_column(const char *column, Meter *meter, GError **error)
{
  static const struct {
    const char *unit;
    MeterKind kind;
  } units[] = {{"B", METER_BYTES}, {"n", METER_COUNT}, {"ns", METER_NS}, {"m", METER_GAUGE}};
  const char *space = strchr(column, ' ');
  const char *dot = strrchr(column, '.');
  if (space && dot && dot < space && dot > column) {
    for (guint i = 0; i < G_N_ELEMENTS(units); i++) {
      if (g_str_equal(space + 1, units[i].unit)) {
        meter->name = g_strndup(column, (gsize)(space - column));
        meter->kind = units[i].kind;
        meter->t = -1;
        return TRUE;
      }
    }
  }
  g_set_error(error, METER_ERROR, METER_ERROR_SAMPLES,
              "column `%s` is not NAME.COUNTER and one of the units B n ns m", column);
  return FALSE;
}

/* NULL with an error. */
static GPtrArray *
parse_columns(Meters *meters, const SamplesEvent *samples, GError **error)
{
  g_autoptr(GPtrArray) fresh = g_ptr_array_new_with_free_func(meter_free);

  for (guint i = 0; i < samples->n; i++) {
    Meter *meter = g_new0(Meter, 1);
    int *slot;
    g_ptr_array_add(fresh, meter);
    if (!parse_column(samples->columns[i], meter, error))
      return NULL;
    meter->limit = meter->kind == METER_BYTES ? find_line(meters, meter->name, &slot) : INFINITY;
    meter->serial = ++meters->last_serial;
  }
  return g_steal_pointer(&fresh);
}

/* Meters of OLD that FRESH has as well go on as they were, whatever their new place. */
static void
carry_over(const Meters *meters, const MeterSource *old, MeterSource *source, GPtrArray *fresh)
{
  memcpy(source->t, old->t, sizeof old->t);
  source->serial = old->serial;
  source->end = old->end;
  source->filled = old->filled;
  source->history_t = old->history_t;
  g_autoptr(GHashTable) places = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint k = old->n; k-- > 0;) {
    const Meter *before = meters->meters->pdata[old->first + k];
    g_hash_table_insert(places, before->name, GUINT_TO_POINTER(k + 1));
  }
  for (guint i = 0; i < fresh->len; i++) {
    Meter *meter = fresh->pdata[i];
    guint k = GPOINTER_TO_UINT(g_hash_table_lookup(places, meter->name));
    const Meter *before = k ? meters->meters->pdata[old->first + k - 1] : NULL;
    if (!before || before->kind != meter->kind)
      continue;
    char *name = meter->name;
    *meter = *before;
    meter->name = name;
    for (guint row = 0; row < METER_RING; row++)
      source->totals[(gsize)row * source->n + i] = old->totals[(gsize)row * old->n + k - 1];
  }
}

static void
remove_source(Meters *meters, MeterSource *source)
{
  guint first = source->first, n = source->n;

  if (n)
    g_ptr_array_remove_range(meters->meters, first, n);
  g_array_remove_index(meters->sources,
                       (guint)(source - (MeterSource *)(gpointer)meters->sources->data));
  for (guint i = 0; i < meters->sources->len; i++) {
    MeterSource *other = &g_array_index(meters->sources, MeterSource, i);
    if (other->first > first)
      other->first -= n;
  }
}

MeterSource *
meters_give(Meters *meters, const SamplesEvent *samples, GError **error)
{
  GPtrArray *fresh = parse_columns(meters, samples, error);
  MeterSource *old = meters_source(meters, samples->source);

  if (!fresh)
    return NULL;
  MeterSource source = {.name = g_strdup(samples->source),
                        .serial = ++meters->last_serial,
                        .n = samples->n,
                        .totals = g_new0(gint64, (gsize)METER_RING * samples->n + 1),
                        .history_t = -1};
  if (old) {
    carry_over(meters, old, &source, fresh);
    remove_source(meters, old);
  }
  source.first = meters->meters->len;
  g_ptr_array_extend_and_steal(meters->meters, fresh);
  g_array_append_val(meters->sources, source);
  if (old) {
    index_all(meters);
  } else {
    for (guint i = source.first; i < meters->meters->len; i++)
      index_meter(meters, i);
    index_sources(meters);
    meters->generation++;
  }
  return &g_array_index(meters->sources, MeterSource, meters->sources->len - 1);
}

void
meters_forget(Meters *meters, const char *name)
{
  gsize length = strlen(name);
  gboolean gone = FALSE;

  for (guint i = meters->sources->len; i-- > 0;) {
    MeterSource *source = &g_array_index(meters->sources, MeterSource, i);
    if (strncmp(source->name, name, length) != 0 ||
        (source->name[length] && source->name[length] != '/'))
      continue;
    remove_source(meters, source);
    gone = TRUE;
  }
  if (gone)
    index_all(meters);
}

/* ---- Looking ------------------------------------------------------------------------------- */

guint
meters_generation(const Meters *meters)
{
  return meters->generation;
}

guint
meters_count(const Meters *meters)
{
  return meters->meters->len;
}

const Meter *
meters_at(const Meters *meters, guint i)
{
  return meters->meters->pdata[i];
}

static const Meter *
by_index(const Meters *meters, int index)
{
  return index < 0 ? NULL : meters->meters->pdata[index];
}

int
meters_index(const Meters *meters, const char *name)
{
  return (int)GPOINTER_TO_UINT(g_hash_table_lookup(meters->by_name, name)) - 1;
}

const Meter *
meters_find(const Meters *meters, const char *name)
{
  return by_index(meters, meters_index(meters, name));
}

const Meter *
meters_seat_rx(const Meters *meters, NodeId client)
{
  return by_index(meters, meters->seat_rx[client]);
}

const Meter *
meters_seat_tx(const Meters *meters, NodeId client)
{
  return by_index(meters, meters->seat_tx[client]);
}

const Meter *
meters_seat_served(const Meters *meters, NodeId client)
{
  return by_index(meters, meters->seat_served[client]);
}

const char *
meters_source_of(const Meters *meters, guint i, guint *serial)
{
  for (guint s = 0; s < meters->sources->len; s++) {
    const MeterSource *source = &g_array_index(meters->sources, MeterSource, s);
    if (i < source->first || i >= source->first + source->n)
      continue;
    *serial = source->serial;
    return source->name;
  }
  g_assert_not_reached();
}

const Meter *
meters_port(const Meters *meters, NodeId server, guint port, gboolean tx)
{
  return by_index(meters, meters->port_meter[2 * (meters->port_base[server] + port) + !tx]);
}

const Meter *
meters_link(const Meters *meters, guint link, gboolean forward)
{
  return by_index(meters, meters->link_meter[2 * link + !forward]);
}

gboolean
meter_is_stale(const Meter *meter, gint64 now)
{
  return meter->t >= 0 && now - meter->t > MAX(STALE_AFTER, 3 * meter->gap);
}
