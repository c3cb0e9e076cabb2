#include <math.h>
#include <string.h>

#include "backends/sim/sim_private.h"
#include "model/units.h"

/* A property's place, as `path` = node's name + [`/` part] + `.` + name, and for links
 * `link:` name `.state`. Its fact is the path within its node. */

#define MAX_NFSD 65536
#define MAX_NAME 64

static const char *const usages[] = {"free", "in use", "unknown", NULL};

static char *
print_fact(const Sim *sim, const Property *property)
{
  const LayoutServer *server = sim->layout->nodes[property->node].as_server;
  switch (property->kind) {
  case PROPERTY_NFSD:
    return g_strdup("nfsd");
  case PROPERTY_CEILING:
    return g_strdup("transmit-ceiling");
  case PROPERTY_DISK_RATE:
    return g_strdup("disk-rate");
  case PROPERTY_POLICY:
    return g_strconcat(server->bonds[property->index].name, ".policy", NULL);
  case PROPERTY_ERA:
    return g_strconcat(server->bonds[property->index].name, ".era", NULL);
  case PROPERTY_PORT_STATE:
    return g_strconcat(server->ports[property->index].name, ".state", NULL);
  case PROPERTY_CLIENT_STATE:
    return g_strdup("eth0.state");
  case PROPERTY_MAC:
    return g_strdup("mac");
  case PROPERTY_USAGE:
    return g_strdup("usage");
  case PROPERTY_LINK_STATE:
    return g_strconcat("link:", sim->layout->links[property->index].name, ".state", NULL);
  }
  g_assert_not_reached();
}

static char *
print_path(const Sim *sim, const Property *property)
{
  g_autofree char *fact = print_fact(sim, property);
  if (property->kind == PROPERTY_LINK_STATE)
    return g_steal_pointer(&fact);
  const char *separator = strchr(fact, '.') ? "/" : ".";
  return g_strconcat(sim_name(sim, property->node), separator, fact, NULL);
}

static void
add_property(GArray *all, PropertyKind kind, NodeId node, guint index)
{
  Property property = {kind, node, index};
  g_array_append_val(all, property);
}

static void
list_node(const Sim *sim, NodeId node, GArray *all)
{
  const LayoutServer *server = sim->layout->nodes[node].as_server;
  if (sim->layout->nodes[node].kind == NODE_CLIENT) {
    add_property(all, PROPERTY_CLIENT_STATE, node, 0);
    add_property(all, PROPERTY_MAC, node, 0);
    add_property(all, PROPERTY_USAGE, node, 0);
  }
  if (server == NULL)
    return;
  add_property(all, PROPERTY_NFSD, node, 0);
  add_property(all, PROPERTY_CEILING, node, 0);
  add_property(all, PROPERTY_DISK_RATE, node, 0);
  for (guint i = 0; i < server->n_bonds; i++) {
    add_property(all, PROPERTY_POLICY, node, i);
    add_property(all, PROPERTY_ERA, node, i);
  }
  for (guint i = 0; i < server->n_ports; i++)
    add_property(all, PROPERTY_PORT_STATE, node, i);
}

/* The properties of the node that PATH begins with, or of the links; of all when it begins with
 * nothing known, so that the nearest can be named. A name may hold points. */
static GArray *
list_candidates(const Sim *sim, const char *path)
{
  GArray *all = g_array_new(FALSE, FALSE, sizeof(Property));
  for (const char *end = path; *end != '\0' && end - path <= MAX_NAME; end++) {
    if (*end != '.' && *end != '/')
      continue;
    g_autofree char *name = g_strndup(path, (gsize)(end - path));
    NodeId node = layout_find(sim->layout, name);
    if (node != NODE_NONE)
      list_node(sim, node, all);
  }
  if (all->len > 0)
    return all;
  for (guint i = 0; i < sim->layout->n_links; i++)
    add_property(all, PROPERTY_LINK_STATE, sim->layout->links[i].from, i);
  if (!g_str_has_prefix(path, "link:"))
    for (NodeId i = 0; i < sim->layout->n_nodes; i++)
      list_node(sim, i, all);
  return all;
}

static gboolean
find_property(const Sim *sim, const char *path, Property *property, GError **error)
{
  g_autoptr(GArray) all = list_candidates(sim, path);
  g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < all->len; i++) {
    *property = g_array_index(all, Property, i);
    g_ptr_array_add(paths, print_path(sim, property));
    if (g_str_equal(g_ptr_array_index(paths, i), path))
      return TRUE;
  }
  g_ptr_array_add(paths, NULL);
  const char *nearest = units_nearest_word(path, (const char *const *)paths->pdata);
  g_autofree char *quoted = sim_request_quote(path);
  g_autofree char *hint = nearest ? g_strdup_printf("; did you mean %s?", nearest) : g_strdup("");
  g_set_error(error, LAYOUT_ERROR, 0, "no property `%s`%s", quoted, hint);
  return FALSE;
}

/* Shortest text in Gbit/s that reads back as the same rate, so that what was got can be set. */
static char *
print_rate(double rate)
{
  char *text = NULL;
  if (rate == INFINITY)
    return g_strdup("none");
  for (guint decimals = 0; decimals <= 15; decimals++) {
    g_autofree char *number = units_fixed(rate / 1e9, decimals);
    double back;
    g_free(text);
    text = g_strconcat(number, " Gbit/s", NULL);
    if (units_parse_as(text, DIMENSION_RATE, &back, NULL) && back == rate)
      break;
  }
  return text;
}

static char *
print_value(const Sim *sim, const Property *property)
{
  const SimNode *node = &sim->nodes[property->node];
  switch (property->kind) {
  case PROPERTY_NFSD:
    return g_strdup_printf("%u", node->nfsd);
  case PROPERTY_CEILING:
    return print_rate(node->ceiling);
  case PROPERTY_DISK_RATE:
    return print_rate(node->disk_rate * 8);
  case PROPERTY_POLICY:
    return g_strdup(bond_policy_name(node->bonds[property->index].policy));
  case PROPERTY_ERA:
    return g_strdup(bond_era_name(node->bonds[property->index].era));
  case PROPERTY_PORT_STATE:
    return g_strdup(node->ports_up[property->index] ? "up" : "down");
  case PROPERTY_CLIENT_STATE:
    return g_strdup(node->port_up ? "up" : "down");
  case PROPERTY_MAC:
    return mac_print(&node->mac);
  case PROPERTY_USAGE:
    return g_strdup(usages[node->usage]);
  case PROPERTY_LINK_STATE:
    return g_strdup(sim->world.links_up[property->index] ? "up" : "down");
  }
  g_assert_not_reached();
}

void
sim_property_observe(Sim *sim, const Property *property)
{
  g_autofree char *fact = print_fact(sim, property);
  g_autofree char *value = print_value(sim, property);
  sim_observe(sim, property->node, fact, value);
}

static gboolean
read_word(const char *what, const char *value, const char *const *words, guint *index,
          GError **error)
{
  for (guint i = 0; words[i] != NULL; i++) {
    if (g_str_equal(words[i], value)) {
      *index = i;
      return TRUE;
    }
  }
  const char *nearest = units_nearest_word(value, words);
  g_autofree char *known = g_strjoinv(", ", (char **)words);
  g_autofree char *quoted = sim_request_quote(value);
  g_autofree char *hint = nearest ? g_strdup_printf("did you mean %s?", nearest)
                                  : g_strdup_printf("there are %s", known);
  g_set_error(error, LAYOUT_ERROR, 0, "no %s `%s`; %s", what, quoted, hint);
  return FALSE;
}

static gboolean
read_state(const char *value, gboolean *up, GError **error)
{
  static const char *const words[] = {"down", "up", NULL};
  guint index;
  if (!read_word("state", value, words, &index, error))
    return FALSE;
  *up = index == 1;
  return TRUE;
}

static gboolean
set_policy(BondState *bond, const char *value, GError **error)
{
  static const char *const words[] = {"layer2", "layer2+3", "layer3+4", "vlan+srcmac", NULL};
  guint index;
  if (!read_word("bond policy", value, words, &index, error))
    return FALSE;
  bond->policy = (BondPolicy)bond_policy_parse(words[index]);
  return TRUE;
}

static gboolean
set_era(BondState *bond, const char *value, GError **error)
{
  static const char *const words[] = {"2.6.32", "3.13", "4.14", "5.18", NULL};
  guint index;
  if (!read_word("bond era", value, words, &index, error))
    return FALSE;
  bond->era = (BondEra)bond_era_parse(words[index]);
  return TRUE;
}

static gboolean
set_nfsd(SimNode *node, const char *value, GError **error)
{
  guint64 threads;
  if (!units_parse_count(value, MAX_NFSD, &threads, error))
    return FALSE;
  node->nfsd = (guint)threads;
  return TRUE;
}

/* In bit/s, or `none`. */
static gboolean
read_limit(const char *value, double *limit, GError **error)
{
  double rate = INFINITY;
  if (!g_str_equal(value, "none") && !units_parse_as(value, DIMENSION_RATE, &rate, error))
    return FALSE;
  *limit = rate;
  return TRUE;
}

static gboolean
set_disk_rate(SimNode *node, const char *value, GError **error)
{
  double rate;
  if (!read_limit(value, &rate, error))
    return FALSE;
  node->disk_rate = rate / 8;
  return TRUE;
}

static gboolean
set_port(SimNode *node, guint port, const char *value, GError **error)
{
  const LayoutServer *server = node->layout->as_server;
  if (!read_state(value, &node->ports_up[port], error))
    return FALSE;
  for (guint b = 0; b < server->n_bonds; b++)
    for (guint i = 0; i < server->bonds[b].n_ports; i++)
      if (server->bonds[b].ports[i] == port)
        node->bonds[b].usable[i] = node->ports_up[port];
  return TRUE;
}

static gboolean
set_mac(SimNode *node, const char *value, GError **error)
{
  MacAddress mac;
  if (!mac_parse(value, &mac) || (mac.byte[0] & 1) != 0) {
    g_autofree char *quoted = sim_request_quote(value);
    g_set_error(error, LAYOUT_ERROR, 0, "`%s` is no machine's MAC address", quoted);
    return FALSE;
  }
  node->mac = mac;
  return TRUE;
}

static gboolean
set_value(Sim *sim, const Property *property, const char *value, GError **error)
{
  SimNode *node = &sim->nodes[property->node];
  switch (property->kind) {
  case PROPERTY_NFSD:
    return set_nfsd(node, value, error);
  case PROPERTY_CEILING:
    return read_limit(value, &node->ceiling, error);
  case PROPERTY_DISK_RATE:
    return set_disk_rate(node, value, error);
  case PROPERTY_POLICY:
    return set_policy(&node->bonds[property->index], value, error);
  case PROPERTY_ERA:
    return set_era(&node->bonds[property->index], value, error);
  case PROPERTY_PORT_STATE:
    return set_port(node, property->index, value, error);
  case PROPERTY_CLIENT_STATE:
    return read_state(value, &node->port_up, error);
  case PROPERTY_MAC:
    return set_mac(node, value, error);
  case PROPERTY_USAGE:
    return read_word("usage", value, usages, &node->usage, error);
  case PROPERTY_LINK_STATE:
    return read_state(value, &sim->world.links_up[property->index], error);
  }
  g_assert_not_reached();
}

/* NULL, or why not. */
static char *
submit_to(Sim *sim, Request *request, const RequestEvent *event)
{
  const char *path = sim_request_argument(event, "path");
  const char *value = sim_request_argument(event, "value");
  g_autoptr(GError) error = NULL;
  if (path == NULL || (value == NULL && request->operation == OP_SET))
    return g_strdup(path ? "set needs a value" : "a property's path is missing");
  if (!find_property(sim, path, &request->property, &error))
    return g_strdup(error->message);
  for (guint i = 0; i < request->n_targets; i++)
    if (request->targets[i].node != request->property.node)
      return g_strdup_printf("%s belongs to %s", path, sim_name(sim, request->property.node));
  if (request->operation == OP_GET)
    return NULL;
  if (!set_value(sim, &request->property, value, &error))
    return g_strdup_printf("%s: %s", path, error->message);
  sim_world_changed(sim);
  return NULL;
}

/* The world changes at once; what was seen of it is told with the answer. */
void
sim_property_submit(Sim *sim, Request *request, const RequestEvent *event)
{
  if (sim_menu_submit(sim, request, event))
    return;
  g_autofree char *failure = submit_to(sim, request, event);
  sim_request_answer_all(sim, request, 0, failure ? VERDICT_FAILED : VERDICT_OK, failure);
}
