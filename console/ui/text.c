#include "ui/view.h"

#include <string.h>

/* A byte that belongs to no character is shown by itself. */
static gsize
character_bytes(const char *text)
{
  gboolean valid = g_utf8_get_char_validated(text, -1) < (gunichar)-2;
  return valid ? (gsize)(g_utf8_next_char(text) - text) : 1;
}

/* Bytes of TEXT that fit COLUMNS, at least one character. */
static gsize
fitting_bytes(const char *text, int columns)
{
  gsize bytes = 0;
  int used = 0;
  while (text[bytes]) {
    char letter[8] = "";
    gsize length = character_bytes(text + bytes);
    memcpy(letter, text + bytes, length);
    used += canvas_text_width(letter);
    if (bytes > 0 && used > columns)
      break;
    bytes += length;
  }
  return bytes;
}

static gsize
line_bytes(const char *text, int columns)
{
  gsize fits = fitting_bytes(text, columns);
  if (text[fits] == '\0' || text[fits] == ' ')
    return fits;
  for (gsize i = fits; i > 0; i--) {
    if (text[i - 1] == ' ')
      return i;
  }
  return fits;
}

GPtrArray *
text_wrap(const char *text, int columns)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
  const char *rest = text;
  do {
    gsize bytes = line_bytes(rest, MAX(columns, 1));
    char *line = g_strndup(rest, bytes);
    g_ptr_array_add(lines, g_strchomp(line));
    rest += bytes;
    while (*rest == ' ')
      rest++;
  } while (*rest);
  return lines;
}

char *
text_tail(const Canvas *canvas, const char *name, int columns)
{
  int length = (int)strlen(name); /* of a node: ASCII */
  if (length <= columns)
    return g_strdup(name);
  return g_strconcat(canvas->ascii ? "<" : "…", name + length - MAX(columns - 1, 0), NULL);
}

int
text_names_width(const Layout *layout, const NodeId *nodes, guint n, int most)
{
  int width = 3;
  for (guint i = 0; i < n; i++)
    width = MAX(width, (int)strlen(layout_node(layout, nodes[i])->name));
  return MIN(width, most);
}
