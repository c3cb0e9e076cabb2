#include "backends/libvirt/libvirt_boot.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <string.h>

#include "backends/setup.h"

#define WORD(text) ((const xmlChar *)(text))

G_DEFINE_AUTOPTR_CLEANUP_FUNC(xmlDoc, xmlFreeDoc)

static gboolean
is_named(const xmlNode *node, const char *name)
{
  return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

static xmlNode *
child(xmlNode *parent, const char *name)
{
  for (xmlNode *node = parent->children; node != NULL; node = node->next)
    if (is_named(node, name))
      return node;
  return NULL;
}

static gboolean
has_word(xmlNode *node, const char *attribute, const char *word)
{
  xmlChar *value = xmlGetProp(node, WORD(attribute));
  gboolean same = value != NULL && strcmp((const char *)value, word) == 0;

  xmlFree(value);
  return same;
}

static void
remove_node(xmlNode *node)
{
  xmlUnlinkNode(node);
  xmlFreeNode(node);
}

/* ---- <boot dev='network'/> in <os> --------------------------------------------------------- */

static void
put_kind_first(xmlNode *os, const char *kind)
{
  xmlNode *first = child(os, "boot"), *next;
  xmlNode *asked = xmlNewNode(NULL, WORD("boot"));

  xmlNewProp(asked, WORD("dev"), WORD(kind));
  if (first != NULL)
    xmlAddPrevSibling(first, asked);
  else
    xmlAddChild(os, asked);
  for (xmlNode *node = asked->next; node != NULL; node = next) {
    next = node->next;
    if (is_named(node, "boot") && has_word(node, "dev", kind))
      remove_node(node);
  }
}

/* ---- <boot order='1'/> in devices ---------------------------------------------------------- */

static gboolean
is_asked(xmlNode *device, gboolean network)
{
  if (network)
    return is_named(device, "interface");
  return is_named(device, "disk") &&
         (has_word(device, "device", "disk") || xmlHasProp(device, WORD("device")) == NULL);
}

static gint64
order_of(xmlNode *device)
{
  xmlNode *boot = child(device, "boot");
  xmlChar *text = boot != NULL ? xmlGetProp(boot, WORD("order")) : NULL;
  gint64 order = text != NULL ? g_ascii_strtoll((const char *)text, NULL, 10) : 0;

  xmlFree(text);
  return order;
}

static gint
by_order(gconstpointer a, gconstpointer b)
{
  gint64 one = order_of(*(xmlNode *const *)a), other = order_of(*(xmlNode *const *)b);

  return one < other ? -1 : one > other;
}

/* Devices that have an order, lowest first. */
static GPtrArray *
ordered_devices(xmlNode *devices)
{
  GPtrArray *all = g_ptr_array_new();

  for (xmlNode *node = devices->children; node != NULL; node = node->next)
    if (node->type == XML_ELEMENT_NODE && order_of(node) > 0)
      g_ptr_array_add(all, node);
  g_ptr_array_sort(all, by_order);
  return all;
}

static void
number(xmlNode *device, guint order)
{
  g_autofree char *text = g_strdup_printf("%u", order);
  xmlNode *boot = child(device, "boot");

  if (boot == NULL)
    boot = xmlNewChild(device, NULL, WORD("boot"), NULL);
  xmlSetProp(boot, WORD("order"), WORD(text));
}

static void
renumber(const GPtrArray *ordered, xmlNode *first, gboolean network)
{
  guint order = 0;

  if (!g_ptr_array_find((GPtrArray *)ordered, first, NULL))
    number(first, ++order);
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < ordered->len; i++)
      if (is_asked(ordered->pdata[i], network) == (pass == 0))
        number(ordered->pdata[i], ++order);
}

/* The one that boots first already, or else the first there is. */
static xmlNode *
find_asked(xmlNode *devices, const GPtrArray *ordered, gboolean network)
{
  for (guint i = 0; i < ordered->len; i++)
    if (is_asked(ordered->pdata[i], network))
      return ordered->pdata[i];
  for (xmlNode *node = devices->children; node != NULL; node = node->next)
    if (is_asked(node, network))
      return node;
  return NULL;
}

/* ---- Both ---------------------------------------------------------------------------------- */

static char *
print(xmlDoc *document)
{
  xmlChar *text = NULL;
  int length;

  xmlDocDumpMemory(document, &text, &length);
  char *copy = g_strdup((const char *)text);
  xmlFree(text);
  return copy;
}

char *
libvirt_boot_first(const char *xml, gboolean network, GError **error)
{
  g_autoptr(xmlDoc) document = xmlReadMemory(
      xml, (int)strlen(xml), NULL, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
  xmlNode *root = document != NULL ? xmlDocGetRootElement(document) : NULL;
  xmlNode *os = root != NULL ? child(root, "os") : NULL;
  xmlNode *devices = root != NULL ? child(root, "devices") : NULL;

  if (os == NULL || devices == NULL) {
    g_set_error(error, BACKEND_ERROR, 0, "its definition has no <os> or no <devices>");
    return NULL;
  }
  g_autoptr(GPtrArray) ordered = ordered_devices(devices);
  xmlNode *first = find_asked(devices, ordered, network);
  if (first == NULL) {
    g_set_error(error, BACKEND_ERROR, 0, "it has no %s to boot from",
                network ? "network interface" : "disk");
    return NULL;
  }
  if (ordered->len > 0)
    renumber(ordered, first, network);
  else
    put_kind_first(os, network ? "network" : "hd");
  return print(document);
}
