#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "tests/unit/sim_lab.h"

/* The model's published figures under the four hypotheses of what limits the bond: medians over
 * seeds 1 to 20, to 3 %. Nothing here is fitted: the parameters are the layout's defaults.
 *
 * H1 four balanced ports · H2 two of four carry everything · H3 as H1, and the server sends
 * 1.9 Gbit/s at most · H4 two ports and two seats of odd MAC. */
typedef enum { H1 = 1, H2, H3, H4 } Hypothesis;

#define SEEDS 20
#define TOLERANCE 0.03
#define MIB 1048576.0
#define PORTS "slx1/eth", ".tx B"

/* Note each figure as it is measured, then judge it by its median. */
typedef struct {
  double values[SEEDS];
  guint n;
} Series;

static void
note(Series *series, double value)
{
  series->values[series->n++] = value;
}

static void
judge(const char *name, Hypothesis hypothesis, double published, Series *series)
{
  guint worst = 0;
  for (guint i = 0; i < series->n; i++)
    if (fabs(series->values[i] - published) > fabs(series->values[worst] - published))
      worst = i;
  double far = series->values[worst], median = sim_lab_median(series->values, series->n);
  print_message("%-34s H%u %9.3f  published %7.2f  %+5.1f %%  worst seed %2u: %.3f\n", name,
                hypothesis, median, published, 100 * (median / published - 1), worst + 1, far);
  if (!(fabs(median / published - 1) <= TOLERANCE))
    fail_msg("%s under H%u misses its published figure", name, hypothesis);
}

static void
set_mac(SimLab *lab, char room, guint seat, guint last_byte)
{
  g_autofree char *path = g_strdup_printf("%c%02u.mac", room, seat);
  g_autofree char *mac = g_strdup_printf("52:54:00:0%c:00:%02x", room, last_byte);
  sim_lab_set(lab, path, mac);
}

static SimLab *
one_room(Hypothesis hypothesis, guint64 seed)
{
  g_autofree char *layout = sim_lab_room(16, 2, 64, NULL);
  SimLab *lab = sim_lab_new(layout, seed);
  sim_lab_watch(lab);
  if (hypothesis == H1 || hypothesis == H3)
    sim_lab_set(lab, "slx1/bond0.policy", "layer2+3");
  if (hypothesis == H3)
    sim_lab_set(lab, "slx1.transmit-ceiling", "1.9 Gbit/s");
  if (hypothesis == H4) {
    set_mac(lab, 'a', 4, 0x41);
    set_mac(lab, 'a', 5, 0x43);
  }
  return lab;
}

static SimLab *
two_rooms(Hypothesis hypothesis, guint64 seed)
{
  g_autofree char *layout = sim_lab_two_rooms(hypothesis == H4, NULL);
  SimLab *lab = sim_lab_new(layout, seed);
  sim_lab_watch(lab);
  if (hypothesis == H3)
    sim_lab_set(lab, "slx1.transmit-ceiling", "1.9 Gbit/s");
  for (guint seat = 1; seat <= 17 && (hypothesis == H1 || hypothesis == H3); seat++) {
    set_mac(lab, 'a', seat, seat);
    set_mac(lab, 'b', seat, seat);
  }
  return lab;
}

/* All seats read as fast as they can: what leaves the server, Gbit/s. */
static double
measure_greedy(SimLab *lab)
{
  gint64 from = sim_lab_now(lab);
  sim_lab_add_job(lab, "dd", PROTOCOL_NFS, INFINITY, INFINITY);
  sim_lab_ask(lab, OP_EXEC, "roomA", WITH("job", "dd"));
  sim_lab_run(lab, 3);
  return 8e-9 * sim_lab_peak(lab, PORTS, from, TIME_NEVER);
}

static void
test_nfs_boots_in_one_room(void **state)
{
  static const double time[] = {0, 18.0, 22.86, 22.6, 20.5}, peak[] = {0, 2.84, 1.88, 1.90, 2.23};
  static const double greedy[] = {0, 3.77, 1.88, 1.9, 3.77};
  (void)state;
  for (Hypothesis h = H1; h <= H4; h++) {
    Series times = {0}, peaks = {0}, maxima = {0};
    for (guint64 seed = 1; seed <= SEEDS; seed++) {
      g_autoptr(SimLab) lab = one_room(h, seed);
      sim_lab_boot(lab, "roomA", "ubuntu-10.04::nfs");
      note(&times, sim_lab_mean_boot_time(lab, "roomA"));
      note(&peaks, 8e-9 * sim_lab_peak(lab, PORTS, 0, TIME_NEVER));
      note(&maxima, measure_greedy(lab));
    }
    judge("16 NFS boots, mean, s", h, time[h], &times);
    judge("their peak, Gbit/s", h, peak[h], &peaks);
    judge("greedy readers, Gbit/s", h, greedy[h], &maxima);
  }
}

static gint64
last_kernel(const SimLab *lab)
{
  g_autoptr(GArray) nodes = sim_lab_nodes(lab, "roomA");
  gint64 last = 0;
  for (guint i = 0; i < nodes->len; i++)
    last = MAX(last, lab->marks[g_array_index(nodes, NodeId, i)][MARK_KERNEL]);
  return last;
}

static void
test_nbd_boots_in_one_room(void **state)
{
  Series times = {0}, tftp = {0}, nbd = {0};
  (void)state;
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    g_autoptr(SimLab) lab = one_room(H2, seed);
    sim_lab_boot(lab, "roomA", "ubuntu-10.04::nbd");
    note(&times, sim_lab_mean_boot_time(lab, "roomA"));
    note(&tftp, 8e-6 * sim_lab_peak(lab, PORTS, 0, last_kernel(lab)));
    note(&nbd, 8e-6 * sim_lab_peak(lab, PORTS, last_kernel(lab), TIME_NEVER));
  }
  judge("16 NBD boots, mean, s", H2, 24.1, &times);
  judge("their peak in TFTP, Mbit/s", H2, 721, &tftp);
  judge("their peak in NBD, Mbit/s", H2, 700, &nbd);
}

static void
test_single_boots(void **state)
{
  static const char *const entries[] = {"ubuntu-10.04::nfs", "ubuntu-10.04::nbd"};
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS(entries); i++) {
    Series times = {0};
    for (guint64 seed = 1; seed <= SEEDS; seed++) {
      g_autoptr(SimLab) lab = one_room(H2, seed);
      sim_lab_boot(lab, "a01", entries[i]);
      note(&times, sim_lab_boot_time(lab, "a01"));
      assert_true(fabs(sim_lab_boot_time(lab, "a01") / 18 - 1) < 0.005);
    }
    judge(entries[i], H2, 18, &times);
  }
}

/* Room B's seats up, and reading at RATE each; returns the request. */
static guint32
load_room_b(SimLab *lab, const char *rate)
{
  sim_lab_add_job(lab, "find-cat", PROTOCOL_NFS, 150 * MIB / 17, INFINITY);
  sim_lab_boot(lab, "roomB", "ubuntu-10.04::nfs");
  return sim_lab_ask(lab, OP_EXEC, "roomB", WITH("job", "find-cat", "rate", rate));
}

static void
test_boots_in_two_rooms(void **state)
{
  static const double alone[] = {0, 357, 224.5, 226.5, 267};
  static const double loaded[] = {0, 396, 224.5, 226.5, 273};
  static const double slower[] = {0, 1.01, 1.20, 1.20, 1.15};
  (void)state;
  for (Hypothesis h = H1; h <= H4; h++) {
    Series peaks = {0}, loaded_peaks = {0}, ratios = {0};
    for (guint64 seed = 1; seed <= SEEDS; seed++) {
      g_autoptr(SimLab) idle = two_rooms(h, seed);
      sim_lab_boot(idle, "roomA", "ubuntu-10.04::nfs");
      note(&peaks, sim_lab_peak(idle, PORTS, 0, TIME_NEVER) / MIB);
      g_autoptr(SimLab) busy = two_rooms(h, seed);
      load_room_b(busy, "2.8 MB/s");
      gint64 from = sim_lab_now(busy);
      sim_lab_boot(busy, "roomA", "ubuntu-10.04::nfs");
      note(&loaded_peaks, sim_lab_peak(busy, PORTS, from, TIME_NEVER) / MIB);
      note(&ratios, sim_lab_mean_boot_time(busy, "roomA") / sim_lab_mean_boot_time(idle, "roomA"));
    }
    judge("17 boot, peak, MiB/s", h, alone[h], &peaks);
    judge("the same under load, MiB/s", h, loaded[h], &loaded_peaks);
    judge("boot time, loaded : idle", h, slower[h], &ratios);
  }
}

static double
measure_find(Hypothesis hypothesis, const char *rate_b)
{
  g_autoptr(SimLab) lab = two_rooms(hypothesis, 1);
  load_room_b(lab, rate_b);
  sim_lab_boot(lab, "roomA", "ubuntu-10.04::nfs");
  sim_lab_ask(lab, OP_EXEC, "roomA", WITH("job", "find-cat"));
  gint64 from = sim_lab_now(lab);
  sim_lab_run(lab, 3);
  return sim_lab_peak(lab, PORTS, from, TIME_NEVER) / MIB;
}

static void
test_find_in_both_rooms(void **state)
{
  static const double both[] = {0, 289, 224.5, 226.5, 260};
  Series uneven = {0};
  (void)state;
  for (Hypothesis h = H1; h <= H4; h++) {
    Series series = {0};
    note(&series, measure_find(h, "9.252141176 MB/s"));
    judge("find in both rooms, MiB/s", h, both[h], &series);
  }
  note(&uneven, measure_find(H1, "2.8 MB/s"));
  judge("one at 9.25, one at 2.8 MB/s", H1, 195, &uneven);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_single_boots),          cmocka_unit_test(test_nfs_boots_in_one_room),
      cmocka_unit_test(test_nbd_boots_in_one_room), cmocka_unit_test(test_boots_in_two_rooms),
      cmocka_unit_test(test_find_in_both_rooms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
