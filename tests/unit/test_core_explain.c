#include "core_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const CoreOptions yes = {.seed = 1, .consent = CONSENT_YES};

#define GE 117.685e6 /* B/s of payload on a Gigabit port */

/* A lab whose counters all start at 0 at t = 0. */
typedef struct {
  Lab *lab;
  GPtrArray *columns;
  GArray *values;
} Metered;

static void
add_column(Metered *metered, char *column)
{
  gint64 none = 0;
  g_ptr_array_add(metered->columns, column);
  g_array_append_val(metered->values, none);
}

static Metered
metered_lab(void)
{
  Metered metered = {.lab = lab_new("layouts/openslx-two-rooms.yaml", &yes),
                     .columns = g_ptr_array_new_with_free_func(g_free),
                     .values = g_array_new(FALSE, TRUE, sizeof(gint64))};
  const Layout *layout = metered.lab->layout;
  for (guint i = 0; i < layout->n_nodes; i++)
    if (layout->nodes[i].kind == NODE_CLIENT)
      add_column(&metered, g_strdup_printf("%s.rx B", layout->nodes[i].name));
  for (guint i = 0; i < layout->n_nodes; i++)
    if (layout->nodes[i].kind == NODE_CLIENT)
      add_column(&metered, g_strdup_printf("%s.tx B", layout->nodes[i].name));
  for (guint i = 0; i < 4; i++) {
    add_column(&metered, g_strdup_printf("slx1/eth%u.tx B", i));
    add_column(&metered, g_strdup_printf("slx1/eth%u.rx B", i));
  }
  for (guint i = 0; i < layout->n_links; i++) {
    add_column(&metered, g_strdup_printf("link:%s.tx B", layout->links[i].name));
    add_column(&metered, g_strdup_printf("link:%s.rx B", layout->links[i].name));
  }
  lab_samples(metered.lab, (const char *const *)metered.columns->pdata,
              (const gint64 *)(gpointer)metered.values->data, metered.values->len);
  return metered;
}

static void
metered_clear(Metered *metered)
{
  lab_free(metered->lab);
  g_ptr_array_unref(metered->columns);
  g_array_unref(metered->values);
}

static void
count_as(Metered *metered, const char *prefix, const char *direction, double bytes)
{
  for (guint i = 0; i < metered->columns->len; i++) {
    const char *column = metered->columns->pdata[i];
    if (g_str_has_prefix(column, prefix) && strstr(column, direction))
      g_array_index(metered->values, gint64, i) += (gint64)bytes;
  }
}

/* What is read: clients receive, the server and links send. */
static void
count(Metered *metered, const char *prefix, double bytes)
{
  gboolean client = g_str_equal(prefix, "a") || g_str_equal(prefix, "b");
  count_as(metered, prefix, client ? ".rx" : ".tx", bytes);
}

/* What was counted is a second's. */
static void
tick(Metered *metered, double t)
{
  lab_at(metered->lab, t);
  lab_samples(metered->lab, NULL, (const gint64 *)(gpointer)metered->values->data,
              metered->values->len);
}

static void
check_sentence(const Metered *metered, Severity severity, const char *text)
{
  Severity found = SEVERITY_ERROR;
  g_autofree char *sentence = state_sentence(metered->lab->state, &found);
  assert_string_equal(sentence, text);
  assert_int_equal(found, severity);
  assert_true(g_utf8_strlen(sentence, -1) <= 76);
}

/* Room A reading: 8, 1, 7, 1 seats on the four ports. */
static void
room_a_reads(Metered *metered)
{
  count(metered, "a", 14e6);
  count(metered, "slx1/eth0", GE);
  count(metered, "slx1/eth2", GE);
  count(metered, "slx1/eth1", 0.21 * GE);
  count(metered, "slx1/eth3", 0.21 * GE);
}

static void
test_quiet(void **state)
{
  (void)state;
  Metered metered = metered_lab();
  check_sentence(&metered, SEVERITY_INFO, "");
  count(&metered, "slx1/eth0", 0.96 * GE);
  tick(&metered, 1);
  check_sentence(&metered, SEVERITY_INFO, "");
  metered_clear(&metered);
}

static void
test_full_ports(void **state)
{
  (void)state;
  Metered metered = metered_lab();
  room_a_reads(&metered);
  tick(&metered, 1);
  check_sentence(&metered, SEVERITY_WARNING,
                 "eth0 and eth2 full, eth1 and eth3 21 %: layer2 puts 15 of 17 seats on two");
  /* Three seconds later nothing is known any more. */
  lab_at(metered.lab, 4.5);
  lab_see(metered.lab, "slx1", "usage", "free");
  check_sentence(&metered, SEVERITY_INFO, "");
  metered_clear(&metered);
}

static void
test_ports_that_differ(void **state)
{
  (void)state;
  Metered metered = metered_lab();
  room_a_reads(&metered);
  count(&metered, "slx1/eth1", 0.3 * GE);
  tick(&metered, 1);
  /* Too long with the idle ports: they go first. */
  check_sentence(&metered, SEVERITY_WARNING,
                 "eth0 and eth2 full: layer2 puts 15 of 17 seats on two");
  metered_clear(&metered);
}

/* A port of layer3+4 is drawn when a client mounts: nothing to say about seats. */
static void
test_seats_unknown(void **state)
{
  (void)state;
  Metered metered = metered_lab();
  lab_see(metered.lab, "slx1", "bond0.policy", "layer3+4");
  room_a_reads(&metered);
  tick(&metered, 1);
  check_sentence(&metered, SEVERITY_WARNING, "eth0 and eth2 full, eth1 and eth3 21 %");
  lab_see(metered.lab, "slx1", "eth3.state", "down");
  check_sentence(&metered, SEVERITY_WARNING, "eth0 and eth2 full, eth1 21 %");
  metered_clear(&metered);
}

static void
test_full_link(void **state)
{
  (void)state;
  Metered metered = metered_lab();
  count(&metered, "b", 8.4e6);
  count(&metered, "link:sw2-sw3.tx", GE);
  count(&metered, "link:sw1-sw2.tx", GE);
  tick(&metered, 1);
  check_sentence(&metered, SEVERITY_WARNING, "sw2-sw3 full for b[04-17]");
  /* Several are all named. */
  room_a_reads(&metered);
  count(&metered, "b", 8.4e6);
  count(&metered, "link:sw2-sw3.tx", GE);
  tick(&metered, 2);
  check_sentence(&metered, SEVERITY_WARNING,
                 "eth0, eth2 full: 30 of 34 seats on two ports; sw2-sw3 full for b[04-17]");
  metered_clear(&metered);
}

static void
test_writes(void **state)
{
  (void)state;
  Metered metered = metered_lab();
  count_as(&metered, "a0", ".tx", 14e6); /* a01 to a09 */
  count_as(&metered, "b17", ".tx", 50);  /* next to nothing */
  count_as(&metered, "slx1/eth1", ".rx", GE);
  tick(&metered, 1);
  check_sentence(&metered, SEVERITY_WARNING, "eth1 full of what a[01-09] write");
  assert_true(state_port_full(metered.lab->state, layout_find(metered.lab->layout, "slx1"), 1));
  assert_false(state_port_full(metered.lab->state, layout_find(metered.lab->layout, "slx1"), 0));
  /* Who reads acknowledges; that makes no writer. What goes out is named as ever. */
  room_a_reads(&metered);
  count_as(&metered, "a", ".tx", 1e6);
  count_as(&metered, "b03", ".tx", 14e6);
  count_as(&metered, "slx1/eth3", ".rx", GE);
  tick(&metered, 2);
  check_sentence(&metered, SEVERITY_WARNING,
                 "eth0, eth2 full: 15 of 17 seats on two ports; eth3 full of what b03 writes");
  /* Over a link towards the server. */
  count_as(&metered, "b", ".tx", 8.4e6);
  count_as(&metered, "link:sw2-sw3", ".rx", GE);
  tick(&metered, 3);
  check_sentence(&metered, SEVERITY_WARNING, "sw2-sw3 full for b[04-17]");
  metered_clear(&metered);
}

static void
test_worst_failure_first(void **state)
{
  (void)state;
  Metered metered = metered_lab();
  Lab *lab = metered.lab;
  room_a_reads(&metered);
  tick(&metered, 1);
  lab_link(lab, "sim", TRUE, "simulated lab");
  lab_say(lab, "load start dd on a01");
  lab_answer(lab, 3, "a01", VERDICT_FAILED, "a01: dd ended with 1");
  check_sentence(&metered, SEVERITY_ERROR, "a01: dd ended with 1. Enter its card");
  lab_say(lab, "power on a[02-03]");
  lab_answer(lab, 4, "a03", VERDICT_TIMEOUT, "a03: no answer from its BMC");
  check_sentence(&metered, SEVERITY_ERROR,
                 "a03: no answer from its BMC (and 1 more). c console, P cycle a03");
  lab_answer(lab, 4, "a02", VERDICT_FAILED,
             "a02: a very long story about why its power supply did not do as it was told");
  lab_see(lab, "a03", "power", "on");
  check_sentence(&metered, SEVERITY_ERROR,
                 "a02: a very long story about why its... (and 1 more). c console, P cycle a02");
  metered_clear(&metered);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quiet),
      cmocka_unit_test(test_full_ports),
      cmocka_unit_test(test_ports_that_differ),
      cmocka_unit_test(test_seats_unknown),
      cmocka_unit_test(test_full_link),
      cmocka_unit_test(test_writes),
      cmocka_unit_test(test_worst_failure_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
