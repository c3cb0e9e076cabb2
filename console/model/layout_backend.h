/* How a layout's machines are reached: backends and their settings, commands that control nodes.
 *
 *   backends:
 *     bmc:                         # an instance, as `power: bmc` names it
 *       type: ipmi                 # absent: the instance's own name
 *       user: admin
 *       password: file:bmc.secret  # never the secret itself: file:PATH, env:NAME or prompt
 *       nodes:                     # what differs by node; a later entry wins
 *         a[01-17]: {address: 10.9.0.1 step 1}
 *         a04: {address: a04-bmc.example, cipher: 17}
 *   control:
 *     slx1: {nfsd: {get: cat /proc/fs/nfsd/threads, set: "echo {value} >/proc/fs/nfsd/threads"}}
 *     a[01-17]: {off: systemctl poweroff, usage: who}
 *
 * A backend that needs no settings may be named without an entry: its name is then its type. Which
 * keys a type has, of what kind, and what they are when not given, stands in one table
 * (layout_setting_keys.c); values are checked when the file is read. A key with a dot stands in a
 * map of its own: `status.run` is `status: {run: …}`.
 *
 * In settings and commands {node}, {ip}, {mac} and {number} (the last digits of the node's name)
 * stand for the node they are asked for; {{ is a brace.
 *
 * Everything here is immutable and lives as long as the layout. Functions that return char * return
 * a copy to free with g_free.
 */
#ifndef PULT_MODEL_LAYOUT_BACKEND_H
#define PULT_MODEL_LAYOUT_BACKEND_H

#include "model/layout.h"

typedef enum {
  SETTING_TEXT,   /* one line, with placeholders */
  SETTING_WORDS,  /* a list of such: the words of a command, never given to a shell */
  SETTING_SECRET, /* file:PATH, env:NAME or prompt */
  SETTING_COUNT,
  SETTING_TIME,
  SETTING_FLAG,
  SETTING_CHOICE,
  SETTING_PATTERN, /* PCRE2 */
} SettingKind;

typedef struct {
  const char *type; /* of backend */
  const char *key;
  SettingKind kind;
  const char *fallback;       /* when not given; NULL: none */
  guint min, max;             /* SETTING_COUNT */
  const char *const *choices; /* SETTING_CHOICE, NULL-terminated */
  const char *about;          /* for the manual page */
} SettingKey;

/* All keys of all types, and the types, NULL-terminated. */
const SettingKey *layout_setting_keys(guint *n);
const char *const *layout_backend_types(void);

typedef struct LayoutBackend LayoutBackend;

/* The instance called NAME; NULL when the layout neither describes it nor names a node's by it. */
const LayoutBackend *layout_backend(const Layout *layout, const char *name);
const char *layout_backend_type(const LayoutBackend *backend);

/* What KEY, which its type must have, is for NODE (NODE_NONE: for the instance): the node's own,
 * the instance's, or the fallback. The kinds but WORDS have a text; NULL when there is none. */
char *layout_setting_text(const Layout *layout, const LayoutBackend *backend, NodeId node,
                          const char *key);
/* NULL-terminated, free with g_strfreev; NULL when there is none. */
char **layout_setting_words(const Layout *layout, const LayoutBackend *backend, NodeId node,
                            const char *key);
/* These have a value always: keys of their kinds without a fallback are 0 or FALSE. */
guint layout_setting_count(const Layout *layout, const LayoutBackend *backend, NodeId node,
                           const char *key);
gint64 layout_setting_time(const Layout *layout, const LayoutBackend *backend, NodeId node,
                           const char *key); /* ns */
gboolean layout_setting_flag(const Layout *layout, const LayoutBackend *backend, NodeId node,
                             const char *key);

/* A command line for the shell of NODE. NAME is a property as `set` and `get` name it within its
 * node (`nfsd`, `bond0.policy`, `eth1.state`, `link:sw2-sw3.state`), or `off`, `soft-off`, `reset`,
 * `kexec`, `usage`, `drop-caches`, `fill-caches`. ACTION: `get`, `set` or, where the layout gives
 * one line only, `run`. {value} is VALUE, quoted for the shell. NULL when the layout gives none. */
char *layout_control(const Layout *layout, NodeId node, const char *name, const char *action,
                     const char *value);

/* TEXT with what stands for NODE in the place of its placeholders, and those of EXTRA (n of them)
 * by theirs. NODE_NONE: the node's are "". NULL with an error: there is no such placeholder. */
char *layout_expand(const Layout *layout, NodeId node, const char *text, const Argument *extra,
                    guint n, GError **error);

#endif
