#include "backends/pxe/pxe_once.h"

#include <string.h>

#include "backends/pxe/pxe_file.h"
#include "model/units.h"

#define NAME_MAX_BYTES 64

char *
pxe_once_mac(const MacAddress *mac)
{
  char *text = mac_print(mac);
  g_strdelimit(text, ":", '-');
  return text;
}

gboolean
pxe_once_check(char *const *entries, const char *entry, GError **error)
{
  const char *const *known = (const char *const *)entries;
  if (g_strv_contains(known, entry))
    return TRUE;
  const char *nearest = units_nearest_word(entry, known);
  if (nearest != NULL)
    return pxe_fail(error, "the menu has no label %s; is %s meant?", entry, nearest);
  return pxe_fail(error, "the menu has no label %s", entry);
}

gboolean
pxe_once_is_name(const char *entry)
{
  gsize n = strspn(entry, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._-:+");
  return n > 0 && n <= NAME_MAX_BYTES && entry[n] == '\0' && *entry != '.';
}

/* Of what stands twice the one read last is in force, so the site's menu comes first. A label stays
 * whole: what it needs of the menu around it is there. */
char *
pxe_once_pxelinux(const char *menu, const char *entry)
{
  return g_strdup_printf("INCLUDE %s\n"
                         "DEFAULT %s\n"
                         "PROMPT 0\n"
                         "TIMEOUT 1\n"
                         "TOTALTIMEOUT 1\n"
                         "ONTIMEOUT %s\n",
                         menu, entry, entry);
}

char *
pxe_once_ipxe(const char *chain, const char *entry)
{
  g_auto(GStrv) around = g_strsplit(chain, "{entry}", -1);
  g_autofree char *uri = g_strjoinv(entry, around);
  return g_strdup_printf("chain --autofree %s\n", uri);
}
