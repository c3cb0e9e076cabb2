/* How one host is reached, as the layout says: read once, before anything connects. */
#ifndef PULT_SSH_HOST_H
#define PULT_SSH_HOST_H

#include <libssh/libssh.h>

#include "backends/setup.h"

/* Private keys by file, each read once. */
typedef struct SshKeyring SshKeyring;

SshKeyring *ssh_keyring_new(void);
void ssh_keyring_free(SshKeyring *keyring);

typedef struct {
  char *address;
  char *user;
  guint port;
  char *shell;
  char *jump; /* as the layout has it; NULL none */
  char *known_hosts;
  gboolean accept_new;
  gboolean agent;
  GPtrArray *keys;       /* of ssh_key, the keyring's */
  char *key_names;       /* for what is told when all are refused */
  ssh_session prototype; /* with what an ssh_config says; NULL: none is read */
  gboolean proxied;      /* that names a command which makes the connection */
  gint64 connect, auth, keep_alive, lease, idle, retry; /* µs */
} SshHost;

/* May ask for a passphrase. */
SshHost *ssh_host_new(const BackendSetup *setup, NodeId node, SshKeyring *keyring, GError **error);
/* The host that WHERE ([USER@]HOST[:PORT]) names, reached as OF is, but not through another. */
SshHost *ssh_host_new_jump(const SshHost *of, const char *where, GError **error);
void ssh_host_free(SshHost *host);
/* A session for one connection there, not yet connected. */
ssh_session ssh_host_session(const SshHost *host, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SshHost, ssh_host_free)

#endif
