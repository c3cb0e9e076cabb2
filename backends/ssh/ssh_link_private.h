/* A link's inside, shared by those who make its connection and those who use it. */
#ifndef PULT_SSH_LINK_PRIVATE_H
#define PULT_SSH_LINK_PRIVATE_H

#include <gio/gio.h>
#include <libssh/callbacks.h>

#include "backends/ssh/ssh_command.h"
#include "backends/ssh/ssh_host.h"

typedef enum {
  LINK_DOWN,
  LINK_WAITING,  /* until it is tried again */
  LINK_QUEUED,   /* until fewer are being made */
  LINK_REACHING, /* a stream of bytes to it */
  LINK_GREETING, /* keys of the connection agreed on */
  LINK_PROVING,  /* who we are, by key files */
  LINK_ASKING,   /* the same by the agent, on a thread */
  LINK_UP,
} LinkState;

struct SshLink {
  SshBackend *ssh;
  NodeId node;
  char *name, *source;
  SshHost *host;
  LinkState state;
  ssh_session session;
  ssh_channel pump; /* never opened: what makes libssh read */
  struct ssh_counter_struct counter;
  GSource *timer; /* at the earliest of all that is due; also wakes what was asked for */
  guint watch;    /* on the session's socket; 0 none */
  int watched;    /* that socket, and for what */
  GIOCondition watched_for;
  gint64 due;  /* µs, of the state; G_MAXINT64 none */
  guint tries; /* failed in a row */
  guint64 failures;
  guint next_key;
  gboolean gated;           /* it counts among those being made */
  GCancellable *reaching;   /* NULL: not reaching */
  struct SshProof *proof;   /* on the agent's thread; NULL */
  SshLink *jump;            /* NULL: straight */
  struct SshTunnel *tunnel; /* through it */
  GPtrArray *commands;      /* SshCommand, in the order they came */
  gint64 heard, used;       /* µs: last byte of the host, last command */
  guint64 heard_bytes;
  gboolean asked; /* for a sign of life */
  char *cause;    /* of the last failure */
  gboolean told;  /* that it is up, or of that cause */
  gboolean running;
  SshCommand *lease; /* NULL: none */
  gboolean lease_asked;
  gboolean leased; /* the connection has one, or had when it ended */
  gint64 busy;     /* µs: since when it has had commands; 0 it has none */
  gint64 beat_at;
  struct SshAfter *after; /* NULL: nothing is to be asked */
  guint n_choked;         /* streams that cannot pass on what comes: nothing is read for so long */
};

void ssh_link_choke(SshLink *link, gboolean choked);

#define SSH_CHANNELS_MAX 8 /* of one connection: sshd's own MaxSessions is 10 */

SshLink *ssh_link_new(SshBackend *ssh, NodeId node, const char *name, SshHost *host);
void ssh_link_free(SshLink *link);
/* A command came, or wants to go on: looked at soon. */
void ssh_link_wake(SshLink *link);
/* The same, and it is tried at once if it waits. */
void ssh_link_hurry(SshLink *link);
/* Ends the attempt or the connection. */
void ssh_link_fail(SshLink *link, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Connections being made at once; those over the ceiling wait in line. */
typedef struct {
  guint n, max;
  GQueue waiting; /* SshLink */
} SshGate;

/* ---- ssh_reach.c: a stream of bytes to the host ---------------------------------------------- */

/* Ends in ssh_link_reached(), or ssh_link_fail(). */
void ssh_reach(SshLink *link);
void ssh_reach_cancel(SshLink *link);
/* Takes FD; -1: libssh makes the connection itself. */
void ssh_link_reached(SshLink *link, int fd);

/* ---- ssh_tunnel.c: that stream, through another host
 * --------------------------------------------- */

/* Ends likewise. Takes link->jump's part; that link lives on. */
void ssh_tunnel_open(SshLink *link);
void ssh_tunnel_close(SshLink *link);

/* ---- ssh_prove.c: who we are ------------------------------------------------------------------
 */

/* One step. TRUE: we are in; FALSE with an error: refused; FALSE without: wait. */
gboolean ssh_prove(SshLink *link, GError **error);
/* The agent's thread keeps the session if it still has it. */
void ssh_prove_abandon(SshLink *link);

/* ---- ssh_lease.c: its end on the host when nothing is heard of us -----------------------------
 */

/* A shell on the host ends the connection there, and with it all that was run over it, when no sign
 * of life has come for the setting `lease`. It begins when there has been a command for a second,
 * or with ssh_lease_want(), and is no reason to keep the connection. */
void ssh_lease_want(SshLink *link);
void ssh_lease_step(SshLink *link, gint64 now);  /* on a link that is up */
gint64 ssh_lease_due(const SshLink *link);       /* µs */
void ssh_lease_reset(SshLink *link);             /* the connection is new */
gboolean ssh_lease_is_idle(const SshLink *link); /* no command but it */

/* ---- ssh_after.c: what became of a job that was lost -------------------------------------------
 */

/* Asks the host for it as soon as it can be reached, and observes `job` when nothing of JOB, whose
 * processes have TOKEN in their arguments, is left there. Instead of what was asked before. */
void ssh_after_ask(SshLink *link, const char *job, const char *token);
void ssh_after_free(struct SshAfter *after);

/* A stream to HOST and PORT as LINK's host sees them, as a command that has no end of its own:
 * CALLS' line is given what comes, uncut, and DRAINED is called when ssh_command_write() takes more
 * again. It counts as none of the host's sessions. */
SshCommand *ssh_command_start_stream(SshLink *link, const char *host, guint port,
                                     const SshCommandCalls *calls, void (*drained)(gpointer data),
                                     gpointer data);

/* ---- ssh_command.c, as the link drives it ------------------------------------------------------
 */

/* On a link that is up. TRUE: it has ended and is gone. */
gboolean ssh_command_step(SshCommand *command, gboolean may_open, gint64 now);
gboolean ssh_command_is_open(const SshCommand *command); /* it has one of the host's sessions */
gint64 ssh_command_due(const SshCommand *command);       /* µs */
/* There is no connection; CAUSE why the last one ended. TRUE: it has ended. */
gboolean ssh_command_without(SshCommand *command, const char *cause, gint64 now);
/* Its channel goes with the session. */
void ssh_command_detach(SshCommand *command);
/* Its link goes: nobody is told. */
void ssh_command_drop(SshCommand *command);

#endif
