#include "model/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static Layout *
parse(const char *text)
{
  g_autoptr(GError) error = NULL;
  Layout *layout = layout_parse("t.yaml", text, strlen(text), &error);

  if (layout == NULL)
    fail_msg("%s", error->message);
  return layout;
}

static Layout *
shipped(const char *name)
{
  g_autofree char *path = g_strdup_printf("layouts/%s.yaml", name);
  g_autofree char *text = NULL;

  assert_true(g_file_get_contents(path, &text, NULL, NULL));
  return parse(text);
}

static const LayoutNode *
node(const Layout *layout, const char *name)
{
  NodeId id = layout_find(layout, name);

  if (id == NODE_NONE)
    fail_msg("no node %s", name);
  return layout_node(layout, id);
}

/* --- ports of the bond --- */

static void
count_ports(const Layout *layout, const char *group, BondPolicy policy, const guint expected[4])
{
  NodeId server = layout_find(layout, "slx1");
  const LayoutServer *as_server = layout_node(layout, server)->as_server;
  BondState bond;
  const NodeId *nodes;
  guint n, seats[4] = {0};

  bond_state_init(&bond, as_server, &as_server->bonds[0]);
  bond.policy = policy;
  assert_true(layout_group(layout, group, &nodes, &n));
  for (guint i = 0; i < n; i++) {
    int port =
        layout_bond_port(layout, server, 0, &bond, nodes[i], &layout_node(layout, nodes[i])->mac);
    assert_in_range(port, 0, 3);
    seats[port]++;
  }
  for (guint i = 0; i < 4; i++)
    assert_int_equal(seats[i], expected[i]);
}

static void
test_two_rooms(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = shipped("openslx-two-rooms");

  count_ports(layout, "roomA", BOND_LAYER2, (const guint[]){8, 1, 7, 1});
  count_ports(layout, "roomB", BOND_LAYER2, (const guint[]){8, 1, 7, 1});
  count_ports(layout, "all", BOND_LAYER2, (const guint[]){16, 2, 14, 2});
  count_ports(layout, "all", BOND_LAYER2_3, (const guint[]){8, 9, 8, 9});
  assert_non_null(strstr(layout->note, "H4, a hypothesis"));
  assert_int_equal(node(layout, "b03")->attached, layout_find(layout, "sw2"));
  assert_int_equal(node(layout, "b04")->attached, layout_find(layout, "sw3"));
  assert_int_equal(node(layout, "b17")->ip & 0xff, 67);
  assert_int_equal(layout_node(layout, layout->rooms[1].seats[16])->id, node(layout, "b17")->id);
}

static void
test_one_room(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = shipped("openslx-one-room");

  count_ports(layout, "all", BOND_LAYER2, (const guint[]){8, 0, 8, 0});
  assert_int_equal(layout->n_clients, 16);
  assert_int_equal(node(layout, "slx1")->as_server->nfsd, 64);
  assert_non_null(strstr(layout->note, "H2, a hypothesis"));
}

static void
test_bond_port_states(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = shipped("openslx-two-rooms");
  NodeId server = layout_find(layout, "slx1"), a01 = layout_find(layout, "a01");
  const LayoutServer *as_server = layout_node(layout, server)->as_server;
  const MacAddress *mac = &node(layout, "a01")->mac;
  MacAddress moved = *mac;
  BondState bond;

  bond_state_init(&bond, as_server, &as_server->bonds[0]);
  assert_int_equal(layout_bond_port(layout, server, 0, &bond, a01, mac), 0);
  moved.byte[5] = 3; /* a new card: the hash follows the address there is now */
  assert_int_equal(layout_bond_port(layout, server, 0, &bond, a01, &moved), 3);
  bond.usable[0] = FALSE; /* 2.6.32: on to the next usable port */
  assert_int_equal(layout_bond_port(layout, server, 0, &bond, a01, mac), 1);
  bond.policy = BOND_LAYER3_4;
  assert_int_equal(layout_bond_port(layout, server, 0, &bond, a01, mac), -1);
  bond.policy = BOND_LAYER2;
  for (guint i = 0; i < 4; i++)
    bond.usable[i] = FALSE;
  assert_int_equal(layout_bond_port(layout, server, 0, &bond, a01, mac), -1);
}

static const char routed[] =
    "lab: routed\n"
    "defaults: {server: v1}\n"
    "subnets: {pool: {net: 10.21.0.0/24}, lab2: {net: 10.22.0.0/24}}\n"
    "switches: {s1: {}, s2: {}}\n"
    "links: [{from: s1, to: s2, speed: 1 Gbit/s}]\n"
    "routers: {r1: {joins: [pool, lab2], switch: s2, mac: 02:00:00:00:00:03, speed: 1 Gbit/s}}\n"
    "servers:\n"
    "  v1:\n"
    "    switch: s1\n"
    "    subnet: pool\n"
    "    bonds:\n"
    "      bond0: {ports: [eth0, eth1, eth2, eth3], speed: 1 Gbit/s, mode: balance-xor, era: "
    "2.6.32, mac: 02:00:00:00:00:10, ip: 10.21.0.254}\n"
    "  v2:\n"
    "    switch: s1\n"
    "    subnet: pool\n"
    "    bonds:\n"
    "      bond0: {ports: [e0, e1], speed: 1 Gbit/s, mode: active-backup, mac: 02:00:00:00:00:20, "
    "ip: 10.21.0.253}\n"
    "clients:\n"
    "  near[1-4]: {switch: s1, subnet: pool, speed: 1 Gbit/s, mac: 02:00:00:00:01:00 step 1, ip: "
    "10.21.0.1 step 1}\n"
    "  far[1-4]: {switch: s1, subnet: lab2, speed: 1 Gbit/s, mac: 02:00:00:00:02:00 step 1, ip: "
    "10.22.0.1 step 1}\n"
    "  bare: {switch: s1, subnet: pool, speed: 1 Gbit/s}\n";

static void
test_bond_across_router(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = parse(routed);
  NodeId server = layout_find(layout, "v1"), router = layout_find(layout, "r1");
  const LayoutServer *as_server = layout_node(layout, server)->as_server;
  guint by_address[4] = {0};
  BondState bond;

  bond_state_init(&bond, as_server, &as_server->bonds[0]);
  for (guint i = 1; i <= 4; i++) {
    g_autofree char *near_name = g_strdup_printf("near%u", i),
                    *far_name = g_strdup_printf("far%u", i);
    const LayoutNode *near = node(layout, near_name), *far = node(layout, far_name);
    assert_int_equal(layout_router_between(layout, server, near->id), NODE_NONE);
    assert_int_equal(layout_router_between(layout, server, far->id), router);
    assert_int_equal(layout_bond_port(layout, server, 0, &bond, near->id, &near->mac), i - 1);
    /* layer2 sees the router's address alone, and puts everyone behind it on one port */
    assert_int_equal(layout_bond_port(layout, server, 0, &bond, far->id, &far->mac), 3);
    bond.policy = BOND_LAYER2_3;
    by_address[layout_bond_port(layout, server, 0, &bond, far->id, &far->mac)]++;
    bond.policy = BOND_LAYER2;
  }
  for (guint i = 0; i < 4; i++)
    assert_int_equal(by_address[i], 1);
}

static void
test_bond_without_hash(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = parse(routed);
  NodeId v1 = layout_find(layout, "v1"), v2 = layout_find(layout, "v2");
  NodeId near4 = layout_find(layout, "near4"), bare = layout_find(layout, "bare");
  const LayoutServer *server = layout_node(layout, v2)->as_server;
  const MacAddress *mac = &node(layout, "near4")->mac;
  BondState bond;

  bond_state_init(&bond, server, &server->bonds[0]);
  assert_int_equal(layout_bond_port(layout, v2, 0, &bond, near4, mac), 0);
  bond.usable[0] = FALSE;
  assert_int_equal(layout_bond_port(layout, v2, 0, &bond, near4, mac), 1);
  bond.usable[1] = FALSE;
  assert_int_equal(layout_bond_port(layout, v2, 0, &bond, near4, mac), -1);

  server = layout_node(layout, v1)->as_server;
  bond_state_init(&bond, server, &server->bonds[0]);
  assert_int_equal(layout_bond_port(layout, v1, 0, &bond, bare, NULL), -1);
  bond.policy = BOND_LAYER2_3; /* needs an address of the third layer */
  assert_int_equal(layout_bond_port(layout, v1, 0, &bond, bare, mac), -1);
}

/* --- paths --- */

/* `from>to` for each link crossed, `(router)` for a router. */
static char *
path(const Layout *layout, const char *from, const char *to, const gboolean *up)
{
  LayoutHop hops[LAYOUT_MAX_HOPS];
  int n = layout_path(layout, layout_find(layout, from), layout_find(layout, to), up, hops);
  GString *text = g_string_new(n < 0 ? "no way" : "");

  for (int i = 0; i < n; i++) {
    const LayoutLink *link = &layout->links[hops[i].link];
    const char *space = i > 0 ? " " : "";
    if (hops[i].kind == HOP_ROUTER)
      g_string_append_printf(text, "%s(%s)", space, layout_node(layout, hops[i].router)->name);
    else
      g_string_append_printf(text, "%s%s%s%s", space, layout_node(layout, link->from)->name,
                             hops[i].forward ? ">" : "<", layout_node(layout, link->to)->name);
  }
  return g_string_free(text, FALSE);
}

static void
assert_path(const Layout *layout, const char *from, const char *to, const gboolean *up,
            const char *expected)
{
  g_autofree char *found = path(layout, from, to, up);

  assert_string_equal(found, expected);
}

static void
test_paths(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = shipped("openslx-two-rooms");
  const gboolean first_down[] = {FALSE, TRUE}, second_down[] = {TRUE, FALSE};

  assert_path(layout, "slx1", "a01", NULL, "");
  assert_path(layout, "slx1", "b01", NULL, "sw1>sw2");
  assert_path(layout, "slx1", "b04", NULL, "sw1>sw2 sw2>sw3");
  assert_path(layout, "b04", "slx1", NULL, "sw2<sw3 sw1<sw2");
  assert_path(layout, "sw3", "a01", NULL, "sw2<sw3 sw1<sw2");
  assert_path(layout, "slx1", "a01", first_down, "");
  assert_path(layout, "slx1", "b01", first_down, "no way");
  assert_path(layout, "b04", "b01", first_down, "sw2<sw3");
  assert_path(layout, "slx1", "b01", second_down, "sw1>sw2");
  assert_path(layout, "slx1", "b04", second_down, "no way");
}

static void
test_paths_in_a_ring(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = parse("lab: ring\n"
                                   "switches: {s1: {}, s2: {}, s3: {}, s4: {}}\n"
                                   "links:\n"
                                   "  - {from: s1, to: s2, speed: 1 Gbit/s}\n"
                                   "  - {from: s4, to: s1, speed: 1 Gbit/s}\n"
                                   "  - {from: s2, to: s3, speed: 1 Gbit/s}\n"
                                   "  - {from: s3, to: s4, speed: 1 Gbit/s}\n");
  gboolean up[] = {TRUE, TRUE, TRUE, TRUE};

  /* two ways of two hops: the first link in the file decides */
  assert_path(layout, "s1", "s3", NULL, "s1>s2 s2>s3");
  assert_path(layout, "s1", "s4", up, "s4<s1");
  up[1] = FALSE;
  assert_path(layout, "s1", "s4", up, "s1>s2 s2>s3 s3>s4");
  up[2] = FALSE;
  assert_path(layout, "s1", "s4", up, "no way");
}

static void
test_paths_across_router(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = parse(routed);
  const gboolean down[] = {FALSE};

  assert_path(layout, "v1", "near1", NULL, "");
  assert_path(layout, "v1", "far1", NULL, "s1>s2 (r1) s1<s2");
  assert_path(layout, "v1", "far1", down, "no way");
  assert_path(layout, "far1", "far2", down, "");
}

/* s0 … sN in a row; v1 on s0, in subnet p, and c1 beside it but in q, with the router on sN. */
static Layout *
chain(guint n_links)
{
  GString *text = g_string_new("lab: chain\n"
                               "subnets: {p: {}, q: {}}\n"
                               "servers: {v1: {switch: s0, subnet: p, ports: {e0: {speed: 1 "
                               "Gbit/s}}}}\n"
                               "clients: {c1: {switch: s0, subnet: q, speed: 1 Gbit/s}}\n");

  g_string_append_printf(text,
                         "routers: {r1: {joins: [p, q], switch: s%u, mac: 02:00:00:00:00:03, "
                         "speed: 1 Gbit/s}}\nswitches:\n",
                         n_links);
  for (guint i = 0; i <= n_links; i++)
    g_string_append_printf(text, "  s%u: {}\n", i);
  g_string_append(text, "links:\n");
  for (guint i = n_links; i > 0; i--)
    g_string_append_printf(text, "  - {from: s%u, to: s%u, speed: 1 Gbit/s}\n", i - 1, i);
  g_autofree char *whole = g_string_free(text, FALSE);
  return parse(whole);
}

static int
count_hops(const Layout *layout, const char *from, const char *to)
{
  LayoutHop hops[LAYOUT_MAX_HOPS];

  return layout_path(layout, layout_find(layout, from), layout_find(layout, to), NULL, hops);
}

static void
test_longest_path(void **state)
{
  (void)state;
  g_autoptr(Layout) row = chain(17), seven = chain(7), eight = chain(8), sixteen = chain(16);

  assert_int_equal(count_hops(row, "s0", "s16"), 16);
  assert_int_equal(count_hops(row, "s17", "s1"), 16);
  assert_int_equal(count_hops(row, "s0", "s17"), -1);
  /* to the router and back, the router itself being a hop */
  assert_int_equal(count_hops(seven, "v1", "c1"), 15);
  assert_int_equal(count_hops(eight, "v1", "c1"), -1);
  assert_int_equal(count_hops(sixteen, "v1", "c1"), -1);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_rooms),         cmocka_unit_test(test_one_room),
      cmocka_unit_test(test_bond_port_states),  cmocka_unit_test(test_bond_across_router),
      cmocka_unit_test(test_bond_without_hash), cmocka_unit_test(test_paths),
      cmocka_unit_test(test_paths_in_a_ring),   cmocka_unit_test(test_paths_across_router),
      cmocka_unit_test(test_longest_path),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
