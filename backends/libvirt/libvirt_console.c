/* A domain's serial console, as a stream on the main loop. It ends whenever the domain does, so it
 * is opened again at each start. */
#include <libvirt/virterror.h>

#include "backends/console_lines.h"
#include "backends/libvirt/libvirt_private.h"

/* Of bytes in one go, so that a machine that never stops talking leaves others their turn. */
#define GO_BYTES (64 * 1024)
#define AGAIN_MS 2000

typedef struct {
  LibvirtCall call;
  LibvirtConsole *console; /* NULL: gone meanwhile */
  char *device;
  gboolean from_anyone;
  virStreamPtr stream;
} OpenStream;

typedef struct {
  LibvirtCall call;
  virStreamPtr stream;
  gboolean over; /* the other side ended it */
} EndStream;

struct LibvirtConsole {
  LedgerItem *item;
  LibvirtDomain *domain;
  ConsoleLines lines;
  virStreamPtr stream; /* NULL: not open */
  OpenStream *opening;
  guint again;          /* source */
  gboolean from_anyone; /* it is taken from whoever has it: once, for they might take it back */
  char *told;
};

/* ---- Its end ------------------------------------------------------------------------------- */

static void
end_work(LibvirtCall *call)
{
  EndStream *end = (EndStream *)call;

  if (end->over)
    virStreamFinish(end->stream);
  else
    virStreamAbort(end->stream);
  virStreamFree(end->stream);
}

static void
end_done(LibvirtCall *call)
{
  (void)call;
}

/* Takes STREAM. */
static void
end_stream(LibvirtHost *host, virStreamPtr stream, gboolean over)
{
  static const LibvirtCallClass class = {
      .on = LIBVIRT_MAIN, .work = end_work, .done = end_done, .always = TRUE};
  EndStream *end = libvirt_call_new(sizeof *end, &class, NULL);

  end->stream = stream;
  end->over = over;
  libvirt_host_call(host, &end->call);
}

static void
close_stream(LibvirtConsole *console, gboolean over)
{
  if (console->stream == NULL)
    return;
  virStreamEventRemoveCallback(console->stream);
  end_stream(console->domain->host, g_steal_pointer(&console->stream), over);
}

static void
stop_waiting(LibvirtConsole *console)
{
  if (console->again != 0)
    g_source_remove(console->again);
  console->again = 0;
}

/* Once, until something else is told. */
static void
tell(LibvirtConsole *console, const char *text)
{
  if (g_strcmp0(console->told, text) == 0)
    return;
  g_free(console->told);
  console->told = g_strdup(text);
  ledger_line(console->item, "console", text);
}

void
libvirt_console_lost(LibvirtConsole *console)
{
  stop_waiting(console);
  console_lines_end(&console->lines);
  if (console->stream != NULL)
    tell(console, "-- the console is gone with its connection --");
  close_stream(console, FALSE);
}

/* ---- What comes ---------------------------------------------------------------------------- */

static gboolean
on_again(gpointer data)
{
  LibvirtConsole *console = data;

  console->again = 0;
  libvirt_console_try(console);
  return G_SOURCE_REMOVE;
}

static void
try_again(LibvirtConsole *console)
{
  stop_waiting(console);
  console->again = g_timeout_add(AGAIN_MS, on_again, console);
}

/* The domain is off, or somebody else took the console. */
static void
take_end(LibvirtConsole *console, gboolean over)
{
  console_lines_end(&console->lines);
  tell(console, "-- the console is closed --");
  close_stream(console, over);
  try_again(console);
}

static void
on_stream(virStreamPtr stream, int events, void *data)
{
  LibvirtConsole *console = data;
  char bytes[4096];
  gsize total = 0;
  int n = -2;

  (void)events;
  while (total < GO_BYTES && (n = virStreamRecv(stream, bytes, sizeof bytes)) > 0) {
    console_lines_take(&console->lines, bytes, (gsize)n);
    total += (gsize)n;
  }
  if (n == 0 || n == -1)
    take_end(console, n == 0);
}

/* ---- Opening ------------------------------------------------------------------------------- */

static void
open_work(LibvirtCall *call)
{
  OpenStream *open = (OpenStream *)call;
  virDomainPtr domain = libvirt_call_domain(call);

  if (domain == NULL)
    return;
  open->stream = virStreamNew(call->connection, VIR_STREAM_NONBLOCK);
  if (open->stream == NULL) {
    libvirt_call_failed(call);
  } else if (virDomainOpenConsole(domain, open->device, open->stream,
                                  open->from_anyone ? VIR_DOMAIN_CONSOLE_FORCE : 0) < 0) {
    libvirt_call_failed(call);
    virStreamFree(g_steal_pointer(&open->stream));
  }
  virDomainFree(domain);
}

static void
take_failure(LibvirtConsole *console, const LibvirtCall *call)
{
  g_autofree char *why = libvirt_say_failure(call, "console");
  /* Of all that can keep it from a domain that runs. */
  gboolean taken = call->code == VIR_ERR_OPERATION_FAILED && !call->lost;
  g_autofree char *text =
      g_strdup_printf("-- no console: %s%s%s --", why,
                      taken ? "; if somebody else reads it, this takes it from them: console " : "",
                      taken ? console->domain->name : "");

  if (call->code == VIR_ERR_NO_SUPPORT || call->code == VIR_ERR_NO_DOMAIN) {
    ledger_answer(console->item, VERDICT_FAILED, "%s", why);
    return;
  }
  /* It is off, and opened when it starts. */
  if (call->lost || call->code == VIR_ERR_OPERATION_INVALID)
    return;
  tell(console, text);
  try_again(console);
}

static void
open_done(LibvirtCall *call)
{
  OpenStream *open = (OpenStream *)call;
  LibvirtConsole *console = open->console;
  virStreamPtr stream = g_steal_pointer(&open->stream);

  if (console != NULL)
    console->opening = NULL;
  if (console == NULL || libvirt_call_is_old(call)) {
    if (stream != NULL)
      end_stream(call->host, stream, FALSE);
    if (console != NULL)
      libvirt_console_try(console);
    return;
  }
  if (stream == NULL) {
    take_failure(console, call);
    return;
  }
  console->stream = stream;
  console->from_anyone = FALSE;
  tell(console, "-- the console is open --");
  if (virStreamEventAddCallback(
          stream, VIR_STREAM_EVENT_READABLE | VIR_STREAM_EVENT_ERROR | VIR_STREAM_EVENT_HANGUP,
          on_stream, console, NULL) < 0)
    take_end(console, FALSE);
}

static void
open_clear(LibvirtCall *call)
{
  OpenStream *open = (OpenStream *)call;

  if (open->stream != NULL)
    virStreamFree(open->stream);
  g_free(open->device);
}

void
libvirt_console_try(LibvirtConsole *console)
{
  static const LibvirtCallClass class = {
      .on = LIBVIRT_MAIN, .work = open_work, .done = open_done, .clear = open_clear};
  LibvirtDomain *domain = console->domain;
  Libvirt *libvirt = domain->libvirt;
  OpenStream *open;

  if (console->stream != NULL || console->opening != NULL || !libvirt_host_is_up(domain->host))
    return;
  stop_waiting(console);
  open = libvirt_call_new(sizeof *open, &class, domain->called);
  open->console = console;
  open->device = layout_setting_text(libvirt->layout, libvirt->settings, domain->node, "console");
  open->from_anyone = console->from_anyone;
  console->opening = open;
  libvirt_host_call(domain->host, &open->call);
}

void
libvirt_console_begin(LedgerItem *item, LibvirtDomain *domain)
{
  LibvirtConsole *console;

  if (domain->console != NULL) {
    ledger_answer(item, VERDICT_FAILED, "its console is watched already");
    return;
  }
  console = g_new0(LibvirtConsole, 1);
  item->work = domain->console = console;
  console->item = item;
  console->domain = domain;
  console->from_anyone = g_strcmp0(ledger_argument(item, "from"), "anyone") == 0;
  console_lines_init(&console->lines, item);
  libvirt_host_want(domain->host);
  libvirt_console_try(console);
}

void
libvirt_console_end(LibvirtConsole *console)
{
  console->domain->console = NULL;
  if (console->opening != NULL)
    console->opening->console = NULL;
  stop_waiting(console);
  close_stream(console, FALSE);
  console_lines_clear(&console->lines);
  g_free(console->told);
  g_free(console);
}
