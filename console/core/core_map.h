/* What core works out of a layout once: backends by number, places of bonds and ports, and property
 * values as text. Immutable, and shared by a state and its clones (one thread). */
#ifndef PULT_CORE_MAP_H
#define PULT_CORE_MAP_H

#include "model/layout_backend.h"

typedef struct {
  const Layout *layout;
  guint n_backends;
  const char **backends; /* interned, in the order nodes name them */
  int *backend[ROLE_N];  /* by node: index into backends; -1 none */
  /* Who carries out status, on, off, reset and boot-device, by operation and node; -1 nobody. */
  int *doer[OP_BOOT_DEVICE + 1];
  gboolean *told; /* by node: somebody tells the stages of its boots, open consoles apart */
  gint64 *patience[DEADLINE_SOFT_OFF + 1]; /* by deadline and backend, ns */
  guint n_bonds, n_ports;
  guint *first_bond, *first_port; /* by node: where a server's begin */
  guint n_clients;
  NodeId *clients;
  NodeId server; /* whose bond `measure bond` means: the first client's, else the first */
  char **mac;    /* by node; NULL */
  char **nfsd;   /* by node, servers' */
  char **ceiling, **disk_rate; /* likewise: `none` or a rate */
} CoreMap;

CoreMap *core_map_new(const Layout *layout);
CoreMap *core_map_ref(CoreMap *map);
void core_map_unref(CoreMap *map);
/* How long BACKEND has for KIND, ns. */
gint64 core_map_patience(const CoreMap *map, guint backend, DeadlineKind kind);
int core_map_backend(const CoreMap *map, const char *name); /* -1 */

#endif
