/* Large labs, in 40 rooms: how long a layout of 1,000 seats takes to open, a storm of 1,000 and of
 * 10,000 seats from the command to the last login, in jump mode, and the memory at the end. Twice
 * an aim fails. CPU time: other programs on the machine are not to be measured. */
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "backends/sim/sim.h"
#include "session/data.h"
#include "session/session.h"

#define ROOMS 40
#define OPENINGS 9
#define AIM_OPEN_S 0.2
#define AIM_STORM_S 2.0
#define AIM_MIB 200.0

static const char script_source[] = "boot @all as storm\nwait boot storm login timeout 3600 s\n";

static double
cpu_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void
add_room(GString *clients, GString *rooms, guint room, guint seats)
{
  g_string_append_printf(clients,
                         "  r%02un[001-%03u]: {switch: sw%u, subnet: pool, speed: 1 Gbit/s, "
                         "mac: '52:54:%02x:00:00:00 step 1', ip: 10.%u.0.1 step 1}\n",
                         room, seats, room, room, room);
  g_string_append_printf(rooms,
                         "  room%u: {title: Room %u, seats: 'r%02un[001-%03u]', columns: 10}\n",
                         room, room, room, seats);
}

/* A switch a room, and a server with four ports of 10 Gbit/s. Every read of its boot waits its turn
 * for minutes: the deadlines are the storm's, not a published lab's. */
static char *
large_lab(guint seats)
{
  g_autoptr(GString) text = g_string_new("lab: Large\n"
                                         "defaults: {power: sim, exec: sim, server: srv}\n"
                                         "subnets: {pool: {net: 10.0.0.0/8}}\n"
                                         "deadlines: {root: 3600 s, tftp: 600 s}\n"
                                         "switches: {core: {}");
  g_autoptr(GString) clients = g_string_new("clients:\n"), rooms = g_string_new("rooms:\n");
  for (guint i = 0; i < ROOMS; i++)
    g_string_append_printf(text, ", sw%u: {}", i);
  g_string_append(text, "}\nlinks:\n");
  for (guint i = 0; i < ROOMS; i++) {
    g_string_append_printf(text, "  - {from: core, to: sw%u, speed: 10 Gbit/s}\n", i);
    add_room(clients, rooms, i, seats / ROOMS);
  }
  g_string_append_printf(text,
                         "servers:\n  srv: {switch: core, subnet: pool, nfsd: 512, bonds: {bond0: "
                         "{ports: [eth0, eth1, eth2, eth3], speed: 10 Gbit/s, mode: balance-xor, "
                         "policy: layer2+3, era: 5.18, mac: '52:54:ff:00:00:10', "
                         "ip: 10.255.0.1}}}\n%s%s",
                         clients->str, rooms->str);
  return g_strdup(text->str);
}

static gboolean
bench_open(GError **error)
{
  g_autofree char *text = large_lab(1000);
  double begin = cpu_seconds();
  for (guint i = 0; i < OPENINGS; i++) {
    g_autoptr(Layout) layout = layout_parse("large", text, strlen(text), error);
    if (layout == NULL)
      return FALSE;
  }
  double took = (cpu_seconds() - begin) / OPENINGS;
  printf("scale: a layout of 1000 seats opens in %.1f ms of CPU (aim %.0f ms)\n", took * 1e3,
         AIM_OPEN_S * 1e3);
  return took <= 2 * AIM_OPEN_S;
}

/* Simulated seconds, or -1. RECORD may be NULL. */
static double
storm(const Layout *layout, const JobSet *jobs, const char *record, GError **error)
{
  SessionOptions options = {.layout = layout,
                            .core = {.seed = 1, .consent = CONSENT_YES},
                            .clock = CLOCK_JUMP,
                            .record = record,
                            .script_name = "storm",
                            .script_text = script_source};
  Script *script = script_parse("storm", script_source, strlen(script_source), error);
  if (script == NULL)
    return -1;
  g_autoptr(Session) session = session_new(&options, error);
  double seconds = -1;
  if (session != NULL &&
      session_add_backend(session, sim_new("sim", layout, jobs, 1, session_post, session), error)) {
    session_start(session);
    if (session_run(session, script, error) == 0)
      seconds = (double)session_now(session) / 1e9;
  }
  script_free(script);
  return seconds;
}

static double
memory_mib(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1024;
}

/* AIM in s of CPU; 0: the simulated time. */
static gboolean
bench_storm(guint seats, const char *record, double aim, GError **error)
{
  g_autofree char *text = large_lab(seats);
  g_autoptr(Layout) layout = layout_parse("large", text, strlen(text), error);
  g_autoptr(JobSet) jobs = layout != NULL ? data_jobs(error) : NULL;
  if (jobs == NULL)
    return FALSE;
  double begin = cpu_seconds();
  double simulated = storm(layout, jobs, record, error);
  double took = cpu_seconds() - begin;
  if (simulated < 0)
    return FALSE;
  double mib = memory_mib();
  printf("scale: %u seats boot in %.2f s of CPU%s, %.0f s simulated: %.0f times as fast "
         "(aim %.0f s); %.0f MiB at most (aim %.0f MiB)\n",
         seats, took, record != NULL ? ", recorded" : "", simulated, simulated / took,
         aim > 0 ? aim : simulated, mib, AIM_MIB);
  return took <= 2 * (aim > 0 ? aim : simulated) && mib <= 2 * AIM_MIB;
}

static gboolean
bench(GError **error)
{
  g_autofree char *folder = g_dir_make_tmp("pult-scale-XXXXXX", error);
  if (folder == NULL)
    return FALSE;
  g_autofree char *record = g_build_filename(folder, "storm.jsonl", NULL);
  gboolean good = bench_open(error) && bench_storm(1000, record, AIM_STORM_S, error);
  g_remove(record);
  g_rmdir(folder);
  return good && bench_storm(10000, NULL, 0, error);
}

int
main(void)
{
  g_autoptr(GError) error = NULL;
  gboolean good = bench(&error);
  if (error != NULL)
    fprintf(stderr, "bench_scale: %s\n", error->message);
  return good ? 0 : 1;
}
