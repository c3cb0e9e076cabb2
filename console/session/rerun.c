/* What is given when. */
#include "core/command.h"
#include "session/rerun_private.h"

/* Nothing that follows waits for it any more. */
static gboolean
is_settled(const RerunCommand *command)
{
  return command->left_out || command->cmd_again == 0 || command->done_again;
}

/* Settled, or such that the first run did not wait for it either. */
static gboolean
all_done(Rerun *rerun)
{
  while (rerun->first_open < rerun->next) {
    const RerunCommand *command = rerun_command(rerun, rerun->first_open);
    if (!is_settled(command) && (command->done_before != NEVER_DONE || rerun->ending))
      return FALSE;
    rerun->first_open++;
  }
  return TRUE;
}

typedef enum { TURN_BLOCKED, TURN_AMID, TURN_FREE } Turn;

static Turn
turn(Rerun *rerun)
{
  if (all_done(rerun))
    return TURN_FREE;
  for (guint i = rerun->first_open; i < rerun->next; i++) {
    const RerunCommand *command = rerun_command(rerun, i);
    if (!is_settled(command) && (command->done_before <= rerun->next || rerun->ending))
      return TURN_BLOCKED;
  }
  return TURN_AMID;
}

static gint64
command_due(Rerun *rerun)
{
  const RerunCommand *command = rerun_command(rerun, rerun->next);
  Turn now = turn(rerun);
  if (now == TURN_BLOCKED)
    return TIME_NEVER;
  if (rerun->ending)
    return 0;
  if (!rerun->options.fast)
    return command->t + rerun->delay;
  if (now == TURN_AMID)
    return rerun->given_t + command->t - rerun_command(rerun, rerun->next - 1)->t;
  return rerun->n_found >= command->n_figures ? 0 : command->t + rerun->delay;
}

static gint64
due(gpointer data)
{
  Rerun *rerun = data;
  if (rerun->next < rerun->commands->len)
    return command_due(rerun);
  return rerun->past_end || rerun->ending ? TIME_NEVER : rerun->end + rerun->delay;
}

static void
skip_left_out(Rerun *rerun)
{
  while (rerun->next < rerun->commands->len && rerun_command(rerun, rerun->next)->left_out)
    rerun->next++;
}

static void
give(gpointer data)
{
  Rerun *rerun = data;
  if (rerun->next == rerun->commands->len) {
    rerun->past_end = TRUE;
    return;
  }
  rerun->given_t = MAX(MAX(due(rerun), rerun->t), rerun->given_t);
  RerunCommand *command = rerun_command(rerun, rerun->next);
  g_autoptr(GError) error = NULL;
  gboolean consented = command->confirm <= rerun->options.confirm_max;
  const char *text = rerun->options.anew ? command->said : command->text;
  command->given_again = TRUE;
  rerun->next++;
  if (!session_give(rerun->session, command->said, text, consented ? command->confirm : -1,
                    &command->cmd_again, &error))
    command->problem = g_strdup(error->message);
  rerun->delay = MAX(rerun->delay, rerun->given_t - command->t);
  skip_left_out(rerun);
}

static gboolean
is_over(gpointer data)
{
  Rerun *rerun = data;
  if (rerun->aborted)
    return TRUE;
  if (rerun->next < rerun->commands->len || !all_done(rerun))
    return FALSE;
  if (rerun->ending || rerun->past_end)
    return TRUE;
  if (rerun->options.fast)
    return rerun->n_found == rerun->first.figures->len;
  /* More may be due at the time of the first run's last line: its end is that line. */
  return rerun->seq >= rerun->last_seq && rerun->t == rerun->end;
}

void
rerun_begin(Rerun *rerun, Session *session, const RerunOptions *options)
{
  static const SessionFeed feed = {due, give, is_over};
  rerun->session = session;
  rerun->options = *options;
  session_set_feed(session, &feed, rerun);
}

/* The path a command sets, if it is one that does; free with g_free. */
static char *
path_set(const RerunCommand *command)
{
  g_autoptr(Command) parsed = command_parse(command->text, NULL);
  return parsed != NULL && parsed->verb == VERB_SET && !parsed->plan_only ? g_strdup(parsed->path)
                                                                          : NULL;
}

static gboolean
may_have_changed(const RerunCommand *command)
{
  return command->cmd_again != 0 &&
         !(command->done_again && (command->verdict_again == VERDICT_REFUSED ||
                                   command->verdict_again == VERDICT_UNCONFIRMED ||
                                   command->verdict_again == VERDICT_UNSUPPORTED));
}

/* Leaves out all that is to come but the last `set` of each property that was changed: that is how
 * the first run left it, a script's `with` included. */
static void
wind_up(Rerun *rerun)
{
  g_autoptr(GHashTable) last = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  if (rerun->ending)
    return;
  rerun->ending = TRUE;
  for (guint i = rerun->next; i < rerun->commands->len; i++) {
    RerunCommand *command = rerun_command(rerun, i);
    char *path = path_set(command);
    command->left_out = TRUE;
    if (path != NULL)
      g_hash_table_replace(last, path, command);
  }
  for (guint i = 0; i < rerun->next; i++) {
    const RerunCommand *command = rerun_command(rerun, i);
    g_autofree char *path = may_have_changed(command) ? path_set(command) : NULL;
    RerunCommand *back = path != NULL ? g_hash_table_lookup(last, path) : NULL;
    if (back != NULL)
      back->left_out = FALSE;
  }
  skip_left_out(rerun);
}

static void
told(Rerun *rerun, const DoneEvent *done)
{
  for (guint i = rerun->next; i-- > 0;) {
    RerunCommand *command = rerun_command(rerun, i);
    if (command->cmd_again != done->cmd)
      continue;
    command->done_again = TRUE;
    command->verdict_again = done->verdict;
    if (done->verdict == VERDICT_UNCONFIRMED && rerun_command_lost(command)) {
      rerun->lacks_consent = TRUE;
      wind_up(rerun);
    }
    return;
  }
}

/* A figure's name tells whether it is there: what was awaited is one that was not. */
static void
count_found(Rerun *rerun)
{
  const GPtrArray *figures = rerun->first.figures;
  while (rerun->n_found < figures->len &&
         g_hash_table_contains(rerun->again.by_name,
                               ((RerunFigure *)figures->pdata[rerun->n_found])->name))
    rerun->n_found++;
}

void
rerun_event(Rerun *rerun, const Event *event)
{
  rerun->seq = event->seq;
  rerun->t = event->t;
  rerun_findings_add(&rerun->again, event);
  if (event->kind == EVENT_FIGURE)
    count_found(rerun);
  else if (event->kind == EVENT_DONE)
    told(rerun, &event->done);
  else if (event->kind == EVENT_COMMAND)
    rerun->given_t = event->t;
}

void
rerun_interrupt(Rerun *rerun)
{
  rerun->aborted = rerun->interrupted;
  rerun->interrupted = TRUE;
  wind_up(rerun);
}
