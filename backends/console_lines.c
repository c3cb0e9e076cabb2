#include "backends/console_lines.h"

#define LINE_MAX_BYTES 2000
#define REST_MS 300
/* A menu that ticks moves its cursor and ends no line for ever. */
#define AGAIN_BYTES 200

void
console_lines_init(ConsoleLines *lines, LedgerItem *item)
{
  *lines = (ConsoleLines){.item = item, .text = g_string_new(NULL)};
}

static void
stop_waiting(ConsoleLines *lines)
{
  if (lines->rest != 0)
    g_source_remove(lines->rest);
  lines->rest = 0;
}

void
console_lines_clear(ConsoleLines *lines)
{
  stop_waiting(lines);
  g_string_free(lines->text, TRUE);
  lines->text = NULL;
}

static void
say(ConsoleLines *lines)
{
  if (lines->fresh && lines->text->len > 0)
    ledger_line(lines->item, "console", lines->text->str);
  lines->fresh = FALSE;
}

static void
begin_anew(ConsoleLines *lines)
{
  g_string_truncate(lines->text, 0);
  lines->fresh = FALSE;
}

void
console_lines_end(ConsoleLines *lines)
{
  stop_waiting(lines);
  say(lines);
  begin_anew(lines);
}

static gboolean
on_rest(gpointer data)
{
  ConsoleLines *lines = data;

  lines->rest = 0;
  say(lines);
  if (lines->text->len > AGAIN_BYTES)
    begin_anew(lines);
  return G_SOURCE_REMOVE;
}

static void
take_byte(ConsoleLines *lines, char byte)
{
  if (byte == '\n' || byte == '\r') {
    console_lines_end(lines);
    return;
  }
  /* Serial lines send NULs to pass the time. */
  if (byte == '\0')
    return;
  lines->fresh = TRUE;
  if (byte != '\b')
    g_string_append_c(lines->text, byte);
  else if (lines->text->len > 0) /* a loader's ` 31%`, until ` 81%` is in its place */
    g_string_truncate(lines->text, lines->text->len - 1);
  if (lines->text->len >= LINE_MAX_BYTES)
    console_lines_end(lines);
}

void
console_lines_take(ConsoleLines *lines, const char *bytes, gsize n)
{
  for (gsize i = 0; i < n; i++)
    take_byte(lines, bytes[i]);
  /* From the last byte on: a busy machine speaks slowly. */
  stop_waiting(lines);
  if (lines->fresh)
    lines->rest = g_timeout_add(REST_MS, on_rest, lines);
}
