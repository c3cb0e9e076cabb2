/* The backend that reads logs, held to the rules of all backends, with files that are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib/gstdio.h>

#include "backends/log/log.h"
#include "tests/contract/backend_ask.h"

static const char *const what_log[] = {"what", "log", NULL};
static const char *const what_console[] = {"what", "console", NULL};

typedef struct {
  char *folder;
  Layout *layout;
  BackendCheck *check;
  GString *seen; /* `NODE STREAM: TEXT` and a newline each */
} Lab;

static const char layout_text[] = "lab: t\nswitches: {lan: {}, one: {log: log}, two: {log: log}}\n"
                                  "clients: {a1: {switch: lan, speed: 1 Gbit/s, log: log}}\n"
                                  "backends:\n  log:\n    files: [\"{node}.log\"]\n"
                                  "    nodes: {two: {files: [two.log, missing.log]}}\n";

static void
on_seen(const Event *event, gpointer data)
{
  const Lab *lab = data;
  if (event->kind == EVENT_LINE)
    g_string_append_printf(lab->seen, "%s %s: %s\n", lab->layout->nodes[event->line.node].name,
                           event->line.stream, event->line.text);
}

static char *
path_of(const Lab *lab, const char *name)
{
  return g_build_filename(lab->folder, name, NULL);
}

static void
append(const Lab *lab, const char *name, const char *text)
{
  g_autofree char *path = path_of(lab, name);
  FILE *file = fopen(path, "a");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static Backend *
make(const Lab *lab, GError **error)
{
  BackendSetup setup = {.name = g_intern_string("log"),
                        .layout = lab->layout,
                        .settings = layout_backend(lab->layout, "log"),
                        .post = backend_check_post,
                        .post_data = lab->check};
  return log_backend_new(&setup, error);
}

static void
open_layout(Lab *lab, const char *text)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *path = path_of(lab, "layout.yaml");
  lab->layout = layout_parse(path, text, strlen(text), &error);
  if (lab->layout == NULL)
    fail_msg("%s", error->message);
}

static int
set_up(void **state)
{
  Lab *lab = g_new0(Lab, 1);
  lab->folder = g_dir_make_tmp("logs-XXXXXX", NULL);
  assert_non_null(lab->folder);
  lab->seen = g_string_new(NULL);
  open_layout(lab, layout_text);
  append(lab, "one.log", "what was there\n");
  append(lab, "two.log", "");
  lab->check = backend_check_new(lab->layout, on_seen, lab);
  Backend *backend = make(lab, NULL);
  assert_non_null(backend);
  backend_check_start(lab->check, backend);
  *state = lab;
  return 0;
}

static int
tear_down(void **state)
{
  Lab *lab = *state;
  static const char *const names[] = {"one.log", "two.log", "missing.log"};
  backend_check_free(lab->check);
  layout_free(lab->layout);
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *path = path_of(lab, names[i]);
    g_unlink(path);
  }
  assert_int_equal(g_rmdir(lab->folder), 0);
  g_string_free(lab->seen, TRUE);
  g_free(lab->folder);
  g_free(lab);
  return 0;
}

static void
wait_seen(const Lab *lab, const char *words)
{
  gint64 limit = backend_check_now(lab->check) + 30 * TIME_SECOND;
  while (strstr(lab->seen->str, words) == NULL)
    if (!backend_check_step(lab->check, limit))
      fail_msg("`%s` has not come; but:\n%s", words, lab->seen->str);
}

static void
test_lines(void **state)
{
  Lab *lab = *state;
  guint32 watch = backend_ask(lab->check, OP_WATCH, "one two", TIME_NEVER, what_log);
  wait_seen(lab, "two err: cannot read the log ");
  wait_seen(lab, "/missing.log: No such file or directory; it is looked for again\n");
  append(lab, "one.log", "first\nsec");
  append(lab, "missing.log", "from its beginning\n");
  append(lab, "two.log", "two's\n");
  wait_seen(lab, "one log: first\n");
  wait_seen(lab, "two log: from its beginning\n");
  wait_seen(lab, "two log: two's\n");
  append(lab, "one.log", "ond\n");
  wait_seen(lab, "one log: second\n");
  assert_null(strstr(lab->seen->str, "what was there"));
  backend_ask_expect_open(lab->check, watch, "one");
  backend_check_cancel(lab->check, watch);
  backend_ask_finish(lab->check, watch);
  backend_ask_expect(lab->check, watch, "one", VERDICT_CANCELLED, "one: watch cancelled");
  gsize length = lab->seen->len;
  append(lab, "one.log", "unheard\n");
  backend_check_run(lab->check, backend_check_now(lab->check) + TIME_SECOND / 2);
  assert_int_equal(lab->seen->len, length);
  assert_null(backend_check_violation(lab->check));
}

static void
test_nothing_else(void **state)
{
  const Lab *lab = *state;
  guint32 console = backend_ask(lab->check, OP_WATCH, "one", TIME_NEVER, what_console);
  guint32 on = backend_ask(lab->check, OP_ON, "one", TIME_SECOND, NULL);
  backend_ask_finish(lab->check, console);
  backend_ask_finish(lab->check, on);
  backend_ask_expect(lab->check, console, "one", VERDICT_FAILED, "one: log brings lines of logs");
  backend_ask_expect(lab->check, on, "one", VERDICT_UNSUPPORTED, "one: log cannot on");
}

static void
test_without_files(void **state)
{
  (void)state;
  static const char text[] = "lab: t\nswitches: {one: {log: log}}\n";
  Lab lab = {.folder = g_strdup("/nowhere")};
  g_autoptr(GError) error = NULL;
  open_layout(&lab, text);
  assert_null(make(&lab, &error));
  assert_string_equal(error->message, "/nowhere/layout.yaml: backend log: one: it has no `files` "
                                      "to read");
  layout_free(lab.layout);
  g_free(lab.folder);
}

static void
test_walk(void **state)
{
  const Lab *lab = *state;
  static const CheckAsk asks[] = {{OP_WATCH, 6, what_log, NULL},
                                  {OP_WATCH, 1, what_console, NULL},
                                  {OP_STATUS, 1, NULL, NULL},
                                  {OP_STATUS, 0, NULL, NULL}};
  NodeId nodes[] = {layout_find(lab->layout, "one"), layout_find(lab->layout, "two"),
                    layout_find(lab->layout, "a1")};
  CheckWalk walk = {asks, nodes, G_N_ELEMENTS(nodes), 100, TIME_SECOND / 50};
  backend_check_walk(lab->check, &walk, 1);
  assert_null(backend_check_violation(lab->check));
  assert_true(backend_check_count(lab->check, VERDICT_CANCELLED) > 0);
  assert_int_equal(backend_check_count(lab->check, VERDICT_OK), 0);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_nothing_else, set_up, tear_down),
      cmocka_unit_test(test_without_files),
      cmocka_unit_test_setup_teardown(test_walk, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
