/* What the two files of jobs share: ssh_job.c begins them together, ssh_job_host.c is one of them.
 */
#ifndef PULT_SSH_JOB_PRIVATE_H
#define PULT_SSH_JOB_PRIVATE_H

#include "backends/ssh/ssh_private.h"

typedef enum {
  HOST_ARMING,  /* makes ready */
  HOST_SETTING, /* is ready, and its clock is looked at */
  HOST_READY,
  HOST_FIRED,   /* has been told when to begin */
  HOST_RUNNING, /* has begun */
  HOST_ENDED,   /* has told its figures, and its clock is looked at again */
} HostPhase;

/* How a host's clock stands to ours, by the quickest of some answers. */
typedef struct {
  gboolean known;
  gint64 offset; /* ns, its clock less g_get_monotonic_time() */
  gint64 trip;   /* ns, there and back: the offset is right to half of it */
} HostClock;

/* data of a target */
typedef struct {
  HostPhase phase;
  char *command; /* what it runs */
  gboolean coarse;
  HostClock before, after;
  guint question, n_questions; /* the one asked last, those to come */
  gint64 asked;                /* µs */
  JobFigures figures;
  gint64 start, end;   /* ns of its clock */
  gint64 uptime;       /* ns between them by its uptime, in steps of 10 ms */
  gint64 wire;         /* -1: no counter */
  int status;          /* of the command */
  guint readers;       /* hosts that run the same command, itself included */
  gboolean told, over; /* was told to stop; and did so before its own end */
  gboolean left;       /* the host has said that it runs on without us */
  Verdict verdict;     /* when it ends because of the console: CANCELLED, FAILED; else OK */
  char *why;           /* for the result */
  char *complaint;     /* its last line of errors */
  gsize shown, examined;
} JobHost;

/* data of the request */
typedef struct {
  const Job *job;
  char *token;
  gboolean call_off; /* rather than leave one out */
  gboolean cold, warm;
  gboolean fired, called_off;
  guint timer; /* for those that do not get ready */
  PatternMatch *match;
  GPtrArray *caches; /* of Cache: servers whose caches are being dropped or filled */
  guint n_caches;
  gboolean prepared; /* they have been told to */
} JobPlan;

/* Starts it; with a failure its result is given. */
void ssh_job_host_begin(SshTarget *target);
void ssh_job_host_fire(SshTarget *target, gint64 at); /* µs of the monotonic clock */
/* Ends it with its job's own signal, or before it has begun. */
void ssh_job_host_stop(SshTarget *target, const char *signal);
/* It runs on without us; after SECONDS, -1 never, the host ends it as it is ended here. */
void ssh_job_host_leave(SshTarget *target, gint64 seconds);
void ssh_job_host_free(JobHost *host);

/* Somebody has got ready, or has its result. TARGET's request may be gone afterwards. */
void ssh_job_barrier(SshRequest *request);
/* TARGET, whose command has ended, will not get ready; may be gone afterwards. */
void ssh_job_unready(SshTarget *target, const char *why);

#endif
