#include "backends/vswitch/vswitch_line.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <gio/gio.h>
#include <glib-unix.h>

#include "backends/vswitch/vswitch_ways.h"

#define CHUNK 4096
/* Read in one go, lest a device that floods keeps everybody else waiting. */
#define MAX_DRAIN (64 * 1024)
#define MAX_UNSENT (64 * 1024)
#define HTTPS_TIMEOUT 10000 /* ms; the step's own limit is nearly always less */

struct VswitchLine {
  const Device *device;
  DeviceWay way;
  char *address, *pin;
  VswitchLineHooks hooks;
  gpointer data;
  gboolean open;
  GCancellable *cancellable; /* of all that is under way; NULL: closed */
  guint later;               /* idle source that tells of a serial line, 0 none */
  char *problem;             /* what it tells; NULL: it is open */
  GSocketConnection *connection;
  int fd; /* -1: none */
  guint readable, writable;
  GString *unsent;
  VswitchTelnet *telnet;
  GString *decoded; /* what a Telnet device said, options aside */
};

VswitchLine *
vswitch_line_new(const VswitchPlace *place, const VswitchLineHooks *hooks, gpointer data)
{
  VswitchLine *line = g_new0(VswitchLine, 1);

  line->device = place->device;
  line->way = place->way;
  line->address = g_strdup(place->address);
  line->pin = g_strdup(place->pin);
  line->hooks = *hooks;
  line->data = data;
  line->fd = -1;
  line->unsent = g_string_new(NULL);
  line->decoded = g_string_new(NULL);
  return line;
}

static void
drop_source(guint *source)
{
  if (*source > 0)
    g_source_remove(*source);
  *source = 0;
}

void
vswitch_line_close(VswitchLine *line)
{
  line->open = FALSE;
  if (line->cancellable != NULL)
    g_cancellable_cancel(line->cancellable);
  g_clear_object(&line->cancellable);
  drop_source(&line->later);
  drop_source(&line->readable);
  drop_source(&line->writable);
  g_clear_pointer(&line->problem, g_free);
  g_clear_pointer(&line->telnet, vswitch_telnet_free);
  if (line->connection == NULL && line->fd >= 0)
    close(line->fd);
  g_clear_object(&line->connection);
  line->fd = -1;
  explicit_bzero(line->unsent->str, line->unsent->allocated_len);
  g_string_truncate(line->unsent, 0);
}

void
vswitch_line_free(VswitchLine *line)
{
  if (line == NULL)
    return;
  vswitch_line_close(line);
  g_string_free(line->unsent, TRUE);
  g_string_free(line->decoded, TRUE);
  g_free(line->address);
  g_free(line->pin);
  g_free(line);
}

static void
break_off_unsent(VswitchLine *line, const char *cause, gboolean unsent)
{
  g_autofree char *kept = g_strdup(cause);

  vswitch_line_close(line);
  line->hooks.broke(kept, unsent, line->data);
}

static void
break_off(VswitchLine *line, const char *cause)
{
  break_off_unsent(line, cause, FALSE);
}

/* ---- Bytes in ------------------------------------------------------------------------------ */

static void
keep_decoded(const char *bytes, gsize n, gpointer data)
{
  VswitchLine *line = data;

  g_string_append_len(line->decoded, bytes, (gssize)n);
}

/* Whoever hears may close the line, so what Telnet makes of BYTES is told when it is through. */
static gboolean
take_bytes(VswitchLine *line, const char *bytes, gsize n)
{
  if (line->telnet == NULL) {
    line->hooks.heard(bytes, n, line->data);
    return TRUE;
  }
  if (!vswitch_telnet_receive(line->telnet, bytes, n))
    return FALSE;
  g_autofree char *decoded = g_memdup2(line->decoded->str, line->decoded->len + 1);
  gsize length = line->decoded->len;
  g_string_truncate(line->decoded, 0);
  if (length > 0)
    line->hooks.heard(decoded, length, line->data);
  return TRUE;
}

/* Whoever is told may close the line, and open it again: OPENING tells which one this is. */
static void
read_all(VswitchLine *line)
{
  GCancellable *opening = line->cancellable;
  char bytes[CHUNK];

  for (gsize total = 0; total < MAX_DRAIN && line->cancellable == opening && line->open;) {
    gssize n = read(line->fd, bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    if (n <= 0) {
      break_off(line, n == 0 ? "it closed the connection" : g_strerror(errno));
      return;
    }
    total += (gsize)n;
    if (!take_bytes(line, bytes, (gsize)n)) {
      break_off(line, "what it says is no Telnet");
      return;
    }
  }
}

static gboolean
on_readable(gint fd, GIOCondition condition, gpointer data)
{
  VswitchLine *line = data;
  guint source = line->readable;
  (void)fd;
  (void)condition;

  read_all(line);
  return line->readable == source ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

void
vswitch_line_drain(VswitchLine *line)
{
  if (line->open && line->fd >= 0)
    read_all(line);
}

/* ---- Bytes out ----------------------------------------------------------------------------- */

static gboolean on_writable(gint fd, GIOCondition condition, gpointer data);

static gboolean
send_more(VswitchLine *line)
{
  while (line->unsent->len > 0) {
    gssize n = write(line->fd, line->unsent->str, line->unsent->len);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && errno != EAGAIN)
      return FALSE;
    if (n < 0)
      break;
    g_string_erase(line->unsent, 0, n);
  }
  if (line->unsent->len > 0 && line->writable == 0)
    line->writable = g_unix_fd_add(line->fd, G_IO_OUT | G_IO_ERR | G_IO_HUP, on_writable, line);
  return TRUE;
}

static gboolean
on_writable(gint fd, GIOCondition condition, gpointer data)
{
  VswitchLine *line = data;
  (void)fd;
  (void)condition;

  if (!send_more(line)) {
    line->writable = 0;
    break_off(line, g_strerror(errno));
    return G_SOURCE_REMOVE;
  }
  if (line->unsent->len > 0)
    return G_SOURCE_CONTINUE;
  line->writable = 0;
  return G_SOURCE_REMOVE;
}

/* An error of the write shows when it is read next: nothing is told from here. */
static void
send_bytes(const char *bytes, gsize n, gpointer data)
{
  VswitchLine *line = data;

  if (line->unsent->len + n > MAX_UNSENT)
    return;
  g_string_append_len(line->unsent, bytes, (gssize)n);
  send_more(line);
}

gboolean
vswitch_line_is_writing(const VswitchLine *line)
{
  return line->unsent->len > 0;
}

/* ---- HTTPS --------------------------------------------------------------------------------- */

static void
do_request(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GError *error = NULL;
  (void)source;
  char *reply = vswitch_https_do(data, cancellable, &error);

  if (reply != NULL)
    g_task_return_pointer(task, reply, g_free);
  else
    g_task_return_error(task, error);
}

static void
on_reply(GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *reply = g_task_propagate_pointer(G_TASK(result), &error);
  (void)source;

  /* Closed meanwhile, or gone: nothing of it may be touched. */
  if (g_cancellable_is_cancelled(g_task_get_cancellable(G_TASK(result))))
    return;
  VswitchLine *line = data;
  if (reply != NULL)
    line->hooks.heard(reply, strlen(reply), line->data);
  else
    break_off_unsent(line, error->message, g_error_matches(error, DEVICE_ERROR, VSWITCH_UNSENT));
}

/* BYTES are `GET /path`. */
static void
send_request(VswitchLine *line, const char *bytes, gsize n, const char *const *headers)
{
  g_autofree char *text = g_strndup(bytes, n);
  const char *path = strchr(text, ' ');
  gboolean has_port = strchr(line->address, ':') != NULL;
  VswitchRequest *request = g_new0(VswitchRequest, 1);

  request->post = g_str_has_prefix(text, "POST ");
  request->url = has_port ? g_strdup_printf("https://%s%s", line->address, path + 1)
                          : g_strdup_printf("https://%s:%u%s", line->address,
                                            line->device->port[DEVICE_HTTPS], path + 1);
  request->pin = g_strdup(line->pin);
  request->headers = g_strdupv((char **)headers);
  request->timeout_ms = HTTPS_TIMEOUT;
  GTask *task = g_task_new(NULL, line->cancellable, on_reply, line);
  g_task_set_check_cancellable(task, FALSE);
  g_task_set_task_data(task, request, vswitch_request_free);
  g_task_run_in_thread(task, do_request);
  g_object_unref(task);
}

void
vswitch_line_write(VswitchLine *line, const char *bytes, gsize n, const char *const *headers)
{
  g_assert(line->open);
  if (line->way == DEVICE_HTTPS)
    send_request(line, bytes, n, headers);
  else if (line->telnet != NULL)
    vswitch_telnet_say(line->telnet, bytes, n);
  else
    send_bytes(bytes, n, line);
}

/* ---- Opening ------------------------------------------------------------------------------- */

static void
now_open(VswitchLine *line, int fd)
{
  line->fd = fd;
  line->open = TRUE;
  if (fd >= 0)
    line->readable = g_unix_fd_add(fd, G_IO_IN | G_IO_ERR | G_IO_HUP, on_readable, line);
  if (line->way == DEVICE_TELNET)
    line->telnet = vswitch_telnet_new(keep_decoded, send_bytes, line);
  line->hooks.opened(line->data);
}

/* What an asynchronous call holds: LINE may be gone when it returns. */
typedef struct {
  VswitchLine *line;
  GCancellable *cancellable;
} Opening;

static void
on_connected(GObject *client, GAsyncResult *result, gpointer data)
{
  Opening *opening = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(GSocketConnection) connection =
      g_socket_client_connect_to_host_finish(G_SOCKET_CLIENT(client), result, &error);
  VswitchLine *line = g_cancellable_is_cancelled(opening->cancellable) ? NULL : opening->line;

  g_object_unref(opening->cancellable);
  g_free(opening);
  if (line == NULL)
    return;
  if (connection == NULL) {
    break_off(line, error->message);
    return;
  }
  GSocket *socket = g_socket_connection_get_socket(connection);
  g_socket_set_blocking(socket, FALSE);
  g_socket_set_keepalive(socket, TRUE);
  line->connection = g_steal_pointer(&connection);
  now_open(line, g_socket_get_fd(socket));
}

static void
connect_to(VswitchLine *line)
{
  g_autoptr(GSocketClient) client = g_socket_client_new();
  Opening *opening = g_new0(Opening, 1);

  g_socket_client_set_enable_proxy(client, FALSE);
  opening->line = line;
  opening->cancellable = g_object_ref(line->cancellable);
  g_socket_client_connect_to_host_async(client, line->address,
                                        (guint16)line->device->port[line->way], line->cancellable,
                                        on_connected, opening);
}

static gboolean
tell_opened(gpointer data)
{
  VswitchLine *line = data;
  int fd = line->fd;

  line->later = 0;
  line->fd = -1;
  if (line->problem != NULL)
    break_off(line, line->problem);
  else
    now_open(line, fd);
  return G_SOURCE_REMOVE;
}

void
vswitch_line_open(VswitchLine *line)
{
  g_autoptr(GError) error = NULL;

  g_assert(line->cancellable == NULL);
  line->cancellable = g_cancellable_new();
  if (line->way == DEVICE_TCP || line->way == DEVICE_TELNET) {
    connect_to(line);
    return;
  }
  if (line->way == DEVICE_SERIAL) {
    line->fd = vswitch_serial_open(line->address, line->device, &error);
    if (line->fd < 0)
      line->problem = g_strdup(error->message);
  }
  line->later = g_idle_add(tell_opened, line);
}
