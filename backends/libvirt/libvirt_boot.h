/* What a domain boots from, as its definition says: a list of kinds in <os>, or a number beside
 * each device. Whichever of the two it has is kept. */
#ifndef PULT_LIBVIRT_BOOT_H
#define PULT_LIBVIRT_BOOT_H

#include <glib.h>

/* The definition XML with network (or else disk) devices first, the others behind in their order;
 * everything else in it stays. NULL with an error: it has no such device, or is no definition. Any
 * thread. Free with g_free(). */
char *libvirt_boot_first(const char *xml, gboolean network, GError **error);

#endif
