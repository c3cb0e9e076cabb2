/* What came out of a session: figures by label, and which expectations held.
 *
 * Made from events alone, so that a live session and a transcript give the same.
 */
#ifndef PULT_SESSION_REPORT_H
#define PULT_SESSION_REPORT_H

#include <stdio.h>

#include "model/event.h"

typedef struct Report Report;

Report *report_new(void);
void report_free(Report *report);
void report_add(Report *report, const Event *event);
/* Tables of what there is; nothing when there is nothing. Expectations of several variants come
 * side by side (session/variants.h) and in the place of all figures behind them. */
void report_print(const Report *report, FILE *out);
/* `22.9 s`, `1.88 Gbit/s`, `16`: a figure for a person. Free with g_free. */
char *report_value(double value, const char *unit);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Report, report_free)

#endif
