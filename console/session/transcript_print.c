/* The writing side: straight into a string, since a busy lab gives hundreds of counters ten times
 * a second and every one of them is written down. */
#include <math.h>
#include <string.h>

#include "model/nodeset.h"
#include "model/units.h"
#include "session/transcript.h"
#include "session/transcript_escape.h"

#define INTEGER_SIZE 20 /* -9223372036854775808 */
#define DECIMALS 9

/* A literal piece. */
#define put(out, text) g_string_append_len((out), (text), sizeof(text) - 1)

/* Writes VALUE at END backwards, two digits a division; returns its first character. */
static char *
digits_before(char *end, guint64 value)
{
  static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                              "25262728293031323334353637383940414243444546474849"
                              "50515253545556575859606162636465666768697071727374"
                              "75767778798081828384858687888990919293949596979899";
  while (value >= 100) {
    guint pair = (guint)(value % 100);
    value /= 100;
    end -= 2;
    memcpy(end, pairs + 2 * (gsize)pair, 2);
  }
  if (value >= 10) {
    end -= 2;
    memcpy(end, pairs + 2 * value, 2);
  } else {
    *--end = (char)('0' + value);
  }
  return end;
}

static char *
write_integer(char *to, gint64 value)
{
  char buffer[INTEGER_SIZE];
  char *end = buffer + sizeof buffer;
  char *begin = digits_before(end, value < 0 ? -(guint64)value : (guint64)value);
  if (value < 0)
    *--begin = '-';
  memcpy(to, begin, (gsize)(end - begin));
  return to + (end - begin);
}

static void
print_integer(GString *out, gint64 value)
{
  char buffer[INTEGER_SIZE];
  g_string_append_len(out, buffer, write_integer(buffer, value) - buffer);
}

/* JSON has no infinity: what is no number is null. */
static void
print_number(GString *out, double value)
{
  if (!isfinite(value)) {
    put(out, "null");
    return;
  }
  g_autofree char *text = units_fixed(value, DECIMALS);
  gsize length = strlen(text);
  if (strchr(text, '.') != NULL) {
    while (text[length - 1] == '0')
      length--;
    length -= text[length - 1] == '.';
  }
  g_string_append_len(out, text, (gssize)length);
}

/* One escaped character of TEXT; returns the bytes it took. */
static gsize
print_special(GString *out, const char *text, gsize length)
{
  switch (*text) {
  case '"':
    put(out, "\\\"");
    return 1;
  case '\\':
    put(out, "\\\\\\\\");
    return 1;
  case '\n':
    put(out, "\\n");
    return 1;
  case '\t':
    put(out, "\\t");
    return 1;
  }
  gsize plain = transcript_plain_length(text, length);
  if (plain == 0) {
    g_string_append_printf(out, "\\\\x%02x", (guchar)*text);
    return 1;
  }
  g_string_append_len(out, text, (gssize)plain);
  return plain;
}

static gboolean
is_simple(char c)
{
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void
print_string(GString *out, const char *text)
{
  gsize length = strlen(text);
  g_string_append_c(out, '"');
  for (gsize i = 0; i < length;) {
    gsize run = i;
    while (run < length && is_simple(text[run]))
      run++;
    g_string_append_len(out, text + i, (gssize)(run - i));
    i = run;
    if (i < length)
      i += print_special(out, text + i, length - i);
  }
  g_string_append_c(out, '"');
}

static void
print_string_or_null(GString *out, const char *text)
{
  if (text == NULL)
    put(out, "null");
  else
    print_string(out, text);
}

static void
print_bool(GString *out, gboolean value)
{
  g_string_append(out, value ? "true" : "false");
}

/* `,"node":"a01"`; nothing without a node. */
static void
print_node(GString *out, const Layout *layout, NodeId node)
{
  if (node == NODE_NONE)
    return;
  put(out, ",\"node\":");
  print_string(out, layout_node(layout, node)->name);
}

static void
print_nodes(GString *out, const Layout *layout, const NodeId *nodes, guint n)
{
  g_autofree const char **names = g_new(const char *, n);
  for (guint i = 0; i < n; i++)
    names[i] = layout_node(layout, nodes[i])->name;
  g_autofree char *folded = nodeset_fold_names(names, n);
  print_string(out, folded);
}

static void
print_command(GString *out, const CommandEvent *command)
{
  put(out, ",\"cmd\":");
  print_integer(out, command->cmd);
  put(out, ",\"said\":");
  print_string(out, command->said);
  put(out, ",\"text\":");
  print_string(out, command->text);
  if (command->confirm >= 0) {
    put(out, ",\"confirm\":");
    print_integer(out, command->confirm);
  }
}

static void
print_result(GString *out, const Layout *layout, const ResultEvent *result)
{
  put(out, ",\"req\":");
  print_integer(out, result->request);
  print_node(out, layout, result->node);
  put(out, ",\"verdict\":");
  print_string(out, verdict_name(result->verdict));
  if (*result->text != 0) {
    put(out, ",\"text\":");
    print_string(out, result->text);
  }
}

static void
print_line(GString *out, const Layout *layout, const LineEvent *line)
{
  put(out, ",\"req\":");
  print_integer(out, line->request);
  print_node(out, layout, line->node);
  put(out, ",\"stream\":");
  print_string(out, line->stream);
  put(out, ",\"text\":");
  print_string(out, line->text);
}

static void
print_samples(GString *out, const SamplesEvent *samples)
{
  put(out, ",\"source\":");
  print_string(out, samples->source);
  if (samples->columns != NULL) {
    put(out, ",\"columns\":[");
    for (guint i = 0; i < samples->n; i++) {
      if (i > 0)
        g_string_append_c(out, ',');
      print_string(out, samples->columns[i]);
    }
    g_string_append_c(out, ']');
  }
  put(out, ",\"v\":[");
  gsize length = out->len;
  g_string_set_size(out, length + (gsize)samples->n * (INTEGER_SIZE + 1));
  char *to = out->str + length;
  for (guint i = 0; i < samples->n; i++) {
    if (i > 0)
      *to++ = ',';
    to = write_integer(to, samples->values[i]);
  }
  g_string_truncate(out, (gsize)(to - out->str));
  g_string_append_c(out, ']');
}

static void
print_observe(GString *out, const Layout *layout, const ObserveEvent *observe)
{
  print_node(out, layout, observe->node);
  put(out, ",\"fact\":");
  print_string(out, observe->fact);
  put(out, ",\"value\":");
  print_string(out, observe->value);
  put(out, ",\"source\":");
  print_string(out, observe->source);
}

static void
print_request(GString *out, const Layout *layout, const RequestEvent *request)
{
  put(out, ",\"id\":");
  print_integer(out, request->id);
  put(out, ",\"cmd\":");
  print_integer(out, request->cmd);
  put(out, ",\"backend\":");
  print_string(out, request->backend);
  put(out, ",\"op\":");
  print_string(out, operation_name(request->operation));
  put(out, ",\"nodes\":");
  print_nodes(out, layout, request->nodes, request->n_nodes);
  put(out, ",\"args\":{");
  for (guint i = 0; i < request->n_arguments; i++) {
    if (i > 0)
      g_string_append_c(out, ',');
    print_string(out, request->arguments[i].key);
    g_string_append_c(out, ':');
    print_string(out, request->arguments[i].value);
  }
  g_string_append_c(out, '}');
  if (request->deadline != TIME_NEVER) {
    put(out, ",\"deadline\":");
    print_integer(out, request->deadline);
  }
}

static void
print_figure(GString *out, const FigureEvent *figure)
{
  put(out, ",\"label\":");
  print_string(out, figure->label);
  put(out, ",\"name\":");
  print_string(out, figure->name);
  put(out, ",\"value\":");
  print_number(out, figure->value);
  put(out, ",\"unit\":");
  print_string(out, figure->unit);
  put(out, ",\"n\":");
  print_integer(out, figure->n);
  put(out, ",\"runs\":");
  print_integer(out, figure->runs);
}

static void
print_plan(GString *out, const Layout *layout, const PlanEvent *plan)
{
  put(out, ",\"cmd\":");
  print_integer(out, plan->cmd);
  put(out, ",\"parts\":[");
  for (guint i = 0; i < plan->n_parts; i++) {
    const PlanPart *part = &plan->parts[i];
    g_string_append(out, i > 0 ? ",{\"backend\":" : "{\"backend\":");
    print_string(out, part->backend);
    put(out, ",\"action\":");
    print_string(out, part->action);
    put(out, ",\"nodes\":");
    print_nodes(out, layout, part->nodes, part->n_nodes);
    g_string_append_c(out, '}');
  }
  put(out, "],\"seats\":");
  print_integer(out, plan->seats);
  if (plan->n_protected > 0) {
    put(out, ",\"protected\":");
    print_nodes(out, layout, plan->protected_nodes, plan->n_protected);
  }
  if (plan->n_in_use > 0) {
    put(out, ",\"in_use\":");
    print_nodes(out, layout, plan->in_use, plan->n_in_use);
  }
  if (plan->n_reserved > 0) {
    put(out, ",\"reserved\":");
    print_nodes(out, layout, plan->reserved, plan->n_reserved);
  }
  if (plan->n_co_victims > 0) {
    put(out, ",\"co_victims\":");
    print_nodes(out, layout, plan->co_victims, plan->n_co_victims);
  }
  if (plan->n_spared > 0) {
    put(out, ",\"spared\":");
    print_nodes(out, layout, plan->spared, plan->n_spared);
  }
  if (plan->difference != NULL) {
    put(out, ",\"difference\":");
    print_string(out, plan->difference);
  }
}

static void
print_input(GString *out, const Layout *layout, const Event *event)
{
  switch (event->kind) {
  case EVENT_LINK:
    put(out, ",\"name\":");
    print_string(out, event->link.name);
    put(out, ",\"up\":");
    print_bool(out, event->link.up);
    put(out, ",\"text\":");
    print_string(out, event->link.text);
    break;
  case EVENT_COMMAND:
    print_command(out, &event->command);
    break;
  case EVENT_RESULT:
    print_result(out, layout, &event->result);
    break;
  case EVENT_LINE:
    print_line(out, layout, &event->line);
    break;
  case EVENT_SAMPLES:
    print_samples(out, &event->samples);
    break;
  case EVENT_OBSERVE:
    print_observe(out, layout, &event->observe);
    break;
  default: /* a wake carries nothing */
    break;
  }
}

static void
print_output(GString *out, const Layout *layout, const Event *event)
{
  switch (event->kind) {
  case EVENT_REQUEST:
    print_request(out, layout, &event->request);
    break;
  case EVENT_CANCEL:
    put(out, ",\"id\":");
    print_integer(out, event->cancel.request);
    break;
  case EVENT_DONE:
    put(out, ",\"cmd\":");
    print_integer(out, event->done.cmd);
    put(out, ",\"verdict\":");
    print_string(out, verdict_name(event->done.verdict));
    break;
  case EVENT_NOTE:
    put(out, ",\"severity\":");
    print_string(out, severity_name(event->note.severity));
    print_node(out, layout, event->note.node);
    put(out, ",\"text\":");
    print_string(out, event->note.text);
    break;
  case EVENT_FIGURE:
    print_figure(out, &event->figure);
    break;
  case EVENT_EXPECT:
    put(out, ",\"text\":");
    print_string(out, event->expect.text);
    put(out, ",\"held\":");
    print_bool(out, event->expect.held);
    put(out, ",\"value\":");
    print_number(out, event->expect.value);
    break;
  case EVENT_PLAN:
    print_plan(out, layout, &event->plan);
    break;
  default:
    g_assert_not_reached();
  }
}

void
transcript_print_event(GString *out, const Layout *layout, const Event *event)
{
  put(out, "{\"seq\":");
  print_integer(out, (gint64)event->seq);
  put(out, ",\"t\":");
  print_integer(out, event->t);
  put(out, ",\"kind\":\"");
  g_string_append(out, event_kind_name(event->kind));
  g_string_append_c(out, '"');
  if (event_is_output(event->kind)) {
    put(out, ",\"out\":true");
    print_output(out, layout, event);
  } else {
    print_input(out, layout, event);
  }
  put(out, "}\n");
}

void
transcript_print_head(GString *out, const TranscriptHead *head)
{
  put(out, "{\"pult\":");
  print_integer(out, TRANSCRIPT_VERSION);
  put(out, ",\"layout\":");
  print_string(out, head->layout_text);
  put(out, ",\"layout_name\":");
  print_string(out, head->layout_name);
  put(out, ",\"layout_sha256\":");
  print_string(out, head->layout_sha256);
  put(out, ",\"script\":");
  print_string_or_null(out, head->script_text);
  put(out, ",\"script_name\":");
  print_string_or_null(out, head->script_name);
  put(out, ",\"seed\":");
  print_integer(out, (gint64)head->options.seed);
  put(out, ",\"options\":{\"read_only\":");
  print_bool(out, head->options.read_only);
  put(out, ",\"dry_run\":");
  print_bool(out, head->options.dry_run);
  put(out, ",\"consent\":");
  if (head->options.consent == CONSENT_SEATS)
    print_integer(out, head->options.consent_seats);
  else
    print_string(out, head->options.consent == CONSENT_YES ? "yes" : "ask");
  put(out, "}}\n");
}

void
transcript_print_session(GString *out, const TranscriptSession *session)
{
  put(out, "{\"session\":{\"host\":");
  print_string(out, session->host);
  put(out, ",\"operator\":");
  print_string(out, session->user);
  put(out, ",\"started\":");
  print_string(out, session->started);
  put(out, ",\"version\":");
  print_string(out, session->version);
  put(out, ",\"clock\":");
  print_string(out, session->clock);
  put(out, ",\"speed\":");
  print_number(out, session->speed);
  put(out, "}}\n");
}
