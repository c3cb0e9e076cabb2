/* Real sshds on loopback, and the ssh backend under the contract's rules before them.
 *
 * Each has a port, a host key and a list of who may in of its own; nothing of the machine's own
 * configuration is read or written. They end with the test, however it ends.
 */
#ifndef PULT_TESTS_SSHD_LAB_H
#define PULT_TESTS_SSHD_LAB_H

#include <gio/gio.h>

#include "backends/ssh/ssh.h"
#include "tests/contract/backend_check.h"

typedef struct SshdLab SshdLab;

typedef struct {
  guint port;
  GPid pid; /* 0: not running */
  char *key, *config;
} SshdHost;

struct SshdLab {
  char *folder; /* also holds key, key.pub, known_hosts */
  char *user;
  SshdHost *hosts;
  guint n;
  Layout *layout; /* nodes h1 … hN, and what was added */
  JobSet *jobs;
  Backend *backend;
  BackendCheck *check;
  GString *lines;  /* of every line told `h1 out TEXT\n`; not beyond 1 MiB */
  char *last;      /* of them */
  guint64 n_bytes; /* of lines' texts */
  guint n_lines;
  gsize longest;
  GString *links;                                             /* `up NAME: TEXT\n` */
  GHashTable *facts;                                          /* `h1 nfsd` → value */
  void (*samples)(SshdLab *lab, const SamplesEvent *samples); /* NULL: nobody looks */
};

/* NULL: no sshd can run here; a line that says why was printed. */
SshdLab *sshd_lab_new(guint n);
void sshd_lab_free(SshdLab *lab);
void sshd_lab_run(SshdLab *lab, guint host); /* again, after an end */
/* The one that listens. With HARD also those that serve a connection, at once. */
void sshd_lab_end(SshdLab *lab, guint host, gboolean hard);
/* For a child of the test: it ends with it. */
void sshd_lab_die_with_test(gpointer data);
void sshd_lab_reap(GPid pid);
char *sshd_lab_parent(GPid pid); /* its number */
char *sshd_lab_path(const SshdLab *lab, const char *name);

/* Reads a layout: the hosts (of server s1, where REST has one), SETTINGS (lines of the backend's
 * own, each with four blanks before and a newline behind, or ""), what NODES says of each (`h1:
 * {port: 1}`), and REST as it stands; makes the backend and starts it. */
void sshd_lab_open(SshdLab *lab, const char *settings, const char *nodes, const char *rest);
/* FALSE with the error of the constructor. */
gboolean sshd_lab_try(SshdLab *lab, const char *settings, const char *nodes, const char *rest,
                      GError **error);
void sshd_lab_close(SshdLab *lab);

NodeId sshd_lab_node(const SshdLab *lab, const char *name);
/* Of the command line on NODE, with SECONDS to go; the request. */
guint32 sshd_lab_exec(SshdLab *lab, const char *node, const char *command, double seconds);
/* Lets time pass until it is answered; the verdict. */
Verdict sshd_lab_wait(SshdLab *lab, guint32 request, const char *node);
/* That it is VERDICT. */
void sshd_lab_expect(SshdLab *lab, guint32 request, const char *node, Verdict verdict);
/* The same until DONE says so; FALSE after SECONDS. */
gboolean sshd_lab_until(SshdLab *lab, gboolean (*done)(SshdLab *lab, gconstpointer data),
                        gconstpointer data, double seconds);
/* Processes with MARK in their arguments, of all the machine. */
guint sshd_lab_count(const char *mark);
/* So many, or none for 0, are there within SECONDS. */
gboolean sshd_lab_counts(SshdLab *lab, const char *mark, guint n, double seconds);
/* The same of none, without a backend. */
gboolean sshd_lab_gone(const char *mark, double seconds);
/* A port where connections are taken and nothing more happens, until it is closed. */
GSocket *sshd_lab_black_hole(guint *port);
void sshd_lab_write(const SshdLab *lab, const char *name, const char *text);
void sshd_lab_make_key(const SshdLab *lab, const char *name, const char *passphrase);
const char *sshd_lab_text(SshdLab *lab, guint32 request, const char *node);

#endif
