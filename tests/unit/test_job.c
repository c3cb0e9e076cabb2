#include "model/job.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Goodput of a Gigabit port, B/s. */
#define GE (125e6 * 1448 / 1538)

static Job *
parse(const char *text)
{
  g_autoptr(GError) error = NULL;
  Job *job = job_parse("t.yaml", text, strlen(text), &error);

  if (job == NULL)
    fail_msg("%s", error->message);
  return job;
}

static Job *
shipped(const char *name)
{
  g_autofree char *path = g_strdup_printf("scripts/jobs/%s.yaml", name);
  g_autofree char *text = NULL;
  gsize length;

  assert_true(g_file_get_contents(path, &text, &length, NULL));
  Job *job = parse(text);
  assert_string_equal(job->name, name);
  assert_true(strlen(job->about) > 0);
  return job;
}

static void
assert_near(double value, double expected, double relative)
{
  if (!(fabs(value - expected) <= relative * fabs(expected)))
    fail_msg("%.17g, not %.17g", value, expected);
}

static void
assert_error(const char *text, const char *expected)
{
  g_autoptr(GError) error = NULL;

  assert_null(job_parse("t.yaml", text, strlen(text), &error));
  assert_string_equal(error->message, expected);
}

static void
test_defaults(void **state)
{
  (void)state;
  g_autoptr(Job) job = parse("job: x\nabout: y\nsimulate: {protocol: nfs}\n");

  assert_int_equal(job->protocol, PROTOCOL_NFS);
  assert_true(job->moves_data);
  assert_true(isinf(job->bytes) && isinf(job->cap));
  assert_true(job->request <= 0 && job->request_time <= 0);
  assert_true(job->per_file <= 0 && job->file_size <= 0);
  assert_true(isinf(job_cap(job, NULL, 0)));
}

static void
test_shipped(void **state)
{
  (void)state;
  const double port[] = {GE};
  g_autoptr(Job) find = shipped("find-cat");
  assert_true(fabs(find->cap - 150 * 0x1p20 / 17) < 1e-6);
  assert_true(isfinite(find->bytes));

  g_autoptr(Job) tar = shipped("tar");
  assert_false(tar->moves_data);
  g_autoptr(Job) tar_read = shipped("tar-read");
  assert_true(tar_read->moves_data);

  g_autoptr(Job) dd = shipped("dd-nbd");
  assert_int_equal(dd->protocol, PROTOCOL_NBD);
  assert_near(dd->request_time, 131072 / (175e6 / 8) - 131072 / GE, 1e-12);
  assert_near(job_cap(dd, port, 1), 175e6 / 8, 1e-12); /* a single reader */

  g_autoptr(Job) greedy = shipped("dd-read");
  assert_true(isinf(job_cap(greedy, port, 1)));
  assert_false(greedy->writes);
}

/* The two-node and the gateway test: what is written, and the baselines' caps. */
static void
test_shipped_serial(void **state)
{
  static const struct {
    const char *name;
    Protocol protocol;
    gboolean writes;
    double bytes, seconds; /* of its cap alone; 0: it has none */
  } jobs[] = {
      {"dd-write", PROTOCOL_NFS, TRUE, 104857600, 0},
      {"dd-write-local", PROTOCOL_LOCAL, TRUE, 104857600, 2.87},
      {"tree-copy", PROTOCOL_NFS, TRUE, 36113 * 1024, 0},
      {"tree-copy-local", PROTOCOL_LOCAL, TRUE, 36113 * 1024, 2.96},
      {"cp-read", PROTOCOL_NFS, FALSE, 41943040, 0},
      {"cp-read-local", PROTOCOL_LOCAL, FALSE, 41943040, 2.376},
      {"dd-write-1k-local", PROTOCOL_LOCAL, TRUE, 41943040, 7.234},
  };
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS(jobs); i++) {
    g_autoptr(Job) job = shipped(jobs[i].name);
    assert_int_equal(job->protocol, jobs[i].protocol);
    assert_int_equal(job->writes, jobs[i].writes);
    assert_near(job->bytes, jobs[i].bytes, 0);
    if (jobs[i].seconds > 0)
      assert_near(job->bytes / job->cap, jobs[i].seconds, 1e-12);
    else
      assert_near(job->request, 8192, 0);
  }
  g_autoptr(Job) tree = shipped("tree-copy");
  assert_near(tree->bytes / tree->file_size, 2773, 1e-12);
}

static void
test_caps(void **state)
{
  (void)state;
  const double hops[] = {GE, GE / 10}, dead[] = {GE, 0};
  g_autoptr(Job) request = parse("job: x\nabout: y\nsimulate: {protocol: nfs, request: 8 KiB, "
                                 "request-time: 0.31 ms, cap: 1 GB/s}\n");
  assert_near(job_cap(request, hops, 2), 8192 / (0.31e-3 + 8192 / GE + 81920 / GE), 1e-12);
  assert_true(job_cap(request, dead, 2) <= 0);

  g_autoptr(Job) capped = parse("job: x\nabout: y\nsimulate: {protocol: nfs, request: 8 KiB, "
                                "request-time: 0.31 ms, cap: 1 MB/s}\n");
  assert_near(job_cap(capped, hops, 2), 1e6, 1e-12);

  /* small files: each takes its own time and then comes at the slowest hop's rate */
  g_autoptr(Job) files = parse("job: x\nabout: y\nsimulate: {protocol: nfs, per-file: 12.4 ms, "
                               "file-size: 13 kB}\n");
  assert_near(job_cap(files, hops, 2), 13e3 / (12.4e-3 + 13e3 / (GE / 10)), 1e-12);
  assert_near(job_cap(files, NULL, 0), 13e3 / 12.4e-3, 1e-12);
  assert_true(job_cap(files, dead, 2) <= 0);
}

static void
test_broken(void **state)
{
  (void)state;
  assert_error("- job: x\n", "t.yaml:1:1: a job is a map that begins with job: NAME");
  assert_error("job: x\n", "t.yaml:1:1: job: \"about\" is missing\n"
                           "t.yaml:1:1: job: neither \"simulate\" nor \"run\" says what it is");
  assert_error("job: Find\nabout: y\nsimulate: {protocol: nfs}\n",
               "t.yaml:1:6: bad job name \"Find\": a word of small letters, digits and \"-\"");
  assert_error("job: x\nabout: y\nsimulat: {protocol: nfs}\nsimulate: {protocol: ndb}\n",
               "t.yaml:3:1: unknown key \"simulat\": did you mean \"simulate\"?\n"
               "t.yaml:4:22: unknown protocol \"ndb\": did you mean \"nbd\"?");
  assert_error("job: x\nabout: y\nsimulate: {cap: 1 MB/s}\n",
               "t.yaml:3:11: simulate: \"protocol\" is missing");
  assert_error("job: x\nabout: y\nsimulate: {protocol: nfs, cap: 0 MB/s, moves-data: no}\n",
               "t.yaml:3:32: 0 MB/s is out of range: 8.00 bit/s to 10000 Gbit/s\n"
               "t.yaml:3:52: \"no\" is neither true nor false");
  assert_error("job: x\nabout: y\nsimulate: {protocol: nfs, request-time: 1 ms}\n",
               "t.yaml:3:11: request-time alone: \"request\" is missing");
  assert_error("job: x\nabout: y\nsimulate: {protocol: nfs, per-file: 1 ms}\n",
               "t.yaml:3:11: per-file alone: \"file-size\" is missing");
  assert_error("job: x\nabout: y\nsimulate: {protocol: nfs, direction: up}\n",
               "t.yaml:3:38: unknown direction \"up\": known are read, write");
  assert_error("job: x\nabout: y\nsimulate: {protocol: local, direction: write}\n",
               "t.yaml:3:11: protocol local: \"cap\" is missing");
  assert_error("job: x\nabout: [y\n",
               "t.yaml:3:1: did not find expected ',' or ']' while parsing a flow sequence begun "
               "in line 2");
}

static Job *
named(const char *name, const char *about)
{
  g_autofree char *text =
      g_strdup_printf("job: %s\nabout: %s\nsimulate: {protocol: nfs}\n", name, about);

  return parse(text);
}

static void
test_set(void **state)
{
  (void)state;
  g_autoptr(JobSet) set = job_set_new();

  assert_null(job_set_find(set, "tar"));
  job_set_take(set, named("tar", "first"));
  job_set_take(set, named("dd", "second"));
  job_set_take(set, named("find", "third"));
  job_set_take(set, named("tar", "again"));
  assert_int_equal(set->n, 3);
  assert_string_equal(set->jobs[0]->name, "dd");
  assert_string_equal(set->jobs[1]->name, "find");
  assert_string_equal(set->jobs[2]->name, "tar");
  assert_string_equal(job_set_find(set, "tar")->about, "again");
  assert_null(job_set_find(set, "cat"));
  assert_null(job_set_find(set, "zz"));
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults),       cmocka_unit_test(test_shipped),
      cmocka_unit_test(test_shipped_serial), cmocka_unit_test(test_caps),
      cmocka_unit_test(test_broken),         cmocka_unit_test(test_set),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
