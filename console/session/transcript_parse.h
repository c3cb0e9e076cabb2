/* From one line of a transcript to what it says: the half of the reader that knows no file. */
#ifndef PULT_SESSION_TRANSCRIPT_PARSE_H
#define PULT_SESSION_TRANSCRIPT_PARSE_H

#include "session/transcript.h"

/* Holds a parsed line; every string and array of an Event points into it. */
typedef struct TranscriptLine TranscriptLine;

TranscriptLine *transcript_line_new(void);
void transcript_line_free(TranscriptLine *line);

/* Each replaces what LINE held. Errors are bare sentences, without a position. */
gboolean transcript_parse_head(TranscriptLine *line, const char *text, gsize length,
                               TranscriptHead *head, GError **error);
gboolean transcript_parse_session(TranscriptLine *line, const char *text, gsize length,
                                  TranscriptSession *session, GError **error);
gboolean transcript_parse_event(TranscriptLine *line, const Layout *layout, const char *text,
                                gsize length, Event *event, GError **error);

/* The same for counters without columns, written as transcript_print_event() does; FALSE of
 * anything else, whether it makes sense or not. EVENT borrows from VALUES (of gint64) and SOURCE.
 */
gboolean transcript_scan_samples(const char *text, gsize length, GArray *values, GString *source,
                                 Event *event);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TranscriptLine, transcript_line_free)

#endif
