#include "backends/snmp/snmp_table.h"

#include <string.h>

#include "model/units.h"

#define AMBIGUOUS G_MAXUINT32

struct SnmpTable {
  GHashTable *interfaces; /* index → SnmpInterface */
  GHashTable *ports;      /* a bridge's port → index of its interface */
  GHashTable *learned;    /* address as gint64 → port, or AMBIGUOUS */
};

static const SnmpName roots[SNMP_COLUMN_N] = {
    [SNMP_IF_NAME] = {11, {1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 1}},
    [SNMP_IF_DESCR] = {10, {1, 3, 6, 1, 2, 1, 2, 2, 1, 2}},
    [SNMP_IF_ALIAS] = {11, {1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 18}},
    [SNMP_BASE_PORT] = {11, {1, 3, 6, 1, 2, 1, 17, 1, 4, 1, 2}},
    [SNMP_Q_FDB] = {13, {1, 3, 6, 1, 2, 1, 17, 7, 1, 2, 2, 1, 2}},
    [SNMP_FDB] = {11, {1, 3, 6, 1, 2, 1, 17, 4, 3, 1, 2}},
};

static void
interface_free(gpointer data)
{
  SnmpInterface *interface = data;

  g_free(interface->name);
  g_free(interface->descr);
  g_free(interface->alias);
  g_free(interface);
}

SnmpTable *
snmp_table_new(void)
{
  SnmpTable *table = g_new0(SnmpTable, 1);

  table->interfaces = g_hash_table_new_full(NULL, NULL, NULL, interface_free);
  table->ports = g_hash_table_new(NULL, NULL);
  table->learned = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  return table;
}

void
snmp_table_free(SnmpTable *table)
{
  if (table == NULL)
    return;
  g_hash_table_unref(table->interfaces);
  g_hash_table_unref(table->ports);
  g_hash_table_unref(table->learned);
  g_free(table);
}

const SnmpName *
snmp_table_root(SnmpColumn column)
{
  return &roots[column];
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* What people wrote may be anything; here it is compared and shown. */
static char *
clean(const SnmpValue *value)
{
  char *text = g_utf8_make_valid(value->bytes, (gssize)strnlen(value->bytes, value->length));

  for (char *p = text; *p != '\0'; p++)
    if (g_ascii_iscntrl(*p))
      *p = '?';
  return g_strstrip(text);
}

static void
take_word(SnmpTable *table, SnmpColumn column, const SnmpValue *value, guint32 index)
{
  SnmpInterface *interface = g_hash_table_lookup(table->interfaces, GUINT_TO_POINTER(index));

  if (interface == NULL) {
    interface = g_new0(SnmpInterface, 1);
    interface->index = index;
    interface->name = g_strdup("");
    interface->descr = g_strdup("");
    interface->alias = g_strdup("");
    g_hash_table_insert(table->interfaces, GUINT_TO_POINTER(index), interface);
  }
  char **word = column == SNMP_IF_NAME    ? &interface->name
                : column == SNMP_IF_DESCR ? &interface->descr
                                          : &interface->alias;
  g_free(*word);
  *word = clean(value);
}

/* Port 0 says that it was learned, and not where. */
static void
take_address(SnmpTable *table, const guint32 *bytes, guint64 port)
{
  gint64 address = 0;

  for (guint i = 0; i < 6; i++) {
    if (bytes[i] > 255)
      return;
    address = address << 8 | bytes[i];
  }
  if (port == 0 || port >= AMBIGUOUS)
    return;
  gpointer before = g_hash_table_lookup(table->learned, &address);
  guint32 now = before == NULL || GPOINTER_TO_UINT(before) == port ? (guint32)port : AMBIGUOUS;
  g_hash_table_insert(table->learned, g_memdup2(&address, sizeof address), GUINT_TO_POINTER(now));
}

void
snmp_table_take(SnmpTable *table, SnmpColumn column, const SnmpValue *value)
{
  const SnmpName *root = &roots[column];
  guint rest = value->name.n - root->n;

  if (!snmp_name_is_under(&value->name, root))
    return;
  const guint32 *id = value->name.id + root->n;
  gboolean number = value->kind == SNMP_NUMBER && value->number < AMBIGUOUS;
  if (column <= SNMP_IF_ALIAS && rest == 1 && value->kind == SNMP_BYTES && *id > 0)
    take_word(table, column, value, *id);
  else if (column == SNMP_BASE_PORT && rest == 1 && number && *id > 0)
    g_hash_table_insert(table->ports, GUINT_TO_POINTER(*id),
                        GUINT_TO_POINTER((guint32)value->number));
  else if (column == SNMP_FDB && rest == 6 && number)
    take_address(table, id, value->number);
  else if (column == SNMP_Q_FDB && rest == 7 && number)
    take_address(table, id + 1, value->number);
}

/* ---- Looking --------------------------------------------------------------------------------- */

guint
snmp_table_count(const SnmpTable *table)
{
  return g_hash_table_size(table->interfaces);
}

const SnmpInterface *
snmp_table_interface(const SnmpTable *table, guint32 index)
{
  return g_hash_table_lookup(table->interfaces, GUINT_TO_POINTER(index));
}

/* 0: none; AMBIGUOUS: several. */
static guint32
find_by(const SnmpTable *table, gsize member, const char *text)
{
  GHashTableIter iter;
  gpointer value;
  guint32 found = 0;

  g_hash_table_iter_init(&iter, table->interfaces);
  while (g_hash_table_iter_next(&iter, NULL, &value)) {
    const SnmpInterface *interface = value;
    if (strcmp(G_STRUCT_MEMBER(char *, interface, member), text) == 0)
      found = found == 0 ? interface->index : AMBIGUOUS;
  }
  return found;
}

guint32
snmp_table_find(const SnmpTable *table, const char *text)
{
  static const gsize members[] = {G_STRUCT_OFFSET(SnmpInterface, name),
                                  G_STRUCT_OFFSET(SnmpInterface, descr),
                                  G_STRUCT_OFFSET(SnmpInterface, alias)};
  guint64 index;

  if (*text == '\0')
    return 0;
  for (gsize i = 0; i < G_N_ELEMENTS(members); i++) {
    guint32 found = find_by(table, members[i], text);
    if (found != 0)
      return found == AMBIGUOUS ? 0 : found;
  }
  if (units_parse_count(text, AMBIGUOUS - 1, &index, NULL) &&
      snmp_table_interface(table, (guint32)index) != NULL)
    return (guint32)index;
  return 0;
}

guint32
snmp_table_behind(const SnmpTable *table, const MacAddress *mac)
{
  gint64 address = 0;

  for (guint i = 0; i < 6; i++)
    address = address << 8 | mac->byte[i];
  guint32 port = GPOINTER_TO_UINT(g_hash_table_lookup(table->learned, &address));
  if (port == 0 || port == AMBIGUOUS)
    return 0;
  guint32 index = GPOINTER_TO_UINT(g_hash_table_lookup(table->ports, GUINT_TO_POINTER(port)));
  return snmp_table_interface(table, index) != NULL ? index : 0;
}

char *
snmp_table_label(const SnmpTable *table, guint32 index)
{
  const SnmpInterface *interface = snmp_table_interface(table, index);

  if (interface != NULL && *interface->name != '\0')
    return g_strdup(interface->name);
  if (interface != NULL && *interface->descr != '\0')
    return g_strdup(interface->descr);
  return g_strdup_printf("%u", index);
}
