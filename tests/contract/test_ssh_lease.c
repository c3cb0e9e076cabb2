#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gio/gio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HAVE_SSH

#include "backends/ssh/ssh_private.h"
#include "tests/contract/sshd_group.h"

static char *
new_mark(void)
{
  static guint n;
  return g_strdup_printf("%u%06u", 310 + ++n, (guint)getpid());
}

static SshLink *
link_of(const char *node)
{
  return ssh_link_of((SshBackend *)lab->backend, sshd_lab_node(lab, node));
}

static gboolean
is_leased(SshdLab *some, gconstpointer mark)
{
  (void)some;
  return link_of("h1")->leased && sshd_lab_count(mark) > 0;
}

/* ---- A cable that can be pulled: what is on it is lost, and nobody is told ---------------------
 */

static void
in_a_group(gpointer data)
{
  sshd_lab_die_with_test(data);
  setpgid(0, 0);
}

static GPid
lay_cable(guint from, guint to)
{
  g_autofree char *near =
      g_strdup_printf("TCP-LISTEN:%u,bind=127.0.0.1,fork,reuseaddr,backlog=16", from);
  g_autofree char *far = g_strdup_printf("TCP:127.0.0.1:%u", to);
  char *words[] = {(char *)"socat", near, far, NULL};
  GPid pid;
  g_autoptr(GError) error = NULL;
  if (!g_spawn_async(NULL, words, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, in_a_group,
                     NULL, &pid, &error))
    fail_msg("%s", error->message);
  return pid;
}

/* Connections that stand are cut; new ones can be made. */
static void
pull(GPid cable)
{
  int status;
  assert_int_equal(kill(-cable, SIGSTOP), 0);
  assert_int_equal(waitpid(cable, &status, WUNTRACED), cable);
  assert_true(WIFSTOPPED(status));
  assert_int_equal(kill(cable, SIGCONT), 0);
}

static void
take_up(GPid cable)
{
  kill(-cable, SIGKILL);
  sshd_lab_reap(cable);
}

static gboolean
answers(SshdLab *some, gconstpointer node)
{
  guint32 request = sshd_lab_exec(some, node, "true", 30);
  return sshd_lab_wait(some, request, node) == VERDICT_OK;
}

/* ---- Tests -------------------------------------------------------------------------------------
 */

static gboolean
has_begun(SshdLab *some, gconstpointer none)
{
  (void)none;
  return link_of("h1")->leased && strstr(some->lines->str, "h1 figures start_ns=") != NULL;
}

static gboolean
has_told(SshdLab *some, gconstpointer none)
{
  (void)none;
  const char *job = g_hash_table_lookup(some->facts, "h1 job");
  return job != NULL && g_str_has_prefix(job, "over: x has left nothing there, ");
}

static void
test_black_hole(void **state)
{
  (void)state;
  sshd_group_need_lab();
  guint port;
  GSocket *hole = sshd_lab_black_hole(&port);
  g_socket_close(hole, NULL);
  g_object_unref(hole);
  GPid cable = lay_cable(port, lab->hosts[0].port);
  g_autofree char *node = g_strdup_printf("      \"h[1]\": {port: %u}\n", port);
  g_autofree char *mark = new_mark();
  g_autofree char *text = g_strdup_printf(
      "job: x\nabout: y\nrun:\n  command: \"trap '' TERM; sleep %s; sleep %s\"\n", mark, mark);
  g_autoptr(GError) error = NULL;
  sshd_lab_open(lab, "    accept-new: true\n    keep-alive: 1 s\n    lease: 4 s\n    retry: 1 s\n",
                node, "");
  job_set_take(lab->jobs, job_parse("x.yaml", text, strlen(text), &error));
  assert_null(error);
  assert_true(sshd_lab_until(lab, answers, "h1", 20));
  NodeId h1 = sshd_lab_node(lab, "h1");
  guint32 request = backend_check_submit(lab->check, OP_EXEC, &h1, 1, 120 * TIME_SECOND,
                                         (const char *const[]){"job", "x", NULL});
  assert_true(sshd_lab_until(lab, has_begun, NULL, 20));
  pull(cable);
  sshd_lab_expect(lab, request, "h1", VERDICT_UNKNOWN);
  sshd_group_check_text(request, "h1", "the job was running: the host has been silent for ");
  sshd_group_check_text(request, "h1", "; it ends there within 4 s");
  assert_true(sshd_lab_until(lab, has_told, NULL, 40));
  assert_int_equal(sshd_lab_count(mark), 0);
  sshd_lab_close(lab);
  take_up(cable);
}

/* The sshd of the connection itself stands still, and cannot end anything. */
static void
test_stopped_sshd(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *mark = new_mark();
  g_autofree char *command = g_strdup_printf("echo $PPID; sleep %s", mark);
  sshd_lab_open(lab, "    lease: 2 s\n", "", "");
  guint32 sleeps = sshd_lab_exec(lab, "h1", command, 60);
  assert_true(sshd_lab_until(lab, is_leased, mark, 20));
  const char *line = strstr(lab->lines->str, "h1 out ");
  assert_non_null(line);
  g_autofree char *sshd =
      sshd_lab_parent((GPid)g_ascii_strtoll(line + strlen("h1 out "), NULL, 10));
  assert_int_equal(kill((GPid)g_ascii_strtoll(sshd, NULL, 10), SIGSTOP), 0);
  assert_true(sshd_lab_counts(lab, mark, 0, 30));
  sshd_lab_expect(lab, sleeps, "h1", VERDICT_UNKNOWN);
  sshd_lab_close(lab);
}

/* Nor does the lease end what is heard of, nor a command have one that is soon over. */
static void
test_renewed(void **state)
{
  (void)state;
  sshd_group_need_lab();
  sshd_lab_open(lab, "    lease: 2 s\n", "", "");
  guint32 brief = sshd_lab_exec(lab, "h2", "true", 30);
  guint32 sleeps = sshd_lab_exec(lab, "h1", "sleep 6", 60);
  sshd_lab_expect(lab, brief, "h2", VERDICT_OK);
  sshd_lab_expect(lab, sleeps, "h1", VERDICT_OK);
  assert_true(link_of("h1")->leased);
  assert_false(link_of("h2")->leased);
  sshd_lab_close(lab);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_black_hole),
      cmocka_unit_test(test_stopped_sshd),
      cmocka_unit_test(test_renewed),
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
