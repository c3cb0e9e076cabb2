/* One command line on one host.
 *
 * It runs in the layout's shell. Unless it reads (SshCommandSpec.reads), its input is /dev/null and
 * a watcher beside it holds the channel: when the connection ends, whatever ended it, everything in
 * its session on the host has TERM, and KILL after SSH_GRACE. So nothing is left behind, short of a
 * program that made itself a daemon. A command that reads is given what is written as its input,
 * has no watcher, and must end when its input does.
 *
 * Calls come from the main loop, never from within the functions here, except that
 * ssh_command_start() and all others may be used inside a call. ENDED comes exactly once, last, and
 * the command is gone when it returns.
 */
#ifndef PULT_SSH_COMMAND_H
#define PULT_SSH_COMMAND_H

#include "backends/ssh/ssh_link.h"

/* A longer line is given in pieces of at most so many bytes. */
#define SSH_LINE_MAX 4096
/* Between TERM and KILL, in seconds. */
#define SSH_GRACE 3
#define SSH_FOREVER G_MAXINT64

typedef struct SshCommand SshCommand;

typedef enum {
  SSH_EXITED,      /* status */
  SSH_SIGNALLED,   /* signal */
  SSH_NOT_STARTED, /* the host has not seen it, or refused it */
  SSH_LOST,        /* it ran when the connection ended, or gave no sign when it was to stop */
} SshEndKind;

typedef struct {
  SshEndKind kind;
  int status;
  const char *signal; /* "TERM" */
  const char *text;   /* what became of it, one printable line that names no host */
} SshEnd;

typedef struct {
  /* The host runs it; NULL: nobody asks. */
  void (*started)(SshCommand *command, gpointer data);
  /* A line of its output, its end left out: LENGTH bytes of whatever it was, and a NUL behind.
   * NULL: output is thrown away. Of output beyond the budget one line on the error stream tells. */
  void (*line)(SshCommand *command, gboolean is_error, const char *text, gsize length,
               gpointer data);
  void (*ended)(SshCommand *command, const SshEnd *end, gpointer data);
} SshCommandCalls;

typedef struct {
  const char *line; /* for a shell: what comes from outside is quoted in it */
  gboolean reads;
  /* Of one that reads, when a write was refused: there is room again. NULL: nobody asks. */
  void (*drained)(gpointer data);
  guint64 budget;  /* bytes of output that are given as lines; 0: all */
  gint64 patience; /* µs it waits for a connection; 0: the first failed attempt ends it */
} SshCommandSpec;

/* SPEC is borrowed for the call, CALLS outlives the command. */
SshCommand *ssh_command_start(SshLink *link, const SshCommandSpec *spec,
                              const SshCommandCalls *calls, gpointer data);
SshLink *ssh_command_link(const SshCommand *command);
/* The host may have begun to run it. */
gboolean ssh_command_is_started(const SshCommand *command);
/* Input of a command that reads; kept until it is started. FALSE: so much is waiting to be sent
 * that the host does not keep up (64 KiB), and nothing of BYTES was taken. */
gboolean ssh_command_write(SshCommand *command, const char *bytes, gsize length);
/* To its whole session: "TERM", "KILL", "INT", "HUP", "USR1", "USR2". */
void ssh_command_signal(SshCommand *command, const char *signal);
/* TERM and the end of its input, after SSH_GRACE KILL; ENDED says what came of it. One that has not
 * started ends SSH_NOT_STARTED. */
void ssh_command_cancel(SshCommand *command);
/* Lets go of it: its channel is closed and no signal given. Ends SSH_LOST. */
void ssh_command_leave(SshCommand *command);
/* As ssh_command_cancel(), with no further call: DATA may go. Takes NULL. */
void ssh_command_forget(SshCommand *command);

#endif
