/* What comes over a serial line, cut into the lines of an item that watches a console.
 *
 * A line ends with a newline or a carriage return. A prompt ends with neither: what stands for
 * 0.3 s is a line. Where that goes on after all, as `vmlinuz...` does with ` ok`, the line is said
 * again from its beginning, unless that was longer than 200 bytes; a backspace takes back what
 * stands before it. Empty lines and NULs are left out; a line of more than 2000 bytes is cut.
 *
 * Threading: the default main context's thread only.
 */
#ifndef PULT_CONSOLE_LINES_H
#define PULT_CONSOLE_LINES_H

#include "backends/ledger.h"

typedef struct {
  LedgerItem *item; /* borrowed */
  GString *text;
  gboolean fresh; /* it is another than was said last */
  guint rest;     /* source: until then what stands may go on */
} ConsoleLines;

void console_lines_init(ConsoleLines *lines, LedgerItem *item);
/* What stands is not said. */
void console_lines_clear(ConsoleLines *lines);
void console_lines_take(ConsoleLines *lines, const char *bytes, gsize n);
/* Nothing more comes for now: says what stands. */
void console_lines_end(ConsoleLines *lines);

#endif
