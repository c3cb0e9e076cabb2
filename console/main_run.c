#include "main_run.h"

#include <glib-unix.h>
#include <signal.h>
#include <string.h>

#include "main_lab.h"
#include "main_progress.h"
#include "main_say.h"
#include "main_seats.h"

static gboolean
on_interrupt(gpointer session)
{
  session_stop(session);
  return G_SOURCE_CONTINUE;
}

/* `do --json` */
typedef struct {
  Progress *progress;
  Seats *seats;
} SeatsWatch;

static void
on_seats_event(const Event *event, gpointer data)
{
  SeatsWatch *watch = data;
  progress_course(watch->progress, event);
  seats_event(watch->seats, event);
}

static void
on_seats_complaint(const char *message, gpointer data)
{
  progress_complain(message, ((SeatsWatch *)data)->progress);
}

static int
run(const MainOptions *options, const Script *script, const char *name, FILE *answers,
    GError **error)
{
  g_autoptr(Lab) lab = lab_open(options, script, name, FALSE, error);
  if (lab == NULL)
    return EXIT_USAGE;
  g_autoptr(Progress) progress =
      progress_new(lab->layout, options->json, options->dry_run, answers);
  g_autoptr(Seats) seats = seats_new(lab->layout);
  SeatsWatch by_seat = {progress, seats};
  if (options->json && answers == stdout)
    session_watch(lab->session, on_seats_event, on_seats_complaint, &by_seat);
  else
    session_watch(lab->session, progress_event, progress_complain, progress);
  guint interrupt = g_unix_signal_add(SIGINT, on_interrupt, lab->session);
  guint terminate = g_unix_signal_add(SIGTERM, on_interrupt, lab->session);
  session_start(lab->session);
  int status = session_run(lab->session, script, error);
  g_source_remove(interrupt);
  g_source_remove(terminate);
  progress_finish(progress);
  session_watch(lab->session, NULL, progress_complain, NULL);
  return status;
}

static int
run_text(const MainOptions *options, const char *name, const char *text, gsize length,
         FILE *answers)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Script) script = script_parse(name, text, length, &error);
  int status = script != NULL ? run(options, script, name, answers, &error) : EXIT_USAGE;
  if (error != NULL)
    main_complain(error->message);
  return main_finish_output(status);
}

int
main_run(int argc, char **argv)
{
  g_autoptr(GError) error = NULL;
  g_auto(MainOptions) options = {0};
  if (!main_options_parse(&options, OPTIONS_RUN, "SCRIPT",
                          "Runs a script: a file, or a shipped one by name.", &argc, &argv, &error))
    return main_fail(error);
  if (argc != 2) {
    main_complain("run takes one script; `pult run --help` says more");
    return EXIT_USAGE;
  }
  g_autofree char *path = NULL;
  g_autofree char *text = NULL;
  gsize length;
  if (!data_read("scripts", argv[1], ".pult", &path, &text, &length, &error))
    return main_fail(error);
  return run_text(&options, path, text, length, stderr);
}

int
main_do(int argc, char **argv)
{
  g_autoptr(GError) error = NULL;
  g_auto(MainOptions) options = {0};
  if (!main_options_parse(&options, OPTIONS_RUN, "COMMAND…",
                          "Carries out one line of the command language.", &argc, &argv, &error))
    return main_fail(error);
  if (argc < 2) {
    main_complain("do takes a command, such as `pult do power status @all`");
    return EXIT_USAGE;
  }
  g_autofree char *line = g_strjoinv(" ", argv + 1);
  g_autofree char *text = g_strconcat(line, "\n", NULL);
  return run_text(&options, "do", text, strlen(text), stdout);
}
