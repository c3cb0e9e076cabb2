#include <math.h>

#include "backends/sim/sim_private.h"

static Flow *
flow_of(const World *world, const Class *class)
{
  return &g_array_index(world->flows, Flow, class->index);
}

static void
class_free(gpointer data)
{
  Class *class = data;
  g_sequence_free(class->transfers);
  g_free(class);
}

void
sim_class_init(World *world)
{
  world->over = g_ptr_array_new();
  world->classes = g_ptr_array_new_with_free_func(class_free);
  world->flows = g_array_new(FALSE, FALSE, sizeof(Flow));
  world->active = g_array_new(FALSE, FALSE, sizeof(guint));
  world->users = g_new0(guint, world->n_resources);
}

void
sim_class_clear(World *world)
{
  g_ptr_array_unref(world->over);
  g_ptr_array_unref(world->classes);
  g_array_unref(world->flows);
  g_array_unref(world->active);
  g_free(world->users);
}

static gboolean
is_alike(const Flow *a, const Flow *b)
{
  if (a->cap != b->cap || a->n_uses != b->n_uses)
    return FALSE;
  for (guint u = 0; u < a->n_uses; u++)
    if (a->uses[u].resource != b->uses[u].resource || a->uses[u].weight != b->uses[u].weight)
      return FALSE;
  return TRUE;
}

static void
use_resources(World *world, const Flow *flow)
{
  for (guint u = 0; u < flow->n_uses; u++)
    if (world->users[flow->uses[u].resource]++ == 0)
      g_array_append_val(world->active, flow->uses[u].resource);
}

static void
leave_resources(World *world, const Flow *flow)
{
  gboolean unused = FALSE;
  for (guint u = 0; u < flow->n_uses; u++)
    if (--world->users[flow->uses[u].resource] == 0)
      unused = TRUE;
  for (guint i = world->active->len; unused && i-- > 0;) {
    guint resource = g_array_index(world->active, guint, i);
    if (world->users[resource] > 0)
      continue;
    world->pull[resource] = 0;
    g_array_remove_index_fast(world->active, i);
  }
}

static Class *
class_new(Sim *sim, const Flow *flow)
{
  World *world = &sim->world;
  Class *class = g_new0(Class, 1);
  class->index = world->classes->len;
  class->since = sim->now;
  class->transfers = g_sequence_new(NULL);
  g_ptr_array_add(world->classes, class);
  g_array_append_val(world->flows, *flow);
  use_resources(world, flow);
  return class;
}

static void
class_remove(World *world, Class *class)
{
  guint index = class->index;
  leave_resources(world, flow_of(world, class));
  g_array_remove_index_fast(world->flows, index);
  g_ptr_array_remove_index_fast(world->classes, index);
  if (index < world->classes->len)
    ((Class *)g_ptr_array_index(world->classes, index))->index = index;
}

static Class *
find_class(const World *world, const Flow *flow)
{
  for (guint i = 0; i < world->flows->len; i++)
    if (is_alike(&g_array_index(world->flows, Flow, i), flow))
      return g_ptr_array_index(world->classes, i);
  return NULL;
}

static double
moved_at(const Class *class, gint64 t)
{
  return class->moved + class->rate * ((double)(t - class->since) / 1e9);
}

/* Reckoned from the last change of the class's rate, and so the same whenever it is asked. */
static gint64
end_of(const Class *class, const Transfer *transfer)
{
  if (class->rate <= 0)
    return TIME_NEVER;
  double ns = ceil((transfer->goal - class->moved) / class->rate * 1e9);
  return ns < (double)(TIME_NEVER - class->since) / 2 ? class->since + (gint64)ns : TIME_NEVER;
}

static void
find_end(Class *class)
{
  class->first = g_sequence_get(g_sequence_get_begin_iter(class->transfers));
  class->end = end_of(class, class->first);
}

static int
compare(gconstpointer a, gconstpointer b, gpointer data)
{
  (void)data;
  const Transfer *s = a, *t = b;
  if (s->goal != t->goal)
    return s->goal < t->goal ? -1 : 1;
  return (s->number > t->number) - (s->number < t->number);
}

void
sim_class_join(Sim *sim, Transfer *transfer)
{
  World *world = &sim->world;
  Flow flow = {.count = 1};
  world->stale = TRUE;
  if (!sim_path_flow(sim, transfer, &flow))
    return;
  Class *class = find_class(world, &flow);
  if (class != NULL)
    flow_of(world, class)->count++;
  else
    class = class_new(sim, &flow);
  transfer->class = class;
  transfer->joined = moved_at(class, sim->now);
  transfer->goal = transfer->joined + transfer->left;
  transfer->place = g_sequence_insert_sorted(class->transfers, transfer, compare, NULL);
  if (class->first == NULL || compare(transfer, class->first, NULL) < 0)
    find_end(class);
}

/* Until its end a transfer moves with its class; at its end it has moved what it was to move. */
double
sim_class_moved(const Sim *sim, const Transfer *transfer)
{
  const Class *class = transfer->class;
  if (class == NULL)
    return 0;
  if (end_of(class, transfer) <= sim->now)
    return transfer->left;
  return CLAMP(moved_at(class, sim->now) - transfer->joined, 0, transfer->left);
}

void
sim_class_leave(Sim *sim, Transfer *transfer)
{
  World *world = &sim->world;
  Class *class = transfer->class;
  world->stale = TRUE;
  if (class == NULL)
    return;
  Flow *flow = flow_of(world, class);
  double moved = sim_class_moved(sim, transfer);
  /* Its resources counted it as one of the class, to the end of the nanosecond. */
  double over = moved_at(class, sim->now) - transfer->joined - moved;
  for (guint u = 0; u < flow->n_uses; u++)
    world->used[flow->uses[u].resource] -= flow->uses[u].weight * over;
  transfer->moved += moved;
  transfer->left -= moved;
  SimNode *node = &sim->nodes[transfer->client];
  if (transfer->job->moves_data)
    *(transfer->job->writes ? &node->sent : &node->received) += moved;
  g_sequence_remove(transfer->place);
  transfer->class = NULL;
  if (--flow->count == 0)
    class_remove(world, class);
  else if (class->first == transfer)
    find_end(class);
}

/* One whose rate stays is not reckoned anew: its ends would be rounded once more. */
void
sim_class_set_rate(const Sim *sim, Class *class, double rate)
{
  if (rate == class->rate)
    return;
  class->moved = moved_at(class, sim->now);
  class->since = sim->now;
  class->rate = rate;
  class->end = end_of(class, class->first);
}

/* From the last on: a class that is empty then gives its place to the last. */
void
sim_class_take_due(Sim *sim)
{
  World *world = &sim->world;
  for (guint i = world->classes->len; i-- > 0;) {
    Class *class = g_ptr_array_index(world->classes, i);
    for (guint n = flow_of(world, class)->count; n > 0 && class->end <= sim->now; n--) {
      Transfer *transfer = class->first;
      sim_class_leave(sim, transfer);
      g_ptr_array_add(world->over, transfer);
    }
  }
}
