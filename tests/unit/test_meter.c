#include "core/meter.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const columns[] = {"a01.rx B",   "a02.rx B",  "s1/eth0.tx B", "s1/eth1.tx B",
                                      "s1.nfsd ns", "s1.load m", "s1.disk B"};
#define N G_N_ELEMENTS(columns)

static Layout *layout;

static int
load_layout(void **state)
{
  (void)state;
  g_autofree char *text = NULL;
  gsize length;
  if (!g_file_get_contents("tests/unit/samples/two-seats.yaml", &text, &length, NULL))
    return -1;
  layout = layout_parse("two-seats", text, length, NULL);
  return layout ? 0 : -1;
}

static int
free_layout(void **state)
{
  (void)state;
  layout_free(layout);
  return 0;
}

static void
near(double value, double expected)
{
  if (!(fabs(value - expected) <= 1e-9 * fabs(expected) + 1e-12))
    fail_msg("%.12f is not %.12f", value, expected);
}

static void
feed(Meters *meters, gint64 t, const gint64 *values, gboolean first)
{
  SamplesEvent samples = {
      .source = "sim", .columns = first ? columns : NULL, .values = values, .n = N};
  g_autoptr(GError) error = NULL;
  if (!meters_fold(meters, t, &samples, &error))
    fail_msg("%s", error->message);
}

/* A feed at 10 Hz: a01 at 1 MB/s all the time, eth0 the same and a burst of 5 MB in [2 s, 2.5 s).
 */
static void
row(gint64 *values, guint tick)
{
  guint burst = tick < 20 ? 0 : MIN(tick - 20, 5);
  values[0] = 100000 * (gint64)tick;
  values[1] = 0;
  values[2] = 100000 * (gint64)tick;
  values[3] = 1000000 * (gint64)burst;
  values[4] = 250000000 * (gint64)tick; /* 2.5 threads busy */
  values[5] = 3120;
  values[6] = 4096 * (gint64)tick;
}

static void
test_rates(void **state)
{
  (void)state;
  g_autoptr(Meters) meters = meters_new(layout);
  gint64 values[N];
  for (guint tick = 0; tick <= 30; tick++) {
    row(values, tick);
    feed(meters, tick * 100 * TIME_MS, values, tick == 0);
  }
  near(meters_seat_rx(meters, layout_find(layout, "a01"))->rate, 8e6);
  near(meters_seat_rx(meters, layout_find(layout, "a02"))->rate, 0);
  near(meters_port(meters, layout_find(layout, "s1"), 1, TRUE)->rate, 40e6);
  assert_null(meters_port(meters, layout_find(layout, "s1"), 1, FALSE)); /* no meter */
  near(meters_find(meters, "s1.nfsd")->rate, 2.5);
  near(meters_find(meters, "s1.load")->rate, 3.12);
  const Meter *meter = meters_find(meters, "a01.rx");
  assert_int_equal(meter->history_n, 4);
  near(meter->history[3], 8e6);
  assert_false(meter_is_stale(meter, 6 * TIME_SECOND));
  assert_true(meter_is_stale(meter, 6 * TIME_SECOND + 1));

  g_autoptr(Meters) copy = meters_clone(meters);
  values[0] = 7; /* reset: the interval has no rate, and none is negative */
  feed(meters, 3100 * TIME_MS, values, FALSE);
  near(meter->rate, 7.2e6);
  near(meters_find(copy, "a01.rx")->rate, 8e6);
}

static void
test_refused(void **state)
{
  (void)state;
  g_autoptr(Meters) meters = meters_new(layout);
  g_autoptr(GError) none = NULL, count = NULL, bad = NULL;
  const gint64 values[N] = {0};
  const char *const nonsense[] = {"a01rx"};
  SamplesEvent samples = {.source = "sim", .values = values, .n = N};
  assert_false(meters_fold(meters, 0, &samples, &none));
  assert_string_equal(none->message, "samples of sim came before their columns");
  samples.columns = nonsense, samples.n = 1;
  assert_false(meters_fold(meters, 0, &samples, &bad));
  assert_non_null(strstr(bad->message, "column `a01rx`"));
  feed(meters, 0, values, TRUE);
  samples.columns = NULL, samples.n = 3;
  assert_false(meters_fold(meters, 0, &samples, &count));
  assert_string_equal(count->message, "samples of sim: 3 values for 7 columns");
}

/* What a broken source or transcript may hold. */
static void
test_far_values(void **state)
{
  (void)state;
  const gint64 most = G_GINT64_CONSTANT(1) << 60;
  const gint64 far[] = {G_MAXINT64, G_MININT64, most + 1, -1};
  g_autoptr(Meters) meters = meters_new(layout);
  gint64 values[N];
  row(values, 0);
  feed(meters, 0, values, TRUE);
  g_autoptr(Measurement) measurement =
      measurement_new(meters, layout, layout_find(layout, "s1"), "server", TIME_SECOND, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(far); i++) {
    g_autoptr(GError) error = NULL;
    values[0] = far[i];
    SamplesEvent samples = {.source = "sim", .values = values, .n = N};
    assert_false(meters_fold(meters, 1, &samples, &error));
    g_autofree char *expected =
        g_strdup_printf("samples of sim: %" G_GINT64_FORMAT " is no value of %s", far[i],
                        meters_at(meters, 0)->name);
    assert_string_equal(error->message, expected);
  }
  for (guint i = 1; i <= 40; i++) { /* reset after reset: totals stop, and do not wrap */
    row(values, 0);
    for (guint c = 4; c < N; c++)
      values[c] = i % 2 ? most : 0;
    feed(meters, i * 100 * TIME_MS, values, FALSE);
    measurement_fold(measurement, meters, i * 100 * TIME_MS);
    for (guint m = 0; m < meters_count(meters); m++)
      assert_true(meters_at(meters, m)->rate >= 0 && isfinite(meters_at(meters, m)->rate));
  }
}

static void
collect(const char *name, double value, const char *unit, guint n, gpointer data)
{
  g_string_append_printf(data, "%s %.0f %s %u\n", name, value, unit, n);
}

static char *
measured(const char *source, gint64 window, guint from, guint to)
{
  g_autoptr(Meters) meters = meters_new(layout);
  g_autoptr(Measurement) measurement = NULL;
  g_autoptr(GError) error = NULL;
  gint64 values[N];
  for (guint tick = 0; tick <= to; tick++) {
    row(values, tick);
    feed(meters, tick * 100 * TIME_MS, values, tick == 0);
    if (measurement)
      measurement_fold(measurement, meters, tick * 100 * TIME_MS);
    if (tick == from)
      measurement =
          measurement_new(meters, layout, layout_find(layout, "s1"), source, window, &error);
    if (error)
      return g_strdup(error->message);
    if (tick == 22 && measurement) { /* a copy counts on as the original does */
      Measurement *copy = measurement_clone(measurement);
      measurement_free(measurement);
      measurement = copy;
    }
  }
  g_autoptr(GString) text = g_string_new(NULL);
  measurement_figures(measurement, collect, text);
  return g_strdup(text->str);
}

static void
test_measurements(void **state)
{
  (void)state;
  static const struct {
    const char *source, *expected;
    gint64 window;
  } cases[] = {
      /* 5 MB of burst and 1 MB/s: the best second holds all of the burst. Over 4 s: 9 MB. */
      {"bond", "bond.tx.peak 48000000 bit/s 1\nbond.tx.mean 18000000 bit/s 1\n", TIME_SECOND},
      {"bond", "bond.tx.peak 88000000 bit/s 1\nbond.tx.mean 18000000 bit/s 1\n", 500 * TIME_MS},
      {"port:eth0", "eth0.tx.peak 8000000 bit/s 1\neth0.tx.mean 8000000 bit/s 1\n", TIME_SECOND},
      {"seats",
       "seats.rx.min 0 bit/s 2\nseats.rx.median 4000000 bit/s 2\nseats.rx.max 8000000 bit/s 2\n",
       TIME_SECOND},
      {"server", "load.max 3  1\nnfsd.max 2  1\ndisk.bytes 163840 B 1\n", TIME_SECOND},
      {"bond", "bond.tx.mean 18000000 bit/s 1\n", 5 * TIME_SECOND}, /* no window passed */
      {"port:eth7",
       "port:eth7: nothing to measure by that name; there is bond, port:NAME, link:A-B, seats, "
       "server",
       TIME_SECOND},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = measured(cases[i].source, cases[i].window, 10, 50);
    assert_string_equal(text, cases[i].expected);
  }
}

static void
test_source_comes_again(void **state)
{
  (void)state;
  g_autoptr(Meters) meters = meters_new(layout);
  gint64 values[N];
  row(values, 10);
  feed(meters, 0, values, TRUE);
  g_autoptr(Measurement) measurement =
      measurement_new(meters, layout, layout_find(layout, "s1"), "port:eth0", TIME_SECOND, NULL);
  row(values, 20);
  feed(meters, TIME_SECOND, values, FALSE);
  measurement_fold(measurement, meters, TIME_SECOND);
  meters_forget(meters, "sim");
  assert_null(meters_find(meters, "s1/eth0.tx"));
  row(values, 5); /* the machine came up again and counts from 0 */
  feed(meters, 2 * TIME_SECOND, values, TRUE);
  measurement_fold(measurement, meters, 2 * TIME_SECOND);
  row(values, 15);
  feed(meters, 3 * TIME_SECOND, values, FALSE);
  measurement_fold(measurement, meters, 3 * TIME_SECOND);
  g_autoptr(GString) text = g_string_new(NULL);
  measurement_figures(measurement, collect, text);
  /* Of the second that it was gone nothing is known, and it does not count. */
  assert_string_equal(text->str, "eth0.tx.peak 8000000 bit/s 1\neth0.tx.mean 8000000 bit/s 1\n");
}

/* ---- Sources of real machines -------------------------------------------------------------- */

static gboolean
gives(Meters *meters, const char *source, const char *columns_text, gint64 ms, gint64 a, gint64 b,
      GError **error)
{
  g_auto(GStrv) names = columns_text ? g_strsplit(columns_text, ",", -1) : NULL;
  const gint64 values[] = {a, b};
  SamplesEvent samples = {.source = source,
                          .columns = (const char *const *)names,
                          .values = values,
                          .n = names ? g_strv_length(names) : 2};
  return meters_fold(meters, ms * TIME_MS, &samples, error);
}

static void
give(Meters *meters, const char *source, const char *columns_text, gint64 ms, gint64 a, gint64 b)
{
  g_autoptr(GError) error = NULL;
  if (!gives(meters, source, columns_text, ms, a, b, &error))
    fail_msg("%s", error->message);
}

static void
refused(Meters *meters, gint64 ms, gint64 a, gint64 b, const char *message)
{
  g_autoptr(GError) error = NULL;
  assert_false(gives(meters, "ssh:a01", NULL, ms, a, b, &error));
  assert_string_equal(error->message, message);
}

static void
test_wrap(void **state)
{
  (void)state;
  const gint64 top = G_GINT64_CONSTANT(1) << 32;
  g_autoptr(Meters) meters = meters_new(layout);
  give(meters, "snmp", "a01.rx B,s1.calls n", 0, top - 1000000, top - 10);
  give(meters, "snmp", NULL, 1000, 1000000, 5);
  near(meters_find(meters, "a01.rx")->rate, 16e6);
  near(meters_find(meters, "s1.calls")->rate, 0); /* no line tells what it can count: a reset */
  give(meters, "snmp", NULL, 2000, 900000, 6);    /* 4.3 GB in a second no gigabit carries */
  assert_int_equal(meters_find(meters, "a01.rx")->total, 2000000);
  near(meters_find(meters, "s1.calls")->rate, 1);
}

/* A gigabit carries 125 MB/s of anything. */
static void
test_above_line_speed(void **state)
{
  (void)state;
  g_autoptr(Meters) meters = meters_new(layout);
  const gint64 mb = 1000000;
  give(meters, "ssh:a01", "a01.rx B,a01.tx B", 0, 0, 0);
  give(meters, "ssh:a01", NULL, 1000, 117 * mb, 110 * mb);
  give(meters, "ssh:a01", NULL, 1990, 234 * mb, 220 * mb); /* a little early: 118 MB/s */
  const Meter *rx = meters_find(meters, "a01.rx");
  near(rx->rate, 117e6 * 8 / 0.99);
  refused(meters, 2990, 234 * mb, 380 * mb,
          "samples of ssh:a01: a01.tx rose by 160000000 B in 1.000 s, more than its line of 1000 "
          "Mbit/s carries; such are not counted");
  assert_true(rx->t == 1990 * TIME_MS);                    /* nothing of that sample is there */
  give(meters, "ssh:a01", NULL, 3990, 334 * mb, 410 * mb); /* over both seconds it is no more */
  near(meters_find(meters, "a01.tx")->rate, 190e6 * 8 / 2);

  /* A jump, once: 1 TB are not counted, and what came behind is. */
  give(meters, "ssh:a01", NULL, 4990, 334 * mb, 410 * mb);
  g_autoptr(GError) jump = NULL, same = NULL;
  assert_false(gives(meters, "ssh:a01", NULL, 5990, 1000000 * mb, 410 * mb, &jump));
  assert_false(gives(meters, "ssh:a01", NULL, 6090, 1000001 * mb, 410 * mb, &same));
  g_autoptr(Meters) copy = meters_clone(meters);
  give(meters, "ssh:a01", NULL, 6990, 1000010 * mb, 411 * mb);
  give(copy, "ssh:a01", NULL, 6990, 1000010 * mb, 411 * mb);
  assert_int_equal(rx->total, 344 * mb);
  assert_int_equal(meters_find(copy, "a01.rx")->total, 344 * mb);
  assert_int_equal(meters_find(meters, "a01.tx")->total, 411 * mb);

  /* A line that is faster than its layout says goes stale. */
  give(meters, "ssh:a01", NULL, 7990, 1000020 * mb, 411 * mb);
  for (gint64 i = 1; i < 10; i++)
    assert_false(
        gives(meters, "ssh:a01", NULL, 7990 + 1000 * i, (1000020 + 300 * i) * mb, 411 * mb, NULL));
  assert_true(meter_is_stale(rx, 16990 * TIME_MS));
}

/* Of one sample too many nothing is said before the next one: it may have come late. */
static void
test_refusals_are_told_when_sure(void **state)
{
  (void)state;
  static const struct {
    const char *what;
    struct {
      gint64 ms, mb;
      gboolean told;
    } samples[3];
  } cases[] = {
      {"good over two seconds", {{3000, 380, FALSE}, {4000, 420, FALSE}, {5000, 520, FALSE}}},
      {"too much for both", {{3000, 380, FALSE}, {4000, 700, TRUE}, {5000, 1000, TRUE}}},
      {"ten a second", {{3000, 380, FALSE}, {3100, 400, FALSE}, {4000, 420, FALSE}}},
      {"a jump, left out", {{3000, 90000, FALSE}, {3100, 90001, FALSE}, {4000, 90002, TRUE}}},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(Meters) meters = meters_new(layout);
    for (gint64 s = 0; s < 3; s++)
      give(meters, "ssh:a01", s ? NULL : "a01.rx B,a01.tx B", 1000 * s, 110000000 * s, 0);
    for (guint k = 0; k < 3; k++) {
      gives(meters, "ssh:a01", NULL, cases[i].samples[k].ms, cases[i].samples[k].mb * 1000000, 0,
            NULL);
      g_autoptr(Meters) copy = meters_clone(meters);
      const char *text = meters_refusal(copy, "ssh:a01");
      if ((text != NULL) != cases[i].samples[k].told)
        fail_msg("%s: at %" G_GINT64_FORMAT " ms: %s", cases[i].what, cases[i].samples[k].ms,
                 text ? text : "nothing");
      assert_true(!text || strstr(text, "a01.rx rose by") != NULL);
    }
  }
}

/* A full line: when samples came, and when they were taken. One is 300 ms late, and three come all
 * at once. */
static void
test_late_samples(void **state)
{
  (void)state;
  static const gint64 ms[][2] = {{0, 0},       {1000, 1000}, {2000, 2000}, {3300, 3000},
                                 {4300, 4290}, {5000, 5000}, {8000, 6000}, {8010, 7000},
                                 {8020, 8000}, {8975, 8970}, {9980, 9980}};
  const gint64 full = 117700; /* B/ms */
  g_autoptr(Meters) meters = meters_new(layout);
  g_autoptr(Measurement) measurement = NULL;
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(ms); i++) {
    give(meters, "ssh:s1", i ? NULL : "s1/eth0.tx B,a01.tx B", ms[i][0], full * ms[i][1], 0);
    const Meter *tx = meters_find(meters, "s1/eth0.tx");
    assert_true(tx->rate <= 1e9);
    assert_int_equal(tx->total, full * ms[i][1]);
    if (!measurement)
      measurement = measurement_new(meters, layout, layout_find(layout, "s1"), "port:eth0",
                                    TIME_SECOND, NULL);
    measurement_fold(measurement, meters, ms[i][0] * TIME_MS);
  }
  near(meters_find(meters, "s1/eth0.tx")->rate, 941.6e6 * 1.01 / 1.005);
  measurement_figures(measurement, collect, text);
  double peak = g_ascii_strtod(text->str + strlen("eth0.tx.peak "), NULL);
  assert_true(peak > 930e6 && peak <= 1e9);
}

/* What no lateness explains: more than the line in each of two seconds, or far more in one. */
static void
test_impossible_rates(void **state)
{
  (void)state;
  const gint64 mb = 1000000;
  static const char message[] = "more than its line of 1000 Mbit/s carries";
  for (guint far = 0; far < 2; far++) {
    g_autoptr(Meters) meters = meters_new(layout);
    g_autoptr(GError) error = NULL;
    for (gint64 i = 0; i < 5; i++)
      give(meters, "ssh:a01", i ? NULL : "a01.rx B,a01.tx B", i * 1000, 60 * mb * i, 0);
    if (far) {
      assert_false(gives(meters, "ssh:a01", NULL, 5000, 2000 * mb, 0, &error));
    } else {
      give(meters, "ssh:a01", NULL, 5000, 390 * mb, 0);
      assert_false(gives(meters, "ssh:a01", NULL, 6000, 590 * mb, 0, &error));
    }
    assert_non_null(strstr(error->message, message));
  }
}

/* An agent that counts every 5 s, and is found to have somewhere in the second before. */
static void
test_samples_of_a_cache(void **state)
{
  (void)state;
  static const gint64 arrived[] = {0, 5900, 10100, 15000, 20900, 25050};
  const gint64 full = 5 * 117700000;
  g_autoptr(Meters) meters = meters_new(layout);
  for (guint i = 0; i < G_N_ELEMENTS(arrived); i++) {
    give(meters, "snmp:sw1", i ? NULL : "a01.rx B,a01.tx B", arrived[i], full * i, 0);
    assert_true(meters_find(meters, "a01.rx")->rate <= 1e9);
  }
  assert_int_equal(meters_find(meters, "a01.rx")->total, full * 5);
}

/* An interface goes: its columns do, and the others go on as if nothing had been. */
static void
test_columns_change(void **state)
{
  (void)state;
  g_autoptr(Meters) meters = meters_new(layout);
  NodeId s1 = layout_find(layout, "s1");
  give(meters, "ssh:s1", "s1/eth0.tx B,s1/eth1.tx B", 0, 0, 0);
  give(meters, "ssh:s1", NULL, 1000, 1000, 3000);
  g_autoptr(Measurement) measurement =
      measurement_new(meters, layout, s1, "bond", TIME_SECOND, NULL);
  give(meters, "ssh:s1", "s1/eth1.tx B", 2000, 6000, 0);
  measurement_fold(measurement, meters, 2000 * TIME_MS);
  assert_null(meters_port(meters, s1, 0, TRUE));
  const Meter *eth1 = meters_port(meters, s1, 1, TRUE);
  near(eth1->rate, 24000);
  assert_int_equal(eth1->history_n, 3);
  give(meters, "ssh:s1", "s1/eth0.tx B,s1/eth1.tx B", 3000, 7000, 9000);
  measurement_fold(measurement, meters, 3000 * TIME_MS);
  near(meters_port(meters, s1, 0, TRUE)->rate, 0); /* of what it counted before nothing is known */
  near(meters_port(meters, s1, 1, TRUE)->rate, 24000);
  guint serial;
  assert_string_equal(meters_source_of(meters, 0, &serial), "ssh:s1");
  g_autoptr(GString) text = g_string_new(NULL);
  measurement_figures(measurement, collect, text);
  assert_string_equal(text->str, "bond.tx.peak 24000 bit/s 1\nbond.tx.mean 24000 bit/s 1\n");
}

/* Two sources tick half a second apart, and one of them twice as often. */
static void
test_several_sources(void **state)
{
  (void)state;
  g_autoptr(Meters) meters = meters_new(layout);
  NodeId s1 = layout_find(layout, "s1");
  give(meters, "one", "s1/eth0.tx B", 0, 0, 0);
  give(meters, "other", "s1/eth1.tx B", 250, 0, 0);
  g_autoptr(Measurement) bond = measurement_new(meters, layout, s1, "bond", 2 * TIME_SECOND, NULL);
  for (gint64 ms = 500; ms <= 5250; ms += 250) {
    if (ms % 1000 == 250) {
      const gint64 value = 2000 * (ms - 250);
      SamplesEvent samples = {.source = "other", .values = &value, .n = 1};
      assert_true(meters_fold(meters, ms * TIME_MS, &samples, NULL));
    } else if (ms % 500 == 0) {
      const gint64 value = 1000 * ms;
      SamplesEvent samples = {.source = "one", .values = &value, .n = 1};
      assert_true(meters_fold(meters, ms * TIME_MS, &samples, NULL));
    } else {
      continue;
    }
    measurement_fold(bond, meters, ms * TIME_MS);
  }
  g_autoptr(GString) text = g_string_new(NULL);
  measurement_figures(bond, collect, text);
  assert_string_equal(text->str, "bond.tx.peak 24000000 bit/s 1\nbond.tx.mean 24000000 bit/s 1\n");
  meters_forget(meters, "on"); /* no source of that name, nor behind a slash */
  assert_int_equal(meters_count(meters), 2);
  give(meters, "one/sockets", "a01.served B,a01.rtt m", 6000, 5, -1);
  NodeId a01 = layout_find(layout, "a01");
  assert_null(meters_seat_rx(meters, a01));
  assert_int_equal(meters_seat_served(meters, a01)->value, 5);
  meters_forget(meters, "one");
  assert_int_equal(meters_count(meters), 1);
  assert_null(meters_seat_served(meters, a01));
  near(meters_port(meters, s1, 1, TRUE)->rate, 16e6);
  assert_null(meters_port(meters, s1, 0, TRUE));
}

/* Two sources have one meter: when the first goes, the other is looked at. */
static void
test_second_source(void **state)
{
  (void)state;
  g_autoptr(Meters) meters = meters_new(layout);
  NodeId a01 = layout_find(layout, "a01");
  give(meters, "ssh:a01", "a01.rx B,a01.tx B", 0, 1, 2);
  give(meters, "snmp", "a01.rx B,a01.tx B", 0, 3, 4);
  assert_int_equal(meters_seat_rx(meters, a01)->value, 1);
  meters_forget(meters, "ssh:a01");
  assert_int_equal(meters_seat_rx(meters, a01)->value, 3);
  assert_int_equal(meters_find(meters, "a01.tx")->value, 4);
}

/* A source that is read each 10 s is not stale between. */
static void
test_slow_source(void **state)
{
  (void)state;
  g_autoptr(Meters) meters = meters_new(layout);
  give(meters, "ssh:a01", "a01.rx B,a01.tx B", 0, 1, 2);
  give(meters, "ssh:a01", NULL, 10000, 1, 2);
  const Meter *meter = meters_find(meters, "a01.rx");
  assert_false(meter_is_stale(meter, 40 * TIME_SECOND));
  assert_true(meter_is_stale(meter, 40 * TIME_SECOND + 1));
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rates),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_far_values),
      cmocka_unit_test(test_measurements),
      cmocka_unit_test(test_source_comes_again),
      cmocka_unit_test(test_wrap),
      cmocka_unit_test(test_above_line_speed),
      cmocka_unit_test(test_refusals_are_told_when_sure),
      cmocka_unit_test(test_late_samples),
      cmocka_unit_test(test_impossible_rates),
      cmocka_unit_test(test_samples_of_a_cache),
      cmocka_unit_test(test_columns_change),
      cmocka_unit_test(test_several_sources),
      cmocka_unit_test(test_second_source),
      cmocka_unit_test(test_slow_source),
  };
  return cmocka_run_group_tests_name("meter", tests, load_layout, free_layout);
}
