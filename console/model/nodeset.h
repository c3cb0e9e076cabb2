/* Node sets, with ClusterShell's grammar: `a[01-17,20]`, padding, steps `[0-8/2]`, several
 * dimensions `r[1-2]n[1-4]`, operators `,` union, `!` difference, `&` intersection, `^` symmetric
 * difference (all from left to right), groups `@room`, and the wildcards `*` and `?`.
 *
 * A Nodeset is a sorted set of names without duplicates, in ClusterShell's order: by pattern (the
 * name with its numbers left out), then by number; 7 and 07 differ. What version 1.9 of its
 * `nodeset` prints, this prints.
 *
 * Limits: text 64 KiB, UTF-8; 65,536 names, names of 255 bytes and 8 numbers, numbers to 10^36;
 * 65,536 operands, those of groups included.
 *
 * Not thread-safe, not even for reading: names are made when first asked for.
 */
#ifndef PULT_MODEL_NODESET_H
#define PULT_MODEL_NODESET_H

#include <glib.h>

typedef struct Nodeset Nodeset;

#define NODESET_ERROR (g_quark_from_static_string("pult-nodeset"))

/* Gives the node set text of group NAME (without its @), or NULL with error. The text may name
 * groups in turn; nesting over 16 is an error. */
typedef char *(*NodesetGroupFunc)(const char *name, gpointer data, GError **error);

/* GROUPS may be NULL: then every @group and every wildcard is an error. Wildcards match the names
 * of group `all`. Empty text is the empty set. */
Nodeset *nodeset_parse(const char *text, NodesetGroupFunc groups, gpointer data, GError **error);
void nodeset_free(Nodeset *set);
/* SET becomes `SET op OTHER`, op one of `,!&^`. On error (too many names) SET holds what it holds
 * by then and is good only for nodeset_free. */
gboolean nodeset_combine(Nodeset *set, char op, const Nodeset *other, GError **error);

guint nodeset_count(const Nodeset *set);
const char *nodeset_name(const Nodeset *set, guint i);
/* NAME is one name, not text to be parsed. */
gboolean nodeset_contains(const Nodeset *set, const char *name);
/* `a[01-17]`: what `nodeset -f` prints. Free with g_free. */
char *nodeset_fold(const Nodeset *set);
/* Folds NAMES, which may come in any order, in any number, and hold duplicates; operators and
 * brackets in them are plain characters. A name beyond the limits is printed as it stands. */
char *nodeset_fold_names(const char *const *names, guint n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Nodeset, nodeset_free)

#endif
