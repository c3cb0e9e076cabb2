/* Runs `pult nodeset` once for every line of standard input, which spares a peer test thousands of
 * processes. A line holds the arguments, one tab before each, with \t, \n and \\ for tab, newline
 * and backslash in them. What the subcommand prints goes out as it is, then \036, its exit status
 * and a newline. The subcommand's own standard input is empty.
 */
#include "main_nodeset.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
main(void)
{
  FILE *commands = fdopen(dup(STDIN_FILENO), "r");
  if (!commands || !freopen("/dev/null", "r", stdin))
    return 2;
  char *line = NULL;
  size_t room = 0;
  for (ssize_t n; (n = getline(&line, &room, commands)) > 0;) {
    if (line[n - 1] == '\n')
      line[n - 1] = '\0';
    g_auto(GStrv) words = g_strsplit(line, "\t", 0);
    guint argc = g_strv_length(words);
    for (guint i = 0; i < argc; i++) {
      char *plain = g_strcompress(words[i]);
      g_free(words[i]);
      words[i] = plain;
    }
    /* The option parser drops what it has read from the vector, without freeing it. */
    g_autofree char **argv = g_memdup2(words, (argc + 1) * sizeof *words);
    int result = main_nodeset((int)argc, argv);
    printf("\036%d\n", result);
    fflush(stdout);
  }
  free(line);
  int status = ferror(commands) != 0;
  fclose(commands);
  return status;
}
