/* Remote text as a person may see it. */
#ifndef PULT_SSH_TEXT_H
#define PULT_SSH_TEXT_H

#include <glib.h>

/* Control characters (a newline is one), what turns the direction of text and what is no UTF-8 as
 * \xNN; of more than LIMIT bytes the rest as an ellipsis. What it gave once it does not change. */
char *ssh_printable(const char *text, gsize length, gsize limit);

#endif
