#include "main_say.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/transcript_escape.h"

/* --help, for one, is printed and ended with by GLib, which does not look. */
static void
check_output(int status, void *data)
{
  (void)data;
  if (status == EXIT_SUCCESS && main_finish_output(status) != status)
    _exit(EXIT_NOT_DONE);
}

void
main_begin(void)
{
  int fd;
  do /* read-only: a write still fails, as it should */
    fd = open("/dev/null", O_RDONLY);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0)
    close(fd);
  signal(SIGXFSZ, SIG_IGN);
  on_exit(check_output, NULL);
}

void
main_print(FILE *out, const char *text)
{
  gsize left = strlen(text);
  while (left > 0) {
    gsize plain = transcript_plain_length(text, left);
    if (plain > 0)
      fwrite(text, 1, plain, out);
    else
      fprintf(out, "\\x%02x", (guchar)*text);
    text += MAX(plain, 1);
    left -= MAX(plain, 1);
  }
}

void
main_complain(const char *message)
{
  if (!g_regex_match_simple("^\\S+:\\d+:", message, 0, 0))
    fputs("pult: ", stderr);
  main_print(stderr, message);
  fputc('\n', stderr);
}

int
main_fail(const GError *error)
{
  main_complain(error->message);
  return EXIT_USAGE;
}

int
main_finish_output(int status)
{
  if (fflush(stdout) == 0 && !ferror(stdout))
    return status;
  g_autofree char *message = g_strdup_printf("writing the output failed: %s", g_strerror(errno));
  main_complain(message);
  return EXIT_NOT_DONE;
}
