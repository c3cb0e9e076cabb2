/* Video and keyboard switches as a backend: `keys: NAME` in a layout, of the type `vswitch`.
 *
 * What a device can is its description's (backends/devices/): `route` wants a script `connect`,
 * `keys` and `type` a script `keys`, power the scripts `power-*`. Seats that share an address share
 * the device, which is asked one thing at a time, a seat's keys in one go. Where its keys go to
 * the seat that is connected, a seat is connected first, and at the end what was connected before;
 * where it has a script `broadcast`, keys for all its seats go at once.
 *
 * It observes `shown` (yes or no) of seats, and `keys-go` at the start: `one by one`, or `at once
 * by ADDRESS` for keys to all seats of the device there.
 */
#ifndef PULT_VSWITCH_H
#define PULT_VSWITCH_H

#include "backends/setup.h"

Backend *vswitch_new(const BackendSetup *setup, GError **error);

#endif
