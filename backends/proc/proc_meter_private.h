/* What the proc_meter*.c files share. */
#ifndef PULT_PROC_METER_PRIVATE_H
#define PULT_PROC_METER_PRIVATE_H

#include "backends/proc/proc_bond.h"
#include "backends/proc/proc_flow.h"
#include "backends/proc/proc_meter.h"
#include "backends/proc/proc_net.h"
#include "backends/proc/proc_server.h"

typedef struct {
  const char *name;  /* the host's name of it */
  char *column;      /* `a01`, `slx1/eth0` */
  gboolean seen;     /* in this answer */
  gboolean told;     /* that it is not there */
  ProcCounters now;  /* of this answer */
  ProcCounters file; /* of /proc/net/dev, where both were asked for */
  gboolean in_file;
  ProcNet net;
} ProcInterface;

/* A table of columns, as last given. */
typedef struct {
  char *source;
  GPtrArray *names; /* of this answer */
  GPtrArray *given;
  GArray *values;
} ProcColumns;

struct ProcMeter {
  const Layout *layout;
  const LayoutNode *node;
  const ProcMeterCalls *calls;
  gpointer data;
  guint n_interfaces;
  ProcInterface *interfaces;
  char *interface;  /* a client's own */
  GPtrArray *bonds; /* names, NULL at the end */

  guint64 token;
  gboolean waiting, answering;
  gint64 asked, slow_asked; /* µs */
  guint ask, net;           /* what was asked for; by what its interfaces are */
  guint n_lines, n_foreign; /* of this answer; outside any */
  GString *others;          /* interfaces of the host, for who looks for one that is not there */

  gboolean has_load, has_disk, has_calls, has_waits;
  gint64 load;
  GHashTable *disks; /* name → ProcCount */
  ProcCount calls_count, waits_count;
  guint64 waits; /* of this answer, all pools */

  char *bond; /* whose lines come; NULL */
  GString *bond_text;

  gboolean in_sockets, sockets_listed, sockets_told;
  ProcSockets sockets;
  ProcFlows *flows; /* NULL: not asked for */

  GHashTable *observed; /* `slx1 fact` → value: what was said is not said again */
  ProcColumns own, clients;
};

void proc_meter_observe(ProcMeter *meter, NodeId node, const char *fact, const char *value);

/* proc_meter_columns.c */
void proc_columns_init(ProcColumns *columns, char *source);
void proc_columns_clear(ProcColumns *columns);
/* Samples of a complete answer; ECHO µs. */
void proc_columns_post(ProcMeter *meter, gint64 echo);
void proc_columns_post_clients(ProcMeter *meter);

/* proc_meter_see.c: lines of an answer that are facts */
void proc_see_release(ProcMeter *meter, const char *release);
void proc_see_bond(ProcMeter *meter); /* bond_text is complete */
void proc_see_nfsd(ProcMeter *meter, const char *line);
void proc_see_flows(ProcMeter *meter);

#endif
