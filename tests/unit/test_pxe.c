/* Menus of pxelinux of the kinds found in the field, each a folder of pxelinux/: the files below
 * the boot server's root, `sets` with one change a line, and `expected`: what is in force, and the
 * difference that each change alone makes. With PXE_WRITE set, expected is written anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backends/pxe/pxe_menu.h"
#include "backends/pxe/pxe_name.h"

#define FOLDER "tests/unit/pxelinux"
#define CASES_MIN 20

static PxeMenu *
read_menu(const char *folder, const char *start, const char *theme)
{
  PxeMenu *menu = pxe_menu_new(start);
  g_autoptr(GError) error = NULL;
  if (theme != NULL && !pxe_menu_want_theme(menu, theme, &error))
    g_clear_error(&error);
  for (const char *path; (path = pxe_menu_wants(menu)) != NULL;) {
    g_autofree char *whole = g_build_filename(FOLDER, folder, path, NULL), *text = NULL;
    gsize length = 0;
    g_file_get_contents(whole, &text, &length, NULL);
    if (!pxe_menu_give(menu, text, length, &error))
      fail_msg("%s: %s", folder, error->message);
  }
  return menu;
}

static void
tell_all(GString *out, const PxeMenu *menu)
{
  for (int i = 0; i < PXE_SETTINGS_N; i++) {
    g_autofree char *value = pxe_menu_get(menu, (PxeSetting)i);
    g_autofree char *where = pxe_menu_where(menu, (PxeSetting)i);
    if (value != NULL)
      g_string_append_printf(out, "%s %s (%s)\n", pxe_setting_names[i], value, where);
    else
      g_string_append_printf(out, "%s none\n", pxe_setting_names[i]);
  }
  g_autofree char *untouched = pxe_menu_untouched(menu);
  if (untouched != NULL)
    g_string_append_printf(out, "untouched %s\n", untouched);
  g_auto(GStrv) entries = pxe_menu_entries(menu), notes = pxe_menu_notes(menu);
  g_autofree char *list = g_strjoinv(" ", entries);
  g_string_append_printf(out, "entries %s\n", list);
  for (char **note = notes; *note != NULL; note++)
    g_string_append_printf(out, "note %s\n", *note);
}

/* Takes the next line, its end included, off TEXT. */
static char *
take_line(const char **text)
{
  const char *newline = strchr(*text, '\n');
  const char *end = newline != NULL ? newline + 1 : *text + strlen(*text);
  char *line = g_strndup(*text, (gsize)(end - *text));
  *text = end;
  return line;
}

static void
take_text(const char **text, const char *line)
{
  const char *hidden = strstr(line, "***");
  if (hidden != NULL) {
    assert_int_equal(strncmp(*text, line, (gsize)(hidden - line)), 0);
    g_autofree char *skipped = take_line(text);
    return;
  }
  if (!g_str_has_prefix(*text, line))
    fail_msg("the difference has `%s` where the file has `%s`", line, *text);
  *text += strlen(line);
}

/* How many lines of the old file stand before a hunk. */
static guint64
lines_before(const char *head)
{
  char *end;
  guint64 start = g_ascii_strtoull(head + strlen("@@ -"), &end, 10);
  return g_str_has_prefix(end, ",0 ") ? start : start - 1;
}

/* Goes through both along one file's difference: what it doesn't tell of must be the same. */
static void
check_difference(const char *difference, const char *was, const char *is)
{
  guint64 n = 0;
  while (*difference != '\0') {
    g_autofree char *line = take_line(&difference);
    if (g_str_has_prefix(difference, "\\ No newline")) {
      g_autofree char *skipped = take_line(&difference);
      line[strlen(line) - 1] = '\0';
    }
    if (g_str_has_prefix(line, "--- ") || g_str_has_prefix(line, "+++ "))
      continue;
    if (*line == '@') {
      for (guint64 end = lines_before(line); n < end; n++) {
        g_autofree char *same = take_line(&was);
        take_text(&is, same);
      }
      continue;
    }
    if (*line != '+') {
      take_text(&was, line + 1);
      n++;
    }
    if (*line != '-')
      take_text(&is, line + 1);
  }
  assert_string_equal(was, is);
}

/* Every change is in the difference, and the difference tells nothing else. */
static void
check_changes(const PxeMenu *menu)
{
  g_autofree PxeFile **changed = pxe_menu_changed(menu);
  for (PxeFile **file = changed; *file != NULL; file++) {
    g_autoptr(GString) was = g_string_new(NULL), is = pxe_file_text(*file);
    for (guint i = 0; i < (*file)->read->len; i++)
      g_string_append(was, (*file)->read->pdata[i]);
    g_autofree char *difference = pxe_file_difference(*file);
    check_difference(difference, was->str, is->str);
    g_string_free(g_steal_pointer(&is), TRUE);
  }
}

static void
try_change(GString *out, const char *folder, const char *start, const char *change)
{
  g_auto(GStrv) words = g_strsplit(change, " ", 2);
  int setting = 0;
  while (!g_str_equal(pxe_setting_names[setting], words[0]))
    setting++;
  gboolean theme = setting == PXE_SET_THEME;
  g_autoptr(PxeMenu) menu = read_menu(folder, start, theme ? words[1] : NULL);
  g_autoptr(GError) error = NULL;
  g_string_append_printf(out, "\n= %s\n", change);
  if (!pxe_menu_set(menu, (PxeSetting)setting, words[1], &error)) {
    g_string_append_printf(out, "refused: %s\n", error->message);
    g_autofree PxeFile **none = pxe_menu_changed(menu);
    assert_null(none[0]);
    return;
  }
  g_autofree char *difference = pxe_menu_difference(menu);
  g_string_append(out, difference != NULL ? difference : "no difference\n");
  check_changes(menu);
  g_autofree char *now = pxe_menu_get(menu, (PxeSetting)setting);
  g_autofree char *untouched = pxe_menu_untouched(menu);
  if (setting == PXE_SET_PASSWORD)
    assert_true(now != NULL && !g_str_equal(now, "plain text"));
  else
    assert_string_equal(now, words[1]);
  if (setting == PXE_SET_DEFAULT_ENTRY)
    assert_null(untouched);
}

static void
test_case(void **state)
{
  const char *folder = *state;
  g_autofree char *configs = g_build_filename(FOLDER, folder, "pxelinux.cfg", NULL);
  g_autofree char *sets = g_build_filename(FOLDER, folder, "sets", NULL);
  g_autofree char *expected = g_build_filename(FOLDER, folder, "expected", NULL);
  g_autofree char *start = g_strdup("pxelinux.cfg/default"), *changes = NULL, *want = NULL;
  g_autoptr(GDir) dir = g_dir_open(configs, 0, NULL);
  for (const char *name; (name = g_dir_read_name(dir)) != NULL;) {
    if (!pxe_name_is_special(name))
      continue;
    g_free(start);
    start = g_strconcat("pxelinux.cfg/", name, NULL);
  }
  g_autoptr(PxeMenu) menu = read_menu(folder, start, NULL);
  g_autoptr(GString) out = g_string_new(NULL);
  tell_all(out, menu);
  g_autofree char *none = pxe_menu_difference(menu);
  assert_null(none);
  assert_true(g_file_get_contents(sets, &changes, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(g_strchomp(changes), "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    try_change(out, folder, start, *line);
  if (g_getenv("PXE_WRITE") != NULL)
    g_file_set_contents(expected, out->str, (gssize)out->len, NULL);
  assert_true(g_file_get_contents(expected, &want, NULL, NULL));
  assert_string_equal(out->str, want);
}

static void
test_no_menu(void **state)
{
  (void)state;
  g_autoptr(GError) error = NULL;
  g_autoptr(PxeMenu) menu = pxe_menu_new("pxelinux.cfg/default");
  assert_string_equal(pxe_menu_wants(menu), "pxelinux.cfg/default");
  assert_false(pxe_menu_give(menu, NULL, 0, &error));
  assert_string_equal(error->message, "there is no pxelinux.cfg/default");
  g_clear_error(&error);
  assert_false(pxe_menu_give(menu, "DEFAULT \0a", 10, &error));
  assert_string_equal(error->message, "pxelinux.cfg/default is no text: it holds a zero byte");
}

/* pxelinux would read them for ever; here they end, and are said. */
static void
test_bounds(void **state)
{
  (void)state;
  g_autoptr(PxeMenu) menu = pxe_menu_new("0");
  for (guint n = 1; pxe_menu_wants(menu) != NULL; n++) {
    g_autofree char *text = g_strdup_printf("INCLUDE %u\nINCLUDE %u\nLABEL l%u\n", n, n, n);
    assert_true(pxe_menu_give(menu, text, strlen(text), NULL));
    assert_true(n <= PXE_FILES_MAX);
  }
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) notes = pxe_menu_notes(menu);
  assert_true(g_strv_contains((const char *const *)notes,
                              "the menu is longer than 64 files or 100000 statements: only its "
                              "beginning was read"));
  assert_false(pxe_menu_set(menu, PXE_SET_TIMEOUT, "1", &error));
}

static void
test_names(void **state)
{
  (void)state;
  const guint8 mac[6] = {0x52, 0x54, 0, 0x0a, 0, 0x02};
  const guint32 address = 0xC0A80101;
  g_auto(GStrv) names = pxe_names(mac, &address), by_mac = pxe_names(mac, NULL);
  g_autofree char *all = g_strjoinv(" ", names), *two = g_strjoinv(" ", by_mac);
  assert_string_equal(all, "01-52-54-00-0a-00-02 C0A80101 C0A8010 C0A801 C0A80 C0A8 C0A C0 C "
                           "default");
  assert_string_equal(two, "01-52-54-00-0a-00-02 default");
  assert_true(pxe_name_is_special("C0A8"));
  assert_true(pxe_name_is_special("01-52-54-00-0a-00-02"));
  assert_true(pxe_name_is_special("b8945908-d6a6-41a9-611d-74a6ab80b83d"));
  assert_false(pxe_name_is_special("default"));
  assert_false(pxe_name_is_special("C0A801012"));
  assert_false(pxe_name_is_special("c0a8"));
  assert_false(pxe_name_is_special("01-52-54-00-0a-00-0"));
}

static gint
compare_names(gconstpointer a, gconstpointer b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

int
main(void)
{
  g_autoptr(GArray) tests = g_array_new(FALSE, FALSE, sizeof(struct CMUnitTest));
  g_autoptr(GPtrArray) folders = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GDir) dir = g_dir_open(FOLDER, 0, NULL);
  const struct CMUnitTest others[] = {
      cmocka_unit_test(test_no_menu),
      cmocka_unit_test(test_bounds),
      cmocka_unit_test(test_names),
  };
  for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
    g_ptr_array_add(folders, g_strdup(name));
  g_ptr_array_sort(folders, compare_names);
  g_assert_true(folders->len >= CASES_MIN);
  for (guint i = 0; i < folders->len; i++) {
    struct CMUnitTest test = {folders->pdata[i], test_case, NULL, NULL, folders->pdata[i]};
    g_array_append_val(tests, test);
  }
  g_array_append_vals(tests, others, G_N_ELEMENTS(others));
  return _cmocka_run_group_tests("pxe", (struct CMUnitTest *)tests->data, tests->len, NULL, NULL);
}
