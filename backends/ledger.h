/* What a real backend has been asked and has not answered yet: the bookkeeping each of them needs
 * to keep the rules of backend.h.
 *
 * Every target of a request is an item. It begins from the main loop, never within submit(), when
 * its turn has come: at most LIMIT items are under way at once, of one node one after the other if
 * the backend says so, and otherwise in the order they were asked for. Where it is one after the
 * other, a status that waited behind another is answered with it. An item ends with its one result:
 * the backend's ledger_answer(), its deadline, or a cancellation. What ends before the backend has
 * set `sent` is `timeout` or `cancelled`; afterwards `unknown` where the operation changes
 * something.
 *
 * Threading: the default main context's thread only.
 */
#ifndef PULT_LEDGER_H
#define PULT_LEDGER_H

#include "backends/backend.h"
#include "model/layout.h"

typedef struct Ledger Ledger;

typedef struct {
  Ledger *ledger;
  NodeId node;
  Operation operation;
  gint64 deadline; /* µs of the monotonic clock; G_MAXINT64: none */
  gboolean sent;   /* set by the backend: from here on it may have happened */
  gpointer work;   /* the backend's own */
} LedgerItem;

typedef struct {
  /* Its turn: answers at once, or later. */
  void (*begin)(LedgerItem *item, gpointer data);
  /* It has its result, and is gone after this: lets go of `work`. May be called for an item that
   * never began, whose `work` is then NULL. */
  void (*end)(LedgerItem *item, gpointer data);
  guint limit;            /* items under way at once; 0: no limit */
  gboolean one_each_node; /* never two of one node at once */
} LedgerClass;

/* CLASS is copied; BACKEND, LAYOUT and DATA are borrowed. */
Ledger *ledger_new(const Backend *backend, const Layout *layout, const LedgerClass *class,
                   gpointer data);
/* Ends all items without results. Takes NULL. */
void ledger_free(Ledger *ledger);

/* The two methods of BackendClass. Operations the class has not are answered `unsupported`. */
void ledger_submit(Ledger *ledger, gint64 now, const RequestEvent *request);
void ledger_cancel(Ledger *ledger, guint32 request);

/* NULL when the request has no such argument. */
const char *ledger_argument(const LedgerItem *item, const char *key);
guint32 ledger_request(const LedgerItem *item);

/* The result of ITEM, which is gone afterwards. What follows the node's name: `a01: FORMAT`; NULL
 * says nothing, for ok. Escapes what is not printable. */
void ledger_answer(LedgerItem *item, Verdict verdict, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* What was seen of a node, whether asked or not. */
void ledger_observe(Ledger *ledger, NodeId node, const char *fact, const char *value);
/* A line of output that belongs to ITEM. */
void ledger_line(const LedgerItem *item, const char *stream, const char *text);
/* A line that belongs to nobody's request. */
void ledger_remark(Ledger *ledger, const char *stream, const char *text);
/* `link up` or `down` of the whole backend. */
void ledger_link(Ledger *ledger, gboolean up, const char *text);

#endif
