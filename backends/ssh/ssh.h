/* Machines reached by SSH: commands, jobs, meters, and what the layout's `control` commands do.
 * The settings are those of the type `ssh` (console/model/layout_setting_keys.c). */
#ifndef PULT_SSH_H
#define PULT_SSH_H

#include "backends/setup.h"

/* ssh_new() is libssh's. */
Backend *ssh_backend_new(const BackendSetup *setup, GError **error);

#endif
