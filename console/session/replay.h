/* A transcript in the place of the world: seek, play, verify. */
#ifndef PULT_SESSION_REPLAY_H
#define PULT_SESSION_REPLAY_H

#include "core/core.h"

#define REPLAY_ERROR (g_quark_from_static_string("pult-replay"))

typedef struct Replay Replay;

/* At t = 0, with what happened then. */
Replay *replay_open(const char *path, GError **error);
void replay_free(Replay *replay);
const Layout *replay_layout(const Replay *replay);
/* Another pointer after a seek backwards. */
const CoreState *replay_state(const Replay *replay);
gint64 replay_now(const Replay *replay);
/* t of the last whole line in the file. */
gint64 replay_end(const Replay *replay);
/* Folds inputs up to and including T; backwards from the nearest keyframe. FALSE at a line that
 * cannot be read: then it stands right before that. */
gboolean replay_seek(Replay *replay, gint64 t, GError **error);
/* One input on, or BACK to before the one folded last; now is the time of the last one folded then.
 * FALSE without an error when there is none. */
gboolean replay_step(Replay *replay, gboolean back, GError **error);
/* TRUE when the file has grown since it was looked at last. FALSE with an error when it can be
 * followed no further: it was cut, it is gone from its path, or another one is there. */
gboolean replay_follow(Replay *replay, GError **error);
const char *replay_path(const Replay *replay);
/* Folds all inputs and compares outputs, byte for byte. FALSE with `FILE:LINE: recorded …, folded
 * …` for the first difference (REPLAY_ERROR), or when the file cannot be read. Missing outputs
 * after the last input are no difference. *EVENTS: how many were compared or folded. */
gboolean replay_verify(const char *path, guint64 *events, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Replay, replay_free)

#endif
