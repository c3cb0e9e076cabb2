/* A file of one machine's own that its loader takes instead of the menu of all, for one boot.
 *
 * pxelinux looks for pxelinux.cfg/01-MAC before any other; an iPXE that is told to chains MAC.ipxe.
 * The site's own files are not touched.
 */
#ifndef PULT_PXE_ONCE_H
#define PULT_PXE_ONCE_H

#include "model/layout.h"

/* `52-54-00-aa-00-01`, as both name their files. Free with g_free. */
char *pxe_once_mac(const MacAddress *mac);
/* FALSE: ENTRY is none of ENTRIES, the labels of a menu; the error names the nearest. */
gboolean pxe_once_check(char *const *entries, const char *entry, GError **error);
/* Whether ENTRY can be part of a file's name. */
gboolean pxe_once_is_name(const char *entry);
/* The lines for pxelinux: the menu at MENU, below the root, of which ENTRY is booted at once. For
 * iPXE: a script that goes on to CHAIN with ENTRY in it, and without its first line, `#!ipxe`. Free
 * with g_free. */
char *pxe_once_pxelinux(const char *menu, const char *entry);
char *pxe_once_ipxe(const char *chain, const char *entry);

#endif
