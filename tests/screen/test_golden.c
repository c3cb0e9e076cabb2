/* Whole screens at fixed instants, compared as text with golden/SCENE-COLUMNSxROWS[-ascii].txt.
 * With UPDATE_GOLDEN=1 in the environment the files are written anew; look at what changed. */
#include "screen_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LAYOUT "layouts/openslx-two-rooms.yaml"

static gboolean
host_say(gpointer host, const char *line, gint confirm, GError **error)
{
  (void)host, (void)line, (void)confirm;
  g_set_error_literal(error, g_quark_from_static_string("test"), 0, "not here");
  return FALSE;
}

static const HostOps session_ops = {.say = host_say};

/* What is to be seen, and how it came to be. */
typedef struct {
  const char *name, *view, *keys;
  void (*play)(ScreenLab *lab);
  guint n_sizes; /* the first of them; 0: all */
} Scene;

static void
play_read(ScreenLab *lab)
{
  screen_lab_run(lab, 1);
  screen_lab_say(lab, "boot roomA as first", 17);
  screen_lab_run(lab, 16);
}

static void
play_both(ScreenLab *lab)
{
  screen_lab_say(lab, "boot @all as all", 34);
  screen_lab_run(lab, 80);
  screen_lab_say(lab, "load start find-cat on @all for 60 s as reading", -1);
  screen_lab_run(lab, 100);
}

static void
play_loaded(ScreenLab *lab)
{
  play_both(lab);
  screen_lab_run(lab, 150);
  screen_lab_say(lab, "load start dd-read on a[01-05] for 10 s as greedy", -1);
  screen_lab_run(lab, 155);
}

/* Some write while the others read. */
static void
play_writing(ScreenLab *lab)
{
  screen_lab_say(lab, "boot @all as all", 34);
  screen_lab_run(lab, 80);
  screen_lab_say(lab, "load start find-cat on @roomB for 60 s as reading", -1);
  screen_lab_say(lab, "load start dd-write on a[01-05] bytes=100GB as writing", -1);
  screen_lab_run(lab, 100);
}

static void
play_failed(ScreenLab *lab)
{
  screen_lab_run(lab, 1);
  screen_lab_say(lab, "boot roomA as first", 17);
  screen_lab_run(lab, 5);
  screen_lab_say(lab, "set a12/eth0.state down", 1);
  screen_lab_run(lab, 62);
}

static void
play_consent(ScreenLab *lab)
{
  play_failed(lab);
  screen_lab_say(lab, "power cycle a[12,14] stagger 0.5 s", -1);
}

static const Scene scenes[] = {
    /* Help's end is the table of commands, which is not the screen's. */
    {"read", "lab", "", play_read, 0},
    {"read-seat", "lab", "u12", play_read, 0},
    {"read-boot", "boot", "", play_read, 0},
    {"both", "lab", "", play_both, 0},
    {"both-net", "net", "", play_both, 0},
    {"loading", "load", "", play_loaded, 0},
    {"loaded", "load", "h", play_loaded, 0},
    {"failed-card", "lab", "c", play_failed, 3},
    {"both-net-era", "net", "ww", play_both, 3},
    {"failed", "lab", "", play_failed, 0},
    {"failed-boot", "boot", "", play_failed, 0},
    {"failed-log", "log", "", play_failed, 0},
    {"help", "help", "", play_read, 3},
    {"consent", "lab", "", play_consent, 0},
    {"writing", "lab", "", play_writing, 0},
    {"writing-net", "net", "", play_writing, 0},
    {"writing-load", "load", "", play_writing, 3},
    {"writing-card", "lab", "1c", play_writing, 3},
};

static const struct {
  int rows, columns;
} sizes[] = {{10, 40}, {20, 60}, {24, 80}, {43, 132}, {60, 200}};

static char *
file_of(const Scene *scene, guint size, gboolean ascii)
{
  const char *top = g_getenv("SRC");
  return g_strdup_printf("%s/tests/screen/golden/%s-%dx%d%s.txt", top ? top : ".", scene->name,
                         sizes[size].columns, sizes[size].rows, ascii ? "-ascii" : "");
}

/* The lines that differ, for a person. */
static void
print_difference(const char *file, const char *expected, const char *found)
{
  g_auto(GStrv) old = g_strsplit(expected, "\n", -1);
  g_auto(GStrv) new = g_strsplit(found, "\n", -1);
  guint n_old = g_strv_length(old), n_new = g_strv_length(new);
  print_message("%s differs:\n", file);
  for (guint i = 0; i < MAX(n_old, n_new); i++) {
    const char *was = i < n_old ? old[i] : "", *is = i < n_new ? new[i] : "";
    if (strcmp(was, is) != 0)
      print_message("%3u - %s\n    + %s\n", i + 1, was, is);
  }
}

static gboolean
matches(const char *file, const char *found)
{
  g_autofree char *expected = NULL;
  g_autoptr(GError) error = NULL;
  if (g_getenv("UPDATE_GOLDEN")) {
    if (!g_file_set_contents(file, found, -1, &error))
      fail_msg("%s", error->message);
    return TRUE;
  }
  if (!g_file_get_contents(file, &expected, NULL, &error)) {
    print_message("%s\n", error->message);
    return FALSE;
  }
  if (g_str_equal(expected, found))
    return TRUE;
  print_difference(file, expected, found);
  return FALSE;
}

static void
check_scene(void **state)
{
  const Scene *scene = *state;
  gboolean same = TRUE;
  g_autoptr(ScreenLab) lab = screen_lab_new(LAYOUT, NULL, &session_ops, NULL);
  scene->play(lab);
  assert_true(ui_set_view(lab->ui, scene->view));
  screen_lab_type(lab, scene->keys);
  for (guint i = 0; i < (scene->n_sizes ? scene->n_sizes : G_N_ELEMENTS(sizes)); i++) {
    for (int ascii = 0; ascii < 2; ascii++) {
      g_autofree char *file = file_of(scene, i, ascii);
      g_autofree char *found = screen_lab_draw(lab, sizes[i].rows, sizes[i].columns, ascii);
      if (ascii && !g_str_is_ascii(found))
        fail_msg("%s is not plain ASCII", file);
      same = matches(file, found) && same;
    }
  }
  if (!same)
    fail();
}

int
main(void)
{
  struct CMUnitTest tests[G_N_ELEMENTS(scenes)];
  for (guint i = 0; i < G_N_ELEMENTS(scenes); i++)
    tests[i] =
        (struct CMUnitTest){scenes[i].name, check_scene, NULL, NULL, (gpointer)(gsize)&scenes[i]};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
