/* What changes in a lab from one event to the next, as lines for a person: power, stages, usage and
 * failures of machines, and what becomes full or free again.
 *
 * A state is looked at once an event is folded. Changes of one kind within a second of session time
 * share a line, their nodes folded; a failure has a line of its own.
 */
#ifndef PULT_MAIN_CHANGES_H
#define PULT_MAIN_CHANGES_H

#include "core/state.h"

typedef struct Changes Changes;
/* MARK is `*` for machines, `!` for a failure, `^` for full and free. */
typedef void (*ChangesTell)(gint64 t, char mark, const char *text, gpointer data);

Changes *changes_new(const Layout *layout, ChangesTell tell, gpointer data);
void changes_free(Changes *changes);
/* EVENT, an input or output, is about to change something, or tells that it has. */
void changes_expect(Changes *changes, const Event *event);
/* Sees what has changed since, and tells what is older than a second NOW. */
void changes_look(Changes *changes, const CoreState *state, gint64 now);
/* Tells all that was seen: before a line that is later than that. */
void changes_flush(Changes *changes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Changes, changes_free)

#endif
