#include <string.h>

#include "model/log_line.h"
#include "model/stage_private.h"

/* A source as it is tried. */
typedef struct {
  const StageSource *source;
  guint8 *strikes; /* of each of its patterns; past the limit it was told */
} Tried;

struct StageMatcher {
  SeatFinder *finder;
  PatternMatch *match;
  guint n;
  Tried *tried;
  GString *shown; /* a console's line, as it shows */
  char *mac, *ip, *name, *file, *stamp;
};

StageMatcher *
stage_matcher_new(const StageSource *const *sources, guint n, SeatFinder *finder)
{
  StageMatcher *matcher = g_new0(StageMatcher, 1);
  matcher->finder = finder;
  matcher->match = pattern_match_new();
  matcher->n = n;
  matcher->tried = g_new0(Tried, n);
  matcher->shown = g_string_new(NULL);
  for (guint i = 0; i < n; i++) {
    matcher->tried[i].source = sources[i];
    matcher->tried[i].strikes = g_new0(guint8, sources[i]->patterns->len);
  }
  return matcher;
}

static void
forget_texts(StageMatcher *matcher)
{
  char **const texts[] = {&matcher->mac, &matcher->ip, &matcher->name, &matcher->file,
                          &matcher->stamp};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    g_clear_pointer(texts[i], g_free);
}

void
stage_matcher_free(StageMatcher *matcher)
{
  if (matcher == NULL)
    return;
  for (guint i = 0; i < matcher->n; i++)
    g_free(matcher->tried[i].strikes);
  g_free(matcher->tried);
  pattern_match_free(matcher->match);
  g_string_free(matcher->shown, TRUE);
  forget_texts(matcher);
  g_free(matcher);
}

static const StagePattern *
pattern_at(const Tried *tried, guint i)
{
  return &g_array_index(tried->source->patterns, StagePattern, i);
}

/* ---- Whose lines a source takes ------------------------------------------------------------ */

static gboolean
is_of_program(const StageSource *source, const LogPart *program)
{
  if (source->programs == NULL || program->length == 0)
    return TRUE;
  for (char **known = source->programs; *known != NULL; known++)
    if (log_part_is(program, *known))
      return TRUE;
  return FALSE;
}

/* The end of an escape sequence of ECMA-48 that begins at P: CSI … final, or ESC and one more. */
static const char *
skip_escape(const char *p, const char *end)
{
  if (++p == end || *p != '[')
    return p == end ? p : p + 1;
  for (p++; p < end && (guint8)*p >= 0x20 && (guint8)*p < 0x40;)
    p++;
  return p == end ? p : p + 1;
}

/* What a console's line shows in the end: behind its last carriage return that something follows,
 * and without what moves a cursor. */
static void
show(GString *shown, const char *line, gsize length)
{
  g_string_truncate(shown, 0);
  for (const char *p = line, *end = line + length; p < end;) {
    if (*p == '\033') {
      p = skip_escape(p, end);
      continue;
    }
    if (*p == '\r' && p + 1 < end)
      g_string_truncate(shown, 0);
    else if (*p == '\b' && shown->len > 0)
      g_string_truncate(shown, shown->len - 1);
    else if ((guint8)*p >= 0x20 || *p == '\t')
      g_string_append_c(shown, *p);
    p++;
  }
}

/* ---- Matching ------------------------------------------------------------------------------ */

static const StagePattern *
try_source(StageMatcher *matcher, const Tried *tried, const LogPart *text)
{
  for (guint i = 0; i < tried->source->patterns->len; i++) {
    const StagePattern *pattern = pattern_at(tried, i);
    if (tried->strikes[i] >= STAGE_MAX_STRIKES)
      continue;
    PatternResult result =
        pattern_match(pattern->pattern, matcher->match, text->text, text->length);
    if (result == PATTERN_YES)
      return pattern;
    if (result == PATTERN_LIMIT)
      tried->strikes[i]++;
  }
  return NULL;
}

static void
take_texts(StageMatcher *matcher, const LogPart *stamp, StageSighting *sighting)
{
  forget_texts(matcher);
  sighting->mac = matcher->mac = pattern_match_get(matcher->match, "mac");
  sighting->ip = matcher->ip = pattern_match_get(matcher->match, "ip");
  sighting->name = matcher->name = pattern_match_get(matcher->match, "name");
  sighting->file = matcher->file = pattern_match_get(matcher->match, "file");
  if (stamp->length > 0)
    matcher->stamp = g_strndup(stamp->text, stamp->length);
  sighting->stamp = matcher->stamp;
}

static gboolean
take(StageMatcher *matcher, gboolean console, const LogLine *line, StageSighting *sighting)
{
  for (guint i = 0; i < matcher->n; i++) {
    const Tried *tried = &matcher->tried[i];
    if (tried->source->console != console || !is_of_program(tried->source, &line->program))
      continue;
    const StagePattern *pattern = try_source(matcher, tried, &line->text);
    if (pattern == NULL)
      continue;
    *sighting = (StageSighting){.source = tried->source,
                                .stage = pattern->stage,
                                .certainty = pattern->certainty,
                                .node = NODE_NONE};
    take_texts(matcher, &line->stamp, sighting);
    return TRUE;
  }
  return FALSE;
}

gboolean
stage_matcher_take(StageMatcher *matcher, const char *line, gsize length, StageSighting *sighting)
{
  LogLine parts;
  if (length > LOG_LINE_MAX)
    return FALSE;
  log_line_read(line, length, &parts);
  if (!take(matcher, FALSE, &parts, sighting))
    return FALSE;
  if (matcher->finder != NULL)
    sighting->node = seat_finder_find(matcher->finder, sighting->mac, sighting->ip, sighting->name);
  return TRUE;
}

gboolean
stage_matcher_take_console(StageMatcher *matcher, NodeId node, const char *line, gsize length,
                           StageSighting *sighting)
{
  if (length > LOG_LINE_MAX)
    return FALSE;
  show(matcher->shown, line, length);
  LogLine parts = {.text = {matcher->shown->str, matcher->shown->len}};
  if (!take(matcher, TRUE, &parts, sighting))
    return FALSE;
  sighting->node = node;
  return TRUE;
}

/* Without the name of the program, as the kernel's lines show, and with it, as systemd's. */
gboolean
stage_matcher_take_own(StageMatcher *matcher, NodeId node, const char *line, gsize length,
                       StageSighting *sighting)
{
  LogLine parts;
  if (length > LOG_LINE_MAX)
    return FALSE;
  log_line_read(line, length, &parts);
  const LogPart *program = &parts.program, *process = &parts.process, *text = &parts.text;
  gboolean taken = stage_matcher_take_console(matcher, node, text->text, text->length, sighting);
  if (!taken && program->length > 0) {
    g_autofree char *shown =
        g_strdup_printf("%.*s[%.*s]: %.*s", (int)program->length, program->text,
                        (int)process->length, process->text, (int)text->length, text->text);
    taken = stage_matcher_take_console(matcher, node, shown, strlen(shown), sighting);
  }
  if (taken)
    sighting->certainty = MAX(sighting->certainty, CERTAINTY_LIKELY);
  return taken;
}

char *
stage_matcher_complaint(StageMatcher *matcher)
{
  for (guint i = 0; i < matcher->n; i++) {
    Tried *tried = &matcher->tried[i];
    for (guint k = 0; k < tried->source->patterns->len; k++) {
      if (tried->strikes[k] != STAGE_MAX_STRIKES)
        continue;
      tried->strikes[k]++;
      return g_strdup_printf("stages %s: pattern %u took too long on %d lines and is not tried any"
                             " more: %s",
                             tried->source->name, k + 1, STAGE_MAX_STRIKES,
                             pattern_text(pattern_at(tried, k)->pattern));
    }
  }
  return NULL;
}
