/* What Linux tells of itself, as text: bonds, sockets, counters. */
#include "backends/proc/proc_bond.h"
#include "backends/proc/proc_flow.h"
#include "backends/proc/proc_net.h"
#include "backends/proc/proc_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* ---- Bonds --------------------------------------------------------------------------------- */

static void
check_bond(const char *file, const char *expected)
{
  g_autofree char *path = g_strconcat("tests/unit/samples/bonding/", file, NULL), *text = NULL;
  ProcBond bond;

  assert_true(g_file_get_contents(path, &text, NULL, NULL));
  assert_true(proc_bond_parse(text, &bond));
  g_autoptr(GString) seen = g_string_new(NULL);
  g_string_append_printf(seen, "%s|%s|%s|%s|%s|%d", bond.version, bond.mode, bond.policy,
                         bond.active, bond.up ? "up" : "down", bond.aggregator);
  for (guint i = 0; i < bond.n_ports; i++) {
    const ProcBondPort *port = &bond.ports[i];
    g_string_append_printf(seen, "\n%s %s%s %" G_GINT64_FORMAT " lost %" G_GUINT64_FORMAT " %d",
                           port->name, port->up ? "up" : "down",
                           proc_bond_port_sends(&bond, i) ? " sends" : "", port->speed,
                           port->link_failures, port->aggregator);
  }
  assert_string_equal(seen->str, expected);
}

static void
test_bonds(void **state)
{
  (void)state;
  check_bond("2.6.32-xor", "v3.5.0|balance-xor|layer2||up|-1\n"
                           "eth0 up sends -1 lost 0 -1\n"
                           "eth1 down -1 lost 3 -1");
  check_bond("3.16-802.3ad", "v3.7.1|802.3ad|layer2+3||up|2\n"
                             "eth0 up 1000000000 lost 0 1\n"
                             "eth1 up sends 1000000000 lost 1 2\n"
                             "eth2 down 10000000000 lost 0 2");
  check_bond("6.1-no-aggregator", "6.1.0-18-amd64|802.3ad|layer3+4||up|-1\n"
                                  "eth0 up -1 lost 0 -1");
  check_bond("6.1-xor-virtio", "v6.1.0-42-cloud-amd64|balance-xor|vlan+srcmac||up|-1\n"
                               "eth0 up sends -1 lost 0 -1\n"
                               "eth1 up sends -1 lost 0 -1");
  check_bond("4.19-active-backup", "v3.7.1|active-backup||eth1|up|-1\n"
                                   "eth0 up 2500000000 lost 0 -1\n"
                                   "eth1 up sends 40000000000 lost 0 -1");
  check_bond("tabs-round-robin", "v3.7.1|balance-rr|||up|-1\n"
                                 "eth0 up sends 100000000 lost 0 -1\n"
                                 "eth1 down -1 lost 0 -1");
}

static void
test_no_bond(void **state)
{
  (void)state;
  ProcBond bond;
  g_autoptr(GString) many = g_string_new("Ethernet Channel Bonding Driver: v3.7.1\n");

  assert_false(proc_bond_parse("", &bond));
  assert_false(proc_bond_parse("Bonding Mode: load balancing (xor)\n", &bond));
  for (guint i = 0; i < 20; i++)
    g_string_append_printf(many, "Slave Interface: eth%u\nMII Status: up\n", i);
  g_string_append_printf(many, "Slave Interface: %0100d\nMII Status: up\n", 0);
  assert_true(proc_bond_parse(many->str, &bond));
  assert_int_equal(bond.n_ports, PROC_BOND_MAX_PORTS);
  assert_false(bond.up); /* of the ports beyond nothing is taken for the bond's own */
}

static void
test_eras(void **state)
{
  (void)state;
  static const struct {
    const char *release;
    int era;
  } cases[] = {
      {"2.6.32-74-server", BOND_ERA_2_6_32},
      {"2.6.18-6-amd64", -1},
      {"2.4.37", -1},
      {"3.10.0-1160.el7.x86_64", -1},
      {"3.2.0-4-amd64", BOND_ERA_2_6_32},
      {"3.13.0-170-generic", BOND_ERA_3_13},
      {"4.13.0", BOND_ERA_3_13},
      {"4.14.0", -1},
      {"5.10.0-28-amd64", -1},
      {"5.17.15", -1},
      {"5.18", BOND_ERA_5_18},
      {"6.1.0-18-amd64", BOND_ERA_5_18},
      {"10.0.0", BOND_ERA_5_18},
      {"", -1},
      {"6", -1},
      {"six", -1},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    if (proc_bond_era(cases[i].release) != cases[i].era)
      fail_msg("%s: %d", cases[i].release, proc_bond_era(cases[i].release));
}

/* ---- Interfaces ---------------------------------------------------------------------------- */

static void
test_net_lines(void **state)
{
  (void)state;
  char name[PROC_NAME_BYTES];
  ProcCounters c;

  assert_true(proc_net_parse("  eth0: 446800829   15901    0    0    0     0          0         0 "
                             "  828502   10698    0    0    0     0       0          0",
                             name, &c));
  assert_string_equal(name, "eth0");
  assert_true(c.rx_bytes == 446800829 && c.rx_packets == 15901 && c.tx_bytes == 828502 &&
              c.tx_packets == 10698);
  assert_true(proc_net_parse("bond0.21:1234567890 1 0 0 0 0 0 0 18446744073709551615 4", name, &c));
  assert_string_equal(name, "bond0.21");
  assert_true(c.rx_bytes == 1234567890 && c.tx_bytes == G_MAXUINT64 && c.tx_packets == 4);
  assert_true(proc_net_parse("eth0:1: 1 2 0 0 0 0 0 0 3 4", name, &c)); /* an alias */
  assert_string_equal(name, "eth0:1");
  assert_false(proc_net_parse("Inter-|   Receive          |  Transmit", name, &c));
  assert_false(proc_net_parse(" face |bytes    packets errs drop fifo frame", name, &c));
  assert_false(proc_net_parse("eth0: 1 2 3", name, &c));
  assert_false(proc_net_parse("eth0: 18446744073709551616 2 0 0 0 0 0 0 3 4", name, &c));
  assert_false(proc_net_parse("eth0: -1 2 0 0 0 0 0 0 3 4", name, &c));
  assert_false(proc_net_parse(": 1 2 0 0 0 0 0 0 3 4", name, &c));
  assert_false(proc_net_parse("", name, &c));
}

static void
add(ProcNet *net, guint64 rx, guint64 rx_packets, guint64 tx, guint64 tx_packets)
{
  ProcCounters now = {rx, rx_packets, tx, tx_packets};
  proc_net_add(net, &now);
}

/* 1448 bytes a frame of 1514, and 66 each acknowledgement: whether frames are counted one by one or
 * 44 at once. */
static void
test_payload(void **state)
{
  (void)state;
  ProcNet net = {0};

  add(&net, 5000000, 4000, 66000, 1000);
  assert_true(net.rx == 0 && net.tx == 0); /* what passed before nobody metered */
  add(&net, 5000000 + 1000 * 1514, 5000, 66000 + 500 * 66, 1500);
  assert_int_equal(net.rx, 1448000);
  assert_int_equal(net.tx, 0);
  add(&net, 6514000 + 44 * 1448 + 66, 5001, 99000, 1500);
  assert_int_equal(net.rx, 1448000 + 44 * 1448);
  add(&net, 6514000 + 44 * 1448 + 66 + 42, 5002, 99000, 1500); /* ARP: no less than before */
  assert_int_equal(net.rx, 1448000 + 44 * 1448);
}

static void
test_wrap_and_reset(void **state)
{
  (void)state;
  const guint64 top = G_GUINT64_CONSTANT(1) << 32;
  ProcNet net = {0};

  add(&net, top - 1514, 100, 0, 0);
  add(&net, 1514, 102, 0, 0);
  assert_int_equal(net.rx, 2 * 1448);
  add(&net, 3028, 1, 0,
      0); /* packets went back alone: they wrapped, and more than bytes have room */
  assert_int_equal(net.rx, 2 * 1448);
  add(&net, 1000, 0, 0, 0); /* both went back: reset */
  add(&net, 1000 + 1514, 1, 1514, 1);
  assert_int_equal(net.rx, 3 * 1448);
  assert_int_equal(net.tx, 1448);
  ProcNet wide = {0};
  add(&wide, top + 1000, 10, 0, 0);
  add(&wide, 2000, 10, 0, 0); /* above 32 bits nothing wraps there */
  assert_int_equal(wide.rx, 0);
  add(&wide, 2000 + 1514, 11, 0, 0);
  assert_int_equal(wide.rx, 1448);
}

/* ---- A server's own ------------------------------------------------------------------------ */

static void
test_server_lines(void **state)
{
  (void)state;
  gint64 load;
  guint64 number;

  assert_true(proc_load_parse("2.99 1.81 1.36 3/109 20688", &load));
  assert_int_equal(load, 2990);
  assert_true(proc_load_parse("0.05 0.00 0.00 1/1 2", &load));
  assert_int_equal(load, 50);
  assert_false(proc_load_parse("2 1 1", &load));
  assert_false(proc_load_parse("2.999 1 1", &load));
  assert_false(proc_load_parse("", &load));
  assert_true(proc_disk_parse("  232168    24005  8385746   117874   647016   270260 53766872   "
                              "612610        0   225744   903860",
                              &number));
  assert_true(number == (G_GUINT64_CONSTANT(8385746) + 53766872) * 512);
  assert_false(proc_disk_parse("1 2 3 4 5 6", &number));
  assert_false(proc_disk_parse("1 2 18446744073709551615 4 5 6 7", &number));
  assert_true(proc_nfsd_calls_parse("rpc 5817 0 0 0 0", &number));
  assert_int_equal(number, 5817);
  assert_false(proc_nfsd_calls_parse("rpcx 5817", &number));
  assert_true(proc_nfsd_threads_parse("th 64 0 0.000 0.000 0.000", &number));
  assert_int_equal(number, 64);
  assert_true(proc_nfsd_pool_parse("0 12345 678 9000 0", &number));
  assert_int_equal(number, 678);
  assert_false(proc_nfsd_pool_parse("# pool packets-arrived sockets-enqueued", &number));

  ProcCount count = {0};
  proc_count_add(&count, 1000);
  proc_count_add(&count, 1500);
  proc_count_add(&count, 200); /* the module was loaded anew */
  proc_count_add(&count, 260);
  assert_int_equal(count.total, 560);
}

/* ---- Connections --------------------------------------------------------------------------- */

static const char *const listing[] = {
    "Recv-Q Send-Q            Local Address:Port             Peer Address:Port Process",
    "0      0                   10.21.0.254:2049                10.21.0.1:873  ",
    "\t cubic wscale:7,7 rto:204 rtt:1.25/0.5 ato:40 mss:1448 pmtu:1500 rcvmss:536 advmss:1448 "
    "cwnd:42 ssthresh:20 bytes_sent:1000100 bytes_retrans:2896 bytes_acked:1000001 "
    "bytes_received:5000 segs_out:800 segs_in:500 send 389.2Mbps lastsnd:4 retrans:0/2 rcv_space:1",
    "0      0          [::ffff:10.21.0.254]:10809    [::ffff:10.21.0.2]:40000",
    "\t cubic cwnd:10",
    "\t bytes_acked:77 bytes_received:66", /* wrapped */
    "ESTAB      0      0           10.21.0.254%bond0:2049         10.21.0.1:700  users:((\"x\"))",
    "\t cubic bytes_acked:5",
    "0      0            [fd00::1]:22                       [fd00::2]:51000",
    "\t cubic bytes_acked:999999999 retrans:9/9",
    "ESTAB 0 0 10.21.0.254:ssh 10.21.0.1:x",
    "",
};

static void
read_listing(ProcSockets *sockets)
{
  proc_sockets_begin(sockets);
  for (guint i = 0; i < G_N_ELEMENTS(listing); i++)
    proc_sockets_line(sockets, listing[i]);
}

static void
test_sockets(void **state)
{
  (void)state;
  ProcSockets sockets;

  proc_sockets_init(&sockets);
  proc_sockets_line(&sockets, "\t cubic bytes_acked:4"); /* of nothing */
  for (guint round = 0; round < 2; round++) {
    read_listing(&sockets);
    assert_int_equal(sockets.sockets->len, 3);
    const ProcSocket *socket = &g_array_index(sockets.sockets, ProcSocket, 0);
    assert_int_equal(socket->local, 0x0a1500fe);
    assert_int_equal(socket->peer, 0x0a150001);
    assert_int_equal(socket->local_port, 2049);
    assert_int_equal(socket->peer_port, 873);
    assert_true(socket->counts && socket->acked == 1000001 && socket->received == 5000);
    assert_int_equal(socket->retrans, 2);
    assert_true(socket->rtt == 1.25);
    assert_int_equal(socket->congestion, 42);
    socket++;
    assert_int_equal(socket->local, 0x0a1500fe);
    assert_int_equal(socket->peer, 0x0a150002);
    assert_int_equal(socket->local_port, 10809);
    assert_true(socket->acked == 77 && socket->rtt == -1 && socket->congestion == 10);
    socket++;
    assert_int_equal(socket->local, 0x0a1500fe);
    assert_int_equal(socket->peer_port, 700);
    assert_int_equal(socket->acked, 5);
  }
  proc_sockets_clear(&sockets);
}

static Layout *
two_seats(void)
{
  g_autofree char *text = NULL;
  gsize length;
  if (!g_file_get_contents("tests/unit/samples/two-seats.yaml", &text, &length, NULL))
    return NULL;
  return layout_parse("two-seats", text, length, NULL);
}

static ProcSocket
connection(guint16 port, guint64 acked)
{
  return (ProcSocket){.local = 0x0a1500fe,
                      .peer = 0x0a150001,
                      .local_port = 2049,
                      .peer_port = port,
                      .counts = TRUE,
                      .acked = acked,
                      .rtt = 1,
                      .congestion = 10};
}

static void
test_flows(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = two_seats();
  ProcFlows *flows = proc_flows_new(layout, layout_find(layout, "s1"));
  guint n;
  const ProcClient *client = proc_flows_clients(flows, &n);
  assert_int_equal(n, 2);
  assert_string_equal(layout_node(layout, client->node)->name, "a01");

  proc_flows_add(flows, NULL, 0);
  assert_true(proc_flows_count(flows) && !client->flows && !client->moved);
  ProcSocket two[] = {connection(873, 1000), connection(874, 5000)};
  proc_flows_add(flows, two, 2); /* new since then: with all they carried */
  assert_int_equal(client->served, 6000);
  assert_true(client->moved && client->flows && client->flow.peer_port == 874);
  two[0].acked += 1900, two[1].acked += 1000; /* not twice as much: no taking of turns */
  proc_flows_add(flows, two, 2);
  assert_true(!client->moved && client->flow.peer_port == 874 && client->served == 8900);
  two[0].acked += 3000, two[1].acked += 1000, two[0].retrans = 3;
  proc_flows_add(flows, two, 2);
  assert_true(client->moved && client->flow.peer_port == 873 && client->served == 12900);
  assert_int_equal(client->retrans, 3);
  proc_flows_add(flows, two + 1, 1); /* it ended; what was served stays served */
  assert_true(client->moved && client->flow.peer_port == 874 && client->served == 12900);
  two[1].acked = 10; /* another connection from the same port */
  proc_flows_add(flows, two + 1, 1);
  assert_true(!client->moved && client->served == 12910 && client->n_sockets == 1);
  two[1].counts = FALSE;
  proc_flows_add(flows, two + 1, 1);
  assert_false(proc_flows_count(flows));
  proc_flows_add(flows, NULL, 0);
  assert_true(client->moved && !client->flows && client->served == 12910);
  proc_flows_free(flows);
}

/* What a connection carried before the first listing is not counted. */
static void
test_first_listing(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = two_seats();
  ProcFlows *flows = proc_flows_new(layout, layout_find(layout, "s1"));
  guint n;
  const ProcClient *client = proc_flows_clients(flows, &n);
  ProcSocket one = connection(873, 123456);
  proc_flows_add(flows, &one, 1);
  assert_true(client->served == 0 && client->moved && client->flow.peer_port == 873);
  one.acked += 44;
  proc_flows_add(flows, &one, 1);
  assert_int_equal(client->served, 44);
  proc_flows_free(flows);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bonds),        cmocka_unit_test(test_no_bond),
      cmocka_unit_test(test_eras),         cmocka_unit_test(test_net_lines),
      cmocka_unit_test(test_payload),      cmocka_unit_test(test_wrap_and_reset),
      cmocka_unit_test(test_server_lines), cmocka_unit_test(test_sockets),
      cmocka_unit_test(test_flows),        cmocka_unit_test(test_first_listing),
  };
  return cmocka_run_group_tests_name("proc", tests, NULL, NULL);
}
