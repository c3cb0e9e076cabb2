/* Counters of one port of a switch, and what payload passed it.
 *
 * The names to get of an interface stand in one order, SNMP_PORT_ITEMS of them; agents without
 * 64-bit counters are asked for the 32-bit ones, which wrap. A switch counts whole frames with
 * their four check bytes, Linux without; payload is as in backends/proc/proc_net.h.
 *
 * A counter of 32 bits that went back has wrapped. One of 64 has not; where a counter was reset
 * (ifCounterDiscontinuityTime moved, the agent's sysUpTime went back, several went back at once)
 * what passed since is not known, and counts as nothing.
 *
 * Pure.
 */
#ifndef PULT_SNMP_PORT_H
#define PULT_SNMP_PORT_H

#include "backends/proc/proc_net.h"
#include "backends/snmp/snmp_value.h"

#define SNMP_PORT_ITEMS 13

typedef struct {
  ProcCounters bytes;    /* rx: into the switch; packets of all kinds */
  gboolean there;        /* the agent has such an interface, and counts */
  gboolean narrow;       /* 32 bits */
  guint64 errors;        /* in and out */
  guint64 discontinuity; /* sysUpTime when counters last began anew, 1/100 s */
  gint64 speed;          /* bit/s; 0 not told */
  int up;                /* ifOperStatus: 1, 0; -1 not told or in between */
} SnmpReading;

typedef struct {
  ProcNet net; /* payload: rx from the machine or switch behind the port, tx to it */
  gboolean begun;
  SnmpReading last;
  ProcCounters sum; /* what all counted since it was first seen, check bytes apart */
  gint64 errors;    /* since it was first seen */
} SnmpPort;

/* Appends what is to be asked for of the interface INDEX. */
void snmp_port_names(GArray *names, guint32 index, gboolean narrow);
/* What was answered, in the same order. */
void snmp_port_read(const SnmpValue values[SNMP_PORT_ITEMS], gboolean narrow, SnmpReading *reading);
/* CHECK_BYTES: the agent counts them. */
void snmp_port_add(SnmpPort *port, const SnmpReading *reading, gboolean check_bytes);
/* Counters begin anew: the agent was started again. What has been counted stays. */
void snmp_port_restart(SnmpPort *port);

#endif
