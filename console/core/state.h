/* The state of the lab as core folded it: what views draw from. Views read, only core writes.
 *
 * Times are the session's (ns); -1 means "never". Rates are bit/s of payload.
 */
#ifndef PULT_CORE_STATE_H
#define PULT_CORE_STATE_H

#include "core/core.h"
#include "core/figure.h"
#include "core/meter.h"
#include "model/stage_source.h"

typedef enum { POWER_UNKNOWN, POWER_OFF, POWER_ON } PowerState;

/* A place in the layout's stages; their last is the login. */
typedef guint Stage;
#define STAGE_NONE 0u

typedef struct {
  PowerState power;
  gint64 power_t;           /* when that was last seen */
  const char *power_source; /* interned; NULL */
  gboolean booting;         /* between power on (or reset) and login */
  Stage stage;              /* reached last, in this boot */
  gint64 stage_t[LAYOUT_MAX_STAGES];
  const char *stage_source[LAYOUT_MAX_STAGES]; /* interned; who told it first */
  guint8 stage_certainty[LAYOUT_MAX_STAGES];   /* Certainty: how sure that one made of it */
  gint64 stage_limit;                          /* when the stage is overdue; TIME_NEVER */
  char *fault; /* the failure that stands, one line that names the node; NULL none */
  gint64 fault_t;
  gboolean in_use;          /* `usage` observed */
  gint64 usage_t;           /* when that was last seen; -1 never */
  const char *usage_source; /* interned; NULL */
  gint64 reserved_t;        /* until when it is reserved; -1 not */
  char *reserved;           /* why; `by WHO: WHY` when another session said so; NULL not reserved */
  gboolean acting;          /* a power action on it is under way */
  int port;                 /* of its server's first bond: index into the bond's ports; -1 */
  MacAddress mac;           /* as it is now */
} NodeState;

typedef enum { SEAT_WAITING, SEAT_RUNNING, SEAT_OK, SEAT_FAILED } SeatOutcome;

typedef struct {
  NodeId node;
  SeatOutcome outcome;
  gint64 power_t; /* seen on */
  gint64 stage_t[LAYOUT_MAX_STAGES];
  gint64 end_t; /* login or failure */
  Stage failed_stage;
} BootSeat;

/* A boot of some seats. It ends when each has reached login, or failed: could not be told to boot,
 * spent longer in a stage than its deadline, or was booted by a later command. */
typedef struct {
  char *label; /* "" when none was given: then it has no figures */
  char *via, *entry;
  guint run;             /* of this label, from 1 */
  gint64 start_t, end_t; /* end -1 while it runs */
  guint n, n_ok, n_failed;
  BootSeat *seats;
} BootRun;

/* From where a seat's boot is timed, up to its login: the PXE menu, whose choice begins the
 * transfer of a kernel; the kernel; power seen on. */
typedef enum { BOOT_FROM_MENU, BOOT_FROM_KERNEL, BOOT_FROM_POWER } BootFrom;
/* ns; -1: not up, or its beginning was not seen. */
gint64 boot_seat_took(const CoreState *state, const BootSeat *seat, BootFrom from);

/* What is known of the caches a load ran with. */
typedef enum { PROOF_NONE, PROOF_COLD, PROOF_WARM, PROOF_UNVERIFIED } CacheProof;

typedef struct {
  NodeId node;
  SeatOutcome outcome;
  guint32 request;
  double bytes, seconds, files; /* as the job said; NAN when it did not */
  double disk_bytes;
  double readers;   /* seats that read the same; 1 when it did not say */
  gboolean by_wire; /* bytes are its interface's, headers included */
  gboolean begun;   /* it said so: start_t is its own, else the command's */
  gint64 start_t;
} LoadSeat;

/* A load. A job that ends because it was told to stop is ok, if it had begun. */
typedef struct {
  char *label, *job; /* without `as`, the label is the job's name with _ for what no label has */
  guint run;
  gint64 start_t, end_t;
  guint n, n_ok, n_failed;
  const char *cache; /* static: `cold`, `warm`; "" when nothing was asked */
  CacheProof proof;  /* known at its end */
  gboolean uneven;   /* its starts lay further apart than 5 % of what it took */
  LoadSeat *seats;
} LoadRun;

typedef struct {
  gint64 t;
  Severity severity;
  NodeId node;
  const char *source; /* interned: `:` command, `=` figure, `note`, backend's name, stream */
  char *text;
  char *fact; /* the property of the node that it tells; NULL: it tells none */
} LogEntry;
#define STATE_LOG_MAX 4000

/* A command that waits for consent; text NULL when none does. */
typedef struct {
  guint32 cmd;
  char *text;       /* give this again with confirm = seats */
  char *plan;       /* `cycle a[01-17] by sim, stagger 0.5 s: 17 seats, 16 on, 0 in use` */
  char *difference; /* of a file that it would change, unified; NULL */
  guint seats;
} PendingConsent;

/* The stages of the layout's boots. */
guint state_n_stages(const CoreState *state);
Stage state_login(const CoreState *state);
const char *state_stage_name(const CoreState *state, Stage stage);   /* "" for none */
const char *state_stage_letter(const CoreState *state, Stage stage); /* " ": none, login */

/* Everything of now, by accessor. */
const Layout *state_layout(const CoreState *state);
gint64 state_now(const CoreState *state); /* t of the last input */
const CoreOptions *state_options(const CoreState *state);
const NodeState *state_node(const CoreState *state, NodeId id);
const Meters *state_meters(const CoreState *state);
const Figures *state_figures(const CoreState *state);
const PendingConsent *state_pending(const CoreState *state);
/* In the order begun. The last 512 of each are kept, and those that still run. */
guint state_n_boots(const CoreState *state);
const BootRun *state_boot(const CoreState *state, guint i);
guint state_n_loads(const CoreState *state);
const LoadRun *state_load(const CoreState *state, guint i);
guint64 state_log_first(const CoreState *state); /* number of the oldest entry kept */
guint64 state_log_end(const CoreState *state);   /* one past the newest */
const LogEntry *state_log(const CoreState *state, guint64 number);

/* A property as it is now (`slx1/bond0.policy`), from what was observed, else the layout; NULL when
 * there is no such property. */
const char *state_property(const CoreState *state, const char *path);
const BondState *state_bond(const CoreState *state, NodeId server, guint bond);
gboolean state_port_up(const CoreState *state, NodeId server, guint port);
gboolean state_link_up(const CoreState *state, guint link);
/* A backend's link; FALSE while down or not yet up. */
gboolean state_backend_up(const CoreState *state, const char *backend);

typedef struct {
  guint on, off, unknown, booting, failed, in_use, reserved;
} StateCounts;
/* Of NODES, or of every client when that is NULL. */
StateCounts state_counts(const CoreState *state, const NodeId *nodes, guint n);

/* Capacity of a port or link as payload, bit/s (0 when down). */
double state_port_capacity(const CoreState *state, NodeId server, guint port);
double state_link_capacity(const CoreState *state, guint link);

/* Whether it sends or receives, or is sent over in that direction, about all it can carry. */
gboolean state_port_full(const CoreState *state, NodeId server, guint port);
gboolean state_link_full(const CoreState *state, guint link, gboolean forward);

/* The sentence above the prompt, at most 78 columns: a backend that is down, else the worst failure
 * (overdue stage, power, silence, load; the oldest first) with the keys that help, else the ports
 * and links that are 97 % full with the seats they serve or that write, else "". Severity tells its
 * colour. Free with g_free. */
char *state_sentence(const CoreState *state, Severity *severity);

#endif
