/* One connection to powermand: commands one after the other, each with its lines and its end.
 *
 * It is made when the first command is given and kept; one that ended is made again for the next.
 * What powermand says is bounded in length and number of lines.
 * Threading: the default main context's thread only.
 */
#ifndef PULT_POWERMAN_LINE_H
#define PULT_POWERMAN_LINE_H

#include <glib.h>

typedef struct PowermanLine PowermanLine;

/* A line of the answer: `303 a01: on`. CODE is its number, TEXT the rest. */
typedef void (*PowermanSaid)(guint code, const char *text, gpointer data);
/* The command is over: CODE is that of its last line and TEXT the rest; 0: the connection could not
 * be made or ended, TEXT says why, and SENT whether powermand may have had the command. */
typedef void (*PowermanDone)(guint code, const char *text, gboolean sent, gpointer data);

/* ADDRESS is HOST:PORT. */
PowermanLine *powerman_line_new(const char *address);
/* No calls come any more. Takes NULL. */
void powerman_line_free(PowermanLine *line);
/* Neither SAID nor DONE is called before this returns. One at a time: not while it is busy. */
void powerman_line_send(PowermanLine *line, const char *command, PowermanSaid said,
                        PowermanDone done, gpointer data);
gboolean powerman_line_is_busy(const PowermanLine *line);
/* Nobody waits for the command under way: the connection is given up, and no call comes. */
void powerman_line_drop(PowermanLine *line);

#endif
