/* Holds any backend to the rules of backends/backend.h, whatever it is asked and in whatever order.
 *
 * It stands where the session stands: gives the requests, takes what is posted, and writes down
 * the first rule that was broken. What the backend says goes on to `seen`, after it was checked.
 * A virtual backend is advanced as the session does it; a real one has the default main context
 * and the monotonic clock.
 */
#ifndef PULT_BACKEND_CHECK_H
#define PULT_BACKEND_CHECK_H

#include "backends/backend.h"
#include "model/layout.h"

typedef struct BackendCheck BackendCheck;

/* LAYOUT and SEEN (NULL: nobody) with its DATA are borrowed. SEEN may submit and cancel. */
BackendCheck *backend_check_new(const Layout *layout, BackendPost seen, gpointer data);
/* Frees the backend as well. */
void backend_check_free(BackendCheck *check);
const Layout *backend_check_layout(const BackendCheck *check);
/* What the backend under test posts to; data is the check. */
void backend_check_post(const Event *event, gpointer check);
/* Takes BACKEND, and starts it. */
void backend_check_start(BackendCheck *check, Backend *backend);

/* ARGUMENTS are key, value, …, NULL. DEADLINE is from now on, TIME_NEVER none. Returns the id. */
guint32 backend_check_submit(BackendCheck *check, Operation operation, const NodeId *nodes,
                             guint n_nodes, gint64 deadline, const char *const *arguments);
void backend_check_cancel(BackendCheck *check, guint32 request);

gint64 backend_check_now(const BackendCheck *check);
/* Lets time pass until T, or as soon as something was posted. FALSE when T has come. */
gboolean backend_check_step(BackendCheck *check, gint64 t);
/* Lets time pass until T. */
void backend_check_run(BackendCheck *check, gint64 t);
/* Until REQUEST has all its results. FALSE when T came before. */
gboolean backend_check_finish(BackendCheck *check, guint32 request, gint64 t);

/* -1 while NODE has no result for REQUEST. */
int backend_check_verdict(const BackendCheck *check, guint32 request, NodeId node);
/* The text of that result; NULL while there is none. */
const char *backend_check_text(const BackendCheck *check, guint32 request, NodeId node);
/* Targets without a result, of all requests. */
guint backend_check_n_open(const BackendCheck *check);
/* How many results there were of VERDICT. */
guint backend_check_count(const BackendCheck *check, Verdict verdict);
/* The first rule that was broken, in a sentence; NULL. */
const char *backend_check_violation(const BackendCheck *check);

/* What a random walk may ask for. WEIGHT: how often, among all. ARGUMENTS as above, NULL none; an
 * argument value `%request` becomes the id of an earlier request. */
typedef struct {
  Operation operation;
  guint weight;
  const char *const *arguments;
  const char *node; /* its only target; NULL: any of the walk's */
} CheckAsk;

typedef struct {
  const CheckAsk *asks; /* ends with a weight of 0 */
  const NodeId *nodes;  /* targets are drawn from these */
  guint n_nodes;
  guint n_steps;
  gint64 longest; /* time that passes between two requests, at most */
} CheckWalk;

/* Requests, cancellations and deadlines at random, some from within what is posted; at the end all
 * is cancelled, and every target must have had its one result. */
void backend_check_walk(BackendCheck *check, const CheckWalk *walk, guint32 seed);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BackendCheck, backend_check_free)

#endif
