/* OP_SET with the argument `once`: files of single machines on the boot server, for one boot of the
 * entry that it names; empty, they are taken back. Targets are the machines.
 *
 * One keeper a backend (ssh_once_keeper.h) runs on the boot server from the first of them on. It
 * takes back what is left when this side ends, or the connection, and so do the lease and the
 * server's sshd where this side says nothing any more. */
#ifndef PULT_SSH_ONCE_H
#define PULT_SSH_ONCE_H

#include "backends/ssh/ssh_request.h"

typedef struct SshOnce SshOnce;

extern const SshOperation ssh_once_operation;

/* Before the links go. Takes NULL. */
void ssh_once_free(SshOnce *once);

#endif
