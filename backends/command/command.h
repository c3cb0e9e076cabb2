/* Power by any program: an argv template an operation, patterns over what it prints.
 *
 * No shell is involved. A command runs in a process group of its own, which is ended with TERM and
 * then KILL when its item is over. A status that matches neither or both of its patterns is
 * unknown. On and off are looked at before and after, and told as seen. The secret goes to the
 * program by its environment or its input, never by its arguments. Its keys stand in
 * model/layout_setting_keys.c.
 */
#ifndef PULT_COMMAND_BACKEND_H
#define PULT_COMMAND_BACKEND_H

#include "backends/setup.h"

Backend *command_backend_new(const BackendSetup *setup, GError **error);

#endif
