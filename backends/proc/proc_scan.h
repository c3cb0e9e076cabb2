/* Words and numbers of one line, from left to right. Blanks are spaces and tabs. */
#ifndef PULT_PROC_SCAN_H
#define PULT_PROC_SCAN_H

#include <glib.h>
#include <string.h>

static inline void
proc_skip_blanks(const char **at)
{
  *at += strspn(*at, " \t");
}

/* Digits alone, as kernels print counters; FALSE and AT as it was: none, or above 2^64-1. */
static inline gboolean
proc_take_number(const char **at, guint64 *value)
{
  const char *p = *at + strspn(*at, " \t");
  guint64 number = 0;

  if (!g_ascii_isdigit(*p))
    return FALSE;
  for (; g_ascii_isdigit(*p); p++) {
    guint digit = (guint)(*p - '0');
    if (number > (G_MAXUINT64 - digit) / 10)
      return FALSE;
    number = number * 10 + digit;
  }
  *at = p;
  *value = number;
  return TRUE;
}

/* FALSE when there are fewer. */
static inline gboolean
proc_take_numbers(const char **at, guint64 *values, guint n)
{
  for (guint i = 0; i < n; i++) {
    if (!proc_take_number(at, &values[i]))
      return FALSE;
  }
  return TRUE;
}

/* WORD, with a blank or the line's end behind it. */
static inline gboolean
proc_take_word(const char **at, const char *word)
{
  const char *p = *at + strspn(*at, " \t");
  gsize length = strlen(word);

  if (strncmp(p, word, length) != 0 || (p[length] && p[length] != ' ' && p[length] != '\t'))
    return FALSE;
  *at = p + length;
  return TRUE;
}

/* What stands behind PREFIX, blanks left out; NULL when LINE begins otherwise. */
static inline const char *
proc_after(const char *line, const char *prefix)
{
  if (!g_str_has_prefix(line, prefix))
    return NULL;
  line += strlen(prefix);
  return line + strspn(line, " \t");
}

#endif
