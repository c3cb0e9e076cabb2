/* The ipmi backend behind a network that adds to every packet of the BMC's random ones, pieces,
 * damaged copies and old ones again: no crash, no wrong verdict, nothing done twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#ifdef HAVE_IPMI

#include <gio/gio.h>

#include "tests/contract/bmc_lab.h"

#define S TIME_SECOND
#define KEPT 64
#define PACKET_MAX 1024
#define TEST_SECONDS 12

typedef struct {
  guchar bytes[PACKET_MAX];
  gsize n;
} Packet;

/* Between one client and one BMC. */
typedef struct {
  GSocket *client, *bmc;
  GSocketAddress *who; /* the client, as it sent last */
  GSource *from_client, *from_bmc;
  GRand *random;
  Packet kept[KEPT]; /* of the BMC's */
  guint n_kept;
  guint n_added;
} Garbler;

static BmcLab *lab;

static guint
pick(Garbler *garbler, guint n)
{
  return (guint)g_rand_int_range(garbler->random, 0, (gint32)n);
}

static void
send_client(Garbler *garbler, const Packet *packet)
{
  g_socket_send_to(garbler->client, garbler->who, (const char *)packet->bytes, packet->n, NULL,
                   NULL);
}

static void
make_random(Garbler *garbler, Packet *packet)
{
  static const guchar header[] = {0x06, 0x00, 0xff, 0x07, 0x06};
  gboolean looks_right = pick(garbler, 2) == 0;

  packet->n = pick(garbler, 120);
  for (gsize i = 0; i < packet->n; i++)
    packet->bytes[i] = (guchar)pick(garbler, 256);
  for (gsize i = 0; looks_right && i < MIN(packet->n, sizeof header); i++)
    packet->bytes[i] = header[i];
}

/* The BMC's first answer is proved by nothing, not even later: a damaged one is believed, and all
 * that comes of it is a session that does not come about. UDP's checksum is all there is. */
static gboolean
is_open_response(const Packet *packet)
{
  return packet->n > 5 && (packet->bytes[5] & 0x3f) == 0x11;
}

static void
damage(Garbler *garbler, Packet *packet)
{
  if (is_open_response(packet))
    return;
  for (guint flips = 1 + pick(garbler, 4); flips > 0 && packet->n > 0; flips--)
    packet->bytes[pick(garbler, (guint)packet->n)] ^= (guchar)(1u << pick(garbler, 8));
}

static void
add_garbage(Garbler *garbler, const Packet *real)
{
  Packet packet = *real;

  switch (pick(garbler, 5)) {
  case 0:
    make_random(garbler, &packet);
    break;
  case 1:
    packet.n = pick(garbler, (guint)real->n);
    break;
  case 2:
    damage(garbler, &packet);
    break;
  case 3: /* itself, before its time or again */
    if (pick(garbler, 2) == 0)
      break;
    packet = garbler->kept[pick(garbler, MIN(garbler->n_kept, KEPT))];
    break;
  case 4:
    packet = garbler->kept[pick(garbler, MIN(garbler->n_kept, KEPT))];
    damage(garbler, &packet);
    break;
  }
  send_client(garbler, &packet);
  garbler->n_added++;
}

static gboolean
on_bmc(GSocket *socket, GIOCondition condition, gpointer data)
{
  Garbler *garbler = data;
  Packet packet;
  gssize n = g_socket_receive(socket, (char *)packet.bytes, PACKET_MAX, NULL, NULL);

  (void)condition;
  if (n <= 0)
    return G_SOURCE_CONTINUE;
  packet.n = (gsize)n;
  garbler->kept[garbler->n_kept++ % KEPT] = packet;
  for (guint i = pick(garbler, 6); i > 0; i--)
    add_garbage(garbler, &packet);
  send_client(garbler, &packet);
  for (guint i = pick(garbler, 6); i > 0; i--)
    add_garbage(garbler, &packet);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_client(GSocket *socket, GIOCondition condition, gpointer data)
{
  Garbler *garbler = data;
  char bytes[PACKET_MAX];

  (void)condition;
  g_clear_object(&garbler->who);
  gssize n = g_socket_receive_from(socket, &garbler->who, bytes, sizeof bytes, NULL, NULL);
  if (n > 0)
    g_socket_send(garbler->bmc, bytes, (gsize)n, NULL, NULL);
  return G_SOURCE_CONTINUE;
}

static GSocket *
udp_socket(void)
{
  GSocket *socket =
      g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  assert_non_null(socket);
  g_socket_set_blocking(socket, FALSE);
  return socket;
}

static GSource *
watch(GSocket *socket, GSocketSourceFunc function, Garbler *garbler)
{
  GSource *source = g_socket_create_source(socket, G_IO_IN, NULL);
  g_source_set_callback(source, G_SOURCE_FUNC(function), garbler, NULL);
  g_source_attach(source, NULL);
  return source;
}

/* Before the first BMC. Returns its port. */
static guint
garbler_begin(Garbler *garbler, const BmcLab *bmcs, guint32 seed)
{
  g_autofree char *bmc = g_strdup_printf("%s.1", bmcs->net);
  g_autoptr(GSocketAddress) there = g_inet_socket_address_new_from_string(bmc, bmcs->port);
  g_autoptr(GSocketAddress) any = g_inet_socket_address_new_from_string("127.0.0.1", 0);

  *garbler = (Garbler){.client = udp_socket(), .bmc = udp_socket()};
  garbler->random = g_rand_new_with_seed(seed);
  assert_true(g_socket_bind(garbler->client, any, FALSE, NULL));
  assert_true(g_socket_connect(garbler->bmc, there, NULL, NULL));
  garbler->from_client = watch(garbler->client, on_client, garbler);
  garbler->from_bmc = watch(garbler->bmc, on_bmc, garbler);
  g_autoptr(GSocketAddress) bound = g_socket_get_local_address(garbler->client, NULL);
  return g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
}

static void
garbler_end(Garbler *garbler)
{
  g_source_destroy(garbler->from_client);
  g_source_unref(garbler->from_client);
  g_source_destroy(garbler->from_bmc);
  g_source_unref(garbler->from_bmc);
  g_object_unref(garbler->client);
  g_object_unref(garbler->bmc);
  g_clear_object(&garbler->who);
  g_rand_free(garbler->random);
}

static void
do_ok(Operation operation, const char *const *arguments)
{
  guint32 request = bmc_lab_do(lab, operation, "a1", 30 * S, arguments);
  bmc_lab_expect(lab, request, "a1", VERDICT_OK, NULL);
}

static void
test_garbage(void **state)
{
  (void)state;
  Garbler garbler;
  if (lab == NULL)
    skip();
  guint port = garbler_begin(&garbler, lab, 1), rounds = 0;
  g_autofree char *override = g_strdup_printf("      a1: {address: \"127.0.0.1:%u\"}\n", port);
  bmc_lab_begin(lab, NULL, override, FALSE);
  guint on = bmc_lab_count(lab, 1, "set power 1"), off = bmc_lab_count(lab, 1, "set power 0"),
        reset = bmc_lab_count(lab, 1, "set reset 1");
  gint64 end = backend_check_now(lab->check) + TEST_SECONDS * S;
  for (; backend_check_now(lab->check) < end; rounds++) {
    g_string_truncate(lab->seen, 0);
    do_ok(OP_STATUS, NULL);
    assert_string_equal(lab->seen->str, "a1 power off by bmc\n");
    do_ok(OP_ON, NULL);
    do_ok(OP_RESET, NULL);
    do_ok(OP_BOOT_DEVICE, BMC_WITH("device", "pxe"));
    g_string_truncate(lab->seen, 0);
    do_ok(OP_STATUS, NULL);
    assert_string_equal(lab->seen->str, "a1 power on by bmc\n");
    do_ok(OP_OFF, BMC_WITH("how", "hard"));
  }
  print_message("%u rounds, %u packets added to %u\n", rounds, garbler.n_added, garbler.n_kept);
  assert_true(rounds > 0);
  assert_int_equal(bmc_lab_count(lab, 1, "set power 1"), on + rounds);
  assert_int_equal(bmc_lab_count(lab, 1, "set power 0"), off + rounds);
  assert_int_equal(bmc_lab_count(lab, 1, "set reset 1"), reset + rounds);
  garbler_end(&garbler);
}

/* Nothing but garbage: no answer. */
static gboolean
on_asked(GSocket *socket, GIOCondition condition, gpointer data)
{
  Garbler *garbler = data;
  char bytes[PACKET_MAX];
  Packet packet;

  (void)condition;
  g_clear_object(&garbler->who);
  if (g_socket_receive_from(socket, &garbler->who, bytes, sizeof bytes, NULL, NULL) <= 0)
    return G_SOURCE_CONTINUE;
  for (guint i = 0; i < 500; i++) {
    make_random(garbler, &packet);
    send_client(garbler, &packet);
  }
  return G_SOURCE_CONTINUE;
}

static void
test_only_garbage(void **state)
{
  (void)state;
  g_autoptr(BmcLab) nowhere = bmc_lab_new_at("127.0.0", 1, "/nowhere/password");
  Garbler garbler;
  guint port = garbler_begin(&garbler, nowhere, 2);
  g_setenv("PULT_TEST_PASSWORD", "x", TRUE);
  g_autofree char *override = g_strdup_printf(
      "      a1: {address: \"127.0.0.1:%u\", password: env:PULT_TEST_PASSWORD}\n", port);
  g_source_destroy(garbler.from_client);
  g_source_unref(garbler.from_client);
  garbler.from_client = watch(garbler.client, on_asked, &garbler);
  bmc_lab_open(nowhere, "    session-timeout: 2 s\n    retransmit: 100 ms\n", override);
  guint32 request = bmc_lab_do(nowhere, OP_RESET, "a1", 8 * S, NULL);
  bmc_lab_expect(nowhere, request, "a1", VERDICT_TIMEOUT, "does not answer");
  assert_string_equal(nowhere->seen->str, "");
  garbler_end(&garbler);
}

static int
set_up(void **state)
{
  (void)state;
  lab = bmc_lab_new(1);
  return 0;
}

static int
tear_down(void **state)
{
  (void)state;
  g_clear_pointer(&lab, bmc_lab_free);
  return 0;
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_only_garbage),
      cmocka_unit_test(test_garbage),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

#else

#include <stdio.h>

int
main(void)
{
  puts("built without libfreeipmi");
  return 77;
}

#endif
