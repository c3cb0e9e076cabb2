/* What the files that read a layout share. Nothing outside layout*.c includes this.
 *
 * Readers follow yaml_read.h: they add their errors to the parser's and go on. YamlNode pointers
 * live as long as the parser.
 */
#ifndef PULT_MODEL_LAYOUT_PRIVATE_H
#define PULT_MODEL_LAYOUT_PRIVATE_H

#include "model/layout.h"
#include "model/yaml_read.h"

#define LAYOUT_MAX_NAME 64
#define LAYOUT_MAX_BOND_PORTS 16

/* Where a node's values stand; parallel to the nodes. `given` holds even for a value in error, so
 * that it is not called missing as well. */
typedef struct {
  const YamlNode *at; /* the key that first named the node */
  const YamlNode *mac_at, *ip_at;
  gboolean switch_given, subnet_given, speed_given;
} LayoutOrigin;

/* An address in use, to find those used twice. */
typedef struct {
  guint64 value;
  NodeId node;
  const char *port; /* of the node; NULL: the node itself */
  const YamlNode *at;
} LayoutAddress;

/* START, START + STEP, … over a set, in its order; STEP 0: given for one node only. */
typedef struct {
  guint64 start, step;
  const YamlNode *at; /* NULL: not given */
} LayoutSequence;

typedef struct {
  const YamlNode *root;
  YamlErrors *errors;
  Layout *layout;  /* being built; its nodes are in `nodes` until layout_seal_nodes() */
  GArray *nodes;   /* of LayoutNode */
  GArray *origins; /* of LayoutOrigin */
  GArray *macs;    /* of LayoutAddress */
  GArray *ips;
  const char *default_backend[ROLE_N];
  NodeId default_server;
  char *all;     /* every client, folded; made when first asked for */
  gboolean full; /* more nodes than allowed: told once */
} LayoutParser;

/* layout_names.c: nodes and the names they go by. */
gboolean layout_check_name(LayoutParser *parser, const YamlNode *at, const char *name);
gboolean layout_check_group_name(LayoutParser *parser, const YamlNode *at);
/* NULL with an error added. Valid until the next node is added. */
LayoutNode *layout_add_node(LayoutParser *parser, const YamlNode *at, NodeKind kind,
                            const char *name);
LayoutNode *layout_parser_node(LayoutParser *parser, NodeId id);
LayoutOrigin *layout_origin(LayoutParser *parser, NodeId id);
const char *layout_kind_name(NodeKind kind);
/* The node of KIND that VALUE names; NODE_NONE with an error added. */
NodeId layout_find_kind(LayoutParser *parser, const YamlNode *value, NodeKind kind);
int layout_find_subnet(LayoutParser *parser, const YamlNode *value);
/* The backend words of MAP for NODE: absent ones stay as they are, `none` takes one away. */
void layout_read_backends(LayoutParser *parser, const YamlNode *map, const char *backend[ROLE_N]);
void layout_set_backends(LayoutNode *node, const char *const backend[ROLE_N]);
gboolean layout_check_backend_word(LayoutParser *parser, const YamlNode *value);
/* The nodes of the set AT, sorted, each with its place in the set as written; when all nodes are
 * known. FALSE with errors added. layout_backends.c */
gboolean layout_read_node_set(LayoutParser *parser, const YamlNode *at, NodeId **nodes,
                              guint **place, guint *n);
/* No nodes after this: they move into the layout. */
void layout_seal_nodes(LayoutParser *parser);

/* layout_address.c */
gboolean layout_read_mac(LayoutParser *parser, const YamlNode *value, MacAddress *mac);
gboolean layout_read_ip(LayoutParser *parser, const YamlNode *value, guint32 *ip);
/* `A.B.C.D/PREFIX`, no bits set behind the prefix. */
gboolean layout_read_net(LayoutParser *parser, const YamlNode *value, guint32 *net, guint *prefix);
gboolean layout_read_macs(LayoutParser *parser, const YamlNode *value, LayoutSequence *sequence);
gboolean layout_read_ips(LayoutParser *parser, const YamlNode *value, LayoutSequence *sequence);
/* Whether SEQUENCE reaches over N nodes up to MAX. */
gboolean layout_check_sequence(LayoutParser *parser, const LayoutSequence *sequence, guint n,
                               guint64 max, const char *what);
guint64 layout_mac_value(const MacAddress *mac);
MacAddress layout_mac_from(guint64 value);
void layout_use_mac(LayoutParser *parser, NodeId node, const char *port, const MacAddress *mac,
                    const YamlNode *at);
void layout_use_ip(LayoutParser *parser, NodeId node, const char *port, guint32 ip,
                   const YamlNode *at);
/* Addresses used twice, outside their subnet, or for no machine. */
void layout_check_addresses(LayoutParser *parser);

/* layout_path.c: whether the two lie in different subnets; one that names none is in all. */
gboolean layout_crosses_router(const LayoutNode *a, const LayoutNode *b);

/* layout_exports.c: the most hops between SERVER and the data it exports. */
guint layout_longest_leg(const Layout *layout, NodeId server);

/* A port's or link's, bit/s on the wire. layout_net.c */
gboolean layout_read_speed(LayoutParser *parser, const YamlNode *value, double *bits);

/* The sections of a file, one reader each, in the order they are read. */
void layout_read_subnets(LayoutParser *parser);  /* layout_net.c */
void layout_read_switches(LayoutParser *parser); /* layout_net.c */
void layout_read_routers(LayoutParser *parser);  /* layout_net.c */
void layout_read_servers(LayoutParser *parser);  /* layout_servers.c */
/* Those of the server called NAME, when all servers are known. layout_exports.c */
void layout_read_exports(LayoutParser *parser, const YamlNode *name, const YamlNode *map);
void layout_read_links(LayoutParser *parser);     /* layout_net.c */
void layout_read_clients(LayoutParser *parser);   /* layout_clients.c */
void layout_check_exports(LayoutParser *parser);  /* layout_exports.c */
void layout_check_reach(LayoutParser *parser);    /* layout_clients.c */
void layout_read_rooms(LayoutParser *parser);     /* layout_rooms.c */
void layout_read_blocks(LayoutParser *parser);    /* layout_rooms.c */
void layout_boot_defaults(Layout *layout);        /* layout_boot.c */
void layout_read_boot(LayoutParser *parser);      /* layout_boot.c */
void layout_read_deadlines(LayoutParser *parser); /* layout_boot.c */
void layout_stages_default(Layout *layout);       /* layout_stages.c */
void layout_stages_clear(Layout *layout);         /* layout_stages.c */
void layout_boot_keys_clear(Layout *layout);      /* layout_boot_keys.c */
/* What BOOT, the section `boot`, says of keys. layout_boot_keys.c */
void layout_read_boot_keys(LayoutParser *parser, const YamlNode *boot);
/* What `boot` says of them. layout_stages.c */
void layout_read_stages(LayoutParser *parser, const YamlNode *boot);
void layout_read_limits(LayoutParser *parser);           /* layout_boot.c */
void layout_read_backend_settings(LayoutParser *parser); /* layout_backends.c */
void layout_read_control(LayoutParser *parser);          /* layout_control.c */
void layout_read_jobs(LayoutParser *parser);             /* layout_jobs.c */
void layout_job_word_free(gpointer word);                /* layout_jobs.c */

#endif
