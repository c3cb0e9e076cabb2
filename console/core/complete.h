/* What may come next on a `:` line: for the Tab key.
 *
 * Pure. Knows the forms of commands from a table of its own, which a test holds against
 * command_parse().
 */
#ifndef PULT_CORE_COMPLETE_H
#define PULT_CORE_COMPLETE_H

#include "core/state.h"
#include "model/job.h"

/* Words that TEXT (a line up to the cursor) may go on with in place of what stands from byte *START
 * on, in the order of grammar and layout; NULL-terminated, free with g_strfreev. Empty where any
 * word of the operator's own may come, or none. JOBS may be NULL. */
char **complete_line(const CoreState *state, const JobSet *jobs, const char *text, gsize *start);
/* The bytes that all of WORDS (one at least) begin with. Free with g_free. */
char *complete_common(char **words);

#endif
