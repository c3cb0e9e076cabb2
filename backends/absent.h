/* In the place of a backend that cannot be had: it is down from the start and says why, as each
 * request to it is told. The nodes of other backends are not touched by that.
 */
#ifndef PULT_ABSENT_H
#define PULT_ABSENT_H

#include "backends/setup.h"

/* WHY is copied; it begins a sentence, without a full stop. */
Backend *absent_new(const BackendSetup *setup, const char *why);

#endif
