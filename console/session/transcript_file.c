#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/transcript.h"

#define BUFFER_SIZE (64 * 1024)
#define SLUG_MAX 80
#define NAMES_A_DAY 10000

struct TranscriptWriter {
  char *path;
  int fd;
  gboolean named; /* its name is on disk too */
  GString *buffer;
  GError *error;
};

static gboolean
fail(TranscriptWriter *writer, const char *doing, GError **error)
{
  if (writer->error == NULL)
    writer->error =
        g_error_new(TRANSCRIPT_ERROR, 0, "%s: %s: %s", writer->path, doing, g_strerror(errno));
  g_propagate_error(error, g_error_copy(writer->error));
  return FALSE;
}

/* A device or pipe (`/dev/stdout`) is written to as it is; a file must not be there yet. */
static int
open_new(const char *path)
{
  struct stat status;
  if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
    return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  return open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
}

TranscriptWriter *
transcript_create(const char *path, GError **error)
{
  int fd = open_new(path);
  if (fd < 0) {
    int cause = errno;
    g_set_error(error, TRANSCRIPT_ERROR, 0, "cannot record to %s: %s", path,
                cause == EEXIST ? "it exists, and a transcript is never overwritten"
                                : g_strerror(cause));
    return NULL;
  }
  TranscriptWriter *writer = g_new0(TranscriptWriter, 1);
  writer->path = g_strdup(path);
  writer->fd = fd;
  writer->buffer = g_string_sized_new(2 * BUFFER_SIZE);
  return writer;
}

gboolean
transcript_flush(TranscriptWriter *writer, GError **error)
{
  if (writer->error != NULL)
    return fail(writer, "", error);
  gsize done = 0;
  while (done < writer->buffer->len) {
    gssize n = write(writer->fd, writer->buffer->str + done, writer->buffer->len - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return fail(writer, "recording failed", error);
    done += (gsize)n;
  }
  g_string_truncate(writer->buffer, 0);
  return TRUE;
}

gboolean
transcript_write(TranscriptWriter *writer, const char *text, gsize length, GError **error)
{
  if (writer->error != NULL)
    return fail(writer, "", error);
  g_string_append_len(writer->buffer, text, (gssize)length);
  return writer->buffer->len < BUFFER_SIZE || transcript_flush(writer, error);
}

/* Without its directory on disk a new file is gone after a power cut, whatever was synced in it. */
static void
sync_name(TranscriptWriter *writer)
{
  g_autofree char *folder = g_path_get_dirname(writer->path);
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  fsync(fd);
  close(fd);
}

gboolean
transcript_sync(TranscriptWriter *writer, GError **error)
{
  if (!transcript_flush(writer, error))
    return FALSE;
  /* EINVAL, EROFS: a pipe or device, which has no disk behind it. */
  if (fdatasync(writer->fd) < 0 && errno != EINVAL && errno != EROFS)
    return fail(writer, "writing to disk failed", error);
  if (!writer->named)
    sync_name(writer);
  writer->named = TRUE;
  return TRUE;
}

void
transcript_close(TranscriptWriter *writer)
{
  if (writer == NULL)
    return;
  transcript_flush(writer, NULL);
  close(writer->fd);
  g_clear_error(&writer->error);
  g_string_free(writer->buffer, TRUE);
  g_free(writer->path);
  g_free(writer);
}

char *
transcript_slug(const char *lab)
{
  g_autoptr(GString) text = g_string_new(NULL);
  for (const char *p = lab; *p != 0 && text->len < SLUG_MAX; p++) {
    if (g_ascii_isalnum(*p) || (text->len > 0 && strchr("._", *p) != NULL))
      g_string_append_c(text, *p);
    else if (text->len > 0 && text->str[text->len - 1] != '-')
      g_string_append_c(text, '-');
  }
  if (text->len > 0 && text->str[text->len - 1] == '-')
    g_string_truncate(text, text->len - 1);
  return g_strdup(text->len > 0 ? text->str : "lab");
}

char *
transcript_default_path(const char *lab, GError **error)
{
  g_autofree char *folder = g_build_filename(g_get_user_state_dir(), "pult", NULL);
  if (g_mkdir_with_parents(folder, 0700) < 0) {
    g_set_error(error, TRANSCRIPT_ERROR, 0, "cannot make the folder %s for transcripts: %s", folder,
                g_strerror(errno));
    return NULL;
  }
  g_autoptr(GDateTime) now = g_date_time_new_now_local();
  g_autofree char *date = g_date_time_format(now, "%Y-%m-%d");
  g_autofree char *name = transcript_slug(lab);
  g_autofree char *path = g_strdup_printf("%s/%s-%s.jsonl", folder, date, name);
  for (guint i = 2; g_file_test(path, G_FILE_TEST_EXISTS); i++) {
    if (i > NAMES_A_DAY) {
      g_set_error(error, TRANSCRIPT_ERROR, 0, "%s holds %d transcripts of today", folder,
                  NAMES_A_DAY);
      return NULL;
    }
    g_free(path);
    path = g_strdup_printf("%s/%s-%s-%u.jsonl", folder, date, name, i);
  }
  return g_steal_pointer(&path);
}
