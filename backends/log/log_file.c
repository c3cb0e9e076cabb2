#include "backends/log/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Looks for which a file that was moved away is read on. */
#define LOOKS_BEHIND 50

typedef struct {
  int fd; /* -1: none */
  dev_t device;
  ino_t inode;
  off_t at;
  GString *part;     /* of a line whose end has not come */
  gboolean too_long; /* the rest of it is passed over */
} Stream;

struct LogFile {
  char *path;
  const char *problem;
  Stream now;
  Stream before; /* moved away */
  guint left;    /* looks at it */
};

static void
stream_close(Stream *stream)
{
  if (stream->fd >= 0)
    close(stream->fd);
  stream->fd = -1;
  g_string_truncate(stream->part, 0);
  stream->too_long = FALSE;
}

/* Why it cannot; NULL when it is open. A pipe or a terminal by that name is not waited for. */
static const char *
stream_open(Stream *stream, const char *path, gboolean at_end)
{
  struct stat about;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0)
    return g_strerror(errno);
  const char *problem = fstat(fd, &about) != 0   ? g_strerror(errno)
                        : S_ISREG(about.st_mode) ? NULL
                                                 : "it is no regular file";
  if (problem != NULL) {
    close(fd);
    return problem;
  }
  stream->fd = fd;
  stream->device = about.st_dev;
  stream->inode = about.st_ino;
  stream->at = at_end ? about.st_size : 0;
  return NULL;
}

static void
end_line(Stream *stream, LogFileLine line, gpointer data)
{
  if (!stream->too_long)
    line(stream->part->str, stream->part->len, data);
  g_string_truncate(stream->part, 0);
  stream->too_long = FALSE;
}

static void
take(Stream *stream, char *bytes, gsize n, LogFileLine line, gpointer data)
{
  for (char *end = bytes + n; bytes < end;) {
    char *newline = memchr(bytes, '\n', (gsize)(end - bytes));
    gsize length = (gsize)((newline != NULL ? newline : end) - bytes);
    stream->too_long = stream->too_long || stream->part->len + length > LOG_FILE_LINE;
    if (!stream->too_long)
      g_string_append_len(stream->part, bytes, (gssize)length);
    if (newline != NULL)
      end_line(stream, line, data);
    bytes += length + (newline != NULL ? 1 : 0);
  }
}

static void
read_on(Stream *stream, LogFileLine line, gpointer data)
{
  char bytes[16384];
  struct stat about;
  if (stream->fd < 0)
    return;
  if (fstat(stream->fd, &about) == 0 && about.st_size < stream->at) {
    stream->at = 0;
    g_string_truncate(stream->part, 0);
    stream->too_long = FALSE;
  }
  for (gsize left = LOG_FILE_BURST; left >= sizeof bytes; left -= sizeof bytes) {
    gssize n = pread(stream->fd, bytes, sizeof bytes, stream->at);
    if (n <= 0)
      return;
    stream->at += n;
    for (gssize i = 0; i < n; i++)
      if (bytes[i] == '\0')
        bytes[i] = ' ';
    take(stream, bytes, (gsize)n, line, data);
  }
}

static void
look_for(LogFile *file, gboolean at_end)
{
  file->problem = stream_open(&file->now, file->path, at_end);
}

static gboolean
was_moved(const LogFile *file)
{
  struct stat about;
  return stat(file->path, &about) == 0 &&
         (about.st_ino != file->now.inode || about.st_dev != file->now.device);
}

static void
follow_name(LogFile *file)
{
  if (file->now.fd < 0) {
    look_for(file, FALSE);
    return;
  }
  if (!was_moved(file))
    return;
  Stream free_one = file->before;
  stream_close(&free_one);
  file->before = file->now;
  file->now = free_one;
  file->left = LOOKS_BEHIND;
  look_for(file, FALSE);
}

LogFile *
log_file_new(const char *path)
{
  LogFile *file = g_new0(LogFile, 1);
  file->path = g_strdup(path);
  file->now = (Stream){.fd = -1, .part = g_string_new(NULL)};
  file->before = (Stream){.fd = -1, .part = g_string_new(NULL)};
  look_for(file, TRUE);
  return file;
}

void
log_file_free(LogFile *file)
{
  if (file == NULL)
    return;
  stream_close(&file->now);
  stream_close(&file->before);
  g_string_free(file->now.part, TRUE);
  g_string_free(file->before.part, TRUE);
  g_free(file->path);
  g_free(file);
}

const char *
log_file_path(const LogFile *file)
{
  return file->path;
}

void
log_file_look(LogFile *file, LogFileLine line, gpointer data)
{
  follow_name(file);
  read_on(&file->before, line, data);
  if (file->before.fd >= 0 && --file->left == 0)
    stream_close(&file->before);
  read_on(&file->now, line, data);
}

const char *
log_file_problem(const LogFile *file)
{
  return file->problem;
}
