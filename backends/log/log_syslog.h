/* Syslog over UDP: what machines send to a port of this one.
 *
 * A datagram is a line, whose head model/log_line.h reads (RFC 3164, RFC 5424, the kernel's
 * netconsole); a newline or NUL within is a blank, so that nobody's message makes two. One of more
 * than LOG_FILE_LINE bytes is left out. Of a flood LOG_SYSLOG_BURST datagrams are taken in each
 * LOG_SYSLOG_WINDOW, and the kernel leaves out the rest.
 *
 * Threading: the default main context's thread.
 */
#ifndef PULT_LOG_SYSLOG_H
#define PULT_LOG_SYSLOG_H

#include <gio/gio.h>

#define LOG_SYSLOG_WINDOW 100 /* ms */
#define LOG_SYSLOG_BURST 4096

typedef struct LogSyslog LogSyslog;

typedef struct {
  /* SENDER is an address as g_inet_address_to_string() writes it; an IPv4 one is never written as
   * IPv6. TEXT has LENGTH bytes, no NUL or newline among them, and a NUL behind. */
  void (*line)(const char *sender, const char *text, gsize length, gpointer data);
  /* It cannot listen, or lost what was sent; said when it begins, not again and again. */
  void (*trouble)(const char *what, gpointer data);
} LogSyslogCalls;

/* WHERE is `PORT` (of all addresses, IPv6 and IPv4) or `ADDRESS:PORT`, an IPv6 one in brackets.
 * NULL with an error that says what is wrong with it. */
GSocketAddress *log_syslog_where(const char *where, GError **error);

/* Listens as soon as it can, and tries again while it cannot. Nothing is called before it returns;
 * WHERE is as above and right, CALLS outlives it. */
LogSyslog *log_syslog_new(const char *where, const LogSyslogCalls *calls, gpointer data);
/* Takes NULL. */
void log_syslog_free(LogSyslog *syslog);
const char *log_syslog_name(const LogSyslog *syslog); /* WHERE */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LogSyslog, log_syslog_free)

#endif
