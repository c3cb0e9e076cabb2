#include "backends/libvirt/libvirt_keys.h"

#include <linux/input-event-codes.h>
#include <string.h>

static const struct {
  const char *name;
  guint code;
} codes_of[] = {
    {"Ctrl", KEY_LEFTCTRL},
    {"Alt", KEY_LEFTALT},
    {"AltGr", KEY_RIGHTALT},
    {"Shift", KEY_LEFTSHIFT},
    {"Super", KEY_LEFTMETA},
    {"Enter", KEY_ENTER},
    {"Esc", KEY_ESC},
    {"Tab", KEY_TAB},
    {"Space", KEY_SPACE},
    {"Backspace", KEY_BACKSPACE},
    {"Delete", KEY_DELETE},
    {"Insert", KEY_INSERT},
    {"Home", KEY_HOME},
    {"End", KEY_END},
    {"PageUp", KEY_PAGEUP},
    {"PageDown", KEY_PAGEDOWN},
    {"Up", KEY_UP},
    {"Down", KEY_DOWN},
    {"Left", KEY_LEFT},
    {"Right", KEY_RIGHT},
    {"F1", KEY_F1},
    {"F2", KEY_F2},
    {"F3", KEY_F3},
    {"F4", KEY_F4},
    {"F5", KEY_F5},
    {"F6", KEY_F6},
    {"F7", KEY_F7},
    {"F8", KEY_F8},
    {"F9", KEY_F9},
    {"F10", KEY_F10},
    {"F11", KEY_F11},
    {"F12", KEY_F12},
    {"CapsLock", KEY_CAPSLOCK},
    {"NumLock", KEY_NUMLOCK},
    {"ScrollLock", KEY_SCROLLLOCK},
    {"SysRq", KEY_SYSRQ},
    {"Pause", KEY_PAUSE},
    {"Menu", KEY_COMPOSE},
    {"Minus", KEY_MINUS},
    {"Equal", KEY_EQUAL},
    {"LeftBracket", KEY_LEFTBRACE},
    {"RightBracket", KEY_RIGHTBRACE},
    {"Backslash", KEY_BACKSLASH},
    {"Semicolon", KEY_SEMICOLON},
    {"Quote", KEY_APOSTROPHE},
    {"Backquote", KEY_GRAVE},
    {"Comma", KEY_COMMA},
    {"Period", KEY_DOT},
    {"Slash", KEY_SLASH},
    {"Less", KEY_102ND},
};

/* By where they are on a US keyboard, 0 behind 9. */
static guint
code_of_character(char c)
{
  static const guint letters[26] = {KEY_A, KEY_B, KEY_C, KEY_D, KEY_E, KEY_F, KEY_G, KEY_H, KEY_I,
                                    KEY_J, KEY_K, KEY_L, KEY_M, KEY_N, KEY_O, KEY_P, KEY_Q, KEY_R,
                                    KEY_S, KEY_T, KEY_U, KEY_V, KEY_W, KEY_X, KEY_Y, KEY_Z};
  if (g_ascii_islower(c))
    return letters[c - 'a'];
  if (c == '0')
    return KEY_0;
  return g_ascii_isdigit(c) ? KEY_1 + (guint)(c - '1') : KEY_RESERVED;
}

static guint
code_of(const char *name)
{
  if (strlen(name) == 1)
    return code_of_character(*name);
  for (guint i = 0; i < G_N_ELEMENTS(codes_of); i++)
    if (strcmp(codes_of[i].name, name) == 0)
      return codes_of[i].code;
  return KEY_RESERVED;
}

guint
libvirt_keys_read(const char *combination, guint codes[LIBVIRT_KEYS_HELD])
{
  g_auto(GStrv) names = g_strsplit(combination, "-", -1);
  guint n = g_strv_length(names);
  if (n > LIBVIRT_KEYS_HELD)
    return 0;
  for (guint i = 0; i < n; i++) {
    codes[i] = code_of(names[i]);
    if (codes[i] == KEY_RESERVED)
      return 0;
  }
  return n;
}
