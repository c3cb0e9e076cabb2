/* What keeps the boot-once files on the boot server: one text for a POSIX shell, told by lines.
 *
 *   console → host                         host → console, each once
 *   put N MAC PXELINUX IPXE                N ok
 *   back N MAC                             N failed WHY
 *
 * PXELINUX and IPXE are the lines for each in base64, `-` for none. A file is put in its place
 * whole, beside the site's own; one that is there already is left alone unless it was this keeper's
 * or that of one that is no more. Its second line names its keeper. `back` takes away what is still
 * as it was put, and so does the end of the channel, whatever ended it, with all that are left.
 *
 * `stale FILE` and `ready` come unasked, before anything else: what a keeper has left that could
 * not take it back, since its machine went down, is taken away.
 */
#ifndef PULT_SSH_ONCE_KEEPER_H
#define PULT_SSH_ONCE_KEEPER_H

#include <glib.h>

/* For a shell: it keeps files in the folders PXELINUX and IPXE; NULL: none of those. Free with
 * g_free. */
char *ssh_once_keeper_line(const char *shell, const char *pxelinux, const char *ipxe);

#endif
