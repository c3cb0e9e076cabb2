#include <libvirt-glib/libvirt-glib-event.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <signal.h>
#include <string.h>

#include "backends/libvirt/libvirt_host_private.h"

#define PAUSE_FIRST_MS 250
/* A server that lets so many questions pass is gone. */
#define KEEP_ALIVE_COUNT 5
/* Nothing ends an attempt to connect to a server that takes it and says nothing: then another is
 * made beside it, up to so many. */
#define OPENING_MS 10000
#define OPENING_MAX 3

/* ---- The end of a connection --------------------------------------------------------------- */

typedef struct {
  LibvirtCall call;
  virConnectPtr connection;
  int lifecycle;
} CloseCall;

typedef struct {
  LibvirtHost *host;
  virConnectPtr connection; /* to be told apart only */
  int reason;
} Closed;

static void schedule(LibvirtHost *host);

static void
stop_waiting(LibvirtHost *host)
{
  if (host->retry != 0)
    g_source_remove(host->retry);
  host->retry = 0;
}

static void on_closed(virConnectPtr connection, int reason, void *data);

static void
close_work(LibvirtCall *call)
{
  CloseCall *close = (CloseCall *)call;

  g_mutex_lock(&call->host->main_lock);
  if (close->lifecycle >= 0)
    virConnectDomainEventDeregisterAny(close->connection, close->lifecycle);
  virConnectUnregisterCloseCallback(close->connection, on_closed);
  virConnectClose(close->connection);
  g_mutex_unlock(&call->host->main_lock);
}

static void
close_done(LibvirtCall *call)
{
  (void)call;
}

static const LibvirtCallClass close_class = {
    .on = LIBVIRT_NONE, .work = close_work, .done = close_done, .always = TRUE};

/* Takes CONNECTION; NULL: there is none. */
static void
close_connection(LibvirtHost *host, virConnectPtr connection, int lifecycle)
{
  CloseCall *close;

  if (connection == NULL)
    return;
  close = libvirt_call_new(sizeof *close, &close_class, NULL);
  close->connection = connection;
  close->lifecycle = lifecycle;
  libvirt_host_call(host, &close->call);
}

static void
tell_link(const LibvirtHost *host, gboolean up, const char *text)
{
  Backend *backend = &host->libvirt->base;
  g_autofree char *line = g_strdup_printf("%s: %s", host->uri, text);
  Event event = {.kind = EVENT_LINK, .link = {host->source, up, line}};

  backend->post(&event, backend->post_data);
}

static void
tell_down(LibvirtHost *host)
{
  if (host->told_down)
    return;
  host->told_down = TRUE;
  tell_link(host, FALSE, host->why);
}

void
libvirt_host_lose(LibvirtHost *host, const char *why)
{
  close_connection(host, g_steal_pointer(&host->main), host->lifecycle);
  host->state = HOST_DOWN;
  g_free(host->why);
  host->why = g_strdup(why);
  host->pause = PAUSE_FIRST_MS;
  schedule(host);
  tell_down(host);
  libvirt_down(host);
}

static gboolean
on_closed_here(gpointer data)
{
  Closed *closed = data;
  LibvirtHost *host = closed->host;

  if (host->libvirt != NULL && host->main == closed->connection)
    libvirt_host_lose(host, closed->reason == VIR_CONNECT_CLOSE_REASON_KEEPALIVE
                                ? "it does not answer any more"
                                : "it closed the connection");
  libvirt_host_unref(host);
  g_free(closed);
  return G_SOURCE_REMOVE;
}

/* On whatever thread saw it. Some drivers never free what they are given with it, so the reference
 * is that of who closes. */
static void
on_closed(virConnectPtr connection, int reason, void *data)
{
  Closed *closed = g_new(Closed, 1);

  *closed = (Closed){g_atomic_rc_box_acquire(data), connection, reason};
  g_idle_add_full(G_PRIORITY_DEFAULT, on_closed_here, closed, NULL);
  /* cppcheck-suppress memleak ; on_closed_here() frees it */
}

/* ---- Connecting ---------------------------------------------------------------------------- */

typedef struct {
  LibvirtCall call;
  guint attempt;
  virConnectPtr opened;
  int lifecycle;
} OpenCall;

static int
on_lifecycle(virConnectPtr connection, virDomainPtr domain, int event, int detail, void *data)
{
  LibvirtHost *host = data;
  LibvirtDomain *ours;

  (void)detail;
  if (host->libvirt == NULL || connection != host->main)
    return 0;
  ours = libvirt_find(host, virDomainGetName(domain));
  if (ours != NULL)
    libvirt_told(ours, event);
  return 0;
}

/* On a thread; libvirt frees what it is given. */
static int
give_credentials(virConnectCredentialPtr wanted, unsigned int n, void *data)
{
  const LibvirtHost *host = data;

  for (unsigned int i = 0; i < n; i++) {
    gboolean name = wanted[i].type == VIR_CRED_AUTHNAME || wanted[i].type == VIR_CRED_USERNAME;
    const char *text = name ? host->user : host->password;
    if (text == NULL)
      return -1;
    wanted[i].result = strdup(text);
    wanted[i].resultlen = (unsigned int)strlen(text);
  }
  return 0;
}

virConnectPtr
libvirt_connect(LibvirtCall *call)
{
  static int types[] = {VIR_CRED_AUTHNAME, VIR_CRED_USERNAME, VIR_CRED_PASSPHRASE,
                        VIR_CRED_NOECHOPROMPT};
  LibvirtHost *host = call->host;
  virConnectAuth auth = {types, G_N_ELEMENTS(types), give_credentials, host};
  virConnectPtr opened = virConnectOpenAuth(host->uri, &auth, 0);

  if (opened == NULL)
    libvirt_call_failed(call);
  /* Some drivers have none, for there is nobody to lose. */
  else if (host->keep_alive > 0)
    virConnectSetKeepAlive(opened, (int)host->keep_alive, KEEP_ALIVE_COUNT);
  return opened;
}

static void
open_work(LibvirtCall *call)
{
  OpenCall *open = (OpenCall *)call;
  LibvirtHost *host = call->host;

  open->opened = libvirt_connect(call);
  if (open->opened == NULL)
    return;
  virConnectRegisterCloseCallback(open->opened, on_closed, host, NULL);
  open->lifecycle = virConnectDomainEventRegisterAny(
      open->opened, NULL, VIR_DOMAIN_EVENT_ID_LIFECYCLE, VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle),
      g_atomic_rc_box_acquire(host), libvirt_host_unref);
  if (open->lifecycle < 0)
    libvirt_host_unref(host);
}

static void
take_connection(LibvirtHost *host, OpenCall *open)
{
  stop_waiting(host);
  g_clear_pointer(&host->why, g_free);
  host->state = HOST_UP;
  host->serial++;
  host->main = g_steal_pointer(&open->opened);
  host->lifecycle = open->lifecycle;
  host->pause = PAUSE_FIRST_MS;
  host->told_down = FALSE;
  tell_link(host, TRUE, "connected");
  libvirt_up(host);
}

/* Takes WHY. */
static void
give_up(LibvirtHost *host, char *why)
{
  g_free(host->why);
  host->why = why;
  host->state = HOST_DOWN;
  schedule(host);
  tell_down(host);
}

static void
open_done(LibvirtCall *call)
{
  OpenCall *open = (OpenCall *)call;
  LibvirtHost *host = call->host;
  gboolean current = host->state == HOST_CONNECTING && open->attempt == host->attempt;

  host->n_opening--;
  if (open->opened != NULL && host->state != HOST_UP) {
    take_connection(host, open);
  } else if (open->opened != NULL) {
    close_connection(host, g_steal_pointer(&open->opened), open->lifecycle);
  } else if (current) {
    give_up(host, libvirt_say_no_connection(call));
    libvirt_failed(host);
  }
}

/* The backend is gone. */
static void
open_clear(LibvirtCall *call)
{
  OpenCall *open = (OpenCall *)call;

  if (open->opened == NULL)
    return;
  if (open->lifecycle >= 0)
    virConnectDomainEventDeregisterAny(open->opened, open->lifecycle);
  virConnectUnregisterCloseCallback(open->opened, on_closed);
  virConnectClose(open->opened);
}

static const LibvirtCallClass open_class = {
    .on = LIBVIRT_NONE, .work = open_work, .done = open_done, .clear = open_clear};

static gboolean
on_patience(gpointer data)
{
  LibvirtHost *host = data;

  host->retry = 0;
  give_up(host,
          g_strdup_printf("it takes connections and says nothing for %d s", OPENING_MS / 1000));
  return G_SOURCE_REMOVE;
}

void
libvirt_host_want(LibvirtHost *host)
{
  OpenCall *open;

  if (host->state != HOST_DOWN || host->n_opening == OPENING_MAX)
    return;
  stop_waiting(host);
  host->state = HOST_CONNECTING;
  host->since = g_get_monotonic_time();
  host->retry = g_timeout_add(OPENING_MS, on_patience, host);
  open = libvirt_call_new(sizeof *open, &open_class, NULL);
  open->attempt = ++host->attempt;
  host->n_opening++;
  libvirt_host_call(host, &open->call);
}

static gboolean
on_retry(gpointer data)
{
  LibvirtHost *host = data;

  host->retry = 0;
  if (host->n_opening == OPENING_MAX)
    schedule(host);
  libvirt_host_want(host);
  return G_SOURCE_REMOVE;
}

static void
schedule(LibvirtHost *host)
{
  stop_waiting(host);
  host->retry = g_timeout_add((guint)host->pause, on_retry, host);
  host->pause = MIN(2 * host->pause, host->pause_max);
}

/* ---- What others ask ----------------------------------------------------------------------- */

Libvirt *
libvirt_host_owner(const LibvirtHost *host)
{
  return host->libvirt;
}

const char *
libvirt_host_uri(const LibvirtHost *host)
{
  return host->uri;
}

gboolean
libvirt_host_is_up(const LibvirtHost *host)
{
  return host->state == HOST_UP;
}

gboolean
libvirt_host_has_place(const LibvirtHost *host)
{
  return host->n_changing < host->workers;
}

LibvirtMeters *
libvirt_host_meters(LibvirtHost *host)
{
  return host->meters;
}

char *
libvirt_host_trouble(const LibvirtHost *host)
{
  gint64 seconds = (g_get_monotonic_time() - host->since) / G_USEC_PER_SEC;

  if (host->why != NULL)
    return g_strdup(host->why);
  return g_strdup_printf("it has not answered for %" G_GINT64_FORMAT " s", seconds);
}

/* ---- Making and freeing -------------------------------------------------------------------- */

/* What fails is told by its own call, and not on the screen. */
static void
say_nothing(void *data, virErrorPtr error)
{
  (void)data;
  (void)error;
}

static void
say_nothing_of_xml(void *data, const char *format, ...)
{
  (void)data;
  (void)format;
}

static gpointer
begin_library(gpointer data)
{
  (void)data;
  if (virInitialize() < 0)
    return NULL;
  /* A server that ends a connection must not end this program. */
  signal(SIGPIPE, SIG_IGN);
  virSetErrorFunc(NULL, say_nothing);
  xmlInitParser();
  xmlThrDefSetGenericErrorFunc(NULL, say_nothing_of_xml);
  gvir_event_register();
  return GINT_TO_POINTER(TRUE);
}

/* `test:///room.xml`: a libvirtd would be in the scheme, as in `test+unix`. */
static gboolean
is_here(const char *uri)
{
  return g_str_has_prefix(uri, "test:");
}

/* ssh must not ask on the terminal the screen is on. */
static char *
without_terminal(const char *uri)
{
  const char *scheme_end = strstr(uri, "://");

  if (scheme_end == NULL || g_strstr_len(uri, scheme_end - uri, "+ssh") == NULL ||
      strstr(uri, "no_tty=") != NULL)
    return g_strdup(uri);
  return g_strdup_printf("%s%cno_tty=1", uri, strchr(uri, '?') != NULL ? '&' : '?');
}

LibvirtHost *
libvirt_host_new(Libvirt *libvirt, const char *uri, const BackendSetup *setup, NodeId node,
                 GError **error)
{
  static GOnce once = G_ONCE_INIT;
  const Layout *layout = setup->layout;
  const LayoutBackend *settings = setup->settings;
  GError *problem = NULL;
  LibvirtHost *host;

  if (g_once(&once, begin_library, NULL) == NULL) {
    g_set_error(error, BACKEND_ERROR, 0, "%s: libvirt's library cannot be used", setup->name);
    return NULL;
  }
  host = g_atomic_rc_box_new0(LibvirtHost);
  host->libvirt = libvirt;
  host->lifecycle = -1;
  host->uri = without_terminal(uri);
  host->here = is_here(uri);
  host->source = g_strdup_printf("%s:%s", setup->name, uri);
  host->user = layout_setting_text(layout, settings, node, "user");
  host->password = setup_secret(setup, node, "password", &problem);
  host->workers = layout_setting_count(layout, settings, node, "workers");
  host->keep_alive = layout_setting_time(layout, settings, node, "keep-alive") / TIME_SECOND;
  host->pause_max = MAX(layout_setting_time(layout, settings, node, "retry") / TIME_MS, 1);
  host->pause = MIN(PAUSE_FIRST_MS, host->pause_max);
  libvirt_calls_init(host);
  host->meters = libvirt_meters_new(host);
  if (problem == NULL)
    return host;
  g_propagate_error(error, problem);
  libvirt_host_free(host);
  return NULL;
}

void
libvirt_host_free(LibvirtHost *host)
{
  stop_waiting(host);
  libvirt_meters_free(host->meters);
  close_connection(host, g_steal_pointer(&host->main), host->lifecycle);
  host->libvirt = NULL;
  libvirt_calls_end(host);
  libvirt_host_unref(host);
}
