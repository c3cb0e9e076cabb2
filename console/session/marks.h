/* The marks of a transcript, and places in it by time or mark. */
#ifndef PULT_SESSION_MARKS_H
#define PULT_SESSION_MARKS_H

#include <glib.h>

typedef struct Marks Marks;

/* Reads no file before something is asked. */
Marks *marks_new(const char *path);
void marks_free(Marks *marks);
/* Time of the first mark after T, or the last before it; *TEXT (may be NULL) is what it says, until
 * the next call. FALSE when there is none in the file as it is now. */
gboolean marks_next(Marks *marks, gint64 t, gboolean back, gint64 *found, const char **text);

/* Where PLACE is, in a replay that stands at NOW and ends at END:
 *   30s, 2 min    1:30 (minutes and seconds), 8:01:30    +10s, -10s from here    start    end
 *   mark:TEXT     the first mark that says TEXT, else the first that holds it; `mark:` may be left
 *                 out where TEXT reads like no time
 * Never before 0. FALSE with a sentence that names what there is. */
gboolean marks_find_place(Marks *marks, const char *place, gint64 now, gint64 end, gint64 *t,
                          GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Marks, marks_free)

#endif
