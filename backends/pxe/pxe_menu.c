#include "backends/pxe/pxe_menu_private.h"

#include <string.h>

static void
clear_label(gpointer data)
{
  g_free(((PxeLabel *)data)->name);
}

char *
pxe_path(const char *name)
{
  if (g_str_has_prefix(name, "::"))
    name += 2;
  if (strstr(name, "://") != NULL || strchr(name, '\n') != NULL)
    return NULL;
  g_auto(GStrv) parts = g_strsplit(name, "/", -1);
  g_autoptr(GPtrArray) kept = g_ptr_array_new();
  for (char **part = parts; *part != NULL; part++) {
    if (g_str_equal(*part, "") || g_str_equal(*part, "."))
      continue;
    if (!g_str_equal(*part, ".."))
      g_ptr_array_add(kept, *part);
    else if (kept->len > 0)
      g_ptr_array_set_size(kept, (gint)kept->len - 1);
    else
      return NULL;
  }
  g_ptr_array_add(kept, NULL);
  return kept->len > 1 ? g_strjoinv("/", (char **)kept->pdata) : NULL;
}

guint
pxe_menu_find_file(const PxeMenu *menu, const char *path)
{
  for (guint i = 0; i < menu->paths->len; i++)
    if (g_str_equal(menu->paths->pdata[i], path))
      return i;
  return PXE_NONE;
}

static void
add_path(PxeMenu *menu, const char *path)
{
  if (pxe_menu_find_file(menu, path) != PXE_NONE)
    return;
  if (menu->paths->len >= PXE_FILES_MAX) {
    menu->overlong = TRUE;
    return;
  }
  g_ptr_array_add(menu->paths, g_strdup(path));
  g_ptr_array_add(menu->files, NULL);
}

static void
free_file(gpointer data)
{
  pxe_file_free(data);
}

PxeMenu *
pxe_menu_new(const char *path)
{
  PxeMenu *menu = g_new0(PxeMenu, 1);
  menu->paths = g_ptr_array_new_with_free_func(g_free);
  menu->files = g_ptr_array_new_with_free_func(free_file);
  menu->statements = g_array_new(FALSE, FALSE, sizeof(PxeStatement));
  menu->labels = g_array_new(FALSE, FALSE, sizeof(PxeLabel));
  g_array_set_clear_func(menu->labels, clear_label);
  menu->notes = g_ptr_array_new_with_free_func(g_free);
  add_path(menu, path);
  return menu;
}

void
pxe_menu_free(PxeMenu *menu)
{
  if (menu == NULL)
    return;
  g_ptr_array_unref(menu->paths);
  g_ptr_array_unref(menu->files);
  g_array_unref(menu->statements);
  g_array_unref(menu->labels);
  g_ptr_array_unref(menu->notes);
  g_free(menu);
}

const char *
pxe_menu_wants(const PxeMenu *menu)
{
  return menu->n_given < menu->paths->len ? menu->paths->pdata[menu->n_given] : NULL;
}

gboolean
pxe_menu_give(PxeMenu *menu, const char *text, gsize length, GError **error)
{
  const char *path = pxe_menu_wants(menu);
  g_assert(path != NULL);
  if (text == NULL && menu->n_given == 0)
    return pxe_fail(error, "there is no %s", path);
  if (text != NULL) {
    PxeFile *file = pxe_file_new(path, text, length, error);
    if (file == NULL)
      return FALSE;
    menu->files->pdata[menu->n_given] = file;
    for (guint i = 0; i < file->lines->len; i++) {
      if (pxe_file_line(file, i)->word != PXE_INCLUDE)
        continue;
      g_autofree char *word = pxe_line_word(pxe_file_line(file, i));
      g_autofree char *below = pxe_path(word);
      if (below != NULL)
        add_path(menu, below);
    }
  }
  menu->n_given++;
  if (pxe_menu_wants(menu) == NULL)
    pxe_menu_walk(menu);
  return TRUE;
}

gboolean
pxe_menu_want_theme(PxeMenu *menu, const char *theme, GError **error)
{
  g_autofree char *below = pxe_path(theme);
  if (below == NULL)
    return pxe_fail(error, "`%s` is no file below the boot server's root", theme);
  add_path(menu, below);
  return TRUE;
}

PxeFile **
pxe_menu_changed(const PxeMenu *menu)
{
  GPtrArray *changed = g_ptr_array_new();
  for (guint i = 0; i < menu->files->len; i++)
    if (menu->files->pdata[i] != NULL && pxe_file_changed(menu->files->pdata[i]))
      g_ptr_array_add(changed, menu->files->pdata[i]);
  g_ptr_array_add(changed, NULL);
  return (PxeFile **)g_ptr_array_free(changed, FALSE);
}

char *
pxe_menu_difference(const PxeMenu *menu)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < menu->files->len; i++) {
    PxeFile *file = menu->files->pdata[i];
    g_autofree char *one = file != NULL ? pxe_file_difference(file) : NULL;
    g_string_append(text, one != NULL ? one : "");
  }
  return g_string_free(text, text->len == 0);
}
