#include "core_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const CoreOptions asks = {.seed = 1, .consent = CONSENT_ASK};
static const CoreOptions yes = {.seed = 1, .consent = CONSENT_YES};

static void
test_link_up_asks_for_everything(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_new("tests/unit/samples/two-seats.yaml", &asks);
  assert_false(state_backend_up(lab->state, "sim"));
  assert_int_equal(core_deadline(lab->state), TIME_NEVER);
  lab_link(lab, "sim", TRUE, "simulated lab");
  lab_expect(lab, "request 1 status sim a[01-02],s1 cmd=0 until 5 s\n"
                  "request 2 watch sim a[01-02],s1 cmd=0 interval_ns=100000000\n");
  assert_true(state_backend_up(lab->state, "sim"));
  assert_int_equal(core_deadline(lab->state), 6 * TIME_SECOND);
  lab_link(lab, "sim", TRUE, "once more");
  lab_link(lab, "another", TRUE, "which no node names");
  lab_expect(lab, "");
  assert_false(state_backend_up(lab->state, "another"));
}

static void
test_observations(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&asks);
  const NodeState *a01 = state_node(lab->state, lab_node(lab, "a01"));
  assert_int_equal(a01->power, POWER_OFF);
  assert_string_equal(a01->power_source, "sim");
  lab_at(lab, 7);
  lab_see(lab, "a01", "power", "off");
  assert_int_equal(a01->power_t, 7 * TIME_SECOND);
  /* A server that is found on is not booting. */
  assert_false(state_node(lab->state, lab_node(lab, "s1"))->booting);
  lab_see(lab, "a01", "usage", "in use");
  assert_true(a01->in_use);
  StateCounts counts = state_counts(lab->state, NULL, 0);
  assert_int_equal(counts.off, 2);
  assert_int_equal(counts.in_use, 1);
  NodeId s1 = lab_node(lab, "s1");
  assert_int_equal(state_counts(lab->state, &s1, 1).on, 1);
  assert_int_equal(state_now(lab->state), 7 * TIME_SECOND);
  lab_expect(lab, "");
}

/* ---- Properties ---------------------------------------------------------------------------- */

static void
test_properties_of_the_layout(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_new("layouts/openslx-two-rooms.yaml", &asks);
  static const struct {
    const char *path, *value;
  } cases[] = {
      {"slx1.nfsd", "64"},
      {"slx1.disk-rate", "none"},
      {"slx1.transmit-ceiling", "none"},
      {"slx1/bond0.policy", "layer2"},
      {"slx1/bond0.era", "2.6.32"},
      {"slx1/eth3.state", "up"},
      {"a02/eth0.state", "up"},
      {"a02.mac", "52:54:00:0a:00:02"},
      {"link:sw2-sw3.state", "up"},
      {"slx1.nfds", NULL},
      {"slx1/eth4.state", NULL},
      {"a99.mac", NULL},
      {"link:sw1-sw3.state", NULL},
      {"nfsd", NULL},
      {"slx1.", NULL},
      {".nfsd", NULL},
      {"link:.state", NULL},
      {"link:", NULL},
      {"link.", NULL},
      {"", NULL},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *value = state_property(lab->state, cases[i].path);
    if (g_strcmp0(value, cases[i].value) != 0)
      fail_msg("%s is %s", cases[i].path, value ? value : "nothing");
  }
}

/* H4: 8, 1, 7, 1 clients of a room. */
static void
count_ports(const Lab *lab, guint counts[5])
{
  memset(counts, 0, 5 * sizeof *counts);
  for (guint i = 0; i < lab->layout->n_nodes; i++)
    if (lab->layout->nodes[i].kind == NODE_CLIENT)
      counts[state_node(lab->state, i)->port + 1]++;
}

static void
test_ports_follow_properties(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_new("layouts/openslx-two-rooms.yaml", &asks);
  NodeId slx1 = lab_node(lab, "slx1");
  guint counts[5];
  count_ports(lab, counts);
  static const guint h4[] = {0, 16, 2, 14, 2};
  assert_memory_equal(counts, h4, sizeof h4);
  lab_see(lab, "slx1", "eth2.state", "down");
  assert_false(state_port_up(lab->state, slx1, 2));
  assert_true(state_port_capacity(lab->state, slx1, 2) == 0);
  assert_false(state_bond(lab->state, slx1, 0)->usable[2]);
  count_ports(lab, counts);
  /* 2.6.32: a dead port's flows go to the next usable one. */
  static const guint without[] = {0, 16, 2, 0, 16};
  assert_memory_equal(counts, without, sizeof without);
  lab_see(lab, "slx1", "eth2.state", "up");
  lab_see(lab, "slx1", "bond0.policy", "layer3+4");
  count_ports(lab, counts);
  assert_int_equal(counts[0], 34);
  lab_see(lab, "slx1", "bond0.policy", "layer2");
  lab_see(lab, "a01", "mac", "52:54:00:0a:00:01");
  assert_int_equal(state_node(lab->state, lab_node(lab, "a01"))->port, 1);
  assert_string_equal(state_property(lab->state, "a01.mac"), "52:54:00:0a:00:01");
  lab_see(lab, "slx1", "bond0.policy", "layer7");
  assert_int_equal(state_bond(lab->state, slx1, 0)->policy, BOND_LAYER2);
  int link = layout_find_link(lab->layout, "sw2-sw3");
  assert_true(state_link_capacity(lab->state, (guint)link) > 941e6);
  lab_see(lab, "sw2", "link:sw2-sw3.state", "down");
  assert_false(state_link_up(lab->state, (guint)link));
  assert_true(state_link_capacity(lab->state, (guint)link) == 0);
  assert_string_equal(state_property(lab->state, "link:sw2-sw3.state"), "down");
}

static void
test_properties_are_bounded(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&asks);
  g_autofree char *longest = g_strnfill(256, 'x');
  g_autofree char *longer = g_strnfill(257, 'x');
  lab_see(lab, "s1", "motd", longest);
  assert_string_equal(state_property(lab->state, "s1.motd"), longest);
  lab_see(lab, "s1", "motd", longer);
  assert_string_equal(state_property(lab->state, "s1.motd"), longest);
  for (guint i = 0; i < 100; i++) {
    g_autofree char *fact = g_strdup_printf("fact%u", i);
    lab_see(lab, "s1", fact, "1");
  }
  assert_string_equal(state_property(lab->state, "s1.fact62"), "1");
  assert_null(state_property(lab->state, "s1.fact63"));
}

static void
test_get_and_set_of_a_link(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_new("layouts/openslx-two-rooms.yaml", &yes);
  lab_link(lab, "sim", TRUE, "simulated lab");
  g_string_truncate(lab->out, 0);
  lab_say(lab, "set link:sw2-sw3.state down");
  lab_expect(lab, "plan 1: set link:sw2-sw3.state down sw2 by sim; 1 seats\n"
                  "request 3 set sim sw2 cmd=1 path=link:sw2-sw3.state value=down until 10 s\n");
  lab_answer(lab, 3, "sw2", VERDICT_FAILED, "sw2: not manageable");
  lab_expect(lab, "done 1 failed\n");
  assert_true(state_link_up(lab->state, (guint)layout_find_link(lab->layout, "sw2-sw3")));
}

/* ---- Sets ---------------------------------------------------------------------------------- */

static void
check_resolved(const Lab *lab, const char *text, const char *resolved)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *found = core_resolve(lab->state, text, &error);
  if (!found)
    fail_msg("%s: %s", text, error->message);
  assert_string_equal(found, resolved);
  g_autofree char *again = core_resolve(lab->state, found, &error);
  assert_string_equal(again, resolved);
}

static void
test_resolve(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_new("layouts/openslx-two-rooms.yaml", &yes);
  lab_see(lab, "a03", "power", "off");
  lab_see(lab, "a05", "power", "off");
  lab_see(lab, "b07", "power", "off");
  lab_see(lab, "a04", "power", "on");
  lab_see(lab, "a06", "usage", "in use");
  lab_see(lab, "a09", "stage", "kernel");
  check_resolved(lab, "boot roomA", "boot a[01-17]");
  check_resolved(lab, "boot @roomA!front", "boot a[07-17]");
  check_resolved(lab, "power on roomA&@off", "power on a[03,05]");
  check_resolved(lab, "power on unknown&front", "power on a[01-02,06]");
  check_resolved(lab, "power off @on", "power off a[04,09]");
  check_resolved(lab, "power off @booting,@inuse", "power off a[06,09]");
  check_resolved(lab, "power status @unknown&@front", "power status a[01-02,06]");
  check_resolved(lab, "power status all!@free", "power status a06");
  check_resolved(lab, "power on first(2,@off)", "power on a[03,05]");
  check_resolved(lab, "power on \"first( 4 , roomA!@off )\",b01", "power on a[01-02,04,06],b01");
  check_resolved(lab, "power on roomA!first(16,roomA)", "power on a17");
  check_resolved(lab, "power on first(1,first(3,@off)!a03)", "power on a05");
  check_resolved(lab, "load start dd on @pool14&b[01-05] as x", "load start dd on b[04-05] as x");
  check_resolved(lab, "wait power a[01-02],sw1 off", "wait power a[01-02],sw1 off");
  check_resolved(lab, "wait boot @front login", "wait boot a[01-06] login");
  check_resolved(lab, "wait boot a01 login", "wait boot a01 login");
  check_resolved(lab, "try plan power cycle @off stagger 500ms",
                 "try plan power cycle a[03,05],b07 stagger 500 ms");
  check_resolved(lab, "mark \"@off\"", "mark @off");
}

static void
check_unresolved(const Lab *lab, const char *text, const char *message)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *found = core_resolve(lab->state, text, &error);
  if (found)
    fail_msg("%s became %s", text, found);
  assert_string_equal(error->message, message);
}

static void
test_resolve_errors(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_new("layouts/openslx-two-rooms.yaml", &yes);
  check_unresolved(lab, "boot rommA", "there is no node or group rommA; did you mean roomA?");
  check_unresolved(lab, "boot @roomC", "there is no group roomC; did you mean roomA?");
  check_unresolved(lab, "boot a[16-18]", "there is no node or group a18; did you mean a08?");
  check_unresolved(lab, "boot @failed", "@failed holds no node now");
  check_unresolved(lab, "boot roomA!roomA", "roomA!roomA holds no node now");
  check_unresolved(lab, "boot first(0,roomA)",
                   "first(0,roomA) should read first(N,SET), with N "
                   "from 1");
  check_unresolved(lab, "boot first(2)", "first(2) should read first(N,SET), with N from 1");
  check_unresolved(lab, "boot @_0", "there is no group _0");
  check_unresolved(lab, "wait boot roomA login",
                   "roomA is a group; where a label may stand it is written @roomA");
  check_unresolved(lab, "wait boot a1 login", "there is no boot or node a1; did you mean a01?");
}

/* A label goes before a node of that name, once a boot has it. */
static void
test_labels_and_nodes(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "boot a02 as a01");
  lab_answer(lab, 3, "a02", VERDICT_OK, "");
  lab_settle(lab);
  g_string_truncate(lab->out, 0);
  check_resolved(lab, "wait boot a01 kernel", "wait boot a01 kernel");
  lab_say(lab, "wait boot a01 kernel");
  lab_see(lab, "a01", "stage", "kernel");
  lab_expect(lab, "");
  lab_see(lab, "a02", "stage", "kernel");
  lab_expect(lab, "done 2 ok\n");
}

/* ---- Log ----------------------------------------------------------------------------------- */

static void
test_log(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  guint64 first = state_log_end(lab->state);
  lab_at(lab, 3);
  lab_say(lab, "power on a01");
  lab_line(lab, 3, "a01", "console", "hello\x1b[31m");
  lab_answer(lab, 3, "a01", VERDICT_FAILED, "a01: fuse");
  static const struct {
    const char *source, *text;
    Severity severity;
  } entries[] = {{":", "power on a01", SEVERITY_INFO},
                 {"console", "hello\x1b[31m", SEVERITY_INFO},
                 {"sim", "a01: fuse", SEVERITY_WARNING},
                 {":", "failed: power on a01", SEVERITY_ERROR}};
  assert_int_equal(state_log_end(lab->state), first + G_N_ELEMENTS(entries));
  for (guint i = 0; i < G_N_ELEMENTS(entries); i++) {
    const LogEntry *entry = state_log(lab->state, first + i);
    assert_string_equal(entry->source, entries[i].source);
    assert_string_equal(entry->text, entries[i].text);
    assert_int_equal(entry->severity, entries[i].severity);
    assert_int_equal(entry->t, 3 * TIME_SECOND);
  }
  for (guint i = 0; i < 2 * STATE_LOG_MAX; i++)
    lab_line(lab, 3, "a02", "console", i + 1 < 2 * STATE_LOG_MAX ? "more" : "last");
  assert_int_equal(state_log_end(lab->state) - state_log_first(lab->state), STATE_LOG_MAX);
  assert_string_equal(state_log(lab->state, state_log_end(lab->state) - 1)->text, "last");
  g_autofree char *longer = g_strnfill(5000, 'x');
  lab_line(lab, 3, "a02", "console", longer);
  assert_int_equal(strlen(state_log(lab->state, state_log_end(lab->state) - 1)->text), 4096);
}

static void
test_sources_are_few(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  for (guint i = 0; i < 200; i++) {
    g_autofree char *stream = g_strdup_printf("stream%u", i);
    lab_line(lab, 3, "a02", stream, "text");
  }
  assert_string_equal(state_log(lab->state, state_log_end(lab->state) - 1)->source, "other");
  assert_string_equal(state_log(lab->state, state_log_end(lab->state) - 200)->source, "stream0");
}

/* ---- Clones -------------------------------------------------------------------------------- */

/* Everything under way at once: a cycle in its pause, a boot, a load, waits, a measurement. */
static Lab *
busy_lab(void)
{
  static const char *const columns[] = {"s1/eth0.tx B", "s1/eth1.tx B"};
  Lab *lab = lab_two_seats(&yes);
  const gint64 none[] = {0, 0};
  lab_samples(lab, columns, none, 2);
  lab_say(lab, "boot a01 as one");
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  lab_settle(lab);
  lab_see(lab, "a01", "power", "on");
  lab_answer(lab, 4, "a01", VERDICT_OK, "");
  lab_see(lab, "a01", "stage", "tftp");
  lab_say(lab, "power cycle a02");
  lab_see(lab, "a02", "power", "off");
  lab_answer(lab, 5, "a02", VERDICT_OK, "");
  lab_say(lab, "load start dd on a01 as d");
  lab_say(lab, "wait boot one login");
  lab_say(lab, "wait power a02 on");
  lab_say(lab, "measure bond during d as m");
  lab_say(lab, "get s1.nfsd");
  lab_see(lab, "s1", "bond0.policy", "layer2+3");
  lab_at(lab, 1);
  lab_say(lab, "load stop d");
  return lab;
}

static void
go_on(Lab *lab)
{
  const gint64 some[] = {1000, 2000}, more[] = {3000, 5000};
  g_string_truncate(lab->out, 0);
  lab_at(lab, 2);
  lab_samples(lab, NULL, some, 2);
  lab_at(lab, 4);
  lab_samples(lab, NULL, more, 2);
  lab_see(lab, "a01", "stage", "kernel");
  lab_at(lab, 5);
  for (guint32 request = 1; request < 12; request++) {
    lab_see(lab, "a02", "power", "on");
    lab_answer(lab, request, "a01", VERDICT_OK, "");
    lab_answer(lab, request, "a02", VERDICT_OK, "");
    lab_answer(lab, request, "s1", VERDICT_OK, "");
    lab_settle(lab);
  }
  lab_at(lab, 20);
  lab_see(lab, "a01", "stage", "login");
  lab_at(lab, 1000);
  lab_say(lab, "expect one.boot.mean within 20 s +-1%");
  lab_say(lab, "power cycle a[01-02]");
}

static void
test_clones_go_on_alike(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = busy_lab();
  Lab twin = *lab;
  twin.state = core_clone(lab->state);
  twin.out = g_string_new(NULL);
  assert_int_equal(core_deadline(twin.state), core_deadline(lab->state));
  go_on(lab);
  go_on(&twin);
  assert_string_equal(lab->out->str, twin.out->str);
  assert_non_null(strstr(lab->out->str, "figure m.bond.tx.mean"));
  assert_non_null(strstr(lab->out->str, "figure one.boot.mean 20.000 s"));
  assert_int_equal(state_log_end(lab->state), state_log_end(twin.state));
  for (guint64 i = state_log_first(lab->state); i < state_log_end(lab->state); i++)
    assert_string_equal(state_log(lab->state, i)->text, state_log(twin.state, i)->text);
  assert_string_equal(state_property(twin.state, "s1/bond0.policy"), "layer2+3");
  core_free(twin.state);
  g_string_free(twin.out, TRUE);
}

/* A clone outlives its original. */
static void
test_clone_stands_alone(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = busy_lab();
  CoreState *clone = core_clone(lab->state);
  core_free(lab->state);
  lab->state = core_clone(clone);
  core_free(clone);
  go_on(lab);
  assert_non_null(strstr(lab->out->str, "done 4 ok"));
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_link_up_asks_for_everything),
      cmocka_unit_test(test_observations),
      cmocka_unit_test(test_properties_of_the_layout),
      cmocka_unit_test(test_ports_follow_properties),
      cmocka_unit_test(test_properties_are_bounded),
      cmocka_unit_test(test_get_and_set_of_a_link),
      cmocka_unit_test(test_resolve),
      cmocka_unit_test(test_resolve_errors),
      cmocka_unit_test(test_labels_and_nodes),
      cmocka_unit_test(test_log),
      cmocka_unit_test(test_sources_are_few),
      cmocka_unit_test(test_clones_go_on_alike),
      cmocka_unit_test(test_clone_stands_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
