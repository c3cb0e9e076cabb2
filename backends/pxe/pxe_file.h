/* One file of a pxelinux menu, kept line by line, byte by byte.
 *
 * What pxelinux 6 makes of a line: keywords in any case, set off by blanks and tabs; `#` begins a
 * comment at a line's start only; between TEXT and ENDTEXT everything is text. A line's end is LF,
 * CRLF, or nothing at the end of the file. No I/O.
 */
#ifndef PULT_PXE_FILE_H
#define PULT_PXE_FILE_H

#include <glib.h>

#define PXE_ERROR (g_quark_from_static_string("pult-pxe"))
#define PXE_FILE_MAX (1024 * 1024) /* bytes */
#define PXE_LINE_MAX 2047          /* of a line: pxelinux reads a longer one as two */

/* TEXT as one printable line of UTF-8, with \xNN for any other byte. Free with g_free. */
char *pxe_printable(const char *text);
/* FALSE, with an error that is printable, whatever bytes are in it. */
gboolean pxe_fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

typedef enum {
  PXE_NOTHING, /* a blank line, a comment, the inside of a TEXT */
  PXE_OTHER,   /* any keyword that no setting asks about: PROMPT, KERNEL, … */
  PXE_LOOK,    /* MENU COLOR, ROWS, MARGIN, …: how the menu looks */
  PXE_BACKGROUND,
  PXE_DEFAULT,
  PXE_UI,
  PXE_ONTIMEOUT,
  PXE_TIMEOUT,
  PXE_TOTALTIMEOUT,
  PXE_LABEL,
  PXE_INCLUDE, /* MENU INCLUDE as well */
  PXE_TITLE,
  PXE_MENU_DEFAULT,
  PXE_MASTER_PASSWD,
  PXE_PASSWD,
  PXE_BEGIN,
  PXE_END,
  PXE_SEPARATOR,
} PxeWord;

typedef struct {
  PxeWord word;
  char *text; /* whole, its line end included */
  /* Its value is text[value] up to text[end]; behind that are blanks and the line's end. */
  guint value, end;
  gint origin; /* the line it was when the file was read, from 0; -1: it was put in */
} PxeLine;

typedef struct {
  char *path;
  GArray *lines;   /* of PxeLine */
  GPtrArray *read; /* char *: the lines as read, for the difference */
  gboolean crlf, lower;
} PxeFile;

/* NULL and an error that names PATH: it is too long, or holds a NUL. */
PxeFile *pxe_file_new(const char *path, const char *text, gsize length, GError **error);
void pxe_file_free(PxeFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PxeFile, pxe_file_free)

PxeLine *pxe_file_line(const PxeFile *file, guint n);
/* A copy of the line's value, or of its first word. */
char *pxe_line_value(const PxeLine *line);
char *pxe_line_word(const PxeLine *line);

/* Only the value becomes another: what stands before and behind it stays. */
void pxe_file_change(PxeFile *file, guint n, const char *value);
/* A line before the Nth (behind the last, N being their number): INDENT, then STATEMENT and VALUE,
 * in capitals or not and with the line end as the file has them. */
void pxe_file_insert(PxeFile *file, guint n, const char *indent, const char *statement,
                     const char *value);
void pxe_file_remove(PxeFile *file, guint n);

/* The whole file becomes TEXT, as by changes of single lines. */
void pxe_file_become(PxeFile *file, const char *text, gsize length);

gboolean pxe_file_changed(const PxeFile *file);
/* The whole file as it is now. */
GString *pxe_file_text(const PxeFile *file);
/* A unified difference between then and now, three lines around each change; NULL when there is
 * none. What stands for a password is left out of it. */
char *pxe_file_difference(const PxeFile *file);

#endif
