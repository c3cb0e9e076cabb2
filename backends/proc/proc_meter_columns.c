#include "backends/proc/proc_meter_private.h"

void
proc_columns_init(ProcColumns *columns, char *source)
{
  columns->source = source;
  columns->names = g_ptr_array_new_with_free_func(g_free);
  columns->given = g_ptr_array_new_with_free_func(g_free);
  columns->values = g_array_new(FALSE, FALSE, sizeof(gint64));
}

void
proc_columns_clear(ProcColumns *columns)
{
  g_free(columns->source);
  g_ptr_array_unref(columns->names);
  g_ptr_array_unref(columns->given);
  g_array_unref(columns->values);
}

static void
begin(ProcColumns *columns)
{
  g_ptr_array_set_size(columns->names, 0);
  g_array_set_size(columns->values, 0);
}

/* Names are made only to be compared with those before, and are mostly the same. */
static void
add(ProcColumns *columns, const char *owner, const char *what, gint64 value)
{
  guint i = columns->values->len;
  const char *before = i < columns->given->len ? columns->given->pdata[i] : "";
  gsize length = strlen(owner);

  g_array_append_val(columns->values, value);
  if (strncmp(before, owner, length) == 0 && strcmp(before + length, what) == 0)
    g_ptr_array_add(columns->names, NULL);
  else
    g_ptr_array_add(columns->names, g_strconcat(owner, what, NULL));
}

/* TRUE: they are others than those given before, and are now all named. */
static gboolean
have_changed(ProcColumns *columns)
{
  gboolean changed = columns->names->len != columns->given->len;

  for (guint i = 0; i < columns->names->len; i++)
    changed = changed || columns->names->pdata[i] != NULL;
  if (!changed)
    return FALSE;
  for (guint i = 0; i < columns->names->len; i++)
    if (columns->names->pdata[i] == NULL)
      columns->names->pdata[i] = g_strdup(columns->given->pdata[i]);
  GPtrArray *given = columns->given;
  columns->given = columns->names;
  columns->names = given;
  return TRUE;
}

static void
post(ProcMeter *meter, ProcColumns *columns)
{
  guint n = columns->values->len;
  gboolean changed = have_changed(columns);

  SamplesEvent samples = {.source = columns->source,
                          .columns = changed ? (const char *const *)columns->given->pdata : NULL,
                          .values = (const gint64 *)(gpointer)columns->values->data,
                          .n = n};
  if (n > 0)
    meter->calls->samples(&samples, meter->data);
}

static gint64
disk_bytes(const ProcMeter *meter)
{
  gint64 sum = 0;
  GHashTableIter iter;
  gpointer disk;

  g_hash_table_iter_init(&iter, meter->disks);
  while (g_hash_table_iter_next(&iter, NULL, &disk))
    sum = MIN(sum + ((const ProcCount *)disk)->total, G_GINT64_CONSTANT(1) << 60);
  return sum;
}

static void
add_server(ProcMeter *meter)
{
  ProcColumns *own = &meter->own;
  const char *name = meter->node->name;

  if (meter->has_load)
    add(own, name, ".load m", meter->load);
  if (meter->has_disk)
    add(own, name, ".disk B", disk_bytes(meter));
  if (meter->has_calls)
    add(own, name, ".calls n", meter->calls_count.total);
  if (meter->has_waits)
    add(own, name, ".waits n", meter->waits_count.total);
}

void
proc_columns_post(ProcMeter *meter, gint64 echo)
{
  ProcColumns *own = &meter->own;
  gboolean server = meter->node->as_server != NULL;

  begin(own);
  for (guint i = 0; i < meter->n_interfaces; i++) {
    const ProcInterface *interface = &meter->interfaces[i];
    if (!interface->seen)
      continue;
    add(own, interface->column, server ? ".tx B" : ".rx B",
        server ? interface->net.tx : interface->net.rx);
    add(own, interface->column, server ? ".rx B" : ".tx B",
        server ? interface->net.rx : interface->net.tx);
  }
  if (server)
    add_server(meter);
  add(own, meter->node->name, ".echo m", MIN(MAX(echo, 0), G_MAXINT32));
  post(meter, own);
}

void
proc_columns_post_clients(ProcMeter *meter)
{
  ProcColumns *columns = &meter->clients;
  guint n;
  const ProcClient *clients = proc_flows_clients(meter->flows, &n);
  gboolean counts = proc_flows_count(meter->flows);

  begin(columns);
  for (guint i = 0; i < n; i++) {
    const char *name = layout_node(meter->layout, clients[i].node)->name;
    const ProcSocket *flow = &clients[i].flow;
    gboolean rtt = clients[i].flows && flow->rtt >= 0;
    gboolean window = clients[i].flows && flow->congestion >= 0;
    if (counts)
      add(columns, name, ".served B", clients[i].served);
    add(columns, name, ".retrans n", clients[i].retrans);
    add(columns, name, ".rtt m", rtt ? (gint64)(flow->rtt * 1000 + 0.5) : -1);
    add(columns, name, ".cwnd m", window ? flow->congestion * 1000 : -1);
  }
  post(meter, columns);
}
