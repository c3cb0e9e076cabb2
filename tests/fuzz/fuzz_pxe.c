/* Any bytes are refused, or are a menu whose lines stay what they are: its first file up to a line
 * of `%%`, then each that it asks for. What was set is what is in force, and no line is changed but
 * those that say so. */
#include "fuzz.h"

#include "backends/pxe/pxe_menu.h"

#define SEPARATOR "%%\n"

static const char *const values[PXE_SETTINGS_N] = {NULL,     "123",    "4567",
                                                   "Room A", "$6$a$b", "a.png"};

static PxeMenu *
read_menu(const char *text, gsize size)
{
  g_autoptr(PxeMenu) menu = pxe_menu_new("pxelinux.cfg/default");
  const char *end = text + size;
  guint n = 0;
  for (; pxe_menu_wants(menu) != NULL; n++) {
    g_autoptr(GError) error = NULL;
    const char *stop = text != NULL ? g_strstr_len(text, end - text, SEPARATOR) : NULL;
    gsize length = text != NULL ? (gsize)((stop != NULL ? stop : end) - text) : 0;
    if (!pxe_menu_give(menu, text, length, &error)) {
      fuzz_check_error(error);
      return NULL;
    }
    text = stop != NULL ? stop + strlen(SEPARATOR) : NULL;
  }
  g_assert_true(n <= PXE_FILES_MAX);
  return g_steal_pointer(&menu);
}

/* Of one statement set, how many lines may differ. */
static void
check_small(const PxeMenu *menu, PxeSetting setting)
{
  g_autofree PxeFile **changed = pxe_menu_changed(menu);
  g_autofree char *difference = pxe_menu_difference(menu);
  g_assert_true((changed[0] == NULL) == (difference == NULL));
  for (PxeFile **file = changed; *file != NULL; file++) {
    guint n = 0;
    for (guint i = 0; i < (*file)->lines->len; i++) {
      const PxeLine *line = pxe_file_line(*file, i);
      n += line->origin < 0 || !g_str_equal(line->text, (*file)->read->pdata[(guint)line->origin]);
    }
    /* A default may be a DEFAULT and an ONTIMEOUT; a line put in may end the last one. */
    g_assert_true(n <= 3);
    g_assert_true(setting == PXE_SET_DEFAULT_ENTRY || (*file)->lines->len >= (*file)->read->len);
  }
}

static void
set_one(const char *text, gsize size, PxeSetting setting, const char *value)
{
  g_autoptr(PxeMenu) menu = read_menu(text, size);
  g_autoptr(GError) error = NULL;
  if (!pxe_menu_set(menu, setting, value, &error)) {
    g_assert_nonnull(error);
    g_autofree char *none = pxe_menu_difference(menu);
    g_assert_null(none);
    return;
  }
  g_autofree char *now = pxe_menu_get(menu, setting);
  if (setting == PXE_SET_PASSWORD)
    g_assert_cmpstr(now, ==, "sha512");
  else if (setting != PXE_SET_THEME) /* a theme's file is told rather than its picture */
    g_assert_cmpstr(now, ==, value);
  check_small(menu, setting);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *text = size > 0 ? (const char *)data : "";
  g_autoptr(PxeMenu) menu = read_menu(text, size);
  if (menu == NULL)
    return 0;
  g_autofree char *none = pxe_menu_difference(menu);
  g_assert_null(none);
  g_auto(GStrv) notes = pxe_menu_notes(menu), entries = pxe_menu_entries(menu);
  for (int i = 0; i < PXE_SETTINGS_N; i++) {
    g_autofree char *value = pxe_menu_get(menu, (PxeSetting)i);
    g_autofree char *where = pxe_menu_where(menu, (PxeSetting)i);
    if (values[i] != NULL)
      set_one(text, size, (PxeSetting)i, values[i]);
  }
  guint n = g_strv_length(entries);
  if (n > 0)
    set_one(text, size, PXE_SET_DEFAULT_ENTRY, entries[n - 1]);
  return 0;
}
