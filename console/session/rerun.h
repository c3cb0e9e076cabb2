/* A transcript's commands carried out again, and what comes of them beside what came of them first.
 *
 * No command is given before what was done before it the first time is done again. At the first
 * run's pace each comes at its t, or later by as much as one before it was late. Fast, it comes as
 * soon as the figures there were before it are there again, and no later than at that pace; one
 * that came while another was under way (a `stop`) as long after that as it did. The end is the
 * first run's: where its file ends, and once whatever was done then is done.
 *
 * On the simulator, with the first run's layout and at its pace, the same lines are recorded, byte
 * for byte but for line 2.
 */
#ifndef PULT_SESSION_RERUN_H
#define PULT_SESSION_RERUN_H

#include <stdio.h>

#include "session/session.h"

typedef struct Rerun Rerun;

/* Reads the first run from a transcript, cut or not. */
Rerun *rerun_open(const char *path, GError **error);
void rerun_free(Rerun *rerun);
/* What the first run was given. */
const TranscriptHead *rerun_head(const Rerun *rerun);

typedef struct {
  gboolean fast;
  gboolean anew;      /* another layout: sets are resolved anew from what was typed */
  gint64 confirm_max; /* consents recorded to more seats than this are not given; -1: to none */
} RerunOptions;

/* Makes RERUN what feeds SESSION, which is not started yet, and tell it every event from its watch.
 * Both outlive session_run(). */
void rerun_begin(Rerun *rerun, Session *session, const RerunOptions *options);
void rerun_event(Rerun *rerun, const Event *event);
/* Ctrl-C, beside session_stop(). Nothing more is given, but properties that were set get the value
 * the first run left them with. The second time it is over at once. */
void rerun_interrupt(Rerun *rerun);

/* The exit status of the contract: 130 interrupted, 2 a command lacks consent that had it, 3 one
 * was not carried out as it was the first time, 1 a figure differs by more than TOLERANCE (0.05 is
 * 5 %) or is on one side only, or an expectation held the first time alone; 0. */
int rerun_status(const Rerun *rerun, double tolerance);
/* Figures, expectations and commands of both runs side by side, once it is over. */
void rerun_print(const Rerun *rerun, double tolerance, FILE *out);
void rerun_print_json(const Rerun *rerun, double tolerance, FILE *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Rerun, rerun_free)

#endif
