/* What is seen of a domain's power, by its state when asked and by what libvirt tells. */
#include "backends/libvirt/libvirt_private.h"

typedef struct {
  LibvirtCall call;
  LibvirtDomain *of;
  guint events;
  LibvirtSeen seen;
} LookCall;

void
libvirt_saw(LibvirtDomain *domain, LibvirtSeen seen)
{
  static const char *const words[] = {"unknown", "off", "on"};
  LibvirtSeen before = domain->seen;
  GList *next;

  domain->seen = seen;
  if (seen != SEEN_NOTHING || before != SEEN_NOTHING)
    ledger_observe(domain->libvirt->ledger, domain->node, "power", words[seen]);
  for (GList *at = domain->targets.head; at != NULL; at = next) {
    next = at->next;
    libvirt_target_saw(at->data, seen);
  }
}

void
libvirt_told(LibvirtDomain *domain, int event)
{
  domain->events++;
  switch (event) {
  case VIR_DOMAIN_EVENT_STARTED:
  case VIR_DOMAIN_EVENT_RESUMED:
  case VIR_DOMAIN_EVENT_SUSPENDED:
  case VIR_DOMAIN_EVENT_PMSUSPENDED:
    libvirt_saw(domain, SEEN_ON);
    break;
  case VIR_DOMAIN_EVENT_STOPPED:
    libvirt_saw(domain, SEEN_OFF);
    break;
  case VIR_DOMAIN_EVENT_UNDEFINED:
    libvirt_saw(domain, SEEN_NOTHING);
    break;
  default: /* a guest that shut down is not stopped yet; a crashed one may go on */
    libvirt_look(domain);
  }
  if (event == VIR_DOMAIN_EVENT_STARTED && domain->console != NULL)
    libvirt_console_try(domain->console);
}

/* Worker. */
gboolean
libvirt_read_state(LibvirtCall *call, virDomainPtr domain, LibvirtSeen *seen)
{
  int active = virDomainIsActive(domain);

  if (active < 0)
    return libvirt_call_failed(call);
  *seen = active ? SEEN_ON : SEEN_OFF;
  return TRUE;
}

static void
look_work(LibvirtCall *call)
{
  virDomainPtr domain = libvirt_call_domain(call);

  if (domain == NULL)
    return;
  libvirt_read_state(call, domain, &((LookCall *)call)->seen);
  virDomainFree(domain);
}

static void
look_done(LibvirtCall *call)
{
  LookCall *look = (LookCall *)call;
  LibvirtDomain *domain = look->of;
  GList *next;

  domain->asked = FALSE;
  if (libvirt_call_is_old(call)) {
    libvirt_look(domain);
    return;
  }
  if (call->code == 0) {
    gboolean old = look->events != domain->events && domain->seen != SEEN_NOTHING;
    libvirt_saw(domain, old ? domain->seen : look->seen);
    if (domain->seen == SEEN_ON && domain->console != NULL)
      libvirt_console_try(domain->console);
    return;
  }
  for (GList *at = domain->targets.head; at != NULL; at = next) {
    next = at->next;
    libvirt_target_unseen(at->data, call);
  }
  libvirt_saw(domain, SEEN_NOTHING);
}

static const LibvirtCallClass look_class = {.work = look_work, .done = look_done};

void
libvirt_look(LibvirtDomain *domain)
{
  LookCall *look;

  if (domain->asked || !libvirt_host_is_up(domain->host))
    return;
  domain->asked = TRUE;
  look = libvirt_call_new(sizeof *look, &look_class, domain->called);
  look->of = domain;
  look->events = domain->events;
  libvirt_host_call(domain->host, &look->call);
}
