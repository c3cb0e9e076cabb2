/* A line being typed, with a history. Knows nothing of commands. */
#ifndef PULT_UI_PROMPT_H
#define PULT_UI_PROMPT_H

#include "ui/key.h"

#include <glib.h>

typedef enum { PROMPT_OPEN, PROMPT_ENTERED, PROMPT_CANCELLED } PromptResult;

typedef struct Prompt Prompt;

#define PROMPT_MAX_BYTES 4096
#define PROMPT_MAX_HISTORY 500

Prompt *prompt_new(void);
void prompt_free(Prompt *prompt);
/* Opens it with TEXT already typed, the cursor behind. */
void prompt_open(Prompt *prompt, const char *text);
void prompt_close(Prompt *prompt);
gboolean prompt_is_open(const Prompt *prompt);
/* PROMPT_ENTERED: prompt_text() is what was typed until the next open; it is in the history. */
PromptResult prompt_key(Prompt *prompt, UiKey key);
/* Puts TEXT in place of what stands between byte START and the cursor. */
void prompt_replace(Prompt *prompt, gsize start, const char *text);
const char *prompt_text(const Prompt *prompt);
gsize prompt_cursor(const Prompt *prompt); /* in characters */
char *prompt_before(const Prompt *prompt); /* what stands before the cursor; free with g_free */

#endif
