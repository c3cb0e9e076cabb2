#include <string.h>

#include "core/command.h"
#include "core/state.h"
#include "session/session_private.h"

#define WAITING_MAX 1000

static void
typed_free(gpointer data)
{
  Typed *typed = data;
  g_free(typed->text);
  g_free(typed);
}

/* Real machines must not be touched without a record, unless that was asked for. */
static gboolean
check_recorded(const Session *session, const Command *command, GError **error)
{
  const Recording *recording = &session->recording;
  if (!session->any_real || !session->must_record || recording->writer != NULL ||
      !command_disturbs(command))
    return TRUE;
  g_set_error(error, SESSION_ERROR, 0, "refused: %s; with --no-record nothing would be recorded",
              recording->error != NULL ? recording->error : "nothing is being recorded");
  return FALSE;
}

/* Its number is stored first, since `done` may come while it is folded. FALSE: it makes no sense,
 * and nothing was recorded. */
static gboolean
feed_as(Session *session, const char *said, const char *meant, gint confirm, guint32 *cmd,
        gboolean *quits, GError **error)
{
  reserve_look(session);
  g_autofree char *plain = reserve_resolve(meant, error);
  g_autofree char *text = plain != NULL ? core_resolve(session->core, plain, error) : NULL;
  g_autoptr(Command) command = text != NULL ? command_parse(text, error) : NULL;
  if (command == NULL || !check_recorded(session, command, error))
    return FALSE;
  *cmd = ++session->last_cmd;
  *quits = command->verb == VERB_QUIT;
  Event event = {.kind = EVENT_COMMAND, .t = session->now};
  event.command = (CommandEvent){.cmd = *cmd, .said = said, .text = text, .confirm = confirm};
  session_fold(session, &event);
  reserve_keep(session, command);
  return TRUE;
}

static gboolean
feed(Session *session, const char *said, gint confirm, guint32 *cmd, gboolean *quits,
     GError **error)
{
  return feed_as(session, said, said, confirm, cmd, quits, error);
}

gboolean
session_give(Session *session, const char *said, const char *text, gint confirm, guint32 *cmd,
             GError **error)
{
  gboolean quits;
  return feed_as(session, said, text, confirm, cmd, &quits, error);
}

static void
drop_line(GQueue *queue, guint line)
{
  while (!g_queue_is_empty(queue) && ((Typed *)g_queue_peek_head(queue))->line == line)
    typed_free(g_queue_pop_head(queue));
}

static gboolean
feed_typed(Session *session, GError **error)
{
  Prompt *prompt = &session->prompt;
  Typed *typed = g_queue_pop_head(&prompt->waiting);
  prompt->line = typed->line;
  gboolean fed = feed(session, typed->text, typed->confirm, &prompt->cmd, &prompt->quits, error);
  if (!fed)
    drop_line(&prompt->waiting, typed->line);
  typed_free(typed);
  return fed;
}

static const char *
property(const char *path, gpointer data)
{
  return state_property(data, path);
}

/* What is open of `with` blocks still puts its values back. */
static void
end_script_early(Session *session)
{
  Play *play = &session->play;
  script_run_interrupt(play->run);
  if (play->held != NULL)
    script_run_told(play->run, VERDICT_CANCELLED);
  play->held = NULL;
}

static void
refuse_scripted(Session *session, GError *problem)
{
  Play *play = &session->play;
  g_autofree char *message =
      g_strdup_printf("%s: %s", script_run_where(play->run), problem->message);
  script_run_told(play->run, VERDICT_REFUSED);
  if (script_run_failed(play->run) && play->error == NULL)
    play->error = g_error_new_literal(problem->domain, problem->code, message);
  else
    session_complain(session, message);
  g_error_free(problem);
}

static void
feed_scripted(Session *session)
{
  Play *play = &session->play;
  GError *problem = NULL;
  const char *said = play->held != NULL
                         ? play->held
                         : script_run_next(play->run, property, session->core, &problem);
  play->held = NULL;
  if (said != NULL && core_resolves_later(session->core, said)) {
    play->held = said;
    return;
  }
  if (said == NULL) {
    play->ended = TRUE;
    if (problem != NULL && play->error == NULL)
      play->error = problem;
    else
      g_clear_error(&problem);
    return;
  }
  if (!feed(session, said, -1, &play->cmd, &play->quits, &problem))
    refuse_scripted(session, problem);
}

static gboolean
prompt_is_ready(const Session *session)
{
  return session->prompt.cmd == 0 && session->prompt.waiting.length > 0;
}

static gboolean
script_is_ready(const Session *session)
{
  const Play *play = &session->play;
  return play->run != NULL && !play->ended && play->cmd == 0 &&
         (play->held == NULL || !core_resolves_later(session->core, play->held));
}

gboolean
feed_is_ready(const Session *session)
{
  return prompt_is_ready(session) || script_is_ready(session);
}

gboolean
feed_next(Session *session)
{
  if (prompt_is_ready(session)) {
    GError *problem = NULL;
    if (!feed_typed(session, &problem)) {
      session_complain(session, problem->message);
      g_error_free(problem);
    }
    return TRUE;
  }
  if (!script_is_ready(session))
    return FALSE;
  feed_scripted(session);
  return TRUE;
}

static void
prompt_told(Session *session, Verdict verdict)
{
  Prompt *prompt = &session->prompt;
  prompt->cmd = 0;
  session->quit |= prompt->quits;
  if (verdict == VERDICT_OK)
    return;
  while (!g_queue_is_empty(&prompt->waiting) &&
         ((Typed *)g_queue_peek_head(&prompt->waiting))->line == prompt->line) {
    Typed *typed = g_queue_pop_head(&prompt->waiting);
    if (verdict == VERDICT_UNCONFIRMED)
      g_queue_push_tail(&prompt->held, typed);
    else
      typed_free(typed);
  }
}

static void
script_told(Session *session, Verdict verdict)
{
  Play *play = &session->play;
  play->cmd = 0;
  script_run_told(play->run, verdict);
  if (verdict == VERDICT_UNCONFIRMED && !state_options(session->core)->dry_run)
    play->unconfirmed = TRUE;
  if (play->unconfirmed || play->quits)
    end_script_early(session);
}

void
feed_told(Session *session, const DoneEvent *done)
{
  if (done->cmd == 0)
    return;
  if (done->cmd == session->prompt.cmd)
    prompt_told(session, done->verdict);
  else if (done->cmd == session->play.cmd)
    script_told(session, done->verdict);
}

gboolean
feed_is_idle(const Session *session)
{
  const Prompt *prompt = &session->prompt;
  return prompt->cmd == 0 && g_queue_is_empty((GQueue *)&prompt->waiting) && session->play.cmd == 0;
}

guint
session_waiting(const Session *session)
{
  return session->prompt.waiting.length;
}

gboolean
session_is_busy(const Session *session)
{
  return !feed_is_idle(session) || (session->play.run != NULL && !session->play.ended);
}

static void
enqueue(Prompt *prompt, char **commands, gint confirm)
{
  guint line = ++prompt->n_lines;
  for (guint i = 0; commands[i] != NULL; i++) {
    Typed *typed = g_new(Typed, 1);
    *typed = (Typed){g_strdup(commands[i]), i == 0 ? confirm : -1, line};
    g_queue_push_tail(&prompt->waiting, typed);
  }
  /* What was held back goes on behind the command now consented to; without consent it is void. */
  while (!g_queue_is_empty(&prompt->held)) {
    Typed *typed = g_queue_pop_head(&prompt->held);
    typed->line = line;
    if (confirm >= 0)
      g_queue_push_tail(&prompt->waiting, typed);
    else
      typed_free(typed);
  }
}

/* `stop` does not wait for what it is to stop. */
static gboolean
is_stop(char **commands)
{
  return commands[0] != NULL && commands[1] == NULL && strcmp(commands[0], "stop") == 0;
}

gboolean
session_say(Session *session, const char *line, gint confirm, GError **error)
{
  g_assert(!session->folding);
  Prompt *prompt = &session->prompt;
  g_auto(GStrv) commands = command_split(line, error);
  /* All of the line before any of it is done, and columns are those of the line. */
  if (commands == NULL || !command_check_line(line, error))
    return FALSE;
  if (is_stop(commands)) {
    session_stop(session);
    return TRUE;
  }
  if (g_queue_get_length(&prompt->waiting) + g_strv_length(commands) > WAITING_MAX) {
    g_set_error(error, SESSION_ERROR, 0, "more than %d commands wait for their turn", WAITING_MAX);
    return FALSE;
  }
  loop_catch_up(session);
  gboolean at_once = prompt->cmd == 0 && g_queue_is_empty(&prompt->waiting);
  enqueue(prompt, commands, confirm);
  gboolean sensible = commands[0] == NULL || !at_once || feed_typed(session, error);
  loop_arm(session);
  return sensible;
}

void
session_stop(Session *session)
{
  g_assert(!session->folding);
  Prompt *prompt = &session->prompt;
  Play *play = &session->play;
  g_queue_clear_full(&prompt->waiting, typed_free);
  g_queue_clear_full(&prompt->held, typed_free);
  if (play->run != NULL && !play->ended) {
    play->aborted = play->interrupted;
    play->interrupted = TRUE;
    end_script_early(session);
  }
  loop_catch_up(session);
  guint32 cmd;
  gboolean quits;
  GError *problem = NULL;
  if (!feed(session, "stop", -1, &cmd, &quits, &problem)) {
    session_complain(session, problem->message);
    g_error_free(problem);
  }
  if (session->loop != NULL && play->aborted)
    g_main_loop_quit(session->loop);
  loop_arm(session);
}

char *
session_end_loads(Session *session)
{
  g_autoptr(GString) labels = g_string_new(NULL);
  if (session->feed != NULL || state_n_loads(session->core) == 0)
    return NULL;
  loop_catch_up(session);
  for (guint i = 0; i < state_n_loads(session->core); i++) {
    const LoadRun *run = state_load(session->core, i);
    if (run->end_t < 0)
      g_string_append_printf(labels, "%s%s", labels->len ? " " : "", run->label);
  }
  if (labels->len == 0)
    return NULL;
  g_autofree char *mark = g_strdup_printf("mark \"ended with pult: %s\"", labels->str);
  guint32 cmd;
  gboolean quits;
  g_autoptr(GError) problem = NULL;
  if (!feed(session, mark, -1, &cmd, &quits, &problem))
    session_complain(session, problem->message);
  return g_string_free(g_steal_pointer(&labels), FALSE);
}

void
feed_clear(Session *session)
{
  g_queue_clear_full(&session->prompt.waiting, typed_free);
  g_queue_clear_full(&session->prompt.held, typed_free);
  g_clear_pointer(&session->play.run, script_run_free);
  g_clear_error(&session->play.error);
}
