#include "core_lab.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const CoreOptions yes = {.seed = 1, .consent = CONSENT_YES};

static void
test_start_and_figures(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_at(lab, 10);
  lab_say(lab, "load start dd on a[01-02] cold as d bytes=1000000");
  lab_expect(lab, "plan 1: load dd cold a[01-02] by sim; 2 seats\n"
                  "request 3 exec sim a[01-02] cmd=1 job=dd label=d cache=cold bytes=1000000\n"
                  "done 1 ok\n");
  const LoadRun *run = state_load(lab->state, 0);
  assert_int_equal(run->seats[0].request, 3);
  assert_true(isnan(run->seats[0].bytes));
  lab_at(lab, 20);
  lab_line(lab, 3, "a01", "figures", "bytes=1000000 seconds=8 files=3 start_ns=10000000000");
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  lab_expect(lab, "");
  lab_line(lab, 3, "a02", "out", "bytes=7");
  lab_line(lab, 3, "a02", "figures",
           "bytes=3000000 seconds=8.5 files=5 start_ns=11500000000 disk_bytes=1 x= =3 files=-2 "
           "seconds=nan");
  lab_answer(lab, 3, "a02", VERDICT_OK, "");
  /* 4 MB from 10 s to 20 s. */
  lab_expect(lab, "figure d.rate.min 1000000.000 bit/s n=2 runs=1\n"
                  "figure d.rate.median 1911764.706 bit/s n=2 runs=1\n"
                  "figure d.rate.max 2823529.412 bit/s n=2 runs=1\n"
                  "figure d.rate.sum 3200000.000 bit/s n=2 runs=1\n"
                  "figure d.seconds.mean 8.250 s n=2 runs=1\n"
                  "figure d.seconds.median 8.250 s n=2 runs=1\n"
                  "figure d.seconds.min 8.000 s n=2 runs=1\n"
                  "figure d.seconds.max 8.500 s n=2 runs=1\n"
                  "figure d.seconds.p90 8.450 s n=2 runs=1\n"
                  "figure d.bytes 4000000.000 B n=2 runs=1\n"
                  "figure d.files 8.000 n=2 runs=1\n"
                  "figure d.skew 1.500 s n=2 runs=1\n"
                  "figure d.ok 2.000 n=2 runs=1\n"
                  "figure d.failed 0.000 n=2 runs=1\n"
                  "note warning: d was not simultaneous: its clients began 1.50 s apart, and took "
                  "8.25 s\n"
                  "figure d.unverified 2.000 n=2 runs=1\n"
                  "note warning: d: cold unverified: no meter tells what the disk gave\n");
  assert_true(run->uneven && run->proof == PROOF_UNVERIFIED);
  assert_true(run->seats[1].disk_bytes == 1);
  lab_say(lab, "wait load d");
  lab_expect(lab, "done 2 ok\n");
}

/* What is done to a server's caches stands in the plan and in the request. */
static void
test_servers_prepare_caches(void **state)
{
  (void)state;
  static const struct {
    const char *cache, *plan, *arguments;
  } cases[] = {
      {"", "dd", ""},
      {"cold ", "dd cold, which drops the caches of s1", " cache=cold drop=s1"},
      {"warm ", "dd warm, which fills the caches of s1", " cache=warm fill=s1"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(Lab) lab = lab_new("tests/unit/samples/caches.yaml", &yes);
    lab_link(lab, "sim", TRUE, "simulated lab");
    g_string_truncate(lab->out, 0);
    g_autofree char *said = g_strdup_printf("load start dd on a[01-02] %sas d", cases[i].cache);
    g_autofree char *asked = g_strconcat("plan ", said, NULL);
    g_autofree char *plan =
        g_strdup_printf("plan 1: load %s a[01-02] by sim; 2 seats\n", cases[i].plan);
    g_autofree char *request =
        g_strdup_printf("request 3 exec sim a[01-02] cmd=2 job=dd label=d%s\n", cases[i].arguments);
    lab_say(lab, asked);
    lab_expect_only(lab, "plan", plan);
    lab_say(lab, said);
    lab_expect_only(lab, "request", request);
  }
}

/* A cold load that is through at 10 s and has had no sample of the disk since: `wait load d timeout
 * 9s` has been said, and `load stop d`. */
static Lab *
lab_wants_sample(void)
{
  static const char *const columns[] = {"s1.disk B", NULL};
  const gint64 before = 1000, during = 500000;
  Lab *lab = lab_two_seats(&yes);
  lab_samples(lab, columns, &before, 1);
  lab_say(lab, "load start dd on a[01-02] cold as d");
  lab_at(lab, 2);
  lab_say(lab, "wait load d timeout 9s");
  lab_line(lab, 3, "a01", "figures", "start_ns=2000000000");
  lab_samples(lab, NULL, &during, 1);
  lab_at(lab, 10);
  lab_line(lab, 3, "a01", "figures", "bytes=1000000 seconds=8 readers=2 start_ns=2000000000");
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  lab_line(lab, 3, "a02", "figures", "bytes=1000000 seconds=8 readers=2 start_ns=2000000000");
  lab_answer(lab, 3, "a02", VERDICT_OK, "");
  lab_say(lab, "load stop d");
  return lab;
}

/* The proof waits for the sample behind the load's end, and for no longer than 3 s; who waits for
 * the load, or stops it, is told when it has its figures. */
static void
test_cold_is_proved(void **state)
{
  (void)state;
  const gint64 after = 1001000;
  for (int proved = 0; proved < 2; proved++) {
    g_autoptr(Lab) lab = lab_wants_sample();
    assert_int_equal(state_load(lab->state, 0)->end_t, -1);
    lab_expect_only(lab, "done", "done 1 ok\n");
    lab_at(lab, proved ? 11 : 13);
    if (proved)
      lab_samples(lab, NULL, &after, 1);
    lab_expect_only(lab, "done", "done 2 ok\ndone 3 ok\n");
    const LoadRun *run = state_load(lab->state, 0);
    assert_true(run->end_t >= 0);
    assert_int_equal(run->proof, proved ? PROOF_COLD : PROOF_UNVERIFIED);
  }
}

static void
test_what_the_wire_saw(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "load start dd on a[01-02] as d");
  lab_line(lab, 3, "a01", "figures", "seconds=8 wire_bytes=2000 start_ns=0");
  lab_line(lab, 3, "a02", "figures", "seconds=8 bytes=1000 wire_bytes=2000 start_ns=0");
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  lab_answer(lab, 3, "a02", VERDICT_OK, "");
  lab_expect_only(lab, "note",
                  "note info: d: bytes of a01 are what the interface saw, headers "
                  "included\n");
  assert_true(fabs(state_load(lab->state, 0)->seats[0].bytes - 2000) < 0.5);
  assert_true(fabs(state_load(lab->state, 0)->seats[1].bytes - 1000) < 0.5);
}

/* What clients take to get ready is not part of the duration, be it longer than that. */
static void
test_for_a_time_from_the_start(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "load start dd on a[01-02] for 3s as d");
  lab_at(lab, 4);
  lab_expect_only(lab, "signal", "");
  lab_line(lab, 3, "a01", "figures", "start_ns=3900000000");
  lab_line(lab, 3, "a02", "figures", "start_ns=4000000000");
  assert_int_equal(core_deadline(lab->state), 6900 * TIME_MS);
}

/* Clocks of clients may say that they began before they were told to, or will yet. */
static void
test_for_a_time_by_a_wrong_clock(void **state)
{
  (void)state;
  static const struct {
    const char *start;
    gint64 end;
  } cases[] = {{"start_ns=1", 13 * TIME_SECOND}, {"start_ns=900000000000", 15 * TIME_SECOND}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(Lab) lab = lab_two_seats(&yes);
    lab_at(lab, 3);
    lab_say(lab, "load start dd on a[01-02] for 10s as d");
    lab_at(lab, 5);
    lab_line(lab, 3, "a01", "figures", cases[i].start);
    assert_int_equal(core_deadline(lab->state), cases[i].end);
  }
}

static void
test_never_begun(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "load start dd on a[01-02] for 3s as d");
  lab_say(lab, "load stop d");
  g_string_truncate(lab->out, 0);
  lab_answer(lab, 4, "a01", VERDICT_OK, "");
  lab_answer(lab, 4, "a02", VERDICT_OK, "");
  lab_answer(lab, 3, "a01", VERDICT_CANCELLED, "a01: stopped before it had begun");
  lab_answer(lab, 3, "a02", VERDICT_CANCELLED, "a02: stopped before it had begun");
  lab_expect(lab, "figure d.ok 0.000 n=2 runs=1\n"
                  "figure d.failed 2.000 n=2 runs=1\n"
                  "note warning: d: a[01-02] never began: there was no load\n"
                  "done 2 ok\n");
  assert_string_equal(state_node(lab->state, lab_node(lab, "a01"))->fault,
                      "a01: stopped before it had begun");
}

static void
test_failures_are_counted(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "load start find-cat on a[01-02]");
  lab_say(lab, "wait load find_cat");
  lab_expect(lab, "request 3 exec sim a[01-02] cmd=1 job=find-cat label=find_cat\n"
                  "done 1 ok\n");
  lab_answer(lab, 3, "a01", VERDICT_FAILED, "a01: /usr is not mounted");
  assert_string_equal(state_node(lab->state, lab_node(lab, "a01"))->fault,
                      "a01: /usr is not mounted");
  lab_answer(lab, 3, "a02", VERDICT_OK, "");
  lab_expect(lab, "figure find_cat.ok 1.000 n=2 runs=1\n"
                  "figure find_cat.failed 1.000 n=2 runs=1\n"
                  "note warning: find_cat: a01 never began\n"
                  "note warning: wait load find_cat: 1 of 2, without a01\n"
                  "done 2 partial\n");
  lab_say(lab, "load start find-cat on a01");
  assert_null(state_node(lab->state, lab_node(lab, "a01"))->fault);
  assert_int_equal(state_load(lab->state, 1)->run, 2);
}

static void
test_labels_are_not_shared(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "load start dd on a01 as x");
  lab_say(lab, "load start dd on a02 as x");
  lab_expect_only(lab, "note",
                  "note warning: the load x is still running; stop it, or give "
                  "another label\n");
  lab_say(lab, "boot a02 as x");
  lab_expect_only(lab, "note", "note warning: x is the label of a load already\n");
  lab_say(lab, "boot a02 as y");
  lab_say(lab, "load start dd on a01 as y");
  lab_expect_only(lab, "note", "note warning: y is the label of a boot already\n");
}

static void
test_for_a_time(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_at(lab, 1);
  lab_say(lab, "load start dd on a[01-02] for 30s as d");
  lab_expect_only(lab, "request", "request 3 exec sim a[01-02] cmd=1 job=dd label=d\n");
  lab_line(lab, 3, "a01", "figures", "start_ns=1000000000");
  lab_line(lab, 3, "a02", "figures", "start_ns=1000000000");
  assert_int_equal(core_deadline(lab->state), 31 * TIME_SECOND);
  lab_at(lab, 12);
  lab_answer(lab, 3, "a01", VERDICT_FAILED, "a01: broken pipe");
  lab_at(lab, 31);
  lab_expect(lab, "request 4 signal sim a02 cmd=0 request=3 signal=TERM until 41 s\n");
  lab_answer(lab, 4, "a02", VERDICT_OK, "");
  lab_answer(lab, 3, "a02", VERDICT_CANCELLED, "a02: ended by TERM");
  lab_expect(lab, "figure d.ok 1.000 n=2 runs=1\n"
                  "figure d.failed 1.000 n=2 runs=1\n");
  assert_int_equal(core_deadline(lab->state), TIME_NEVER);
}

static void
test_stop(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "load start dd on a[01-02] for 30s as d");
  lab_line(lab, 3, "a01", "figures", "start_ns=0");
  lab_line(lab, 3, "a02", "figures", "start_ns=0");
  lab_at(lab, 5);
  lab_say(lab, "load stop d");
  lab_expect_only(lab, "request 4",
                  "request 4 signal sim a[01-02] cmd=2 request=3 signal=TERM "
                  "until 15 s\n");
  lab_answer(lab, 4, "a01", VERDICT_OK, "");
  lab_answer(lab, 4, "a02", VERDICT_OK, "");
  lab_answer(lab, 3, "a01", VERDICT_CANCELLED, "a01: ended by TERM");
  lab_expect(lab, "");
  lab_answer(lab, 3, "a02", VERDICT_TIMEOUT, "a02: the connection went");
  lab_expect(lab, "figure d.ok 1.000 n=2 runs=1\n"
                  "figure d.failed 1.000 n=2 runs=1\n"
                  "done 2 ok\n");
  lab_at(lab, 60); /* its time is not up any more */
  lab_expect(lab, "");
}

/* Who is left did as it was told, and what is left keeps its time by itself. */
static void
test_leave(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "load start dd on a[01-02] for 30s as d");
  lab_line(lab, 3, "a01", "figures", "start_ns=0");
  lab_line(lab, 3, "a02", "figures", "start_ns=0");
  lab_at(lab, 5);
  g_string_truncate(lab->out, 0);
  lab_say(lab, "load leave d");
  lab_expect(lab, "note warning: d is left running for 25.0 s, and has no figures\n"
                  "request 4 signal sim a[01-02] cmd=2 request=3 signal=LEAVE for=25.0 s "
                  "until 15 s\n");
  lab_answer(lab, 4, "a01", VERDICT_OK, "");
  lab_answer(lab, 4, "a02", VERDICT_OK, "");
  lab_answer(lab, 3, "a01", VERDICT_CANCELLED, "a01: left running");
  lab_answer(lab, 3, "a02", VERDICT_CANCELLED, "a02: left running");
  lab_expect(lab, "figure d.ok 2.000 n=2 runs=1\n"
                  "figure d.failed 0.000 n=2 runs=1\n"
                  "done 2 ok\n");
  assert_null(state_node(lab->state, lab_node(lab, "a01"))->fault);
  lab_at(lab, 60);
  lab_expect(lab, "");
}

static void
test_stop_of_a_deaf_seat(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "load start dd on a[01-02] as d");
  lab_say(lab, "load stop d");
  g_string_truncate(lab->out, 0);
  lab_answer(lab, 4, "a01", VERDICT_OK, "");
  lab_answer(lab, 3, "a01", VERDICT_CANCELLED, "a01: ended by TERM");
  lab_answer(lab, 4, "a02", VERDICT_FAILED, "a02: no such process");
  lab_expect(lab, "done 2 partial\n");
}

/* A load has no deadline; a backend that went down may keep silent about it, but not for ever. */
static void
test_backend_goes_down_under_a_load(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "load start dd on a[01-02] as d");
  lab_say(lab, "wait load d");
  lab_link(lab, "sim", FALSE, "cut");
  g_string_truncate(lab->out, 0);
  lab_at(lab, 12);
  lab_expect_only(lab, "done", "done 2 failed\n");
}

static void
test_few_runs_are_kept(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  for (guint32 i = 0; i < 600; i++) {
    lab_say(lab, "load start dd on a01 as d");
    lab_answer(lab, 3 + i, "a01", VERDICT_OK, "");
  }
  assert_int_equal(state_n_loads(lab->state), 512);
  assert_int_equal(state_load(lab->state, 0)->run, 89);
}

/* ---- measure ------------------------------------------------------------------------------- */

static const char *const columns[] = {"s1/eth0.tx B", "s1/eth1.tx B", "a01.rx B", "s1.load m"};

static void
sample(Lab *lab, double t, gint64 eth0, gint64 eth1, gint64 load)
{
  const gint64 values[] = {eth0, eth1, eth0, load};
  lab_reach(lab, t);
  lab_samples(lab, t == 0 ? columns : NULL, values, G_N_ELEMENTS(values));
}

static void
test_measure_for(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  sample(lab, 0, 0, 0, 0);
  lab_say(lab, "measure bond port:eth1 for 2s as m");
  sample(lab, 1, 1000, 0, 0);
  lab_expect(lab, "");
  sample(lab, 2, 1500, 500, 0);
  lab_settle(lab);
  lab_expect(lab, "figure m.bond.tx.peak 8000.000 bit/s n=1 runs=1\n"
                  "figure m.bond.tx.mean 8000.000 bit/s n=1 runs=1\n"
                  "figure m.eth1.tx.peak 4000.000 bit/s n=1 runs=1\n"
                  "figure m.eth1.tx.mean 2000.000 bit/s n=1 runs=1\n"
                  "done 1 ok\n");
}

static void
test_measure_during(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  sample(lab, 0, 0, 0, 0);
  lab_say(lab, "load start dd on a01 as d");
  lab_say(lab, "measure port:eth0 during d as d");
  sample(lab, 1, 1000, 0, 0);
  sample(lab, 2, 4000, 0, 0);
  g_string_truncate(lab->out, 0);
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  lab_expect(lab, "figure d.ok 1.000 n=1 runs=1\n"
                  "figure d.failed 0.000 n=1 runs=1\n"
                  "figure d.eth0.tx.peak 24000.000 bit/s n=1 runs=1\n"
                  "figure d.eth0.tx.mean 16000.000 bit/s n=1 runs=1\n"
                  "done 2 ok\n");
  lab_say(lab, "measure port:eth0 during d as e");
  lab_expect(lab, "note error: d is over: nothing is left to measure\n"
                  "done 3 failed\n");
  lab_say(lab, "measure prot:eth0 for 1s as e");
  lab_expect_only(lab, "done", "done 4 failed\n");
}

static void
test_stopped_measurement_has_no_figures(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  sample(lab, 0, 0, 0, 0);
  lab_say(lab, "measure port:eth0 for 10s as m");
  sample(lab, 2, 1000, 0, 0);
  lab_say(lab, "stop");
  lab_expect(lab, "done 1 cancelled\ndone 2 ok\n");
}

static void
test_bad_samples_are_told_once(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  const gint64 value = 1;
  lab_samples(lab, NULL, &value, 1);
  lab_samples(lab, NULL, &value, 1);
  lab_expect(lab, "note warning: samples of sim came before their columns\n");
  lab_link(lab, "sim", FALSE, "cut");
  lab_link(lab, "sim", TRUE, "back");
  g_string_truncate(lab->out, 0);
  lab_samples(lab, NULL, &value, 1);
  lab_expect(lab, "note warning: samples of sim came before their columns\n");
}

/* A sample that came late draws no note; a source that goes on like that draws one. */
static void
test_late_samples_are_not_told(void **state)
{
  (void)state;
  static const char *const column[] = {"a01.rx B", NULL};
  static const gint64 mb[] = {0, 110, 220, 380, 420, 520, 900, 1300, 1700};
  static const char note[] = "note warning: samples of sim: a01.rx rose by 380000000 B in 1.000 s, "
                             "more than its line of 1000 Mbit/s carries; such are not counted\n";
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  for (guint i = 0; i < G_N_ELEMENTS(mb); i++) {
    gint64 value = mb[i] * 1000000;
    lab_at(lab, i);
    lab_samples(lab, i ? NULL : column, &value, 1);
    lab_expect_only(lab, "note", i == 7 ? note : "");
  }
}

/* ---- expect -------------------------------------------------------------------------------- */

static void
test_expect(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "load start dd on a01 as d");
  lab_line(lab, 3, "a01", "figures", "bytes=1000000 seconds=8");
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  g_string_truncate(lab->out, 0);
  static const struct {
    const char *text, *output;
  } cases[] = {
      {"expect d.rate.max < 1.1 Mbit/s", "expect held 1000000.000"},
      {"expect d.rate.max < 1 Mbit/s", "expect not 1000000.000"},
      {"expect d.rate.max <= 1 Mbit/s", "expect held 1000000.000"},
      {"expect d.rate.max > 1 Mbit/s", "expect not 1000000.000"},
      {"expect d.rate.max >= 1 Mbit/s", "expect held 1000000.000"},
      {"expect d.rate.sum within 0.93 Mbit/s +-8%", "expect held 1000000.000"},
      {"expect d.rate.sum within 0.92 Mbit/s +-8%", "expect not 1000000.000"},
      {"expect d.seconds.max within 8.2 s +-3%", "expect held 8.000"},
      {"expect d.ok >= 1", "expect held 1.000"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    guint32 cmd = lab_say(lab, cases[i].text);
    g_autofree char *lines =
        g_strdup_printf("%s: %s\ndone %u ok\n", cases[i].output, cases[i].text, cmd);
    lab_expect(lab, lines);
  }
}

static void
test_expect_what_is_not_there(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "expect d.boot.mean < 20 s");
  lab_expect(lab, "expect not nan: expect d.boot.mean < 20 s\n"
                  "note error: there is no figure d.boot.mean\n"
                  "done 1 ok\n");
  lab_say(lab, "load start dd on a01 as d");
  lab_line(lab, 3, "a01", "figures", "bytes=1000000 seconds=8");
  lab_answer(lab, 3, "a01", VERDICT_OK, "");
  g_string_truncate(lab->out, 0);
  lab_say(lab, "try expect d.rate.maks < 20 Mbit/s");
  lab_expect(lab, "expect not nan: try expect d.rate.maks < 20 Mbit/s\n"
                  "note error: there is no figure d.rate.maks; did you mean d.rate.max?\n"
                  "done 3 ok\n");
  lab_say(lab, "expect d.skew < 20 Mbit/s");
  lab_expect(lab, "expect not nan: expect d.skew < 20 Mbit/s\n"
                  "note error: d.skew is in s\n"
                  "done 4 ok\n");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_start_and_figures),
      cmocka_unit_test(test_servers_prepare_caches),
      cmocka_unit_test(test_cold_is_proved),
      cmocka_unit_test(test_what_the_wire_saw),
      cmocka_unit_test(test_for_a_time_from_the_start),
      cmocka_unit_test(test_for_a_time_by_a_wrong_clock),
      cmocka_unit_test(test_never_begun),
      cmocka_unit_test(test_failures_are_counted),
      cmocka_unit_test(test_labels_are_not_shared),
      cmocka_unit_test(test_for_a_time),
      cmocka_unit_test(test_stop),
      cmocka_unit_test(test_leave),
      cmocka_unit_test(test_stop_of_a_deaf_seat),
      cmocka_unit_test(test_backend_goes_down_under_a_load),
      cmocka_unit_test(test_few_runs_are_kept),
      cmocka_unit_test(test_measure_for),
      cmocka_unit_test(test_measure_during),
      cmocka_unit_test(test_stopped_measurement_has_no_figures),
      cmocka_unit_test(test_bad_samples_are_told_once),
      cmocka_unit_test(test_late_samples_are_not_told),
      cmocka_unit_test(test_expect),
      cmocka_unit_test(test_expect_what_is_not_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
