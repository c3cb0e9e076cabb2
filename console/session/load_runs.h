/* How long every run of every load took, from events alone: a row a load, saying by which mount and
 * with which caches, and a column a repeat. So no result stands without what it depends on.
 */
#ifndef PULT_SESSION_LOAD_RUNS_H
#define PULT_SESSION_LOAD_RUNS_H

#include <stdio.h>

#include "model/event.h"

typedef struct LoadRuns LoadRuns;

LoadRuns *load_runs_new(void);
void load_runs_free(LoadRuns *runs);
void load_runs_add(LoadRuns *runs, const Event *event);
/* Whether any load named a mount: without one there is nothing a label does not say. */
gboolean load_runs_has_table(const LoadRuns *runs);
/* In s, the median over a run's seats. `-`: caches as they were, no mount named, no figures. */
void load_runs_print(const LoadRuns *runs, FILE *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LoadRuns, load_runs_free)

#endif
