#include "main_secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "backends/secret.h"

struct MainSecrets {
  GHashTable *answers; /* what was asked for → secret */
};

static void
wipe(gpointer secret)
{
  secret_free(secret);
}

MainSecrets *
main_secrets_new(void)
{
  MainSecrets *secrets = g_new0(MainSecrets, 1);
  secrets->answers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, wipe);
  return secrets;
}

void
main_secrets_free(MainSecrets *secrets)
{
  if (secrets == NULL)
    return;
  g_hash_table_unref(secrets->answers);
  g_free(secrets);
}

static gboolean
put(int fd, const char *text)
{
  return write(fd, text, strlen(text)) == (gssize)strlen(text);
}

/* One line, its end left out; -1 when there is none. */
static gssize
read_answer(int fd, char *buffer, gsize size)
{
  gsize length = 0;
  for (;;) {
    char c;
    gssize n = read(fd, &c, 1);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return -1;
    if (c == '\n' || c == '\r')
      return (gssize)length;
    if (length < size - 1)
      buffer[length++] = c;
  }
}

/* Signals are off while it is typed, so that none leaves the terminal mute: ^C is then a byte. */
static gssize
ask_quietly(int fd, const char *text, char *buffer, gsize size)
{
  struct termios before, quiet;
  if (tcgetattr(fd, &before) != 0)
    return -1;
  quiet = before;
  quiet.c_lflag &= ~(tcflag_t)(ECHO | ISIG);
  if (tcsetattr(fd, TCSAFLUSH, &quiet) != 0)
    return -1;
  gssize n = put(fd, text) && put(fd, ": ") ? read_answer(fd, buffer, size) : -1;
  tcsetattr(fd, TCSAFLUSH, &before);
  put(fd, "\n");
  return n > 0 && memchr(buffer, 3, (gsize)n) != NULL ? -1 : n;
}

char *
main_ask_secret(const char *text, gpointer data, GError **error)
{
  MainSecrets *secrets = data;
  const char *known = g_hash_table_lookup(secrets->answers, text);
  if (known != NULL)
    return g_strdup(known);
  int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) {
    g_set_error(error, SECRET_ERROR, 0, "%s: there is no terminal to ask for it at", text);
    return NULL;
  }
  char buffer[SECRET_MAX + 1];
  gssize n = ask_quietly(fd, text, buffer, sizeof buffer);
  close(fd);
  char *answer = n > 0 ? g_strndup(buffer, (gsize)n) : NULL;
  explicit_bzero(buffer, sizeof buffer);
  if (answer == NULL)
    g_set_error(error, SECRET_ERROR, 0, "%s: none was given", text);
  else
    g_hash_table_insert(secrets->answers, g_strdup(text), g_strdup(answer));
  return answer;
}
