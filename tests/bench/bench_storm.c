/* The two-room storm in jump mode, recorded: all 34 seats of the default lab boot at once, from the
 * first event to a transcript that is on its way to the disk. Aim: 10 ms; twice that fails. */
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backends/sim/sim.h"
#include "session/data.h"
#include "session/session.h"

#define AIM_MS 10.0
#define RUNS 15

static const char script_source[] = "boot @all as storm\nwait boot storm login\n";

typedef struct {
  Layout *layout;
  JobSet *jobs;
  Script *script;
  char *path;
  guint64 lines;
} Storm;

static int
storm_once(Storm *storm, GError **error)
{
  SessionOptions options = {.layout = storm->layout,
                            .core = {.seed = 1, .consent = CONSENT_YES},
                            .clock = CLOCK_JUMP,
                            .record = storm->path,
                            .script_name = "storm",
                            .script_text = script_source};
  g_remove(storm->path);
  g_autoptr(Session) session = session_new(&options, error);
  if (session == NULL)
    return -1;
  Backend *sim = sim_new("sim", storm->layout, storm->jobs, 1, session_post, session);
  if (!session_add_backend(session, sim, error))
    return -1;
  session_start(session);
  int status = session_run(session, storm->script, error);
  SessionRecord record;
  session_record_status(session, &record);
  storm->lines = record.lines;
  return status;
}

/* CPU time: other programs on the machine are not to be measured. */
static double
cpu_ms(void)
{
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int
compare(gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int
bench(Storm *storm, GError **error)
{
  double ms[RUNS];
  for (guint i = 0; i < RUNS; i++) {
    double begin = cpu_ms();
    if (storm_once(storm, error) != 0)
      return 1;
    ms[i] = cpu_ms() - begin;
  }
  g_remove(storm->path);
  qsort(ms, RUNS, sizeof *ms, compare);
  printf("storm: %.1f ms of CPU (median of %d, best %.1f), %" G_GUINT64_FORMAT " lines recorded "
         "(aim %.0f ms)\n",
         ms[RUNS / 2], RUNS, ms[0], storm->lines, AIM_MS);
  return ms[RUNS / 2] <= 2 * AIM_MS ? 0 : 1;
}

int
main(void)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp("pult-storm-XXXXXX", &error);
  Storm storm = {.layout = data_layout("openslx-two-rooms", &error)};
  int status = 1;
  if (storm.layout != NULL)
    storm.jobs = data_jobs(&error);
  if (storm.jobs != NULL && folder != NULL) {
    storm.script = script_parse("storm", script_source, strlen(script_source), &error);
    storm.path = g_build_filename(folder, "storm.jsonl", NULL);
    status = bench(&storm, &error);
    g_rmdir(folder);
  }
  if (error != NULL)
    fprintf(stderr, "bench_storm: %s\n", error->message);
  g_free(storm.path);
  script_free(storm.script);
  if (storm.jobs != NULL)
    job_set_free(storm.jobs);
  layout_free(storm.layout);
  return status;
}
