/* What a contract suite asks of the backend that a BackendCheck holds, in a test's own words: nodes
 * by name, and the cmocka test fails with what was said instead, or with the rule that was broken.
 */
#ifndef PULT_BACKEND_ASK_H
#define PULT_BACKEND_ASK_H

#include "tests/contract/backend_check.h"

/* SET names nodes of the layout, one blank between them. DEADLINE and ARGUMENTS as those of
 * backend_check_submit. Returns the id. */
guint32 backend_ask(BackendCheck *check, Operation operation, const char *set, gint64 deadline,
                    const char *const *arguments);
/* Waits, a minute at most, until the request has all its results. */
void backend_ask_finish(BackendCheck *check, guint32 request);
/* The node of that NAME had VERDICT, and its text holds SAID. */
void backend_ask_expect(const BackendCheck *check, guint32 request, const char *name,
                        Verdict verdict, const char *said);
/* It has no result yet. */
void backend_ask_expect_open(const BackendCheck *check, guint32 request, const char *name);
/* What NAME runs for the request EXEC is let go of, for so long, and only once: it is told of as
 * left running, and no signal reaches it any more. */
void backend_ask_leave(BackendCheck *check, guint32 exec, const char *name, const char *duration);
/* N_STEPS of a random walk over all clients, LONGEST between two at most: no rule is broken, some
 * of what was asked went well, and some was refused as unsupported. ASKS end with a weight of 0. */
void backend_ask_walk(BackendCheck *check, const CheckAsk *asks, guint n_steps, gint64 longest);

#endif
