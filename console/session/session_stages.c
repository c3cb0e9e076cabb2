/* Lines of logs and consoles, held against the patterns of stages as they come: what one tells is
 * an observation behind it, so that a replay needs neither patterns nor lines. */
#include <string.h>

#include "session/data.h"
#include "session/session_private.h"

static void
make_matcher(Session *session, const GPtrArray *sources)
{
  Stages *stages = &session->stages;
  stages->finder = seat_finder_new(session->layout);
  stages->matcher =
      stage_matcher_new((const StageSource *const *)sources->pdata, sources->len, stages->finder);
}

void
stages_init(Session *session, const SessionOptions *options)
{
  session->stages.shipped = options->stages == NULL && options->shipped_stages;
  if (options->stages != NULL)
    make_matcher(session, options->stages);
}

void
stages_clear(Session *session)
{
  stage_matcher_free(session->stages.matcher);
  seat_finder_free(session->stages.finder);
  g_clear_pointer(&session->stages.read, g_ptr_array_unref);
}

/* There are many patterns, and most sessions have no line for them. */
static void
read_shipped(Session *session)
{
  Stages *stages = &session->stages;
  g_autoptr(GError) error = NULL;
  stages->shipped = FALSE;
  stages->read = data_stage_sources(session->layout, &error);
  if (stages->read != NULL)
    make_matcher(session, stages->read);
  else
    session_complain(session, error->message);
}

static gboolean
take(const Session *session, const LineEvent *line, gboolean is_log, StageSighting *sighting)
{
  StageMatcher *matcher = session->stages.matcher;
  gsize length = strlen(line->text);
  gboolean taken =
      is_log ? stage_matcher_take(matcher, line->text, length, sighting)
             : stage_matcher_take_console(matcher, line->node, line->text, length, sighting);
  if (!taken && is_log && line->node != NODE_NONE &&
      session->layout->nodes[line->node].kind == NODE_CLIENT)
    taken = stage_matcher_take_own(matcher, line->node, line->text, length, sighting);
  return taken && sighting->stage != NULL && sighting->node != NODE_NONE;
}

/* It outlives LINE, which is its backend's: core may have that let go of it. */
static void
observe(Session *session, const Event *line, const StageSighting *sighting)
{
  g_autofree char *unsure = NULL;
  if (sighting->certainty != CERTAINTY_SURE)
    unsure = g_strdup_printf("%s %s", sighting->stage, certainty_name(sighting->certainty));
  Event event = {.kind = EVENT_OBSERVE,
                 .t = line->t,
                 .observe = {sighting->node, "stage", unsure != NULL ? unsure : sighting->stage,
                             stage_source_name(sighting->source)}};
  session_fold(session, &event);
}

static void
complain(Session *session)
{
  g_autofree char *complaint = stage_matcher_complaint(session->stages.matcher);
  if (complaint == NULL)
    return;
  Event event = {.kind = EVENT_LINE,
                 .t = session->now,
                 .line = {.request = 0, .node = NODE_NONE, .stream = "stages", .text = complaint}};
  session_fold(session, &event);
}

void
stages_fold_line(Session *session, Event *line)
{
  Stages *stages = &session->stages;
  gboolean is_log = strcmp(line->line.stream, "log") == 0;
  StageSighting sighting;
  gboolean may_tell = is_log || strcmp(line->line.stream, "console") == 0;
  if (may_tell && stages->shipped)
    read_shipped(session);
  if (stages->matcher == NULL || !may_tell) {
    session_fold(session, line);
    return;
  }
  gboolean tells = take(session, &line->line, is_log, &sighting);
  if (tells)
    line->line.node = sighting.node;
  /* A server's log is full of what is no business of ours. */
  if (tells || !is_log)
    session_fold(session, line);
  if (tells)
    observe(session, line, &sighting);
  complain(session);
}
