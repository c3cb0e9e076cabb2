#include "backends/ssh/ssh.h"

#include <string.h>

#include "backends/module.h"
#include "backends/ssh/ssh_job.h"
#include "backends/ssh/ssh_log.h"
#include "backends/ssh/ssh_meter.h"
#include "backends/ssh/ssh_private.h"

void
ssh_post(SshBackend *ssh, const Event *event)
{
  ssh->base.post(event, ssh->base.post_data);
}

SshLink *
ssh_link_of(SshBackend *ssh, NodeId node)
{
  g_assert(node < ssh->layout->n_nodes);
  if (ssh->links[node] != NULL || ssh->server == NODE_NONE)
    return ssh->links[node];
  return ssh->links[ssh->server];
}

static gboolean
on_started(gpointer data)
{
  SshBackend *ssh = data;
  ssh->starting = 0;
  Event event = {.kind = EVENT_LINK,
                 .link = {.name = ssh->base.name,
                          .up = TRUE,
                          .text = "hosts are connected to as "
                                  "they are needed"}};
  ssh_post(ssh, &event);
  return G_SOURCE_REMOVE;
}

static void
ssh_start(Backend *backend, gint64 now)
{
  SshBackend *ssh = (SshBackend *)backend;
  (void)now;
  ssh->starting = g_idle_add_full(G_PRIORITY_DEFAULT, on_started, ssh, NULL);
}

static void
begin_unsupported(SshRequest *request)
{
  for (guint i = 0; i < request->n_targets; i++)
    ssh_target_result(&request->targets[i], VERDICT_UNSUPPORTED, "ssh cannot do %s",
                      operation_name(request->operation));
}

static const SshOperation unsupported = {.begin = begin_unsupported};

static const SshOperation *const operations[OP_N] = {
    [OP_STATUS] = &ssh_status_operation,   [OP_OFF] = &ssh_power_operation,
    [OP_RESET] = &ssh_power_operation,     [OP_BOOT_DEVICE] = &ssh_device_operation,
    [OP_EXEC] = &ssh_shell_operation,      [OP_SIGNAL] = &ssh_signal_operation,
    [OP_GET] = &ssh_property_operation,    [OP_SET] = &ssh_property_operation,
    [OP_MESSAGE] = &ssh_message_operation, [OP_WATCH] = &ssh_meter_operation,
};

/* NULL when it was not given. */
static const char *
argument(const RequestEvent *event, const char *key)
{
  for (guint i = 0; i < event->n_arguments; i++)
    if (strcmp(event->arguments[i].key, key) == 0)
      return event->arguments[i].value;
  return NULL;
}

static const SshOperation *
operation_of(const RequestEvent *event)
{
  const char *what = argument(event, "what"), *path = argument(event, "path");
  if ((event->operation == OP_GET || event->operation == OP_SET) && path != NULL &&
      g_str_has_suffix(path, ".pxe"))
    return argument(event, "once") != NULL ? &ssh_once_operation : &ssh_menu_operation;
  if (event->operation == OP_EXEC && argument(event, "job") != NULL)
    return &ssh_job_operation;
  if (event->operation == OP_WATCH && what != NULL)
    return strcmp(what, "log") == 0 ? &ssh_log_operation : &unsupported;
  return operations[event->operation] != NULL ? operations[event->operation] : &unsupported;
}

static void
ssh_submit(Backend *backend, gint64 now, const RequestEvent *event)
{
  if (event->n_nodes > 0)
    ssh_request_add((SshBackend *)backend, now, event, operation_of(event));
}

static void
ssh_cancel(Backend *backend, gint64 now, guint32 request)
{
  (void)now;
  ssh_request_cancel((SshBackend *)backend, request);
}

static void
ssh_backend_free(Backend *backend)
{
  SshBackend *ssh = (SshBackend *)backend;
  if (ssh->starting != 0)
    g_source_remove(ssh->starting);
  if (ssh->requests != NULL)
    g_ptr_array_unref(ssh->requests);
  ssh_once_free(ssh->once);
  for (NodeId node = 0; node < ssh->layout->n_nodes; node++)
    ssh_link_free(ssh->links[node]);
  if (ssh->jumps != NULL)
    g_ptr_array_unref(ssh->jumps);
  g_free(ssh->links);
  g_free(ssh->kexec);
  ssh_keyring_free(ssh->keyring);
  g_free(ssh);
}

static const BackendClass ssh_class = {
    .name = "ssh",
    .operations = 1 << OP_STATUS | 1 << OP_OFF | 1 << OP_RESET | 1 << OP_BOOT_DEVICE |
                  1 << OP_EXEC | 1 << OP_SIGNAL | 1 << OP_GET | 1 << OP_SET | 1 << OP_MESSAGE |
                  1 << OP_WATCH,
    .start = ssh_start,
    .submit = ssh_submit,
    .cancel = ssh_cancel,
    .free = ssh_backend_free,
};

static void
free_link(gpointer link)
{
  ssh_link_free(link);
}

/* One connection to a jump host, whoever goes through it. */
static gboolean
take_jump(SshBackend *ssh, SshLink *link, GError **error)
{
  const char *where = link->host->jump;
  if (where == NULL)
    return TRUE;
  for (guint i = 0; i < ssh->jumps->len && link->jump == NULL; i++)
    if (strcmp(ssh_link_name(ssh->jumps->pdata[i]), where) == 0)
      link->jump = ssh->jumps->pdata[i];
  if (link->jump != NULL)
    return TRUE;
  SshHost *host = ssh_host_new_jump(link->host, where, error);
  if (host == NULL)
    return FALSE;
  link->jump = ssh_link_new(ssh, NODE_NONE, where, host);
  g_ptr_array_add(ssh->jumps, link->jump);
  return TRUE;
}

static gboolean
make_link(SshBackend *ssh, const BackendSetup *setup, NodeId node, GError **error)
{
  SshHost *host = ssh_host_new(setup, node, ssh->keyring, error);
  if (host == NULL)
    return FALSE;
  ssh->links[node] = ssh_link_new(ssh, node, setup->layout->nodes[node].name, host);
  return take_jump(ssh, ssh->links[node], error);
}

static gboolean
make_links(SshBackend *ssh, const BackendSetup *setup, GError **error)
{
  for (NodeId node = 0; node < setup->layout->n_nodes; node++) {
    if (!setup_reaches(setup, node))
      continue;
    if (!ssh_log_check(setup, node, error))
      return FALSE;
    if (!make_link(ssh, setup, node, error)) {
      g_prefix_error(error, "%s: %s: ", setup->name, setup->layout->nodes[node].name);
      return FALSE;
    }
  }
  return TRUE;
}

/* The one core lets answer for switches: the first client's, else the first. */
static NodeId
server_of(const Layout *layout)
{
  NodeId server = NODE_NONE;
  for (NodeId node = 0; node < layout->n_nodes; node++) {
    const LayoutNode *named = &layout->nodes[node];
    if (named->kind == NODE_CLIENT && named->server != NODE_NONE)
      return named->server;
    if (named->as_server != NULL && server == NODE_NONE)
      server = node;
  }
  return server;
}

Backend *
ssh_backend_new(const BackendSetup *setup, GError **error)
{
  SshBackend *ssh = g_new0(SshBackend, 1);
  ssh->base = (Backend){&ssh_class, setup->name, setup->post, setup->post_data};
  ssh->layout = setup->layout;
  ssh->settings = setup->settings;
  ssh->jobs = setup->jobs;
  ssh->links = g_new0(SshLink *, setup->layout->n_nodes);
  ssh->kexec = g_new0(gboolean, setup->layout->n_nodes);
  ssh->server = server_of(setup->layout);
  ssh->jumps = g_ptr_array_new_with_free_func(free_link);
  ssh->keyring = ssh_keyring_new();
  ssh->requests = ssh_requests_new();
  ssh->gate.max = layout_setting_count(setup->layout, setup->settings, NODE_NONE, "handshakes");
  if (make_links(ssh, setup, error))
    return &ssh->base;
  ssh_backend_free(&ssh->base);
  return NULL;
}

BACKEND_MODULE(ssh, ssh_backend_new);
