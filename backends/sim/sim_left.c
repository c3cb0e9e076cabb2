#include "backends/sim/sim_private.h"

void
sim_left_init(Sim *sim)
{
  sim->left = g_ptr_array_new_with_free_func(g_free);
}

void
sim_left_clear(Sim *sim)
{
  g_ptr_array_unref(sim->left);
}

void
sim_left_add(Sim *sim, JobRun *run, gint64 duration)
{
  run->request->targets[run->target].run = NULL;
  run->request = NULL;
  run->until = duration < TIME_NEVER - sim->now ? sim->now + duration : TIME_NEVER;
  g_ptr_array_add(sim->left, run);
}

void
sim_left_end(Sim *sim, JobRun *run)
{
  sim_world_stop(sim, &run->transfer);
  g_ptr_array_remove(sim->left, run);
}

void
sim_left_keep_ends(Sim *sim)
{
  for (guint i = 0; i < sim->left->len;) {
    JobRun *run = g_ptr_array_index(sim->left, i);
    if (run->until <= sim->now)
      sim_left_end(sim, run);
    else
      i++;
  }
}

gint64
sim_left_next(const Sim *sim)
{
  gint64 next = TIME_NEVER;
  for (guint i = 0; i < sim->left->len; i++)
    next = MIN(next, ((const JobRun *)g_ptr_array_index(sim->left, i))->until);
  return next;
}
