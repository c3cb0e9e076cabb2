/* Keys by name, and what has to be pressed for a text.
 *
 * A key is named by where it is on a US keyboard: `Down`, `F12`, `a`, `Minus`. Several pressed at
 * once have hyphens between, what is held first: `Ctrl-Alt-Delete`. What a system makes of a key is
 * its own layout's: a German one reads `y` as z.
 */
#ifndef PULT_MODEL_KEYBOARD_H
#define PULT_MODEL_KEYBOARD_H

#include <glib.h>

#define KEYBOARD_ERROR (g_quark_from_static_string("pult-keyboard"))

typedef enum { KEYBOARD_US, KEYBOARD_DE } Keyboard;
#define KEYBOARD_N (KEYBOARD_DE + 1)

/* `us`, `de`; NULL-terminated. */
extern const char *const keyboard_names[];

/* All names of keys, NULL-terminated. */
const char *const *keyboard_keys(void);
/* WORD as it is written: `ctrl-alt-del` is `Ctrl-Alt-Delete`. NULL with an error that names the
 * nearest key. */
char *keyboard_key(const char *word, GError **error);
/* The keys that WORDS names, blanks between them, NULL-terminated; NULL likewise. */
char **keyboard_press(const char *words, GError **error);
/* The keys that write TEXT (UTF-8) where KEYBOARD is set up, NULL-terminated. A newline is Enter,
 * a tab Tab. NULL with an error that names the character which is not on it. */
char **keyboard_type(Keyboard keyboard, const char *text, GError **error);

#endif
