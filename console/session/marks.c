#include "session/marks.h"

#include <string.h>

#include "core/command.h"
#include "model/units.h"
#include "session/replay.h"
#include "session/transcript.h"

#define SHOWN_MAX 5 /* marks that an error names */

typedef struct {
  gint64 t;
  char *text;
} Mark;

struct Marks {
  char *path;
  TranscriptReader *reader; /* one of its own, that goes through once; NULL: not opened yet */
  GArray *found;            /* of Mark */
};

static void
mark_clear(gpointer data)
{
  g_free(((Mark *)data)->text);
}

Marks *
marks_new(const char *path)
{
  Marks *marks = g_new0(Marks, 1);
  marks->path = g_strdup(path);
  marks->found = g_array_new(FALSE, FALSE, sizeof(Mark));
  g_array_set_clear_func(marks->found, mark_clear);
  return marks;
}

void
marks_free(Marks *marks)
{
  if (marks == NULL)
    return;
  transcript_reader_free(marks->reader);
  g_array_unref(marks->found);
  g_free(marks->path);
  g_free(marks);
}

static void
add(Marks *marks, const Event *event)
{
  g_autoptr(Command) command = command_parse(event->command.text, NULL);
  if (command == NULL || command->verb != VERB_MARK || command->plan_only)
    return;
  Mark mark = {event->t, g_strdup(command->text)};
  g_array_append_val(marks->found, mark);
}

/* Reads what is new. A line that cannot be read ends the marks: whoever plays the file tells. */
static void
update(Marks *marks)
{
  const Event *event;
  if (marks->reader == NULL)
    marks->reader = transcript_open(marks->path, NULL);
  while (marks->reader != NULL && (event = transcript_next(marks->reader, NULL, NULL)) != NULL)
    if (event->kind == EVENT_COMMAND)
      add(marks, event);
}

static const Mark *
mark_at(const Marks *marks, guint i)
{
  return &g_array_index(marks->found, Mark, i);
}

gboolean
marks_next(Marks *marks, gint64 t, gboolean back, gint64 *found, const char **text)
{
  const Mark *next = NULL;
  update(marks);
  for (guint i = 0; i < marks->found->len; i++) {
    const Mark *mark = mark_at(marks, i);
    if (back ? mark->t < t : mark->t > t && next == NULL)
      next = mark;
  }
  if (next == NULL)
    return FALSE;
  *found = next->t;
  if (text != NULL)
    *text = next->text;
  return TRUE;
}

/* `1:30`, `8:01:30` */
static gboolean
parse_clock(const char *text, gint64 *t)
{
  g_auto(GStrv) parts = g_strsplit(text, ":", 4);
  guint n = g_strv_length(parts);
  guint64 seconds = 0, part;
  if (n < 2 || n > 3)
    return FALSE;
  for (guint i = 0; i < n; i++) {
    if (!units_parse_count(parts[i], i == 0 ? 99999 : 59, &part, NULL))
      return FALSE;
    seconds = seconds * 60 + part;
  }
  *t = (gint64)seconds * TIME_SECOND;
  return TRUE;
}

static gboolean
parse_time(const char *text, gint64 now, gint64 end, gint64 *t)
{
  int sign = *text == '+' ? 1 : *text == '-' ? -1 : 0;
  const char *span = text + (sign != 0 ? 1 : 0);
  gint64 value;
  if (strcmp(text, "start") == 0 || strcmp(text, "end") == 0) {
    *t = *text == 's' ? 0 : end;
    return TRUE;
  }
  if (!parse_clock(span, &value) && !units_parse_duration(span, &value, NULL))
    return FALSE;
  *t = sign == 0 ? value : MAX(0, now + sign * value);
  return TRUE;
}

static const Mark *
find_text(const Marks *marks, const char *text)
{
  for (guint i = 0; i < marks->found->len; i++)
    if (strcmp(mark_at(marks, i)->text, text) == 0)
      return mark_at(marks, i);
  for (guint i = 0; i < marks->found->len; i++)
    if (strstr(mark_at(marks, i)->text, text) != NULL)
      return mark_at(marks, i);
  return NULL;
}

static void
refuse(const Marks *marks, const char *place, gboolean is_mark, GError **error)
{
  guint n = marks->found->len;
  g_autoptr(GString) known = g_string_new(n == 0 ? "there are no marks in it" : "marks are ");
  for (guint i = 0; i < MIN(n, SHOWN_MAX); i++)
    g_string_append_printf(known, "%s`%s`", i > 0 ? ", " : "", mark_at(marks, i)->text);
  if (n > SHOWN_MAX)
    g_string_append_printf(known, " and %u more", n - SHOWN_MAX);
  g_set_error(error, REPLAY_ERROR, 0, "`%s` is %s; %s", place,
              is_mark ? "no mark" : "neither a time such as 30s or 1:30 nor a mark", known->str);
}

gboolean
marks_find_place(Marks *marks, const char *place, gint64 now, gint64 end, gint64 *t, GError **error)
{
  gboolean is_mark = g_str_has_prefix(place, "mark:");
  if (!is_mark && parse_time(place, now, end, t))
    return TRUE;
  update(marks);
  const char *text = is_mark ? place + strlen("mark:") : place;
  const Mark *mark = *text != '\0' ? find_text(marks, text) : NULL;
  if (mark == NULL) {
    refuse(marks, text, is_mark, error);
    return FALSE;
  }
  *t = mark->t;
  return TRUE;
}
