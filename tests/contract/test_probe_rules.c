/* The backend that asks machines at their ports, held to the rules of all backends, with answerers
 * that come and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <gio/gio.h>

#include "backends/probe/probe.h"
#include "tests/contract/backend_ask.h"
#ifdef HAVE_SSH
#include "tests/contract/sshd_lab.h"
#endif

static const char *const what_log[] = {"what", "log", NULL};

/* ---- Who answers -------------------------------------------------------------------------------
 */

/* What it says to one who has sent at least ASKS bytes, which begin with BEGINNING. */
typedef struct {
  const char *says;
  gsize length, asks;
  const char *beginning;
  gsize beginning_length;
} Manner;

static const Manner banner = {"hello\r\nSSH-2.0-x\r\n", 18, 0, "", 0},
                    wordless = {"220 ready\r\n", 11, 0, "", 0},
                    rdp = {"\3\0\0\x13\x0e\xd0\0\0\x12\x34\0\2\x0f\x08\0\2\0\0\0", 19, 19,
                           "\3\0\0\x13\x0e\xe0", 6},
                    rdp_refuses = {"\3\0\0\x07\x02\x80\0", 7, 19, "\3\0\0\x13\x0e\xe0", 6},
                    smb = {"\0\0\0\x40\xfeSMB\x40\0", 10, 108, "\0\0\0\x68\xfeSMB\x40\0", 10};

static gint n_asked; /* of all */

static gboolean
on_run(GThreadedSocketService *service, GSocketConnection *connection, GObject *source,
       gpointer data)
{
  const Manner *manner = data;
  char asked[512];
  gsize n = 0;
  (void)service;
  (void)source;
  g_atomic_int_inc(&n_asked);
  if (manner->asks > 0 &&
      (!g_input_stream_read_all(g_io_stream_get_input_stream(G_IO_STREAM(connection)), asked,
                                manner->asks, &n, NULL, NULL) ||
       n < manner->asks || memcmp(asked, manner->beginning, manner->beginning_length) != 0))
    return TRUE;
  g_output_stream_write_all(g_io_stream_get_output_stream(G_IO_STREAM(connection)), manner->says,
                            manner->length, NULL, NULL, NULL);
  return TRUE;
}

static GSocketService *
answer(guint16 port, const Manner *manner)
{
  GSocketService *service = g_threaded_socket_service_new(4);
  g_autoptr(GSocketAddress) at = g_inet_socket_address_new_from_string("127.0.0.1", port);
  g_autoptr(GError) error = NULL;
  g_signal_connect(service, "run", G_CALLBACK(on_run), (gpointer)manner);
  if (!g_socket_listener_add_address(G_SOCKET_LISTENER(service), at, G_SOCKET_TYPE_STREAM,
                                     G_SOCKET_PROTOCOL_TCP, NULL, NULL, &error))
    fail_msg("%s", error->message);
  g_socket_service_start(service);
  return service;
}

static void
fall_silent(GSocketService *service)
{
  g_socket_service_stop(service);
  g_socket_listener_close(G_SOCKET_LISTENER(service));
  g_object_unref(service);
}

static guint16
free_port(void)
{
  g_autoptr(GSocket) socket =
      g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
  g_autoptr(GSocketAddress) any = g_inet_socket_address_new_from_string("127.0.0.1", 0);
  assert_true(g_socket_bind(socket, any, FALSE, NULL));
  g_autoptr(GSocketAddress) bound = g_socket_get_local_address(socket, NULL);
  return g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
}

/* ---- The backend -------------------------------------------------------------------------------
 */

typedef struct {
  Layout *layout;
  BackendCheck *check;
  GString *seen; /* `NODE FACT: VALUE` and a newline each */
  guint16 ports[4];
} Lab;

static void
on_seen(const Event *event, gpointer data)
{
  const Lab *lab = data;
  if (event->kind == EVENT_OBSERVE)
    g_string_append_printf(lab->seen, "%s %s: %s by %s\n",
                           lab->layout->nodes[event->observe.node].name, event->observe.fact,
                           event->observe.value, event->observe.source);
}

static Backend *
make(Lab *lab, const char *text, GError **error)
{
  g_autoptr(GError) wrong = NULL;
  lab->layout = layout_parse("lab.yaml", text, strlen(text), &wrong);
  if (lab->layout == NULL)
    fail_msg("%s", wrong->message);
  lab->check = backend_check_new(lab->layout, on_seen, lab);
  BackendSetup setup = {.name = g_intern_string("probe"),
                        .layout = lab->layout,
                        .settings = layout_backend(lab->layout, "probe"),
                        .post = backend_check_post,
                        .post_data = lab->check};
  return probe_backend_new(&setup, error);
}

static int
set_up(void **state)
{
  Lab *lab = g_new0(Lab, 1);
  lab->seen = g_string_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(lab->ports); i++)
    lab->ports[i] = free_port();
  const guint16 *ports = lab->ports;
  /* a5 is asked at an address where nothing answers at all. */
  g_autofree char *text = g_strdup_printf(
      "lab: t\nswitches: {lan: {}}\n"
      "clients: {\"a[1-5]\": {switch: lan, speed: 1 Gbit/s, log: probe}}\n"
      "backends:\n  probe:\n    address: 127.0.0.1\n    every: 50 ms\n    at-once: 2\n"
      "    patience: 500 ms\n    nodes:\n"
      "      a1: {ways: [\"ssh:%u\"]}\n      a2: {ways: [\"tcp:%u\", \"rdp:%u\"]}\n"
      "      a3: {ways: [\"smb:%u\"]}\n      a4: {ways: [\"rdp:%u\"]}\n"
      "      a5: {ways: [ssh], address: 192.0.2.1}\n",
      ports[0], ports[1], ports[2], ports[3], ports[3]);
  backend_check_start(lab->check, make(lab, text, NULL));
  *state = lab;
  return 0;
}

static int
tear_down(void **state)
{
  Lab *lab = *state;
  backend_check_free(lab->check);
  layout_free(lab->layout);
  g_string_free(lab->seen, TRUE);
  g_free(lab);
  return 0;
}

static void
run(const Lab *lab, double seconds)
{
  backend_check_run(lab->check, backend_check_now(lab->check) + (gint64)(seconds * TIME_SECOND));
}

static void
wait_seen(const Lab *lab, const char *words)
{
  gint64 limit = backend_check_now(lab->check) + 60 * TIME_SECOND;
  while (strstr(lab->seen->str, words) == NULL)
    if (!backend_check_step(lab->check, limit))
      fail_msg("`%s` has not come; but:\n%s", words, lab->seen->str);
}

/* Each is up when it answers in its way, though one beside it never does. */
static void
test_ways(void **state)
{
  const Lab *lab = *state;
  guint32 watch = backend_ask(lab->check, OP_WATCH, "a1 a2 a3 a4 a5", TIME_NEVER, what_log);
  run(lab, 2);
  assert_string_equal(lab->seen->str, "");
  GSocketService *one = answer(lab->ports[0], &banner), *two = answer(lab->ports[2], &rdp);
  wait_seen(lab, "a1 stage: login likely by probe\n");
  wait_seen(lab, "a2 stage: login likely by probe\n");
  GSocketService *three = answer(lab->ports[3], &smb);
  wait_seen(lab, "a3 stage: login likely by probe\n");
  /* Told once; a port that answers in another way is no answer. */
  run(lab, 2);
  assert_null(strstr(lab->seen->str, "a4"));
  assert_null(strstr(lab->seen->str, "a5"));
  const char *first = strstr(lab->seen->str, "a1");
  assert_null(strstr(first + 1, "a1"));
  fall_silent(one);
  fall_silent(two);
  fall_silent(three);
  backend_check_cancel(lab->check, watch);
  backend_ask_finish(lab->check, watch);
  backend_ask_expect(lab->check, watch, "a1", VERDICT_CANCELLED, "a1: watch cancelled");
  assert_null(backend_check_violation(lab->check));
}

/* What is up from the first on tells nothing; when it has been away it does. */
static void
test_again(void **state)
{
  const Lab *lab = *state;
  GSocketService *service = answer(lab->ports[0], &banner);
  GSocketService *refuses = answer(lab->ports[3], &rdp_refuses);
  backend_ask(lab->check, OP_WATCH, "a1 a4", TIME_NEVER, what_log);
  run(lab, 2);
  assert_string_equal(lab->seen->str, "");
  fall_silent(service);
  service = answer(lab->ports[0], &wordless);
  gint before = g_atomic_int_get(&n_asked);
  for (guint i = 0; i < 600 && g_atomic_int_get(&n_asked) < before + 20; i++)
    run(lab, 0.1);
  assert_string_equal(lab->seen->str, "");
  fall_silent(service);
  service = answer(lab->ports[0], &banner);
  wait_seen(lab, "a1 stage: login likely by probe\n");
  fall_silent(service);
  fall_silent(refuses);
}

/* One that is no longer watched while it is asked lets the next have its turn. */
static void
test_place_is_given_on(void **state)
{
  (void)state;
  static const Manner waits = {"", 0, 1, "x", 1};
  Lab lab = {.seen = g_string_new(NULL)};
  guint16 port = free_port();
  GSocketService *service = answer(port, &waits);
  g_autofree char *text = g_strdup_printf(
      "lab: t\nswitches: {lan: {}}\n"
      "clients: {\"a[1-2]\": {switch: lan, speed: 1 Gbit/s, log: probe}}\n"
      "backends: {probe: {address: 127.0.0.1, every: 50 ms, patience: 60 s, at-once: 1, "
      "ways: [\"ssh:%u\"]}}\n",
      port);
  backend_check_start(lab.check, make(&lab, text, NULL));
  gint before = g_atomic_int_get(&n_asked);
  guint32 watch = backend_ask(lab.check, OP_WATCH, "a1", TIME_NEVER, what_log);
  for (guint i = 0; i < 600 && g_atomic_int_get(&n_asked) < before + 1; i++)
    run(&lab, 0.1);
  backend_ask(lab.check, OP_WATCH, "a2", TIME_NEVER, what_log);
  run(&lab, 0.5);
  assert_int_equal(g_atomic_int_get(&n_asked), before + 1);
  backend_check_cancel(lab.check, watch);
  for (guint i = 0; i < 100 && g_atomic_int_get(&n_asked) < before + 2; i++)
    run(&lab, 0.1);
  assert_int_equal(g_atomic_int_get(&n_asked), before + 2);
  backend_check_free(lab.check);
  layout_free(lab.layout);
  g_string_free(lab.seen, TRUE);
  fall_silent(service);
}

#ifdef HAVE_SSH
static void
test_real_sshd(void **state)
{
  (void)state;
  SshdLab *hosts = sshd_lab_new(1);
  if (hosts == NULL)
    skip();
  sshd_lab_end(hosts, 1, TRUE);
  Lab lab = {.seen = g_string_new(NULL)};
  g_autofree char *text = g_strdup_printf(
      "lab: t\nswitches: {lan: {}}\nclients: {a1: {switch: lan, speed: 1 Gbit/s, log: probe}}\n"
      "backends: {probe: {address: 127.0.0.1, every: 50 ms, ways: [\"ssh:%u\"]}}\n",
      hosts->hosts[0].port);
  backend_check_start(lab.check, make(&lab, text, NULL));
  backend_ask(lab.check, OP_WATCH, "a1", TIME_NEVER, what_log);
  run(&lab, 1);
  assert_string_equal(lab.seen->str, "");
  sshd_lab_run(hosts, 1);
  wait_seen(&lab, "a1 stage: login likely by probe\n");
  backend_check_free(lab.check);
  layout_free(lab.layout);
  g_string_free(lab.seen, TRUE);
  sshd_lab_free(hosts);
}
#endif

static void
test_refused(void **state)
{
  (void)state;
  static const struct {
    const char *settings, *why;
  } cases[] = {
      {"every: 1 s", "it has no `ways`, such as [rdp, ssh]"},
      {"ways: [tcp]", "`ways`: tcp is none of ssh, rdp, smb, each with :PORT if it is another, or "
                      "tcp:PORT"},
      {"ways: [\"ssh:0\"]", "`ways`: ssh:0 is none of "},
      {"ways: [vnc]", "`ways`: vnc is none of "},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    Lab lab = {.seen = NULL};
    g_autoptr(GError) error = NULL;
    g_autofree char *text = g_strdup_printf("lab: t\nswitches: {one: {log: probe}}\nbackends: "
                                            "{probe: {%s}}\n",
                                            cases[i].settings);
    assert_null(make(&lab, text, &error));
    if (strstr(error->message, cases[i].why) == NULL)
      fail_msg("%s", error->message);
    backend_check_free(lab.check);
    layout_free(lab.layout);
  }
}

static void
test_walk(void **state)
{
  const Lab *lab = *state;
  static const char *const console[] = {"what", "console", NULL};
  static const CheckAsk asks[] = {{OP_WATCH, 6, what_log, NULL},
                                  {OP_WATCH, 1, console, NULL},
                                  {OP_STATUS, 1, NULL, NULL},
                                  {OP_STATUS, 0, NULL, NULL}};
  CheckWalk walk = {asks, lab->layout->clients, lab->layout->n_clients, 100, TIME_SECOND / 50};
  backend_check_walk(lab->check, &walk, 1);
  assert_null(backend_check_violation(lab->check));
  assert_true(backend_check_count(lab->check, VERDICT_CANCELLED) > 0);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_ways, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_again, set_up, tear_down),
      cmocka_unit_test(test_place_is_given_on),
#ifdef HAVE_SSH
      cmocka_unit_test(test_real_sshd),
#endif
      cmocka_unit_test(test_refused),
      cmocka_unit_test_setup_teardown(test_walk, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
