#include "model/keyboard.h"

#include <string.h>

#include "model/units.h"

const char *const keyboard_names[] = {"us", "de", NULL};

static const char *const keys[] = {
    "Ctrl",      "Alt",       "AltGr",     "Shift",     "Super",    "Enter",       "Esc",
    "Tab",       "Space",     "Backspace", "Delete",    "Insert",   "Home",        "End",
    "PageUp",    "PageDown",  "Up",        "Down",      "Left",     "Right",       "F1",
    "F2",        "F3",        "F4",        "F5",        "F6",       "F7",          "F8",
    "F9",        "F10",       "F11",       "F12",       "CapsLock", "NumLock",     "ScrollLock",
    "SysRq",     "Pause",     "Menu",      "Minus",     "Equal",    "LeftBracket", "RightBracket",
    "Backslash", "Semicolon", "Quote",     "Backquote", "Comma",    "Period",      "Slash",
    "Less",      "a",         "b",         "c",         "d",        "e",           "f",
    "g",         "h",         "i",         "j",         "k",        "l",           "m",
    "n",         "o",         "p",         "q",         "r",        "s",           "t",
    "u",         "v",         "w",         "x",         "y",        "z",           "0",
    "1",         "2",         "3",         "4",         "5",        "6",           "7",
    "8",         "9",         NULL};

static const struct {
  const char *other, *key;
} others[] = {{"Control", "Ctrl"}, {"Return", "Enter"},     {"Escape", "Esc"},    {"Del", "Delete"},
              {"Ins", "Insert"},   {"PgUp", "PageUp"},      {"PgDn", "PageDown"}, {"Win", "Super"},
              {"Meta", "Super"},   {"PrintScreen", "SysRq"}};

const char *const *
keyboard_keys(void)
{
  return keys;
}

static const char *
find_key(const char *word)
{
  for (guint i = 0; keys[i] != NULL; i++)
    if (g_ascii_strcasecmp(keys[i], word) == 0)
      return keys[i];
  for (guint i = 0; i < G_N_ELEMENTS(others); i++)
    if (g_ascii_strcasecmp(others[i].other, word) == 0)
      return others[i].key;
  return NULL;
}

static void
unknown_key(const char *word, GError **error)
{
  const char *nearest = units_nearest_word(word, keys);

  if (nearest != NULL)
    g_set_error(error, KEYBOARD_ERROR, 0, "there is no key \"%s\"; did you mean \"%s\"?", word,
                nearest);
  else
    g_set_error(error, KEYBOARD_ERROR, 0, "there is no key \"%s\"", word);
}

char *
keyboard_key(const char *word, GError **error)
{
  g_auto(GStrv) parts = g_strsplit(word, "-", -1);
  g_autoptr(GString) all = g_string_new(NULL);

  if (parts[0] == NULL || strlen(word) > 64) {
    g_set_error(error, KEYBOARD_ERROR, 0, "a key is due, such as F12 or Ctrl-Alt-Delete");
    return NULL;
  }
  for (guint i = 0; parts[i] != NULL; i++) {
    const char *key = find_key(parts[i]);
    if (key == NULL) {
      unknown_key(parts[i], error);
      return NULL;
    }
    g_string_append_printf(all, "%s%s", i > 0 ? "-" : "", key);
  }
  return g_string_free(g_steal_pointer(&all), FALSE);
}

char **
keyboard_press(const char *words, GError **error)
{
  g_auto(GStrv) all = g_strsplit(words, " ", -1);
  for (guint i = 0; all[i] != NULL; i++) {
    char *key = keyboard_key(all[i], error);
    if (key == NULL)
      return NULL;
    g_free(all[i]);
    all[i] = key;
  }
  return g_steal_pointer(&all);
}

/* ---- Texts --------------------------------------------------------------------------------- */

/* What a key writes alone, with Shift and with AltGr; 0: nothing, or the key waits for another. */
typedef struct {
  const char *key;
  gunichar plain, shifted, third;
} Written;

static const Written us[] = {{"Minus", '-', '_', 0},       {"Equal", '=', '+', 0},
                             {"LeftBracket", '[', '{', 0}, {"RightBracket", ']', '}', 0},
                             {"Backslash", '\\', '|', 0},  {"Semicolon", ';', ':', 0},
                             {"Quote", '\'', '"', 0},      {"Backquote", '`', '~', 0},
                             {"Comma", ',', '<', 0},       {"Period", '.', '>', 0},
                             {"Slash", '/', '?', 0},       {"1", '1', '!', 0},
                             {"2", '2', '@', 0},           {"3", '3', '#', 0},
                             {"4", '4', '$', 0},           {"5", '5', '%', 0},
                             {"6", '6', '^', 0},           {"7", '7', '&', 0},
                             {"8", '8', '*', 0},           {"9", '9', '(', 0},
                             {"0", '0', ')', 0},           {NULL, 0, 0, 0}};

static const Written de[] = {{"y", 'z', 'Z', 0},
                             {"z", 'y', 'Y', 0},
                             {"q", 'q', 'Q', '@'},
                             {"e", 'e', 'E', 0x20ac},
                             {"m", 'm', 'M', 0xb5},
                             {"Minus", 0xdf, '?', '\\'},
                             {"LeftBracket", 0xfc, 0xdc, 0},
                             {"RightBracket", '+', '*', '~'},
                             {"Semicolon", 0xf6, 0xd6, 0},
                             {"Quote", 0xe4, 0xc4, 0},
                             {"Backslash", '#', '\'', 0},
                             {"Backquote", 0, 0xb0, 0},
                             {"Less", '<', '>', '|'},
                             {"Comma", ',', ';', 0},
                             {"Period", '.', ':', 0},
                             {"Slash", '-', '_', 0},
                             {"1", '1', '!', 0},
                             {"2", '2', '"', 0xb2},
                             {"3", '3', 0xa7, 0xb3},
                             {"4", '4', '$', 0},
                             {"5", '5', '%', 0},
                             {"6", '6', '&', 0},
                             {"7", '7', '/', '{'},
                             {"8", '8', '(', '['},
                             {"9", '9', ')', ']'},
                             {"0", '0', '=', '}'},
                             {NULL, 0, 0, 0}};

/* A key that waits for the next writes its own sign with Space behind it. */
static const struct {
  gunichar sign;
  const char *key;
} dead[] = {{'^', "Backquote"}, {0xb4, "Equal"}, {'`', "Shift-Equal"}};

static const Written *const tables[KEYBOARD_N] = {[KEYBOARD_US] = us, [KEYBOARD_DE] = de};

static char *
key_for(Keyboard keyboard, gunichar c)
{
  for (const Written *at = tables[keyboard]; at->key != NULL; at++) {
    if (c == at->plain)
      return g_strdup(at->key);
    if (c == at->shifted)
      return g_strconcat("Shift-", at->key, NULL);
    if (c == at->third)
      return g_strconcat("AltGr-", at->key, NULL);
  }
  if (c == ' ' || c == '\n' || c == '\t')
    return g_strdup(c == ' ' ? "Space" : c == '\n' ? "Enter" : "Tab");
  if (c < 128 && g_ascii_islower((char)c))
    return g_strdup_printf("%c", (char)c);
  if (c < 128 && g_ascii_isupper((char)c))
    return g_strdup_printf("Shift-%c", g_ascii_tolower((char)c));
  return NULL;
}

static gboolean
add_keys(Keyboard keyboard, gunichar c, GPtrArray *all)
{
  char *key = c != 0 ? key_for(keyboard, c) : NULL;

  if (key != NULL) {
    g_ptr_array_add(all, key);
    return TRUE;
  }
  for (guint i = 0; keyboard == KEYBOARD_DE && i < G_N_ELEMENTS(dead); i++)
    if (dead[i].sign == c) {
      g_ptr_array_add(all, g_strdup(dead[i].key));
      g_ptr_array_add(all, g_strdup("Space"));
      return TRUE;
    }
  return FALSE;
}

char **
keyboard_type(Keyboard keyboard, const char *text, GError **error)
{
  g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);

  for (const char *at = text; *at != '\0'; at = g_utf8_next_char(at)) {
    if (add_keys(keyboard, g_utf8_get_char(at), all))
      continue;
    g_autofree char *sign = g_strndup(at, (gsize)(g_utf8_next_char(at) - at));
    g_autofree char *shown = g_strescape(sign, sign);
    g_set_error(error, KEYBOARD_ERROR, 0, "no key of a %s keyboard writes \"%s\"",
                keyboard_names[keyboard], g_unichar_isprint(g_utf8_get_char(at)) ? sign : shown);
    return NULL;
  }
  g_ptr_array_add(all, NULL);
  return (char **)g_ptr_array_steal(all, NULL);
}
