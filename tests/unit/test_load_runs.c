#include "session/load_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A load command's request; CACHE and MOUNT may be NULL. */
static void
request(LoadRuns *runs, guint32 id, guint32 cmd, const char *label, const char *cache,
        const char *mount)
{
  Argument arguments[4] = {{"job", "cp-read"}, {"label", label}};
  guint n = 2;
  if (cache)
    arguments[n++] = (Argument){"cache", cache};
  if (mount)
    arguments[n++] = (Argument){"mount", mount};
  Event event = {.kind = EVENT_REQUEST,
                 .request = {.id = id,
                             .cmd = cmd,
                             .backend = "sim",
                             .operation = OP_EXEC,
                             .arguments = arguments,
                             .n_arguments = n}};
  load_runs_add(runs, &event);
}

static void
line(LoadRuns *runs, guint32 id, const char *stream, const char *text)
{
  Event event = {.kind = EVENT_LINE, .line = {id, 0, stream, text}};
  load_runs_add(runs, &event);
}

static char *
printed(const LoadRuns *runs)
{
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  load_runs_print(runs, out);
  fclose(out);
  return text;
}

static void
test_every_result_with_what_it_depends_on(void **state)
{
  (void)state;
  g_autoptr(LoadRuns) runs = load_runs_new();
  request(runs, 3, 1, "local", NULL, NULL);
  line(runs, 3, "figures", "bytes=1 seconds=2.376 files=1");
  assert_false(load_runs_has_table(runs));
  request(runs, 4, 2, "copy", "cold", "ext3_kernel");
  request(runs, 5, 2, "copy", "cold", "ext3_kernel"); /* another backend's seats, the same run */
  line(runs, 4, "figures", "seconds=6.0");
  line(runs, 5, "figures", "seconds=8.0");
  line(runs, 4, "out", "seconds=100");
  line(runs, 5, "figures", "seconds=nonsense bytes=3");
  line(runs, 9, "figures", "seconds=100"); /* nobody's */
  request(runs, 6, 3, "copy", "cold", "ext3_kernel");
  line(runs, 6, "figures", "seconds=4.678");
  request(runs, 7, 4, "copy", "warm", "ext3_kernel");
  request(runs, 8, 5, "copy", "cold", "lustre_kernel");
  line(runs, 8, "figures", "seconds=21.093");
  assert_true(load_runs_has_table(runs));
  g_autofree char *text = printed(runs);
  assert_string_equal(text, "seconds, by repeat  mount          cache     1     2\n"
                            "local               -              -      2.38\n"
                            "copy                ext3_kernel    cold   7.00  4.68\n"
                            "copy                ext3_kernel    warm      -\n"
                            "copy                lustre_kernel  cold   21.1\n"
                            "below 6 repeats there is no 95 % interval of a median\n");
}

static void
test_many_repeats(void **state)
{
  (void)state;
  g_autoptr(LoadRuns) runs = load_runs_new();
  for (guint32 i = 1; i <= 9; i++) {
    request(runs, i, i, "copy", "warm", "m");
    line(runs, i, "figures", "seconds=1");
  }
  g_autofree char *text = printed(runs);
  assert_string_equal(
      text, "seconds, by repeat  mount  cache     1     2     3     4     5     6\n"
            "copy                m      warm   1.00  1.00  1.00  1.00  1.00  1.00  and 3 more\n");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_result_with_what_it_depends_on),
      cmocka_unit_test(test_many_repeats),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
