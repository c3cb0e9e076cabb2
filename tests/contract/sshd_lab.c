#ifdef HAVE_SSH

#include "tests/contract/sshd_lab.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <pwd.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SSHD "/usr/sbin/sshd"

/* ---- sshd --------------------------------------------------------------------------------------
 */

char *
sshd_lab_path(const SshdLab *lab, const char *name)
{
  return g_build_filename(lab->folder, name, NULL);
}

static void
run_tool(const char *const *words)
{
  g_autoptr(GError) error = NULL;
  int status;
  if (!g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL,
                    NULL, NULL, NULL, NULL, &status, &error) ||
      !g_spawn_check_wait_status(status, &error))
    fail_msg("%s: %s", words[0], error->message);
}

static void
make_key(const char *path, const char *passphrase)
{
  const char *words[] = {"ssh-keygen", "-q",   "-t", "ed25519", "-N", passphrase,
                         "-C",         "test", "-f", path,      NULL};
  run_tool(words);
}

static void
write_file(const char *path, const char *text)
{
  if (!g_file_set_contents(path, text, -1, NULL))
    fail_msg("%s cannot be written", path);
}

GSocket *
sshd_lab_black_hole(guint *port)
{
  GSocket *socket =
      g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
  g_autoptr(GSocketAddress) any = g_inet_socket_address_new_from_string("127.0.0.1", 0);
  g_socket_set_listen_backlog(socket, 128);
  assert_true(g_socket_bind(socket, any, FALSE, NULL) && g_socket_listen(socket, NULL));
  g_autoptr(GSocketAddress) bound = g_socket_get_local_address(socket, NULL);
  *port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
  return socket;
}

static guint
free_port(void)
{
  guint port;
  g_autoptr(GSocket) socket = sshd_lab_black_hole(&port);
  return port;
}

static gboolean
listens(guint port)
{
  g_autoptr(GSocketClient) client = g_socket_client_new();
  g_autoptr(GSocketConnection) connection =
      g_socket_client_connect_to_host(client, "127.0.0.1", (guint16)port, NULL, NULL);
  return connection != NULL;
}

void
sshd_lab_die_with_test(gpointer data)
{
  (void)data;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void
sshd_lab_reap(GPid pid)
{
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
    ;
}

char *
sshd_lab_parent(GPid pid)
{
  g_autofree char *path = g_strdup_printf("/proc/%d/stat", (int)pid);
  g_autofree char *text = NULL;
  assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) fields = g_strsplit(strrchr(text, ')'), " ", 4);
  return g_strdup(fields[2]);
}

/* In sshd's process before it is sshd. Its users have /bin/sh and an empty home where that can be:
 * what a login shell reads there may take seconds. */
static void
prepare(gpointer data)
{
  const char *passwd = data;
  sshd_lab_die_with_test(NULL);
  if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0)
    (void)!mount(passwd, "/etc/passwd", "none", MS_BIND, NULL);
}

static void
write_passwd(SshdLab *lab)
{
  struct passwd *me = getpwuid(geteuid());
  g_autofree char *path = sshd_lab_path(lab, "passwd");
  g_autofree char *home = sshd_lab_path(lab, "home");
  g_autofree char *all = NULL;
  assert_true(g_file_get_contents("/etc/passwd", &all, NULL, NULL) && g_mkdir(home, 0700) == 0);
  g_autofree char *text =
      g_strdup_printf("%s:x:%u:%u::%s:/bin/sh\n%s", me->pw_name, me->pw_uid, me->pw_gid, home, all);
  write_file(path, text);
}

static void
configure(SshdLab *lab, SshdHost *host, guint number)
{
  g_autofree char *name = g_strdup_printf("host%u", number);
  g_autofree char *config = g_strconcat(name, ".conf", NULL);
  g_autofree char *allowed = sshd_lab_path(lab, "key.pub");
  host->key = sshd_lab_path(lab, name);
  host->config = sshd_lab_path(lab, config);
  make_key(host->key, "");
  g_autofree char *text = g_strdup_printf(
      "ListenAddress 127.0.0.1\nPort %u\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\n"
      "UsePAM no\nUseDNS no\nStrictModes no\nPermitRootLogin yes\nMaxStartups 100:30:300\n"
      "PasswordAuthentication no\nLogLevel QUIET\nPrintMotd no\nMaxAuthTries 20\n",
      host->port, host->key, allowed);
  write_file(host->config, text);
}

/* A port that was free a moment ago may be another's by now. */
void
sshd_lab_run(SshdLab *lab, guint number)
{
  SshdHost *host = &lab->hosts[number - 1];
  char *words[] = {SSHD, "-D", "-f", host->config, NULL};
  g_autofree char *passwd = sshd_lab_path(lab, "passwd");
  g_autoptr(GError) error = NULL;
  if (!g_spawn_async(NULL, words, NULL, G_SPAWN_DO_NOT_REAP_CHILD, prepare, passwd, &host->pid,
                     &error))
    fail_msg("%s", error->message);
  for (guint i = 0; i < 1000 && waitpid(host->pid, NULL, WNOHANG) == 0; i++) {
    if (listens(host->port))
      return;
    g_usleep(10000);
  }
  fail_msg("sshd did not come up on port %u", host->port);
}

/* Processes whose parent is PID, from /proc. */
static void
kill_children(GPid pid)
{
  g_autofree char *path = g_strdup_printf("/proc/%d/task/%d/children", (int)pid, (int)pid);
  g_autofree char *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL))
    return;
  g_auto(GStrv) words = g_strsplit(g_strstrip(text), " ", -1);
  for (guint i = 0; words[i] != NULL && *words[i] != '\0'; i++)
    kill((GPid)g_ascii_strtoll(words[i], NULL, 10), SIGKILL);
}

void
sshd_lab_end(SshdLab *lab, guint number, gboolean hard)
{
  SshdHost *host = &lab->hosts[number - 1];
  if (host->pid == 0)
    return;
  if (hard) {
    kill(host->pid, SIGSTOP);
    kill_children(host->pid);
  }
  kill(host->pid, SIGKILL);
  sshd_lab_reap(host->pid);
  host->pid = 0;
}

static const char *
why_not(void)
{
  if (!g_file_test(SSHD, G_FILE_TEST_IS_EXECUTABLE))
    return "sshd is not installed (openssh-server)";
  if (geteuid() == 0 && g_mkdir_with_parents("/run/sshd", 0755) != 0)
    return "/run/sshd cannot be made";
  return NULL;
}

SshdLab *
sshd_lab_new(guint n)
{
  const char *reason = why_not();
  if (reason != NULL) {
    print_message("%s\n", reason);
    return NULL;
  }
  SshdLab *lab = g_new0(SshdLab, 1);
  lab->folder = g_dir_make_tmp("pult-sshd-XXXXXX", NULL);
  lab->user = g_strdup(g_get_user_name());
  lab->hosts = g_new0(SshdHost, n);
  lab->n = n;
  g_autofree char *key = sshd_lab_path(lab, "key");
  make_key(key, "");
  write_passwd(lab);
  g_autoptr(GString) known = g_string_new(NULL);
  for (guint i = 1; i <= n; i++) {
    SshdHost *host = &lab->hosts[i - 1];
    host->port = free_port();
    configure(lab, host, i);
    sshd_lab_run(lab, i);
    g_autofree char *public = g_strconcat(host->key, ".pub", NULL);
    g_autofree char *text = NULL;
    assert_true(g_file_get_contents(public, &text, NULL, NULL));
    g_string_append_printf(known, "[127.0.0.1]:%u %s", host->port, text);
  }
  g_autofree char *path = sshd_lab_path(lab, "known_hosts");
  write_file(path, known->str);
  return lab;
}

static void
remove_folder(const char *path)
{
  g_autoptr(GDir) folder = g_dir_open(path, 0, NULL);
  const char *name;
  while (folder != NULL && (name = g_dir_read_name(folder)) != NULL) {
    g_autofree char *inner = g_build_filename(path, name, NULL);
    if (g_file_test(inner, G_FILE_TEST_IS_DIR) && !g_file_test(inner, G_FILE_TEST_IS_SYMLINK))
      remove_folder(inner);
    else
      g_remove(inner);
  }
  g_rmdir(path);
}

void
sshd_lab_free(SshdLab *lab)
{
  if (lab == NULL)
    return;
  sshd_lab_close(lab);
  for (guint i = 1; i <= lab->n; i++) {
    sshd_lab_end(lab, i, TRUE);
    g_free(lab->hosts[i - 1].key);
    g_free(lab->hosts[i - 1].config);
  }
  remove_folder(lab->folder);
  g_free(lab->hosts);
  g_free(lab->folder);
  g_free(lab->user);
  g_free(lab);
}

/* ---- The backend -------------------------------------------------------------------------------
 */

static void
see(const Event *event, gpointer data)
{
  SshdLab *lab = data;
  if (event->kind == EVENT_SAMPLES && lab->samples != NULL)
    lab->samples(lab, &event->samples);
  if (event->kind == EVENT_LINE) {
    gsize length = strlen(event->line.text);
    g_free(lab->last);
    lab->last = g_strdup(event->line.text);
    lab->n_lines++;
    lab->n_bytes += length;
    lab->longest = MAX(lab->longest, length);
    if (lab->lines->len < 1024 * 1024)
      g_string_append_printf(
          lab->lines, "%s %s %s\n",
          event->line.node == NODE_NONE ? "-" : lab->layout->nodes[event->line.node].name,
          event->line.stream, event->line.text);
  } else if (event->kind == EVENT_LINK) {
    g_string_append_printf(lab->links, "%s %s: %s\n", event->link.up ? "up" : "down",
                           event->link.name, event->link.text);
  } else if (event->kind == EVENT_OBSERVE) {
    g_hash_table_replace(
        lab->facts,
        g_strjoin(" ", lab->layout->nodes[event->observe.node].name, event->observe.fact, NULL),
        g_strdup(event->observe.value));
  }
}

static char *
write_layout(const SshdLab *lab, const char *settings, const char *nodes, const char *rest)
{
  g_autofree char *key = sshd_lab_path(lab, "key");
  g_autofree char *known = sshd_lab_path(lab, "known_hosts");
  const char *server = strstr(rest, "\n  s1:") != NULL ? ", server: s1" : "";
  g_autoptr(GString) text = g_string_new("lab: sshds\n");
  g_string_append_printf(text, "defaults: {power: ssh, exec: ssh%s}\nswitches: {sw1: {}}\n",
                         server);
  g_string_append(text, "clients:\n");
  g_string_append_printf(text,
                         "  h[1-%u]: {switch: sw1, speed: 1 Gbit/s, mac: 52:54:00:0a:00:00 step "
                         "1, ip: 10.21.0.1 step 1}\n",
                         lab->n);
  g_string_append_printf(text, "backends:\n  ssh:\n    address: 127.0.0.1\n    user: \"%s\"\n",
                         lab->user);
  if (strstr(settings, " key:") == NULL)
    g_string_append_printf(text, "    key: \"%s\"\n", key);
  if (strstr(settings, "known-hosts:") == NULL)
    g_string_append_printf(text, "    known-hosts: \"%s\"\n", known);
  if (strstr(settings, "agent:") == NULL)
    g_string_append(text, "    agent: false\n");
  g_string_append(text, settings);
  g_string_append(text, "    nodes:\n");
  for (guint i = 1; i <= lab->n; i++)
    g_string_append_printf(text, "      h%u: {port: %u}\n", i, lab->hosts[i - 1].port);
  g_string_append_printf(text, "%s%s", nodes, rest);
  return g_string_free(g_steal_pointer(&text), FALSE);
}

gboolean
sshd_lab_try(SshdLab *lab, const char *settings, const char *nodes, const char *rest,
             GError **error)
{
  g_autofree char *text = write_layout(lab, settings, nodes, rest);
  sshd_lab_close(lab); /* a test before may have failed in the middle */
  lab->layout = layout_parse("sshds", text, strlen(text), error);
  if (lab->layout == NULL)
    return FALSE;
  lab->jobs = job_set_new();
  lab->lines = g_string_new(NULL);
  lab->links = g_string_new(NULL);
  lab->n_bytes = lab->n_lines = 0;
  lab->longest = 0;
  lab->facts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  lab->check = backend_check_new(lab->layout, see, lab);
  BackendSetup setup = {.name = g_intern_string("ssh"),
                        .layout = lab->layout,
                        .settings = layout_backend(lab->layout, "ssh"),
                        .jobs = lab->jobs,
                        .post = backend_check_post,
                        .post_data = lab->check};
  Backend *backend = ssh_backend_new(&setup, error);
  if (backend == NULL) {
    sshd_lab_close(lab);
    return FALSE;
  }
  lab->backend = backend;
  backend_check_start(lab->check, backend);
  return TRUE;
}

void
sshd_lab_open(SshdLab *lab, const char *settings, const char *nodes, const char *rest)
{
  g_autoptr(GError) error = NULL;
  if (!sshd_lab_try(lab, settings, nodes, rest, &error))
    fail_msg("%s", error->message);
}

void
sshd_lab_close(SshdLab *lab)
{
  if (lab->layout == NULL)
    return;
  g_autofree char *violation = NULL;
  if (lab->check != NULL) {
    violation = g_strdup(backend_check_violation(lab->check));
    backend_check_free(lab->check);
    lab->check = NULL;
    job_set_free(lab->jobs);
    g_string_free(lab->lines, TRUE);
    g_string_free(lab->links, TRUE);
    g_clear_pointer(&lab->last, g_free);
    g_hash_table_unref(lab->facts);
  }
  layout_free(lab->layout);
  lab->layout = NULL;
  if (violation != NULL)
    fail_msg("%s", violation);
}

NodeId
sshd_lab_node(const SshdLab *lab, const char *name)
{
  NodeId node = layout_find(lab->layout, name);
  assert_true(node != NODE_NONE);
  return node;
}

guint32
sshd_lab_exec(SshdLab *lab, const char *node, const char *command, double seconds)
{
  NodeId id = sshd_lab_node(lab, node);
  const char *arguments[] = {"command", command, NULL};
  return backend_check_submit(lab->check, OP_EXEC, &id, 1, (gint64)(seconds * 1e9), arguments);
}

Verdict
sshd_lab_wait(SshdLab *lab, guint32 request, const char *node)
{
  gint64 limit = backend_check_now(lab->check) + 120 * TIME_SECOND;
  if (!backend_check_finish(lab->check, request, limit))
    fail_msg("request %u has no result after 120 s; links:\n%s", request, lab->links->str);
  return (Verdict)backend_check_verdict(lab->check, request, sshd_lab_node(lab, node));
}

void
sshd_lab_expect(SshdLab *lab, guint32 request, const char *node, Verdict verdict)
{
  Verdict seen = sshd_lab_wait(lab, request, node);
  if (seen != verdict)
    fail_msg("%s instead of %s: %s; links:\n%s", verdict_name(seen), verdict_name(verdict),
             sshd_lab_text(lab, request, node), lab->links->str);
}

const char *
sshd_lab_text(SshdLab *lab, guint32 request, const char *node)
{
  return backend_check_text(lab->check, request, sshd_lab_node(lab, node));
}

void
sshd_lab_write(const SshdLab *lab, const char *name, const char *text)
{
  g_autofree char *path = sshd_lab_path(lab, name);
  write_file(path, text);
}

void
sshd_lab_make_key(const SshdLab *lab, const char *name, const char *passphrase)
{
  g_autofree char *path = sshd_lab_path(lab, name);
  make_key(path, passphrase);
}

static gboolean
has_mark(const char *pid, const char *mark)
{
  g_autofree char *path = g_build_filename("/proc", pid, "cmdline", NULL);
  g_autofree char *words = NULL;
  gsize length = 0;
  return g_ascii_isdigit(*pid) && g_file_get_contents(path, &words, &length, NULL) &&
         memmem(words, length, mark, strlen(mark)) != NULL;
}

guint
sshd_lab_count(const char *mark)
{
  g_autoptr(GDir) all = g_dir_open("/proc", 0, NULL);
  const char *pid;
  guint n = 0;
  while (all != NULL && (pid = g_dir_read_name(all)) != NULL)
    n += has_mark(pid, mark);
  return n;
}

gboolean
sshd_lab_gone(const char *mark, double seconds)
{
  gint64 end = g_get_monotonic_time() + (gint64)(seconds * G_USEC_PER_SEC);
  while (sshd_lab_count(mark) > 0) {
    if (g_get_monotonic_time() > end)
      return FALSE;
    g_usleep(100000);
  }
  return TRUE;
}

typedef struct {
  const char *mark;
  guint n;
} Count;

static gboolean
counts(SshdLab *lab, gconstpointer data)
{
  const Count *count = data;
  (void)lab;
  guint n = sshd_lab_count(count->mark);
  return count->n == 0 ? n == 0 : n >= count->n;
}

gboolean
sshd_lab_counts(SshdLab *lab, const char *mark, guint n, double seconds)
{
  Count count = {mark, n};
  return sshd_lab_until(lab, counts, &count, seconds);
}

gboolean
sshd_lab_until(SshdLab *lab, gboolean (*done)(SshdLab *lab, gconstpointer data), gconstpointer data,
               double seconds)
{
  gint64 end = g_get_monotonic_time() + (gint64)(seconds * G_USEC_PER_SEC);
  while (!done(lab, data)) {
    if (g_get_monotonic_time() > end)
      return FALSE;
    backend_check_step(lab->check, backend_check_now(lab->check) + 50 * TIME_MS);
  }
  return TRUE;
}

#endif
