/* What the files of the node set module share; nobody else includes this.
 *
 * ClusterShell takes a name apart into words and numbers: `r1n04-ipmi` is the pattern `r%sn%s-ipmi`
 * with the indices 1 and 04 (a `%` of the name itself is written `%%`). All names of one pattern
 * are a family, a sorted set of tuples with as many indices as the pattern has `%s`. A set is
 * families in the order of their patterns, bytewise.
 */
#ifndef PULT_MODEL_NODESET_PRIVATE_H
#define PULT_MODEL_NODESET_PRIVATE_H

#include "model/nodeset.h"

#define NODESET_TEXT_MAX 65536u
#define NODESET_NAMES_MAX 65536u
#define NODESET_DIMS_MAX 8u
#define NODESET_NAME_MAX 255u
#define NODESET_NESTING_MAX 16u
/* Operands of a text and of all groups it pulls in, and names handled in all their operations:
 * groups that name others twice would double the work at every level. */
#define NODESET_TERMS_MAX 65536u
#define NODESET_WORK_MAX (512u * NODESET_NAMES_MAX)
/* Index values lie between -10^36 and 10^36: serial numbers and time stamps fit. */
#define NODESET_INDEX_DIGITS 37u

typedef __int128 NodesetNumber;

/* 7, 07 and 007 are three different indices. */
typedef struct {
  NodesetNumber value;
  guint width; /* characters as written, with its sign and zeros */
} NodesetIndex;

/* nodeset_range.c: indices, and what stands between brackets. */

/* Sets `"PART": what is wrong`, PART being N bytes (or all for -1) made printable and cut to a
 * length that fits a line. Returns FALSE. */
gboolean nodeset_fail(GError **error, const char *part, gssize n, const char *what);

/* Adds NAMES to WORK; FALSE with error once that is over NODESET_WORK_MAX. */
gboolean nodeset_spend(guint64 *work, guint64 names, GError **error);
/* What Python's strip() takes for white space, ASCII only. */
gboolean nodeset_is_blank(char c);
/* In place; returns TEXT. */
char *nodeset_strip(char *text);

/* By width, then value; negative ones first. */
int nodeset_index_compare(const NodesetIndex *a, const NodesetIndex *b);
void nodeset_index_print(const NodesetIndex *index, GString *out);
/* N decimal digits and nothing else. */
gboolean nodeset_index_read(const char *digits, gsize n, NodesetIndex *index, GError **error);
/* Sorts NodesetIndex elements and drops duplicates. */
void nodeset_indices_settle(GArray *indices);
/* `1-5,08-10/2` into a new, settled array of NodesetIndex. Spends a unit of WORK a number. */
GArray *nodeset_range_read(const char *text, guint64 *work, GError **error);
/* The shortest text for N sorted indices, without brackets: `1-3,5`. Steps are never used, as
 * ClusterShell leaves them out unless asked (autostep). */
void nodeset_range_print(const NodesetIndex *at, guint n, GString *out);

/* nodeset_family.c */

typedef struct {
  char *pattern;
  guint dims;
  guint n;       /* tuples */
  GArray *index; /* n * dims of NodesetIndex */
  gboolean settled;
} NodesetFamily;

typedef enum {
  NODESET_KEEP_LEFT = 1 << 0, /* tuples only in the one */
  NODESET_KEEP_BOTH = 1 << 1,
  NODESET_KEEP_RIGHT = 1 << 2, /* only in the other */
} NodesetKeep;

NodesetFamily *nodeset_family_new(const char *pattern, guint dims);
NodesetFamily *nodeset_family_copy(const NodesetFamily *family);
void nodeset_family_free(NodesetFamily *family);
void nodeset_family_append(NodesetFamily *family, const NodesetIndex *tuple);
/* Sorts the tuples and drops duplicates; the functions below need it done. */
void nodeset_family_settle(NodesetFamily *family);
void nodeset_family_merge(NodesetFamily *family, const NodesetFamily *other, NodesetKeep keep);
gboolean nodeset_family_contains(const NodesetFamily *family, const NodesetIndex *tuple);

/* nodeset_fold.c: both in the order of ClusterShell. */
void nodeset_family_fold(const NodesetFamily *family, GString *out);
void nodeset_family_names(const NodesetFamily *family, GPtrArray *names);

/* nodeset.c */

/* A row of unions is sorted once, not at every comma. */
struct Nodeset {
  GTree *families;  /* pattern -> NodesetFamily */
  guint n;          /* tuples; duplicates count until settled */
  gboolean settled; /* as all its families are */
  GPtrArray *names; /* empty until asked for */
};

Nodeset *nodeset_new(void);
/* The family of PATTERN, made when missing. */
NodesetFamily *nodeset_family(Nodeset *set, const char *pattern, guint dims);
/* Sorts SET and drops duplicates. FALSE with error when over NODESET_NAMES_MAX names remain. */
gboolean nodeset_settle(Nodeset *set, GError **error);
/* nodeset_combine, but unions may leave up to twice the limit until SET is settled. */
gboolean nodeset_apply(Nodeset *set, char op, const Nodeset *other, GError **error);

/* nodeset_parse.c */

/* One operand: a pattern, and for each of its numbers the indices it runs over. */
typedef struct {
  GString *pattern;
  guint dims;
  GArray *axis[NODESET_DIMS_MAX];
  guint64 work; /* see nodeset_range_read */
} NodesetTerm;

void nodeset_term_init(NodesetTerm *term);
void nodeset_term_clear(NodesetTerm *term);
/* Takes N bytes of a name without brackets apart. */
gboolean nodeset_term_add_words(NodesetTerm *term, const char *text, gsize n, GError **error);
/* Takes N bytes as they are, digits included. */
void nodeset_term_add_literal(NodesetTerm *term, const char *text, gsize n);

#endif
