/* Reservations as sessions share them: JSON lines beside the transcripts, one a node.
 *
 *   {"reservations":1,"lab":"OpenSLX, two rooms"}
 *   {"node":"a07","until":"2026-12-02T17:00:00Z","by":"anna@desk1","why":"exam"}
 *
 * Strings are escaped as in a transcript. Any number of sessions may change the file: each change
 * reads it again under a lock (PATH.lock) and replaces it whole, mode 0600. What is not understood
 * is an error that names the line; then the other lines hold, and nothing is written any more, lest
 * a reservation be lost. Limits: 16 MiB, a line 4 KiB.
 *
 * Times are Unix time in seconds. Threading: none.
 */
#ifndef PULT_SESSION_RESERVATIONS_H
#define PULT_SESSION_RESERVATIONS_H

#include "core/command.h"

#define RESERVATIONS_ERROR (g_quark_from_static_string("pult-reservations"))

typedef struct {
  gint64 until;
  const char *by, *why;
} Reservation;

typedef struct Reservations Reservations;

/* Touches no file yet. */
Reservations *reservations_new(const char *path, const char *lab);
void reservations_free(Reservations *reservations);
/* `$XDG_STATE_HOME/pult/reservations-LAB.jsonl`. Free with g_free. */
char *reservations_default_path(const char *lab);

/* Reads the file if it is another than last time; *CHANGED says so. No file: no reservations. FALSE
 * with an error when it was read and not all of it understood. */
gboolean reservations_look(Reservations *reservations, gboolean *changed, GError **error);
/* Of NODE as last read, one that is over included; NULL none. */
const Reservation *reservations_find(const Reservations *reservations, const char *node);
/* Writes that NODES are reserved so, or with NULL not any more, and drops what is over NOW. Waits
 * half a second at most for other sessions. */
gboolean reservations_change(Reservations *reservations, const char *const *nodes, guint n,
                             const Reservation *reservation, gint64 now, GError **error);

/* Seconds from NOW to TIME in NOW's time zone, rounded up; 18:00 is the next one. An error when
 * TIME is over or more than RESERVE_MAX away. */
gboolean reservations_seconds(const ClockTime *time, GDateTime *now, gint64 *seconds,
                              GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Reservations, reservations_free)

#endif
