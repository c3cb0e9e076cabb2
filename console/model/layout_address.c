#include "model/layout_private.h"

#include <string.h>

#define MAC_GROUP_BIT G_GUINT64_CONSTANT(0x010000000000)

gboolean
mac_parse(const char *text, MacAddress *mac)
{
  MacAddress read;

  if (strlen(text) != 17)
    return FALSE;
  for (guint i = 0; i < 6; i++, text += 3) {
    int high = g_ascii_xdigit_value(text[0]), low = g_ascii_xdigit_value(text[1]);
    if (high < 0 || low < 0 || text[2] != (i < 5 ? ':' : '\0'))
      return FALSE;
    read.byte[i] = high << 4 | low;
  }
  *mac = read;
  return TRUE;
}

char *
mac_print(const MacAddress *mac)
{
  const guint8 *b = mac->byte;

  return g_strdup_printf("%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5]);
}

/* A leading zero is refused: elsewhere it means octal. */
gboolean
ip_parse(const char *text, guint32 *ip)
{
  guint32 read = 0;

  for (guint i = 0; i < 4; i++) {
    guint part = 0, digits = 0;
    for (; g_ascii_isdigit(*text) && digits < 3; text++, digits++)
      part = part * 10 + (*text - '0');
    if (digits == 0 || part > 255 || (digits > 1 && text[-(int)digits] == '0') ||
        *text != (i < 3 ? '.' : '\0'))
      return FALSE;
    read = read << 8 | part;
    text++;
  }
  *ip = read;
  return TRUE;
}

static char *
ip_print(guint32 ip)
{
  return g_strdup_printf("%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
}

guint64
layout_mac_value(const MacAddress *mac)
{
  guint64 value = 0;

  for (guint i = 0; i < 6; i++)
    value = value << 8 | mac->byte[i];
  return value;
}

MacAddress
layout_mac_from(guint64 value)
{
  MacAddress mac;

  for (guint i = 0; i < 6; i++)
    mac.byte[i] = value >> (8 * (5 - i)) & 0xff;
  return mac;
}

static gboolean
bad_mac(LayoutParser *parser, const YamlNode *value, const char *text)
{
  yaml_errors_add(parser->errors, value,
                  "\"%s\" is no MAC address: six pairs of hex digits with colons between", text);
  return FALSE;
}

static gboolean
bad_ip(LayoutParser *parser, const YamlNode *value, const char *text)
{
  yaml_errors_add(parser->errors, value,
                  "\"%s\" is no IPv4 address: four decimal numbers up to 255, without leading "
                  "zeros",
                  text);
  return FALSE;
}

gboolean
layout_read_mac(LayoutParser *parser, const YamlNode *value, MacAddress *mac)
{
  return mac_parse(value->text, mac) || bad_mac(parser, value, value->text);
}

gboolean
layout_read_ip(LayoutParser *parser, const YamlNode *value, guint32 *ip)
{
  return ip_parse(value->text, ip) || bad_ip(parser, value, value->text);
}

gboolean
layout_read_net(LayoutParser *parser, const YamlNode *value, guint32 *net, guint *prefix)
{
  g_auto(GStrv) parts = g_strsplit(value->text, "/", 2);
  guint64 length;
  guint32 ip;

  if (g_strv_length(parts) != 2 || !ip_parse(parts[0], &ip) ||
      !units_parse_count(parts[1], 32, &length, NULL) || length == 0) {
    yaml_errors_add(parser->errors, value, "\"%s\" is no network: 10.21.0.0/24 is one",
                    value->text);
    return FALSE;
  }
  guint32 mask = G_MAXUINT32 << (32 - length);
  if ((ip & ~mask) != 0) {
    g_autofree char *right = ip_print(ip & mask);
    yaml_errors_add(parser->errors, value,
                    "%s has bits set behind its prefix: the network is %s/%s", value->text, right,
                    parts[1]);
    return FALSE;
  }
  *net = ip;
  *prefix = length;
  return TRUE;
}

/* Splits `START [step N]`; START is for the caller to read. */
static gboolean
read_step(LayoutParser *parser, const YamlNode *value, char **start, guint64 *step)
{
  g_auto(GStrv) words = g_strsplit(value->text, " ", 4);
  guint n = g_strv_length(words);

  *step = 0;
  if (n != 1 && (n != 3 || strcmp(words[1], "step") != 0)) {
    yaml_errors_add(parser->errors, value, "\"%s\" is not ADDRESS or ADDRESS step N", value->text);
    return FALSE;
  }
  if (n == 3 && (!units_parse_count(words[2], G_MAXUINT32, step, NULL) || *step == 0)) {
    yaml_errors_add(parser->errors, value, "step \"%s\": a whole number from 1 up", words[2]);
    return FALSE;
  }
  *start = g_strdup(words[0]);
  return TRUE;
}

gboolean
layout_read_macs(LayoutParser *parser, const YamlNode *value, LayoutSequence *sequence)
{
  g_autofree char *start = NULL;
  guint64 step;
  MacAddress mac;

  if (!read_step(parser, value, &start, &step))
    return FALSE;
  if (!mac_parse(start, &mac))
    return bad_mac(parser, value, start);
  *sequence = (LayoutSequence){layout_mac_value(&mac), step, value};
  return TRUE;
}

gboolean
layout_read_ips(LayoutParser *parser, const YamlNode *value, LayoutSequence *sequence)
{
  g_autofree char *start = NULL;
  guint64 step;
  guint32 ip;

  if (!read_step(parser, value, &start, &step))
    return FALSE;
  if (!ip_parse(start, &ip))
    return bad_ip(parser, value, start);
  *sequence = (LayoutSequence){ip, step, value};
  return TRUE;
}

gboolean
layout_check_sequence(LayoutParser *parser, const LayoutSequence *sequence, guint n, guint64 max,
                      const char *what)
{
  if (n > 1 && sequence->step == 0) {
    yaml_errors_add(parser->errors, sequence->at, "%s for %u nodes needs a step: \"%s step 1\"",
                    what, n, sequence->at->text);
    return FALSE;
  }
  if (sequence->step * (n - 1) > max - sequence->start) {
    yaml_errors_add(parser->errors, sequence->at, "%s runs past the last address within %u nodes",
                    what, n);
    return FALSE;
  }
  return TRUE;
}

static void
use(GArray *addresses, guint64 value, NodeId node, const char *port, const YamlNode *at)
{
  LayoutAddress address = {value, node, port, at};

  g_array_append_val(addresses, address);
}

void
layout_use_mac(LayoutParser *parser, NodeId node, const char *port, const MacAddress *mac,
               const YamlNode *at)
{
  use(parser->macs, layout_mac_value(mac), node, port, at);
}

void
layout_use_ip(LayoutParser *parser, NodeId node, const char *port, guint32 ip, const YamlNode *at)
{
  use(parser->ips, ip, node, port, at);
}

static char *
owner_name(const LayoutParser *parser, const LayoutAddress *address)
{
  const char *node = layout_node(parser->layout, address->node)->name;

  return address->port == NULL ? g_strdup(node) : g_strconcat(node, "/", address->port, NULL);
}

/* Why the address may not be, or NULL. */
static char *
wrong_mac(LayoutParser *parser, const LayoutAddress *address)
{
  (void)parser;
  if (address->value == 0)
    return g_strdup("belongs to no machine");
  if ((address->value & MAC_GROUP_BIT) != 0)
    return g_strdup("is a group address");
  return NULL;
}

static char *
wrong_ip(LayoutParser *parser, const LayoutAddress *address)
{
  const LayoutNode *node = layout_node(parser->layout, address->node);

  if (node->subnet < 0)
    return NULL;
  const LayoutSubnet *subnet = &parser->layout->subnets[node->subnet];
  if (subnet->prefix == 0)
    return NULL;
  guint32 mask = G_MAXUINT32 << (32 - subnet->prefix);
  guint32 host = address->value & ~mask;
  if ((address->value & mask) != subnet->net) {
    g_autofree char *net = ip_print(subnet->net);
    return g_strdup_printf("lies outside %s, %s/%u", subnet->name, net, subnet->prefix);
  }
  if (subnet->prefix <= 30 && (host == 0 || host == ~mask))
    return g_strdup_printf("is %s's own %s address", subnet->name,
                           host == 0 ? "network" : "broadcast");
  return NULL;
}

/* A bond and its ports may well share a MAC. */
static char *
used_twice(const LayoutParser *parser, GHashTable *seen, LayoutAddress *address, gboolean is_mac)
{
  const LayoutAddress *before = g_hash_table_lookup(seen, &address->value);

  if (before == NULL) {
    g_hash_table_insert(seen, &address->value, address);
    return NULL;
  }
  if (is_mac && before->node == address->node)
    return NULL;
  g_autofree char *owner = owner_name(parser, before);
  return g_strdup_printf("is %s's already", owner);
}

/* A sequence in error is told once, by its first address that is. */
static void
check_addresses(LayoutParser *parser, GArray *addresses,
                char *(*wrong)(LayoutParser *, const LayoutAddress *), gboolean is_mac)
{
  g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash, g_int64_equal);
  g_autoptr(GHashTable) told = g_hash_table_new(NULL, NULL);

  for (guint i = 0; i < addresses->len; i++) {
    LayoutAddress *address = &g_array_index(addresses, LayoutAddress, i);
    g_autofree char *reason = wrong(parser, address);
    if (reason == NULL)
      reason = used_twice(parser, seen, address, is_mac);
    if (reason == NULL || !g_hash_table_add(told, (gpointer)address->at))
      continue;
    MacAddress mac = layout_mac_from(address->value);
    g_autofree char *shown = is_mac ? mac_print(&mac) : ip_print(address->value);
    g_autofree char *owner = owner_name(parser, address);
    yaml_errors_add(parser->errors, address->at, "%s of %s %s", shown, owner, reason);
  }
}

void
layout_check_addresses(LayoutParser *parser)
{
  check_addresses(parser, parser->macs, wrong_mac, TRUE);
  check_addresses(parser, parser->ips, wrong_ip, FALSE);
}
