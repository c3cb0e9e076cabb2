#include "backends/proc/proc_socket.h"

#include "backends/proc/proc_scan.h"
#include "model/layout.h"

#include <stdlib.h>

void
proc_sockets_init(ProcSockets *sockets)
{
  *sockets = (ProcSockets){.sockets = g_array_new(FALSE, FALSE, sizeof(ProcSocket))};
}

void
proc_sockets_clear(ProcSockets *sockets)
{
  g_clear_pointer(&sockets->sockets, g_array_unref);
}

void
proc_sockets_begin(ProcSockets *sockets)
{
  g_array_set_size(sockets->sockets, 0);
  sockets->at_other = FALSE;
}

/* `10.0.0.1:2049`, `10.0.0.1%eth0:2049`, `[::ffff:10.0.0.1]:2049`. */
static gboolean
parse_end(const char *word, gsize length, guint32 *ip, guint16 *port)
{
  static const char mapped[] = "[::ffff:";
  char text[64];
  guint64 number;

  if (length >= sizeof text)
    return FALSE;
  memcpy(text, word, length);
  text[length] = '\0';
  char *colon = strrchr(text, ':'), *address = text;
  const char *at = colon ? colon + 1 : text;
  if (!colon || !proc_take_number(&at, &number) || *at || number > G_MAXUINT16)
    return FALSE;
  *colon = '\0';
  if (g_str_has_prefix(text, mapped)) {
    address += strlen(mapped);
    address[strcspn(address, "]")] = '\0';
  }
  address[strcspn(address, "%")] = '\0';
  *port = (guint16)number;
  return ip_parse(address, ip);
}

/* Its last two words but for `users:(…)` and the like; before them may stand the state, and the
 * two queues. */
static gboolean
parse_addresses(const char *line, ProcSocket *socket)
{
  guint32 ip[2];
  guint16 port[2];
  guint n = 0;

  for (const char *at = line; *at && n < 2;) {
    at += strspn(at, " \t");
    gsize length = strcspn(at, " \t");
    if (parse_end(at, length, &ip[n], &port[n]))
      n++;
    else if (n == 1)
      return FALSE;
    at += length;
  }
  if (n < 2)
    return FALSE;
  *socket = (ProcSocket){.local = ip[0],
                         .peer = ip[1],
                         .local_port = port[0],
                         .peer_port = port[1],
                         .rtt = -1,
                         .congestion = -1};
  return TRUE;
}

static void
parse_figure(ProcSocket *socket, const char *word)
{
  const char *rest;
  guint64 value;

  if ((rest = proc_after(word, "bytes_acked:")) != NULL) {
    socket->counts = proc_take_number(&rest, &socket->acked);
  } else if ((rest = proc_after(word, "bytes_received:")) != NULL) {
    proc_take_number(&rest, &socket->received);
  } else if ((rest = proc_after(word, "retrans:")) != NULL) { /* now/ever */
    rest += strcspn(rest, "/");
    if (*rest == '/' && (rest++, TRUE))
      proc_take_number(&rest, &socket->retrans);
  } else if ((rest = proc_after(word, "cwnd:")) != NULL) {
    if (proc_take_number(&rest, &value) && value <= G_MAXINT32)
      socket->congestion = (gint64)value;
  } else if ((rest = proc_after(word, "rtt:")) != NULL && g_ascii_isdigit(*rest)) {
    double rtt = g_ascii_strtod(rest, NULL); /* mean/deviation */
    if (rtt >= 0 && rtt < 1e9)
      socket->rtt = rtt;
  }
}

static void
parse_figures(ProcSocket *socket, const char *line)
{
  g_auto(GStrv) words = g_strsplit_set(line, " \t", -1);

  for (guint i = 0; words[i]; i++)
    parse_figure(socket, words[i]);
}

void
proc_sockets_line(ProcSockets *sockets, const char *line)
{
  GArray *all = sockets->sockets;
  ProcSocket socket;

  if (*line == ' ' || *line == '\t') {
    if (!sockets->at_other && all->len)
      parse_figures(&g_array_index(all, ProcSocket, all->len - 1), line);
    return;
  }
  sockets->at_other = all->len == PROC_SOCKETS_MAX || !parse_addresses(line, &socket);
  if (!sockets->at_other)
    g_array_append_val(all, socket);
}
