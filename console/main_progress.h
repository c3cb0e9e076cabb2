/* What `run` and `do` show of a session: its course on stderr, its answers on stdout. */
#ifndef PULT_MAIN_PROGRESS_H
#define PULT_MAIN_PROGRESS_H

#include <stdio.h>

#include "session/session.h"

typedef struct Progress Progress;

/* JSON: every event on stdout as a transcript has it, and nothing else there. ANSWERS (stdout or
 * stderr): where what `power status` and `get` found goes. */
Progress *progress_new(const Layout *layout, gboolean json, gboolean dry_run, FILE *answers);
void progress_free(Progress *progress);
/* For session_watch(). */
void progress_event(const Event *event, gpointer progress);
/* The course alone, and nothing on stdout when PROGRESS is for JSON. */
void progress_course(Progress *progress, const Event *event);
void progress_complain(const char *message, gpointer progress);
/* The same in parts, for whoever shows it otherwise. Free with g_free.
 * EVENT, whatever it is: lines when it ends a `status` or `get`, which answer it; else NULL. */
char *progress_answer(Progress *progress, const Event *event);
/* `boot pxe ubuntu-10.04::nfs a[01-17] by sim: 17 seats; protected: slx1` */
char *progress_plan(const Progress *progress, const PlanEvent *plan);
/* The tables of the end. */
void progress_finish(Progress *progress);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Progress, progress_free)

#endif
