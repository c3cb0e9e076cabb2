/* Typed readers of YAML values. Each adds its error and goes on, so that a file tells all it has at
 * once; a value in error leaves its target as it was.
 *
 * Keys may be absent: the getters then return NULL without an error, and yaml_require() says what
 * may not. Nodes are borrowed from their YamlFile.
 */
#ifndef PULT_MODEL_YAML_READ_H
#define PULT_MODEL_YAML_READ_H

#include "model/units.h"
#include "model/yaml.h"

/* The value of KEY when it is of that kind (and a scalar not empty), else NULL. */
const YamlNode *yaml_get_scalar(const YamlNode *map, const char *key, YamlErrors *errors);
const YamlNode *yaml_get_map(const YamlNode *map, const char *key, YamlErrors *errors);
const YamlNode *yaml_get_list(const YamlNode *map, const char *key, YamlErrors *errors);
/* NAME is the key VALUE stands behind. */
gboolean yaml_check_map(const YamlNode *name, const YamlNode *value, YamlErrors *errors);
/* An error at AT, naming OWNER, when MAP has no KEY. */
gboolean yaml_require(const YamlNode *map, const YamlNode *at, const char *owner, const char *key,
                      YamlErrors *errors);

/* These take a scalar; FALSE with an error when it is no such value. */

/* Replaces *LINE (which may be NULL) with a copy of at most MAX bytes. */
gboolean yaml_read_line(const YamlNode *value, gsize max, char **line, YamlErrors *errors);
gboolean yaml_read_bool(const YamlNode *value, gboolean *result, YamlErrors *errors);
gboolean yaml_read_count(const YamlNode *value, guint min, guint max, guint *result,
                         YamlErrors *errors);
/* In the dimension's base unit, from MIN to MAX. */
gboolean yaml_read_quantity(const YamlNode *value, Dimension dimension, double min, double max,
                            double *result, YamlErrors *errors);
/* One of WORDS (NULL-terminated); WHAT they are is for the message: `policy`. */
gboolean yaml_read_choice(const YamlNode *value, const char *what, const char *const *words,
                          guint *index, YamlErrors *errors);
/* The error of yaml_read_choice() alone, naming the nearest. */
void yaml_unknown_word(const YamlNode *value, const char *what, const char *const *words,
                       YamlErrors *errors);

#endif
