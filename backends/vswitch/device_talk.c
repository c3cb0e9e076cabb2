#include "backends/vswitch/device_talk.h"

#include <string.h>

#include "backends/vswitch/device_talk_private.h"
#include "backends/vswitch/device_template.h"

DeviceTalk *
device_talk_new(const Device *device, const DeviceHooks *hooks, gpointer data)
{
  DeviceTalk *talk = g_new0(DeviceTalk, 1);

  talk->device = device;
  if (hooks != NULL)
    talk->hooks = *hooks;
  talk->hook_data = data;
  talk->match = pattern_match_new();
  talk->heard = g_string_new(NULL);
  talk->out = g_string_new(NULL);
  talk->captures = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  talk->over = TRUE;
  return talk;
}

/* A secret may stand in what was sent, and in what came back of it. */
static void
wipe(GString *string)
{
  explicit_bzero(string->str, string->allocated_len);
  g_string_truncate(string, 0);
}

void
device_talk_free(DeviceTalk *talk)
{
  if (talk == NULL)
    return;
  wipe(talk->heard);
  wipe(talk->out);
  g_string_free(talk->heard, TRUE);
  g_string_free(talk->out, TRUE);
  pattern_match_free(talk->match);
  g_hash_table_unref(talk->captures);
  device_values_free(talk->values);
  device_values_free(talk->masks);
  g_free(talk->text);
  g_free(talk->other);
  g_free(talk);
}

/* ---- Runs and their steps ------------------------------------------------------------------ */

void
device_talk_end(DeviceTalk *talk, Verdict verdict, const char *format, ...)
{
  va_list arguments;

  va_start(arguments, format);
  g_free(talk->text);
  talk->text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  talk->over = TRUE;
  talk->ended = TRUE;
  talk->verdict = verdict;
}

Verdict
device_talk_no_answer(const DeviceTalk *talk)
{
  return talk->script->changes && talk->sent_any ? VERDICT_UNKNOWN : VERDICT_TIMEOUT;
}

/* What the pace allows: the first byte of a command waits for its turn. */
static void
begin_step(DeviceTalk *talk, gint64 now)
{
  const DeviceStep *step = device_talk_now(talk);
  g_autoptr(GError) error = NULL;

  wipe(talk->out);
  talk->n_sent = talk->n_echoed = 0;
  talk->sent_before = talk->sent_any;
  talk->replied = FALSE;
  talk->resume = 0;
  g_clear_pointer(&talk->other, g_free);
  talk->next_byte = MAX(now, talk->free_at);
  talk->asked = step->send == NULL ? now : TIME_NEVER;
  if (step->send != NULL && !device_template_fill(step->send, talk->values, talk->out, &error)) {
    device_talk_end(talk, VERDICT_FAILED, "%s", error->message);
    return;
  }
  if (talk->out->len == 0)
    talk->asked = now;
  /* A step that only pauses begins its pause. */
  device_talk_progress(talk, now);
}

void
device_talk_step(DeviceTalk *talk, gint64 now)
{
  if (++talk->step < talk->script->n_steps)
    begin_step(talk, now);
  else
    device_talk_end(talk, VERDICT_OK, "%s", "");
}

static gboolean
has_secret(const DeviceValues *values)
{
  for (guint i = 0; values != NULL && i < values->device->n_parameters; i++)
    if (values->device->parameters[i].kind == DEVICE_SECRET && values->text[i] != NULL)
      return TRUE;
  return FALSE;
}

/* Of a login's secret an echo may come late. */
static void
keep_masks(DeviceTalk *talk)
{
  if (has_secret(talk->values)) {
    device_values_free(talk->masks);
    talk->masks = g_steal_pointer(&talk->values);
  }
  g_clear_pointer(&talk->values, device_values_free);
}

char *
device_talk_shown(const DeviceTalk *talk, const char *text, gsize n)
{
  return device_shown(has_secret(talk->values) ? talk->values : talk->masks, text, n);
}

void
device_talk_begin(DeviceTalk *talk, const DeviceScript *script, DeviceValues *values, gint64 now)
{
  g_assert(talk->over);
  keep_masks(talk);
  wipe(talk->heard);
  talk->too_long = FALSE;
  talk->script = script;
  talk->values = values;
  talk->step = 0;
  talk->over = FALSE;
  talk->sent_any = FALSE;
  talk->replies = 0;
  g_clear_pointer(&talk->text, g_free);
  g_hash_table_remove_all(talk->captures);
  talk->deadline = now + script->within;
  begin_step(talk, now);
}

void
device_talk_progress(DeviceTalk *talk, gint64 now)
{
  const DeviceStep *step = device_talk_now(talk);

  if (talk->over || talk->asked == TIME_NEVER)
    return;
  if ((step->echo && talk->n_echoed < device_talk_echo_due(talk)) ||
      (step->expects->len > 0 && !talk->replied) ||
      (step->silence > 0 && now < talk->asked + step->silence))
    return;
  if (step->pause > 0 && talk->resume == 0)
    talk->resume = now + step->pause;
  if (now >= talk->resume)
    device_talk_step(talk, now);
}

/* ---- Out ----------------------------------------------------------------------------------- */

static void
say(DeviceTalk *talk)
{
  if (talk->hooks.spoke == NULL)
    return;
  g_autofree char *shown = device_talk_shown(talk, talk->out->str, talk->out->len);
  talk->hooks.spoke(TRUE, shown, talk->hook_data);
}

gsize
device_talk_take(DeviceTalk *talk, char *bytes, gsize max, gint64 now)
{
  gsize left = talk->over ? 0 : talk->out->len - talk->n_sent;
  gsize n = talk->device->byte_gap > 0 ? MIN(left, 1) : left;

  n = MIN(n, max);
  if (n == 0 || now < talk->next_byte)
    return 0;
  if (talk->n_sent == 0)
    say(talk);
  memcpy(bytes, talk->out->str + talk->n_sent, n);
  talk->n_sent += n;
  talk->sent_any = TRUE;
  talk->next_byte = now + talk->device->byte_gap;
  if (talk->n_sent == talk->out->len) {
    talk->asked = now;
    talk->free_at = now + talk->device->command_gap;
    device_talk_progress(talk, now);
  }
  return n;
}

gint64
device_talk_due(const DeviceTalk *talk)
{
  if (talk->over)
    return TIME_NEVER;
  const DeviceStep *step = device_talk_now(talk);
  gint64 due = talk->deadline;
  if (talk->asked == TIME_NEVER)
    return MIN(due, talk->next_byte);
  if (talk->resume > 0)
    return MIN(due, talk->resume);
  /* A silence may be longer than the step's own time. */
  if (step->silence > 0 && talk->asked + step->silence > talk->asked + step->within)
    return MIN(due, talk->asked + step->silence);
  due = MIN(due, talk->asked + step->within);
  if (step->silence > 0)
    due = MIN(due, talk->asked + step->silence);
  return due;
}

/* Of what is not idempotent a second time would be one too many. */
static const char *
maybe(const DeviceTalk *talk)
{
  if (device_talk_no_answer(talk) != VERDICT_UNKNOWN)
    return "";
  return talk->script->idempotent ? "; it may have happened"
                                  : "; it may have happened: look before it is sent again";
}

void
device_talk_tick(DeviceTalk *talk, gint64 now)
{
  if (talk->over)
    return;
  talk->ended = FALSE;
  device_talk_progress(talk, now);
  if (talk->over)
    return;
  const DeviceStep *step = device_talk_now(talk);
  gint64 within = MAX(step->within, step->silence);
  gboolean waits = talk->asked != TIME_NEVER && talk->resume == 0;
  if (now < talk->deadline && !(waits && now >= talk->asked + within))
    return;
  g_autofree char *missing = device_talk_missing(talk, now);
  device_talk_end(talk, device_talk_no_answer(talk), "%s%s", missing, maybe(talk));
}

void
device_talk_take_back(DeviceTalk *talk)
{
  talk->sent_any = talk->sent_before;
}

void
device_talk_break(DeviceTalk *talk, const char *cause)
{
  if (talk->over)
    return;
  gboolean sent = device_talk_no_answer(talk) == VERDICT_UNKNOWN;
  device_talk_end(talk, sent ? VERDICT_UNKNOWN : VERDICT_FAILED, "%s%s", cause, maybe(talk));
}

/* ---- In ------------------------------------------------------------------------------------ */

/* Gives the first whole reply and its length with what ends it; FALSE: none is there. */
static gboolean
cut(const DeviceTalk *talk, gsize *length, gsize *whole)
{
  const GString *heard = talk->heard;

  if (talk->device->framing == DEVICE_FRAMES) {
    *length = *whole = talk->device->length;
    return heard->len >= *whole;
  }
  gsize n_end = strlen(talk->device->end);
  const char *end = memmem(heard->str, heard->len, talk->device->end, n_end);
  if (end == NULL)
    return FALSE;
  *length = (gsize)(end - heard->str);
  *whole = *length + n_end;
  return TRUE;
}

static gboolean
is_blank(const char *text, gsize n)
{
  for (gsize i = 0; i < n; i++)
    if (text[i] != '\r' && text[i] != '\n')
      return FALSE;
  return TRUE;
}

/* A device may end lines more thoroughly than it says. */
static void
hear_line(DeviceTalk *talk, const char *text, gsize n, gint64 now)
{
  while (n > 0 && (*text == '\r' || *text == '\n')) {
    text++;
    n--;
  }
  while (n > 0 && (text[n - 1] == '\r' || text[n - 1] == '\n'))
    n--;
  device_talk_reply(talk, text, n, now);
}

static void
cut_all(DeviceTalk *talk, gint64 now)
{
  gsize length, whole;

  while (cut(talk, &length, &whole)) {
    gboolean lines = talk->device->framing == DEVICE_LINES;
    g_autofree char *reply = g_memdup2(talk->heard->str, length + 1);
    g_string_erase(talk->heard, 0, (gssize)whole);
    if (talk->too_long)
      talk->too_long = FALSE;
    else if (!lines)
      device_talk_reply(talk, reply, length, now);
    else if (!is_blank(reply, length))
      hear_line(talk, reply, length, now);
    explicit_bzero(reply, length);
  }
}

void
device_talk_hear(DeviceTalk *talk, const char *bytes, gsize n, gint64 now)
{
  g_assert(talk->device->framing != DEVICE_MESSAGES);
  talk->ended = FALSE;
  while (n > 0) {
    gsize part = MIN(n, DEVICE_MAX_LINE);
    g_string_append_len(talk->heard, bytes, (gssize)part);
    cut_all(talk, now);
    if (talk->heard->len > DEVICE_MAX_LINE) {
      if (!talk->too_long)
        device_talk_spoke(talk, talk->heard->str, talk->heard->len);
      /* The last byte may begin what ends it. */
      g_string_erase(talk->heard, 0, (gssize)(talk->heard->len - strlen(talk->device->end) + 1));
      talk->too_long = TRUE;
    }
    bytes += part;
    n -= part;
  }
  if (talk->heard->len > 0 && !talk->too_long)
    device_talk_prompt(talk, now);
}

void
device_talk_hear_message(DeviceTalk *talk, const char *text, gsize n, gint64 now)
{
  g_assert(talk->device->framing == DEVICE_MESSAGES);
  talk->ended = FALSE;
  device_talk_reply(talk, text, n, now);
}

/* ---- What became of it --------------------------------------------------------------------- */

gboolean
device_talk_is_over(const DeviceTalk *talk)
{
  return talk->over;
}

gboolean
device_talk_has_sent(const DeviceTalk *talk)
{
  return talk->sent_any;
}

Verdict
device_talk_verdict(const DeviceTalk *talk)
{
  return talk->verdict;
}

const char *
device_talk_text(const DeviceTalk *talk)
{
  return talk->text != NULL ? talk->text : "";
}

const char *
device_talk_capture(const DeviceTalk *talk, const char *name)
{
  return g_hash_table_lookup(talk->captures, name);
}
