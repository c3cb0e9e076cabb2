/* The one loader of data files: a tree of YAML nodes, each with its position.
 *
 * On top of libyaml it refuses what an administrator did not mean: duplicate keys, anchors,
 * aliases, tags, `<<`, escaped control characters and \0, several documents, nesting over 16,
 * files over 4 MiB, lists over 65,536 entries. Every value is a string; typed readers are the
 * caller's (units.h).
 *
 * A file has either its one syntax error, or all its semantic errors: the readers below add to a
 * YamlErrors and go on.
 */
#ifndef PULT_MODEL_YAML_H
#define PULT_MODEL_YAML_H

#include <glib.h>

typedef enum { YAML_SCALAR, YAML_LIST, YAML_MAP } YamlKind;

typedef struct YamlNode YamlNode;
struct YamlNode {
  YamlKind kind;
  guint line, column;    /* from 1; columns count characters, not bytes */
  const char *text;      /* scalar */
  guint n;               /* entries of a list or map */
  const YamlNode **keys; /* of a map, in file order (scalars) */
  const YamlNode **items;
};

typedef struct YamlFile YamlFile;

/* Messages `NAME:LINE:COLUMN: text`, sorted by position, at most 100 and then a count. */
typedef struct YamlErrors YamlErrors;

YamlErrors *yaml_errors_new(const char *file_name);
void yaml_errors_free(YamlErrors *errors);
void yaml_errors_add(YamlErrors *errors, const YamlNode *at, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
guint yaml_errors_count(const YamlErrors *errors);
/* All messages, one a line, no newline at the end. Free with g_free. */
char *yaml_errors_text(const YamlErrors *errors);

#define YAML_ERROR (g_quark_from_static_string("pult-yaml"))

/* NAME is for messages. NULL with `NAME:LINE:COLUMN: message`. */
YamlFile *yaml_parse(const char *name, const char *text, gsize length, GError **error);
YamlFile *yaml_load(const char *path, GError **error);
void yaml_file_free(YamlFile *file);
const YamlNode *yaml_root(const YamlFile *file);

const YamlNode *yaml_get(const YamlNode *map, const char *key); /* NULL when absent */
/* Adds an error for every key of MAP not in KNOWN (NULL-terminated), naming the nearest. */
void yaml_check_keys(const YamlNode *map, const char *const *known, YamlErrors *errors);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(YamlFile, yaml_file_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(YamlErrors, yaml_errors_free)

#endif
