/* A metered host: answers by hand, and the loop itself run by this machine's shells. */
#include "backends/proc/proc_loop.h"
#include "backends/proc/proc_meter.h"
#include "backends/proc/proc_net.h"

#include <gio/gio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static Layout *layout;
static GString *said;

static int
load_layout(void **state)
{
  (void)state;
  g_autofree char *text = NULL;
  gsize length;
  if (!g_file_get_contents("tests/unit/samples/two-seats.yaml", &text, &length, NULL))
    return -1;
  layout = layout_parse("two-seats", text, length, NULL);
  said = g_string_new(NULL);
  return layout ? 0 : -1;
}

static int
free_layout(void **state)
{
  (void)state;
  layout_free(layout);
  g_string_free(said, TRUE);
  return 0;
}

static void
on_samples(const SamplesEvent *samples, gpointer data)
{
  (void)data;
  g_string_append_printf(said, "%s", samples->source);
  for (guint i = 0; i < samples->n; i++)
    if (samples->columns)
      g_string_append_printf(said, " [%s %" G_GINT64_FORMAT "]", samples->columns[i],
                             samples->values[i]);
    else
      g_string_append_printf(said, " %" G_GINT64_FORMAT, samples->values[i]);
  g_string_append_c(said, '\n');
}

static void
on_observe(NodeId node, const char *fact, const char *value, gpointer data)
{
  (void)data;
  g_string_append_printf(said, "%s %s = %s\n", layout_node(layout, node)->name, fact, value);
}

static void
on_note(const char *text, gpointer data)
{
  (void)data;
  g_string_append_printf(said, "! %s\n", text);
}

static const ProcMeterCalls calls = {on_samples, on_observe, on_note};

static ProcMeter *
meter_of(const char *node, const char *interface, gboolean sockets)
{
  g_autofree char *source = g_strconcat("ssh:", node, NULL);
  g_string_truncate(said, 0);
  return proc_meter_new(layout, layout_find(layout, node), source, interface, sockets, &calls,
                        NULL);
}

static void
asks(ProcMeter *meter, gint64 now, const char *expected)
{
  g_autoptr(GString) line = g_string_new(NULL);
  assert_true(proc_meter_ask(meter, now, line));
  assert_string_equal(line->str, expected);
  assert_false(proc_meter_ask(meter, now, line)); /* one at a time */
}

static void
answers(ProcMeter *meter, gint64 now, const char *lines, const char *expected)
{
  g_auto(GStrv) each = g_strsplit(lines, "\n", -1);
  for (guint i = 0; each[i]; i++) {
    g_autoptr(GError) error = NULL;
    if (!proc_meter_line(meter, now, each[i], &error))
      fail_msg("%s", error->message);
  }
  assert_string_equal(said->str, expected);
  g_string_truncate(said, 0);
}

#define DEV(name, rx, rx_packets, tx, tx_packets)                                                  \
  "N " name ": " rx " " rx_packets " 0 0 0 0 0 0 " tx " " tx_packets " 0 0 0 0 0 0"

static void
test_client(void **state)
{
  (void)state;
  g_autoptr(ProcMeter) meter = meter_of("a01", "eth0", TRUE);
  asks(meter, 1000, "1 nN\n");
  answers(meter, 1500,
          "Welcome!\nk 6.1.0\n@1\nn eth0 1000 10 500 5\nN Inter-|\n" DEV("eth0", "1000", "10",
                                                                         "500", "5") "\n.1",
          "ssh:a01 [a01.rx B 0] [a01.tx B 0] [a01.echo m 500]\n");
  asks(meter, 101000, "2 n\n"); /* /sys is the same interface's, and cheaper */
  answers(meter, 103000, "@2\nn eth0 2514 11 566 6\n.2", "ssh:a01 1448 0 2000\n");
  asks(meter, 201000, "3 n\n"); /* gone: it has no column, and is told once */
  answers(meter, 202000, "@3\n.3",
          "! a01 has no interface eth0 to meter\nssh:a01 [a01.echo m 1000]\n");
  asks(meter, 301000, "4 n\n");
  answers(meter, 302000, "@4\n.4", "ssh:a01 1000\n");
  asks(meter, 401000, "5 n\n"); /* back, from 0: counts on from what passed before */
  answers(meter, 401000, "@5\nn eth0 66 1 0 0\n.5",
          "ssh:a01 [a01.rx B 1448] [a01.tx B 0] [a01.echo m 0]\n");
}

/* /sys of another name space: a container's eth0 has other counters. */
static void
test_other_sys(void **state)
{
  (void)state;
  g_autoptr(ProcMeter) meter = meter_of("a01", "enp3s0", TRUE);
  asks(meter, 0, "1 nN\n");
  answers(meter, 0,
          "@1\nn enp3s0 999999 900 8 8\n" DEV("enp3s0", "1000", "10", "500",
                                              "5") "\n" DEV("lo", "1", "1", "1", "1") "\n.1",
          "ssh:a01 [a01.rx B 0] [a01.tx B 0] [a01.echo m 0]\n");
  asks(meter, 0, "2 N\n");
  answers(meter, 0, "@2\n" DEV("enp3s0", "2514", "11", "500", "5") "\n.2", "ssh:a01 1448 0 0\n");
}

static void
test_wrong_interface(void **state)
{
  (void)state;
  g_autoptr(ProcMeter) meter = meter_of("a01", "eth0", TRUE);
  asks(meter, 0, "1 nN\n");
  answers(meter, 0,
          "@1\n" DEV("lo", "1", "1", "1", "1") "\n" DEV("enp3s0", "1", "1", "1", "1") "\n.1",
          "! a01 has no interface eth0 to meter; it has enp3s0\nssh:a01 [a01.echo m 0]\n");
}

static void
test_server(void **state)
{
  (void)state;
  g_autofree char *bond = NULL;
  assert_true(g_file_get_contents("tests/unit/samples/bonding/3.16-802.3ad", &bond, NULL, NULL));
  g_auto(GStrv) bond_lines = g_strsplit(bond, "\n", -1);
  g_autofree char *lines = g_strjoinv("\n: ", bond_lines);
  g_autoptr(ProcMeter) meter = meter_of("s1", "", TRUE);
  asks(meter, 0, "1 nNlbs\n");
  g_autofree char *first = g_strconcat(
      "k 6.1.0-18-amd64\n@1\nn eth0 0 0 0 0\nn eth1 0 0 0 0\n" DEV("eth0", "0", "0", "0", "0") "\n",
      DEV("eth1", "0", "0", "0", "0") "\n" DEV("bond0", "0", "0", "0", "0"),
      "\nl 1.50 0 0 1/1 1\nd sda 0 0 10 0 0 0 2 0 0 0 0\nd sdb 0 0 1 0 0 0 1 0 0 0 0\n"
      "r th 8 0\nr rpc 100 0\np # pool\np 0 5 7 0 0\np 1 5 3 0 0\nb bond0\n: ",
      lines,
      "\ns\n0 0 10.21.0.254:2049 10.21.0.1:873\n\t cwnd:10 rtt:0.5/1 bytes_acked:900\nS 0\n.1",
      NULL);
  answers(meter, 400, first,
          "s1 bond0.era = 5.18\ns1 nfsd = 8\ns1 bond0.mode = 802.3ad\n"
          "s1 bond0.policy = layer2+3\ns1 eth0.state = inactive\ns1 eth0.speed = 1.00 Gbit/s\n"
          "s1 eth1.state = up\ns1 eth1.speed = 1.00 Gbit/s\n"
          "ssh:s1 [s1/eth0.tx B 0] [s1/eth0.rx B 0] [s1/eth1.tx B 0] [s1/eth1.rx B 0] "
          "[s1.load m 1500] [s1.disk B 0] [s1.calls n 0] [s1.waits n 0] [s1.echo m 400]\n"
          "ssh:s1/sockets [a01.served B 0] [a01.retrans n 0] [a01.rtt m 500] [a01.cwnd m 10000] "
          "[a02.served B 0] [a02.retrans n 0] [a02.rtt m -1] [a02.cwnd m -1]\n"
          "a01 flow = 10.21.0.254:2049 10.21.0.1:873\n");
  asks(meter, 100000, "2 nl\n"); /* bonds and sockets once a second */
  answers(meter, 100000,
          "@2\nn eth0 66 1 15140 10\nn eth1 0 0 0 0\nl 1.60 0 0 1/1 1\n"
          "d sda 0 0 14 0 0 0 2 0 0 0 0\nd sdb 0 0 1 0 0 0 2 0 0 0 0\nr th 8 0\nr rpc 150 0\n"
          "p 0 5 8 0 0\np 1 5 4 0 0\n.2",
          "ssh:s1 14480 0 0 0 1600 2560 50 2 0\n");
  asks(meter, 990000, "3 nlbs\n");
  answers(meter, 990000,
          "@3\nn eth0 66 1 15140 10\nn eth1 0 0 0 0\nl 1.60 0 0 1/1 1\nb bond9\n: Speed: 1\n"
          "s\nS 127\n.3",
          "! s1: ss -tin ended with 127 (not found): its connections are not metered\n"
          "ssh:s1 [s1/eth0.tx B 14480] [s1/eth0.rx B 0] [s1/eth1.tx B 0] [s1/eth1.rx B 0] "
          "[s1.load m 1600] [s1.echo m 0]\n");
}

/* Not asked for: no listing. */
static void
test_without_sockets(void **state)
{
  (void)state;
  g_autoptr(ProcMeter) meter = meter_of("s1", "", FALSE);
  asks(meter, 0, "1 nNlb\n");
  answers(meter, 0, "@1\n" DEV("eth0", "0", "0", "0", "0") "\ns\nS 0\n.1",
          "! s1 has no interface eth1 to meter\n"
          "ssh:s1 [s1/eth0.tx B 0] [s1/eth0.rx B 0] [s1.echo m 0]\n");
}

static void
refused(ProcMeter *meter, const char *line, const char *message)
{
  g_autoptr(GError) error = NULL;
  assert_false(proc_meter_line(meter, 0, line, &error));
  assert_string_equal(error->message, message);
}

static void
test_nonsense(void **state)
{
  (void)state;
  g_autoptr(ProcMeter) meter = meter_of("a01", "eth0", TRUE);
  for (guint i = 0; i < 100; i++)
    assert_true(proc_meter_line(meter, 0, "sh: 1: Syntax error", NULL));
  refused(meter, "sh: 1: Syntax error",
          "a01 answers `sh: 1: Syntax error` instead of its counters");
  asks(meter, 0, "1 nN\n");
  refused(meter, "@2", "a01 answers `@2` instead of its counters");
  assert_true(proc_meter_line(meter, 0, "@1", NULL));
  refused(meter, ".2", "a01 answers `.2` instead of its counters");
  refused(meter, "@1", "a01 answers `@1` instead of its counters");
  for (guint i = 0; i < 99998; i++)
    assert_true(proc_meter_line(meter, 0, "", NULL));
  refused(meter, "z", "a01 answers `z` instead of its counters");
}

/* ---- The loop ------------------------------------------------------------------------------ */

typedef struct {
  GSubprocess *process;
  GOutputStream *in;
  GDataInputStream *out;
} Loop;

/* PATH is empty but for ss: what is no built-in is not found. */
static gboolean
loop_start(Loop *loop, const char *const *shell, const char *command)
{
  g_autoptr(GSubprocessLauncher) launcher =
      g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_autofree char *program = g_find_program_in_path(shell[0]);
  if (!program)
    return FALSE;
  const char *arguments[] = {program, shell[1] ? shell[1] : "-c", shell[1] ? "-c" : command,
                             shell[1] ? command : NULL, NULL};
  g_subprocess_launcher_setenv(launcher, "PATH", "/nonexistent", TRUE);
  loop->process = g_subprocess_launcher_spawnv(launcher, arguments, NULL);
  assert_non_null(loop->process);
  loop->in = g_subprocess_get_stdin_pipe(loop->process);
  loop->out = g_data_input_stream_new(g_subprocess_get_stdout_pipe(loop->process));
  return TRUE;
}

static void
loop_answer(Loop *loop, ProcMeter *meter, gint64 now)
{
  g_autoptr(GString) ask = g_string_new(NULL);
  assert_true(proc_meter_ask(meter, now, ask));
  assert_true(g_output_stream_write_all(loop->in, ask->str, ask->len, NULL, NULL, NULL));
  for (gboolean last = FALSE; !last;) {
    g_autoptr(GError) error = NULL;
    g_autofree char *line = g_data_input_stream_read_line(loop->out, NULL, NULL, NULL);
    assert_non_null(line);
    if (!proc_meter_line(meter, now, line, &error))
      fail_msg("%s", error->message);
    last = *line == '.';
  }
}

/* Page faults of children that were waited for: 0 as long as there was none. */
static guint64
faults_of_children(Loop *loop)
{
  g_autofree char *path =
      g_strdup_printf("/proc/%s/stat", g_subprocess_get_identifier(loop->process));
  g_autofree char *text = NULL;
  assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) words = g_strsplit(strrchr(text, ')') + 2, " ", -1);
  return g_ascii_strtoull(words[8], NULL, 10);
}

static void
loop_end(Loop *loop)
{
  assert_true(g_output_stream_close(loop->in, NULL, NULL));
  assert_true(g_subprocess_wait(loop->process, NULL, NULL)); /* it ends with its input */
  assert_true(g_subprocess_get_if_exited(loop->process));
  g_object_unref(loop->out);
  g_object_unref(loop->process);
}

static const char *const shells[][2] = {
    {"sh", NULL}, {"dash", NULL}, {"bash", NULL}, {"busybox", "ash"}, {"zsh", NULL}};

static void
test_loop_client(void **state)
{
  (void)state;
  guint n_ran = 0;
  for (guint i = 0; i < G_N_ELEMENTS(shells); i++) {
    Loop loop;
    g_autoptr(ProcMeter) meter = meter_of("a01", "lo", FALSE);
    g_autofree char *command = proc_meter_command(meter);
    if (!loop_start(&loop, shells[i], command))
      continue;
    for (guint tick = 0; tick < 20; tick++)
      loop_answer(&loop, meter, tick);
    assert_int_equal(faults_of_children(&loop), 0);
    if (!g_str_has_prefix(said->str, "ssh:a01 [a01.rx B 0] [a01.tx B 0] [a01.echo m 0]\nssh:a01 "))
      fail_msg("%s says %s", shells[i][0], said->str);
    loop_end(&loop);
    n_ran++;
  }
  assert_true(n_ran >= 1);
}

/* What bytes there are of /proc/net/dev the loop gives, to the byte, while nothing passes. */
static void
test_loop_counters(void **state)
{
  (void)state;
  static const char *const names[] = {"lo", "no such; $(touch /nonexistent)", "x'y", NULL};
  static const char *const bonds[] = {"bond0", NULL};
  Loop loop;
  g_autofree char *command = proc_loop_command(names, bonds);
  assert_true(loop_start(&loop, shells[0], command));
  for (guint attempt = 0;; attempt++) {
    g_autofree char *sys = NULL, *dev = NULL, *line = NULL;
    g_autoptr(GString) ask = g_string_new(NULL);
    proc_loop_ask(ask, attempt, PROC_ASK_SYS | PROC_ASK_DEV | PROC_ASK_SERVER | PROC_ASK_BONDS);
    assert_true(g_output_stream_write_all(loop.in, ask->str, ask->len, NULL, NULL, NULL));
    while ((line = g_data_input_stream_read_line(loop.out, NULL, NULL, NULL)) && *line != '.') {
      if (g_str_has_prefix(line, "n lo "))
        sys = g_strdup(line + 5);
      if (g_str_has_prefix(line, "N lo:"))
        dev = g_strdup(line + 2);
      assert_false(g_str_has_prefix(line, "n no"));
      g_free(line);
    }
    assert_non_null(line);
    ProcCounters counters;
    char name[PROC_NAME_BYTES];
    assert_true(dev && proc_net_parse(dev, name, &counters));
    g_autofree char *expected = g_strdup_printf(
        "%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
        counters.rx_bytes, counters.rx_packets, counters.tx_bytes, counters.tx_packets);
    if (!sys || g_str_equal(sys, expected)) /* a machine without /sys has no such line */
      break;
    assert_true(attempt < 1000); /* others use lo as well */
  }
  loop_end(&loop);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_client),          cmocka_unit_test(test_other_sys),
      cmocka_unit_test(test_wrong_interface), cmocka_unit_test(test_server),
      cmocka_unit_test(test_without_sockets), cmocka_unit_test(test_nonsense),
      cmocka_unit_test(test_loop_client),     cmocka_unit_test(test_loop_counters),
  };
  return cmocka_run_group_tests_name("proc_meter", tests, load_layout, free_layout);
}
