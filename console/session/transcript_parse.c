#include "session/transcript_parse.h"

#include <string.h>

#include "session/transcript_fields.h"

struct TranscriptLine {
  json_t *root;
  GPtrArray *owned;
  GArray *values; /* of counters; the source they are from */
  GString *source;
};

TranscriptLine *
transcript_line_new(void)
{
  TranscriptLine *line = g_new0(TranscriptLine, 1);
  line->owned = g_ptr_array_new_with_free_func(g_free);
  line->values = g_array_sized_new(FALSE, FALSE, sizeof(gint64), 64);
  line->source = g_string_new(NULL);
  return line;
}

void
transcript_line_free(TranscriptLine *line)
{
  if (line == NULL)
    return;
  json_decref(line->root);
  g_ptr_array_unref(line->owned);
  g_array_unref(line->values);
  g_string_free(line->source, TRUE);
  g_free(line);
}

static gboolean
load(TranscriptLine *line, const char *text, gsize length, GError **error)
{
  json_decref(line->root);
  g_ptr_array_set_size(line->owned, 0);
  json_error_t problem;
  line->root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);
  if (line->root != NULL)
    return TRUE;
  g_set_error(error, TRANSCRIPT_ERROR, 0, "is not JSON, column %d: %s", problem.column,
              problem.text);
  return FALSE;
}

static void
read_options(Fields *fields, CoreOptions *options)
{
  options->read_only = fields_bool(fields, "read_only");
  options->dry_run = fields_bool(fields, "dry_run");
  if (json_is_integer(json_object_get(fields->object, "consent"))) {
    options->consent = CONSENT_SEATS;
    options->consent_seats = fields_count(fields, "consent");
    return;
  }
  const char *consent = fields_string(fields, "consent");
  options->consent = strcmp(consent, "yes") == 0 ? CONSENT_YES : CONSENT_ASK;
  if (options->consent == CONSENT_ASK && strcmp(consent, "ask") != 0)
    fields_fail(fields, "`consent` is neither ask, yes nor a number");
}

gboolean
transcript_parse_head(TranscriptLine *line, const char *text, gsize length, TranscriptHead *head,
                      GError **error)
{
  if (!load(line, text, length, error))
    return FALSE;
  *head = (TranscriptHead){0};
  Fields fields;
  fields_begin(&fields, line->root, "the first line", line->owned);
  gint64 version = fields_integer(&fields, "pult", 1, G_MAXINT64);
  if (fields.error == NULL && version > TRANSCRIPT_VERSION) {
    g_set_error(error, TRANSCRIPT_ERROR, 0,
                "was written by a newer pult: its format is %" G_GINT64_FORMAT
                ", this one reads up to %d",
                version, TRANSCRIPT_VERSION);
    return FALSE;
  }
  head->layout_text = fields_string(&fields, "layout");
  head->layout_name = fields_string(&fields, "layout_name");
  head->layout_sha256 = fields_string(&fields, "layout_sha256");
  head->script_text = fields_string_or_null(&fields, "script");
  head->script_name = fields_string_or_null(&fields, "script_name");
  head->options.seed = (guint64)fields_integer(&fields, "seed", 0, G_MAXINT64);
  Fields options;
  fields_begin(&options, fields_take(&fields, "options"), "`options`", line->owned);
  if (fields.error == NULL)
    read_options(&options, &head->options);
  GError *problem = NULL;
  if (!fields_end(&options, &problem)) {
    fields_fail(&fields, "%s", problem->message);
    g_error_free(problem);
  }
  return fields_end(&fields, error);
}

gboolean
transcript_parse_session(TranscriptLine *line, const char *text, gsize length,
                         TranscriptSession *session, GError **error)
{
  if (!load(line, text, length, error))
    return FALSE;
  Fields outer, fields;
  fields_begin(&outer, line->root, "the second line", line->owned);
  fields_begin(&fields, fields_take(&outer, "session"), "`session`", line->owned);
  if (!fields_end(&outer, error)) {
    g_clear_error(&fields.error);
    return FALSE;
  }
  session->host = fields_string(&fields, "host");
  session->user = fields_string(&fields, "operator");
  session->started = fields_string(&fields, "started");
  session->version = fields_string(&fields, "version");
  session->clock = fields_string(&fields, "clock");
  session->speed = fields_number(&fields, "speed");
  return fields_end(&fields, error);
}

static void
read_samples(Fields *fields, SamplesEvent *samples)
{
  samples->source = fields_string(fields, "source");
  const char **names = NULL;
  gsize n_columns = 0;
  if (fields_has(fields, "columns")) {
    json_t *columns = fields_array(fields, "columns", &n_columns);
    names = fields_new(fields, sizeof *names, n_columns);
    for (gsize i = 0; i < n_columns; i++)
      names[i] = fields_text(fields, json_array_get(columns, i), "columns");
  }
  gsize n;
  json_t *array = fields_array(fields, "v", &n);
  gint64 *values = fields_new(fields, sizeof *values, n);
  for (gsize i = 0; i < n; i++) {
    json_t *value = json_array_get(array, i);
    if (!json_is_integer(value))
      fields_fail(fields, "`v` holds what is no whole number");
    values[i] = json_integer_value(value);
  }
  if (names != NULL && n_columns != n)
    fields_fail(fields, "has %" G_GSIZE_FORMAT " columns and %" G_GSIZE_FORMAT " values", n_columns,
                n);
  samples->columns = names;
  samples->values = values;
  samples->n = (guint)n;
}

static void
read_arguments(Fields *fields, RequestEvent *request)
{
  json_t *object = fields_take(fields, "args");
  if (object != NULL && !json_is_object(object))
    fields_fail(fields, "`args` is no object");
  gsize n = json_object_size(object);
  Argument *arguments = fields_new(fields, sizeof *arguments, n);
  const char *key;
  json_t *value;
  guint i = 0;
  json_object_foreach(object, key, value)
  {
    arguments[i].key = fields_unescape(fields, key, "args");
    arguments[i++].value = fields_text(fields, value, "args");
  }
  request->arguments = arguments;
  request->n_arguments = (guint)n;
}

static void
read_request(Fields *fields, const Layout *layout, RequestEvent *request)
{
  request->id = fields_count(fields, "id");
  request->cmd = fields_count(fields, "cmd");
  request->backend = fields_string(fields, "backend");
  request->operation = (Operation)fields_word(fields, "op", operation_parse);
  fields_nodes(fields, "nodes", layout, &request->nodes, &request->n_nodes);
  read_arguments(fields, request);
  request->deadline = fields_has(fields, "deadline")
                          ? fields_integer(fields, "deadline", 0, TIME_NEVER - 1)
                          : TIME_NEVER;
}

static void
read_plan(Fields *fields, const Layout *layout, PlanEvent *plan)
{
  plan->cmd = fields_count(fields, "cmd");
  gsize n;
  json_t *array = fields_array(fields, "parts", &n);
  PlanPart *parts = fields_new(fields, sizeof *parts, n);
  for (gsize i = 0; i < n; i++) {
    Fields part;
    fields_begin(&part, json_array_get(array, i), "an entry of `parts`", fields->owned);
    parts[i].backend = fields_string(&part, "backend");
    parts[i].action = fields_string(&part, "action");
    fields_nodes(&part, "nodes", layout, &parts[i].nodes, &parts[i].n_nodes);
    g_autoptr(GError) problem = NULL;
    if (!fields_end(&part, &problem))
      fields_fail(fields, "%s", problem->message);
  }
  plan->parts = parts;
  plan->n_parts = (guint)n;
  plan->seats = fields_count(fields, "seats");
  fields_nodes(fields, "protected", layout, &plan->protected_nodes, &plan->n_protected);
  fields_nodes(fields, "in_use", layout, &plan->in_use, &plan->n_in_use);
  fields_nodes(fields, "reserved", layout, &plan->reserved, &plan->n_reserved);
  fields_nodes(fields, "co_victims", layout, &plan->co_victims, &plan->n_co_victims);
  fields_nodes(fields, "spared", layout, &plan->spared, &plan->n_spared);
  plan->difference = fields_has(fields, "difference") ? fields_string(fields, "difference") : NULL;
}

static void
read_result(Fields *fields, const Layout *layout, ResultEvent *result)
{
  result->request = fields_count(fields, "req");
  result->node = fields_node(fields, "node", layout);
  result->verdict = (Verdict)fields_word(fields, "verdict", verdict_parse);
  result->text = fields_has(fields, "text") ? fields_string(fields, "text") : "";
}

static void
read_input(Fields *fields, const Layout *layout, Event *event)
{
  switch (event->kind) {
  case EVENT_LINK:
    event->link.name = fields_string(fields, "name");
    event->link.up = fields_bool(fields, "up");
    event->link.text = fields_string(fields, "text");
    break;
  case EVENT_COMMAND:
    event->command.cmd = fields_count(fields, "cmd");
    event->command.said = fields_string(fields, "said");
    event->command.text = fields_string(fields, "text");
    event->command.confirm = fields_has(fields, "confirm")
                                 ? (gint32)fields_integer(fields, "confirm", 0, G_MAXINT32)
                                 : -1;
    break;
  case EVENT_RESULT:
    read_result(fields, layout, &event->result);
    break;
  case EVENT_LINE:
    event->line.request = fields_count(fields, "req");
    event->line.node = fields_node(fields, "node", layout);
    event->line.stream = fields_string(fields, "stream");
    event->line.text = fields_string(fields, "text");
    break;
  case EVENT_SAMPLES:
    read_samples(fields, &event->samples);
    break;
  case EVENT_OBSERVE:
    event->observe.node = fields_node(fields, "node", layout);
    event->observe.fact = fields_string(fields, "fact");
    event->observe.value = fields_string(fields, "value");
    event->observe.source = fields_string(fields, "source");
    break;
  default: /* a wake carries nothing */
    break;
  }
}

static void
read_output(Fields *fields, const Layout *layout, Event *event)
{
  switch (event->kind) {
  case EVENT_REQUEST:
    read_request(fields, layout, &event->request);
    break;
  case EVENT_CANCEL:
    event->cancel.request = fields_count(fields, "id");
    break;
  case EVENT_DONE:
    event->done.cmd = fields_count(fields, "cmd");
    event->done.verdict = (Verdict)fields_word(fields, "verdict", verdict_parse);
    break;
  case EVENT_NOTE:
    event->note.severity = (Severity)fields_word(fields, "severity", severity_parse);
    event->note.node = fields_node(fields, "node", layout);
    event->note.text = fields_string(fields, "text");
    break;
  case EVENT_FIGURE:
    event->figure.label = fields_string(fields, "label");
    event->figure.name = fields_string(fields, "name");
    event->figure.value = fields_number(fields, "value");
    event->figure.unit = fields_string(fields, "unit");
    event->figure.n = fields_count(fields, "n");
    event->figure.runs = fields_count(fields, "runs");
    break;
  case EVENT_EXPECT:
    event->expect.text = fields_string(fields, "text");
    event->expect.held = fields_bool(fields, "held");
    event->expect.value = fields_number(fields, "value");
    break;
  case EVENT_PLAN:
    read_plan(fields, layout, &event->plan);
    break;
  default:
    g_assert_not_reached();
  }
}

gboolean
transcript_parse_event(TranscriptLine *line, const Layout *layout, const char *text, gsize length,
                       Event *event, GError **error)
{
  if (transcript_scan_samples(text, length, line->values, line->source, event))
    return TRUE;
  if (!load(line, text, length, error))
    return FALSE;
  *event = (Event){0};
  Fields fields;
  fields_begin(&fields, line->root, "the line", line->owned);
  event->seq = (guint64)fields_integer(&fields, "seq", 1, G_MAXINT64);
  event->t = fields_integer(&fields, "t", 0, TIME_LATEST);
  event->kind = (EventKind)fields_word(&fields, "kind", event_kind_parse);
  gboolean out = fields_has(&fields, "out") && fields_bool(&fields, "out");
  if (out != event_is_output(event->kind))
    fields_fail(&fields, "is of kind %s, which is an %s; `out` says otherwise",
                event_kind_name(event->kind), out ? "input" : "output");
  if (fields.error == NULL && out)
    read_output(&fields, layout, event);
  else if (fields.error == NULL)
    read_input(&fields, layout, event);
  return fields_end(&fields, error);
}
