#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glib/gstdio.h>
#include <string.h>

#include "session/replay.h"
#include "session_lab.h"

static void
test_script_runs_in_jumps(void **state)
{
  (void)state;
  g_autoptr(SessionLab) lab = session_lab_new(&session_lab_jumping, &session_lab_slow);
  g_autoptr(GError) error = NULL;
  gint64 begin = g_get_monotonic_time();
  assert_int_equal(session_lab_run(lab, "power on a[01-02]\nsleep 1h\nmark \"late\"\n", &error), 0);
  assert_null(error);
  assert_true(g_get_monotonic_time() - begin < 5 * G_USEC_PER_SEC);
  session_lab_find(lab, "link@0", 0);
  guint command = session_lab_find(lab, "command power on a[01-02]@0", 0);
  guint done = session_lab_find(lab, "done ok@2000", command);
  guint sleep = session_lab_find(lab, "command sleep 1h@2000", done);
  guint woken = session_lab_find(lab, "wake@3602000", sleep);
  guint mark =
      session_lab_find(lab, "command mark", session_lab_find(lab, "done ok@3602000", woken));
  assert_true(g_str_has_suffix(lab->events->pdata[mark], "@3602000"));
  assert_true(session_now(lab->session) == 3602 * TIME_SECOND);
  assert_false(session_is_busy(lab->session));
}

/* What a backend has to say at a time comes before the command of that time. */
static void
test_backend_before_command(void **state)
{
  (void)state;
  g_autoptr(SessionLab) lab = session_lab_new(&session_lab_jumping, &session_lab_slow);
  assert_int_equal(session_lab_run(lab, "sleep 2s\nmark \"x\"\n", NULL), 0);
  guint link = session_lab_find(lab, "link@0", 0);
  guint status = session_lab_find(lab, "observe@0", link);
  assert_true(session_lab_find(lab, "command sleep", 0) >
              session_lab_find(lab, "result@0", status));
}

/* Who is on is known once all were looked at, which a session begins with. */
static void
test_live_group_waits_for_the_look(void **state)
{
  (void)state;
  g_autoptr(SessionLab) lab = session_lab_new(&session_lab_jumping, &session_lab_slow);
  lab->slow->look = 3 * TIME_SECOND;
  assert_int_equal(session_lab_run(lab, "mark \"@onwards\"\npower on first(1,@off)\n", NULL), 0);
  session_lab_find(lab, "command mark \"@onwards\"@0", 0);
  session_lab_find(lab, "done ok@5000",
                   session_lab_find(lab, "command power on first(1,@off)@3000", 0));
}

static void
test_wake_before_command(void **state)
{
  (void)state;
  g_autoptr(SessionLab) lab = session_lab_new(&session_lab_jumping, &session_lab_slow);
  assert_int_equal(session_lab_run(lab, "power on a01\nsleep 2s\npower on a02\nmark \"x\"\n", NULL),
                   0);
  guint wake = session_lab_find(lab, "wake@4000", 0);
  assert_true(session_lab_find(lab, "command power on a02@4000", 0) > wake);
  assert_true(session_lab_find(lab, "command mark", 0) > session_lab_find(lab, "result@6000", 0));
}

static void
test_exit_statuses(void **state)
{
  (void)state;
  static const struct {
    const char *script;
    int status;
    const char *error;
  } cases[] = {
      {"mark \"x\"\n", 0, NULL},
      {"get s1.nfsd\n", 0, NULL},
      {"boot a01 as x\nexpect x.boot.mean < 5 s\n", 1, NULL},
      {"boot a01 as x\nexpect x.boot.mean < 5 s\nmark \"goes on\"\n", 1, NULL},
      {"power on a02\nmark \"not reached\"\n", 3, NULL},
      {"boot a01 as x\nexpect x.boot.mean < 5 s\npower on a[01-02]\n", 3, NULL},
      {"try power on a02\nmark \"goes on\"\n", 0, NULL},
      {"power on z99\n", 2, "test.pult:1*z99*"},
      {"mark \"x\"\npower on @nobody\n", 2, "test.pult:2*nobody*"},
      {"quit\nmark \"not reached\"\n", 0, NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(SessionLab) lab = session_lab_new(&session_lab_jumping, &session_lab_slow);
    lab->slow->broken = layout_find(lab->layout, "a02");
    g_autoptr(GError) error = NULL;
    int status = session_lab_run(lab, cases[i].script, &error);
    if (status != cases[i].status)
      fail_msg("%d, not %d: %s", status, cases[i].status, cases[i].script);
    assert_int_equal(error != NULL, cases[i].error != NULL);
    if (error != NULL && !g_pattern_match_simple(cases[i].error, error->message))
      fail_msg("%s\n  instead of %s", error->message, cases[i].error);
    assert_int_equal(session_lab_has(lab, "command mark \"goes on\""),
                     strstr(cases[i].script, "goes on") != NULL);
    assert_false(session_lab_has(lab, "command mark \"not"));
    assert_false(session_lab_has(lab, "command power on z"));
  }
}

static void
test_consent_is_asked_for(void **state)
{
  (void)state;
  SessionOptions options = session_lab_jumping;
  options.core.consent = CONSENT_ASK;
  g_autoptr(SessionLab) lab = session_lab_new(&options, &session_lab_slow);
  assert_int_equal(session_lab_run(lab, "power on a01\nmark \"not reached\"\n", NULL), 2);
  assert_true(session_lab_find(lab, "plan@0", 0) < session_lab_find(lab, "done unconfirmed@0", 0));
  assert_false(session_lab_has(lab, "command mark"));
}

static void
test_with_puts_back(void **state)
{
  (void)state;
  g_autoptr(SessionLab) lab = session_lab_new(&session_lab_jumping, &session_lab_slow);
  lab->slow->broken = layout_find(lab->layout, "a02");
  assert_int_equal(
      session_lab_run(lab, "with s1.nfsd 4 do\n power on a02\n mark \"not\"\nend\n", NULL), 3);
  guint set = session_lab_find(lab, "command set s1.nfsd 4",
                               session_lab_find(lab, "command get s1.nfsd", 0));
  session_lab_find(lab, "command set s1.nfsd 8", session_lab_find(lab, "done failed", set));
  assert_false(session_lab_has(lab, "command mark"));
}

static char *
record_once(const char *name)
{
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), name, NULL);
  g_remove(path);
  SessionOptions options = session_lab_jumping;
  options.record = path;
  SessionLab *lab = session_lab_new(&options, &session_lab_slow);
  assert_int_equal(session_lab_run(lab, "power on a[01-02]\nsleep 5s\npower off a01\n", NULL), 0);
  guint n_events = lab->events->len;
  SessionRecord record;
  session_record_status(lab->session, &record);
  assert_true(record.recording && record.lines == n_events + 2);
  session_lab_free(lab);
  guint64 events;
  g_autoptr(GError) error = NULL;
  gboolean same = replay_verify(path, &events, &error);
  if (error != NULL)
    fail_msg("%s", error->message);
  assert_true(same);
  assert_int_equal(events, n_events);
  char *text;
  assert_true(g_file_get_contents(path, &text, NULL, NULL));
  return text;
}

static void
test_record_is_the_same_again(void **state)
{
  (void)state;
  g_autofree char *first = record_once("first.jsonl");
  g_autofree char *second = record_once("second.jsonl");
  g_auto(GStrv) a = g_strsplit(first, "\n", -1);
  g_auto(GStrv) b = g_strsplit(second, "\n", -1);
  assert_int_equal(g_strv_length(a), g_strv_length(b));
  for (guint i = 0; a[i] != NULL; i++)
    if (i != 1)
      assert_string_equal(a[i], b[i]);
}

static void
test_full_disk(void **state)
{
  (void)state;
  SessionOptions options = session_lab_jumping;
  options.record = "/dev/full";
  g_autoptr(SessionLab) lab = session_lab_new(&options, &session_lab_slow);
  assert_int_equal(session_lab_run(lab, "power on a01\n", NULL), 3);
  session_lab_find(lab, "done ok@2000", 0);
  assert_int_equal(lab->complaints->len, 1);
  assert_non_null(strstr(lab->complaints->pdata[0], "No space left"));
  SessionRecord record;
  session_record_status(lab->session, &record);
  assert_false(record.recording);
  assert_string_equal(record.record_error, lab->complaints->pdata[0]);
}

static void
test_never_overwrites(void **state)
{
  (void)state;
  SessionOptions options = session_lab_jumping;
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "there.jsonl", NULL);
  assert_true(g_file_set_contents(path, "x", 1, NULL));
  g_autoptr(SessionLab) lab = session_lab_new(&session_lab_jumping, &session_lab_slow);
  options.layout = lab->layout;
  options.record = path;
  g_autoptr(GError) error = NULL;
  assert_null(session_new(&options, &error));
  assert_non_null(strstr(error->message, "never overwritten"));
}

static void
test_time_of_real_machines(void **state)
{
  (void)state;
  g_autoptr(SessionLab) jumped = session_lab_new(&session_lab_jumping, &session_lab_real);
  assert_int_equal(jumped->complaints->len, 1);
  SessionOptions options = session_lab_jumping;
  options.clock = CLOCK_SCALED;
  options.speed = 10;
  g_autoptr(SessionLab) scaled = session_lab_new(&options, &session_lab_real);
  assert_int_equal(scaled->complaints->len, 1);
  options.clock = CLOCK_REAL;
  g_autoptr(SessionLab) real = session_lab_new(&options, &session_lab_real);
  assert_int_equal(real->complaints->len, 0);
}

static void
say_link(SessionLab *lab)
{
  Event event = {.kind = EVENT_LINK, .link = {"sim", TRUE, "real lab"}};
  session_post(&event, lab->session);
}

/* With a record that failed, power is refused, and only that; without one it is not. */
static void
test_real_power_needs_its_record(void **state)
{
  (void)state;
  SessionOptions options = session_lab_jumping;
  options.clock = CLOCK_REAL;
  for (int must = 0; must < 2; must++) {
    options.record = must ? "/dev/full" : NULL;
    options.must_record = must;
    g_autoptr(SessionLab) lab = session_lab_new(&options, &session_lab_real);
    say_link(lab);
    assert_int_equal(lab->complaints->len, must);
    g_autoptr(GError) error = NULL;
    assert_true(session_say(lab->session, "mark \"x\"", -1, &error));
    assert_int_equal(session_say(lab->session, "power on a01", -1, &error), !must);
    if (must)
      assert_true(g_pattern_match_simple("refused: *No space left*", error->message));
    assert_int_equal(session_lab_has(lab, "command power on a01"), !must);
  }
}

/* On disk before it is carried out: the file holds the command when its request is sent. */
static char *synced_path;
static guint n_seen_on_disk;

static void
look_on_disk(Backend *backend, gint64 now, const RequestEvent *request)
{
  (void)backend;
  (void)now;
  if (request->operation != OP_ON)
    return;
  g_autofree char *text = NULL;
  assert_true(g_file_get_contents(synced_path, &text, NULL, NULL));
  n_seen_on_disk += strstr(text, "\"text\":\"power on a01\"") != NULL ? 1 : 0;
}

static void
test_command_is_on_disk_first(void **state)
{
  (void)state;
  BackendClass class = session_lab_real;
  class.submit = look_on_disk;
  SessionOptions options = session_lab_jumping;
  options.clock = CLOCK_REAL;
  options.record = synced_path = g_build_filename(g_get_tmp_dir(), "synced.jsonl", NULL);
  g_remove(synced_path);
  g_autoptr(SessionLab) lab = session_lab_new(&options, &class);
  say_link(lab);
  assert_true(session_say(lab->session, "power on a01", -1, NULL));
  assert_int_equal(n_seen_on_disk, 1);
  g_clear_pointer(&synced_path, g_free);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_script_runs_in_jumps),
      cmocka_unit_test(test_backend_before_command),
      cmocka_unit_test(test_live_group_waits_for_the_look),
      cmocka_unit_test(test_wake_before_command),
      cmocka_unit_test(test_exit_statuses),
      cmocka_unit_test(test_consent_is_asked_for),
      cmocka_unit_test(test_with_puts_back),
      cmocka_unit_test(test_record_is_the_same_again),
      cmocka_unit_test(test_full_disk),
      cmocka_unit_test(test_never_overwrites),
      cmocka_unit_test(test_time_of_real_machines),
      cmocka_unit_test(test_real_power_needs_its_record),
      cmocka_unit_test(test_command_is_on_disk_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
