/* The file side of reading: whole lines, positions, and what holds from one line to the next. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/transcript_parse.h"

#define LINE_MAX_SIZE ((gsize)1 << 20)
#define HEAD_MAX_SIZE ((gsize)32 << 20)
#define CHUNK ((gsize)64 << 10)

struct TranscriptReader {
  char *path;
  int fd;
  char *buffer; /* bytes begin … end of it are read and not yet used */
  gsize begin, end, capacity;
  goffset offset; /* of begin, in the file */
  guint64 line_number, seq;
  gint64 t;
  GError *error; /* the first; it stands */
  TranscriptLine *head_line, *session_line, *line;
  TranscriptHead head;
  TranscriptSession session;
  gboolean has_session;
  Layout *layout;
  Event event;
};

static gboolean
fail(TranscriptReader *reader, const char *message)
{
  reader->error = g_error_new(TRANSCRIPT_ERROR, 0, "%s:%" G_GUINT64_FORMAT ": %s", reader->path,
                              reader->line_number, message);
  return FALSE;
}

/* FALSE with ERROR set (reader->error stays) or, without, at the end of the file. */
static gboolean
read_more(TranscriptReader *reader)
{
  if (reader->begin > 0) {
    memmove(reader->buffer, reader->buffer + reader->begin, reader->end - reader->begin);
    reader->end -= reader->begin;
    reader->begin = 0;
  }
  if (reader->capacity - reader->end < CHUNK) {
    reader->capacity = reader->capacity * 2 + CHUNK;
    reader->buffer = g_realloc(reader->buffer, reader->capacity);
  }
  gssize got;
  do
    got = read(reader->fd, reader->buffer + reader->end, reader->capacity - reader->end);
  while (got < 0 && errno == EINTR);
  if (got < 0)
    reader->error =
        g_error_new(TRANSCRIPT_ERROR, 0, "%s: reading failed: %s", reader->path, g_strerror(errno));
  if (got <= 0)
    return FALSE;
  reader->end += (gsize)got;
  return TRUE;
}

/* The next whole line, its newline turned into a NUL, until the next call; NULL at the end of the
 * file, where what is left of a line stays for later, or with reader->error. */
static char *
next_line(TranscriptReader *reader, gsize *length)
{
  gsize limit = reader->line_number == 0 ? HEAD_MAX_SIZE : LINE_MAX_SIZE;
  gsize scanned = 0;
  for (;;) {
    char *line = reader->buffer + reader->begin;
    gsize left = reader->end - reader->begin;
    char *newline = left > scanned ? memchr(line + scanned, '\n', left - scanned) : NULL;
    gsize size = newline != NULL ? (gsize)(newline - line) : left;
    if (size > limit) {
      reader->line_number++;
      g_autofree char *message =
          g_strdup_printf("is longer than %" G_GSIZE_FORMAT " MiB", limit >> 20);
      fail(reader, message);
      return NULL;
    }
    if (newline != NULL) {
      *newline = 0;
      *length = size;
      reader->begin += size + 1;
      reader->offset += (goffset)size + 1;
      reader->line_number++;
      return line;
    }
    scanned = left;
    if (!read_more(reader))
      return NULL;
  }
}

static gboolean
check_layout(TranscriptReader *reader)
{
  const TranscriptHead *head = &reader->head;
  g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, head->layout_text, -1);
  if (strcmp(sum, head->layout_sha256) != 0)
    return fail(reader, "the layout in it is not the one its checksum was made of");
  g_autoptr(GError) problem = NULL;
  reader->layout =
      layout_parse(head->layout_name, head->layout_text, strlen(head->layout_text), &problem);
  if (reader->layout != NULL)
    return TRUE;
  g_autofree char *message = g_strconcat("the layout in it: ", problem->message, NULL);
  return fail(reader, message);
}

static gboolean
read_head(TranscriptReader *reader)
{
  gsize length;
  const char *text = next_line(reader, &length);
  if (text == NULL) {
    if (reader->error == NULL) {
      reader->line_number = 1;
      fail(reader, reader->end == 0
                       ? "is empty: no transcript"
                       : "ends within its first line: no transcript, or one cut there");
    }
    return FALSE;
  }
  g_autoptr(GError) problem = NULL;
  if (!transcript_parse_head(reader->head_line, text, length, &reader->head, &problem))
    return fail(reader, problem->message);
  return check_layout(reader);
}

TranscriptReader *
transcript_open(const char *path, GError **error)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) {
    g_set_error(error, TRANSCRIPT_ERROR, 0, "%s: %s", path, g_strerror(errno));
    return NULL;
  }
  g_autoptr(TranscriptReader) reader = g_new0(TranscriptReader, 1);
  reader->path = g_strdup(path);
  reader->fd = fd;
  reader->capacity = CHUNK;
  reader->buffer = g_malloc(CHUNK);
  reader->head_line = transcript_line_new();
  reader->session_line = transcript_line_new();
  reader->line = transcript_line_new();
  if (read_head(reader))
    return g_steal_pointer(&reader);
  g_propagate_error(error, g_steal_pointer(&reader->error));
  return NULL;
}

void
transcript_reader_free(TranscriptReader *reader)
{
  if (reader == NULL)
    return;
  close(reader->fd);
  transcript_line_free(reader->head_line);
  transcript_line_free(reader->session_line);
  transcript_line_free(reader->line);
  layout_free(reader->layout);
  g_clear_error(&reader->error);
  g_free(reader->buffer);
  g_free(reader->path);
  g_free(reader);
}

const TranscriptHead *
transcript_head(const TranscriptReader *reader)
{
  return &reader->head;
}

const Layout *
transcript_layout(const TranscriptReader *reader)
{
  return reader->layout;
}

const TranscriptSession *
transcript_session(const TranscriptReader *reader)
{
  return reader->has_session ? &reader->session : NULL;
}

guint64
transcript_line_number(const TranscriptReader *reader)
{
  return reader->line_number;
}

/* TRUE when line 2 is behind us. */
static gboolean
read_session(TranscriptReader *reader)
{
  if (reader->line_number >= 2)
    return TRUE;
  gsize length;
  const char *text = next_line(reader, &length);
  if (text == NULL)
    return FALSE;
  g_autoptr(GError) problem = NULL;
  if (!transcript_parse_session(reader->session_line, text, length, &reader->session, &problem))
    return fail(reader, problem->message);
  reader->has_session = TRUE;
  return TRUE;
}

static gboolean
check_order(TranscriptReader *reader, const Event *event)
{
  g_autofree char *message = NULL;
  if (event->seq != reader->seq + 1)
    message = g_strdup_printf("`seq` is %" G_GUINT64_FORMAT "; %" G_GUINT64_FORMAT " is due",
                              event->seq, reader->seq + 1);
  else if (event->t < reader->t)
    message =
        g_strdup_printf("`t` is %" G_GINT64_FORMAT ", before the line above (%" G_GINT64_FORMAT ")",
                        event->t, reader->t);
  if (message != NULL)
    return fail(reader, message);
  reader->seq = event->seq;
  reader->t = event->t;
  return TRUE;
}

static gboolean
read_event(TranscriptReader *reader, const char **raw)
{
  if (reader->error != NULL || !read_session(reader))
    return FALSE;
  gsize length;
  const char *text = next_line(reader, &length);
  if (text == NULL)
    return FALSE;
  g_autoptr(GError) problem = NULL;
  if (!transcript_parse_event(reader->line, reader->layout, text, length, &reader->event, &problem))
    return fail(reader, problem->message);
  if (raw != NULL)
    *raw = text;
  return check_order(reader, &reader->event);
}

const Event *
transcript_next(TranscriptReader *reader, const char **raw, GError **error)
{
  if (read_event(reader, raw))
    return &reader->event;
  if (reader->error != NULL)
    g_propagate_error(error, g_error_copy(reader->error));
  return NULL;
}

TranscriptMark
transcript_tell(const TranscriptReader *reader)
{
  return (TranscriptMark){reader->offset, reader->line_number, reader->seq, reader->t};
}

gboolean
transcript_seek(TranscriptReader *reader, const TranscriptMark *mark, GError **error)
{
  if (lseek(reader->fd, (off_t)mark->offset, SEEK_SET) < 0) {
    g_set_error(error, TRANSCRIPT_ERROR, 0, "%s: cannot go back in it: %s", reader->path,
                g_strerror(errno));
    return FALSE;
  }
  g_clear_error(&reader->error);
  reader->begin = reader->end = 0;
  reader->offset = mark->offset;
  reader->line_number = mark->line;
  reader->seq = mark->seq;
  reader->t = mark->t;
  return TRUE;
}

goffset
transcript_size(const TranscriptReader *reader)
{
  struct stat status;
  return fstat(reader->fd, &status) < 0 ? 0 : status.st_size;
}

gboolean
transcript_is_file(const TranscriptReader *reader, const struct stat *file)
{
  struct stat status;
  return fstat(reader->fd, &status) == 0 && status.st_dev == file->st_dev &&
         status.st_ino == file->st_ino;
}

/* t of the last whole line in the SIZE bytes before END of the file; -1 when none is whole there.
 */
static gint64
last_time_in(const TranscriptReader *reader, goffset end, gsize size)
{
  g_autofree char *tail = g_malloc(size);
  gssize got = pread(reader->fd, tail, size, (off_t)(end - (goffset)size));
  if (got <= 0)
    return -1;
  const char *newline = memrchr(tail, '\n', (gsize)got);
  const char *before = newline != NULL ? memrchr(tail, '\n', (gsize)(newline - tail)) : NULL;
  if (before == NULL)
    return -1;
  json_t *line = json_loadb(before + 1, (gsize)(newline - before - 1), 0, NULL);
  gint64 t = json_integer_value(json_object_get(line, "t"));
  json_decref(line);
  return MAX(t, 0);
}

gint64
transcript_last_time(const TranscriptReader *reader)
{
  struct stat status;
  if (fstat(reader->fd, &status) < 0 || !S_ISREG(status.st_mode))
    return 0;
  /* At most room for a cut line and the whole one before it; mostly a little of that will do. */
  gsize most = MIN((gsize)status.st_size, 2 * LINE_MAX_SIZE), size = MIN(most, CHUNK);
  gint64 t = last_time_in(reader, status.st_size, size);
  if (t < 0 && size < most)
    t = last_time_in(reader, status.st_size, most);
  return MAX(t, 0);
}
