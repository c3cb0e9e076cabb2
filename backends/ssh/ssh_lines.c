#include "backends/ssh/ssh_lines.h"

#include <string.h>

void
ssh_lines_init(SshLines *lines, gsize max)
{
  *lines = (SshLines){g_string_new(NULL), max};
}

void
ssh_lines_clear(SshLines *lines)
{
  g_string_free(lines->part, TRUE);
  lines->part = NULL;
}

static void
give_part(SshLines *lines, gsize length, SshLinesGive give, gpointer data)
{
  /* Given from a copy: who gets it may take more bytes of the same command. */
  g_autofree char *text = g_malloc(length + 1);
  memcpy(text, lines->part->str, length);
  text[length] = '\0';
  g_string_erase(lines->part, 0, (gssize)length);
  give(text, length, data);
}

/* Bytes at the end of TEXT that begin a character and do not end it; 0 when there are none. */
static gsize
unfinished(const char *text, gsize length)
{
  for (gsize back = 1; back <= 3 && back <= length; back++) {
    guchar byte = (guchar)text[length - back];
    if ((byte & 0xc0) == 0x80)
      continue;
    return byte >= 0xc0 && (gsize)g_utf8_skip[byte] > back ? back : 0;
  }
  return 0;
}

static void
cut(SshLines *lines, SshLinesGive give, gpointer data)
{
  gsize length = lines->max - unfinished(lines->part->str, lines->max);
  give_part(lines, length > 0 ? length : lines->max, give, data);
}

void
ssh_lines_take(SshLines *lines, const char *bytes, gsize length, SshLinesGive give, gpointer data)
{
  while (length > 0) {
    gsize room = lines->max - lines->part->len;
    const char *end = memchr(bytes, '\n', MIN(length, room + 1));
    gsize taken = end != NULL ? (gsize)(end - bytes) : MIN(length, room);
    g_string_append_len(lines->part, bytes, (gssize)taken);
    bytes += taken;
    length -= taken;
    if (end != NULL) {
      bytes++;
      length--;
      give_part(lines, lines->part->len, give, data);
    } else if (length > 0) {
      cut(lines, give, data);
    }
  }
}

void
ssh_lines_end(SshLines *lines, SshLinesGive give, gpointer data)
{
  if (lines->part->len > 0)
    give_part(lines, lines->part->len, give, data);
}
