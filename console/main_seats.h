/* `pult do --json`: an object a seat and command on stdout, for shell scripts.
 *
 *   {"seat":"a01","command":"power status a[01-02]","verdict":"ok","power":"on"}
 *   {"seat":"a02","command":"power status a[01-02]","verdict":"timeout","text":"a02: its BMC …"}
 *
 * `power` is what was seen meanwhile, `value` what `get` found, `text` why it is not ok. A command
 * that asked nobody is one object without a seat; what is only planned has `plan` and `by` instead
 * of a verdict.
 */
#ifndef PULT_MAIN_SEATS_H
#define PULT_MAIN_SEATS_H

#include "core/core.h"

typedef struct Seats Seats;

Seats *seats_new(const Layout *layout); /* borrowed */
void seats_free(Seats *seats);
/* Every event of the session, in order. */
void seats_event(Seats *seats, const Event *event);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Seats, seats_free)

#endif
