#include "session/clock.h"

#include <math.h>

#define NS_PER_US 1000

void
clock_start(Clock *clock, double speed, gint64 us)
{
  *clock = (Clock){.speed = speed, .base_us = us};
}

gint64
clock_now(const Clock *clock, gint64 us)
{
  if (clock->paused)
    return clock->base_t;
  gint64 passed = (us - clock->base_us) * NS_PER_US;
  if (clock->speed != 1)
    passed = (gint64)((double)passed * clock->speed);
  return clock->base_t + passed;
}

static void
rebase(Clock *clock, gint64 us)
{
  clock->base_t = clock_now(clock, us);
  clock->base_us = us;
}

void
clock_set_speed(Clock *clock, double speed, gint64 us)
{
  rebase(clock, us);
  clock->speed = speed;
}

void
clock_pause(Clock *clock, gboolean paused, gint64 us)
{
  rebase(clock, us);
  clock->paused = paused;
}

gint64
clock_when(const Clock *clock, gint64 t, gint64 us)
{
  if (t == TIME_NEVER)
    return -1;
  if (t <= clock_now(clock, us))
    return us;
  if (clock->paused)
    return -1;
  /* One more, lest rounding wakes us just before. */
  double wait = ceil((double)(t - clock->base_t) / (NS_PER_US * clock->speed)) + 1;
  return wait < 9e18 ? clock->base_us + (gint64)wait : -1;
}
