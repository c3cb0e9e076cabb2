/* A file that others append to, read line by line as it grows.
 *
 * What stands in it when it is first looked at is passed over; one that appears later is read from
 * its beginning. A file that was moved away is read on for a while beside the one that has its name
 * now, for its writer goes on with it until told; one that became shorter is read anew. A line that
 * has no newline yet is none, and one of more than LOG_FILE_LINE bytes is left out.
 *
 * Threading: none of its own. Reading a file of a network file system may block.
 */
#ifndef PULT_LOG_FILE_H
#define PULT_LOG_FILE_H

#include <glib.h>

#define LOG_FILE_LINE 4096
/* Bytes of it that one look takes at most; the rest is the next one's. */
#define LOG_FILE_BURST (256 * 1024)

typedef struct LogFile LogFile;

/* A line without its newline: LENGTH bytes, a NUL among them shown as a blank, and a NUL behind. */
typedef void (*LogFileLine)(const char *text, gsize length, gpointer data);

/* PATH is looked at for the first time. */
LogFile *log_file_new(const char *path);
/* Takes NULL. */
void log_file_free(LogFile *file);
const char *log_file_path(const LogFile *file);
/* Gives the lines that have come since. */
void log_file_look(LogFile *file, LogFileLine line, gpointer data);
/* Why nothing can be read, as of the last look; NULL when it can. */
const char *log_file_problem(const LogFile *file);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LogFile, log_file_free)

#endif
