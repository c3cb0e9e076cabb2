/* Folding over several numbers at once. The result must be ClusterShell's to the letter, and of
 * the many ways to cover a set with boxes that is the one its greedy merge happens to find; so the
 * order in which boxes are tried, down to comparing numbers as text, is part of the format.
 *
 * Its documentation and source (RangeSet.py) describe the steps: singles in text order; larger
 * boxes first before each pass; neighbours merge where they differ on one axis only; when that
 * changes nothing any more, all pairs are tried.
 */
#include "model/nodeset_private.h"

#include <string.h>

/* Ascending positions on one axis. */
typedef struct {
  guint n;
  guint room;          /* 0: ID is borrowed */
  guint32 first, last; /* of ID, where a look at two spans finds them at once */
  guint32 *id;
} Span;

typedef struct {
  guint64 size; /* names in the box */
  Span span[];
} Box;

typedef struct {
  guint dims;
  GArray *value[NODESET_DIMS_MAX];      /* NodesetIndex at each position */
  GPtrArray *text[NODESET_DIMS_MAX];    /* and as written */
  guint32 *text_rank[NODESET_DIMS_MAX]; /* its place among the texts in byte order */
  guint32 *ids;                         /* what spans borrow */
  GPtrArray *boxes;
} Fold;

static Box *
box_new(guint dims)
{
  Box *box = g_malloc0(sizeof(Box) + dims * sizeof(Span));
  box->size = 1;
  return box;
}

static Span
span_borrow(guint32 *id, guint n)
{
  return (Span){.n = n, .first = id[0], .last = id[n - 1], .id = id};
}

static void
box_free(Box *box, guint dims)
{
  for (guint d = 0; d < dims; d++)
    if (box->span[d].room)
      g_free(box->span[d].id);
  g_free(box);
}

static void
fold_free(Fold *fold)
{
  for (guint i = 0; i < fold->boxes->len; i++)
    box_free(fold->boxes->pdata[i], fold->dims);
  g_ptr_array_unref(fold->boxes);
  for (guint d = 0; d < fold->dims; d++) {
    g_array_unref(fold->value[d]);
    g_ptr_array_unref(fold->text[d]);
    g_free(fold->text_rank[d]);
  }
  g_free(fold->ids);
  g_free(fold);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Fold, fold_free)

static int
compare_texts(gconstpointer a, gconstpointer b, gpointer texts)
{
  const GPtrArray *text = texts;
  return strcmp(text->pdata[*(const guint32 *)a], text->pdata[*(const guint32 *)b]);
}

static void
rank_texts(Fold *fold, guint d)
{
  guint n = fold->text[d]->len;
  g_autofree guint32 *order = g_new(guint32, n);
  for (guint i = 0; i < n; i++)
    order[i] = i;
  g_qsort_with_data(order, (int)n, sizeof *order, compare_texts, fold->text[d]);
  fold->text_rank[d] = g_new(guint32, n);
  for (guint i = 0; i < n; i++)
    fold->text_rank[d][order[i]] = i;
}

/* Numbers recur: few are kept while many are looked at. */
static void
collect_axis(Fold *fold, const NodesetFamily *family, guint d)
{
  GArray *value = fold->value[d] = g_array_new(FALSE, FALSE, sizeof(NodesetIndex));
  guint due = 1024;
  for (guint i = 0; i < family->n; i++) {
    g_array_append_val(value, g_array_index(family->index, NodesetIndex, i * family->dims + d));
    if (value->len == due) {
      nodeset_indices_settle(value);
      due = MAX(due, 2 * value->len);
    }
  }
  nodeset_indices_settle(value);
  fold->text[d] = g_ptr_array_new_full(fold->value[d]->len, g_free);
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < fold->value[d]->len; i++) {
    g_string_truncate(text, 0);
    nodeset_index_print(&g_array_index(fold->value[d], NodesetIndex, i), text);
    g_ptr_array_add(fold->text[d], g_strndup(text->str, text->len));
  }
}

/* The set is all of one box: no search, and the only case for names with one number or none. */
static gboolean
fold_whole(Fold *fold, const NodesetFamily *family)
{
  guint64 size = 1;
  guint longest = 0;
  for (guint d = 0; d < fold->dims; d++) {
    size *= fold->value[d]->len;
    longest = MAX(longest, fold->value[d]->len);
    if (size > family->n)
      return FALSE;
  }
  fold->ids = g_new(guint32, longest);
  for (guint i = 0; i < longest; i++)
    fold->ids[i] = i;
  Box *box = box_new(fold->dims);
  box->size = size;
  for (guint d = 0; d < fold->dims; d++)
    box->span[d] = span_borrow(fold->ids, fold->value[d]->len);
  g_ptr_array_add(fold->boxes, box);
  return TRUE;
}

static guint32
position_of(const GArray *values, const NodesetIndex *index)
{
  guint low = 0, high = values->len - 1;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    if (nodeset_index_compare(&g_array_index(values, NodesetIndex, middle), index) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void
fold_singles(Fold *fold, const NodesetFamily *family)
{
  guint dims = fold->dims;
  for (guint d = 0; d < dims; d++)
    rank_texts(fold, d);
  fold->ids = g_new(guint32, (gsize)family->n * dims);
  for (guint i = 0; i < family->n; i++) {
    Box *box = box_new(dims);
    for (guint d = 0; d < dims; d++) {
      guint at = i * dims + d;
      fold->ids[at] = position_of(fold->value[d], &g_array_index(family->index, NodesetIndex, at));
      box->span[d] = span_borrow(&fold->ids[at], 1);
    }
    g_ptr_array_add(fold->boxes, box);
  }
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int
compare_boxes(gconstpointer a, gconstpointer b, gpointer data)
{
  const Box *x = *(Box *const *)a, *y = *(Box *const *)b;
  const Fold *fold = data;
  int order = ORDER(y->size, x->size);
  for (guint d = 0; order == 0 && d < fold->dims; d++) {
    const Span *s = &x->span[d], *t = &y->span[d];
    const guint32 *rank = fold->text_rank[d];
    order = ORDER(t->n, s->n);
    if (order == 0)
      order = ORDER(rank[s->first], rank[t->first]);
    if (order == 0)
      order = ORDER(rank[s->last], rank[t->last]);
  }
  return order;
}

typedef enum { SPANS_EQUAL, SPANS_APART, SPANS_NESTED, SPANS_OVERLAP } SpanRelation;

static SpanRelation
relate(const Span *a, const Span *b)
{
  if (a->last < b->first || b->last < a->first)
    return SPANS_APART;
  if (a->n == b->n && memcmp(a->id, b->id, a->n * sizeof *a->id) == 0)
    return SPANS_EQUAL;
  guint common = 0;
  for (guint i = 0, j = 0; i < a->n && j < b->n;) {
    int order = ORDER(a->id[i], b->id[j]);
    common += order == 0;
    i += order <= 0;
    j += order >= 0;
  }
  return common == 0 ? SPANS_APART : common == MIN(a->n, b->n) ? SPANS_NESTED : SPANS_OVERLAP;
}

static void
span_reserve(Span *span, guint n)
{
  if (n <= span->room)
    return;
  guint room = MAX(n, 2 * span->room);
  guint32 *id = g_renew(guint32, span->room ? span->id : NULL, room);
  if (!span->room)
    memcpy(id, span->id, span->n * sizeof *id);
  span->id = id;
  span->room = room;
}

/* From the back, so that nothing is overwritten before it was read. */
static void
span_unite(Span *span, const Span *apart)
{
  guint i = span->n, j = apart->n;
  span_reserve(span, i + j);
  span->n = i + j;
  span->first = MIN(span->first, apart->first);
  span->last = MAX(span->last, apart->last);
  for (guint to = span->n; j > 0; to--) {
    if (i > 0 && span->id[i - 1] > apart->id[j - 1])
      span->id[to - 1] = span->id[--i];
    else
      span->id[to - 1] = apart->id[--j];
  }
}

/* Most pairs of boxes differ on two axes at first sight. */
static gboolean
clearly_differ(const Box *a, const Box *b, guint dims)
{
  guint differences = 0;
  for (guint d = 0; d < dims; d++)
    differences += a->span[d].first != b->span[d].first || a->span[d].last != b->span[d].last ||
                   a->span[d].n != b->span[d].n;
  return differences > 1;
}

/* Takes B into A where the two differ on one axis at most. */
static gboolean
box_absorb(Box *a, Box *b, guint dims)
{
  if (clearly_differ(a, b, dims))
    return FALSE;
  guint axis = dims;
  SpanRelation relation = SPANS_EQUAL;
  for (guint d = 0; d < dims; d++) {
    SpanRelation here = relate(&a->span[d], &b->span[d]);
    if (here == SPANS_EQUAL)
      continue;
    if (here == SPANS_OVERLAP || axis != dims)
      return FALSE;
    axis = d;
    relation = here;
  }
  if (relation == SPANS_EQUAL)
    return TRUE;
  Span *mine = &a->span[axis], *theirs = &b->span[axis];
  a->size /= mine->n;
  if (relation == SPANS_APART) {
    span_unite(mine, theirs);
  } else if (theirs->n > mine->n) {
    Span larger = *theirs;
    *theirs = *mine;
    *mine = larger;
  }
  a->size *= mine->n;
  return TRUE;
}

static gboolean
merge_pass(Fold *fold, gboolean all_pairs)
{
  Box **box = (Box **)fold->boxes->pdata;
  guint n = fold->boxes->len, kept = 0;
  for (guint i = 0; i < n; i++) {
    if (!box[i])
      continue;
    for (guint j = i + 1; j < n; j++) {
      if (!box[j])
        continue;
      if (box_absorb(box[i], box[j], fold->dims)) {
        box_free(box[j], fold->dims);
        box[j] = NULL;
      } else if (!all_pairs) {
        break;
      }
    }
    box[kept++] = box[i];
  }
  g_ptr_array_set_size(fold->boxes, (int)kept);
  return kept < n;
}

static void
fold_merge(Fold *fold)
{
  gboolean all_pairs = FALSE, again = TRUE;
  while (again) {
    g_ptr_array_sort_with_data(fold->boxes, compare_boxes, fold);
    again = merge_pass(fold, all_pairs);
    if (!again && !all_pairs)
      again = all_pairs = TRUE;
  }
}

static Fold *
fold_new(const NodesetFamily *family)
{
  Fold *fold = g_new0(Fold, 1);
  fold->dims = family->dims;
  fold->boxes = g_ptr_array_new();
  for (guint d = 0; d < fold->dims; d++)
    collect_axis(fold, family, d);
  if (!fold_whole(fold, family)) {
    fold_singles(fold, family);
    fold_merge(fold);
  }
  return fold;
}

/* Writes PATTERN with PART for its numbers. */
static void
fill_pattern(const char *pattern, const char *const *part, GString *out)
{
  for (const char *p = pattern; *p; p++) {
    if (*p != '%')
      g_string_append_c(out, *p);
    else if (*++p == 's')
      g_string_append(out, *part++);
    else
      g_string_append_c(out, '%');
  }
}

static void
print_span(const Fold *fold, guint d, const Span *span, GString *out)
{
  g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(NodesetIndex));
  for (guint i = 0; i < span->n; i++)
    g_array_append_val(values, g_array_index(fold->value[d], NodesetIndex, span->id[i]));
  if (span->n > 1)
    g_string_append_c(out, '[');
  nodeset_range_print((const NodesetIndex *)values->data, values->len, out);
  if (span->n > 1)
    g_string_append_c(out, ']');
}

void
nodeset_family_fold(const NodesetFamily *family, GString *out)
{
  g_assert(family->settled);
  g_autoptr(Fold) fold = fold_new(family);
  for (guint i = 0; i < fold->boxes->len; i++) {
    const Box *box = fold->boxes->pdata[i];
    g_autoptr(GPtrArray) part = g_ptr_array_new_with_free_func(g_free);
    for (guint d = 0; d < fold->dims; d++) {
      GString *text = g_string_new(NULL);
      print_span(fold, d, &box->span[d], text);
      g_ptr_array_add(part, g_string_free(text, FALSE));
    }
    if (i > 0)
      g_string_append_c(out, ',');
    fill_pattern(family->pattern, (const char *const *)part->pdata, out);
  }
}

/* All names of BOX, the last number running fastest. */
static void
name_box(const Fold *fold, const Box *box, const char *pattern, GPtrArray *names)
{
  guint at[NODESET_DIMS_MAX] = {0};
  g_autoptr(GString) name = g_string_new(NULL);
  for (guint64 i = 0; i < box->size; i++) {
    const char *part[NODESET_DIMS_MAX];
    for (guint d = 0; d < fold->dims; d++)
      part[d] = fold->text[d]->pdata[box->span[d].id[at[d]]];
    g_string_truncate(name, 0);
    fill_pattern(pattern, part, name);
    g_ptr_array_add(names, g_strndup(name->str, name->len));
    for (guint d = fold->dims; d-- > 0 && ++at[d] == box->span[d].n;)
      at[d] = 0;
  }
}

void
nodeset_family_names(const NodesetFamily *family, GPtrArray *names)
{
  g_assert(family->settled);
  g_autoptr(Fold) fold = fold_new(family);
  for (guint i = 0; i < fold->boxes->len; i++)
    name_box(fold, fold->boxes->pdata[i], family->pattern, names);
}
