/* Meters switches by SNMP, versions 2c and 3: what their links carry, and for seats and servers
 * that name it as their meter, what the switch's port to them does. It only reads.
 *
 * Everything is on the main loop; nothing blocks.
 */
#ifndef PULT_SNMP_H
#define PULT_SNMP_H

#include "backends/setup.h"

Backend *snmp_backend_new(const BackendSetup *setup, GError **error);

#endif
