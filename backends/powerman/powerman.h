/* Power by powermand: every PDU and switch that powerman knows.
 *
 * Its line protocol over TCP, one command at a time on a connection. powermand tells which of its
 * devices serves which node; each device has a connection of its own here, so that one which hangs
 * delays no other. Nodes asked for together go to their device together. A command that ended with
 * errors does not say whose: the nodes' status is then asked, and that tells.
 *
 * Its keys stand in model/layout_setting_keys.c.
 */
#ifndef PULT_POWERMAN_H
#define PULT_POWERMAN_H

#include "backends/setup.h"

Backend *powerman_new(const BackendSetup *setup, GError **error);

#endif
