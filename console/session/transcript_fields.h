/* Typed reading of one JSON object, key by key; what was not asked for is an error at its end.
 *
 * The first error stays and every reader after it gives a harmless value, so that a caller reads
 * all of its fields in a row and asks once, with fields_end().
 */
#ifndef PULT_SESSION_TRANSCRIPT_FIELDS_H
#define PULT_SESSION_TRANSCRIPT_FIELDS_H

#include <jansson.h>

#include "model/layout.h"

#define FIELDS_MAX 16

typedef struct {
  json_t *object;   /* borrowed */
  GPtrArray *owned; /* borrowed: what is read and had to be copied is freed with it */
  guint n_asked;
  const char *asked[FIELDS_MAX];
  GError *error;
} Fields;

/* OBJECT may be of any JSON type; NAME tells it in the error when it is no object. */
void fields_begin(Fields *fields, json_t *object, const char *name, GPtrArray *owned);
/* FALSE with the first error, or one for a key that nobody asked for. */
gboolean fields_end(Fields *fields, GError **error);
void fields_fail(Fields *fields, const char *format, ...) G_GNUC_PRINTF(2, 3);

gboolean fields_has(Fields *fields, const char *key);
json_t *fields_take(Fields *fields, const char *key); /* NULL with an error when it is missing */
/* Strings have their \xNN undone; `\x00` is refused. */
const char *fields_string(Fields *fields, const char *key);
const char *fields_string_or_null(Fields *fields, const char *key);
/* The same of VALUE or TEXT, which stand under KEY. */
const char *fields_text(Fields *fields, json_t *value, const char *key);
const char *fields_unescape(Fields *fields, const char *text, const char *key);
gint64 fields_integer(Fields *fields, const char *key, gint64 min, gint64 max);
guint32 fields_count(Fields *fields, const char *key);
gboolean fields_bool(Fields *fields, const char *key);
double fields_number(Fields *fields, const char *key); /* null is NAN */
/* PARSE gives -1 for a word it does not know. */
int fields_word(Fields *fields, const char *key, int (*parse)(const char *word));
NodeId fields_node(Fields *fields, const char *key, const Layout *layout); /* absent: NODE_NONE */
/* A folded set; absent: none. */
void fields_nodes(Fields *fields, const char *key, const Layout *layout, const NodeId **nodes,
                  guint *n);
/* An array and its length; an absent or broken one has none. */
json_t *fields_array(Fields *fields, const char *key, gsize *n);
gpointer fields_new(Fields *fields, gsize size, gsize n); /* zeroed, freed with OWNED */

#endif
