#include "main_replay.h"

#include "main_console.h"
#include "main_options.h"
#include "main_say.h"
#include "model/units.h"
#include "session/marks.h"

#define ROWS_MAX 500
#define COLUMNS_MAX 1000

typedef struct {
  char *at, *size, *view, *speed;
  gboolean verify, follow, ascii, no_mouse;
} Texts;

typedef struct {
  double speed;
  int rows, columns; /* 0: in the console */
} Where;

static gboolean
parse_options(Texts *texts, int *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
      {"verify", 0, 0, G_OPTION_ARG_NONE, &texts->verify,
       "fold its inputs again and compare the outputs", NULL},
      {"at", 0, 0, G_OPTION_ARG_STRING, &texts->at,
       "begin at a time, such as 30s or 1:30, or at a mark: mark:TEXT", "PLACE"},
      {"speed", 0, 0, G_OPTION_ARG_STRING, &texts->speed, "N times real time", "N"},
      {"follow", 0, 0, G_OPTION_ARG_NONE, &texts->follow, "stay at the end of a growing file",
       NULL},
      {"size", 0, 0, G_OPTION_ARG_STRING, &texts->size, "print that screen as text, such as 80x24",
       "COLUMNSxROWS"},
      {"view", 0, 0, G_OPTION_ARG_STRING, &texts->view, "which view to print (lab)", "VIEW"},
      {"ascii", 0, 0, G_OPTION_ARG_NONE, &texts->ascii, "print it in ASCII", NULL},
      {"no-mouse", 0, 0, G_OPTION_ARG_NONE, &texts->no_mouse, "leave the mouse to the terminal",
       NULL},
      G_OPTION_ENTRY_NULL,
  };
  return main_parse_entries(entries, "FILE", "Shows or verifies a transcript.", argc, argv, error);
}

static gboolean
read_size(const char *text, int *columns, int *rows, GError **error)
{
  if (text == NULL)
    return TRUE;
  g_auto(GStrv) parts = g_strsplit(text, "x", 3);
  guint64 c = 0, r = 0;
  gboolean good = g_strv_length(parts) == 2 && units_parse_count(parts[0], COLUMNS_MAX, &c, NULL) &&
                  units_parse_count(parts[1], ROWS_MAX, &r, NULL) && c > 0 && r > 0;
  if (!good)
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                "--size: `%s` is no size such as 80x24", text);
  *columns = (int)c;
  *rows = (int)r;
  return good;
}

static gboolean
read_where(const Texts *texts, Where *where, GError **error)
{
  *where = (Where){.speed = 1};
  if (!main_read_speed(texts->speed, &where->speed, error) ||
      !read_size(texts->size, &where->columns, &where->rows, error))
    return FALSE;
  const char *clash = texts->verify && (texts->follow || texts->size != NULL || texts->at != NULL)
                          ? "--verify goes alone"
                      : texts->size == NULL && (texts->view != NULL || texts->ascii)
                          ? "--view and --ascii need --size"
                      : texts->size != NULL && texts->follow
                          ? "--size and --follow exclude one another"
                          : NULL;
  if (clash != NULL)
    g_set_error_literal(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, clash);
  return clash == NULL;
}

static int
verify(const char *path)
{
  g_autoptr(GError) error = NULL;
  guint64 events;
  if (replay_verify(path, &events, &error)) {
    printf("%s: %" G_GUINT64_FORMAT " events, and every output is what folding gives\n", path,
           events);
    return main_finish_output(0);
  }
  main_complain(error->message);
  return error->domain == REPLAY_ERROR ? 1 : EXIT_USAGE;
}

static gboolean
seek(Replay *replay, const Texts *texts, GError **error)
{
  g_autoptr(Marks) marks = marks_new(replay_path(replay));
  gint64 end = replay_end(replay), t = texts->follow ? end : 0;
  if (texts->at != NULL && !marks_find_place(marks, texts->at, 0, end, &t, error)) {
    g_prefix_error(error, "--at: ");
    return FALSE;
  }
  return replay_seek(replay, MIN(t, end), error);
}

static int
show(const char *path, const Texts *texts, const Where *where, GError **error)
{
  g_autoptr(Replay) replay = replay_open(path, error);
  if (replay == NULL || !seek(replay, texts, error))
    return EXIT_USAGE;
  if (where->rows == 0) {
    g_autoptr(Player) player = player_new(g_steal_pointer(&replay), where->speed, texts->follow);
    term_set_mouse(!texts->no_mouse);
    return main_console_replay(player, error);
  }
  g_autofree char *screen = main_console_screen(replay, texts->view != NULL ? texts->view : "lab",
                                                where->rows, where->columns, texts->ascii, error);
  if (screen == NULL)
    return EXIT_USAGE;
  fputs(screen, stdout);
  return main_finish_output(0);
}

static int
replay(const Texts *texts, int argc, char **argv, GError **error)
{
  Where where;
  if (!read_where(texts, &where, error))
    return EXIT_USAGE;
  if (argc != 2) {
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "replay takes one transcript");
    return EXIT_USAGE;
  }
  return texts->verify ? verify(argv[1]) : show(argv[1], texts, &where, error);
}

int
main_replay(int argc, char **argv)
{
  g_autoptr(GError) error = NULL;
  Texts texts = {0};
  int status = EXIT_USAGE;
  if (parse_options(&texts, &argc, &argv, &error))
    status = replay(&texts, argc, argv, &error);
  if (error != NULL)
    main_complain(error->message);
  g_free(texts.at);
  g_free(texts.size);
  g_free(texts.view);
  g_free(texts.speed);
  return status;
}
