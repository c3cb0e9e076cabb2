#include "model/layout.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define BROKEN "tests/unit/broken"

/* CPU time allowed for the largest layout, s. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define MAX_PARSE 8.0
#else
#define MAX_PARSE 0.8
#endif

static Layout *
parse(const char *text)
{
  g_autoptr(GError) error = NULL;
  Layout *layout = layout_parse("t.yaml", text, strlen(text), &error);

  if (layout == NULL)
    fail_msg("%s", error->message);
  return layout;
}

static const LayoutNode *
node(const Layout *layout, const char *name)
{
  NodeId id = layout_find(layout, name);

  if (id == NODE_NONE)
    fail_msg("no node %s", name);
  return layout_node(layout, id);
}

static void
assert_exact(double value, double expected)
{
  if (fabs(value - expected) > 1e-12 * fabs(expected))
    fail_msg("%.17g, not %.17g", value, expected);
}

/* --- the language --- */

static const char sample[] =
    "lab: OpenSLX, two rooms\n"
    "note: H4, a hypothesis about which ports carried the load (see facts)\n"
    "defaults: {power: sim, exec: sim, console: sim, server: slx1}\n"
    "subnets: {pool: {net: 10.21.0.0/24}}\n"
    "routers: {}                                # r1: {joins: [pool, lab2], mac: …, speed: …}\n"
    "switches: {sw1: {}, sw2: {}, sw3: {}}\n"
    "links:\n"
    "  - {from: sw1, to: sw2, speed: 10 Gbit/s}\n"
    "  - {from: sw2, to: sw3, speed: 1 Gbit/s}\n"
    "servers:\n"
    "  slx1:\n"
    "    switch: sw1\n"
    "    subnet: pool\n"
    "    cores: 16\n"
    "    nfsd: 64\n"
    "    protected: true\n"
    "    bonds:\n"
    "      bond0: {ports: [eth0, eth1, eth2, eth3], speed: 1 Gbit/s, mode: balance-xor, policy: "
    "layer2, era: 2.6.32, mac: 52:54:00:21:00:10, ip: 10.21.0.254}\n"
    "clients:\n"
    "  a[01-17]: {switch: sw1, subnet: pool, speed: 1 Gbit/s, mac: 52:54:00:0a:00:00 step 2, ip: "
    "10.21.0.1 step 1}\n"
    "  a04: {mac: 52:54:00:0a:00:41}            # a later entry overrides for the nodes it names\n"
    "rooms: {roomA: {title: Room A, seats: \"a[01-17]\", columns: 6, aisle-after: [3]}}\n"
    "blocks: {front: \"a[01-06]\"}\n"
    "boot: {default: ubuntu-10.04::nfs, profile: pxe}\n";

static void
check_sample_server(const Layout *layout)
{
  const LayoutNode *slx1 = node(layout, "slx1");
  const LayoutServer *server = slx1->as_server;
  MacAddress mac;

  assert_int_equal(slx1->kind, NODE_SERVER);
  assert_int_equal(slx1->attached, layout_find(layout, "sw1"));
  assert_true(slx1->protected_node);
  assert_int_equal(server->cores, 16);
  assert_int_equal(server->nfsd, 64);
  assert_true(isinf(server->transmit_ceiling) && isinf(server->disk_rate));
  assert_int_equal(server->n_ports, 4);
  assert_string_equal(server->ports[3].name, "eth3");
  assert_exact(server->ports[3].speed, 1e9);
  assert_int_equal(server->ports[3].bond, 0);
  assert_true(mac_parse("52:54:00:21:00:10", &mac));
  assert_memory_equal(&server->ports[3].mac, &mac, sizeof mac);
  const LayoutBond *bond = &server->bonds[layout_find_bond(server, "bond0")];
  assert_string_equal(bond->mode, "balance-xor");
  assert_int_equal(bond->policy, BOND_LAYER2);
  assert_int_equal(bond->era, BOND_ERA_2_6_32);
  assert_int_equal(bond->n_ports, 4);
  assert_int_equal(bond->ports[2], 2);
  assert_int_equal(bond->ip, 10u << 24 | 21 << 16 | 254);
  assert_true(slx1->has_ip && slx1->ip == bond->ip);
  assert_int_equal(layout_find_port(server, "eth2"), 2);
  assert_int_equal(layout_find_port(server, "eth4"), -1);
  assert_int_equal(layout_find_bond(server, "eth0"), -1);
}

static void
check_sample_clients(const Layout *layout)
{
  const LayoutNode *a17 = node(layout, "a17");

  g_autofree char *mac = mac_print(&a17->mac), *odd = mac_print(&node(layout, "a04")->mac);
  assert_string_equal(mac, "52:54:00:0a:00:20");
  assert_string_equal(odd, "52:54:00:0a:00:41");
  assert_int_equal(node(layout, "a04")->ip, 10u << 24 | 21 << 16 | 4);
  assert_int_equal(a17->ip, 10u << 24 | 21 << 16 | 17);
  assert_int_equal(a17->server, layout_find(layout, "slx1"));
  assert_int_equal(a17->subnet, 0);
  assert_exact(a17->speed, 1e9);
  assert_string_equal(a17->backend[ROLE_POWER], "sim");
  assert_null(a17->backend[ROLE_KEYS]);
  assert_string_equal(a17->backend[ROLE_CONSOLE], "sim");
  assert_int_equal(a17->room, 0);
  assert_false(a17->protected_node);
}

static void
test_sample(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = parse(sample);

  assert_string_equal(layout->lab, "OpenSLX, two rooms");
  assert_string_equal(layout->text, sample);
  assert_int_equal(strlen(layout->sha256), 64);
  assert_int_equal(layout->n_nodes, 3 + 1 + 17);
  assert_int_equal(layout->n_links, 2);
  assert_string_equal(layout->links[1].name, "sw2-sw3");
  assert_int_equal(layout_find_link(layout, "sw2-sw3"), 1);
  assert_int_equal(layout_find_link(layout, "sw3-sw2"), -1);
  check_sample_server(layout);
  check_sample_clients(layout);
  const LayoutRoom *room = &layout->rooms[0];
  assert_string_equal(room->title, "Room A");
  assert_int_equal(room->n_seats, 17);
  assert_int_equal(room->columns, 6);
  assert_int_equal(room->n_aisles, 1);
  assert_int_equal(room->aisles[0], 3);
  const NodeId *nodes;
  guint n;
  assert_true(layout_group(layout, "front", &nodes, &n));
  assert_int_equal(n, 6);
  assert_int_equal(nodes[5], layout_find(layout, "a06"));
  assert_true(layout_group(layout, "all", &nodes, &n));
  assert_int_equal(n, 17);
  assert_false(layout_group(layout, "a01", &nodes, &n));
  assert_string_equal(layout->boot_entry, "ubuntu-10.04::nfs");
}

static void
test_order_of_nodes(void **state)
{
  (void)state;
  static const char *const expected[] = {"s2", "s1", "r1", "v1", "c2", "c1"};
  g_autoptr(Layout) layout =
      parse("lab: x\n"
            "clients:\n"
            "  c2: {switch: s1, subnet: p, speed: 1 Gbit/s}\n"
            "  c1: {switch: s1, subnet: p, speed: 1 Gbit/s}\n"
            "servers: {v1: {switch: s1, subnet: q, ports: {eth0: {speed: 1 Gbit/s}}}}\n"
            "routers: {r1: {joins: [p, q], switch: s1, mac: 02:00:00:00:00:01, speed: 1 Gbit/s}}\n"
            "switches: {s2: {}, s1: {}}\n"
            "subnets: {p: {}, q: {}}\n");

  assert_int_equal(layout->n_nodes, G_N_ELEMENTS(expected));
  for (guint i = 0; i < layout->n_nodes; i++) {
    assert_string_equal(layout->nodes[i].name, expected[i]);
    assert_int_equal(layout->nodes[i].id, i);
    assert_int_equal(layout_find(layout, expected[i]), i);
  }
  assert_int_equal(node(layout, "r1")->n_joins, 2);
  assert_int_equal(node(layout, "c1")->server, NODE_NONE);
}

static void
test_boot_defaults(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = parse("lab: x\n");
  assert_null(layout->boot_entry); /* what the menu says */
  const BootModel *boot = &layout->boot;
  const double ge = 125e6 * 1448 / 1538;
  assert_exact(layout_payload(1e9) / 8, ge);
  assert_int_equal(boot->reads, 20);
  assert_exact(boot->nbd_t0, 131072 / (175e6 / 8) - 131072 / ge);
  assert_true(fabs(boot->nbd_t0 - 4.878113e-3) < 5e-10);
  assert_true(fabs(boot->nbd_rate - 1668.930) < 5e-4);
  assert_true(fabs(boot->tftp_cap - 5.632e6) < 1e-6);
  /* the published cap of a boot over NBD: 52 429 B a request, 9.848 MB/s */
  double request = boot->nbd_ratio * boot->nbd_request;
  assert_true(fabs(request - 52429) < 0.5);
  assert_true(fabs(request / (boot->nbd_t0 + request / ge) - 9.848e6) < 500);
  assert_exact(boot->bytes, 271.5e6);
  assert_exact(boot->cpu, 6.97);
  assert_exact(boot->nfs_cap, 24.62e6);
  assert_exact(boot->nfs_rsize / boot->nfs_service, 32768 / 0.5e-3);
  assert_exact(boot->tick, 0.1);
  assert_int_equal(layout->deadline[DEADLINE_SOFT_OFF], 120 * TIME_SECOND);
  assert_int_equal(layout->deadline[DEADLINE_WAIT], 600 * TIME_SECOND);
  assert_int_equal(layout->deadline[DEADLINE_PAUSE], 5 * TIME_SECOND);
}

static const LayoutStage *
stage(const Layout *layout, const char *name)
{
  int index = layout_find_stage(layout, name);

  assert_true(index > 0);
  return &layout->stages[index];
}

static void
test_boot_and_deadlines(void **state)
{
  (void)state;
  g_autoptr(Layout) layout =
      parse("lab: x\n"
            "boot: {default: memtest, profile: keys, root: /srv/tftp, menu: pxelinux.cfg/C0A8, "
            "simulate: {reads: 1, start-delay: 0 s, bytes: "
            "184.5 MB, cpu: 10.51 s, nfs-cap: 100 Mbit/s, nbd-ratio: 50 %, nbd-rate: 1668.5}}\n"
            "deadlines: {pause: 0 s, soft-off: 2 min, root: 0.5 s}\n");

  assert_string_equal(layout->boot_entry, "memtest");
  assert_string_equal(layout->boot_profile, "keys");
  assert_string_equal(layout->boot_root, "/srv/tftp");
  assert_string_equal(layout->boot_menu, "pxelinux.cfg/C0A8");
  assert_int_equal(layout->boot.reads, 1);
  assert_true(layout->boot.start_delay <= 0);
  assert_exact(layout->boot.bytes, 184.5e6);
  assert_exact(layout->boot.nfs_cap, 12.5e6);
  assert_exact(layout->boot.nbd_ratio, 0.5);
  assert_exact(layout->boot.nbd_rate, 1668.5);
  assert_exact(layout->boot.initramfs, 2); /* untouched */
  assert_int_equal(layout->deadline[DEADLINE_PAUSE], 0);
  assert_int_equal(layout->deadline[DEADLINE_SOFT_OFF], 120 * TIME_SECOND);
  assert_int_equal(stage(layout, "root")->deadline, TIME_SECOND / 2);
  assert_int_equal(stage(layout, "dhcp")->deadline, 20 * TIME_SECOND);
}

static void
test_stages(void **state)
{
  (void)state;
  g_autoptr(Layout) usual = parse("lab: x\n");
  g_autoptr(GString) letters = g_string_new(NULL);
  for (guint i = 0; i < usual->n_stages; i++)
    g_string_append(letters, usual->stages[i].letter);
  assert_string_equal(letters->str, " fdthxkir ");
  assert_string_equal(usual->stages[0].name, "");
  assert_int_equal(layout_find_stage(usual, ""), -1);
  assert_int_equal(layout_find_stage(usual, "roots"), -1);
  /* Nothing seen yet is the first stage's time. */
  assert_int_equal(usual->stages[0].deadline, 120 * TIME_SECOND);

  g_autoptr(Layout) own =
      parse("lab: x\n"
            "boot: {stages: [uefi-http, kernel, restore-image, utilities, sysprep, login]}\n"
            "deadlines: {uefi-http: 7 s, restore-image: 20 min}\n");
  assert_int_equal(own->n_stages, 7);
  assert_int_equal(layout_find_stage(own, "login"), 6);
  assert_int_equal(layout_find_stage(own, "dhcp"), -1);
  assert_int_equal(own->stages[0].deadline, 7 * TIME_SECOND);
  assert_int_equal(stage(own, "restore-image")->deadline, 1200 * TIME_SECOND);
  assert_int_equal(stage(own, "sysprep")->deadline, 60 * TIME_SECOND);
  assert_string_equal(stage(own, "kernel")->letter, "k");
  /* u, t and r mean something else already */
  assert_string_equal(stage(own, "uefi-http")->letter, "e");
  assert_string_equal(stage(own, "restore-image")->letter, "s");
  assert_string_equal(stage(own, "utilities")->letter, "l");
  assert_string_equal(stage(own, "sysprep")->letter, "y");
}

static void
test_backends(void **state)
{
  (void)state;
  g_autoptr(Layout) layout =
      parse("lab: x\n"
            "defaults: {power: pdu, keys: vswitch, exec: ssh, server: v1}\n"
            "switches: {s1: {}, s2: {power: command, exec: none}}\n"
            "servers:\n"
            "  v1: {switch: s1, ports: {eth0: {speed: 1 Gbit/s}}, power: ipmi, keys: none}\n"
            "  v2: {switch: s1, ports: {eth0: {speed: 1 Gbit/s}}}\n"
            "clients:\n"
            "  c[1-3]: {switch: s1, speed: 1 Gbit/s, console: ipmi}\n"
            "  c2: {power: ipmi, keys: none, server: v2, protected: true}\n");

  /* what powers machines by default must not reach switches */
  assert_null(node(layout, "s1")->backend[ROLE_POWER]);
  assert_string_equal(node(layout, "s1")->backend[ROLE_EXEC], "ssh");
  assert_string_equal(node(layout, "s2")->backend[ROLE_POWER], "command");
  assert_null(node(layout, "s2")->backend[ROLE_EXEC]);
  assert_string_equal(node(layout, "v1")->backend[ROLE_POWER], "ipmi");
  assert_null(node(layout, "v1")->backend[ROLE_KEYS]);
  assert_string_equal(node(layout, "v2")->backend[ROLE_KEYS], "vswitch");
  assert_string_equal(node(layout, "c1")->backend[ROLE_POWER], "pdu");
  assert_string_equal(node(layout, "c2")->backend[ROLE_POWER], "ipmi");
  assert_null(node(layout, "c2")->backend[ROLE_KEYS]);
  assert_string_equal(node(layout, "c2")->backend[ROLE_CONSOLE], "ipmi");
  assert_int_equal(node(layout, "c2")->server, layout_find(layout, "v2"));
  assert_int_equal(node(layout, "c3")->server, layout_find(layout, "v1"));
  assert_true(node(layout, "c2")->protected_node);
  assert_false(node(layout, "c3")->protected_node);
}

static void
test_server_resources(void **state)
{
  (void)state;
  g_autoptr(Layout) layout =
      parse("lab: x\n"
            "switches: {s1: {}}\n"
            "servers:\n"
            "  v1:\n"
            "    switch: s1\n"
            "    memory: 48 GiB\n"
            "    disk: {rate: 300 MB/s}\n"
            "    transmit-ceiling: 1.9 Gbit/s\n"
            "    ports:\n"
            "      eth0: {speed: 10 Gbit/s, mac: 02:00:00:00:00:01}\n"
            "      mgmt: {speed: 100 Mbit/s, mac: 02:00:00:00:00:02}\n"
            "    bonds:\n"
            "      bond0: {ports: [eth1, eth0], speed: 1 Gbit/s, mode: 802.3ad, mac: "
            "02:00:00:00:00:01, ip: 10.0.0.1}\n"
            "  v2: {switch: s1, ip: 10.0.0.2, ports: {p0: {speed: 1 Gbit/s, mac: "
            "02:00:00:00:00:09}}}\n");
  const LayoutServer *server = node(layout, "v1")->as_server;

  assert_exact(server->memory, 48 * 0x1p30);
  assert_exact(server->disk_rate, 300e6);
  assert_exact(server->transmit_ceiling, 1.9e9);
  assert_int_equal(server->n_ports, 3);
  const LayoutBond *bond = &server->bonds[0];
  /* in the order enslaved; a port that has a speed of its own keeps it */
  assert_string_equal(server->ports[bond->ports[0]].name, "eth1");
  assert_exact(server->ports[bond->ports[0]].speed, 1e9);
  assert_string_equal(server->ports[bond->ports[1]].name, "eth0");
  assert_exact(server->ports[bond->ports[1]].speed, 10e9);
  assert_int_equal(server->ports[layout_find_port(server, "mgmt")].bond, -1);
  assert_int_equal(bond->policy, BOND_LAYER2);
  assert_int_equal(bond->era, BOND_ERA_5_18);
  const LayoutNode *v2 = node(layout, "v2");
  assert_true(v2->has_ip && v2->has_mac);
  assert_int_equal(v2->ip, 10u << 24 | 2);
  assert_int_equal(v2->mac.byte[5], 9);
}

static void
test_exports(void **state)
{
  (void)state;
  g_autoptr(Layout) layout =
      parse("lab: x\n"
            "switches: {s1: {}}\n"
            "servers:\n"
            "  gw:\n"
            "    switch: s1\n"
            "    ports: {eth0: {speed: 100 Mbit/s}}\n"
            "    exports:\n"
            "      far: {about: far away, data: v2, async: true, request-time: 0.31 ms}\n"
            "      near: {}\n"
            "  v2: {switch: s1, ports: {eth0: {speed: 100 Mbit/s}}}\n");
  const LayoutServer *server = node(layout, "gw")->as_server;

  assert_int_equal(server->n_exports, 2);
  const LayoutExport *far = &server->exports[layout_find_export(server, "far")];
  assert_string_equal(far->about, "far away");
  assert_int_equal(far->data, layout_find(layout, "v2"));
  assert_true(far->async);
  assert_exact(far->request_time, 0.31e-3);
  const LayoutExport *near = &server->exports[layout_find_export(server, "near")];
  assert_string_equal(near->about, "");
  assert_int_equal(near->data, layout_find(layout, "gw"));
  assert_false(near->async);
  assert_true(near->request_time <= 0);
  assert_int_equal(layout_find_export(server, "nea"), -1);
  assert_int_equal(node(layout, "v2")->as_server->n_exports, 0);
}

static void
test_groups_build_on_each_other(void **state)
{
  (void)state;
  g_autoptr(Layout) layout =
      parse("lab: x\n"
            "switches: {s1: {}}\n"
            "clients: {\"c[1-9]\": {switch: s1, speed: 1 Gbit/s}}\n"
            "rooms: {left: {seats: \"c[1-6]!@gone\", columns: 3}}\n"
            "blocks: {gone: c3, rest: \"@left!c1\", few: \"c?!@left\", every: \"@all\"}\n");
  const NodeId *nodes;
  guint n;

  assert_true(layout_group(layout, "left", &nodes, &n));
  assert_int_equal(n, 5);
  assert_string_equal(layout_node(layout, nodes[2])->name, "c4");
  assert_true(layout_group(layout, "rest", &nodes, &n));
  assert_int_equal(n, 4);
  assert_true(layout_group(layout, "few", &nodes, &n));
  assert_int_equal(n, 4); /* c3 and c[7-9] */
  assert_true(layout_group(layout, "every", &nodes, &n));
  assert_int_equal(n, 9);
  assert_int_equal(node(layout, "c3")->room, -1);
  assert_string_equal(layout->rooms[0].title, "left");
}

/* --- broken files --- */

/* The lines `# expect: LINE:COLUMN: text` at the file's head, as layout_parse() should say them. */
static char *
expected_message(const char *name, const char *text)
{
  static const char mark[] = "# expect: ";
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  GString *message = g_string_new(NULL);

  for (guint i = 0; lines[i] != NULL && g_str_has_prefix(lines[i], mark); i++)
    g_string_append_printf(message, "%s%s:%s", i > 0 ? "\n" : "", name, lines[i] + strlen(mark));
  assert_true(message->len > 0);
  return g_string_free(message, FALSE);
}

static void
check_broken(const char *name, GHashTable *messages)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_build_filename(BROKEN, name, NULL);
  g_autofree char *text = NULL;
  gsize length;

  assert_true(g_file_get_contents(path, &text, &length, NULL));
  g_autofree char *expected = expected_message(name, text);
  g_autoptr(Layout) layout = layout_parse(name, text, length, &error);
  if (layout != NULL)
    fail_msg("%s was taken", name);
  if (strcmp(error->message, expected) != 0)
    fail_msg("said: %s\nnot:  %s", error->message, expected);
  const char *message = strchr(strchr(expected + strlen(name) + 1, ':') + 1, ':');
  g_hash_table_add(messages, g_strdup(message));
}

static void
test_broken(void **state)
{
  (void)state;
  g_autoptr(GHashTable) messages = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GDir) directory = g_dir_open(BROKEN, 0, NULL);
  guint n = 0;

  assert_non_null(directory);
  for (const char *name; (name = g_dir_read_name(directory)) != NULL;) {
    if (!g_str_has_suffix(name, ".yaml"))
      continue;
    check_broken(name, messages);
    n++;
  }
  assert_true(n >= 90);
  assert_int_equal(g_hash_table_size(messages), n); /* each says something of its own */
}

static void
check_survives(const char *text, gsize length)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Layout) layout = layout_parse("t", text, length, &error);

  assert_true((layout == NULL) == (error != NULL));
  if (error != NULL)
    assert_true(g_str_has_prefix(error->message, "t:"));
}

/* Cut anywhere, or with bytes of its own in wrong places: taken or refused in words. */
static void
test_damaged(void **state)
{
  (void)state;
  gsize length = strlen(sample);
  guint32 random = 1;

  for (gsize cut = 0; cut <= length; cut++)
    check_survives(sample, cut);
  for (guint i = 0; i < 3000; i++) {
    g_autofree char *text = g_strdup(sample);
    for (guint j = 0; j <= i % 3; j++) {
      random = random * 1664525 + 1013904223;
      gsize from = (random >> 8) % length;
      random = random * 1664525 + 1013904223;
      text[(random >> 8) % length] = sample[from];
    }
    check_survives(text, length);
  }
}

/* --- addresses, size --- */

static void
test_addresses(void **state)
{
  (void)state;
  static const char *const bad_macs[] = {"",
                                         "52:54:00:0a:00",
                                         "52:54:00:0a:00:0",
                                         "52:54:00:0a:00:00:",
                                         "52-54-00-0a-00-00",
                                         "5g:54:00:0a:00:00",
                                         " 2:54:00:0a:00:00"};
  static const char *const bad_ips[] = {
      "",        "10.21.0",    "10.21.0.1.", "10.21.0.256",  "10.21.0.01",
      "10..0.1", "10.21.0.1 ", "+10.21.0.1", "10.21.0.1/24", "1000.1.1.1"};
  MacAddress mac = {{1, 2, 3, 4, 5, 6}};
  guint32 ip = 7;

  for (guint i = 0; i < G_N_ELEMENTS(bad_macs); i++)
    assert_false(mac_parse(bad_macs[i], &mac));
  for (guint i = 0; i < G_N_ELEMENTS(bad_ips); i++)
    assert_false(ip_parse(bad_ips[i], &ip));
  assert_int_equal(mac.byte[0], 1); /* untouched on error */
  assert_int_equal(ip, 7);
  assert_true(mac_parse("52:54:00:AB:cd:ff", &mac));
  g_autofree char *text = mac_print(&mac);
  assert_string_equal(text, "52:54:00:ab:cd:ff");
  assert_true(ip_parse("255.0.10.1", &ip));
  assert_int_equal(ip, 0xff000a01);
}

static double
seconds_to_parse(const char *text, guint n_nodes)
{
  clock_t start = clock();
  g_autoptr(Layout) layout = parse(text);

  assert_int_equal(layout->n_nodes, n_nodes);
  return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* As many nodes as allowed, said in one line and one by one: time must not grow with the square. */
static void
test_many_nodes(void **state)
{
  (void)state;
  GString *text = g_string_new("lab: large\n"
                               "defaults: {power: sim, exec: sim, server: v1}\n"
                               "switches: {s1: {}}\n"
                               "servers: {v1: {switch: s1, ports: {eth0: {speed: 1 Gbit/s}}}}\n"
                               "clients:\n");
  g_autofree char *one_line =
      g_strconcat(text->str,
                  "  c[00001-19998]: {switch: s1, speed: 1 Gbit/s, mac: 02:00:00:00:00:01 step 1, "
                  "ip: 10.0.0.1 step 1}\n"
                  "rooms: {hall: {seats: \"c[00001-19998]\", columns: 100}}\n"
                  "blocks: {half: \"c[00001-10000]\"}\n",
                  NULL);

  for (guint i = 1; i <= 19998; i++)
    g_string_append_printf(text,
                           "  c%05u: {switch: s1, speed: 1 Gbit/s, mac: 02:00:00:00:%02x:%02x, ip: "
                           "10.0.%u.%u}\n",
                           i, i >> 8, i & 255, i >> 8, i & 255);
  g_autofree char *one_by_one = g_string_free(text, FALSE);
  double together = seconds_to_parse(one_line, LAYOUT_MAX_NODES);
  double singly = seconds_to_parse(one_by_one, LAYOUT_MAX_NODES);
  print_message("20,000 nodes: %.3f s in one line, %.3f s one by one\n", together, singly);
  assert_true(together < MAX_PARSE && singly < MAX_PARSE);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sample),
      cmocka_unit_test(test_boot_defaults),
      cmocka_unit_test(test_boot_and_deadlines),
      cmocka_unit_test(test_stages),
      cmocka_unit_test(test_backends),
      cmocka_unit_test(test_server_resources),
      cmocka_unit_test(test_groups_build_on_each_other),
      cmocka_unit_test(test_order_of_nodes),
      cmocka_unit_test(test_exports),
      cmocka_unit_test(test_broken),
      cmocka_unit_test(test_damaged),
      cmocka_unit_test(test_addresses),
      cmocka_unit_test(test_many_nodes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
