#include <errno.h>
#include <libvirt/virterror.h>

#include "backends/libvirt/libvirt_private.h"

char *
libvirt_say(const LibvirtHost *host, const char *format, ...)
{
  va_list arguments;

  va_start(arguments, format);
  g_autofree char *what = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  return g_strdup_printf("libvirt at %s %s", libvirt_host_uri(host), what);
}

char *
libvirt_say_failure(const LibvirtCall *call, const char *what)
{
  switch (call->code) {
  case LIBVIRT_OFF:
    return g_strdup("it is off, and a reset does not switch it on; `power on` does");
  case LIBVIRT_BOOT:
    return libvirt_say(call->host, "cannot choose what it boots from: %s", call->message);
  case LIBVIRT_KEY:
    return g_strdup_printf("there is no %s on a keyboard of libvirt's", call->message);
  case VIR_ERR_NO_DOMAIN:
    return libvirt_say(call->host, "knows no domain `%s`; define it there, or correct `domain`",
                       call->domain);
  case VIR_ERR_OPERATION_TIMEOUT:
    return libvirt_say(call->host, "did not do %s in time, for something else still changes it: %s",
                       what, call->message);
  case VIR_ERR_NO_SUPPORT:
    return libvirt_say(call->host, "has a driver that cannot do %s", what);
  case VIR_ERR_OPERATION_DENIED:
  case VIR_ERR_ACCESS_DENIED:
    return libvirt_say(call->host, "does not let you do %s: %s", what, call->message);
  default:
    return libvirt_say(call->host, "did not do %s: %s", what, call->message);
  }
}

char *
libvirt_say_no_connection(const LibvirtCall *call)
{
  gboolean system = call->code == VIR_ERR_SYSTEM_ERROR;

  if (system && (call->detail == ENOENT || call->detail == ECONNREFUSED))
    return g_strdup_printf("nobody listens there; is libvirtd running? (%s)", call->message);
  if (system && (call->detail == EACCES || call->detail == EPERM))
    return g_strdup_printf("you may not connect; are you in the group it wants? (%s)",
                           call->message);
  if (call->code == VIR_ERR_AUTH_FAILED || call->code == VIR_ERR_AUTH_CANCELLED ||
      call->code == VIR_ERR_AUTH_UNAVAILABLE)
    return g_strdup_printf("it refuses the login; correct `user` and `password` (%s)",
                           call->message);
  if (call->code == VIR_ERR_NO_CONNECT)
    return g_strdup_printf("libvirt here has no driver for that URI; correct `uri` (%s)",
                           call->message);
  return g_strdup_printf("no connection: %s", call->message);
}
