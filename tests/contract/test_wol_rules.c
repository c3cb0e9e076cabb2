#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <gio/gio.h>

#include "backends/wol.h"
#include "tests/contract/backend_check.h"

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

static guint32
submit(const Lab *lab, Operation operation, const char *set, gint64 deadline)
{
  g_auto(GStrv) words = g_strsplit(set, " ", -1);
  g_autofree NodeId *nodes = g_new(NodeId, g_strv_length(words));

  for (guint i = 0; words[i] != NULL; i++)
    nodes[i] = layout_find(lab->layout, words[i]);
  return backend_check_submit(lab->check, operation, nodes, g_strv_length(words), deadline, NULL);
}

static void
finish(const Lab *lab, guint32 request)
{
  assert_true(
      backend_check_finish(lab->check, request, backend_check_now(lab->check) + 30 * TIME_SECOND));
  if (backend_check_violation(lab->check) != NULL)
    fail_msg("%s", backend_check_violation(lab->check));
}

static void
expect(const Lab *lab, guint32 request, const char *name, Verdict verdict, const char *said)
{
  NodeId node = layout_find(lab->layout, name);
  const char *text = backend_check_text(lab->check, request, node);
  Verdict found = (Verdict)backend_check_verdict(lab->check, request, node);

  if (found != verdict || strstr(text, said) == NULL)
    fail_msg("%s: %s, \"%s\"", name, verdict_name(found), text);
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
  guint32 on = submit(lab, OP_ON, "a1 a2 nomac nowhere", 10 * TIME_SECOND);

  finish(lab, on);
  expect(lab, on, "a1", VERDICT_OK, "");
  expect(lab, on, "a2", VERDICT_OK, "");
  expect(lab, on, "nomac", VERDICT_FAILED, "nomac: the layout gives no `mac`");
  expect(lab, on, "nowhere", VERDICT_FAILED, "nowhere: no way to send a magic packet");
  assert_int_equal(n_packets(lab, 1), 3);
  /* Whether it is on, it cannot see, and switching off is not its either. */
  for (Operation operation = OP_STATUS; operation < OP_N; operation++) {
    if (operation == OP_ON)
      continue;
    guint32 other = submit(lab, operation, "a1", 10 * TIME_SECOND);
    finish(lab, other);
    expect(lab, other, "a1", VERDICT_UNSUPPORTED, "a1: ");
  }
}

/* Asked for from within an answer, while others are being begun: no way round the refusal. */
static void
test_asked_within(void **state)
{
  Lab *lab = *state;

  lab->seen_node = layout_find(lab->layout, "a1");
  finish(lab, submit(lab, OP_ON, "nomac a2", 10 * TIME_SECOND));
  assert_int_not_equal(lab->seen_request, 0);
  finish(lab, lab->seen_request);
  expect(lab, lab->seen_request, "a1", VERDICT_UNSUPPORTED, "a1: wol cannot off");
  assert_int_equal(n_packets(lab, 1), 0);
}

/* One that takes long delays nobody; at its deadline, or cancelled, it may have happened, and no
 * more of its packets are sent. */
static void
test_slow(void **state)
{
  const Lab *lab = *state;
  guint32 slow = submit(lab, OP_ON, "slow", 60 * TIME_SECOND);
  guint32 quick = submit(lab, OP_ON, "a3 a4", 60 * TIME_SECOND);

  finish(lab, quick);
  assert_int_equal(backend_check_verdict(lab->check, slow, layout_find(lab->layout, "slow")), -1);
  backend_check_cancel(lab->check, slow);
  finish(lab, slow);
  expect(lab, slow, "slow", VERDICT_UNKNOWN, "slow: ");
  guint32 late = submit(lab, OP_ON, "slow", TIME_SECOND / 2);
  finish(lab, late);
  expect(lab, late, "slow", VERDICT_UNKNOWN, "slow: ");
  n_packets(lab, 0x21);
  backend_check_run(lab->check, backend_check_now(lab->check) + TIME_SECOND / 2);
  assert_int_equal(n_packets(lab, 0x21), 0);
  /* What never began has not happened. */
  guint32 unsent = submit(lab, OP_ON, "a1", 60 * TIME_SECOND);
  backend_check_cancel(lab->check, unsent);
  finish(lab, unsent);
  expect(lab, unsent, "a1", VERDICT_CANCELLED, "a1: ");
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
  CheckWalk walk = {asks, lab->layout->clients, lab->layout->n_clients, 200, TIME_SECOND / 20};

  backend_check_walk(lab->check, &walk, 1);
  if (backend_check_violation(lab->check) != NULL)
    fail_msg("%s", backend_check_violation(lab->check));
  assert_true(backend_check_count(lab->check, VERDICT_OK) > 0);
  assert_true(backend_check_count(lab->check, VERDICT_UNSUPPORTED) > 0);
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
