/* One question at a port: whether a system that is up answers there.
 *
 * Threading: the default main context's thread. Nothing blocks; names are looked up off the loop.
 */
#ifndef PULT_PROBE_ASK_H
#define PULT_PROBE_ASK_H

#include <glib.h>

typedef enum {
  PROBE_TCP, /* it is connected to */
  PROBE_SSH, /* a banner comes */
  PROBE_RDP, /* an X.224 connection request is confirmed */
  PROBE_SMB, /* a negotiation is answered */
} ProbeKind;

typedef struct {
  ProbeKind kind;
  guint16 port;
} ProbeWay;

typedef struct ProbeAsk ProbeAsk;

/* `ssh`, `rdp:13389`, `tcp:8080`. */
gboolean probe_way_parse(const char *word, ProbeWay *way, GError **error);

/* DONE is called once, never before this returns: after at most PATIENCE µs. The ask is gone then.
 */
ProbeAsk *probe_ask_start(const char *host, const ProbeWay *way, gint64 patience,
                          void (*done)(gboolean answered, gpointer data), gpointer data);
/* DONE is not called any more. Takes NULL. */
void probe_ask_drop(ProbeAsk *ask);

#endif
