#include "core/figure.h"
#include "core/meter.h"

#include <math.h>
#include <string.h>

#define SUM_MAX (G_GINT64_CONSTANT(1) << 62)

/* One meter in a sum. Counters are followed here step by step, so that neither a reset nor a source
 * that went and came again enters the sum. */
typedef struct {
  char *name;
  int index;    /* in Meters, as of generation; -1 no meter */
  guint serial; /* of the meter last followed; 0 none yet */
  guint part;   /* of its group, while there is a meter */
  gint64 last;  /* its total */
} Member;

/* Those members of a group that one source samples, at one instant. Ticks: times, and the sum at
 * them; `base` is the tick a window ago. */
typedef struct {
  char *source;
  guint serial;  /* of the source, as it came last */
  gint64 sum, t; /* as of now: read at t */
  gint64 gap;    /* of the time between the ticks, when there was no such source */
  GArray *times, *sums;
  guint base;
  double limit; /* bit/s that its members' lines carry */
  double rate;  /* over the window, bit/s; NAN until one has passed */
} Part;

typedef struct {
  const char *figure; /* interned: `bond.tx` */
  guint first, n;     /* its members */
  GArray *parts;
  double peak; /* bit/s; NAN until a window has passed */
} Group;

typedef enum { MEASURE_RATES, MEASURE_SEATS, MEASURE_SERVER } MeasureKind;

struct Measurement {
  char *source;
  MeasureKind kind;
  gint64 window;
  guint generation;
  GArray *members, *groups;
  double load_max, nfsd_max;
};

static void
member_clear(gpointer data)
{
  g_free(((Member *)data)->name);
}

static void
part_clear(gpointer data)
{
  Part *part = data;
  g_free(part->source);
  g_array_unref(part->times);
  g_array_unref(part->sums);
}

static void
group_clear(gpointer data)
{
  g_array_unref(((Group *)data)->parts);
}

static GArray *
parts_new(void)
{
  GArray *parts = g_array_new(FALSE, TRUE, sizeof(Part));
  g_array_set_clear_func(parts, part_clear);
  return parts;
}

static Group *
group_at(const Measurement *measurement, guint i)
{
  return &g_array_index(measurement->groups, Group, i);
}

static Part *
part_at(const Group *group, guint i)
{
  return &g_array_index(group->parts, Part, i);
}

static Member *
member_at(const Measurement *measurement, guint i)
{
  return &g_array_index(measurement->members, Member, i);
}

static Measurement *
measurement_alloc(MeasureKind kind, gint64 window)
{
  Measurement *measurement = g_new0(Measurement, 1);
  measurement->kind = kind;
  measurement->window = window;
  measurement->members = g_array_new(FALSE, TRUE, sizeof(Member));
  g_array_set_clear_func(measurement->members, member_clear);
  measurement->groups = g_array_new(FALSE, TRUE, sizeof(Group));
  g_array_set_clear_func(measurement->groups, group_clear);
  measurement->load_max = measurement->nfsd_max = NAN;
  return measurement;
}

void
measurement_free(Measurement *measurement)
{
  if (!measurement)
    return;
  g_array_unref(measurement->members);
  g_array_unref(measurement->groups);
  g_free(measurement->source);
  g_free(measurement);
}

static void
add_member(Measurement *measurement, char *name)
{
  Member member = {.name = name, .index = -1};
  g_array_append_val(measurement->members, member);
  group_at(measurement, measurement->groups->len - 1)->n++;
}

static void
add_group(Measurement *measurement, const char *what, const char *direction)
{
  g_autofree char *figure = g_strconcat(what, direction, NULL);
  Group group = {.figure = g_intern_string(figure),
                 .first = measurement->members->len,
                 .parts = parts_new(),
                 .peak = NAN};
  g_array_append_val(measurement->groups, group);
}

static const char *const directions[] = {".tx", ".rx"};

static void
add_bond(Measurement *measurement, const LayoutNode *node, const LayoutBond *bond)
{
  for (guint d = 0; d < 2; d++) {
    add_group(measurement, "bond", directions[d]);
    for (guint p = 0; p < bond->n_ports; p++)
      add_member(measurement,
                 g_strconcat(node->name, "/", node->as_server->ports[bond->ports[p]].name,
                             directions[d], NULL));
  }
}

static void
add_pair(Measurement *measurement, const char *figure, const char *meter)
{
  for (guint d = 0; d < 2; d++) {
    add_group(measurement, figure, directions[d]);
    add_member(measurement, g_strconcat(meter, directions[d], NULL));
  }
}

static void
add_seats(Measurement *measurement, const Layout *layout)
{
  for (guint i = 0; i < layout->n_nodes; i++) {
    if (layout->nodes[i].kind != NODE_CLIENT)
      continue;
    add_group(measurement, "seats", ".rx");
    add_member(measurement, g_strconcat(layout->nodes[i].name, ".rx", NULL));
  }
}

static gboolean
add_source(Measurement *measurement, const Layout *layout, const LayoutNode *node,
           const char *source, GError **error)
{
  const LayoutServer *server = node->as_server;
  if (g_str_equal(source, "bond") || g_str_has_prefix(source, "bond:")) {
    int bond = source[4] ? layout_find_bond(server, source + 5) : (server->n_bonds ? 0 : -1);
    if (bond >= 0) {
      add_bond(measurement, node, &server->bonds[bond]);
      return TRUE;
    }
  } else if (g_str_has_prefix(source, "port:")) {
    if (layout_find_port(server, source + 5) >= 0) {
      g_autofree char *meter = g_strconcat(node->name, "/", source + 5, NULL);
      add_pair(measurement, source + 5, meter);
      return TRUE;
    }
  } else if (g_str_has_prefix(source, "link:")) {
    if (layout_find_link(layout, source + 5) >= 0) {
      add_pair(measurement, source + 5, source);
      return TRUE;
    }
  } else if (measurement->kind == MEASURE_SEATS) {
    add_seats(measurement, layout);
    return TRUE;
  } else if (measurement->kind == MEASURE_SERVER) {
    add_group(measurement, "disk", ".bytes");
    add_member(measurement, g_strconcat(node->name, ".disk", NULL));
    add_group(measurement, "load", ".max");
    add_member(measurement, g_strconcat(node->name, ".load", NULL));
    add_group(measurement, "nfsd", ".max");
    add_member(measurement, g_strconcat(node->name, ".nfsd", NULL));
    return TRUE;
  }
  g_set_error(
      error, g_quark_from_static_string("pult-meter"), 0,
      "%s: nothing to measure by that name; there is bond, port:NAME, link:A-B, seats, server",
      source);
  return FALSE;
}

static const Meter *
member_meter(const Member *member, const Meters *meters)
{
  return member->index < 0 ? NULL : meters_at(meters, (guint)member->index);
}

static void
push_tick(Part *part)
{
  gint64 *last =
      part->times->len ? &g_array_index(part->times, gint64, part->times->len - 1) : NULL;
  if (last && part->t <= *last) { /* more samples of the same instant */
    g_array_index(part->sums, gint64, part->sums->len - 1) = part->sum;
    return;
  }
  g_array_append_val(part->times, part->t);
  g_array_append_val(part->sums, part->sum);
}

/* The part of GROUP that METER, which comes, belongs to. */
static guint
part_of(Group *group, const char *source, guint serial, const Meter *meter)
{
  for (guint i = 0; i < group->parts->len; i++) {
    Part *part = part_at(group, i);
    if (!g_str_equal(part->source, source))
      continue;
    if (part->serial != serial && meter->t > part->t) {
      part->gap += meter->t - part->t;
      part->t = meter->t;
      push_tick(part);
    }
    part->serial = serial;
    return i;
  }
  Part part = {.source = g_strdup(source),
               .serial = serial,
               .t = meter->t,
               .times = g_array_new(FALSE, FALSE, sizeof(gint64)),
               .sums = g_array_new(FALSE, FALSE, sizeof(gint64)),
               .rate = NAN};
  push_tick(&part);
  g_array_append_val(group->parts, part);
  return group->parts->len - 1;
}

/* Meters came or went: looks every member up again. */
static void
find_meters(Measurement *measurement, const Meters *meters)
{
  measurement->generation = meters_generation(meters);
  for (guint i = 0; i < measurement->members->len; i++) {
    Member *member = member_at(measurement, i);
    member->index = meters_index(meters, member->name);
  }
}

/* The meter of MEMBER, which counts on from what a new one shows now; NULL when there is none. */
static const Meter *
follow(Group *group, Member *member, const Meters *meters)
{
  const Meter *meter = member_meter(member, meters);
  if (!meter || meter->t < 0)
    return NULL;
  if (meter->serial != member->serial) {
    guint serial;
    const char *source = meters_source_of(meters, (guint)member->index, &serial);
    member->serial = meter->serial;
    member->last = meter->total;
    member->part = part_of(group, source, serial, meter);
  }
  return meter;
}

Measurement *
measurement_new(const Meters *meters, const Layout *layout, NodeId server, const char *source,
                gint64 window, GError **error)
{
  MeasureKind kind = g_str_equal(source, "seats")    ? MEASURE_SEATS
                     : g_str_equal(source, "server") ? MEASURE_SERVER
                                                     : MEASURE_RATES;
  g_autoptr(Measurement) measurement = measurement_alloc(kind, window);
  measurement->source = g_strdup(source);
  if (!add_source(measurement, layout, layout_node(layout, server), source, error))
    return NULL;
  find_meters(measurement, meters);
  for (guint g = 0; g < measurement->groups->len; g++) {
    Group *group = group_at(measurement, g);
    for (guint i = group->first; i < group->first + group->n; i++)
      follow(group, member_at(measurement, i), meters);
  }
  return g_steal_pointer(&measurement);
}

const char *
measurement_source(const Measurement *measurement)
{
  return measurement->source;
}

static GArray *
array_copy(const GArray *array, guint size)
{
  GArray *copy = g_array_new(FALSE, TRUE, size);
  g_array_append_vals(copy, array->data, array->len);
  return copy;
}

static GArray *
parts_copy(const GArray *parts)
{
  GArray *copy = parts_new();
  for (guint i = 0; i < parts->len; i++) {
    Part part = g_array_index(parts, Part, i);
    part.source = g_strdup(part.source);
    part.times = array_copy(part.times, sizeof(gint64));
    part.sums = array_copy(part.sums, sizeof(gint64));
    g_array_append_val(copy, part);
  }
  return copy;
}

Measurement *
measurement_clone(const Measurement *measurement)
{
  Measurement *copy = g_memdup2(measurement, sizeof *measurement);
  copy->source = g_strdup(measurement->source);
  copy->members = array_copy(measurement->members, sizeof(Member));
  g_array_set_clear_func(copy->members, member_clear);
  copy->groups = array_copy(measurement->groups, sizeof(Group));
  g_array_set_clear_func(copy->groups, group_clear);
  for (guint i = 0; i < copy->members->len; i++)
    member_at(copy, i)->name = g_strdup(member_at(copy, i)->name);
  for (guint g = 0; g < copy->groups->len; g++)
    group_at(copy, g)->parts = parts_copy(group_at(copy, g)->parts);
  return copy;
}

/* Drops ticks older than the window, half of them at a time; where no peak is asked for, all but
 * the last. The first tick stays: the mean is over all. */
static void
forget_ticks(const Measurement *measurement, Part *part)
{
  if (measurement->kind != MEASURE_RATES && part->times->len > 2)
    part->base = 2;
  else if (part->base < 64 || part->base < part->times->len / 2)
    return;
  guint drop = part->base - 1;
  g_array_remove_range(part->times, 1, drop);
  g_array_remove_range(part->sums, 1, drop);
  part->base -= drop;
}

static double
rate_since(const Part *part, guint base)
{
  guint last = part->times->len - 1;
  const gint64 *times = (const gint64 *)(gpointer)part->times->data;
  const gint64 *sums = (const gint64 *)(gpointer)part->sums->data;
  double span = (double)(times[last] - times[base]) / (double)TIME_SECOND;
  return (double)(sums[last] - sums[base]) * 8 / span;
}

static void
fold_rate(const Measurement *measurement, Part *part)
{
  guint last = part->times->len - 1;
  const gint64 *times = (const gint64 *)(gpointer)part->times->data;
  if (last == 0 || times[0] > times[last] - measurement->window)
    return;
  while (times[part->base + 1] <= times[last] - measurement->window)
    part->base++;
  part->rate = rate_since(part, part->base);
  /* Of samples that came late; each was possible over a longer time, else it were not here. */
  for (guint base = part->base; base > 0 && part->limit > 0 && part->rate > part->limit; base--)
    part->rate = rate_since(part, base - 1);
}

/* The rates of all parts over their windows, added; nothing while one has none. A part that has
 * fallen silent does not count on. */
static void
fold_peak(const Measurement *measurement, Group *group, gint64 t)
{
  double rate = 0;
  for (guint i = 0; i < group->parts->len; i++) {
    const Part *part = part_at(group, i);
    if (isnan(part->rate))
      return;
    if (part->t >= t - MAX(measurement->window, 3 * TIME_SECOND))
      rate += part->rate;
  }
  if (group->parts->len > 0 && !(rate <= group->peak))
    group->peak = rate;
}

static void
fold_server(Measurement *measurement, const Meters *meters)
{
  double *maximum[] = {NULL, &measurement->load_max, &measurement->nfsd_max};
  for (guint i = 1; i < G_N_ELEMENTS(maximum); i++) {
    const Meter *meter = member_meter(member_at(measurement, i), meters);
    if (meter && !(meter->rate <= *maximum[i]))
      *maximum[i] = meter->rate;
  }
}

static void
fold_group(const Measurement *measurement, Group *group, const Meters *meters, gint64 t)
{
  for (guint i = 0; i < group->parts->len; i++)
    part_at(group, i)->limit = 0;
  for (guint i = group->first; i < group->first + group->n; i++) {
    Member *member = member_at(measurement, i);
    const Meter *meter = follow(group, member, meters);
    if (!meter)
      continue;
    Part *part = part_at(group, member->part);
    part->sum = MIN(part->sum + MAX(meter->total - member->last, 0), SUM_MAX);
    part->t = MAX(part->t, meter->t);
    part->limit += meter->limit;
    member->last = meter->total;
  }
  for (guint i = 0; i < group->parts->len; i++) {
    Part *part = part_at(group, i);
    push_tick(part);
    if (measurement->kind == MEASURE_RATES)
      fold_rate(measurement, part);
    forget_ticks(measurement, part);
  }
  if (measurement->kind == MEASURE_RATES)
    fold_peak(measurement, group, t);
}

void
measurement_fold(Measurement *measurement, const Meters *meters, gint64 t)
{
  if (measurement->generation != meters_generation(meters))
    find_meters(measurement, meters);
  for (guint g = 0; g < measurement->groups->len; g++)
    fold_group(measurement, group_at(measurement, g), meters, t);
  if (measurement->kind == MEASURE_SERVER)
    fold_server(measurement, meters);
}

/* Seconds that PART was metered. */
static double
span_of(const Part *part)
{
  gint64 first = g_array_index(part->times, gint64, 0);
  gint64 last = g_array_index(part->times, gint64, part->times->len - 1);
  return (double)(last - first - part->gap) / (double)TIME_SECOND;
}

/* Bit/s, of each part over the time it was metered. FALSE: none was. */
static gboolean
mean_of(const Group *group, double *mean)
{
  gboolean metered = FALSE;
  *mean = 0;
  for (guint i = 0; i < group->parts->len; i++) {
    const Part *part = part_at(group, i);
    double span = span_of(part);
    if (span <= 0)
      continue;
    *mean += (double)part->sum * 8 / span;
    metered = TRUE;
  }
  return metered;
}

static void
rate_figures(const Measurement *measurement, MeasurementFigure figure, gpointer data)
{
  for (guint g = 0; g < measurement->groups->len; g++) {
    const Group *group = group_at(measurement, g);
    double rate;
    if (!mean_of(group, &rate))
      continue;
    g_autofree char *peak = g_strconcat(group->figure, ".peak", NULL);
    g_autofree char *mean = g_strconcat(group->figure, ".mean", NULL);
    if (!isnan(group->peak))
      figure(peak, group->peak, "bit/s", 1, data);
    figure(mean, rate, "bit/s", 1, data);
  }
}

static void
seat_figures(const Measurement *measurement, MeasurementFigure figure, gpointer data)
{
  g_autoptr(GArray) means = g_array_new(FALSE, FALSE, sizeof(double));
  for (guint g = 0; g < measurement->groups->len; g++) {
    double mean;
    if (mean_of(group_at(measurement, g), &mean))
      g_array_append_val(means, mean);
  }
  if (means->len == 0)
    return;
  const double *values = (const double *)(gpointer)means->data;
  figure("seats.rx.min", stats_percentile(values, means->len, 0), "bit/s", means->len, data);
  figure("seats.rx.median", stats_percentile(values, means->len, 0.5), "bit/s", means->len, data);
  figure("seats.rx.max", stats_percentile(values, means->len, 1), "bit/s", means->len, data);
}

static void
server_figures(const Measurement *measurement, MeasurementFigure figure, gpointer data)
{
  const Group *disk = group_at(measurement, 0);
  gint64 bytes = 0;
  if (!isnan(measurement->load_max))
    figure("load.max", measurement->load_max, "", 1, data);
  if (!isnan(measurement->nfsd_max))
    figure("nfsd.max", measurement->nfsd_max, "", 1, data);
  for (guint i = 0; i < disk->parts->len; i++)
    bytes = MIN(bytes + part_at(disk, i)->sum, SUM_MAX);
  if (disk->parts->len > 0)
    figure("disk.bytes", (double)bytes, "B", 1, data);
}

void
measurement_figures(const Measurement *measurement, MeasurementFigure figure, gpointer data)
{
  if (measurement->kind == MEASURE_RATES)
    rate_figures(measurement, figure, data);
  else if (measurement->kind == MEASURE_SEATS)
    seat_figures(measurement, figure, data);
  else
    server_figures(measurement, figure, data);
}
