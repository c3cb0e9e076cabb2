#include "core/core_map.h"

#include "model/units.h"

#include <math.h>

static void
map_backends(CoreMap *map)
{
  const Layout *layout = map->layout;
  GPtrArray *names = g_ptr_array_new();
  for (int role = 0; role < ROLE_N; role++)
    map->backend[role] = g_new(int, layout->n_nodes);
  for (NodeId id = 0; id < layout->n_nodes; id++) {
    for (int role = 0; role < ROLE_N; role++) {
      const char *name = g_intern_string(layout->nodes[id].backend[role]);
      guint index = 0;
      if (!name) {
        map->backend[role][id] = -1;
        continue;
      }
      if (!g_ptr_array_find(names, name, &index)) {
        index = names->len;
        g_ptr_array_add(names, (gpointer)name);
      }
      map->backend[role][id] = (int)index;
    }
  }
  map->n_backends = names->len;
  map->backends = (const char **)g_ptr_array_free(names, FALSE);
}

/* Without a power backend of its own a machine may be switched by whoever wakes it, and over exec
 * where the layout gives the commands; then its exec's answering shows that it is on. */
static int
find_doer(const CoreMap *map, NodeId id, Operation operation)
{
  const Layout *layout = map->layout;
  int power = map->backend[ROLE_POWER][id], wake = map->backend[ROLE_WAKE][id];
  int exec = map->backend[ROLE_EXEC][id];
  if (operation == OP_ON)
    return wake >= 0 ? wake : power;
  if (power >= 0 || operation == OP_BOOT_DEVICE)
    return power;
  g_autofree char *off = layout_control(layout, id, "off", "run", NULL);
  g_autofree char *soft = layout_control(layout, id, "soft-off", "run", NULL);
  g_autofree char *reset = layout_control(layout, id, "reset", "run", NULL);
  gboolean can = operation == OP_OFF     ? off || soft
                 : operation == OP_RESET ? reset != NULL
                                         : off || soft || reset || wake >= 0;
  return can ? exec : -1;
}

static void
map_doers(CoreMap *map)
{
  for (Operation operation = OP_STATUS; operation <= OP_BOOT_DEVICE; operation++) {
    map->doer[operation] = g_new(int, map->layout->n_nodes);
    for (NodeId id = 0; id < map->layout->n_nodes; id++)
      map->doer[operation][id] = find_doer(map, id, operation);
  }
}

static const char *
type_of(const CoreMap *map, int backend)
{
  const LayoutBackend *settings =
      backend >= 0 ? layout_backend(map->layout, map->backends[backend]) : NULL;
  return backend < 0        ? NULL
         : settings == NULL ? map->backends[backend]
                            : layout_backend_type(settings);
}

/* A machine's own log, and who asks at its ports, tell of it alone; a server's log may tell of
 * anybody, and the simulator of whom it switches. */
static void
map_told(CoreMap *map)
{
  const Layout *layout = map->layout;
  gboolean all = FALSE;
  map->told = g_new(gboolean, layout->n_nodes);
  for (NodeId id = 0; id < layout->n_nodes; id++)
    all = all || (layout->nodes[id].kind != NODE_CLIENT && map->backend[ROLE_LOG][id] >= 0);
  for (NodeId id = 0; id < layout->n_nodes; id++)
    map->told[id] = all || map->backend[ROLE_LOG][id] >= 0 ||
                    (layout->watch_consoles && map->backend[ROLE_CONSOLE][id] >= 0) ||
                    g_strcmp0(type_of(map, map->backend[ROLE_POWER][id]), "sim") == 0;
}

static void
map_patience(CoreMap *map)
{
  static const char *const keys[] = {
      [DEADLINE_STATUS] = "deadline.status",     [DEADLINE_ON] = "deadline.on",
      [DEADLINE_OFF] = "deadline.off",           [DEADLINE_RESET] = "deadline.reset",
      [DEADLINE_SOFT_OFF] = "deadline.soft-off",
  };
  for (DeadlineKind kind = DEADLINE_STATUS; kind <= DEADLINE_SOFT_OFF; kind++) {
    map->patience[kind] = g_new(gint64, MAX(map->n_backends, 1));
    for (guint i = 0; i < map->n_backends; i++) {
      const LayoutBackend *backend = layout_backend(map->layout, map->backends[i]);
      gint64 own = backend ? layout_setting_time(map->layout, backend, NODE_NONE, keys[kind]) : 0;
      map->patience[kind][i] = own > 0 ? own : map->layout->deadline[kind];
    }
  }
}

gint64
core_map_patience(const CoreMap *map, guint backend, DeadlineKind kind)
{
  return map->patience[kind][backend];
}

static char *
limit_text(double rate)
{
  return isfinite(rate) ? units_print_in(rate, "Mbit/s") : g_strdup("none");
}

static void
map_servers(CoreMap *map)
{
  const Layout *layout = map->layout;
  map->first_bond = g_new(guint, layout->n_nodes);
  map->first_port = g_new(guint, layout->n_nodes);
  map->nfsd = g_new0(char *, layout->n_nodes);
  map->ceiling = g_new0(char *, layout->n_nodes);
  map->disk_rate = g_new0(char *, layout->n_nodes);
  for (NodeId id = 0; id < layout->n_nodes; id++) {
    const LayoutServer *server = layout->nodes[id].as_server;
    map->first_bond[id] = map->n_bonds;
    map->first_port[id] = map->n_ports;
    if (!server)
      continue;
    map->n_bonds += server->n_bonds;
    map->n_ports += server->n_ports;
    map->nfsd[id] = g_strdup_printf("%u", server->nfsd);
    map->ceiling[id] = limit_text(server->transmit_ceiling);
    map->disk_rate[id] = limit_text(server->disk_rate * 8);
    if (map->server == NODE_NONE)
      map->server = id;
  }
}

static void
map_clients(CoreMap *map)
{
  const Layout *layout = map->layout;
  map->clients = g_new(NodeId, layout->n_nodes);
  map->mac = g_new0(char *, layout->n_nodes);
  for (NodeId id = 0; id < layout->n_nodes; id++) {
    const LayoutNode *node = &layout->nodes[id];
    if (node->has_mac)
      map->mac[id] = mac_print(&node->mac);
    if (node->kind == NODE_CLIENT)
      map->clients[map->n_clients++] = id;
  }
  if (map->n_clients && layout->nodes[map->clients[0]].server != NODE_NONE)
    map->server = layout->nodes[map->clients[0]].server;
}

CoreMap *
core_map_new(const Layout *layout)
{
  CoreMap *map = g_rc_box_new0(CoreMap);
  map->layout = layout;
  map->server = NODE_NONE;
  map_backends(map);
  map_doers(map);
  map_told(map);
  map_patience(map);
  map_servers(map);
  map_clients(map);
  return map;
}

CoreMap *
core_map_ref(CoreMap *map)
{
  return g_rc_box_acquire(map);
}

static void
map_clear(gpointer data)
{
  CoreMap *map = data;
  for (NodeId id = 0; id < map->layout->n_nodes; id++) {
    g_free(map->mac[id]);
    g_free(map->nfsd[id]);
    g_free(map->ceiling[id]);
    g_free(map->disk_rate[id]);
  }
  for (int role = 0; role < ROLE_N; role++)
    g_free(map->backend[role]);
  for (Operation operation = OP_STATUS; operation <= OP_BOOT_DEVICE; operation++)
    g_free(map->doer[operation]);
  for (DeadlineKind kind = DEADLINE_STATUS; kind <= DEADLINE_SOFT_OFF; kind++)
    g_free(map->patience[kind]);
  g_free(map->backends);
  g_free(map->told);
  g_free(map->first_bond);
  g_free(map->first_port);
  g_free(map->clients);
  g_free(map->mac);
  g_free(map->nfsd);
  g_free(map->ceiling);
  g_free(map->disk_rate);
}

void
core_map_unref(CoreMap *map)
{
  g_rc_box_release_full(map, map_clear);
}

int
core_map_backend(const CoreMap *map, const char *name)
{
  for (guint i = 0; i < map->n_backends; i++)
    if (g_str_equal(map->backends[i], name))
      return (int)i;
  return -1;
}
