/* What the program says to whoever started it. */
#ifndef PULT_MAIN_SAY_H
#define PULT_MAIN_SAY_H

#include <stdio.h>

#include <glib.h>

#define EXIT_USAGE 2
#define EXIT_NOT_DONE 3

/* First of all: a closed standard stream stays none, lest the next file opened is taken for it; a
 * file that may not grow fails to be written, as a full disk does; and a success whose output was
 * lost is none, whoever ends the program. */
void main_begin(void);

/* TEXT with control characters as \xNN: much of it comes from files and machines. */
void main_print(FILE *out, const char *text);
/* MESSAGE on stderr, behind `pult: ` unless it begins with a position of its own. */
void main_complain(const char *message);
/* The same of ERROR; returns EXIT_USAGE. */
int main_fail(const GError *error);
/* STATUS, or 3 with a complaint when stdout could not be written. */
int main_finish_output(int status);

#endif
