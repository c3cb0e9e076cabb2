#include "backends/log/log_syslog.h"

#include <errno.h>
#include <glib-unix.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/log/log_file.h"

/* ms between attempts at a port that cannot be had. */
#define AGAIN 5000
/* Of what waits while something else is done; the kernel may give less. */
#define RECEIVE_BUFFER (1024 * 1024)
/* Datagrams lost while a flood goes on, before it is said. */
#define LOST_AT_LEAST 1000000

struct LogSyslog {
  char *where;
  const LogSyslogCalls *calls;
  gpointer data;
  int fd;                         /* -1 while it cannot listen */
  guint readable;                 /* source; 0 while a window's burst is used up */
  guint timer;                    /* source: of the window, or of the next attempt */
  guint left;                     /* datagrams, in this window */
  gboolean told;                  /* why it cannot listen */
  guint32 lost;                   /* datagrams, as the kernel counts */
  guint32 lost_before, lost_told; /* of these by the last window's end, and when it was said last */
};

/* ---- Where ------------------------------------------------------------------------------------
 */

/* TEXT is all digits; 0: it is no port. */
static guint16
parse_port(const char *text)
{
  guint64 port = 0;
  return g_ascii_string_to_unsigned(text, 10, 1, 65535, &port, NULL) ? (guint16)port : 0;
}

GSocketAddress *
log_syslog_where(const char *where, GError **error)
{
  const char *colon = strrchr(where, ':');
  guint16 port = parse_port(colon != NULL ? colon + 1 : where);
  g_autofree char *host = colon != NULL ? g_strndup(where, (gsize)(colon - where)) : g_strdup("::");
  gsize length = strlen(host);
  gboolean bracketed = length > 2 && host[0] == '[' && host[length - 1] == ']';
  if (bracketed) {
    host[length - 1] = '\0';
    memmove(host, host + 1, length - 1);
  }
  g_autoptr(GInetAddress) address = g_inet_address_new_from_string(host);
  gboolean is_6 = address != NULL && g_inet_address_get_family(address) == G_SOCKET_FAMILY_IPV6;
  if (port == 0 || address == NULL || (colon != NULL && is_6 != bracketed)) {
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                "%s is no PORT, ADDRESS:PORT or [IPV6-ADDRESS]:PORT", where);
    return NULL;
  }
  return g_inet_socket_address_new(address, port);
}

/* ---- Datagrams --------------------------------------------------------------------------------
 */

static char *
sender_of(struct sockaddr_storage *from, socklen_t length)
{
  g_autoptr(GSocketAddress) address = g_socket_address_new_from_native(from, length);
  if (!G_IS_INET_SOCKET_ADDRESS(address))
    return NULL;
  GInetAddress *inet = g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(address));
  const guint8 *bytes = g_inet_address_to_bytes(inet);
  static const guint8 mapped[12] = {[10] = 0xff, [11] = 0xff};
  if (g_inet_address_get_family(inet) == G_SOCKET_FAMILY_IPV6 &&
      memcmp(bytes, mapped, sizeof mapped) == 0) {
    g_autoptr(GInetAddress) plain =
        g_inet_address_new_from_bytes(bytes + sizeof mapped, G_SOCKET_FAMILY_IPV4);
    return g_inet_address_to_string(plain);
  }
  return g_inet_address_to_string(inet);
}

static void
give(const LogSyslog *syslog, const char *sender, char *text, gsize length)
{
  while (length > 0 && strchr("\r\n", text[length - 1]) != NULL) /* a NUL as well */
    length--;
  text[length] = '\0';
  for (gsize i = 0; i < length; i++)
    if (text[i] == '\0' || text[i] == '\n')
      text[i] = ' ';
  if (length > 0)
    syslog->calls->line(sender, text, length, syslog->data);
}

/* How many were lost stands beside a datagram that was not. */
static void
note_lost(LogSyslog *syslog, struct msghdr *message)
{
  for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL;
       part = CMSG_NXTHDR(message, part))
    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SO_RXQ_OVFL)
      memcpy(&syslog->lost, CMSG_DATA(part), sizeof syslog->lost);
}

/* FALSE: there is none. */
static gboolean
take_one(LogSyslog *syslog)
{
  char text[LOG_FILE_LINE + 1];
  union {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(guint32))];
  } control;
  struct sockaddr_storage from;
  struct iovec bytes = {text, LOG_FILE_LINE};
  struct msghdr message = {.msg_name = &from,
                           .msg_namelen = sizeof from,
                           .msg_iov = &bytes,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control};
  ssize_t n = recvmsg(syslog->fd, &message, MSG_DONTWAIT);
  if (n < 0)
    return errno == EINTR;
  note_lost(syslog, &message);
  g_autofree char *sender = sender_of(&from, message.msg_namelen);
  if (sender != NULL && (message.msg_flags & MSG_TRUNC) == 0)
    give(syslog, sender, text, (gsize)n);
  return TRUE;
}

static gboolean on_readable(int fd, GIOCondition condition, gpointer data);

/* When a flood is over, or has gone on for long. TRUE: it is not, and is to be looked at again. */
static gboolean
tell_lost(LogSyslog *syslog)
{
  guint32 untold = syslog->lost - syslog->lost_told;
  gboolean grew = syslog->lost != syslog->lost_before;
  syslog->lost_before = syslog->lost;
  if (untold == 0 || (grew && untold < LOST_AT_LEAST))
    return untold > 0;
  g_autofree char *text = g_strdup_printf(
      "syslog at %s: %u datagrams were lost, more come than are read", syslog->where, untold);
  syslog->lost_told = syslog->lost;
  syslog->calls->trouble(text, syslog->data);
  return FALSE;
}

static gboolean
on_window(gpointer data)
{
  LogSyslog *syslog = data;
  syslog->timer = tell_lost(syslog) ? g_timeout_add(LOG_SYSLOG_WINDOW, on_window, syslog) : 0;
  syslog->left = LOG_SYSLOG_BURST;
  if (syslog->readable == 0)
    syslog->readable = g_unix_fd_add(syslog->fd, G_IO_IN, on_readable, syslog);
  return G_SOURCE_REMOVE;
}

static gboolean
on_readable(int fd, GIOCondition condition, gpointer data)
{
  LogSyslog *syslog = data;
  (void)fd;
  (void)condition;
  if (syslog->timer == 0)
    syslog->timer = g_timeout_add(LOG_SYSLOG_WINDOW, on_window, syslog);
  /* Few at once: the screen's turn comes between. */
  for (guint i = 0; i < 256 && syslog->left > 0 && take_one(syslog); i++)
    syslog->left--;
  if (syslog->left > 0)
    return G_SOURCE_CONTINUE;
  syslog->readable = 0;
  return G_SOURCE_REMOVE;
}

/* ---- Listening --------------------------------------------------------------------------------
 */

/* 0, or an errno. */
static int
listen_at(LogSyslog *syslog, GSocketAddress *address)
{
  struct sockaddr_storage native;
  gssize length = g_socket_address_get_native_size(address);
  if (!g_socket_address_to_native(address, &native, sizeof native, NULL))
    return EINVAL;
  int fd = socket(native.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return errno;
  int on = 1, room = RECEIVE_BUFFER, off = 0;
  setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  if (native.ss_family == AF_INET6)
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (bind(fd, (struct sockaddr *)&native, (socklen_t)length) != 0) {
    int cause = errno;
    close(fd);
    return cause;
  }
  syslog->fd = fd;
  return 0;
}

/* Of all addresses, where there is no IPv6. */
static GSocketAddress *
without_6(GSocketAddress *address)
{
  GInetSocketAddress *inet = G_INET_SOCKET_ADDRESS(address);
  if (!g_inet_address_get_is_any(g_inet_socket_address_get_address(inet)))
    return g_object_ref(address);
  g_autoptr(GInetAddress) any = g_inet_address_new_any(G_SOCKET_FAMILY_IPV4);
  return g_inet_socket_address_new(any, g_inet_socket_address_get_port(inet));
}

static gboolean
on_attempt(gpointer data)
{
  LogSyslog *syslog = data;
  g_autoptr(GSocketAddress) address = log_syslog_where(syslog->where, NULL);
  int cause = listen_at(syslog, address);
  if (cause == EAFNOSUPPORT || cause == EADDRNOTAVAIL) {
    g_autoptr(GSocketAddress) other = without_6(address);
    cause = listen_at(syslog, other);
  }
  if (cause == 0) {
    syslog->timer = 0;
    on_window(syslog);
    return G_SOURCE_REMOVE;
  }
  if (!syslog->told) {
    const char *why =
        cause == EACCES ? " (a port under 1024 is the system's: let it be sent to another)" : "";
    g_autofree char *text =
        g_strdup_printf("cannot listen for syslog at %s: %s%s; it is tried again", syslog->where,
                        g_strerror(cause), why);
    syslog->told = TRUE;
    syslog->calls->trouble(text, syslog->data);
  }
  syslog->timer = g_timeout_add(AGAIN, on_attempt, syslog);
  return G_SOURCE_REMOVE;
}

LogSyslog *
log_syslog_new(const char *where, const LogSyslogCalls *calls, gpointer data)
{
  LogSyslog *syslog = g_new0(LogSyslog, 1);
  syslog->where = g_strdup(where);
  syslog->calls = calls;
  syslog->data = data;
  syslog->fd = -1;
  syslog->timer = g_timeout_add(0, on_attempt, syslog);
  return syslog;
}

void
log_syslog_free(LogSyslog *syslog)
{
  if (syslog == NULL)
    return;
  if (syslog->timer != 0)
    g_source_remove(syslog->timer);
  if (syslog->readable != 0)
    g_source_remove(syslog->readable);
  if (syslog->fd >= 0)
    close(syslog->fd);
  g_free(syslog->where);
  g_free(syslog);
}

const char *
log_syslog_name(const LogSyslog *syslog)
{
  return syslog->where;
}
