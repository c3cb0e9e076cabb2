/* What core makes of a real lab's counters and of what is seen beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/core_lab.h"

static const CoreOptions yes = {.seed = 1, .consent = CONSENT_YES};

static int
port_of(const Lab *lab, const char *node)
{
  return state_node(lab->state, lab_node(lab, node))->port;
}

/* From a layout nobody can tell where layer3+4 puts a seat; from its connection, exactly. */
static void
test_flow(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  guint64 log = state_log_end(lab->state);
  lab_see(lab, "a01", "flow", "10.21.0.254:2049 10.21.0.1:873");
  assert_int_equal(state_log_end(lab->state), log); /* there are too many of them to log */
  int by_mac = port_of(lab, "a01");
  lab_see(lab, "s1", "bond0.policy", "layer3+4");
  lab_see(lab, "s1", "bond0.era", "5.18");
  guint32 hash = 0;
  for (guint client_port = 873; client_port < 890; client_port++) {
    g_autofree char *flow = g_strdup_printf("10.21.0.254:2049 10.21.0.1:%u", client_port);
    MacAddress none = {{0}};
    lab_see(lab, "a01", "flow", flow);
    hash = bond_hash_ipv4(BOND_LAYER3_4, BOND_ERA_5_18, &none, &none, 0x0a1500fe, 0x0a150001, 2049,
                          (guint16)client_port);
    assert_int_equal(port_of(lab, "a01"), (int)(hash % 2));
  }
  assert_int_equal(port_of(lab, "a02"), -1); /* it has none */
  lab_see(lab, "s1", hash % 2 ? "eth1.state" : "eth0.state", "inactive");
  assert_int_equal(port_of(lab, "a01"), hash % 2 ? 0 : 1);
  static const char *const nonsense[] = {"none",
                                         "",
                                         "10.21.0.254:2049",
                                         "a b c",
                                         "1.2.3:4 5.6.7.8:9",
                                         "10.21.0.254:99999 10.21.0.1:873"};
  for (guint i = 0; i < G_N_ELEMENTS(nonsense); i++) {
    lab_see(lab, "a01", "flow", nonsense[i]);
    assert_int_equal(port_of(lab, "a01"), -1);
  }
  lab_see(lab, "s1", "bond0.policy", "layer2");
  lab_see(lab, "s1", "eth0.state", "up");
  lab_see(lab, "s1", "eth1.state", "up");
  lab_see(lab, "s1", "bond0.era", "2.6.32");
  assert_int_equal(port_of(lab, "a01"), by_mac);
  lab_see(lab, "s1", "bond0.mode", "balance-rr"); /* which has no hash */
  assert_int_equal(port_of(lab, "a01"), -1);
}

static void
test_speed(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  NodeId s1 = lab_node(lab, "s1");
  lab_see(lab, "s1", "eth0.speed", "1.00 Gbit/s");
  lab_see(lab, "s1", "eth1.speed", "100 Mbit/s");
  lab_expect(lab, "note warning s1: s1/eth1 runs at 100 Mbit/s, and its layout says 1.00 Gbit/s\n");
  assert_true(state_port_capacity(lab->state, s1, 0) == layout_payload(1e9));
  assert_true(state_port_capacity(lab->state, s1, 1) == layout_payload(1e8));
  CoreState *copy = core_clone(lab->state);
  assert_true(state_port_capacity(copy, s1, 1) == layout_payload(1e8));
  core_free(copy);
  lab_see(lab, "s1", "eth1.speed", "fast");
  assert_true(state_port_capacity(lab->state, s1, 1) == layout_payload(1e8));
}

/* Who is logged in keeps the seat, until the machine is seen off. */
static void
test_usage(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  const NodeState *a01 = state_node(lab->state, lab_node(lab, "a01"));
  assert_true(a01->usage_t < 0);
  lab_see(lab, "a01", "power", "on");
  lab_at(lab, 5);
  lab_see(lab, "a01", "usage", "in use");
  assert_true(a01->in_use && a01->usage_t == 5 * TIME_SECOND);
  assert_string_equal(a01->usage_source, "sim");
  lab_at(lab, 7);
  lab_see(lab, "a01", "usage", "in use"); /* the same again is a newer look */
  assert_true(a01->usage_t == 7 * TIME_SECOND);
  g_string_truncate(lab->out, 0);
  lab_say(lab, "power off @all");
  lab_expect_only(lab, "request", "request 3 off sim a02 cmd=1 how=hard until 37 s\n");
  lab_see(lab, "a01", "power", "off");
  assert_false(a01->in_use);
  assert_string_equal(state_property(lab->state, "a01.usage"), "free");
}

static void
give(Lab *lab, const char *source, const char *column, gint64 value)
{
  Event event = {
      .t = lab->t, .kind = EVENT_SAMPLES, .samples = {source, column ? &column : NULL, &value, 1}};
  core_step(lab->state, &event, NULL, NULL);
}

/* A connection's events are its backend's, of its node; its columns go with it. */
static void
test_connections(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_link(lab, "ssh:a01", TRUE, "connected");
  const LogEntry *entry = state_log(lab->state, state_log_end(lab->state) - 1);
  assert_string_equal(entry->source, "ssh");
  assert_int_equal(entry->node, lab_node(lab, "a01"));
  give(lab, "ssh:a01", "a01.rx B", 5);
  give(lab, "ssh:s1/sockets", "a01.served B", 7);
  assert_non_null(meters_find(state_meters(lab->state), "a01.rx"));
  lab_link(lab, "ssh:a01", FALSE, "gone");
  assert_null(meters_find(state_meters(lab->state), "a01.rx"));
  assert_non_null(meters_find(state_meters(lab->state), "a01.served"));
  lab_link(lab, "ssh:s1", FALSE, "gone");
  assert_null(meters_find(state_meters(lab->state), "a01.served"));
}

/* Each of many sources is told once, and again after its link. */
static void
test_told_once(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  guint64 before = state_log_end(lab->state);
  for (guint i = 0; i < 600; i++) {
    g_autofree char *source = g_strdup_printf("ssh:h%u", i % 200);
    give(lab, source, NULL, 1);
  }
  assert_int_equal(state_log_end(lab->state) - before, 200);
  lab_link(lab, "ssh:h7", FALSE, "gone");
  before = state_log_end(lab->state);
  give(lab, "ssh:h7", NULL, 1);
  give(lab, "ssh:h77", NULL, 1);
  assert_int_equal(state_log_end(lab->state) - before, 1);
}

static void
test_nothing_metered(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "measure bond for 2 s as m");
  lab_at(lab, 3);
  lab_expect(lab, "note warning: m: bond has no meter\ndone 1 ok\n");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_flow),      cmocka_unit_test(test_speed),
      cmocka_unit_test(test_usage),     cmocka_unit_test(test_connections),
      cmocka_unit_test(test_told_once), cmocka_unit_test(test_nothing_metered),
  };
  return cmocka_run_group_tests_name("core_meter", tests, NULL, NULL);
}
