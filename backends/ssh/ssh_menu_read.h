/* The files of a boot server's menu, read one after the other, as each is found to be included. */
#ifndef PULT_SSH_MENU_READ_H
#define PULT_SSH_MENU_READ_H

#include "backends/pxe/pxe_edit.h"
#include "backends/ssh/ssh_link.h"

typedef struct SshMenuRead SshMenuRead;

/* FAILURE, one printable line, or NULL: EDIT has all it wants. From the main loop, never from
 * within ssh_menu_read_new() unless EDIT wants nothing; the read may be freed in it. */
typedef void (*SshMenuReadDone)(const char *failure, gpointer data);

/* EDIT and ROOT outlive it. */
SshMenuRead *ssh_menu_read_new(SshLink *link, const char *root, PxeEdit *edit, SshMenuReadDone done,
                               gpointer data);
/* It is not told any more. Takes NULL. */
void ssh_menu_read_free(SshMenuRead *read);

#endif
