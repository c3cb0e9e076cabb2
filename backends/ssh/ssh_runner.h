/* What runs a job on a host: one text for a POSIX shell (dash, busybox ash), which speaks to the
 * console by lines.
 *
 *   host → console, each behind the token    console → host
 *   armed CLOCK     it is ready              echo N       what time is it
 *   unarmed WHY     it is not, and ends      fire T       begin when the clock says T
 *   uncold STATUS   caches were not dropped  stop SIGNAL  end, before the beginning too
 *   echo N T        the clock says T         bye          nothing more is asked
 *   start T         it has begun
 *   end START END UP0 UP1 STATUS WIRE STOPPED
 *
 * Times are ns of the host's clock: CLOCK is `date`, ns since the epoch, or `uptime`, in steps of
 * 10 ms, where date tells no ns. UP0 and UP1 are the uptime in 10 ms at start and end, WIRE the
 * bytes that went over the interface, `-` when it has no counter, STOPPED 1 when it was told to
 * stop. Whatever else comes is the job's own output.
 *
 * Three shells of one session are behind it: one reads what the console says, one does the work,
 * the session's first waits for both. When the channel ends, or on `stop`, the rest of the session
 * has the signal, and KILL after 3 s; then the work goes on to what measures and cleans up, which
 * is done in sessions of its own, so that no signal meets it.
 */
#ifndef PULT_SSH_RUNNER_H
#define PULT_SSH_RUNNER_H

#include <glib.h>

typedef struct {
  const char *token;   /* one word that no output begins with */
  const char *shell;   /* that runs the lines */
  const char *counter; /* file of the interface's bytes; NULL: none */
  const char *needs;   /* programs, blanks between; NULL: none */
  /* Lines; NULL: none. */
  const char *prepare, *cold, *warm, *command, *measure, *cleanup;
} SshRunner;

/* For a shell; free with g_free. */
char *ssh_runner_text(const SshRunner *runner);

#endif
