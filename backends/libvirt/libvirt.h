/* Virtual machines by libvirt: power, boot device, serial consoles and network counters, of
 * any number of hosts, each by its URI.
 *
 * A host has one connection for events and consoles. When it cannot be made or is lost, that is a
 * state of the host: it is told, the power of its domains is unknown, and attempts go on with
 * growing pauses; a command makes one at once. Afterwards states are read anew, and consoles opened
 * again.
 *
 * Calls of libvirt's block, so they are made on threads: at most `workers` that change something
 * and three that ask, for each host, each by a connection of its own, and of one domain never two
 * that change something. One host that hangs delays no other. Events and streams are on the main
 * loop, by libvirt-glib.
 *
 * Control:
 *  - The state is looked at first: what is on already is not told to go on, nor what is off to go
 *    off; a reset of a domain that is off fails. What is paused or asleep is resumed by `on`.
 *  - Each is told once. After a soft off, or when the connection is lost under way, the state is
 *    looked at until the deadline: `ok` when it is as asked for, `timeout` when it is not, and
 *    `unknown` when nothing is seen, and of a reset always.
 */
#ifndef PULT_LIBVIRT_H
#define PULT_LIBVIRT_H

#include "backends/setup.h"

Backend *libvirt_backend_new(const BackendSetup *setup, GError **error);

#endif
