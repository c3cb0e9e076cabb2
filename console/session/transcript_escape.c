#include "session/transcript_escape.h"

#include <string.h>

#include "session/transcript.h"

gsize
transcript_plain_length(const char *text, gsize length)
{
  guchar first = (guchar)text[0];
  if (first < 0x80)
    return (first >= 0x20 && first != 0x7f) || first == '\t' || first == '\n' ? 1 : 0;
  gunichar character = g_utf8_get_char_validated(text, (gssize)length);
  /* Errors are huge; U+0080 … U+009F are C1. */
  if (character >= 0x80000000 || character < 0xa0)
    return 0;
  return g_utf8_skip[first];
}

void
transcript_escape(GString *out, const char *bytes, gsize length)
{
  for (gsize i = 0; i < length;) {
    gsize plain = transcript_plain_length(bytes + i, length - i);
    if (plain == 0) {
      g_string_append_printf(out, "\\x%02x", (guchar)bytes[i++]);
    } else if (bytes[i] == '\\') {
      g_string_append(out, "\\\\");
      i++;
    } else {
      g_string_append_len(out, bytes + i, (gssize)plain);
      i += plain;
    }
  }
}

char *
transcript_unescape(const char *text, gsize *length)
{
  g_autofree char *bytes = g_malloc(strlen(text) + 1);
  gsize n = 0;
  for (const char *p = text; *p != 0; p++) {
    if (*p != '\\') {
      bytes[n++] = *p;
    } else if (p[1] == '\\') {
      bytes[n++] = '\\';
      p++;
    } else if (p[1] == 'x' && g_ascii_isxdigit(p[2]) && g_ascii_isxdigit(p[3])) {
      bytes[n++] = (char)(g_ascii_xdigit_value(p[2]) << 4 | g_ascii_xdigit_value(p[3]));
      p += 3;
    } else {
      return NULL;
    }
  }
  bytes[n] = 0;
  *length = n;
  return g_steal_pointer(&bytes);
}
