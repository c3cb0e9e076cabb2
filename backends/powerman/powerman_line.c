#include "backends/powerman/powerman_line.h"

#include <string.h>

#include <gio/gio.h>

#define DEFAULT_PORT 10101
#define PROMPT "powerman> "
#define MAX_HELD (64 * 1024) /* bytes of a line that has not ended */
#define MAX_LINES 100000
#define CHUNK 8192

struct PowermanLine {
  char *address;
  GSocketClient *client;
  GSocketConnection *connection; /* NULL: none */
  GCancellable *cancellable;     /* of all that is under way on this connection */
  GString *held;
  GString *unwritten;
  gboolean writing;
  char *command; /* not yet written: the greeting comes first */
  guint n_lines;
  gboolean greeted;  /* powermand has said its version */
  gboolean expanded; /* it tells of every node by itself */
  gboolean sent;
  gboolean reading;
  PowermanSaid said;
  PowermanDone done; /* NULL: idle */
  gpointer data;
};

static void read_more(PowermanLine *line);

PowermanLine *
powerman_line_new(const char *address)
{
  PowermanLine *line = g_new0(PowermanLine, 1);

  line->address = g_strdup(address);
  line->client = g_socket_client_new();
  line->held = g_string_new(NULL);
  line->unwritten = g_string_new(NULL);
  return line;
}

/* Calls that are under way find their cancellable cancelled, and touch nothing. */
static void
hang_up(PowermanLine *line)
{
  if (line->cancellable != NULL)
    g_cancellable_cancel(line->cancellable);
  g_clear_object(&line->cancellable);
  if (line->connection != NULL)
    g_io_stream_close_async(G_IO_STREAM(line->connection), G_PRIORITY_DEFAULT, NULL, NULL, NULL);
  g_clear_object(&line->connection);
  g_string_truncate(line->held, 0);
  g_string_truncate(line->unwritten, 0);
  line->greeted = line->expanded = line->reading = line->writing = FALSE;
}

void
powerman_line_free(PowermanLine *line)
{
  if (line == NULL)
    return;
  hang_up(line);
  g_object_unref(line->client);
  g_string_free(line->held, TRUE);
  g_string_free(line->unwritten, TRUE);
  g_free(line->command);
  g_free(line->address);
  g_free(line);
}

gboolean
powerman_line_is_busy(const PowermanLine *line)
{
  return line->done != NULL;
}

void
powerman_line_drop(PowermanLine *line)
{
  line->done = NULL;
  g_clear_pointer(&line->command, g_free);
  hang_up(line);
}

static void
finish(PowermanLine *line, guint code, const char *text)
{
  PowermanDone done = line->done;
  gboolean sent = line->sent;

  if (code == 0)
    hang_up(line);
  line->done = NULL;
  g_clear_pointer(&line->command, g_free);
  if (done != NULL)
    done(code, text, sent, line->data);
}

static void
fail(PowermanLine *line, const char *what)
{
  g_autofree char *text = g_strdup_printf("powermand at %s: %s", line->address, what);

  finish(line, 0, text);
}

/* ---- Writing ------------------------------------------------------------------------------- */

/* What was asked for in this connection's time: LINE may have none such any more. */
typedef struct {
  PowermanLine *line;
  GCancellable *cancellable;
  char *text;
} Call;

static Call *
call_new(PowermanLine *line)
{
  Call *call = g_new0(Call, 1);

  call->line = line;
  call->cancellable = g_object_ref(line->cancellable);
  return call;
}

/* NULL: that connection is over, and the line perhaps as well. */
static PowermanLine *
call_end(Call *call)
{
  PowermanLine *line = g_cancellable_is_cancelled(call->cancellable) ? NULL : call->line;

  g_object_unref(call->cancellable);
  g_free(call->text);
  g_free(call);
  return line;
}

static void write_more(PowermanLine *line);

static void
on_written(GObject *stream, GAsyncResult *result, gpointer data)
{
  g_autoptr(GError) error = NULL;
  gboolean good = g_output_stream_write_all_finish(G_OUTPUT_STREAM(stream), result, NULL, &error);
  PowermanLine *line = call_end(data);

  if (line == NULL)
    return;
  line->writing = FALSE;
  if (good)
    write_more(line);
  else
    fail(line, error->message);
}

/* An answer may be read before the loop has told that its question was written. */
static void
write_more(PowermanLine *line)
{
  if (line->writing || line->unwritten->len == 0)
    return;
  Call *call = call_new(line);
  gsize length = line->unwritten->len;
  call->text = g_strndup(line->unwritten->str, length);
  g_string_truncate(line->unwritten, 0);
  line->writing = TRUE;
  g_output_stream_write_all_async(g_io_stream_get_output_stream(G_IO_STREAM(line->connection)),
                                  call->text, length, G_PRIORITY_DEFAULT, line->cancellable,
                                  on_written, call);
}

static void
write_line(PowermanLine *line, const char *command)
{
  g_string_append_printf(line->unwritten, "%s\r\n", command);
  write_more(line);
}

static void
write_command(PowermanLine *line)
{
  line->sent = TRUE;
  line->n_lines = 0;
  write_line(line, line->command);
}

/* ---- Reading ------------------------------------------------------------------------------- */

static void
take_line(PowermanLine *line, const char *text)
{
  while (g_str_has_prefix(text, PROMPT))
    text += strlen(PROMPT);
  char *rest;
  guint64 code = g_ascii_strtoull(text, &rest, 10);
  gboolean numbered = rest == text + 3 && (*rest == ' ' || *rest == '\0');

  if (!line->greeted) {
    if (!numbered || code != 1) {
      fail(line, "greets as no powermand does");
      return;
    }
    line->greeted = TRUE;
    write_line(line, "exprange");
  } else if (!numbered) {
    return; /* telemetry of others, or nothing we know */
  } else if (!line->expanded) {
    line->expanded = TRUE;
    if (line->command != NULL)
      write_command(line);
  } else if (line->done != NULL && code >= 300) {
    line->said((guint)code, g_strchug(rest), line->data);
  } else if (line->done != NULL) {
    finish(line, (guint)code, g_strchug(rest));
  }
}

static void
take_bytes(PowermanLine *line, const char *bytes, gsize n)
{
  GCancellable *mine = line->cancellable;

  g_string_append_len(line->held, bytes, (gssize)n);
  char *end;
  while (line->cancellable == mine && (end = memchr(line->held->str, '\n', line->held->len))) {
    gsize length = (gsize)(end - line->held->str);
    g_autofree char *text = g_strndup(line->held->str, length);
    g_string_erase(line->held, 0, (gssize)length + 1);
    g_strchomp(text);
    if (++line->n_lines > MAX_LINES)
      fail(line, "does not come to an end");
    else
      take_line(line, text);
  }
  if (line->cancellable == mine && line->held->len > MAX_HELD)
    fail(line, "sends a line without end");
}

static void
on_bytes(GObject *stream, GAsyncResult *result, gpointer data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes =
      g_input_stream_read_bytes_finish(G_INPUT_STREAM(stream), result, &error);
  PowermanLine *line = call_end(data);
  if (line == NULL)
    return;
  line->reading = FALSE;
  gsize n = 0;
  const char *text = bytes != NULL ? g_bytes_get_data(bytes, &n) : NULL;
  if (n == 0) {
    fail(line, error != NULL ? error->message : "ended the connection");
    return;
  }
  take_bytes(line, text, n);
  if (line->connection != NULL)
    read_more(line);
}

static void
read_more(PowermanLine *line)
{
  if (line->reading)
    return;
  line->reading = TRUE;
  g_input_stream_read_bytes_async(g_io_stream_get_input_stream(G_IO_STREAM(line->connection)),
                                  CHUNK, G_PRIORITY_DEFAULT, line->cancellable, on_bytes,
                                  call_new(line));
}

/* ---- Connecting ---------------------------------------------------------------------------- */

static void
on_connected(GObject *client, GAsyncResult *result, gpointer data)
{
  g_autoptr(GError) error = NULL;
  GSocketConnection *connection =
      g_socket_client_connect_to_host_finish(G_SOCKET_CLIENT(client), result, &error);
  PowermanLine *line = call_end(data);

  if (line == NULL) {
    g_clear_object(&connection);
    return;
  }
  if (connection == NULL) {
    fail(line, error->message);
    return;
  }
  line->connection = connection;
  read_more(line);
}

void
powerman_line_send(PowermanLine *line, const char *command, PowermanSaid said, PowermanDone done,
                   gpointer data)
{
  g_assert(line->done == NULL);
  line->said = said;
  line->done = done;
  line->data = data;
  line->sent = FALSE;
  line->command = g_strdup(command);
  if (line->connection != NULL) {
    if (line->expanded)
      write_command(line);
    return;
  }
  if (line->cancellable != NULL)
    return; /* on its way */
  line->cancellable = g_cancellable_new();
  g_socket_client_connect_to_host_async(line->client, line->address, DEFAULT_PORT,
                                        line->cancellable, on_connected, call_new(line));
}
