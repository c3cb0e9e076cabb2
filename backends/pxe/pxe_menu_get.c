#include "backends/pxe/pxe_menu_private.h"

#include <string.h>

const char *const pxe_setting_names[PXE_SETTINGS_N + 1] = {
    "default-entry", "timeout", "total-timeout", "title", "password", "theme", NULL,
};

PxeStatement *
pxe_menu_statement(const PxeMenu *menu, guint at)
{
  return &g_array_index(menu->statements, PxeStatement, at);
}

PxeLine *
pxe_menu_line(const PxeMenu *menu, guint at)
{
  const PxeStatement *statement = pxe_menu_statement(menu, at);
  return pxe_file_line(menu->files->pdata[statement->file], statement->line);
}

guint
pxe_menu_find_label(const PxeMenu *menu, const char *name)
{
  for (guint i = 0; i < menu->labels->len; i++)
    if (g_str_equal(g_array_index(menu->labels, PxeLabel, i).name, name))
      return i;
  return PXE_NONE;
}

guint
pxe_menu_last(const PxeMenu *menu, PxeWord word, gboolean submenus)
{
  for (guint at = menu->statements->len; at-- > 0;)
    if (pxe_menu_line(menu, at)->word == word &&
        (submenus || pxe_menu_statement(menu, at)->depth == 0))
      return at;
  return PXE_NONE;
}

/* Outside labels it is about the submenu as an entry of the menu around it. */
gboolean
pxe_menu_is_default(const PxeMenu *menu, guint at)
{
  const PxeStatement *statement = pxe_menu_statement(menu, at);
  return pxe_menu_line(menu, at)->word == PXE_MENU_DEFAULT &&
         statement->depth == (statement->label == PXE_NONE ? 1 : 0);
}

static gboolean
names_label(const PxeMenu *menu, guint at)
{
  if (at == PXE_NONE)
    return FALSE;
  g_autofree char *word = pxe_line_word(pxe_menu_line(menu, at));
  return pxe_menu_find_label(menu, word) != PXE_NONE;
}

gboolean
pxe_menu_default_is_program(const PxeMenu *menu)
{
  guint at = pxe_menu_last(menu, PXE_DEFAULT, TRUE);
  if (at == PXE_NONE || names_label(menu, at))
    return FALSE;
  g_autofree char *word = pxe_line_word(pxe_menu_line(menu, at));
  g_autofree char *lower = g_ascii_strdown(word, -1);
  return g_str_has_suffix(lower, ".c32") || g_str_has_suffix(lower, ".com") ||
         g_str_has_suffix(lower, ".cbt");
}

static guint
default_entry(const PxeMenu *menu)
{
  guint at = pxe_menu_last(menu, PXE_DEFAULT, TRUE);
  if (names_label(menu, at))
    return at;
  gboolean shown =
      pxe_menu_last(menu, PXE_UI, TRUE) != PXE_NONE || pxe_menu_default_is_program(menu);
  if (!shown && at != PXE_NONE)
    return at;
  for (guint i = menu->statements->len; shown && i-- > 0;)
    if (pxe_menu_is_default(menu, i))
      return i;
  for (guint i = 0; i < menu->labels->len; i++) {
    guint label = g_array_index(menu->labels, PxeLabel, i).at;
    if (pxe_menu_statement(menu, label)->depth == 0)
      return label;
  }
  return PXE_NONE;
}

gboolean
pxe_file_is_theme(const PxeFile *file)
{
  gboolean any = FALSE;
  for (guint i = 0; i < file->lines->len; i++) {
    PxeWord word = pxe_file_line(file, i)->word;
    if (word != PXE_NOTHING && word != PXE_LOOK && word != PXE_BACKGROUND && word != PXE_TITLE)
      return FALSE;
    any = any || word == PXE_LOOK || word == PXE_BACKGROUND;
  }
  return any;
}

/* A theme's file says more of how the menu looks than the picture in it does. */
static guint
theme(const PxeMenu *menu)
{
  for (guint at = menu->statements->len; at-- > 0;) {
    if (pxe_menu_line(menu, at)->word != PXE_INCLUDE || pxe_menu_statement(menu, at)->depth > 0)
      continue;
    g_autofree char *word = pxe_line_word(pxe_menu_line(menu, at));
    g_autofree char *path = pxe_path(word);
    guint file = path != NULL ? pxe_menu_find_file(menu, path) : PXE_NONE;
    if (file != PXE_NONE && menu->files->pdata[file] != NULL &&
        pxe_file_is_theme(menu->files->pdata[file]))
      return at;
  }
  return pxe_menu_last(menu, PXE_BACKGROUND, FALSE);
}

guint
pxe_menu_in_force(const PxeMenu *menu, PxeSetting setting)
{
  switch (setting) {
  case PXE_SET_DEFAULT_ENTRY:
    return default_entry(menu);
  case PXE_SET_TIMEOUT:
    return pxe_menu_last(menu, PXE_TIMEOUT, TRUE);
  case PXE_SET_TOTAL_TIMEOUT:
    return pxe_menu_last(menu, PXE_TOTALTIMEOUT, TRUE);
  case PXE_SET_TITLE:
    return pxe_menu_last(menu, PXE_TITLE, FALSE);
  case PXE_SET_PASSWORD:
    return pxe_menu_last(menu, PXE_MASTER_PASSWD, FALSE);
  case PXE_SET_THEME:
    return theme(menu);
  }
  g_assert_not_reached();
}

static const char *
password_kind(const char *value)
{
  static const struct {
    const char *sign, *name;
  } kinds[] = {{"$1$", "md5"}, {"$4$", "sha1"}, {"$5$", "sha256"}, {"$6$", "sha512"}};
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (g_str_has_prefix(value, kinds[i].sign))
      return kinds[i].name;
  return "plain text";
}

char *
pxe_menu_get(const PxeMenu *menu, PxeSetting setting)
{
  guint at = pxe_menu_in_force(menu, setting);
  if (at == PXE_NONE)
    return NULL;
  const PxeLine *line = pxe_menu_line(menu, at);
  const PxeStatement *statement = pxe_menu_statement(menu, at);
  if (line->word == PXE_MENU_DEFAULT)
    return statement->label != PXE_NONE
               ? g_strdup(g_array_index(menu->labels, PxeLabel, statement->label).name)
               : NULL;
  g_autofree char *value = pxe_line_value(line);
  if (setting == PXE_SET_PASSWORD)
    return *value != '\0' ? g_strdup(password_kind(value)) : NULL;
  if (setting == PXE_SET_TITLE)
    return g_steal_pointer(&value);
  if (setting == PXE_SET_TIMEOUT || setting == PXE_SET_TOTAL_TIMEOUT)
    return g_strdup_printf("%" G_GINT64_FORMAT, MAX(g_ascii_strtoll(value, NULL, 10), 0));
  return pxe_line_word(line);
}

char *
pxe_menu_untouched(const PxeMenu *menu)
{
  guint at = pxe_menu_last(menu, PXE_ONTIMEOUT, TRUE);
  if (at == PXE_NONE)
    return NULL;
  g_autofree char *word = pxe_line_word(pxe_menu_line(menu, at));
  g_autofree char *entry = pxe_menu_get(menu, PXE_SET_DEFAULT_ENTRY);
  return g_strcmp0(word, entry) != 0 ? g_steal_pointer(&word) : NULL;
}

char *
pxe_menu_where(const PxeMenu *menu, PxeSetting setting)
{
  guint at = pxe_menu_in_force(menu, setting);
  if (at == PXE_NONE)
    return NULL;
  const PxeStatement *statement = pxe_menu_statement(menu, at);
  return g_strdup_printf("%s:%u", (const char *)menu->paths->pdata[statement->file],
                         statement->line + 1);
}

char **
pxe_menu_entries(const PxeMenu *menu)
{
  GPtrArray *names = g_ptr_array_new();
  for (guint i = 0; i < menu->labels->len; i++) {
    const char *name = g_array_index(menu->labels, PxeLabel, i).name;
    if (pxe_menu_find_label(menu, name) == i)
      g_ptr_array_add(names, g_strdup(name));
  }
  g_ptr_array_add(names, NULL);
  return (char **)g_ptr_array_free(names, FALSE);
}

char **
pxe_menu_notes(const PxeMenu *menu)
{
  GPtrArray *notes = g_ptr_array_new();
  for (guint i = 0; i < menu->notes->len; i++)
    g_ptr_array_add(notes, g_strdup(menu->notes->pdata[i]));
  g_ptr_array_add(notes, NULL);
  return (char **)g_ptr_array_free(notes, FALSE);
}
