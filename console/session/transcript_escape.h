/* What of remote text stands as it is in a transcript: shared by those who print and escape. */
#ifndef PULT_SESSION_TRANSCRIPT_ESCAPE_H
#define PULT_SESSION_TRANSCRIPT_ESCAPE_H

#include <glib.h>

/* Bytes of the character at TEXT (of LENGTH ≥ 1 bytes) when it is valid UTF-8 and no control
 * character but tab and newline; 0 when its first byte has to become \xNN. */
gsize transcript_plain_length(const char *text, gsize length);

#endif
