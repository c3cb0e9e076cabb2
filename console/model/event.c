#include "model/event.h"

static const char *const kinds[] = {
    [EVENT_LINK] = "link",       [EVENT_COMMAND] = "command", [EVENT_WAKE] = "wake",
    [EVENT_RESULT] = "result",   [EVENT_LINE] = "line",       [EVENT_SAMPLES] = "samples",
    [EVENT_OBSERVE] = "observe", [EVENT_REQUEST] = "request", [EVENT_CANCEL] = "cancel",
    [EVENT_DONE] = "done",       [EVENT_NOTE] = "note",       [EVENT_FIGURE] = "figure",
    [EVENT_EXPECT] = "expect",   [EVENT_PLAN] = "plan",
};
G_STATIC_ASSERT(G_N_ELEMENTS(kinds) == EVENT_N_KINDS);

static const char *const verdicts[] = {
    [VERDICT_OK] = "ok",
    [VERDICT_FAILED] = "failed",
    [VERDICT_TIMEOUT] = "timeout",
    [VERDICT_UNKNOWN] = "unknown",
    [VERDICT_CANCELLED] = "cancelled",
    [VERDICT_UNSUPPORTED] = "unsupported",
    [VERDICT_PARTIAL] = "partial",
    [VERDICT_UNCONFIRMED] = "unconfirmed",
    [VERDICT_REFUSED] = "refused",
};

static const char *const operations[] = {
    [OP_STATUS] = "status", [OP_ON] = "on",           [OP_OFF] = "off",
    [OP_RESET] = "reset",   [OP_KEYS] = "keys",       [OP_BOOT_DEVICE] = "boot-device",
    [OP_TYPE] = "type",     [OP_ROUTE] = "route",     [OP_EXEC] = "exec",
    [OP_SIGNAL] = "signal", [OP_WATCH] = "watch",     [OP_GET] = "get",
    [OP_SET] = "set",       [OP_MESSAGE] = "message",
};
G_STATIC_ASSERT(G_N_ELEMENTS(operations) == OP_N);

static const char *const severities[] = {
    [SEVERITY_INFO] = "info",
    [SEVERITY_WARNING] = "warning",
    [SEVERITY_ERROR] = "error",
};

static const char *
word_at(const char *const *words, gsize n_words, guint index)
{
  g_assert(index < n_words);
  return words[index];
}

static int
word_find(const char *const *words, gsize n_words, const char *word)
{
  for (gsize i = 0; i < n_words; i++)
    if (g_str_equal(words[i], word))
      return (int)i;
  return -1;
}

const char *
event_kind_name(EventKind kind)
{
  return word_at(kinds, G_N_ELEMENTS(kinds), kind);
}

int
event_kind_parse(const char *name)
{
  return word_find(kinds, G_N_ELEMENTS(kinds), name);
}

const char *
verdict_name(Verdict verdict)
{
  return word_at(verdicts, G_N_ELEMENTS(verdicts), verdict);
}

int
verdict_parse(const char *name)
{
  return word_find(verdicts, G_N_ELEMENTS(verdicts), name);
}

const char *
operation_name(Operation operation)
{
  return word_at(operations, G_N_ELEMENTS(operations), operation);
}

int
operation_parse(const char *name)
{
  return word_find(operations, G_N_ELEMENTS(operations), name);
}

const char *
severity_name(Severity severity)
{
  return word_at(severities, G_N_ELEMENTS(severities), severity);
}

int
severity_parse(const char *name)
{
  return word_find(severities, G_N_ELEMENTS(severities), name);
}
