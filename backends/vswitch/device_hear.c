#include <string.h>

#include "backends/vswitch/device_talk_private.h"

/* Replies in one run; a device that says more than that is not answering. */
#define MAX_REPLIES 1000

void
device_talk_spoke(DeviceTalk *talk, const char *text, gsize n)
{
  if (talk->hooks.spoke == NULL)
    return;
  g_autofree char *shown = device_talk_shown(talk, text, n);
  talk->hooks.spoke(FALSE, shown, talk->hook_data);
}

static PatternResult
try(DeviceTalk *talk, const Pattern *pattern, const char *text, gsize n)
{
  return pattern_match(pattern, talk->match, text, n);
}

/* The one of PATTERNS that TEXT matches, whose captures are in talk->match; NULL: none. */
static const Pattern *
find(DeviceTalk *talk, const GPtrArray *patterns, const char *text, gsize n)
{
  for (guint i = 0; i < patterns->len; i++)
    if (try(talk, patterns->pdata[i], text, n) == PATTERN_YES)
      return patterns->pdata[i];
  return NULL;
}

/* ---- Errors -------------------------------------------------------------------------------- */

/* A reply that a pattern gives up on may be an error: it is none of success. */
static gboolean
take_error(DeviceTalk *talk, const char *text, gsize n)
{
  for (guint i = 0; i < talk->device->n_errors; i++) {
    const DeviceError *error = &talk->device->errors[i];
    PatternResult result = try(talk, error->pattern, text, n);
    if (result != PATTERN_YES && result != PATTERN_LIMIT)
      continue;
    g_autofree char *shown = device_talk_shown(talk, text, n);
    if (result == PATTERN_YES)
      device_talk_end(talk, VERDICT_FAILED, "it answered \"%s\": %s", shown, error->says);
    else
      device_talk_end(talk, device_talk_no_answer(talk),
                      "\"%s\" is too much for the pattern of an error", shown);
    return TRUE;
  }
  return FALSE;
}

/* ---- Echoes -------------------------------------------------------------------------------- */

gsize
device_talk_echo_due(const DeviceTalk *talk)
{
  gsize n = talk->out->len;

  while (talk->device->framing == DEVICE_LINES && n > 0 && strchr("\r\n", talk->out->str[n - 1]))
    n--;
  return n;
}

/* A line comes back as a whole; of frames each is the next piece. */
static gboolean
take_echo(DeviceTalk *talk, const char *text, gsize n, gint64 now)
{
  gsize due = MIN(device_talk_echo_due(talk), talk->n_sent);

  if (!device_talk_now(talk)->echo || talk->n_echoed >= due)
    return FALSE;
  if (talk->device->framing == DEVICE_FRAMES)
    due = MIN(due, talk->n_echoed + n);
  if (due - talk->n_echoed != n || memcmp(text, talk->out->str + talk->n_echoed, n) != 0)
    return FALSE;
  talk->n_echoed = due;
  device_talk_progress(talk, now);
  return TRUE;
}

/* ---- What is expected ---------------------------------------------------------------------- */

static gboolean
same_value(const DeviceTalk *talk, guint parameter, const char *found)
{
  guint64 number;

  if (talk->device->parameters[parameter].kind != DEVICE_NUMBER)
    return strcmp(found, talk->values->text[parameter]) == 0;
  /* 03 is 3; units_parse_count() takes zeros before. */
  return units_parse_count(found, G_MAXUINT32, &number, NULL) &&
         number == talk->values->number[parameter];
}

/* The first capture that is not what was asked for, as `out 4, not 3`; NULL: all are. */
static char *
find_other(const DeviceTalk *talk, const Pattern *pattern)
{
  const char *const *names = pattern_names(pattern);

  for (guint i = 0; names[i] != NULL; i++) {
    int parameter = device_parameter(talk->device, names[i]);
    if (parameter < 0 || talk->values->text[parameter] == NULL)
      continue;
    g_autofree char *found = pattern_match_get(talk->match, names[i]);
    if (found == NULL || same_value(talk, (guint)parameter, found))
      continue;
    g_autofree char *shown = device_talk_shown(talk, found, strlen(found));
    return g_strdup_printf("%s %s, not %s", names[i], shown,
                           talk->device->parameters[parameter].kind == DEVICE_SECRET
                               ? "***"
                               : talk->values->text[parameter]);
  }
  return NULL;
}

/* The one of a LIST, commas between, that the step asks for; NULL, and the run over: it is shorter.
 */
static char *
pick_item(DeviceTalk *talk, const char *list)
{
  guint item = talk->values->number[device_talk_now(talk)->item];
  g_auto(GStrv) items = g_strsplit(list, ",", -1);
  guint n = g_strv_length(items);

  if (item >= 1 && item <= n)
    return g_strdup(g_strstrip(items[item - 1]));
  device_talk_end(talk, VERDICT_FAILED, "it tells of %u, and of no number %u", n, item);
  return NULL;
}

/* FALSE: it is not among them, and the run is over. */
static gboolean
keep_captures(DeviceTalk *talk, const Pattern *pattern)
{
  const char *const *names = pattern_names(pattern);
  gboolean picks = device_talk_now(talk)->item >= 0;

  for (guint i = 0; names[i] != NULL; i++) {
    g_autofree char *found = pattern_match_get(talk->match, names[i]);
    if (found == NULL)
      continue;
    char *kept = picks ? pick_item(talk, found) : g_steal_pointer(&found);
    if (kept == NULL)
      return FALSE;
    g_hash_table_replace(talk->captures, g_strdup(names[i]), kept);
  }
  return TRUE;
}

static gboolean
tells_state(DeviceTalk *talk, const char *text, gsize n)
{
  const Pattern *state = find(talk, talk->device->states, text, n);

  if (state == NULL)
    return FALSE;
  if (talk->hooks.told != NULL)
    talk->hooks.told(state, talk->match, talk->hook_data);
  return TRUE;
}

static void
take_answer(DeviceTalk *talk, const Pattern *pattern, const char *text, gsize n, gint64 now)
{
  const DeviceStep *step = device_talk_now(talk);
  g_autofree char *other = find_other(talk, pattern);

  if (other != NULL) {
    g_free(talk->other);
    talk->other = device_talk_shown(talk, text, n);
    /* Captures are gone after the next pattern. */
    if (!tells_state(talk, text, n))
      device_talk_end(talk, VERDICT_FAILED, "it answered \"%s\": %s", talk->other, other);
    return;
  }
  if (step->echo && talk->n_echoed < device_talk_echo_due(talk)) {
    g_autofree char *shown = device_talk_shown(talk, text, n);
    if (talk->other != NULL)
      device_talk_end(talk, device_talk_no_answer(talk),
                      "it answered \"%s\" to \"%s\", which was not sent", shown, talk->other);
    else
      device_talk_end(talk, device_talk_no_answer(talk),
                      "it answered \"%s\" without the echo: is its echo off?", shown);
    return;
  }
  if (!keep_captures(talk, pattern))
    return;
  talk->replied = TRUE;
  device_talk_progress(talk, now);
}

static void
take_other(DeviceTalk *talk, const char *text, gsize n)
{
  const DeviceStep *step = device_talk_now(talk);

  if (find(talk, talk->device->ignores, text, n) != NULL || tells_state(talk, text, n))
    return;
  g_free(talk->other);
  talk->other = device_talk_shown(talk, text, n);
  /* Of frames there are no words around: another byte is another answer. */
  if (talk->device->framing == DEVICE_FRAMES && step->echo && talk->n_echoed < talk->out->len &&
      talk->n_sent > 0)
    device_talk_end(talk, device_talk_no_answer(talk), "it echoed \"%s\", which was not sent",
                    talk->other);
}

static void
take_reply(DeviceTalk *talk, const char *text, gsize n, gint64 now)
{
  const DeviceStep *step = device_talk_now(talk);

  if (++talk->replies > MAX_REPLIES) {
    device_talk_end(talk, device_talk_no_answer(talk), "it talks on and on and gives no answer");
    return;
  }
  if (take_echo(talk, text, n, now) || take_error(talk, text, n))
    return;
  for (guint i = 0; talk->asked != TIME_NEVER && !talk->replied && i < step->expects->len; i++) {
    PatternResult result = try(talk, step->expects->pdata[i], text, n);
    if (result == PATTERN_YES) {
      take_answer(talk, step->expects->pdata[i], text, n, now);
      return;
    }
    if (result == PATTERN_LIMIT) {
      device_talk_end(talk, device_talk_no_answer(talk), "the reply is too much for its pattern");
      return;
    }
  }
  take_other(talk, text, n);
}

void
device_talk_reply(DeviceTalk *talk, const char *text, gsize n, gint64 now)
{
  device_talk_spoke(talk, text, n);
  if (!talk->over)
    take_reply(talk, text, n, now);
  /* In one breath with the success that ended the run; not with what a run before it said. */
  else if (talk->ended && talk->verdict == VERDICT_OK && take_error(talk, text, n))
    return;
  else
    tells_state(talk, text, n);
}

/* One of PATTERNS is what came of a line so far, told as heard; NULL: none is. */
static const Pattern *
find_prompt(DeviceTalk *talk, const GPtrArray *patterns)
{
  gsize n = talk->heard->len;

  /* Behind a prompt there is often a blank. */
  while (n > 0 && talk->heard->str[n - 1] == ' ')
    n--;
  const Pattern *found = find(talk, patterns, talk->heard->str, n);
  if (found == NULL)
    return NULL;
  device_talk_spoke(talk, talk->heard->str, n);
  return found;
}

/* The prompt that this step answered comes again: what it was told is not what it wanted. */
static void
take_refusal(DeviceTalk *talk)
{
  const DeviceStep *before = talk->step > 0 ? &talk->script->steps[talk->step - 1] : NULL;

  if (before == NULL || !before->prompt || find_prompt(talk, before->expects) == NULL)
    return;
  g_autofree char *shown = device_talk_shown(talk, talk->heard->str, talk->heard->len);
  device_talk_end(talk, VERDICT_FAILED, "it asks again, with \"%s\": it did not accept the answer",
                  g_strchomp(shown));
  g_string_truncate(talk->heard, 0);
}

void
device_talk_prompt(DeviceTalk *talk, gint64 now)
{
  if (talk->over || talk->asked == TIME_NEVER || talk->replied)
    return;
  const DeviceStep *step = device_talk_now(talk);
  const Pattern *found = step->prompt ? find_prompt(talk, step->expects) : NULL;
  if (found == NULL) {
    take_refusal(talk);
    return;
  }
  g_string_truncate(talk->heard, 0);
  if (!keep_captures(talk, found))
    return;
  talk->replied = TRUE;
  device_talk_progress(talk, now);
}

/* ---- Why not ------------------------------------------------------------------------------- */

static gboolean
has_begun(const DeviceTalk *talk)
{
  const GPtrArray *expects = device_talk_now(talk)->expects;

  for (guint i = 0; i < expects->len; i++)
    if (pattern_match_partial(expects->pdata[i], talk->match, talk->heard->str, talk->heard->len) ==
        PATTERN_PARTIAL)
      return TRUE;
  return FALSE;
}

char *
device_talk_missing(const DeviceTalk *talk, gint64 now)
{
  const DeviceStep *step = device_talk_now(talk);
  gint64 waited = now - (talk->asked == TIME_NEVER ? now : talk->asked);
  g_autofree char *sent = device_talk_shown(talk, talk->out->str, talk->out->len);
  g_autofree char *time = units_print((double)waited / 1e9, DIMENSION_TIME);
  g_autofree char *rest = device_talk_shown(talk, talk->heard->str, talk->heard->len);

  if (talk->asked == TIME_NEVER)
    return g_strdup_printf("\"%s\" could not be sent in time", sent);
  if (talk->too_long)
    return g_strdup_printf("its reply does not end: more than %d bytes", DEVICE_MAX_LINE);
  if (talk->heard->len > 0 && has_begun(talk))
    return g_strdup_printf("half a reply had come after %s: \"%s\"", time, rest);
  if (talk->heard->len > 0)
    return g_strdup_printf("no such reply within %s; it was saying \"%s\"", time, rest);
  if (talk->other != NULL)
    return g_strdup_printf("no such reply within %s; it said \"%s\"", time, talk->other);
  if (step->echo && talk->n_echoed > 0 && talk->n_echoed >= device_talk_echo_due(talk))
    return g_strdup_printf("it echoed \"%s\" and said nothing more for %s", sent, time);
  if (step->send == NULL)
    return g_strdup_printf("it said nothing for %s", time);
  return g_strdup_printf("it said nothing for %s to \"%s\"", time, sent);
}
