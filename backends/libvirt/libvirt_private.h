/* What libvirt*.c share. Everything is the main loop's but where a comment names the worker. */
#ifndef PULT_LIBVIRT_PRIVATE_H
#define PULT_LIBVIRT_PRIVATE_H

#include <libvirt/libvirt.h>

#include "backends/ledger.h"
#include "backends/libvirt/libvirt.h"

typedef struct Libvirt Libvirt;
typedef struct LibvirtHost LibvirtHost;
typedef struct LibvirtDomain LibvirtDomain;
typedef struct LibvirtTarget LibvirtTarget;
typedef struct LibvirtConsole LibvirtConsole;
typedef struct LibvirtMeter LibvirtMeter;
typedef struct LibvirtCall LibvirtCall;

typedef enum { SEEN_NOTHING, SEEN_OFF, SEEN_ON } LibvirtSeen;

struct Libvirt {
  Backend base;
  Ledger *ledger;
  const Layout *layout;
  const LayoutBackend *settings;
  LibvirtDomain **domains; /* by NodeId; NULL: it has none here */
  GPtrArray *hosts;
};

struct LibvirtDomain {
  Libvirt *libvirt;
  LibvirtHost *host;
  NodeId node;
  const char *name; /* the node's */
  char *called;     /* at its host */
  LibvirtSeen seen;
  guint events;            /* how many told of its state: what was read before the last is old */
  gboolean acting;         /* a call is changing it */
  gboolean asked;          /* a call is reading its state */
  GQueue targets;          /* of LibvirtTarget, the oldest first */
  LibvirtConsole *console; /* NULL: nobody watches */
  LibvirtMeter *meter;     /* NULL: nobody counts */
};

/* ---- Calls ------------------------------------------------------------------------------- */

/* LIBVIRT_LANE: a connection of its own. LIBVIRT_MAIN: the one with the events; such calls wait for
 * each other. LIBVIRT_NONE: it brings what it needs, and a thread of its own may hang in it. */
typedef enum { LIBVIRT_LANE, LIBVIRT_MAIN, LIBVIRT_NONE } LibvirtOn;

/* A call, or a few, on a thread of its host. Who makes one embeds this as its first member. */
typedef struct {
  LibvirtOn on;
  void (*work)(LibvirtCall *call); /* worker; it has a connection but for LIBVIRT_NONE */
  /* Main loop. Never when the backend is gone by then. */
  void (*done)(LibvirtCall *call);
  void (*clear)(LibvirtCall *call); /* what it has besides; any thread; may be NULL */
  gboolean always; /* it is made also when the backend or the main connection is gone */
} LibvirtCallClass;

struct LibvirtCall {
  const LibvirtCallClass *class;
  LibvirtHost *host;
  virConnectPtr main;       /* when it was made; NULL: none */
  virConnectPtr connection; /* worker: to be used */
  char *domain;             /* as it is called; NULL: of none */
  gboolean changes;
  guint serial; /* of the main connection */

  /* By the worker: */
  int code; /* virErrorNumber; 0: well */
  int detail;
  char *message;
  gboolean lost;   /* the connection broke */
  gboolean unsent; /* there was none to send it by */
};

/* SIZE of the embedding struct, DOMAIN is copied. */
gpointer libvirt_call_new(gsize size, const LibvirtCallClass *class, const char *domain);
/* Takes CALL. */
void libvirt_host_call(LibvirtHost *host, LibvirtCall *call);
/* The host has another connection by now, or none. */
gboolean libvirt_call_is_old(const LibvirtCall *call);
/* Worker: notes libvirt's last error in CALL. FALSE, for who returns it. */
gboolean libvirt_call_failed(LibvirtCall *call);
/* Worker: the domain of CALL, to free with virDomainFree(); NULL, noted. */
virDomainPtr libvirt_call_domain(LibvirtCall *call);

/* ---- Hosts ------------------------------------------------------------------------------- */

LibvirtHost *libvirt_host_new(Libvirt *libvirt, const char *uri, const BackendSetup *setup,
                              NodeId node, GError **error);
/* Waits a moment for calls under way. */
void libvirt_host_free(LibvirtHost *host);
Libvirt *libvirt_host_owner(const LibvirtHost *host);
const char *libvirt_host_uri(const LibvirtHost *host);
gboolean libvirt_host_is_up(const LibvirtHost *host);
gboolean libvirt_host_has_place(const LibvirtHost *host); /* for a call that changes something */
/* Connects if it is not connected, now. */
void libvirt_host_want(LibvirtHost *host);
/* Why it is not up, to stand behind its URI. Free with g_free(). */
char *libvirt_host_trouble(const LibvirtHost *host);
/* `libvirt at URI …`, to stand behind the node's name. */
char *libvirt_say(const LibvirtHost *host, const char *format, ...);
/* Why CALL did not do WHAT. */
char *libvirt_say_failure(const LibvirtCall *call, const char *what);
/* Why there is no connection. */
char *libvirt_say_no_connection(const LibvirtCall *call);

/* libvirt.c, told by hosts */
void libvirt_up(LibvirtHost *host);
void libvirt_down(LibvirtHost *host);   /* it was up */
void libvirt_failed(LibvirtHost *host); /* an attempt to connect */
void libvirt_pump(LibvirtHost *host);   /* there may be a place */
LibvirtDomain *libvirt_find(LibvirtHost *host, const char *called);

/* ---- Domains ----------------------------------------------------------------------------- */

/* libvirt_seen.c */
void libvirt_saw(LibvirtDomain *domain, LibvirtSeen seen);
/* Of a domain's life, as libvirt told. */
void libvirt_told(LibvirtDomain *domain, int event);
/* Reads its state, and tells libvirt_saw(). */
void libvirt_look(LibvirtDomain *domain);

/* libvirt_target.c: one node of a request that is neither a console's nor a meter's. */
void libvirt_target_begin(LedgerItem *item, LibvirtDomain *domain);
void libvirt_target_end(LibvirtTarget *target);
/* Its call is made when there is a connection and a place. */
void libvirt_target_pump(LibvirtTarget *target);
void libvirt_target_saw(LibvirtTarget *target, LibvirtSeen seen);
/* Its host cannot be connected to: what is not sent yet fails. */
void libvirt_target_failed(LibvirtTarget *target);
/* The state could not be read: why, for who asked for it. */
void libvirt_target_unseen(LibvirtTarget *target, const LibvirtCall *call);

/* libvirt_work.c, worker: LIBVIRT_OFF and what follows are codes of our own. */
#define LIBVIRT_OFF (-1)
#define LIBVIRT_BOOT (-2)
#define LIBVIRT_KEY (-3)
typedef struct {
  LibvirtCall call;
  LibvirtTarget *target; /* NULL: it has its result */
  LibvirtDomain *domain;
  Operation operation;
  gboolean soft, network;
  char **keys;      /* to be pressed, one after the other; NULL: none */
  guint events;     /* of the domain, when it was made */
  LibvirtSeen seen; /* by the worker, at its end */
} LibvirtWork;
void libvirt_work(LibvirtCall *call);
void libvirt_work_clear(LibvirtCall *call);
/* What state a domain is in; FALSE: noted in CALL. */
gboolean libvirt_read_state(LibvirtCall *call, virDomainPtr domain, LibvirtSeen *seen);

/* libvirt_console.c */
void libvirt_console_begin(LedgerItem *item, LibvirtDomain *domain);
void libvirt_console_end(LibvirtConsole *console);
/* The domain started, or its host is up: opens it if it is not open. */
void libvirt_console_try(LibvirtConsole *console);
void libvirt_console_lost(LibvirtConsole *console); /* with its connection */

/* libvirt_meter.c */
void libvirt_meter_begin(LedgerItem *item, LibvirtDomain *domain);
void libvirt_meter_end(LibvirtMeter *meter);
typedef struct LibvirtMeters LibvirtMeters; /* of a host */
LibvirtMeters *libvirt_meters_new(LibvirtHost *host);
void libvirt_meters_free(LibvirtMeters *meters);
LibvirtMeters *libvirt_host_meters(LibvirtHost *host);

#endif
