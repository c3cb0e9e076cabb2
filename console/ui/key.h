/* Keys as the screen knows them: Unicode characters as themselves, the rest from KEY_BASE on. */
#ifndef PULT_UI_KEY_H
#define PULT_UI_KEY_H

typedef enum {
  UI_KEY_BASE = 0x200000,
  UI_KEY_UP,
  UI_KEY_DOWN,
  UI_KEY_LEFT,
  UI_KEY_RIGHT,
  UI_KEY_PAGE_UP,
  UI_KEY_PAGE_DOWN,
  UI_KEY_HOME,
  UI_KEY_END,
  UI_KEY_ENTER,
  UI_KEY_TAB,
  UI_KEY_BACKTAB,
  UI_KEY_BACKSPACE,
  UI_KEY_DELETE,
  UI_KEY_ESCAPE,
  UI_KEY_CTRL_C,
  UI_KEY_CTRL_Z,
  UI_KEY_CTRL_L,
  UI_KEY_F1, /* F2 … F12 follow */
  UI_KEY_F12 = UI_KEY_F1 + 11,
  UI_KEY_CLICK, /* of the mouse: where it points is told beside it */
  UI_KEY_WHEEL_UP,
  UI_KEY_WHEEL_DOWN,
  UI_KEY_UNKNOWN,
  UI_KEY_ALT, /* Alt-x is UI_KEY_ALT + x (ASCII) */
} UiKeyCode;

typedef int UiKey;

#endif
