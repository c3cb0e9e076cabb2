#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <gio/gio.h>

#include "backends/wol.h"
#include "tests/contract/backend_ask.h"

#define MAGIC_BYTES 102

/* Packets go to a socket here, so that they can be counted; nobody ever answers one. */
typedef struct {
  GSocket *socket;
  Layout *layout;
  BackendCheck *check;
  NodeId seen_node; /* asked to go off from within the answer of `nomac` */
  guint32 seen_request;
} Lab;

static const char layout_text[] =
    "lab: t\ndefaults: {wake: wol}\nswitches: {sw1: {}}\n"
    "clients:\n"
    "  a[1-4]: {switch: sw1, speed: 1 Gbit/s, mac: \"52:54:00:0a:00:01 step 1\"}\n"
    "  nomac: {switch: sw1, speed: 1 Gbit/s}\n"
    "  nowhere: {switch: sw1, speed: 1 Gbit/s, mac: \"52:54:00:0a:00:20\"}\n"
    "  slow: {switch: sw1, speed: 1 Gbit/s, mac: \"52:54:00:0a:00:21\"}\n"
    "backends:\n"
    "  wol:\n"
    "    address: 127.0.0.1\n"
    "    port: %u\n"
    "    gap: 20 ms\n"
    "    nodes:\n"
    "      nowhere: {frame: ethernet, interface: nosuchdev0}\n"
    "      slow: {repeats: 100, gap: 10 s}\n";

static void
on_seen(const Event *event, gpointer data)
{
  Lab *lab = data;

  if (lab->seen_node == NODE_NONE || event->kind != EVENT_RESULT)
    return;
  NodeId node = lab->seen_node;
  lab->seen_node = NODE_NONE;
  lab->seen_request = backend_check_submit(lab->check, OP_OFF, &node, 1, 10 * TIME_SECOND, NULL);
}

static int
set_up(void **state)
{
  Lab *lab = g_new0(Lab, 1);
  GError *error = NULL;
  g_autoptr(GInetAddress) loopback = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4);
  g_autoptr(GSocketAddress) any = g_inet_socket_address_new(loopback, 0);

  lab->seen_node = NODE_NONE;
  lab->socket =
      g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, &error);
  assert_non_null(lab->socket);
  assert_true(g_socket_bind(lab->socket, any, FALSE, &error));
  g_socket_set_blocking(lab->socket, FALSE);
  g_autoptr(GSocketAddress) bound = g_socket_get_local_address(lab->socket, &error);
  g_autofree char *text =
      g_strdup_printf(layout_text, g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound)));
  lab->layout = layout_parse("t", text, strlen(text), &error);
  if (lab->layout == NULL)
    fail_msg("%s", error->message);
  lab->check = backend_check_new(lab->layout, on_seen, lab);
  BackendSetup setup = {.name = g_intern_string("wol"),
                        .layout = lab->layout,
                        .settings = layout_backend(lab->layout, "wol"),
                        .post = backend_check_post,
                        .post_data = lab->check};
  Backend *backend = wol_new(&setup, &error);
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
  g_object_unref(lab->socket);
  g_free(lab);
  return 0;
}

/* Magic packets that have come since for the machine whose MAC ends in LAST. */
static guint
n_packets(const Lab *lab, guint8 last)
{
  char packet[512];
  guint n = 0;

  for (;;) {
    gssize length = g_socket_receive(lab->socket, packet, sizeof packet, NULL, NULL);
    if (length < 0)
      return n;
    assert_int_equal(length, MAGIC_BYTES);
    n += (guint8)packet[MAGIC_BYTES - 1] == last ? 1 : 0;
  }
}

static void
test_each(void **state)
{
  const Lab *lab = *state;
  guint32 on = backend_ask(lab->check, OP_ON, "a1 a2 nomac nowhere", 10 * TIME_SECOND, NULL);

  backend_ask_finish(lab->check, on);
  backend_ask_expect(lab->check, on, "a1", VERDICT_OK, "");
  backend_ask_expect(lab->check, on, "a2", VERDICT_OK, "");
  backend_ask_expect(lab->check, on, "nomac", VERDICT_FAILED, "nomac: the layout gives no `mac`");
  backend_ask_expect(lab->check, on, "nowhere", VERDICT_FAILED,
                     "nowhere: no way to send a magic packet");
  assert_int_equal(n_packets(lab, 1), 3);
  /* Whether it is on, it cannot see, and switching off is not its either. */
  for (Operation operation = OP_STATUS; operation < OP_N; operation++) {
    if (operation == OP_ON)
      continue;
    guint32 other = backend_ask(lab->check, operation, "a1", 10 * TIME_SECOND, NULL);
    backend_ask_finish(lab->check, other);
    backend_ask_expect(lab->check, other, "a1", VERDICT_UNSUPPORTED, "a1: ");
  }
}

/* Asked for from within an answer, while others are being begun: no way round the refusal. */
static void
test_asked_within(void **state)
{
  Lab *lab = *state;

  lab->seen_node = layout_find(lab->layout, "a1");
  backend_ask_finish(lab->check,
                     backend_ask(lab->check, OP_ON, "nomac a2", 10 * TIME_SECOND, NULL));
  assert_int_not_equal(lab->seen_request, 0);
  backend_ask_finish(lab->check, lab->seen_request);
  backend_ask_expect(lab->check, lab->seen_request, "a1", VERDICT_UNSUPPORTED,
                     "a1: wol cannot off");
  assert_int_equal(n_packets(lab, 1), 0);
}

/* One that takes long delays nobody; at its deadline, or cancelled, it may have happened, and no
 * more of its packets are sent. */
static void
test_slow(void **state)
{
  const Lab *lab = *state;
  guint32 slow = backend_ask(lab->check, OP_ON, "slow", 60 * TIME_SECOND, NULL);
  guint32 quick = backend_ask(lab->check, OP_ON, "a3 a4", 60 * TIME_SECOND, NULL);

  backend_ask_finish(lab->check, quick);
  backend_ask_expect_open(lab->check, slow, "slow");
  backend_check_cancel(lab->check, slow);
  backend_ask_finish(lab->check, slow);
  backend_ask_expect(lab->check, slow, "slow", VERDICT_UNKNOWN, "slow: ");
  guint32 late = backend_ask(lab->check, OP_ON, "slow", TIME_SECOND / 2, NULL);
  backend_ask_finish(lab->check, late);
  backend_ask_expect(lab->check, late, "slow", VERDICT_UNKNOWN, "slow: ");
  n_packets(lab, 0x21);
  backend_check_run(lab->check, backend_check_now(lab->check) + TIME_SECOND / 2);
  assert_int_equal(n_packets(lab, 0x21), 0);
  /* What never began has not happened. */
  guint32 unsent = backend_ask(lab->check, OP_ON, "a1", 60 * TIME_SECOND, NULL);
  backend_check_cancel(lab->check, unsent);
  backend_ask_finish(lab->check, unsent);
  backend_ask_expect(lab->check, unsent, "a1", VERDICT_CANCELLED, "a1: ");
  assert_int_equal(n_packets(lab, 1), 0);
}

static void
test_walk(void **state)
{
  const Lab *lab = *state;
  static const char *const hard[] = {"how", "hard", NULL};
  static const CheckAsk asks[] = {{OP_ON, 6, NULL, NULL},
                                  {OP_OFF, 1, hard, NULL},
                                  {OP_STATUS, 1, NULL, NULL},
                                  {OP_STATUS, 0, NULL, NULL}};

  backend_ask_walk(lab->check, asks, 200, TIME_SECOND / 20);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_each, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_asked_within, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_slow, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_walk, set_up, tear_down),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
