#include "backends/proc/proc_meter_private.h"

#include "model/units.h"

void
proc_meter_observe(ProcMeter *meter, NodeId node, const char *fact, const char *value)
{
  g_autofree char *key = g_strdup_printf("%s %s", layout_node(meter->layout, node)->name, fact);
  const char *before = g_hash_table_lookup(meter->observed, key);

  if (before && g_str_equal(before, value))
    return;
  g_hash_table_replace(meter->observed, g_steal_pointer(&key), g_strdup(value));
  meter->calls->observe(node, fact, value, meter->data);
}

static void
observe_part(ProcMeter *meter, const char *part, const char *what, const char *value)
{
  g_autofree char *fact = g_strconcat(part, what, NULL);
  proc_meter_observe(meter, meter->node->id, fact, value);
}

void
proc_see_release(ProcMeter *meter, const char *release)
{
  int era = proc_bond_era(release);
  const LayoutServer *server = meter->node->as_server;

  for (guint b = 0; server && era >= 0 && b < server->n_bonds; b++)
    observe_part(meter, server->bonds[b].name, ".era", bond_era_name((BondEra)era));
}

static void
see_port(ProcMeter *meter, const ProcBond *bond, guint i)
{
  const ProcBondPort *port = &bond->ports[i];

  if (layout_find_port(meter->node->as_server, port->name) < 0)
    return;
  observe_part(meter, port->name, ".state",
               proc_bond_port_sends(bond, i) ? "up"
               : port->up                    ? "inactive"
                                             : "down");
  if (port->speed > 0) {
    g_autofree char *speed = units_print((double)port->speed, DIMENSION_RATE);
    observe_part(meter, port->name, ".speed", speed);
  }
}

/* A port that the layout has in this bond and the kernel has not is none of its own: it was taken
 * out. */
static void
see_ports_gone(ProcMeter *meter, const ProcBond *bond)
{
  const LayoutServer *server = meter->node->as_server;
  int b = layout_find_bond(server, meter->bond);

  for (guint k = 0; b >= 0 && k < server->bonds[b].n_ports; k++) {
    const char *name = server->ports[server->bonds[b].ports[k]].name;
    gboolean there = FALSE;
    for (guint i = 0; i < bond->n_ports; i++)
      there = there || g_str_equal(bond->ports[i].name, name);
    if (!there)
      observe_part(meter, name, ".state", "inactive");
  }
}

void
proc_see_bond(ProcMeter *meter)
{
  ProcBond bond;

  if (!meter->bond)
    return;
  if (proc_bond_parse(meter->bond_text->str, &bond)) {
    if (*bond.mode)
      observe_part(meter, meter->bond, ".mode", bond.mode);
    if (*bond.policy)
      observe_part(meter, meter->bond, ".policy", bond.policy);
    for (guint i = 0; i < bond.n_ports; i++)
      see_port(meter, &bond, i);
    see_ports_gone(meter, &bond);
  }
  g_clear_pointer(&meter->bond, g_free);
  g_string_truncate(meter->bond_text, 0);
}

void
proc_see_nfsd(ProcMeter *meter, const char *line)
{
  guint64 number;

  if (proc_nfsd_calls_parse(line, &number)) {
    proc_count_add(&meter->calls_count, number);
    meter->has_calls = TRUE;
  } else if (proc_nfsd_threads_parse(line, &number)) {
    g_autofree char *threads = g_strdup_printf("%" G_GUINT64_FORMAT, number);
    proc_meter_observe(meter, meter->node->id, "nfsd", threads);
  }
}

static char *
end_text(guint32 ip, guint16 port)
{
  return g_strdup_printf("%u.%u.%u.%u:%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255, port);
}

void
proc_see_flows(ProcMeter *meter)
{
  guint n;
  const ProcClient *clients = proc_flows_clients(meter->flows, &n);

  for (guint i = 0; i < n; i++) {
    if (!clients[i].moved)
      continue;
    const ProcSocket *flow = &clients[i].flow;
    g_autofree char *here = end_text(flow->local, flow->local_port);
    g_autofree char *there = end_text(flow->peer, flow->peer_port);
    g_autofree char *text = g_strdup_printf("%s %s", here, there);
    proc_meter_observe(meter, clients[i].node, "flow", clients[i].flows ? text : "none");
  }
}
