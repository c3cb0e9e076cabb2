/* What a server's connections say of its clients: how much it served each, and by which ports.
 *
 * It needs nothing on the client, so it meters one that still boots. A connection counts from when
 * it is first listed, one that is new since the listing before with all it carried; what passes
 * between the last listing of a connection and its end is not seen. Figures of round trip, window
 * and ports are those of the connection that was served most lately; it is kept until another is
 * served twice as much, so that two equal ones do not take turns.
 */
#ifndef PULT_PROC_FLOW_H
#define PULT_PROC_FLOW_H

#include "backends/proc/proc_socket.h"
#include "model/layout.h"

typedef struct {
  NodeId node;
  gint64 served;   /* bytes */
  gint64 retrans;  /* segments sent again */
  guint n_sockets; /* now */
  gboolean flows;  /* there is one that figures are of, */
  ProcSocket flow; /* this */
  gboolean moved;  /* it is another than at the listing before, or none any more */
} ProcClient;

typedef struct ProcFlows ProcFlows;

/* Of the clients with an address that are SERVER's. */
ProcFlows *proc_flows_new(const Layout *layout, NodeId server);
void proc_flows_free(ProcFlows *flows);
/* A listing is complete. */
void proc_flows_add(ProcFlows *flows, const ProcSocket *sockets, guint n);
const ProcClient *proc_flows_clients(const ProcFlows *flows, guint *n);
/* FALSE: connections are there, and the kernel does not count what they carry. */
gboolean proc_flows_count(const ProcFlows *flows);

#endif
