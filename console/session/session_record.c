#include <string.h>

#include "session/session_private.h"

#define FLUSH_US G_USEC_PER_SEC

/* Says it once; a session on the simulator goes on, one with real machines does as it was told. */
static void
recording_failed(Session *session, GError *error)
{
  Recording *recording = &session->recording;
  recording->error = g_strdup(error->message);
  g_error_free(error);
  transcript_close(g_steal_pointer(&recording->writer));
  session_complain(session, recording->error);
}

static void
write_line(Session *session)
{
  Recording *recording = &session->recording;
  GError *error = NULL;
  if (!transcript_write(recording->writer, recording->line->str, recording->line->len, &error))
    recording_failed(session, error);
  else
    recording->lines++;
}

gboolean
recording_start(Session *session, const SessionOptions *options, GError **error)
{
  Recording *recording = &session->recording;
  recording->line = g_string_sized_new(4096);
  if (options->record == NULL)
    return TRUE;
  recording->writer = transcript_create(options->record, error);
  if (recording->writer == NULL)
    return FALSE;
  recording->path = g_strdup(options->record);
  TranscriptHead head = {
      .layout_name = options->layout->file,
      .layout_text = options->layout->text,
      .layout_sha256 = options->layout->sha256,
      .script_name = options->script_name,
      .script_text = options->script_text,
      .options = options->core,
  };
  transcript_print_head(recording->line, &head);
  recording->about = (TranscriptSession){
      .host = g_get_host_name(),
      .user = g_get_user_name(),
      .version = PULT_VERSION,
      .clock = options->clock == CLOCK_JUMP     ? "jump"
               : options->clock == CLOCK_SCALED ? "scaled"
                                                : "real",
      .speed = options->clock == CLOCK_SCALED ? options->speed : 1,
  };
  return TRUE;
}

void
recording_begin(Session *session)
{
  Recording *recording = &session->recording;
  if (recording->writer == NULL)
    return;
  g_autoptr(GDateTime) started = g_date_time_new_now_utc();
  g_autofree char *started_text = g_date_time_format_iso8601(started);

  recording->about.started = started_text;
  transcript_print_session(recording->line, &recording->about);
  recording->lines = 1;
  write_line(session);
  /* A disk that takes nothing is better known now than at the end. */
  recording_flush(session);
}

static gboolean
on_flush_time(gpointer data)
{
  Session *session = data;
  session->recording.timer = 0;
  recording_flush(session);
  return G_SOURCE_REMOVE;
}

/* At most a second stays in memory, and no command: before it is told or carried out, the kernel
 * has it, and the disk where machines are real. Jumping there is no main loop, and the loop looks
 * at the clock itself. */
void
recording_add(Session *session, const Event *event)
{
  Recording *recording = &session->recording;
  if (recording->writer == NULL)
    return;
  g_string_truncate(recording->line, 0);
  transcript_print_event(recording->line, session->layout, event);
  write_line(session);
  if (event->kind == EVENT_COMMAND)
    (session->any_real ? recording_sync : recording_flush)(session);
  if (recording->timer == 0 && !session->jumps && recording->writer != NULL)
    recording->timer = g_timeout_add(FLUSH_US / 1000, on_flush_time, session);
}

void
recording_flush(Session *session)
{
  Recording *recording = &session->recording;
  GError *error = NULL;
  recording->flushed_us = g_get_monotonic_time();
  if (recording->writer != NULL && !transcript_flush(recording->writer, &error))
    recording_failed(session, error);
}

void
recording_sync(Session *session)
{
  Recording *recording = &session->recording;
  GError *error = NULL;
  if (recording->writer != NULL && !transcript_sync(recording->writer, &error))
    recording_failed(session, error);
}

void
recording_end(Session *session)
{
  Recording *recording = &session->recording;
  recording_flush(session);
  g_clear_handle_id(&recording->timer, g_source_remove);
  transcript_close(g_steal_pointer(&recording->writer));
  g_string_free(recording->line, TRUE);
  g_free(recording->path);
  g_free(recording->error);
}

void
session_record_status(const Session *session, SessionRecord *record)
{
  const Recording *recording = &session->recording;
  *record = (SessionRecord){
      .recording = recording->writer != NULL,
      .record_path = recording->path,
      .record_error = recording->error,
      .lines = recording->lines,
  };
}
