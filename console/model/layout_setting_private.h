/* How settings and control commands are kept. Only the layout_*.c that read and look them up
 * include this. */
#ifndef PULT_MODEL_LAYOUT_SETTING_PRIVATE_H
#define PULT_MODEL_LAYOUT_SETTING_PRIVATE_H

#include "model/layout_backend.h"

/* One key's value, for the instance or for a set of nodes. */
typedef struct {
  const SettingKey *key;
  NodeId *nodes; /* sorted; NULL: the instance */
  guint *place;  /* beside nodes: position in the set as written, for `step` */
  guint n_nodes;
  char *text;
  char **words;  /* SETTING_WORDS */
  guint64 step;  /* of an address, 0: the same for all */
  guint32 start; /* with step */
  gint64 number; /* COUNT, TIME, FLAG */
} Setting;

struct LayoutBackend {
  char *name;
  const char *type;    /* static */
  GPtrArray *settings; /* of Setting, later ones win */
};

typedef struct {
  NodeId *nodes; /* sorted */
  guint n_nodes;
  char *name;
  char *run, *get, *set; /* NULL where not given */
} LayoutControlEntry;

const SettingKey *layout_setting_key(const char *type, const char *key);
void layout_backend_free(gpointer backend);
void layout_control_free(gpointer entry);
gboolean layout_nodes_have(const NodeId *nodes, guint n, NodeId node, guint *index);
#endif
