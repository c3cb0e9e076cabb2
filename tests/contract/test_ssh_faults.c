#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef HAVE_SSH

#include "backends/ssh/ssh_private.h"
#include "tests/contract/sshd_group.h"

/* `      h1: {port: N}\n` replaces the lab's own. */
static char *
at_port(guint port)
{
  return g_strdup_printf("      \"h[1]\": {port: %u}\n", port);
}

/* ---- Hosts that do not answer ------------------------------------------------------------------
 */

/* One dead host delays no other: h2 answers long before. */
static void
check_dead(const char *node_line, const char *part)
{
  sshd_lab_open(lab, "    connect: 2 s\n", node_line, "");
  guint32 dead = sshd_lab_exec(lab, "h1", "true", 30);
  guint32 alive = sshd_lab_exec(lab, "h2", "true", 30);
  sshd_lab_expect(lab, alive, "h2", VERDICT_OK);
  sshd_lab_expect(lab, dead, "h1", VERDICT_FAILED);
  sshd_group_check_text(dead, "h1", part);
  sshd_lab_close(lab);
}

static void
test_port_closed(void **state)
{
  (void)state;
  sshd_group_need_lab();
  guint port;
  g_autoptr(GSocket) socket = sshd_lab_black_hole(&port);
  g_socket_close(socket, NULL);
  g_autofree char *line = at_port(port);
  check_dead(line, "connection refused");
}

/* TCP is there, and nothing more. */
static void
test_black_hole(void **state)
{
  (void)state;
  sshd_group_need_lab();
  guint port;
  g_autoptr(GSocket) socket = sshd_lab_black_hole(&port);
  g_autofree char *line = at_port(port);
  check_dead(line, "took the connection and said nothing more within 2.0 s");
}

/* Not even TCP: a queue that is full makes the kernel drop what asks for a connection. */
static void
test_host_down(void **state)
{
  (void)state;
  sshd_group_need_lab();
  guint port;
  g_autoptr(GSocket) socket = sshd_lab_black_hole(&port);
  listen(g_socket_get_fd(socket), 0);
  g_autoptr(GSocketAddress) address = g_socket_get_local_address(socket, NULL);
  g_autoptr(GPtrArray) fillers = g_ptr_array_new_with_free_func(g_object_unref);
  for (guint i = 0; i < 4; i++) {
    GSocket *filler =
        g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
    g_socket_set_blocking(filler, FALSE);
    g_socket_connect(filler, address, NULL, NULL);
    g_ptr_array_add(fillers, filler);
  }
  g_autofree char *line = at_port(port);
  check_dead(line, "gave no answer within 2.0 s");
}

static void
test_no_such_name(void **state)
{
  (void)state;
  sshd_group_need_lab();
  sshd_lab_open(lab, "    connect: 3 s\n", "      \"h[1]\": {address: no-such-host.invalid}\n", "");
  guint32 nobody = sshd_lab_exec(lab, "h1", "true", 30);
  sshd_lab_expect(lab, nobody, "h1", VERDICT_FAILED);
  sshd_group_check_text(nobody, "h1", "no-such-host.invalid");
  sshd_lab_close(lab);
}

/* The request's own deadline is shorter. */
static void
test_deadline_before(void **state)
{
  (void)state;
  sshd_group_need_lab();
  guint port;
  g_autoptr(GSocket) socket = sshd_lab_black_hole(&port);
  g_autofree char *line = at_port(port);
  sshd_lab_open(lab, "", line, "");
  guint32 hole = sshd_lab_exec(lab, "h1", "true", 1);
  sshd_lab_expect(lab, hole, "h1", VERDICT_TIMEOUT);
  sshd_group_check_text(hole, "h1", "not started by its deadline: the host had not greeted yet");
  sshd_lab_close(lab);
}

/* ---- Connections that end
 * ------------------------------------------------------------------------ */

static gboolean
is_running(SshdLab *some, gconstpointer mark)
{
  (void)some;
  return sshd_lab_count(mark) >= 2;
}

static void
test_killed_sshd(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *mark = g_strdup_printf("301%06u", (guint)getpid());
  g_autofree char *command = g_strdup_printf("trap '' TERM; sleep %s; sleep %s", mark, mark);
  sshd_lab_open(lab, "", "", "");
  guint32 lost = sshd_lab_exec(lab, "h1", command, 60);
  assert_true(sshd_lab_until(lab, is_running, mark, 20));
  sshd_lab_end(lab, 1, TRUE);
  sshd_lab_expect(lab, lost, "h1", VERDICT_UNKNOWN);
  sshd_group_check_text(lost, "h1", "the command was running: the connection has ended");
  assert_non_null(strstr(lab->links->str, "down ssh:h1: the connection has ended"));
  assert_true(sshd_lab_counts(lab, mark, 0, 20));
  sshd_lab_run(lab, 1);
  guint32 again = sshd_lab_exec(lab, "h1", "true", 30);
  sshd_lab_expect(lab, again, "h1", VERDICT_OK);
  sshd_lab_close(lab);
}

/* What serves the connection stands still: nothing comes, and nothing ends. */
static void
test_silence(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *mark = g_strdup_printf("302%06u", (guint)getpid());
  g_autofree char *command = g_strdup_printf("echo $PPID; sleep %s", mark);
  sshd_lab_open(lab, "    keep-alive: 1 s\n", "", "");
  guint32 sleeps = sshd_lab_exec(lab, "h1", command, 60);
  /* Answered all the while, it lives on through many of them. */
  backend_check_run(lab->check, backend_check_now(lab->check) + 6 * TIME_SECOND);
  assert_true(backend_check_verdict(lab->check, sleeps, sshd_lab_node(lab, "h1")) < 0);
  const char *line = strstr(lab->lines->str, "h1 out ");
  assert_non_null(line);
  GPid serving = (GPid)g_ascii_strtoll(line + strlen("h1 out "), NULL, 10);
  g_autofree char *session = sshd_lab_parent(serving);
  GPid sshd = (GPid)g_ascii_strtoll(session, NULL, 10);
  assert_true(sshd > 1);
  assert_int_equal(kill(sshd, SIGSTOP), 0);
  gint64 then = g_get_monotonic_time();
  sshd_lab_expect(lab, sleeps, "h1", VERDICT_UNKNOWN);
  sshd_group_check_text(sleeps, "h1", "the host has been silent for ");
  assert_true(g_get_monotonic_time() - then < 6 * G_USEC_PER_SEC);
  kill(sshd, SIGCONT);
  assert_true(sshd_lab_counts(lab, mark, 0, 20));
  sshd_lab_close(lab);
}

static gboolean
is_closed(SshdLab *some, gconstpointer none)
{
  (void)none;
  return strstr(some->links->str, "down ssh:h1: closed, having had nothing to do") != NULL;
}

static void
test_idle(void **state)
{
  (void)state;
  sshd_group_need_lab();
  sshd_lab_open(lab, "    idle: 1 s\n", "", "");
  guint32 first = sshd_lab_exec(lab, "h1", "true", 30);
  sshd_lab_expect(lab, first, "h1", VERDICT_OK);
  assert_true(sshd_lab_until(lab, is_closed, NULL, 10));
  guint32 again = sshd_lab_exec(lab, "h1", "true", 30);
  sshd_lab_expect(lab, again, "h1", VERDICT_OK);
  sshd_lab_close(lab);
}

/* ---- What waits for a client that boots
 * ------------------------------------------------------------ */

typedef struct {
  guint n_started, n_ended;
  SshEndKind kind;
} Fate;

static void
on_started(SshCommand *command, gpointer data)
{
  (void)command;
  ((Fate *)data)->n_started++;
}

static void
on_ended(SshCommand *command, const SshEnd *end, gpointer data)
{
  Fate *fate = data;
  (void)command;
  fate->n_ended++;
  fate->kind = end->kind;
}

static gboolean
has_ended(SshdLab *some, gconstpointer data)
{
  (void)some;
  return ((const Fate *)data)->n_ended > 0;
}

static gboolean
has_started(SshdLab *some, gconstpointer data)
{
  (void)some;
  return ((const Fate *)data)->n_started > 0;
}

static void
test_reconnect(void **state)
{
  static const SshCommandCalls calls = {.started = on_started, .ended = on_ended};
  (void)state;
  sshd_group_need_lab();
  Fate watch = {0}, brief = {0}, again = {0};
  sshd_lab_open(lab, "    retry: 1 s\n", "", "");
  sshd_lab_end(lab, 1, TRUE);
  SshLink *link = ssh_link_of((SshBackend *)lab->backend, sshd_lab_node(lab, "h1"));
  SshCommandSpec spec = {.line = "cat", .reads = TRUE, .patience = SSH_FOREVER};
  SshCommand *command = ssh_command_start(link, &spec, &calls, &watch);
  SshCommandSpec short_spec = {.line = ":", .patience = 2 * G_USEC_PER_SEC};
  ssh_command_start(link, &short_spec, &calls, &brief);
  assert_true(sshd_lab_until(lab, has_ended, &brief, 20));
  assert_int_equal(brief.kind, SSH_NOT_STARTED);
  assert_int_equal(watch.n_ended, 0);
  sshd_lab_run(lab, 1);
  assert_true(sshd_lab_until(lab, has_started, &watch, 20));
  assert_true(ssh_link_is_up(link));
  /* It is told of its end, and what starts again waits for the next connection. */
  sshd_lab_end(lab, 1, TRUE);
  assert_true(sshd_lab_until(lab, has_ended, &watch, 20));
  assert_int_equal(watch.kind, SSH_LOST);
  command = ssh_command_start(link, &spec, &calls, &again);
  sshd_lab_run(lab, 1);
  assert_true(sshd_lab_until(lab, has_started, &again, 20));
  ssh_command_forget(command);
  /* While it was refused the same cause was told once. */
  const char *refusal = strstr(lab->links->str, "connection refused");
  assert_non_null(refusal);
  sshd_lab_close(lab);
  assert_int_equal(again.n_ended, 0);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_port_closed),     cmocka_unit_test(test_black_hole),
      cmocka_unit_test(test_host_down),       cmocka_unit_test(test_no_such_name),
      cmocka_unit_test(test_deadline_before), cmocka_unit_test(test_killed_sshd),
      cmocka_unit_test(test_silence),         cmocka_unit_test(test_idle),
      cmocka_unit_test(test_reconnect),
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
