/* The snmp backend before agents that are dead, mute or speak garbage, under the contract's rules;
 * real ones are in tests/peers/snmp.test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef HAVE_SNMP

#include <gio/gio.h>

#include "backends/snmp/snmp.h"
#include "tests/contract/backend_ask.h"

#define S TIME_SECOND

typedef struct {
  GSocket *mute, *garbler;
  GSource *garbling;
  Layout *layout;
  BackendCheck *check;
  GString *seen; /* links, `NAME down: TEXT\n`, and ` SAMPLES\n` */
} Lab;

static const char layout_text[] =
    "lab: t\ndefaults: {meter: snmp}\n"
    "switches: {hub: {meter: none}, dead: {}, mute: {}, garbage: {}, other: {meter: none}}\n"
    "links:\n"
    "  - {from: hub, to: dead, speed: 1 Gbit/s}\n"
    "  - {from: hub, to: mute, speed: 1 Gbit/s}\n"
    "  - {from: hub, to: garbage, speed: 1 Gbit/s}\n"
    "  - {from: hub, to: other, speed: 1 Gbit/s}\n"
    "clients:\n"
    "  a[1-2]: {switch: mute, speed: 1 Gbit/s}\n"
    "  b1: {switch: garbage, speed: 1 Gbit/s}\n"
    "  c1: {switch: dead, speed: 1 Gbit/s}\n"
    "  x1: {switch: other, speed: 1 Gbit/s, meter: none}\n"
    "backends:\n"
    "  snmp:\n"
    "    community: env:PULT_TEST_COMMUNITY\n"
    "    timeout: 100 ms\n"
    "    retries: 1\n"
    "    retry: 300 ms\n"
    "    nodes:\n"
    "      dead: {address: \"127.0.0.1:%u\"}\n"
    "      mute: {address: \"127.0.0.1:%u\"}\n"
    "      garbage: {address: \"127.0.0.1:%u\"}\n";

/* ---- Agents -------------------------------------------------------------------------------- */

static GSocket *
udp_socket(guint *port)
{
  g_autoptr(GInetAddress) loopback = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4);
  g_autoptr(GSocketAddress) any = g_inet_socket_address_new(loopback, 0);
  GSocket *socket =
      g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);

  assert_non_null(socket);
  assert_true(g_socket_bind(socket, any, FALSE, NULL));
  g_socket_set_blocking(socket, FALSE);
  g_autoptr(GSocketAddress) bound = g_socket_get_local_address(socket, NULL);
  *port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
  return socket;
}

/* What was asked comes back with other bytes, cut short, and as it was. */
static gboolean
on_asked(GSocket *socket, GIOCondition condition, gpointer data)
{
  g_autoptr(GSocketAddress) who = NULL;
  char packet[2048];
  gssize n = g_socket_receive_from(socket, &who, packet, sizeof packet, NULL, NULL);

  (void)condition;
  (void)data;
  if (n <= 0)
    return G_SOURCE_CONTINUE;
  g_socket_send_to(socket, who, packet, (gsize)n / 2, NULL, NULL);
  g_socket_send_to(socket, who, packet, (gsize)n, NULL, NULL);
  for (gssize i = 2; i < n; i++)
    packet[i] = (char)(packet[i] * 7 + i);
  g_socket_send_to(socket, who, packet, (gsize)n, NULL, NULL);
  return G_SOURCE_CONTINUE;
}

static void
on_seen(const Event *event, gpointer data)
{
  Lab *lab = data;

  if (event->kind == EVENT_LINK)
    g_string_append_printf(lab->seen, "%s %s: %s\n", event->link.name,
                           event->link.up ? "up" : "down", event->link.text);
  if (event->kind == EVENT_SAMPLES)
    g_string_append(lab->seen, " SAMPLES\n");
}

/* ---- Set up -------------------------------------------------------------------------------- */

static int
set_up(void **state)
{
  Lab *lab = g_new0(Lab, 1);
  g_autoptr(GError) error = NULL;
  guint dead, mute, garbage;

  g_setenv("PULT_TEST_COMMUNITY", "quite-a-community", TRUE);
  g_autoptr(GSocket) closed = udp_socket(&dead);
  lab->mute = udp_socket(&mute);
  lab->garbler = udp_socket(&garbage);
  lab->garbling = g_socket_create_source(lab->garbler, G_IO_IN, NULL);
  g_source_set_callback(lab->garbling, G_SOURCE_FUNC(on_asked), NULL, NULL);
  g_source_attach(lab->garbling, NULL);
  g_socket_close(closed, NULL);
  lab->seen = g_string_new(NULL);
  g_autofree char *text = g_strdup_printf(layout_text, dead, mute, garbage);
  lab->layout = layout_parse("t", text, strlen(text), &error);
  if (lab->layout == NULL)
    fail_msg("%s", error->message);
  lab->check = backend_check_new(lab->layout, on_seen, lab);
  BackendSetup setup = {.name = g_intern_string("snmp"),
                        .layout = lab->layout,
                        .settings = layout_backend(lab->layout, "snmp"),
                        .post = backend_check_post,
                        .post_data = lab->check};
  Backend *backend = snmp_backend_new(&setup, &error);
  if (backend == NULL)
    fail_msg("%s", error->message);
  backend_check_start(lab->check, backend);
  *state = lab;
  return 0;
}

static int
tear_down(void **state)
{
  Lab *lab = *state;

  backend_check_free(lab->check);
  layout_free(lab->layout);
  g_source_destroy(lab->garbling);
  g_source_unref(lab->garbling);
  g_object_unref(lab->mute);
  g_object_unref(lab->garbler);
  g_string_free(lab->seen, TRUE);
  g_free(lab);
  return 0;
}

/* ---- Tests --------------------------------------------------------------------------------- */

static gboolean
see_until(const Lab *lab, const char *what, gint64 end)
{
  while (strstr(lab->seen->str, what) == NULL)
    if (!backend_check_step(lab->check, end))
      return strstr(lab->seen->str, what) != NULL;
  return TRUE;
}

/* Each is told by itself, no figure is made up of it, and a watch lasts until it is cancelled. */
static void
test_each(void **state)
{
  const Lab *lab = *state;
  guint32 watch = backend_ask(lab->check, OP_WATCH, "dead mute garbage a1 b1 x1", TIME_NEVER, NULL);
  gint64 end = backend_check_now(lab->check) + 20 * S;

  assert_true(see_until(lab, "down: dead: ", end));
  assert_true(see_until(lab, "down: mute: ", end));
  assert_true(see_until(lab, "down: garbage: ", end));
  guint32 again = backend_ask(lab->check, OP_WATCH, "mute", 10 * S, NULL);
  backend_ask_finish(lab->check, again);
  backend_ask_expect(lab->check, again, "mute", VERDICT_FAILED, "mute: it is watched already");
  backend_ask_expect(lab->check, watch, "x1", VERDICT_FAILED, "x1: snmp is not its meter");
  backend_ask_expect_open(lab->check, watch, "mute");
  backend_check_cancel(lab->check, watch);
  backend_ask_finish(lab->check, watch);
  static const char *const watched[] = {"dead", "mute", "garbage", "a1", "b1"};
  for (gsize i = 0; i < G_N_ELEMENTS(watched); i++)
    backend_ask_expect(lab->check, watch, watched[i], VERDICT_CANCELLED, "");
  assert_null(strstr(lab->seen->str, "SAMPLES"));
  assert_null(strstr(lab->seen->str, "quite-a-community"));
}

static void
test_deadline(void **state)
{
  const Lab *lab = *state;
  guint32 watch = backend_ask(lab->check, OP_WATCH, "mute dead", 500 * TIME_MS, NULL);

  backend_ask_finish(lab->check, watch);
  backend_ask_expect(lab->check, watch, "mute", VERDICT_TIMEOUT, "mute: ");
  backend_ask_expect(lab->check, watch, "dead", VERDICT_TIMEOUT, "dead: ");
}

static void
test_refused(void **state)
{
  const Lab *lab = *state;

  for (Operation operation = OP_STATUS; operation < OP_N; operation++) {
    if (operation == OP_WATCH)
      continue;
    guint32 other = backend_ask(lab->check, operation, "a1 mute", 10 * S, NULL);
    backend_ask_finish(lab->check, other);
    backend_ask_expect(lab->check, other, "a1", VERDICT_UNSUPPORTED, "a1: ");
    backend_ask_expect(lab->check, other, "mute", VERDICT_UNSUPPORTED, "mute: ");
  }
  static const struct {
    const char *key, *value;
    Verdict verdict;
    const char *said;
  } asks[] = {{"what", "console", VERDICT_FAILED, "gives counters and nothing else"},
              {"interval_ns", "1", VERDICT_FAILED, "watch each `1` ns"},
              {"interval_ns", "\033[2J", VERDICT_FAILED, "watch each"}};
  for (gsize i = 0; i < G_N_ELEMENTS(asks); i++) {
    const char *const arguments[] = {asks[i].key, asks[i].value, NULL};
    guint32 watch = backend_ask(lab->check, OP_WATCH, "mute", 10 * S, arguments);
    backend_ask_finish(lab->check, watch);
    backend_ask_expect(lab->check, watch, "mute", asks[i].verdict, asks[i].said);
  }
}

static void
test_any_order(void **state)
{
  const Lab *lab = *state;
  static const char *const each[] = {"interval_ns", "100000000", NULL};
  static const char *const odd[] = {"what", "console", NULL};
  static const CheckAsk asks[] = {{OP_WATCH, 6, NULL, NULL},    {OP_WATCH, 4, each, NULL},
                                  {OP_WATCH, 3, NULL, "mute"},  {OP_WATCH, 3, each, "garbage"},
                                  {OP_WATCH, 3, NULL, "dead"},  {OP_WATCH, 1, odd, NULL},
                                  {OP_WATCH, 1, NULL, "other"}, {OP_STATUS, 1, NULL, NULL},
                                  {OP_ON, 1, NULL, NULL},       {OP_STATUS, 0, NULL, NULL}};
  CheckWalk walk = {asks, lab->layout->clients, lab->layout->n_clients, 80, 60 * TIME_MS};

  for (guint32 seed = 1; seed <= 2; seed++)
    backend_check_walk(lab->check, &walk, seed);
  if (backend_check_violation(lab->check) != NULL)
    fail_msg("%s", backend_check_violation(lab->check));
  assert_int_equal(backend_check_count(lab->check, VERDICT_OK), 0);
  assert_true(backend_check_count(lab->check, VERDICT_CANCELLED) > 0);
  assert_true(backend_check_count(lab->check, VERDICT_TIMEOUT) > 0);
  assert_true(backend_check_count(lab->check, VERDICT_FAILED) > 0);
  assert_true(backend_check_count(lab->check, VERDICT_UNSUPPORTED) > 0);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_each, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_deadline, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_any_order, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

#include <stdio.h>

int
main(void)
{
  puts("built without net-snmp");
  return 77;
}

#endif
