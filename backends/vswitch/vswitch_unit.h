/* One device and its only owner: the way to it, the conversation over it, login and keep-alive, and
 * reconnecting when it is gone. Scripts are run one at a time; who comes next is the caller's.
 *
 * A script that had no answer has the connection dropped behind it: what comes late belongs to
 * nobody. Attempts at a device that cannot be reached are ever farther apart, and what is asked
 * meanwhile fails at once, with the cause.
 *
 * Threading: the default main context's thread only.
 */
#ifndef PULT_VSWITCH_UNIT_H
#define PULT_VSWITCH_UNIT_H

#include "backends/vswitch/device_talk.h"
#include "backends/vswitch/vswitch_line.h"

typedef struct VswitchUnit VswitchUnit;

typedef struct {
  DeviceHooks talk; /* their data is the hooks' */
  /* The connection stands, login and all, or is gone: TEXT says why. */
  void (*link)(gboolean up, const char *text, gpointer data);
} VswitchUnitHooks;

/* TALK has the captures, until this returns; of a script that was not begun they are none. */
typedef void (*VswitchDone)(Verdict verdict, const char *text, const DeviceTalk *talk,
                            gpointer data);

/* PLACE's device is borrowed. STANDING, N of them, copied: what parameters are unless a script is
 * given them. NULL with an error: a login needs one that is not there. */
VswitchUnit *vswitch_unit_new(const VswitchPlace *place, const Argument *standing, guint n,
                              const VswitchUnitHooks *hooks, gpointer data, GError **error);
/* Nobody is told any more. Takes NULL. */
void vswitch_unit_free(VswitchUnit *unit);

/* DONE comes once, at once only when ARGUMENTS (copied) are wrong. None may be running. */
void vswitch_unit_run(VswitchUnit *unit, const DeviceScript *script, const Argument *arguments,
                      guint n, VswitchDone done, gpointer data);
gboolean vswitch_unit_is_busy(const VswitchUnit *unit);
/* Whether the script has begun: what is sent now is of it, and of no login. */
gboolean vswitch_unit_has_begun(const VswitchUnit *unit);
/* Nobody waits for the script any more. If it was not sent it is over; else its answer is waited
 * for, lest it is taken for another's, and the unit busy until then: IDLE tells of that. */
void vswitch_unit_forget(VswitchUnit *unit, void (*idle)(gpointer data), gpointer data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(VswitchUnit, vswitch_unit_free)

#endif
