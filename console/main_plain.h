/* The console without a screen: a line for each change on stdout, commands as lines from stdin. */
#ifndef PULT_MAIN_PLAIN_H
#define PULT_MAIN_PLAIN_H

#include "session/session.h"

/* Starts SESSION and goes on until `quit`, or until stdin has ended and what was said is done.
 * REAL: some backend touches real machines. The process's exit status. */
int main_plain_session(Session *session, gboolean real);

#endif
