/* How the console reaches machines: the one interface every backend implements.
 *
 * Rules, which one contract suite holds every backend to:
 *  - submit() returns at once and never posts before it returns.
 *  - Exactly one result per target of a request, whatever happens; a watch has its one result when
 *    it ends. After a node's result nothing more is posted for that request and node.
 *  - The request's deadline is kept by the backend: at the deadline the target is `timeout`, or
 *    `unknown` when it may have happened.
 *  - A state is observed or it is not reported: unknown is never off.
 *  - A dead, slow or lying target delays no other.
 *  - The text of a result that is not ok names the target and the cause in one printable line.
 *
 * A line that was said unasked is of request 0 and no node.
 *
 * post() may be answered by submit() or cancel() before it returns, so a backend has its own
 * bookkeeping done before it posts. Everything happens on the main loop's thread; a blocking
 * library runs on a GThreadPool and hands its answers over.
 */
#ifndef PULT_BACKEND_H
#define PULT_BACKEND_H

#include "model/event.h"

typedef struct Backend Backend;

/* Takes an EVENT_LINK, _RESULT, _LINE, _SAMPLES or _OBSERVE; borrowed for the call. A virtual
 * backend's event carries the t it was due; of a real one t is set by who receives it. */
typedef void (*BackendPost)(const Event *event, gpointer data);

typedef struct {
  const char *name;
  guint32 operations;    /* 1 << OP_… of what it can do; anything else is answered unsupported */
  gboolean virtual_time; /* next_due and advance are there, and it lives on them */

  /* Posts `link up` (or down) when there is something to say; a virtual one at its first advance.
   */
  void (*start)(Backend *backend, gint64 now);
  /* REQUEST is borrowed for the call. */
  void (*submit)(Backend *backend, gint64 now, const RequestEvent *request);
  /* Targets without a result are answered `cancelled` (`unknown` when it may have happened). */
  void (*cancel)(Backend *backend, gint64 now, guint32 request);
  /* When it next has something to post; TIME_NEVER when nothing moves. */
  gint64 (*next_due)(const Backend *backend);
  /* Brings it to T ≤ next_due(), and posts what is due at T. */
  void (*advance)(Backend *backend, gint64 t);
  void (*free)(Backend *backend);
} BackendClass;

/* First member of every implementation. */
struct Backend {
  const BackendClass *class;
  const char *name; /* instance, as layouts name it; interned */
  BackendPost post;
  gpointer post_data;
};

static inline gboolean
backend_can(const Backend *backend, Operation operation)
{
  return (backend->class->operations & (1u << operation)) != 0;
}

static inline void
backend_free(Backend *backend)
{
  if (backend)
    backend->class->free(backend);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Backend, backend_free)

#endif
