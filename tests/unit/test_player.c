#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "core/state.h"
#include "session/marks.h"
#include "session/player.h"
#include "session_lab.h"

/* 32 s: on after 2 s, marks at 0, 22 and 32 s. */
static const char script[] = "mark \"begin\"\npower on a[01-02]\nsleep 20s\n"
                             "mark \"middle: 1:30\"\nsleep 10s\nmark \"30s\"\nplan mark \"not\"\n"
                             "power off a01\nsleep 8 s\n";
#define ON_AT (2 * TIME_SECOND)
#define MIDDLE (22 * TIME_SECOND)
#define LAST_MARK (32 * TIME_SECOND)
#define MS 1000 /* of wall time, in its µs */

static char *path;

static int
record(void **state)
{
  (void)state;
  path = g_build_filename(g_get_tmp_dir(), "player.jsonl", NULL);
  g_remove(path);
  SessionOptions options = session_lab_jumping;
  options.record = path;
  g_autoptr(SessionLab) lab = session_lab_new(&options, &session_lab_slow);
  return session_lab_run(lab, script, NULL);
}

static int
forget(void **state)
{
  (void)state;
  g_remove(path);
  g_free(path);
  return 0;
}

static Player *
play(const char *file, double speed, gboolean follow)
{
  g_autoptr(GError) error = NULL;
  Replay *replay = replay_open(file, &error);
  if (replay == NULL)
    fail_msg("%s", error->message);
  return player_new(replay, speed, follow);
}

static gint64
now(const Player *player)
{
  return replay_now(player_replay(player));
}

/* Power of a01 and how much was logged. */
static int
power(const Player *player)
{
  const CoreState *state = replay_state(player_replay(player));
  return state_node(state, layout_find(state_layout(state), "a01"))->power;
}

static void
test_speed_and_pause(void **state)
{
  (void)state;
  g_autoptr(Player) player = play(path, 2, FALSE);
  assert_false(player_following(player));
  player_tick(player, 5000 * MS, NULL);
  assert_int_equal(now(player), 0);
  player_tick(player, 5500 * MS, NULL);
  assert_int_equal(now(player), TIME_SECOND);
  player_pause(player, TRUE);
  assert_true(player_paused(player));
  assert_false(player_tick(player, 6500 * MS, NULL));
  player_pause(player, FALSE);
  player_set_speed(player, 0.5);
  player_tick(player, 8500 * MS, NULL);
  assert_int_equal(now(player), 2 * TIME_SECOND);
  assert_int_equal(power(player), POWER_ON);
  player_set_speed(player, 1e9);
  assert_true(player_speed(player) == PLAYER_SPEED_MAX);
  player_set_speed(player, 0);
  assert_true(player_speed(player) == PLAYER_SPEED_MIN);
  player_set_speed(player, 100);
  player_tick(player, 9500 * MS, NULL);
  assert_int_equal(now(player), replay_end(player_replay(player)));
  assert_false(player_tick(player, 9600 * MS, NULL));
}

static void
test_seek_and_clamp(void **state)
{
  (void)state;
  g_autoptr(Player) player = play(path, 1, FALSE);
  gint64 end = replay_end(player_replay(player));
  assert_true(player_seek(player, end + TIME_SECOND, NULL));
  assert_int_equal(now(player), end);
  assert_true(player_seek(player, -TIME_SECOND, NULL));
  assert_int_equal(now(player), 0);
  assert_true(player_seek(player, ON_AT - 1, NULL));
  assert_int_equal(power(player), POWER_OFF);
  assert_false(player_paused(player));
}

/* What can be told of a state. */
static char *
tell(const Player *player)
{
  const CoreState *state = replay_state(player_replay(player));
  GString *text = g_string_new(NULL);
  for (guint64 i = state_log_first(state); i < state_log_end(state); i++)
    g_string_append_printf(text, "%" G_GINT64_FORMAT " %s\n", state_log(state, i)->t,
                           state_log(state, i)->text);
  for (NodeId id = 0; id < state_layout(state)->n_nodes; id++)
    g_string_append_printf(text, "%d %" G_GINT64_FORMAT "\n", state_node(state, id)->power,
                           state_node(state, id)->power_t);
  return g_string_free(text, FALSE);
}

/* Event by event to the end, and back the same way. */
static void
test_steps(void **state)
{
  (void)state;
  g_autoptr(Player) player = play(path, 1, FALSE);
  g_autoptr(GPtrArray) states = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(gint64));
  g_autoptr(GError) error = NULL;
  while (player_step(player, TRUE, NULL))
    ; /* opened, it stands behind what happened at 0 */
  do {
    gint64 t = now(player);
    g_ptr_array_add(states, tell(player));
    g_array_append_val(times, t);
  } while (player_step(player, FALSE, &error));
  assert_string_equal(error->message, "that is the end");
  assert_true(player_paused(player));
  assert_true(states->len > 20);
  assert_int_equal(now(player), replay_end(player_replay(player)));
  for (guint i = states->len - 1; i-- > 0;) {
    assert_true(player_step(player, TRUE, NULL));
    g_autofree char *there = tell(player);
    assert_string_equal(there, states->pdata[i]);
    assert_int_equal(now(player), g_array_index(times, gint64, i));
  }
  g_clear_error(&error);
  assert_false(player_step(player, TRUE, &error));
  assert_string_equal(error->message, "that is the beginning");
  /* From amid what happened at one time, all of it is seen to. */
  assert_true(player_seek(player, replay_end(player_replay(player)), NULL));
  assert_true(player_step(player, TRUE, NULL));
  assert_true(player_seek(player, replay_end(player_replay(player)), NULL));
  g_autofree char *there = tell(player);
  assert_string_equal(there, states->pdata[states->len - 1]);
}

static void
test_marks(void **state)
{
  (void)state;
  g_autoptr(Player) player = play(path, 1, FALSE);
  g_autoptr(GError) error = NULL;
  const char *text;
  assert_true(player_to_mark(player, FALSE, &text, NULL));
  assert_string_equal(text, "middle: 1:30");
  assert_int_equal(now(player), MIDDLE);
  assert_true(player_to_mark(player, FALSE, &text, NULL));
  assert_string_equal(text, "30s");
  assert_int_equal(now(player), LAST_MARK);
  assert_false(player_to_mark(player, FALSE, &text, &error));
  assert_string_equal(error->message, "there is no mark after this");
  assert_int_equal(now(player), LAST_MARK);
  /* Playing on, one is at the mark for a second; paused, just then. */
  player_tick(player, 1000 * MS, NULL);
  player_tick(player, 1500 * MS, NULL);
  assert_true(player_to_mark(player, TRUE, &text, NULL));
  assert_int_equal(now(player), MIDDLE);
  player_pause(player, TRUE);
  assert_true(player_seek(player, LAST_MARK + 1, NULL));
  assert_true(player_to_mark(player, TRUE, &text, NULL));
  assert_int_equal(now(player), LAST_MARK);
  assert_true(player_to_mark(player, TRUE, &text, NULL));
  assert_true(player_to_mark(player, TRUE, &text, NULL));
  assert_string_equal(text, "begin");
  g_clear_error(&error);
  assert_false(player_to_mark(player, TRUE, &text, &error));
  assert_string_equal(error->message, "there is no mark before");
}

static void
test_places(void **state)
{
  (void)state;
  static const struct {
    const char *place;
    double seconds;
  } places[] = {
      {"30s", 30},      {"0.5 min", 30}, {"1:30", 90},      {"2:00:01", 7201},
      {"+5s", 15},      {"-3 s", 7},     {"-30s", 0},       {"+1:00", 70},
      {"start", 0},     {"end", 100},    {"middle", 22},    {"mark:middle: 1:30", 22},
      {"mark:30s", 32}, {"begin", 0},    {"mark:1:30", 22},
  };
  g_autoptr(Marks) marks = marks_new(path);
  for (gsize i = 0; i < G_N_ELEMENTS(places); i++) {
    gint64 t = -1;
    g_autoptr(GError) error = NULL;
    if (!marks_find_place(marks, places[i].place, 10 * TIME_SECOND, 100 * TIME_SECOND, &t, &error))
      fail_msg("%s", error->message);
    if (t != (gint64)(places[i].seconds * TIME_SECOND))
      fail_msg("%s is %" G_GINT64_FORMAT, places[i].place, t);
  }
}

static void
test_no_places(void **state)
{
  (void)state;
  static const struct {
    const char *place, *message;
  } places[] = {
      {"nowhere", "`nowhere` is neither a time such as 30s or 1:30 nor a mark; "
                  "marks are `begin`, `middle: 1:30`, `30s`"},
      {"mark:x", "`x` is no mark; marks are `begin`, `middle: 1:30`, `30s`"},
      {"mark:", "`` is no mark; *"},
      {"", "`` is neither*"},
      {"1:60", "`1:60` is neither*"},
      {"1:2:3:4", "*neither*"},
      {"++5s", "*neither*"},
      {"not", "*neither*"},
  };
  g_autoptr(Marks) marks = marks_new(path);
  gint64 t = -1;
  for (gsize i = 0; i < G_N_ELEMENTS(places); i++) {
    g_autoptr(GError) error = NULL;
    assert_false(marks_find_place(marks, places[i].place, 0, TIME_SECOND, &t, &error));
    if (!g_pattern_match_simple(places[i].message, error->message))
      fail_msg("%s\n  instead of %s", error->message, places[i].message);
  }
  assert_int_equal(t, -1);
  g_autoptr(Marks) none = marks_new("tests/unit/samples/none.jsonl");
  g_autoptr(GError) error = NULL;
  assert_false(marks_find_place(none, "x", 0, TIME_SECOND, &t, &error));
  assert_non_null(strstr(error->message, "there are no marks in it"));
}

/* A copy of the transcript that grows as a session would write it. */
typedef struct {
  char *file, *text;
  gsize length;
} Growing;

static void
grow_to(Growing *growing, gsize length, const char *mode)
{
  FILE *out = fopen(growing->file, mode);
  gsize from = strcmp(mode, "a") == 0 ? (gsize)ftell(out) : 0;
  fwrite(growing->text + from, 1, length - from, out);
  fclose(out);
}

static void
growing_open(Growing *growing)
{
  growing->file = g_build_filename(g_get_tmp_dir(), "growing.jsonl", NULL);
  g_remove(growing->file);
  assert_true(g_file_get_contents(path, &growing->text, &growing->length, NULL));
  grow_to(growing, growing->length / 2, "w");
}

static void
growing_close(Growing *growing)
{
  g_remove(growing->file);
  g_free(growing->file);
  g_free(growing->text);
}

static void
test_follow_grows(void **state)
{
  (void)state;
  Growing growing;
  growing_open(&growing);
  g_autoptr(Player) player = play(growing.file, 1, TRUE);
  g_autoptr(GError) error = NULL;
  assert_true(player_following(player));
  assert_true(player_seek(player, replay_end(player_replay(player)), NULL));
  assert_true(player_following(player));
  /* By a few bytes each time, so that most ticks see a cut line. */
  gint64 us = 0;
  for (gsize n = growing.length / 2; n < growing.length; n += 37) {
    grow_to(&growing, MIN(n + 37, growing.length), "a");
    player_tick(player, us += 50 * MS, &error);
    assert_null(error);
    assert_int_equal(now(player), replay_end(player_replay(player)));
  }
  g_autoptr(Player) whole = play(path, 1, FALSE);
  gint64 end = replay_end(player_replay(whole));
  assert_true(player_seek(whole, end, NULL));
  g_autofree char *there = tell(player);
  g_autofree char *plainly = tell(whole);
  assert_string_equal(there, plainly);
  /* Elsewhere it plays on from there; at the end it follows again. */
  assert_true(player_seek(player, TIME_SECOND, NULL));
  assert_false(player_following(player));
  player_tick(player, us += 1000 * MS, &error);
  assert_int_equal(now(player), 2 * TIME_SECOND);
  assert_true(player_to_place(player, "end", NULL));
  assert_true(player_following(player));
  growing_close(&growing);
}

/* Says so once, keeps what it has, and takes up whatever comes in its place. */
static void
follow_and_lose(void (*lose)(Growing *growing), const char *message)
{
  Growing growing;
  growing_open(&growing);
  g_autoptr(Player) player = play(growing.file, 1, TRUE);
  g_autoptr(GError) error = NULL;
  assert_true(player_seek(player, replay_end(player_replay(player)), NULL));
  g_autofree char *before = tell(player);
  lose(&growing);
  assert_false(player_tick(player, 50 * MS, &error));
  assert_non_null(error);
  if (!g_pattern_match_simple(message, error->message))
    fail_msg("%s", error->message);
  for (guint i = 0; i < 40; i++)
    assert_false(player_tick(player, (100 + 50 * i) * MS, NULL));
  g_autofree char *after = tell(player);
  assert_string_equal(before, after);
  assert_int_equal(player_generation(player), 0);
  g_remove(growing.file);
  grow_to(&growing, growing.length, "w");
  for (guint i = 0; i < 40; i++)
    player_tick(player, (3000 + 50 * i) * MS, NULL);
  assert_int_equal(player_generation(player), 1);
  g_autoptr(Player) whole = play(path, 1, FALSE);
  assert_int_equal(now(player), replay_end(player_replay(whole)));
  assert_true(player_following(player));
  const char *text;
  assert_true(player_to_mark(player, TRUE, &text, NULL));
  assert_string_equal(text, "30s");
  growing_close(&growing);
}

static void
lose_by_cutting(Growing *growing)
{
  assert_int_equal(truncate(growing->file, 100), 0);
}

static void
lose_by_removing(Growing *growing)
{
  assert_int_equal(g_remove(growing->file), 0);
}

static void
lose_by_replacing(Growing *growing)
{
  assert_int_equal(g_remove(growing->file), 0);
  assert_true(g_file_set_contents(growing->file, "no transcript\n", -1, NULL));
}

static void
test_follow_is_cut(void **state)
{
  (void)state;
  follow_and_lose(lose_by_cutting, "*growing.jsonl has become shorter; what was read of it stays");
}

static void
test_follow_disappears(void **state)
{
  (void)state;
  follow_and_lose(lose_by_removing, "*growing.jsonl is gone; what was read of it stays");
}

static void
test_follow_is_replaced(void **state)
{
  (void)state;
  follow_and_lose(lose_by_replacing,
                  "*growing.jsonl is another file now; what was read of it stays");
}

/* A removed file that is still written to is still followed. */
static void
test_follow_goes_on_without_a_name(void **state)
{
  (void)state;
  Growing growing;
  growing_open(&growing);
  g_autoptr(Player) player = play(growing.file, 1, TRUE);
  assert_true(player_seek(player, replay_end(player_replay(player)), NULL));
  FILE *out = fopen(growing.file, "a");
  assert_int_equal(g_remove(growing.file), 0);
  g_autoptr(GError) error = NULL;
  assert_false(player_tick(player, 50 * MS, &error));
  assert_non_null(error);
  gsize half = growing.length / 2;
  fwrite(growing.text + half, 1, growing.length - half, out);
  fclose(out);
  assert_true(player_tick(player, 100 * MS, NULL));
  assert_int_equal(now(player), replay_end(player_replay(player)));
  assert_true(now(player) > LAST_MARK);
  growing_close(&growing);
}

static void
test_unreadable_line(void **state)
{
  (void)state;
  Growing growing;
  growing_open(&growing);
  grow_to(&growing, growing.length, "a");
  FILE *out = fopen(growing.file, "a");
  fputs("{\"seq\":0,\"t\":99000000000}\n", out);
  fclose(out);
  g_autoptr(Player) player = play(growing.file, 100, FALSE);
  g_autoptr(GError) error = NULL;
  player_tick(player, 0, NULL);
  player_tick(player, 10000 * MS, &error);
  assert_non_null(error);
  assert_non_null(strstr(error->message, "growing.jsonl:"));
  assert_true(player_paused(player));
  assert_false(player_tick(player, 11000 * MS, NULL));
  assert_true(player_seek(player, ON_AT, NULL));
  assert_int_equal(power(player), POWER_ON);
  growing_close(&growing);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_speed_and_pause),
      cmocka_unit_test(test_seek_and_clamp),
      cmocka_unit_test(test_steps),
      cmocka_unit_test(test_marks),
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_no_places),
      cmocka_unit_test(test_follow_grows),
      cmocka_unit_test(test_follow_is_cut),
      cmocka_unit_test(test_follow_disappears),
      cmocka_unit_test(test_follow_is_replaced),
      cmocka_unit_test(test_follow_goes_on_without_a_name),
      cmocka_unit_test(test_unreadable_line),
  };
  return cmocka_run_group_tests(tests, record, forget);
}
