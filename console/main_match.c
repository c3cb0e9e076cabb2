#include "main_match.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "main_options.h"
#include "main_say.h"
#include "model/log_line.h"
#include "session/data.h"

#define EXIT_NOTHING 1

typedef struct {
  char *stages, *layout, *console;
  gboolean all;
} Texts;

/* What the files are held against. */
typedef struct {
  GPtrArray *sources; /* of StageSource */
  Layout *layout;     /* NULL: none was named */
  SeatFinder *finder;
  StageMatcher *matcher;
  gboolean is_console, all;
  NodeId console;
  guint64 n_lines, n_taken, n_strangers;
} Trial;

static void
trial_clear(Trial *trial)
{
  stage_matcher_free(trial->matcher);
  seat_finder_free(trial->finder);
  layout_free(trial->layout);
  g_clear_pointer(&trial->sources, g_ptr_array_unref);
}

static void
source_free(gpointer source)
{
  stage_source_free(source);
}

/* ---- Output -------------------------------------------------------------------------------- */

static void
print_text(const char *key, const char *text)
{
  if (text == NULL)
    return;
  printf("  %s=", key);
  main_print(stdout, text);
}

static void
print_sighting(const Trial *trial, const StageSighting *sighting)
{
  const char *who = sighting->node != NODE_NONE ? trial->layout->nodes[sighting->node].name : "-";
  printf("%6" G_GUINT64_FORMAT "  %-10s %-9s %-8s", trial->n_lines,
         sighting->stage != NULL ? sighting->stage : "-",
         sighting->stage != NULL ? certainty_name(sighting->certainty) : "-", who);
  printf(" %s", stage_source_name(sighting->source));
  print_text("at", sighting->stamp);
  print_text("mac", sighting->mac);
  print_text("ip", sighting->ip);
  print_text("name", sighting->name);
  print_text("file", sighting->file);
  putchar('\n');
}

static void
take_line(Trial *trial, const char *line, gsize length)
{
  StageSighting sighting;
  trial->n_lines++;
  gboolean taken = trial->is_console ? stage_matcher_take_console(trial->matcher, trial->console,
                                                                  line, length, &sighting)
                                     : stage_matcher_take(trial->matcher, line, length, &sighting);
  if (taken) {
    trial->n_taken++;
    trial->n_strangers += sighting.node == NODE_NONE ? 1 : 0;
    print_sighting(trial, &sighting);
  } else if (trial->all) {
    g_autofree char *text = g_strndup(line, MIN(length, LOG_LINE_MAX));
    printf("%6" G_GUINT64_FORMAT "  ?          ", trial->n_lines);
    main_print(stdout, text);
    putchar('\n');
  }
  g_autofree char *complaint = stage_matcher_complaint(trial->matcher);
  if (complaint != NULL)
    main_complain(complaint);
}

/* ---- Input --------------------------------------------------------------------------------- */

/* A log's last line without a newline is still being written, or was cut: an address in it may be
 * another's. A console's may be a prompt. */
static void
take_rest(Trial *trial, const char *path, const char *line, gsize length)
{
  if (trial->is_console) {
    take_line(trial, line, length);
    return;
  }
  g_autofree char *message =
      g_strdup_printf("%s: its last line is cut, and left out", strcmp(path, "-") ? path : "stdin");
  main_complain(message);
}

static gboolean
read_file(Trial *trial, const char *path, GError **error)
{
  gboolean is_stdin = strcmp(path, "-") == 0;
  FILE *file = is_stdin ? stdin : fopen(path, "re");
  char *line = NULL; /* getline's */
  size_t size = 0;
  ssize_t length;
  while (file != NULL && (length = getline(&line, &size, file)) >= 0) {
    if (length > 0 && line[length - 1] == '\n')
      take_line(trial, line, (gsize)length - 1);
    else
      take_rest(trial, path, line, (gsize)length);
  }
  int cause = errno;
  gboolean ok = file != NULL && !ferror(file);
  free(line);
  if (file != NULL && !is_stdin)
    fclose(file);
  if (!ok)
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(cause), "%s: %s", path,
                g_strerror(cause));
  return ok;
}

/* ---- Beginning ----------------------------------------------------------------------------- */

static gboolean
read_sources(Trial *trial, const char *stages, GError **error)
{
  g_auto(GStrv) names =
      stages != NULL ? g_strsplit(stages, ",", -1) : data_names(DATA_STAGES, ".yaml");
  guint n_consoles = 0;
  trial->sources = g_ptr_array_new_with_free_func(source_free);
  for (char **name = names; *name != NULL; name++) {
    StageSource *source = data_stage_source(*name, error);
    if (source == NULL)
      return FALSE;
    n_consoles += stage_source_reads_console(source) ? 1 : 0;
    g_ptr_array_add(trial->sources, source);
  }
  trial->is_console =
      trial->console != NODE_NONE || (n_consoles > 0 && n_consoles == trial->sources->len);
  return TRUE;
}

static gboolean
read_layout(Trial *trial, const Texts *texts, GError **error)
{
  if (texts->layout == NULL && texts->console == NULL)
    return TRUE;
  if (texts->layout == NULL) {
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                "--console names a node of a layout: give --layout, too");
    return FALSE;
  }
  trial->layout = data_layout(texts->layout, error);
  if (trial->layout == NULL)
    return FALSE;
  if (texts->console != NULL)
    trial->console = layout_find(trial->layout, texts->console);
  if (texts->console != NULL && trial->console == NODE_NONE) {
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "%s has no node %s", texts->layout,
                texts->console);
    return FALSE;
  }
  trial->finder = seat_finder_new(trial->layout);
  return TRUE;
}

static gboolean
begin(Trial *trial, const Texts *texts, GError **error)
{
  if (!read_layout(trial, texts, error) || !read_sources(trial, texts->stages, error))
    return FALSE;
  trial->all = texts->all;
  trial->matcher = stage_matcher_new((const StageSource *const *)trial->sources->pdata,
                                     trial->sources->len, trial->finder);
  return TRUE;
}

static void
print_sum(const Trial *trial)
{
  printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " lines", trial->n_taken, trial->n_lines);
  if (trial->layout != NULL)
    printf(", %" G_GUINT64_FORMAT " of no seat", trial->n_strangers);
  putchar('\n');
}

int
main_match(int argc, char **argv)
{
  Texts texts = {0};
  const GOptionEntry entries[] = {
      {"stages", 0, 0, G_OPTION_ARG_STRING, &texts.stages,
       "shipped ones by name, or files, commas between; all that are shipped", "NAME,…"},
      {"layout", 0, 0, G_OPTION_ARG_FILENAME, &texts.layout,
       "whose seats: a file, or a shipped layout by name", "LAYOUT"},
      {"console", 0, 0, G_OPTION_ARG_STRING, &texts.console,
       "the files are what this node's console showed", "NODE"},
      {"all", 0, 0, G_OPTION_ARG_NONE, &texts.all, "print the other lines as well", NULL},
      G_OPTION_ENTRY_NULL,
  };
  g_autoptr(GError) error = NULL;
  Trial trial = {.console = NODE_NONE};
  gboolean ok = main_parse_entries(
      entries, "FILE…", "Says which stage of whose boot each line tells; `-` is standard input.",
      &argc, &argv, &error);
  if (ok && argc < 2) {
    g_set_error(&error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "match takes one file or more");
    ok = FALSE;
  }
  ok = ok && begin(&trial, &texts, &error);
  for (int i = 1; ok && i < argc; i++)
    ok = read_file(&trial, argv[i], &error);
  if (ok)
    print_sum(&trial);
  int status = trial.n_taken > 0 ? 0 : EXIT_NOTHING;
  trial_clear(&trial);
  g_free(texts.stages);
  g_free(texts.layout);
  g_free(texts.console);
  return ok ? main_finish_output(status) : main_fail(error);
}
