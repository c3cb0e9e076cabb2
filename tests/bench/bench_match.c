/* Lines of log a second that are held against patterns of stages, limits set. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/data.h"

#define LINES 1000000

static GPtrArray *
read_sources(const char *const *names)
{
  GPtrArray *sources = g_ptr_array_new_with_free_func((GDestroyNotify)(void *)stage_source_free);
  for (; *names != NULL; names++) {
    g_autoptr(GError) error = NULL;
    StageSource *source = data_stage_source(*names, &error);
    if (source == NULL)
      g_error("%s", error->message);
    g_ptr_array_add(sources, source);
  }
  return sources;
}

static void
run(const char *what, const char *const *names, char **lines)
{
  g_autoptr(Layout) layout = data_layout("tests/unit/logs/lab.yaml", NULL);
  g_autoptr(SeatFinder) finder = seat_finder_new(layout);
  g_autoptr(GPtrArray) sources = read_sources(names);
  g_autoptr(StageMatcher) matcher =
      stage_matcher_new((const StageSource *const *)sources->pdata, sources->len, finder);
  guint taken = 0;
  StageSighting sighting;
  gint64 start = g_get_monotonic_time();
  for (guint i = 0, at = 0; i < LINES; i++, at++) {
    if (lines[at] == NULL)
      at = 0;
    taken += stage_matcher_take(matcher, lines[at], strlen(lines[at]), &sighting) ? 1 : 0;
  }
  double seconds = (double)(g_get_monotonic_time() - start) / G_USEC_PER_SEC;
  g_assert(taken > 0);
  printf("match %-22s %7d lines, %2.0f %% taken %10.0f lines/s\n", what, LINES,
         100.0 * taken / LINES, LINES / seconds);
}

int
main(void)
{
  static const char *const dnsmasq[] = {"dnsmasq", NULL};
  static const char *const boot_server[] = {"dnsmasq", "nginx", "mountd", "nbd-server", NULL};
  static const char *const logs[] = {"dnsmasq", "nginx", "mountd", "nbd-server"};
  g_autoptr(GString) all = g_string_new(NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(logs); i++) {
    g_autofree char *path = g_strdup_printf("tests/unit/logs/%s.log", logs[i]), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_string_append(all, text);
  }
  g_auto(GStrv) lines = g_strsplit(g_strchomp(all->str), "\n", -1);
  g_auto(GStrv) shipped = data_names(DATA_STAGES, ".yaml");
  run("dnsmasq", dnsmasq, lines);
  run("a boot server's four", boot_server, lines);
  run("all that are shipped", (const char *const *)shipped, lines);
  return 0;
}
