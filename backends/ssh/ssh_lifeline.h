/* What is wrapped around a command line so that nothing of it is left on the host.
 *
 * Every command is a session of its own, which it gets here where the server makes none (Dropbear).
 * A watcher in it reads the channel: a line there is a signal for everything else in the session,
 * and its end, which comes with the connection's, is TERM, and KILL after SSH_GRACE. Needs a POSIX
 * shell and sleep; with Linux's /proc it also reaches what has made itself a process group, else
 * the command's own group only.
 */
#ifndef PULT_SSH_LIFELINE_H
#define PULT_SSH_LIFELINE_H

#include <glib.h>

/* For sshd: any login shell may read it. SHELL runs LINE. */
char *ssh_lifeline_wrap(const char *shell, const char *line);
/* LINE with the channel as its input. */
char *ssh_lifeline_without(const char *shell, const char *line);

#endif
