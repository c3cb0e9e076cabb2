/* A backend that needs a library of its own is a module, MODULES/NAME.so: it and that library are
 * loaded when a layout first names the type (console/main_module.h), and never unloaded.
 *
 * What it uses of the program (the ledger, layouts, settings, …) is the program's: there is one of
 * each, and both must be of one build. STAMP tells that: a sum of every header they share. Tests
 * link all backends statically, and need no module.
 */
#ifndef PULT_MODULE_H
#define PULT_MODULE_H

#include <gmodule.h>

#include "backends/setup.h"

typedef struct {
  const char *stamp;
  Backend *(*reach)(const BackendSetup *setup, GError **error);
} BackendModule;

#define BACKEND_MODULE_SYMBOL "pult_backend_"

/* Of this build; the program and each module have their own (the Makefile makes it). */
extern const char backend_stamp[];

/* At the end of the file that has the constructor. */
#define BACKEND_MODULE(NAME, REACH)                                                                \
  G_MODULE_EXPORT extern const BackendModule pult_backend_##NAME;                                  \
  const BackendModule pult_backend_##NAME = {backend_stamp, REACH}

#endif
