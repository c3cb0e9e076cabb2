#include <string.h>

#include "model/log_line.h"

typedef struct {
  const char *at, *end;
} Cursor;

/* Each takes what it knows off the front, or nothing. */

static void
skip_blanks(Cursor *in)
{
  while (in->at < in->end && *in->at == ' ')
    in->at++;
}

static gboolean
take_char(Cursor *in, char c)
{
  if (in->at == in->end || *in->at != c)
    return FALSE;
  in->at++;
  return TRUE;
}

static LogPart
take_word(Cursor *in)
{
  LogPart word = {.text = in->at};
  while (in->at < in->end && *in->at != ' ')
    in->at++;
  word.length = (gsize)(in->at - word.text);
  skip_blanks(in);
  return word;
}

/* FORM: 0 a digit, _ a digit or blank, a a letter, everything else itself. */
static gboolean
looks_like(const Cursor *in, const char *form)
{
  const char *p = in->at;
  for (; *form != '\0'; form++, p++) {
    if (p == in->end)
      return FALSE;
    gboolean fits = *form == '0'   ? g_ascii_isdigit(*p)
                    : *form == '_' ? g_ascii_isdigit(*p) || *p == ' '
                    : *form == 'a' ? g_ascii_isalpha(*p)
                                   : *p == *form;
    if (!fits)
      return FALSE;
  }
  return TRUE;
}

static gboolean
take_stamp(Cursor *in, LogPart *stamp)
{
  static const char classic[] = "aaa _0 00:00:00", plain[] = "0000-00-00 00:00:00";
  stamp->text = in->at;
  if (looks_like(in, classic)) {
    in->at += sizeof classic - 1;
  } else if (looks_like(in, "0000-00-00T00:00:00")) {
    while (in->at < in->end && *in->at != ' ')
      in->at++;
  } else if (looks_like(in, plain)) {
    in->at += sizeof plain - 1;
    while (in->at < in->end && *in->at != ' ')
      in->at++;
  } else if (in->at < in->end && *in->at == '[') {
    const char *close = memchr(in->at, ']', (gsize)(in->end - in->at));
    for (const char *p = in->at + 1; close != NULL && p < close; p++)
      if (!g_ascii_isdigit(*p) && *p != '.' && *p != ' ')
        return FALSE;
    if (close == NULL)
      return FALSE;
    in->at = close + 1;
  } else {
    return FALSE;
  }
  stamp->length = (gsize)(in->at - stamp->text);
  skip_blanks(in);
  return TRUE;
}

/* `program:` or `program[123]:`, and a blank or the end behind it. */
static gboolean
take_program(Cursor *in, LogLine *parts)
{
  Cursor ahead = *in;
  LogPart *program = &parts->program, *process = &parts->process;
  program->text = ahead.at;
  while (ahead.at < ahead.end && (g_ascii_isalnum(*ahead.at) || strchr("-_./@", *ahead.at)))
    ahead.at++;
  program->length = (gsize)(ahead.at - program->text);
  if (program->length > 0 && take_char(&ahead, '[')) {
    process->text = ahead.at;
    while (ahead.at < ahead.end && *ahead.at != ']' && *ahead.at != ' ')
      ahead.at++;
    process->length = (gsize)(ahead.at - process->text);
    if (!take_char(&ahead, ']'))
      program->length = 0;
  }
  if (program->length == 0 || !take_char(&ahead, ':') ||
      (ahead.at < ahead.end && *ahead.at != ' ')) {
    program->length = process->length = 0;
    return FALSE;
  }
  take_char(&ahead, ' ');
  in->at = ahead.at;
  return TRUE;
}

/* `<30>`; TRUE when there is one, or none was begun. */
static gboolean
take_priority(Cursor *in)
{
  Cursor ahead = *in;
  if (!take_char(&ahead, '<'))
    return TRUE;
  for (int digits = 0; digits < 3 && ahead.at < ahead.end && g_ascii_isdigit(*ahead.at); digits++)
    ahead.at++;
  if (!take_char(&ahead, '>'))
    return FALSE;
  in->at = ahead.at;
  return TRUE;
}

/* Structured data: `-`, or elements `[id name="va\]lue"]`. */
static gboolean
skip_structured(Cursor *in)
{
  if (take_char(in, '-'))
    return TRUE;
  if (in->at == in->end || *in->at != '[')
    return FALSE;
  while (take_char(in, '[')) {
    gboolean quoted = FALSE;
    for (; in->at < in->end && (quoted || *in->at != ']'); in->at++) {
      if (*in->at == '\\' && in->at + 1 < in->end)
        in->at++;
      else if (*in->at == '"')
        quoted = !quoted;
    }
    if (!take_char(in, ']'))
      return FALSE;
  }
  return TRUE;
}

/* RFC 5424, behind its <PRI>. */
static gboolean
take_5424(Cursor *in, LogLine *parts)
{
  if (!looks_like(in, "1 0000-00-00T00:00:00") && !looks_like(in, "1 - "))
    return FALSE;
  take_word(in);
  LogLine read = {.stamp = take_word(in), .host = take_word(in), .program = take_word(in)};
  read.process = take_word(in);
  take_word(in); /* the message's kind */
  if (!skip_structured(in))
    return FALSE;
  skip_blanks(in);
  if (in->end - in->at >= 3 && memcmp(in->at, "\xef\xbb\xbf", 3) == 0)
    in->at += 3;
  *parts = read;
  return TRUE;
}

static void
take_host_and_program(Cursor *in, LogLine *parts)
{
  if (take_program(in, parts))
    return;
  Cursor ahead = *in;
  LogPart host = take_word(&ahead);
  if (!take_program(&ahead, parts))
    return;
  parts->host = host;
  *in = ahead;
}

void
log_line_read(const char *line, gsize length, LogLine *parts)
{
  Cursor in = {line, line + length};
  *parts = (LogLine){{line, 0}, {line, 0}, {line, 0}, {line, 0}, {line, length}};
  gboolean has_priority = length > 0 && *line == '<' && take_priority(&in);
  Cursor ahead = in;
  if (has_priority && take_5424(&ahead, parts)) {
    in = ahead;
  } else if (take_stamp(&in, &parts->stamp) || has_priority) {
    take_host_and_program(&in, parts);
  } else {
    take_program(&in, parts);
  }
  parts->text = (LogPart){in.at, (gsize)(in.end - in.at)};
}
