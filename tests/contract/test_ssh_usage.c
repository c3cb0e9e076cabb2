/* Who is logged in at a client, as the watch of its counters asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifdef HAVE_SSH

#include "backends/ssh/ssh_meter.h"
#include "tests/contract/backend_ask.h"
#include "tests/contract/sshd_group.h"

#include <gio/gio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static guint n_samples; /* of h2 */

static void
on_samples(SshdLab *of, const SamplesEvent *samples)
{
  (void)of;
  n_samples += g_str_equal(samples->source, "ssh:h2");
}

static gboolean
is_metered(SshdLab *of, gconstpointer none)
{
  (void)of;
  (void)none;
  return n_samples >= 3;
}

static gboolean
has_line(SshdLab *of, gconstpointer text)
{
  return strstr(of->lines->str, text) != NULL;
}

static void
until(gboolean (*done)(SshdLab *lab, gconstpointer data), const char *what)
{
  if (!sshd_lab_until(lab, done, what, 60))
    fail_msg("not within 60 s: %s; lines:\n%s", what, lab->lines->str);
}

static gboolean
has_usage(SshdLab *of, gconstpointer value)
{
  return g_strcmp0(g_hash_table_lookup(of->facts, "h1 usage"), value) == 0;
}

static gboolean
is_given_up(SshdLab *of, gconstpointer fact)
{
  return g_strcmp0(g_hash_table_lookup(of->facts, fact), "unknown") == 0;
}

static void
write_program(const char *name, const char *text)
{
  g_autofree char *all = g_strconcat("#!/bin/sh\n", text, NULL);
  g_autofree char *path = sshd_lab_path(lab, name);
  sshd_lab_write(lab, name, all);
  assert_int_equal(chmod(path, 0755), 0);
}

static void
check_users(const char *expected, int status)
{
  g_autofree char *path = g_strdup_printf("PATH=%s:/usr/bin:/bin", lab->folder);
  char *words[] = {(char *)"/bin/sh", (char *)"-c", (char *)SSH_METER_USERS, NULL};
  char *environment[] = {path, NULL};
  g_autofree char *said = NULL;
  int ended;
  assert_true(g_spawn_sync(NULL, words, environment, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &said,
                           NULL, &ended, NULL));
  assert_string_equal(said, expected);
  assert_int_equal(WEXITSTATUS(ended), status);
}

/* At a display, where only logind knows; not a greeter, nor who has come over the network. */
static void
test_users(void **state)
{
  (void)state;
  sshd_group_need_lab();
  write_program("who", "echo anna tty1");
  write_program("loginctl", "[ $1 = list-sessions ] && printf '%s\\n' '  2 1000 ben seat0 tty2' "
                            "' c1 107 gdm seat0 tty1' '  5 0 root' '  7 1000 carl pts/0' || "
                            "case $* in *c1) echo greeter;; *) echo user;; esac\n");
  check_users("anna tty1\nben seat0\n", 0);
  write_program("loginctl", "exit 1\n");
  check_users("anna tty1\n", 0);
  write_program("who", "exit 1\n");
  check_users("", 1);
}

static void
test_usage(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *path = sshd_lab_path(lab, "users");
  g_autofree char *rest =
      g_strdup_printf("control:\n  h1: {usage: \"cat %s\"}\n  h2: {usage: sleep 1000}\n", path);
  sshd_lab_open(lab, "    usage-every: 1 s\n    interface: lo\n", "", rest);
  lab->samples = on_samples;
  sshd_lab_write(lab, "users", "anna tty1\n");
  backend_ask(lab->check, OP_WATCH, "h1 h2", TIME_NEVER,
              (const char *const[]){"interval_ns", "100000000", NULL});
  until(has_usage, "in use");
  sshd_lab_write(lab, "users", "\n");
  until(has_usage, "free");
  unlink(path);
  until(has_usage, "unknown");
  until(has_line, "h1: who uses it cannot be told");
  until(is_metered, NULL); /* h2's hangs, and holds nothing up */
  until(is_given_up, "h2 usage");
  lab->samples = NULL;
  sshd_lab_close(lab);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_users),
      cmocka_unit_test(test_usage),
  };
  return cmocka_run_group_tests(tests, sshd_group_set_up, sshd_group_tear_down);
}

#else

#include <stdio.h>

int
main(void)
{
  puts("built without libssh");
  return 77;
}

#endif
