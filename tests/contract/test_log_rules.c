/* The backend that reads logs, held to the rules of all backends, with files that are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <gio/gio.h>
#include <glib/gstdio.h>

#include "backends/log/log.h"
#include "tests/contract/backend_ask.h"

static const char *const what_log[] = {"what", "log", NULL};
static const char *const what_console[] = {"what", "console", NULL};

typedef struct {
  char *folder;
  Layout *layout;
  BackendCheck *check;
  GString *seen; /* `NODE STREAM: TEXT` and a newline each */
} Lab;

static const char layout_text[] = "lab: t\nswitches: {lan: {}, one: {log: log}, two: {log: log}}\n"
                                  "clients: {a1: {switch: lan, speed: 1 Gbit/s, log: log}}\n"
                                  "backends:\n  log:\n    files: [\"{node}.log\"]\n"
                                  "    nodes: {two: {files: [two.log, missing.log]}}\n";

static void
on_seen(const Event *event, gpointer data)
{
  const Lab *lab = data;
  if (event->kind == EVENT_LINE)
    g_string_append_printf(lab->seen, "%s %s: %s\n",
                           event->line.node != NODE_NONE ? lab->layout->nodes[event->line.node].name
                                                         : "nobody",
                           event->line.stream, event->line.text);
}

static char *
path_of(const Lab *lab, const char *name)
{
  return g_build_filename(lab->folder, name, NULL);
}

static void
append(const Lab *lab, const char *name, const char *text)
{
  g_autofree char *path = path_of(lab, name);
  FILE *file = fopen(path, "a");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static Backend *
make(const Lab *lab, GError **error)
{
  BackendSetup setup = {.name = g_intern_string("log"),
                        .layout = lab->layout,
                        .settings = layout_backend(lab->layout, "log"),
                        .post = backend_check_post,
                        .post_data = lab->check};
  return log_backend_new(&setup, error);
}

static void
open_layout(Lab *lab, const char *text)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *path = path_of(lab, "layout.yaml");
  lab->layout = layout_parse(path, text, strlen(text), &error);
  if (lab->layout == NULL)
    fail_msg("%s", error->message);
}

static void
open_lab(Lab *lab, const char *text)
{
  g_autoptr(GError) error = NULL;
  open_layout(lab, text);
  lab->check = backend_check_new(lab->layout, on_seen, lab);
  Backend *backend = make(lab, &error);
  if (backend == NULL)
    fail_msg("%s", error->message);
  backend_check_start(lab->check, backend);
}

static int
set_up(void **state)
{
  Lab *lab = g_new0(Lab, 1);
  lab->folder = g_dir_make_tmp("logs-XXXXXX", NULL);
  assert_non_null(lab->folder);
  lab->seen = g_string_new(NULL);
  append(lab, "one.log", "what was there\n");
  append(lab, "two.log", "");
  open_lab(lab, layout_text);
  *state = lab;
  return 0;
}

static int
tear_down(void **state)
{
  Lab *lab = *state;
  static const char *const names[] = {"one.log", "two.log", "missing.log"};
  backend_check_free(lab->check);
  layout_free(lab->layout);
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *path = path_of(lab, names[i]);
    g_unlink(path);
  }
  assert_int_equal(g_rmdir(lab->folder), 0);
  g_string_free(lab->seen, TRUE);
  g_free(lab->folder);
  g_free(lab);
  return 0;
}

static void
wait_seen(const Lab *lab, const char *words)
{
  gint64 limit = backend_check_now(lab->check) + 30 * TIME_SECOND;
  while (strstr(lab->seen->str, words) == NULL)
    if (!backend_check_step(lab->check, limit))
      fail_msg("`%s` has not come; but:\n%s", words, lab->seen->str);
}

static void
test_lines(void **state)
{
  Lab *lab = *state;
  guint32 watch = backend_ask(lab->check, OP_WATCH, "one two", TIME_NEVER, what_log);
  wait_seen(lab, "two err: cannot read the log ");
  wait_seen(lab, "/missing.log: No such file or directory; it is looked for again\n");
  append(lab, "one.log", "first\nsec");
  append(lab, "missing.log", "from its beginning\n");
  append(lab, "two.log", "two's\n");
  wait_seen(lab, "one log: first\n");
  wait_seen(lab, "two log: from its beginning\n");
  wait_seen(lab, "two log: two's\n");
  append(lab, "one.log", "ond\n");
  wait_seen(lab, "one log: second\n");
  assert_null(strstr(lab->seen->str, "what was there"));
  backend_ask_expect_open(lab->check, watch, "one");
  backend_check_cancel(lab->check, watch);
  backend_ask_finish(lab->check, watch);
  backend_ask_expect(lab->check, watch, "one", VERDICT_CANCELLED, "one: watch cancelled");
  gsize length = lab->seen->len;
  append(lab, "one.log", "unheard\n");
  backend_check_run(lab->check, backend_check_now(lab->check) + TIME_SECOND / 2);
  assert_int_equal(lab->seen->len, length);
  assert_null(backend_check_violation(lab->check));
}

static void
test_nothing_else(void **state)
{
  const Lab *lab = *state;
  guint32 console = backend_ask(lab->check, OP_WATCH, "one", TIME_NEVER, what_console);
  guint32 on = backend_ask(lab->check, OP_ON, "one", TIME_SECOND, NULL);
  backend_ask_finish(lab->check, console);
  backend_ask_finish(lab->check, on);
  backend_ask_expect(lab->check, console, "one", VERDICT_FAILED, "one: log brings lines of logs");
  backend_ask_expect(lab->check, on, "one", VERDICT_UNSUPPORTED, "one: log cannot on");
}

static void
expect_refused(const char *text, const char *why)
{
  Lab lab = {.folder = g_strdup("/nowhere")};
  g_autoptr(GError) error = NULL;
  g_autofree char *whole = g_strconcat("/nowhere/layout.yaml: backend log: ", why, NULL);
  open_layout(&lab, text);
  assert_null(make(&lab, &error));
  assert_string_equal(error->message, whole);
  layout_free(lab.layout);
  g_free(lab.folder);
}

static void
test_refused(void **state)
{
  (void)state;
#define ONE "lab: t\nswitches: {one: {log: log}}\n"
#define LOG "backends: {log: {"
  expect_refused(ONE, "one: it has no `files` to read, nor `syslog`");
  expect_refused(ONE LOG "syslog: 5140}}\n", "one: from where it sends syslog is not known: it has "
                                             "no `ip`, nor `sends-from`");
  expect_refused(ONE LOG "syslog: '::1:5140', files: [a]}}\n",
                 "one: `syslog`: ::1:5140 is no PORT, ADDRESS:PORT or [IPV6-ADDRESS]:PORT");
  expect_refused(ONE LOG "syslog: 65536, files: [a]}}\n",
                 "one: `syslog`: 65536 is no PORT, ADDRESS:PORT or [IPV6-ADDRESS]:PORT");
  expect_refused(ONE LOG "syslog: 5140, sends-from: [boot1]}}\n",
                 "one: `sends-from`: boot1 is no IP address");
  expect_refused("lab: t\nswitches: {one: {log: log}, two: {log: log}}\n" LOG
                 "syslog: 5140, sends-from: ['::1']}}\n",
                 "two: syslog from ::1 could be its own or one's");
}

/* ---- Syslog ----------------------------------------------------------------------------------
 */

/* Of both kinds; 0: there is no IPv6 here. */
static guint
free_port(GSocketFamily family)
{
  g_autoptr(GSocket) socket =
      g_socket_new(family, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  g_autoptr(GInetAddress) loopback = g_inet_address_new_loopback(family);
  g_autoptr(GSocketAddress) any = g_inet_socket_address_new(loopback, 0);
  if (socket == NULL || !g_socket_bind(socket, any, FALSE, NULL))
    return 0;
  g_autoptr(GSocketAddress) bound = g_socket_get_local_address(socket, NULL);
  return g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
}

/* As util-linux's logger sends it. */
static void
run_logger(const char *server, guint port, const char *format, const char *text)
{
  g_autofree char *number = g_strdup_printf("%u", port);
  const char *words[] = {"logger", "--server", server,   "--udp", "--port", number, format,
                         "--tag",  "prog",     "--id=7", "--",    text,     NULL};
  g_autoptr(GError) error = NULL;
  int status = 0;
  if (!g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
                    &status, &error) ||
      !g_spawn_check_wait_status(status, &error))
    fail_msg("logger: %s", error->message);
}

/* From ADDRESS, one of loopback's. */
static void
send_bytes(const char *address, guint port, const char *bytes, gsize length, guint times)
{
  g_autoptr(GSocketAddress) from = g_inet_socket_address_new_from_string(address, 0);
  g_autoptr(GSocketAddress) to = g_inet_socket_address_new_from_string("127.0.0.1", port);
  g_autoptr(GSocket) socket =
      g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  assert_true(g_socket_bind(socket, from, FALSE, NULL));
  for (guint i = 0; i < times; i++)
    assert_int_equal(g_socket_send_to(socket, to, bytes, length, NULL, NULL), length);
}

static int
set_up_syslog(void **state)
{
  Lab *lab = g_new0(Lab, 1);
  lab->folder = g_dir_make_tmp("logs-XXXXXX", NULL);
  lab->seen = g_string_new(NULL);
  *state = lab;
  return 0;
}

/* Its port. */
static guint
open_syslog(Lab *lab, guint32 *watch)
{
  guint port = free_port(G_SOCKET_FAMILY_IPV4);
  g_autofree char *text = g_strdup_printf(
      "lab: t\nswitches: {lan: {}, one: {log: log}}\n"
      "clients:\n  a1: {switch: lan, speed: 1 Gbit/s, log: log, mac: 52:54:00:0a:00:00, ip: "
      "127.0.0.3}\n"
      "backends: {log: {syslog: %u, nodes: {one: {sends-from: [127.0.0.1, '::1']}}}}\n",
      port);
  open_lab(lab, text);
  *watch = backend_ask(lab->check, OP_WATCH, "one a1", TIME_NEVER, what_log);
  for (guint i = 0; i < 600 && strstr(lab->seen->str, "one log: ready") == NULL; i++) {
    send_bytes("127.0.0.1", port, "ready", 5, 1);
    backend_check_step(lab->check, backend_check_now(lab->check) + TIME_SECOND / 20);
  }
  return port;
}

static void
test_syslog(void **state)
{
  Lab *lab = *state;
  guint32 watch;
  guint port = open_syslog(lab, &watch);
  run_logger("127.0.0.1", port, "--rfc3164", "as of old");
  wait_seen(lab, " prog[7]: as of old\n");
  run_logger("127.0.0.1", port, "--rfc5424", "as of now");
  wait_seen(lab, "] as of now\n");
  if (free_port(G_SOCKET_FAMILY_IPV6) != 0) {
    run_logger("::1", port, "--rfc3164", "by IPv6");
    wait_seen(lab, " prog[7]: by IPv6\n");
  }
  assert_non_null(strstr(lab->seen->str, "one log: <13>"));
  send_bytes("127.0.0.3", port, "a seat's own\n\0", 14, 1);
  wait_seen(lab, "a1 log: a seat's own\n");
  /* One datagram is one line, whatever is in it. */
  static const char two[] = "\x01\xff\x1b[2J\0\nDec  2 16:51:24 one x: y";
  send_bytes("127.0.0.1", port, two, sizeof two - 1, 1);
  wait_seen(lab, "one log: \x01\xff\x1b[2J  Dec  2 16:51:24 one x: y\n");
  g_autofree char *long_line = g_strnfill(5000, 'x');
  send_bytes("127.0.0.1", port, long_line, 5000, 1);
  send_bytes("127.0.0.9", port, "hear me", 7, 3);
  wait_seen(lab, "nobody err: syslog comes from 127.0.0.9, which is no machine's here");
  assert_null(strstr(lab->seen->str, "xxx"));
  assert_null(strstr(lab->seen->str, "hear me"));
  backend_check_cancel(lab->check, watch);
  backend_ask_finish(lab->check, watch);
  assert_null(backend_check_violation(lab->check));
}

static guint
count(const Lab *lab, const char *words)
{
  guint n = 0;
  for (const char *at = lab->seen->str; (at = strstr(at, words)) != NULL; at++)
    n++;
  return n;
}

/* Who floods is cut short, and drowns no other. */
static void
test_syslog_flood(void **state)
{
  Lab *lab = *state;
  guint32 watch;
  guint port = open_syslog(lab, &watch);
  gint64 begun = g_get_monotonic_time();
  for (guint i = 0; i < 20; i++) {
    send_bytes("127.0.0.1", port, "flood", 5, 200); /* what a socket holds */
    send_bytes("127.0.0.3", port, "heard", 5, 1);
    backend_check_run(lab->check, backend_check_now(lab->check) + TIME_SECOND / 20);
  }
  wait_seen(lab, "one err: ");
  double seconds = (double)(g_get_monotonic_time() - begun) / G_USEC_PER_SEC;
  assert_true(count(lab, "one log: flood") <= (seconds * 10 + 2) * 200);
  assert_non_null(
      strstr(lab->seen->str, " lines of syslog were left out: more than 200 in 100 ms"));
  send_bytes("127.0.0.3", port, "still heard", 11, 1);
  wait_seen(lab, "a1 log: still heard\n");
  assert_true(count(lab, "a1 log: heard\n") >= 10);
}

/* What the kernel leaves out of a flood is told when that is over, not again and again. */
static void
test_syslog_lost(void **state)
{
  Lab *lab = *state;
  guint32 watch;
  guint port = open_syslog(lab, &watch);
  gint64 begun = g_get_monotonic_time();
  for (guint i = 0; i < 30; i++) {
    send_bytes("127.0.0.1", port, "flood", 5, 3000); /* more than a socket holds */
    backend_check_run(lab->check, backend_check_now(lab->check) + 5 * TIME_MS);
  }
  double seconds = (double)(g_get_monotonic_time() - begun) / G_USEC_PER_SEC;
  send_bytes("127.0.0.1", port, "calm", 4, 1);
  wait_seen(lab, " datagrams were lost, more come than are read\n");
  backend_check_run(lab->check, backend_check_now(lab->check) + TIME_SECOND / 2);
  assert_true(count(lab, "datagrams were lost") <= 5 * seconds + 2);
}

static void
test_port_taken(void **state)
{
  Lab *lab = *state;
  g_autoptr(GSocket) taken =
      g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  g_autoptr(GSocketAddress) any = g_inet_socket_address_new_from_string("127.0.0.1", 0);
  assert_true(g_socket_bind(taken, any, FALSE, NULL));
  g_autoptr(GSocketAddress) bound = g_socket_get_local_address(taken, NULL);
  guint port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
  g_autofree char *text =
      g_strdup_printf("lab: t\nswitches: {one: {log: log}}\nbackends: {log: {syslog: "
                      "'127.0.0.1:%u', sends-from: [127.0.0.1]}}\n",
                      port);
  open_lab(lab, text);
  backend_ask(lab->check, OP_WATCH, "one", TIME_NEVER, what_log);
  g_autofree char *why = g_strdup_printf("nobody err: cannot listen for syslog at 127.0.0.1:%u: "
                                         "Address already in use; it is tried again\n",
                                         port);
  wait_seen(lab, why);
  assert_true(g_socket_close(taken, NULL));
  for (guint i = 0; i < 600 && strstr(lab->seen->str, "one log: ready") == NULL; i++) {
    send_bytes("127.0.0.1", port, "ready", 5, 1);
    backend_check_step(lab->check, backend_check_now(lab->check) + TIME_SECOND / 20);
  }
  assert_non_null(strstr(lab->seen->str, "one log: ready\n"));
}

static void
test_walk(void **state)
{
  const Lab *lab = *state;
  static const CheckAsk asks[] = {{OP_WATCH, 6, what_log, NULL},
                                  {OP_WATCH, 1, what_console, NULL},
                                  {OP_STATUS, 1, NULL, NULL},
                                  {OP_STATUS, 0, NULL, NULL}};
  NodeId nodes[] = {layout_find(lab->layout, "one"), layout_find(lab->layout, "two"),
                    layout_find(lab->layout, "a1")};
  CheckWalk walk = {asks, nodes, G_N_ELEMENTS(nodes), 100, TIME_SECOND / 50};
  backend_check_walk(lab->check, &walk, 1);
  assert_null(backend_check_violation(lab->check));
  assert_true(backend_check_count(lab->check, VERDICT_CANCELLED) > 0);
  assert_int_equal(backend_check_count(lab->check, VERDICT_OK), 0);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_nothing_else, set_up, tear_down),
      cmocka_unit_test(test_refused),
      cmocka_unit_test_setup_teardown(test_syslog, set_up_syslog, tear_down),
      cmocka_unit_test_setup_teardown(test_syslog_flood, set_up_syslog, tear_down),
      cmocka_unit_test_setup_teardown(test_syslog_lost, set_up_syslog, tear_down),
      cmocka_unit_test_setup_teardown(test_port_taken, set_up_syslog, tear_down),
      cmocka_unit_test_setup_teardown(test_walk, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
