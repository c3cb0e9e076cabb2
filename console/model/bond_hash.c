#include "model/bond_hash.h"

#include <string.h>

#define ETHERNET 14
#define IPV4_HEADER 20
#define IPV6_HEADER 40
#define ICMP_HEADER 8

enum { TYPE_IPV4 = 0x0800, TYPE_IPV6 = 0x86dd, TYPE_VLAN = 0x8100, TYPE_SERVICE_VLAN = 0x88a8 };

enum {
  PROTOCOL_NONE = -1, /* a fragment: its ports are not looked for */
  PROTOCOL_ICMP = 1,
  PROTOCOL_TCP = 6,
  PROTOCOL_UDP = 17,
  PROTOCOL_DCCP = 33,
  PROTOCOL_ESP = 50,
  PROTOCOL_AH = 51,
  PROTOCOL_ICMPV6 = 58,
  PROTOCOL_SCTP = 132,
  PROTOCOL_UDP_LITE = 136,
};

/* A frame as the driver holds it: the VLAN tag beside it, not in it. */
typedef struct {
  const guint8 *mac; /* destination, source */
  guint16 type;
  guint16 tag; /* priority and VLAN; 0: none */
  const guint8 *network;
  gsize length; /* from NETWORK on */
} Frame;

/* What the driver finds in the headers; words are loaded little-endian, without a byte swap. */
typedef struct {
  guint32 addresses; /* source ^ destination */
  int protocol;
  guint32 ports;
  guint32 echo; /* type, code and id of an ICMP echo; 0: none */
} Keys;

static guint16
big_16(const guint8 *p)
{
  return (guint16)(p[0] << 8 | p[1]);
}

static guint32
little_32(const guint8 *p)
{
  return p[0] | (guint32)p[1] << 8 | (guint32)p[2] << 16 | (guint32)p[3] << 24;
}

static gboolean
frame_read(Frame *frame, const guint8 *bytes, gsize length)
{
  if (length < ETHERNET)
    return FALSE;
  gsize header = ETHERNET;
  *frame = (Frame){.mac = bytes, .type = big_16(bytes + 12)};
  if ((frame->type == TYPE_VLAN || frame->type == TYPE_SERVICE_VLAN) && length >= ETHERNET + 4) {
    frame->tag = big_16(bytes + 14);
    frame->type = big_16(bytes + 16);
    header += 4;
  }
  frame->network = bytes + header;
  frame->length = length - header;
  return TRUE;
}

static gboolean
is_fragment(const guint8 *ipv4)
{
  return (big_16(ipv4 + 6) & 0x3fff) != 0; /* more to come, or an offset */
}

static gsize
ipv4_header_length(const guint8 *ipv4)
{
  return (gsize)(ipv4[0] & 0xf) * 4;
}

/* Where the ports begin in a header of PROTOCOL, -1 where it has none. */
static int
ports_offset(int protocol)
{
  switch (protocol) {
  case PROTOCOL_TCP:
  case PROTOCOL_UDP:
  case PROTOCOL_DCCP:
  case PROTOCOL_ESP: /* its SPI serves as ports */
  case PROTOCOL_SCTP:
  case PROTOCOL_UDP_LITE:
    return 0;
  case PROTOCOL_AH:
    return 4;
  default:
    return -1;
  }
}

static guint32
read_ports(const guint8 *bytes, gsize length, gsize offset, int protocol)
{
  int within = ports_offset(protocol);
  if (within < 0 || offset + (gsize)within + 4 > length)
    return 0;
  return little_32(bytes + offset + within);
}

/* Reads the IP header at *OFFSET of FRAME's network part and steps over it. */
static gboolean
read_ip(const Frame *frame, gsize *offset, Keys *keys)
{
  g_assert(*offset <= frame->length);
  const guint8 *ip = frame->network + *offset;
  gsize length = frame->length - *offset;
  keys->protocol = PROTOCOL_NONE;
  keys->addresses = 0;
  if (frame->type == TYPE_IPV4 && length >= IPV4_HEADER) {
    keys->addresses = little_32(ip + 12) ^ little_32(ip + 16);
    *offset += ipv4_header_length(ip);
    if (!is_fragment(ip))
      keys->protocol = ip[9];
  } else if (frame->type == TYPE_IPV6 && length >= IPV6_HEADER) {
    for (guint i = 8; i < IPV6_HEADER; i += 4)
      keys->addresses ^= little_32(ip + i);
    *offset += IPV6_HEADER;
    keys->protocol = ip[6];
  } else {
    return FALSE;
  }
  keys->ports = read_ports(frame->network, frame->length, *offset, keys->protocol);
  return TRUE;
}

static gboolean
icmp_has_id(guint8 type)
{
  return type == 0 || type == 8 || type == 13 || type == 14 || type == 128 || type == 129;
}

static gboolean
icmp_is_error(int protocol, guint8 type)
{
  if (protocol == PROTOCOL_ICMPV6)
    return type >= 1 && type <= 4;
  return (type >= 3 && type <= 5) || type == 11 || type == 12;
}

/* An error message follows the flow it complains about; an echo has its id for ports. */
static gboolean
read_icmp(const Frame *frame, gsize offset, Keys *keys)
{
  if (offset + ICMP_HEADER > frame->length)
    return TRUE;
  const guint8 *icmp = frame->network + offset;
  if (icmp_is_error(keys->protocol, icmp[0])) {
    offset += ICMP_HEADER;
    return read_ip(frame, &offset, keys);
  }
  if (icmp_has_id(icmp[0])) {
    guint32 id = MAX(big_16(icmp + 4), 1); /* 0 means that there is none */
    keys->echo = icmp[0] | (guint32)icmp[1] << 8 | id << 16;
  }
  return TRUE;
}

static gboolean
read_keys(const Frame *frame, BondEra era, Keys *keys)
{
  gsize offset = 0;
  *keys = (Keys){0};
  if (!read_ip(frame, &offset, keys))
    return FALSE;
  gboolean icmp = keys->protocol == PROTOCOL_ICMP || keys->protocol == PROTOCOL_ICMPV6;
  return era < BOND_ERA_5_18 || !icmp || read_icmp(frame, offset, keys);
}

static guint32
hash_macs(const Frame *frame)
{
  return frame->mac[5] ^ frame->mac[11];
}

static guint32
hash_ethernet(const Frame *frame, BondEra era)
{
  guint16 type = era < BOND_ERA_5_18 ? GUINT16_SWAP_LE_BE(frame->type) : frame->type;
  return hash_macs(frame) ^ type;
}

static guint32
hash_vlan_source(const Frame *frame)
{
  const guint8 *source = frame->mac + 6;
  guint32 vendor = (guint32)source[0] << 16 | (guint32)source[1] << 8 | source[2];
  guint32 device = (guint32)source[3] << 16 | (guint32)source[4] << 8 | source[5];
  return frame->tag ^ vendor ^ device;
}

/* Before the fold of 2013: IPv4 alone, its addresses' lower halves in host order. */
static guint32
hash_2_6_32(BondPolicy policy, const Frame *frame)
{
  if (policy == BOND_LAYER2 || frame->type != TYPE_IPV4 || frame->length < IPV4_HEADER)
    return hash_macs(frame);
  const guint8 *ip = frame->network;
  guint32 addresses = (guint32)(big_16(ip + 14) ^ big_16(ip + 18));
  if (policy == BOND_LAYER2_3)
    return addresses ^ hash_macs(frame);
  gsize offset = ipv4_header_length(ip);
  if (is_fragment(ip) || (ip[9] != PROTOCOL_TCP && ip[9] != PROTOCOL_UDP) ||
      offset + 4 > frame->length)
    return addresses;
  return addresses ^ big_16(ip + offset) ^ big_16(ip + offset + 2);
}

guint32
bond_hash_frame(BondPolicy policy, BondEra era, const guint8 *bytes, gsize length)
{
  Frame frame;
  Keys keys;
  if (!frame_read(&frame, bytes, length))
    return 0;
  if (policy == BOND_VLAN_SRCMAC)
    return hash_vlan_source(&frame);
  if (era == BOND_ERA_2_6_32)
    return hash_2_6_32(policy, &frame);
  if (policy == BOND_LAYER2 || !read_keys(&frame, era, &keys))
    return hash_ethernet(&frame, era);

  guint32 hash = hash_ethernet(&frame, era);
  if (policy == BOND_LAYER3_4)
    hash = keys.echo != 0 ? keys.echo : keys.ports;
  hash ^= keys.addresses;
  hash ^= hash >> 16;
  hash ^= hash >> 8;
  gboolean shifted = era == BOND_ERA_4_14 || (era == BOND_ERA_5_18 && policy == BOND_LAYER3_4);
  return shifted ? hash >> 1 : hash;
}

static int
port_of_all(guint32 hash, const gboolean *usable, guint n_ports)
{
  for (guint i = 0; i < n_ports; i++) {
    guint port = (hash % n_ports + i) % n_ports;
    if (usable[port])
      return (int)port;
  }
  return -1;
}

static int
port_of_usable(guint32 hash, const gboolean *usable, guint n_ports)
{
  guint n_usable = 0;
  for (guint port = 0; port < n_ports; port++)
    n_usable += usable[port] ? 1 : 0;
  if (n_usable == 0)
    return -1;
  guint wanted = hash % n_usable;
  for (guint port = 0; port < n_ports; port++)
    if (usable[port] && wanted-- == 0)
      return (int)port;
  g_assert_not_reached();
}

int
bond_port(BondEra era, guint32 hash, const gboolean *usable, guint n_ports)
{
  if (era == BOND_ERA_2_6_32)
    return port_of_all(hash, usable, n_ports);
  return port_of_usable(hash, usable, n_ports);
}

static void
put_big(guint8 *p, guint32 value, guint n_bytes)
{
  for (guint i = 0; i < n_bytes; i++)
    p[i] = (guint8)(value >> 8 * (n_bytes - 1 - i));
}

guint32
bond_hash_ipv4(BondPolicy policy, BondEra era, const MacAddress *source,
               const MacAddress *destination, guint32 source_ip, guint32 destination_ip,
               guint16 source_port, guint16 destination_port)
{
  guint8 frame[ETHERNET + IPV4_HEADER + 4] = {0};
  guint8 *ip = frame + ETHERNET, *tcp = ip + IPV4_HEADER;
  memcpy(frame, destination->byte, sizeof destination->byte);
  memcpy(frame + 6, source->byte, sizeof source->byte);
  put_big(frame + 12, TYPE_IPV4, 2);
  ip[0] = 0x45; /* version 4, five words */
  ip[9] = PROTOCOL_TCP;
  put_big(ip + 12, source_ip, 4);
  put_big(ip + 16, destination_ip, 4);
  put_big(tcp, source_port, 2);
  put_big(tcp + 2, destination_port, 2);
  return bond_hash_frame(policy, era, frame, sizeof frame);
}

static const char *const policies[] = {
    [BOND_LAYER2] = "layer2",
    [BOND_LAYER2_3] = "layer2+3",
    [BOND_LAYER3_4] = "layer3+4",
    [BOND_VLAN_SRCMAC] = "vlan+srcmac",
};

static const char *const eras[] = {
    [BOND_ERA_2_6_32] = "2.6.32",
    [BOND_ERA_3_13] = "3.13",
    [BOND_ERA_4_14] = "4.14",
    [BOND_ERA_5_18] = "5.18",
};

static int
word_find(const char *const *words, gsize n_words, const char *word)
{
  for (gsize i = 0; i < n_words; i++)
    if (g_str_equal(words[i], word))
      return (int)i;
  return -1;
}

const char *
bond_policy_name(BondPolicy policy)
{
  g_assert((gsize)policy < G_N_ELEMENTS(policies));
  return policies[policy];
}

int
bond_policy_parse(const char *word)
{
  return word_find(policies, G_N_ELEMENTS(policies), word);
}

const char *
bond_era_name(BondEra era)
{
  g_assert((gsize)era < G_N_ELEMENTS(eras));
  return eras[era];
}

int
bond_era_parse(const char *word)
{
  return word_find(eras, G_N_ELEMENTS(eras), word);
}
