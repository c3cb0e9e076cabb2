/* Who says something wants to know what came of it, also where no log is in sight: until the next
 * key its answer stands where the state's sentence would. */
#include "ui/view.h"

#include <string.h>

/* A note that comes later is about the lab, and no answer. */
#define ANSWER_TIME (3 * TIME_SECOND)

/* The path of a line `get PATH` or `set PATH VALUE`; NULL when it is another. */
static char *
path_of(const char *line)
{
  g_auto(GStrv) words = g_strsplit_set(line, " \t", -1);
  guint n = 0;
  const char *found[2] = {"", ""};
  for (guint i = 0; words[i] && n < 2; i++) {
    if (*words[i])
      found[n++] = words[i];
  }
  gboolean property = g_str_equal(found[0], "get") || g_str_equal(found[0], "set");
  return property ? g_strdup(found[1]) : NULL;
}

void
answer_await(Ui *ui, const char *line)
{
  ui->said_at = state_log_end(ui->state);
  ui->said_t = ui_now(ui);
  g_free(ui->said_path);
  ui->said_path = path_of(line);
}

void
answer_forget(Ui *ui)
{
  ui->said_at = NOTHING_SAID;
}

/* `bond0.policy` of slx1 is `slx1/bond0.policy`, `nfsd` is `slx1.nfsd`; of a link it is the path.
 */
static gboolean
tells_property(const Ui *ui, const LogEntry *entry)
{
  if (!ui->said_path || !entry->fact)
    return FALSE;
  const char *name = state_layout(ui->state)->nodes[entry->node].name;
  gsize length = strlen(name);
  gboolean of_node = strncmp(ui->said_path, name, length) == 0 &&
                     (ui->said_path[length] == '/' || ui->said_path[length] == '.');
  return g_str_equal(of_node ? ui->said_path + length + 1 : ui->said_path, entry->fact);
}

/* 0: no answer. A reason tells more than the verdict that follows it. */
static int
weight(const Ui *ui, const LogEntry *entry)
{
  gboolean soon = entry->t - ui->said_t <= ANSWER_TIME;
  gboolean verdict = g_str_equal(entry->source, ":"), note = g_str_equal(entry->source, "note");
  if (entry->severity == SEVERITY_INFO)
    return verdict || tells_property(ui, entry) ? 1 : 0;
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
