/* Moving about in the views; every view at every size; labs of other shapes. */
#include "recording_host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
test_moves_in_the_plan(void **state)
{
  Fixture *fixture = *state;
  Ui *ui = fixture->lab->ui;
  static const struct {
    UiKey key;
    const char *line;
  } moves[] = {
      {UI_KEY_RIGHT, " :boot a01"}, {UI_KEY_RIGHT, " :boot a02"},
      {UI_KEY_DOWN, " :boot a08"},  {'j', " :boot a14"},
      {UI_KEY_DOWN, " :boot a14"},  {UI_KEY_END, " :boot a17"},
      {UI_KEY_RIGHT, " :boot a17"}, {'k', " :boot a11"},
      {UI_KEY_RIGHT, " :boot a12"}, {UI_KEY_DOWN, " :boot a17"}, /* the last row is shorter */
      {UI_KEY_HOME, " :boot a01"},  {UI_KEY_LEFT, " :boot a01"},
      {UI_KEY_UP, " :boot a01"},    {UI_KEY_ESCAPE, " :boot roomA"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(moves); i++) {
    ui_key(ui, moves[i].key);
    ui_key(ui, 'b');
    row_is(fixture->lab, PROMPT, moves[i].line);
    ui_key(ui, UI_KEY_ESCAPE);
  }
}

static void
finds(Fixture *fixture, const char *wanted, const char *offer)
{
  if (wanted) {
    screen_lab_type(fixture->lab, "/");
    screen_lab_type(fixture->lab, wanted);
    ui_key(fixture->lab->ui, UI_KEY_ENTER);
  }
  screen_lab_type(fixture->lab, "b");
  row_is(fixture->lab, PROMPT, offer);
  ui_key(fixture->lab->ui, UI_KEY_ESCAPE);
}

static void
test_finding_seats(void **state)
{
  Fixture *fixture = *state;
  ui_key(fixture->lab->ui, 'n');
  row_is(fixture->lab, SENTENCE, " nothing was looked for yet; / does");
  finds(fixture, "B04", " :boot b04");
  finds(fixture, "a1", " :boot a10");
  ui_key(fixture->lab->ui, 'n');
  finds(fixture, NULL, " :boot a11");
  ui_key(fixture->lab->ui, 'N');
  ui_key(fixture->lab->ui, 'N'); /* around the end */
  finds(fixture, NULL, " :boot a17");
  finds(fixture, "10.21.0.67", " :boot b17");
  finds(fixture, "0b:00:43", " :boot b05");
  finds(fixture, "nobody", " :boot b05");
  ui_key(fixture->lab->ui, 'n');
  row_is(fixture->lab, SENTENCE, " no seat with `nobody`");
  asked(fixture, "");
}

static void
test_finding_entries(void **state)
{
  Fixture *fixture = *state;
  Ui *ui = fixture->lab->ui;
  for (int i = 0; i < 60; i++) {
    g_autofree char *line = g_strdup_printf("mark \"entry %d\"", i);
    screen_lab_say(fixture->lab, line, -1);
  }
  assert_true(ui_set_view(ui, "log"));
  screen_lab_type(fixture->lab, "/Entry 3");
  ui_key(ui, UI_KEY_ENTER);
  row_has(fixture->lab, SENTENCE - 1, "entry 39"); /* the latest of them, at the foot */
  row_has(fixture->lab, 1, "20 newer below: End");
  ui_key(ui, 'n');
  row_has(fixture->lab, SENTENCE - 1, "entry 38");
  ui_key(ui, 'N');
  ui_key(ui, 'N');
  row_has(fixture->lab, SENTENCE - 1, "entry 39");
  row_is(fixture->lab, SENTENCE, " no entry with `Entry 3` beyond this one");
  ui_key(ui, UI_KEY_END);
  row_has(fixture->lab, SENTENCE - 1, "entry 59");
}

static void
test_the_card(void **state)
{
  Fixture *fixture = *state;
  Ui *ui = fixture->lab->ui;
  screen_lab_type(fixture->lab, "12");
  ui_key(ui, UI_KEY_ENTER);
  row_has(fixture->lab, 1, "─ a12  Room A ─");
  row_has(fixture->lab, 2, "52:54:00:0a:00:16   10.21.0.12   subnet pool");
  row_has(fixture->lab, 4, "power sim   keys -   exec sim   console sim");
  ui_key(ui, UI_KEY_LEFT);
  row_has(fixture->lab, 1, "─ a11  Room A ─");
  ui_key(ui, UI_KEY_F1);
  ui_key(ui, 'q');
  ui_key(ui, UI_KEY_ESCAPE);
  row_has(fixture->lab, 1, "▸Room A");
  screen_lab_type(fixture->lab, "b");
  row_is(fixture->lab, PROMPT, " :boot a11");
  asked(fixture, "");
}

static void
test_every_size_draws(void **state)
{
  static const char *const views[] = {"lab", "boot", "load", "net", "log", "help"};
  Fixture *fixture = *state;
  screen_lab_say(fixture->lab, "boot roomA", 17);
  screen_lab_run(fixture->lab, 12);
  for (guint v = 0; v < G_N_ELEMENTS(views); v++) {
    assert_true(ui_set_view(fixture->lab->ui, views[v]));
    for (int rows = 1; rows <= 50; rows += rows < 30 ? 1 : 7) {
      for (int columns = 1; columns <= 140; columns += columns < 85 ? 3 : 11)
        g_free(screen_lab_draw(fixture->lab, rows, columns, columns % 2));
    }
  }
  assert_false(ui_set_view(fixture->lab->ui, "nowhere"));
  assert_false(ui_set_view(fixture->lab->ui, "card")); /* of whom? */
}

/* ---- The table of keys -------------------------------------------------------------------------
 */

static void
test_one_table_of_keys(void **state)
{
  Fixture *fixture = *state;
  g_autofree char *text = ui_keys_text();
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  assert_true(g_str_is_ascii(text));
  ui_key(fixture->lab->ui, UI_KEY_F1);
  g_autofree char *screen = screen_lab_draw(fixture->lab, 100, 120, FALSE);
  for (guint i = 0; lines[i] && *lines[i]; i++) {
    if (!strstr(screen, g_strstrip(lines[i])))
      fail_msg("Help does not show `%s`", lines[i]);
  }
  assert_non_null(strstr(screen, "boot SET [via "));
  ui_key(fixture->lab->ui, 'q');
  row_has(fixture->lab, 23, " F1Help F2Lab F3Boot ");
  row_has(fixture->lab, 23, " b Boot  l Load  p Power  : Command");
}

/* ---- Labs of other shapes ----------------------------------------------------------------------
 */

static void
test_a_real_lab_says_so(void **state)
{
  Fixture *fixture = *state;
  static const int columns[] = {40, 60, 80, 132};
  fixture->lab->status.real = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++) {
    g_autofree char *screen = screen_lab_draw(fixture->lab, 24, columns[i], FALSE);
    assert_true(g_str_has_prefix(screen, "  REAL "));
  }
  fixture->lab->status.record_error = "x.jsonl: No space left on device";
  row_has(fixture->lab, 0, " NO REC!  00:00:00 ");
}

static void
test_stale_samples_say_so(void **state)
{
  Fixture *fixture = *state;
  ScreenLab *lab = fixture->lab;
  screen_lab_say(lab, "boot roomA", 17);
  screen_lab_run(lab, 60);
  row_has(lab, 2, "│  01· 02· 03·");
  lab->status.now += 7 * TIME_SECOND; /* and nothing came */
  row_has(lab, 2, "│  01~ 02~ 03~");
  row_has(lab, 2, "eth0 stale 7 s");
  row_has(lab, 11, " a01 e0 up    stale 7 s");
  row_has(lab, 5, "0 of 17 on"); /* what is off has nothing to say, and is not stale */
  row_has(lab, 6, "│  01- 02- 03-");
  screen_lab_run(lab, 68);
  row_has(lab, 2, "│  01· 02· 03·");
}

static void
give(ScreenLab *lab, const char *source, const char *const *columns, gint64 one, gint64 other)
{
  const gint64 values[] = {one, other};
  Event event = {
      .t = lab->status.now, .kind = EVENT_SAMPLES, .samples = {source, columns, values, 2}};
  core_step(lab->core, &event, NULL, NULL);
}

/* What nobody meters any more is not 0; a seat without a meter of its own has its server's. */
static void
test_no_meter_says_so(void **state)
{
  static const char *const left[] = {"slx1/eth0.tx B", "slx1.load m"};
  static const char *const served[] = {"a02.served B", "a02.rtt m"};
  Fixture *fixture = *state;
  ScreenLab *lab = fixture->lab;
  screen_lab_say(lab, "boot roomA", 17);
  screen_lab_run(lab, 60);
  give(lab, "sim", left, 0, 1500);
  give(lab, "ssh:slx1/sockets", served, 0, 400);
  lab->status.now += TIME_SECOND;
  give(lab, "sim", NULL, 0, 1500);
  give(lab, "ssh:slx1/sockets", NULL, 12500000, 400);
  row_has(lab, 3, "eth1 no meter");
  row_has(lab, 6, "0 by 1 of 4");
  row_has(lab, 7, "load 1.5  nfsd, disk no meter");
  row_has(lab, 8, "no meter"); /* of the links */
  row_has(lab, 11, " a01 e0 up    no meter");
  row_has(lab, 12, " a02 e2 up    █████████▏          100    a11 e0 up    no meter");
  ui_key(lab->ui, UI_KEY_F1 + 4);
  row_has(lab, 4, "eth1  │ bond0  balance-xor  layer2           941         no meter");
}

static const char roomless[] =
    "lab: No rooms\n"
    "defaults: {power: sim, exec: sim, console: sim, server: s1}\n"
    "subnets: {p: {net: 10.0.0.0/24}}\n"
    "switches: {sw1: {}}\n"
    "servers:\n"
    "  s1: {switch: sw1, subnet: p, nfsd: 8, bonds: {bond0: {ports: [eth0], speed: 1 Gbit/s,\n"
    "      mode: balance-xor, policy: layer2, era: 2.6.32, mac: 52:54:00:21:00:10,\n"
    "      ip: 10.0.0.254}}}\n"
    "clients:\n"
    "  the-first-of-the-machines[1-3]: {switch: sw1, subnet: p, speed: 1 Gbit/s,\n"
    "    mac: 52:54:00:0a:00:00 step 1, ip: 10.0.0.1 step 1}\n"
    "boot: {default: \"u::nfs\", profile: pxe}\n";

static void
test_a_lab_without_rooms(void **state)
{
  (void)state;
  Fixture *fixture = fixture_new("roomless.yaml", roomless, &session_ops);
  ScreenLab *lab = fixture->lab;
  row_has(lab, 1, "Machines  sw1");
  row_has(lab, 1, "0 of 3 on");
  row_has(lab, 2, "1- 2- 3-");
  screen_lab_type(lab, "b");
  row_is(lab, PROMPT, " :boot @all");
  ui_key(lab->ui, UI_KEY_ESCAPE);
  screen_lab_type(lab, "2b");
  row_is(lab, PROMPT, " :boot the-first-of-the-machines2");
  g_autofree char *screen = screen_lab_draw(lab, 24, 80, FALSE);
  assert_non_null(strstr(screen, "…e-machines3")); /* the end tells one from another */
  fixture_free(fixture);
}

/* Its link is named from the seat's end, and the seat by letters alone. */
static const char backwards[] = "lab: Backwards\n"
                                "defaults: {power: sim, exec: sim, console: sim, server: s1}\n"
                                "switches: {near: {}, far: {}}\n"
                                "links:\n"
                                "  - {from: far, to: near, speed: 100 Mbit/s}\n"
                                "servers:\n"
                                "  s1: {switch: near, nfsd: 8, ports: {eth0: {speed: 1 Gbit/s}}}\n"
                                "clients:\n"
                                "  seat: {switch: far, speed: 1 Gbit/s}\n"
                                "rooms: {room: {title: Room, seats: seat, columns: 1}}\n"
                                "boot: {profile: disk}\n";

static void
test_up_is_towards_the_server(void **state)
{
  (void)state;
  Fixture *fixture = fixture_new("backwards.yaml", backwards, &session_ops);
  ScreenLab *lab = fixture->lab;
  screen_lab_say(lab, "boot seat", 1);
  screen_lab_run(lab, 60);
  screen_lab_say(lab, "load start dd-read on seat", -1);
  screen_lab_run(lab, 65);
  row_has(lab, 2, "│  seat ▄");
  row_has(lab, 2, "eth0 ██                       94 │");
  row_has(lab, 5, "far ─ near  94 ");
  screen_lab_say(lab, "load stop dd_read", -1);
  screen_lab_run(lab, 70);
  row_has(lab, 2, "│  seat · ");
  screen_lab_say(lab, "load start dd-write on seat bytes=100GB", -1);
  screen_lab_run(lab, 75);
  row_has(lab, 2, "│  seat ▄");
  row_has(lab, 2, "eth0 ██                       94↑│");
  row_has(lab, 5, "far ─ near  94↑");
  fixture_free(fixture);
}

int
main(void)
{
#define WITH(test) cmocka_unit_test_setup_teardown(test, fixture_set_up, fixture_tear_down)
  const struct CMUnitTest tests[] = {
      WITH(test_moves_in_the_plan),
      WITH(test_finding_seats),
      WITH(test_finding_entries),
      WITH(test_the_card),
      WITH(test_every_size_draws),
      WITH(test_one_table_of_keys),
      WITH(test_a_real_lab_says_so),
      WITH(test_stale_samples_say_so),
      WITH(test_no_meter_says_so),
      cmocka_unit_test(test_a_lab_without_rooms),
      cmocka_unit_test(test_up_is_towards_the_server),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
