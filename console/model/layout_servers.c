#include "model/layout_private.h"

#include <math.h>
#include <string.h>

#define MAX_CORES 4096
#define MAX_NFSD 65536
#define MAX_BYTES 0x1p60
#define MAX_RATE 10e12 /* bit/s */

/* Room for every port and bond that MAP could hold; readers count up as they go. */
static void
make_room(LayoutServer *server, const YamlNode *ports, const YamlNode *bonds)
{
  guint n = ports != NULL ? ports->n : 0;

  for (guint i = 0; bonds != NULL && i < bonds->n; i++) {
    const YamlNode *bond = bonds->items[i];
    const YamlNode *list = bond->kind == YAML_MAP ? yaml_get(bond, "ports") : NULL;
    n += list != NULL && list->kind == YAML_LIST ? list->n : 0;
  }
  server->ports = g_new0(LayoutPort, n);
  server->bonds = g_new0(LayoutBond, bonds != NULL ? bonds->n : 0);
}

static LayoutPort *
add_port(LayoutServer *server, const char *name)
{
  LayoutPort *port = &server->ports[server->n_ports++];

  port->name = g_strdup(name);
  port->bond = -1;
  return port;
}

static void
read_port(LayoutParser *parser, LayoutNode *node, const YamlNode *name, const YamlNode *map)
{
  static const char *const known[] = {"speed", "mac", NULL};

  if (!layout_check_name(parser, name, name->text) || !yaml_check_map(name, map, parser->errors))
    return;
  LayoutPort *port = add_port(node->as_server, name->text);
  yaml_check_keys(map, known, parser->errors);
  yaml_require(map, name, name->text, "speed", parser->errors);
  const YamlNode *speed = yaml_get_scalar(map, "speed", parser->errors);
  const YamlNode *mac = yaml_get_scalar(map, "mac", parser->errors);
  if (speed != NULL)
    layout_read_speed(parser, speed, &port->speed);
  if (mac != NULL && layout_read_mac(parser, mac, &port->mac)) {
    layout_use_mac(parser, node->id, port->name, &port->mac, mac);
    if (!node->has_mac)
      node->mac = port->mac;
    node->has_mac = TRUE;
  }
}

/* One port of the bond at INDEX; SPEED and the bond's MAC hold where the port has none. */
static void
enslave(LayoutParser *parser, LayoutNode *node, guint index, const YamlNode *item, double speed)
{
  LayoutServer *server = node->as_server;
  LayoutBond *bond = &server->bonds[index];

  if (item->kind != YAML_SCALAR) {
    yaml_errors_add(parser->errors, item, "a port's name is due");
    return;
  }
  if (!layout_check_name(parser, item, item->text))
    return;
  int found = layout_find_port(server, item->text);
  LayoutPort *port = found >= 0 ? &server->ports[found] : add_port(server, item->text);
  if (port->bond >= 0) {
    yaml_errors_add(parser->errors, item, "port %s is in %s already", item->text,
                    server->bonds[port->bond].name);
    return;
  }
  port->bond = index;
  port->mac = bond->mac;
  if (port->speed <= 0)
    port->speed = speed;
  bond->ports[bond->n_ports++] = port - server->ports;
}

static void
read_bond_ports(LayoutParser *parser, LayoutNode *node, guint index, const YamlNode *list,
                double speed)
{
  LayoutBond *bond = &node->as_server->bonds[index];

  if (list->n == 0 || list->n > LAYOUT_MAX_BOND_PORTS) {
    yaml_errors_add(parser->errors, list, "%s has %u ports: 1 to %d can be bonded", bond->name,
                    list->n, LAYOUT_MAX_BOND_PORTS);
    return;
  }
  bond->ports = g_new0(guint, list->n);
  for (guint i = 0; i < list->n; i++)
    enslave(parser, node, index, list->items[i], speed);
}

#define N_MODELLED 3 /* of the modes below; the others choose by what a layout does not know */

static void
read_mode(LayoutParser *parser, const YamlNode *value, LayoutBond *bond)
{
  static const char *const modes[] = {"balance-xor", "802.3ad",     "active-backup", "balance-rr",
                                      "broadcast",   "balance-tlb", "balance-alb",   NULL};
  guint mode;

  if (!yaml_read_choice(value, "mode", modes, &mode, parser->errors))
    return;
  if (mode >= N_MODELLED)
    yaml_errors_add(parser->errors, value, "mode %s cannot be modelled: %s, %s and %s can",
                    modes[mode], modes[0], modes[1], modes[2]);
  bond->mode = g_strdup(modes[mode]);
}

static void
read_hash(LayoutParser *parser, const YamlNode *map, LayoutBond *bond)
{
  const char *policies[BOND_VLAN_SRCMAC + 2] = {NULL}, *eras[BOND_ERA_5_18 + 2] = {NULL};
  const YamlNode *policy = yaml_get_scalar(map, "policy", parser->errors);
  const YamlNode *era = yaml_get_scalar(map, "era", parser->errors);
  guint index;

  for (guint i = 0; i <= BOND_VLAN_SRCMAC; i++)
    policies[i] = bond_policy_name(i);
  for (guint i = 0; i <= BOND_ERA_5_18; i++)
    eras[i] = bond_era_name(i);
  bond->policy = BOND_LAYER2; /* the driver's own default */
  bond->era = BOND_ERA_5_18;
  if (policy != NULL && yaml_read_choice(policy, "policy", policies, &index, parser->errors))
    bond->policy = index;
  if (era != NULL && yaml_read_choice(era, "era", eras, &index, parser->errors))
    bond->era = index;
}

static void
read_bond_address(LayoutParser *parser, const YamlNode *map, LayoutNode *node, LayoutBond *bond)
{
  const YamlNode *mac = yaml_get_scalar(map, "mac", parser->errors);
  const YamlNode *ip = yaml_get_scalar(map, "ip", parser->errors);
  gboolean has_mac = mac != NULL && layout_read_mac(parser, mac, &bond->mac);
  gboolean has_ip = ip != NULL && layout_read_ip(parser, ip, &bond->ip);

  if (has_mac)
    layout_use_mac(parser, node->id, bond->name, &bond->mac, mac);
  if (has_ip)
    layout_use_ip(parser, node->id, bond->name, bond->ip, ip);
  if (node->as_server->n_bonds > 1) /* the first bond speaks for the server */
    return;
  node->has_mac = has_mac;
  node->mac = bond->mac;
  node->has_ip = has_ip;
  node->ip = bond->ip;
}

static void
read_bond(LayoutParser *parser, LayoutNode *node, const YamlNode *name, const YamlNode *map)
{
  static const char *const known[] = {"ports", "speed", "mode", "policy", "era", "mac", "ip", NULL};
  static const char *const required[] = {"ports", "speed", "mode", "mac", "ip"};
  LayoutServer *server = node->as_server;

  if (!layout_check_name(parser, name, name->text) || !yaml_check_map(name, map, parser->errors))
    return;
  if (layout_find_port(server, name->text) >= 0) {
    yaml_errors_add(parser->errors, name, "%s is a port of %s already", name->text, node->name);
    return;
  }
  guint index = server->n_bonds++;
  LayoutBond *bond = &server->bonds[index];
  bond->name = g_strdup(name->text);
  yaml_check_keys(map, known, parser->errors);
  for (guint i = 0; i < G_N_ELEMENTS(required); i++)
    yaml_require(map, name, name->text, required[i], parser->errors);
  const YamlNode *mode = yaml_get_scalar(map, "mode", parser->errors);
  const YamlNode *speed = yaml_get_scalar(map, "speed", parser->errors);
  const YamlNode *ports = yaml_get_list(map, "ports", parser->errors);
  double bits = 0;
  if (mode != NULL)
    read_mode(parser, mode, bond);
  read_hash(parser, map, bond);
  read_bond_address(parser, map, node, bond);
  if (speed != NULL)
    layout_read_speed(parser, speed, &bits);
  if (ports != NULL)
    read_bond_ports(parser, node, index, ports, bits);
}

/* Without bonds the address stands at the server itself. */
static void
read_own_ip(LayoutParser *parser, const YamlNode *map, LayoutNode *node)
{
  const YamlNode *ip = yaml_get_scalar(map, "ip", parser->errors);

  if (ip == NULL)
    return;
  if (yaml_get(map, "bonds") != NULL) {
    yaml_errors_add(parser->errors, ip, "%s has bonds: the address belongs to one of them",
                    node->name);
    return;
  }
  node->has_ip = layout_read_ip(parser, ip, &node->ip);
  if (node->has_ip)
    layout_use_ip(parser, node->id, NULL, node->ip, ip);
}

static void
read_ports_and_bonds(LayoutParser *parser, const YamlNode *name, const YamlNode *map,
                     LayoutNode *node)
{
  const YamlNode *ports = yaml_get_map(map, "ports", parser->errors);
  const YamlNode *bonds = yaml_get_map(map, "bonds", parser->errors);

  make_room(node->as_server, ports, bonds);
  for (guint i = 0; ports != NULL && i < ports->n; i++)
    read_port(parser, node, ports->keys[i], ports->items[i]);
  for (guint i = 0; bonds != NULL && i < bonds->n; i++)
    read_bond(parser, node, bonds->keys[i], bonds->items[i]);
  if (yaml_get(map, "ports") == NULL && yaml_get(map, "bonds") == NULL)
    yaml_errors_add(parser->errors, name, "%s has no way to the network: give it bonds or ports",
                    name->text);
}

static void
read_resources(LayoutParser *parser, const YamlNode *map, LayoutServer *server)
{
  static const char *const known[] = {"rate", NULL};
  const YamlNode *cores = yaml_get_scalar(map, "cores", parser->errors);
  const YamlNode *nfsd = yaml_get_scalar(map, "nfsd", parser->errors);
  const YamlNode *memory = yaml_get_scalar(map, "memory", parser->errors);
  const YamlNode *ceiling = yaml_get_scalar(map, "transmit-ceiling", parser->errors);
  const YamlNode *disk = yaml_get_map(map, "disk", parser->errors);
  const YamlNode *rate = disk != NULL ? yaml_get_scalar(disk, "rate", parser->errors) : NULL;

  if (cores != NULL)
    yaml_read_count(cores, 1, MAX_CORES, &server->cores, parser->errors);
  if (nfsd != NULL)
    yaml_read_count(nfsd, 0, MAX_NFSD, &server->nfsd, parser->errors);
  if (memory != NULL)
    yaml_read_quantity(memory, DIMENSION_SIZE, 0, MAX_BYTES, &server->memory, parser->errors);
  if (ceiling != NULL)
    yaml_read_quantity(ceiling, DIMENSION_RATE, 1, MAX_RATE, &server->transmit_ceiling,
                       parser->errors);
  if (disk != NULL)
    yaml_check_keys(disk, known, parser->errors);
  if (rate != NULL &&
      yaml_read_quantity(rate, DIMENSION_RATE, 8, MAX_RATE, &server->disk_rate, parser->errors))
    server->disk_rate /= 8;
}

static void
read_place(LayoutParser *parser, const YamlNode *name, const YamlNode *map, LayoutNode *node)
{
  const YamlNode *at = yaml_get_scalar(map, "switch", parser->errors);
  const YamlNode *subnet = yaml_get_scalar(map, "subnet", parser->errors);
  const YamlNode *protected_value = yaml_get_scalar(map, "protected", parser->errors);
  const char *backend[ROLE_N];

  yaml_require(map, name, name->text, "switch", parser->errors);
  if (parser->layout->n_subnets > 0)
    yaml_require(map, name, name->text, "subnet", parser->errors);
  if (at != NULL)
    node->attached = layout_find_kind(parser, at, NODE_SWITCH);
  if (subnet != NULL)
    node->subnet = layout_find_subnet(parser, subnet);
  if (protected_value != NULL)
    yaml_read_bool(protected_value, &node->protected_node, parser->errors);
  memcpy(backend, parser->default_backend, sizeof backend);
  layout_read_backends(parser, map, backend);
  layout_set_backends(node, backend);
}

static void
read_server(LayoutParser *parser, const YamlNode *name, const YamlNode *map)
{
  static const char *const known[] = {
      "switch", "subnet", "cores",   "nfsd", "protected", "memory", "disk", "transmit-ceiling",
      "ports",  "bonds",  "exports", "ip",   "power",     "keys",   "exec", "console",
      "wake",   "meter",  "log",     NULL};
  LayoutNode *node = layout_add_node(parser, name, NODE_SERVER, name->text);

  if (node == NULL)
    return;
  node->as_server = g_new0(LayoutServer, 1);
  node->as_server->cores = 1;
  node->as_server->nfsd = 8; /* what nfs-utils starts with */
  node->as_server->transmit_ceiling = INFINITY;
  node->as_server->disk_rate = INFINITY;
  if (!yaml_check_map(name, map, parser->errors))
    return;
  yaml_check_keys(map, known, parser->errors);
  read_place(parser, name, map, node);
  read_resources(parser, map, node->as_server);
  read_ports_and_bonds(parser, name, map, node);
  read_own_ip(parser, map, node);
}

void
layout_read_servers(LayoutParser *parser)
{
  const YamlNode *map = yaml_get_map(parser->root, "servers", parser->errors);

  for (guint i = 0; map != NULL && i < map->n; i++)
    read_server(parser, map->keys[i], map->items[i]);
  for (guint i = 0; map != NULL && i < map->n; i++)
    layout_read_exports(parser, map->keys[i], map->items[i]);
}
