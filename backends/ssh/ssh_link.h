/* One host and the one connection to it, made when somebody wants it and kept while they do.
 *
 * What wants it is a command (ssh_command.h) that waits or runs. A connection that cannot be made
 * is tried again, at growing intervals up to the setting `retry`, as long as a command has patience
 * left; a new command is a reason to try at once. Without commands it is closed after `idle`.
 *
 * Names are looked up off the loop, sockets and libssh never block, a running ssh-agent is asked on
 * a thread of its own. Threading: the main loop's thread only.
 */
#ifndef PULT_SSH_LINK_H
#define PULT_SSH_LINK_H

#include "model/event.h"

typedef struct SshBackend SshBackend;
typedef struct SshLink SshLink;

/* Of NODE, or of the server that answers for it; NULL when there is neither. Connects to nothing,
 * and lives as long as the backend. */
SshLink *ssh_link_of(SshBackend *ssh, NodeId node);
SshBackend *ssh_link_backend(const SshLink *link);
NodeId ssh_link_node(const SshLink *link);      /* NODE_NONE: a jump host */
const char *ssh_link_name(const SshLink *link); /* the node's, or the jump host's */
/* Source of its connection's events, `ssh:a01`: its `link up` is posted before any command on it
 * starts, its `link down` before the commands it ends. */
const char *ssh_link_source(const SshLink *link);
gboolean ssh_link_is_up(const SshLink *link);
/* Why it is not, in words; borrowed until the loop goes on. */
const char *ssh_link_trouble(const SshLink *link);
/* It is known to be dead: ends the connection, if there is one. */
void ssh_link_drop(SshLink *link, const char *cause);
/* Shell that runs command lines there, as the layout names it. */
const char *ssh_link_shell(const SshLink *link);

#endif
