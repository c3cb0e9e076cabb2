/* A simulated lab and a screen that shows it, without session or terminal: time passes when a test
 * says so. */
#ifndef PULT_TESTS_SCREEN_LAB_H
#define PULT_TESTS_SCREEN_LAB_H

#include "backends/sim/sim.h"
#include "ui/ui.h"

typedef struct {
  Layout *layout;
  JobSet *jobs;
  Backend *sim;
  CoreState *core;
  gint64 t;
  guint32 cmd;       /* the last command's */
  gint last_verdict; /* of its `done`; -1 none yet */
  guint n_power;     /* requests so far that switch something */
  HostStatus status;
  Ui *ui;
} ScreenLab;

/* FILE from the top of the tree, or TEXT (then FILE names it in messages). Time is 0 and every seat
 * was asked for its state. */
ScreenLab *screen_lab_new(const char *file, const char *text, const HostOps *ops, gpointer host);
void screen_lab_free(ScreenLab *lab);
/* Lets time pass until SECONDS. */
void screen_lab_run(ScreenLab *lab, double seconds);
/* Gives a command now, with CONFIRM as its consent (-1 none); one that makes no sense fails the
 * test. */
void screen_lab_say(ScreenLab *lab, const char *line, int confirm);
/* The screen as text. Free with g_free. */
char *screen_lab_draw(ScreenLab *lab, int rows, int columns, gboolean ascii);
/* Presses the keys that type TEXT. */
void screen_lab_type(ScreenLab *lab, const char *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ScreenLab, screen_lab_free)

#endif
