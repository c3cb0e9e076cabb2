/* OP_EXEC of a job (argument `job`), as scripts/jobs describes it. */
#ifndef PULT_SSH_JOB_H
#define PULT_SSH_JOB_H

#include "backends/ssh/ssh_request.h"

extern const SshOperation ssh_job_operation;

#endif
