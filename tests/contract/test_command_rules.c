#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib/gstdio.h>

#include "backends/command/command.h"
#include "tests/contract/backend_ask.h"

/* An outlet a node, each with a fault of its own; its state is a file. What it was told stands in
 * its log. The secret is its first line of input. */
static const char outlet[] =
    "#!/bin/sh\n"
    "dir=$1 op=$2 node=$3\n"
    "read -r secret || secret=none\n"
    "[ \"$secret\" = 'open sesame' ] || { echo 'bad password'; exit 0; }\n"
    "echo \"$op\" >>\"$dir/$node.log\"\n"
    "case $node-$op in\n"
    "hangs-on) sleep 60 ;;\n"
    "hard-on) echo on >\"$dir/$node\"; sleep 60 ;;\n"
    "deaf-on) echo 'done.'; exit 0 ;;\n"
    "lazy-off) echo 'done.'; (sleep 0.6; echo off >\"$dir/$node\") >/dev/null 2>&1 & exit 0 ;;\n"
    "lost-on) echo on >\"$dir/$node\"; echo 'permission denied or no answer'; exit 1 ;;\n"
    "lost-reset|gone-*) [ $op = status ] || { echo 'no answer'; exit 1; } ;;\n"
    "ends-on) kill -9 $$ ;;\n"
    "esac\n"
    "case $node in\n"
    "slow) sleep 0.3 ;;\n"
    "dead) trap '' TERM; sleep 60 ;;\n"
    "fails) echo 'no such outlet'; exit 3 ;;\n"
    "refuses) echo 'permission denied'; exit 0 ;;\n"
    "dumb) echo 'good morning'; exit 0 ;;\n"
    "both) printf 'power on\\npower off\\n'; exit 0 ;;\n"
    "holds) sleep 3 & ;;\n"
    "loud) head -c 3000000 /dev/zero | tr '\\0' '\\033' ;;\n"
    "esac\n"
    "case $op in\n"
    "status) echo \"power $(cat \"$dir/$node\" 2>/dev/null || echo off)\" ;;\n"
    "on|off) echo $op >\"$dir/$node\"; echo 'done.' ;;\n"
    "*) echo 'done.' ;;\n"
    "esac\n";

static const char names[] = "fine slow dead fails refuses dumb both holds loud bare missing "
                            "hangs hard deaf lazy lost gone ends";

typedef struct {
  char *dir;
  Layout *layout;
  JobSet *jobs;
  BackendCheck *check;
} Lab;

static char *
lab_text(const char *dir)
{
  GString *text = g_string_new("lab: t\ndefaults: {power: pdu}\nswitches: {sw1: {}}\nclients:\n");
  g_auto(GStrv) nodes = g_strsplit(names, " ", -1);

  for (guint i = 0; nodes[i] != NULL; i++)
    g_string_append_printf(text, "  %s: {switch: sw1, speed: 1 Gbit/s}\n", nodes[i]);
  g_string_append_printf(
      text,
      "backends:\n"
      "  pdu:\n"
      "    type: command\n"
      "    secret: file:%s/secret\n"
      "    address: %s\n"
      "    status: {run: [%s/outlet, \"{address}\", status, \"{node}\"], on: power on, off: power "
      "off}\n"
      "    on: {run: [%s/outlet, \"{address}\", on, \"{node}\"]}\n"
      "    off: {run: [%s/outlet, \"{address}\", off, \"{node}\"]}\n"
      "    reset: {run: [%s/outlet, \"{address}\", reset, \"{node}\"]}\n"
      "    boot-device: {run: [%s/outlet, \"{address}\", \"boot-{device}\", \"{node}\"]}\n"
      "    soft-off: {run: [%s/outlet, \"{address}\", off, \"{node}\"]}\n"
      "    ok: done\\.\n"
      "    fails: permission denied.*|bad password\n"
      "    lost: .*no answer\n"
      "    workers: 4\n"
      "    nodes: {missing: {on: {run: [%s/nowhere]}}}\n",
      dir, dir, dir, dir, dir, dir, dir, dir, dir);
  return g_string_free(text, FALSE);
}

static void
write_file(const char *dir, const char *name, const char *text, int mode)
{
  g_autofree char *path = g_build_filename(dir, name, NULL);

  assert_true(g_file_set_contents(path, text, -1, NULL));
  assert_int_equal(g_chmod(path, mode), 0);
}

static int
set_up(void **state)
{
  Lab *lab = g_new0(Lab, 1);
  GError *error = NULL;

  lab->dir = g_dir_make_tmp("pult-outlets-XXXXXX", NULL);
  assert_non_null(lab->dir);
  write_file(lab->dir, "outlet", outlet, 0700);
  write_file(lab->dir, "secret", "open sesame\n", 0600);
  g_autofree char *text = lab_text(lab->dir);
  lab->layout = layout_parse("t", text, strlen(text), &error);
  if (lab->layout == NULL)
    fail_msg("%s", error->message);
  lab->jobs = job_set_new();
  lab->check = backend_check_new(lab->layout, NULL, NULL);
  BackendSetup setup = {.name = g_intern_string("pdu"),
                        .layout = lab->layout,
                        .settings = layout_backend(lab->layout, "pdu"),
                        .jobs = lab->jobs,
                        .post = backend_check_post,
                        .post_data = lab->check};
  Backend *backend = command_backend_new(&setup, &error);
  if (backend == NULL)
    fail_msg("%s", error->message);
  backend_check_start(lab->check, backend);
  *state = lab;
  return 0;
}

static int
tear_down(void **state)
{
  Lab *lab = *state;
  g_autoptr(GDir) dir = g_dir_open(lab->dir, 0, NULL);
  const char *name;

  backend_check_free(lab->check);
  /* Programs told to end are let go by the main loop. */
  gint64 until = g_get_monotonic_time() + 100000;
  while (g_get_monotonic_time() < until)
    if (!g_main_context_iteration(NULL, FALSE))
      g_usleep(1000);
  job_set_free(lab->jobs);
  layout_free(lab->layout);
  while ((name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *path = g_build_filename(lab->dir, name, NULL);
    g_unlink(path);
  }
  g_rmdir(lab->dir);
  g_free(lab->dir);
  g_free(lab);
  return 0;
}

static guint32
ask_for(const Lab *lab, Operation operation, const char *name, gint64 time)
{
  static const char *const device[] = {"device", "pxe", NULL}, *const soft[] = {"how", "soft",
                                                                                NULL};
  guint32 request = backend_ask(lab->check, operation, name, time,
                                operation == OP_BOOT_DEVICE ? device
                                : operation == OP_OFF       ? soft
                                                            : NULL);

  backend_ask_finish(lab->check, request);
  return request;
}

static guint32
ask(const Lab *lab, Operation operation, const char *name)
{
  return ask_for(lab, operation, name, 20 * TIME_SECOND);
}

/* How often an outlet was told OPERATION. */
static guint
count_told(const Lab *lab, const char *name, const char *operation)
{
  g_autofree char *path = g_strdup_printf("%s/%s.log", lab->dir, name);
  g_autofree char *log = NULL;
  guint n = 0;

  assert_true(g_file_get_contents(path, &log, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(log, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    n += g_str_equal(lines[i], operation) ? 1 : 0;
  return n;
}

static void
expect(const Lab *lab, Operation operation, const char *name, Verdict verdict, const char *said)
{
  backend_ask_expect(lab->check, ask(lab, operation, name), name, verdict, said);
}

static void
test_each(void **state)
{
  const Lab *lab = *state;

  expect(lab, OP_STATUS, "fine", VERDICT_OK, "");
  expect(lab, OP_ON, "fine", VERDICT_OK, "");
  expect(lab, OP_ON, "fine", VERDICT_OK, "");
  assert_int_equal(count_told(lab, "fine", "on"), 1);
  expect(lab, OP_BOOT_DEVICE, "fine", VERDICT_OK, "");
  expect(lab, OP_RESET, "fine", VERDICT_OK, "");
  expect(lab, OP_RESET, "slow", VERDICT_FAILED,
         "slow: it is off, and a reset does not switch it on; `power on slow` does");
  expect(lab, OP_ON, "fails", VERDICT_FAILED,
         "fails: its command ended with status 3: no such outlet");
  expect(lab, OP_OFF, "refuses", VERDICT_FAILED, "refuses: pdu refused: permission denied");
  expect(lab, OP_STATUS, "dumb", VERDICT_UNKNOWN,
         "dumb: its status says neither on nor off: good morning");
  expect(lab, OP_ON, "dumb", VERDICT_FAILED,
         "dumb: its command did not say that it went well: good morning");
  expect(lab, OP_STATUS, "both", VERDICT_UNKNOWN,
         "both: its status says both on and off: power off");
  expect(lab, OP_STATUS, "holds", VERDICT_OK, "");
  g_autofree char *missing = g_strdup_printf("missing: cannot run %s/nowhere: Failed to execute "
                                             "child process \342\200\234%s/nowhere\342\200\235 (No "
                                             "such file or directory)",
                                             lab->dir, lab->dir);
  expect(lab, OP_ON, "missing", VERDICT_FAILED, missing);
}

/* Three million escapes: some of them are shown, as text. */
static void
test_loud(void **state)
{
  const Lab *lab = *state;
  guint32 status = ask(lab, OP_STATUS, "loud");
  const char *text = backend_check_text(lab->check, status, layout_find(lab->layout, "loud"));

  backend_ask_expect(lab->check, status, "loud", VERDICT_UNKNOWN, "");
  assert_true(g_str_has_prefix(text, "loud: its status says neither on nor off: \\x1b\\x1b"));
  assert_true(strlen(text) < 500);
}

/* Those that answer do so while one hangs, and at its deadline that is told. */
static void
test_dead(void **state)
{
  const Lab *lab = *state;
  guint32 on = backend_ask(lab->check, OP_ON, "dead fine slow", 2 * TIME_SECOND, NULL);

  backend_ask_finish(lab->check, on);
  backend_ask_expect(lab->check, on, "dead", VERDICT_TIMEOUT, "");
  backend_ask_expect(lab->check, on, "fine", VERDICT_OK, "");
  backend_ask_expect(lab->check, on, "slow", VERDICT_OK, "");
  guint32 status = backend_ask(lab->check, OP_STATUS, "dead", TIME_SECOND / 2, NULL);
  backend_ask_finish(lab->check, status);
  backend_ask_expect(lab->check, status, "dead", VERDICT_TIMEOUT, "");
}

/* What is seen is told, whatever the command has said; and it is given once. */
static void
test_seen(void **state)
{
  const Lab *lab = *state;

  expect(lab, OP_ON, "lost", VERDICT_OK, "");
  expect(lab, OP_RESET, "lost", VERDICT_UNKNOWN,
         "lost: was told reset once: it may have happened: no answer");
  expect(lab, OP_ON, "lazy", VERDICT_OK, "");
  expect(lab, OP_OFF, "lazy", VERDICT_OK, "");
  backend_ask_expect(lab->check, ask_for(lab, OP_ON, "hard", 2 * TIME_SECOND), "hard", VERDICT_OK,
                     "");
  static const struct {
    const char *name, *text;
  } unseen[] = {
      {"deaf", "deaf: its command said yes to on, but the power is still off"},
      {"gone", "gone: was told on, but the power is still off: no answer"},
      {"ends", "ends: was told on, but the power is still off"},
      {"hangs", "hangs: was told on, but the power is still off: its command did not end"},
  };
  guint32 on = backend_ask(lab->check, OP_ON, "deaf gone ends hangs", 6 * TIME_SECOND, NULL);
  backend_ask_finish(lab->check, on);
  for (gsize i = 0; i < G_N_ELEMENTS(unseen); i++) {
    backend_ask_expect(lab->check, on, unseen[i].name, VERDICT_TIMEOUT, unseen[i].text);
    assert_int_equal(count_told(lab, unseen[i].name, "on"), 1);
  }
  assert_int_equal(count_told(lab, "lost", "on") + count_told(lab, "lost", "reset"), 2);
  assert_int_equal(count_told(lab, "lazy", "off"), 1);
}

static void
test_walk(void **state)
{
  const Lab *lab = *state;
  static const char *const hard[] = {"how", "hard", NULL}, *const pxe[] = {"device", "pxe", NULL};
  static const CheckAsk asks[] = {{OP_STATUS, 6, NULL, NULL},     {OP_ON, 4, NULL, NULL},
                                  {OP_OFF, 4, hard, NULL},        {OP_RESET, 2, NULL, NULL},
                                  {OP_BOOT_DEVICE, 1, pxe, NULL}, {OP_KEYS, 3, NULL, NULL},
                                  {OP_STATUS, 0, NULL, NULL}};

  backend_ask_walk(lab->check, asks, 60, TIME_SECOND / 4);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_each, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_loud, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_dead, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_seen, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_walk, set_up, tear_down),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
