#include "backends/pxe/pxe_edit.h"

#include <string.h>

#include "backends/pxe/pxe_menu_private.h"
#include "backends/secret.h"

#define SHA256_DIGITS 64

typedef enum { EDIT_SHOW, EDIT_SET, EDIT_UNDO } EditKind;

/* A line of MENU.pult-undo, and the files it is about. */
typedef struct {
  char *path, *old_path, *now, *was;
  PxeFile *file; /* as it is; NULL: not given yet */
} Undone;

struct PxeEdit {
  EditKind kind;
  char *path, *undo_path;
  PxeMenu *menu;
  PxeSetting setting;
  char *value;
  gboolean undo_read;
  GPtrArray *undone; /* of Undone */
  guint n_undone;    /* of them, with both files given */
  GArray *writes;    /* of PxeWrite */
};

static void
clear_write(gpointer data)
{
  PxeWrite *write = data;
  g_string_free(write->text, TRUE);
  g_free(write->was);
  g_free(write->now);
}

static void
free_undone(gpointer data)
{
  Undone *undone = data;
  g_free(undone->path);
  g_free(undone->old_path);
  g_free(undone->now);
  g_free(undone->was);
  pxe_file_free(undone->file);
  g_free(undone);
}

static PxeEdit *
edit_new(EditKind kind, const char *menu)
{
  PxeEdit *edit = g_new0(PxeEdit, 1);
  edit->kind = kind;
  edit->path = g_strdup(menu);
  edit->undo_path = g_strconcat(menu, PXE_UNDO, NULL);
  edit->menu = kind != EDIT_UNDO ? pxe_menu_new(menu) : NULL;
  edit->undone = g_ptr_array_new_with_free_func(free_undone);
  edit->writes = g_array_new(FALSE, FALSE, sizeof(PxeWrite));
  g_array_set_clear_func(edit->writes, clear_write);
  return edit;
}

PxeEdit *
pxe_edit_new_show(const char *menu)
{
  return edit_new(EDIT_SHOW, menu);
}

/* PXE_SETTINGS_N: there is none of that name. */
static int
find_setting(const char *name)
{
  int index = 0;
  while (pxe_setting_names[index] != NULL && !g_str_equal(pxe_setting_names[index], name))
    index++;
  return index;
}

PxeEdit *
pxe_edit_new_set(const char *menu, const char *setting, const char *value, GError **error)
{
  int index = find_setting(setting);
  if (index == PXE_SETTINGS_N) {
    pxe_fail(error, "a menu has no setting `%s`", setting);
    return NULL;
  }
  g_autoptr(PxeEdit) edit = edit_new(EDIT_SET, menu);
  edit->setting = (PxeSetting)index;
  edit->value = g_strdup(value);
  if (edit->setting == PXE_SET_THEME && !pxe_menu_want_theme(edit->menu, value, error))
    return NULL;
  return g_steal_pointer(&edit);
}

PxeEdit *
pxe_edit_new_undo(const char *menu)
{
  return edit_new(EDIT_UNDO, menu);
}

void
pxe_edit_free(PxeEdit *edit)
{
  if (edit == NULL)
    return;
  g_free(edit->path);
  g_free(edit->undo_path);
  pxe_menu_free(edit->menu);
  secret_free(edit->value);
  g_ptr_array_unref(edit->undone);
  g_array_unref(edit->writes);
  g_free(edit);
}

gboolean
pxe_edit_is_undo(const PxeEdit *edit)
{
  return edit->kind == EDIT_UNDO;
}

static char *
sha256(const char *text, gsize length)
{
  return g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text, length);
}

static GString *
text_as_read(const PxeFile *file)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < file->read->len; i++)
    g_string_append(text, file->read->pdata[i]);
  return text;
}

/* ---- A change ------------------------------------------------------------------------------ */

static void
add_write(PxeEdit *edit, const PxeFile *file)
{
  g_autoptr(GString) read = text_as_read(file);
  g_array_set_size(edit->writes, edit->writes->len + 1);
  PxeWrite *write = &g_array_index(edit->writes, PxeWrite, edit->writes->len - 1);
  write->path = file->path;
  write->text = pxe_file_text(file);
  write->was = sha256(read->str, read->len);
  write->now = sha256(write->text->str, write->text->len);
}

static gboolean
change(PxeEdit *edit, GError **error)
{
  if (!pxe_menu_set(edit->menu, edit->setting, edit->value, error))
    return FALSE;
  g_autofree PxeFile **changed = pxe_menu_changed(edit->menu);
  for (PxeFile **file = changed; *file != NULL; file++)
    add_write(edit, *file);
  return TRUE;
}

char *
pxe_edit_undo_path(const PxeEdit *edit)
{
  return g_strdup(edit->undo_path);
}

GString *
pxe_edit_undo_text(const PxeEdit *edit)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < edit->writes->len; i++) {
    const PxeWrite *write = &g_array_index(edit->writes, PxeWrite, i);
    g_string_append_printf(text, "%s %s %s\n", write->now, write->was, write->path);
  }
  return text;
}

/* ---- Taking one back ----------------------------------------------------------------------- */

static gboolean
is_sha256(const char *text)
{
  return strlen(text) == SHA256_DIGITS && strspn(text, "0123456789abcdef") == SHA256_DIGITS;
}

static gboolean
read_undo(PxeEdit *edit, const char *text, gsize length, GError **error)
{
  if (text == NULL)
    return pxe_fail(error, "there is nothing to take back: %s is not there", edit->undo_path);
  g_autofree char *whole = g_strndup(text, length);
  g_auto(GStrv) lines = g_strsplit(whole, "\n", PXE_FILES_MAX + 2);
  edit->undo_read = TRUE;
  for (char **line = lines; *line != NULL && **line != '\0'; line++) {
    g_auto(GStrv) words = g_strsplit(*line, " ", 3);
    g_autofree char *path = g_strv_length(words) == 3 ? pxe_path(words[2]) : NULL;
    if (path == NULL || !is_sha256(words[0]) || !is_sha256(words[1]))
      return pxe_fail(error, "%s is not what pxe set wrote there", edit->undo_path);
    Undone *undone = g_new0(Undone, 1);
    undone->now = g_strdup(words[0]);
    undone->was = g_strdup(words[1]);
    undone->old_path = g_strconcat(path, PXE_OLD, NULL);
    undone->path = g_steal_pointer(&path);
    g_ptr_array_add(edit->undone, undone);
  }
  return edit->undone->len > 0 ||
         pxe_fail(error, "%s is not what pxe set wrote there", edit->undo_path);
}

static gboolean
check_current(const Undone *undone, const char *text, gsize length, GError **error)
{
  g_autofree char *sum = text != NULL ? sha256(text, length) : g_strdup("");
  if (g_str_equal(sum, undone->was))
    return pxe_fail(error, "there is nothing to take back: %s is as it was", undone->path);
  return g_str_equal(sum, undone->now) ||
         pxe_fail(error, "%s was changed by somebody else since: nothing is taken back",
                  undone->path);
}

static gboolean
give_undone(PxeEdit *edit, const char *text, gsize length, GError **error)
{
  Undone *undone = edit->undone->pdata[edit->n_undone];
  if (undone->file == NULL) {
    if (!check_current(undone, text, length, error))
      return FALSE;
    undone->file = pxe_file_new(undone->path, text, length, error);
    return undone->file != NULL;
  }
  g_autofree char *sum = text != NULL ? sha256(text, length) : g_strdup("");
  g_autoptr(PxeFile) sound = text != NULL ? pxe_file_new(undone->path, text, length, NULL) : NULL;
  if (sound == NULL || !g_str_equal(sum, undone->was))
    return pxe_fail(error, "%s is not the file that pxe set kept", undone->old_path);
  pxe_file_become(undone->file, text, length);
  add_write(edit, undone->file);
  edit->n_undone++;
  return TRUE;
}

/* ---- Its files ------------------------------------------------------------------------------ */

const char *
pxe_edit_wants(const PxeEdit *edit)
{
  if (edit->kind != EDIT_UNDO)
    return pxe_menu_wants(edit->menu);
  if (!edit->undo_read)
    return edit->undo_path;
  if (edit->n_undone == edit->undone->len)
    return NULL;
  const Undone *undone = edit->undone->pdata[edit->n_undone];
  return undone->file == NULL ? undone->path : undone->old_path;
}

gboolean
pxe_edit_give(PxeEdit *edit, const char *text, gsize length, GError **error)
{
  if (edit->kind == EDIT_UNDO)
    return edit->undo_read ? give_undone(edit, text, length, error)
                           : read_undo(edit, text, length, error);
  if (!pxe_menu_give(edit->menu, text, length, error))
    return FALSE;
  return edit->kind == EDIT_SHOW || pxe_menu_wants(edit->menu) != NULL || change(edit, error);
}

const PxeWrite *
pxe_edit_writes(const PxeEdit *edit, guint *n_writes)
{
  *n_writes = edit->writes->len;
  return (const PxeWrite *)(gconstpointer)edit->writes->data;
}

char **
pxe_edit_difference(const PxeEdit *edit)
{
  g_autoptr(GString) all = g_string_new(NULL);
  for (guint i = 0; i < edit->undone->len; i++) {
    g_autofree char *one = pxe_file_difference(((const Undone *)edit->undone->pdata[i])->file);
    g_string_append(all, one != NULL ? one : "");
  }
  g_autofree char *menu = edit->menu != NULL ? pxe_menu_difference(edit->menu) : NULL;
  g_string_append(all, menu != NULL ? menu : "");
  if (g_str_has_suffix(all->str, "\n"))
    g_string_truncate(all, all->len - 1);
  return all->len > 0 ? g_strsplit(all->str, "\n", -1) : g_new0(char *, 1);
}

char *
pxe_edit_was(const PxeEdit *edit)
{
  g_autoptr(GString) was = g_string_new(NULL);
  for (guint i = 0; i < edit->writes->len; i++) {
    const PxeWrite *write = &g_array_index(edit->writes, PxeWrite, i);
    g_string_append_printf(was, "%s%s %s", i > 0 ? ", " : "", write->was, write->path);
  }
  return g_strdup(was->str);
}

char *
pxe_edit_value(const PxeEdit *edit, const char *setting)
{
  int index = find_setting(setting);
  return index < PXE_SETTINGS_N ? pxe_menu_get(edit->menu, (PxeSetting)index) : NULL;
}

char **
pxe_edit_entries(const PxeEdit *edit)
{
  return pxe_menu_entries(edit->menu);
}

/* ---- What is in force ------------------------------------------------------------------------ */

/* The file counts tenths. */
static char *
shown_value(PxeSetting setting, const char *value)
{
  if (setting != PXE_SET_TIMEOUT && setting != PXE_SET_TOTAL_TIMEOUT)
    return g_strdup(value);
  guint64 tenths = g_ascii_strtoull(value, NULL, 10);
  if (tenths == 0)
    return g_strdup("never");
  return g_strdup_printf("%" G_GUINT64_FORMAT ".%u s", tenths / 10, (guint)(tenths % 10));
}

static void
tell_setting(const PxeMenu *menu, PxeSetting setting, GPtrArray *lines)
{
  const char *name = pxe_setting_names[setting];
  g_autofree char *value = pxe_menu_get(menu, setting), *where = pxe_menu_where(menu, setting);
  g_autofree char *shown = value != NULL ? shown_value(setting, value) : NULL;
  g_ptr_array_add(lines, shown != NULL ? g_strdup_printf("%-13s  %s  (%s)", name, shown, where)
                                       : g_strdup_printf("%-13s  none", name));
}

char **
pxe_edit_told(const PxeEdit *edit)
{
  GPtrArray *lines = g_ptr_array_new();
  for (int i = 0; i < PXE_SETTINGS_N; i++) {
    tell_setting(edit->menu, (PxeSetting)i, lines);
    g_autofree char *untouched = i == PXE_SET_DEFAULT_ENTRY ? pxe_menu_untouched(edit->menu) : NULL;
    if (untouched != NULL)
      g_ptr_array_add(lines, g_strdup_printf("%-13s  %s", "untouched", untouched));
  }
  g_auto(GStrv) entries = pxe_menu_entries(edit->menu), notes = pxe_menu_notes(edit->menu);
  for (char **entry = entries; *entry != NULL; entry++)
    g_ptr_array_add(lines, g_strdup_printf("%-13s  %s", entry == entries ? "entries" : "", *entry));
  for (char **note = notes; *note != NULL; note++)
    g_ptr_array_add(lines, g_strdup_printf("note: %s", *note));
  g_ptr_array_add(lines, NULL);
  return (char **)g_ptr_array_free(lines, FALSE);
}
