#include "backends/libvirt/libvirt_private.h"

#include <string.h>

#include "backends/module.h"

/* ---- Told by hosts ------------------------------------------------------------------------- */

/* What has to be done for each domain of a host. */
static void
for_domains(LibvirtHost *host, Libvirt *libvirt, void (*function)(LibvirtDomain *domain))
{
  for (NodeId node = 0; node < libvirt->layout->n_nodes; node++) {
    LibvirtDomain *domain = libvirt->domains[node];
    if (domain != NULL && domain->host == host)
      function(domain);
  }
}

static void
for_targets(LibvirtDomain *domain, void (*function)(LibvirtTarget *target))
{
  GList *next;

  for (GList *at = domain->targets.head; at != NULL; at = next) {
    next = at->next;
    function(at->data);
  }
}

static void
pump(LibvirtDomain *domain)
{
  for_targets(domain, libvirt_target_pump);
}

static void
go_up(LibvirtDomain *domain)
{
  libvirt_look(domain);
  pump(domain);
  if (domain->console != NULL)
    libvirt_console_try(domain->console);
}

static void
go_down(LibvirtDomain *domain)
{
  domain->events++;
  libvirt_saw(domain, SEEN_NOTHING);
  if (domain->console != NULL)
    libvirt_console_lost(domain->console);
}

static void
fail(LibvirtDomain *domain)
{
  for_targets(domain, libvirt_target_failed);
}

void
libvirt_up(LibvirtHost *host)
{
  for_domains(host, libvirt_host_owner(host), go_up);
}

void
libvirt_down(LibvirtHost *host)
{
  for_domains(host, libvirt_host_owner(host), go_down);
}

void
libvirt_failed(LibvirtHost *host)
{
  for_domains(host, libvirt_host_owner(host), fail);
}

void
libvirt_pump(LibvirtHost *host)
{
  for_domains(host, libvirt_host_owner(host), pump);
}

LibvirtDomain *
libvirt_find(LibvirtHost *host, const char *called)
{
  const Libvirt *libvirt = libvirt_host_owner(host);

  for (NodeId node = 0; node < libvirt->layout->n_nodes; node++) {
    LibvirtDomain *domain = libvirt->domains[node];
    if (domain != NULL && domain->host == host && strcmp(domain->called, called) == 0)
      return domain;
  }
  return NULL;
}

/* ---- The ledger's items -------------------------------------------------------------------- */

static gboolean
is_console(const LedgerItem *item)
{
  return g_strcmp0(ledger_argument(item, "what"), "console") == 0;
}

static void
begin(LedgerItem *item, gpointer data)
{
  Libvirt *libvirt = data;
  LibvirtDomain *domain = libvirt->domains[item->node];

  if (domain == NULL)
    ledger_answer(item, VERDICT_FAILED, "the layout gives it no domain in `%s`",
                  libvirt->base.name);
  else if (item->operation != OP_WATCH)
    libvirt_target_begin(item, domain);
  else if (is_console(item))
    libvirt_console_begin(item, domain);
  else
    libvirt_meter_begin(item, domain);
}

static void
end(LedgerItem *item, gpointer data)
{
  (void)data;
  if (item->work == NULL)
    return;
  if (item->operation != OP_WATCH)
    libvirt_target_end(item->work);
  else if (is_console(item))
    libvirt_console_end(item->work);
  else
    libvirt_meter_end(item->work);
}

/* ---- The class ----------------------------------------------------------------------------- */

static void
start(Backend *backend, gint64 now)
{
  Libvirt *libvirt = (Libvirt *)backend;

  (void)now;
  ledger_link(libvirt->ledger, TRUE, "each host is connected to on its own");
  for (guint i = 0; i < libvirt->hosts->len; i++)
    libvirt_host_want(libvirt->hosts->pdata[i]);
}

static void
submit(Backend *backend, gint64 now, const RequestEvent *request)
{
  ledger_submit(((Libvirt *)backend)->ledger, now, request);
}

static void
cancel(Backend *backend, gint64 now, guint32 request)
{
  (void)now;
  ledger_cancel(((Libvirt *)backend)->ledger, request);
}

static void
free_all(Backend *backend)
{
  Libvirt *libvirt = (Libvirt *)backend;

  ledger_free(libvirt->ledger);
  for (guint i = 0; i < libvirt->hosts->len; i++)
    libvirt_host_free(libvirt->hosts->pdata[i]);
  g_ptr_array_unref(libvirt->hosts);
  for (NodeId node = 0; node < libvirt->layout->n_nodes; node++) {
    if (libvirt->domains[node] != NULL)
      g_free(libvirt->domains[node]->called);
    g_free(libvirt->domains[node]);
  }
  g_free(libvirt->domains);
  g_free(libvirt);
}

static const BackendClass libvirt_class = {
    .name = "libvirt",
    .operations = 1u << OP_STATUS | 1u << OP_ON | 1u << OP_OFF | 1u << OP_RESET |
                  1u << OP_BOOT_DEVICE | 1u << OP_WATCH | 1u << OP_KEYS | 1u << OP_TYPE,
    .start = start,
    .submit = submit,
    .cancel = cancel,
    .free = free_all,
};

/* ---- Making it ----------------------------------------------------------------------------- */

/* Settings of a host are those of the first node there. */
static LibvirtHost *
get_host(Libvirt *libvirt, const BackendSetup *setup, NodeId node, GHashTable *by_uri,
         GError **error)
{
  g_autofree char *uri = layout_setting_text(setup->layout, setup->settings, node, "uri");
  LibvirtHost *host = g_hash_table_lookup(by_uri, uri);

  if (host == NULL && (host = libvirt_host_new(libvirt, uri, setup, node, error)) != NULL) {
    g_ptr_array_add(libvirt->hosts, host);
    g_hash_table_insert(by_uri, g_steal_pointer(&uri), host);
  }
  return host;
}

static gboolean
add_domain(Libvirt *libvirt, const BackendSetup *setup, NodeId node, GHashTable *by_uri,
           GError **error)
{
  g_autofree char *called = layout_setting_text(setup->layout, setup->settings, node, "domain");
  const char *name = setup->layout->nodes[node].name;
  LibvirtHost *host = get_host(libvirt, setup, node, by_uri, error);
  const LibvirtDomain *other;
  LibvirtDomain *domain;

  if (host == NULL)
    return FALSE;
  other = libvirt_find(host, called);
  if (other != NULL) {
    g_set_error(error, BACKEND_ERROR, 0, "%s: backend %s: %s and %s are both domain `%s` of %s",
                setup->layout->file, setup->name, other->name, name, called,
                libvirt_host_uri(host));
    return FALSE;
  }
  domain = libvirt->domains[node] = g_new0(LibvirtDomain, 1);
  domain->libvirt = libvirt;
  domain->host = host;
  domain->node = node;
  domain->name = name;
  domain->called = g_steal_pointer(&called);
  g_queue_init(&domain->targets);
  return TRUE;
}

Backend *
libvirt_backend_new(const BackendSetup *setup, GError **error)
{
  static const LedgerClass ledger_class = {.begin = begin, .end = end};
  g_autoptr(GHashTable) by_uri = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  Libvirt *libvirt = g_new0(Libvirt, 1);
  g_autoptr(Backend) backend = &libvirt->base;

  libvirt->base = (Backend){&libvirt_class, setup->name, setup->post, setup->post_data};
  libvirt->layout = setup->layout;
  libvirt->settings = setup->settings;
  libvirt->domains = g_new0(LibvirtDomain *, setup->layout->n_nodes);
  libvirt->hosts = g_ptr_array_new();
  libvirt->ledger = ledger_new(&libvirt->base, setup->layout, &ledger_class, libvirt);
  for (NodeId node = 0; node < setup->layout->n_nodes; node++)
    if (setup_reaches(setup, node) && !add_domain(libvirt, setup, node, by_uri, error))
      return NULL;
  return g_steal_pointer(&backend);
}

BACKEND_MODULE(libvirt, libvirt_backend_new);
