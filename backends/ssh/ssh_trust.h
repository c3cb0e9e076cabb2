/* Whether the host that answers is the one that is known. */
#ifndef PULT_SSH_TRUST_H
#define PULT_SSH_TRUST_H

#include "backends/ssh/ssh_host.h"

/* FALSE with an error that shows the fingerprints: of a changed key both. A host not known yet is
 * noted in HOST's file of keys if it says accept-new, whole or not at all. */
gboolean ssh_trust(const SshHost *host, ssh_session session, GError **error);

#endif
