#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_SSH

#include "backends/ssh/ssh_private.h"
#include "tests/contract/sshd_group.h"

static guint32
ask(Operation operation, const char *node, double seconds, const char *const *arguments)
{
  NodeId id = sshd_lab_node(lab, node);
  return backend_check_submit(lab->check, operation, &id, 1, (gint64)(seconds * 1e9), arguments);
}

#define WITH(...)                                                                                  \
  (const char *const[])                                                                            \
  {                                                                                                \
    __VA_ARGS__, NULL                                                                              \
  }

/* A mark no other process has. */
static char *
new_mark(void)
{
  static guint n;
  return g_strdup_printf("%u%06u", 100 + ++n, (guint)getpid());
}

static void
test_exec(void **state)
{
  (void)state;
  sshd_group_need_lab();
  sshd_lab_open(lab, "", "", "");
  guint32 hello = sshd_lab_exec(lab, "h1", "echo hello; echo oops >&2; cat; printf half", 30);
  guint32 status = sshd_lab_exec(lab, "h2", "exit 7", 30);
  sshd_lab_expect(lab, hello, "h1", VERDICT_OK);
  sshd_lab_expect(lab, status, "h2", VERDICT_FAILED);
  assert_string_equal(sshd_lab_text(lab, status, "h2"), "h2: exit status 7");
  assert_non_null(strstr(lab->lines->str, "h1 out hello\n"));
  assert_non_null(strstr(lab->lines->str, "h1 err oops\n"));
  assert_non_null(strstr(lab->lines->str, "h1 out half\n"));
  assert_non_null(strstr(lab->links->str, "up ssh:h1: h1: connected as "));
  sshd_lab_close(lab);
}

/* Many at once on one connection: more than sshd's ten sessions. */
static void
test_many(void **state)
{
  (void)state;
  sshd_group_need_lab();
  guint32 all[40];
  sshd_lab_open(lab, "", "", "");
  for (guint i = 0; i < G_N_ELEMENTS(all); i++)
    all[i] = sshd_lab_exec(lab, "h1", "echo x", 60);
  for (guint i = 0; i < G_N_ELEMENTS(all); i++)
    sshd_lab_expect(lab, all[i], "h1", VERDICT_OK);
  assert_int_equal(lab->n_lines, 40);
  assert_null(strstr(strstr(lab->links->str, "up ssh:h1") + 1, "up ssh:h1"));
  sshd_lab_close(lab);
}

static const char *
fact(const char *name)
{
  const char *value = g_hash_table_lookup(lab->facts, name);
  return value != NULL ? value : "";
}

static void
test_property(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *rest =
      g_strdup_printf("control:\n"
                      "  h1:\n"
                      "    nfsd: {get: \"cat %s/nfsd\", set: \"echo {value} >%s/nfsd\"}\n"
                      "    mtu: {get: \"echo 1500\", set: \"true\"}\n"
                      "    bad: {get: \"echo no such thing >&2; exit 3\", set: \"exit 4\"}\n"
                      "    odd: {get: \"printf '\\\\033[2J\\\\377x\\\\n'\"}\n"
                      "    mute: {get: \"true\"}\n",
                      lab->folder, lab->folder);
  sshd_lab_write(lab, "nfsd", "64\n");
  sshd_lab_open(lab, "", "", rest);
  guint32 get = ask(OP_GET, "h1", 30, WITH("path", "h1.nfsd"));
  sshd_lab_expect(lab, get, "h1", VERDICT_OK);
  assert_string_equal(fact("h1 nfsd"), "64");
  const char *value = "8 'a'; touch pwned $(touch pwned)";
  guint32 set = ask(OP_SET, "h1", 30, WITH("path", "h1.nfsd", "value", value));
  sshd_lab_expect(lab, set, "h1", VERDICT_OK);
  assert_string_equal(fact("h1 nfsd"), value);
  set = ask(OP_SET, "h1", 30, WITH("path", "h1.mtu", "value", "9000"));
  sshd_lab_expect(lab, set, "h1", VERDICT_FAILED);
  sshd_group_check_text(set, "h1", "h1: mtu was set to 9000, and reads 1500");
  assert_string_equal(fact("h1 mtu"), "1500");
  get = ask(OP_GET, "h1", 30, WITH("path", "h1.bad"));
  sshd_lab_expect(lab, get, "h1", VERDICT_FAILED);
  sshd_group_check_text(get, "h1", "get of bad: exit status 3: no such thing");
  set = ask(OP_SET, "h1", 30, WITH("path", "h1.bad", "value", "1"));
  sshd_lab_expect(lab, set, "h1", VERDICT_FAILED);
  get = ask(OP_GET, "h1", 30, WITH("path", "h1.odd"));
  sshd_lab_expect(lab, get, "h1", VERDICT_OK);
  assert_string_equal(fact("h1 odd"), "\\x1b[2J\\xffx");
  get = ask(OP_GET, "h1", 30, WITH("path", "h1.mute"));
  sshd_lab_expect(lab, get, "h1", VERDICT_FAILED);
  get = ask(OP_GET, "h1", 30, WITH("path", "h1.nothing"));
  sshd_lab_expect(lab, get, "h1", VERDICT_FAILED);
  sshd_group_check_text(get, "h1", "no control command");
  sshd_lab_close(lab);
}

static void
test_signal(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *mark = new_mark();
  g_autofree char *command = g_strdup_printf("sleep %s & sleep %s", mark, mark);
  sshd_lab_open(lab, "", "", "");
  guint32 sleeps = sshd_lab_exec(lab, "h1", command, 60);
  /* With the three shells that have it on their command line. */
  assert_true(sshd_lab_counts(lab, mark, 5, 20));
  g_autofree char *id = g_strdup_printf("%u", sleeps);
  guint32 wrong = ask(OP_SIGNAL, "h1", 10, WITH("request", id, "signal", "FOO"));
  guint32 other = ask(OP_SIGNAL, "h2", 10, WITH("request", id, "signal", "TERM"));
  sshd_lab_expect(lab, wrong, "h1", VERDICT_FAILED);
  sshd_lab_expect(lab, other, "h2", VERDICT_FAILED);
  guint32 signal = ask(OP_SIGNAL, "h1", 10, WITH("request", id, "signal", "TERM"));
  sshd_lab_expect(lab, signal, "h1", VERDICT_OK);
  sshd_lab_expect(lab, sleeps, "h1", VERDICT_FAILED);
  sshd_group_check_text(sleeps, "h1", "ended by signal TERM");
  assert_true(sshd_lab_counts(lab, mark, 0, 10));
  sshd_lab_close(lab);
}

static void
test_cancel(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *mark = new_mark();
  /* It ignores TERM, and one of its own has left its process group. */
  g_autofree char *command =
      g_strdup_printf("trap '' TERM; bash -mc 'sleep %s & wait' & sleep %s; sleep %s; sleep %s",
                      mark, mark, mark, mark);
  sshd_lab_open(lab, "", "", "");
  guint32 stubborn = sshd_lab_exec(lab, "h1", command, 60);
  assert_true(sshd_lab_counts(lab, mark, 6, 20));
  backend_check_cancel(lab->check, stubborn);
  sshd_lab_expect(lab, stubborn, "h1", VERDICT_CANCELLED);
  sshd_group_check_text(stubborn, "h1", "ended by signal KILL");
  assert_true(sshd_lab_counts(lab, mark, 0, 10));
  sshd_lab_close(lab);
}

/* At its deadline it is told at once, and ended behind. */
static void
test_deadline(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *mark = new_mark();
  g_autofree char *command = g_strdup_printf("sleep %s", mark);
  sshd_lab_open(lab, "", "", "");
  guint32 first = sshd_lab_exec(lab, "h1", "true", 30);
  sshd_lab_expect(lab, first, "h1", VERDICT_OK);
  guint32 late = sshd_lab_exec(lab, "h1", command, 2);
  sshd_lab_expect(lab, late, "h1", VERDICT_UNKNOWN);
  assert_true(sshd_lab_counts(lab, mark, 0, 15));
  sshd_lab_close(lab);
}

static void
test_status(void **state)
{
  (void)state;
  sshd_group_need_lab();
  sshd_lab_open(lab, "", "", "");
  guint32 on = ask(OP_STATUS, "h1", 30, NULL);
  sshd_lab_expect(lab, on, "h1", VERDICT_OK);
  assert_string_equal(fact("h1 power"), "on");
  sshd_lab_end(lab, 2, TRUE);
  guint32 gone = ask(OP_STATUS, "h2", 30, NULL);
  sshd_lab_expect(lab, gone, "h2", VERDICT_FAILED);
  sshd_group_check_text(gone, "h2", "connection refused");
  assert_string_equal(fact("h2 power"), "");
  sshd_lab_run(lab, 2);
  sshd_lab_close(lab);
}

static void
test_off(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *rest =
      g_strdup_printf("control:\n"
                      "  h1: {off: \"kill -KILL %d $PPID\", soft-off: \"true\", reset: \"kill "
                      "-KILL $PPID\", kexec: \"echo kexec >%s/kexec; kill -KILL $PPID\"}\n"
                      "  h2: {off: \"echo not allowed >&2; exit 1\"}\n",
                      (int)lab->hosts[0].pid, lab->folder);
  sshd_lab_open(lab, "", "", rest);
  guint32 soft = ask(OP_OFF, "h1", 3, WITH("how", "soft"));
  guint32 refused = ask(OP_OFF, "h2", 30, WITH("how", "hard"));
  guint32 without = ask(OP_RESET, "h2", 30, NULL);
  sshd_lab_expect(lab, soft, "h1", VERDICT_UNKNOWN);
  sshd_group_check_text(soft, "h1", "it still answers");
  sshd_lab_expect(lab, refused, "h2", VERDICT_FAILED);
  sshd_group_check_text(refused, "h2", "off: exit status 1: not allowed");
  sshd_lab_expect(lab, without, "h2", VERDICT_FAILED);
  guint32 reset = ask(OP_RESET, "h1", 30, NULL);
  sshd_lab_expect(lab, reset, "h1", VERDICT_OK);
  guint32 device = ask(OP_BOOT_DEVICE, "h1", 30, WITH("device", "kexec", "entry", "x"));
  sshd_lab_expect(lab, device, "h1", VERDICT_OK);
  guint32 kexec = ask(OP_RESET, "h1", 30, NULL);
  sshd_lab_expect(lab, kexec, "h1", VERDICT_OK);
  g_autofree char *done = sshd_lab_path(lab, "kexec");
  assert_true(g_file_test(done, G_FILE_TEST_EXISTS));
  guint32 off = ask(OP_OFF, "h1", 30, WITH("how", "hard"));
  sshd_lab_expect(lab, off, "h1", VERDICT_OK);
  sshd_group_check_text(off, "h1", "connection refused");
  sshd_lab_end(lab, 1, TRUE);
  sshd_lab_run(lab, 1);
  sshd_lab_close(lab);
}

static void
test_message(void **state)
{
  (void)state;
  sshd_group_need_lab();
  sshd_lab_open(lab, "", "", "");
  guint32 said = ask(OP_MESSAGE, "h1", 30, WITH("text", "the server goes down at 12"));
  guint32 empty = ask(OP_MESSAGE, "h1", 30, NULL);
  guint32 keys = ask(OP_KEYS, "h1", 30, NULL);
  sshd_lab_expect(lab, said, "h1", VERDICT_OK);
  sshd_lab_expect(lab, empty, "h1", VERDICT_FAILED);
  sshd_lab_expect(lab, keys, "h1", VERDICT_UNSUPPORTED);
  sshd_lab_close(lab);
}

/* ---- Input of a command that reads
 * --------------------------------------------------------------- */

#define INPUT_PIECE 10000
#define INPUT_ALL 3000000

typedef struct {
  SshCommand *command;
  gsize sent, echoed;
  guint n_refused;
  gboolean ended;
} Echo;

static void
on_echo(SshCommand *command, gboolean is_error, const char *text, gsize length, gpointer data)
{
  Echo *echo = data;
  (void)command;
  (void)text;
  assert_false(is_error);
  echo->echoed += length;
}

static void
on_echo_ended(SshCommand *command, const SshEnd *end, gpointer data)
{
  (void)command;
  (void)end;
  ((Echo *)data)->ended = TRUE;
}

static gboolean
has_echoed(SshdLab *some, gconstpointer data)
{
  Echo *echo = (Echo *)data;
  g_autofree char *piece = g_strnfill(INPUT_PIECE - 1, 'x');
  g_autofree char *line = g_strconcat(piece, "\n", NULL);
  (void)some;
  while (echo->sent < INPUT_ALL && ssh_command_write(echo->command, line, INPUT_PIECE))
    echo->sent += INPUT_PIECE;
  echo->n_refused += echo->sent < INPUT_ALL;
  return echo->echoed == INPUT_ALL / INPUT_PIECE * (INPUT_PIECE - 1);
}

static gboolean
has_ended(SshdLab *some, gconstpointer data)
{
  (void)some;
  return ((const Echo *)data)->ended;
}

/* What the host cannot take yet is refused, not heaped up. */
static void
test_input(void **state)
{
  static const SshCommandCalls calls = {.line = on_echo, .ended = on_echo_ended};
  (void)state;
  sshd_group_need_lab();
  Echo echo = {0};
  sshd_lab_open(lab, "", "", "");
  SshLink *link = ssh_link_of((SshBackend *)lab->backend, sshd_lab_node(lab, "h1"));
  SshCommandSpec spec = {.line = "cat", .reads = TRUE};
  echo.command = ssh_command_start(link, &spec, &calls, &echo);
  assert_true(sshd_lab_until(lab, has_echoed, &echo, 60));
  assert_true(echo.n_refused > 0);
  ssh_command_cancel(echo.command);
  assert_true(sshd_lab_until(lab, has_ended, &echo, 20));
  sshd_lab_close(lab);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exec),   cmocka_unit_test(test_many),   cmocka_unit_test(test_property),
      cmocka_unit_test(test_signal), cmocka_unit_test(test_cancel), cmocka_unit_test(test_deadline),
      cmocka_unit_test(test_status), cmocka_unit_test(test_off),    cmocka_unit_test(test_message),
      cmocka_unit_test(test_input),
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
