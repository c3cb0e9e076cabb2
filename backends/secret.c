#include "backends/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
secret_free(char *secret)
{
  if (secret == NULL)
    return;
  explicit_bzero(secret, strlen(secret));
  g_free(secret);
}

static gboolean fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static gboolean
fail(GError **error, const char *format, ...)
{
  va_list arguments;

  va_start(arguments, format);
  if (error != NULL)
    *error = g_error_new_valist(SECRET_ERROR, 0, format, arguments);
  va_end(arguments);
  return FALSE;
}

static gboolean
check_file(int fd, const char *path, const char *what, GError **error)
{
  struct stat info;

  if (fstat(fd, &info) != 0)
    return fail(error, "%s: %s: %s", what, path, g_strerror(errno));
  if (!S_ISREG(info.st_mode))
    return fail(error, "%s: %s is no file", what, path);
  if (info.st_uid != geteuid() && info.st_uid != 0)
    return fail(error, "%s: %s belongs to somebody else", what, path);
  if ((info.st_mode & 077) != 0)
    return fail(error, "%s: %s can be read by others; chmod 600 %s", what, path, path);
  return TRUE;
}

static gssize
read_whole(int fd, char *buffer, gsize size)
{
  gsize length = 0;

  while (length < size) {
    gssize n = read(fd, buffer + length, size - length);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return -1;
    if (n == 0)
      break;
    length += (gsize)n;
  }
  return (gssize)length;
}

static char *
read_file(const char *path, const char *what, GError **error)
{
  g_autofree char *home =
      g_str_has_prefix(path, "~/") ? g_build_filename(g_get_home_dir(), path + 2, NULL) : NULL;
  char buffer[SECRET_MAX + 2];
  int fd = open(home != NULL ? home : path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

  if (fd < 0) {
    fail(error, "%s: %s: %s", what, path, g_strerror(errno));
    return NULL;
  }
  if (!check_file(fd, path, what, error)) {
    close(fd);
    return NULL;
  }
  gssize n = read_whole(fd, buffer, sizeof buffer - 1);
  int code = errno;
  close(fd);
  if (n < 0) {
    fail(error, "%s: %s: %s", what, path, g_strerror(code));
    return NULL;
  }
  buffer[n] = '\0';
  gsize length = strcspn(buffer, "\r\n");
  char *secret = NULL;
  if (length == 0 || length > SECRET_MAX || memchr(buffer, '\0', length) != NULL)
    fail(error, "%s: the first line of %s is empty, too long or no text", what, path);
  else
    secret = g_strndup(buffer, length);
  explicit_bzero(buffer, sizeof buffer);
  return secret;
}

char *
secret_read(const char *reference, const char *what, SecretAsk ask, gpointer data, GError **error)
{
  if (g_str_has_prefix(reference, "file:"))
    return read_file(reference + strlen("file:"), what, error);
  if (g_str_has_prefix(reference, "env:")) {
    const char *value = g_getenv(reference + strlen("env:"));
    if (value != NULL && *value != '\0' && strlen(value) <= SECRET_MAX)
      return g_strdup(value);
    fail(error, "%s: the environment has no %s", what, reference + strlen("env:"));
    return NULL;
  }
  if (ask != NULL)
    return ask(what, data, error);
  fail(error, "%s: there is nobody to ask for it", what);
  return NULL;
}
