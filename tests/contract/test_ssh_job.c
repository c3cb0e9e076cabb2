#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_SSH

#include "tests/contract/backend_ask.h"
#include "tests/contract/sshd_lab.h"

#define N_HOSTS 3

static SshdLab *lab;

static int
set_up(void **state)
{
  (void)state;
  lab = sshd_lab_new(N_HOSTS);
  return 0;
}

static int
tear_down(void **state)
{
  (void)state;
  sshd_lab_free(lab);
  return 0;
}

/* The backend before hosts of a layout with REST, and one job x with RUN. */
static void
open_lab(const char *rest, const char *run)
{
  g_autofree char *text = g_strdup_printf("job: x\nabout: y\nrun:\n%s", run);
  g_autoptr(GError) error = NULL;
  if (lab == NULL)
    skip();
  sshd_lab_open(lab, "", "", rest);
  Job *job = job_parse("x.yaml", text, strlen(text), &error);
  if (job == NULL)
    fail_msg("%s", error->message);
  job_set_take(lab->jobs, job);
}

#define WITH(...)                                                                                  \
  (const char *const[])                                                                            \
  {                                                                                                \
    __VA_ARGS__, NULL                                                                              \
  }

static guint32
start(const char *const *arguments)
{
  NodeId ids[N_HOSTS];
  for (guint i = 0; i < N_HOSTS; i++) {
    g_autofree char *name = g_strdup_printf("h%u", i + 1);
    ids[i] = sshd_lab_node(lab, name);
  }
  return backend_check_submit(lab->check, OP_EXEC, ids, N_HOSTS, 120 * TIME_SECOND, arguments);
}

static void
signal_all(guint32 request)
{
  NodeId ids[N_HOSTS];
  g_autofree char *id = g_strdup_printf("%u", request);
  for (guint i = 0; i < N_HOSTS; i++) {
    g_autofree char *name = g_strdup_printf("h%u", i + 1);
    ids[i] = sshd_lab_node(lab, name);
  }
  backend_check_submit(lab->check, OP_SIGNAL, ids, N_HOSTS, 10 * TIME_SECOND,
                       WITH("request", id, "signal", "TERM"));
}

/* What NODE's last line of figures has of KEY; NAN. */
static double
figure(const char *node, const char *key)
{
  g_autofree char *head = g_strdup_printf("%s figures ", node);
  g_autofree char *mark = g_strdup_printf("%s=", key);
  g_auto(GStrv) lines = g_strsplit(lab->lines->str, "\n", -1);
  double value = NAN;
  for (guint i = 0; lines[i] != NULL; i++) {
    g_auto(GStrv) words = g_strsplit(lines[i], " ", -1);
    for (guint k = 0; g_str_has_prefix(lines[i], head) && words[k] != NULL; k++)
      if (g_str_has_prefix(words[k], mark))
        value = g_ascii_strtod(words[k] + strlen(mark), NULL);
  }
  return value;
}

static gboolean
has_started(SshdLab *of, gconstpointer data)
{
  (void)of;
  (void)data;
  return isfinite(figure("h1", "start_ns")) && isfinite(figure("h2", "start_ns")) &&
         isfinite(figure("h3", "start_ns"));
}

static char *
new_mark(void)
{
  static guint n;
  return g_strdup_printf("%u%06u", 300 + ++n, (guint)getpid());
}

/* With no backend any more to keep going. */
static gboolean
comes_to_nothing(const char *mark)
{
  for (guint i = 0; i < 300 && sshd_lab_count(mark) > 0; i++)
    g_usleep(100000);
  return sshd_lab_count(mark) == 0;
}

static void
expect_all(guint32 request, Verdict verdict)
{
  sshd_lab_expect(lab, request, "h1", verdict);
  sshd_lab_expect(lab, request, "h2", verdict);
  sshd_lab_expect(lab, request, "h3", verdict);
}

/* --- tests --- */

static void
test_begins_at_one_instant(void **state)
{
  (void)state;
  open_lab("", "  parameters: {n: {count: 100000}}\n"
               "  needs: [dd]\n"
               "  command: dd if=/dev/zero of=/dev/null bs=1000 count={n}; sleep 0.5\n"
               "  figures: '(?<bytes>\\d+) bytes .*copied, .*'\n"
               "  network: none\n");
  guint32 request = start(WITH("job", "x", "label", "l", "n", "5000"));
  expect_all(request, VERDICT_OK);
  double first = INFINITY, last = 0;
  for (guint i = 1; i <= N_HOSTS; i++) {
    g_autofree char *name = g_strdup_printf("h%u", i);
    assert_true(fabs(figure(name, "bytes") - 5e6) < 0.5);
    assert_true(figure(name, "seconds") >= 0.5);
    assert_true(fabs(figure(name, "readers") - 3) < 0.5);
    assert_true(isnan(figure(name, "wire_bytes")));
    /* One machine: what they say of its clock is wrong by half the way at most. */
    assert_true(fabs(figure(name, "offset_ns")) <= figure(name, "rtt_ns") / 2 + 1e6);
    first = MIN(first, figure(name, "start_ns"));
    last = MAX(last, figure(name, "start_ns"));
  }
  print_message("3 hosts began within %.1f ms\n", (last - first) / 1e6);
  assert_true(last - first < 1e9); /* a busy machine; the figure above is what it comes to */
  sshd_lab_close(lab);
}

static void
test_one_is_left_out(void **state)
{
  (void)state;
  open_lab("", "  parameters: {who: \"{node}\"}\n"
               "  prepare: test {who} != h2 || {{ echo no room here >&2; exit 1; }\n"
               "  command: echo bytes 7\n");
  guint32 request = start(WITH("job", "x"));
  sshd_lab_expect(lab, request, "h2", VERDICT_FAILED);
  assert_string_equal(sshd_lab_text(lab, request, "h2"),
                      "h2: not ready, and left out: prepare: exit status 1: no room here");
  sshd_lab_expect(lab, request, "h1", VERDICT_OK);
  sshd_lab_expect(lab, request, "h3", VERDICT_OK);
  assert_true(fabs(figure("h3", "bytes") - 7) < 0.5);
  assert_true(isnan(figure("h2", "start_ns")));
  sshd_lab_close(lab);
}

static void
test_it_is_called_off(void **state)
{
  (void)state;
  open_lab("", "  parameters: {who: \"{node}\"}\n"
               "  prepare: test {who} != h2\n"
               "  command: echo bytes 7\n");
  guint32 request = start(WITH("job", "x", "unarmed", "call-off"));
  sshd_lab_expect(lab, request, "h2", VERDICT_FAILED);
  sshd_lab_expect(lab, request, "h1", VERDICT_CANCELLED);
  sshd_lab_expect(lab, request, "h3", VERDICT_CANCELLED);
  assert_string_equal(sshd_lab_text(lab, request, "h1"), "h1: called off, for h2 was not ready");
  assert_null(strstr(lab->lines->str, "start_ns"));
  sshd_lab_close(lab);
}

static void
test_one_is_too_slow(void **state)
{
  (void)state;
  g_autofree char *mark = new_mark();
  g_autofree char *run = g_strdup_printf("  parameters: {who: \"{node}\"}\n"
                                         "  prepare: test {who} != h2 || sleep %s\n"
                                         "  command: echo bytes 7\n",
                                         mark);
  open_lab("", run);
  guint32 request = start(WITH("job", "x", "arm", "4 s"));
  sshd_lab_expect(lab, request, "h2", VERDICT_FAILED);
  sshd_lab_expect(lab, request, "h1", VERDICT_OK);
  assert_string_equal(sshd_lab_text(lab, request, "h2"), "h2: not ready, and left out: it still "
                                                         "made ready when all should have been");
  sshd_lab_expect(lab, request, "h3", VERDICT_OK);
  assert_true(sshd_lab_counts(lab, mark, 0, 20));
  sshd_lab_close(lab);
}

static void
test_stop(void **state)
{
  (void)state;
  g_autofree char *mark = new_mark();
  g_autofree char *run = g_strdup_printf("  command: echo bytes 12; sleep %s\n", mark);
  open_lab("", run);
  guint32 request = start(WITH("job", "x"));
  assert_true(sshd_lab_until(lab, has_started, NULL, 30));
  signal_all(request);
  expect_all(request, VERDICT_OK);
  assert_true(fabs(figure("h2", "bytes") - 12) < 0.5);
  assert_true(sshd_lab_counts(lab, mark, 0, 20));
  sshd_lab_close(lab);
}

/* It writes after its console has gone, which must not end it, and ends by its duration; those that
 * were not left end with the console. Neither mark stands in what the shells were given. */
static void
test_left(void **state)
{
  (void)state;
  g_autofree char *mark = new_mark();
  g_autofree char *left = g_strconcat(mark, "1", NULL);
  g_autofree char *others = g_strconcat(mark, "2", NULL);
  g_autofree char *run = g_strdup_printf("  parameters: {who: \"{node}\"}\n"
                                         "  command: test {who} = h1 && m=1 || m=2; sleep %s$m & "
                                         "for i in 1 2 3 4 5 6 7 8; do sleep .2; echo $i; done; "
                                         "wait\n",
                                         mark);
  open_lab("", run);
  guint32 request = start(WITH("job", "x"));
  assert_true(sshd_lab_until(lab, has_started, NULL, 30));
  backend_ask_leave(lab->check, request, "h1", "5 s");
  assert_true(sshd_lab_counts(lab, others, 2, 10));
  gint64 then = g_get_monotonic_time();
  sshd_lab_close(lab);
  assert_true(comes_to_nothing(others));
  /* On a machine so slow that its time was over, nothing is seen. */
  if (g_get_monotonic_time() - then < 2 * G_USEC_PER_SEC)
    assert_true(sshd_lab_count(left) > 0);
  assert_true(comes_to_nothing(left));
}

static void
test_term_is_ignored(void **state)
{
  (void)state;
  g_autofree char *mark = new_mark();
  g_autofree char *run =
      g_strdup_printf("  command: trap '' TERM; sleep %s; sleep %s\n", mark, mark);
  open_lab("", run);
  guint32 request = start(WITH("job", "x"));
  assert_true(sshd_lab_until(lab, has_started, NULL, 30));
  signal_all(request);
  expect_all(request, VERDICT_OK);
  assert_true(sshd_lab_counts(lab, mark, 0, 20));
  sshd_lab_close(lab);
}

/* As it is when the console is killed: nobody says a word, the connections end. */
static void
test_console_goes(void **state)
{
  (void)state;
  g_autofree char *mark = new_mark();
  g_autofree char *run =
      g_strdup_printf("  command: trap '' TERM; sleep %s; sleep %s\n", mark, mark);
  open_lab("", run);
  start(WITH("job", "x"));
  assert_true(sshd_lab_until(lab, has_started, NULL, 30));
  assert_true(sshd_lab_count(mark) > 0);
  sshd_lab_close(lab);
  assert_true(comes_to_nothing(mark));
}

static void
test_sshd_dies(void **state)
{
  (void)state;
  g_autofree char *mark = new_mark();
  g_autofree char *run = g_strdup_printf("  parameters: {who: \"{node}\"}\n"
                                         "  command: test {who} != h1 || sleep %s; echo bytes 1\n",
                                         mark);
  open_lab("", run);
  guint32 request = start(WITH("job", "x"));
  assert_true(sshd_lab_until(lab, has_started, NULL, 30));
  sshd_lab_end(lab, 1, TRUE);
  sshd_lab_expect(lab, request, "h1", VERDICT_UNKNOWN);
  sshd_lab_expect(lab, request, "h2", VERDICT_OK);
  sshd_lab_expect(lab, request, "h3", VERDICT_OK);
  assert_true(sshd_lab_counts(lab, mark, 0, 30));
  sshd_lab_close(lab);
  sshd_lab_run(lab, 1);
}

static void
test_statuses(void **state)
{
  (void)state;
  open_lab("", "  parameters: {s: {count: 1}}\n"
               "  command: echo gone wrong >&2; exit {s}\n"
               "  status: [0, 3]\n");
  guint32 request = start(WITH("job", "x", "s", "3"));
  expect_all(request, VERDICT_OK);
  request = start(WITH("job", "x", "s", "4"));
  expect_all(request, VERDICT_FAILED);
  assert_string_equal(sshd_lab_text(lab, request, "h1"), "h1: exit status 4: gone wrong");
  sshd_lab_close(lab);
}

static void
test_words(void **state)
{
  (void)state;
  static const char played[] = "job: played\nabout: y\nsimulate: {protocol: nfs}\n";
  open_lab("", "  command: true\n");
  job_set_take(lab->jobs, job_parse("p.yaml", played, strlen(played), NULL));
  guint32 request = start(WITH("job", "y"));
  expect_all(request, VERDICT_FAILED);
  request = start(WITH("job", "played"));
  expect_all(request, VERDICT_FAILED);
  assert_string_equal(sshd_lab_text(lab, request, "h1"),
                      "h1: played is for the simulator alone: its file has no `run`");
  request = start(WITH("job", "x", "mount", "home"));
  expect_all(request, VERDICT_FAILED);
  request = start(WITH("job", "x", "unarmed", "perhaps"));
  expect_all(request, VERDICT_FAILED);
  sshd_lab_close(lab);
}

/* Two folders in it, and three files of 70005 bytes. */
static void
make_tree(const char *tree)
{
  static const struct {
    const char *name;
    gsize size;
  } files[] = {{"a/one", 70000}, {"a/b/two", 5}, {"none", 0}};
  g_autofree char *folder = g_build_filename(tree, "a", "b", NULL);
  g_autofree char *zeros = g_malloc0(70000);
  assert_int_equal(g_mkdir_with_parents(folder, 0755), 0);
  for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
    g_autofree char *path = g_build_filename(tree, files[i].name, NULL);
    assert_true(g_file_set_contents(path, zeros, (gssize)files[i].size, NULL));
  }
}

/* The jobs that ship, as far as they need no server: their figures beside what is known. */
static void
test_shipped(void **state)
{
  (void)state;
  if (lab == NULL)
    skip();
  g_autofree char *tree = sshd_lab_path(lab, "tree");
  g_autofree char *large = g_build_filename(tree, "a", "one", NULL);
  g_autofree char *copy = sshd_lab_path(lab, "copy-{node}");
  const struct {
    const char *job, *source;
    double bytes, files;
  } jobs[] = {{"find-cat", tree, 70005, 3},
              {"tar", tree, NAN, 6},
              {"tar-read", tree, NAN, NAN},
              {"dd-read", large, 70000, NAN},
              {"cp-read-local", large, 70000, NAN}};
  make_tree(tree);
  for (guint i = 0; i < G_N_ELEMENTS(jobs); i++) {
    g_autofree char *path = g_strdup_printf("scripts/jobs/%s.yaml", jobs[i].job);
    g_autofree char *text = NULL;
    gsize length;
    assert_true(g_file_get_contents(path, &text, &length, NULL));
    g_autofree char *rest =
        g_strdup_printf("%s%s%s", i == 4 ? "jobs: {cp-read-local: {target: \"" : "",
                        i == 4 ? copy : "", i == 4 ? "\"}}\n" : "");
    sshd_lab_open(lab, "", "", rest);
    job_set_take(lab->jobs, job_parse(path, text, length, NULL));
    guint32 request = start(WITH("job", jobs[i].job, "source", jobs[i].source));
    expect_all(request, VERDICT_OK);
    double bytes = figure("h1", "bytes"), files = figure("h1", "files");
    if (isnan(bytes) != isnan(jobs[i].bytes) && strcmp(jobs[i].job, "tar-read") != 0)
      fail_msg("%s: %g bytes: %s", jobs[i].job, bytes, lab->lines->str);
    if (isfinite(jobs[i].bytes) && fabs(bytes - jobs[i].bytes) > 0.5)
      fail_msg("%s: %g bytes, not %g", jobs[i].job, bytes, jobs[i].bytes);
    if (isfinite(jobs[i].files) && !(fabs(files - jobs[i].files) < 0.5))
      fail_msg("%s: %g files, not %g", jobs[i].job, files, jobs[i].files);
    if (strcmp(jobs[i].job, "tar-read") == 0)
      assert_true(bytes >= 70005 && bytes < 90000);
    sshd_lab_close(lab);
  }
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_begins_at_one_instant),
      cmocka_unit_test(test_one_is_left_out),
      cmocka_unit_test(test_it_is_called_off),
      cmocka_unit_test(test_one_is_too_slow),
      cmocka_unit_test(test_stop),
      cmocka_unit_test(test_left),
      cmocka_unit_test(test_term_is_ignored),
      cmocka_unit_test(test_console_goes),
      cmocka_unit_test(test_sshd_dies),
      cmocka_unit_test(test_statuses),
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_shipped),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

#else

int
main(void)
{
  puts("this build has no ssh backend");
  return 77;
}

#endif
