#include "model/seat_finder.h"

#include <string.h>

/* IPv4 addresses as ::ffff:a.b.c.d, as a server that listens on both writes them. */
typedef struct {
  guint8 byte[16];
} Address;

struct SeatFinder {
  const Layout *layout;
  GHashTable *macs;   /* of the layout: value → node + 1 */
  GHashTable *ips;    /* of the layout: Address → node + 1 */
  GHashTable *learnt; /* the same */
};

static guint
address_hash(gconstpointer key)
{
  guint hash = 5381;
  for (gsize i = 0; i < sizeof(Address); i++)
    hash = hash * 33 + ((const Address *)key)->byte[i];
  return hash;
}

static gboolean
address_equal(gconstpointer a, gconstpointer b)
{
  return memcmp(a, b, sizeof(Address)) == 0;
}

static GHashTable *
addresses_new(void)
{
  return g_hash_table_new_full(address_hash, address_equal, g_free, NULL);
}

static Address
address_of_ip(guint32 ip)
{
  return (Address){{[10] = 0xff,
                    [11] = 0xff,
                    [12] = (guint8)(ip >> 24),
                    [13] = (guint8)(ip >> 16),
                    [14] = (guint8)(ip >> 8),
                    [15] = (guint8)ip}};
}

static guint64
mac_value(const guint8 *byte)
{
  guint64 value = 0;
  for (int i = 0; i < 6; i++)
    value = value << 8 | byte[i];
  return value;
}

static void
keep(GHashTable *table, const Address *address, NodeId node)
{
  g_hash_table_replace(table, g_memdup2(address, sizeof *address), GUINT_TO_POINTER(node + 1));
}

static NodeId
look_up(GHashTable *table, gconstpointer key)
{
  return GPOINTER_TO_UINT(g_hash_table_lookup(table, key)) - 1; /* of none: NODE_NONE */
}

SeatFinder *
seat_finder_new(const Layout *layout)
{
  SeatFinder *finder = g_new0(SeatFinder, 1);
  finder->layout = layout;
  finder->macs = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  finder->ips = addresses_new();
  finder->learnt = addresses_new();
  for (NodeId id = 0; id < layout->n_nodes; id++) {
    const LayoutNode *node = &layout->nodes[id];
    guint64 mac = mac_value(node->mac.byte);
    Address ip = address_of_ip(node->ip);
    if (node->has_mac)
      g_hash_table_replace(finder->macs, g_memdup2(&mac, sizeof mac), GUINT_TO_POINTER(id + 1));
    if (node->has_ip)
      keep(finder->ips, &ip, id);
  }
  return finder;
}

void
seat_finder_free(SeatFinder *finder)
{
  if (finder == NULL)
    return;
  g_hash_table_unref(finder->macs);
  g_hash_table_unref(finder->ips);
  g_hash_table_unref(finder->learnt);
  g_free(finder);
}

/* ---- Addresses as they are written --------------------------------------------------------- */

#define DUID_MAX 128

/* Of a DUID only those made of a link-layer address (types 1, with a time, and 3) of Ethernet. */
static gboolean
read_mac(const char *text, guint64 *mac)
{
  guint8 byte[DUID_MAX];
  guint n = 0;
  for (const char *p = text; *p != '\0'; n++) {
    if (strchr(":-.", *p))
      p++;
    int high = g_ascii_xdigit_value(*p), low = high < 0 ? -1 : g_ascii_xdigit_value(p[1]);
    if (low < 0 || n == DUID_MAX)
      return FALSE;
    byte[n] = (guint8)(high << 4 | low);
    p += 2;
  }
  static const guint8 with_time[] = {0, 1, 0, 1}, without[] = {0, 3, 0, 1};
  gboolean known = n == 6 || (n == 7 && byte[0] == 1) ||
                   (n == 14 && memcmp(byte, with_time, sizeof with_time) == 0) ||
                   (n == 10 && memcmp(byte, without, sizeof without) == 0);
  if (known)
    *mac = mac_value(byte + n - 6);
  return known;
}

/* The groups of sixteen bits of an IPv6 address, and where `::` stands in them (-1: nowhere). */
static gboolean
read_groups(const char *text, guint8 byte[16], guint *n, int *gap)
{
  *n = 0;
  *gap = -1;
  while (*text != '\0') {
    guint32 ip;
    if (text[0] == ':' && text[1] == ':' && *gap < 0) {
      *gap = (int)*n;
      text += 2;
      continue;
    }
    if (*n > 0 && *gap != (int)*n && *text++ != ':')
      return FALSE;
    if (*n <= 12 && ip_parse(text, &ip)) {
      Address mapped = address_of_ip(ip);
      memcpy(byte + *n, mapped.byte + 12, 4);
      *n += 4;
      return TRUE;
    }
    guint value = 0, digits = 0;
    for (; g_ascii_isxdigit(*text) && digits < 4; text++, digits++)
      value = value << 4 | (guint)g_ascii_xdigit_value(*text);
    if (digits == 0 || *n > 14)
      return FALSE;
    byte[(*n)++] = (guint8)(value >> 8);
    byte[(*n)++] = (guint8)value;
  }
  return *gap < 0 ? *n == 16 : *n < 16;
}

static gboolean
read_ip(const char *text, Address *address)
{
  guint32 ip;
  guint n;
  int gap;
  if (ip_parse(text, &ip)) {
    *address = address_of_ip(ip);
    return TRUE;
  }
  g_autofree char *bare = g_strndup(text, strcspn(text, "%/")); /* fe80::1%eth0, fd77::1/128 */
  guint8 byte[16] = {0};
  if (!read_groups(bare, byte, &n, &gap))
    return FALSE;
  *address = (Address){{0}};
  guint front = gap < 0 ? n : (guint)gap;
  memcpy(address->byte, byte, front);
  memcpy(address->byte + 16 - (n - front), byte + front, n - front);
  return TRUE;
}

/* ---- Whom they mean ------------------------------------------------------------------------ */

/* What an IPv6 address was made of, where it was made of a MAC address (RFC 4291, appendix A). */
static NodeId
find_eui64(const SeatFinder *finder, const Address *ip)
{
  const guint8 *b = ip->byte + 8;
  if (b[3] != 0xff || b[4] != 0xfe)
    return NODE_NONE;
  const guint8 mac[] = {b[0] ^ 2, b[1], b[2], b[5], b[6], b[7]};
  guint64 value = mac_value(mac);
  return look_up(finder->macs, &value);
}

static NodeId
find_ip(const SeatFinder *finder, const Address *ip)
{
  gpointer learnt; /* NULL: a stranger's */
  if (g_hash_table_lookup_extended(finder->learnt, ip, NULL, &learnt))
    return GPOINTER_TO_UINT(learnt) - 1;
  NodeId node = look_up(finder->ips, ip);
  return node != NODE_NONE ? node : find_eui64(finder, ip);
}

/* A host name may come with its domain. */
static NodeId
find_name(const SeatFinder *finder, const char *name)
{
  NodeId node = layout_find(finder->layout, name);
  const char *dot = strchr(name, '.');
  if (node != NODE_NONE || dot == NULL)
    return node;
  g_autofree char *host = g_strndup(name, (gsize)(dot - name));
  return layout_find(finder->layout, host);
}

static void
learn(SeatFinder *finder, const Address *ip, NodeId node)
{
  if (g_hash_table_size(finder->learnt) >= SEAT_FINDER_MAX_LEARNT)
    g_hash_table_remove_all(finder->learnt);
  keep(finder->learnt, ip, node);
}

NodeId
seat_finder_find(SeatFinder *finder, const char *mac, const char *ip, const char *name)
{
  guint64 value;
  Address address;
  gboolean has_ip = ip != NULL && read_ip(ip, &address);
  NodeId node = NODE_NONE;
  if (mac != NULL && read_mac(mac, &value)) {
    node = look_up(finder->macs, &value);
    /* A stranger's lease: the address is not that of the seat that had it before. */
    if (has_ip && node != find_ip(finder, &address))
      learn(finder, &address, node);
    return node;
  }
  if (has_ip)
    node = find_ip(finder, &address);
  if (node != NODE_NONE || name == NULL)
    return node;
  node = find_name(finder, name);
  if (node != NODE_NONE && has_ip)
    learn(finder, &address, node);
  return node;
}
