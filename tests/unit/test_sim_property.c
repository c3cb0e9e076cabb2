#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "tests/unit/sim_lab.h"

static SimLab *
new_rooms(void)
{
  g_autofree char *layout = sim_lab_two_rooms(TRUE, NULL);
  return sim_lab_new(layout, 1);
}

static void
check_get(SimLab *lab, const char *path, const char *value)
{
  g_autofree char *got = sim_lab_get(lab, path);
  if (g_strcmp0(got, value) != 0)
    fail_msg("%s is %s, not %s", path, got ? got : "unknown", value);
}

/* What is set is what is got, and what was got before can be set again. */
static void
test_round_trips(void **state)
{
  static const struct {
    const char *path, *first, *next;
  } all[] = {
      {"slx1.nfsd", "64", "8"},
      {"slx1.transmit-ceiling", "none", "1.9 Gbit/s"},
      {"slx1.disk-rate", "0.8 Gbit/s", "none"},
      {"slx1/bond0.policy", "layer2", "layer2+3"},
      {"slx1/bond0.era", "2.6.32", "5.18"},
      {"slx1/eth3.state", "up", "down"},
      {"a04/eth0.state", "up", "down"},
      {"a04.mac", "52:54:00:0a:00:41", "52:54:00:0a:00:06"},
      {"link:sw2-sw3.state", "up", "down"},
  };
  (void)state;
  g_autoptr(SimLab) lab = new_rooms();
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
    check_get(lab, all[i].path, all[i].first);
    sim_lab_set(lab, all[i].path, all[i].next);
    check_get(lab, all[i].path, all[i].next);
    sim_lab_set(lab, all[i].path, all[i].first);
    check_get(lab, all[i].path, all[i].first);
  }
  assert_int_equal(sim_lab_now(lab), 0); /* all at once */
}

/* `with` puts back what it got: a rate comes back as the very same one. */
static void
test_rates_lose_nothing(void **state)
{
  static const char *const rates[] = {"1.9 Gbit/s", "117.685 MB/s", "226.5 MiB/s", "1 bit/s",
                                      "10 Gbit/s",  "0.1 kbit/s",   "0 bit/s"};
  (void)state;
  g_autoptr(SimLab) lab = new_rooms();
  for (guint i = 0; i < G_N_ELEMENTS(rates); i++) {
    sim_lab_set(lab, "slx1.transmit-ceiling", rates[i]);
    g_autofree char *got = sim_lab_get(lab, "slx1.transmit-ceiling");
    sim_lab_set(lab, "slx1.transmit-ceiling", got);
    check_get(lab, "slx1.transmit-ceiling", got);
  }
}

static void
test_usage(void **state)
{
  static const char *const words[] = {"in use", "unknown", "free"};
  (void)state;
  g_autoptr(SimLab) lab = new_rooms();
  check_get(lab, "a07.usage", "free");
  for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
    sim_lab_set(lab, "a07.usage", words[i]);
    check_get(lab, "a07.usage", words[i]);
    check_get(lab, "a08.usage", "free");
  }
}

static void
check_fails(SimLab *lab, const char *node, const char *path, const char *value, const char *text)
{
  const char *said = value != NULL
                         ? sim_lab_fails(lab, OP_SET, node, WITH("path", path, "value", value))
                         : sim_lab_fails(lab, OP_GET, node, WITH("path", path));
  if (strcmp(said, text) != 0)
    fail_msg("%s: %s", path, said);
}

static void
test_what_there_is_not(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_rooms();
  check_fails(lab, "slx1", "slx1/bond0.polcy", NULL,
              "slx1: no property `slx1/bond0.polcy`; did you mean slx1/bond0.policy?");
  check_fails(lab, "slx1", "slx2.nfsd", NULL,
              "slx1: no property `slx2.nfsd`; did you mean slx1.nfsd?");
  check_fails(lab, "slx1", "link:sw2-sw4.state", NULL,
              "slx1: no property `link:sw2-sw4.state`; did you mean link:sw2-sw3.state?");
  check_fails(lab, "slx1", "\033[2J", NULL, "slx1: no property `\\033[2J`");
  check_fails(lab, "slx1", "", NULL, "slx1: no property ``");
  check_fails(lab, "a01", "a02.mac", NULL, "a01: a02.mac belongs to a02");
  check_fails(lab, "slx1", "slx1/bond0.policy", "layer3",
              "slx1: slx1/bond0.policy: no bond policy `layer3`; did you mean layer2?");
  check_fails(lab, "slx1", "slx1/bond0.era", "7",
              "slx1: slx1/bond0.era: no bond era `7`; there are 2.6.32, 3.13, 4.14, 5.18");
  check_fails(lab, "slx1", "slx1/eth0.state", "upp",
              "slx1: slx1/eth0.state: no state `upp`; did you mean up?");
  check_fails(lab, "a01", "a01.mac", "01:00:5e:00:00:01",
              "a01: a01.mac: `01:00:5e:00:00:01` is no machine's MAC address");
  check_fails(lab, "a01", "a01.usage", "in-use",
              "a01: a01.usage: no usage `in-use`; did you mean in use?");
  assert_string_equal(sim_lab_fails(lab, OP_SET, "slx1", WITH("path", "slx1.nfsd")),
                      "slx1: set needs a value");
  assert_string_equal(sim_lab_fails(lab, OP_GET, "slx1", NULL),
                      "slx1: a property's path is missing");
  check_get(lab, "slx1/bond0.policy", "layer2");
  check_get(lab, "slx1/eth0.state", "up");
}

/* Which ports carry the seats of SET that read as they can. */
static char *
ports_in_use(SimLab *lab, const char *set)
{
  gint64 before[4];
  GString *ports = g_string_new(NULL);
  sim_lab_run(lab, 2);
  for (guint i = 0; i < 4; i++) {
    g_autofree char *name = g_strdup_printf("slx1/eth%u", i);
    before[i] = sim_lab_total(lab, name, ".tx B");
  }
  guint32 load = sim_lab_ask(lab, OP_EXEC, set, WITH("job", "dd"));
  sim_lab_run(lab, 2);
  backend_check_cancel(lab->check, load);
  for (guint i = 0; i < 4; i++) {
    g_autofree char *name = g_strdup_printf("slx1/eth%u", i);
    if (sim_lab_total(lab, name, ".tx B") > before[i])
      g_string_append_printf(ports, "%u", i);
  }
  return g_string_free(ports, FALSE);
}

static void
check_ports(SimLab *lab, const char *set, const char *ports)
{
  g_autofree char *used = ports_in_use(lab, set);
  assert_string_equal(used, ports);
}

static void
test_the_bond_follows(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_rooms();
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, INFINITY, INFINITY);
  sim_lab_watch(lab);
  sim_lab_boot(lab, "roomA", "x::nfs");
  check_ports(lab, "a01,a02,a03", "02");
  check_ports(lab, "a04", "1");
  check_ports(lab, "roomA", "0123");
  sim_lab_set(lab, "a04.mac", "52:54:00:0a:00:06");
  check_ports(lab, "a04", "2");
  sim_lab_set(lab, "slx1/eth2.state", "down"); /* 2.6.32: to the next port */
  check_ports(lab, "a04", "3");
  sim_lab_set(lab, "slx1/eth3.state", "down");
  check_ports(lab, "a04", "0");
  sim_lab_set(lab, "slx1/eth0.state", "down");
  sim_lab_set(lab, "slx1/eth1.state", "down");
  check_ports(lab, "a04", "");
  sim_lab_set(lab, "slx1/eth3.state", "up");
  check_ports(lab, "a04", "3");
}

/* layer3+4 hashes the connection's ports, drawn with every boot: 34 seats spread over all four. */
static void
test_ports_of_connections(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_rooms();
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, INFINITY, INFINITY);
  sim_lab_watch(lab);
  sim_lab_set(lab, "slx1/bond0.policy", "layer3+4");
  sim_lab_boot(lab, "all", "x::nfs");
  check_ports(lab, "all", "0123");
  g_autofree char *first = ports_in_use(lab, "a01");
  assert_int_equal(strlen(first), 1);
  check_ports(lab, "a01", first); /* the mount stays */
  gboolean moved = FALSE;
  for (guint i = 0; i < 8 && !moved; i++) {
    sim_lab_do(lab, OP_RESET, "a01", NULL);
    sim_lab_run(lab, 60);
    g_autofree char *again = ports_in_use(lab, "a01");
    moved = !g_str_equal(again, first);
  }
  assert_true(moved);
}

/* A change takes effect on what is under way. */
static void
test_in_mid_stream(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_rooms();
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, INFINITY, INFINITY);
  sim_lab_watch(lab);
  sim_lab_boot(lab, "roomA", "x::nfs");
  sim_lab_ask(lab, OP_EXEC, "roomA", WITH("job", "dd"));
  sim_lab_run(lab, 3);
  sim_lab_set(lab, "slx1.transmit-ceiling", "0.8 Gbit/s");
  sim_lab_run(lab, 3);
  sim_lab_set(lab, "slx1.transmit-ceiling", "none");
  sim_lab_set(lab, "slx1.nfsd", "1");
  sim_lab_run(lab, 3);
  gint64 end = sim_lab_now(lab);
  double free_running =
      sim_lab_peak(lab, "slx1/eth", ".tx B", end - 8 * TIME_SECOND, end - 6 * TIME_SECOND);
  double ceiling =
      sim_lab_peak(lab, "slx1/eth", ".tx B", end - 5 * TIME_SECOND, end - 3 * TIME_SECOND);
  double thread = sim_lab_peak(lab, "slx1/eth", ".tx B", end - 2 * TIME_SECOND, end);
  assert_true(fabs(free_running / (4 * SIM_LAB_GE) - 1) < 1e-6);
  assert_true(fabs(ceiling / 0.1e9 - 1) < 1e-6);
  assert_true(fabs(thread / (32768 / 0.5e-3) - 1) < 1e-6);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trips),
      cmocka_unit_test(test_rates_lose_nothing),
      cmocka_unit_test(test_usage),
      cmocka_unit_test(test_what_there_is_not),
      cmocka_unit_test(test_the_bond_follows),
      cmocka_unit_test(test_ports_of_connections),
      cmocka_unit_test(test_in_mid_stream),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
