/* Which port of a switch leads where: to another switch, to a seat, to a server's port.
 *
 * In this order: what the layout says (`ports: [sw2=Te1/1/1, a01=Gi1/0/1]`); the interface that
 * bears the neighbour's name, as its own name, description or alias; the forwarding table: a seat's
 * address, and for a link the addresses of the machines behind it, if all were learned on one port.
 *
 * Pure.
 */
#ifndef PULT_SNMP_PLACE_H
#define PULT_SNMP_PLACE_H

#include "backends/snmp/snmp_table.h"
#include "model/layout.h"

typedef enum { SNMP_TO_LINK, SNMP_TO_SEAT, SNMP_TO_PORT } SnmpWhere;

typedef struct {
  SnmpWhere where;
  guint link;  /* SNMP_TO_LINK */
  NodeId node; /* what is there: the other switch, the seat, the server */
  guint port;  /* SNMP_TO_PORT: the server's */
} SnmpPlace;

/* What the place is called in `ports` and in a column: `sw2` and `link:sw1-sw2`, `a01` and `a01`,
 * `slx1/eth0` and `slx1/eth0`. Free with g_free. */
char *snmp_place_word(const Layout *layout, const SnmpPlace *place);
char *snmp_place_column(const Layout *layout, const SnmpPlace *place);

/* The interface that leads to PLACE from SWITCH; 0: none, and WHY (free it) says so without the
 * switch's name. PORTS: NULL, or the layout's words. */
guint32 snmp_place_find(const Layout *layout, NodeId on, const SnmpTable *table,
                        const char *const *ports, const SnmpPlace *place, char **why);
/* Where the seat was seen, be it a link: 0 nowhere. */
guint32 snmp_place_seen(const Layout *layout, const SnmpTable *table, NodeId seat);

#endif
