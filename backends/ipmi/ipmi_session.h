/* One session with one BMC: UDP to and fro on the main loop, and who sends what again.
 *
 * Questions are sent again when their answer is late (after RETRANSMIT, then twice that, and so
 * on; while the session is set up after RETRANSMIT each time), each time under a new number, so
 * that the BMC answers again. A command asked ONCE is sent once, whatever happens: its answer
 * comes, or it does not. A hand-shake that got lost half way is begun anew; a refusal counts only
 * if no better answer comes right behind it, since until there are keys anybody can send one.
 *
 * One thing at a time: open, then one command after the other. Each is answered once, from the main
 * loop and never from within the call; whoever is answered may free the session. Main thread only.
 */
#ifndef PULT_IPMI_SESSION_H
#define PULT_IPMI_SESSION_H

#include <gio/gio.h>

#include "backends/ipmi/ipmi_packet.h"

typedef enum {
  TROUBLE_NONE,
  TROUBLE_SILENT,   /* never an answer */
  TROUBLE_LOST,     /* answered before, and then no more */
  TROUBLE_NOBODY,   /* its machine says that nothing listens there */
  TROUBLE_NETWORK,  /* this machine cannot send there; CODE is the errno */
  TROUBLE_REFUSED,  /* CODE: RMCPPLUS_STATUS_… */
  TROUBLE_PASSWORD, /* its proof does not fit the password */
  TROUBLE_KG,       /* nor the K_g */
  TROUBLE_LEVEL,    /* the privilege level was refused; CODE: completion code */
} IpmiTrouble;

typedef struct IpmiSession IpmiSession;

/* REPLY is NULL with a trouble and of an open. */
typedef void (*IpmiAnswered)(IpmiTrouble trouble, guint code, const IpmiReply *reply,
                             gpointer data);

/* ADDRESS and ACCOUNT are borrowed. Times in ns: after RETRANSMIT a question is asked again; after
 * PATIENCE without any answer it is given up. */
IpmiSession *ipmi_session_new(GSocketAddress *address, const IpmiAccount *account, guint suite,
                              gint64 retransmit, gint64 patience);
/* At once; nothing is waited for, but an open session's BMC is told. Takes NULL. */
void ipmi_session_free(IpmiSession *session);

void ipmi_session_open(IpmiSession *session, IpmiAnswered answered, gpointer data);
/* ONCE: patience is WAIT (ns) instead. */
void ipmi_session_ask(IpmiSession *session, const IpmiCommand *command, IpmiAnswered answered,
                      gpointer data);
void ipmi_session_ask_once(IpmiSession *session, const IpmiCommand *command, gint64 wait,
                           IpmiAnswered answered, gpointer data);
/* Tells the BMC that it is over, if it knows of the session. The last that is asked of it; whatever
 * was under way is not answered any more. */
void ipmi_session_close(IpmiSession *session, IpmiAnswered closed, gpointer data);
/* Has the BMC answered anything at all? */
gboolean ipmi_session_is_answered(const IpmiSession *session);

#endif
