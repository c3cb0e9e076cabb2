/* The console: a session, or a replay, on the terminal. */
#ifndef PULT_MAIN_CONSOLE_H
#define PULT_MAIN_CONSOLE_H

#include "session/player.h"
#include "session/session.h"
#include "ui/host.h"

/* Starts SESSION and shows it until the operator leaves. JOBS: what Tab offers, borrowed. REAL:
 * some backend touches real machines. Returns an exit status; 2 with ERROR when there is no
 * terminal to show it on. */
int main_console_session(Session *session, const JobSet *jobs, gboolean real, double speed,
                         GError **error);
/* The same of a transcript. */
int main_console_replay(Player *player, GError **error);
/* One screen of REPLAY where it stands, as text; NULL with error when there is no such VIEW. */
char *main_console_screen(const Replay *replay, const char *view, int rows, int columns,
                          gboolean ascii, GError **error);

#endif
