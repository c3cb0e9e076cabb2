/* Gives one fuzz program every file of its corpus: tests/fuzz/corpus/NAME, NAME being what the
 * program is called, replay_NAME. No sanitizer is needed, and no clang. */
#include "fuzz.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SECONDS_EACH 30

static char current[256]; /* what the input stood in, for whoever looks into the crash */

/* Of the sanitizers, where there are any. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void
tell(void)
{
  static const char before[] = "it was ", behind[] = "\n";
  if (write(STDOUT_FILENO, before, strlen(before)) < 0 ||
      write(STDOUT_FILENO, current, strlen(current)) < 0 ||
      write(STDOUT_FILENO, behind, strlen(behind)) < 0)
    _exit(EXIT_FAILURE);
}

static void
on_signal(int number)
{
  tell();
  signal(number, SIG_DFL);
  raise(number);
}

static void
replay_file(const char *path)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *text = NULL;
  gsize length;
  if (!g_file_get_contents(path, &text, &length, &error))
    g_error("%s", error->message);
  /* Of its own size to the byte, so that what reads beyond its end is caught. */
  g_autofree uint8_t *data = g_memdup2(text, length);
  g_strlcpy(current, path, sizeof current);
  alarm(SECONDS_EACH);
  LLVMFuzzerTestOneInput(data, length);
  alarm(0);
}

static int
compare(gconstpointer a, gconstpointer b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static GPtrArray *
list(const char *folder)
{
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GError) error = NULL;
  g_autoptr(GDir) dir = g_dir_open(folder, 0, &error);
  if (dir == NULL)
    g_error("%s", error->message);
  for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
    g_ptr_array_add(names, g_strdup(name));
  g_ptr_array_sort(names, compare);
  return names;
}

int
main(int argc, char **argv)
{
  g_autofree char *program = g_path_get_basename(argv[0]);
  const char *name = strchr(program, '_');
  (void)argc;
  g_assert_nonnull(name);
  g_autofree char *folder = g_build_filename("tests/fuzz/corpus", name + 1, NULL);
  if (__sanitizer_set_death_callback != NULL)
    __sanitizer_set_death_callback(tell);
  else
    signal(SIGSEGV, on_signal);
  signal(SIGABRT, on_signal);
  signal(SIGTRAP, on_signal);
  signal(SIGALRM, on_signal);
  g_autoptr(GPtrArray) files = list(folder);
  LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
  for (guint i = 0; i < files->len; i++) {
    g_autofree char *path = g_build_filename(folder, files->pdata[i], NULL);
    replay_file(path);
  }
  printf("%u passed, 0 failed, 0 skipped\n", files->len);
  return files->len > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
