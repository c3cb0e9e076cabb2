/* Core's own side of the state, for the core_*.c files alone.
 *
 * Everything here is copied by core_clone(); nothing points from one part into another that is
 * copied: requests and tasks know one another by number, nodes and runs by index.
 *
 * One step goes so: the handler of the input changes nodes, runs and requests; what a command was
 * waiting for is then looked at once (tasks_settle), and deadlines at last. A step that follows an
 * answer is not sent at once but due now: the wake that the session gives at this same t sends it,
 * together with those of all seats that answered at this t.
 */
#ifndef PULT_CORE_PRIVATE_H
#define PULT_CORE_PRIVATE_H

#include "core/command.h"
#include "core/core_map.h"
#include "core/state.h"

#define SOURCES_MAX 64
#define RUNS_MAX 512       /* boots and loads kept, each; the oldest that ended goes first */
#define TASKS_MAX 64       /* commands under way */
#define PROPERTIES_MAX 64  /* observed properties kept of a node */
#define PROPERTY_BYTES 256 /* longest fact or value kept */
#define BAD_SOURCES_MAX 4096
#define TEXT_BYTES 4096   /* longest text kept of a log entry, a fault */
#define GUARD TIME_SECOND /* behind a request's deadline, before core answers for the backend */

/* ---- Nodes -------------------------------------------------------------------------------- */

/* What stands in NodeState.fault; the worst is the last. */
typedef enum {
  FAULT_NONE,
  FAULT_LOAD,
  FAULT_SILENT, /* its power could not be asked for */
  FAULT_POWER,  /* on, off, reset, boot device */
  FAULT_STAGE,
} FaultKind;

typedef struct {
  char *fact, *value;
} Property;

typedef struct {
  NodeState seen;
  FaultKind fault;
  guint limit_at; /* where it stands among the limits, from 1; 0 not */
  gint64 begun_t; /* when this boot began: power seen on, reset, or its first stage; -1 */
  gint64 off_t;   /* when its power was seen to go; -1 */
  guint32 actor;  /* the command that acts on its power; 0 none */
  guint boot;     /* serial of the boot it runs in, and its seat there; 0 none */
  guint boot_seat;
  gboolean once;    /* the boot server may have a file for one boot of it */
  Stage lost_stage; /* at which it went off in the midst of a boot; STAGE_NONE */
  guint n_properties;
  Property *properties;
} Node;

/* ---- Runs --------------------------------------------------------------------------------- */

/* Serials count from 1 and are never used again; arrays of runs are in their order. A run that has
 * ended does not change any more, and clones share it. */
typedef struct {
  BootRun seen;
  guint serial;
} Boot;

typedef struct {
  LoadRun seen;
  guint serial;
  gint64 duration; /* `for DUR`, from its first start; -1 */
  gint64 stop_t;   /* then it is stopped; TIME_NEVER */
  gint64 settle_t; /* all are through, and the server's next sample is waited for; TIME_NEVER */
  gboolean stopping, begun;
  gboolean leaving; /* was told to run on without us */
  NodeId server;    /* of all its seats; NODE_NONE: of several */
  gint64 disk_then; /* what its disk's counter said at the first start; -1 no meter */
} Load;

/* ---- Requests ----------------------------------------------------------------------------- */

/* Who is told the results. */
typedef enum {
  OWNER_NONE,    /* status and watch of core's own */
  OWNER_TASK,    /* the task of its cmd */
  OWNER_LOAD,    /* exec: the load of its serial */
  OWNER_CONSOLE, /* watch: a serial console, of its one node */
} Owner;

typedef struct {
  guint32 id, cmd;
  guint backend;
  Operation operation;
  Owner owner;
  guint serial;
  gint64 guard; /* when core answers in the backend's place; TIME_NEVER */
  guint n, n_left;
  NodeId *nodes; /* ascending */
  gboolean *answered;
  NodeId behalf; /* NODE_NONE: of nobody but its nodes */
} Request;

typedef struct {
  guint32 cmd;
  Owner owner;
  guint serial;
  Operation operation;
  BackendRole role; /* whose backend carries it out; of power operations the map knows */
  const Argument *arguments;
  guint n_arguments;
  gint64 deadline; /* DEADLINE_OWN: how long its backend has for `patience`, from now */
  DeadlineKind patience;
  NodeId behalf; /* with `is_behalf`: the node it is done for; results are told as that one's */
  gboolean is_behalf;
} RequestSpec;
#define DEADLINE_OWN ((gint64)-1)

/* Verdicts of targets, counted up to a command's: ok when all are, partial when some are; what they
 * all have in common when none is, else failed. */
typedef struct {
  guint n, n_ok;
  gboolean mixed;
  Verdict other; /* the first that is not ok */
} Tally;

/* ---- Tasks: commands under way ------------------------------------------------------------ */

typedef enum {
  STEP_ONCE, /* the file of a named entry */
  STEP_DEVICE,
  STEP_STATUS,
  STEP_OFF,
  STEP_SEE_OFF, /* status, until it is seen off */
  STEP_ON,
  STEP_SEE_ON,
  STEP_RESET,
  STEP_FIRMWARE, /* keys, of a boot that they lead */
  STEP_MENU,
  STEP_END,
} Step;

typedef struct {
  NodeId node;
  Step step;
  gboolean cycles;  /* off, seen off, pause, on, seen on */
  gboolean had;     /* a file for one boot, before it was written another */
  gboolean dropped; /* stopped before its last step was sent */
  gint64 due;       /* when to send STEP; TIME_NEVER while an answer is out, and at the end */
  gint64 sent_t;    /* of the last off, on or reset; -1 none */
  gint64 limit;     /* STEP_SEE_*: until when */
  gint64 pressed_t[LAYOUT_BOOT_KEYS_N]; /* when it had its keys; -1: not */
  Step started;                         /* its last on or reset, when that was answered; STEP_END */
  Verdict answer;                       /* and how */
  Verdict verdict;                      /* at STEP_END */
} PowerSeat;

typedef struct {
  PowerAction action;
  gboolean boots; /* then ACTION is not looked at */
  gboolean soft, warm;
  gboolean by_keys;      /* a keyboard leads it */
  gboolean once;         /* files on the boot server do */
  gboolean device_asked; /* via or entry were said: a backend that cannot choose them fails */
  char *via, *entry;
  guint n_without; /* named without a backend: unsupported */
  guint boot;      /* the boot's serial */
  guint n, n_open;
  guint n_at_stop;  /* open when it was stopped */
  PowerSeat *seats; /* nodes ascending */
} PowerTask;

typedef struct {
  gboolean answered;
  Verdict verdict;
} PropertyTask;

/* pxe set and undo: what would change is asked first. */
typedef struct {
  gint confirm;
  GString *difference;
  char *was;         /* NULL: nothing would change */
  gboolean writing;  /* it is asked for the change itself */
  gboolean answered; /* it is over */
  Verdict verdict;
} MenuTask;

typedef struct {
  WaitKind kind;
  char *label; /* NULL: nodes */
  guint run;   /* of that label */
  Stage stage;
  PowerState power;
  gint at_least; /* -1 all */
  gint64 timeout_t, poll_t;
  guint n_asked; /* of the last poll, without an answer yet */
  guint64 look;  /* how many touches there must have been before it can be over */
  guint n;
  NodeId *nodes;
} WaitTask;

typedef struct {
  char *label, *during; /* during NULL: until a time */
  guint run;
  GPtrArray *measurements;
} MeasureTask;

typedef struct {
  guint serial;
  guint n;
  gboolean *deaf; /* by seat of the load: it could not be told to stop */
} StopTask;

typedef struct {
  NodeId node;
  Verdict verdict;
  gint64 done_t; /* -1: no answer yet */
} KeysSeat;

/* keys, type, route */
typedef struct {
  Verb verb;
  guint n, n_open, n_without;
  KeysSeat *seats; /* nodes ascending */
} KeysTask;

typedef enum {
  TASK_POWER,
  TASK_PROPERTY,
  TASK_MENU,
  TASK_WAIT,
  TASK_SLEEP,
  TASK_MEASURE,
  TASK_LOAD_STOP,
  TASK_KEYS,
} TaskKind;

typedef struct {
  guint32 cmd;
  TaskKind kind;
  char *text;       /* of the command */
  gboolean stopped; /* what was not sent is not sent any more */
  gint64 due;       /* when it next has something to do; TIME_NEVER */
  union {
    PowerTask power;
    PropertyTask property;
    MenuTask menu;
    WaitTask wait;
    MeasureTask measure;
    StopTask stop;
    KeysTask keys;
  };
} Task;

/* ---- The state ---------------------------------------------------------------------------- */

typedef enum { DUE_NODES, DUE_REQUESTS, DUE_TASKS, DUE_LOADS, DUE_RESERVED } DueKind;
#define DUE_N (DUE_RESERVED + 1)

typedef struct {
  gboolean up;
  char *down; /* why it went down; NULL while up, or never up */
} BackendLink;

struct CoreState {
  CoreMap *map; /* shared by clones */
  const Layout *layout;
  CoreOptions options;
  gint64 now;
  Node *nodes;
  BondState *bonds;   /* by map->first_bond */
  gboolean *port_up;  /* by map->first_port */
  double *port_speed; /* likewise: bit/s on the wire, the layout's until another was seen */
  gboolean *link_up;
  BackendLink *backends;
  Meters *meters;
  Figures *figures;
  guint n_limits;
  NodeId *limits; /* heap of the nodes with a stage limit; core_limit.c */
  GPtrArray *boots, *loads, *tasks, *requests; /* of Boot, Load, Task, Request; each in order */
  guint32 last_request;
  gint64 next_start_t; /* before it no machine is switched on: the layout's `starts` */
  guint last_serial;
  NodeId routed; /* the node shown last by command, and one; 0 none */
  LogEntry *log; /* ring of STATE_LOG_MAX; texts are GRefStrings, shared by clones */
  guint64 log_first, log_end;
  PendingConsent pending;
  char *menu_shown; /* the last command whose plan showed a difference, and to what; NULL */
  guint n_sources;
  const char *sources[SOURCES_MAX]; /* interned */
  GHashTable *bad_sources; /* names whose samples were wrong: said once, until a link event */
  gint64 due[DUE_N];
  gboolean stale[DUE_N]; /* due[] is to be worked out again */
  gint64 deadline;
  guint64 touches; /* changes that a task may wait for, each of one node; so far */
  guint64 settled; /* of them, when tasks were last looked at */
  CoreEmit emit;   /* during a step */
  gpointer emit_data;
};

/* core_log.c: what is said, and what is kept of it */
void core_emit(CoreState *state, Event *event); /* at now */
void core_note(CoreState *state, Severity severity, NodeId node, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
void core_done(CoreState *state, guint32 cmd, const char *text, Verdict verdict);
/* The entry, for what else there is to say of it. */
LogEntry *log_add(CoreState *state, Severity severity, NodeId node, const char *source,
                  const char *text);
void log_add_property(CoreState *state, NodeId node, const char *source, const char *fact,
                      const char *value);
/* NAME as kept for the state's life; compared by content. */
const char *core_source(CoreState *state, const char *name);
void log_copy(CoreState *copy, const CoreState *state);
void log_free(CoreState *state);
char *core_bounded(const char *text); /* a copy of TEXT_BYTES at most */
/* `a[01-17]`; "nothing" for none. */
char *core_fold(const CoreState *state, const NodeId *nodes, guint n);
char *core_seconds(gint64 ns); /* `0.5 s` */

static inline void
core_touch(CoreState *state)
{
  state->touches++;
}

/* core.c: a deadline set, or one gone that may have been the next */
void core_due(CoreState *state, DueKind kind, gint64 t);
void core_undue(CoreState *state, DueKind kind, gint64 t);

/* core_node.c: what is seen of nodes */
void node_observe(CoreState *state, const ObserveEvent *observe);
void node_power_unknown(CoreState *state, NodeId id);
/* It was reset at SINCE: its boot begins again, if it did not already. */
void node_restart(CoreState *state, NodeId id, gint64 since);
void node_expect_stage(CoreState *state, NodeId id);   /* it was told to boot: some stage is due */
void node_expect_nothing(CoreState *state, NodeId id); /* it could not be told */
/* TEXT names the node. A fault stands until what caused it goes well. */
void node_set_fault(CoreState *state, NodeId id, FaultKind kind, const char *text);
void node_clear_fault(CoreState *state, NodeId id, FaultKind kind);
/* `a12 tftp for 22 s (limit 20 s)`, as of now. */
char *node_overdue_text(const CoreState *state, NodeId id);
void nodes_wake(CoreState *state);
void node_clear(Node *node);

/* core_limit.c: a node's stage_limit is set by this alone */
void limit_set(CoreState *state, NodeId id, gint64 t);
gint64 limits_due(const CoreState *state);

/* core_property.c: properties by path */
void property_observe(CoreState *state, const ObserveEvent *observe);
/* Nobody uses it any more. */
void property_free(CoreState *state, NodeId id);
/* Bonds, ports and addresses as the layout has them. */
void property_init(CoreState *state);
/* Whom a get or set of PATH concerns, its fact (free it), and who carries it out. */
gboolean property_target(const CoreState *state, const char *path, NodeId *node, char **fact,
                         guint *backend, GError **error);
void property_start(CoreState *state, const CommandEvent *event, const Command *command,
                    NodeId node, guint backend);
/* The backend that carries out what is asked of a node's properties; -1. */
int property_carrier(const CoreState *state, NodeId id);
void property_result(Task *task, Verdict verdict, const char *text);

/* core_menu.c: the boot server's menu */
/* Who has it and does what is asked of it; FALSE: the layout has none, or nobody does. */
gboolean menu_target(const CoreState *state, NodeId *node, guint *backend, GError **error);
/* `set timeout 10 s (100 tenths)` */
char *menu_action(const Command *command);
/* Of show, set and undo. */
void menu_start(CoreState *state, const CommandEvent *event, const Command *command);
void menu_line(CoreState *state, const Request *request, const char *stream, const char *text);
void menu_result(CoreState *state, Task *task, Verdict verdict, const char *text);

/* core_request.c */
/* One request a backend, in the order of the map; nodes ascending, all with a backend for the
 * role. A backend that is not up answers `failed` at once through core. */
void requests_send(CoreState *state, const RequestSpec *spec, const NodeId *nodes, guint n);
void request_send_to(CoreState *state, const RequestSpec *spec, guint backend, const NodeId *nodes,
                     guint n);
void request_result(CoreState *state, const ResultEvent *result);
void requests_wake(CoreState *state);
gboolean requests_look(const CoreState *state); /* a status that no command asked for is open */
gint64 requests_due(const CoreState *state);
Request *request_clone(const Request *request);
void request_free(Request *request);
/* The request RESULT or LINE is of; NULL when it is over. */
Request *request_find(const CoreState *state, guint32 id);
/* After BACKEND went down: nothing may wait for ever. */
void requests_link_down(CoreState *state, guint backend);
void requests_link_up(CoreState *state, guint backend);
/* The element of NODE, or NULL, among N of SIZE bytes that begin with their NodeId, ascending. */
gpointer node_search(gconstpointer elements, guint n, gsize size, NodeId node);

/* core_wake.c: the node that wakes SEAT in the place of backend WAKER; NODE_NONE: it does so
 * itself. */
NodeId wake_helper(const CoreState *state, guint waker, NodeId seat);
/* Asks SEAT's helper to wake it, if its layout names one; FALSE: it does not. */
gboolean wake_send(CoreState *state, const RequestSpec *spec, NodeId seat);

/* core_command.c, core_plan.c, core_outlets.c */
void command_step(CoreState *state, const CommandEvent *event);
void command_end(CoreState *state, const CommandEvent *event, Severity severity, Verdict verdict,
                 const char *format, ...) G_GNUC_PRINTF(5, 6);
/* What a command would touch. Nodes ascend. */
typedef struct {
  GArray *nodes; /* it would be carried out on */
  /* Of those it names; who is in use and reserved is in the former only. */
  GArray *protected_nodes, *in_use, *reserved;
  GArray *co_victims; /* not named, and dark with those in nodes */
  GArray *spared;     /* named, and left out for one on the same outlet */
  GArray *without;    /* named, but without a backend for it */
  BackendRole role;
  gboolean one_backend; /* BACKEND, instead of each node's own */
  guint backend;
  gboolean changes_power;
  guint operations; /* of power, asked of each node: bits; 0: what its role's backend does */
  gboolean boots, by_keys;
  char *once_how; /* files on the boot server choose the entry; NULL: they do not */
  Verb verb;
  char *presses;    /* of a boot that keys lead: `press F12 after 3 s`; NULL */
  char *action;     /* `boot pxe ubuntu-10.04::nfs` */
  char *difference; /* of a file that it would change; NULL */
  guint on;         /* of nodes */
} Plan;
/* NULL with an error for the person who typed. */
Plan *plan_new(const CoreState *state, const Command *command, GError **error);
void plan_free(Plan *plan);
/* Whose outlets are cut by PLAN takes with it whoever shares them, or is spared for their sake. */
void outlets_sort_out(const CoreState *state, const Command *command, Plan *plan);
/* The number that consents: whoever it names, and whoever goes dark with them. */
guint plan_seats(const Plan *plan);
void plan_emit(CoreState *state, guint32 cmd, const Plan *plan);
/* TRUE: it was consented to, or needs nobody's. Else *VERDICT is why not, and has been said. */
gboolean plan_is_consented(CoreState *state, const CommandEvent *event, const Command *command,
                           const Plan *plan, Verdict *verdict);
/* `s1 (protected), a03 (in use)`; "" when nothing is. */
char *plan_left_out(const CoreState *state, const Command *command, const Plan *plan);
/* `cycle a[01-17] by sim, stagger 0.5 s: 17 seats, 16 on, 0 in use` */
char *plan_sentence(const CoreState *state, const Command *command, const Plan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Plan, plan_free)
void pending_clear(CoreState *state);

/* core_resolve.c */
/* Nodes of a set, ascending. BARE: a group's name does without its @ where no node bears it. */
GArray *resolve_set(const CoreState *state, const char *text, gboolean bare, GError **error);

/* core_task.c */
void tally_add(Tally *tally, Verdict verdict);
Verdict tally_verdict(const Tally *tally);
Task *task_add(CoreState *state, guint32 cmd, TaskKind kind, const char *text);
Task *task_find(const CoreState *state, guint32 cmd);
Task *task_clone(const Task *task);
void task_free(Task *task);
void task_due(CoreState *state, Task *task, gint64 t);
/* TEXT is the diagnosis of a verdict that is not ok. */
void task_result(CoreState *state, const Request *request, NodeId node, Verdict verdict,
                 const char *text);
void tasks_settle(CoreState *state);
void tasks_wake(CoreState *state);
void tasks_stop(CoreState *state);
gint64 tasks_due(const CoreState *state);

/* core_power.c: power and boot commands */
void power_start(CoreState *state, const CommandEvent *event, const Command *command,
                 const Plan *plan);
void power_send(CoreState *state, Task *task);
void power_result(CoreState *state, Task *task, NodeId node, Verdict verdict);
gboolean power_settled(CoreState *state, Task *task, Verdict *verdict);
void power_stop(CoreState *state, Task *task);

/* core_boot.c: boots under way */
/* Of the seats of POWER. Its serial. */
guint boot_begin(CoreState *state, const Command *command, const PowerTask *power);
void boot_seat_sent(CoreState *state, guint serial, NodeId id);    /* its on or reset goes out */
void boot_seat_refused(CoreState *state, guint serial, NodeId id); /* they do not, or failed */
/* Of a node in a boot; of others, nothing. */
void boot_seat_again(CoreState *state, NodeId id); /* it begins to boot */
void boot_seat_on(CoreState *state, NodeId id);
void boot_seat_stage(CoreState *state, NodeId id, Stage stage);
void boot_seat_failed(CoreState *state, NodeId id, Stage stage);
Boot *boot_clone(Boot *boot);
void boot_unref(Boot *boot);
const BootRun *boot_find(const CoreState *state, const char *label, guint run); /* 0: newest */

/* core_cache.c: whether caches were as asked; nobody else decides that. DISK: bytes read from the
 * server's disk, NAN when nothing counted them; DATA: bytes its clients read, what several of them
 * read counted once; NAN when one of them did not tell. */
CacheProof cache_proof(const char *asked, double disk, double data);
/* DATA of seats that ended well, at the least. Those that read the same do so in the same order:
 * together it is what the furthest of them read, which is more than their mean where lines or
 * patience differ; a seat that reads its own has all of it counted. Which of them read alike they
 * do not tell, only how many do (`readers`): of those with the same number, taken by size, every
 * readers-th is counted, and no way to group them makes less. */
double cache_data(const LoadSeat *seats, guint n);
void cache_begin(CoreState *state, Load *load, const Plan *plan); /* with its seats */
void cache_started(CoreState *state, Load *load);                 /* its first seat */
/* Whether the proof needs a sample from after END, when all were through, that has not come yet. */
gboolean cache_waits(const CoreState *state, const Load *load, gint64 end);
void cache_decide(CoreState *state, Load *load);
/* Servers whose caches a load on NODES drops (cold) or fills (warm), by name, commas between; NULL:
 * none. */
char *cache_servers(const CoreState *state, const GArray *nodes, CacheState wish);

/* core_load.c */
/* The label a load goes by: its own, else its job's name made one. Free with g_free. */
char *load_label(const Command *command);
void load_start(CoreState *state, const CommandEvent *event, const Command *command,
                const Plan *plan);
void load_stop(CoreState *state, const CommandEvent *event, const Command *command);
/* Whether a line of figures says that a job has begun, and no more. */
gboolean load_is_start(const char *text);
void load_line(CoreState *state, const Request *request, NodeId node, const char *text);
void load_result(CoreState *state, const Request *request, NodeId node, Verdict verdict,
                 const char *text);
void loads_wake(CoreState *state);
void loads_settle(CoreState *state); /* after every sample */
gint64 loads_due(const CoreState *state);
gboolean load_stop_settled(CoreState *state, Task *task, Verdict *verdict);
void load_stop_result(CoreState *state, Task *task, NodeId node, Verdict verdict);
Load *load_clone(Load *load);
void load_unref(Load *load);
const LoadRun *load_find(const CoreState *state, const char *label, guint run); /* 0: newest */

/* core_reserve.c */
void reserve_start(CoreState *state, const CommandEvent *event, const Command *command);
void release_start(CoreState *state, const CommandEvent *event, const Command *command);
void reserve_observe(CoreState *state, const ObserveEvent *observe);
void reservations_wake(CoreState *state);
gint64 reservations_due(const CoreState *state);

/* core_keys.c */
/* How what a plan asks of a seat's keyboard goes there. */
typedef enum {
  KEYS_ROUTE,
  KEYS_ONE_BY_ONE,
  KEYS_AT_ONCE,
  KEYS_DE_ONE_BY_ONE, /* as it types on a German keyboard */
  KEYS_DE_AT_ONCE,
} KeysWay;
#define KEYS_N_WAYS (KEYS_DE_AT_ONCE + 1)
KeysWay keys_way(const CoreState *state, const Plan *plan, NodeId id);
const char *keys_way_text(KeysWay way); /* behind the plan's action */
char *keys_action(const Command *command);
/* Whom `route next` shows; NODE_NONE: nobody may be shown. */
NodeId keys_next(const CoreState *state, const Command *command);
void keys_start(CoreState *state, const CommandEvent *event, const Command *command,
                const Plan *plan);
gboolean keys_back(CoreState *state, const CommandEvent *event); /* FALSE: nothing was routed */
/* PRESS on NODES, ascending; each result goes to CMD's task. */
void keys_press(CoreState *state, guint32 cmd, const char *const *press, const NodeId *nodes,
                guint n);
/* How far apart those of SEATS had WHAT (`their keys`) that had them at all. */
void keys_say_spread(CoreState *state, const char *what, const KeysSeat *seats, guint n);
void keys_result(CoreState *state, Task *task, NodeId node, Verdict verdict);
void keys_stop(CoreState *state, const Task *task);
gboolean keys_settled(CoreState *state, const Task *task, Verdict *verdict);

/* core_console.c */
gboolean console_is_open(const CoreState *state, NodeId node);
void consoles_link_up(CoreState *state, guint backend);
void console_start(CoreState *state, const CommandEvent *event, const Command *command);

/* core_wait.c */
void wait_start(CoreState *state, const CommandEvent *event, const Command *command);
gboolean wait_settled(CoreState *state, Task *task, Verdict *verdict);
void wait_poll(CoreState *state, Task *task);
void wait_answered(CoreState *state, Task *task, Verdict verdict); /* one of those asked */

/* core_measure.c */
void measure_start(CoreState *state, const CommandEvent *event, const Command *command);
gboolean measure_settled(CoreState *state, Task *task, Verdict *verdict);
void measure_fold(CoreState *state);

/* core_expect.c: figures said, and held against what was expected */
void expect_step(CoreState *state, const CommandEvent *event, const Command *command);
/* One run's VALUES of a quantity; says its statistics STATISTICS (`mean median min`). */
void figure_values(CoreState *state, const char *label, const char *name, const char *unit,
                   const double *values, guint n, const char *statistics);
/* One run's value of a figure, from N values; says it. */
void figure_one(CoreState *state, const char *label, const char *name, const char *unit,
                double value, guint n);

#endif
