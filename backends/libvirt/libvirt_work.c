/* What a domain is told, on a thread of its host. */
#include <libvirt/virterror.h>

#include "backends/libvirt/libvirt_boot.h"
#include "backends/libvirt/libvirt_keys.h"
#include "backends/libvirt/libvirt_private.h"

/* ms that a key is held, and µs from one to the next: firmware looks at its keyboard now and then,
 * and a machine that is emulated is slow. */
#define KEY_HELD 40
#define KEY_NEXT 100000

/* What it was told has come of itself meanwhile: no failure. */
static gboolean
is_there(LibvirtWork *work, virDomainPtr domain, LibvirtSeen wanted)
{
  LibvirtSeen seen;

  libvirt_call_failed(&work->call);
  if (work->call.lost || virDomainIsActive(domain) != (wanted == SEEN_ON))
    return FALSE;
  seen = wanted;
  work->call.code = 0;
  work->seen = seen;
  return TRUE;
}

static gboolean
switch_on(LibvirtWork *work, virDomainPtr domain)
{
  int state;

  if (virDomainGetState(domain, &state, NULL, 0) < 0)
    return libvirt_call_failed(&work->call);
  if (state == VIR_DOMAIN_PAUSED && virDomainResume(domain) < 0)
    return libvirt_call_failed(&work->call);
  if (state == VIR_DOMAIN_PMSUSPENDED && virDomainPMWakeup(domain, 0) < 0)
    return libvirt_call_failed(&work->call);
  if (virDomainIsActive(domain) != 0)
    return TRUE;
  return virDomainCreate(domain) == 0 || is_there(work, domain, SEEN_ON);
}

static gboolean
switch_off(LibvirtWork *work, virDomainPtr domain)
{
  int active = virDomainIsActive(domain);

  if (active < 0)
    return libvirt_call_failed(&work->call);
  if (active == 0)
    return TRUE;
  if (work->soft)
    return virDomainShutdown(domain) == 0 || is_there(work, domain, SEEN_OFF);
  return virDomainDestroy(domain) == 0 || is_there(work, domain, SEEN_OFF);
}

static gboolean
reset(LibvirtWork *work, virDomainPtr domain)
{
  int active = virDomainIsActive(domain);

  if (active == 0) {
    work->call.code = LIBVIRT_OFF;
    work->seen = SEEN_OFF;
    return FALSE;
  }
  return (active > 0 && virDomainReset(domain, 0) == 0) || libvirt_call_failed(&work->call);
}

/* Its definition, which counts from its next start on. */
static gboolean
set_boot(LibvirtWork *work, virDomainPtr domain)
{
  g_autoptr(GError) error = NULL;
  char *xml = virDomainGetXMLDesc(domain, VIR_DOMAIN_XML_INACTIVE | VIR_DOMAIN_XML_SECURE);
  virDomainPtr defined;

  if (xml == NULL)
    return libvirt_call_failed(&work->call);
  g_autofree char *changed = libvirt_boot_first(xml, work->network, &error);
  free(xml);
  if (changed == NULL) {
    work->call.code = LIBVIRT_BOOT;
    work->call.message = g_strdup(error->message);
    return FALSE;
  }
  defined = virDomainDefineXML(work->call.connection, changed);
  if (defined == NULL)
    return libvirt_call_failed(&work->call);
  virDomainFree(defined);
  return TRUE;
}

static gboolean
press(LibvirtWork *work, virDomainPtr domain)
{
  guint codes[LIBVIRT_KEYS_HELD];

  for (char **key = work->keys; *key != NULL; key++) {
    guint n = libvirt_keys_read(*key, codes);
    if (n == 0) {
      work->call.code = LIBVIRT_KEY;
      work->call.message = g_strdup(*key);
      return FALSE;
    }
    if (virDomainSendKey(domain, VIR_KEYCODE_SET_LINUX, KEY_HELD, codes, (int)n, 0) < 0)
      return libvirt_call_failed(&work->call);
    g_usleep(KEY_NEXT);
  }
  return TRUE;
}

static gboolean
carry_out(LibvirtWork *work, virDomainPtr domain)
{
  switch (work->operation) {
  case OP_ON:
    return switch_on(work, domain);
  case OP_OFF:
    return switch_off(work, domain);
  case OP_RESET:
    return reset(work, domain);
  case OP_BOOT_DEVICE:
    return set_boot(work, domain);
  case OP_KEYS:
  case OP_TYPE:
    return press(work, domain);
  default:
    g_assert_not_reached();
  }
}

void
libvirt_work(LibvirtCall *call)
{
  LibvirtWork *work = (LibvirtWork *)call;
  virDomainPtr domain = libvirt_call_domain(call);

  if (domain == NULL)
    return;
  if (carry_out(work, domain) && work->seen == SEEN_NOTHING)
    libvirt_read_state(call, domain, &work->seen);
  virDomainFree(domain);
}

void
libvirt_work_clear(LibvirtCall *call)
{
  g_strfreev(((LibvirtWork *)call)->keys);
}
