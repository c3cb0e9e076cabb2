#include "core/core_private.h"

#include <math.h>
#include <stdlib.h>

#include "model/layout_backend.h"
#include "model/units.h"

/* Cold: all but a tenth came from the disk, for other things may have been in memory (directories,
 * what the clients' own boot had read). Warm: next to nothing did. */
#define COLD_SHARE 0.9
#define WARM_SHARE 0.05

CacheProof
cache_proof(const char *asked, double disk, double data)
{
  if (*asked == '\0')
    return PROOF_NONE;
  if (!isfinite(disk) || !(data > 0))
    return PROOF_UNVERIFIED;
  if (g_str_equal(asked, "cold"))
    return disk >= COLD_SHARE * data ? PROOF_COLD : PROOF_UNVERIFIED;
  return disk <= WARM_SHARE * data ? PROOF_WARM : PROOF_UNVERIFIED;
}

/* ---- Servers --------------------------------------------------------------------------------- */

static NodeId
server_of(const CoreState *state, NodeId node)
{
  const LayoutNode *of = &state->layout->nodes[node];
  return of->kind == NODE_SERVER ? node : of->server;
}

static const Meter *
disk_of(const CoreState *state, NodeId server)
{
  if (server == NODE_NONE)
    return NULL;
  g_autofree char *name = g_strconcat(state->layout->nodes[server].name, ".disk", NULL);
  const Meter *meter = meters_find(state->meters, name);
  return meter && meter->t >= 0 ? meter : NULL;
}

char *
cache_servers(const CoreState *state, const GArray *nodes, CacheState wish)
{
  const char *control = wish == CACHE_COLD ? "drop-caches" : "fill-caches";
  g_autofree gboolean *seen = g_new0(gboolean, state->layout->n_nodes);
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; i < nodes->len && wish != CACHE_ANY; i++) {
    NodeId server = server_of(state, g_array_index(nodes, NodeId, i));
    if (server == NODE_NONE || seen[server])
      continue;
    seen[server] = TRUE;
    g_autofree char *line = layout_control(state->layout, server, control, "run", NULL);
    if (line)
      g_string_append_printf(names, "%s%s", names->len ? "," : "",
                             state->layout->nodes[server].name);
  }
  return names->len ? g_string_free(g_steal_pointer(&names), FALSE) : NULL;
}

/* ---- Of a load ------------------------------------------------------------------------------- */

void
cache_begin(CoreState *state, Load *load, const Plan *plan)
{
  load->server = server_of(state, g_array_index(plan->nodes, NodeId, 0));
  for (guint i = 1; i < plan->nodes->len; i++)
    if (server_of(state, g_array_index(plan->nodes, NodeId, i)) != load->server)
      load->server = NODE_NONE;
  cache_started(state, load);
}

/* Until then the disk may be busy with what makes caches warm. */
void
cache_started(CoreState *state, Load *load)
{
  const Meter *disk = disk_of(state, load->server);
  load->disk_then = disk ? disk->value : -1;
}

/* What the seats themselves say the disk gave them; NAN when one did not say. */
static double
told_by_seats(const LoadRun *run)
{
  double sum = 0;
  for (guint i = 0; i < run->n; i++)
    if (run->seats[i].outcome == SEAT_OK)
      sum += run->seats[i].disk_bytes;
  return sum;
}

gboolean
cache_waits(const CoreState *state, const Load *load, gint64 end)
{
  const Meter *disk = disk_of(state, load->server);
  return *load->seen.cache && isnan(told_by_seats(&load->seen)) && disk && load->disk_then >= 0 &&
         disk->t <= end;
}

static double
disk_bytes(const CoreState *state, const Load *load)
{
  double told = told_by_seats(&load->seen);
  const Meter *disk = disk_of(state, load->server);
  if (isfinite(told))
    return told;
  return disk && load->disk_then >= 0 && disk->value >= load->disk_then
             ? (double)(disk->value - load->disk_then)
             : NAN;
}

static int
by_readers_and_size(gconstpointer a, gconstpointer b)
{
  const LoadSeat *left = a, *right = b;
  if (left->readers != right->readers)
    return left->readers < right->readers ? -1 : 1;
  return left->bytes > right->bytes ? -1 : left->bytes < right->bytes;
}

double
cache_data(const LoadSeat *seats, guint n)
{
  g_autofree LoadSeat *read = g_new(LoadSeat, n + 1);
  guint n_read = 0;
  for (guint i = 0; i < n; i++) {
    if (seats[i].outcome != SEAT_OK)
      continue;
    if (!isfinite(seats[i].bytes))
      return NAN;
    read[n_read++] = seats[i];
  }
  qsort(read, n_read, sizeof *read, by_readers_and_size);
  double data = 0, left = 0; /* seats the last one counted stands for */
  for (guint i = 0; i < n_read; i++) {
    if (i == 0 || read[i].readers != read[i - 1].readers || left < 1) {
      data += read[i].bytes;
      left = read[i].readers;
    }
    left--;
  }
  return data;
}

/* Seats that tell what the disk gave them tell each its own share. */
static double
shares_of(const LoadRun *run)
{
  double sum = 0;
  for (guint i = 0; i < run->n; i++)
    if (run->seats[i].outcome == SEAT_OK)
      sum += run->seats[i].bytes / run->seats[i].readers;
  return sum;
}

void
cache_decide(CoreState *state, Load *load)
{
  LoadRun *run = &load->seen;
  double disk = disk_bytes(state, load);
  double data = isfinite(told_by_seats(run)) ? shares_of(run) : cache_data(run->seats, run->n);
  run->proof = cache_proof(run->cache, disk, data);
  if (run->proof != PROOF_UNVERIFIED)
    return;
  if (run->n_ok > 0)
    figure_one(state, run->label, "unverified", "", run->n_ok, run->n_ok);
  if (!isfinite(disk) || !isfinite(data)) {
    core_note(state, SEVERITY_WARNING, NODE_NONE, "%s: %s unverified: %s", run->label, run->cache,
              isfinite(disk) ? "not every client told what it read"
                             : "no meter tells what the disk gave");
    return;
  }
  g_autofree char *gave = units_print(disk, DIMENSION_SIZE);
  g_autofree char *read = units_print(data, DIMENSION_SIZE);
  core_note(state, SEVERITY_WARNING, NODE_NONE,
            "%s: %s unverified: the disk gave %s, and %s were read", run->label, run->cache, gave,
            read);
}
