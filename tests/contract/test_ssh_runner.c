#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifdef HAVE_SSH

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/ssh/ssh_runner.h"

#define TOKEN "pult-7f3a"
#define PATIENCE 15000 /* ms */
/* Of a beginning; a busy machine may take its time. */
#define TIME_LATE (2 * G_GINT64_CONSTANT(1000000000))

/* A runner under one shell, on pipes as sshd's. */
typedef struct {
  GPid pid;
  int in, out;
  GString *heard;
} Host;

static const char *shell; /* of this process's tests */

static void
die_with_parent(gpointer data)
{
  (void)data;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void
in_its_own_session(gpointer data)
{
  setsid();
  die_with_parent(data);
}

static Host *
host_new(SshRunner runner)
{
  Host *host = g_new0(Host, 1);
  runner.token = TOKEN;
  runner.shell = shell;
  g_autofree char *text = ssh_runner_text(&runner);
  g_auto(GStrv) words = g_strsplit(shell, " ", 2);
  char *const argv[] = {words[0], words[1] != NULL ? words[1] : (char *)"-c",
                        words[1] != NULL ? (char *)"-c" : text, words[1] != NULL ? text : NULL,
                        NULL};
  g_autoptr(GError) error = NULL;
  if (!g_spawn_async_with_pipes(
          NULL, (char **)argv, NULL,
          G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDERR_TO_DEV_NULL,
          in_its_own_session, NULL, &host->pid, &host->in, &host->out, NULL, &error))
    fail_msg("%s", error->message);
  host->heard = g_string_new(NULL);
  return host;
}

/* Reads on; FALSE at the end, or when nothing came for so long. */
static gboolean
listen_more(Host *host, int patience)
{
  struct pollfd wait = {.fd = host->out, .events = POLLIN};
  char bytes[4096];
  if (poll(&wait, 1, patience) <= 0)
    return FALSE;
  gssize n = read(host->out, bytes, sizeof bytes);
  if (n <= 0)
    return FALSE;
  g_string_append_len(host->heard, bytes, n);
  return TRUE;
}

/* The rest of the first line that begins with the token and WORD. */
static char *
hear(Host *host, const char *word)
{
  g_autofree char *mark = g_strdup_printf("\n" TOKEN " %s ", word);
  for (;;) {
    const char *at = strstr(host->heard->str, mark);
    const char *end = at != NULL ? strchr(at + 1, '\n') : NULL;
    if (end != NULL)
      return g_strndup(at + strlen(mark), (gsize)(end - at) - strlen(mark));
    if (!listen_more(host, PATIENCE))
      fail_msg("%s: no %s in: %s", shell, word, host->heard->str);
  }
}

/* Until the command itself has said LINE. */
static void
hear_output(Host *host, const char *line)
{
  g_autofree char *mark = g_strdup_printf("\n%s\n", line);
  while (strstr(host->heard->str, mark) == NULL)
    if (!listen_more(host, PATIENCE))
      fail_msg("%s: no %s in: %s", shell, line, host->heard->str);
}

static void
say(Host *host, const char *format, gint64 number)
{
  g_autofree char *line = g_strdup_printf(format, number);
  assert_int_equal(write(host->in, line, strlen(line)), strlen(line));
}

/* Its own end, all output heard; the exit status. */
static int
host_free(Host *host)
{
  int status;
  gint64 end = g_get_monotonic_time() + PATIENCE * 1000;
  while (listen_more(host, PATIENCE))
    if (g_get_monotonic_time() > end)
      fail_msg("it goes on: %s", host->heard->str);
  assert_int_equal(waitpid(host->pid, &status, 0), host->pid);
  if (host->in >= 0)
    close(host->in);
  close(host->out);
  g_string_free(host->heard, TRUE);
  g_free(host);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static gint64
wall_clock(void)
{
  return g_get_real_time() * 1000;
}

/* Ready, and asked to begin in so many ms. */
static gint64
fire(Host *host, int ms)
{
  g_free(hear(host, "armed"));
  gint64 at = wall_clock() + ms * G_GINT64_CONSTANT(1000000);
  say(host, "fire %" G_GINT64_FORMAT "\n", at);
  return at;
}

static void
read_end(Host *host, gint64 numbers[7])
{
  g_autofree char *line = hear(host, "end");
  g_auto(GStrv) words = g_strsplit(line, " ", -1);
  assert_int_equal(g_strv_length(words), 7);
  for (int i = 0; i < 7; i++)
    numbers[i] = words[i][0] == '-' ? -1 : g_ascii_strtoll(words[i], NULL, 10);
}

enum { START, END, UP0, UP1, STATUS, WIRE, STOPPED };

/* Processes of that session, zombies left out. */
static guint
count_session(GPid session)
{
  g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);
  const char *name;
  guint n = 0;
  while ((name = g_dir_read_name(proc)) != NULL) {
    g_autofree char *path = g_strdup_printf("/proc/%s/stat", name);
    g_autofree char *text = NULL;
    int of = 0;
    char state;
    if (!g_ascii_isdigit(name[0]) || !g_file_get_contents(path, &text, NULL, NULL))
      continue;
    const char *rest = strrchr(text, ')');
    if (rest != NULL && sscanf(rest + 1, " %c %*d %*d %d", &state, &of) == 2)
      n += of == session && state != 'Z';
  }
  return n;
}

static void
assert_gone(GPid session)
{
  gint64 end = g_get_monotonic_time() + PATIENCE * 1000;
  while (count_session(session) > 0) {
    if (g_get_monotonic_time() > end)
      fail_msg("%s: %u processes are left", shell, count_session(session));
    g_usleep(30000);
  }
}

/* A file that is not there yet. */
static char *
scratch(const char *name)
{
  g_autofree char *own = g_strdup_printf("pult-runner-%d-%s", getpid(), name);
  char *path = g_build_filename(g_get_tmp_dir(), own, NULL);
  unlink(path);
  return path;
}

/* --- the tests --- */

static void
test_begins_when_told(void **state)
{
  (void)state;
  gint64 n[7];
  Host *host = host_new((SshRunner){.needs = "sh cat",
                                    .prepare = "echo ready",
                                    .command = "echo out; sleep 0.2; exit 3",
                                    .measure = "echo bytes 5"});
  gint64 at = fire(host, 400);
  read_end(host, n);
  if (n[START] < at)
    fail_msg("%s began %" G_GINT64_FORMAT " ns early", shell, at - n[START]);
  assert_true(n[START] - at < TIME_LATE);
  assert_true(n[END] - n[START] >= 200000000 && n[UP1] - n[UP0] >= 19);
  assert_int_equal(n[STATUS], 3);
  assert_int_equal(n[WIRE], -1);
  assert_int_equal(n[STOPPED], 0);
  assert_non_null(strstr(host->heard->str, "ready\n"));
  const char *begun = strstr(host->heard->str, TOKEN " start");
  assert_non_null(strstr(begun, "\nout\n"));
  assert_non_null(strstr(begun, "\nbytes 5\n"));
  say(host, "echo 7\n", 0);
  g_autofree char *echo = hear(host, "echo");
  gint64 clock = g_ascii_strtoll(echo + 2, NULL, 10);
  assert_true(g_str_has_prefix(echo, "7 ") && ABS(wall_clock() - clock) < 2000000000);
  say(host, "bye\n", 0);
  GPid pid = host->pid;
  assert_int_equal(host_free(host), 0);
  assert_gone(pid);
}

static void
test_counts_the_interface(void **state)
{
  (void)state;
  g_autofree char *counter = scratch("counter");
  g_autofree char *command = g_strdup_printf("echo 1500 >%s", counter);
  gint64 n[7];
  assert_true(g_file_set_contents(counter, "1000\n", -1, NULL));
  Host *host = host_new((SshRunner){.counter = counter, .command = command});
  fire(host, 0);
  read_end(host, n);
  assert_int_equal(n[WIRE], 500);
  say(host, "bye\n", 0);
  host_free(host);
  unlink(counter);
}

static void
test_tells_what_is_missing(void **state)
{
  (void)state;
  Host *host = host_new((SshRunner){.needs = "sh no-such-program", .command = "true"});
  g_autofree char *why = hear(host, "unarmed");
  assert_string_equal(why, "there is no no-such-program");
  GPid pid = host->pid;
  host_free(host);
  assert_gone(pid);
}

/* What could not be made is not taken away: a target that was there already. */
static void
test_cleans_up_what_it_prepared_only(void **state)
{
  (void)state;
  g_autofree char *mark = scratch("cleaned");
  g_autofree char *cleanup = g_strdup_printf("echo x >>%s", mark);
  Host *host = host_new((SshRunner){.prepare = "exit 4", .command = "true", .cleanup = cleanup});
  g_autofree char *why = hear(host, "unarmed");
  assert_string_equal(why, "prepare: exit status 4");
  host_free(host);
  assert_false(g_file_test(mark, G_FILE_TEST_EXISTS));
  host = host_new((SshRunner){.command = "true", .cleanup = cleanup});
  fire(host, 0);
  g_free(hear(host, "end"));
  say(host, "bye\n", 0);
  host_free(host);
  assert_true(g_file_test(mark, G_FILE_TEST_EXISTS));
  unlink(mark);
}

static void
test_makes_caches_cold_and_warm(void **state)
{
  (void)state;
  gint64 n[7];
  Host *host =
      host_new((SshRunner){.cold = "echo cold; exit 2", .warm = "echo warm", .command = "true"});
  g_autofree char *status = hear(host, "uncold");
  assert_string_equal(status, "2");
  fire(host, 0);
  read_end(host, n);
  assert_non_null(strstr(host->heard->str, "cold\n"));
  assert_null(strstr(host->heard->str, "warm\n"));
  say(host, "bye\n", 0);
  host_free(host);
}

static void
test_stops(void **state)
{
  (void)state;
  gint64 n[7];
  Host *host = host_new(
      (SshRunner){.command = "sleep 600 | (trap '' TERM; echo deaf; echo \"bytes $(wc -c)\")",
                  .measure = "echo files 2"});
  fire(host, 0);
  g_free(hear(host, "start"));
  hear_output(host, "deaf");
  say(host, "stop TERM\n", 0);
  read_end(host, n);
  assert_int_equal(n[STOPPED], 1);
  assert_non_null(strstr(host->heard->str, "\nbytes 0\n"));
  assert_non_null(strstr(host->heard->str, "\nfiles 2\n"));
  say(host, "bye\n", 0);
  GPid pid = host->pid;
  host_free(host);
  assert_gone(pid);
}

/* A job that heeds the signal, but not at once: it is waited for, and nothing else is. Of three,
 * for other things run here too. */
static void
test_stops_soon(void **state)
{
  (void)state;
  gint64 n[7], best = G_MAXINT64;
  for (guint i = 0; i < 3 && best > 2 * G_USEC_PER_SEC; i++) {
    Host *host = host_new((SshRunner){
        .command = "trap 'sleep .2; exit 0' TERM; echo ready; while :; do sleep .1; done"});
    fire(host, 0);
    g_free(hear(host, "start"));
    hear_output(host, "ready");
    gint64 told = g_get_monotonic_time();
    say(host, "stop TERM\n", 0);
    read_end(host, n);
    best = MIN(best, g_get_monotonic_time() - told);
    say(host, "bye\n", 0);
    host_free(host);
  }
  assert_true(best <= 2 * G_USEC_PER_SEC);
}

/* dd tells its figures on INT; what is begun in the background of a shell would never get it. */
static void
test_stops_by_another_signal(void **state)
{
  (void)state;
  gint64 n[7];
  Host *host = host_new((SshRunner){.command = "exec dd if=/dev/zero of=/dev/null bs=64k 2>&1"});
  fire(host, 0);
  g_free(hear(host, "start"));
  g_usleep(200000);
  say(host, "stop INT\n", 0);
  read_end(host, n);
  assert_int_equal(n[STOPPED], 1);
  assert_non_null(strstr(host->heard->str, "copied, "));
  say(host, "bye\n", 0);
  host_free(host);
}

static void
test_kills_what_does_not_heed(void **state)
{
  (void)state;
  gint64 n[7];
  Host *host =
      host_new((SshRunner){.command = "trap '' TERM; echo deaf; while :; do sleep 1; done"});
  fire(host, 0);
  g_free(hear(host, "start"));
  hear_output(host, "deaf");
  say(host, "stop TERM\n", 0);
  read_end(host, n);
  assert_int_equal(n[STOPPED], 1);
  assert_int_equal(n[STATUS], 128 + 9);
  assert_true(n[END] - n[START] < 20 * G_GINT64_CONSTANT(1000000000));
  GPid pid = host->pid;
  say(host, "bye\n", 0);
  host_free(host);
  assert_gone(pid);
}

static void
test_leaves_nothing_behind(void **state)
{
  (void)state;
  gint64 n[7];
  Host *host = host_new((SshRunner){.command = "sleep 601 & sleep 602 & true"});
  fire(host, 0);
  read_end(host, n);
  assert_int_equal(n[STATUS], 0);
  GPid pid = host->pid;
  say(host, "bye\n", 0);
  host_free(host);
  assert_gone(pid);
}

/* The channel's end, in each of its phases. */
static void
test_ends_with_the_channel(void **state)
{
  (void)state;
  static const char *const phases[] = {"preparing", "armed", "waiting", "running"};
  for (guint i = 0; i < G_N_ELEMENTS(phases); i++) {
    g_autofree char *mark = scratch("cleaned");
    g_autofree char *cleanup = g_strdup_printf("echo x >%s", mark);
    Host *host = host_new((SshRunner){.prepare = i == 0 ? "sleep 600" : NULL,
                                      .command = "trap '' TERM; sleep 600; sleep 600",
                                      .cleanup = cleanup});
    if (i == 1)
      g_free(hear(host, "armed"));
    if (i >= 2)
      fire(host, i == 2 ? 600000 : 0);
    if (i == 3)
      g_free(hear(host, "start"));
    close(host->in);
    host->in = -1;
    GPid pid = host->pid;
    host_free(host);
    assert_gone(pid);
    if (i > 0 && !g_file_test(mark, G_FILE_TEST_EXISTS))
      fail_msg("%s, %s: not cleaned up", shell, phases[i]);
    unlink(mark);
  }
}

/* For so many seconds, and hangs up; returns when it has ended by itself. */
static void
leave(Host *host, int seconds)
{
  say(host, "leave %" G_GINT64_FORMAT "\n", seconds);
  hear_output(host, TOKEN " left");
  close(host->in);
  close(host->out);
  assert_gone(host->pid);
  assert_int_equal(waitpid(host->pid, NULL, 0), host->pid);
  g_string_free(host->heard, TRUE);
  g_free(host);
}

/* It writes on when nobody reads it any more, and is cleaned up after. */
static void
test_is_left(void **state)
{
  (void)state;
  g_autofree char *through = scratch("through");
  g_autofree char *mark = scratch("cleaned");
  g_autofree char *command = g_strdup_printf(
      "echo ready; for i in 1 2 3 4 5; do sleep .1; echo $i; echo $i >&2; done; echo x >%s",
      through);
  g_autofree char *cleanup = g_strdup_printf("echo x >%s", mark);
  Host *host = host_new((SshRunner){.command = command, .cleanup = cleanup});
  fire(host, 0);
  hear_output(host, "ready");
  leave(host, -1);
  if (!g_file_test(through, G_FILE_TEST_EXISTS) || !g_file_test(mark, G_FILE_TEST_EXISTS))
    fail_msg("%s: ended, or not cleaned up", shell);
  unlink(through);
  unlink(mark);
}

/* What would go on for ever ends in time, and not before. */
static void
test_is_left_for_a_while(void **state)
{
  (void)state;
  Host *host = host_new((SshRunner){.command = "echo ready; sleep 600"});
  fire(host, 0);
  hear_output(host, "ready");
  gint64 left = g_get_monotonic_time();
  leave(host, 2);
  assert_true(g_get_monotonic_time() - left >= G_USEC_PER_SEC);
}

static void
test_is_stopped_before_it_began(void **state)
{
  (void)state;
  Host *host = host_new((SshRunner){.command = "echo never"});
  fire(host, 600000);
  say(host, "stop TERM\n", 0);
  GPid pid = host->pid;
  while (listen_more(host, PATIENCE))
    ;
  assert_null(strstr(host->heard->str, "never"));
  assert_null(strstr(host->heard->str, TOKEN " start"));
  host_free(host);
  assert_gone(pid);
}

static int
run_under(const char *one)
{
  shell = one;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_begins_when_told),
      cmocka_unit_test(test_counts_the_interface),
      cmocka_unit_test(test_tells_what_is_missing),
      cmocka_unit_test(test_cleans_up_what_it_prepared_only),
      cmocka_unit_test(test_makes_caches_cold_and_warm),
      cmocka_unit_test(test_stops),
      cmocka_unit_test(test_stops_soon),
      cmocka_unit_test(test_stops_by_another_signal),
      cmocka_unit_test(test_kills_what_does_not_heed),
      cmocka_unit_test(test_leaves_nothing_behind),
      cmocka_unit_test(test_ends_with_the_channel),
      cmocka_unit_test(test_is_left),
      cmocka_unit_test(test_is_left_for_a_while),
      cmocka_unit_test(test_is_stopped_before_it_began),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Each shell that there is has a process of its own: what is tested mostly waits. */
static GSubprocess *
start_under(const char *program, const char *one)
{
  g_auto(GStrv) words = g_strsplit(one, " ", 2);
  g_autofree char *path = g_find_program_in_path(words[0]);
  if (path == NULL)
    return NULL;
  g_autoptr(GSubprocessLauncher) launcher =
      g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE);
  g_subprocess_launcher_set_child_setup(launcher, die_with_parent, NULL, NULL);
  return g_subprocess_launcher_spawn(launcher, NULL, program, one, NULL);
}

int
main(int argc, char **argv)
{
  static const char *const shells[] = {"dash", "busybox sh", "bash"};
  GSubprocess *all[G_N_ELEMENTS(shells)];
  gboolean well = TRUE;
  signal(SIGPIPE, SIG_IGN);
  if (argc > 1)
    return run_under(argv[1]);
  for (guint i = 0; i < G_N_ELEMENTS(shells); i++)
    all[i] = start_under(argv[0], shells[i]);
  for (guint i = 0; i < G_N_ELEMENTS(shells); i++) {
    g_autoptr(GSubprocess) one = all[i];
    g_autofree char *said = NULL;
    if (one == NULL)
      continue;
    gboolean heard = g_subprocess_communicate_utf8(one, NULL, NULL, &said, NULL, NULL);
    printf("under %s:\n%s", shells[i], said != NULL ? said : "");
    well = heard && g_subprocess_get_successful(one) && well;
  }
  return well ? 0 : 1;
}

#else

#include <stdio.h>

int
main(void)
{
  puts("this build has no ssh backend");
  return 77;
}

#endif
