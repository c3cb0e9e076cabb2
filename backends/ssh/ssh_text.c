#include "backends/ssh/ssh_text.h"

static gsize
plain_length(const char *text, gsize length)
{
  gunichar character = g_utf8_get_char_validated(text, (gssize)length);
  /* Errors are huge; a NUL is 0 or one of them. */
  if (character == 0 || character >= 0x80000000 || !g_unichar_isdefined(character) ||
      g_unichar_iscntrl(character))
    return 0;
  GUnicodeType type = g_unichar_type(character);
  /* Marks that turn the direction of the text around them, and line separators. */
  if (type == G_UNICODE_FORMAT || type == G_UNICODE_LINE_SEPARATOR ||
      type == G_UNICODE_PARAGRAPH_SEPARATOR)
    return 0;
  return g_utf8_skip[(guchar)*text];
}

char *
ssh_printable(const char *text, gsize length, gsize limit)
{
  GString *out = g_string_sized_new(MIN(length, limit));
  gsize i = 0;
  while (i < length && out->len < limit) {
    gsize plain = plain_length(text + i, length - i);
    if (plain == 0) {
      g_string_append_printf(out, "\\x%02x", (guchar)text[i++]);
      continue;
    }
    g_string_append_len(out, text + i, (gssize)plain);
    i += plain;
  }
  if (i < length)
    g_string_append(out, "…");
  return g_string_free(out, FALSE);
}
