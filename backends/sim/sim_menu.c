/* The boot server's menu: files that nobody sees, changed as those of a real one are. */
#include <string.h>

#include "backends/pxe/pxe_edit.h"
#include "backends/pxe/pxe_once.h"
#include "backends/sim/sim_private.h"

/* No word is read for it, and every session has the same. */
#define SOME_HASH "$6$simulated$"

static void
add_entry(GPtrArray *entries, const char *name)
{
  for (guint i = 0; i < entries->len; i++)
    if (g_str_equal(entries->pdata[i], name))
      return;
  g_ptr_array_add(entries, g_strdup(name));
}

/* Those that the layout speaks of; of an image by one protocol also the other. */
static GPtrArray *
list_entries(const Layout *layout)
{
  GPtrArray *entries = g_ptr_array_new_with_free_func(g_free);
  const char *protocol = strstr(sim_default_entry(layout), "::");
  const LayoutBootKeys *keys = &layout->boot_keys[LAYOUT_IN_MENU];
  add_entry(entries, sim_default_entry(layout));
  if (protocol != NULL) {
    g_autofree char *image =
        g_strndup(sim_default_entry(layout), (gsize)(protocol - sim_default_entry(layout)));
    g_autofree char *nfs = g_strconcat(image, "::nfs", NULL);
    g_autofree char *nbd = g_strconcat(image, "::nbd", NULL);
    add_entry(entries, nfs);
    add_entry(entries, nbd);
  }
  for (guint i = 0; i < keys->n; i++)
    if (keys->presses[i].entry != NULL)
      add_entry(entries, keys->presses[i].entry);
  add_entry(entries, "disk");
  return entries;
}

static void
put_file(Sim *sim, const char *path, const GString *text)
{
  g_hash_table_insert(sim->files, g_strdup(path), g_bytes_new(text->str, text->len));
}

void
sim_menu_init(Sim *sim)
{
  const Layout *layout = sim->layout;
  g_autoptr(GPtrArray) entries = list_entries(layout);
  GString *text = g_string_new(NULL);
  sim->files =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
  g_string_append_printf(text, "UI menu.c32\nDEFAULT %s\nTIMEOUT 100\nMENU TITLE %s\n",
                         sim_default_entry(layout), layout->lab);
  for (guint i = 0; i < entries->len; i++)
    g_string_append_printf(text, "\nLABEL %s\n", (char *)entries->pdata[i]);
  put_file(sim, layout->boot_menu, text);
  g_string_free(text, TRUE);
}

void
sim_menu_clear(Sim *sim)
{
  g_hash_table_unref(sim->files);
}

static PxeEdit *
edit_of(const Sim *sim, const RequestEvent *event, GError **error)
{
  const char *menu = sim->layout->boot_menu, *setting = sim_request_argument(event, "setting");
  const char *value = sim_request_argument(event, "value");
  if (sim_request_argument(event, "undo") != NULL)
    return pxe_edit_new_undo(menu);
  if (setting == NULL || value == NULL)
    return pxe_edit_new_show(menu);
  gboolean password = g_str_equal(setting, "password");
  return pxe_edit_new_set(menu, setting, password ? SOME_HASH : value, error);
}

static gboolean
read_files(const Sim *sim, PxeEdit *edit, GError **error)
{
  for (const char *path; (path = pxe_edit_wants(edit)) != NULL;) {
    GBytes *bytes = g_hash_table_lookup(sim->files, path);
    gsize length = 0;
    const char *text = bytes != NULL ? g_bytes_get_data(bytes, &length) : NULL;
    if (!pxe_edit_give(edit, bytes != NULL && text == NULL ? "" : text, length, error))
      return FALSE;
  }
  return TRUE;
}

static void
write_files(Sim *sim, const PxeEdit *edit)
{
  guint n;
  const PxeWrite *writes = pxe_edit_writes(edit, &n);
  g_autofree char *undo_path = pxe_edit_undo_path(edit);
  GString *undo_text = pxe_edit_undo_text(edit);
  for (guint i = 0; i < n; i++) {
    g_autofree char *old = g_strconcat(writes[i].path, PXE_OLD, NULL);
    GBytes *was = g_hash_table_lookup(sim->files, writes[i].path);
    if (pxe_edit_is_undo(edit))
      g_hash_table_remove(sim->files, old);
    else
      g_hash_table_insert(sim->files, g_strdup(old), g_bytes_ref(was));
    put_file(sim, writes[i].path, writes[i].text);
  }
  if (pxe_edit_is_undo(edit))
    g_hash_table_remove(sim->files, undo_path);
  else
    put_file(sim, undo_path, undo_text);
  g_string_free(undo_text, TRUE);
}

static void
tell(Sim *sim, const Request *request, const char *stream, char **lines)
{
  for (char **line = lines; *line != NULL; line++)
    sim_line(sim, request, request->targets[0].node, stream, *line);
}

/* NULL, or why not. */
static char *
answer(Sim *sim, const Request *request, const RequestEvent *event)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(PxeEdit) edit = edit_of(sim, event, &error);
  if (edit == NULL || !read_files(sim, edit, &error))
    return g_strdup(error->message);
  g_autofree char *was = pxe_edit_was(edit);
  gboolean shows = sim_request_argument(event, "setting") == NULL && !pxe_edit_is_undo(edit);
  if (request->operation == OP_SET) {
    if (g_strcmp0(was, sim_request_argument(event, "was")) != 0)
      return g_strdup("the menu was changed by somebody else meanwhile; it was left as it is");
    write_files(sim, edit);
  } else if (shows) {
    g_auto(GStrv) lines = pxe_edit_told(edit);
    tell(sim, request, "out", lines);
  } else if (*was != '\0') {
    g_auto(GStrv) lines = pxe_edit_difference(edit);
    tell(sim, request, "difference", lines);
    sim_line(sim, request, request->targets[0].node, "was", was);
  }
  return NULL;
}

/* A file for one boot of each target, which nobody sees either. The boot itself is told its entry.
 */
static void
answer_once(Sim *sim, Request *request, const char *entry)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(PxeEdit) edit = pxe_edit_new_show(sim->layout->boot_menu);
  g_auto(GStrv) entries = read_files(sim, edit, &error) ? pxe_edit_entries(edit) : NULL;
  gboolean good = entries != NULL && (*entry == '\0' || pxe_once_check(entries, entry, &error));
  g_autofree char *failure = good ? NULL : g_strconcat("no boot-once file: ", error->message, NULL);
  sim_request_answer_all(sim, request, 0, good ? VERDICT_OK : VERDICT_FAILED, failure);
}

gboolean
sim_menu_submit(Sim *sim, Request *request, const RequestEvent *event)
{
  const char *path = sim_request_argument(event, "path");
  NodeId server = sim->layout->boot_server;
  if (path == NULL || server == NODE_NONE || sim->layout->boot_root == NULL)
    return FALSE;
  g_autofree char *menu = g_strconcat(sim_name(sim, server), ".pxe", NULL);
  const char *once = sim_request_argument(event, "once");
  if (once != NULL && g_str_equal(path, menu)) {
    request->of_menu = TRUE;
    answer_once(sim, request, once);
    return TRUE;
  }
  if (!g_str_equal(path, menu) || request->n_targets != 1 || request->targets[0].node != server)
    return FALSE;
  g_autofree char *failure = answer(sim, request, event);
  request->of_menu = TRUE;
  sim_request_answer_all(sim, request, 0, failure ? VERDICT_FAILED : VERDICT_OK, failure);
  return TRUE;
}
