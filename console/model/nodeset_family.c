#include "model/nodeset_private.h"

/* With room from the start: a family without numbers must still have a place to point at. */
static GArray *
index_new(guint room)
{
  return g_array_sized_new(FALSE, FALSE, sizeof(NodesetIndex), MAX(room, 1));
}

NodesetFamily *
nodeset_family_new(const char *pattern, guint dims)
{
  NodesetFamily *family = g_new0(NodesetFamily, 1);
  family->pattern = g_strdup(pattern);
  family->dims = dims;
  family->index = index_new(dims);
  family->settled = TRUE;
  return family;
}

NodesetFamily *
nodeset_family_copy(const NodesetFamily *family)
{
  NodesetFamily *copy = nodeset_family_new(family->pattern, family->dims);
  copy->n = family->n;
  copy->settled = family->settled;
  g_array_append_vals(copy->index, family->index->data, family->index->len);
  return copy;
}

void
nodeset_family_free(NodesetFamily *family)
{
  if (!family)
    return;
  g_free(family->pattern);
  g_array_unref(family->index);
  g_free(family);
}

static const NodesetIndex *
tuple_at(const NodesetFamily *family, guint i)
{
  return (const NodesetIndex *)family->index->data + (gsize)i * family->dims;
}

static int
compare_tuples(gconstpointer a, gconstpointer b, gpointer dims)
{
  const NodesetIndex *x = a, *y = b;
  for (guint d = 0; d < GPOINTER_TO_UINT(dims); d++) {
    int order = nodeset_index_compare(&x[d], &y[d]);
    if (order != 0)
      return order;
  }
  return 0;
}

static int
compare(const NodesetFamily *family, const NodesetIndex *a, const NodesetIndex *b)
{
  return compare_tuples(a, b, GUINT_TO_POINTER(family->dims));
}

static void
push(NodesetFamily *family, const NodesetIndex *tuple)
{
  g_array_append_vals(family->index, tuple, family->dims);
  family->n++;
}

void
nodeset_family_append(NodesetFamily *family, const NodesetIndex *tuple)
{
  int order = family->n == 0 ? -1 : compare(family, tuple_at(family, family->n - 1), tuple);
  if (order == 0)
    return;
  if (order > 0)
    family->settled = FALSE;
  push(family, tuple);
}

void
nodeset_family_settle(NodesetFamily *family)
{
  if (family->settled)
    return;
  g_qsort_with_data(family->index->data, (int)family->n, family->dims * sizeof(NodesetIndex),
                    compare_tuples, GUINT_TO_POINTER(family->dims));
  g_autoptr(GArray) sorted = g_steal_pointer(&family->index);
  guint n = family->n;
  family->index = index_new(sorted->len);
  family->n = 0;
  family->settled = TRUE;
  for (guint i = 0; i < n; i++)
    nodeset_family_append(family, (const NodesetIndex *)sorted->data + (gsize)i * family->dims);
}

void
nodeset_family_merge(NodesetFamily *family, const NodesetFamily *other, NodesetKeep keep)
{
  g_assert(family->settled && other->settled && family->dims == other->dims);
  NodesetFamily left = *family;
  family->index = index_new(left.index->len);
  family->n = 0;
  guint l = 0, r = 0;
  while (l < left.n || r < other->n) {
    int order = l == left.n     ? 1
                : r == other->n ? -1
                                : compare(&left, tuple_at(&left, l), tuple_at(other, r));
    NodesetKeep where = order < 0   ? NODESET_KEEP_LEFT
                        : order > 0 ? NODESET_KEEP_RIGHT
                                    : NODESET_KEEP_BOTH;
    if (keep & where)
      push(family, order > 0 ? tuple_at(other, r) : tuple_at(&left, l));
    l += order <= 0;
    r += order >= 0;
  }
  g_array_unref(left.index);
}

gboolean
nodeset_family_contains(const NodesetFamily *family, const NodesetIndex *tuple)
{
  guint low = 0, high = family->n;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    int order = compare(family, tuple_at(family, middle), tuple);
    if (order == 0)
      return TRUE;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return FALSE;
}
