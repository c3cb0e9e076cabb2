#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#ifdef HAVE_LIBVIRT

#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <grp.h>
#include <libvirt/libvirt.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/contract/backend_ask.h"
#include "tests/contract/domain_lab.h"

#define LIBVIRTD "/usr/sbin/libvirtd"
/* Who has no password and no shell. */
#define NOBODY 65534

/* A libvirtd of our own, which offers the test driver's default room: one for all who connect to
 * it, as long as somebody does. There we define two seats; `near` is of a room in this process. As
 * root it runs as nobody: root's would be the machine's. */
typedef struct {
  DomainLab *lab;
  char *folder, *socket;
  GPid pid;           /* 0: none runs */
  virConnectPtr ours; /* keeps the room */
} Daemon;

static void
set_up_child(gpointer data)
{
  (void)data;
  if (getuid() == 0 && (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
    _exit(1);
}

static gboolean
listens(const Daemon *daemon)
{
  g_autoptr(GSocketClient) client = g_socket_client_new();
  g_autoptr(GSocketAddress) address = g_unix_socket_address_new(daemon->socket);
  g_autoptr(GSocketConnection) connection =
      g_socket_client_connect(client, G_SOCKET_CONNECTABLE(address), NULL, NULL);

  return connection != NULL;
}

/* Off, both. */
static void
define_seats(Daemon *daemon)
{
  g_autofree char *uri = g_strdup_printf("test+unix:///default?socket=%s", daemon->socket);

  daemon->ours = virConnectOpen(uri);
  assert_non_null(daemon->ours);
  for (guint i = 1; i <= 2; i++) {
    g_autofree char *xml = domain_lab_xml(i);
    virDomainPtr domain = virDomainDefineXML(daemon->ours, xml);
    assert_non_null(domain);
    virDomainFree(domain);
  }
}

/* Until it takes connections; it answers them as soon as it can. */
static void
start(Daemon *daemon)
{
  g_autofree char *config = g_build_filename(daemon->folder, "libvirtd.conf", NULL);
  g_autofree char *pid_file = g_build_filename(daemon->folder, "pid", NULL);
  const char *words[] = {LIBVIRTD, "-f", config, "-p", pid_file, NULL};
  g_auto(GStrv) variables = g_get_environ();
  static const char *const places[] = {"HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME",
                                       "XDG_CONFIG_HOME"};
  gint64 until = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;

  for (guint i = 0; i < G_N_ELEMENTS(places); i++)
    variables = g_environ_setenv(variables, places[i], daemon->folder, TRUE);
  assert_true(g_spawn_async("/", (char **)words, variables,
                            G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL |
                                G_SPAWN_STDERR_TO_DEV_NULL,
                            set_up_child, NULL, &daemon->pid, NULL));
  while (!listens(daemon)) {
    assert_int_equal(waitpid(daemon->pid, NULL, WNOHANG), 0);
    assert_true(g_get_monotonic_time() < until);
    g_usleep(20000);
  }
  define_seats(daemon);
}

static void
kill_it(Daemon *daemon)
{
  if (daemon->pid == 0)
    return;
  kill(daemon->pid, SIGKILL);
  virConnectClose(daemon->ours);
  assert_int_equal(waitpid(daemon->pid, NULL, 0), daemon->pid);
  g_spawn_close_pid(daemon->pid);
  daemon->pid = 0;
}

static void
remove_tree(const char *path)
{
  const char *words[] = {"rm", "-rf", path, NULL};

  g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
}

static void
open_lab(Daemon *daemon)
{
  g_autofree char *settings =
      g_strdup_printf("    retry: 0.5 s\n    keep-alive: 1 s\n    nodes:\n"
                      "      \"a[01-02]\": {uri: \"test+unix:///default?socket=%s\"}\n"
                      "      near: {domain: vm-a01}\n",
                      daemon->socket);

  domain_lab_open(daemon->lab, "  \"a[01-02],near\": {switch: sw1, speed: 1 Gbit/s}\n", settings);
  domain_lab_see(daemon->lab, "a01: power off\n");
  domain_lab_see(daemon->lab, "a02: power off\n");
}

static int
set_up(void **state)
{
  Daemon *daemon = g_new0(Daemon, 1);

  daemon->lab = domain_lab_new(2);
  /* The test's own TMPDIR is closed to nobody. */
  daemon->folder = g_strdup("/tmp/pult-libvirtd-XXXXXX");
  assert_non_null(g_mkdtemp(daemon->folder));
  daemon->socket = g_build_filename(daemon->folder, "libvirt-sock", NULL);
  g_autofree char *config = g_build_filename(daemon->folder, "libvirtd.conf", NULL);
  g_autofree char *text = g_strdup_printf(
      "listen_tls = 0\nauth_unix_rw = \"none\"\nunix_sock_dir = \"%s\"\n", daemon->folder);
  assert_true(g_file_set_contents(config, text, -1, NULL));
  if (getuid() == 0)
    assert_int_equal(chown(daemon->folder, NOBODY, NOBODY), 0);
  chmod(daemon->folder, 0755);
  start(daemon);
  open_lab(daemon);
  *state = daemon;
  return 0;
}

static int
tear_down(void **state)
{
  Daemon *daemon = *state;

  kill_it(daemon);
  domain_lab_free(daemon->lab);
  remove_tree(daemon->folder);
  g_free(daemon->folder);
  g_free(daemon->socket);
  g_free(daemon);
  return 0;
}

static guint32
do_all(const Daemon *daemon, Operation operation, const char *set, gint64 deadline)
{
  guint32 request = backend_ask(daemon->lab->check, operation, set, deadline, NULL);

  backend_ask_finish(daemon->lab->check, request);
  return request;
}

/* ---- Cases --------------------------------------------------------------------------------- */

/* Its end is told at once, nothing is thought to be known, and a command says what is the matter.
 * A new one is found by itself, and its states are read: this one forgot that a01 was on. */
static void
test_restart(void **state)
{
  Daemon *daemon = *state;
  const DomainLab *lab = daemon->lab;
  guint32 on = do_all(daemon, OP_ON, "a01 a02 near", 30 * TIME_SECOND);

  backend_ask_expect(lab->check, on, "a01", VERDICT_OK, "");
  g_string_truncate(lab->seen, 0);
  kill_it(daemon);
  domain_lab_see(lab, "link down: test+unix://");
  domain_lab_see(lab, "a01: power unknown\n");
  domain_lab_see(lab, "a02: power unknown\n");
  guint32 off = do_all(daemon, OP_OFF, "a01 near", 10 * TIME_SECOND);
  backend_ask_expect(lab->check, off, "a01", VERDICT_FAILED, "is libvirtd running?");
  backend_ask_expect(lab->check, off, "near", VERDICT_OK, "");
  assert_null(strstr(lab->seen->str, "a01: power off"));
  g_string_truncate(lab->seen, 0);
  start(daemon);
  domain_lab_see(lab, "link up: test+unix://");
  domain_lab_see(lab, "a01: power off\n");
  on = do_all(daemon, OP_ON, "a01", 30 * TIME_SECOND);
  backend_ask_expect(lab->check, on, "a01", VERDICT_OK, "");
}

/* One that hangs holds up nobody but who asked it; when it does not answer for some seconds it is
 * as good as gone; when it goes on it is found again. */
static void
test_hang(void **state)
{
  Daemon *daemon = *state;
  const DomainLab *lab = daemon->lab;

  kill(daemon->pid, SIGSTOP);
  g_string_truncate(lab->seen, 0);
  guint32 hung = backend_ask(lab->check, OP_ON, "a01", TIME_SECOND, NULL);
  guint32 status = backend_ask(lab->check, OP_STATUS, "a02", TIME_SECOND, NULL);
  guint32 near = do_all(daemon, OP_ON, "near", 60 * TIME_SECOND);
  backend_ask_expect(lab->check, near, "near", VERDICT_OK, "");
  backend_ask_finish(lab->check, hung);
  backend_ask_expect(lab->check, hung, "a01", VERDICT_UNKNOWN, "a01: ");
  backend_ask_finish(lab->check, status);
  backend_ask_expect(lab->check, status, "a02", VERDICT_TIMEOUT, "a02: ");
  domain_lab_see(lab, "a01: power unknown\n");
  domain_lab_see(lab, "link down: test+unix://");
  kill(daemon->pid, SIGCONT);
  domain_lab_see(lab, "link up: test+unix://");
  status = do_all(daemon, OP_STATUS, "a01 a02", 30 * TIME_SECOND);
  backend_ask_expect(lab->check, status, "a02", VERDICT_OK, "");
  domain_lab_see(lab, "a02: power off\n");
}

/* The connection breaks when they have been told: what can be looked at is looked at afterwards. */
static void
test_lost_under_way(void **state)
{
  Daemon *daemon = *state;
  const DomainLab *lab = daemon->lab;

  do_all(daemon, OP_ON, "a02", 30 * TIME_SECOND);
  kill(daemon->pid, SIGSTOP);
  guint32 on = backend_ask(lab->check, OP_ON, "a01", 60 * TIME_SECOND, NULL);
  guint32 reset = backend_ask(lab->check, OP_RESET, "a02", 60 * TIME_SECOND, NULL);
  backend_check_run(lab->check, backend_check_now(lab->check) + TIME_SECOND / 2);
  kill_it(daemon);
  backend_ask_finish(lab->check, reset);
  backend_ask_expect(lab->check, reset, "a02", VERDICT_UNKNOWN,
                     "was told reset once, and the connection");
  g_string_truncate(lab->seen, 0);
  start(daemon);
  domain_lab_see(lab, "a01: power off\n");
  backend_ask_expect_open(lab->check, on, "a01");
  /* Somebody else does it. */
  virDomainPtr domain = virDomainLookupByName(daemon->ours, "vm-a01");
  assert_int_equal(virDomainCreate(domain), 0);
  virDomainFree(domain);
  backend_ask_finish(lab->check, on);
  backend_ask_expect(lab->check, on, "a01", VERDICT_OK, "");
}

/* Who leaves does not wait for a libvirtd that hangs. */
static void
test_leave(void **state)
{
  Daemon *daemon = *state;
  gint64 begun;

  kill(daemon->pid, SIGSTOP);
  backend_ask(daemon->lab->check, OP_ON, "a01", 60 * TIME_SECOND, NULL);
  backend_check_run(daemon->lab->check, backend_check_now(daemon->lab->check) + TIME_SECOND / 5);
  begun = g_get_monotonic_time();
  domain_lab_close(daemon->lab);
  assert_true(g_get_monotonic_time() - begun < 30 * G_USEC_PER_SEC);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_restart, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_hang, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_lost_under_way, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_leave, set_up, tear_down),
  };

  if (access(LIBVIRTD, X_OK) != 0) {
    puts("there is no " LIBVIRTD "; scripts/install-deps lab installs it");
    return 77;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int
main(void)
{
  puts("built without libvirt");
  return 77;
}

#endif
