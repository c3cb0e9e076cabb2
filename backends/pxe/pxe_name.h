/* By which names pxelinux asks for a machine's menu, in that order. */
#ifndef PULT_PXE_NAME_H
#define PULT_PXE_NAME_H

#include <glib.h>

/* `01-aa-bb-cc-dd-ee-ff`: Ethernet's number and the address, in small letters. */
char *pxe_name_of_mac(const guint8 mac[6]);
/* `01-mac`, then `C0A80101` and each prefix of it down to one digit, then `default`: relative to
 * pxelinux.cfg/. A MAC or IPV4 (in host order) of NULL is left out. Free with g_strfreev. */
char **pxe_names(const guint8 *mac, const guint32 *ipv4);
/* A file of that name is asked for by one machine or by some, never by all. */
gboolean pxe_name_is_special(const char *name);

#endif
