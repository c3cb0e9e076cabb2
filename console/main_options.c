#include "main_options.h"

#include "model/units.h"

#define SPEED_MIN 0.01
#define SPEED_MAX 10000

/* As GOption gives them, before they are read. */
typedef struct {
  char *layout, *jobs, *speed, *seed, *record, *yes_seats, *theme;
  gboolean jump, no_record, json, yes, dry_run, read_only, plain, version, no_mouse;
} Raw;

gboolean
main_parse_entries(const GOptionEntry *entries, const char *parameters, const char *summary,
                   int *argc, char ***argv, GError **error)
{
  g_autoptr(GOptionContext) context = g_option_context_new(parameters);
  g_option_context_set_summary(context, summary);
  g_option_context_add_main_entries(context, entries, NULL);
  return g_option_context_parse(context, argc, argv, error);
}

gboolean
main_read_count(const char *name, const char *text, guint64 max, guint64 *value, GError **error)
{
  if (text == NULL || units_parse_count(text, max, value, error))
    return TRUE;
  g_prefix_error(error, "%s: ", name);
  return FALSE;
}

gboolean
main_read_speed(const char *text, double *speed, GError **error)
{
  if (text == NULL)
    return TRUE;
  if (!units_parse_as(text, DIMENSION_COUNT, speed, error)) {
    g_prefix_error(error, "--speed: ");
    return FALSE;
  }
  if (*speed >= SPEED_MIN && *speed <= SPEED_MAX)
    return TRUE;
  g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
              "--speed: %s is not 0.01 to 10000 times real time", text);
  return FALSE;
}

static gboolean
read_theme(const char *text, Theme *theme, GError **error)
{
  int known = text != NULL ? term_theme_parse(text) : THEME_DEFAULT;
  if (known >= 0) {
    *theme = (Theme)known;
    return TRUE;
  }
  g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
              "--theme: there is no %s; there are default, contrast and mono", text);
  return FALSE;
}

static gboolean
read_raw(MainOptions *options, Raw *raw, GError **error)
{
  *options = (MainOptions){.seed = 1, .speed = 1, .yes_seats = -1};
  options->layout = g_steal_pointer(&raw->layout);
  options->jobs = g_steal_pointer(&raw->jobs);
  options->record = g_steal_pointer(&raw->record);
  options->no_record = raw->no_record;
  options->json = raw->json;
  options->yes = raw->yes;
  options->dry_run = raw->dry_run;
  options->read_only = raw->read_only;
  options->plain = raw->plain;
  options->version = raw->version;
  options->no_mouse = raw->no_mouse;
  options->clock = raw->jump ? CLOCK_JUMP : raw->speed != NULL ? CLOCK_SCALED : CLOCK_REAL;
  guint64 seats = 0;
  if (!main_read_speed(raw->speed, &options->speed, error) ||
      !read_theme(raw->theme, &options->theme, error) ||
      !main_read_count("--seed", raw->seed, G_MAXINT64, &options->seed, error) ||
      !main_read_count("--yes-seats", raw->yes_seats, LAYOUT_MAX_NODES, &seats, error))
    return FALSE;
  if (raw->yes_seats != NULL)
    options->yes_seats = (gint64)seats;
  const char *clash = raw->jump && raw->speed != NULL             ? "--jump and --speed"
                      : options->record != NULL && raw->no_record ? "--record and --no-record"
                      : raw->yes && raw->yes_seats != NULL        ? "--yes and --yes-seats"
                                                                  : NULL;
  if (clash != NULL)
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s exclude one another", clash);
  return clash == NULL;
}

static gboolean
parse_raw(Raw *raw, OptionsFor what, const char *parameters, const char *summary, int *argc,
          char ***argv, GError **error)
{
  int only_run = what == OPTIONS_RUN ? 0 : G_OPTION_FLAG_HIDDEN;
  int only_console = what == OPTIONS_CONSOLE ? 0 : G_OPTION_FLAG_HIDDEN;
  const GOptionEntry entries[] = {
      {"layout", 0, 0, G_OPTION_ARG_FILENAME, &raw->layout,
       "the lab: a file, or a shipped layout by name", "LAYOUT"},
      {"jobs", 0, 0, G_OPTION_ARG_FILENAME, &raw->jobs, "a folder of load jobs of your own", "DIR"},
      {"speed", 0, 0, G_OPTION_ARG_STRING, &raw->speed, "N times real time (simulated labs)", "N"},
      {"seed", 0, 0, G_OPTION_ARG_STRING, &raw->seed, "the simulator's seed (1)", "N"},
      {"record", 0, 0, G_OPTION_ARG_FILENAME, &raw->record, "write the transcript to FILE", "FILE"},
      {"no-record", 0, 0, G_OPTION_ARG_NONE, &raw->no_record, "write no transcript", NULL},
      {"read-only", 0, 0, G_OPTION_ARG_NONE, &raw->read_only, "refuse whatever changes something",
       NULL},
      {"plain", 0, only_console, G_OPTION_ARG_NONE, &raw->plain,
       "a line for each change instead of a screen", NULL},
      {"theme", 0, only_console, G_OPTION_ARG_STRING, &raw->theme,
       "colours: default, contrast or mono", "NAME"},
      {"no-mouse", 0, only_console, G_OPTION_ARG_NONE, &raw->no_mouse,
       "leave the mouse to the terminal", NULL},
      {"version", 0, only_console, G_OPTION_ARG_NONE, &raw->version,
       "version, and the backends compiled in", NULL},
      {"jump", 0, only_run, G_OPTION_ARG_NONE, &raw->jump,
       "straight from event to event (simulated labs)", NULL},
      {"json", 0, only_run, G_OPTION_ARG_NONE, &raw->json,
       "events as a transcript has them; do: an object a seat", NULL},
      {"yes", 0, only_run, G_OPTION_ARG_NONE, &raw->yes, "consent to every plan", NULL},
      {"yes-seats", 0, only_run, G_OPTION_ARG_STRING, &raw->yes_seats,
       "consent to plans that touch at most N seats", "N"},
      {"dry-run", 0, only_run, G_OPTION_ARG_NONE, &raw->dry_run, "print plans, do nothing", NULL},
      G_OPTION_ENTRY_NULL,
  };
  return main_parse_entries(entries, parameters, summary, argc, argv, error);
}

gboolean
main_options_parse(MainOptions *options, OptionsFor what, const char *parameters,
                   const char *summary, int *argc, char ***argv, GError **error)
{
  Raw raw = {0};
  gboolean good = parse_raw(&raw, what, parameters, summary, argc, argv, error) &&
                  read_raw(options, &raw, error);
  g_free(raw.layout);
  g_free(raw.jobs);
  g_free(raw.record);
  g_free(raw.speed);
  g_free(raw.seed);
  g_free(raw.yes_seats);
  g_free(raw.theme);
  return good;
}

void
main_options_clear(MainOptions *options)
{
  g_free(options->layout);
  g_free(options->jobs);
  g_free(options->record);
}
