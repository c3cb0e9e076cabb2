/* A pxelinux menu with all that it includes: what is in force, and how to change it.
 *
 * What counts is what pxelinux 6 does: of several statements the one read last is in force,
 * wherever it stands (a TIMEOUT or TOTALTIMEOUT among a label's lines is the whole menu's); a
 * title, a master password and a background are of the menu they stand in, a submenu having its
 * own. The entry is a DEFAULT that names a label, else the label with MENU DEFAULT, else the first;
 * left untouched until its TIMEOUT, a menu boots ONTIMEOUT where there is one.
 *
 * An edit changes the one value that is in force where it stands, in the file that has it, or puts
 * in one line where there was none; every other byte stays. No I/O: whoever has a menu asks
 * pxe_menu_wants() and gives it those files.
 */
#ifndef PULT_PXE_MENU_H
#define PULT_PXE_MENU_H

#include "backends/pxe/pxe_file.h"

#define PXE_FILES_MAX 64
#define PXE_NESTING_MAX 16
#define PXE_STATEMENTS_MAX 100000

typedef enum {
  PXE_SET_DEFAULT_ENTRY,
  PXE_SET_TIMEOUT,
  PXE_SET_TOTAL_TIMEOUT,
  PXE_SET_TITLE,
  PXE_SET_PASSWORD,
  PXE_SET_THEME,
} PxeSetting;
#define PXE_SETTINGS_N (PXE_SET_THEME + 1)

/* `default-entry`, `timeout`, `total-timeout`, `title`, `password`, `theme`. */
extern const char *const pxe_setting_names[PXE_SETTINGS_N + 1];

typedef struct PxeMenu PxeMenu;

/* PATH is where it begins, below the root that pxelinux fetches from: `pxelinux.cfg/default`. */
PxeMenu *pxe_menu_new(const char *path);
void pxe_menu_free(PxeMenu *menu);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PxeMenu, pxe_menu_free)

/* The path below the root of a file that is still to be given; NULL: the menu is whole. */
const char *pxe_menu_wants(const PxeMenu *menu);
/* That file's bytes; TEXT of NULL: there is none. FALSE, and the menu is of no use: its first file
 * is missing, or one of them is none. */
gboolean pxe_menu_give(PxeMenu *menu, const char *text, gsize length, GError **error);
/* Wants a theme's file as well, for PXE_SET_THEME. FALSE: no path below the root. */
gboolean pxe_menu_want_theme(PxeMenu *menu, const char *theme, GError **error);

/* What is in force; NULL: nothing is. A time is in tenths of a second, as it stands in the file;
 * of a password only how it is kept (`sha512`, …, `plain text`). Free with g_free. */
char *pxe_menu_get(const PxeMenu *menu, PxeSetting setting);
/* The entry that a menu nobody touches boots, unlike the one it has for its default; else NULL. */
char *pxe_menu_untouched(const PxeMenu *menu);
/* `pxelinux.cfg/default:12`, where the value in force stands; NULL: nowhere. */
char *pxe_menu_where(const PxeMenu *menu, PxeSetting setting);
/* The names of its labels, in order, each once. Free with g_strfreev. */
char **pxe_menu_entries(const PxeMenu *menu);
/* What a person should know of it, one line each: files included in a loop, twice, or missing,
 * settings that stand where one takes them for something else. Free with g_strfreev. */
char **pxe_menu_notes(const PxeMenu *menu);

/* VALUE as it is to stand in the file. A theme that ends in .png, .jpg, .jpeg or .lss or begins
 * with # is a MENU BACKGROUND; any other names a file of colours and measures, which takes the
 * place of the one included now. FALSE, the menu untouched: VALUE cannot be had. */
gboolean pxe_menu_set(PxeMenu *menu, PxeSetting setting, const char *value, GError **error);

/* The files that were changed, in order of their paths' first reading; NULL-terminated, free with
 * g_free, the files are the menu's. */
PxeFile **pxe_menu_changed(const PxeMenu *menu);
/* The differences of all of them; NULL: there is none. */
char *pxe_menu_difference(const PxeMenu *menu);

#endif
