/* What a layout says of how a switch's agent is reached. */
#ifndef PULT_SNMP_ACCOUNT_H
#define PULT_SNMP_ACCOUNT_H

#include "backends/setup.h"
#include "backends/snmp/snmp_agent.h"

/* ACCOUNT begins as all zeros, and is to be cleared whatever comes. FALSE with an error naming
 * file, instance and switch; no secret stands in it. */
gboolean snmp_account_read(SnmpAccount *account, const BackendSetup *setup, NodeId node,
                           GError **error);

#endif
