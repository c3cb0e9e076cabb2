/* Load jobs as data: `scripts/jobs/NAME.yaml` says what a job reads or writes and how.
 *
 *   job: find-cat
 *   about: one cat for each file of /usr, over NFS
 *   simulate: {protocol: nfs, cap: 9.248 MB/s, per-file: 0 s, file-size: 32 kB}
 *   run: {command: "find {source} -type f -exec cat {{} \\;", parameters: {source: /usr}}
 *
 * `simulate` says how the simulator plays it, `run` what machines run (job_run.h); where one of
 * them is absent the job cannot be had there.
 *
 * A simulated job of protocol nfs or nbd runs on clients. A local one is a baseline: it runs on the
 * machine that has the disk, and no network but what that machine itself fetches data over is in
 * its way; its cap says what the machine can do.
 *
 * Immutable once parsed.
 */
#ifndef PULT_MODEL_JOB_H
#define PULT_MODEL_JOB_H

#include "model/job_run.h"

typedef enum { PROTOCOL_NFS, PROTOCOL_NBD, PROTOCOL_LOCAL } Protocol;

typedef struct {
  char *name;
  char *about;
  Protocol protocol;
  gboolean writes;        /* FALSE: it reads */
  gboolean moves_data;    /* FALSE: it only stats (tar into /dev/null) */
  double bytes;           /* B a client transfers before it ends; INFINITY: until stopped */
  double cap;             /* B/s a client; INFINITY: none, many requests in flight */
  double request;         /* B: one request in flight of this size; 0: not so limited */
  double request_time;    /* s it waits besides its transfer */
  double per_file;        /* s a file */
  double file_size;       /* B; 0: does not count files */
  gboolean machines_only; /* no word on simulating it: all from protocol on is idle */
  JobRecipe *run;         /* NULL: machines have none */
} Job;

typedef struct {
  guint n;
  Job **jobs; /* sorted by name */
} JobSet;

#define JOB_ERROR (g_quark_from_static_string("pult-job"))

Job *job_parse(const char *file_name, const char *text, gsize length, GError **error);
void job_free(Job *job);
JobSet *job_set_new(void);
void job_set_free(JobSet *set);
void job_set_take(JobSet *set, Job *job); /* a later job of the same name replaces the earlier */
const Job *job_set_find(const JobSet *set, const char *name);
/* The same; when there is none an error that names the nearest. */
const Job *job_set_get(const JobSet *set, const char *name, GError **error);
/* What LAYOUT says of jobs, against the jobs there are; FALSE with all that is wrong. */
gboolean job_set_check_layout(const JobSet *set, const Layout *layout, GError **error);
/* JOB's rate limit in B/s for one client whose path has N_HOPS serial hops of CAPACITY, from cap,
 * request and per-file times (facts: caps and small files). */
double job_cap(const Job *job, const double *capacity, guint n_hops);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Job, job_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(JobSet, job_set_free)

#endif
