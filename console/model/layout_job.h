/* What a layout says of jobs, in the place of what their files say (job_run.h):
 *
 *   jobs:
 *     find-cat: {command: "nfs-walk {source}", source: "nfs://{server}/tree"}
 *
 * Which keys a job has is known where jobs are; layout_check_jobs() of job.h holds the two against
 * each other.
 */
#ifndef PULT_MODEL_LAYOUT_JOB_H
#define PULT_MODEL_LAYOUT_JOB_H

#include "model/layout.h"

typedef struct {
  char *job, *key, *value;
  guint line, column;         /* of the key */
  guint job_line, job_column; /* of the job's name */
} LayoutJobWord;

/* In file order. */
guint layout_n_job_words(const Layout *layout);
const LayoutJobWord *layout_job_word(const Layout *layout, guint i);
/* NULL when the layout gives none. */
const char *layout_job_value(const Layout *layout, const char *job, const char *key);

#endif
