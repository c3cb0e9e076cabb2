/* Events, operations and verdicts: everything core, session and backends say to one another.
 *
 * An Event is one line of a transcript. Inputs are folded by core_step(); outputs are what core
 * said after an input and are never folded. Times are int64 nanoseconds since the session began
 * and never decrease.
 *
 * Ownership: an Event borrows every string and array in it. Who receives one copies what it keeps.
 * Threading: none; events exist on the main loop only.
 */
#ifndef PULT_MODEL_EVENT_H
#define PULT_MODEL_EVENT_H

#include <glib.h>

/* Index of a node in its Layout; NODE_NONE where an event concerns no node. */
typedef guint32 NodeId;
#define NODE_NONE G_MAXUINT32

#define TIME_NEVER G_MAXINT64
/* What an event may carry: 146 years, so that any one duration added to it is a time. */
#define TIME_LATEST (G_GINT64_CONSTANT(1) << 62)
#define TIME_SECOND G_GINT64_CONSTANT(1000000000)
#define TIME_MS G_GINT64_CONSTANT(1000000)

typedef enum {
  /* inputs */
  EVENT_LINK,
  EVENT_COMMAND,
  EVENT_WAKE,
  EVENT_RESULT,
  EVENT_LINE,
  EVENT_SAMPLES,
  EVENT_OBSERVE,
  /* outputs */
  EVENT_REQUEST,
  EVENT_CANCEL,
  EVENT_DONE,
  EVENT_NOTE,
  EVENT_FIGURE,
  EVENT_EXPECT,
  EVENT_PLAN,
} EventKind;
#define EVENT_N_KINDS (EVENT_PLAN + 1)
#define EVENT_FIRST_OUTPUT EVENT_REQUEST

typedef enum {
  VERDICT_OK,
  VERDICT_FAILED,
  VERDICT_TIMEOUT, /* it did not happen in time */
  VERDICT_UNKNOWN, /* it may have happened; the text says what was seen */
  VERDICT_CANCELLED,
  VERDICT_UNSUPPORTED,
  /* of commands (`done`) only */
  VERDICT_PARTIAL,     /* some targets */
  VERDICT_UNCONFIRMED, /* needs consent: its plan stands before it */
  VERDICT_REFUSED,     /* read-only, protected, in use, reserved, wrong number */
} Verdict;

typedef enum {
  OP_STATUS,
  OP_ON,
  OP_OFF,
  OP_RESET,
  OP_BOOT_DEVICE,
  OP_KEYS,
  OP_TYPE,
  OP_ROUTE,
  OP_EXEC,
  OP_SIGNAL,
  OP_WATCH,
  OP_GET,
  OP_SET,
  OP_MESSAGE,
} Operation;
#define OP_N (OP_MESSAGE + 1)

typedef enum { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR } Severity;

typedef struct {
  const char *name; /* backend's instance name, `sim` */
  gboolean up;
  const char *text;
} LinkEvent;

typedef struct {
  guint32 cmd;      /* given by the session, counts from 1 */
  const char *said; /* as typed */
  const char *text; /* sets resolved (core_resolve) */
  gint32 confirm;   /* number of seats typed as consent; -1 none */
} CommandEvent;

typedef struct {
  guint32 request;
  NodeId node;
  Verdict verdict;
  const char *text; /* one printable line: target and cause; "" when ok says all */
} ResultEvent;

/* stream: "out", "err", "console", "difference" and "was" (of a menu), "log" (of what a log says
 * only lines that tell a stage of a node are told, as of that node), or "figures": then text is
 * `KEY=NUMBER` words in base units (bytes, seconds, files, start_ns, disk_bytes, wire_bytes,
 * readers, offset_ns, rtt_ns), as a job measured itself: start_ns in session time, and alone when
 * it has begun; wire_bytes what its interface saw; readers, seats that read the same; offset_ns its
 * clock less ours, right to half of rtt_ns. "device": what a switch was told (`>`) and said (`<`);
 * unasked, of request 0 and no node.
 */
typedef struct {
  guint32 request;
  NodeId node;
  const char *stream;
  const char *text;
} LineEvent;

/* Cumulative counters, whole numbers. The first samples of a source after its `link up` carry
 * columns, and later ones when they are others; each is `NAME UNIT`:
 *   a01.rx B · a01.tx B · slx1/eth0.tx B · link:sw1-sw2.tx B (from→to) · slx1.disk B
 *   slx1.nfsd ns (busy thread-nanoseconds) · slx1.load m (a gauge, thousandths)
 *   slx1.calls n, slx1.waits n (of its NFS server: answered; found no idle thread)
 *   a01.served B, a01.retrans n, a01.rtt m (ms), a01.cwnd m (segments): by its server's connections
 *   a01.echo m (ms): round trip to whoever gives the counters
 * Units: B bytes of TCP payload, n counts, ns nanoseconds, m gauge in thousandths.
 * SOURCE is a backend or a connection of one, `ssh:a01`; one with a slash, `ssh:slx1/sockets`,
 * goes with the link of what stands before. */
typedef struct {
  const char *source;
  const char *const *columns; /* n of them, or NULL */
  const gint64 *values;
  guint n;
} SamplesEvent;

/* Facts: `power` on|off · `stage` NAME, one of the layout's, or `NAME
 * likely`, `NAME possible` when the source is not sure (Certainty) ·
 * `usage` free|in use|unknown · `reserved` `until N s by WHO: WHY` (N whole seconds from t, at most
 * 366 days) or `no`, by the session from where reservations are kept · or a property's path within
 * its node (`bond0.policy`, `eth1.state` up|down|inactive, `nfsd`), as `set` and `get` name it.
 * `shown` yes|no: whether its picture is the one that a
 * video switch shows. `keys-go` `one by one`, or `at once by NAME`: keys for all nodes that say the
 * same go in one. `flow` of a client: `IP:PORT IP:PORT`, its server's and its own end of the
 * connection that it is served by, or `none`. */
typedef struct {
  NodeId node;
  const char *fact;
  const char *value;
  const char *source; /* who saw it */
} ObserveEvent;

typedef struct {
  const char *key;
  const char *value;
} Argument;

/* Arguments by operation: off: how=soft|hard · boot-device: device, entry · exec: job, label,
 * plus the job's KEY=VALUE · signal: request, signal · watch: interval_ns, or what=console|log ·
 * keys: keys, blanks between · type: text, keyboard=us|de · route: none, or to=back (what was shown
 * before this node's device showed the last it was told) · get: path (NODE.pxe: what is in force in
 * the boot menu, told as lines; with setting and value, or undo=yes: what a change would do to it,
 * told as lines `difference`, and in one of `was` what it would be done to; neither when nothing
 * would change) · set: path, value (NODE.pxe: setting and value, or undo=yes, and was: a menu that
 * is another by now is left alone). A watch has its one result when it ends. */
typedef struct {
  guint32 id;  /* counts from 1 */
  guint32 cmd; /* command it serves, 0: core's own (status and watch after link up) */
  const char *backend;
  Operation operation;
  const NodeId *nodes;
  guint n_nodes;
  const Argument *arguments;
  guint n_arguments;
  gint64 deadline; /* absolute t; TIME_NEVER none */
} RequestEvent;

typedef struct {
  guint32 request;
} CancelEvent;

typedef struct {
  guint32 cmd;
  Verdict verdict;
} DoneEvent;

typedef struct {
  Severity severity;
  NodeId node;
  const char *text;
} NoteEvent;

typedef struct {
  const char *label; /* `b16` */
  const char *name;  /* `boot.mean` */
  double value;      /* in base units: s, bit/s, B, or a count */
  const char *unit;  /* `s`, `bit/s`, `B`, `` */
  guint n;           /* values behind it */
  guint runs;
} FigureEvent;

typedef struct {
  const char *text; /* the expectation, as resolved; with `try` it is told and not counted */
  gboolean held;
  double value; /* what was found; NAN: no such figure */
} ExpectEvent;

typedef struct {
  const char *backend;
  const char *action; /* what it would do, in words: `cycle`, `set bond0.policy layer2+3` */
  const NodeId *nodes;
  guint n_nodes;
} PlanPart;

typedef struct {
  guint32 cmd;
  const PlanPart *parts;
  guint n_parts;
  guint seats;                   /* the number that consents */
  const NodeId *protected_nodes; /* left out: never touched */
  guint n_protected;
  const NodeId *in_use; /* left out unless `including in-use` */
  guint n_in_use;
  const NodeId *reserved; /* likewise; none of them in use */
  guint n_reserved;
  const NodeId *co_victims; /* go dark with those it names: an outlet is shared; counted in seats */
  guint n_co_victims;
  const NodeId *spared; /* left out for one they share an outlet with */
  guint n_spared;
  const char *difference; /* lines that it would change in a file, unified; NULL: of no file */
} PlanEvent;

typedef struct {
  guint64 seq; /* line order in the transcript, outputs included; 0 until recorded */
  gint64 t;
  EventKind kind;
  union {
    LinkEvent link;
    CommandEvent command;
    ResultEvent result;
    LineEvent line;
    SamplesEvent samples;
    ObserveEvent observe;
    RequestEvent request;
    CancelEvent cancel;
    DoneEvent done;
    NoteEvent note;
    FigureEvent figure;
    ExpectEvent expect;
    PlanEvent plan;
  };
} Event;

/* The words of the transcript, and back; -1 when no such word. */
const char *event_kind_name(EventKind kind);
int event_kind_parse(const char *name);
const char *verdict_name(Verdict verdict);
int verdict_parse(const char *name);
const char *operation_name(Operation operation);
int operation_parse(const char *name);
const char *severity_name(Severity severity);
int severity_parse(const char *name);

static inline gboolean
event_is_output(EventKind kind)
{
  return kind >= EVENT_FIRST_OUTPUT;
}

#endif
