#include "backends/pxe/pxe_menu_private.h"

#include <string.h>

#define TIMEOUT_MAX 35996        /* tenths: pxelinux counts no further */
#define TOTAL_TIMEOUT_MAX 864000 /* a day */
#define TITLE_MAX 200
#define ENTRIES_SAID 400 /* bytes */

static void
change(PxeMenu *menu, guint at, const char *value)
{
  const PxeStatement *statement = pxe_menu_statement(menu, at);
  pxe_file_change(menu->files->pdata[statement->file], statement->line, value);
  pxe_menu_walk(menu);
}

/* The first of the menu's own lines that begins an entry or a submenu, or includes one: a
 * statement behind it might be taken for the entry's. */
static guint
first_entry_line(const PxeMenu *menu)
{
  for (guint at = 0, own = 0; at < menu->statements->len; at++) {
    const PxeStatement *statement = pxe_menu_statement(menu, at);
    PxeWord word = pxe_menu_line(menu, at)->word;
    own = statement->file == 0 ? statement->line : own;
    if (word == PXE_LABEL || word == PXE_BEGIN || word == PXE_SEPARATOR || statement->depth > 0)
      return own;
  }
  return ((const PxeFile *)menu->files->pdata[0])->lines->len;
}

/* Behind the menu's last statement before its entries. */
static void
insert(PxeMenu *menu, const char *statement, const char *value)
{
  PxeFile *file = menu->files->pdata[0];
  guint n = first_entry_line(menu), before = n;
  while (before > 0 && pxe_file_line(file, before - 1)->word == PXE_NOTHING)
    before--;
  pxe_file_insert(file, before > 0 ? before : n, "", statement, value);
  pxe_menu_walk(menu);
}

static gboolean
set_time(PxeMenu *menu, PxeSetting setting, const char *value, GError **error)
{
  gboolean total = setting == PXE_SET_TOTAL_TIMEOUT;
  guint64 most = total ? TOTAL_TIMEOUT_MAX : TIMEOUT_MAX, tenths;
  if (!g_ascii_string_to_unsigned(value, 10, 0, most, &tenths, NULL))
    return pxe_fail(error, "%s counts tenths of a second, from 0 to %" G_GUINT64_FORMAT,
                    total ? "TOTALTIMEOUT" : "TIMEOUT", most);
  guint at = pxe_menu_in_force(menu, setting);
  if (at == PXE_NONE) {
    insert(menu, total ? "TOTALTIMEOUT" : "TIMEOUT", value);
    return TRUE;
  }
  /* Behind the number a person may have written what it is for: pxelinux leaves that unread. */
  g_autofree char *was = pxe_line_value(pxe_menu_line(menu, at));
  const char *rest = was + strspn(was, "+-");
  g_autofree char *now = g_strconcat(value, rest + strspn(rest, "0123456789"), NULL);
  change(menu, at, now);
  return TRUE;
}

static gboolean
set_text(PxeMenu *menu, PxeSetting setting, const char *value, GError **error)
{
  gboolean title = setting == PXE_SET_TITLE;
  if (*value == '\0' || strlen(value) > TITLE_MAX)
    return pxe_fail(error, "a %s has 1 to %d bytes", pxe_setting_names[setting], TITLE_MAX);
  for (const char *c = value; *c != '\0'; c++)
    if (g_ascii_iscntrl(*c) || (*c == ' ' && (!title || c == value || c[1] == '\0')))
      return pxe_fail(error, "a %s has no control characters%s", pxe_setting_names[setting],
                      title ? ", and no blank at either end" : " and no blanks");
  guint at = pxe_menu_in_force(menu, setting);
  if (at == PXE_NONE)
    insert(menu, title ? "MENU TITLE" : "MENU MASTER PASSWD", value);
  else
    change(menu, at, value);
  return TRUE;
}

static gboolean
is_picture(const char *value)
{
  static const char *const ends[] = {".png", ".jpg", ".jpeg", ".lss", NULL};
  g_autofree char *lower = g_ascii_strdown(value, -1);
  gboolean is = *value == '#';
  for (guint i = 0; ends[i] != NULL; i++)
    is = is || g_str_has_suffix(lower, ends[i]);
  return is;
}

static gboolean
set_theme(PxeMenu *menu, const char *value, GError **error)
{
  for (const char *c = value; *c != '\0' || c == value; c++)
    if ((guchar)*c <= ' ')
      return pxe_fail(error, "a theme is a file's name, without blanks");
  if (is_picture(value)) {
    guint at = pxe_menu_last(menu, PXE_BACKGROUND, FALSE);
    if (at == PXE_NONE)
      insert(menu, "MENU BACKGROUND", value);
    else
      change(menu, at, value);
    return TRUE;
  }
  g_autofree char *path = pxe_path(value);
  guint file = path != NULL ? pxe_menu_find_file(menu, path) : PXE_NONE;
  if (file == PXE_NONE || menu->files->pdata[file] == NULL)
    return pxe_fail(error, "there is no theme `%s`", value);
  if (!pxe_file_is_theme(menu->files->pdata[file]))
    return pxe_fail(error, "`%s` is no theme: it says more than how the menu looks, or nothing",
                    value);
  guint at = pxe_menu_in_force(menu, PXE_SET_THEME);
  if (at != PXE_NONE && pxe_menu_line(menu, at)->word == PXE_INCLUDE)
    change(menu, at, value);
  else
    insert(menu, "MENU INCLUDE", value);
  return TRUE;
}

/* Its lines begin as the label's others do. */
static char *
label_indent(const PxeFile *file, guint label)
{
  const char *text = label + 1 < file->lines->len ? pxe_file_line(file, label + 1)->text : "";
  gsize n = strspn(text, " \t");
  if (text[n] == '\0' || text[n] == '\r' || text[n] == '\n')
    return g_strdup("  ");
  return g_strndup(text, n);
}

/* From below upwards, and each line once: numbers above stay what they are. */
static gint
compare_lines(gconstpointer a, gconstpointer b)
{
  const PxeStatement *one = a, *other = b;
  if (one->file != other->file)
    return one->file < other->file ? -1 : 1;
  return one->line == other->line ? 0 : one->line > other->line ? -1 : 1;
}

/* The MENU DEFAULT of the menu itself goes from where it is to label L. */
static void
move_default(PxeMenu *menu, guint l)
{
  g_autoptr(GArray) gone = g_array_new(FALSE, FALSE, sizeof(PxeStatement));
  const PxeLine *kept = NULL;
  for (guint at = 0; at < menu->statements->len; at++)
    if (pxe_menu_is_default(menu, at) && pxe_menu_statement(menu, at)->label == l)
      kept = pxe_menu_line(menu, at);
  for (guint at = 0; at < menu->statements->len; at++)
    if (pxe_menu_is_default(menu, at) && pxe_menu_statement(menu, at)->label != l &&
        pxe_menu_line(menu, at) != kept)
      g_array_append_val(gone, *pxe_menu_statement(menu, at));
  g_array_sort(gone, compare_lines);
  for (guint i = 0; i < gone->len; i++) {
    const PxeStatement *one = &g_array_index(gone, PxeStatement, i);
    if (i == 0 || compare_lines(one, one - 1) != 0)
      pxe_file_remove(menu->files->pdata[one->file], one->line);
  }
  pxe_menu_walk(menu);
  if (kept != NULL)
    return;
  const PxeStatement *label = pxe_menu_statement(menu, g_array_index(menu->labels, PxeLabel, l).at);
  PxeFile *file = menu->files->pdata[label->file];
  g_autofree char *indent = label_indent(file, label->line);
  pxe_file_insert(file, label->line + 1, indent, "MENU DEFAULT", "");
  pxe_menu_walk(menu);
}

static gboolean
refuse_entry(const PxeMenu *menu, const char *value, GError **error)
{
  g_auto(GStrv) entries = pxe_menu_entries(menu);
  g_autofree char *list = g_strjoinv(", ", entries);
  gboolean cut = strlen(list) > ENTRIES_SAID;
  return pxe_fail(error, "the menu has no entry `%s`; it has %.*s%s", value, ENTRIES_SAID,
                  *list != '\0' ? list : "none at all", cut ? "…" : "");
}

static gboolean
set_entry(PxeMenu *menu, const char *value, GError **error)
{
  guint l = pxe_menu_find_label(menu, value);
  if (l == PXE_NONE)
    return refuse_entry(menu, value, error);
  guint depth = pxe_menu_statement(menu, g_array_index(menu->labels, PxeLabel, l).at)->depth;
  guint at = pxe_menu_last(menu, PXE_DEFAULT, TRUE), untouched;
  gboolean ui = pxe_menu_last(menu, PXE_UI, TRUE) != PXE_NONE;
  gboolean program = pxe_menu_default_is_program(menu);
  g_autofree char *word = at != PXE_NONE ? pxe_line_word(pxe_menu_line(menu, at)) : NULL;
  gboolean named = word != NULL && pxe_menu_find_label(menu, word) != PXE_NONE;
  if (program && !ui && depth > 0)
    return pxe_fail(error,
                    "`%s` is in a submenu, and DEFAULT starts %s: name that by a UI first, DEFAULT "
                    "can name the entry then",
                    value, word);
  if (named || (!ui && !program && at != PXE_NONE))
    change(menu, at, value);
  else if (depth > 0 && at != PXE_NONE)
    change(menu, at, value);
  else if (depth > 0 || (!ui && !program))
    insert(menu, "DEFAULT", value);
  else
    move_default(menu, l);
  /* Whoever sets the default means the entry that an untouched menu boots. */
  if ((untouched = pxe_menu_last(menu, PXE_ONTIMEOUT, TRUE)) != PXE_NONE)
    change(menu, untouched, value);
  return TRUE;
}

gboolean
pxe_menu_set(PxeMenu *menu, PxeSetting setting, const char *value, GError **error)
{
  g_assert(pxe_menu_wants(menu) == NULL);
  if (menu->overlong)
    return pxe_fail(error, "%s includes more than is read here, and is not changed",
                    (const char *)menu->paths->pdata[0]);
  switch (setting) {
  case PXE_SET_DEFAULT_ENTRY:
    return set_entry(menu, value, error);
  case PXE_SET_TIMEOUT:
  case PXE_SET_TOTAL_TIMEOUT:
    return set_time(menu, setting, value, error);
  case PXE_SET_TITLE:
  case PXE_SET_PASSWORD:
    return set_text(menu, setting, value, error);
  case PXE_SET_THEME:
    return set_theme(menu, value, error);
  }
  g_assert_not_reached();
}
