/* What a switch's agent tells: counters that wrap and are reset, tables, and which port leads
 * where.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#ifdef HAVE_SNMP
#include "backends/snmp/snmp_place.h"
#include "backends/snmp/snmp_port.h"

/* ---- Counters -------------------------------------------------------------------------------- */

/* As the agent answers: octets and packets in and out, the rest nought. */
static void
answer(SnmpValue values[SNMP_PORT_ITEMS], guint64 in, guint64 in_packets, guint64 out,
       guint64 out_packets)
{
  memset(values, 0, SNMP_PORT_ITEMS * sizeof *values);
  for (guint i = 0; i < SNMP_PORT_ITEMS; i++)
    values[i].kind = SNMP_NUMBER;
  values[0].number = in;
  values[1].number = in_packets;
  values[4].number = out;
  values[5].number = out_packets;
  values[10].number = 1;
}

static void
count(SnmpPort *port, gboolean narrow, guint64 in, guint64 in_packets, guint64 out,
      guint64 out_packets, guint64 discontinuity)
{
  SnmpValue values[SNMP_PORT_ITEMS];
  SnmpReading reading;

  answer(values, in, in_packets, out, out_packets);
  values[12].number = discontinuity;
  snmp_port_read(values, narrow, &reading);
  assert_true(reading.there && reading.up == 1);
  snmp_port_add(port, &reading, FALSE);
}

static void
test_payload(void **state)
{
  SnmpPort port = {0};
  (void)state;

  count(&port, FALSE, 5000, 7, 900, 3, 0);
  assert_int_equal(port.net.rx, 0);
  count(&port, FALSE, 5000 + 1514 * 10, 17, 900 + 66 * 5, 8, 0);
  assert_int_equal(port.net.rx, 1448 * 10);
  assert_int_equal(port.net.tx, 0);
}

static void
test_check_bytes(void **state)
{
  SnmpPort port = {0};
  SnmpValue values[SNMP_PORT_ITEMS];
  SnmpReading reading;
  (void)state;

  for (guint i = 0; i < 2; i++) {
    answer(values, i * 1518 * 10, i * 10, i * 70, i);
    snmp_port_read(values, FALSE, &reading);
    snmp_port_add(&port, &reading, TRUE);
  }
  assert_int_equal(port.net.rx, 1448 * 10);
  assert_int_equal(port.net.tx, 0);
}

static void
test_packets_of_all_kinds(void **state)
{
  SnmpValue values[SNMP_PORT_ITEMS];
  SnmpReading reading;
  (void)state;

  answer(values, 1, 100, 1, 0);
  values[2].number = 20; /* multicast; of the 32-bit objects all that are not unicast */
  values[3].number = 3;  /* broadcast */
  snmp_port_read(values, FALSE, &reading);
  assert_int_equal(reading.bytes.rx_packets, 123);
  snmp_port_read(values, TRUE, &reading);
  assert_int_equal(reading.bytes.rx_packets, 120);
}

static void
test_wrap(void **state)
{
  const guint64 top = G_GUINT64_CONSTANT(1) << 32;
  SnmpPort port = {0};
  (void)state;

  count(&port, TRUE, top - 1000, 10, 0, 0, 0);
  count(&port, TRUE, 514, 11, 0, 0, 0);
  assert_int_equal(port.net.rx, 1448);
  count(&port, TRUE, 514 + 1514, 12, 0, 0, 0);
  assert_int_equal(port.net.rx, 2 * 1448);
}

/* 64 bits do not wrap: what went back was reset, and what passed since is not known. */
static void
test_reset(void **state)
{
  SnmpPort port = {0};
  (void)state;

  count(&port, FALSE, 1514 * 100, 100, 0, 0, 0);
  count(&port, FALSE, 1514 * 101, 101, 0, 0, 0);
  count(&port, FALSE, 1514 * 50, 200, 0, 0, 0);
  assert_int_equal(port.net.rx, 1448);
  count(&port, FALSE, 1514 * 51, 201, 0, 0, 0);
  assert_int_equal(port.net.rx, 2 * 1448);
}

static void
test_reset_of_all(void **state)
{
  SnmpPort port = {0};
  (void)state;

  count(&port, TRUE, 4000000000u, 5000000, 9000, 100, 0);
  count(&port, TRUE, 1514, 1, 0, 0, 0);
  assert_int_equal(port.net.rx, 0);
  count(&port, TRUE, 2 * 1514, 2, 0, 0, 0);
  assert_int_equal(port.net.rx, 1448);
}

/* Counters that were reset and have passed their old values since. */
static void
test_discontinuity(void **state)
{
  SnmpPort port = {0};
  (void)state;

  count(&port, FALSE, 1514, 1, 0, 0, 0);
  count(&port, FALSE, 1514 * 1000, 1000, 0, 0, 4711);
  assert_int_equal(port.net.rx, 0);
  count(&port, FALSE, 1514 * 1001, 1001, 0, 0, 4711);
  assert_int_equal(port.net.rx, 1448);
  snmp_port_restart(&port);
  count(&port, FALSE, 1514 * 9000, 9000, 0, 0, 4711);
  assert_int_equal(port.net.rx, 1448);
}

static void
test_no_such_interface(void **state)
{
  SnmpValue values[SNMP_PORT_ITEMS] = {{.kind = SNMP_NONE}};
  SnmpPort port = {0};
  SnmpReading reading;
  (void)state;

  snmp_port_read(values, FALSE, &reading);
  assert_false(reading.there);
  assert_int_equal(reading.up, -1);
  snmp_port_add(&port, &reading, FALSE);
  assert_false(port.begun);
}

static void
test_names(void **state)
{
  g_autoptr(GArray) names = g_array_new(FALSE, FALSE, sizeof(SnmpName));
  const SnmpName octets = {12, {1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 6, 49}};
  const SnmpName narrow = {11, {1, 3, 6, 1, 2, 1, 2, 2, 1, 10, 49}};
  (void)state;

  snmp_port_names(names, 49, FALSE);
  snmp_port_names(names, 49, TRUE);
  assert_int_equal(names->len, 2 * SNMP_PORT_ITEMS);
  assert_int_equal(snmp_name_compare(&g_array_index(names, SnmpName, 0), &octets), 0);
  assert_int_equal(snmp_name_compare(&g_array_index(names, SnmpName, SNMP_PORT_ITEMS), &narrow), 0);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static SnmpName
under(SnmpColumn column, const guint32 *ids, guint n)
{
  SnmpName name = *snmp_table_root(column);

  for (guint i = 0; i < n; i++)
    name = snmp_name_with(name, ids[i]);
  return name;
}

static void
take_word(SnmpTable *table, SnmpColumn column, guint32 index, const char *word)
{
  SnmpValue value = {.name = under(column, &index, 1), .kind = SNMP_BYTES};

  value.length = (guint)g_strlcpy(value.bytes, word, sizeof value.bytes);
  snmp_table_take(table, column, &value);
}

static void
take_number(SnmpTable *table, SnmpColumn column, const guint32 *ids, guint n, guint64 number)
{
  SnmpValue value = {.name = under(column, ids, n), .kind = SNMP_NUMBER, .number = number};

  snmp_table_take(table, column, &value);
}

static void
take_port(SnmpTable *table, guint32 port, guint32 index)
{
  take_number(table, SNMP_BASE_PORT, &port, 1, index);
}

/* The address ends with LAST; VLAN 0: by BRIDGE-MIB. */
static void
take_address(SnmpTable *table, guint32 vlan, guint32 last, guint32 port)
{
  const guint32 ids[] = {vlan, 0x52, 0x54, 0, 0x0a, 0, last};

  if (vlan != 0)
    take_number(table, SNMP_Q_FDB, ids, 7, port);
  else
    take_number(table, SNMP_FDB, ids + 1, 6, port);
}

static const MacAddress *
address(guint8 last)
{
  static MacAddress mac;

  mac = (MacAddress){{0x52, 0x54, 0, 0x0a, 0, last}};
  return &mac;
}

/* Interfaces 101 … 104 behind the bridge's ports 1 … 4. */
static SnmpTable *
some_table(void)
{
  SnmpTable *table = snmp_table_new();

  for (guint32 i = 1; i <= 4; i++) {
    g_autofree char *name = g_strdup_printf("Gi1/0/%u", i);
    take_word(table, SNMP_IF_NAME, 100 + i, name);
    take_port(table, i, 100 + i);
  }
  return table;
}

static void
test_find(void **state)
{
  g_autoptr(SnmpTable) table = some_table();
  (void)state;

  take_word(table, SNMP_IF_DESCR, 101, "GigabitEthernet1/0/1");
  take_word(table, SNMP_IF_ALIAS, 102, " sw2 ");
  take_word(table, SNMP_IF_ALIAS, 103, "twice");
  take_word(table, SNMP_IF_ALIAS, 104, "twice");
  assert_int_equal(snmp_table_find(table, "Gi1/0/2"), 102);
  assert_int_equal(snmp_table_find(table, "GigabitEthernet1/0/1"), 101);
  assert_int_equal(snmp_table_find(table, "sw2"), 102);
  assert_int_equal(snmp_table_find(table, "twice"), 0);
  assert_int_equal(snmp_table_find(table, "Gi1/0"), 0);
  assert_int_equal(snmp_table_find(table, "103"), 103);
  assert_int_equal(snmp_table_find(table, "105"), 0);
  assert_int_equal(snmp_table_find(table, ""), 0);
}

static void
test_words_are_data(void **state)
{
  g_autoptr(SnmpTable) table = snmp_table_new();
  (void)state;

  take_word(table, SNMP_IF_NAME, 1, "e\x1b[31m\xff");
  g_autofree char *label = snmp_table_label(table, 1);
  assert_string_equal(label, "e?[31m\xef\xbf\xbd");
  g_autofree char *none = snmp_table_label(table, 2);
  assert_string_equal(none, "2");
}

static void
test_addresses(void **state)
{
  g_autoptr(SnmpTable) table = some_table();
  (void)state;

  take_address(table, 0, 1, 1);
  take_address(table, 7, 2, 2);
  take_address(table, 8, 2, 2);
  take_address(table, 7, 3, 3);
  take_address(table, 8, 3, 4);
  take_address(table, 0, 4, 0);
  take_address(table, 0, 5, 9); /* no interface is known of that port */
  assert_int_equal(snmp_table_behind(table, address(1)), 101);
  assert_int_equal(snmp_table_behind(table, address(2)), 102);
  assert_int_equal(snmp_table_behind(table, address(3)), 0);
  assert_int_equal(snmp_table_behind(table, address(4)), 0);
  assert_int_equal(snmp_table_behind(table, address(5)), 0);
  assert_int_equal(snmp_table_behind(table, address(6)), 0);
}

static void
test_odd_rows(void **state)
{
  const guint32 ids[] = {0x52, 0x54, 0, 0x0a, 0, 256, 7};
  g_autoptr(SnmpTable) table = some_table();
  SnmpValue row = {.name = *snmp_table_root(SNMP_FDB), .kind = SNMP_NUMBER};
  (void)state;

  snmp_table_take(table, SNMP_FDB, &row);
  take_number(table, SNMP_FDB, ids, 6, 1);
  take_number(table, SNMP_FDB, ids, 7, 1);
  take_number(table, SNMP_FDB, ids, 3, 1);
  take_number(table, SNMP_BASE_PORT, ids, 1, G_MAXUINT64);
  take_number(table, SNMP_IF_NAME, ids, 1, 5);
  assert_int_equal(snmp_table_count(table), 4);
}

/* ---- Places ---------------------------------------------------------------------------------- */

static const char text[] =
    "lab: places\n"
    "subnets: {pool: {net: 10.0.0.0/24}}\n"
    "switches: {sw1: {}, sw2: {}}\n"
    "links: [{from: sw1, to: sw2, speed: 10 Gbit/s}]\n"
    "clients:\n"
    "  a[1-2]: {switch: sw1, subnet: pool, speed: 1 Gbit/s, mac: 52:54:00:0a:00:01 step 1,"
    " ip: 10.0.0.1 step 1}\n"
    "  b[1-2]: {switch: sw2, subnet: pool, speed: 1 Gbit/s, mac: 52:54:00:0a:00:11 step 1,"
    " ip: 10.0.0.11 step 1}\n";

static guint32
find(const Layout *layout, const SnmpTable *table, const char *const *ports, const char *name,
     char **why)
{
  NodeId node = layout_find(layout, name);
  SnmpPlace place = {layout_node(layout, node)->kind == NODE_SWITCH ? SNMP_TO_LINK : SNMP_TO_SEAT,
                     0, node, 0};

  g_clear_pointer(why, g_free);
  return snmp_place_find(layout, layout_find(layout, "sw1"), table, ports, &place, why);
}

static void
test_places(void **state)
{
  g_autoptr(Layout) layout = layout_parse("places", text, strlen(text), NULL);
  g_autoptr(SnmpTable) table = some_table();
  g_autofree char *why = NULL;
  (void)state;

  assert_non_null(layout);
  take_address(table, 0, 0x01, 1);
  take_address(table, 0, 0x11, 4);
  take_address(table, 0, 0x12, 4);
  assert_int_equal(find(layout, table, NULL, "a1", &why), 101);
  assert_null(why);
  assert_int_equal(find(layout, table, NULL, "a2", &why), 0);
  assert_non_null(strstr(why, "ports: [a2=INTERFACE]"));
  assert_int_equal(find(layout, table, NULL, "sw2", &why), 104);
  take_word(table, SNMP_IF_ALIAS, 103, "sw2");
  assert_int_equal(find(layout, table, NULL, "sw2", &why), 103);
  const char *const ports[] = {"sw2=Gi1/0/2", "a2=103", "a1=Gi9", NULL};
  assert_int_equal(find(layout, table, ports, "sw2", &why), 102);
  assert_int_equal(find(layout, table, ports, "a2", &why), 103);
  assert_int_equal(find(layout, table, ports, "a1", &why), 0);
  assert_non_null(strstr(why, "Gi9"));
}

/* A port that leads to more than one seat meters none of them, and a link has one port. */
static void
test_shared_ports(void **state)
{
  g_autoptr(Layout) layout = layout_parse("places", text, strlen(text), NULL);
  g_autoptr(SnmpTable) table = some_table();
  g_autofree char *why = NULL;
  (void)state;

  take_address(table, 0, 0x01, 1);
  take_address(table, 0, 0x02, 1);
  assert_int_equal(find(layout, table, NULL, "a1", &why), 0);
  assert_non_null(strstr(why, "a2"));
  take_address(table, 0, 0x11, 3);
  take_address(table, 0, 0x12, 4);
  assert_int_equal(find(layout, table, NULL, "sw2", &why), 0);
}

static void
test_seat_elsewhere(void **state)
{
  g_autoptr(Layout) layout = layout_parse("places", text, strlen(text), NULL);
  g_autoptr(SnmpTable) table = some_table();
  g_autofree char *why = NULL;
  (void)state;

  take_address(table, 0, 0x01, 4);
  take_address(table, 0, 0x11, 4);
  assert_int_equal(find(layout, table, NULL, "a1", &why), 0);
  assert_non_null(strstr(why, "b1"));
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_payload),
      cmocka_unit_test(test_check_bytes),
      cmocka_unit_test(test_packets_of_all_kinds),
      cmocka_unit_test(test_wrap),
      cmocka_unit_test(test_reset),
      cmocka_unit_test(test_reset_of_all),
      cmocka_unit_test(test_discontinuity),
      cmocka_unit_test(test_no_such_interface),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_find),
      cmocka_unit_test(test_words_are_data),
      cmocka_unit_test(test_addresses),
      cmocka_unit_test(test_odd_rows),
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_shared_ports),
      cmocka_unit_test(test_seat_elsewhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
#include <stdio.h>

int
main(void)
{
  puts("pult was built without net-snmp");
  return 77;
}
#endif
