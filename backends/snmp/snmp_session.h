/* A session of net-snmp's library under the GLib main loop: a message, and what comes of it.
 *
 * The library's single-session calls are used throughout, so that agents share nothing but its list
 * of version 3 users and engines. It reads no configuration, keeps nothing on disk and says nothing
 * on the terminal.
 */
#ifndef PULT_SNMP_SESSION_H
#define PULT_SNMP_SESSION_H

#include <gio/gio.h>

#include "backends/snmp/snmp_agent.h"

typedef struct SnmpSession SnmpSession;

typedef enum {
  SNMP_SILENCE, /* no try was answered */
  SNMP_STATUS,  /* an answer with an error status, CODE */
  SNMP_REPORT,  /* a report of version 3, CODE being one of SNMPERR_… */
} SnmpTrouble;

typedef struct {
  /* What came of a message: one of the two, from within the library, so the session must stay. */
  void (*values)(const SnmpValue *values, guint n, gpointer data);
  void (*trouble)(SnmpTrouble trouble, long code, gpointer data);
  /* The library is done with what it was called for, and the session may go. WAS_GARBAGE: a
   * datagram that could not be read. */
  void (*handled)(gboolean was_garbage, gpointer data);
} SnmpSessionCalls;

/* NULL: CODE is why, one of SNMPERR_…. ACCOUNT and CALLS outlive it. */
SnmpSession *snmp_session_new(const SnmpAccount *account, GInetAddress *address,
                              const SnmpSessionCalls *calls, gpointer data, int *code);
void snmp_session_free(SnmpSession *session);

/* FALSE: it could not be sent, for snmp_session_error(). */
gboolean snmp_session_get(SnmpSession *session, const SnmpName *names, guint n);
gboolean snmp_session_bulk(SnmpSession *session, const SnmpName *after, guint rows);
/* Version 3: asks for the engine's id; then makes the user there of the account's passwords,
 * SNMPERR_SUCCESS or why not. */
gboolean snmp_session_discover(SnmpSession *session);
int snmp_session_make_user(SnmpSession *session);
int snmp_session_error(SnmpSession *session);

#endif
