/* Wake-on-LAN: magic packets, by UDP or in Ethernet frames of their own.
 *
 * It can switch on and nothing else, and `ok` says that the packets left this machine, no more:
 * whether a machine woke is for others to see. A packet is six bytes of ff, sixteen times the
 * machine's address, and the SecureOn password, if there is one.
 *
 * Its keys stand in model/layout_setting_keys.c. Packets that another host sends (`via`) are
 * core's: it asks that host's exec.
 */
#ifndef PULT_WOL_H
#define PULT_WOL_H

#include "backends/setup.h"

Backend *wol_new(const BackendSetup *setup, GError **error);

#endif
