#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "tests/unit/sim_lab.h"

static SimLab *
new_lab(void)
{
  g_autofree char *layout = sim_lab_two_rooms(TRUE, NULL);
  SimLab *lab = sim_lab_new(layout, 1);
  sim_lab_add_job(lab, "find", PROTOCOL_NFS, 9e6, INFINITY);
  return lab;
}

static const char *
power(const SimLab *lab, const char *name)
{
  g_autofree char *key = g_strjoin(" ", name, "power", NULL);
  const char *value = g_hash_table_lookup(lab->facts, key);
  return value ? value : "unknown";
}

static int
verdict(const SimLab *lab, guint32 request, const char *name)
{
  return backend_check_verdict(lab->check, request, sim_lab_node(lab, name));
}

static guint32
ask_by(SimLab *lab, Operation operation, const char *name, gint64 deadline,
       const char *const *arguments)
{
  NodeId node = sim_lab_node(lab, name);
  return backend_check_submit(lab->check, operation, &node, 1, deadline, arguments);
}

static void
test_the_world_at_first(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_lab();
  assert_string_equal(power(lab, "a01"), "unknown");
  sim_lab_do(lab, OP_STATUS, "all", NULL);
  sim_lab_do(lab, OP_STATUS, "slx1,sw1,sw2,sw3", NULL);
  assert_string_equal(power(lab, "a01"), "off");
  assert_string_equal(power(lab, "b17"), "off");
  assert_string_equal(power(lab, "slx1"), "on");
  assert_string_equal(power(lab, "sw3"), "on");
  assert_int_equal(sim_lab_now(lab), 0);
}

static void
test_times(void **state)
{
  static const struct {
    Operation operation;
    const char *how;
    gint64 takes;
    const char *then;
  } steps[] = {
      {OP_ON, NULL, SIM_ON, "on"},       {OP_ON, NULL, SIM_ON, "on"},
      {OP_RESET, NULL, SIM_RESET, "on"}, {OP_OFF, "soft", SIM_SOFT_OFF, "off"},
      {OP_OFF, "soft", 0, "off"},        {OP_OFF, NULL, SIM_OFF, "off"},
      {OP_ON, NULL, SIM_ON, "on"},       {OP_OFF, "hard", SIM_OFF, "off"},
      {OP_STATUS, NULL, 0, "off"},
  };
  (void)state;
  g_autoptr(SimLab) lab = new_lab();
  for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
    gint64 before = sim_lab_now(lab);
    const char *const *arguments = steps[i].how ? WITH("how", steps[i].how) : NULL;
    sim_lab_do(lab, steps[i].operation, "a01", arguments);
    assert_int_equal(sim_lab_now(lab) - before, steps[i].takes);
    assert_string_equal(power(lab, "a01"), steps[i].then);
  }
}

static void
test_reset_of_what_is_off(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_lab();
  assert_string_equal(sim_lab_fails(lab, OP_RESET, "a01", NULL),
                      "a01 is off: there is nothing to reset");
  assert_string_equal(power(lab, "a01"), "off");
}

static void
test_a_deadline_before_it_happens(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_lab();
  guint32 on = ask_by(lab, OP_ON, "a01", 20 * TIME_MS, NULL);
  sim_lab_run(lab, 1);
  assert_int_equal(verdict(lab, on, "a01"), VERDICT_TIMEOUT);
  assert_string_equal(backend_check_text(lab->check, on, sim_lab_node(lab, "a01")),
                      "a01: on was not carried out: not done by its deadline");
  sim_lab_do(lab, OP_STATUS, "a01", NULL);
  assert_string_equal(power(lab, "a01"), "off");
  guint32 just = ask_by(lab, OP_ON, "a01", SIM_ON, NULL);
  sim_lab_run(lab, 1);
  assert_int_equal(verdict(lab, just, "a01"), VERDICT_OK);
}

/* A machine that was asked to shut down does so, whoever still waits for it. */
static void
test_soft_off_goes_on(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_lab();
  sim_lab_do(lab, OP_ON, "a01,a02,a03", NULL);
  guint32 late = ask_by(lab, OP_OFF, "a01", TIME_SECOND, WITH("how", "soft"));
  guint32 cancelled = ask_by(lab, OP_OFF, "a02", TIME_NEVER, WITH("how", "soft"));
  guint32 overtaken = ask_by(lab, OP_OFF, "a03", TIME_NEVER, WITH("how", "soft"));
  backend_check_cancel(lab->check, cancelled);
  sim_lab_run(lab, 0.1);
  assert_int_equal(verdict(lab, cancelled, "a02"), VERDICT_UNKNOWN);
  sim_lab_do(lab, OP_RESET, "a03", NULL);
  assert_int_equal(verdict(lab, overtaken, "a03"), VERDICT_FAILED);
  sim_lab_run(lab, 1);
  assert_int_equal(verdict(lab, late, "a01"), VERDICT_TIMEOUT);
  assert_string_equal(power(lab, "a01"), "on");
  sim_lab_run(lab, 2);
  assert_string_equal(power(lab, "a01"), "off");
  assert_string_equal(power(lab, "a02"), "off");
  assert_string_equal(power(lab, "a03"), "on");
}

static void
test_hard_off_settles_a_soft_one(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_lab();
  sim_lab_do(lab, OP_ON, "a01", NULL);
  guint32 soft = sim_lab_ask(lab, OP_OFF, "a01", WITH("how", "soft"));
  sim_lab_do(lab, OP_OFF, "a01", WITH("how", "hard"));
  assert_int_equal(verdict(lab, soft, "a01"), VERDICT_OK);
  sim_lab_do(lab, OP_ON, "a01", NULL);
  sim_lab_run(lab, 5); /* and nothing is left of it */
  assert_string_equal(power(lab, "a01"), "on");
}

static void
test_cancelled_before_it_happens(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_lab();
  guint32 on = sim_lab_ask(lab, OP_ON, "a01,a02", NULL);
  backend_check_cancel(lab->check, on);
  backend_check_cancel(lab->check, on);
  sim_lab_run(lab, 1);
  assert_int_equal(verdict(lab, on, "a01"), VERDICT_CANCELLED);
  assert_int_equal(verdict(lab, on, "a02"), VERDICT_CANCELLED);
  sim_lab_do(lab, OP_STATUS, "a01", NULL);
  assert_string_equal(power(lab, "a01"), "off");
}

static void
test_off_ends_boots_and_jobs(void **state)
{
  static const struct {
    Operation operation;
    const char *how;
  } ends[] = {{OP_OFF, NULL}, {OP_OFF, "soft"}, {OP_RESET, NULL}};
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS(ends); i++) {
    g_autoptr(SimLab) lab = new_lab();
    const char *const *how = ends[i].how ? WITH("how", ends[i].how) : NULL;
    sim_lab_watch(lab);
    sim_lab_boot(lab, "a01", "x::nfs");
    guint32 load = sim_lab_ask(lab, OP_EXEC, "a01", WITH("job", "find"));
    sim_lab_do(lab, OP_ON, "a02", NULL);
    sim_lab_run(lab, 10);
    sim_lab_do(lab, ends[i].operation, "a01,a02", how);
    assert_int_equal(verdict(lab, load, "a01"), VERDICT_FAILED);
    assert_string_equal(backend_check_text(lab->check, load, sim_lab_node(lab, "a01")),
                        "a01 lost power");
    assert_null(strchr(lab->figures[sim_lab_node(lab, "a01")], ' ')); /* but when it began */
    sim_lab_run(lab, 2);
    gint64 moved = sim_lab_total(lab, "a", ".rx B");
    sim_lab_run(lab, ends[i].operation == OP_RESET ? 3 : 100);
    assert_int_equal(sim_lab_total(lab, "a", ".rx B"), moved);
  }
}

static void
test_boot_devices(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_lab();
  assert_string_equal(sim_lab_fails(lab, OP_BOOT_DEVICE, "a01", WITH("device", "us\033b")),
                      "a01: boots from pxe or disk, not from `us\\033b`");
  assert_string_equal(sim_lab_fails(lab, OP_BOOT_DEVICE, "a01", NULL),
                      "a01: boot-device needs a device, pxe or disk");
  assert_string_equal(
      sim_lab_fails(lab, OP_BOOT_DEVICE, "a01", WITH("device", "pxe", "entry", "x::iscsi")),
      "a01: menu entry `x::iscsi` ends neither in ::nfs nor in ::nbd");
  assert_string_equal(sim_lab_fails(lab, OP_BOOT_DEVICE, "slx1", WITH("device", "pxe")),
                      "slx1 is no client: it boots from its own disk");
  assert_string_equal(sim_lab_fails(lab, OP_OFF, "a01", WITH("how", "gently")),
                      "a01: off is soft or hard, not `gently`");
}

static void
test_what_it_cannot_do(void **state)
{
  static const Operation cannot[] = {OP_MESSAGE};
  (void)state;
  g_autoptr(SimLab) lab = new_lab();
  for (guint i = 0; i < G_N_ELEMENTS(cannot); i++) {
    guint32 request = sim_lab_ask(lab, cannot[i], "a01,slx1", NULL);
    sim_lab_run(lab, 0);
    assert_int_equal(verdict(lab, request, "a01"), VERDICT_UNSUPPORTED);
    assert_int_equal(verdict(lab, request, "slx1"), VERDICT_UNSUPPORTED);
  }
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_world_at_first),
      cmocka_unit_test(test_times),
      cmocka_unit_test(test_reset_of_what_is_off),
      cmocka_unit_test(test_a_deadline_before_it_happens),
      cmocka_unit_test(test_soft_off_goes_on),
      cmocka_unit_test(test_hard_off_settles_a_soft_one),
      cmocka_unit_test(test_cancelled_before_it_happens),
      cmocka_unit_test(test_off_ends_boots_and_jobs),
      cmocka_unit_test(test_boot_devices),
      cmocka_unit_test(test_what_it_cannot_do),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
