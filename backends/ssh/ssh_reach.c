#include <errno.h>
#include <fcntl.h>
#include <gio/gnetworking.h>

#include "backends/ssh/ssh_link_private.h"

static char *
why_not(const GError *error)
{
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED))
    return g_strdup("connection refused");
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE))
    return g_strdup("no way to the host");
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE))
    return g_strdup("no way to its network");
  if (error->domain == G_RESOLVER_ERROR)
    return g_strdup("no address is known for that name");
  return g_strdup(error->message);
}

static void
on_reached(GObject *client, GAsyncResult *result, gpointer data)
{
  SshLink *link = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(GSocketConnection) connection =
      g_socket_client_connect_to_host_finish(G_SOCKET_CLIENT(client), result, &error);
  /* Cancelled: the link may be gone, or reach out anew. */
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  g_clear_object(&link->reaching);
  if (connection == NULL) {
    g_autofree char *why = why_not(error);
    ssh_link_fail(link, "%s port %u: %s", link->host->address, link->host->port, why);
    return;
  }
  /* The connection closes its own. */
  int fd = fcntl(g_socket_get_fd(g_socket_connection_get_socket(connection)), F_DUPFD_CLOEXEC, 3);
  if (fd < 0)
    ssh_link_fail(link, "%s", g_strerror(errno));
  else
    ssh_link_reached(link, fd);
}

void
ssh_reach(SshLink *link)
{
  if (link->host->proxied) {
    ssh_link_reached(link, -1);
    return;
  }
  if (link->jump != NULL) {
    ssh_tunnel_open(link);
    return;
  }
  g_autoptr(GSocketClient) client = g_socket_client_new();
  g_socket_client_set_enable_proxy(client, FALSE);
  link->reaching = g_cancellable_new();
  g_socket_client_connect_to_host_async(client, link->host->address, (guint16)link->host->port,
                                        link->reaching, on_reached, link);
}

void
ssh_reach_cancel(SshLink *link)
{
  if (link->reaching != NULL)
    g_cancellable_cancel(link->reaching);
  g_clear_object(&link->reaching);
}
