#include "core/core_private.h"

#include "model/nodeset.h"

#include <string.h>

void
core_emit(CoreState *state, Event *event)
{
  event->t = state->now;
  if (state->emit)
    state->emit(event, state->emit_data);
}

const char *
core_source(CoreState *state, const char *name)
{
  for (guint i = 0; i < state->n_sources; i++)
    if (g_str_equal(state->sources[i], name))
      return state->sources[i];
  /* Names come from outside and are kept for ever: few, and short. */
  if (state->n_sources == SOURCES_MAX || strlen(name) > 64)
    return "other";
  state->sources[state->n_sources] = g_intern_string(name);
  return state->sources[state->n_sources++];
}

char *
core_bounded(const char *text)
{
  gsize length = strnlen(text, TEXT_BYTES);
  char *copy = g_malloc(length + 1);
  memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

static void
release(const LogEntry *entry)
{
  if (entry->text)
    g_ref_string_release(entry->text);
  if (entry->fact)
    g_ref_string_release(entry->fact);
}

LogEntry *
log_add(CoreState *state, Severity severity, NodeId node, const char *source, const char *text)
{
  LogEntry *entry = &state->log[state->log_end % STATE_LOG_MAX];
  if (state->log_end - state->log_first == STATE_LOG_MAX)
    state->log_first++;
  release(entry);
  *entry = (LogEntry){.t = state->now,
                      .severity = severity,
                      .node = node,
                      .source = core_source(state, source),
                      .text = g_ref_string_new_len(text, (gssize)strnlen(text, TEXT_BYTES))};
  state->log_end++;
  return entry;
}

void
log_add_property(CoreState *state, NodeId node, const char *source, const char *fact,
                 const char *value)
{
  g_autofree char *text = g_strdup_printf("%s is %s", fact, value);
  log_add(state, SEVERITY_INFO, node, source, text)->fact = g_ref_string_new(fact);
}

/* Of the ring's places, from the first: the others were never written, nor need they be read. */
static guint
places_used(const CoreState *state)
{
  return (guint)MIN(state->log_end, STATE_LOG_MAX);
}

void
log_copy(CoreState *copy, const CoreState *state)
{
  copy->log = g_memdup2(state->log, STATE_LOG_MAX * sizeof *state->log);
  for (guint i = 0; i < places_used(state); i++) {
    if (copy->log[i].text)
      g_ref_string_acquire(copy->log[i].text);
    if (copy->log[i].fact)
      g_ref_string_acquire(copy->log[i].fact);
  }
}

void
log_free(CoreState *state)
{
  for (guint i = 0; i < places_used(state); i++)
    release(&state->log[i]);
  g_free(state->log);
}

void
core_note(CoreState *state, Severity severity, NodeId node, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  Event event = {.kind = EVENT_NOTE, .note = {severity, node, text}};
  core_emit(state, &event);
  log_add(state, severity, node, "note", text);
}

static Severity
severity_of(Verdict verdict)
{
  switch (verdict) {
  case VERDICT_OK:
    return SEVERITY_INFO;
  case VERDICT_FAILED:
  case VERDICT_TIMEOUT:
  case VERDICT_UNKNOWN:
  case VERDICT_UNSUPPORTED:
    return SEVERITY_ERROR;
  case VERDICT_CANCELLED:
  case VERDICT_PARTIAL:
  case VERDICT_UNCONFIRMED:
  case VERDICT_REFUSED:
    break;
  }
  return SEVERITY_WARNING;
}

void
core_done(CoreState *state, guint32 cmd, const char *text, Verdict verdict)
{
  Event event = {.kind = EVENT_DONE, .done = {cmd, verdict}};
  core_emit(state, &event);
  if (verdict == VERDICT_OK || verdict == VERDICT_UNCONFIRMED)
    return;
  g_autofree char *line = g_strconcat(verdict_name(verdict), ": ", text, NULL);
  log_add(state, severity_of(verdict), NODE_NONE, ":", line);
}

char *
core_fold(const CoreState *state, const NodeId *nodes, guint n)
{
  if (n == 0)
    return g_strdup("nothing");
  g_autofree const char **names = g_new(const char *, n);
  for (guint i = 0; i < n; i++)
    names[i] = state->layout->nodes[nodes[i]].name;
  return nodeset_fold_names(names, n);
}

char *
core_seconds(gint64 ns)
{
  char *number = units_fixed((double)ns / (double)TIME_SECOND, 9);
  gsize length = strlen(number);
  while (number[length - 1] == '0')
    length--;
  if (number[length - 1] == '.')
    length--;
  number[length] = '\0';
  char *text = g_strconcat(number, " s", NULL);
  g_free(number);
  return text;
}
