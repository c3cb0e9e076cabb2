/* The whole program but for main and the terminal, under random lines, keys, sizes and scripts:
 * session, core, simulator, transcript and screen, in jump mode. What must hold whatever is typed:
 *  - t never decreases, and seq counts;
 *  - a command has one done, a request at most one result a target, and one by its deadline;
 *  - no rate is negative, no port or seat carries more than it can, and the seats together no more
 *    than the servers' ports;
 *  - keys say nothing without Enter, and what is drawn has no control bytes;
 *  - the transcript verifies, and shows the screens that were seen, to the cell.
 * SESSIONS (200; under a sanitizer 60) says how many, SEED which the first is. */
#include "event_watch.h"
#include "random_lines.h"

#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/sim/sim.h"
#include "session/data.h"
#include "session/replay.h"
#include "session/session.h"
#include "ui/ui.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SESSIONS "60"
#else
#define SESSIONS "200"
#endif
#define PICTURES_MAX 6
#define CHECK_EVERY 32 /* events, between looks at every meter */

static const char *const layout_names[] = {"layouts/openslx-one-room.yaml",
                                           "layouts/openslx-two-rooms.yaml", "tests/fuzz/lab.yaml"};
static Layout *layouts[G_N_ELEMENTS(layout_names)];
static JobSet *jobs;

/* A screen as it was, to be found again in the transcript. */
typedef struct {
  gint64 t;
  guint view;
  int rows, columns;
  gboolean ascii;
  char *text;
} Picture;

typedef struct {
  GRand *random;
  const Layout *layout;
  Session *session;
  Ui *ui;
  Canvas *canvas;
  HostStatus status;
  UiKey key; /* being pressed */
  EventWatch watch;
  GPtrArray *pictures;
} Run;

static struct {
  guint64 events, commands, requests, keys, screens, pictures, scripts;
} total;

static guint
pick(Run *run, guint n)
{
  return random_pick(run->random, n);
}

/* ---- The screen ---------------------------------------------------------------------------- */

static const struct {
  int rows, columns;
} sizes[] = {{24, 80}, {43, 132}, {20, 60}, {10, 40}, {9, 40}, {1, 1}, {60, 200}, {30, 41}};

static void
check_canvas(const Canvas *canvas)
{
  for (int row = 0; row < canvas->rows; row++) {
    int columns = 0;
    for (int column = 0; column < canvas->columns; column++) {
      const Cell *cell = &canvas->cells[row * canvas->columns + column];
      columns += cell->width;
      for (const char *p = cell->text; *p != '\0'; p = g_utf8_next_char(p))
        if (g_unichar_iscntrl(g_utf8_get_char(p)) || (canvas->ascii && (*p & 0x80)))
          fail_msg("U+%04X at %d,%d", g_utf8_get_char(p), row, column);
    }
    assert_int_equal(columns, canvas->columns);
  }
}

static gboolean
host_say(gpointer host, const char *line, gint confirm, GError **error)
{
  Run *run = host;
  assert_int_equal(run->key, UI_KEY_ENTER);
  assert_true(run->canvas->rows >= 10 && run->canvas->columns >= 40);
  return session_say(run->session, line, confirm, error);
}

static void
host_stop(gpointer host)
{
  session_stop(((Run *)host)->session);
}

static const HostOps session_ops = {.say = host_say, .stop = host_stop}, no_ops = {0};

static void
draw(Run *run)
{
  run->status.now = session_now(run->session);
  run->status.busy = session_is_busy(run->session);
  ui_draw(run->ui, run->canvas, &run->status);
  check_canvas(run->canvas);
  total.screens++;
}

/* With a fresh ui. Its first row, which tells of the session, is left out. */
static char *
picture_text(const CoreState *state, const Picture *picture)
{
  const HostStatus status = {
      .lab = "lab", .speed = 1, .end = -1, .wall_clock = "", .now = picture->t};
  g_autoptr(Ui) ui = ui_new(state, &no_ops, NULL);
  g_autoptr(Canvas) canvas = canvas_new(picture->rows, picture->columns, picture->ascii);
  if (!ui_set_view(ui, ui_view_name(picture->view, NULL))) {
    ui_key(ui, '1'); /* a seat's card opens from the seat */
    ui_key(ui, UI_KEY_ENTER);
  }
  ui_draw(ui, canvas, &status);
  check_canvas(canvas);
  g_autofree char *text = canvas_dump(canvas, TRUE);
  return g_strdup(strchr(text, '\n') + 1);
}

static void
take_picture(Run *run)
{
  Picture *picture = g_new0(Picture, 1);
  guint n_views = 0, size = pick(run, 4);
  while (ui_view_name(n_views, NULL) != NULL)
    n_views++;
  picture->t = run->watch.t;
  picture->view = pick(run, n_views);
  picture->rows = sizes[size].rows;
  picture->columns = sizes[size].columns;
  picture->ascii = pick(run, 4) == 0;
  picture->text = picture_text(session_state(run->session), picture);
  g_ptr_array_add(run->pictures, picture);
}

static void
picture_free(gpointer data)
{
  g_free(((Picture *)data)->text);
  g_free(data);
}

/* ---- Events -------------------------------------------------------------------------------- */

/* Comes before the event is folded: the state is the one all events before it left. */
static void
on_event(const Event *event, gpointer data)
{
  Run *run = data;
  if (event->t > run->watch.t) {
    if (run->pictures->len < PICTURES_MAX && pick(run, 150) == 0)
      take_picture(run);
    if (total.events % CHECK_EVERY == 0)
      event_watch_check_rates(&run->watch, session_state(run->session));
  }
  event_watch_take(&run->watch, event);
  total.events++;
}

static void
on_complaint(const char *message, gpointer data)
{
  (void)data;
  assert_true(*message != '\0' && g_utf8_validate(message, -1, NULL));
}

/* ---- What is done -------------------------------------------------------------------------- */

static void
pass(Run *run, const Script *script)
{
  g_autoptr(GError) error = NULL;
  int status = session_run(run->session, script, &error);
  assert_true((status >= 0 && status <= 3) || status == 130);
  assert_true(error == NULL || status >= 2);
  draw(run);
}

static void
say(Run *run)
{
  g_autofree char *line = random_line(run->random, run->layout);
  g_autoptr(GError) error = NULL;
  gint confirm = pick(run, 6) == 0 ? (gint)pick(run, 40) : -1;
  if (!session_say(run->session, line, confirm, &error))
    assert_true(error != NULL && error->message[0] != '\0');
}

/* What waits for consent mostly gets it. */
static void
consent(Run *run)
{
  const PendingConsent *pending = state_pending(session_state(run->session));
  if (pending->text == NULL || pick(run, 8) == 0)
    return;
  g_autofree char *text = g_strdup(pending->text);
  gint confirm = pick(run, 8) == 0 ? (gint)pick(run, 40) : (gint)pending->seats;
  session_say(run->session, text, confirm, NULL);
  pass(run, NULL);
}

static void
press(Run *run, UiKey key)
{
  run->key = key;
  ui_key(run->ui, key);
  run->key = 0;
  total.keys++;
}

static void
press_keys(Run *run)
{
  static const UiKey special[] = {UI_KEY_UP,     UI_KEY_DOWN,      UI_KEY_LEFT,   UI_KEY_RIGHT,
                                  UI_KEY_TAB,    UI_KEY_BACKTAB,   UI_KEY_ENTER,  UI_KEY_ENTER,
                                  UI_KEY_ESCAPE, UI_KEY_BACKSPACE, UI_KEY_CTRL_C, UI_KEY_PAGE_DOWN,
                                  UI_KEY_HOME,   UI_KEY_END,       UI_KEY_F1,     UI_KEY_F1 + 1,
                                  UI_KEY_F1 + 2, UI_KEY_F1 + 3,    UI_KEY_F1 + 4, UI_KEY_F1 + 5};
  for (guint n = pick(run, 12); n > 0; n--)
    press(run,
          pick(run, 2) ? special[pick(run, G_N_ELEMENTS(special))] : (UiKey)(' ' + pick(run, 95)));
}

static void
type_line(Run *run)
{
  g_autofree char *line = random_line(run->random, run->layout);
  g_autofree char *text = g_utf8_make_valid(line, -1);
  press(run, UI_KEY_ESCAPE);
  press(run, ':');
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char(p))
    press(run, (UiKey)g_utf8_get_char(p));
  if (pick(run, 5) != 0)
    press(run, UI_KEY_ENTER);
}

static void
resize(Run *run)
{
  guint size = pick(run, G_N_ELEMENTS(sizes));
  canvas_free(run->canvas);
  run->canvas = canvas_new(sizes[size].rows, sizes[size].columns, pick(run, 4) == 0);
  draw(run);
}

/* While time passes, in the main loop that looks around: keys, and the rare Ctrl-C. Ready every
 * second time it is asked, for the session looks around until nothing is. */
typedef struct {
  GSource source;
  gboolean ready;
} Around;

static gboolean
around_prepare(GSource *source, gint *timeout)
{
  Around *around = (Around *)source;
  *timeout = -1;
  around->ready = !around->ready;
  return around->ready;
}

static gboolean
around_check(GSource *source)
{
  return ((Around *)source)->ready;
}

static gboolean
around_dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
  (void)source;
  return callback(data);
}

static GSourceFuncs around_class = {
    .prepare = around_prepare, .check = around_check, .dispatch = around_dispatch};

static gboolean
look_around(gpointer data)
{
  Run *run = data;
  if (pick(run, 8) == 0)
    press_keys(run);
  if (pick(run, 60) == 0)
    session_stop(run->session);
  if (pick(run, 4) == 0)
    draw(run);
  return G_SOURCE_CONTINUE;
}

static void
play_script(Run *run)
{
  for (guint tries = 0; tries < 8; tries++) {
    g_autofree char *text = random_script(run->random, run->layout);
    g_autoptr(Script) script = script_parse("random.pult", text, strlen(text), NULL);
    if (script == NULL)
      continue;
    pass(run, script);
    total.scripts++;
    return;
  }
}

static void
act(Run *run)
{
  switch (pick(run, 8)) {
  case 0:
  case 1:
    type_line(run);
    break;
  case 2:
    press_keys(run);
    break;
  case 3:
    resize(run);
    break;
  default:
    say(run);
  }
  if (pick(run, 2) == 0)
    pass(run, NULL);
  consent(run);
}

/* ---- Sessions ------------------------------------------------------------------------------ */

static void
check_end(Run *run)
{
  /* Whatever was typed last, it is over, and so is what it asked for. */
  session_stop(run->session);
  session_say(run->session, "sleep 130 s", -1, NULL);
  pass(run, NULL);
  event_watch_check_done(&run->watch);
  event_watch_check_deadlines(&run->watch);
  event_watch_check_rates(&run->watch, session_state(run->session));
  total.commands += event_watch_commands(&run->watch);
  total.requests += run->watch.n_requests;
}

static void
check_transcript(const Run *run, const char *path)
{
  g_autoptr(GError) error = NULL;
  guint64 events = 0;
  if (!replay_verify(path, &events, &error))
    fail_msg("%s", error->message);
  assert_int_equal(events, run->watch.seq);
  g_autoptr(Replay) replay = replay_open(path, &error);
  assert_non_null(replay);
  for (guint i = run->pictures->len; i > 0; i--) { /* backwards too, by keyframes */
    const Picture *picture = run->pictures->pdata[i - 1];
    if (!replay_seek(replay, picture->t, &error))
      fail_msg("%s", error->message);
    g_autofree char *text = picture_text(replay_state(replay), picture);
    if (!g_str_equal(text, picture->text))
      fail_msg("view %s at %" G_GINT64_FORMAT " ns was\n%s\nand is\n%s",
               ui_view_name(picture->view, NULL), picture->t, picture->text, text);
    total.pictures++;
  }
}

static CoreOptions
random_options(GRand *random, guint64 seed)
{
  static const Consent consents[] = {CONSENT_YES, CONSENT_YES, CONSENT_ASK, CONSENT_ASK,
                                     CONSENT_SEATS};
  return (CoreOptions){.seed = seed,
                       .consent = consents[random_pick(random, G_N_ELEMENTS(consents))],
                       .consent_seats = random_pick(random, 20),
                       .read_only = random_pick(random, 12) == 0,
                       .dry_run = random_pick(random, 12) == 0};
}

static void
begin(Run *run, guint64 seed, const char *path)
{
  run->random = g_rand_new_with_seed((guint32)seed);
  run->layout = layouts[pick(run, G_N_ELEMENTS(layouts))];
  SessionOptions options = {.layout = run->layout,
                            .core = random_options(run->random, seed),
                            .clock = CLOCK_JUMP,
                            .speed = 1,
                            .record = path};
  g_autoptr(GError) error = NULL;
  run->session = session_new(&options, &error);
  if (run->session == NULL)
    fail_msg("%s", error->message);
  Backend *sim = sim_new("sim", run->layout, jobs, seed, session_post, run->session);
  assert_true(session_add_backend(run->session, sim, &error));
  event_watch_init(&run->watch, run->layout);
  run->pictures = g_ptr_array_new_with_free_func(picture_free);
  run->status = (HostStatus){.lab = "lab", .speed = 1, .end = -1, .wall_clock = "14:03"};
  run->ui = ui_new(session_state(run->session), &session_ops, run);
  run->canvas = canvas_new(24, 80, FALSE);
  session_watch(run->session, on_event, on_complaint, run);
  session_start(run->session);
}

static void
end(Run *run)
{
  ui_free(run->ui);
  canvas_free(run->canvas);
  event_watch_clear(&run->watch);
  g_ptr_array_unref(run->pictures);
  g_rand_free(run->random);
}

static void
play_session(guint64 seed)
{
  Run run = {0};
  g_autofree char *path =
      g_strdup_printf("%s/random-%" G_GUINT64_FORMAT ".jsonl", g_get_tmp_dir(), seed);
  g_unlink(path); /* of one that failed */
  begin(&run, seed, path);
  GSource *around = g_source_new(&around_class, sizeof(Around));
  g_source_set_callback(around, look_around, &run, NULL);
  g_source_attach(around, NULL);
  if (pick(&run, 4) == 0)
    play_script(&run);
  for (guint n = 10 + pick(&run, 50); n > 0 && !session_has_quit(run.session); n--)
    act(&run);
  g_source_destroy(around);
  g_source_unref(around);
  check_end(&run);
  session_free(run.session);
  check_transcript(&run, path);
  end(&run);
  g_unlink(path);
}

static guint64
setting(const char *name, const char *otherwise)
{
  const char *text = g_getenv(name);
  return g_ascii_strtoull(text != NULL ? text : otherwise, NULL, 10);
}

static void
test_random_sessions(void **state)
{
  (void)state;
  guint64 first = setting("SEED", "1"), n = setting("SESSIONS", SESSIONS);
  for (guint64 seed = first; seed < first + n; seed++) {
    print_message("session %" G_GUINT64_FORMAT "\n", seed);
    play_session(seed);
  }
  print_message("%" G_GUINT64_FORMAT " sessions: %" G_GUINT64_FORMAT " events, %" G_GUINT64_FORMAT
                " commands, %" G_GUINT64_FORMAT " requests, %" G_GUINT64_FORMAT
                " keys, %" G_GUINT64_FORMAT " screens, %" G_GUINT64_FORMAT
                " scripts; %" G_GUINT64_FORMAT " screens found again\n",
                n, total.events, total.commands, total.requests, total.keys, total.screens,
                total.scripts, total.pictures);
  assert_true(total.commands > 5 * n && total.pictures > n);
}

static int
load(void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS(layouts); i++) {
    layouts[i] = data_layout(layout_names[i], NULL);
    if (layouts[i] == NULL)
      return -1;
  }
  jobs = data_jobs(NULL);
  return jobs != NULL ? 0 : -1;
}

static int
unload(void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS(layouts); i++)
    layout_free(layouts[i]);
  job_set_free(jobs);
  return 0;
}

int
main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_sessions)};
  return cmocka_run_group_tests(tests, load, unload);
}
