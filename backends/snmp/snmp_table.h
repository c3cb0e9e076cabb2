/* A switch as its agent tells of it: its interfaces, and behind which it has seen which address.
 *
 * Pure: rows of the agent's tables are taken as they come, places are looked up.
 */
#ifndef PULT_SNMP_TABLE_H
#define PULT_SNMP_TABLE_H

#include "backends/snmp/snmp_value.h"
#include "model/bond_hash.h"

typedef enum {
  SNMP_IF_NAME, /* IF-MIB */
  SNMP_IF_DESCR,
  SNMP_IF_ALIAS,
  SNMP_BASE_PORT, /* BRIDGE-MIB: a bridge's port → interface */
  SNMP_Q_FDB,     /* Q-BRIDGE-MIB: a VLAN's address → port */
  SNMP_FDB,       /* BRIDGE-MIB: address → port */
} SnmpColumn;
#define SNMP_COLUMN_N (SNMP_FDB + 1)

typedef struct {
  guint32 index;
  char *name, *descr, *alias; /* "" when not told */
} SnmpInterface;

typedef struct SnmpTable SnmpTable;

SnmpTable *snmp_table_new(void);
void snmp_table_free(SnmpTable *table);

/* The root of a column, to walk. */
const SnmpName *snmp_table_root(SnmpColumn column);
/* Takes a row of it; one that makes no sense is passed over. */
void snmp_table_take(SnmpTable *table, SnmpColumn column, const SnmpValue *value);

guint snmp_table_count(const SnmpTable *table);                                   /* interfaces */
const SnmpInterface *snmp_table_interface(const SnmpTable *table, guint32 index); /* NULL */
/* The interface called so: by name, else description, else alias, whole words and all letters as
 * they are; a number is its index, if none is called so. 0: none, or by that which first has any,
 * more than one. */
guint32 snmp_table_find(const SnmpTable *table, const char *text);
/* The interface that an address was learned on; 0: none, or different ones in different VLANs. */
guint32 snmp_table_behind(const SnmpTable *table, const MacAddress *mac);
/* Its name, else description, else number: for people. Free with g_free. */
char *snmp_table_label(const SnmpTable *table, guint32 index);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SnmpTable, snmp_table_free)

#endif
