/* Calls of libvirt's, each on a thread.
 *
 * libvirt 9 crashes when two threads wait for answers on one connection (CVE-2024-4418), and
 * libvirtd takes but five calls of one. So every call has a connection of its own while it lasts, a
 * lane, and those on the main one, which has the events and the consoles, are made one after the
 * other. A driver within this process is different: there a connection may be a whole world. */
#include <libvirt/virterror.h>

#include "backends/libvirt/libvirt_host_private.h"

#define ASKING 3
/* For calls under way when all is over. What hangs longer is left behind. */
#define FREE_US (2 * G_USEC_PER_SEC)

typedef struct {
  virConnectPtr connection;
  guint serial; /* of the main one, when it was made */
} LibvirtLane;

gpointer
libvirt_call_new(gsize size, const LibvirtCallClass *class, const char *domain)
{
  LibvirtCall *call = g_malloc0(size);

  call->class = class;
  call->domain = g_strdup(domain);
  return call;
}

static void
call_free(LibvirtCall *call)
{
  if (call->class->clear != NULL)
    call->class->clear(call);
  libvirt_host_unref(call->host);
  g_free(call->domain);
  g_free(call->message);
  g_free(call);
}

gboolean
libvirt_call_is_old(const LibvirtCall *call)
{
  return call->host->state != HOST_UP || call->serial != call->host->serial;
}

static gboolean
on_done(gpointer data)
{
  LibvirtCall *call = data;
  LibvirtHost *host = call->host;

  if (host->libvirt != NULL) {
    host->n_changing -= call->changes;
    if (call->lost && !libvirt_call_is_old(call))
      libvirt_host_lose(host, call->message);
    call->class->done(call);
    if (call->changes)
      libvirt_pump(host);
  }
  call_free(call);
  return G_SOURCE_REMOVE;
}

/* ---- On threads ---------------------------------------------------------------------------- */

static void
lane_free(LibvirtLane *lane)
{
  virConnectClose(lane->connection);
  g_free(lane);
}

/* NULL, noted in CALL: it cannot be connected to. */
static LibvirtLane *
take_lane(LibvirtCall *call)
{
  LibvirtHost *host = call->host;
  LibvirtLane *lane;
  virConnectPtr connection;

  for (;;) {
    g_mutex_lock(&host->lock);
    lane = g_queue_pop_tail(&host->lanes);
    g_mutex_unlock(&host->lock);
    if (lane == NULL)
      break;
    if (lane->serial == call->serial && virConnectIsAlive(lane->connection) == 1)
      return lane;
    lane_free(lane);
  }
  connection = libvirt_connect(call);
  if (connection == NULL) {
    call->lost = call->unsent = TRUE;
    return NULL;
  }
  lane = g_new(LibvirtLane, 1);
  *lane = (LibvirtLane){connection, call->serial};
  return lane;
}

static void
give_lane_back(LibvirtHost *host, LibvirtLane *lane)
{
  if (g_atomic_int_get(&host->gone) || virConnectIsAlive(lane->connection) != 1) {
    lane_free(lane);
    return;
  }
  g_mutex_lock(&host->lock);
  g_queue_push_tail(&host->lanes, lane);
  g_mutex_unlock(&host->lock);
}

static void
work_in_lane(LibvirtCall *call)
{
  LibvirtLane *lane = take_lane(call);

  if (lane == NULL)
    return;
  call->connection = lane->connection;
  call->class->work(call);
  call->connection = NULL;
  give_lane_back(call->host, lane);
}

static void
work(LibvirtCall *call)
{
  LibvirtHost *host = call->host;
  gboolean main = call->class->on == LIBVIRT_MAIN || host->here;

  if (call->class->on == LIBVIRT_NONE) {
    call->class->work(call);
  } else if (call->main == NULL && !call->class->always) {
    call->code = VIR_ERR_NO_CONNECT;
    call->message = g_strdup("there is no connection");
    call->unsent = TRUE;
  } else if (!main) {
    work_in_lane(call);
  } else {
    call->connection = call->main;
    if (!host->here)
      g_mutex_lock(&host->main_lock);
    call->class->work(call);
    if (!host->here)
      g_mutex_unlock(&host->main_lock);
    call->connection = NULL;
  }
}

static void
run_call(gpointer data, gpointer user_data)
{
  LibvirtCall *call = data;
  LibvirtHost *host = g_atomic_rc_box_acquire(call->host);

  (void)user_data;
  if (call->class->always || !g_atomic_int_get(&host->gone))
    work(call);
  /* Here, for the last reference asks the server. */
  if (call->main != NULL)
    virConnectClose(call->main);
  if (g_atomic_int_get(&host->gone))
    call_free(call);
  else
    g_idle_add_full(G_PRIORITY_DEFAULT, on_done, call, NULL);
  g_mutex_lock(&host->lock);
  if (--host->n_calls == 0)
    g_cond_signal(&host->over);
  g_mutex_unlock(&host->lock);
  libvirt_host_unref(host);
}

static gpointer
run_alone(gpointer data)
{
  run_call(data, NULL);
  return NULL;
}

gboolean
libvirt_call_failed(LibvirtCall *call)
{
  const virError *error = virGetLastError();

  g_free(call->message);
  call->code = error != NULL && error->code != VIR_ERR_OK ? error->code : VIR_ERR_INTERNAL_ERROR;
  call->detail = error != NULL ? error->int1 : 0;
  call->message = g_strdup(error != NULL && error->message != NULL ? error->message : "no reason");
  call->lost = call->connection != NULL && virConnectIsAlive(call->connection) != 1;
  return FALSE;
}

virDomainPtr
libvirt_call_domain(LibvirtCall *call)
{
  virDomainPtr domain = virDomainLookupByName(call->connection, call->domain);

  if (domain == NULL)
    libvirt_call_failed(call);
  return domain;
}

/* ---- The main loop's ----------------------------------------------------------------------- */

void
libvirt_host_call(LibvirtHost *host, LibvirtCall *call)
{
  call->host = g_atomic_rc_box_acquire(host);
  if (host->main != NULL && virConnectRef(host->main) == 0)
    call->main = host->main;
  call->serial = host->serial;
  host->n_changing += call->changes;
  g_mutex_lock(&host->lock);
  host->n_calls++;
  g_mutex_unlock(&host->lock);
  if (call->class->on == LIBVIRT_NONE)
    g_thread_unref(g_thread_new("libvirt", run_alone, call));
  else
    g_thread_pool_push(call->changes ? host->changes : host->asks, call, NULL);
}

void
libvirt_calls_init(LibvirtHost *host)
{
  g_mutex_init(&host->main_lock);
  g_mutex_init(&host->lock);
  g_cond_init(&host->over);
  g_queue_init(&host->lanes);
  host->changes = g_thread_pool_new(run_call, NULL, (int)host->workers, FALSE, NULL);
  host->asks = g_thread_pool_new(run_call, NULL, ASKING, FALSE, NULL);
}

static void
lanes_work(LibvirtCall *call)
{
  LibvirtLane *lane;

  do {
    g_mutex_lock(&call->host->lock);
    lane = g_queue_pop_tail(&call->host->lanes);
    g_mutex_unlock(&call->host->lock);
    if (lane != NULL)
      lane_free(lane);
  } while (lane != NULL);
}

static void
wait_for_calls(LibvirtHost *host)
{
  gint64 end = g_get_monotonic_time() + FREE_US;

  g_mutex_lock(&host->lock);
  while (host->n_calls > 0)
    if (!g_cond_wait_until(&host->over, &host->lock, end))
      break;
  g_mutex_unlock(&host->lock);
}

void
libvirt_calls_end(LibvirtHost *host)
{
  static const LibvirtCallClass lanes_class = {
      .on = LIBVIRT_NONE, .work = lanes_work, .always = TRUE};

  g_atomic_int_set(&host->gone, TRUE);
  libvirt_host_call(host, libvirt_call_new(sizeof(LibvirtCall), &lanes_class, NULL));
  wait_for_calls(host);
  g_thread_pool_free(host->changes, FALSE, FALSE);
  g_thread_pool_free(host->asks, FALSE, FALSE);
}

static void
host_clear(gpointer data)
{
  LibvirtHost *host = data;

  g_free(host->uri);
  g_free(host->source);
  g_free(host->user);
  secret_free(host->password);
  g_free(host->why);
  g_mutex_clear(&host->main_lock);
  g_mutex_clear(&host->lock);
  g_cond_clear(&host->over);
}

void
libvirt_host_unref(void *host)
{
  g_atomic_rc_box_release_full(host, host_clear);
}
