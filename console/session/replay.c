#include "session/replay.h"

#include <glib/gstdio.h>

#include "core/state.h"
#include "session/transcript.h"

/* A keyframe after so many events, twice as many whenever there are too many of them. */
#define EVENTS_A_FRAME 1000
#define FRAMES_MAX 32

typedef struct {
  TranscriptMark mark; /* where reading goes on … */
  CoreState *state;    /* … from this state */
  guint64 input_seq;
} Frame;

struct Replay {
  char *path;
  TranscriptReader *reader;
  CoreState *state;
  gint64 now;
  gint64 end;
  goffset size;
  const Event *ahead; /* read, but later than now; NULL */
  GArray *frames;     /* of Frame, the first at the beginning */
  guint64 input_seq;  /* of the input folded last; 0 none */
  guint events_a_frame, since_frame;
};

static void
frame_clear(gpointer data)
{
  core_free(((Frame *)data)->state);
}

static void
ignore_output(const Event *output, gpointer data)
{
  (void)output;
  (void)data;
}

static void
add_frame(Replay *replay)
{
  Frame frame = {transcript_tell(replay->reader), core_clone(replay->state), replay->input_seq};
  g_array_append_val(replay->frames, frame);
  replay->since_frame = 0;
  if (replay->frames->len < FRAMES_MAX)
    return;
  for (guint i = replay->frames->len - 1; i > 0; i--)
    if (i % 2 == 1)
      g_array_remove_index(replay->frames, i);
  replay->events_a_frame *= 2;
}

static const Frame *
frame_at(const Replay *replay, guint i)
{
  return &g_array_index(replay->frames, Frame, i);
}

/* Beyond the last keyframe only, lest going back and forth adds the same ones again. */
static gboolean
wants_frame(const Replay *replay)
{
  const Frame *last = frame_at(replay, replay->frames->len - 1);
  return replay->since_frame >= replay->events_a_frame &&
         transcript_tell(replay->reader).seq > last->mark.seq;
}

Replay *
replay_open(const char *path, GError **error)
{
  g_autoptr(TranscriptReader) reader = transcript_open(path, error);
  if (reader == NULL)
    return NULL;
  g_autoptr(Replay) replay = g_new0(Replay, 1);
  replay->path = g_strdup(path);
  replay->reader = g_steal_pointer(&reader);
  replay->state =
      core_new(transcript_layout(replay->reader), &transcript_head(replay->reader)->options);
  replay->frames = g_array_new(FALSE, FALSE, sizeof(Frame));
  g_array_set_clear_func(replay->frames, frame_clear);
  replay->events_a_frame = EVENTS_A_FRAME;
  add_frame(replay);
  replay_follow(replay, NULL);
  return replay_seek(replay, 0, error) ? g_steal_pointer(&replay) : NULL;
}

void
replay_free(Replay *replay)
{
  if (replay == NULL)
    return;
  g_array_unref(replay->frames);
  core_free(replay->state);
  transcript_reader_free(replay->reader);
  g_free(replay->path);
  g_free(replay);
}

const Layout *
replay_layout(const Replay *replay)
{
  return transcript_layout(replay->reader);
}

const CoreState *
replay_state(const Replay *replay)
{
  return replay->state;
}

gint64
replay_now(const Replay *replay)
{
  return replay->now;
}

gint64
replay_end(const Replay *replay)
{
  return replay->end;
}

/* To keyframe I, whence folding goes on. */
static gboolean
go_back(Replay *replay, guint i, GError **error)
{
  const Frame *frame = frame_at(replay, i);
  if (!transcript_seek(replay->reader, &frame->mark, error))
    return FALSE;
  core_free(replay->state);
  replay->state = core_clone(frame->state);
  replay->input_seq = frame->input_seq;
  replay->ahead = NULL;
  replay->since_frame = 0;
  return TRUE;
}

/* Folds the next event unless it comes after T or number SEQ. FALSE then, or at the end, or with
 * ERROR at what cannot be read. */
static gboolean
fold_next(Replay *replay, gint64 t, guint64 seq, GError **error)
{
  const Event *event = replay->ahead;
  if (event == NULL)
    event = transcript_next(replay->reader, NULL, error);
  gboolean due = event != NULL && event->t <= t && event->seq <= seq;
  replay->ahead = due ? NULL : event;
  if (!due)
    return FALSE;
  if (!event_is_output(event->kind)) {
    core_step(replay->state, event, ignore_output, NULL);
    replay->input_seq = event->seq;
  }
  replay->since_frame++;
  if (wants_frame(replay))
    add_frame(replay);
  return TRUE;
}

gboolean
replay_seek(Replay *replay, gint64 t, GError **error)
{
  if (t < replay->now) {
    guint i = replay->frames->len - 1;
    while (i > 0 && frame_at(replay, i)->mark.t > t)
      i--;
    if (!go_back(replay, i, error))
      return FALSE;
  }
  replay->now = t;
  GError *problem = NULL;
  while (fold_next(replay, t, G_MAXUINT64, &problem))
    ;
  if (problem == NULL)
    return TRUE;
  g_propagate_error(error, problem);
  return FALSE;
}

static gboolean
step_back(Replay *replay, GError **error)
{
  guint64 seq = replay->input_seq;
  if (seq == 0)
    return FALSE;
  guint i = replay->frames->len - 1;
  while (i > 0 && frame_at(replay, i)->mark.seq >= seq)
    i--;
  if (!go_back(replay, i, error))
    return FALSE;
  while (fold_next(replay, TIME_NEVER, seq - 1, error))
    ;
  return TRUE;
}

static gboolean
step_on(Replay *replay, GError **error)
{
  guint64 before = replay->input_seq;
  while (replay->input_seq == before)
    if (!fold_next(replay, TIME_NEVER, G_MAXUINT64, error))
      return FALSE;
  return TRUE;
}

gboolean
replay_step(Replay *replay, gboolean back, GError **error)
{
  if (!(back ? step_back : step_on)(replay, error))
    return FALSE;
  replay->now = state_now(replay->state);
  return TRUE;
}

const char *
replay_path(const Replay *replay)
{
  return replay->path;
}

/* What is wrong with a file that has not grown; NULL: nothing. */
static const char *
what_became(const Replay *replay, goffset size)
{
  GStatBuf there;
  return size < replay->size                           ? "has become shorter"
         : g_stat(replay->path, &there) != 0           ? "is gone"
         : !transcript_is_file(replay->reader, &there) ? "is another file now"
                                                       : NULL;
}

gboolean
replay_follow(Replay *replay, GError **error)
{
  goffset size = transcript_size(replay->reader);
  const char *became = size <= replay->size ? what_became(replay, size) : NULL;
  if (became != NULL) {
    g_autofree char *name = g_path_get_basename(replay->path);
    g_set_error(error, REPLAY_ERROR, 0, "%s %s", name, became);
  }
  if (size <= replay->size)
    return FALSE;
  replay->size = size;
  replay->end = MAX(replay->end, transcript_last_time(replay->reader));
  return TRUE;
}
