#include "model/job.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define BROKEN "tests/unit/broken/job"

static Job *
parse(const char *run)
{
  g_autofree char *text = g_strdup_printf("job: x\nabout: y\nrun:\n%s", run);
  g_autoptr(GError) error = NULL;
  Job *job = job_parse("t.yaml", text, strlen(text), &error);

  if (job == NULL)
    fail_msg("%s", error->message);
  return job;
}

static Layout *
lab(const char *jobs)
{
  g_autofree char *text = g_strdup_printf(
      "lab: t\n"
      "switches: {s1: {}}\n"
      "servers: {v1: {switch: s1, bonds: {bond0: {ports: [eth0, eth1], speed: 1 Gbit/s,\n"
      "  mode: balance-xor, policy: layer2, mac: 52:54:00:21:00:10, ip: 10.21.0.254}}}}\n"
      "clients: {\"a[01-12]\": {switch: s1, speed: 1 Gbit/s, ip: 10.21.0.1 step 1, server: v1}}\n"
      "%s",
      jobs);
  g_autoptr(GError) error = NULL;
  Layout *layout = layout_parse("lab.yaml", text, strlen(text), &error);

  if (layout == NULL)
    fail_msg("%s", error->message);
  return layout;
}

static JobCommands *
commands(const Job *job, const Layout *layout, const char *node, const Argument *given, guint n,
         GError **error)
{
  return job_commands_new(job->run, job->name, layout, layout_find(layout, node), given, n, error);
}

static void
assert_line(const Job *job, const Layout *layout, const Argument *given, guint n, JobLine line,
            const char *expected)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JobCommands) made = commands(job, layout, "a07", given, n, &error);

  if (made == NULL)
    fail_msg("%s", error->message);
  if (expected == NULL)
    assert_null(made->lines[line]);
  else
    assert_string_equal(made->lines[line], expected);
}

static void
test_placeholders(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = lab("");
  g_autoptr(Job) job = parse("  parameters: {source: \"/srv/{node}\", all: \"{source}/x y\"}\n"
                             "  prepare: mkdir {all}\n"
                             "  command: find {source} {ip} {number} {server} -exec cat {{} \\;\n");

  assert_line(job, layout, NULL, 0, JOB_COMMAND,
              "find /srv/a07 10.21.0.7 7 10.21.0.254 -exec cat {} \\;");
  assert_line(job, layout, NULL, 0, JOB_PREPARE, "mkdir '/srv/a07/x y'");
  assert_line(job, layout, NULL, 0, JOB_WARM, NULL);
}

/* What an operator types is data, whatever is in it. */
static void
test_words_are_quoted(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = lab("");
  g_autoptr(Job) job = parse("  parameters: {source: /usr}\n  command: cat {source}\n");
  const Argument hostile[] = {{"source", "$(id); `id` 'a' {node} \"b\""}};
  const Argument empty[] = {{"source", ""}};

  assert_line(job, layout, hostile, 1, JOB_COMMAND, "cat '$(id); `id` '\\''a'\\'' {node} \"b\"'");
  assert_line(job, layout, empty, 1, JOB_COMMAND, "cat ''");
}

static void
test_kinds(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = lab("");
  g_autoptr(GError) error = NULL;
  g_autoptr(Job) job = parse("  parameters: {b: {size: 100 MiB}, t: {time: 1 min}, n: {count: 4}}\n"
                             "  command: x $(({b} / {n})) {t}\n");
  const Argument given[] = {{"b", "5 kB"}, {"n", "2"}, {"job", "x"}, {"unarmed", "leave-out"}};
  const Argument wrong[] = {{"b", "5 s"}};
  const Argument zero[] = {{"n", "0"}};

  assert_line(job, layout, NULL, 0, JOB_COMMAND, "x $((104857600 / 4)) 60");
  assert_line(job, layout, given, 4, JOB_COMMAND, "x $((5000 / 2)) 60");
  assert_null(commands(job, layout, "a01", wrong, 1, &error));
  assert_non_null(strstr(error->message, "5 s"));
  g_clear_error(&error);
  assert_null(commands(job, layout, "a01", zero, 1, &error));
  assert_string_equal(error->message, "n=0 is out of range: 1 to 1000000000000000");
}

static void
test_unknown_words(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = lab("");
  g_autoptr(GError) error = NULL;
  g_autoptr(Job) job = parse("  parameters: {source: /usr, bytes: {size: 1 MB}}\n  command: x\n");
  const Argument near[] = {{"sorce", "/"}}, far[] = {{"elephant", "1"}};

  assert_null(commands(job, layout, "a01", near, 1, &error));
  assert_string_equal(error->message, "x has no \"sorce\"; did you mean \"source\"?");
  g_clear_error(&error);
  assert_null(commands(job, layout, "a01", far, 1, &error));
  assert_string_equal(error->message, "x has no \"elephant\"; it takes source, bytes");
}

/* The layout's words stand in the place of the file's, the operator's in that of both. */
static void
test_layout_words(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = lab("jobs:\n"
                                 "  x: {command: \"walk {source}\", source: \"nfs://{server}/t\",\n"
                                 "      needs: walk ls}\n");
  g_autoptr(Job) job = parse("  parameters: {source: /usr}\n  needs: find\n"
                             "  command: find {source}\n  cleanup: rm {source}\n");
  g_autoptr(JobCommands) made = commands(job, layout, "a01", NULL, 0, NULL);
  const Argument given[] = {{"source", "/x"}};

  assert_string_equal(made->lines[JOB_COMMAND], "walk nfs://10.21.0.254/t");
  assert_string_equal(made->lines[JOB_CLEANUP], "rm nfs://10.21.0.254/t");
  assert_int_equal(g_strv_length(made->needs), 2);
  assert_string_equal(made->needs[0], "walk");
  assert_line(job, layout, given, 1, JOB_COMMAND, "walk /x");
  /* What the file needs is for the file's command. */
  g_autoptr(Layout) other = lab("jobs: {x: {command: walk}}\n");
  g_autoptr(JobCommands) without = commands(job, other, "a01", NULL, 0, NULL);
  assert_null(without->needs);
}

static void
test_layout_words_are_checked(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = lab("jobs:\n"
                                 "  x:\n"
                                 "    comand: a\n"
                                 "    bytes: 5 s\n"
                                 "    source: \"{bytes}\"\n"
                                 "    command: \"{source} {bytes} {who}\"\n"
                                 "  xx: {a: b, c: d}\n"
                                 "  played: {a: b}\n");
  g_autoptr(GError) error = NULL;
  g_autoptr(JobSet) set = job_set_new();
  const char played[] = "job: played\nabout: y\nsimulate: {protocol: nfs}\n";

  job_set_take(set, parse("  parameters: {source: /usr, bytes: {size: 1 MB}}\n  command: x\n"));
  job_set_take(set, job_parse("t.yaml", played, strlen(played), NULL));
  assert_false(job_set_check_layout(set, layout, &error));
  assert_string_equal(
      error->message,
      "lab.yaml:8:5: x has no \"comand\"; did you mean \"command\"?\n"
      "lab.yaml:9:5: \"5 s\" has the wrong unit; a size, such as 40 MiB, is due\n"
      "lab.yaml:10:5: there is no {bytes}; known are {node}, {ip}, {mac}, {number}, {server}, and "
      "{{ is a brace\n"
      "lab.yaml:11:5: there is no {who}; known are {node}, {ip}, {mac}, {number}, {server}, "
      "{source}, {bytes}, and {{ is a brace\n"
      "lab.yaml:12:3: no job \"xx\"\n"
      "lab.yaml:13:12: played has no \"run\": it is for the simulator alone");
  g_autoptr(Layout) good = lab("jobs: {x: {bytes: 5 MB, source: /srv, command: \"a {bytes}\"}}\n");
  assert_true(job_set_check_layout(set, good, NULL));
}

/* --- figures --- */

static void
assert_figures(const Job *job, const char *output, double bytes, double seconds, double files,
               int status)
{
  g_autoptr(PatternMatch) match = pattern_match_new();
  g_auto(GStrv) lines = g_strsplit(output, "\n", -1);
  JobFigures figures;

  job_figures_init(&figures);
  for (guint i = 0; lines[i] != NULL; i++)
    job_figures_take(&figures, job->run, match, lines[i], strlen(lines[i]));
  const double found[] = {job_figures_bytes(&figures), figures.seconds, figures.files};
  const double expected[] = {bytes, seconds, files};
  for (guint i = 0; i < 3; i++)
    if (isnan(expected[i]) != isnan(found[i]) ||
        fabs(found[i] - expected[i]) > 1e-12 * fabs(expected[i]))
      fail_msg("%s: figure %u is %.17g, not %.17g", output, i, found[i], expected[i]);
  assert_int_equal(figures.status, status);
}

static Job *
shipped(const char *name)
{
  g_autofree char *path = g_strdup_printf("scripts/jobs/%s.yaml", name);
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;
  gsize length;

  assert_true(g_file_get_contents(path, &text, &length, NULL));
  Job *job = job_parse(path, text, length, &error);
  if (job == NULL)
    fail_msg("%s", error->message);
  return job;
}

/* Output of the programs themselves, of Debian 12. */
static void
test_shipped_figures(void **state)
{
  (void)state;
  g_autoptr(Job) dd = shipped("dd-nbd");
  g_autoptr(Job) iperf3 = shipped("iperf3");
  g_autoptr(Job) fio = shipped("fio-nbd");
  g_autoptr(Job) find = shipped("find-cat");

  assert_figures(dd,
                 "200+0 records in\n200+0 records out\n"
                 "26214400 bytes (26 MB, 25 MiB) copied, 0.0125441 s, 2.1 GB/s",
                 26214400, 0.0125441, NAN, -1);
  assert_figures(dd, "2 bytes copied, 5.1e-05 s, 39.2 kB/s", 2, 5.1e-05, NAN, -1);
  assert_figures(
      iperf3,
      "[ ID] Interval           Transfer     Bitrate         Retr\n"
      "[  5]   0.00-2.00   sec  10.2 GBytes  43912345 Kbits/sec    0             sender\n"
      "[  5]   0.00-2.04   sec  10.2 GBytes  42000000 Kbits/sec                  receiver",
      42e9 / 8 * 2.04, 2.04, NAN, -1);
  assert_figures(fio, "3;fio-3.33;pult;0;0;18368;57220;447;321;0;0;0.000000", 18368 * 1024.0, 0.321,
                 NAN, -1);
  assert_figures(find, "files 12\nstatus 1\nbytes 34567", 34567, NAN, 12, 1);
  assert_figures(find, "bytes 1 files 2 seconds 3.5", 1, 3.5, 2, -1);
  assert_figures(find, "bytes\nbytes x\n", NAN, NAN, NAN, -1);
}

static void
test_units_of_figures(void **state)
{
  (void)state;
  g_autoptr(Job) job = parse("  command: x\n"
                             "  figures:\n"
                             "    - 'k (?<kib>\\S+) in (?<ms>\\S+)'\n"
                             "    - 'r (?<mib_per_s>\\S+) for (?<seconds>\\S+)'\n"
                             "    - 'a (?<amount>\\S+) (?<unit>\\S+)'\n"
                             "    - 's (?<seconds>\\S+)'\n");

  assert_figures(job, "k 2 in 1500", 2048, 1.5, NAN, -1);
  assert_figures(job, "r 2 for 3", 6 * 1024 * 1024, 3, NAN, -1);
  assert_figures(job, "a 1.5 GBytes", 1.5 * 0x1p30, NAN, NAN, -1);
  assert_figures(job, "a 2 MiB", 0x1p21, NAN, NAN, -1);
  assert_figures(job, "a 80 Mbit/s\ns 2", 20e6, 2, NAN, -1);
  assert_figures(job, "a 80 Mbits/sec\ns 2", 20e6, 2, NAN, -1);
  assert_figures(job, "a 1 parsec", NAN, NAN, NAN, -1);
  assert_figures(job, "k -2 in nan", NAN, NAN, NAN, -1);
  assert_figures(job, "k 1e30 in 0x10", NAN, NAN, NAN, -1);
  assert_figures(job, "k 1 in 1000\nk 2 in 2000", 2048, 2, NAN, -1); /* the later replaces */
}

/* --- broken files --- */

/* The lines `# expect: LINE:COLUMN: text` at the file's head, as job_parse() should say them. */
static char *
expected_message(const char *name, const char *text)
{
  static const char mark[] = "# expect: ";
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  GString *message = g_string_new(NULL);

  for (guint i = 0; lines[i] != NULL && g_str_has_prefix(lines[i], mark); i++)
    g_string_append_printf(message, "%s%s:%s", i > 0 ? "\n" : "", name, lines[i] + strlen(mark));
  assert_true(message->len > 0);
  return g_string_free(message, FALSE);
}

static void
test_broken(void **state)
{
  (void)state;
  g_autoptr(GDir) directory = g_dir_open(BROKEN, 0, NULL);
  guint n = 0;

  assert_non_null(directory);
  for (const char *name; (name = g_dir_read_name(directory)) != NULL; n++) {
    g_autofree char *path = g_build_filename(BROKEN, name, NULL);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    gsize length;
    assert_true(g_file_get_contents(path, &text, &length, NULL));
    g_autofree char *expected = expected_message(name, text);
    g_autoptr(Job) job = job_parse(name, text, length, &error);
    if (job != NULL)
      fail_msg("%s was taken", name);
    if (strcmp(error->message, expected) != 0)
      fail_msg("said: %s\nnot:  %s", error->message, expected);
  }
  assert_true(n >= 10);
}

/* Every shipped job that has a command can be had on a client with nothing given. */
static void
test_shipped_commands(void **state)
{
  (void)state;
  g_autoptr(Layout) layout = lab("");
  g_autoptr(GDir) directory = g_dir_open("scripts/jobs", 0, NULL);
  guint n = 0;

  for (const char *file; (file = g_dir_read_name(directory)) != NULL; n++) {
    g_autofree char *name = g_strndup(file, strlen(file) - strlen(".yaml"));
    g_autoptr(Job) job = shipped(name);
    g_autoptr(GError) error = NULL;
    assert_non_null(job->run);
    g_autoptr(JobCommands) made = commands(job, layout, "a01", NULL, 0, &error);
    if (made == NULL)
      fail_msg("%s: %s", name, error->message);
    assert_non_null(made->lines[JOB_COMMAND]);
    assert_null(strstr(made->lines[JOB_COMMAND], "{{"));
  }
  assert_true(n >= 14);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_placeholders),    cmocka_unit_test(test_words_are_quoted),
      cmocka_unit_test(test_kinds),           cmocka_unit_test(test_unknown_words),
      cmocka_unit_test(test_layout_words),    cmocka_unit_test(test_layout_words_are_checked),
      cmocka_unit_test(test_shipped_figures), cmocka_unit_test(test_units_of_figures),
      cmocka_unit_test(test_broken),          cmocka_unit_test(test_shipped_commands),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
