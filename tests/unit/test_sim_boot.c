#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "model/draw.h"
#include "tests/unit/sim_lab.h"

#define NFS "ubuntu-10.04::nfs"
#define NBD "ubuntu-10.04::nbd"

static SimLab *
new_room(guint n, const char *simulate, guint64 seed)
{
  g_autofree char *layout = sim_lab_room(n, 2, 64, simulate);
  return sim_lab_new(layout, seed);
}

static SimLab *
new_rooms(const char *simulate, guint64 seed)
{
  g_autofree char *layout = sim_lab_two_rooms(TRUE, simulate);
  return sim_lab_new(layout, seed);
}

static gint64
took(const SimLab *lab, const char *name, Mark from, Mark to)
{
  const gint64 *marks = lab->marks[sim_lab_node(lab, name)];
  assert_true(marks[from] >= 0 && marks[to] >= 0);
  return marks[to] - marks[from];
}

static void
test_stages_of_one_boot(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(1, NULL, 1);
  const BootModel *model = &lab->layout->boot;
  sim_lab_boot(lab, "a01", NFS);
  assert_int_equal(lab->marks[sim_lab_node(lab, "a01")][MARK_ON], SIM_BOOT_DEVICE + SIM_ON);
  assert_int_equal(took(lab, "a01", MARK_ON, MARK_FIRMWARE), 0);
  assert_int_equal(took(lab, "a01", MARK_FIRMWARE, MARK_DHCP), 5 * TIME_SECOND);
  assert_int_equal(took(lab, "a01", MARK_DHCP, MARK_TFTP), TIME_SECOND); /* alone: no delay */
  assert_int_equal(took(lab, "a01", MARK_TFTP, MARK_KERNEL),
                   (gint64)ceil(model->tftp_bytes / model->tftp_cap * 1e9));
  assert_int_equal(took(lab, "a01", MARK_KERNEL, MARK_INITRAMFS), TIME_SECOND / 2);
  assert_int_equal(took(lab, "a01", MARK_INITRAMFS, MARK_ROOT), 3 * TIME_SECOND / 2);
  double seconds = model->cpu + model->bytes / model->nfs_cap;
  assert_true(fabs(sim_lab_boot_time(lab, "a01") / seconds - 1) < 1e-8);
}

static void
test_nbd_reads_compressed(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(1, NULL, 1);
  const BootModel *model = &lab->layout->boot;
  double request = model->nbd_ratio * model->nbd_request;
  double cap = request / (model->nbd_t0 + request / SIM_LAB_GE);
  sim_lab_watch(lab);
  sim_lab_boot(lab, "a01", NBD);
  sim_lab_run(lab, 2);
  assert_true(fabs(cap - 9.848e6) < 0.001e6);
  double seconds = model->cpu + model->nbd_ratio * model->bytes / cap;
  assert_true(fabs(sim_lab_boot_time(lab, "a01") / seconds - 1) < 1e-8);
  gint64 bytes = (gint64)(model->tftp_bytes + model->nbd_ratio * model->bytes);
  assert_in_range(sim_lab_total(lab, "a01", ".rx B"), bytes - 1, bytes);
}

/* facts, closed forms: T = Tcpu + B / min(c, C/N), when all go in lock-step. */
static void
check_lock_step(const char *simulate, const char *set, double rate, double published)
{
  g_autoptr(SimLab) lab = new_rooms(simulate, 1);
  g_autoptr(GArray) nodes = sim_lab_nodes(lab, set);
  double seconds = lab->layout->boot.cpu + lab->layout->boot.bytes / rate;
  sim_lab_boot(lab, set, NFS);
  for (guint i = 0; i < nodes->len; i++) {
    const char *name = lab->layout->nodes[g_array_index(nodes, NodeId, i)].name;
    assert_true(fabs(sim_lab_boot_time(lab, name) / seconds - 1) < 1e-9);
  }
  assert_true(fabs(seconds - published) < 0.0005);
}

static void
test_lock_step(void **state)
{
  static const char simulate[] =
      "reads: 1, start-delay: 0 s, bytes: 184.5 MB, cpu: 10.51 s, nfs-cap: 24.62 MB/s";
  (void)state;
  check_lock_step(simulate, "b04", 24.62e6, 18.004);
  check_lock_step(simulate, "b04,b05,b06,b07,b08,b09,b10,b11,b12,b13,b14,b15,b16,b17",
                  SIM_LAB_GE / 14, 32.458);
}

static void
check_delay(const SimLab *lab, const char *name, gboolean delayed, guint n)
{
  double delay = delayed ? draw_uniform(1, "start-delay", name, n) : 0;
  assert_int_equal(took(lab, name, MARK_DHCP, MARK_TFTP), TIME_SECOND + (gint64)ceil(delay * 1e9));
}

static void
test_start_delays(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_room(4, NULL, 1);
  sim_lab_boot(lab, "a01,a02", NFS); /* by one request */
  check_delay(lab, "a01", TRUE, 0);
  check_delay(lab, "a02", TRUE, 0);
  sim_lab_do(lab, OP_ON, "a03", NULL); /* one after the other */
  sim_lab_run(lab, 3);
  sim_lab_do(lab, OP_ON, "a04", NULL);
  sim_lab_run(lab, 60);
  check_delay(lab, "a03", TRUE, 0);
  check_delay(lab, "a04", TRUE, 0);
  sim_lab_do(lab, OP_RESET, "a02", NULL); /* alone, and again with another */
  sim_lab_run(lab, 60);
  check_delay(lab, "a02", FALSE, 1);
  sim_lab_do(lab, OP_RESET, "a01,a02", NULL);
  sim_lab_run(lab, 60);
  check_delay(lab, "a01", TRUE, 1);
  check_delay(lab, "a02", TRUE, 2);
  sim_lab_do(lab, OP_RESET, "a01,a02", NULL); /* together, though one is gone by then */
  sim_lab_do(lab, OP_OFF, "a02", NULL);
  sim_lab_run(lab, 60);
  check_delay(lab, "a01", TRUE, 2);
}

/* What a storm moves is what its boots read, and is counted the same on every way. */
static void
test_bytes_are_kept(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_rooms(NULL, 3);
  const BootModel *model = &lab->layout->boot;
  sim_lab_watch(lab);
  sim_lab_boot(lab, "all", NFS);
  sim_lab_run(lab, 2);
  gint64 each = (gint64)(model->tftp_bytes + model->bytes);
  assert_in_range(sim_lab_total(lab, "a05.", ".rx B"), each - 1, each);
  assert_in_range(sim_lab_total(lab, "a", ".rx B"), 17 * (each - 1), 17 * each);
  assert_in_range(sim_lab_total(lab, "slx1/", ".tx B"), 34 * each - 4, 34 * each);
  assert_in_range(sim_lab_total(lab, "slx1/eth1", ".tx B"), 2 * each - 1, 2 * each);
  assert_in_range(sim_lab_total(lab, "link:sw1-sw2", ".tx B"), 17 * each - 1, 17 * each);
  assert_in_range(sim_lab_total(lab, "link:sw2-sw3", ".tx B"), 14 * each - 1, 14 * each);
  assert_int_equal(sim_lab_total(lab, "link:", ".rx B"), 0);
  assert_int_equal(sim_lab_total(lab, "slx1.", ".disk B"), 0);
}

/* Room A's seats but for those of odd MAC are alike: who is a01 makes no difference to the lab. */
static void
test_equal_clients_are_interchangeable(void **state)
{
  static const char *const orders[] = {"a01,a02,a03,a06,a07", "a07,a03,a01,a06,a02"};
  gint64 login[2][5];
  (void)state;
  for (guint i = 0; i < 2; i++) {
    g_autoptr(SimLab) lab = new_rooms("start-delay: 0 s", 1);
    g_autoptr(GArray) sorted = sim_lab_nodes(lab, orders[0]);
    sim_lab_boot(lab, orders[i], NFS);
    for (guint k = 0; k < 5; k++)
      login[i][k] = lab->marks[g_array_index(sorted, NodeId, k)][MARK_LOGIN];
  }
  for (guint k = 0; k < 5; k++)
    assert_true(ABS(login[0][k] - login[1][k]) <= 40); /* ns: a rounding for each event */
}

static GString *
storm(guint64 seed, gboolean watched)
{
  g_autoptr(SimLab) lab = new_rooms(NULL, seed);
  sim_lab_add_job(lab, "find", PROTOCOL_NFS, 9e6, 90e6);
  sim_lab_keep_all(lab);
  if (watched)
    sim_lab_watch(lab);
  sim_lab_boot(lab, "all", NFS);
  sim_lab_do(lab, OP_EXEC, "roomA", WITH("job", "find"));
  GString *said = lab->said;
  lab->said = NULL;
  return said;
}

static void
test_equal_seeds_give_equal_bytes(void **state)
{
  (void)state;
  GString *one = storm(1, TRUE), *again = storm(1, TRUE), *other = storm(2, TRUE);
  assert_true(one->len > 10000);
  assert_string_equal(one->str, again->str);
  assert_string_not_equal(one->str, other->str);
  g_string_free(one, TRUE);
  g_string_free(again, TRUE);
  g_string_free(other, TRUE);
}

/* SAID without what was sampled, and without request numbers, of which a watch takes one. */
static char *
without_samples(const GString *said)
{
  g_auto(GStrv) lines = g_strsplit(said->str, "\n", -1);
  g_autoptr(GString) rest = g_string_new(NULL);
  for (guint i = 0; lines[i] != NULL; i++)
    if (strstr(lines[i], " observe ") != NULL)
      g_string_append_printf(rest, "%s\n", lines[i]);
  return g_strdup(rest->str);
}

static void
test_watching_changes_nothing(void **state)
{
  (void)state;
  GString *one = storm(1, TRUE), *two = storm(1, FALSE);
  g_autofree char *watched = without_samples(one), *alone = without_samples(two);
  assert_true(strlen(alone) > 5000);
  assert_string_equal(watched, alone);
  g_string_free(one, TRUE);
  g_string_free(two, TRUE);
}

static const char *
stage(const SimLab *lab, const char *name)
{
  g_autofree char *key = g_strjoin(" ", name, "stage", NULL);
  const char *value = g_hash_table_lookup(lab->facts, key);
  return value ? value : "";
}

static void
test_no_way_no_menu(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_rooms(NULL, 1);
  sim_lab_set(lab, "link:sw2-sw3.state", "down");
  sim_lab_do(lab, OP_ON, "b03,b04", NULL);
  sim_lab_run(lab, 100);
  assert_string_equal(stage(lab, "b03"), "login");
  assert_string_equal(stage(lab, "b04"), "dhcp");
  sim_lab_set(lab, "link:sw2-sw3.state", "up");
  sim_lab_run(lab, 100);
  assert_string_equal(stage(lab, "b04"), "login");
}

/* A cut costs the time it lasts, and not a byte. */
static void
test_a_cut_is_waited_for(void **state)
{
  static const char *const cuts[][3] = {{"link:sw1-sw2.state", "down", "up"},
                                        {"b01/eth0.state", "down", "up"},
                                        {"slx1/eth0.state", "down", "up"},
                                        {"slx1.nfsd", "0", "64"}};
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS(cuts); i++) {
    g_autoptr(SimLab) lab = new_rooms("reads: 1", 1);
    double whole = lab->layout->boot.cpu + lab->layout->boot.bytes / lab->layout->boot.nfs_cap;
    sim_lab_watch(lab);
    for (guint port = 1; port < 4; port++) {
      g_autofree char *path = g_strdup_printf("slx1/eth%u.state", port);
      sim_lab_set(lab, path, "down");
    }
    sim_lab_do(lab, OP_ON, "b01", NULL);
    sim_lab_run(lab, 12); /* in the one read */
    assert_string_equal(stage(lab, "b01"), "root");
    sim_lab_set(lab, cuts[i][0], cuts[i][1]);
    sim_lab_run(lab, 7);
    sim_lab_set(lab, cuts[i][0], cuts[i][2]);
    sim_lab_run(lab, 30);
    assert_true(fabs(sim_lab_boot_time(lab, "b01") - whole - 7) < 1e-6);
    gint64 bytes = (gint64)(lab->layout->boot.tftp_bytes + lab->layout->boot.bytes);
    assert_in_range(sim_lab_total(lab, "b01", ".rx B"), bytes - 1, bytes);
  }
}

static void
test_the_server_may_go_and_come(void **state)
{
  static const char *const nodes[] = {"slx1", "sw1", "sw2"};
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS(nodes); i++) {
    g_autoptr(SimLab) lab = new_rooms(NULL, 1);
    sim_lab_do(lab, OP_ON, "b01", NULL);
    sim_lab_run(lab, 12);
    sim_lab_do(lab, OP_OFF, nodes[i], NULL);
    sim_lab_run(lab, 100);
    assert_string_not_equal(stage(lab, "b01"), "login");
    sim_lab_do(lab, OP_ON, nodes[i], NULL);
    sim_lab_run(lab, 100);
    assert_string_equal(stage(lab, "b01"), "login");
  }
}

static void
test_disk_boot_needs_no_server(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_rooms(NULL, 1);
  sim_lab_watch(lab);
  sim_lab_do(lab, OP_OFF, "slx1", NULL);
  sim_lab_do(lab, OP_BOOT_DEVICE, "a01", WITH("device", "disk"));
  sim_lab_do(lab, OP_ON, "a01", NULL);
  sim_lab_run(lab, 60);
  assert_string_equal(stage(lab, "a01"), "login");
  assert_int_equal(lab->marks[sim_lab_node(lab, "a01")][MARK_TFTP], -1);
  assert_int_equal(sim_lab_total(lab, "a01", ".rx B"), 0);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stages_of_one_boot),
      cmocka_unit_test(test_nbd_reads_compressed),
      cmocka_unit_test(test_lock_step),
      cmocka_unit_test(test_start_delays),
      cmocka_unit_test(test_bytes_are_kept),
      cmocka_unit_test(test_equal_clients_are_interchangeable),
      cmocka_unit_test(test_equal_seeds_give_equal_bytes),
      cmocka_unit_test(test_watching_changes_nothing),
      cmocka_unit_test(test_no_way_no_menu),
      cmocka_unit_test(test_a_cut_is_waited_for),
      cmocka_unit_test(test_the_server_may_go_and_come),
      cmocka_unit_test(test_disk_boot_needs_no_server),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
