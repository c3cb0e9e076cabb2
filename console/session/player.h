/* Plays a transcript: where the replay should be by now, and what the keys ask of it.
 *
 * Wall time is monotonic, in µs, given by the caller, who calls player_tick() some times a second.
 * After any call the state may be another, and after player_tick() the layout, too: then
 * player_generation() has changed.
 */
#ifndef PULT_SESSION_PLAYER_H
#define PULT_SESSION_PLAYER_H

#include "session/replay.h"

#define PLAYER_SPEED_MIN 0.1
#define PLAYER_SPEED_MAX 100.0

typedef struct Player Player;

/* Takes REPLAY, which stands at the place to begin with. FOLLOW: at the end of a growing file. */
Player *player_new(Replay *replay, double speed, gboolean follow);
void player_free(Player *player);
const Replay *player_replay(const Player *player);
gboolean player_paused(const Player *player);
double player_speed(const Player *player);
/* It stays at the end as the file grows. Going elsewhere ends that; going to the end resumes it. */
gboolean player_following(const Player *player);
/* Counts the transcripts: where a followed file is cut or replaced, the one now at its path is
 * played as soon as it can be read. */
guint player_generation(const Player *player);

/* TRUE when something was folded. FALSE with an error for the operator, once for each cause: the
 * file cannot be followed, or read, any further. */
gboolean player_tick(Player *player, gint64 us, GError **error);
void player_pause(Player *player, gboolean paused);
void player_set_speed(Player *player, double speed); /* PLAYER_SPEED_MIN … MAX */
/* These pause nothing, but for the step. FALSE with an error: there is none, or it is unreadable.
 */
gboolean player_seek(Player *player, gint64 t, GError **error);
gboolean player_step(Player *player, gboolean back, GError **error);
/* *TEXT is what the mark says, until the next call. */
gboolean player_to_mark(Player *player, gboolean back, const char **text, GError **error);
/* As marks_find_place() has it. */
gboolean player_to_place(Player *player, const char *place, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Player, player_free)

#endif
