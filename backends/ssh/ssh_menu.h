/* What goes to a boot server when its menu is changed. */
#ifndef PULT_SSH_MENU_H
#define PULT_SSH_MENU_H

#include "backends/pxe/pxe_edit.h"

/* Exit status: a file is another than EDIT was made of, and all is as it was. */
#define SSH_MENU_CHANGED 41

/* The command line that writes EDIT's files below ROOT, which it reads from its input: each as
 * text, in base64, with a line of one point behind it. They all become what they are to be, by
 * renaming, or none. No word of theirs is in it. Free with g_free. */
char *ssh_menu_write_line(const PxeEdit *edit, const char *root);
/* That input. */
GString *ssh_menu_write_input(const PxeEdit *edit);

#endif
