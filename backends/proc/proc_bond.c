#include "backends/proc/proc_bond.h"

#include "backends/proc/proc_scan.h"

static const struct {
  const char *words, *name;
} modes[] = {
    {"load balancing (round-robin)", "balance-rr"},
    {"load balancing (xor)", "balance-xor"},
    {"fault-tolerance (active-backup)", "active-backup"},
    {"fault-tolerance (broadcast)", "broadcast"},
    {"IEEE 802.3ad Dynamic link aggregation", "802.3ad"},
    {"transmit load balancing", "balance-tlb"},
    {"adaptive load balancing", "balance-alb"},
};

/* One word of LINE; FALSE and "" when it has no place. */
static gboolean
copy_word(char *to, gsize size, const char *line)
{
  gsize length = strcspn(line, " \t");

  g_strlcpy(to, length < size ? line : "", MIN(size, length + 1));
  return length > 0 && length < size;
}

static int
number_or_none(const char *text)
{
  guint64 value;
  return proc_take_number(&text, &value) && value <= G_MAXINT ? (int)value : -1;
}

static gboolean
is_up(const char *status)
{
  return g_str_equal(status, "up") || g_str_equal(status, "going down");
}

/* `1000 Mbps`; before 2.6.39 a speed that is not known is 65535 or 4294967295. */
static gint64
read_speed(const char *text)
{
  guint64 value;
  if (!proc_take_number(&text, &value) || value == 0 || value == G_MAXUINT16 || value >= G_MAXINT32)
    return -1;
  return (gint64)value * 1000000;
}

static void
read_bond_line(ProcBond *bond, const char *line)
{
  const char *rest;

  if ((rest = proc_after(line, "Bonding Mode:")) != NULL) {
    for (guint i = 0; i < G_N_ELEMENTS(modes); i++)
      if (g_str_has_prefix(rest, modes[i].words))
        g_strlcpy(bond->mode, modes[i].name, sizeof bond->mode);
  } else if ((rest = proc_after(line, "Transmit Hash Policy:")) != NULL) {
    copy_word(bond->policy, sizeof bond->policy, rest);
  } else if ((rest = proc_after(line, "Currently Active Slave:")) != NULL) {
    if (!g_str_equal(rest, "None"))
      copy_word(bond->active, sizeof bond->active, rest);
  } else if ((rest = proc_after(line, "MII Status:")) != NULL) {
    bond->up = is_up(rest);
  } else if ((rest = proc_after(line, "Aggregator ID:")) != NULL) {
    bond->aggregator = number_or_none(rest);
  }
}

static void
read_port_line(ProcBondPort *port, const char *line)
{
  const char *rest;

  if ((rest = proc_after(line, "MII Status:")) != NULL)
    port->up = is_up(rest);
  else if ((rest = proc_after(line, "Speed:")) != NULL)
    port->speed = read_speed(rest);
  else if ((rest = proc_after(line, "Link Failure Count:")) != NULL)
    proc_take_number(&rest, &port->link_failures);
  else if ((rest = proc_after(line, "Aggregator ID:")) != NULL)
    port->aggregator = number_or_none(rest);
}

static gboolean
begin_port(ProcBond *bond, const char *name)
{
  ProcBondPort port = {.speed = -1, .aggregator = -1};

  if (bond->n_ports == PROC_BOND_MAX_PORTS || !copy_word(port.name, sizeof port.name, name))
    return FALSE;
  bond->ports[bond->n_ports++] = port;
  return TRUE;
}

gboolean
proc_bond_parse(const char *text, ProcBond *bond)
{
  ProcBondPort *port = NULL;
  gboolean headed = FALSE, beyond = FALSE;

  *bond = (ProcBond){.aggregator = -1};
  while (*text) {
    gsize length = strcspn(text, "\n");
    g_autofree char *copy = g_strndup(text, length);
    const char *line = g_strchomp(copy), *rest;
    line += strspn(line, " \t");
    text += length + (text[length] == '\n');
    if ((rest = proc_after(line, "Ethernet Channel Bonding Driver:")) != NULL) {
      headed = TRUE;
      copy_word(bond->version, sizeof bond->version, rest);
    } else if ((rest = proc_after(line, "Slave Interface:")) != NULL) {
      beyond = !begin_port(bond, rest);
      port = beyond ? NULL : &bond->ports[bond->n_ports - 1];
    } else if (port != NULL) {
      read_port_line(port, line);
    } else if (!beyond) {
      read_bond_line(bond, line);
    }
  }
  return headed;
}

gboolean
proc_bond_port_sends(const ProcBond *bond, guint i)
{
  const ProcBondPort *port = &bond->ports[i];

  if (!port->up)
    return FALSE;
  if (g_str_equal(bond->mode, "802.3ad"))
    return bond->aggregator >= 0 && port->aggregator == bond->aggregator;
  if (g_str_equal(bond->mode, "active-backup"))
    return g_str_equal(bond->active, port->name);
  return TRUE;
}

int
proc_bond_era(const char *release)
{
  guint64 major, minor, patch = 0;
  const char *at = release;

  if (!proc_take_number(&at, &major) || *at++ != '.' || !proc_take_number(&at, &minor) ||
      strstr(release, ".el"))
    return -1;
  if (*at == '.')
    at++;
  proc_take_number(&at, &patch);
  if (major < 3 || (major == 3 && minor < 13))
    return major == 2 && (minor != 6 || patch < 20) ? -1 : BOND_ERA_2_6_32;
  if (major < 4 || (major == 4 && minor < 14))
    return BOND_ERA_3_13;
  if (major < 5 || (major == 5 && minor < 18))
    return -1;
  return BOND_ERA_5_18;
}
