/* Between the files of the backend. */
#ifndef PULT_VSWITCH_PRIVATE_H
#define PULT_VSWITCH_PRIVATE_H

#include "backends/ledger.h"
#include "backends/setup.h"
#include "backends/vswitch/vswitch_unit.h"

#define VSWITCH_MAX_KEYS 1000 /* of one request */
#define VSWITCH_MAX_BEFORE 64

typedef struct Vswitch Vswitch;

/* What is done for one seat, or for all seats of a device at once, without anything in between. */
typedef struct {
  GPtrArray *items; /* of LedgerItem; NULL where nobody waits any more */
  Operation operation;
  NodeId node;
  char **keys; /* OP_KEYS, OP_TYPE */
  guint at;    /* the key that is next */
  gboolean broadcast, connected;
  gboolean asked; /* what is shown */
  char *remark;   /* what a success should say; NULL: nothing */
  gboolean back;  /* OP_ROUTE: to what was shown before */
} VswitchWork;

/* A device with its queue. */
typedef struct {
  Vswitch *owner;
  Device *device;
  char *address, *output;
  VswitchUnit *unit;
  GQueue waiting; /* of VswitchWork */
  VswitchWork *work;
  const DeviceScript *asking; /* what runs for it */
  gboolean broken_off;        /* nobody waits, its answer is waited for */
  char *shown;                /* the input at `output`; NULL: not known */
  char *saved;                /* what was there before keys went round; NULL: nothing to restore */
  GPtrArray *before;          /* inputs that routes took the place of, the latest last */
  guint n_nodes;
} VswitchDesk;

struct Vswitch {
  BackendClass class;
  Backend backend;
  const Layout *layout;
  const LayoutBackend *settings;
  Ledger *ledger;
  GPtrArray *desks;   /* of VswitchDesk */
  VswitchDesk **desk; /* by node; NULL: none of its */
  char **input;       /* by node */
  GPtrArray *fresh;   /* of LedgerItem: begun in this turn of the loop */
  guint sort;         /* idle source that sorts them, 0 none */
  gboolean closing;
};

/* vswitch_work.c */
void vswitch_work_free(gpointer work);
/* ITEM's own, or one with others of the same request where they go at once. */
void vswitch_desk_sort(Vswitch *vswitch);
void vswitch_desk_next(VswitchDesk *desk);
/* ITEM is over; lets go of it. */
void vswitch_desk_forget(VswitchDesk *desk, LedgerItem *item);
/* INPUT is at the desk's output now. */
void vswitch_desk_shows(VswitchDesk *desk, const char *input);
/* Whether keys for one seat want it connected first. */
gboolean vswitch_desk_connects(const VswitchDesk *desk);

#endif
