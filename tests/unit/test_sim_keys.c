#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/sim_lab.h"

static SimLab *
new_lab(void)
{
  g_autofree char *layout = sim_lab_two_rooms(TRUE, NULL);
  return sim_lab_new(layout, 1);
}

static const char *
fact(const SimLab *lab, const char *name, const char *what)
{
  g_autofree char *key = g_strjoin(" ", name, what, NULL);
  const char *value = g_hash_table_lookup(lab->facts, key);
  return value ? value : "";
}

static void
test_route(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_lab();
  sim_lab_do(lab, OP_ROUTE, "a01", NULL);
  sim_lab_do(lab, OP_ROUTE, "a02", NULL);
  assert_string_equal(fact(lab, "a01", "shown"), "no");
  assert_string_equal(fact(lab, "a02", "shown"), "yes");
  sim_lab_do(lab, OP_ROUTE, "a02", WITH("to", "back"));
  assert_string_equal(fact(lab, "a01", "shown"), "yes");
  assert_string_equal(fact(lab, "a02", "shown"), "no");
  guint32 request = sim_lab_ask(lab, OP_ROUTE, "a01", WITH("to", "back"));
  sim_lab_run(lab, 1);
  assert_int_equal(backend_check_verdict(lab->check, request, sim_lab_node(lab, "a01")),
                   VERDICT_FAILED);
}

/* One device: the second seat waits for the first. */
static void
test_pace(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_lab();
  gint64 each = SIM_ROUTE + 2 * SIM_KEY;
  sim_lab_do(lab, OP_KEYS, "roomA", WITH("keys", "Down Enter"));
  assert_int_equal(sim_lab_now(lab), 17 * each);
}

static void
press(SimLab *lab, const char *name, const char *keys)
{
  sim_lab_do(lab, OP_KEYS, name, WITH("keys", keys));
}

/* a01 is given F12 in its firmware and waits at its menu, where a02 goes on. */
static void
test_menu(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_lab();
  sim_lab_do(lab, OP_ON, "a01,a02", NULL);
  press(lab, "a01", "F12");
  sim_lab_run(lab, 12);
  assert_string_equal(fact(lab, "a01", "stage"), "dhcp");
  assert_string_equal(fact(lab, "a02", "stage"), "root");
  press(lab, "a01", "Down x Enter");
  sim_lab_run(lab, 1);
  assert_string_equal(fact(lab, "a01", "stage"), "tftp");
  sim_lab_run(lab, 40);
  assert_string_equal(fact(lab, "a01", "stage"), "login");
}

/* The second line boots by the other protocol, which takes another time. */
static void
test_menu_line(void **state)
{
  (void)state;
  gint64 took[2];
  for (int second = 0; second < 2; second++) {
    g_autoptr(SimLab) lab = new_lab();
    NodeId a01 = sim_lab_node(lab, "a01");
    sim_lab_do(lab, OP_ON, "a01", NULL);
    press(lab, "a01", "F12");
    sim_lab_run(lab, 8);
    press(lab, "a01", second ? "Down Enter" : "Enter");
    assert_string_equal(fact(lab, "a01", "entry"),
                        second ? "ubuntu-10.04::nbd" : "ubuntu-10.04::nfs");
    sim_lab_run(lab, 60);
    took[second] = lab->marks[a01][MARK_LOGIN] - lab->marks[a01][MARK_ROOT];
    assert_true(took[second] > 0);
  }
  assert_int_not_equal(took[0], took[1]);
}

/* A menu that nobody answers goes on by itself; a key for a machine that is off is lost. */
static void
test_unanswered(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_lab();
  press(lab, "a02", "F12");
  sim_lab_do(lab, OP_ON, "a01,a02", NULL);
  press(lab, "a01", "F12");
  sim_lab_run(lab, 60);
  gint64 menu = lab->marks[sim_lab_node(lab, "a01")][MARK_TFTP] -
                lab->marks[sim_lab_node(lab, "a02")][MARK_TFTP];
  assert_true(menu > SIM_MENU - 2 * TIME_SECOND && menu < SIM_MENU + 2 * TIME_SECOND);
  assert_string_equal(fact(lab, "a01", "stage"), "login");
  press(lab, "a01", "Ctrl-Alt-Delete");
  sim_lab_run(lab, 1);
  assert_string_equal(fact(lab, "a01", "stage"), "firmware");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_route),      cmocka_unit_test(test_pace),
      cmocka_unit_test(test_menu),       cmocka_unit_test(test_menu_line),
      cmocka_unit_test(test_unanswered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
