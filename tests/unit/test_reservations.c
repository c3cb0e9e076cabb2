/* The file that sessions share, and sessions over it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/state.h"
#include "session/replay.h"
#include "session/reservations.h"
#include "session_lab.h"

#define HEAD "{\"reservations\":1,\"lab\":\"Two seats\"}\n"

typedef struct {
  char *folder, *path;
} Place;

static int
make_place(void **state)
{
  Place *place = g_new(Place, 1);
  place->folder = g_dir_make_tmp("reserve-XXXXXX", NULL);
  place->path = g_build_filename(place->folder, "deep", "reservations.jsonl", NULL);
  *state = place;
  return 0;
}

static int
remove_place(void **state)
{
  Place *place = *state;
  g_autofree char *deep = g_path_get_dirname(place->path);
  g_autoptr(GDir) entries = g_dir_open(deep, 0, NULL);
  for (const char *name; entries != NULL && (name = g_dir_read_name(entries)) != NULL;) {
    g_autofree char *path = g_build_filename(deep, name, NULL);
    g_remove(path);
  }
  g_rmdir(deep);
  g_rmdir(place->folder);
  g_free(place->folder);
  g_free(place->path);
  g_free(place);
  return 0;
}

static void
put(const Place *place, const char *text)
{
  g_autofree char *deep = g_path_get_dirname(place->path);
  g_mkdir_with_parents(deep, 0700);
  assert_true(g_file_set_contents(place->path, text, -1, NULL));
}

static char *
get(const Place *place)
{
  char *text = NULL;
  assert_true(g_file_get_contents(place->path, &text, NULL, NULL));
  return text;
}

static void
change(Reservations *reservations, const char *node, const Reservation *to, gint64 now)
{
  g_autoptr(GError) error = NULL;
  if (!reservations_change(reservations, &node, 1, to, now, &error))
    fail_msg("%s", error->message);
}

/* ---- The file ------------------------------------------------------------------------------ */

static void
test_written_and_read_back(void **state)
{
  const Place *place = *state;
  g_autoptr(Reservations) one = reservations_new(place->path, "Two seats");
  g_autoptr(Reservations) two = reservations_new(place->path, "Two seats");
  gboolean changed;
  assert_true(reservations_look(two, &changed, NULL));
  assert_null(reservations_find(two, "a01"));
  const Reservation exam = {2000, "anna@desk1", "exam \"quoted\" \\ \xc3\xbc\tand\x01more\xff"};
  change(one, "a02", &(Reservation){3000, "b@c", "x"}, 1000);
  change(one, "a01", &exam, 1000);
  g_autofree char *text = get(place);
  assert_string_equal(text, HEAD
                      "{\"node\":\"a01\",\"until\":\"1970-01-01T00:33:20Z\",\"by\":\"anna@desk1\","
                      "\"why\":\"exam \\\"quoted\\\" \\\\\\\\ \xc3\xbc\\tand\\\\x01more\\\\xff\"}\n"
                      "{\"node\":\"a02\",\"until\":\"1970-01-01T00:50:00Z\",\"by\":\"b@c\","
                      "\"why\":\"x\"}\n");
  struct stat status;
  assert_int_equal(stat(place->path, &status), 0);
  assert_int_equal(status.st_mode & 07777, 0600);
  assert_true(reservations_look(two, &changed, NULL));
  assert_true(changed);
  assert_string_equal(reservations_find(two, "a01")->why, exam.why);
  assert_int_equal(reservations_find(two, "a01")->until, 2000);
  assert_true(reservations_look(two, &changed, NULL));
  assert_false(changed);
  /* What is over goes with the next change, and not before. */
  change(two, "a03", NULL, 2000);
  g_free(g_steal_pointer(&text));
  text = get(place);
  assert_null(strstr(text, "a01"));
  assert_non_null(strstr(text, "a02"));
}

/* Each sees what the other wrote before it writes itself. */
static void
test_two_at_once(void **state)
{
  const Place *place = *state;
  g_autoptr(Reservations) one = reservations_new(place->path, "Two seats");
  g_autoptr(Reservations) two = reservations_new(place->path, "Two seats");
  const Reservation exam = {5000, "a@b", "exam"};
  for (guint i = 0; i < 20; i++) {
    g_autofree char *left = g_strdup_printf("a%02u", i), *right = g_strdup_printf("b%02u", i);
    change(one, left, &exam, 1000);
    change(two, right, &exam, 1000);
  }
  change(one, "b07", NULL, 1000);
  g_autoptr(Reservations) all = reservations_new(place->path, "Two seats");
  gboolean changed;
  assert_true(reservations_look(all, &changed, NULL));
  for (guint i = 0; i < 20; i++) {
    g_autofree char *left = g_strdup_printf("a%02u", i), *right = g_strdup_printf("b%02u", i);
    assert_non_null(reservations_find(all, left));
    assert_int_equal(reservations_find(all, right) == NULL, i == 7);
  }
}

static void
test_locked(void **state)
{
  const Place *place = *state;
  put(place, HEAD);
  g_autofree char *path = g_strconcat(place->path, ".lock", NULL);
  int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  assert_int_equal(flock(fd, LOCK_EX), 0);
  g_autoptr(Reservations) one = reservations_new(place->path, "Two seats");
  g_autoptr(GError) error = NULL;
  const char *node = "a01";
  gint64 begin = g_get_monotonic_time();
  assert_false(reservations_change(one, &node, 1, &(Reservation){9, "a", "b"}, 1, &error));
  assert_true(g_get_monotonic_time() - begin < 5 * G_USEC_PER_SEC);
  assert_non_null(strstr(error->message, "another session holds its lock"));
  close(fd);
  change(one, "a01", &(Reservation){9, "a", "b"}, 1);
}

static const struct {
  const char *text, *message;
  gboolean holds; /* the reservation of a02 */
} broken[] = {
    {"", ": is empty;", FALSE},
    {"nonsense\n", ":1: ", FALSE},
    {"{\"reservations\":2,\"lab\":\"x\"}\n", ":1: a newer pult wrote this (version 2);", FALSE},
    {HEAD "{\"node\":\"a01\",\"until\":\"2099-01-01T00:00:00Z\",\"by\":\"x\",\"why\":\"y\"\n"
          "{\"node\":\"a02\",\"until\":\"2099-01-01T00:00:00Z\",\"by\":\"x\",\"why\":\"y\"}\n",
     ":2: ", TRUE},
    {HEAD "{\"node\":\"a02\",\"until\":\"2099-01-01T00:00:00Z\",\"by\":\"x\",\"why\":\"y\"}\n"
          "{\"node\":\"a02\",\"until\":\"2099-01-01T00:00:00Z\",\"by\":\"x\",\"why\":\"y\"}\n",
     ":3: a02 is reserved twice;", TRUE},
    {HEAD "{\"node\":\"a01\",\"until\":\"noon\",\"by\":\"x\",\"why\":\"y\"}\n",
     ":2: `until` is no time such as 2026-12-02T17:00:00Z;", FALSE},
    {HEAD "{\"node\":\"\",\"until\":\"2099-01-01T00:00:00Z\",\"by\":\"x\",\"why\":\"y\"}\n",
     ":2: `node` is no node's name;", FALSE},
    {HEAD "[]\n", ":2: ", FALSE},
    {HEAD "{\"node\":\"a01\",\"until\":\"2099-01-01T00:00:00Z\",\"by\":\"x\",\"why\":\"y\","
          "\"colour\":1}\n",
     ":2: ", FALSE},
    {HEAD "\xff\xfe\n", ":2: ", FALSE},
};

static void
test_broken_files_lose_nothing(void **state)
{
  const Place *place = *state;
  for (gsize i = 0; i < G_N_ELEMENTS(broken); i++) {
    put(place, broken[i].text);
    g_autoptr(Reservations) one = reservations_new(place->path, "Two seats");
    g_autoptr(GError) error = NULL;
    g_autoptr(GError) again = NULL;
    gboolean changed;
    assert_false(reservations_look(one, &changed, &error));
    g_autofree char *message = g_strconcat(place->path, broken[i].message, NULL);
    if (!g_str_has_prefix(error->message, message) || strchr(error->message, '\n') != NULL)
      fail_msg("%s", error->message);
    assert_true(reservations_look(one, &changed, NULL)); /* said once */
    assert_int_equal(reservations_find(one, "a02") != NULL, broken[i].holds);
    const char *node = "a03";
    assert_false(reservations_change(one, &node, 1, &(Reservation){9, "a", "b"}, 1, &again));
    g_autofree char *text = get(place);
    assert_string_equal(text, broken[i].text);
    put(place, HEAD); /* mended */
    change(one, "a03", &(Reservation){9, "a", "b"}, 1);
  }
}

static void
test_too_large(void **state)
{
  const Place *place = *state;
  put(place, HEAD);
  assert_int_equal(truncate(place->path, 16 * 1024 * 1024 + 1), 0);
  g_autoptr(Reservations) one = reservations_new(place->path, "Two seats");
  g_autoptr(GError) error = NULL;
  gboolean changed;
  assert_false(reservations_look(one, &changed, &error));
  assert_non_null(strstr(error->message, "is larger than 16 MiB"));
}

static void
test_wall_clock(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    gint64 seconds; /* -1: an error */
  } cases[] = {
      {"18:00", 3600},
      {"17:00", 24 * 3600},
      {"16:59", 24 * 3600 - 60},
      {"2026-12-02T18:00", 3600},
      {"2026-12-02T17:00:01", 1},
      {"2026-12-02T17:00", -1},
      {"2025-12-02T18:00", -1},
      {"2027-12-03T17:00", 366 * 24 * 3600},
      {"2027-12-03T17:01", -1},
  };
  g_autoptr(GTimeZone) zone = g_time_zone_new_identifier("+01:00");
  g_autoptr(GDateTime) now = g_date_time_new(zone, 2026, 12, 2, 17, 0, 0);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    ClockTime time;
    gint64 seconds;
    assert_true(command_clock_parse(cases[i].text, &time));
    gboolean good = reservations_seconds(&time, now, &seconds, NULL);
    if (good != (cases[i].seconds >= 0) || (good && seconds != cases[i].seconds))
      fail_msg("%s: %d s", cases[i].text, (int)seconds);
  }
}

/* ---- Sessions ------------------------------------------------------------------------------ */

static SessionLab *
new_session(const Place *place, const char *record)
{
  SessionOptions options = session_lab_jumping;
  options.clock = CLOCK_SCALED;
  options.speed = 100;
  options.reservations = place->path;
  options.record = record;
  return session_lab_new(&options, &session_lab_slow);
}

static const NodeState *
seat(const SessionLab *lab, const char *name)
{
  return state_node(session_state(lab->session), layout_find(lab->layout, name));
}

static void
test_kept_for_the_next_session(void **state)
{
  const Place *place = *state;
  g_autoptr(SessionLab) one = new_session(place, NULL);
  assert_int_equal(session_lab_run(one, "reserve a[01-02] until 2 h \"exam\"\n", NULL), 0);
  assert_int_equal(one->complaints->len, 0);
  assert_string_equal(seat(one, "a01")->reserved, "exam");
  g_autoptr(SessionLab) two = new_session(place, NULL);
  assert_true(g_str_has_prefix(seat(two, "a01")->reserved, "by "));
  assert_true(g_str_has_suffix(seat(two, "a01")->reserved, ": exam"));
  gint64 left = seat(two, "a01")->reserved_t / TIME_SECOND;
  assert_true(left > 7100 && left <= 7201);
  /* Released by either, it is so for both. */
  assert_int_equal(session_lab_run(two, "release a01\n", NULL), 0);
  assert_int_equal(session_lab_run(one, "mark x\n", NULL), 0);
  assert_null(seat(one, "a01")->reserved);
  assert_string_equal(seat(one, "a02")->reserved, "exam");
  assert_int_equal(session_lab_run(one, "power on a01\npower on a02\n", NULL), 3);
  assert_int_equal(session_lab_run(two, "reserve a02 until 23:59 \"mine\"\n", NULL), 0);
  assert_int_equal(session_lab_run(one, "mark x\n", NULL), 0);
  assert_true(g_str_has_suffix(seat(one, "a02")->reserved, ": mine"));
}

static void
test_not_kept_where_core_did_not(void **state)
{
  const Place *place = *state;
  static const CoreOptions kinds[] = {{.seed = 1, .read_only = TRUE}, {.seed = 1, .dry_run = TRUE}};
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
    SessionOptions options = session_lab_jumping;
    options.clock = CLOCK_SCALED;
    options.speed = 100;
    options.core = kinds[i];
    options.reservations = place->path;
    g_autoptr(SessionLab) lab = session_lab_new(&options, &session_lab_slow);
    session_lab_run(lab, "try reserve a01 until 1 h \"exam\"\ntry release a01\n", NULL);
  }
  g_autoptr(SessionLab) plans = new_session(place, NULL);
  session_lab_run(plans, "plan reserve a01 until 1 h \"exam\"\n", NULL);
  assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
}

static void
test_broken_file_is_one_line(void **state)
{
  const Place *place = *state;
  put(place, "nonsense\n");
  g_autoptr(SessionLab) lab = new_session(place, NULL);
  assert_int_equal(session_lab_run(lab, "reserve a01 until 1 h \"exam\"\n", NULL), 3);
  assert_string_equal(seat(lab, "a01")->reserved, "exam");
  g_autofree char *text = get(place);
  assert_string_equal(text, "nonsense\n");
  assert_int_equal(lab->complaints->len, 2);
  assert_true(g_str_has_prefix(lab->complaints->pdata[0], place->path));
  assert_true(g_str_has_prefix(lab->complaints->pdata[1], "reserved in this session only: "));
}

/* A folder that takes no file, for root as well. */
static void
test_nowhere_to_keep_them(void **state)
{
  const Place *place = *state;
  g_autofree char *deep = g_path_get_dirname(place->path);
  assert_true(g_file_set_contents(deep, "a file", -1, NULL));
  g_autoptr(SessionLab) lab = new_session(place, NULL);
  assert_int_equal(session_lab_run(lab, "reserve a01 until 1 h \"exam\"\n", NULL), 3);
  assert_string_equal(seat(lab, "a01")->reserved, "exam");
  assert_int_equal(lab->complaints->len, 1);
  g_remove(deep);
}

static void
test_jumping_keeps_to_itself(void **state)
{
  const Place *place = *state;
  put(place, HEAD "{\"node\":\"a02\",\"until\":\"2099-01-01T00:00:00Z\",\"by\":\"x\","
                  "\"why\":\"y\"}\n");
  g_autofree char *before = get(place);
  char *texts[2];
  for (int i = 0; i < 2; i++) {
    SessionOptions options = session_lab_jumping;
    g_autofree char *name = g_strdup_printf("%s.%d", place->path, i);
    options.reservations = place->path;
    options.record = name;
    g_autoptr(SessionLab) lab = session_lab_new(&options, &session_lab_slow);
    assert_int_equal(session_lab_run(lab,
                                     "reserve a01 until 5 s \"exam\"\nreserve a02 until 10 s x\n"
                                     "release a02\nsleep 20 s\n",
                                     NULL),
                     0);
    assert_int_equal(lab->complaints->len, 1);
    g_clear_pointer(&lab->session, session_free);
    assert_true(g_file_get_contents(name, &texts[i], NULL, NULL));
    guint64 events;
    g_autoptr(GError) error = NULL;
    if (!replay_verify(name, &events, &error))
      fail_msg("%s", error->message);
  }
  g_autofree char *after = get(place);
  assert_string_equal(before, after);
  /* But for line 2 they are the same. */
  for (int i = 0; i < 2; i++) {
    char *second = strchr(texts[i], '\n') + 1;
    char *rest = strchr(second, '\n');
    memmove(second, rest, strlen(rest) + 1);
  }
  assert_string_equal(texts[0], texts[1]);
  assert_non_null(strstr(texts[0], "the reservation is over"));
  g_free(texts[0]);
  g_free(texts[1]);
}

static void
test_replay_needs_no_file(void **state)
{
  const Place *place = *state;
  put(place, HEAD "{\"node\":\"a02\",\"until\":\"2099-01-01T00:00:00Z\",\"by\":\"x\","
                  "\"why\":\"y\"}\n");
  g_autofree char *record = g_strconcat(place->path, ".transcript", NULL);
  SessionLab *lab = new_session(place, record);
  session_lab_run(lab, "try power on a[01-02]\nreserve a01 until 18:00 \"exam\"\n", NULL);
  session_lab_free(lab);
  g_remove(place->path);
  g_autofree char *text = NULL;
  assert_true(g_file_get_contents(record, &text, NULL, NULL));
  assert_non_null(strstr(text, "\"fact\":\"reserved\",\"value\":\"until "));
  assert_non_null(strstr(text, "\"reserved\":\"a02\""));
  /* The wall-clock time stands in what was said alone. */
  assert_non_null(strstr(text, "\"said\":\"reserve a01 until 18:00 "));
  assert_null(strstr(text, "\"text\":\"reserve a01 until 18:00 "));
  guint64 events;
  g_autoptr(GError) error = NULL;
  if (!replay_verify(record, &events, &error))
    fail_msg("%s", error->message);
}

#define test(function) cmocka_unit_test_setup_teardown(function, make_place, remove_place)

int
main(void)
{
  const struct CMUnitTest tests[] = {
      test(test_written_and_read_back),
      test(test_two_at_once),
      test(test_locked),
      test(test_broken_files_lose_nothing),
      test(test_too_large),
      test(test_wall_clock),
      test(test_kept_for_the_next_session),
      test(test_not_kept_where_core_did_not),
      test(test_broken_file_is_one_line),
      test(test_nowhere_to_keep_them),
      test(test_jumping_keeps_to_itself),
      test(test_replay_needs_no_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
