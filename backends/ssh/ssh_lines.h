/* Bytes as they come, given on as lines of bounded length. */
#ifndef PULT_SSH_LINES_H
#define PULT_SSH_LINES_H

#include <glib.h>

typedef struct {
  GString *part; /* of a line whose end has not come; NULL: nothing */
  gsize max;     /* bytes of a line; a longer one is cut, where it can be between characters */
} SshLines;

/* LENGTH bytes and a NUL behind. */
typedef void (*SshLinesGive)(const char *text, gsize length, gpointer data);

void ssh_lines_init(SshLines *lines, gsize max);
void ssh_lines_clear(SshLines *lines);
void ssh_lines_take(SshLines *lines, const char *bytes, gsize length, SshLinesGive give,
                    gpointer data);
/* What stands behind the last newline, if anything does. */
void ssh_lines_end(SshLines *lines, SshLinesGive give, gpointer data);

#endif
