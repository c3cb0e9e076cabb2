/* BMCs by IPMI 2.0 over the network: power, boot device, and the serial console over LAN.
 *
 * Every BMC has a queue of its own: one session and one operation at a time, and the session is
 * closed behind it. At most `workers` BMCs are spoken to at once; one that does not answer gives
 * its place to others. Everything runs on the main loop (SOL's packets on threads of
 * libipmiconsole).
 *
 * Control commands:
 *  - The power is looked at first: what is on already is not told to go on, nor what is off to go
 *    off; a reset of a machine that is off fails.
 *  - Each is sent once. A positive answer is then checked by status until the deadline. When the
 *    answer is lost, a new session asks for the status until the deadline: `ok` when the machine is
 *    seen as asked for, `timeout` when it is seen as before, `unknown` when nothing is seen, and of
 *    a reset always.
 */
#ifndef PULT_IPMI_H
#define PULT_IPMI_H

#include "backends/setup.h"

Backend *ipmi_backend_new(const BackendSetup *setup, GError **error);

#endif
