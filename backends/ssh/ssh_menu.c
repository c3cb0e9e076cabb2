/* OP_GET of the boot server's menu: its files are read one after the other, as each is found to be
 * included, and what is in force is told as lines. */
#include <string.h>

#include "backends/pxe/pxe_menu.h"
#include "backends/ssh/ssh_private.h"

#define OUTPUT_MAX (2 * PXE_FILE_MAX)
#define MISSING 44 /* exit status; programs' own are others */

/* Of one target. */
typedef struct {
  PxeMenu *menu;
  GString *base64; /* of the file being read */
  char *complaint; /* first line of errors */
} Reading;

static void
free_reading(SshTarget *target)
{
  Reading *reading = g_steal_pointer(&target->data);
  if (reading == NULL)
    return;
  pxe_menu_free(reading->menu);
  g_string_free(reading->base64, TRUE);
  g_free(reading->complaint);
  g_free(reading);
}

static void
on_line(SshCommand *command, gboolean is_error, const char *text, gsize length, gpointer data)
{
  Reading *reading = ((SshTarget *)data)->data;
  (void)command;
  if (!is_error)
    g_string_append_len(reading->base64, text, (gssize)length);
  else if (reading->complaint == NULL)
    reading->complaint = ssh_printable(text, length, 200);
}

static void G_GNUC_PRINTF(2, 3) say(SshTarget *target, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  ssh_target_line(target, "out", text, strlen(text));
}

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
tell(SshTarget *target)
{
  const PxeMenu *menu = ((Reading *)target->data)->menu;
  for (int i = 0; i < PXE_SETTINGS_N; i++) {
    g_autofree char *value = pxe_menu_get(menu, (PxeSetting)i);
    g_autofree char *where = pxe_menu_where(menu, (PxeSetting)i);
    g_autofree char *shown = value != NULL ? shown_value((PxeSetting)i, value) : NULL;
    say(target, "%-13s  %s%s%s%s", pxe_setting_names[i], shown != NULL ? shown : "none",
        shown != NULL ? "  (" : "", shown != NULL ? where : "", shown != NULL ? ")" : "");
    g_autofree char *untouched = i == PXE_SET_DEFAULT_ENTRY ? pxe_menu_untouched(menu) : NULL;
    if (untouched != NULL)
      say(target, "%-13s  %s", "untouched", untouched);
  }
  g_auto(GStrv) entries = pxe_menu_entries(menu), notes = pxe_menu_notes(menu);
  for (char **entry = entries; *entry != NULL; entry++)
    say(target, "%-13s  %s", entry == entries ? "entries" : "", *entry);
  for (char **note = notes; *note != NULL; note++)
    say(target, "note: %s", *note);
  ssh_target_result(target, VERDICT_OK, NULL);
}

static void read_next(SshTarget *target);

static void
take_file(SshTarget *target, gboolean there)
{
  Reading *reading = target->data;
  g_autoptr(GError) error = NULL;
  gsize length = 0;
  g_autofree guchar *text = there ? g_base64_decode(reading->base64->str, &length) : NULL;
  /* Of an empty file it decodes to nothing. */
  const char *bytes = !there ? NULL : text != NULL ? (const char *)text : "";
  if (pxe_menu_give(reading->menu, bytes, length, &error))
    read_next(target);
  else
    ssh_target_result(target, VERDICT_FAILED, "%s", error->message);
}

static void
on_ended(SshCommand *command, const SshEnd *end, gpointer data)
{
  SshTarget *target = data;
  const Reading *reading = target->data;
  (void)command;
  target->command = NULL;
  gboolean missing = end->kind == SSH_EXITED && end->status == MISSING;
  if (missing || (end->kind == SSH_EXITED && end->status == 0))
    take_file(target, !missing);
  else
    ssh_target_result(target, VERDICT_FAILED, "%s: %s%s%s", pxe_menu_wants(reading->menu),
                      end->text, reading->complaint != NULL ? ": " : "",
                      reading->complaint != NULL ? reading->complaint : "");
}

static const SshCommandCalls calls = {.line = on_line, .ended = on_ended};

/* In base64, since lines' ends are part of what is read. */
static void
read_next(SshTarget *target)
{
  const Layout *layout = target->request->ssh->layout;
  Reading *reading = target->data;
  const char *path = pxe_menu_wants(reading->menu);
  if (path == NULL) {
    tell(target);
    return;
  }
  g_autofree char *whole = g_build_filename(layout->boot_root, path, NULL);
  g_autofree char *quoted = g_shell_quote(whole);
  g_autofree char *line =
      g_strdup_printf("[ -e %s ] || exit %d; exec base64 %s", quoted, MISSING, quoted);
  SshCommandSpec spec = {.line = line, .budget = OUTPUT_MAX};
  g_string_truncate(reading->base64, 0);
  g_clear_pointer(&reading->complaint, g_free);
  target->command = ssh_command_start(target->link, &spec, &calls, target);
}

static void
begin(SshRequest *request)
{
  const Layout *layout = request->ssh->layout;
  for (guint i = 0; i < request->n_targets; i++) {
    SshTarget *target = &request->targets[i];
    if (layout->boot_root == NULL) {
      ssh_target_result(target, VERDICT_FAILED, "the layout does not say where the menu is");
      continue;
    }
    Reading *reading = g_new0(Reading, 1);
    target->data = reading;
    reading->base64 = g_string_new(NULL);
    reading->menu = pxe_menu_new(layout->boot_menu);
    read_next(target);
  }
}

static void
stop(SshTarget *target, Verdict why)
{
  ssh_target_result(target, why, "the menu is not read yet: %s",
                    why == VERDICT_CANCELLED ? "cancelled" : ssh_link_trouble(target->link));
}

const SshOperation ssh_menu_operation = {.begin = begin, .stop = stop, .free_target = free_reading};
