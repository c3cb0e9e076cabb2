/* What happens: one deterministic function folds events into the state of the lab and says what to
 * do next. No I/O, no clock, no thread: time comes in as events, randomness as the seed.
 *
 * Order at equal t: backend events as posted, then wake, then command. t never decreases.
 *
 * How commands go, where the grammar leaves it open:
 *  - Each ends with exactly one `done`. Of its targets' verdicts: all ok → ok, some → partial, none
 * → what they have in common, else failed.
 *  - power, boot: protected nodes are never touched, seats in use or reserved only with
 *    `including in-use`, and nodes without a power backend cannot be; the plan names them, and only
 *    the last make it partial. A seat that another command still acts on refuses the whole. `set`
 * changes no power: it is planned and asked for, on protected servers too, and counts as one.
 *  - cycle: off, seen off, pause, on, seen on. `off` and `on` are sent once, whatever comes back;
 * an answer that nothing was seen for is looked into with `status`, until the deadline.
 *  - boot: a seat seen on goes off and on (cold, the default) or is reset (warm), any other is
 *    switched on. A backend that cannot choose the boot device is fine unless via or entry were
 * said.
 *  - stop: what was not sent is not sent, `9 done, 8 not sent`; what was sent is waited for. A seat
 *    caught between off and on is left off, and named. Loads go on: `load stop` ends them.
 *  - load start is done when its request is out; how its jobs fare is for `wait load` and the
 * load's figures. Without `as` it goes by its job's name.
 *  - wait: when it cannot succeed any more, it still waits for the seats on their way, so that the
 *    run is over and has its figures; then partial or failed. wait power asks for `status` again
 * and again.
 *  - expect is done ok, held or not; without such a figure it is not held.
 *  - reserve: binds whoever gives a command, until its time has come or `release`; a second one
 *    takes the place of the first. Only wall-clock times that were made durations are understood.
 *  - A label that a node bears is refused by core_resolve().
 *  - Read-only refuses whatever changes something: power, boot, set, reserve, release, and loads,
 *    warm ones too. A dry run gives plans, asks (status, get), and passes over everything else.
 *  - A backend that is down answers `failed` through core; one that is silent a second past a
 * deadline is answered for (`timeout` of what asks, else `unknown`).
 */
#ifndef PULT_CORE_H
#define PULT_CORE_H

#include "model/event.h"
#include "model/layout.h"

typedef struct CoreState CoreState; /* core/state.h shows it to the views */

typedef enum {
  CONSENT_ASK, /* a disturbing command is answered `unconfirmed` with its plan */
  CONSENT_YES,
  CONSENT_SEATS, /* as YES, unless the plan touches more than consent_seats */
} Consent;

typedef struct {
  guint64 seed;
  gboolean read_only;
  gboolean dry_run; /* disturbing commands: their plan, nothing more */
  Consent consent;
  guint consent_seats;
} CoreOptions;

/* Called for each output, in order, during core_step(). The event is borrowed for the call. It may
 * submit requests (no backend answers re-entrantly) but must not call into the core. */
typedef void (*CoreEmit)(const Event *output, gpointer data);

/* LAYOUT is borrowed and outlives the state. */
CoreState *core_new(const Layout *layout, const CoreOptions *options);
CoreState *core_clone(const CoreState *state);
void core_free(CoreState *state);

/* Folds one input. Never fails: what makes no sense is answered with a note or a done verdict. */
void core_step(CoreState *state, const Event *input, CoreEmit emit, gpointer data);
/* When it next wants a wake; TIME_NEVER. It may be now: what follows from an answer is sent by the
 * wake after everything was posted for this t, so that seats that answer together go on together.
 */
gint64 core_deadline(const CoreState *state);
/* TEXT as it is recorded: canonical, its sets resolved now (`boot @off` → `boot a[03,07]`), so that
 * a replay never asks again. NULL with an error for the person who typed. Pure. */
char *core_resolve(const CoreState *state, const char *text, GError **error);
/* TRUE while it would be too early to resolve TEXT: it has a group that is told by power, and what
 * a session begins with, a look at all of it, has not ended. */
gboolean core_resolves_later(const CoreState *state, const char *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(CoreState, core_free)

#endif
