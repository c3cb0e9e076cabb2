#include "ui/prompt.h"

#include <string.h>

#define CTRL(letter) ((letter) - '@')

struct Prompt {
  gboolean open;
  GString *text;
  gsize cursor;       /* in bytes, at a character's start */
  GPtrArray *history; /* oldest first */
  guint place;        /* in the history; its length: the new line */
  char *unfinished;   /* the new line, while the history is looked through */
};

Prompt *
prompt_new(void)
{
  Prompt *prompt = g_new0(Prompt, 1);
  prompt->text = g_string_new(NULL);
  prompt->history = g_ptr_array_new_with_free_func(g_free);
  return prompt;
}

void
prompt_free(Prompt *prompt)
{
  if (!prompt)
    return;
  g_string_free(prompt->text, TRUE);
  g_ptr_array_unref(prompt->history);
  g_free(prompt->unfinished);
  g_free(prompt);
}

void
prompt_open(Prompt *prompt, const char *text)
{
  prompt->open = TRUE;
  g_string_assign(prompt->text, text);
  prompt->cursor = prompt->text->len;
  prompt->place = prompt->history->len;
}

void
prompt_close(Prompt *prompt)
{
  prompt->open = FALSE;
}

gboolean
prompt_is_open(const Prompt *prompt)
{
  return prompt->open;
}

const char *
prompt_text(const Prompt *prompt)
{
  return prompt->text->str;
}

gsize
prompt_cursor(const Prompt *prompt)
{
  return (gsize)g_utf8_strlen(prompt->text->str, (gssize)prompt->cursor);
}

char *
prompt_before(const Prompt *prompt)
{
  return g_strndup(prompt->text->str, prompt->cursor);
}

static void
remember(Prompt *prompt)
{
  guint n = prompt->history->len;
  if (prompt->text->len == 0 ||
      (n > 0 && g_str_equal(prompt->history->pdata[n - 1], prompt->text->str)))
    return;
  if (n == PROMPT_MAX_HISTORY)
    g_ptr_array_remove_index(prompt->history, 0);
  g_ptr_array_add(prompt->history, g_strdup(prompt->text->str));
}

static void
step_history(Prompt *prompt, int step)
{
  if ((step < 0 && prompt->place == 0) || (step > 0 && prompt->place == prompt->history->len))
    return;
  if (prompt->place == prompt->history->len) {
    g_free(prompt->unfinished);
    prompt->unfinished = g_strdup(prompt->text->str);
  }
  prompt->place = (guint)((int)prompt->place + step);
  g_string_assign(prompt->text, prompt->place == prompt->history->len
                                    ? prompt->unfinished
                                    : prompt->history->pdata[prompt->place]);
  prompt->cursor = prompt->text->len;
}

static gsize
before_cursor(const Prompt *prompt)
{
  const char *start = prompt->text->str;
  return prompt->cursor == 0 ? 0 : (gsize)(g_utf8_prev_char(start + prompt->cursor) - start);
}

static gsize
behind_cursor(const Prompt *prompt)
{
  const char *start = prompt->text->str;
  return prompt->cursor == prompt->text->len
             ? prompt->cursor
             : (gsize)(g_utf8_next_char(start + prompt->cursor) - start);
}

static gsize
word_start(const Prompt *prompt)
{
  const char *text = prompt->text->str;
  gsize at = prompt->cursor;
  while (at > 0 && text[at - 1] == ' ')
    at--;
  while (at > 0 && text[at - 1] != ' ')
    at--;
  return at;
}

static void
erase(Prompt *prompt, gsize from, gsize to)
{
  g_string_erase(prompt->text, (gssize)from, (gssize)(to - from));
  prompt->cursor = from;
}

void
prompt_replace(Prompt *prompt, gsize start, const char *text)
{
  gsize length = strlen(text);
  g_assert(start <= prompt->cursor);
  if (prompt->text->len - (prompt->cursor - start) + length > PROMPT_MAX_BYTES)
    return;
  erase(prompt, start, prompt->cursor);
  g_string_insert_len(prompt->text, (gssize)start, text, (gssize)length);
  prompt->cursor = start + length;
}

static void
insert(Prompt *prompt, UiKey key)
{
  char bytes[6];
  gint length;
  if (key < ' ' || key >= UI_KEY_BASE || !g_unichar_validate((gunichar)key) ||
      g_unichar_iscntrl((gunichar)key))
    return;
  length = g_unichar_to_utf8((gunichar)key, bytes);
  if (prompt->text->len + (gsize)length > PROMPT_MAX_BYTES)
    return;
  g_string_insert_len(prompt->text, (gssize)prompt->cursor, bytes, length);
  prompt->cursor += (gsize)length;
}

PromptResult
prompt_key(Prompt *prompt, UiKey key)
{
  switch (key) {
  case UI_KEY_ENTER:
    remember(prompt);
    prompt->open = FALSE;
    return PROMPT_ENTERED;
  case UI_KEY_ESCAPE:
  case UI_KEY_CTRL_C:
    prompt->open = FALSE;
    return PROMPT_CANCELLED;
  case UI_KEY_BACKSPACE:
    if (prompt->text->len == 0) { /* as in vi: backing out of an empty line leaves it */
      prompt->open = FALSE;
      return PROMPT_CANCELLED;
    }
    erase(prompt, before_cursor(prompt), prompt->cursor);
    break;
  case UI_KEY_DELETE:
    erase(prompt, prompt->cursor, behind_cursor(prompt));
    break;
  case CTRL('U'):
    erase(prompt, 0, prompt->cursor);
    break;
  case CTRL('K'):
    erase(prompt, prompt->cursor, prompt->text->len);
    break;
  case CTRL('W'):
    erase(prompt, word_start(prompt), prompt->cursor);
    break;
  case UI_KEY_LEFT:
    prompt->cursor = before_cursor(prompt);
    break;
  case UI_KEY_RIGHT:
    prompt->cursor = behind_cursor(prompt);
    break;
  case UI_KEY_HOME:
  case CTRL('A'):
    prompt->cursor = 0;
    break;
  case UI_KEY_END:
  case CTRL('E'):
    prompt->cursor = prompt->text->len;
    break;
  case UI_KEY_UP:
    step_history(prompt, -1);
    break;
  case UI_KEY_DOWN:
    step_history(prompt, 1);
    break;
  default:
    insert(prompt, key);
  }
  return PROMPT_OPEN;
}
