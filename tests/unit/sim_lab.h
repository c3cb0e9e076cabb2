/* Drives the simulator alone, and keeps what it said: for the tests of backends/sim.
 *
 * Everything it does is held to the rules of backend_check.h; sim_lab_free() fails the test that
 * broke one.
 */
#ifndef PULT_SIM_LAB_H
#define PULT_SIM_LAB_H

#include "backends/sim/sim.h"
#include "tests/contract/backend_check.h"

#define SIM_LAB_GE (125e6 * 1448 / 1538) /* B/s of payload of a Gigabit port */
#define SIM_LAB_MAX_NODES 128
#define SIM_LAB_MAX_STEPS 64

typedef enum {
  MARK_ON,
  MARK_FIRMWARE,
  MARK_DHCP,
  MARK_TFTP,
  MARK_KERNEL,
  MARK_INITRAMFS,
  MARK_ROOT,
  MARK_LOGIN,
} Mark;
#define MARK_N (MARK_LOGIN + 1)

typedef struct {
  gint64 t;
  gint64 *values;
} LabSample;

typedef struct {
  Layout *layout;
  JobSet *jobs;
  BackendCheck *check;
  gint64 marks[SIM_LAB_MAX_NODES][MARK_N]; /* the last time each was seen; -1 */
  char *power[SIM_LAB_MAX_NODES];          /* as last observed; NULL */
  char *figures[SIM_LAB_MAX_NODES];        /* of its last job; NULL */
  GHashTable *facts;                       /* `node fact` → value, as last observed */
  char **columns;
  guint n_columns;
  GArray *samples; /* of LabSample */
  GString *said;   /* every event, a line each, when asked for */
} SimLab;

SimLab *sim_lab_new(const char *layout, guint64 seed);
void sim_lab_free(SimLab *lab);
/* A job of unlimited demand but for CAP (B/s) and BYTES; both may be INFINITY. */
Job *sim_lab_add_job(SimLab *lab, const char *name, Protocol protocol, double cap, double bytes);
void sim_lab_watch(SimLab *lab);
void sim_lab_keep_all(SimLab *lab); /* from now on in `said` */

/* Names joined by commas, or a room's or block's name. Free the array. */
GArray *sim_lab_nodes(const SimLab *lab, const char *set);
NodeId sim_lab_node(const SimLab *lab, const char *name);
/* Arguments of a request: WITH("device", "pxe"). */
#define WITH(...) ((const char *const[]){__VA_ARGS__, NULL})
/* Asks, with no deadline, and returns the request. ARGUMENTS may be NULL. */
guint32 sim_lab_ask(SimLab *lab, Operation operation, const char *set,
                    const char *const *arguments);
/* Asks and waits for all results (for at most 600 s); fails the test unless all are ok. */
void sim_lab_do(SimLab *lab, Operation operation, const char *set, const char *const *arguments);
/* Asks NODE, which must not do it, waits, and returns what it says; owned by the lab. */
const char *sim_lab_fails(SimLab *lab, Operation operation, const char *node,
                          const char *const *arguments);
void sim_lab_set(SimLab *lab, const char *path, const char *value);
/* What `get` answers. Free with g_free. */
char *sim_lab_get(SimLab *lab, const char *path);
/* Boots SET from ENTRY and waits until all are at their login. */
void sim_lab_boot(SimLab *lab, const char *set, const char *entry);

gint64 sim_lab_now(const SimLab *lab);
void sim_lab_run(SimLab *lab, double seconds);
/* Menu → login, s. */
double sim_lab_boot_time(const SimLab *lab, const char *name);
double sim_lab_mean_boot_time(const SimLab *lab, const char *set);
/* Sum of the columns that begin with PREFIX and end with SUFFIX (`slx1/eth`, `.tx B`): the largest
 * difference over a second within [FROM, TO], a second; and the value at the end. */
double sim_lab_peak(const SimLab *lab, const char *prefix, const char *suffix, gint64 from,
                    gint64 to);
gint64 sim_lab_total(const SimLab *lab, const char *prefix, const char *suffix);
/* KEY of the figures NODE's last job gave; NAN. */
double sim_lab_figure(const SimLab *lab, const char *name, const char *key);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimLab, sim_lab_free)

/* Ascending in place; the middle, or the mean of the two. */
double sim_lab_median(double *values, guint n);

/* Layouts as text, free with g_free; SIMULATE as in `boot: {simulate: {…}}`, NULL as published.
 *
 * A room of N clients, MACs in steps of STEP, on one switch; its server has four bonded ports, a
 * disk of 100 MB/s, and NFSD threads. */
char *sim_lab_room(guint n, guint step, guint nfsd, const char *simulate);
/* The two rooms of the notes, with odd MACs on two seats of each (H4), or even ones (H2). */
char *sim_lab_two_rooms(gboolean odd, const char *simulate);

#endif
