/* One look at a boot menu or one change of it, from what was asked to what is to be written. No
 * I/O: whoever has an edit asks pxe_edit_wants() and gives it those files.
 *
 * Beside every file that a change touches, the file as it was stays as NAME.pult-old; which they
 * are, and what was made of them, is in MENU.pult-undo. An undo reads that and gives back the files
 * as they were, if nobody has changed them since; then both are gone.
 */
#ifndef PULT_PXE_EDIT_H
#define PULT_PXE_EDIT_H

#include "backends/pxe/pxe_menu.h"

#define PXE_OLD ".pult-old"
#define PXE_UNDO ".pult-undo"

typedef struct PxeEdit PxeEdit;

/* What a file becomes. */
typedef struct {
  const char *path; /* below the root */
  GString *text;
  char *was, *now; /* sha256, as read and of text */
} PxeWrite;

/* MENU is its path below the root. The menu is read whole, and nothing is changed. */
PxeEdit *pxe_edit_new_show(const char *menu);
/* SETTING by its name, VALUE as it is to stand in the file. NULL: there is no such setting. */
PxeEdit *pxe_edit_new_set(const char *menu, const char *setting, const char *value, GError **error);
PxeEdit *pxe_edit_new_undo(const char *menu);
void pxe_edit_free(PxeEdit *edit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PxeEdit, pxe_edit_free)

/* The path below the root of a file that is still to be given; NULL: all is known. */
const char *pxe_edit_wants(const PxeEdit *edit);
/* That file's bytes; TEXT of NULL: there is none. FALSE, and the edit is of no use. */
gboolean pxe_edit_give(PxeEdit *edit, const char *text, gsize length, GError **error);

/* Once all is known: */
gboolean pxe_edit_is_undo(const PxeEdit *edit);
/* What is in force, a line each, for a person. Not of an undo. Free with g_strfreev. */
char **pxe_edit_told(const PxeEdit *edit);
/* What is in force of SETTING, as pxe_menu_get(). Not of an undo. Free with g_free. */
char *pxe_edit_value(const PxeEdit *edit, const char *setting);
/* The names of its labels, as pxe_menu_entries(). Not of an undo. */
char **pxe_edit_entries(const PxeEdit *edit);
/* What would be written; n_writes of 0: nothing is changed. */
const PxeWrite *pxe_edit_writes(const PxeEdit *edit, guint *n_writes);
/* The difference, lines without their ends. Free with g_strfreev. */
char **pxe_edit_difference(const PxeEdit *edit);
/* By what the files are that it is made of: `SHA256 PATH`, commas between. Free with g_free. */
char *pxe_edit_was(const PxeEdit *edit);
/* MENU.pult-undo's path, and of a change what is to stand there. Free with g_free. */
char *pxe_edit_undo_path(const PxeEdit *edit);
GString *pxe_edit_undo_text(const PxeEdit *edit);

/* The password that REFERENCE (file:PATH, env:NAME) holds, hashed as menus take it. Free with
 * secret_free(). */
char *pxe_password_hash(const char *reference, GError **error);

#endif
