/* What must hold of a session's events, whatever happens in it. What does not fails the test. */
#ifndef PULT_TESTS_EVENT_WATCH_H
#define PULT_TESTS_EVENT_WATCH_H

#include "core/core.h"

typedef struct {
  const Layout *layout; /* borrowed */
  gint64 t;             /* of the last event */
  guint64 seq;
  guint n_requests;
  GPtrArray *asked;     /* by request, what it still wants */
  GArray *done;         /* by command, how often it was done */
  double port_capacity; /* bit/s of payload, all servers together */
} EventWatch;

void event_watch_init(EventWatch *watch, const Layout *layout);
void event_watch_clear(EventWatch *watch);
/* Times, order, one done a command, one result a target, none behind its deadline. */
void event_watch_take(EventWatch *watch, const Event *event);
guint event_watch_commands(const EventWatch *watch);
/* Every command so far is done. */
void event_watch_check_done(const EventWatch *watch);
/* What was asked for by now was answered. */
void event_watch_check_deadlines(const EventWatch *watch);
/* No rate is negative, or more than its port or the ports of all servers carry. */
void event_watch_check_rates(const EventWatch *watch, const CoreState *state);

#endif
