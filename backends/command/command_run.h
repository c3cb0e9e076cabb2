/* A program that is run for a backend: in a process group of its own, with what it prints kept.
 *
 * Threading: the default main context's thread only.
 */
#ifndef PULT_COMMAND_RUN_H
#define PULT_COMMAND_RUN_H

#include <glib.h>

typedef struct CommandRun CommandRun;

typedef struct {
  const char *const *words; /* the program and its arguments, which no shell reads */
  const char *secret;       /* NULL: none */
  const char *variable;     /* of the environment, that holds it; NULL: its first line of input */
  const char *input;        /* a line it is told besides; NULL: none */
} CommandCall;

/* OUTPUT is standard output and error, up to 64 KiB of it, NUL shown as a blank. EXIT_STATUS is -1
 * when SIGNAL has ended it. */
typedef void (*CommandRunDone)(const char *output, int exit_status, int signal, gpointer data);

/* DONE is called once, from the main loop, when the program has ended and all is read, or what it
 * left behind holds its output open; the run is gone then. NULL: it cannot be run. */
CommandRun *command_run_new(const CommandCall *call, CommandRunDone done, gpointer data,
                            GError **error);
/* Ends it, with all that it has started; DONE is not called any more. AT_ONCE: by KILL, for when
 * nobody is there later for what ignores TERM. */
void command_run_stop(CommandRun *run, gboolean at_once);

#endif
