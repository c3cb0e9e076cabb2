/* A host, shared by libvirt_host.c and libvirt_call.c. */
#ifndef PULT_LIBVIRT_HOST_PRIVATE_H
#define PULT_LIBVIRT_HOST_PRIVATE_H

#include "backends/libvirt/libvirt_private.h"

typedef enum { HOST_DOWN, HOST_CONNECTING, HOST_UP } HostState;

/* Counted by g_atomic_rc_box: calls and libvirt's callbacks hold it too. What is not marked is the
 * main loop's, or never changes. */
struct LibvirtHost {
  Libvirt *libvirt; /* NULL: the backend is gone */
  gint gone;        /* the same, for workers */
  char *uri, *source;
  gboolean here; /* its driver is in this process, and nobody else can be asked */
  char *user, *password;
  guint workers;
  gint64 keep_alive, pause_max; /* s, ms */
  HostState state;
  gint64 since;       /* connecting since then, µs */
  char *why;          /* the last attempt failed; NULL: none did */
  guint attempt;      /* the last */
  guint n_opening;    /* those that have not ended */
  virConnectPtr main; /* of events and consoles */
  guint serial;       /* of the connection */
  int lifecycle;      /* callback's id; -1 */
  guint retry;        /* source */
  gint64 pause;       /* ms */
  gboolean told_down;
  guint n_changing;
  GThreadPool *changes, *asks;
  LibvirtMeters *meters;
  GMutex main_lock; /* of calls on `main` */
  GMutex lock;      /* of what follows */
  GCond over;
  guint n_calls; /* given to threads, and not over yet */
  GQueue lanes;  /* of LibvirtLane; those nobody uses */
};

/* libvirt_call.c */
void libvirt_calls_init(LibvirtHost *host);
/* Lets calls under way end, for a moment, and closes what they used. `libvirt` is NULL by then. */
void libvirt_calls_end(LibvirtHost *host);
void libvirt_host_unref(void *host);

/* libvirt_host.c */
/* On a thread: another connection; NULL, noted in CALL. */
virConnectPtr libvirt_connect(LibvirtCall *call);
/* The connection broke, WHY. */
void libvirt_host_lose(LibvirtHost *host, const char *why);

#endif
