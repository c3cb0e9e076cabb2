/* TCP connections as `ss -tin` lists them: a line of addresses, then lines of figures that begin
 * with a blank. Only IPv4 is taken, plain or mapped into IPv6 ([::ffff:10.0.0.1]:2049).
 */
#ifndef PULT_PROC_SOCKET_H
#define PULT_PROC_SOCKET_H

#include <glib.h>

typedef struct {
  guint32 local, peer; /* addresses, host order */
  guint16 local_port, peer_port;
  gboolean counts;   /* bytes_acked was there: since Linux 4.1 */
  guint64 acked;     /* payload bytes the peer has confirmed (and its SYN, as one) */
  guint64 received;  /* payload bytes */
  guint64 retrans;   /* segments sent again */
  double rtt;        /* ms, smoothed; -1 not told */
  gint64 congestion; /* window, segments; -1 not told */
} ProcSocket;

typedef struct {
  GArray *sockets;   /* of ProcSocket */
  gboolean at_other; /* lines of figures belong to a connection that was left out */
} ProcSockets;

#define PROC_SOCKETS_MAX 20000 /* more are left out */

void proc_sockets_init(ProcSockets *sockets);
void proc_sockets_clear(ProcSockets *sockets);
/* Forgets what it has: a new listing begins. */
void proc_sockets_begin(ProcSockets *sockets);
/* A line of the listing, whatever it is: headings and what else is no connection are passed over.
 */
void proc_sockets_line(ProcSockets *sockets, const char *line);

#endif
