/* The simulator alone: boot storms of 34 seats in two rooms and of 1,000 in ten, watched ten times
 * a second. Aims: 5 ms and 1 s of CPU; twice that fails. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backends/sim/sim.h"

#define RUNS 9

typedef struct {
  guint64 n_events;
  guint n_up;
} Seen;

static void
see(const Event *event, gpointer data)
{
  Seen *seen = data;
  seen->n_events++;
  if (event->kind == EVENT_OBSERVE && strcmp(event->observe.value, "login") == 0)
    seen->n_up++;
}

static void
submit(Backend *sim, guint32 id, Operation operation, const GArray *nodes)
{
  RequestEvent request = {.id = id,
                          .backend = sim->name,
                          .operation = operation,
                          .nodes = (const NodeId *)(const void *)nodes->data,
                          .n_nodes = nodes->len,
                          .deadline = TIME_NEVER};
  sim->class->submit(sim, 0, &request);
}

static GArray *
nodes_of(const Layout *layout, gboolean clients_only)
{
  GArray *nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));
  for (NodeId i = 0; i < layout->n_nodes; i++)
    if (!clients_only || layout->nodes[i].kind == NODE_CLIENT)
      g_array_append_val(nodes, i);
  return nodes;
}

/* CPU time: other programs on the machine are not to be measured. */
static double
cpu_ms(void)
{
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double
storm(const Layout *layout, const JobSet *jobs, Seen *seen)
{
  g_autoptr(GArray) all = nodes_of(layout, FALSE), clients = nodes_of(layout, TRUE);
  double begin = cpu_ms();
  *seen = (Seen){0};
  g_autoptr(Backend) sim = sim_new("sim", layout, jobs, 1, see, seen);
  sim->class->start(sim, 0);
  submit(sim, 1, OP_WATCH, all);
  submit(sim, 2, OP_ON, clients);
  while (seen->n_up < clients->len)
    sim->class->advance(sim, sim->class->next_due(sim));
  return cpu_ms() - begin;
}

static int
compare(gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int
bench(const char *text, double aim_ms)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Layout) layout = layout_parse("bench", text, strlen(text), &error);
  g_autoptr(JobSet) jobs = job_set_new();
  double ms[RUNS];
  Seen seen;
  if (layout == NULL) {
    printf("%s\n", error->message);
    return 1;
  }
  for (guint i = 0; i < RUNS; i++)
    ms[i] = storm(layout, jobs, &seen);
  qsort(ms, RUNS, sizeof *ms, compare);
  printf("sim: %u seats boot in %.1f ms of CPU (median of %d, best %.1f), %" G_GUINT64_FORMAT
         " events (aim %.0f ms)\n",
         seen.n_up, ms[RUNS / 2], RUNS, ms[0], seen.n_events, aim_ms);
  return ms[RUNS / 2] <= 2 * aim_ms ? 0 : 1;
}

/* ROOMS rooms of SEATS, each behind a switch of its own. */
static char *
lab(guint rooms, guint seats)
{
  GString *switches = g_string_new("switches: {core: {}"), *links = g_string_new("links:\n");
  GString *clients = g_string_new("clients:\n");
  for (guint i = 0; i < rooms; i++) {
    g_string_append_printf(switches, ", s%u: {}", i);
    g_string_append_printf(links, "  - {from: core, to: s%u, speed: 10 Gbit/s}\n", i);
    g_string_append_printf(clients,
                           "  r%un[001-%03u]: {switch: s%u, subnet: pool, speed: 1 Gbit/s, "
                           "mac: \"52:54:00:%02x:00:00 step 1\", ip: 10.21.%u.1 step 1}\n",
                           i, seats, i, i + 1, i);
  }
  char *text = g_strdup_printf(
      "lab: Bench\ndefaults: {power: sim, exec: sim, server: srv}\n"
      "subnets: {pool: {net: 10.21.0.0/16}}\n%s}\n%sservers:\n  srv:\n    switch: core\n"
      "    subnet: pool\n    bonds:\n      bond0: {ports: [eth0, eth1, eth2, eth3], "
      "speed: 10 Gbit/s, mode: balance-xor, policy: layer2, era: 5.18, mac: 52:54:00:21:00:10, "
      "ip: 10.21.255.1}\n%s",
      switches->str, links->str, clients->str);
  g_string_free(switches, TRUE);
  g_string_free(links, TRUE);
  g_string_free(clients, TRUE);
  return text;
}

int
main(void)
{
  g_autofree char *small = lab(2, 17), *large = lab(10, 100);
  return bench(small, 5) + bench(large, 1000);
}
