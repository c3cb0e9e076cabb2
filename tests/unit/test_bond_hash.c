#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/bond_hash.h"

#define SEATS 34
#define MACS "\x52\x54\x00\xaa\xbb\xc2\x52\x54\x00\x21\x00\x10" /* to a seat, from the bond */
#define TCP_PORTS "\x08\x01\x03\xff"                            /* 2049 → 1023 */
#define SERVER_IP "\x0a\x15\x00\xfe"
#define SEAT_IP "\x0a\x15\x00\x07"
#define HASH(policy, era, frame)                                                                   \
  bond_hash_frame(policy, era, (const guint8 *)(frame), sizeof(frame) - 1)

/* 34 clients .1 to .34, server .254, bond's MAC ends in 0x10; the clients' in FIRST + i · STEP. */
static void
check_table(BondPolicy policy, BondEra era, guint step, guint n_ports, const guint *expected)
{
  static const gboolean usable[] = {TRUE, TRUE, TRUE, TRUE};
  MacAddress bond = {{0x52, 0x54, 0x00, 0x21, 0x00, 0x10}};
  guint seats[4] = {0};
  for (guint i = 0; i < SEATS; i++) {
    MacAddress seat = {{0x52, 0x54, 0x00, 0x0a, 0x00, (guint8)((step == 1) + i * step)}};
    guint32 hash = bond_hash_ipv4(policy, era, &bond, &seat, 0x0a1500fe, 0x0a150001 + i, 2049, 700);
    seats[bond_port(era, hash, usable, n_ports)]++;
  }
  for (guint p = 0; p < n_ports; p++)
    if (seats[p] != expected[p])
      fail_msg("%s %s step %u, %u ports: %u, %u, %u, %u", bond_policy_name(policy),
               bond_era_name(era), step, n_ports, seats[0], seats[1], seats[2], seats[3]);
}

static void
test_four_ports(void **state)
{
  (void)state;
  static const guint layer2[][4] = {{8, 9, 9, 8}, {17, 0, 17, 0}, {34, 0, 0, 0}};
  static const guint layer2_3[][4] = {{0, 0, 34, 0}, {8, 8, 9, 9}, {9, 8, 8, 9}};
  static const guint layer2_3_shifted[][4] = {{0, 0, 0, 34}, {8, 8, 8, 10}, {9, 8, 8, 9}};
  for (guint i = 0; i < 3; i++) {
    for (int era = BOND_ERA_2_6_32; era <= BOND_ERA_5_18; era++)
      check_table(BOND_LAYER2, (BondEra)era, 1U << i, 4, layer2[i]);
    check_table(BOND_LAYER2_3, BOND_ERA_2_6_32, 1U << i, 4, layer2_3[i]);
    check_table(BOND_LAYER2_3, BOND_ERA_4_14, 1U << i, 4, layer2_3_shifted[i]);
    check_table(BOND_LAYER2_3, BOND_ERA_5_18, 1U << i, 4, layer2_3[i]);
  }
}

static void
test_three_ports(void **state)
{
  (void)state;
  static const struct {
    BondPolicy policy;
    BondEra era;
    guint seats[3][3];
  } tables[] = {
      {BOND_LAYER2, BOND_ERA_2_6_32, {{12, 11, 11}, {11, 11, 12}, {12, 12, 10}}},
      {BOND_LAYER2, BOND_ERA_4_14, {{11, 12, 11}, {12, 11, 11}, {12, 11, 11}}},
      {BOND_LAYER2, BOND_ERA_5_18, {{11, 11, 12}, {11, 12, 11}, {12, 10, 12}}},
      {BOND_LAYER2_3, BOND_ERA_2_6_32, {{0, 34, 0}, {7, 19, 8}, {6, 15, 13}}},
      {BOND_LAYER2_3, BOND_ERA_4_14, {{0, 34, 0}, {5, 21, 8}, {7, 17, 10}}},
      {BOND_LAYER2_3, BOND_ERA_5_18, {{18, 16, 0}, {9, 14, 11}, {6, 14, 14}}},
  };
  for (gsize t = 0; t < G_N_ELEMENTS(tables); t++)
    for (guint i = 0; i < 3; i++)
      check_table(tables[t].policy, tables[t].era, 1U << i, 3, tables[t].seats[i]);
}

/* Addresses whose words, loaded little-endian, are 0x1e7aa8c0 and 0x017aa8c0. */
static void
test_vectors(void **state)
{
  (void)state;
  static const struct {
    BondEra era;
    guint32 even, odd;
  } vectors[] = {
      {BOND_ERA_5_18, 522131284, 522131285},
      {BOND_ERA_4_14, 261066666, 261066666},
      {BOND_ERA_3_13, 522133332, 522133333},
  };
  MacAddress source = {{0, 0, 0, 0, 0, 0xe3}};
  MacAddress even = {{0, 0, 0, 0, 0, 0xa0}}, odd = {{0, 0, 0, 0, 0, 0xa1}};
  guint32 from = 0xc0a87a1e, to = 0xc0a87a01;
  for (gsize i = 0; i < G_N_ELEMENTS(vectors); i++) {
    BondEra era = vectors[i].era;
    assert_int_equal(bond_hash_ipv4(BOND_LAYER2_3, era, &source, &even, from, to, 1, 2),
                     vectors[i].even);
    assert_int_equal(bond_hash_ipv4(BOND_LAYER2_3, era, &source, &odd, from, to, 3, 4),
                     vectors[i].odd);
  }
  MacAddress bond = {{0, 0, 0, 0, 0, 0x12}}, seat = {{0}};
  guint32 hash =
      bond_hash_ipv4(BOND_LAYER2_3, BOND_ERA_5_18, &bond, &seat, 0x0a0100fe, 0x0a010001, 0, 0);
  assert_int_equal(hash, 0xfffff7e5);
  assert_int_equal(bond_port(BOND_ERA_5_18, hash, (gboolean[]){TRUE, TRUE, TRUE}, 3), 2);
}

#define IPV4(fragment, protocol)                                                                   \
  MACS "\x08\x00\x45\x00\x00\x28\x00\x00" fragment "\x40" protocol "\x00\x00" SERVER_IP SEAT_IP

static void
test_tcp(void **state)
{
  (void)state;
  static const char frame[] = IPV4("\x40\x00", "\x06") TCP_PORTS;
  assert_int_equal(HASH(BOND_LAYER2_3, BOND_ERA_5_18, frame), 0xf9f9f123);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_5_18, frame), 0x03028206);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_4_14, frame), 0x03028206);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_3_13, frame) >> 1, 0x03028206);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_2_6_32, frame), 0x0b07);
  assert_int_equal(HASH(BOND_LAYER2_3, BOND_ERA_2_6_32, frame), 0x2b);

  MacAddress bond = {{0x52, 0x54, 0x00, 0x21, 0x00, 0x10}};
  MacAddress seat = {{0x52, 0x54, 0x00, 0xaa, 0xbb, 0xc2}};
  for (int policy = BOND_LAYER2; policy <= BOND_VLAN_SRCMAC; policy++)
    for (int era = BOND_ERA_2_6_32; era <= BOND_ERA_5_18; era++)
      assert_int_equal(bond_hash_ipv4((BondPolicy)policy, (BondEra)era, &bond, &seat, 0x0a1500fe,
                                      0x0a150007, 2049, 1023),
                       HASH((BondPolicy)policy, (BondEra)era, frame));
}

static void
test_other_protocols(void **state)
{
  (void)state;
  static const char udp[] = IPV4("\x00\x00", "\x11") TCP_PORTS;
  static const char sctp[] = IPV4("\x00\x00", "\x84") TCP_PORTS;
  static const char gre[] = IPV4("\x00\x00", "\x2f") TCP_PORTS;
  static const char ah[] = IPV4("\x00\x00", "\x33") "\x06\x04\x00\x00\xde\xad\xbe\xef";
  static const char options[] =
      MACS "\x08\x00\x46\x00\x00\x2c\x00\x00\x40\x00\x40\x06\x00\x00" SERVER_IP SEAT_IP
           "\x01\x01\x01\x00" TCP_PORTS;
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_5_18, udp), 0x03028206);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_2_6_32, udp), 0x0b07);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_5_18, sctp), 0x03028206);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_2_6_32, sctp), 0xf9); /* TCP and UDP only */
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_5_18, gre), 0x7cfcfcfc);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_5_18, ah), 0x0b5402ed);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_5_18, options), 0x03028206);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_2_6_32, options), 0x0b07);
}

static void
test_fragments(void **state)
{
  (void)state;
  static const char first[] = IPV4("\x20\x00", "\x06") TCP_PORTS;
  static const char later[] = IPV4("\x00\xb9", "\x06") TCP_PORTS;
  static const char whole[] = IPV4("\x40\x00", "\x06") TCP_PORTS;
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_5_18, first), 0x7cfcfcfc);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_5_18, later), 0x7cfcfcfc);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_2_6_32, first), 0xf9);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_2_6_32, later), 0xf9);
  for (int era = BOND_ERA_2_6_32; era <= BOND_ERA_5_18; era++)
    assert_int_equal(HASH(BOND_LAYER2_3, (BondEra)era, first),
                     HASH(BOND_LAYER2_3, (BondEra)era, whole));
}

static void
test_icmp(void **state)
{
  (void)state;
  static const char echo[] = IPV4("\x00\x00", "\x01") "\x08\x00\x00\x00\x12\x34\x00\x01";
  static const char reply_0[] = IPV4("\x00\x00", "\x01") "\x00\x00\x00\x00\x00\x00\x00\x01";
  static const char cut[] = IPV4("\x00\x00", "\x01") "\x08\x00\x00\x00\x12\x34\x00";
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_5_18, echo), 0x75efefeb);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_4_14, echo), 0x7cfcfcfc);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_3_13, echo), 0xf9f9f9f9);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_2_6_32, echo), 0xf9);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_5_18, reply_0), 0x7cfc7c7c); /* id 0 counts as 1 */
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_5_18, cut), 0x7cfcfcfc);
  assert_int_equal(HASH(BOND_LAYER2_3, BOND_ERA_5_18, echo), 0xf9f9f123);
}

/* "Port unreachable" goes the way of the flow whose header it quotes. */
static void
test_icmp_error(void **state)
{
  (void)state;
  static const char error[] =
      IPV4("\x00\x00", "\x01") "\x03\x03\x00\x00\x00\x00\x00\x00"
                               "\x45\x00\x00\x1c\x00\x00\x00\x00\x40\x11\x00\x00" SEAT_IP
                               "\xc0\xa8\x03\x04\x03\xff\x08\x01";
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_5_18, error), 0x0104a5c1);
  assert_int_equal(HASH(BOND_LAYER2_3, BOND_ERA_5_18, error), 0x0300b5ad);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_4_14, error), 0x7cfcfcfc);
  /* Nothing quoted: nothing to go by but the MACs. */
  static const char bare[] = IPV4("\x00\x00", "\x01") "\x03\x03\x00\x00\x00\x00\x00\x00";
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_5_18, bare), 0x0800 ^ 0xc2 ^ 0x10);
}

#define IPV6_PREFIX "\xfd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
#define IPV6_SERVER IPV6_PREFIX "\x00\x00\x02\x54"
#define IPV6_SEAT IPV6_PREFIX "\x00\x0a\x00\x17"
#define IPV6_OTHER IPV6_PREFIX "\x0b\xad\x00\x42"
#define IPV6(protocol, source, destination)                                                        \
  MACS "\x86\xdd\x60\x00\x00\x00\x00\x14" protocol "\x40" source destination

static void
test_ipv6(void **state)
{
  (void)state;
  static const char frame[] = IPV6("\x06", IPV6_SERVER, IPV6_SEAT) TCP_PORTS;
  assert_int_equal(HASH(BOND_LAYER2, BOND_ERA_5_18, frame), 0x860f);
  assert_int_equal(HASH(BOND_LAYER2_3, BOND_ERA_5_18, frame), 0x4341cdc2);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_5_18, frame), 0x5e5edb5f);
  assert_int_equal(HASH(BOND_LAYER2_3, BOND_ERA_4_14, frame), 0x21a0cb61);
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_3_13, frame), 0xbcbdb6be);
  for (int policy = BOND_LAYER2; policy <= BOND_LAYER3_4; policy++)
    assert_int_equal(HASH((BondPolicy)policy, BOND_ERA_2_6_32, frame), 0xc2 ^ 0x10);
}

static void
test_icmpv6(void **state)
{
  (void)state;
  static const char echo[] =
      IPV6("\x3a", IPV6_SERVER, IPV6_SEAT) "\x80\x00\x00\x00\x12\x34\x00\x01";
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_5_18, echo), 0x28b3b6f6);
  static const char error[] =
      IPV6("\x3a", IPV6_SERVER, IPV6_SEAT) "\x01\x04\x00\x00\x00\x00\x00\x00"
                                           "\x60\x00\x00\x00\x00\x08\x11\x40" IPV6_SEAT IPV6_OTHER
                                           "\x03\xff\x08\x01";
  assert_int_equal(HASH(BOND_LAYER3_4, BOND_ERA_5_18, error), 0x2a2e0206);
}

static void
test_arp(void **state)
{
  (void)state;
  static const char frame[] = MACS "\x08\x06\x00\x01\x08\x00\x06\x04\x00\x01";
  for (int policy = BOND_LAYER2; policy <= BOND_LAYER3_4; policy++) {
    assert_int_equal(HASH((BondPolicy)policy, BOND_ERA_5_18, frame), 0x8d4);
    assert_int_equal(HASH((BondPolicy)policy, BOND_ERA_4_14, frame), 0x6da);
    assert_int_equal(HASH((BondPolicy)policy, BOND_ERA_3_13, frame), 0x6da);
    assert_int_equal(HASH((BondPolicy)policy, BOND_ERA_2_6_32, frame), 0xd2);
  }
}

static void
test_vlan(void **state)
{
  (void)state;
  static const char untagged[] = IPV4("\x40\x00", "\x06") TCP_PORTS;
  char tagged[sizeof untagged + 4] = MACS "\x81\x00\x00\x07";
  memcpy(tagged + 16, untagged + 12, sizeof untagged - 12);
  assert_int_equal(HASH(BOND_VLAN_SRCMAC, BOND_ERA_5_18, untagged), 0x735410);
  assert_int_equal(HASH(BOND_VLAN_SRCMAC, BOND_ERA_5_18, tagged), 0x735417);
  for (int policy = BOND_LAYER2; policy <= BOND_LAYER3_4; policy++)
    for (int era = BOND_ERA_2_6_32; era <= BOND_ERA_5_18; era++)
      assert_int_equal(HASH((BondPolicy)policy, (BondEra)era, tagged),
                       HASH((BondPolicy)policy, (BondEra)era, untagged));
  tagged[14] = (char)0xa0; /* priority 5 is part of what the driver takes for the VLAN */
  assert_int_equal(HASH(BOND_VLAN_SRCMAC, BOND_ERA_5_18, tagged), 0x73f417);
}

static void
test_cut_tag(void **state)
{
  (void)state;
  static const char frame[] = MACS "\x81\x00\x00\x07\x08";
  g_autofree guint8 *cut = g_memdup2(frame, 17);
  assert_int_equal(bond_hash_frame(BOND_VLAN_SRCMAC, BOND_ERA_5_18, cut, 17), 0x735410);
  assert_int_equal(bond_hash_frame(BOND_LAYER2, BOND_ERA_5_18, cut, 17), 0x81d2);
}

/* Cut anywhere, a frame hashes by the headers that are whole. Each cut is its own allocation, so
 * that AddressSanitizer sees a read beyond it. */
static void
test_truncated(void **state)
{
  (void)state;
  static const char frame[] = IPV4("\x40\x00", "\x06") TCP_PORTS;
  for (gsize length = 0; length < sizeof frame; length++) {
    g_autofree guint8 *cut = g_memdup2(frame, length + (length == 0));
    guint32 full = length < 14 ? 0 : length < 34 ? 0x8d2 : length < 38 ? 0x7cfcfcfc : 0x03028206;
    guint32 old = length < 14 ? 0 : length < 34 ? 0xd2 : length < 38 ? 0xf9 : 0x0b07;
    assert_int_equal(bond_hash_frame(BOND_LAYER3_4, BOND_ERA_5_18, cut, length), full);
    assert_int_equal(bond_hash_frame(BOND_LAYER3_4, BOND_ERA_2_6_32, cut, length), old);
  }
}

/* Whatever the bytes and wherever they end, no byte beyond them is read and no case is undefined;
 * the first 14 bytes alone always decide layer2. */
static void
test_random_frames(void **state)
{
  (void)state;
  static const guint8 starts[][2] = {{0x08, 0x00}, {0x86, 0xdd}, {0x81, 0x00}, {0x88, 0xa8}};
  static const guint8 protocols[] = {1, 6, 17, 51, 58};
  g_autoptr(GRand) rand = g_rand_new_with_seed(1);
  for (int i = 0; i < 20000; i++) {
    gsize length = (gsize)g_rand_int_range(rand, 14, 120);
    g_autofree guint8 *frame = g_malloc(length);
    for (gsize b = 0; b < length; b++)
      frame[b] = (guint8)g_rand_int(rand);
    memcpy(frame + 12, starts[i % 4], 2);
    if (length > 24)
      frame[i % 4 == 0 ? 23 : 20] = protocols[i % 5];
    for (int policy = BOND_LAYER2; policy <= BOND_VLAN_SRCMAC; policy++)
      for (int era = BOND_ERA_2_6_32; era <= BOND_ERA_5_18; era++)
        bond_hash_frame((BondPolicy)policy, (BondEra)era, frame, length);
    if (i % 4 < 2)
      assert_int_equal(bond_hash_frame(BOND_LAYER2, BOND_ERA_5_18, frame, length),
                       frame[5] ^ frame[11] ^ (frame[12] << 8 | frame[13]));
  }
}

static void
test_dead_ports(void **state)
{
  (void)state;
  static const struct {
    guint32 hash;
    gboolean usable[4];
    int modulo_all, modulo_usable;
  } cases[] = {
      {6, {TRUE, TRUE, TRUE, TRUE}, 2, 2},
      {6, {TRUE, TRUE, FALSE, TRUE}, 3, 0}, /* the next; 6 mod 3 = 0 */
      {7, {TRUE, TRUE, FALSE, TRUE}, 3, 1},
      {8, {TRUE, TRUE, FALSE, TRUE}, 0, 3},
      {7, {TRUE, FALSE, FALSE, FALSE}, 0, 0}, /* around the end */
      {6, {FALSE, TRUE, FALSE, FALSE}, 1, 1},
      {5, {FALSE, FALSE, FALSE, FALSE}, -1, -1},
      {0xffffffff, {TRUE, FALSE, TRUE, TRUE}, 3, 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    const gboolean *usable = cases[i].usable;
    assert_int_equal(bond_port(BOND_ERA_2_6_32, cases[i].hash, usable, 4), cases[i].modulo_all);
    for (int era = BOND_ERA_3_13; era <= BOND_ERA_5_18; era++)
      assert_int_equal(bond_port((BondEra)era, cases[i].hash, usable, 4), cases[i].modulo_usable);
  }
  assert_int_equal(bond_port(BOND_ERA_2_6_32, 1, NULL, 0), -1);
  assert_int_equal(bond_port(BOND_ERA_5_18, 1, NULL, 0), -1);
}

static void
test_words(void **state)
{
  (void)state;
  static const char *const policies[] = {"layer2", "layer2+3", "layer3+4", "vlan+srcmac"};
  static const char *const eras[] = {"2.6.32", "3.13", "4.14", "5.18"};
  for (int i = 0; i < 4; i++) {
    assert_string_equal(bond_policy_name((BondPolicy)i), policies[i]);
    assert_int_equal(bond_policy_parse(policies[i]), i);
    assert_string_equal(bond_era_name((BondEra)i), eras[i]);
    assert_int_equal(bond_era_parse(eras[i]), i);
  }
  assert_int_equal(bond_policy_parse("layer"), -1);
  assert_int_equal(bond_policy_parse("Layer2"), -1);
  assert_int_equal(bond_era_parse("6.1"), -1);
  assert_int_equal(bond_era_parse(""), -1);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_four_ports),
      cmocka_unit_test(test_three_ports),
      cmocka_unit_test(test_vectors),
      cmocka_unit_test(test_tcp),
      cmocka_unit_test(test_other_protocols),
      cmocka_unit_test(test_fragments),
      cmocka_unit_test(test_icmp),
      cmocka_unit_test(test_icmp_error),
      cmocka_unit_test(test_ipv6),
      cmocka_unit_test(test_icmpv6),
      cmocka_unit_test(test_arp),
      cmocka_unit_test(test_vlan),
      cmocka_unit_test(test_cut_tag),
      cmocka_unit_test(test_truncated),
      cmocka_unit_test(test_random_frames),
      cmocka_unit_test(test_dead_ports),
      cmocka_unit_test(test_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
