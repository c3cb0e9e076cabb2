#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/sim_lab.h"

#define PATIENCE (600 * TIME_SECOND)

static const char *const stages[MARK_N] = {"",       "firmware",  "dhcp", "tftp",
                                           "kernel", "initramfs", "root", "login"};

static void
see_observe(SimLab *lab, gint64 t, const ObserveEvent *observe)
{
  const char *name = lab->layout->nodes[observe->node].name;
  g_hash_table_replace(lab->facts, g_strjoin(" ", name, observe->fact, NULL),
                       g_strdup(observe->value));
  if (g_str_equal(observe->fact, "power")) {
    if (g_str_equal(observe->value, "on"))
      lab->marks[observe->node][MARK_ON] = t;
    return;
  }
  if (!g_str_equal(observe->fact, "stage"))
    return;
  for (guint mark = MARK_FIRMWARE; mark < MARK_N; mark++)
    if (g_str_equal(stages[mark], observe->value))
      lab->marks[observe->node][mark] = t;
}

static void
see_samples(SimLab *lab, gint64 t, const SamplesEvent *samples)
{
  if (samples->columns != NULL) {
    g_assert(lab->columns == NULL);
    lab->n_columns = samples->n;
    lab->columns = g_new0(char *, samples->n + 1);
    for (guint i = 0; i < samples->n; i++)
      lab->columns[i] = g_strdup(samples->columns[i]);
  }
  LabSample sample = {t, g_memdup2(samples->values, samples->n * sizeof *samples->values)};
  g_array_append_val(lab->samples, sample);
}

static void
write_down(GString *said, const Event *event)
{
  g_string_append_printf(said, "%" G_GINT64_FORMAT " %s ", event->t, event_kind_name(event->kind));
  if (event->kind == EVENT_OBSERVE)
    g_string_append_printf(said, "%u %s %s", event->observe.node, event->observe.fact,
                           event->observe.value);
  else if (event->kind == EVENT_RESULT)
    g_string_append_printf(said, "%u %u %s %s", event->result.request, event->result.node,
                           verdict_name(event->result.verdict), event->result.text);
  else if (event->kind == EVENT_LINE)
    g_string_append_printf(said, "%u %u %s %s", event->line.request, event->line.node,
                           event->line.stream, event->line.text);
  else if (event->kind == EVENT_SAMPLES)
    for (guint i = 0; i < event->samples.n; i++)
      g_string_append_printf(said, "%" G_GINT64_FORMAT " ", event->samples.values[i]);
  g_string_append_c(said, '\n');
}

static void
see(const Event *event, gpointer data)
{
  SimLab *lab = data;
  if (lab->said != NULL)
    write_down(lab->said, event);
  if (event->kind == EVENT_OBSERVE)
    see_observe(lab, event->t, &event->observe);
  else if (event->kind == EVENT_SAMPLES)
    see_samples(lab, event->t, &event->samples);
  else if (event->kind == EVENT_LINE && g_str_equal(event->line.stream, "figures")) {
    g_free(lab->figures[event->line.node]);
    lab->figures[event->line.node] = g_strdup(event->line.text);
  }
}

static void
sample_clear(gpointer data)
{
  g_free(((LabSample *)data)->values);
}

SimLab *
sim_lab_new(const char *layout, guint64 seed)
{
  g_autoptr(GError) error = NULL;
  SimLab *lab = g_new0(SimLab, 1);
  lab->layout = layout_parse("lab", layout, strlen(layout), &error);
  if (lab->layout == NULL)
    fail_msg("%s", error->message);
  assert_true(lab->layout->n_nodes <= SIM_LAB_MAX_NODES);
  lab->jobs = job_set_new();
  memset(lab->marks, 0xff, sizeof lab->marks);
  lab->facts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  lab->samples = g_array_new(FALSE, FALSE, sizeof(LabSample));
  g_array_set_clear_func(lab->samples, sample_clear);
  lab->check = backend_check_new(lab->layout, see, lab);
  backend_check_start(lab->check,
                      sim_new("sim", lab->layout, lab->jobs, seed, backend_check_post, lab->check));
  return lab;
}

void
sim_lab_free(SimLab *lab)
{
  if (lab == NULL)
    return;
  g_autofree char *violation = g_strdup(backend_check_violation(lab->check));
  backend_check_free(lab->check);
  for (guint i = 0; i < SIM_LAB_MAX_NODES; i++)
    g_free(lab->figures[i]);
  g_hash_table_unref(lab->facts);
  g_array_unref(lab->samples);
  g_strfreev(lab->columns);
  job_set_free(lab->jobs);
  layout_free(lab->layout);
  if (lab->said != NULL)
    g_string_free(lab->said, TRUE);
  g_free(lab);
  if (violation != NULL)
    fail_msg("%s", violation);
}

Job *
sim_lab_add_job(SimLab *lab, const char *name, Protocol protocol, double cap, double bytes)
{
  Job *job = g_new0(Job, 1);
  job->name = g_strdup(name);
  job->about = g_strdup("");
  job->protocol = protocol;
  job->moves_data = TRUE;
  job->cap = cap;
  job->bytes = bytes;
  job_set_take(lab->jobs, job);
  return job;
}

NodeId
sim_lab_node(const SimLab *lab, const char *name)
{
  NodeId node = layout_find(lab->layout, name);
  if (node == NODE_NONE)
    fail_msg("no node %s", name);
  return node;
}

GArray *
sim_lab_nodes(const SimLab *lab, const char *set)
{
  GArray *nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));
  const NodeId *members;
  guint n;
  if (layout_group(lab->layout, set, &members, &n))
    return g_array_append_vals(nodes, members, n);
  g_auto(GStrv) names = g_strsplit(set, ",", -1);
  for (guint i = 0; names[i] != NULL; i++) {
    NodeId node = sim_lab_node(lab, names[i]);
    g_array_append_val(nodes, node);
  }
  return nodes;
}

guint32
sim_lab_ask(SimLab *lab, Operation operation, const char *set, const char *const *arguments)
{
  g_autoptr(GArray) nodes = sim_lab_nodes(lab, set);
  return backend_check_submit(lab->check, operation, (const NodeId *)(const void *)nodes->data,
                              nodes->len, TIME_NEVER, arguments);
}

void
sim_lab_do(SimLab *lab, Operation operation, const char *set, const char *const *arguments)
{
  guint32 request = sim_lab_ask(lab, operation, set, arguments);
  g_autoptr(GArray) nodes = sim_lab_nodes(lab, set);
  assert_true(backend_check_finish(lab->check, request, sim_lab_now(lab) + PATIENCE));
  for (guint i = 0; i < nodes->len; i++) {
    NodeId node = g_array_index(nodes, NodeId, i);
    if (backend_check_verdict(lab->check, request, node) != VERDICT_OK)
      fail_msg("%s", backend_check_text(lab->check, request, node));
  }
}

const char *
sim_lab_fails(SimLab *lab, Operation operation, const char *node, const char *const *arguments)
{
  guint32 request = sim_lab_ask(lab, operation, node, arguments);
  assert_true(backend_check_finish(lab->check, request, sim_lab_now(lab) + PATIENCE));
  assert_int_equal(backend_check_verdict(lab->check, request, sim_lab_node(lab, node)),
                   VERDICT_FAILED);
  return backend_check_text(lab->check, request, sim_lab_node(lab, node));
}

/* The node a property belongs to, by its path. */
static char *
owner(const SimLab *lab, const char *path)
{
  if (!g_str_has_prefix(path, "link:"))
    return g_strndup(path, strcspn(path, "./"));
  g_autofree char *name = g_strndup(path + 5, strcspn(path + 5, "."));
  int link = layout_find_link(lab->layout, name);
  assert_true(link >= 0);
  return g_strdup(lab->layout->nodes[lab->layout->links[link].from].name);
}

void
sim_lab_set(SimLab *lab, const char *path, const char *value)
{
  g_autofree char *node = owner(lab, path);
  sim_lab_do(lab, OP_SET, node, WITH("path", path, "value", value));
}

char *
sim_lab_get(SimLab *lab, const char *path)
{
  g_autofree char *node = owner(lab, path);
  const char *fact = g_str_has_prefix(path, "link:") ? path : path + strlen(node) + 1;
  g_autofree char *key = g_strjoin(" ", node, fact, NULL);
  g_hash_table_remove(lab->facts, key);
  sim_lab_do(lab, OP_GET, node, WITH("path", path));
  return g_strdup(g_hash_table_lookup(lab->facts, key));
}

void
sim_lab_watch(SimLab *lab)
{
  g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));
  for (NodeId i = 0; i < lab->layout->n_nodes; i++)
    g_array_append_val(nodes, i);
  backend_check_submit(lab->check, OP_WATCH, (const NodeId *)(const void *)nodes->data, nodes->len,
                       TIME_NEVER, NULL);
}

void
sim_lab_keep_all(SimLab *lab)
{
  lab->said = g_string_new(NULL);
}

gint64
sim_lab_now(const SimLab *lab)
{
  return backend_check_now(lab->check);
}

void
sim_lab_run(SimLab *lab, double seconds)
{
  backend_check_run(lab->check, sim_lab_now(lab) + (gint64)(seconds * 1e9));
}

static gboolean
all_up(const SimLab *lab, const GArray *nodes, gint64 since)
{
  for (guint i = 0; i < nodes->len; i++)
    if (lab->marks[g_array_index(nodes, NodeId, i)][MARK_LOGIN] <= since)
      return FALSE;
  return TRUE;
}

void
sim_lab_boot(SimLab *lab, const char *set, const char *entry)
{
  g_autoptr(GArray) nodes = sim_lab_nodes(lab, set);
  gint64 since = sim_lab_now(lab);
  sim_lab_do(lab, OP_BOOT_DEVICE, set, WITH("device", "pxe", "entry", entry));
  sim_lab_do(lab, OP_ON, set, NULL);
  while (!all_up(lab, nodes, since))
    assert_true(backend_check_step(lab->check, since + PATIENCE));
}

double
sim_lab_boot_time(const SimLab *lab, const char *name)
{
  const gint64 *marks = lab->marks[sim_lab_node(lab, name)];
  assert_true(marks[MARK_TFTP] >= 0 && marks[MARK_LOGIN] > marks[MARK_TFTP]);
  return (double)(marks[MARK_LOGIN] - marks[MARK_TFTP]) / 1e9;
}

double
sim_lab_mean_boot_time(const SimLab *lab, const char *set)
{
  g_autoptr(GArray) nodes = sim_lab_nodes(lab, set);
  double sum = 0;
  for (guint i = 0; i < nodes->len; i++)
    sum += sim_lab_boot_time(lab, lab->layout->nodes[g_array_index(nodes, NodeId, i)].name);
  return sum / nodes->len;
}

static gint64
sum_columns(const SimLab *lab, const LabSample *sample, const char *prefix, const char *suffix)
{
  gint64 sum = 0;
  for (guint i = 0; i < lab->n_columns; i++)
    if (g_str_has_prefix(lab->columns[i], prefix) && g_str_has_suffix(lab->columns[i], suffix))
      sum += sample->values[i];
  return sum;
}

/* Between samples a counter stands still, so the one at or before T tells what it was. */
static const LabSample *
sample_at(const SimLab *lab, gint64 t)
{
  const LabSample *found = NULL;
  for (guint i = 0; i < lab->samples->len; i++) {
    const LabSample *sample = &g_array_index(lab->samples, LabSample, i);
    if (sample->t > t)
      break;
    found = sample;
  }
  return found;
}

double
sim_lab_peak(const SimLab *lab, const char *prefix, const char *suffix, gint64 from, gint64 to)
{
  gint64 peak = 0;
  for (guint i = 0; i < lab->samples->len; i++) {
    const LabSample *end = &g_array_index(lab->samples, LabSample, i);
    if (end->t - TIME_SECOND < from || end->t > to)
      continue;
    const LabSample *start = sample_at(lab, end->t - TIME_SECOND);
    peak =
        MAX(peak, sum_columns(lab, end, prefix, suffix) - sum_columns(lab, start, prefix, suffix));
  }
  return (double)peak;
}

gint64
sim_lab_total(const SimLab *lab, const char *prefix, const char *suffix)
{
  assert_true(lab->samples->len > 0);
  return sum_columns(lab, &g_array_index(lab->samples, LabSample, lab->samples->len - 1), prefix,
                     suffix);
}

double
sim_lab_figure(const SimLab *lab, const char *name, const char *key)
{
  const char *figures = lab->figures[sim_lab_node(lab, name)];
  if (figures == NULL)
    return NAN;
  g_auto(GStrv) words = g_strsplit(figures, " ", -1);
  for (guint i = 0; words[i] != NULL; i++)
    if (g_str_has_prefix(words[i], key) && words[i][strlen(key)] == '=')
      return g_ascii_strtod(words[i] + strlen(key) + 1, NULL);
  return NAN;
}

static int
compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double
sim_lab_median(double *values, guint n)
{
  qsort(values, n, sizeof *values, compare);
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

#define SERVER(NFSD)                                                                               \
  "  slx1:\n"                                                                                      \
  "    switch: sw1\n"                                                                              \
  "    subnet: pool\n"                                                                             \
  "    cores: 16\n"                                                                                \
  "    disk: {rate: 100 MB/s}\n"                                                                   \
  "    nfsd: " NFSD "\n"                                                                           \
  "    bonds:\n"                                                                                   \
  "      bond0: {ports: [eth0, eth1, eth2, eth3], speed: 1 Gbit/s, mode: balance-xor, policy: "    \
  "layer2, era: 2.6.32, mac: 52:54:00:21:00:10, ip: 10.21.0.254}\n"

#define HEAD                                                                                       \
  "defaults: {power: sim, exec: sim, console: sim, server: slx1}\n"                                \
  "subnets: {pool: {net: 10.21.0.0/24}}\n"

#define BOOT "boot: {default: \"ubuntu-10.04::nfs\", profile: pxe, simulate: {%s}}\n"

char *
sim_lab_room(guint n, guint step, guint nfsd, const char *simulate)
{
  return g_strdup_printf(
      "lab: One room\n" HEAD "switches: {sw1: {}}\nservers:\n" SERVER(
          "%u") "clients:\n"
                "  a[01-%02u]: {switch: sw1, subnet: pool, speed: 1 Gbit/s, mac: 52:54:00:0a:00:00 "
                "step %u, "
                "ip: 10.21.0.1 step 1}\n"
                "rooms: {roomA: {title: Room A, seats: \"a[01-%02u]\", columns: 6}}\n" BOOT,
      nfsd, n, step, n, simulate ? simulate : "");
}

char *
sim_lab_two_rooms(gboolean odd, const char *simulate)
{
  const char *macs[] = {odd ? "41" : "40", odd ? "43" : "42"};
  return g_strdup_printf(
      "lab: Two rooms\n" HEAD "switches: {sw1: {}, sw2: {}, sw3: {}}\n"
      "links:\n"
      "  - {from: sw1, to: sw2, speed: 10 Gbit/s}\n"
      "  - {from: sw2, to: sw3, speed: 1 Gbit/s}\n"
      "servers:\n" SERVER(
          "64") "clients:\n"
                "  a[01-17]: {switch: sw1, subnet: pool, speed: 1 Gbit/s, mac: 52:54:00:0a:00:00 "
                "step 2, "
                "ip: 10.21.0.1 step 1}\n"
                "  b[01-03]: {switch: sw2, subnet: pool, speed: 1 Gbit/s}\n"
                "  b[04-17]: {switch: sw3, subnet: pool, speed: 1 Gbit/s}\n"
                "  b[01-17]: {mac: 52:54:00:0b:00:00 step 2, ip: 10.21.0.18 step 1}\n"
                "  a04: {mac: \"52:54:00:0a:00:%s\"}\n"
                "  a05: {mac: \"52:54:00:0a:00:%s\"}\n"
                "  b04: {mac: \"52:54:00:0b:00:%s\"}\n"
                "  b05: {mac: \"52:54:00:0b:00:%s\"}\n"
                "rooms:\n"
                "  roomA: {title: Room A, seats: \"a[01-17]\", columns: 6}\n"
                "  roomB: {title: Room B, seats: \"b[01-17]\", columns: 6}\n" BOOT,
      macs[0], macs[1], macs[0], macs[1], simulate ? simulate : "");
}
