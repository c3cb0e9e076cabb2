#include "backends/probe/probe_ask.h"

#include <gio/gio.h>
#include <string.h>

#define ANSWER_MAX 1024

struct ProbeAsk {
  ProbeKind kind;
  void (*done)(gboolean answered, gpointer data); /* NULL: dropped */
  gpointer data;
  GCancellable *cancellable;
  guint deadline; /* source */
  GSocketConnection *connection;
  char answer[ANSWER_MAX];
  gsize length;
};

/* ---- What is said, and what makes an answer ----------------------------------------------------
 */

/* MS-RDPBCGR 2.2.1.1, with any security offered. */
static const guint8 rdp_request[] = {3, 0, 0, 19, 14, 0xe0, 0, 0, 0, 0,
                                     0, 1, 0, 8,  0,  0x0b, 0, 0, 0};
/* MS-SMB2 2.2.3 behind a header (2.2.1) and the length of both: dialects 2.0.2 and 2.1. */
static const guint8 smb_request[4 + 64 + 40] = {
    [3] = 104,  [4] = 0xfe, [5] = 'S', [6] = 'M', [7] = 'B',    [8] = 64,
    [18] = 1,   [68] = 36,  [70] = 2,  [72] = 1,  [80] = 'p',   [81] = 'u',
    [82] = 'l', [83] = 't', [104] = 2, [105] = 2, [106] = 0x10, [107] = 2};

static const struct {
  const char *name;
  guint16 port; /* 0: it has none of its own */
  const guint8 *request;
  gsize length;
} kinds[] = {
    [PROBE_TCP] = {"tcp", 0, NULL, 0},
    [PROBE_SSH] = {"ssh", 22, NULL, 0},
    [PROBE_RDP] = {"rdp", 3389, rdp_request, sizeof rdp_request},
    [PROBE_SMB] = {"smb", 445, smb_request, sizeof smb_request},
};

gboolean
probe_way_parse(const char *word, ProbeWay *way, GError **error)
{
  const char *colon = strchr(word, ':');
  g_autofree char *name = colon != NULL ? g_strndup(word, (gsize)(colon - word)) : g_strdup(word);
  guint64 port = 0;
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    if (strcmp(kinds[i].name, name) != 0)
      continue;
    port = kinds[i].port;
    if (colon != NULL && !g_ascii_string_to_unsigned(colon + 1, 10, 1, 65535, &port, NULL))
      port = 0;
    *way = (ProbeWay){(ProbeKind)i, (guint16)port};
    if (port != 0)
      return TRUE;
  }
  g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
              "%s is none of ssh, rdp, smb, each with :PORT if it is another, or tcp:PORT", word);
  return FALSE;
}

/* A line that begins so, for others may come before it (RFC 4253, 4.2). */
static gboolean
has_banner(const char *answer, gsize length)
{
  for (const char *at = answer; at != NULL;) {
    if ((gsize)(answer + length - at) >= 4 && memcmp(at, "SSH-", 4) == 0)
      return TRUE;
    at = memchr(at, '\n', (gsize)(answer + length - at));
    at = at != NULL ? at + 1 : NULL;
  }
  return FALSE;
}

/* What came by now is the answer. */
static gboolean
is_answer(const ProbeAsk *ask)
{
  const guint8 *bytes = (const guint8 *)ask->answer;
  switch (ask->kind) {
  case PROBE_TCP:
    return TRUE;
  case PROBE_SSH:
    return has_banner(ask->answer, ask->length);
  case PROBE_RDP:
    return ask->length >= 7 && bytes[0] == 3 && (bytes[5] & 0xf0) == 0xd0;
  case PROBE_SMB:
    return ask->length >= 8 && bytes[0] == 0 && (bytes[4] == 0xfe || bytes[4] == 0xff) &&
           memcmp(bytes + 5, "SMB", 3) == 0;
  }
  return FALSE;
}

/* ---- Its course: one operation is under way until it ends --------------------------------------
 */

static void
end(ProbeAsk *ask, gboolean answered)
{
  if (ask->deadline != 0)
    g_source_remove(ask->deadline);
  if (ask->connection != NULL)
    g_object_unref(ask->connection);
  g_object_unref(ask->cancellable);
  if (ask->done != NULL)
    ask->done(answered, ask->data);
  g_free(ask);
}

static void hear(ProbeAsk *ask);

static void
on_read(GObject *source, GAsyncResult *result, gpointer data)
{
  ProbeAsk *ask = data;
  gssize n = g_input_stream_read_finish(G_INPUT_STREAM(source), result, NULL);
  if (n > 0)
    ask->length += (gsize)n;
  if (n <= 0 || is_answer(ask) || ask->length == ANSWER_MAX)
    end(ask, n > 0 && is_answer(ask));
  else
    hear(ask);
}

static void
hear(ProbeAsk *ask)
{
  GInputStream *in = g_io_stream_get_input_stream(G_IO_STREAM(ask->connection));
  g_input_stream_read_async(in, ask->answer + ask->length, ANSWER_MAX - ask->length,
                            G_PRIORITY_DEFAULT, ask->cancellable, on_read, ask);
}

static void
on_written(GObject *source, GAsyncResult *result, gpointer data)
{
  ProbeAsk *ask = data;
  if (g_output_stream_write_all_finish(G_OUTPUT_STREAM(source), result, NULL, NULL))
    hear(ask);
  else
    end(ask, FALSE);
}

static void
on_connected(GObject *source, GAsyncResult *result, gpointer data)
{
  ProbeAsk *ask = data;
  ask->connection = g_socket_client_connect_to_host_finish(G_SOCKET_CLIENT(source), result, NULL);
  if (ask->connection == NULL || ask->kind == PROBE_TCP)
    end(ask, ask->connection != NULL);
  else if (kinds[ask->kind].request != NULL)
    g_output_stream_write_all_async(g_io_stream_get_output_stream(G_IO_STREAM(ask->connection)),
                                    kinds[ask->kind].request, kinds[ask->kind].length,
                                    G_PRIORITY_DEFAULT, ask->cancellable, on_written, ask);
  else
    hear(ask);
}

static gboolean
on_deadline(gpointer data)
{
  ProbeAsk *ask = data;
  ask->deadline = 0;
  g_cancellable_cancel(ask->cancellable);
  return G_SOURCE_REMOVE;
}

ProbeAsk *
probe_ask_start(const char *host, const ProbeWay *way, gint64 patience,
                void (*done)(gboolean answered, gpointer data), gpointer data)
{
  g_autoptr(GSocketClient) client = g_socket_client_new();
  ProbeAsk *ask = g_new0(ProbeAsk, 1);
  ask->kind = way->kind;
  ask->done = done;
  ask->data = data;
  ask->cancellable = g_cancellable_new();
  ask->deadline = g_timeout_add((guint)(patience / 1000), on_deadline, ask);
  g_socket_client_set_enable_proxy(client, FALSE);
  g_socket_client_connect_to_host_async(client, host, way->port, ask->cancellable, on_connected,
                                        ask);
  return ask;
}

void
probe_ask_drop(ProbeAsk *ask)
{
  if (ask == NULL)
    return;
  ask->done = NULL;
  g_cancellable_cancel(ask->cancellable);
}
