/* What the snmp_meter*.c files share. */
#ifndef PULT_SNMP_METER_PRIVATE_H
#define PULT_SNMP_METER_PRIVATE_H

#include "backends/snmp/snmp_agent.h"
#include "backends/snmp/snmp_meter.h"
#include "backends/snmp/snmp_place.h"
#include "backends/snmp/snmp_port.h"

/* After the first trouble with an agent; longer each time. */
#define SNMP_PAUSE_MIN G_USEC_PER_SEC

typedef struct {
  LedgerItem *item; /* the watch it belongs to */
  SnmpPlace place;
  gboolean from_there; /* a link: this switch is its `to` */
  char *column;
  guint32 index; /* of the interface; 0: not known */
  gboolean narrow;
  SnmpPort port;
  char *label;        /* the interface, for people */
  char *told;         /* why it has no meter, as told last */
  gint64 speed_told;  /* bit/s */
  gint64 errors_told; /* µs: when; 0 never */
  gint64 errors;      /* as told */
} SnmpWanted;

struct SnmpMeter {
  const Backend *backend;
  const Layout *layout;
  NodeId node;
  SnmpAccount account;
  SnmpAgent *agent;
  char *source;
  char **ports;
  gboolean check_bytes;
  gint64 ports_every, pause_max; /* µs */
  GPtrArray *wanted;             /* of SnmpWanted */

  guint timer;
  gint64 interval;          /* ns, the timer's */
  gint64 pause, not_before; /* µs: after trouble */
  gboolean up;              /* as told */
  char *trouble;            /* as told last */
  SnmpTable *table, *fresh; /* known; being read */
  guint column;             /* of FRESH */
  gint64 look_at;           /* µs: when ports are to be looked for again */
  gboolean polled;          /* MARK is there */
  guint64 mark;             /* of all counters at the last poll */
  gint64 posted;            /* µs */
  guint64 up_time;          /* the agent's, 1/100 s */
  GHashTable *seen;         /* `NODE FACT` → value, as observed last */
  GPtrArray *asked;         /* of SnmpWanted: those of the question under way */
  GPtrArray *names;         /* columns as given last; NULL: to be given */
};

void snmp_meter_post(const SnmpMeter *meter, const Event *event);
/* What is as it was observed before is not said again. */
void snmp_meter_observe(SnmpMeter *meter, NodeId node, const char *fact, const char *value);
void snmp_meter_tell(const SnmpMeter *meter, const SnmpWanted *wanted, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
/* Why it has no meter, once; NULL: it has one. */
void snmp_meter_lack(const SnmpMeter *meter, SnmpWanted *wanted, const char *why);
/* The agent did not answer as it should: all is asked anew, after a pause. */
void snmp_meter_suffer(SnmpMeter *meter, const char *trouble);

/* snmp_meter_count.c: asks for the counters of what is wanted, and posts them. */
void snmp_meter_count(SnmpMeter *meter);

#endif
