#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glib/gstdio.h>
#include <jansson.h>
#include <string.h>

#include "backends/sim/sim.h"
#include "core/state.h"
#include "session/data.h"
#include "session/rerun.h"

#define SPEED 100
#define ALL_CONSENTS G_MAXINT64

static char *
place(const char *name)
{
  char *path = g_build_filename(g_get_tmp_dir(), name, NULL);
  g_remove(path);
  return path;
}

/* A session over the simulated two rooms. */
typedef struct {
  Layout *layout;
  JobSet *jobs;
  Session *session;
} Desk;

static void
desk_open(Desk *desk, Layout *layout, SessionOptions options)
{
  g_autoptr(GError) error = NULL;
  desk->layout = layout;
  desk->jobs = data_jobs(&error);
  assert_null(error);
  options.layout = layout;
  desk->session = session_new(&options, &error);
  if (error != NULL)
    fail_msg("%s", error->message);
  Backend *sim = sim_new("sim", layout, desk->jobs, options.core.seed, session_post, desk->session);
  assert_true(session_add_backend(desk->session, sim, NULL));
}

static void
desk_close(Desk *desk)
{
  session_free(desk->session);
  job_set_free(desk->jobs);
  layout_free(desk->layout);
}

static const SessionOptions jumping = {
    .core = {.seed = 1, .consent = CONSENT_YES}, .clock = CLOCK_JUMP, .speed = 1};

/* The transcript of SCRIPT, jumping. */
static void
record(const char *path, const char *script_text, int status)
{
  Desk desk;
  SessionOptions options = jumping;
  g_autoptr(GError) error = NULL;
  g_autoptr(Script) script = script_parse("test.pult", script_text, strlen(script_text), &error);
  if (script == NULL)
    fail_msg("%s", error->message);
  options.record = path;
  options.script_name = "test.pult";
  options.script_text = script_text;
  desk_open(&desk, data_layout("openslx-two-rooms", NULL), options);
  session_start(desk.session);
  assert_int_equal(session_run(desk.session, script, NULL), status);
  desk_close(&desk);
}

/* How it is carried out again. */
typedef struct {
  const char *path, *record;
  RerunOptions options;
  double speed;       /* 0: jumping */
  guint interrupt_ms; /* of wall time; 0: not */
  double tolerance;
  gboolean json;
} How;

typedef struct {
  Rerun *rerun;
  Session *session;
  GString *course; /* `command SAID@SECONDS`, `done VERDICT@SECONDS`, a line each */
} Course;

static void
on_event(const Event *event, gpointer data)
{
  Course *course = data;
  rerun_event(course->rerun, event);
  int seconds = (int)(event->t / TIME_SECOND);
  if (event->kind == EVENT_COMMAND)
    g_string_append_printf(course->course, "command %s@%d\n", event->command.said, seconds);
  else if (event->kind == EVENT_DONE)
    g_string_append_printf(course->course, "done %s@%d\n", verdict_name(event->done.verdict),
                           seconds);
}

static gboolean
on_interrupt(gpointer data)
{
  Course *course = data;
  rerun_interrupt(course->rerun);
  session_stop(course->session);
  return G_SOURCE_REMOVE;
}

/* The exit status; *PRINTED and *COURSE (may be NULL) are its tables and what it did. */
static int
again(const How *how, char **printed, char **course_text)
{
  Desk desk;
  g_autoptr(GError) error = NULL;
  g_autoptr(Rerun) rerun = rerun_open(how->path, &error);
  if (rerun == NULL)
    fail_msg("%s", error->message);
  const TranscriptHead *head = rerun_head(rerun);
  SessionOptions options = {.core = head->options,
                            .clock = how->speed > 0 ? CLOCK_SCALED : CLOCK_JUMP,
                            .speed = how->speed,
                            .record = how->record,
                            .script_name = head->script_name,
                            .script_text = head->script_text};
  desk_open(&desk,
            layout_parse(head->layout_name, head->layout_text, strlen(head->layout_text), NULL),
            options);
  Course course = {rerun, desk.session, g_string_new(NULL)};
  session_watch(desk.session, on_event, NULL, &course);
  rerun_begin(rerun, desk.session, &how->options);
  session_start(desk.session);
  if (how->interrupt_ms > 0)
    g_timeout_add(how->interrupt_ms, on_interrupt, &course);
  session_run(desk.session, NULL, NULL);
  double tolerance = how->tolerance > 0 ? how->tolerance : 0.05;
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  (how->json ? rerun_print_json : rerun_print)(rerun, tolerance, out);
  fclose(out);
  if (printed != NULL)
    *printed = g_strdup(text);
  free(text);
  char *said = g_string_free(course.course, FALSE);
  if (course_text != NULL)
    *course_text = said;
  else
    g_free(said);
  int status = rerun_status(rerun, tolerance);
  desk_close(&desk);
  return status;
}

static char *
contents(const char *path)
{
  g_autofree char *text = NULL;
  assert_true(g_file_get_contents(path, &text, NULL, NULL));
  return g_strdup(text);
}

/* A transcript without its second line. */
static char *
without_session(const char *path)
{
  g_autofree char *text = contents(path);
  char *second = strchr(text, '\n') + 1;
  char *third = strchr(second, '\n') + 1;
  *second = '\0';
  return g_strconcat(text, third, NULL);
}

static void
assert_reproduces(const char *path)
{
  g_autofree char *record_path = place("again.jsonl");
  How how = {.path = path, .record = record_path, .options.confirm_max = ALL_CONSENTS};
  assert_int_equal(again(&how, NULL, NULL), 0);
  g_autofree char *first = without_session(path);
  g_autofree char *second = without_session(record_path);
  if (strcmp(first, second) != 0) {
    gsize same = 0;
    while (first[same] == second[same])
      same++;
    fail_msg("differs at byte %" G_GSIZE_FORMAT ": %.80s instead of %.80s", same, second + same,
             first + same);
  }
}

static const char blocks[] = "with slx1/bond0.policy layer2+3 do\n"
                             "  foreach N in 2 4 order random do\n"
                             "    repeat 2 do\n"
                             "      boot first($N,@off) as b$N\n"
                             "      measure bond seats during b$N as m$N\n"
                             "      wait boot b$N login\n"
                             "      try expect b$N.boot.mean < 1 s\n"
                             "      power off @on\n"
                             "    end\n"
                             "  end\n"
                             "end\n"
                             "try power on slx1\n"
                             "load start find-cat on a01 for 20 s as f\n"
                             "sleep 5 s\n";

static void
test_script_byte_for_byte(void **state)
{
  (void)state;
  g_autofree char *path = place("blocks.jsonl");
  record(path, blocks, 0);
  g_autofree char *text = contents(path);
  assert_non_null(strstr(text, "\"verdict\":\"refused\""));
  assert_reproduces(path);
}

static gboolean
on_tick(gpointer data)
{
  (void)data;
  return G_SOURCE_CONTINUE;
}

/* As an operator types: consent twice, a stop amid a boot, a load that is waited for. */
static void
record_console(const char *path)
{
  static const struct {
    gint64 at; /* s, or as soon as the former is done */
    const char *line;
    gint confirm;
  } said[] = {
      {2, "boot roomA stagger 10 s as first; mark \"on their way\"", -1},
      {4, "boot a[01-17] stagger 10s as first", 17},
      {14, NULL, 0},
      {30, "boot b[01-03] as second; wait boot second login", -1},
      {32, "boot b[01-03] as second", 3},
      {75, "load start find-cat on @on for 30 s as l", -1},
      {80, "power status first(2,@all)", -1},
      {85, "set slx1/bond0.policy layer2+3", -1},
      {110, "quit", -1},
  };
  Desk desk;
  SessionOptions options = {.core = {.seed = 7}, .clock = CLOCK_SCALED, .speed = SPEED};
  options.record = path;
  desk_open(&desk, data_layout("openslx-two-rooms", NULL), options);
  session_start(desk.session);
  guint tick = g_timeout_add(2, on_tick, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(said);) {
    g_main_context_iteration(NULL, TRUE);
    if (session_now(desk.session) < said[i].at * TIME_SECOND ||
        (said[i].line != NULL && session_is_busy(desk.session)))
      continue;
    if (said[i].line == NULL)
      session_stop(desk.session);
    else
      assert_true(session_say(desk.session, said[i].line, said[i].confirm, NULL));
    i++;
  }
  while (!session_has_quit(desk.session))
    g_main_context_iteration(NULL, TRUE);
  g_source_remove(tick);
  desk_close(&desk);
}

static void
test_console_byte_for_byte(void **state)
{
  (void)state;
  g_autofree char *path = place("console.jsonl");
  record_console(path);
  g_autofree char *text = contents(path);
  assert_non_null(strstr(text, "\"confirm\":17"));
  assert_non_null(strstr(text, "\"confirm\":3"));
  assert_non_null(strstr(text, "not sent"));
  assert_non_null(strstr(text, "\"kind\":\"figure\""));
  assert_reproduces(path);
}

static void
note_time(const Event *event, gpointer last_t)
{
  *(gint64 *)last_t = event->t;
}

static void
say_and_wait(const Desk *desk, const char *line, gint confirm)
{
  assert_true(session_say(desk->session, line, confirm, NULL));
  while (session_is_busy(desk->session))
    g_main_context_iteration(NULL, TRUE);
}

/* Time stands still between two samples that are due, with the first of them folded. */
static void
test_paused_console(void **state)
{
  (void)state;
  g_autofree char *path = place("paused.jsonl");
  Desk desk;
  SessionOptions options = {.core = {.seed = 7}, .clock = CLOCK_SCALED, .speed = SPEED};
  options.record = path;
  desk_open(&desk, data_layout("openslx-two-rooms", NULL), options);
  gint64 last_t = 0;
  session_watch(desk.session, note_time, NULL, &last_t);
  session_start(desk.session);
  say_and_wait(&desk, "boot a[01-03] as b", -1);
  say_and_wait(&desk, "boot a[01-03] as b", 3);
  /* The main loop has no turn before time stands still. */
  gint64 busy_from = session_now(desk.session);
  while (session_now(desk.session) < busy_from + 2 * TIME_SECOND)
    ;
  session_pause(desk.session, TRUE);
  gint64 stands = session_now(desk.session);
  assert_true(last_t > busy_from + TIME_SECOND && last_t <= stands);
  say_and_wait(&desk, "get slx1.nfsd; mark \"time stands still\"", -1);
  assert_true(last_t == stands && session_now(desk.session) == stands);
  session_pause(desk.session, FALSE);
  say_and_wait(&desk, "wait boot b login; quit", -1);
  desk_close(&desk);
  g_autofree char *text = contents(path);
  assert_non_null(strstr(text, "time stands still"));
  assert_non_null(strstr(text, "\"kind\":\"figure\""));
  assert_reproduces(path);
}

/* Cut within a line, within what core said to an input, behind a command. */
static void
test_cut_file(void **state)
{
  (void)state;
  g_autofree char *path = place("whole.jsonl");
  g_autofree char *cut = place("cut.jsonl");
  g_autofree char *record_path = place("of-cut.jsonl");
  record(path, blocks, 0);
  g_autofree char *text = contents(path);
  gsize length = strlen(text), head = (gsize)(strchr(text, '\n') - text) + 400;
  for (guint i = 0; i < 12; i++) {
    gsize bytes = i < 4 ? head + 157 * i : head + (length - head) * i / 13;
    assert_true(g_file_set_contents(cut, text, (gssize)bytes, NULL));
    g_remove(record_path);
    How how = {.path = cut, .record = record_path, .options.confirm_max = ALL_CONSENTS};
    assert_int_equal(again(&how, NULL, NULL), 0);
    g_autofree char *first = without_session(cut);
    g_autofree char *second = without_session(record_path);
    strrchr(first, '\n')[1] = '\0';
    assert_true(g_str_has_prefix(second, first));
  }
}

/* TEXT with the first FIND in the file replaced. */
static void
change(const char *path, const char *find, const char *replacement)
{
  g_autofree char *text = contents(path);
  const char *at = strstr(text, find);
  assert_non_null(at);
  g_autofree char *before = g_strndup(text, (gsize)(at - text));
  g_autofree char *changed = g_strconcat(before, replacement, at + strlen(find), NULL);
  assert_true(g_file_set_contents(path, changed, -1, NULL));
}

static const char boots[] = "boot a[01-08] as b\n"
                            "measure bond during b as m\n"
                            "wait boot b login\n"
                            "expect b.boot.mean < 40 s\n"
                            "sleep 10 s\n"
                            "power off a01\n";

static void
test_differences_are_told(void **state)
{
  (void)state;
  g_autofree char *path = place("boots.jsonl");
  record(path, boots, 0);
  change(path, "\"seed\":1,", "\"seed\":2,");
  g_autofree char *printed = NULL;
  How how = {.path = path, .options.confirm_max = ALL_CONSENTS, .tolerance = 1e-9};
  assert_int_equal(again(&how, &printed, NULL), 1);
  assert_non_null(strstr(printed, "\n! b.power.mean "));
  assert_non_null(strstr(printed, "\n  b.ok "));
  how.tolerance = 10;
  assert_int_equal(again(&how, NULL, NULL), 0);
  /* A figure that is there no more, one that is new, an expectation that held. */
  change(path, "\"label\":\"b\",\"name\":\"ok\"", "\"label\":\"b\",\"name\":\"gone\"");
  g_free(printed);
  assert_int_equal(again(&how, &printed, NULL), 1);
  assert_non_null(strstr(printed, "\n! b.gone "));
  assert_non_null(strstr(printed, "\n! b.ok "));
  assert_non_null(strstr(printed, " missing\n"));
  change(path, "\"label\":\"b\",\"name\":\"gone\"", "\"label\":\"b\",\"name\":\"ok\"");
  change(path, "\"text\":\"expect b.boot.mean < 40 s\"}", "\"text\":\"expect b.boot.mean < 1 s\"}");
  change(path, "\"text\":\"expect b.boot.mean < 40 s\",\"held\":true",
         "\"text\":\"expect b.boot.mean < 1 s\",\"held\":true");
  g_free(printed);
  assert_int_equal(again(&how, &printed, NULL), 1);
  assert_non_null(strstr(printed, "1 of 1 expectations no longer held"));
}

/* Another seed takes another time; nothing is given before what it waited for the first time. */
static void
test_pace(void **state)
{
  (void)state;
  g_autofree char *path = place("pace.jsonl");
  record(path, "mark \"a\"\nsleep 5 s\nboot a[01-08] as b\nwait boot b login\nmark \"b\"\n", 0);
  g_autofree char *as_first = NULL;
  g_autofree char *fast = NULL;
  How how = {.path = path, .options.confirm_max = ALL_CONSENTS, .tolerance = 10};
  assert_int_equal(again(&how, NULL, &as_first), 0);
  int first_end = atoi(strstr(as_first, "mark \"b\"@") + strlen("mark \"b\"@"));
  guint n_later = 0, n_sooner = 0;
  for (guint seed = 2; seed < 12; seed++) {
    g_autofree char *seeds = g_strdup_printf("\"seed\":%u,", seed);
    g_autofree char *before = g_strdup_printf("\"seed\":%u,", seed - 1);
    g_autofree char *course = NULL;
    change(path, before, seeds);
    assert_int_equal(again(&how, NULL, &course), 0);
    assert_non_null(strstr(course, "done ok@5\ncommand boot a[01-08] as b@5\ndone ok@5\ncommand "
                                   "wait boot b login@5\ndone ok@"));
    int end = atoi(strstr(course, "mark \"b\"@") + strlen("mark \"b\"@"));
    assert_true(end >= first_end);
    n_later += end > first_end ? 1 : 0;
    n_sooner += end == first_end ? 1 : 0;
  }
  assert_true(n_later > 0 && n_sooner > 0);
}

/* Waits of the operator's own fall away, those of the script stay; a stop comes as late as it did.
 */
static void
test_fast(void **state)
{
  (void)state;
  g_autofree char *path = place("console.jsonl");
  record_console(path);
  g_autofree char *course = NULL;
  g_autofree char *record_path = place("fast.jsonl");
  How how = {.path = path,
             .record = record_path,
             .options = {.fast = TRUE, .confirm_max = ALL_CONSENTS},
             .tolerance = 1000};
  assert_int_equal(again(&how, NULL, &course), 0);
  assert_true(g_str_has_prefix(course, "command boot roomA stagger 10 s as first@0\n"
                                       "done unconfirmed@0\n"
                                       "command boot a[01-17] stagger 10s as first@0\n"
                                       "command stop@"));
  assert_true(atoi(strstr(course, "command stop@") + strlen("command stop@")) > 2);
  g_autofree char *text = contents(record_path);
  assert_non_null(strstr(text, "not sent"));
  assert_non_null(strstr(text, "\"kind\":\"figure\""));
}

static void
test_fast_with_the_same_figures(void **state)
{
  (void)state;
  g_autofree char *path = place("fast-blocks.jsonl");
  record(path, blocks, 0);
  How how = {.path = path, .options = {.fast = TRUE, .confirm_max = ALL_CONSENTS}};
  assert_int_equal(again(&how, NULL, NULL), 0);
}

static void
test_without_consent(void **state)
{
  (void)state;
  g_autofree char *path = place("console.jsonl");
  record_console(path);
  g_autofree char *course = NULL;
  How how = {.path = path, .options.confirm_max = 3};
  assert_int_equal(again(&how, NULL, &course), 2);
  assert_true(g_str_has_suffix(course, "done unconfirmed@0\n") ||
              strstr(course, "command stop") == NULL);
  how.options.confirm_max = 17;
  assert_int_equal(again(&how, NULL, NULL), 0);
}

/* What the first run changed and put back is put back. */
static void
test_interrupt(void **state)
{
  (void)state;
  g_autofree char *path = place("interrupt.jsonl");
  record(path,
         "with slx1/bond0.policy layer2+3 do\n"
         "  power on a[01-04]\n"
         "  sleep 1000 s\n"
         "  with slx1.nfsd 8 do\n mark \"deeper\"\n end\n"
         "end\n"
         "power off a[01-04]\n",
         0);
  g_autofree char *course = NULL;
  g_autofree char *printed = NULL;
  How how = {.path = path, .options.confirm_max = ALL_CONSENTS, .speed = SPEED, .interrupt_ms = 60};
  assert_int_equal(again(&how, &printed, &course), 130);
  const char *stop = strstr(course, "command stop@");
  assert_non_null(stop);
  assert_non_null(strstr(stop, "command set slx1/bond0.policy layer2@"));
  assert_null(strstr(stop, "nfsd"));
  assert_null(strstr(course, "power off"));
  assert_non_null(strstr(printed, "first ok, again not given: power off a[01-04]"));
}

static void
test_what_is_not_carried_out(void **state)
{
  (void)state;
  g_autofree char *path = place("lost.jsonl");
  record(path, "mark \"x\"\npower on a01\n", 0);
  change(path, "\"text\":\"mark x\"", "\"text\":\"power on z01\"");
  g_autofree char *printed = NULL;
  g_autofree char *course = NULL;
  How how = {.path = path, .options.confirm_max = ALL_CONSENTS};
  assert_int_equal(again(&how, &printed, &course), 3);
  assert_non_null(strstr(printed, "z01"));
  assert_non_null(strstr(printed, "1 of 2 commands as the first time"));
  assert_non_null(strstr(course, "command power on a01@"));
  g_free(printed);
  how.json = TRUE;
  assert_int_equal(again(&how, &printed, NULL), 3);
  json_t *root = json_loads(printed, 0, NULL);
  assert_int_equal(json_integer_value(json_object_get(root, "status")), 3);
  json_t *commands = json_object_get(root, "commands");
  assert_int_equal(json_array_size(commands), 2);
  assert_true(json_is_true(json_object_get(json_array_get(commands, 0), "lost")));
  assert_false(json_is_true(json_object_get(json_array_get(commands, 1), "lost")));
  json_decref(root);
}

/* On a clock that is not jumped over, each command is stamped with its own time. */
static void
test_on_a_running_clock(void **state)
{
  (void)state;
  g_autofree char *path = place("running.jsonl");
  g_autofree char *record_path = place("running-again.jsonl");
  record(path, boots, 0);
  How how = {
      .path = path, .record = record_path, .options.confirm_max = ALL_CONSENTS, .speed = SPEED};
  assert_int_equal(again(&how, NULL, NULL), 0);
  g_autofree char *first = without_session(path);
  g_autofree char *second = without_session(record_path);
  assert_true(g_str_has_prefix(second, first));
}

static void
test_broken_file(void **state)
{
  (void)state;
  g_autoptr(GError) error = NULL;
  assert_null(rerun_open("tests/unit/broken/columns.jsonl", &error));
  assert_non_null(error);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_script_byte_for_byte),
      cmocka_unit_test(test_console_byte_for_byte),
      cmocka_unit_test(test_paused_console),
      cmocka_unit_test(test_cut_file),
      cmocka_unit_test(test_differences_are_told),
      cmocka_unit_test(test_pace),
      cmocka_unit_test(test_fast),
      cmocka_unit_test(test_fast_with_the_same_figures),
      cmocka_unit_test(test_without_consent),
      cmocka_unit_test(test_interrupt),
      cmocka_unit_test(test_what_is_not_carried_out),
      cmocka_unit_test(test_on_a_running_clock),
      cmocka_unit_test(test_broken_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
