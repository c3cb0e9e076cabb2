/* What a lab is: nodes, rooms, switches, links, servers and bonds, as one layout file says.
 *
 * A Layout is immutable once parsed. Everything in it is in file order; sets in a file are expanded
 * where they stand. Node ids run 0 … n_nodes-1: switches, routers, servers, clients.
 * Speeds are wire speeds in bit/s; layout_payload() gives what TCP payload they carry.
 */
#ifndef PULT_MODEL_LAYOUT_H
#define PULT_MODEL_LAYOUT_H

#include "model/bond_hash.h"
#include "model/event.h"

#define LAYOUT_MAX_NODES 20000

typedef enum { NODE_SWITCH, NODE_ROUTER, NODE_SERVER, NODE_CLIENT } NodeKind;

/* What a node may name a backend for. ROLE_WAKE: what switches it on where that is not ROLE_POWER;
 * ROLE_METER: whose counters are watched, where that is not ROLE_EXEC. ROLE_LOG: what brings lines
 * that tell of the stages of boots, its own or others'. */
typedef enum {
  ROLE_POWER,
  ROLE_KEYS,
  ROLE_EXEC,
  ROLE_CONSOLE,
  ROLE_WAKE,
  ROLE_METER,
  ROLE_LOG,
} BackendRole;
#define ROLE_N (ROLE_LOG + 1)

typedef struct {
  char *name;
  guint32 net; /* host order; 0/0 when the layout gives none */
  guint prefix;
} LayoutSubnet;

typedef struct {
  char *name;     /* `eth0` */
  double speed;   /* bit/s on the wire */
  MacAddress mac; /* the bond's, for a bonded port */
  int bond;       /* index into bonds, or -1 */
} LayoutPort;

typedef struct {
  char *name; /* `bond0` */
  char *mode; /* `balance-xor` */
  BondPolicy policy;
  BondEra era;
  MacAddress mac;
  guint32 ip;
  guint n_ports;
  guint *ports; /* indices into the server's ports, in the order enslaved */
} LayoutBond;

/* What a server exports under a name that a load's `mount=` gives. The data may live on another
 * server: this one is then a gateway, which fetches or passes on every request as it comes. */
typedef struct {
  char *name;          /* `home` */
  char *about;         /* what it is, for people; "" */
  NodeId data;         /* the server whose disk holds the data; mostly this one */
  gboolean async;      /* a write is answered before the disk has it */
  double request_time; /* s each request of a client takes besides its transfers */
} LayoutExport;

typedef struct {
  guint cores;
  guint nfsd;              /* threads */
  double transmit_ceiling; /* bit/s of payload; INFINITY: none */
  double disk_rate;        /* B/s; INFINITY: none given */
  double memory;           /* B, for the cache */
  guint n_ports;
  LayoutPort *ports;
  guint n_bonds;
  LayoutBond *bonds;
  guint n_exports;
  LayoutExport *exports;
} LayoutServer;

typedef struct {
  NodeId id;
  NodeKind kind;
  char *name;
  NodeId attached; /* switch (or server, client: its switch); NODE_NONE for a switch */
  int subnet;      /* index, or -1 */
  double speed;    /* client's or router's port, bit/s on the wire */
  gboolean has_mac, has_ip;
  MacAddress mac;
  guint32 ip; /* host order */
  gboolean protected_node;
  char *outlet; /* label of the outlet it hangs on together with others; NULL: its own */
  /* NULL: this node has none for that. Of the defaults switches and routers take exec alone, so
   * that their links can be got and set, but no default way to power reaches them. */
  char *backend[ROLE_N];
  NodeId server;           /* the server a client boots from and loads */
  int room;                /* index, or -1 */
  LayoutServer *as_server; /* NODE_SERVER only */
  guint n_joins;           /* NODE_ROUTER only */
  int *joins;              /* subnet indices */
} LayoutNode;

typedef struct {
  char *name; /* `sw1-sw2` */
  NodeId from, to;
  double speed; /* bit/s on the wire, each direction */
} LayoutLink;

typedef struct {
  char *name;
  char *title;
  guint n_seats;
  NodeId *seats; /* in the order of the plan, row by row */
  guint columns; /* seats a row */
  guint n_aisles;
  guint *aisles; /* an aisle after this many seats of a row */
} LayoutRoom;

typedef struct {
  char *name;
  guint n_nodes;
  NodeId *nodes;
} LayoutBlock;

/* Parameters of the model a boot follows in the simulator; defaults are the published ones (see
 * layout_boot.c), `boot: {simulate: {…}}` overrides. Seconds, bytes, bytes a second. */
typedef struct {
  guint reads;           /* K: read, then CPU, this many times */
  double firmware, dhcp; /* s, before the PXE menu; no figure depends on them */
  double start_delay;    /* s: U(0, this) when more than one boots */
  double tftp_bytes, tftp_cap;
  double initramfs;   /* s */
  double bytes;       /* B, read over NFS; NBD reads nbd_ratio of it */
  double cpu;         /* s: Tcpu, with the TFTP time at its cap and the initramfs */
  double nfs_cap;     /* B/s a client */
  double nfs_service; /* s a request of nfs_rsize */
  double nfs_rsize;   /* B */
  double nbd_ratio;   /* SquashFS bytes : NFS bytes */
  double nbd_request; /* B a request reads (uncompressed) */
  double nbd_t0;      /* s a request waits besides its transfer */
  double nbd_rate;    /* R: requests/s the server answers */
  double tick;        /* s between samples */
} BootModel;

typedef enum {
  DEADLINE_STATUS,
  DEADLINE_ON,
  DEADLINE_OFF,
  DEADLINE_RESET,
  DEADLINE_SOFT_OFF,
  DEADLINE_CONNECT,
  DEADLINE_WAIT,
  DEADLINE_PAUSE, /* of a cycle, between seen off and on */
} DeadlineKind;
#define DEADLINE_N (DEADLINE_PAUSE + 1)

/* A stage that boots may go through; one that does not occur is no failure. */
typedef struct {
  char *name;
  char letter[2];  /* of its own; " " for none and login */
  gint64 deadline; /* ns, until the next stage is seen */
} LayoutStage;
#define LAYOUT_MAX_STAGES 16

/* What a keyboard has to press for a boot to go where it should. */
typedef struct {
  char *entry;  /* of the boot menu; NULL: any */
  char **press; /* names of keys as keyboard.h has them, NULL-terminated */
} LayoutPress;

typedef struct {
  gint64 after; /* ns, since the machine was switched on */
  guint n;      /* 0: nothing is pressed there */
  LayoutPress *presses;
} LayoutBootKeys;

/* Files of one machine each that a loader looks for before the menu of all: where they are written
 * for a boot of a named entry. */
typedef struct {
  char *pxelinux; /* folder of 01-MAC, below the root; NULL: none */
  char *ipxe;     /* folder of MAC.ipxe, below the root or absolute; NULL: none */
  char *chain;    /* what an iPXE goes on to; `{entry}` in it is the entry */
} LayoutBootOnce;

typedef enum { LAYOUT_IN_FIRMWARE, LAYOUT_IN_MENU } LayoutBootWhere;
#define LAYOUT_BOOT_KEYS_N (LAYOUT_IN_MENU + 1)

typedef struct {
  char *file;   /* name it was parsed under */
  char *text;   /* the file, whole (a transcript carries it) */
  char *sha256; /* of text, hex */
  char *lab;
  char *note; /* "" when none */
  guint n_nodes;
  LayoutNode *nodes;
  guint n_clients;
  NodeId *clients; /* the group all */
  guint n_subnets;
  LayoutSubnet *subnets;
  guint n_links;
  LayoutLink *links;
  guint n_rooms;
  LayoutRoom *rooms;
  guint n_blocks;
  LayoutBlock *blocks;
  char *boot_entry;   /* of the menu, for boots that name none; NULL: the menu's own */
  char *boot_profile; /* `pxe` */
  LayoutBootKeys boot_keys[LAYOUT_BOOT_KEYS_N];
  NodeId boot_server; /* that has the boot menu; NODE_NONE */
  char *boot_root;    /* what it serves to machines that boot, an absolute path there; NULL */
  char *boot_menu;    /* below that, `pxelinux.cfg/default` */
  LayoutBootOnce boot_once;
  BootModel boot;
  gint64 deadline[DEADLINE_N]; /* ns */
  char **stage_sources;        /* names of sources of stages; NULL: all that are shipped */
  gboolean watch_consoles;     /* of all clients, for as long as a session lasts */
  guint n_stages;
  LayoutStage *stages; /* in their order; the first is none yet, the last `login` */
  guint starts;        /* machines switched on a second, lab-wide; 0: no limit */
  GHashTable *by_name; /* name → GUINT_TO_POINTER(id + 1) */
  GPtrArray *backends; /* of LayoutBackend; layout_backend.h */
  GPtrArray *controls; /* of LayoutControlEntry */
  GPtrArray *jobs;     /* of LayoutJobWord; layout_job.h */
} Layout;

/* The keys for ENTRY there, NULL-terminated; NULL: none are known. */
const char *const *layout_boot_press(const Layout *layout, LayoutBootWhere where,
                                     const char *entry);

static inline gboolean
layout_boots_once(const Layout *layout)
{
  return layout->boot_once.pxelinux != NULL || layout->boot_once.ipxe != NULL;
}

/* The word for a role: `power`. */
const char *layout_role_name(BackendRole role);

#define LAYOUT_ERROR (g_quark_from_static_string("pult-layout"))

/* All semantic errors in one message, a line each, or the one syntax error. */
Layout *layout_parse(const char *file_name, const char *text, gsize length, GError **error);
void layout_free(Layout *layout);

/* NODE_NONE when no node bears NAME. */
NodeId layout_find(const Layout *layout, const char *name);
const LayoutNode *layout_node(const Layout *layout, NodeId id);
/* Members of a room or block, borrowed; `all` is every client. FALSE: no such group. */
gboolean layout_group(const Layout *layout, const char *name, const NodeId **nodes, guint *n);
/* -1 when there is none */
int layout_find_link(const Layout *layout, const char *name);
int layout_find_room(const Layout *layout, const char *name);
int layout_find_port(const LayoutServer *server, const char *name);
int layout_find_bond(const LayoutServer *server, const char *name);
int layout_find_export(const LayoutServer *server, const char *name);
int layout_find_stage(const Layout *layout, const char *name); /* never 0 */
/* The stages of a layout that names none of its own, NULL-terminated. */
const char *const *layout_usual_stages(void);

/* TCP payload a wire speed carries, both bit/s: speed · 1448/1538 (1500-byte frames with time
 * stamps). */
double layout_payload(double wire_speed);

typedef enum { HOP_LINK, HOP_ROUTER } HopKind;
typedef struct {
  HopKind kind;
  guint link;       /* HOP_LINK: index; */
  gboolean forward; /* HOP_LINK: from → to */
  NodeId router;    /* HOP_ROUTER */
} LayoutHop;

#define LAYOUT_MAX_HOPS 16 /* also of both legs of a way through a gateway, together */
/* Hops between the two machines' own ports, FROM first, neither port included: shortest path, ties
 * by link order. UP[l] (NULL: all up) says which links are usable. -1 when there is no way; else
 * the number of hops. A machine in another subnet is reached through a router that joins both. */
int layout_path(const Layout *layout, NodeId from, NodeId to, const gboolean *up,
                LayoutHop hops[LAYOUT_MAX_HOPS]);
/* The router a frame from SERVER to CLIENT is sent to, or NODE_NONE when they share a subnet. */
NodeId layout_router_between(const Layout *layout, NodeId server, NodeId client);

/* A bond as it is now: what `set` may have changed since the layout. */
typedef struct {
  BondPolicy policy;
  BondEra era;
  gboolean usable[16];
} BondState;
void bond_state_init(BondState *state, const LayoutServer *server, const LayoutBond *bond);
/* Which of the bond's ports carries SERVER → CLIENT: index into bond->ports, -1: none usable, or
 * the policy looks at layer-4 ports, which a layout does not know (layer3+4). CLIENT_MAC is the
 * client's address now; across a router the router's is used instead. */
int layout_bond_port(const Layout *layout, NodeId server, guint bond, const BondState *state,
                     NodeId client, const MacAddress *client_mac);

gboolean mac_parse(const char *text, MacAddress *mac);
char *mac_print(const MacAddress *mac);
gboolean ip_parse(const char *text, guint32 *ip);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Layout, layout_free)

#endif
