/* Names and values of SNMP objects, apart from any library. */
#ifndef PULT_SNMP_VALUE_H
#define PULT_SNMP_VALUE_H

#include <glib.h>

#define SNMP_NAME_MAX 32

typedef struct {
  guint n;
  guint32 id[SNMP_NAME_MAX];
} SnmpName;

typedef enum {
  SNMP_NONE, /* noSuchObject, noSuchInstance, endOfMibView */
  SNMP_NUMBER,
  SNMP_BYTES,
  SNMP_OTHER, /* of a type nobody here asks for */
} SnmpKind;

typedef struct {
  SnmpName name;
  SnmpKind kind;
  guint64 number; /* a negative one counts as 0: none of those asked for can be */
  char bytes[64]; /* 0 at the end, which is not counted; longer ones are cut */
  guint length;
} SnmpValue;

/* NAME with ID behind it. */
static inline SnmpName
snmp_name_with(SnmpName name, guint32 id)
{
  g_assert(name.n < SNMP_NAME_MAX);
  name.id[name.n++] = id;
  return name;
}

static inline gboolean
snmp_name_is_under(const SnmpName *name, const SnmpName *root)
{
  if (name->n <= root->n)
    return FALSE;
  for (guint i = 0; i < root->n; i++)
    if (name->id[i] != root->id[i])
      return FALSE;
  return TRUE;
}

/* As strcmp() has it. */
static inline int
snmp_name_compare(const SnmpName *a, const SnmpName *b)
{
  for (guint i = 0; i < MIN(a->n, b->n); i++)
    if (a->id[i] != b->id[i])
      return a->id[i] < b->id[i] ? -1 : 1;
  return a->n == b->n ? 0 : a->n < b->n ? -1 : 1;
}

#endif
