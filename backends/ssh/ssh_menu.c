/* OP_GET and OP_SET of the boot server's menu. A get tells what is in force, or what a change would
 * be; a set makes the change, of files that are still what the get read. */
#include "backends/ssh/ssh_menu.h"

#include <string.h>

#include "backends/ssh/ssh_menu_read.h"
#include "backends/ssh/ssh_private.h"

#define OUTPUT_MAX (2 * PXE_FILE_MAX)
#define COMPLAINT_MAX 600
#define AT_ONCE 16384 /* bytes of input given */

#define CHANGED "the menu was changed by somebody else meanwhile; it was left as it is"

/* Of one target. */
typedef struct {
  PxeEdit *edit;
  SshMenuRead *read;
  GString *complaint; /* of what is written */
  gboolean writing;
  /* A setting that the layout has a command for; NULL: the files themselves are written. */
  char *way;
  gboolean went;  /* it was run, and what came of it is read */
  GString *input; /* what is still to be given of it */
} Work;

static void
free_work(SshTarget *target)
{
  Work *work = g_steal_pointer(&target->data);
  if (work == NULL)
    return;
  pxe_edit_free(work->edit);
  ssh_menu_read_free(work->read);
  g_string_free(work->complaint, TRUE);
  if (work->input != NULL)
    g_string_free(work->input, TRUE);
  g_free(work->way);
  g_free(work);
}

static void
on_line(SshCommand *command, gboolean is_error, const char *text, gsize length, gpointer data)
{
  const Work *work = ((SshTarget *)data)->data;
  (void)command;
  if (is_error && work->complaint->len < COMPLAINT_MAX) {
    g_autofree char *shown = ssh_printable(text, length, COMPLAINT_MAX);
    g_string_append_printf(work->complaint, ": %s", shown);
  }
}

static void
tell(SshTarget *target, const char *stream, char **lines)
{
  for (char **line = lines; *line != NULL; line++)
    ssh_target_line(target, stream, *line, strlen(*line));
}

/* ---- Writing -----------------------------------------------------------------------------------
 */

static void
give_input(gpointer data)
{
  SshTarget *target = data;
  GString *input = ((Work *)target->data)->input;
  while (input->len > 0) {
    gsize n = MIN(input->len, AT_ONCE);
    if (!ssh_command_write(target->command, input->str, n))
      return;
    g_string_erase(input, 0, (gssize)n);
  }
}

static void
on_written(SshCommand *command, const SshEnd *end, gpointer data)
{
  SshTarget *target = data;
  const Work *work = target->data;
  (void)command;
  target->command = NULL;
  if (end->kind == SSH_EXITED && end->status == 0)
    ssh_target_result(target, VERDICT_OK, NULL);
  else if (end->kind == SSH_EXITED && end->status == SSH_MENU_CHANGED)
    ssh_target_result(target, VERDICT_FAILED, CHANGED);
  else if (end->kind == SSH_LOST || end->kind == SSH_SIGNALLED)
    ssh_target_result(target, VERDICT_UNKNOWN, "the menu was being written: %s", end->text);
  else
    ssh_target_result(target, VERDICT_FAILED, "the menu is as it was: %s%s", end->text,
                      work->complaint->str);
}

static void
write_files(SshTarget *target)
{
  static const SshCommandCalls calls = {.line = on_line, .ended = on_written};
  Work *work = target->data;
  g_autofree char *line = ssh_menu_write_line(work->edit, target->request->ssh->layout->boot_root);
  SshCommandSpec spec = {.line = line, .reads = TRUE, .drained = give_input, .budget = OUTPUT_MAX};
  work->writing = TRUE;
  work->input = ssh_menu_write_input(work->edit);
  g_string_truncate(work->complaint, 0);
  target->command = ssh_command_start(target->link, &spec, &calls, target);
  give_input(target);
}

/* ---- By a command ------------------------------------------------------------------------------
 */

static void begin_to_read(SshTarget *target);

static void
on_went(SshCommand *command, const SshEnd *end, gpointer data)
{
  SshTarget *target = data;
  Work *work = target->data;
  (void)command;
  target->command = NULL;
  if (end->kind == SSH_EXITED && end->status == 0) {
    pxe_edit_free(work->edit);
    work->edit = pxe_edit_new_show(target->request->ssh->layout->boot_menu);
    work->writing = FALSE;
    work->went = TRUE;
    begin_to_read(target);
  } else if (end->kind == SSH_LOST) {
    ssh_target_result(target, VERDICT_UNKNOWN, "the menu was being set: %s", end->text);
  } else {
    ssh_target_result(target, VERDICT_FAILED, "`%s`: %s%s", work->way, end->text,
                      work->complaint->str);
  }
}

/* As of any property: what is reported was seen, and a connection that ends stops nothing. */
static void
go(SshTarget *target)
{
  static const SshCommandCalls calls = {.line = on_line, .ended = on_went};
  Work *work = target->data;
  g_autofree char *line = g_strconcat("exec </dev/null; ", work->way, NULL);
  SshCommandSpec spec = {.line = line, .reads = TRUE, .budget = OUTPUT_MAX};
  work->writing = TRUE;
  g_string_truncate(work->complaint, 0);
  target->command = ssh_command_start(target->link, &spec, &calls, target);
}

static void
tell_way(SshTarget *target, const char *setting, const char *is, const char *wanted)
{
  const Work *work = target->data;
  char *lines[] = {g_strdup_printf("-%s %s", setting, is),
                   g_strdup_printf("+%s %s", setting, wanted), g_strdup_printf(" by %s", work->way),
                   NULL};
  tell(target, "difference", lines);
  for (char **line = lines; *line != NULL; line++)
    g_free(*line);
}

static void
answer_way(SshTarget *target)
{
  const Work *work = target->data;
  const char *setting = ssh_request_argument(target->request, "setting");
  const char *wanted = ssh_request_argument(target->request, "value");
  g_autofree char *value = pxe_edit_value(work->edit, setting);
  const char *is = value != NULL ? value : "none";
  g_autofree char *was = g_strdup_printf("%s %s", setting, is);
  gboolean same = g_str_equal(is, wanted), sets = target->request->operation == OP_SET;
  if (work->went && !same) {
    ssh_target_result(target, VERDICT_FAILED, "`%s` went well, and %s is %s", work->way, setting,
                      is);
  } else if (sets && !same && g_strcmp0(ssh_request_argument(target->request, "was"), was) != 0) {
    ssh_target_result(target, VERDICT_FAILED, CHANGED);
  } else if (sets && !same) {
    go(target);
  } else {
    if (!same) {
      tell_way(target, setting, is, wanted);
      ssh_target_line(target, "was", was, strlen(was));
    }
    ssh_target_result(target, VERDICT_OK, NULL);
  }
}

/* ---- All is read -------------------------------------------------------------------------------
 */

static void
set(SshTarget *target)
{
  Work *work = target->data;
  const char *was = ssh_request_argument(target->request, "was");
  g_autofree char *is = pxe_edit_was(work->edit);
  if (g_strcmp0(was, is) != 0)
    ssh_target_result(target, VERDICT_FAILED, CHANGED);
  else if (*is == '\0')
    ssh_target_result(target, VERDICT_OK, NULL);
  else
    write_files(target);
}

static void
answer(SshTarget *target)
{
  const Work *work = target->data;
  g_autofree char *was = pxe_edit_was(work->edit);
  if (work->way != NULL) {
    answer_way(target);
    return;
  }
  gboolean changes = *was != '\0' || pxe_edit_is_undo(work->edit);
  if (target->request->operation == OP_SET) {
    set(target);
    return;
  }
  if (ssh_request_argument(target->request, "setting") == NULL && !changes) {
    g_auto(GStrv) lines = pxe_edit_told(work->edit);
    tell(target, "out", lines);
  } else if (*was != '\0') {
    g_auto(GStrv) lines = pxe_edit_difference(work->edit);
    tell(target, "difference", lines);
    ssh_target_line(target, "was", was, strlen(was));
  }
  ssh_target_result(target, VERDICT_OK, NULL);
}

/* ---- Reading -----------------------------------------------------------------------------------
 */

static void
on_read(const char *failure, gpointer data)
{
  SshTarget *target = data;
  Work *work = target->data;
  if (failure != NULL) {
    ssh_target_result(target, VERDICT_FAILED, "%s", failure);
    return;
  }
  g_clear_pointer(&work->read, ssh_menu_read_free);
  answer(target);
}

static void
begin_to_read(SshTarget *target)
{
  Work *work = target->data;
  work->read = ssh_menu_read_new(target->link, target->request->ssh->layout->boot_root, work->edit,
                                 on_read, target);
}

/* What REQUEST is about; NULL: it cannot be. WAY: the command that does it. */
static PxeEdit *
edit_of(const SshRequest *request, const char *way, GError **error)
{
  const char *menu = request->ssh->layout->boot_menu;
  const char *setting = ssh_request_argument(request, "setting");
  const char *value = ssh_request_argument(request, "value");
  if (ssh_request_argument(request, "undo") != NULL)
    return pxe_edit_new_undo(menu);
  if (way != NULL && g_str_equal(setting, "password")) {
    pxe_fail(error, "the layout has pxe.password set by a command, in whose arguments all who are "
                    "on the host would see it; without that, it is written into the file");
    return NULL;
  }
  if (setting == NULL || value == NULL || way != NULL)
    return pxe_edit_new_show(menu);
  if (!g_str_equal(setting, "password"))
    return pxe_edit_new_set(menu, setting, value, error);
  char *hash = pxe_password_hash(value, error);
  PxeEdit *edit = hash != NULL ? pxe_edit_new_set(menu, setting, hash, error) : NULL;
  secret_free(hash);
  return edit;
}

/* NULL: the layout has none. */
static char *
way_of(const SshTarget *target)
{
  const char *setting = ssh_request_argument(target->request, "setting");
  const char *value = ssh_request_argument(target->request, "value");
  if (setting == NULL || value == NULL)
    return NULL;
  g_autofree char *name = g_strconcat("pxe.", setting, NULL);
  return layout_control(target->request->ssh->layout, target->node, name, "set", value);
}

static void
begin(SshRequest *request)
{
  for (guint i = 0; i < request->n_targets; i++) {
    SshTarget *target = &request->targets[i];
    g_autoptr(GError) error = NULL;
    if (request->ssh->layout->boot_root == NULL) {
      ssh_target_result(target, VERDICT_FAILED, "the layout does not say where the menu is");
      continue;
    }
    g_autofree char *way = way_of(target);
    PxeEdit *edit = edit_of(request, way, &error);
    if (edit == NULL) {
      ssh_target_result(target, VERDICT_FAILED, "%s", error->message);
      continue;
    }
    Work *work = g_new0(Work, 1);
    target->data = work;
    work->complaint = g_string_new(NULL);
    work->edit = edit;
    work->way = g_steal_pointer(&way);
    begin_to_read(target);
  }
}

static void
stop(SshTarget *target, Verdict why)
{
  const Work *work = target->data;
  if (work->writing && ssh_command_is_started(target->command))
    ssh_target_result(target, VERDICT_UNKNOWN, "the menu was being written");
  else
    ssh_target_result(target, why, "the menu is not %s yet: %s", work->writing ? "written" : "read",
                      why == VERDICT_CANCELLED ? "cancelled" : ssh_link_trouble(target->link));
}

const SshOperation ssh_menu_operation = {.begin = begin, .stop = stop, .free_target = free_work};
