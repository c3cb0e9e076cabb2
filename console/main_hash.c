#include "main_hash.h"

#include <jansson.h>
#include <string.h>

#include "main_lab.h"
#include "main_say.h"
#include "model/nodeset.h"

#define PORTS_MAX 16

typedef struct {
  const Layout *layout;
  const LayoutNode *server;
  guint bond;
  BondState state;
  guint n_named; /* ports that have a name in the layout */
} Bond;

/* The seats a port serves; port -1: those no layout can tell, or that reach no port. */
typedef struct {
  GPtrArray *names[PORTS_MAX + 1]; /* the last: port -1 */
} Seats;

static const LayoutBond *
layout_bond(const Bond *bond)
{
  return &bond->server->as_server->bonds[bond->bond];
}

static char *
port_name(const Bond *bond, guint port)
{
  const LayoutBond *known = layout_bond(bond);
  if (port < bond->n_named)
    return g_strdup(bond->server->as_server->ports[known->ports[port]].name);
  return g_strdup_printf("port%u", port);
}

static void
seats_init(Seats *seats, const Bond *bond)
{
  for (guint i = 0; i <= PORTS_MAX; i++)
    seats->names[i] = g_ptr_array_new();
  for (NodeId id = 0; id < bond->layout->n_nodes; id++) {
    const LayoutNode *node = &bond->layout->nodes[id];
    if (node->kind != NODE_CLIENT || node->server != bond->server->id)
      continue;
    int port =
        layout_bond_port(bond->layout, bond->server->id, bond->bond, &bond->state, id, &node->mac);
    g_ptr_array_add(seats->names[port < 0 ? PORTS_MAX : port], node->name);
  }
}

static void
seats_clear(Seats *seats)
{
  for (guint i = 0; i <= PORTS_MAX; i++)
    g_ptr_array_unref(seats->names[i]);
}

static char *
fold(const GPtrArray *names)
{
  return nodeset_fold_names((const char *const *)names->pdata, names->len);
}

static void
print_port(const char *name, const GPtrArray *names)
{
  g_autofree char *folded = fold(names);
  printf("  %-8s %5u  %s\n", name, names->len, folded);
}

static void
print_bond(const Bond *bond, const Seats *seats)
{
  printf("%s/%s  %s %s, era %s\n", bond->server->name, layout_bond(bond)->name,
         layout_bond(bond)->mode, bond_policy_name(bond->state.policy),
         bond_era_name(bond->state.era));
  for (guint i = 0; i < layout_bond(bond)->n_ports; i++) {
    g_autofree char *name = port_name(bond, i);
    print_port(name, seats->names[i]);
  }
  if (seats->names[PORTS_MAX]->len > 0)
    print_port(bond->state.policy == BOND_LAYER3_4 ? "by source port" : "none",
               seats->names[PORTS_MAX]);
}

static json_t *
json_of_bond(const Bond *bond, const Seats *seats)
{
  json_t *ports = json_array();
  for (guint i = 0; i < layout_bond(bond)->n_ports; i++) {
    g_autofree char *name = port_name(bond, i);
    g_autofree char *folded = fold(seats->names[i]);
    json_array_append_new(ports, json_pack("{s:s,s:i,s:s}", "port", name, "seats",
                                           (int)seats->names[i]->len, "nodes", folded));
  }
  g_autofree char *unknown = fold(seats->names[PORTS_MAX]);
  return json_pack("{s:s,s:s,s:s,s:s,s:o,s:s}", "server", bond->server->name, "bond",
                   layout_bond(bond)->name, "policy", bond_policy_name(bond->state.policy), "era",
                   bond_era_name(bond->state.era), "ports", ports, "unknown", unknown);
}

typedef struct {
  int policy, era; /* -1: the layout's */
  guint64 n_ports; /* 0: the layout's */
  gboolean json;
} What;

/* LAYOUT was read for this alone: its bond gets as many ports as were asked for. */
static void
bond_init(Bond *bond, const Layout *layout, const LayoutNode *server, guint index, const What *what)
{
  LayoutBond *known = &server->as_server->bonds[index];
  *bond = (Bond){.layout = layout, .server = server, .bond = index, .n_named = known->n_ports};
  if (what->n_ports > 0) {
    known->ports = g_renew(guint, known->ports, what->n_ports);
    for (guint i = known->n_ports; i < what->n_ports; i++)
      known->ports[i] = known->ports[0];
    known->n_ports = (guint)what->n_ports;
  }
  bond_state_init(&bond->state, server->as_server, known);
  if (what->policy >= 0)
    bond->state.policy = (BondPolicy)what->policy;
  if (what->era >= 0)
    bond->state.era = (BondEra)what->era;
}

static void
show(const Layout *layout, const What *what)
{
  json_t *list = json_array();
  for (NodeId id = 0; id < layout->n_nodes; id++) {
    const LayoutNode *node = &layout->nodes[id];
    for (guint i = 0; node->as_server != NULL && i < node->as_server->n_bonds; i++) {
      Bond bond;
      Seats seats;
      bond_init(&bond, layout, node, i, what);
      seats_init(&seats, &bond);
      if (what->json)
        json_array_append_new(list, json_of_bond(&bond, &seats));
      else
        print_bond(&bond, &seats);
      seats_clear(&seats);
    }
  }
  if (what->json) {
    json_dumpf(list, stdout, JSON_INDENT(2));
    putchar('\n');
  }
  json_decref(list);
}

static gboolean
read_word(const char *option, const char *word, int (*parse)(const char *), const char *known,
          int *value, GError **error)
{
  *value = word != NULL ? parse(word) : -1;
  if (word == NULL || *value >= 0)
    return TRUE;
  g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s: `%s` is none of %s", option,
              word, known);
  return FALSE;
}

typedef struct {
  char *layout, *policy, *ports, *era;
} Texts;

static gboolean
parse(Texts *texts, What *what, int *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
      {"layout", 0, 0, G_OPTION_ARG_FILENAME, &texts->layout,
       "the lab: a file, or a shipped layout by name", "LAYOUT"},
      {"policy", 0, 0, G_OPTION_ARG_STRING, &texts->policy,
       "layer2, layer2+3, layer3+4 or vlan+srcmac", "POLICY"},
      {"ports", 0, 0, G_OPTION_ARG_STRING, &texts->ports, "as if the bond had N ports", "N"},
      {"era", 0, 0, G_OPTION_ARG_STRING, &texts->era,
       "the kernel's hash: 2.6.32, 3.13, 4.14 or 5.18", "ERA"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &what->json, "print JSON", NULL},
      G_OPTION_ENTRY_NULL,
  };
  if (!main_parse_entries(entries, NULL, "Seats on each port of each bond of a layout.", argc, argv,
                          error) ||
      !read_word("--policy", texts->policy, bond_policy_parse,
                 "layer2, layer2+3, layer3+4, vlan+srcmac", &what->policy, error) ||
      !read_word("--era", texts->era, bond_era_parse, "2.6.32, 3.13, 4.14, 5.18", &what->era,
                 error) ||
      !main_read_count("--ports", texts->ports, PORTS_MAX, &what->n_ports, error))
    return FALSE;
  if ((texts->ports == NULL || what->n_ports > 0) && *argc == 1)
    return TRUE;
  g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
              *argc > 1 ? "hash takes options only" : "--ports: a bond has at least one port");
  return FALSE;
}

int
main_hash(int argc, char **argv)
{
  g_autoptr(GError) error = NULL;
  Texts texts = {0};
  What what = {.policy = -1, .era = -1};
  g_autoptr(Layout) layout = NULL;
  if (parse(&texts, &what, &argc, &argv, &error))
    layout = data_layout(texts.layout != NULL ? texts.layout : LAB_DEFAULT_LAYOUT, &error);
  g_free(texts.layout);
  g_free(texts.policy);
  g_free(texts.ports);
  g_free(texts.era);
  if (layout == NULL)
    return main_fail(error);
  show(layout, &what);
  return main_finish_output(0);
}
