/* A line of counters read without building a JSON tree of it: in a day's transcript nearly all
 * lines are of this kind, and finding one's way in it must not take seconds. */
#include <string.h>

#include "session/transcript_parse.h"

#define DIGITS_MAX 18 /* no more, and it fits */
#define VALUES_MAX 65536

typedef struct {
  const char *at, *end;
} Scan;

static gboolean
take(Scan *scan, const char *text)
{
  gsize length = strlen(text);
  if ((gsize)(scan->end - scan->at) < length || memcmp(scan->at, text, length) != 0)
    return FALSE;
  scan->at += length;
  return TRUE;
}

/* JSON's whole numbers, the longest apart: no plus, no leading zeros. */
static gboolean
take_integer(Scan *scan, gint64 *value)
{
  const char *p = scan->at, *end = scan->end;
  gboolean negative = p < end && *p == '-';
  p += negative ? 1 : 0;
  const char *first = p;
  gint64 v = 0;
  for (; p < end && (guchar)(*p - '0') <= 9; p++) {
    if (p - first == DIGITS_MAX)
      return FALSE;
    v = v * 10 + (*p - '0');
  }
  if (p == first || (*first == '0' && p - first > 1))
    return FALSE;
  *value = negative ? -v : v;
  scan->at = p;
  return TRUE;
}

/* A name that is written as it is; its quote stands behind it. */
static gboolean
take_plain(Scan *scan, const char **text, gsize *length)
{
  const char *p = scan->at;
  while (p < scan->end && *p >= ' ' && *p < 0x7f && *p != '"' && *p != '\\')
    p++;
  *text = scan->at;
  *length = (gsize)(p - scan->at);
  scan->at = p;
  return take(scan, "\"");
}

static gboolean
take_values(Scan *scan, GArray *values)
{
  g_array_set_size(values, 0);
  if (take(scan, "]"))
    return TRUE;
  do {
    gint64 value;
    if (!take_integer(scan, &value) || values->len == VALUES_MAX)
      return FALSE;
    g_array_append_val(values, value);
  } while (scan->at < scan->end && *scan->at++ == ',');
  return scan->at[-1] == ']';
}

gboolean
transcript_scan_samples(const char *text, gsize length, GArray *values, GString *source,
                        Event *event)
{
  Scan scan = {text, text + length};
  gint64 seq, t;
  const char *name;
  gsize name_length;
  if (!take(&scan, "{\"seq\":") || !take_integer(&scan, &seq) || !take(&scan, ",\"t\":") ||
      !take_integer(&scan, &t) || !take(&scan, ",\"kind\":\"samples\",\"source\":\"") || seq < 1 ||
      t < 0 || !take_plain(&scan, &name, &name_length) || !take(&scan, ",\"v\":[") ||
      !take_values(&scan, values) || !take(&scan, "}") || scan.at != scan.end)
    return FALSE;
  g_string_truncate(source, 0);
  g_string_append_len(source, name, (gssize)name_length);
  *event =
      (Event){.seq = (guint64)seq,
              .t = t,
              .kind = EVENT_SAMPLES,
              .samples = {source->str, NULL, (const gint64 *)(gpointer)values->data, values->len}};
  return TRUE;
}
