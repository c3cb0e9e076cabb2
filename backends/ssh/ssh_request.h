/* Requests the backend has not answered yet, and the one result each of their targets has.
 *
 * An operation is a table: it begins on all targets, and gives each its result in its own time. The
 * deadline is kept here. All of it runs from the main loop, after submit() or cancel() returned, so
 * results may be given at once; the last result of a request frees it.
 */
#ifndef PULT_SSH_REQUEST_H
#define PULT_SSH_REQUEST_H

#include "backends/ssh/ssh_command.h"
#include "backends/ssh/ssh_text.h"

typedef struct SshRequest SshRequest;

typedef struct {
  SshRequest *request;
  NodeId node;
  const char *name; /* the node's */
  SshLink *link;
  gboolean open;       /* has no result */
  SshCommand *command; /* for the operation's own use, as is DATA; forgotten with the result */
  gpointer data;
} SshTarget;

typedef struct {
  void (*begin)(SshRequest *request);
  /* TARGET, which is open, is to end: VERDICT_CANCELLED, or VERDICT_TIMEOUT at its deadline. At the
   * deadline it has its result before this returns; cancelled, soon. NULL: begin() gives every
   * result, even if it comes too late. */
  void (*stop)(SshTarget *target, Verdict why);
  /* OP_SIGNAL of this request; NULL: it cannot be signalled. */
  void (*signal)(SshTarget *target, const char *signal);
  /* The signal LEAVE: it runs on without us for SECONDS, -1 to its own end. NULL: it cannot. */
  void (*leave)(SshTarget *target, gint64 seconds);
  /* Its targets are reached through the boot server, and need no link of their own. */
  gboolean at_boot_server;
  void (*free_target)(SshTarget *target); /* DATA, with the result; NULL: nothing to free */
  void (*free_data)(gpointer data);       /* of the request; NULL likewise */
} SshOperation;

struct SshRequest {
  SshBackend *ssh;
  guint32 id;
  Operation operation;
  const SshOperation *class;
  gint64 deadline; /* µs of g_get_monotonic_time(); G_MAXINT64 none */
  gint64 epoch;    /* the same, of the session's beginning */
  SshTarget *targets;
  guint n_targets, n_open;
  gpointer data; /* the operation's own */
};

/* NULL when it was not given. */
const char *ssh_request_argument(const SshRequest *request, const char *key);
const Argument *ssh_request_arguments(const SshRequest *request, guint *n);
/* The request called ID while it has targets without a result; NULL. */
SshRequest *ssh_request_find(SshBackend *ssh, guint32 id);
/* µs from now until its deadline, at least 0; SSH_FOREVER when there is none. */
gint64 ssh_request_left(const SshRequest *request);

/* TARGET is gone when it returns, if it was the request's last. An operation that ends with its
 * command sets `command` to NULL first. `NAME: WHAT` is the result's text, escaped and bounded; ""
 * when FORMAT is NULL. */
void ssh_target_result(SshTarget *target, Verdict verdict, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
/* A LineEvent of STREAM; LENGTH bytes, a NUL among them is shown as \x00. */
void ssh_target_line(SshTarget *target, const char *stream, const char *text, gsize length);
void ssh_target_observe(SshTarget *target, const char *fact, const char *value);

#endif
