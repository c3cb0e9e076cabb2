/* Logs of a host, as its `tail` reads them on: the watch of role `log`. */
#ifndef PULT_SSH_LOG_H
#define PULT_SSH_LOG_H

#include "backends/setup.h"
#include "backends/ssh/ssh_request.h"

/* That NODE has what is needed, if the layout lets SETUP's backend read its logs. */
gboolean ssh_log_check(const BackendSetup *setup, NodeId node, GError **error);

extern const SshOperation ssh_log_operation;

#endif
