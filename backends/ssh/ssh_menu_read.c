#include "backends/ssh/ssh_menu_read.h"

#include "backends/ssh/ssh_command.h"
#include "backends/ssh/ssh_text.h"

#define OUTPUT_MAX (2 * PXE_FILE_MAX)
#define COMPLAINT_MAX 600
#define MISSING 44 /* exit status; programs' own are others */

struct SshMenuRead {
  SshLink *link;
  const char *root;
  PxeEdit *edit;
  SshMenuReadDone done;
  gpointer data;
  SshCommand *command;
  GString *base64; /* of the file being read */
  GString *complaint;
};

static void read_next(SshMenuRead *read);

static void
on_line(SshCommand *command, gboolean is_error, const char *text, gsize length, gpointer data)
{
  SshMenuRead *read = data;
  (void)command;
  if (!is_error) {
    g_string_append_len(read->base64, text, (gssize)length);
  } else if (read->complaint->len < COMPLAINT_MAX) {
    g_autofree char *shown = ssh_printable(text, length, COMPLAINT_MAX);
    g_string_append_printf(read->complaint, ": %s", shown);
  }
}

static void
take_file(SshMenuRead *read, gboolean there)
{
  g_autoptr(GError) error = NULL;
  gsize length = 0;
  g_autofree guchar *text = there ? g_base64_decode(read->base64->str, &length) : NULL;
  /* Of an empty file it decodes to nothing. */
  const char *bytes = !there ? NULL : text != NULL ? (const char *)text : "";
  if (pxe_edit_give(read->edit, bytes, length, &error))
    read_next(read);
  else
    read->done(error->message, read->data);
}

static void
on_read(SshCommand *command, const SshEnd *end, gpointer data)
{
  SshMenuRead *read = data;
  (void)command;
  read->command = NULL;
  gboolean missing = end->kind == SSH_EXITED && end->status == MISSING;
  if (missing || (end->kind == SSH_EXITED && end->status == 0)) {
    take_file(read, !missing);
    return;
  }
  g_autofree char *failure =
      g_strdup_printf("%s: %s%s", pxe_edit_wants(read->edit), end->text, read->complaint->str);
  read->done(failure, read->data);
}

/* In base64, since lines' ends are part of what is read. */
static void
read_next(SshMenuRead *read)
{
  static const SshCommandCalls calls = {.line = on_line, .ended = on_read};
  const char *path = pxe_edit_wants(read->edit);
  if (path == NULL) {
    read->done(NULL, read->data);
    return;
  }
  g_autofree char *whole = g_build_filename(read->root, path, NULL);
  g_autofree char *quoted = g_shell_quote(whole);
  g_autofree char *line =
      g_strdup_printf("[ -e %s ] || exit %d; exec base64 %s", quoted, MISSING, quoted);
  SshCommandSpec spec = {.line = line, .budget = OUTPUT_MAX};
  g_string_truncate(read->base64, 0);
  g_string_truncate(read->complaint, 0);
  read->command = ssh_command_start(read->link, &spec, &calls, read);
}

SshMenuRead *
ssh_menu_read_new(SshLink *link, const char *root, PxeEdit *edit, SshMenuReadDone done,
                  gpointer data)
{
  SshMenuRead *read = g_new0(SshMenuRead, 1);
  *read = (SshMenuRead){.link = link,
                        .root = root,
                        .edit = edit,
                        .done = done,
                        .data = data,
                        .base64 = g_string_new(NULL),
                        .complaint = g_string_new(NULL)};
  read_next(read);
  return read;
}

void
ssh_menu_read_free(SshMenuRead *read)
{
  if (read == NULL)
    return;
  ssh_command_forget(read->command);
  g_string_free(read->base64, TRUE);
  g_string_free(read->complaint, TRUE);
  g_free(read);
}
