#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef HAVE_SSH

#include "tests/contract/sshd_group.h"

/* ---- Keys ---------------------------------------------------------------------------------------
 */

static char *
fingerprint_of(const char *file)
{
  const char *words[] = {"ssh-keygen", "-l", "-f", file, NULL};
  g_autofree char *out = NULL;
  assert_true(g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, NULL,
                           NULL, NULL));
  g_auto(GStrv) fields = g_strsplit(out, " ", 3);
  return g_strdup(fields[1]);
}

static void
test_wrong_key(void **state)
{
  (void)state;
  sshd_group_need_lab();
  sshd_lab_make_key(lab, "stranger", "");
  g_autofree char *settings = g_strdup_printf("    key: %s/stranger\n", lab->folder);
  sshd_lab_open(lab, settings, "", "");
  guint32 refused = sshd_lab_exec(lab, "h1", "true", 30);
  sshd_lab_expect(lab, refused, "h1", VERDICT_FAILED);
  sshd_group_check_text(refused, "h1", " is refused; it was shown ");
  sshd_group_check_text(refused, "h1", "/stranger");
  sshd_lab_close(lab);
}

static void
test_changed_host_key(void **state)
{
  (void)state;
  sshd_group_need_lab();
  sshd_lab_make_key(lab, "old", "");
  g_autofree char *path = sshd_lab_path(lab, "old.pub");
  g_autofree char *key = NULL;
  assert_true(g_file_get_contents(path, &key, NULL, NULL));
  g_autofree char *known = g_strdup_printf("[127.0.0.1]:%u %s", lab->hosts[0].port, key);
  sshd_lab_write(lab, "known_changed", known);
  g_autofree char *settings =
      g_strdup_printf("    known-hosts: %s/known_changed\n    accept-new: true\n", lab->folder);
  sshd_lab_open(lab, settings, "", "");
  guint32 refused = sshd_lab_exec(lab, "h1", "true", 30);
  sshd_lab_expect(lab, refused, "h1", VERDICT_FAILED);
  g_autofree char *was = fingerprint_of(path);
  g_autofree char *is = fingerprint_of(lab->hosts[0].key);
  g_autofree char *both = g_strdup_printf("has changed: known is %s, it shows %s", was, is);
  assert_true(g_str_has_prefix(was, "SHA256:"));
  sshd_group_check_text(refused, "h1", both);
  g_autofree char *file = sshd_lab_path(lab, "known_changed");
  g_autofree char *after = NULL;
  assert_true(g_file_get_contents(file, &after, NULL, NULL));
  assert_string_equal(after, known);
  sshd_lab_close(lab);
}

static void
test_unknown_host(void **state)
{
  (void)state;
  sshd_group_need_lab();
  sshd_lab_write(lab, "known_none", "# without an end");
  g_autofree char *strict = g_strdup_printf("    known-hosts: %s/known_none\n", lab->folder);
  g_autofree char *open = g_strconcat(strict, "    accept-new: true\n", NULL);
  g_autofree char *is = fingerprint_of(lab->hosts[0].key);
  sshd_lab_open(lab, strict, "", "");
  guint32 refused = sshd_lab_exec(lab, "h1", "true", 30);
  sshd_lab_expect(lab, refused, "h1", VERDICT_FAILED);
  sshd_group_check_text(refused, "h1", is);
  sshd_group_check_text(refused, "h1", "accept-new");
  sshd_lab_close(lab);

  sshd_lab_open(lab, open, "", "");
  guint32 first = sshd_lab_exec(lab, "h1", "true", 30);
  guint32 second = sshd_lab_exec(lab, "h2", "true", 30);
  sshd_lab_expect(lab, first, "h1", VERDICT_OK);
  sshd_lab_expect(lab, second, "h2", VERDICT_OK);
  sshd_lab_close(lab);

  sshd_lab_open(lab, strict, "", "");
  guint32 known = sshd_lab_exec(lab, "h1", "true", 30);
  sshd_lab_expect(lab, known, "h1", VERDICT_OK);
  sshd_lab_close(lab);
}

static void
test_passphrase(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autoptr(GError) error = NULL;
  sshd_lab_make_key(lab, "locked", "open sesame");
  g_autofree char *settings = g_strdup_printf(
      "    key: %s/locked\n    passphrase: env:PULT_TEST_PASSPHRASE\n", lab->folder);
  g_setenv("PULT_TEST_PASSPHRASE", "abracadabra", TRUE);
  assert_false(sshd_lab_try(lab, settings, "", "", &error));
  assert_non_null(strstr(error->message, "its passphrase is wrong"));
  assert_null(strstr(error->message, "abracadabra"));
  g_clear_error(&error);
  g_setenv("PULT_TEST_PASSPHRASE", "open sesame", TRUE);
  assert_true(sshd_lab_try(lab, settings, "", "", &error));
  sshd_lab_close(lab);
  g_unsetenv("PULT_TEST_PASSPHRASE");
  assert_false(sshd_lab_try(lab, settings, "", "", &error));
  assert_non_null(strstr(error->message, "the environment has no PULT_TEST_PASSPHRASE"));
  g_clear_error(&error);
  g_autofree char *locked = sshd_lab_path(lab, "locked");
  assert_int_equal(g_chmod(locked, 0644), 0);
  assert_false(sshd_lab_try(lab, settings, "", "", &error));
  assert_non_null(strstr(error->message, "it can be read by others"));
  g_clear_error(&error);
  g_autofree char *missing = g_strdup_printf("    key: %s/missing\n", lab->folder);
  assert_false(sshd_lab_try(lab, missing, "", "", &error));
  assert_non_null(strstr(error->message, "there is no such file"));
}

/* ---- The agent ----------------------------------------------------------------------------------
 */

static GPid
start_agent(const char *socket)
{
  const char *words[] = {"ssh-agent", "-D", "-a", socket, NULL};
  GPid pid = 0;
  assert_true(
      g_spawn_async(NULL, (char **)words, NULL,
                    G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_DO_NOT_REAP_CHILD,
                    sshd_lab_die_with_test, NULL, &pid, NULL));
  for (guint i = 0; i < 1000 && !g_file_test(socket, G_FILE_TEST_EXISTS); i++)
    g_usleep(10000);
  return pid;
}

static void
give_agent(const char *key)
{
  const char *words[] = {"ssh-add", "-q", key, NULL};
  int status;
  assert_true(g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
                           &status, NULL));
  assert_int_equal(status, 0);
}

static void
test_agent(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *socket = sshd_lab_path(lab, "agent");
  g_autofree char *key = sshd_lab_path(lab, "key");
  g_autofree char *settings =
      g_strdup_printf("    key: %s/stranger\n    agent: true\n", lab->folder);
  GPid pid = start_agent(socket);
  g_setenv("SSH_AUTH_SOCK", socket, TRUE);
  sshd_lab_open(lab, settings, "", "");
  guint32 without = sshd_lab_exec(lab, "h1", "true", 30);
  sshd_lab_expect(lab, without, "h1", VERDICT_FAILED);
  sshd_group_check_text(without, "h1", "the agent's keys");
  give_agent(key);
  guint32 with = sshd_lab_exec(lab, "h1", "true", 30);
  sshd_lab_expect(lab, with, "h1", VERDICT_OK);
  sshd_lab_close(lab);
  kill(pid, SIGKILL);
  sshd_lab_reap(pid);
  g_unsetenv("SSH_AUTH_SOCK");
}

/* It takes the question and says nothing; h2, let in by its own key, is not delayed. */
static void
test_mute_agent(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *path = sshd_lab_path(lab, "mute");
  g_autoptr(GSocket) socket =
      g_socket_new(G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_DEFAULT, NULL);
  g_autoptr(GSocketAddress) address = g_unix_socket_address_new(path);
  assert_true(g_socket_bind(socket, address, FALSE, NULL) && g_socket_listen(socket, NULL));
  g_setenv("SSH_AUTH_SOCK", path, TRUE);
  g_autofree char *nodes = g_strdup_printf("      \"h[1]\": {key: %s/stranger}\n", lab->folder);
  sshd_lab_open(lab, "    agent: true\n    auth: 1 s\n", nodes, "");
  guint32 mute = sshd_lab_exec(lab, "h1", "true", 30);
  guint32 other = sshd_lab_exec(lab, "h2", "true", 30);
  sshd_lab_expect(lab, other, "h2", VERDICT_OK);
  sshd_lab_expect(lab, mute, "h1", VERDICT_FAILED);
  sshd_group_check_text(mute, "h1", "it did not say within 1.0 s whether");
  /* The thread gives its session back when the agent ends. */
  g_socket_close(socket, NULL);
  backend_check_run(lab->check, backend_check_now(lab->check) + TIME_SECOND);
  sshd_lab_close(lab);
  g_unsetenv("SSH_AUTH_SOCK");
}

static gboolean
is_running(SshdLab *some, gconstpointer mark)
{
  (void)some;
  return sshd_lab_count(mark) >= 2;
}

/* ---- Ways there ---------------------------------------------------------------------------------
 */

static void
test_jump(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *nodes = g_strdup_printf("      \"h[1]\": {jump: \"%s@127.0.0.1:%u\"}\n",
                                           lab->user, lab->hosts[1].port);
  sshd_lab_open(lab, "", nodes, "");
  guint32 far = sshd_lab_exec(lab, "h1", "echo $SSH_CONNECTION; yes | head -c 20000000", 90);
  guint32 near = sshd_lab_exec(lab, "h2", "true", 30);
  sshd_lab_expect(lab, near, "h2", VERDICT_OK);
  sshd_lab_expect(lab, far, "h1", VERDICT_OK);
  g_autofree char *port = g_strdup_printf(" 127.0.0.1 %u\n", lab->hosts[0].port);
  assert_non_null(strstr(lab->lines->str, port));
  assert_non_null(strstr(lab->last, "bytes of output more than"));
  /* When the one in between goes, so does the other. */
  g_autofree char *mark = g_strdup_printf("303%06u", (guint)getpid());
  g_autofree char *command = g_strdup_printf("sleep %s", mark);
  guint32 lost = sshd_lab_exec(lab, "h1", command, 60);
  assert_true(sshd_lab_until(lab, is_running, mark, 20));
  sshd_lab_end(lab, 2, TRUE);
  sshd_lab_expect(lab, lost, "h1", VERDICT_UNKNOWN);
  assert_true(sshd_lab_counts(lab, mark, 0, 20));
  guint32 refused = sshd_lab_exec(lab, "h1", "true", 30);
  sshd_lab_expect(lab, refused, "h1", VERDICT_FAILED);
  sshd_group_check_text(refused, "h1", "h1: through ");
  sshd_group_check_text(refused, "h1", "connection refused");
  sshd_lab_run(lab, 2);
  sshd_lab_close(lab);
}

static void
test_jump_no_further(void **state)
{
  (void)state;
  sshd_group_need_lab();
  guint port;
  g_autoptr(GSocket) socket = sshd_lab_black_hole(&port);
  g_socket_close(socket, NULL);
  g_autofree char *nodes = g_strdup_printf("      \"h[1]\": {jump: \"127.0.0.1:%u\", port: %u}\n",
                                           lab->hosts[1].port, port);
  sshd_lab_open(lab, "", nodes, "");
  guint32 refused = sshd_lab_exec(lab, "h1", "true", 30);
  sshd_lab_expect(lab, refused, "h1", VERDICT_FAILED);
  sshd_group_check_text(refused, "h1", "the host refused the way on");
  sshd_lab_close(lab);
}

static void
test_config(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *text =
      g_strdup_printf("Host other\n  HostName 127.0.0.1\n  Port %u\n"
                      "Host proxied\n  HostName 127.0.0.1\n  Port %u\n"
                      "  ProxyCommand bash -c 'exec 3<>/dev/tcp/%%h/%%p; cat <&3 & exec cat >&3'\n",
                      lab->hosts[0].port, lab->hosts[1].port);
  sshd_lab_write(lab, "config", text);
  g_autofree char *settings = g_strdup_printf("    config: %s/config\n", lab->folder);
  sshd_lab_open(lab, settings,
                "      \"h[1]\": {address: other, port: 22}\n"
                "      \"h[2]\": {address: proxied, port: 22}\n",
                "");
  guint32 other = sshd_lab_exec(lab, "h1", "true", 30);
  guint32 proxied = sshd_lab_exec(lab, "h2", "true", 30);
  sshd_lab_expect(lab, other, "h1", VERDICT_OK);
  sshd_lab_expect(lab, proxied, "h2", VERDICT_OK);
  sshd_lab_close(lab);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrong_key),    cmocka_unit_test(test_changed_host_key),
      cmocka_unit_test(test_unknown_host), cmocka_unit_test(test_passphrase),
      cmocka_unit_test(test_agent),        cmocka_unit_test(test_mute_agent),
      cmocka_unit_test(test_jump),         cmocka_unit_test(test_jump_no_further),
      cmocka_unit_test(test_config),
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
