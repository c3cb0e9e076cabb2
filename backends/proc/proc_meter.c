#include "backends/proc/proc_meter_private.h"

#include "backends/proc/proc_loop.h"
#include "backends/proc/proc_scan.h"

/* Sockets and bonds change less than counters do, and cost more. */
#define SLOW G_USEC_PER_SEC
#define LINES_MAX 100000
#define BOND_BYTES_MAX 65536
#define DISKS_MAX 1024
#define OTHERS_BYTES 200
/* Lines outside any answer that are passed over: of a shell that greets, or complains. */
#define FOREIGN_MAX 100

static void
add_interface(ProcMeter *meter, const char *name, char *column)
{
  meter->interfaces[meter->n_interfaces++] = (ProcInterface){.name = name, .column = column};
}

static void
add_server(ProcMeter *meter, gboolean sockets)
{
  const LayoutServer *server = meter->node->as_server;

  for (guint p = 0; p < server->n_ports; p++)
    add_interface(meter, server->ports[p].name,
                  g_strconcat(meter->node->name, "/", server->ports[p].name, NULL));
  for (guint b = 0; b < server->n_bonds; b++)
    g_ptr_array_add(meter->bonds, server->bonds[b].name);
  if (sockets)
    meter->flows = proc_flows_new(meter->layout, meter->node->id);
}

ProcMeter *
proc_meter_new(const Layout *layout, NodeId node, const char *source, const char *interface,
               gboolean sockets, const ProcMeterCalls *calls, gpointer data)
{
  ProcMeter *meter = g_new0(ProcMeter, 1);

  meter->layout = layout;
  meter->node = layout_node(layout, node);
  meter->calls = calls;
  meter->data = data;
  meter->interface = g_strdup(interface);
  meter->bonds = g_ptr_array_new();
  meter->others = g_string_new(NULL);
  meter->bond_text = g_string_new(NULL);
  meter->disks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  meter->observed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  meter->slow_asked = G_MININT64 / 2;
  meter->net = PROC_ASK_SYS | PROC_ASK_DEV;
  proc_sockets_init(&meter->sockets);
  proc_columns_init(&meter->own, g_strdup(source));
  proc_columns_init(&meter->clients, g_strconcat(source, "/sockets", NULL));
  guint n = meter->node->as_server ? meter->node->as_server->n_ports : 1;
  meter->interfaces = g_new0(ProcInterface, n + 1);
  if (meter->node->as_server)
    add_server(meter, sockets);
  else
    add_interface(meter, meter->interface, g_strdup(meter->node->name));
  g_ptr_array_add(meter->bonds, NULL);
  return meter;
}

void
proc_meter_free(ProcMeter *meter)
{
  if (!meter)
    return;
  for (guint i = 0; i < meter->n_interfaces; i++)
    g_free(meter->interfaces[i].column);
  g_free(meter->interfaces);
  g_free(meter->interface);
  g_free(meter->bond);
  g_ptr_array_unref(meter->bonds);
  g_string_free(meter->others, TRUE);
  g_string_free(meter->bond_text, TRUE);
  g_hash_table_unref(meter->disks);
  g_hash_table_unref(meter->observed);
  proc_sockets_clear(&meter->sockets);
  proc_flows_free(meter->flows);
  proc_columns_clear(&meter->own);
  proc_columns_clear(&meter->clients);
  g_free(meter);
}

char *
proc_meter_command(const ProcMeter *meter)
{
  g_autofree const char **names = g_new0(const char *, meter->n_interfaces + 1);

  for (guint i = 0; i < meter->n_interfaces; i++)
    names[i] = meter->interfaces[i].name;
  return proc_loop_command(names, (const char *const *)meter->bonds->pdata);
}

gboolean
proc_meter_ask(ProcMeter *meter, gint64 now, GString *line)
{
  if (meter->waiting)
    return FALSE;
  meter->waiting = TRUE;
  meter->asked = now;
  meter->ask = meter->net;
  if (meter->node->as_server) {
    meter->ask |= PROC_ASK_SERVER;
    /* A tick that comes a little early is on time. */
    if (now - meter->slow_asked >= SLOW - SLOW / 20) {
      meter->slow_asked = now;
      meter->ask |= PROC_ASK_BONDS | (meter->flows ? PROC_ASK_SOCKETS : 0);
    }
  }
  proc_loop_ask(line, ++meter->token, meter->ask);
  return TRUE;
}

/* ---- An answer ----------------------------------------------------------------------------- */

static ProcInterface *
find_interface(ProcMeter *meter, const char *name)
{
  for (guint i = 0; i < meter->n_interfaces; i++)
    if (g_str_equal(meter->interfaces[i].name, name))
      return &meter->interfaces[i];
  return NULL;
}

/* `eth0 1 2 3 4`: the numbers are its last four words, whatever the name is. */
static void
see_sys(ProcMeter *meter, const char *line)
{
  for (guint i = 0; i < meter->n_interfaces; i++) {
    ProcInterface *interface = &meter->interfaces[i];
    guint64 values[4];
    const char *at = line + strlen(interface->name);
    if (!g_str_has_prefix(line, interface->name) ||
        !proc_take_numbers(&at, values, G_N_ELEMENTS(values)) || *at)
      continue;
    interface->now = (ProcCounters){values[0], values[1], values[2], values[3]};
    interface->seen = TRUE;
  }
}

static void
see_dev(ProcMeter *meter, const char *line)
{
  char name[PROC_NAME_BYTES];
  ProcCounters counters;

  if (!proc_net_parse(line, name, &counters))
    return;
  ProcInterface *interface = find_interface(meter, name);
  if (interface) {
    interface->file = counters;
    interface->in_file = TRUE;
  } else if (meter->others->len < OTHERS_BYTES && !g_str_equal(name, "lo")) {
    g_string_append_printf(meter->others, "%s%s", meter->others->len ? ", " : "", name);
  }
}

static void
see_disk(ProcMeter *meter, const char *line)
{
  gsize length = strcspn(line, " ");
  g_autofree char *name = g_strndup(line, length);
  guint64 bytes;

  if (!proc_disk_parse(line + length, &bytes))
    return;
  ProcCount *disk = g_hash_table_lookup(meter->disks, name);
  if (!disk) {
    if (g_hash_table_size(meter->disks) == DISKS_MAX)
      return;
    disk = g_new0(ProcCount, 1);
    g_hash_table_insert(meter->disks, g_steal_pointer(&name), disk);
  }
  proc_count_add(disk, bytes);
  meter->has_disk = TRUE;
}

static void
see_pool(ProcMeter *meter, const char *line)
{
  guint64 waits;

  if (!proc_nfsd_pool_parse(line, &waits))
    return;
  meter->waits += waits;
  meter->has_waits = TRUE;
}

static void
begin_answer(ProcMeter *meter)
{
  meter->answering = TRUE;
  meter->n_lines = 0;
  meter->has_load = meter->has_disk = meter->has_calls = meter->has_waits = FALSE;
  meter->waits = 0;
  meter->sockets_listed = FALSE;
  g_string_truncate(meter->others, 0);
  for (guint i = 0; i < meter->n_interfaces; i++)
    meter->interfaces[i].seen = meter->interfaces[i].in_file = FALSE;
}

/* /proc/net/dev was read after /sys/class/net: it is the same interface when nothing of it went
 * back, and not more came in between than a second of the fastest line could bring. */
static gboolean
is_same(const ProcInterface *interface)
{
  const ProcCounters *sys = &interface->now, *file = &interface->file;
  const guint64 most = G_GUINT64_CONSTANT(50000000000);

  return interface->seen && file->rx_bytes - sys->rx_bytes < most &&
         file->tx_bytes - sys->tx_bytes < most && file->rx_packets - sys->rx_packets < most / 64 &&
         file->tx_packets - sys->tx_packets < most / 64;
}

static void
settle_net(ProcMeter *meter)
{
  gboolean both = (meter->ask & PROC_ASK_SYS) && (meter->ask & PROC_ASK_DEV), same = TRUE;

  for (guint i = 0; i < meter->n_interfaces; i++) {
    ProcInterface *interface = &meter->interfaces[i];
    if (interface->in_file && both)
      same = same && is_same(interface);
    if (meter->ask & PROC_ASK_DEV) {
      interface->seen = interface->in_file;
      interface->now = interface->file;
    }
  }
  if (both)
    meter->net = same ? PROC_ASK_SYS : PROC_ASK_DEV;
}

static void
tell_missing(ProcMeter *meter, ProcInterface *interface)
{
  interface->told = TRUE;
  interface->net.begun = FALSE;
  g_autofree char *text =
      meter->others->len
          ? g_strdup_printf("%s has no interface %s to meter; it has %s", meter->node->name,
                            interface->name, meter->others->str)
          : g_strdup_printf("%s has no interface %s to meter", meter->node->name, interface->name);
  meter->calls->note(text, meter->data);
}

static void
count_net(ProcMeter *meter)
{
  settle_net(meter);
  for (guint i = 0; i < meter->n_interfaces; i++) {
    ProcInterface *interface = &meter->interfaces[i];
    if (interface->seen) {
      interface->told = FALSE;
      proc_net_add(&interface->net, &interface->now);
    } else if (!interface->told) {
      tell_missing(meter, interface);
    }
  }
}

static void
end_answer(ProcMeter *meter, gint64 now)
{
  meter->answering = meter->waiting = FALSE;
  proc_see_bond(meter);
  count_net(meter);
  if (meter->has_waits)
    proc_count_add(&meter->waits_count, meter->waits);
  proc_columns_post(meter, now - meter->asked);
  if (!meter->sockets_listed)
    return;
  proc_flows_add(meter->flows, (const ProcSocket *)(gpointer)meter->sockets.sockets->data,
                 meter->sockets.sockets->len);
  proc_columns_post_clients(meter);
  proc_see_flows(meter);
}

static void
end_sockets(ProcMeter *meter, const char *status)
{
  meter->in_sockets = FALSE;
  meter->sockets_listed = g_str_equal(status, "0");
  if (meter->sockets_listed || meter->sockets_told)
    return;
  meter->sockets_told = TRUE;
  g_autofree char *text =
      g_strdup_printf("%s: ss -tin ended with %s: its connections are not metered",
                      meter->node->name, g_str_equal(status, "127") ? "127 (not found)" : status);
  meter->calls->note(text, meter->data);
}

static void
see_line(ProcMeter *meter, char kind, const char *rest)
{
  switch (kind) {
  case 'n':
    see_sys(meter, rest);
    break;
  case 'N':
    see_dev(meter, rest);
    break;
  case 'l':
    meter->has_load = proc_load_parse(rest, &meter->load);
    break;
  case 'd':
    see_disk(meter, rest);
    break;
  case 'r':
    proc_see_nfsd(meter, rest);
    break;
  case 'p':
    see_pool(meter, rest);
    break;
  case 'b':
    proc_see_bond(meter);
    if (meter->node->as_server && layout_find_bond(meter->node->as_server, rest) >= 0)
      meter->bond = g_strdup(rest);
    break;
  case ':':
    if (meter->bond && meter->bond_text->len + strlen(rest) < BOND_BYTES_MAX)
      g_string_append_printf(meter->bond_text, "%s\n", rest);
    break;
  default: /* a newer loop's, or the shell's own */
    break;
  }
}

static gboolean
is_token(const ProcMeter *meter, const char *text)
{
  guint64 token;
  return meter->waiting && proc_take_number(&text, &token) && !*text && token == meter->token;
}

static gboolean
refuse(const ProcMeter *meter, const char *line, GError **error)
{
  g_set_error(error, g_quark_from_static_string("pult-proc"), 0,
              "%s answers `%.60s` instead of its counters", meter->node->name, line);
  return FALSE;
}

gboolean
proc_meter_line(ProcMeter *meter, gint64 now, const char *line, GError **error)
{
  const char *rest = *line && line[1] == ' ' ? line + 2 : line + !!*line;

  if (!meter->answering) {
    if (*line == '@' && is_token(meter, rest))
      begin_answer(meter);
    else if (*line == 'k')
      proc_see_release(meter, rest);
    else if (++meter->n_foreign > FOREIGN_MAX)
      return refuse(meter, line, error);
    return TRUE;
  }
  if (++meter->n_lines > LINES_MAX)
    return refuse(meter, line, error);
  if (meter->in_sockets && *line != 'S')
    proc_sockets_line(&meter->sockets, line);
  else if (meter->in_sockets)
    end_sockets(meter, rest);
  else if (*line == '.' && is_token(meter, rest))
    end_answer(meter, now);
  else if (*line == '@' || *line == '.')
    return refuse(meter, line, error);
  else if (*line == 's' && meter->flows) {
    proc_sockets_begin(&meter->sockets);
    meter->in_sockets = TRUE;
  } else
    see_line(meter, *line, rest);
  return TRUE;
}
