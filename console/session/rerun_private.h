/* What rerun*.c share. */
#ifndef PULT_SESSION_RERUN_PRIVATE_H
#define PULT_SESSION_RERUN_PRIVATE_H

#include "session/rerun.h"

#define NEVER_DONE G_MAXUINT

typedef struct {
  gint64 t;
  char *said, *text;
  gint confirm;
  guint n_figures;   /* said before it */
  guint done_before; /* the first command given after it was done; NEVER_DONE */
  Verdict verdict;   /* unless it was never done */

  gboolean given_again, done_again, left_out;
  guint32 cmd_again; /* 0: it made no sense, and PROBLEM says why */
  Verdict verdict_again;
  char *problem;
} RerunCommand;

/* What a run said, its strings escaped as in a transcript. A figure given again counts as it was
 * last. */
typedef struct {
  char *name, *unit; /* `b16.boot.mean` */
  double value;
} RerunFigure;

typedef struct {
  char *text;
  gboolean held;
  double value;
} RerunExpect;

typedef struct {
  GPtrArray *figures;  /* of RerunFigure, in the order first said */
  GHashTable *by_name; /* name → RerunFigure */
  GArray *expects;     /* of RerunExpect */
} RerunFindings;

struct Rerun {
  TranscriptReader *reader;
  GArray *commands; /* of RerunCommand */
  RerunFindings first, again;
  guint64 last_seq; /* of the first run's file */
  gint64 end;

  Session *session;
  RerunOptions options;
  guint next;           /* command to give */
  guint first_open;     /* every command before it is done again, or was not given */
  gint64 delay;         /* how much later than the first time */
  gint64 given_t;       /* of the last one given; 0 */
  guint n_found;        /* so many of the first run's figures, in their order, are there again */
  guint64 seq;          /* of the event told last … */
  gint64 t;             /* … and its time */
  gboolean past_end;    /* the first run's end has come */
  gboolean ending;      /* interrupted, or without consent */
  gboolean interrupted; /* by Ctrl-C */
  gboolean aborted, lacks_consent;
};

static inline RerunCommand *
rerun_command(const Rerun *rerun, guint i)
{
  return &g_array_index(rerun->commands, RerunCommand, i);
}

/* rerun_findings.c */
char *rerun_escaped(const char *text);
void rerun_findings_init(RerunFindings *findings);
void rerun_findings_clear(RerunFindings *findings);
void rerun_findings_add(RerunFindings *findings, const Event *event);

/* rerun_compare.c */
/* It was carried out the first time, and not as it was then. */
gboolean rerun_command_lost(const RerunCommand *command);

#endif
