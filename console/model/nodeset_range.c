#include "model/nodeset_private.h"

#include <string.h>

/* ClusterShell asserts this of every range, stepped ones too. */
#define RANGE_SPAN_MAX 1000000000

#define INDEX_MAX ((NodesetNumber)1000000000000000000 * 1000000000000000000)

gboolean
nodeset_fail(GError **error, const char *part, gssize n, const char *what)
{
  enum { SHOWN = 60 };
  gsize length = n < 0 ? strlen(part) : (gsize)n;
  g_autoptr(GString) shown = g_string_new(NULL);
  const char *end = part + length;
  for (const char *p = part; p < end; p = g_utf8_next_char(p)) {
    if (p - part >= SHOWN) {
      g_string_append(shown, "…");
      break;
    }
    gunichar c = g_utf8_get_char_validated(p, end - p);
    if (c == (gunichar)-1 || c == (gunichar)-2 || g_unichar_iscntrl(c))
      g_string_append_printf(shown, "\\x%02x", (guchar)*p);
    else
      g_string_append_unichar(shown, c);
  }
  g_set_error(error, NODESET_ERROR, 0, "\"%s\": %s", shown->str, what);
  return FALSE;
}

gboolean
nodeset_spend(guint64 *work, guint64 names, GError **error)
{
  *work += names;
  if (*work <= NODESET_WORK_MAX)
    return TRUE;
  g_set_error(error, NODESET_ERROR, 0,
              "too much to work out: too many large sets, one after the other or in groups");
  return FALSE;
}

gboolean
nodeset_is_blank(char c)
{
  return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

char *
nodeset_strip(char *text)
{
  const char *start = text;
  while (nodeset_is_blank(*start))
    start++;
  gsize n = strlen(start);
  while (n > 0 && nodeset_is_blank(start[n - 1]))
    n--;
  memmove(text, start, n);
  text[n] = '\0';
  return text;
}

static guint
count_digits(NodesetNumber value)
{
  guint n = 1;
  while (value > G_MAXINT64) {
    value /= 10;
    n++;
  }
  for (guint64 small = (guint64)value; small >= 10; small /= 10)
    n++;
  return n;
}

static guint
plain_width(NodesetNumber value)
{
  return value < 0 ? 1 + count_digits(-value) : count_digits(value);
}

static gboolean
is_padded(const NodesetIndex *index)
{
  return index->width > plain_width(index->value);
}

int
nodeset_index_compare(const NodesetIndex *a, const NodesetIndex *b)
{
  if (a->value >= 0 && b->value >= 0 && a->width != b->width)
    return a->width < b->width ? -1 : 1;
  return (a->value > b->value) - (a->value < b->value);
}

void
nodeset_index_print(const NodesetIndex *index, GString *out)
{
  char digits[NODESET_INDEX_DIGITS];
  char *p = digits + sizeof digits;
  NodesetNumber value = index->value < 0 ? -index->value : index->value;
  for (; value > G_MAXINT64; value /= 10)
    *--p = (char)('0' + (int)(value % 10));
  guint64 small = (guint64)value;
  do
    *--p = (char)('0' + small % 10);
  while (small /= 10);
  guint n = (guint)(digits + sizeof digits - p);
  if (index->value < 0)
    g_string_append_c(out, '-');
  else
    for (guint i = n; i < index->width; i++)
      g_string_append_c(out, '0');
  g_string_append_len(out, p, n);
}

/* FALSE when the value has more digits than an index may have. */
static gboolean
read_digits(const char *digits, gsize n, NodesetNumber *value)
{
  *value = 0;
  for (gsize i = 0; i < n && *value <= INDEX_MAX; i++)
    *value = *value * 10 + (digits[i] - '0');
  return *value <= INDEX_MAX;
}

gboolean
nodeset_index_read(const char *digits, gsize n, NodesetIndex *index, GError **error)
{
  if (n > NODESET_NAME_MAX || !read_digits(digits, n, &index->value))
    return nodeset_fail(error, digits, (gssize)n, "the number is too large for a node name");
  index->width = (guint)n;
  return TRUE;
}

void
nodeset_indices_settle(GArray *indices)
{
  NodesetIndex *at = (NodesetIndex *)indices->data;
  guint n = MIN(1, indices->len);
  while (n < indices->len && nodeset_index_compare(&at[n - 1], &at[n]) < 0)
    n++;
  if (n == indices->len) /* as most are */
    return;
  g_array_sort(indices, (GCompareFunc)nodeset_index_compare);
  n = 0;
  for (guint i = 0; i < indices->len; i++)
    if (n == 0 || nodeset_index_compare(&at[n - 1], &at[i]) != 0)
      at[n++] = at[i];
  g_array_set_size(indices, n);
}

/* ClusterShell reads numbers in brackets with Python's int(): blanks around, one sign, single
 * underscores between digits. */
static gboolean
read_integer(const char *text, NodesetNumber *value)
{
  const char *p = text, *end = text + strlen(text);
  while (nodeset_is_blank(*p))
    p++;
  while (end > p && nodeset_is_blank(end[-1]))
    end--;
  gboolean negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+'))
    p++;
  g_autoptr(GString) digits = g_string_new(NULL);
  for (; p < end; p++) {
    gboolean joins = *p == '_' && digits->len > 0 && p[-1] != '_' && p + 1 < end;
    if (!g_ascii_isdigit(*p) && !joins)
      return FALSE;
    if (!joins)
      g_string_append_c(digits, *p);
  }
  if (digits->len == 0)
    return FALSE;
  if (!read_digits(digits->str, digits->len, value))
    *value = INDEX_MAX + 1;
  if (negative)
    *value = -*value;
  return TRUE;
}

/* One end of a range: its value and whether zeros stand before it. */
static gboolean
read_bound(const char *text, NodesetNumber *value, gboolean *zeros)
{
  if (!read_integer(text, value))
    return FALSE;
  *zeros = FALSE;
  if (*value == 0)
    return TRUE;
  const char *rest = text + strspn(text, "0");
  *zeros = rest != text;
  return read_integer(rest, value);
}

typedef struct {
  NodesetNumber first, last, step;
  guint padding; /* 0 without */
} Range;

/* Splits at hyphens as ClusterShell does, for which `-5`, `-5-3`, `-5--3` and `5-9` differ only in
 * the number of pieces. What stands in the place of a sign is not looked at there either. */
static gboolean
split_bounds(char **piece, const char **first, const char **last, int *first_sign, int *last_sign)
{
  guint n = g_strv_length(piece);
  *first_sign = n > 2 ? -1 : 1;
  *last_sign = n > 3 ? -1 : 1;
  if (n > 4)
    return FALSE;
  if (n > 1)
    for (guint i = 0; i < n; i++)
      nodeset_strip(piece[i]);
  *first = piece[n > 2 ? 1 : 0];
  *last = piece[n - 1];
  if (n == 2 && **first == '\0') {
    *first = *last;
    *first_sign = *last_sign = -1;
  }
  return TRUE;
}

static gboolean
read_bounds(const char *text, char **piece, Range *range, GError **error)
{
  const char *first, *last;
  int first_sign, last_sign;
  gboolean first_zeros, last_zeros;
  if (!split_bounds(piece, &first, &last, &first_sign, &last_sign) ||
      !read_bound(first, &range->first, &first_zeros) ||
      !read_bound(last, &range->last, &last_zeros))
    return nodeset_fail(error, text, -1, "not a number, nor a range FROM-TO or FROM-TO/STEP");
  gsize width = strlen(first);
  range->padding = first_zeros || (range->first == 0 && width > 1) ? (guint)width : 0;
  if ((range->padding || last_zeros) && width != strlen(last))
    return nodeset_fail(error, text, -1, "both ends need the same number of digits");
  if (range->padding && first_sign < 0)
    return nodeset_fail(error, text, -1, "a negative number cannot be padded with zeros");
  if (range->padding > NODESET_NAME_MAX)
    return nodeset_fail(error, text, -1, "too many zeros for a node name");
  if (range->first > INDEX_MAX || range->last > INDEX_MAX)
    return nodeset_fail(error, text, -1, "the number is too large for a node name");
  range->first *= first_sign;
  range->last *= last_sign;
  return TRUE;
}

static gboolean
read_range(char *text, Range *range, GError **error)
{
  nodeset_strip(text);
  if (*text == '\0')
    return nodeset_fail(error, text, -1, "empty range");
  g_autofree char *base = g_strdup(text);
  range->step = 1;
  char *slash = strchr(base, '/');
  if (slash) {
    *slash = '\0';
    if (!read_integer(slash + 1, &range->step))
      return nodeset_fail(error, text, -1, "the step is not a number");
  }
  g_auto(GStrv) piece = g_strsplit(base, "-", 6);
  if (*base == '\0' || (!piece[1] && range->step != 1))
    return nodeset_fail(error, text, -1, "a step needs a range FROM-TO before it");
  if (!read_bounds(text, piece, range, error))
    return FALSE;
  if (range->first > range->last)
    return nodeset_fail(error, text, -1, "the range ends before it begins");
  if (range->step < 1)
    return nodeset_fail(error, text, -1, "the step must be at least 1");
  if (range->last - range->first >= RANGE_SPAN_MAX - 1)
    return nodeset_fail(error, text, -1, "the range is too wide");
  return TRUE;
}

/* Overlapping ranges are thinned out when they get too many. What is over the limit then is an
 * error at once, or there would be no end of sorting. */
static gboolean
append_range(GArray *indices, const Range *range, guint64 *work, GError **error)
{
  NodesetNumber more = (range->last - range->first) / range->step + 1;
  gboolean fits = more <= NODESET_NAMES_MAX;
  if (fits && indices->len + more > 2 * NODESET_NAMES_MAX) {
    nodeset_indices_settle(indices);
    fits = indices->len <= NODESET_NAMES_MAX;
  }
  if (!fits) {
    g_set_error(error, NODESET_ERROR, 0, "more than %u names", NODESET_NAMES_MAX);
    return FALSE;
  }
  if (!nodeset_spend(work, (guint64)more, error))
    return FALSE;
  for (NodesetNumber value = range->first; value <= range->last; value += range->step) {
    guint width = plain_width(value);
    NodesetIndex index = {value, MAX(width, range->padding)};
    g_array_append_val(indices, index);
  }
  return TRUE;
}

GArray *
nodeset_range_read(const char *text, guint64 *work, GError **error)
{
  g_autoptr(GArray) indices = g_array_new(FALSE, FALSE, sizeof(NodesetIndex));
  g_auto(GStrv) pieces = g_strsplit(*text ? text : " ", ",", 0);
  for (char **piece = pieces; *piece; piece++) {
    Range range;
    if (!read_range(*piece, &range, error) || !append_range(indices, &range, work, error))
      return NULL;
  }
  nodeset_indices_settle(indices);
  return g_steal_pointer(&indices);
}

static void
print_run(const NodesetIndex *first, const NodesetIndex *last, GString *out)
{
  nodeset_index_print(first, out);
  if (last == first)
    return;
  g_string_append_c(out, '-');
  nodeset_index_print(last, out);
}

void
nodeset_range_print(const NodesetIndex *at, guint n, GString *out)
{
  const NodesetIndex *first = at, *last = at;
  gboolean padded = n > 0 && is_padded(at);
  for (const NodesetIndex *next = at + 1; n > 0 && next < at + n; last = next++) {
    gboolean padding_differs = padded ? next->width != last->width : is_padded(next);
    if (!padding_differs && next->value == last->value + 1)
      continue;
    print_run(first, last, out);
    g_string_append_c(out, ',');
    /* ClusterShell lets a lone number hand its padding on to the run after it: 09,98-100 comes out
     * as 09,98-99,100. */
    if (padding_differs || first != last)
      padded = is_padded(next);
    first = next;
  }
  if (n > 0)
    print_run(first, last, out);
}
