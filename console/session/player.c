#include "session/player.h"

#include "session/marks.h"

/* How often another file at the path of a followed one is tried. */
#define RETRY_US G_USEC_PER_SEC
/* So long after a mark, of wall time, the one before it is the one before that. */
#define MARK_SLACK TIME_SECOND

struct Player {
  Replay *replay;
  Marks *marks;
  double speed;
  gboolean paused;
  gint64 t;         /* where the replay should be */
  gint64 us;        /* of the last tick; -1 */
  gboolean follows; /* asked to … */
  gboolean at_end;  /* … and does now */
  gboolean lost;    /* the followed file; another is waited for */
  gint64 retry_us;
  guint generation;
};

Player *
player_new(Replay *replay, double speed, gboolean follow)
{
  Player *player = g_new0(Player, 1);
  player->replay = replay;
  player->marks = marks_new(replay_path(replay));
  player->t = replay_now(replay);
  player->us = -1;
  player->follows = player->at_end = follow;
  player_set_speed(player, speed);
  return player;
}

void
player_free(Player *player)
{
  if (player == NULL)
    return;
  replay_free(player->replay);
  marks_free(player->marks);
  g_free(player);
}

const Replay *
player_replay(const Player *player)
{
  return player->replay;
}

gboolean
player_paused(const Player *player)
{
  return player->paused;
}

double
player_speed(const Player *player)
{
  return player->speed;
}

gboolean
player_following(const Player *player)
{
  return player->at_end;
}

guint
player_generation(const Player *player)
{
  return player->generation;
}

void
player_pause(Player *player, gboolean paused)
{
  player->paused = paused;
  if (paused)
    player->at_end = FALSE;
}

void
player_set_speed(Player *player, double speed)
{
  player->speed = CLAMP(speed, PLAYER_SPEED_MIN, PLAYER_SPEED_MAX);
}

/* What cannot be read is not tried again by itself. */
static gboolean
go(Player *player, gint64 t, GError **error)
{
  player->t = t;
  if (replay_seek(player->replay, t, error))
    return TRUE;
  player->paused = TRUE;
  player->at_end = FALSE;
  return FALSE;
}

/* The transcript that is at the path now, once it can be read. */
static gboolean
take_other(Player *player, gint64 us)
{
  if (us < player->retry_us)
    return FALSE;
  player->retry_us = us + RETRY_US;
  Replay *other = replay_open(replay_path(player->replay), NULL);
  if (other == NULL)
    return FALSE;
  marks_free(player->marks);
  player->marks = marks_new(replay_path(other));
  replay_free(player->replay);
  player->replay = other;
  player->generation++;
  player->lost = FALSE;
  return TRUE;
}

/* TRUE when the file has grown. */
static gboolean
look(Player *player, gint64 us, GError **error)
{
  if (!player->follows || player->lost)
    return replay_follow(player->replay, NULL) ||
           (player->lost && player->at_end && take_other(player, us));
  GError *problem = NULL;
  gboolean grown = replay_follow(player->replay, &problem);
  if (problem == NULL)
    return grown;
  player->lost = TRUE;
  g_set_error(error, REPLAY_ERROR, 0, "%s; what was read of it stays", problem->message);
  g_error_free(problem);
  return FALSE;
}

gboolean
player_tick(Player *player, gint64 us, GError **error)
{
  gint64 passed = player->us >= 0 ? MAX(us - player->us, 0) : 0;
  gboolean grown = look(player, us, error);
  gint64 end = replay_end(player->replay);
  player->us = us;
  if (player->at_end)
    return grown && go(player, end, error);
  if (player->paused || player->t >= end)
    return FALSE;
  gint64 on = (gint64)((double)passed * 1000 * player->speed);
  return go(player, MIN(player->t + on, end), error);
}

gboolean
player_seek(Player *player, gint64 t, GError **error)
{
  gint64 end = replay_end(player->replay);
  player->at_end = player->follows && t >= end;
  if (player->at_end)
    player->paused = FALSE;
  return go(player, CLAMP(t, 0, end), error);
}

gboolean
player_step(Player *player, gboolean back, GError **error)
{
  GError *problem = NULL;
  player->paused = TRUE;
  player->at_end = FALSE;
  gboolean stepped = replay_step(player->replay, back, &problem);
  player->t = replay_now(player->replay);
  if (stepped)
    return TRUE;
  if (problem != NULL)
    g_propagate_error(error, problem);
  else
    g_set_error(error, REPLAY_ERROR, 0, "%s", back ? "that is the beginning" : "that is the end");
  return FALSE;
}

gboolean
player_to_mark(Player *player, gboolean back, const char **text, GError **error)
{
  gint64 t = replay_now(player->replay), found;
  if (back && !player->paused)
    t -= (gint64)((double)MARK_SLACK * player->speed);
  if (!marks_next(player->marks, t, back, &found, text)) {
    g_set_error(error, REPLAY_ERROR, 0, "there is no mark %s", back ? "before" : "after this");
    return FALSE;
  }
  return player_seek(player, found, error);
}

gboolean
player_to_place(Player *player, const char *place, GError **error)
{
  gint64 t;
  return marks_find_place(player->marks, place, replay_now(player->replay),
                          replay_end(player->replay), &t, error) &&
         player_seek(player, t, error);
}
