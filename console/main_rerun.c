#include "main_rerun.h"

#include <glib-unix.h>
#include <signal.h>
#include <string.h>

#include "main_lab.h"
#include "main_options.h"
#include "main_progress.h"
#include "main_say.h"
#include "model/units.h"
#include "session/rerun.h"

#define TOLERANCE 0.05
#define EXIT_NOT_DONE 3

typedef struct {
  char *layout, *record, *tolerance, *yes_seats;
  gboolean json, yes, fast;
} Texts;

typedef struct {
  const char *layout, *record; /* NULL: not given */
  double tolerance;
  gboolean json, yes, fast;
  gint64 yes_seats; /* -1: not given */
} Wanted;

static gboolean
parse_options(Texts *texts, int *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
      {"layout", 0, 0, G_OPTION_ARG_FILENAME, &texts->layout,
       "another lab: a file, or a shipped layout by name", "LAYOUT"},
      {"record", 0, 0, G_OPTION_ARG_FILENAME, &texts->record, "write the transcript to FILE",
       "FILE"},
      {"tolerance", 0, 0, G_OPTION_ARG_STRING, &texts->tolerance,
       "how much a figure may differ, such as 5%", "P%"},
      {"fast", 0, 0, G_OPTION_ARG_NONE, &texts->fast,
       "each command as soon as those before it are done", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &texts->json, "print JSON instead of tables", NULL},
      {"yes", 0, 0, G_OPTION_ARG_NONE, &texts->yes,
       "real machines may be touched as the first time", NULL},
      {"yes-seats", 0, 0, G_OPTION_ARG_STRING, &texts->yes_seats,
       "the same, by plans that touch at most N seats", "N"},
      G_OPTION_ENTRY_NULL,
  };
  return main_parse_entries(entries, "FILE",
                            "Carries a transcript's commands out again, and prints its figures "
                            "beside those of the first time.",
                            argc, argv, error);
}

static gboolean
read_wanted(const Texts *texts, Wanted *wanted, GError **error)
{
  *wanted = (Wanted){.layout = texts->layout,
                     .record = texts->record,
                     .tolerance = TOLERANCE,
                     .json = texts->json,
                     .yes = texts->yes,
                     .fast = texts->fast,
                     .yes_seats = -1};
  if (texts->tolerance != NULL &&
      !units_parse_as(texts->tolerance, DIMENSION_PERCENT, &wanted->tolerance, error)) {
    g_prefix_error(error, "--tolerance: ");
    return FALSE;
  }
  guint64 seats = 0;
  if (!main_read_count("--yes-seats", texts->yes_seats, LAYOUT_MAX_NODES, &seats, error))
    return FALSE;
  if (texts->yes_seats != NULL)
    wanted->yes_seats = (gint64)seats;
  if (!texts->yes || texts->yes_seats == NULL)
    return TRUE;
  g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
              "--yes and --yes-seats exclude one another");
  return FALSE;
}

/* Of the first run's consents those count that are given again for a real lab. */
static void
give_consent(const Wanted *wanted, gboolean real, CoreOptions *core, RerunOptions *options)
{
  gboolean none = real && !wanted->yes && wanted->yes_seats < 0;
  options->confirm_max = none ? -1 : wanted->yes_seats >= 0 ? wanted->yes_seats : G_MAXINT64;
  if (none)
    core->consent = CONSENT_ASK;
  if (wanted->yes_seats < 0 || core->consent == CONSENT_ASK)
    return;
  guint seats = (guint)wanted->yes_seats;
  core->consent_seats = core->consent == CONSENT_SEATS ? MIN(core->consent_seats, seats) : seats;
  core->consent = CONSENT_SEATS;
}

static Layout *
layout_again(const TranscriptHead *head, const char *other, GError **error)
{
  return other != NULL
             ? data_layout(other, error)
             : layout_parse(head->layout_name, head->layout_text, strlen(head->layout_text), error);
}

static Lab *
open_lab(const Rerun *rerun, const Wanted *wanted, RerunOptions *options, GError **error)
{
  const TranscriptHead *head = rerun_head(rerun);
  Layout *layout = layout_again(head, wanted->layout, error);
  gboolean real;
  if (layout == NULL || !lab_reaches_real(layout, &real, error)) {
    layout_free(layout);
    return NULL;
  }
  SessionOptions session = {.layout = layout,
                            .core = head->options,
                            .clock = real ? CLOCK_REAL : CLOCK_JUMP,
                            .speed = 1,
                            .record = wanted->record,
                            .script_name = head->script_name,
                            .script_text = head->script_text,
                            .must_record = wanted->record != NULL};
  *options = (RerunOptions){.fast = wanted->fast, .anew = wanted->layout != NULL};
  give_consent(wanted, real, &session.core, options);
  return lab_open_as(layout, &session, error);
}

typedef struct {
  Rerun *rerun;
  Session *session;
  Progress *progress;
} Watched;

static void
on_event(const Event *event, gpointer data)
{
  Watched *watched = data;
  rerun_event(watched->rerun, event);
  progress_course(watched->progress, event);
}

/* First the commands to come, lest one is given before what is under way is stopped. */
static gboolean
on_interrupt(gpointer data)
{
  Watched *watched = data;
  rerun_interrupt(watched->rerun);
  session_stop(watched->session);
  return G_SOURCE_CONTINUE;
}

static void
run(Rerun *rerun, Lab *lab, const RerunOptions *options, GError **error)
{
  g_autoptr(Progress) progress = progress_new(lab->layout, TRUE, FALSE, stdout);
  Watched watched = {rerun, lab->session, progress};
  session_watch(lab->session, on_event, progress_complain, &watched);
  rerun_begin(rerun, lab->session, options);
  guint interrupt = g_unix_signal_add(SIGINT, on_interrupt, &watched);
  guint terminate = g_unix_signal_add(SIGTERM, on_interrupt, &watched);
  session_start(lab->session);
  session_run(lab->session, NULL, error);
  g_source_remove(interrupt);
  g_source_remove(terminate);
  session_watch(lab->session, NULL, progress_complain, NULL);
}

/* What was carried out is told even when it ended badly. */
static int
rerun_and_print(Rerun *rerun, const Wanted *wanted, GError **error)
{
  RerunOptions options;
  g_autoptr(Lab) lab = open_lab(rerun, wanted, &options, error);
  if (lab == NULL)
    return EXIT_USAGE;
  run(rerun, lab, &options, error);
  if (wanted->json)
    rerun_print_json(rerun, wanted->tolerance, stdout);
  else
    rerun_print(rerun, wanted->tolerance, stdout);
  SessionRecord record;
  session_record_status(lab->session, &record);
  int status = rerun_status(rerun, wanted->tolerance);
  return status < EXIT_USAGE && record.record_error != NULL ? EXIT_NOT_DONE : status;
}

static int
rerun_file(const Texts *texts, int argc, char **argv, GError **error)
{
  Wanted wanted;
  if (!read_wanted(texts, &wanted, error))
    return EXIT_USAGE;
  if (argc != 2) {
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "rerun takes one transcript");
    return EXIT_USAGE;
  }
  g_autoptr(Rerun) rerun = rerun_open(argv[1], error);
  return rerun != NULL ? rerun_and_print(rerun, &wanted, error) : EXIT_USAGE;
}

int
main_rerun(int argc, char **argv)
{
  g_autoptr(GError) error = NULL;
  Texts texts = {0};
  int status = EXIT_USAGE;
  if (parse_options(&texts, &argc, &argv, &error))
    status = rerun_file(&texts, argc, argv, &error);
  if (error != NULL)
    main_complain(error->message);
  g_free(texts.layout);
  g_free(texts.record);
  g_free(texts.tolerance);
  g_free(texts.yes_seats);
  return main_finish_output(status);
}
