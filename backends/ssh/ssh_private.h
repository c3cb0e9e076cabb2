/* What the files of this folder share of the backend itself. */
#ifndef PULT_SSH_PRIVATE_H
#define PULT_SSH_PRIVATE_H

#include "backends/setup.h"
#include "backends/ssh/ssh_link_private.h"
#include "backends/ssh/ssh_once.h"
#include "backends/ssh/ssh_request.h"

struct SshBackend {
  Backend base;
  const Layout *layout;
  const LayoutBackend *settings;
  const JobSet *jobs;
  SshLink **links;     /* by node; NULL where the layout does not name this backend */
  GPtrArray *jumps;    /* SshLink of the hosts that others are reached through */
  NodeId server;       /* for what has none: switches' links are set from there */
  GPtrArray *requests; /* of SshRequest */
  gboolean *kexec;     /* by node: its next reset is one */
  SshOnce *once;       /* NULL: there was no boot-once file */
  SshKeyring *keyring;
  SshGate gate;
  guint starting; /* `link up` is to be posted */
};

GPtrArray *ssh_requests_new(void);
/* CLASS outlives it. */
void ssh_request_add(SshBackend *ssh, gint64 now, const RequestEvent *event,
                     const SshOperation *class);
void ssh_request_cancel(SshBackend *ssh, guint32 id);

/* The operations. ssh_shell_operation is OP_EXEC of a command line (argument `command`). */
extern const SshOperation ssh_shell_operation;
extern const SshOperation ssh_signal_operation;
extern const SshOperation ssh_status_operation;
extern const SshOperation ssh_property_operation; /* get, set */
extern const SshOperation ssh_menu_operation;     /* the same of the boot server's menu */
extern const SshOperation ssh_power_operation;    /* off, reset, by kexec as well */
extern const SshOperation ssh_device_operation;
extern const SshOperation ssh_message_operation;

/* EVENT's t is set by who receives it. */
void ssh_post(SshBackend *ssh, const Event *event);

#endif
