#include "model/layout_setting_private.h"
#include "model/units.h"

#include <string.h>

/* ---- Placeholders -------------------------------------------------------------------------- */

static char *
own_number(const char *name)
{
  const char *end = name + strlen(name);

  while (end > name && g_ascii_isdigit(end[-1]))
    end--;
  while (*end == '0' && end[1] != '\0')
    end++;
  return g_strdup(end);
}

static char *
ip_text(guint32 ip)
{
  return g_strdup_printf("%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
}

/* NULL: there is no such word. What a node lacks is "". */
static char *
placeholder(const LayoutNode *node, const char *word)
{
  static const char *const words[] = {"node", "ip", "mac", "number", NULL};

  if (!g_strv_contains(words, word))
    return NULL;
  if (node == NULL)
    return g_strdup("");
  if (strcmp(word, "node") == 0)
    return g_strdup(node->name);
  if (strcmp(word, "number") == 0)
    return own_number(node->name);
  if (strcmp(word, "ip") == 0)
    return node->has_ip ? ip_text(node->ip) : g_strdup("");
  return node->has_mac ? mac_print(&node->mac) : g_strdup("");
}

static char *
replacement(const LayoutNode *node, const char *word, const Argument *extra, guint n)
{
  for (guint i = 0; i < n; i++)
    if (strcmp(extra[i].key, word) == 0)
      return g_strdup(extra[i].value);
  return placeholder(node, word);
}

static void
unknown_placeholder(const char *word, const Argument *extra, guint n, GError **error)
{
  g_autoptr(GString) known = g_string_new("{node}, {ip}, {mac}, {number}");

  for (guint i = 0; i < n; i++)
    g_string_append_printf(known, ", {%s}", extra[i].key);
  g_set_error(error, LAYOUT_ERROR, 0, "there is no {%s; known are %s, and {{ is a brace", word,
              known->str);
}

char *
layout_expand(const Layout *layout, NodeId node, const char *text, const Argument *extra, guint n,
              GError **error)
{
  const LayoutNode *of = node == NODE_NONE ? NULL : &layout->nodes[node];
  g_autoptr(GString) out = g_string_new(NULL);

  for (const char *p = text; *p != '\0'; p++) {
    if (*p != '{') {
      g_string_append_c(out, *p);
      continue;
    }
    if (p[1] == '{') {
      g_string_append_c(out, *p++);
      continue;
    }
    gsize length = strcspn(p + 1, "}");
    g_autofree char *word = g_strndup(p + 1, length);
    g_autofree char *with = p[1 + length] == '}' ? replacement(of, word, extra, n) : NULL;
    if (with == NULL) {
      g_autofree char *shown = g_strndup(p + 1, MIN(length + 1, 40));
      unknown_placeholder(shown, extra, n, error);
      return NULL;
    }
    g_string_append(out, with);
    p += 1 + length;
  }
  return g_string_free(g_steal_pointer(&out), FALSE);
}

/* ---- Look-up ------------------------------------------------------------------------------- */

gboolean
layout_nodes_have(const NodeId *nodes, guint n, NodeId node, guint *index)
{
  guint low = 0, high = n;

  while (low < high) {
    guint middle = low + (high - low) / 2;
    if (nodes[middle] < node)
      low = middle + 1;
    else
      high = middle;
  }
  *index = low;
  return low < n && nodes[low] == node;
}

const LayoutBackend *
layout_backend(const Layout *layout, const char *name)
{
  for (guint i = 0; i < layout->backends->len; i++) {
    const LayoutBackend *backend = layout->backends->pdata[i];
    if (strcmp(backend->name, name) == 0)
      return backend;
  }
  return NULL;
}

const char *
layout_backend_type(const LayoutBackend *backend)
{
  return backend->type;
}

/* A node's own outranks the instance's, wherever they stand. */
static const Setting *
find(const LayoutBackend *backend, NodeId node, const SettingKey *key, guint *index)
{
  const Setting *of_instance = NULL;

  for (guint i = backend->settings->len; i-- > 0;) {
    const Setting *setting = backend->settings->pdata[i];
    if (setting->key != key)
      continue;
    if (setting->nodes == NULL)
      of_instance = of_instance != NULL ? of_instance : setting;
    else if (node != NODE_NONE && layout_nodes_have(setting->nodes, setting->n_nodes, node, index))
      return setting;
  }
  return of_instance;
}

static const SettingKey *
need_key(const LayoutBackend *backend, const char *name, guint kinds)
{
  const SettingKey *key = layout_setting_key(backend->type, name);

  g_assert(key != NULL && (1u << key->kind & kinds) != 0);
  return key;
}

char *
layout_setting_text(const Layout *layout, const LayoutBackend *backend, NodeId node,
                    const char *name)
{
  const SettingKey *key = need_key(backend, name, ~(1u << SETTING_WORDS));
  guint index = 0;
  const Setting *setting = find(backend, node, key, &index);
  const char *text = setting != NULL ? setting->text : key->fallback;

  if (text == NULL)
    return NULL;
  if (setting != NULL && setting->step > 0)
    return ip_text((guint32)(setting->start + setting->step * setting->place[index]));
  if (key->kind != SETTING_TEXT)
    return g_strdup(text);
  return layout_expand(layout, node, text, NULL, 0, NULL);
}

char **
layout_setting_words(const Layout *layout, const LayoutBackend *backend, NodeId node,
                     const char *name)
{
  const SettingKey *key = need_key(backend, name, 1u << SETTING_WORDS);
  guint index;
  const Setting *setting = find(backend, node, key, &index);
  (void)layout;

  return setting != NULL ? g_strdupv(setting->words) : NULL;
}

guint
layout_setting_count(const Layout *layout, const LayoutBackend *backend, NodeId node,
                     const char *name)
{
  const SettingKey *key = need_key(backend, name, 1u << SETTING_COUNT);
  guint index;
  const Setting *setting = find(backend, node, key, &index);
  guint64 value = 0;
  (void)layout;

  if (setting != NULL)
    return (guint)setting->number;
  if (key->fallback != NULL)
    units_parse_count(key->fallback, key->max, &value, NULL);
  return (guint)value;
}

gint64
layout_setting_time(const Layout *layout, const LayoutBackend *backend, NodeId node,
                    const char *name)
{
  const SettingKey *key = need_key(backend, name, 1u << SETTING_TIME);
  guint index;
  const Setting *setting = find(backend, node, key, &index);
  gint64 time = 0;
  (void)layout;

  if (setting != NULL)
    return setting->number;
  if (key->fallback != NULL)
    units_parse_duration(key->fallback, &time, NULL);
  return time;
}

gboolean
layout_setting_flag(const Layout *layout, const LayoutBackend *backend, NodeId node,
                    const char *name)
{
  const SettingKey *key = need_key(backend, name, 1u << SETTING_FLAG);
  guint index;
  const Setting *setting = find(backend, node, key, &index);
  (void)layout;

  if (setting != NULL)
    return setting->number != 0;
  return g_strcmp0(key->fallback, "true") == 0;
}
