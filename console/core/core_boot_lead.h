/* What leads a boot to where it should go: keys, or files of the seats' own on the boot server. */
#ifndef PULT_CORE_BOOT_LEAD_H
#define PULT_CORE_BOOT_LEAD_H

#include "core/core_private.h"

/* core_boot_keys.c: the entry of COMMAND, NULL for the menu's own; whether keys lead to it, and are
 * known */
const char *boot_entry(const CoreState *state, const Command *command);
gboolean boot_keys_lead(const CoreState *state, const Command *command);
gboolean boot_keys_check(const CoreState *state, const Command *command, GError **error);
char *boot_keys_text(const CoreState *state, const Command *command);
/* From STEP on the first at which something is pressed, and how long after the start. */
gboolean boot_keys_next(const CoreState *state, const PowerTask *power, Step *step, gint64 *after);
void boot_keys_send(CoreState *state, const Task *task, Step step, const NodeId *nodes, guint n);
void boot_keys_say_spread(CoreState *state, const PowerTask *power);

/* core_once.c: whether files of the seats' own on the boot server choose COMMAND's entry */
gboolean once_leads(const CoreState *state, const Command *command);
/* Whether somebody chooses the entry that it names, for all of NODES. */
gboolean once_check(const CoreState *state, const Command *command, const GArray *nodes,
                    GError **error);
/* `until login pxelinux.cfg/01-MAC on slx1 for`, of a plan that once_check() has let pass */
char *once_text(const CoreState *state);
void once_send(CoreState *state, const Task *task, const NodeId *nodes, guint n);
/* If there may be one. */
void once_take_back(CoreState *state, NodeId id);

#endif
