/* Between the parts of a menu. */
#ifndef PULT_PXE_MENU_PRIVATE_H
#define PULT_PXE_MENU_PRIVATE_H

#include "backends/pxe/pxe_menu.h"

#define PXE_NONE G_MAXUINT

/* A line of a file as pxelinux comes by it: one that is included twice is there twice. */
typedef struct {
  guint file, line;
  guint depth; /* in submenus; 0: the menu itself */
  guint label; /* whose lines it is among, in labels[]; PXE_NONE: nobody's */
} PxeStatement;

typedef struct {
  char *name;
  guint at; /* its LABEL, in statements[] */
} PxeLabel;

struct PxeMenu {
  GPtrArray *paths; /* char *, as first read; the menu's own is the first */
  GPtrArray *files; /* PxeFile * beside each path; NULL: there is none, or it is still to come */
  guint n_given;
  /* What pxe_menu_walk() makes of them. */
  GArray *statements, *labels;
  GPtrArray *notes;
  gboolean overlong;
};

/* Everything from the files anew. */
void pxe_menu_walk(PxeMenu *menu);

/* Where a path that a menu names is, below the root; NULL: nowhere below. Free with g_free. */
char *pxe_path(const char *name);
/* Its number in paths[], PXE_NONE when nothing names it. */
guint pxe_menu_find_file(const PxeMenu *menu, const char *path);

PxeStatement *pxe_menu_statement(const PxeMenu *menu, guint at);
PxeLine *pxe_menu_line(const PxeMenu *menu, guint at);
/* In labels[], by name; PXE_NONE. */
guint pxe_menu_find_label(const PxeMenu *menu, const char *name);
/* The last statement of that word, of submenus too or not; PXE_NONE. */
guint pxe_menu_last(const PxeMenu *menu, PxeWord word, gboolean submenus);
/* It says which entry of the menu itself is the default one. */
gboolean pxe_menu_is_default(const PxeMenu *menu, guint at);
/* DEFAULT names the program that shows the menu, no entry. */
gboolean pxe_menu_default_is_program(const PxeMenu *menu);
/* The statement that is in force for a setting; PXE_NONE. */
guint pxe_menu_in_force(const PxeMenu *menu, PxeSetting setting);
/* FILE holds looks and nothing else. */
gboolean pxe_file_is_theme(const PxeFile *file);

#endif
