/* Loads backends that are modules (backends/module.h).
 *
 * A module is looked for where `make install` puts it, and before that beside a program that was
 * not installed, in `modules/`, where it must belong to whom the program belongs to. Neither the
 * environment nor the working directory has a say.
 */
#ifndef PULT_MAIN_MODULE_H
#define PULT_MAIN_MODULE_H

#include "backends/module.h"

/* NULL, and one line that names the backend, the file and what helps. It stays loaded. */
const BackendModule *main_module(const char *name, GError **error);

#endif
