#include <string.h>

#include "session/replay.h"
#include "session/transcript.h"

#define SHOWN_MAX 200 /* characters of a line in a message */

typedef struct {
  const char *path;
  TranscriptReader *reader;
  CoreState *state;
  GString *line;
  GPtrArray *folded; /* what core said after the last input, as lines */
  guint n_compared;
  gint64 t;
  guint64 seq;
} Verify;

static void
on_output(const Event *output, gpointer data)
{
  Verify *verify = data;
  Event event = *output;
  event.t = verify->t;
  event.seq = ++verify->seq;
  g_string_truncate(verify->line, 0);
  transcript_print_event(verify->line, transcript_layout(verify->reader), &event);
  g_ptr_array_add(verify->folded, g_strndup(verify->line->str, verify->line->len - 1));
}

/* From a little before the first difference on. */
static char *
excerpt(const char *line, gsize from)
{
  gsize length = strlen(line);
  gsize begin = MIN(from > SHOWN_MAX / 2 ? from - SHOWN_MAX / 2 : 0, length);
  gsize shown = MIN(length - begin, SHOWN_MAX);
  g_autofree char *bytes = g_strndup(line + begin, shown);
  g_autofree char *text = g_utf8_make_valid(bytes, -1); /* it may begin within a character */
  return g_strconcat(begin > 0 ? "…" : "", text, begin + shown < length ? "…" : "", NULL);
}

static gboolean
differ(const Verify *verify, const char *recorded, const char *folded, GError **error)
{
  gsize same = 0;
  while (recorded[same] != 0 && recorded[same] == folded[same])
    same++;
  g_autofree char *left = excerpt(recorded, same);
  g_autofree char *right = excerpt(folded, same);
  g_set_error(error, REPLAY_ERROR, 0, "%s:%" G_GUINT64_FORMAT ": recorded %s, folded %s",
              verify->path, transcript_line_number(verify->reader), left, right);
  return FALSE;
}

static gboolean
check_output(Verify *verify, const char *recorded, GError **error)
{
  if (verify->n_compared == verify->folded->len)
    return differ(verify, recorded, "nothing there", error);
  const char *folded = verify->folded->pdata[verify->n_compared++];
  return strcmp(recorded, folded) == 0 || differ(verify, recorded, folded, error);
}

static gboolean
fold_input(Verify *verify, const Event *input, const char *recorded, GError **error)
{
  if (verify->n_compared < verify->folded->len)
    return differ(verify, recorded, verify->folded->pdata[verify->n_compared], error);
  g_ptr_array_set_size(verify->folded, 0);
  verify->n_compared = 0;
  verify->t = input->t;
  verify->seq = input->seq;
  core_step(verify->state, input, on_output, verify);
  return TRUE;
}

static gboolean
verify_all(Verify *verify, guint64 *events, GError **error)
{
  GError *problem = NULL;
  const Event *event;
  const char *raw;
  for (*events = 0; (event = transcript_next(verify->reader, &raw, &problem)) != NULL;
       (*events)++) {
    gboolean same = event_is_output(event->kind) ? check_output(verify, raw, error)
                                                 : fold_input(verify, event, raw, error);
    if (!same)
      return FALSE;
  }
  if (problem == NULL)
    return TRUE;
  g_propagate_error(error, problem);
  return FALSE;
}

gboolean
replay_verify(const char *path, guint64 *events, GError **error)
{
  g_autoptr(TranscriptReader) reader = transcript_open(path, error);
  if (reader == NULL)
    return FALSE;
  Verify verify = {
      .path = path,
      .reader = reader,
      .state = core_new(transcript_layout(reader), &transcript_head(reader)->options),
      .line = g_string_new(NULL),
      .folded = g_ptr_array_new_with_free_func(g_free),
  };
  gboolean same = verify_all(&verify, events, error);
  core_free(verify.state);
  g_string_free(verify.line, TRUE);
  g_ptr_array_unref(verify.folded);
  return same;
}
