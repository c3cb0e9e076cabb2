#include "backends/pxe/pxe_name.h"

#include <string.h>

#define HEX_DIGITS 8 /* of an IPv4 address */

char *
pxe_name_of_mac(const guint8 mac[6])
{
  return g_strdup_printf("01-%02x-%02x-%02x-%02x-%02x-%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
                         mac[5]);
}

char **
pxe_names(const guint8 *mac, const guint32 *ipv4)
{
  g_autoptr(GStrvBuilder) names = g_strv_builder_new();
  if (mac != NULL) {
    g_autofree char *name = pxe_name_of_mac(mac);
    g_strv_builder_add(names, name);
  }
  if (ipv4 != NULL) {
    char digits[HEX_DIGITS + 1];
    g_snprintf(digits, sizeof digits, "%08X", *ipv4);
    for (guint n = HEX_DIGITS; n > 0; n--) {
      digits[n] = '\0';
      g_strv_builder_add(names, digits);
    }
  }
  g_strv_builder_add(names, "default");
  return g_strv_builder_end(names);
}

static gboolean
is_hex(const char *name)
{
  gsize n = strspn(name, "0123456789ABCDEF");
  return n > 0 && n <= HEX_DIGITS && name[n] == '\0';
}

/* `XX-` and six octets, `01-` being Ethernet; or a UUID, which has the same letters. */
static gboolean
is_dashed(const char *name)
{
  gsize length = strlen(name);
  return (length == strlen("01-aa-bb-cc-dd-ee-ff") || length == 36) && name[2] != '\0' &&
         strchr(name, '-') != NULL && strspn(name, "0123456789abcdefABCDEF-") == length;
}

gboolean
pxe_name_is_special(const char *name)
{
  return is_hex(name) || is_dashed(name);
}
