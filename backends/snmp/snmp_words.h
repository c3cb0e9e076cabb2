/* What goes wrong with an agent, in sentences: the cause, and what helps. None holds a secret. */
#ifndef PULT_SNMP_WORDS_H
#define PULT_SNMP_WORDS_H

#include "backends/snmp/snmp_agent.h"

typedef enum {
  SNMP_NEVER_HEARD,
  SNMP_HEARD_ENGINE, /* version 3: it told its engine's id, and nothing else */
  SNMP_HEARD,        /* it had answered before, in this session */
} SnmpHeard;

/* No answer to any try. GARBAGE: how many datagrams came meanwhile that were none. */
char *snmp_words_silence(const SnmpAccount *account, guint garbage, SnmpHeard heard);
/* A report of version 3, or the library's own refusal: one of net-snmp's SNMPERR_…. */
char *snmp_words_error(const SnmpAccount *account, int code);
/* The error status of an answer, SNMP_ERR_…. */
char *snmp_words_status(const SnmpAccount *account, long status);
/* What was answered is not what was asked for. */
char *snmp_words_mismatch(const SnmpAccount *account, const char *what);

#endif
