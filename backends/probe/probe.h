/* Machines whose system logs nothing are asked at their ports: what answers there is up. The
 * backend of role `log` for those.
 *
 * `watch what=log` tries a node's ways one after the other, again and again, until it is cancelled.
 * When one answers after none did, that is an observation of the stage `login`, likely; of one that
 * answers from the first on nothing is known but that. Its keys stand in
 * model/layout_setting_keys.c.
 */
#ifndef PULT_PROBE_H
#define PULT_PROBE_H

#include "backends/setup.h"

Backend *probe_backend_new(const BackendSetup *setup, GError **error);

#endif
