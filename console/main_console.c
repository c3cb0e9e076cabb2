#include "main_console.h"
#include "ui/pace.h"
#include "ui/term.h"
#include "ui/ui.h"

#include <glib-unix.h>
#include <locale.h>
#include <unistd.h>

/* Events redraw at most this often, and as ui/pace.h has it; a key redraws at once. */
#define FRAME_MS 250
/* How often a replay moves on, and looks whether its file has grown. */
#define PLAY_MS 50

typedef struct {
  Session *session; /* one of the two */
  Player *player;
  guint generation; /* of the player's transcript that is shown */
  Ui *ui;
  Canvas *canvas;
  gboolean utf8;
  GMainLoop *loop;
  gboolean dirty;
  Pace pace;
  gint64 key_t; /* of the last, us */
  HostStatus status;
  SessionRecord record;
} Console;

static const CoreState *
console_state(const Console *console)
{
  return console->session ? session_state(console->session)
                          : replay_state(player_replay(console->player));
}

static void
read_status(Console *console)
{
  HostStatus *status = &console->status;
  if (console->session) {
    session_record_status(console->session, &console->record);
    status->now = session_now(console->session);
    status->end = -1;
    status->recording = console->record.recording;
    status->record_error = console->record.record_error;
    status->busy = session_is_busy(console->session);
    status->waiting = session_waiting(console->session);
  } else {
    status->now = replay_now(player_replay(console->player));
    status->end = replay_end(player_replay(console->player));
    status->paused = player_paused(console->player);
    status->speed = player_speed(console->player);
    status->following = player_following(console->player);
  }
}

/* Into the canvas alone. */
static void
console_draw(Console *console)
{
  int rows, columns;
  g_autoptr(GDateTime) now = g_date_time_new_now_local();
  g_autofree char *wall_clock =
      g_strdup_printf("%02d:%02d", g_date_time_get_hour(now), g_date_time_get_minute(now));
  term_size(&rows, &columns);
  if (!console->canvas || console->canvas->rows != rows || console->canvas->columns != columns) {
    canvas_free(console->canvas);
    console->canvas = canvas_new(rows, columns, !console->utf8);
  }
  read_status(console);
  console->status.wall_clock = wall_clock;
  ui_set_state(console->ui, console_state(console));
  ui_draw(console->ui, console->canvas, &console->status);
  console->status.wall_clock = "";
}

static void
show_drawn(Console *console)
{
  pace_note(&console->pace, g_get_monotonic_time(), term_cost(console->canvas));
  term_show(console->canvas);
  console->dirty = FALSE;
}

static void
console_show(Console *console)
{
  console_draw(console);
  show_drawn(console);
}

/* What the lab has moved; else it stays dirty. Who has pressed a key waits for what comes of it. */
static void
console_show_in_turn(Console *console)
{
  console_draw(console);
  gint64 now = g_get_monotonic_time();
  if (now - console->key_t >= G_USEC_PER_SEC &&
      !pace_allows(&console->pace, now, term_cost(console->canvas))) {
    ui_undraw(console->ui);
    return;
  }
  show_drawn(console);
}

/* What the screen asks for: of a session. */

static gboolean
host_say(gpointer host, const char *line, gint confirm, GError **error)
{
  Console *console = host;
  return session_say(console->session, line, confirm, error);
}

static void
host_quit(gpointer host)
{
  g_main_loop_quit(((Console *)host)->loop);
}

static void
host_stop(gpointer host)
{
  Console *console = host;
  if (console->session)
    session_stop(console->session);
  else
    host_quit(host);
}

static void
host_pause(gpointer host, gboolean paused)
{
  Console *console = host;
  console->status.paused = paused;
  if (console->session)
    session_pause(console->session, paused);
  else
    player_pause(console->player, paused);
}

static void
host_set_speed(gpointer host, double speed)
{
  Console *console = host;
  console->status.speed = speed;
  if (console->session)
    session_set_speed(console->session, speed);
  else
    player_set_speed(console->player, speed);
}

static void
host_suspend(gpointer host)
{
  (void)host;
  term_suspend();
}

static const char *
host_next_theme(gpointer host)
{
  (void)host;
  term_set_theme((term_theme() + 1) % THEME_N);
  return term_theme_name(term_theme());
}

/* And of a replay, whose state may then be another one, for the next key as well. */

static gboolean
played(Console *console, gboolean good)
{
  ui_set_state(console->ui, console_state(console));
  return good;
}

static void
host_seek(gpointer host, gint64 t)
{
  Console *console = host;
  g_autoptr(GError) error = NULL;
  if (!played(console, player_seek(console->player, t, &error)))
    ui_message(console->ui, SEVERITY_ERROR, error->message);
}

static gboolean
host_step(gpointer host, gboolean back, GError **error)
{
  Console *console = host;
  return played(console, player_step(console->player, back, error));
}

static gboolean
host_mark(gpointer host, gboolean back, GError **error)
{
  Console *console = host;
  const char *text;
  if (!played(console, player_to_mark(console->player, back, &text, error)))
    return FALSE;
  g_autofree char *message = g_strdup_printf("mark: %s", text);
  ui_message(console->ui, SEVERITY_INFO, message);
  return TRUE;
}

static gboolean
host_go(gpointer host, const char *place, GError **error)
{
  Console *console = host;
  return played(console, player_to_place(console->player, place, error));
}

static const HostOps virtual_ops = {.say = host_say,
                                    .stop = host_stop,
                                    .pause = host_pause,
                                    .set_speed = host_set_speed,
                                    .suspend = host_suspend,
                                    .next_theme = host_next_theme,
                                    .quit = host_quit};
static const HostOps real_ops = {.say = host_say,
                                 .stop = host_stop,
                                 .suspend = host_suspend,
                                 .next_theme = host_next_theme,
                                 .quit = host_quit};
static const HostOps replay_ops = {.stop = host_stop,
                                   .pause = host_pause,
                                   .set_speed = host_set_speed,
                                   .seek = host_seek,
                                   .step = host_step,
                                   .mark = host_mark,
                                   .go = host_go,
                                   .suspend = host_suspend,
                                   .next_theme = host_next_theme,
                                   .quit = host_quit};

/* What the main loop brings. */

static gboolean
on_input(gint fd, GIOCondition condition, gpointer data)
{
  Console *console = data;
  UiKey key;
  int row, column;
  (void)fd;
  while ((key = term_read_key(&row, &column)) != -1) {
    if (key == UI_KEY_CTRL_L)
      term_redraw_all();
    else if (key >= UI_KEY_CLICK && key <= UI_KEY_WHEEL_DOWN)
      ui_mouse(console->ui, key, row, column);
    else
      ui_key(console->ui, key);
    console->key_t = g_get_monotonic_time();
    read_status(console);
    ui_set_status(console->ui, &console->status);
  }
  if (condition & (G_IO_HUP | G_IO_ERR | G_IO_NVAL)) { /* the terminal is gone */
    g_main_loop_quit(console->loop);
    return G_SOURCE_REMOVE;
  }
  console_show(console);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_frame(gpointer data)
{
  Console *console = data;
  if (console->dirty)
    console_show_in_turn(console);
  if (console->session && session_has_quit(console->session))
    g_main_loop_quit(console->loop);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_second(gpointer data)
{
  ((Console *)data)->dirty = TRUE;
  return G_SOURCE_CONTINUE;
}

static gboolean
on_resize(gpointer data)
{
  term_redraw_all();
  console_show(data);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_terminate(gpointer data)
{
  g_main_loop_quit(((Console *)data)->loop);
  return G_SOURCE_CONTINUE;
}

static void
on_event(const Event *event, gpointer data)
{
  (void)event;
  ((Console *)data)->dirty = TRUE;
}

static void
on_complaint(const char *message, gpointer data)
{
  Console *console = data;
  ui_message(console->ui, SEVERITY_ERROR, message);
  console->dirty = TRUE;
}

/* Another transcript has another layout, of which the screen knows by heart. */
static void
show_anew(Console *console)
{
  console->generation = player_generation(console->player);
  ui_free(console->ui);
  console->ui = ui_new(console_state(console), &replay_ops, console);
  console->status.lab = replay_layout(player_replay(console->player))->lab;
  ui_message(console->ui, SEVERITY_WARNING, "another transcript has taken the file's place");
}

static gboolean
on_play(gpointer data)
{
  Console *console = data;
  g_autoptr(GError) error = NULL;
  gboolean moved = player_tick(console->player, g_get_monotonic_time(), &error);
  if (player_generation(console->player) != console->generation)
    show_anew(console);
  else
    ui_set_state(console->ui, console_state(console));
  if (error != NULL)
    ui_message(console->ui, SEVERITY_ERROR, error->message);
  console->dirty |= moved || error != NULL;
  return G_SOURCE_CONTINUE;
}

/* Sources come in an array that ends with 0. */
static void
remove_sources(const guint *sources)
{
  for (guint i = 0; sources[i]; i++)
    g_source_remove(sources[i]);
}

static int
console_run(Console *console, const HostOps *ops, GError **error)
{
  const Layout *layout = state_layout(console_state(console));
  if (!term_open(&console->utf8, error))
    return 2;
  console->status.lab = layout->lab;
  console->status.wall_clock = "";
  console->ui = ui_new(console_state(console), ops, console);
  console->loop = g_main_loop_new(NULL, FALSE);
  guint sources[] = {
      g_unix_fd_add(STDIN_FILENO, G_IO_IN | G_IO_HUP | G_IO_ERR, on_input, console),
      g_timeout_add(FRAME_MS, on_frame, console),
      g_timeout_add_seconds(1, on_second, console),
      g_unix_signal_add(SIGWINCH, on_resize, console),
      g_unix_signal_add(SIGTERM, on_terminate, console),
      g_unix_signal_add(SIGHUP, on_terminate, console),
      g_unix_signal_add(SIGINT, on_terminate, console),
      console->player ? g_timeout_add(PLAY_MS, on_play, console) : 0,
      0,
  };
  if (console->session) {
    session_watch(console->session, on_event, on_complaint, console);
    session_start(console->session);
  }
  console_show(console);
  g_main_loop_run(console->loop);
  term_close();
  remove_sources(sources);
  g_main_loop_unref(console->loop);
  ui_free(console->ui);
  canvas_free(console->canvas);
  return 0;
}

int
main_console_session(Session *session, const JobSet *jobs, gboolean real, double speed,
                     GError **error)
{
  Console console = {.session = session};
  console.status = (HostStatus){.jobs = jobs, .real = real, .speed = speed, .end = -1};
  return console_run(&console, real ? &real_ops : &virtual_ops, error);
}

int
main_console_replay(Player *player, GError **error)
{
  Console console = {.player = player, .status = {.replay = TRUE}};
  return console_run(&console, &replay_ops, error);
}

static void
refuse_view(const char *view, GError **error)
{
  g_autoptr(GString) known = g_string_new(NULL);
  const char *name;
  for (guint i = 0; (name = ui_view_name(i, NULL)) != NULL; i++)
    g_string_append_printf(known, "%s%s", i > 0 ? ", " : "", name);
  g_set_error(error, SESSION_ERROR, 0, "no view `%s`; there is %s", view, known->str);
}

char *
main_console_screen(const Replay *replay, const char *view, int rows, int columns, gboolean ascii,
                    GError **error)
{
  const HostOps none = {0};
  HostStatus status = {.lab = replay_layout(replay)->lab,
                       .replay = TRUE,
                       .speed = 1,
                       .now = replay_now(replay),
                       .end = replay_end(replay),
                       .wall_clock = ""};
  g_autoptr(Ui) ui = ui_new(replay_state(replay), &none, NULL);
  g_autoptr(Canvas) canvas = canvas_new(rows, columns, ascii);
  if (!ui_set_view(ui, view)) {
    refuse_view(view, error);
    return NULL;
  }
  ui_draw(ui, canvas, &status);
  return canvas_dump(canvas, FALSE);
}
