#include "model/nodeset_private.h"

#include <string.h>

static int
compare_patterns(gconstpointer a, gconstpointer b, gpointer unused)
{
  (void)unused;
  return strcmp(a, b);
}

static GTree *
families_new(void)
{
  return g_tree_new_full(compare_patterns, NULL, NULL, (GDestroyNotify)nodeset_family_free);
}

Nodeset *
nodeset_new(void)
{
  Nodeset *set = g_new0(Nodeset, 1);
  set->settled = TRUE;
  set->families = families_new();
  set->names = g_ptr_array_new_with_free_func(g_free);
  return set;
}

void
nodeset_free(Nodeset *set)
{
  if (!set)
    return;
  g_tree_unref(set->families);
  g_ptr_array_unref(set->names);
  g_free(set);
}

NodesetFamily *
nodeset_family(Nodeset *set, const char *pattern, guint dims)
{
  NodesetFamily *family = g_tree_lookup(set->families, pattern);
  if (!family) {
    family = nodeset_family_new(pattern, dims);
    g_tree_insert(set->families, family->pattern, family);
  }
  g_assert(family->dims == dims);
  return family;
}

gboolean
nodeset_settle(Nodeset *set, GError **error)
{
  if (!set->settled) {
    set->settled = TRUE;
    set->n = 0;
    for (GTreeNode *i = g_tree_node_first(set->families); i; i = g_tree_node_next(i)) {
      NodesetFamily *family = g_tree_node_value(i);
      nodeset_family_settle(family);
      set->n += family->n;
    }
  }
  if (set->n <= NODESET_NAMES_MAX)
    return TRUE;
  g_set_error(error, NODESET_ERROR, 0, "more than %u names", NODESET_NAMES_MAX);
  return FALSE;
}

/* Sorting is put off until someone looks; it does not change which set this is, hence the cast. */
static void
look_at(const Nodeset *set)
{
  nodeset_settle((Nodeset *)set, NULL);
}

static void
add_family(Nodeset *set, const NodesetFamily *other)
{
  NodesetFamily *family = nodeset_family(set, other->pattern, other->dims);
  const NodesetIndex *tuple = (const NodesetIndex *)other->index->data;
  for (guint i = 0; i < other->n; i++, tuple += other->dims)
    nodeset_family_append(family, tuple);
  set->n += other->n;
}

/* Where SET has the family too; elsewhere its copy is new to SET, or nothing. */
static void
merge_family(Nodeset *set, const NodesetFamily *other, NodesetKeep keep)
{
  NodesetFamily *family = g_tree_lookup(set->families, other->pattern);
  if (family) {
    nodeset_family_merge(family, other, keep);
    if (family->n == 0)
      g_tree_remove(set->families, other->pattern);
  } else if (keep & NODESET_KEEP_RIGHT) {
    add_family(set, other);
  }
}

static void
intersect(Nodeset *set, const Nodeset *other)
{
  GTree *all = set->families;
  set->families = families_new();
  for (GTreeNode *i = g_tree_node_first(other->families); i; i = g_tree_node_next(i)) {
    const NodesetFamily *theirs = g_tree_node_value(i), *mine;
    if (!(mine = g_tree_lookup(all, theirs->pattern)))
      continue;
    NodesetFamily *common = nodeset_family_copy(mine);
    nodeset_family_merge(common, theirs, NODESET_KEEP_BOTH);
    if (common->n > 0)
      g_tree_insert(set->families, common->pattern, common);
    else
      nodeset_family_free(common);
  }
  g_tree_unref(all);
}

gboolean
nodeset_apply(Nodeset *set, char op, const Nodeset *other, GError **error)
{
  look_at(other);
  if (op != ',' && !nodeset_settle(set, error))
    return FALSE;
  set->settled = FALSE;
  if (op == '&')
    intersect(set, other);
  for (GTreeNode *i = g_tree_node_first(other->families); i; i = g_tree_node_next(i)) {
    const NodesetFamily *family = g_tree_node_value(i);
    if (op == ',')
      add_family(set, family);
    else if (op == '!')
      merge_family(set, family, NODESET_KEEP_LEFT);
    else if (op == '^')
      merge_family(set, family, NODESET_KEEP_LEFT | NODESET_KEEP_RIGHT);
  }
  if (op == ',')
    return set->n <= 2 * NODESET_NAMES_MAX || nodeset_settle(set, error);
  return nodeset_settle(set, error);
}

gboolean
nodeset_combine(Nodeset *set, char op, const Nodeset *other, GError **error)
{
  g_assert(set != other && op != '\0' && strchr(",!&^", op));
  g_ptr_array_set_size(set->names, 0);
  return nodeset_apply(set, op, other, error) &&
         (set->n <= NODESET_NAMES_MAX || nodeset_settle(set, error));
}

guint
nodeset_count(const Nodeset *set)
{
  look_at(set);
  return set->n;
}

const char *
nodeset_name(const Nodeset *set, guint at)
{
  look_at(set);
  g_assert(at < set->n);
  if (set->names->len == 0)
    for (GTreeNode *i = g_tree_node_first(set->families); i; i = g_tree_node_next(i))
      nodeset_family_names(g_tree_node_value(i), set->names);
  return set->names->pdata[at];
}

gboolean
nodeset_contains(const Nodeset *set, const char *name)
{
  look_at(set);
  NodesetTerm term;
  nodeset_term_init(&term);
  NodesetIndex tuple[NODESET_DIMS_MAX];
  const NodesetFamily *family = NULL;
  if (nodeset_term_add_words(&term, name, strlen(name), NULL))
    family = g_tree_lookup(set->families, term.pattern->str);
  for (guint d = 0; d < term.dims; d++)
    tuple[d] = g_array_index(term.axis[d], NodesetIndex, 0);
  gboolean found = family && nodeset_family_contains(family, tuple);
  nodeset_term_clear(&term);
  return found;
}

char *
nodeset_fold(const Nodeset *set)
{
  look_at(set);
  GString *text = g_string_new(NULL);
  for (GTreeNode *i = g_tree_node_first(set->families); i; i = g_tree_node_next(i)) {
    if (text->len > 0)
      g_string_append_c(text, ',');
    nodeset_family_fold(g_tree_node_value(i), text);
  }
  return g_string_free(text, FALSE);
}

static void
add_name(Nodeset *set, const char *name)
{
  NodesetTerm term;
  nodeset_term_init(&term);
  NodesetIndex tuple[NODESET_DIMS_MAX];
  if (!nodeset_term_add_words(&term, name, strlen(name), NULL)) {
    nodeset_term_clear(&term);
    nodeset_term_init(&term);
    nodeset_term_add_literal(&term, name, strlen(name));
  }
  for (guint d = 0; d < term.dims; d++)
    tuple[d] = g_array_index(term.axis[d], NodesetIndex, 0);
  nodeset_family_append(nodeset_family(set, term.pattern->str, term.dims), tuple);
  nodeset_term_clear(&term);
}

char *
nodeset_fold_names(const char *const *names, guint n)
{
  g_autoptr(Nodeset) set = nodeset_new();
  for (guint i = 0; i < n; i++) {
    g_autofree char *name = nodeset_strip(g_strdup(names[i]));
    if (*name)
      add_name(set, name);
  }
  set->settled = FALSE;
  return nodeset_fold(set);
}
