/* One metered host: asks its loop (proc_loop.h), makes samples and observations of the answers.
 *
 * Columns, of a client a01 and a server slx1 (model/event.h has the units):
 *
 *   SOURCE           a01.rx B · a01.tx B · a01.echo m
 *                    slx1/eth0.tx B · slx1/eth0.rx B · slx1.load m · slx1.disk B · slx1.calls n ·
 *                    slx1.waits n · slx1.echo m
 *   SOURCE/sockets   a01.served B · a01.retrans n · a01.rtt m · a01.cwnd m (slx1's clients)
 *
 * echo is the round trip of the question itself, rtt TCP's smoothed one, both ms; cwnd is in
 * segments, and both are -1 while the client has no connection. calls are the NFS server's, waits
 * how often a request found none of its threads idle. What a host does not tell has no column; an
 * interface that goes takes its columns with it, and columns are given again whenever they change.
 * A bond is not a column: its ports are.
 *
 * Observed of a server: bond0.mode, bond0.policy, bond0.era, eth1.state (up, down or inactive: its
 * bond does not send by it), eth1.speed, nfsd; of its clients: flow, `IP:PORT IP:PORT` of the
 * server's and the client's end of the connection that matters, or `none`.
 *
 * Pure: time is given, nothing is read or written. One question is under way at a time; whoever
 * does not answer is asked no more.
 */
#ifndef PULT_PROC_METER_H
#define PULT_PROC_METER_H

#include "model/layout.h"

typedef struct ProcMeter ProcMeter;

/* Everything is borrowed for the call. */
typedef struct {
  void (*samples)(const SamplesEvent *samples, gpointer data);
  void (*observe)(NodeId node, const char *fact, const char *value, gpointer data);
  void (*note)(const char *text, gpointer data); /* what could not be metered, and why */
} ProcMeterCalls;

/* SOURCE is whose samples they are, INTERFACE a client's own (a server's are those of its layout);
 * SOCKETS: a server is asked for its connections. CALLS and LAYOUT outlive it. */
ProcMeter *proc_meter_new(const Layout *layout, NodeId node, const char *source,
                          const char *interface, gboolean sockets, const ProcMeterCalls *calls,
                          gpointer data);
void proc_meter_free(ProcMeter *meter);

/* What its host is to run. Free with g_free. */
char *proc_meter_command(const ProcMeter *meter);
/* The line to send at NOW (µs, monotonic); FALSE: the one before is not answered yet. */
gboolean proc_meter_ask(ProcMeter *meter, gint64 now, GString *line);
/* A line that came at NOW. FALSE with an error: no answer to what was asked; nothing of it will be
 * understood any more. Some lines that are none at all are passed over: a shell may greet. */
gboolean proc_meter_line(ProcMeter *meter, gint64 now, const char *line, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ProcMeter, proc_meter_free)

#endif
