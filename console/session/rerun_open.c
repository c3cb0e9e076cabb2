/* The first run, as its transcript tells it. */
#include "session/rerun_private.h"

static void
command_clear(gpointer data)
{
  RerunCommand *command = data;
  g_free(command->said);
  g_free(command->text);
  g_free(command->problem);
}

/* BY_CMD: number in the file → index. */
static void
add(Rerun *rerun, const Event *event, GHashTable *by_cmd)
{
  rerun->last_seq = event->seq;
  rerun->end = event->t;
  rerun_findings_add(&rerun->first, event);
  if (event->kind == EVENT_COMMAND) {
    const CommandEvent *said = &event->command;
    RerunCommand command = {.t = event->t,
                            .said = g_strdup(said->said),
                            .text = g_strdup(said->text),
                            .confirm = said->confirm,
                            .n_figures = rerun->first.figures->len,
                            .done_before = NEVER_DONE};
    g_hash_table_replace(by_cmd, GUINT_TO_POINTER(said->cmd),
                         GUINT_TO_POINTER(rerun->commands->len));
    g_array_append_val(rerun->commands, command);
  } else if (event->kind == EVENT_DONE) {
    gpointer i;
    if (!g_hash_table_lookup_extended(by_cmd, GUINT_TO_POINTER(event->done.cmd), NULL, &i))
      return;
    RerunCommand *command = rerun_command(rerun, GPOINTER_TO_UINT(i));
    command->done_before = rerun->commands->len;
    command->verdict = event->done.verdict;
  }
}

static gboolean
read_all(Rerun *rerun, GError **error)
{
  g_autoptr(GHashTable) by_cmd = g_hash_table_new(NULL, NULL);
  GError *problem = NULL;
  const Event *event;
  while ((event = transcript_next(rerun->reader, NULL, &problem)) != NULL)
    add(rerun, event, by_cmd);
  if (problem == NULL)
    return TRUE;
  g_propagate_error(error, problem);
  return FALSE;
}

Rerun *
rerun_open(const char *path, GError **error)
{
  TranscriptReader *reader = transcript_open(path, error);
  if (reader == NULL)
    return NULL;
  g_autoptr(Rerun) rerun = g_new0(Rerun, 1);
  rerun->reader = reader;
  rerun->commands = g_array_new(FALSE, FALSE, sizeof(RerunCommand));
  g_array_set_clear_func(rerun->commands, command_clear);
  rerun_findings_init(&rerun->first);
  rerun_findings_init(&rerun->again);
  return read_all(rerun, error) ? g_steal_pointer(&rerun) : NULL;
}

void
rerun_free(Rerun *rerun)
{
  if (rerun == NULL)
    return;
  rerun_findings_clear(&rerun->first);
  rerun_findings_clear(&rerun->again);
  g_array_unref(rerun->commands);
  transcript_reader_free(rerun->reader);
  g_free(rerun);
}

const TranscriptHead *
rerun_head(const Rerun *rerun)
{
  return transcript_head(rerun->reader);
}
