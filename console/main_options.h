/* The options that begin a session, the same for the console, `run` and `do`. */
#ifndef PULT_MAIN_OPTIONS_H
#define PULT_MAIN_OPTIONS_H

#include "session/session.h"
#include "ui/term.h"

typedef enum { OPTIONS_CONSOLE, OPTIONS_RUN } OptionsFor;

typedef struct {
  char *layout; /* NULL: the script's, else the default */
  char *jobs;   /* a folder; NULL: nothing said */
  ClockMode clock;
  double speed;
  guint64 seed;
  char *record; /* NULL: nothing said */
  gboolean no_record, json, yes, dry_run, read_only, plain, version, no_mouse;
  gint64 yes_seats; /* -1: not given */
  Theme theme;
} MainOptions;

/* Takes the options out of ARGV and leaves the rest behind argv[0]. PARAMETERS and SUMMARY are for
 * `--help`, which is answered here and does not return. */
gboolean main_options_parse(MainOptions *options, OptionsFor what, const char *parameters,
                            const char *summary, int *argc, char ***argv, GError **error);
void main_options_clear(MainOptions *options);
/* A context on ENTRIES for any subcommand. */
gboolean main_parse_entries(const GOptionEntry *entries, const char *parameters,
                            const char *summary, int *argc, char ***argv, GError **error);
/* NULL text leaves *VALUE as it is. NAME is the option's, for the error. */
gboolean main_read_count(const char *name, const char *text, guint64 max, guint64 *value,
                         GError **error);
gboolean main_read_speed(const char *text, double *speed, GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MainOptions, main_options_clear)

#endif
