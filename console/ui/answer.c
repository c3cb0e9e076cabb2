/* Who says something wants to know what came of it, also where no log is in sight: until the next
 * key its answer stands where the state's sentence would. */
#include "ui/view.h"

/* A note that comes later is about the lab, and no answer. */
#define ANSWER_TIME (3 * TIME_SECOND)

void
answer_await(Ui *ui, gboolean get)
{
  ui->said_at = state_log_end(ui->state);
  ui->said_t = ui_now(ui);
  ui->said_get = get;
}

void
answer_forget(Ui *ui)
{
  ui->said_at = NOTHING_SAID;
}

/* 0: no answer. A reason tells more than the verdict that follows it. */
static int
weight(const Ui *ui, const LogEntry *entry)
{
  gboolean soon = entry->t - ui->said_t <= ANSWER_TIME;
  gboolean verdict = g_str_equal(entry->source, ":"), note = g_str_equal(entry->source, "note");
  if (entry->severity == SEVERITY_INFO)
    return verdict || (ui->said_get && soon) ? 1 : 0;
  if (note)
    return soon ? 2 + 2 * (int)entry->severity : 0;
  return verdict ? 1 + 2 * (int)entry->severity : 0;
}

const LogEntry *
answer_entry(const Ui *ui)
{
  const LogEntry *found = NULL;
  if (ui->said_at == NOTHING_SAID)
    return NULL;
  /* The first entry is the line itself. */
  for (guint64 i = MAX(ui->said_at + 1, state_log_first(ui->state)); i < state_log_end(ui->state);
       i++) {
    const LogEntry *entry = state_log(ui->state, i);
    if (weight(ui, entry) > (found ? weight(ui, found) : 0))
      found = entry;
  }
  return found;
}
