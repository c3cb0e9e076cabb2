/* One switch whose ports are metered, by asking its agent in turn:
 *
 *  - which interfaces there are and behind which it has learned which address, at first and then
 *    each `ports-every`; so the port of every link and seat is found (snmp_place.h),
 *  - each interval, whether it has counted anew: agents look at their counters every few seconds
 *    only, and what is told twice in between would make rates of nothing and of everything,
 *  - if so, the counters of the ports that are wanted.
 *
 * Samples come from SOURCE `INSTANCE:SWITCH`, with its `link up` and `down`:
 *   link:sw1-sw2.tx B · link:sw1-sw2.rx B    from → to, and back, at this switch's end
 *   a01.rx B · a01.tx B                      a seat metered by its switch's port
 *   slx1/eth0.tx B · slx1/eth0.rx B          a server's port likewise
 *   sw1/PORT.errors n                        frames that were damaged or left out, both ways
 * Observed: link:sw1-sw2.state, and `port` of each seat on it: `sw1/PORT`, or `none`.
 */
#ifndef PULT_SNMP_METER_H
#define PULT_SNMP_METER_H

#include "backends/ledger.h"
#include "backends/setup.h"

typedef struct SnmpMeter SnmpMeter;

/* Of the switch NODE. SETUP but for the call; LEDGER is set before anything is watched. NULL with
 * an error: settings that cannot be used. */
SnmpMeter *snmp_meter_new(const BackendSetup *setup, const Backend *backend, NodeId node,
                          GError **error);
void snmp_meter_free(SnmpMeter *meter);

/* ITEM is the watch of the switch itself, or of a machine on it; each INTERVAL ns. */
void snmp_meter_watch(SnmpMeter *meter, LedgerItem *item, gint64 interval);
void snmp_meter_unwatch(SnmpMeter *meter, const LedgerItem *item);
gboolean snmp_meter_watches(const SnmpMeter *meter, NodeId node);

#endif
