/* The head that syslogs, journals and programs put before what they say, taken apart.
 *
 *   <30>Dec  2 16:51:24 boot1 dnsmasq-tftp[11736]: sent /srv/tftp/pxelinux.0 to 10.77.0.101
 *       stamp           host  program              text
 *
 * Known are RFC 3164 with or without its <PRI> or host, the same with an ISO 8601 stamp (rsyslog,
 * journalctl -o short-iso) or seconds in brackets (-o short-monotonic, the kernel), RFC 5424, and a
 * bare `program: `. What is none of these is all text.
 */
#ifndef PULT_MODEL_LOG_LINE_H
#define PULT_MODEL_LOG_LINE_H

#include <string.h>

#include <glib.h>

#define LOG_LINE_MAX 4096 /* bytes; a longer line is none */

/* A part of the line it points into, or of length 0. */
typedef struct {
  const char *text;
  gsize length;
} LogPart;

typedef struct {
  LogPart stamp, host, program, process, text;
} LogLine;

/* LINE without its newline. */
void log_line_read(const char *line, gsize length, LogLine *parts);

static inline gboolean
log_part_is(const LogPart *part, const char *word)
{
  return part->length == strlen(word) &&
         (part->length == 0 || memcmp(part->text, word, part->length) == 0);
}

#endif
