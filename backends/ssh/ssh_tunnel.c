/* A connection through another host: a stream of that host's connection (direct-tcpip) on one end
 * of a pair of sockets, a session of libssh on the other. Nothing is started for it. */
#include <errno.h>
#include <glib-unix.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/ssh/ssh_link_private.h"

#define PIECE (16 * 1024)
/* Of what the other end has not read yet, before the host in between is no longer listened to. */
#define BACKLOG_MAX (256 * 1024)

typedef struct SshTunnel {
  SshLink *link;      /* whose connection it is */
  SshCommand *stream; /* of link->jump; NULL: it has ended */
  int fd, far_fd;     /* ours, and libssh's until it has it; -1 none */
  guint watch;        /* on ours */
  GIOCondition watched_for;
  gboolean full;       /* of what the stream takes */
  GByteArray *backlog; /* for ours */
  gboolean choking;
} SshTunnel;

static void rewatch(SshTunnel *tunnel);

static void
flush(SshTunnel *tunnel)
{
  GByteArray *backlog = tunnel->backlog;
  gssize n = backlog->len > 0 ? send(tunnel->fd, backlog->data, backlog->len, MSG_NOSIGNAL) : 0;
  if (n > 0)
    g_byte_array_remove_range(backlog, 0, (guint)n);
  gboolean choking = backlog->len > BACKLOG_MAX;
  if (choking != tunnel->choking)
    ssh_link_choke(tunnel->link->jump, choking);
  tunnel->choking = choking;
}

static void
take_up(SshTunnel *tunnel)
{
  char piece[PIECE];
  while (!tunnel->full && tunnel->stream != NULL) {
    gssize n = recv(tunnel->fd, piece, sizeof piece, MSG_PEEK);
    /* An end or an error here is libssh's own: the link ends, and the tunnel with it. */
    if (n <= 0)
      return;
    tunnel->full = !ssh_command_write(tunnel->stream, piece, (gsize)n);
    if (!tunnel->full)
      (void)!recv(tunnel->fd, piece, (gsize)n, 0);
  }
}

static gboolean
on_ready(gint fd, GIOCondition condition, gpointer data)
{
  SshTunnel *tunnel = data;
  (void)fd;
  if ((condition & G_IO_OUT) != 0)
    flush(tunnel);
  if ((condition & G_IO_IN) != 0)
    take_up(tunnel);
  if ((condition & (G_IO_HUP | G_IO_ERR)) != 0) {
    tunnel->watch = 0;
    return G_SOURCE_REMOVE;
  }
  rewatch(tunnel);
  return G_SOURCE_CONTINUE;
}

static void
rewatch(SshTunnel *tunnel)
{
  GIOCondition condition = G_IO_HUP | G_IO_ERR;
  if (!tunnel->full)
    condition |= G_IO_IN;
  if (tunnel->backlog->len > 0)
    condition |= G_IO_OUT;
  if (tunnel->watch != 0 && condition == tunnel->watched_for)
    return;
  if (tunnel->watch != 0)
    g_source_remove(tunnel->watch);
  tunnel->watched_for = condition;
  tunnel->watch = g_unix_fd_add(tunnel->fd, condition, on_ready, tunnel);
}

static void
on_opened(SshCommand *stream, gpointer data)
{
  SshTunnel *tunnel = data;
  int fd = tunnel->far_fd;
  (void)stream;
  tunnel->far_fd = -1;
  rewatch(tunnel);
  ssh_link_reached(tunnel->link, fd);
}

static void
on_bytes(SshCommand *stream, gboolean is_error, const char *bytes, gsize length, gpointer data)
{
  SshTunnel *tunnel = data;
  (void)stream;
  (void)is_error;
  g_byte_array_append(tunnel->backlog, (const guint8 *)bytes, (guint)length);
  flush(tunnel);
  rewatch(tunnel);
}

static void
on_drained(gpointer data)
{
  SshTunnel *tunnel = data;
  tunnel->full = FALSE;
  take_up(tunnel);
  rewatch(tunnel);
}

static void
on_ended(SshCommand *stream, const SshEnd *end, gpointer data)
{
  SshTunnel *tunnel = data;
  (void)stream;
  tunnel->stream = NULL;
  ssh_link_fail(tunnel->link, "through %s: %s", ssh_link_name(tunnel->link->jump), end->text);
}

void
ssh_tunnel_open(SshLink *link)
{
  static const SshCommandCalls calls = {.started = on_opened, .line = on_bytes, .ended = on_ended};
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
    ssh_link_fail(link, "%s", g_strerror(errno));
    return;
  }
  SshTunnel *tunnel = g_new0(SshTunnel, 1);
  *tunnel =
      (SshTunnel){.link = link, .fd = ends[0], .far_fd = ends[1], .backlog = g_byte_array_new()};
  link->tunnel = tunnel;
  tunnel->stream = ssh_command_start_stream(link->jump, link->host->address, link->host->port,
                                            &calls, on_drained, tunnel);
}

void
ssh_tunnel_close(SshLink *link)
{
  SshTunnel *tunnel = g_steal_pointer(&link->tunnel);
  if (tunnel == NULL)
    return;
  ssh_command_forget(tunnel->stream);
  if (tunnel->choking)
    ssh_link_choke(link->jump, FALSE);
  if (tunnel->watch != 0)
    g_source_remove(tunnel->watch);
  close(tunnel->fd);
  if (tunnel->far_fd >= 0)
    close(tunnel->far_fd);
  g_byte_array_unref(tunnel->backlog);
  g_free(tunnel);
}
