#include "backends/pxe/pxe_menu_private.h"

#include <string.h>

/* Where pxelinux is, as it goes from line to line. */
typedef struct {
  PxeMenu *menu;
  guint stack[PXE_NESTING_MAX], n_stack;
  guint depth, label;
  guint times[PXE_FILES_MAX]; /* that each file was come by */
} Walk;

static void walk_file(Walk *walk, guint n);

static void G_GNUC_PRINTF(2, 3) note(PxeMenu *menu, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *bytes = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  char *text = pxe_printable(bytes);
  if (g_ptr_array_find_with_equal_func(menu->notes, text, g_str_equal, NULL))
    g_free(text);
  else
    g_ptr_array_add(menu->notes, text);
}

/* `MENU INCLUDE FILE TAG` is a submenu, of the file's lines. */
static void
walk_include(Walk *walk, guint n, guint line_number, const PxeLine *line)
{
  PxeMenu *menu = walk->menu;
  const char *from = menu->paths->pdata[n];
  g_autofree char *value = pxe_line_value(line), *word = pxe_line_word(line);
  g_autofree char *path = pxe_path(word);
  gboolean tagged = strlen(value) > strlen(word);
  guint file = path != NULL ? pxe_menu_find_file(menu, path) : PXE_NONE;
  if (file == PXE_NONE) {
    note(menu, "%s:%u: INCLUDE of `%s` was not followed%s", from, line_number + 1, word,
         path == NULL ? ": it is no file below the root" : "");
    return;
  }
  if (menu->files->pdata[file] == NULL) {
    note(menu, "%s:%u: there is no %s to include", from, line_number + 1, path);
    return;
  }
  for (guint i = 0; i < walk->n_stack; i++) {
    if (walk->stack[i] == file) {
      note(menu, "%s:%u: includes %s again, in a loop", from, line_number + 1, path);
      return;
    }
  }
  guint depth = walk->depth;
  walk->depth += tagged;
  walk->label = tagged ? PXE_NONE : walk->label;
  walk_file(walk, file);
  if (tagged) {
    walk->depth = depth;
    walk->label = PXE_NONE;
  }
}

static void
enter_label(Walk *walk, const PxeLine *line)
{
  PxeMenu *menu = walk->menu;
  PxeLabel label = {pxe_line_word(line), menu->statements->len};
  walk->label = menu->labels->len;
  g_array_append_val(menu->labels, label);
}

static void
walk_line(Walk *walk, guint n, guint line_number)
{
  PxeMenu *menu = walk->menu;
  const PxeLine *line = pxe_file_line(menu->files->pdata[n], line_number);
  if (line->word == PXE_NOTHING)
    return;
  if (menu->statements->len >= PXE_STATEMENTS_MAX) {
    menu->overlong = TRUE;
    return;
  }
  if (line->word == PXE_BEGIN || line->word == PXE_END || line->word == PXE_SEPARATOR)
    walk->label = PXE_NONE;
  if (line->word == PXE_LABEL)
    enter_label(walk, line);
  if (line->word == PXE_END && walk->depth > 0)
    walk->depth--;
  PxeStatement statement = {n, line_number, walk->depth, walk->label};
  g_array_append_val(menu->statements, statement);
  if (line->word == PXE_BEGIN)
    walk->depth++;
  if (line->word == PXE_INCLUDE)
    walk_include(walk, n, line_number, line);
}

static void
walk_file(Walk *walk, guint n)
{
  PxeMenu *menu = walk->menu;
  const PxeFile *file = menu->files->pdata[n];
  if (walk->n_stack >= PXE_NESTING_MAX) {
    note(menu, "%s is included %d deep: not read there", file->path, PXE_NESTING_MAX);
    return;
  }
  walk->stack[walk->n_stack++] = n;
  if (walk->times[n]++ == 1)
    note(menu, "%s is included more than once: a change in it counts each time", file->path);
  for (guint i = 0; i < file->lines->len && !menu->overlong; i++)
    walk_line(walk, n, i);
  walk->n_stack--;
}

static char *
place(const PxeMenu *menu, guint at)
{
  const PxeStatement *statement = pxe_menu_statement(menu, at);
  return g_strdup_printf("%s:%u", (const char *)menu->paths->pdata[statement->file],
                         statement->line + 1);
}

/* The last one read counts, wherever it stands. */
static void
note_overruled(PxeMenu *menu, PxeWord word, const char *name)
{
  guint last = pxe_menu_last(menu, word, TRUE);
  if (last == PXE_NONE)
    return;
  g_autofree char *counts = place(menu, last);
  for (guint i = 0; i < last; i++) {
    if (pxe_menu_line(menu, i)->word != word || pxe_menu_line(menu, i) == pxe_menu_line(menu, last))
      continue;
    g_autofree char *one = place(menu, i);
    note(menu, "%s: this %s is overruled by the one at %s", one, name, counts);
  }
  const PxeStatement *statement = pxe_menu_statement(menu, last);
  if (statement->label != PXE_NONE)
    note(menu, "%s: this %s stands among the lines of %s, and counts for the whole menu", counts,
         name, g_array_index(menu->labels, PxeLabel, statement->label).name);
}

static void
note_labels(PxeMenu *menu)
{
  for (guint i = 0; i < menu->labels->len; i++) {
    const PxeLabel *label = &g_array_index(menu->labels, PxeLabel, i);
    guint first = pxe_menu_find_label(menu, label->name);
    guint other = g_array_index(menu->labels, PxeLabel, first).at;
    if (first == i || pxe_menu_line(menu, other) == pxe_menu_line(menu, label->at))
      continue;
    g_autofree char *one = place(menu, label->at), *before = place(menu, other);
    note(menu, "%s: there is a label %s at %s already", one, label->name, before);
  }
}

void
pxe_menu_walk(PxeMenu *menu)
{
  Walk walk = {.menu = menu, .label = PXE_NONE};
  g_array_set_size(menu->statements, 0);
  g_array_set_size(menu->labels, 0);
  g_ptr_array_set_size(menu->notes, 0);
  menu->overlong = FALSE;
  walk_file(&walk, 0);
  if (menu->overlong || menu->paths->len >= PXE_FILES_MAX)
    note(menu, "the menu is longer than %d files or %d statements: only its beginning was read",
         PXE_FILES_MAX, PXE_STATEMENTS_MAX);
  note_overruled(menu, PXE_TIMEOUT, "TIMEOUT");
  note_overruled(menu, PXE_TOTALTIMEOUT, "TOTALTIMEOUT");
  note_overruled(menu, PXE_DEFAULT, "DEFAULT");
  note_overruled(menu, PXE_ONTIMEOUT, "ONTIMEOUT");
  note_labels(menu);
}
