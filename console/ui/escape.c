#include "ui/escape.h"

#define ESC 27
/* A sequence goes on within this time; on a slow line it may come in pieces. */
#define PIECES_US (500 * 1000)
#define OLD_LETTERS 3 /* button, column, row, as a letter each */
#define CELL_MAX 9999

static UiKey
character_key(guint32 c)
{
  switch (c) {
  case 3:
    return UI_KEY_CTRL_C;
  case 8:
  case 127:
    return UI_KEY_BACKSPACE;
  case '\t':
    return UI_KEY_TAB;
  case 12:
    return UI_KEY_CTRL_L;
  case '\r':
  case '\n':
    return UI_KEY_ENTER;
  case 26:
    return UI_KEY_CTRL_Z;
  default:
    return (UiKey)c;
  }
}

/* Digits up to STOP, which *TEXT is moved behind. */
static gboolean
read_number(const char **text, char stop, int *value)
{
  const char *p = *text;
  *value = 0;
  while (g_ascii_isdigit(*p) && *value <= CELL_MAX)
    *value = 10 * *value + (*p++ - '0');
  if (p == *text || *p != stop || *value > CELL_MAX)
    return FALSE;
  *text = p + 1;
  return TRUE;
}

/* Presses without Shift, Alt or Ctrl, of the left button and the wheel; 4, 8, 16 would be those
 * keys, 32 a motion, a final `m` a release. */
static gboolean
mouse_key(Escape *escape, guint32 final, UiKey *key)
{
  const char *text = escape->text;
  int button, column, row;
  if (final != 'M' || *text++ != '<' || !read_number(&text, ';', &button) ||
      !read_number(&text, ';', &column) || !read_number(&text, '\0', &row) || row < 1 || column < 1)
    return FALSE;
  switch (button) {
  case 0:
    *key = UI_KEY_CLICK;
    break;
  case 64:
    *key = UI_KEY_WHEEL_UP;
    break;
  case 65:
    *key = UI_KEY_WHEEL_DOWN;
    break;
  default:
    return FALSE;
  }
  escape->row = row - 1;
  escape->column = column - 1;
  return TRUE;
}

static void
begin(Escape *escape, EscapeState state)
{
  escape->state = state;
  escape->length = 0;
}

/* Within ESC [, up to the letter that ends it. */
static gboolean
take_control(Escape *escape, guint32 c, UiKey *key)
{
  if (c < 0x40) {
    if (escape->length < ESCAPE_TEXT)
      escape->text[escape->length++] = (char)c;
    return FALSE;
  }
  escape->state = ESCAPE_GROUND;
  if (escape->length == 0 && c == 'M') {
    escape->state = ESCAPE_OLD;
    escape->left = OLD_LETTERS;
  }
  if (escape->length == ESCAPE_TEXT)
    return FALSE;
  escape->text[escape->length] = '\0';
  return mouse_key(escape, c, key);
}

static gboolean
take_plain(Escape *escape, guint32 c, UiKey *key)
{
  if (c == ESC) {
    begin(escape, ESCAPE_BEGUN);
    return FALSE;
  }
  escape->state = ESCAPE_GROUND;
  *key = character_key(c);
  return TRUE;
}

/* Behind an ESC that no pause followed: Alt with a letter sends both at once. Two Escapes are two;
 * Enter behind one is not Enter, for what it would give was left. */
static gboolean
take_second(Escape *escape, guint32 c, UiKey *key)
{
  escape->state = c == ESC ? ESCAPE_BEGUN : ESCAPE_GROUND;
  *key = c == ESC || c > 127 ? UI_KEY_ESCAPE : c == 3 ? UI_KEY_CTRL_C : UI_KEY_ALT + (UiKey)c;
  return TRUE;
}

gboolean
escape_take(Escape *escape, guint32 c, gint64 now, UiKey *key)
{
  gboolean late = now - escape->last > PIECES_US;
  gboolean control = c < ' ' || c == 127; /* is what it is, whatever was begun */
  gboolean behind = escape->state == ESCAPE_BEGUN || escape->state == ESCAPE_ALONE;
  escape->last = now;
  if (late || (control && escape->state != ESCAPE_BEGUN))
    escape->state = ESCAPE_GROUND;
  else if (behind && (c == '[' || c == 'O')) {
    begin(escape, c == '[' ? ESCAPE_CONTROL : ESCAPE_SINGLE);
    return FALSE;
  }
  switch (escape->state) {
  case ESCAPE_GROUND:
  case ESCAPE_ALONE:
    return take_plain(escape, c, key);
  case ESCAPE_BEGUN:
    return take_second(escape, c, key);
  case ESCAPE_CONTROL:
    return take_control(escape, c, key);
  case ESCAPE_SINGLE:
    escape->state = ESCAPE_GROUND;
    return FALSE;
  case ESCAPE_OLD:
    escape->state = --escape->left > 0 ? ESCAPE_OLD : ESCAPE_GROUND;
    return FALSE;
  }
  g_assert_not_reached();
}

gboolean
escape_pause(Escape *escape, UiKey *key)
{
  if (escape->state != ESCAPE_BEGUN)
    return FALSE;
  escape->state = ESCAPE_ALONE;
  *key = UI_KEY_ESCAPE;
  return TRUE;
}
