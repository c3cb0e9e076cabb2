/* Any bytes are refused with positions, or are a job whose commands can be had on a machine, with
 * no placeholder left in them, and whose patterns take figures out of any output: here the file's
 * own lines. */
#include "fuzz.h"

#include <math.h>

#include "model/job.h"

static Layout *lab;

static void
check_commands(const Job *job)
{
  for (NodeId node = 0; node < lab->n_nodes; node++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(JobCommands) commands =
        job_commands_new(job->run, job->name, lab, node, NULL, 0, &error);
    if (commands == NULL) /* a default of a kind, made of placeholders */
      fuzz_check_error(error);
    else
      g_assert_true(commands->lines[JOB_COMMAND] != NULL);
  }
}

static void
check_words(const Job *job, char **lines)
{
  for (guint i = 0; i < 64 && lines[i] != NULL; i++) {
    const Argument given = {"source", lines[i]};
    g_autoptr(GError) error = NULL;
    g_autoptr(JobCommands) commands =
        job_commands_new(job->run, job->name, lab, 0, &given, 1, &error);
    if (commands == NULL)
      fuzz_check_error(error);
  }
}

static void
check_figures(const Job *job, char **lines)
{
  g_autoptr(PatternMatch) match = pattern_match_new();
  JobFigures figures;
  job_figures_init(&figures);
  for (guint i = 0; i < 64 && lines[i] != NULL; i++)
    job_figures_take(&figures, job->run, match, lines[i], strlen(lines[i]));
  g_assert_true(isnan(figures.bytes) || figures.bytes >= 0);
  g_assert_true(isnan(figures.seconds) || figures.seconds >= 0);
  g_assert_true(figures.status >= -1 && figures.status <= 255);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup((const char *)data, size);
  g_autoptr(GError) error = NULL;
  if (lab == NULL) {
    g_autofree char *layout = NULL;
    gsize length;
    g_assert_true(g_file_get_contents(FUZZ_LAB, &layout, &length, NULL));
    lab = layout_parse(FUZZ_LAB, layout, length, NULL);
    g_assert_nonnull(lab);
  }
  g_autoptr(Job) job = job_parse("t.yaml", text, size, &error);
  if (job == NULL) {
    fuzz_check_positions(error, "t.yaml");
    return 0;
  }
  if (job->run == NULL)
    return 0;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  check_commands(job);
  check_words(job, lines);
  check_figures(job, lines);
  return 0;
}
