/* The screen: views, focus, prompt, key bindings. Draws a CoreState into a canvas and turns keys
 * into what the host is asked for. Knows nothing of sessions or terminals.
 */
#ifndef PULT_UI_H
#define PULT_UI_H

#include "ui/canvas.h"
#include "ui/host.h"
#include "ui/key.h"

typedef struct Ui Ui; /* view, focus, scroll, half-typed line: never recorded */

/* STATE and OPS are borrowed. */
Ui *ui_new(const CoreState *state, const HostOps *ops, gpointer host);
void ui_free(Ui *ui);
/* Another state of the same layout (a seek). */
void ui_set_state(Ui *ui, const CoreState *state);
/* The I-th view, NULL behind the last; *ABOUT (may be NULL) says what it shows. */
const char *ui_view_name(guint i, const char **about);
/* FALSE when there is none of that name. */
gboolean ui_set_view(Ui *ui, const char *name);
void ui_key(Ui *ui, UiKey key);
/* A key of the mouse, which points to that cell of the canvas drawn last. */
void ui_mouse(Ui *ui, UiKey key, int row, int column);
/* What the next key finds, when one before it has changed it; drawing tells it too. */
void ui_set_status(Ui *ui, const HostStatus *status);
/* A message on the line above the prompt until the next key. */
void ui_message(Ui *ui, Severity severity, const char *text);
void ui_draw(Ui *ui, Canvas *canvas, const HostStatus *status);
/* The canvas drawn last is not shown: what is pointed to is a cell of the one before. */
void ui_undraw(Ui *ui);
/* The bindings as text, with the views they are for, for `pult help bindings` and the man page. */
char *ui_keys_text(void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Ui, ui_free)

#endif
