/* /proc/net/bonding/NAME, as kernels since 2.6.18 write it.
 *
 * The file's first line carries the driver's version (v3.7.1) or, since 5.12, the kernel's release.
 * Blanks may be tabs, lines may be missing: old kernels tell no speed, virtual ports an unknown
 * one.
 */
#ifndef PULT_PROC_BOND_H
#define PULT_PROC_BOND_H

#include "model/bond_hash.h"

#define PROC_BOND_MAX_PORTS 16

typedef struct {
  char name[64];
  gboolean up;           /* MII status; `going back` is not up yet, `going down` still is */
  gint64 speed;          /* bit/s on the wire; -1 unknown */
  guint64 link_failures; /* times its link was lost */
  int aggregator;        /* 802.3ad; -1 none */
} ProcBondPort;

typedef struct {
  char version[64]; /* `v3.7.1`, `6.1.0-18-amd64`; "" */
  char mode[32];    /* the driver's word: `balance-xor`; "" when it says something unheard of */
  char policy[32];  /* `layer2+3`; "" in a mode that does not hash */
  char active[64];  /* the port that alone sends; "" when there is none such */
  gboolean up;
  int aggregator; /* 802.3ad: the active one; -1 none */
  guint n_ports;
  ProcBondPort ports[PROC_BOND_MAX_PORTS]; /* in the order they were enslaved */
} ProcBond;

/* FALSE: not such a file. Ports beyond the last are left out. */
gboolean proc_bond_parse(const char *text, ProcBond *bond);

/* Whether the I-th port sends: it is up, in 802.3ad in the active aggregator, and the active one
 * where one alone sends. */
gboolean proc_bond_port_sends(const ProcBond *bond, guint i);

/* The era of a kernel by its release (`2.6.32-74-server`); -1 when that does not tell: from 4.14 to
 * 5.17 the wrong shift is there or was taken out by a stable update, and Red Hat's kernels carry
 * newer drivers than their number says. */
int proc_bond_era(const char *release);

#endif
