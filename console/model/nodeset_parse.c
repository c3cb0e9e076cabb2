#include "model/nodeset_private.h"

#include <string.h>

#define OPERATORS ",!&^"

typedef struct {
  NodesetGroupFunc groups;
  gpointer data;
  guint depth;
  guint terms;  /* so far, in all texts */
  guint64 work; /* names handled */
} Parser;

/* What is left of a text, and the operator that led to it. */
typedef struct {
  const char *rest; /* NULL at the end */
  char op;
} Scan;

static Nodeset *parse_text(Parser *parser, const char *text, GError **error);

void
nodeset_term_init(NodesetTerm *term)
{
  *term = (NodesetTerm){.pattern = g_string_new(NULL)};
}

void
nodeset_term_clear(NodesetTerm *term)
{
  g_string_free(term->pattern, TRUE);
  for (guint d = 0; d < term->dims; d++)
    g_array_unref(term->axis[d]);
  *term = (NodesetTerm){0};
}

void
nodeset_term_add_literal(NodesetTerm *term, const char *text, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    if (text[i] == '%')
      g_string_append_c(term->pattern, '%');
    g_string_append_c(term->pattern, text[i]);
  }
}

/* Takes INDICES over, also on error. */
static gboolean
add_axis(NodesetTerm *term, GArray *indices, GError **error)
{
  if (term->dims == NODESET_DIMS_MAX) {
    g_array_unref(indices);
    g_set_error(error, NODESET_ERROR, 0, "a node name has at most %u numbers", NODESET_DIMS_MAX);
    return FALSE;
  }
  g_string_append(term->pattern, "%s");
  term->axis[term->dims++] = indices;
  return TRUE;
}

gboolean
nodeset_term_add_words(NodesetTerm *term, const char *text, gsize n, GError **error)
{
  const char *end = text + n;
  while (text < end) {
    const char *start = text;
    while (text < end && !g_ascii_isdigit(*text))
      text++;
    nodeset_term_add_literal(term, start, (gsize)(text - start));
    start = text;
    while (text < end && g_ascii_isdigit(*text))
      text++;
    if (text == start)
      continue;
    NodesetIndex index;
    if (!nodeset_index_read(start, (gsize)(text - start), &index, error))
      return FALSE;
    GArray *one = g_array_new(FALSE, FALSE, sizeof index);
    if (!add_axis(term, g_array_append_val(one, index), error))
      return FALSE;
  }
  return TRUE;
}

/* DIGITS right before a bracket belong to every number in it: `a1[2-3]` is a12, a13. ClusterShell
 * folds the range first and then puts the digits before both ends of each piece as text, so
 * `a1[9-10]` is a19 … a110. */
static char *
put_digits_before(const char *range, const char *digits, gsize n, guint64 *work, GError **error)
{
  g_autoptr(GArray) indices = nodeset_range_read(range, work, error);
  if (!indices)
    return NULL;
  g_autoptr(GString) folded = g_string_new(NULL);
  nodeset_range_print((const NodesetIndex *)indices->data, indices->len, folded);
  g_auto(GStrv) pieces = g_strsplit(folded->str, ",", 0);
  GString *out = g_string_new(NULL);
  for (char **piece = pieces; *piece; piece++) {
    if (g_str_equal(*piece, "-1") || g_str_has_suffix(*piece, "--1")) {
      nodeset_fail(error, *piece, -1, "digits before a bracket with a range that ends at -1");
      g_string_free(out, TRUE);
      return NULL;
    }
    g_string_append_len(piece == pieces ? out : g_string_append_c(out, ','), digits, (gssize)n);
    for (const char *p = *piece; *p; p++) {
      g_string_append_c(out, *p);
      if (*p == '-')
        g_string_append_len(out, digits, (gssize)n);
    }
  }
  return g_string_free(out, FALSE);
}

/* DIGITS right behind a bracket: `a[1-2]3` is a13, a23, as if written a[13-23/10]. */
static char *
put_digits_behind(const char *range, const char *digits, gsize n, GError **error)
{
  if (strchr(range, '/')) {
    nodeset_fail(error, range, -1, "digits behind a bracket with a step");
    return NULL;
  }
  GString *out = g_string_new(NULL);
  for (const char *p = range;;) {
    gsize length = strcspn(p, ",");
    const char *hyphen = memchr(p, '-', length);
    for (const char *end = p + length; p < end; p++) {
      if (*p == '-')
        g_string_append_len(out, digits, (gssize)n);
      g_string_append_c(out, *p);
    }
    g_string_append_len(out, digits, (gssize)n);
    if (hyphen) {
      g_string_append(out, "/1");
      for (gsize i = 0; i < n; i++)
        g_string_append_c(out, '0');
    }
    if (!*p)
      return g_string_free(out, FALSE);
    g_string_append_c(out, *p++);
  }
}

static gsize
leading_digits(const char *text)
{
  gsize n = 0;
  while (g_ascii_isdigit(text[n]))
    n++;
  return n;
}

static gsize
trailing_digits(const char *text, gsize n)
{
  gsize left = n;
  while (left > 0 && g_ascii_isdigit(text[left - 1]))
    left--;
  return n - left;
}

/* Nothing may close in TEXT before it opens. */
static gboolean
check_brackets(const char *text, GError **error)
{
  const char *p = strpbrk(text, "[]");
  return !p || *p == '[' || nodeset_fail(error, text, -1, "a bracket closes that was not opened");
}

/* The words and numbers before the bracket at OPEN, then the bracket. Returns where it goes on. */
static const char *
scan_bracket(NodesetTerm *term, const char *text, const char *open, GError **error)
{
  const char *close = strchr(open, ']');
  if (!close || memchr(text, ']', (gsize)(open - text))) {
    nodeset_fail(error, text, -1,
                 close ? "a bracket closes that was not opened" : "a bracket is not closed");
    return NULL;
  }
  const char *rest = close + 1;
  gsize before = trailing_digits(text, (gsize)(open - text)), behind = leading_digits(rest);
  if (!check_brackets(rest, error))
    return NULL;
  if (MAX(before, behind) > NODESET_NAME_MAX) {
    nodeset_fail(error, text, -1, "the number is too large for a node name");
    return NULL;
  }
  g_autofree char *inside = g_strndup(open + 1, (gsize)(close - open - 1));
  g_autofree char *shifted =
      behind ? put_digits_behind(inside, rest, behind, error) : g_steal_pointer(&inside);
  g_autofree char *range =
      shifted && before ? put_digits_before(shifted, open - before, before, &term->work, error)
                        : g_steal_pointer(&shifted);
  rest += behind;
  if (!range || !nodeset_term_add_words(term, text, (gsize)(open - before - text), error))
    return NULL;
  if (*rest == '[') {
    nodeset_fail(error, text, -1, "a bracket follows another without a word between them");
    return NULL;
  }
  GArray *indices = nodeset_range_read(range, &term->work, error);
  return indices && add_axis(term, indices, error) ? rest : NULL;
}

/* One operand, with and without brackets. */
static gboolean
scan_term(Scan *scan, NodesetTerm *term, GError **error)
{
  const char *text = scan->rest;
  while (nodeset_is_blank(*text))
    text++;
  const char *start = text, *open, *op;
  while ((op = strpbrk(text, OPERATORS)), (open = strchr(text, '[')) && (!op || op > open))
    if (!(text = scan_bracket(term, text, open, error)))
      return FALSE;
  const char *end = op ? op : text + strlen(text);
  if (op && (op == start || !op[1]))
    return nodeset_fail(error, op, 1, "a node set is missing beside the operator");
  if (memchr(text, ']', (gsize)(end - text)))
    return nodeset_fail(error, text, end - text, "a bracket closes that was not opened");
  while (end > text && nodeset_is_blank(end[-1]))
    end--;
  scan->op = op ? *op : '\0';
  scan->rest = op ? op + 1 : NULL;
  return nodeset_term_add_words(term, text, (gsize)(end - text), error);
}

static gboolean
check_name_length(const NodesetTerm *term, GError **error)
{
  gsize length = 0;
  for (const char *p = term->pattern->str; *p; p++, length++)
    if (*p == '%' && *++p == 's')
      length--;
  for (guint d = 0; d < term->dims; d++) {
    /* Sorted by width, negative ones (longest first) apart. */
    const NodesetIndex *first = &g_array_index(term->axis[d], NodesetIndex, 0);
    length += MAX(first->width, first[term->axis[d]->len - 1].width);
  }
  if (length <= NODESET_NAME_MAX)
    return TRUE;
  g_set_error(error, NODESET_ERROR, 0, "a node name has at most %u bytes", NODESET_NAME_MAX);
  return FALSE;
}

/* Adds all names of TERM to SET and leaves it unsettled. */
static gboolean
add_term(Parser *parser, Nodeset *set, const NodesetTerm *term, GError **error)
{
  guint64 size = 1;
  for (guint d = 0; d < term->dims && size <= NODESET_NAMES_MAX; d++)
    size *= term->axis[d]->len;
  if (size > NODESET_NAMES_MAX) {
    g_set_error(error, NODESET_ERROR, 0, "more than %u names", NODESET_NAMES_MAX);
    return FALSE;
  }
  if (!check_name_length(term, error) || !nodeset_spend(&parser->work, size, error))
    return FALSE;
  NodesetFamily *family = nodeset_family(set, term->pattern->str, term->dims);
  guint at[NODESET_DIMS_MAX] = {0};
  for (guint64 i = 0; i < size; i++) {
    NodesetIndex tuple[NODESET_DIMS_MAX];
    for (guint d = 0; d < term->dims; d++)
      tuple[d] = g_array_index(term->axis[d], NodesetIndex, at[d]);
    nodeset_family_append(family, tuple);
    for (guint d = term->dims; d-- > 0 && ++at[d] == term->axis[d]->len;)
      at[d] = 0;
  }
  set->n += (guint)size;
  set->settled = FALSE;
  return TRUE;
}

static gboolean
apply(Parser *parser, Nodeset *set, char op, const Nodeset *other, GError **error)
{
  return nodeset_spend(&parser->work, other->n + (op == ',' ? 0 : set->n), error) &&
         nodeset_apply(set, op, other, error);
}

/* The members of group NAME added to SET. */
static gboolean
add_group(Parser *parser, Nodeset *set, const char *name, GError **error)
{
  if (!parser->groups)
    return nodeset_fail(error, name, -1, "no groups are known here");
  if (parser->depth == NODESET_NESTING_MAX)
    return nodeset_fail(error, name, -1, "groups are nested too deeply, or name each other");
  g_autofree char *text = parser->groups(name, parser->data, error);
  if (!text)
    return FALSE;
  parser->depth++;
  g_autoptr(Nodeset) members = parse_text(parser, text, error);
  parser->depth--;
  return members && apply(parser, set, ',', members, error);
}

/* `@rack[1-2]` names two groups. */
static gboolean
add_groups(Parser *parser, Nodeset *set, const Nodeset *names, GError **error)
{
  for (guint i = 0; i < nodeset_count(names); i++)
    if (!add_group(parser, set, nodeset_name(names, i) + 1, error))
      return FALSE;
  return nodeset_settle(set, error);
}

static gboolean
add_matches(Parser *parser, Nodeset *set, const Nodeset *masks, GError **error)
{
  g_autoptr(Nodeset) all = nodeset_new();
  if (!add_group(parser, all, "all", error))
    return FALSE;
  if (!nodeset_spend(&parser->work, (guint64)nodeset_count(masks) * nodeset_count(all), error))
    return FALSE;
  for (guint m = 0; m < nodeset_count(masks); m++) {
    g_autoptr(GPatternSpec) mask = g_pattern_spec_new(nodeset_name(masks, m));
    for (guint i = 0; i < nodeset_count(all); i++) {
      const char *name = nodeset_name(all, i);
      NodesetTerm term;
      nodeset_term_init(&term);
      gboolean ok = !g_pattern_spec_match_string(mask, name) ||
                    (nodeset_term_add_words(&term, name, strlen(name), error) &&
                     add_term(parser, set, &term, error));
      nodeset_term_clear(&term);
      if (!ok)
        return FALSE;
    }
  }
  return nodeset_settle(set, error);
}

/* SET becomes SET OP the operand. */
static gboolean
apply_term(Parser *parser, Nodeset *set, char op, const NodesetTerm *term, GError **error)
{
  const char *pattern = term->pattern->str;
  gboolean group = *pattern == '@', wildcard = !group && strpbrk(pattern, "*?");
  if (op == ',' && !group && !wildcard)
    return add_term(parser, set, term, error) &&
           (set->n <= 2 * NODESET_NAMES_MAX || nodeset_settle(set, error));
  g_autoptr(Nodeset) operand = nodeset_new();
  if (!add_term(parser, operand, term, error))
    return FALSE;
  if (!group && !wildcard)
    return apply(parser, set, op, operand, error);
  g_autoptr(Nodeset) meant = nodeset_new();
  return (group ? add_groups(parser, meant, operand, error)
                : add_matches(parser, meant, operand, error)) &&
         apply(parser, set, op, meant, error);
}

static Nodeset *
parse_text(Parser *parser, const char *text, GError **error)
{
  gsize n = strlen(text);
  if (n > NODESET_TEXT_MAX || !g_utf8_validate(text, (gssize)n, NULL)) {
    g_set_error(error, NODESET_ERROR, 0,
                n > NODESET_TEXT_MAX ? "a node set's text has at most 64 KiB"
                                     : "a node set's text must be UTF-8");
    return NULL;
  }
  g_autofree char *stripped = nodeset_strip(g_strdup(text));
  g_autoptr(Nodeset) set = nodeset_new();
  Scan scan = {.rest = *stripped ? stripped : NULL, .op = ','};
  while (scan.rest) {
    if (++parser->terms > NODESET_TERMS_MAX) {
      g_set_error(error, NODESET_ERROR, 0, "more than %u operands, those of groups included",
                  NODESET_TERMS_MAX);
      return NULL;
    }
    NodesetTerm term;
    char op = scan.op;
    nodeset_term_init(&term);
    term.work = parser->work;
    gboolean ok = scan_term(&scan, &term, error);
    parser->work = term.work;
    ok = ok && apply_term(parser, set, op, &term, error);
    nodeset_term_clear(&term);
    if (!ok)
      return NULL;
  }
  return nodeset_settle(set, error) ? g_steal_pointer(&set) : NULL;
}

Nodeset *
nodeset_parse(const char *text, NodesetGroupFunc groups, gpointer data, GError **error)
{
  Parser parser = {.groups = groups, .data = data};
  return parse_text(&parser, text, error);
}
