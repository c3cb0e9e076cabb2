#include "recording_host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static gboolean
host_say(gpointer data, const char *line, gint confirm, GError **error)
{
  Fixture *fixture = data;
  g_string_append_printf(fixture->asked, "say %s|%d\n", line, confirm);
  if (fixture->refusal)
    g_set_error_literal(error, g_quark_from_static_string("test"), 0, fixture->refusal);
  return !fixture->refusal;
}

static void
host_stop(gpointer data)
{
  g_string_append(((Fixture *)data)->asked, "stop\n");
}

static void
host_pause(gpointer data, gboolean paused)
{
  g_string_append(((Fixture *)data)->asked, paused ? "pause\n" : "go on\n");
}

static void
host_set_speed(gpointer data, double speed)
{
  g_string_append_printf(((Fixture *)data)->asked, "speed %.3f\n", speed);
}

static void
host_seek(gpointer data, gint64 t)
{
  g_string_append_printf(((Fixture *)data)->asked, "seek %.1f\n", (double)t / 1e9);
}

static gboolean
take(Fixture *fixture, const char *what, const char *how, GError **error)
{
  g_string_append_printf(fixture->asked, "%s %s\n", what, how);
  if (fixture->refusal)
    g_set_error_literal(error, g_quark_from_static_string("test"), 0, fixture->refusal);
  return !fixture->refusal;
}

static gboolean
host_step(gpointer data, gboolean back, GError **error)
{
  return take(data, "step", back ? "back" : "on", error);
}

static gboolean
host_mark(gpointer data, gboolean back, GError **error)
{
  return take(data, "mark", back ? "back" : "on", error);
}

static gboolean
host_go(gpointer data, const char *place, GError **error)
{
  return take(data, "go", place, error);
}

static void
host_suspend(gpointer data)
{
  g_string_append(((Fixture *)data)->asked, "suspend\n");
}

static void
host_quit(gpointer data)
{
  g_string_append(((Fixture *)data)->asked, "quit\n");
}

const HostOps session_ops = {.say = host_say,
                             .stop = host_stop,
                             .pause = host_pause,
                             .set_speed = host_set_speed,
                             .suspend = host_suspend,
                             .quit = host_quit};
const HostOps replay_ops = {.stop = host_stop,
                            .pause = host_pause,
                            .set_speed = host_set_speed,
                            .seek = host_seek,
                            .step = host_step,
                            .mark = host_mark,
                            .go = host_go,
                            .suspend = host_suspend,
                            .quit = host_quit};

Fixture *
fixture_new(const char *file, const char *text, const HostOps *ops)
{
  Fixture *fixture = g_new0(Fixture, 1);
  fixture->asked = g_string_new(NULL);
  fixture->lab = screen_lab_new(file, text, ops, fixture);
  g_free(screen_lab_draw(fixture->lab, 24, 80, FALSE));
  return fixture;
}

void
fixture_free(Fixture *fixture)
{
  screen_lab_free(fixture->lab);
  g_string_free(fixture->asked, TRUE);
  g_free(fixture);
}

int
fixture_set_up(void **state)
{
  *state = fixture_new(LAYOUT, NULL, &session_ops);
  return 0;
}

int
fixture_tear_down(void **state)
{
  fixture_free(*state);
  return 0;
}

void
asked(Fixture *fixture, const char *expected)
{
  assert_string_equal(fixture->asked->str, expected);
  g_string_truncate(fixture->asked, 0);
}

static char *
row_of(ScreenLab *lab, int row)
{
  g_autofree char *screen = screen_lab_draw(lab, 24, 80, FALSE);
  g_auto(GStrv) rows = g_strsplit(screen, "\n", -1);
  return g_strdup(rows[row]);
}

void
row_is(ScreenLab *lab, int row, const char *expected)
{
  g_autofree char *text = row_of(lab, row);
  assert_string_equal(text, expected);
}

void
row_has(ScreenLab *lab, int row, const char *expected)
{
  g_autofree char *text = row_of(lab, row);
  if (!strstr(text, expected))
    fail_msg("row %d is `%s`, without `%s`", row, text, expected);
}
