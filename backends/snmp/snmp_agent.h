/* One SNMP agent, spoken to through net-snmp's library: one question after the other.
 *
 * A question is a list of names to get, or the root of a table to walk. It has its one answer, on
 * the main loop and never before the function that asks returns: values, or a sentence that says
 * what is wrong and what helps. After such a sentence the session is closed; the next question
 * opens another, and of a version 3 agent finds out engine, boots and time anew.
 *
 * Nothing blocks: names of hosts are resolved by GResolver, an engine's id is asked for like
 * anything else, sockets are watched by the main loop. So a dead agent delays none but itself.
 *
 * Threading: the default main context's thread only; the library's users and engines are global.
 */
#ifndef PULT_SNMP_AGENT_H
#define PULT_SNMP_AGENT_H

#include "backends/snmp/snmp_value.h"

/* How an agent is reached, and as whom. */
typedef struct {
  char *host;
  guint16 port;
  gboolean v3;
  char *community;                   /* version 2c; wiped when freed, as passwords are */
  char *user;                        /* version 3 */
  char *auth, *priv;                 /* passwords; NULL: not signed, not encrypted */
  const char *auth_word, *priv_word; /* `SHA-256`, `AES` */
  gint64 timeout;                    /* µs, of each try */
  guint retries;
} SnmpAccount;

void snmp_account_clear(SnmpAccount *account);

typedef struct SnmpAgent SnmpAgent;

/* ACCOUNT is borrowed and outlives it. */
SnmpAgent *snmp_agent_new(const SnmpAccount *account);
/* Drops what is under way. Not from within an answer. Takes NULL. */
void snmp_agent_free(SnmpAgent *agent);

/* VALUES are N in the order asked for (get), or all rows in their order (walk); borrowed. TROUBLE:
 * NULL, or why there are none, as a sentence without the agent's name. */
typedef void (*SnmpAnswer)(const SnmpValue *values, guint n, const char *trouble, gpointer data);

gboolean snmp_agent_is_busy(const SnmpAgent *agent);
/* The agent must not be busy. NAMES are copied. */
void snmp_agent_get(SnmpAgent *agent, const SnmpName *names, guint n, SnmpAnswer answer,
                    gpointer data);
void snmp_agent_walk(SnmpAgent *agent, const SnmpName *root, SnmpAnswer answer, gpointer data);
/* Drops the question under way, without an answer. */
void snmp_agent_drop(SnmpAgent *agent);

#endif
