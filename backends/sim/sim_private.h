/* What the files of the simulator share. Nothing outside backends/sim includes this.
 *
 * Time: sim->now is the only clock, in ns. Within the world seconds and bytes are doubles; what
 * moved since the last change of rates is added up when rates change (sim_world_settle), never at a
 * sample, so that watching changes nothing. A transfer is over at a whole nanosecond, rounded up,
 * and has then moved exactly its bytes.
 *
 * Cost: transfers alike share a class, and what moves is counted for the class. An event costs by
 * the number of classes, and by the logarithm of the number of nodes; only samples and changes of
 * the topology look at every node.
 *
 * Posting: everything said goes to the outbox, which sim_advance() posts when all that is due has
 * happened. submit() and cancel() therefore find a consistent world whenever they are called.
 */
#ifndef PULT_SIM_PRIVATE_H
#define PULT_SIM_PRIVATE_H

#include "backends/sim/sim.h"
#include "model/draw.h"
#include "model/flow.h"

typedef struct Sim Sim;
typedef struct Request Request;
typedef struct JobRun JobRun;

typedef struct Transfer Transfer;

/* Transfers alike in cap and uses: whatever each has moved before, all move the same from now on.
 */
typedef struct {
  guint index;          /* in the world's classes and flows */
  double rate;          /* B/s of each, from `since` on */
  double moved;         /* B that one who never left had moved at `since` */
  gint64 since;         /* when the rate last changed */
  GSequence *transfers; /* borrowed, by goal and then as they began */
  Transfer *first;      /* of them */
  gint64 end;           /* of the first */
} Class;

/* Bytes on their way between a server and a client. Lives inside whom it serves. */
struct Transfer {
  const Job *job;            /* what limits it; NULL: not under way */
  NodeId client;             /* for a local job, the server that does it */
  JobRun *run;               /* NULL: the client's boot */
  const LayoutExport *mount; /* of its server; NULL: that server's own data */
  guint64 number;            /* transfers began before it */
  double disk;               /* share of the bytes the disk behind it reads or writes */
  double left;               /* B, when it joined its class; INFINITY: until stopped; 0: over */
  double moved;              /* B, before it joined its class */
  double joined;             /* what its class had moved then, B */
  double goal;               /* what its class will have moved at its end */
  Class *class;              /* NULL: over, or no way from its server */
  GSequenceIter *place;      /* in its class */
  GList of_client;           /* in its client's transfers */
};

/* A job on one client. */
struct JobRun {
  Request *request; /* the exec that waits for it; NULL: it was left, and nobody hears of it */
  guint target;
  gint64 until; /* of one that was left: its end, if it is not over before */
  Job job;      /* arguments applied; its strings are the job set's */
  gboolean v4;  /* assumed, and said with the figures */
  gint64 start;
  Transfer transfer;
};

typedef enum {
  PHASE_NONE, /* off, or up */
  PHASE_FIRMWARE,
  PHASE_DHCP,
  PHASE_NO_ANSWER, /* in dhcp, with no way to a server */
  PHASE_MENU,      /* start delay */
  PHASE_TFTP,
  PHASE_KERNEL,
  PHASE_INITRAMFS,
  PHASE_READ,
  PHASE_CPU,
} Phase;

typedef struct {
  Phase phase;
  guint step;        /* reads done */
  guint n;           /* boots begun, ever */
  gboolean together; /* switched on with others */
  gboolean disk;
  Protocol protocol;
  gboolean menu;   /* somebody called for it: it waits */
  gboolean second; /* it stands at its second line */
  Transfer transfer;
} Boot;

/* What lies between a server and a client or gateway, their own ports left out; in the direction
 * from the server. */
typedef struct {
  guint64 epoch; /* of the topology it was found in; 0 never */
  NodeId server;
  gboolean there;
  guint n;
  guint resources[LAYOUT_MAX_HOPS];
  double slowest; /* B/s */
} Path;

typedef struct {
  const LayoutNode *layout;
  guint resource; /* its first; a switch has none, a router one, a client its port in and out */
  gboolean on;
  /* a server's */
  guint nfsd;
  double ceiling;   /* bit/s of payload; INFINITY none */
  double disk_rate; /* B/s; INFINITY */
  gboolean *ports_up;
  BondState *bonds;
  double load; /* busy threads, a one-minute average as Linux computes it */
  /* a client's */
  gboolean up; /* at its login */
  gboolean port_up;
  guint usage;        /* index into the words of sim_property.c */
  gboolean next_disk; /* its next boot's device and menu entry */
  Protocol next_protocol;
  MacAddress mac; /* drawn where the layout gives none, and so is the address */
  guint32 ip;
  Boot boot;
  Path path;
  GQueue transfers;      /* of Transfer, borrowed, as they began */
  double received, sent; /* B, by what has left its class */
} SimNode;

/* A server's resources, from its first on: its ports out, then the same in. */
enum { RESOURCE_NFSD, RESOURCE_NBD, RESOURCE_DISK, RESOURCE_CEILING, RESOURCE_PORTS };

typedef struct {
  guint n_resources;
  double *capacity; /* B/s, threads, requests/s */
  double *used;     /* cumulative at `since`: B, thread seconds, requests */
  double *pull;     /* used a second, now */
  gboolean *links_up;
  guint64 epoch;  /* of the topology */
  gint64 since;   /* to when bytes are added up */
  gboolean stale; /* the flows changed: rates are to be solved anew */
  gint64 next;    /* when the first transfer ends, by these rates */
  gboolean moving;
  guint64 begun;       /* transfers, ever */
  GPtrArray *over;     /* of Transfer, borrowed: have moved their bytes, and nobody knows yet */
  GPtrArray *finished; /* scratch */
  GPtrArray *classes;  /* of Class, no two alike */
  GArray *flows;       /* of Flow: what each class is */
  GArray *active;      /* of guint: the resources that classes use */
  guint *users;        /* classes that use each resource */
  FlowSolver *solver;
} World;

typedef enum {
  PROPERTY_NFSD,
  PROPERTY_CEILING,
  PROPERTY_DISK_RATE,
  PROPERTY_POLICY,
  PROPERTY_ERA,
  PROPERTY_PORT_STATE,
  PROPERTY_CLIENT_STATE,
  PROPERTY_MAC,
  PROPERTY_USAGE,
  PROPERTY_LINK_STATE,
} PropertyKind;

typedef struct {
  PropertyKind kind;
  NodeId node; /* a link's: its from */
  guint index; /* port, bond or link */
} Property;

typedef struct {
  NodeId node;
  gboolean open; /* has no result yet */
  JobRun *run;   /* of an exec */
} Target;

struct Request {
  guint32 id;
  Operation operation;
  gint64 deadline;
  gboolean soft;      /* off */
  gboolean next_disk; /* boot-device */
  Protocol next_protocol;
  guint32 signalled; /* signal: the exec */
  gboolean leaves;   /* that signal is to let go of it */
  gint64 leaves_for; /* TIME_NEVER: to its own end */
  Property property; /* get, set */
  gboolean of_menu;  /* they are of the boot menu instead, and all is said and done */
  char **keys;       /* keys */
  gboolean back;     /* route: to what was shown before */
  guint n_targets, n_open;
  Target *targets;
};

/* A result to come. What an ok one does, it does when it is due. */
typedef struct {
  gint64 due;
  Request *request;
  guint target;
  Verdict verdict;
  char *text; /* NULL: "" */
} Answer;

typedef struct {
  Request *request; /* NULL: no watch */
  gint64 interval, due;
  gboolean columns_sent;
  GPtrArray *columns; /* of char * */
  GArray *sources;    /* of where each column's value comes from */
  GArray *values;     /* of gint64, as last sent */
} Watch;

typedef struct {
  gint64 boot, halt;    /* the next step of its boot, and when it will have shut down */
  GSequenceIter *place; /* on the agenda; NULL: nothing is due */
} Due;

struct Sim {
  Backend backend;
  const Layout *layout;
  const JobSet *jobs;
  guint64 seed;
  gint64 now;
  gint64 next;     /* when something happens */
  gint64 link_due; /* `link up` is to be said; TIME_NEVER when it was */
  SimNode *nodes;
  Due *due;          /* each node's */
  GSequence *agenda; /* of NodeId: those of which something is due, first by time, then by node */
  GArray *stepping;  /* of NodeId, scratch */
  guint n_booting;
  double *read_share, *cpu_share; /* the trace: of each step, parts of one */
  Job tftp, nfs, nbd;             /* what limits a boot's transfers */
  World world;
  Watch watch;
  GPtrArray *requests; /* with open targets, as submitted */
  GArray *answers;     /* of Answer, as submitted */
  GPtrArray *left;     /* of JobRun: what runs on without its request */
  GArray *outbox;
  gint64 keys_free;  /* when the video switch has done all it was told */
  GHashTable *files; /* path → GBytes: the boot server's, below its root */
  GArray *shown;     /* of NodeId: what it showed, the latest last */
};

/* sim.c: what it says. Strings are copied but for a result's text, which is taken. */
const char *sim_name(const Sim *sim, NodeId node);
gint64 sim_duration(double seconds); /* as ns, rounded up */
void sim_observe(Sim *sim, NodeId node, const char *fact, const char *value);
void sim_line(Sim *sim, const Request *request, NodeId node, const char *stream, const char *text);
void sim_result(Sim *sim, const Request *request, NodeId node, Verdict verdict, char *text);
void sim_samples(Sim *sim, const SamplesEvent *samples); /* its arrays are borrowed until posted */

/* sim_agenda.c: when which node goes on. TIME_NEVER: not at all. */
void sim_agenda_init(Sim *sim);
void sim_agenda_clear(Sim *sim);
void sim_agenda_boot(Sim *sim, NodeId node, gint64 t);
void sim_agenda_halt(Sim *sim, NodeId node, gint64 t);
gint64 sim_agenda_next(const Sim *sim);
void sim_agenda_step(Sim *sim); /* does what is due, node by node in the layout's order */

/* sim_request.c: who was asked what and has had no result. Texts are taken; NULL is "". */
const char *sim_request_argument(const RequestEvent *event, const char *key); /* NULL: not given */
/* TEXT for a message: printable, at most 64 bytes of it. Free with g_free. */
char *sim_request_quote(const char *text);
void sim_request_init(Sim *sim);
void sim_request_clear(Sim *sim);
void sim_request_submit(Sim *sim, const RequestEvent *event);
void sim_request_cancel(Sim *sim, guint32 id);
/* Gives TARGET its result, and frees a request whose last it was. */
void sim_request_result(Sim *sim, Request *request, guint target, Verdict verdict, char *text);
/* TARGET will have this result after DELAY; ok is carried out then, and may yet fail. */
void sim_request_answer(Sim *sim, Request *request, guint target, gint64 delay, Verdict verdict,
                        char *text);
/* All targets will. TEXT is borrowed, and follows each target's name. */
void sim_request_answer_all(Sim *sim, Request *request, gint64 delay, Verdict verdict,
                            const char *text);
void sim_request_give_answers(Sim *sim);
void sim_request_keep_deadlines(Sim *sim);
gint64 sim_request_next(const Sim *sim);

/* Each *_submit() answers all targets of a new request, now or later. Functions that return a text
 * return NULL when all went well, or why not; the caller frees it. */

/* sim_power.c */
void sim_power_submit(Sim *sim, Request *request, const RequestEvent *event);
void sim_power_boot_device(Sim *sim, Request *request, const RequestEvent *event);
char *sim_power_do(Sim *sim, const Request *request, NodeId node); /* on, off, reset, status */
gboolean sim_power_is_seen(const Sim *sim, NodeId node);
void sim_power_reboot(Sim *sim, NodeId node); /* by its keyboard */
void sim_power_halt(Sim *sim, NodeId node);   /* a soft off has come to its end */

/* sim_boot.c */
void sim_boot_init(Sim *sim);
void sim_boot_begin(Sim *sim, NodeId node, gboolean together);
void sim_boot_stop(Sim *sim, NodeId node);
void sim_boot_step(Sim *sim, NodeId node);  /* due->boot has come */
void sim_boot_moved(Sim *sim, NodeId node); /* its transfer is over */
void sim_boot_retry(Sim *sim);              /* the topology changed */

/* KEY is pressed at its keyboard. */
void sim_boot_press(Sim *sim, NodeId node, const char *key);

/* sim_keys.c: the video switch */
void sim_keys_init(Sim *sim);
void sim_keys_clear(Sim *sim);
void sim_keys_submit(Sim *sim, Request *request, const RequestEvent *event);
char *sim_keys_do(Sim *sim, const Request *request, NodeId node); /* keys, type, route */

/* sim_load.c */
void sim_load_submit(Sim *sim, Request *request, const RequestEvent *event);
void sim_load_signal_submit(Sim *sim, Request *request, const RequestEvent *event);
char *sim_load_signal(Sim *sim, const Request *request, NodeId node);
void sim_load_moved(Sim *sim, JobRun *run);      /* has moved its bytes: ends with its figures */
void sim_load_lost_power(Sim *sim, NodeId node); /* all of the node's */
void sim_load_end(Sim *sim, JobRun *run);        /* frees it, without a word */

/* sim_left.c: loads that run on when nobody waits for them any more */
void sim_left_init(Sim *sim);
void sim_left_clear(Sim *sim);
void sim_left_add(Sim *sim, JobRun *run, gint64 duration); /* its request lets go of it */
void sim_left_end(Sim *sim, JobRun *run);                  /* frees it */
void sim_left_keep_ends(Sim *sim);
gint64 sim_left_next(const Sim *sim);

/* sim_class.c: the world settled until now, what one class has in common, and who is in it. */
void sim_class_init(World *world);
void sim_class_clear(World *world);
/* Finds TRANSFER's class, or none when there is no way. It is in none. */
void sim_class_join(Sim *sim, Transfer *transfer);
/* Counts what TRANSFER moved in its class. It may be in none. */
void sim_class_leave(Sim *sim, Transfer *transfer);
void sim_class_set_rate(const Sim *sim, Class *class, double rate);
/* What TRANSFER has moved in its class, B. */
double sim_class_moved(const Sim *sim, const Transfer *transfer);
/* Takes the transfers that end now out of their classes: they are over. */
void sim_class_take_due(Sim *sim);

/* sim_world.c */
void sim_world_init(Sim *sim);
void sim_world_clear(Sim *sim);
void sim_world_start(Sim *sim, Transfer *transfer, const Job *job, double bytes);
void sim_world_stop(Sim *sim, Transfer *transfer);                /* may not be under way */
double sim_world_moved(const Sim *sim, const Transfer *transfer); /* B until now */
void sim_world_settle(Sim *sim);                                  /* adds up what moved until now */
void sim_world_changed(Sim *sim); /* power, ports, links, hashes, capacities */
void sim_world_solve(Sim *sim);   /* rates, if they are stale */
void sim_world_finish(Sim *sim);  /* ends the transfers due now */
/* Whether CLIENT's server can reach it. */
gboolean sim_world_reaches(Sim *sim, NodeId client);

/* sim_path.c */
guint sim_path_port(const SimNode *server, guint port, gboolean in); /* its resource */
/* The flow of TRANSFER: what caps it and what it uses; FALSE when there is no way. */
gboolean sim_path_flow(Sim *sim, const Transfer *transfer, Flow *flow);
void sim_path_capacities(Sim *sim); /* fills them in as things are now */

/* sim_meter.c */
void sim_meter_submit(Sim *sim, Request *request, const RequestEvent *event);
void sim_meter_end(Sim *sim);                          /* its request is over */
void sim_meter_plan(Sim *sim);                         /* when the next sample is due */
gboolean sim_meter_sample(Sim *sim);                   /* if it is due, and whether it was */
void sim_meter_load(Sim *sim, gint64 from, gint64 to); /* moves load averages on */

/* sim_property.c */
void sim_property_submit(Sim *sim, Request *request, const RequestEvent *event);
void sim_property_observe(Sim *sim, const Property *property);

/* sim_menu.c */
void sim_menu_init(Sim *sim);
void sim_menu_clear(Sim *sim);
/* FALSE: it is about something else, and not answered. */
gboolean sim_menu_submit(Sim *sim, Request *request, const RequestEvent *event);

/* What a menu here boots when it is left alone. */
static inline const char *
sim_default_entry(const Layout *layout)
{
  return layout->boot_entry != NULL ? layout->boot_entry : "ubuntu-10.04::nfs";
}

#endif
