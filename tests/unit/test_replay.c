#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "core/state.h"
#include "model/draw.h"
#include "session/replay.h"
#include "session/transcript.h"
#include "session_lab.h"

/* A session long enough for several keyframes: the seats go on and off every minute. */
static const char script[] = "repeat 1300 do\n power on a[01-02]\n sleep 20s\n power off a01\n"
                             " sleep 10s\nend\n";

static char *path; /* of its transcript */

static int
record(void **state)
{
  (void)state;
  path = g_build_filename(g_get_tmp_dir(), "replay.jsonl", NULL);
  g_remove(path);
  SessionOptions options = session_lab_jumping;
  options.record = path;
  g_autoptr(SessionLab) lab = session_lab_new(&options, &session_lab_slow);
  assert_int_equal(session_lab_run(lab, script, NULL), 0);
  assert_true(lab->events->len > 20000);
  return 0;
}

static int
forget(void **state)
{
  (void)state;
  g_remove(path);
  g_free(path);
  return 0;
}

/* What can be told of a state: power with its times, and the whole log. */
static char *
tell(const CoreState *state)
{
  const Layout *layout = state_layout(state);
  g_autoptr(GString) text = g_string_new(NULL);
  for (NodeId id = 0; id < layout->n_nodes; id++) {
    const NodeState *node = state_node(state, id);
    g_string_append_printf(text, "%s %d %" G_GINT64_FORMAT "\n", layout->nodes[id].name,
                           node->power, node->power_t);
  }
  for (guint64 i = state_log_first(state); i < state_log_end(state); i++)
    g_string_append_printf(text, "%" G_GINT64_FORMAT " %s\n", state_log(state, i)->t,
                           state_log(state, i)->text);
  return g_strdup(text->str);
}

/* The same by folding from the beginning, without any seeking. */
static char *
tell_plainly(gint64 t)
{
  g_autoptr(Replay) replay = replay_open(path, NULL);
  assert_non_null(replay);
  assert_true(replay_seek(replay, t, NULL));
  return tell(replay_state(replay));
}

static int
compare_times(gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
  return (x > y) - (x < y);
}

#define SEEKS 15

static void
test_seek_anywhere(void **state)
{
  (void)state;
  gint64 times[SEEKS];
  char *plainly[SEEKS];
  g_autoptr(Replay) forward = replay_open(path, NULL);
  g_autoptr(Replay) replay = replay_open(path, NULL);
  gint64 end = replay_end(replay);
  assert_true(end > 1300 * 30 * TIME_SECOND);
  for (guint i = 0; i < SEEKS; i++)
    times[i] = (gint64)(draw_uniform(3, "seek", "", i) * (double)end);
  qsort(times, SEEKS, sizeof *times, compare_times);
  for (guint i = 0; i < SEEKS; i++) {
    assert_true(replay_seek(forward, times[i], NULL));
    plainly[i] = tell(replay_state(forward));
  }
  assert_true(replay_seek(replay, end, NULL));
  for (guint i = 0; i < SEEKS; i++) {
    guint there = i * 7 % SEEKS; /* back and forth, each once */
    assert_true(replay_seek(replay, times[there], NULL));
    assert_true(replay_now(replay) == times[there]);
    assert_true(state_now(replay_state(replay)) <= times[there]);
    g_autofree char *told = tell(replay_state(replay));
    assert_string_equal(told, plainly[there]);
  }
  for (guint i = 0; i < SEEKS; i++)
    g_free(plainly[i]);
}

/* Back over keyframes and on again, one is where one was. */
static void
test_step_anywhere(void **state)
{
  (void)state;
  g_autoptr(Replay) replay = replay_open(path, NULL);
  gint64 end = replay_end(replay);
  assert_true(replay_seek(replay, end, NULL));
  for (guint i = 0; i < 10; i++) {
    assert_true(replay_seek(replay, (gint64)(draw_uniform(3, "step", "", i) * (double)end), NULL));
    g_autofree char *before = tell(replay_state(replay));
    for (guint k = 0; k < 8; k++)
      assert_true(replay_step(replay, TRUE, NULL));
    g_autofree char *back = tell(replay_state(replay));
    assert_string_not_equal(before, back);
    for (guint k = 0; k < 8; k++)
      assert_true(replay_step(replay, FALSE, NULL));
    assert_int_equal(replay_now(replay), state_now(replay_state(replay)));
    g_autofree char *there = tell(replay_state(replay));
    assert_string_equal(before, there);
  }
}

static void
test_seek_includes_its_time(void **state)
{
  (void)state;
  g_autoptr(Replay) replay = replay_open(path, NULL);
  NodeId a01 = layout_find(replay_layout(replay), "a01");
  assert_true(replay_seek(replay, 2 * TIME_SECOND - 1, NULL));
  assert_int_equal(state_node(replay_state(replay), a01)->power, POWER_OFF);
  assert_true(replay_seek(replay, 2 * TIME_SECOND, NULL));
  assert_int_equal(state_node(replay_state(replay), a01)->power, POWER_ON);
  assert_true(replay_seek(replay, 2 * TIME_SECOND - 1, NULL));
  assert_int_equal(state_node(replay_state(replay), a01)->power, POWER_OFF);
}

static void
test_seek_beyond_the_end(void **state)
{
  (void)state;
  g_autoptr(Replay) replay = replay_open(path, NULL);
  gint64 end = replay_end(replay);
  assert_true(replay_seek(replay, end + TIME_SECOND, NULL));
  assert_true(state_now(replay_state(replay)) <= end);
}

static char *
write_file(const char *name, const char *text, gsize length)
{
  char *file = g_build_filename(g_get_tmp_dir(), name, NULL);
  assert_true(g_file_set_contents(file, text, (gssize)length, NULL));
  return file;
}

static void
test_follow(void **state)
{
  (void)state;
  g_autofree char *text = NULL;
  gsize length;
  assert_true(g_file_get_contents(path, &text, &length, NULL));
  gsize part = length / 2;
  g_autofree char *file = write_file("followed.jsonl", text, part);
  g_autoptr(Replay) replay = replay_open(file, NULL);
  g_autoptr(GError) error = NULL;
  gint64 end = replay_end(replay);
  assert_true(replay_seek(replay, end, NULL));
  assert_false(replay_follow(replay, &error));
  FILE *out = fopen(file, "a");
  fwrite(text + part, 1, length - part, out);
  fclose(out);
  assert_true(replay_follow(replay, &error));
  assert_null(error);
  assert_true(replay_end(replay) > end);
  assert_true(replay_seek(replay, replay_end(replay), NULL));
  g_autofree char *there = tell(replay_state(replay));
  g_autofree char *plainly = tell_plainly(replay_end(replay));
  assert_string_equal(there, plainly);
  assert_int_equal(truncate(file, 1000), 0);
  assert_false(replay_follow(replay, &error));
  assert_non_null(error);
}

static gboolean
verify(const char *file, GError **error)
{
  guint64 events;
  return replay_verify(file, &events, error);
}

static void
test_verify_holds(void **state)
{
  (void)state;
  assert_true(verify(path, NULL));
}

/* Cut anywhere in its first lines it still verifies: what core had yet to say is no difference. */
static void
test_verify_holds_when_cut(void **state)
{
  (void)state;
  g_autofree char *text = NULL;
  gsize length;
  assert_true(g_file_get_contents(path, &text, &length, NULL));
  const char *line = text;
  for (int i = 0; i < 60; i++) {
    line = strchr(line, '\n') + 1;
    g_autofree char *file = write_file("cut.jsonl", text, (gsize)(line - text) + 20);
    g_autoptr(GError) error = NULL;
    if (!verify(file, &error))
      fail_msg("%s", error->message);
  }
}

/* TEXT with the first LINE that holds FIND changed by REPLACEMENT in it. */
static char *
change(const char *text, const char *find, const char *replacement)
{
  const char *at = strstr(text, find);
  assert_non_null(at);
  g_autofree char *before = g_strndup(text, (gsize)(at - text));
  return g_strconcat(before, replacement, at + strlen(find), NULL);
}

static void
test_verify_tells_the_difference(void **state)
{
  (void)state;
  static const struct {
    const char *find, *replacement, *message;
  } changes[] = {
      {"\"verdict\":\"ok\"}\n{\"seq\":21,", "\"verdict\":\"failed\"}\n{\"seq\":21,", "*:22: *"},
      {"\"op\":\"status\"", "\"op\":\"reset\"", "*:4: recorded *reset*, folded *status*"},
      {"power on a[01-02]\",\"text\":\"power on a[01-02]", "x\",\"text\":\"power on a01",
       "* recorded *folded *"},
  };
  g_autofree char *text = NULL;
  assert_true(g_file_get_contents(path, &text, NULL, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS(changes); i++) {
    g_autofree char *changed = change(text, changes[i].find, changes[i].replacement);
    g_autofree char *file = write_file("changed.jsonl", changed, strlen(changed));
    g_autoptr(GError) error = NULL;
    assert_false(verify(file, &error));
    assert_true(error->domain == REPLAY_ERROR);
    if (!g_pattern_match_simple(changes[i].message, error->message))
      fail_msg("%s\n  instead of %s", error->message, changes[i].message);
  }
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_seek_anywhere),
      cmocka_unit_test(test_step_anywhere),
      cmocka_unit_test(test_seek_includes_its_time),
      cmocka_unit_test(test_seek_beyond_the_end),
      cmocka_unit_test(test_follow),
      cmocka_unit_test(test_verify_holds),
      cmocka_unit_test(test_verify_holds_when_cut),
      cmocka_unit_test(test_verify_tells_the_difference),
  };
  return cmocka_run_group_tests(tests, record, forget);
}
