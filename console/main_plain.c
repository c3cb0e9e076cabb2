/* Lines are taken one after the other, each when the ones before it are done, so that what comes
 * through a pipe may answer the plan of the line before. `stop` waits for nothing. */
#include "main_plain.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/command.h"
#include "core/state.h"
#include "main_changes.h"
#include "main_progress.h"
#include "main_say.h"

#define TICK_MS 250
/* Lines that wait; beyond it nothing is read. */
#define WAITING_MAX 1000

typedef struct {
  Session *session;
  const Layout *layout;
  Progress *progress;
  Changes *changes;
  GMainLoop *loop;
  guint64 told;     /* log entries */
  guint64 expected; /* the entry that says whether an expectation held */
  GString *after;   /* lines that come behind the log entries of the same event, newlines between */
  GHashTable *commands; /* number → text of those not done */
  guint32 asked, left;  /* pending commands: whose plan was shown, which was not consented to */
  GString *input;       /* an unfinished line */
  gboolean too_long;    /* its beginning is lost already */
  gboolean ended;       /* stdin */
  GQueue waiting;       /* lines, of char * */
  guint source;         /* of stdin; 0: not read now */
  guint idle;
} Plain;

/* `    12.400 * kernel a[01-03]` */
static void
say(gint64 t, char mark, const char *text)
{
  g_autofree char *seconds = units_fixed((double)t / (double)TIME_SECOND, 3);
  g_autofree char *line = g_strdelimit(g_strdup(text), "\n", ' ');
  printf("%10s %c ", seconds, mark);
  main_print(stdout, line);
  putchar('\n');
}

static void
tell_change(gint64 t, char mark, const char *text, gpointer data)
{
  (void)data;
  say(t, mark, text);
}

static void
say_now(const Plain *plain, char mark, const char *text)
{
  changes_flush(plain->changes);
  say(session_now(plain->session), mark, text);
}

/* ---- What happened ------------------------------------------------------------------------- */

static char
mark_of(const Plain *plain, guint64 number, const LogEntry *entry)
{
  if (entry->severity != SEVERITY_INFO)
    return '!';
  if (number == plain->expected)
    return '=';
  if (g_str_equal(entry->source, ":") || g_str_equal(entry->source, "="))
    return entry->source[0];
  return '|';
}

static void
say_entry(const Plain *plain, guint64 number)
{
  const LogEntry *entry = state_log(session_state(plain->session), number);
  /* A load's label gives its figures; what each job measured is in the transcript. */
  if (g_str_equal(entry->source, "figures"))
    return;
  char mark = mark_of(plain, number, entry);
  gboolean machine = mark == '|' && entry->node != NODE_NONE && !g_str_equal(entry->source, "note");
  g_autofree char *text =
      machine ? g_strdup_printf("%s %s: %s", layout_node(plain->layout, entry->node)->name,
                                entry->source, entry->text)
              : g_strdup(entry->text);
  say(entry->t, mark, text);
}

/* All that was folded by now. */
static void
tell(Plain *plain, gint64 now)
{
  const CoreState *state = session_state(plain->session);
  guint64 end = state_log_end(state);
  changes_look(plain->changes, state, now);
  if (plain->told < end || plain->after->len > 0)
    changes_flush(plain->changes);
  for (guint64 i = MAX(plain->told, state_log_first(state)); i < end; i++)
    say_entry(plain, i);
  plain->told = end;
  g_auto(GStrv) lines = g_strsplit(plain->after->str, "\n", -1);
  for (char **line = lines; *line != NULL && **line != '\0'; line++)
    say(state_now(state), line[0][0], *line + 1);
  g_string_truncate(plain->after, 0);
}

static void
add_after(Plain *plain, char mark, const char *text)
{
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (char **line = lines; *line != NULL && **line != '\0'; line++)
    g_string_append_printf(plain->after, "%c%s\n", mark, *line);
}

/* What such a command has to say it has said by its end. */
static gboolean
says_all(const Command *command)
{
  return command->plan_only || command->verb == VERB_EXPECT || command->verb == VERB_MARK;
}

static gboolean on_idle(gpointer data);

static void
look_soon(Plain *plain)
{
  if (plain->idle == 0)
    plain->idle = g_idle_add(on_idle, plain);
}

/* What the log does not have: that a command is done, its plan, its answer. */
static void
note_output(Plain *plain, const Event *event)
{
  guint32 cmd = event->kind == EVENT_PLAN ? event->plan.cmd : event->done.cmd;
  const char *text = g_hash_table_lookup(plain->commands, GUINT_TO_POINTER(cmd));
  g_autoptr(Command) command = text != NULL ? command_parse(text, NULL) : NULL;
  if (command == NULL)
    return;
  if (event->kind == EVENT_PLAN && command->plan_only) {
    g_autofree char *plan = progress_plan(plain->progress, &event->plan);
    add_after(plain, '>', plan);
  } else if (event->kind == EVENT_DONE) {
    g_autofree char *ok = g_strconcat("ok: ", text, NULL);
    if (event->done.verdict == VERDICT_OK && !says_all(command))
      add_after(plain, '.', ok);
    g_hash_table_remove(plain->commands, GUINT_TO_POINTER(cmd));
    look_soon(plain);
  }
}

static void
on_event(const Event *event, gpointer data)
{
  Plain *plain = data;
  if (!event_is_output(event->kind))
    tell(plain, event->t); /* the inputs before it are folded */
  if (event->kind == EVENT_COMMAND)
    g_hash_table_insert(plain->commands, GUINT_TO_POINTER(event->command.cmd),
                        g_strdup(event->command.text));
  changes_expect(plain->changes, event);
  g_autofree char *answer = progress_answer(plain->progress, event);
  if (answer != NULL)
    add_after(plain, '=', answer);
  if (event->kind == EVENT_PLAN || event->kind == EVENT_DONE)
    note_output(plain, event);
  else if (event->kind == EVENT_EXPECT)
    plain->expected = state_log_end(session_state(plain->session));
}

static void
on_complaint(const char *message, gpointer data)
{
  say_now(data, '!', message);
}

/* ---- What is said -------------------------------------------------------------------------- */

/* Shows the plan of a command that waits for consent, once. TRUE while one does. */
static gboolean
asks(Plain *plain)
{
  const PendingConsent *pending = state_pending(session_state(plain->session));
  if (pending->text == NULL || pending->cmd == plain->left)
    return FALSE;
  if (pending->cmd == plain->asked)
    return TRUE;
  plain->asked = pending->cmd;
  g_autofree char *text = g_strdup_printf("%s. Type %u to go on:", pending->plan, pending->seats);
  say_now(plain, '?', text);
  return TRUE;
}

static void
say_line(Plain *plain, const char *line, gint confirm)
{
  g_autoptr(GError) error = NULL;
  if (!session_say(plain->session, line, confirm, &error))
    say_now(plain, '!', error->message);
}

/* The answer to a plan; whatever is no number leaves all as it was. */
static void
answer_plan(Plain *plain, const char *line)
{
  guint64 number;
  const PendingConsent *pending = state_pending(session_state(plain->session));
  g_autofree char *text = g_strdup(pending->text);
  if (units_parse_count(line, G_MAXINT32, &number, NULL)) {
    say_line(plain, text, (gint)number);
    return;
  }
  plain->left = pending->cmd;
  say_line(plain, "", -1); /* drops what waits behind it */
  say_now(plain, '!', "that is not the number of seats; nothing was sent");
}

static gboolean
help(Plain *plain, const char *line)
{
  if (!g_str_equal(line, "help") && !g_str_has_prefix(line, "help "))
    return FALSE;
  g_autofree char *verb = g_strstrip(g_strdup(line + strlen("help")));
  g_autofree char *text = *verb != '\0' ? command_help(verb) : command_help_table();
  if (text == NULL) {
    say_now(plain, '!', "no such command; `help` lists them");
    return TRUE;
  }
  g_auto(GStrv) lines = g_strsplit(g_strchomp(text), "\n", -1);
  for (char **at = lines; *at != NULL; at++)
    say_now(plain, '|', *at);
  return TRUE;
}

static void
take_line(Plain *plain, const char *line)
{
  if (asks(plain))
    answer_plan(plain, line);
  else if (!help(plain, line))
    say_line(plain, line, -1);
}

static void watch_input(Plain *plain);

/* Takes the lines that may be taken now, and leaves when there is nothing left to do. */
static void
go_on(Plain *plain)
{
  tell(plain, session_now(plain->session));
  gboolean asking = asks(plain);
  while (!session_is_busy(plain->session) && !session_has_quit(plain->session) &&
         !g_queue_is_empty(&plain->waiting)) {
    g_autofree char *line = g_queue_pop_head(&plain->waiting);
    take_line(plain, line);
    tell(plain, session_now(plain->session));
    asking = asks(plain);
  }
  gboolean idle = g_queue_is_empty(&plain->waiting) && !session_is_busy(plain->session);
  if (asking && idle && plain->ended)
    say_now(plain, '!', "the input has ended; nothing was sent");
  if (session_has_quit(plain->session) || (plain->ended && idle) || ferror(stdout))
    g_main_loop_quit(plain->loop);
  else
    watch_input(plain);
}

static gboolean
on_idle(gpointer data)
{
  Plain *plain = data;
  plain->idle = 0;
  go_on(plain);
  return G_SOURCE_REMOVE;
}

static gboolean
on_tick(gpointer data)
{
  go_on(data);
  return G_SOURCE_CONTINUE;
}

/* ---- What comes in ------------------------------------------------------------------------- */

static void
stop(Plain *plain)
{
  g_queue_clear_full(&plain->waiting, g_free);
  if (!session_is_busy(plain->session))
    say_now(plain, '|', "nothing was under way; `quit` leaves pult");
  session_stop(plain->session);
  look_soon(plain);
}

static void
end_line(Plain *plain)
{
  g_autofree char *line = g_strstrip(g_strdup(plain->input->str));
  if (plain->too_long)
    say_now(plain, '!', "a line of more than 64 KiB was left out");
  else if (g_str_equal(line, "stop"))
    stop(plain);
  else
    g_queue_push_tail(&plain->waiting, g_steal_pointer(&line));
  plain->too_long = FALSE;
  g_string_truncate(plain->input, 0);
}

/* A NUL would end the line unseen; as another control character it is refused. */
static void
take_bytes(Plain *plain, const char *bytes, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    if (bytes[i] == '\n')
      end_line(plain);
    else if (plain->input->len < COMMAND_LINE_MAX)
      g_string_append_c(plain->input, bytes[i] == '\0' ? '\x01' : bytes[i]);
    else
      plain->too_long = TRUE;
  }
}

static gboolean
on_input(gint fd, GIOCondition condition, gpointer data)
{
  Plain *plain = data;
  char bytes[4096];
  (void)condition;
  gssize n = read(fd, bytes, sizeof bytes);
  if (n < 0 && (errno == EINTR || errno == EAGAIN))
    return G_SOURCE_CONTINUE;
  take_bytes(plain, bytes, n > 0 ? (gsize)n : 0);
  if (n <= 0) {
    if (plain->input->len > 0)
      end_line(plain);
    plain->ended = TRUE;
  }
  look_soon(plain);
  if (!plain->ended && plain->waiting.length < WAITING_MAX)
    return G_SOURCE_CONTINUE;
  plain->source = 0;
  return G_SOURCE_REMOVE;
}

static void
watch_input(Plain *plain)
{
  if (plain->source == 0 && !plain->ended && plain->waiting.length < WAITING_MAX)
    plain->source =
        g_unix_fd_add(STDIN_FILENO, G_IO_IN | G_IO_HUP | G_IO_ERR | G_IO_NVAL, on_input, plain);
}

static gboolean
on_interrupt(gpointer data)
{
  stop(data);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_terminate(gpointer data)
{
  g_main_loop_quit(((Plain *)data)->loop);
  return G_SOURCE_CONTINUE;
}

/* ---- The whole ----------------------------------------------------------------------------- */

static void
greet(Plain *plain, gboolean real)
{
  g_autofree char *text = g_strdup_printf("%s %s, %u clients", real ? "REAL" : "sim",
                                          plain->layout->lab, plain->layout->n_clients);
  say(0, '|', text);
  say(0, '|', "each line is a command; `help` lists them, `stop` stops, `quit` leaves");
}

static void
run(Plain *plain)
{
  guint sources[] = {
      g_timeout_add(TICK_MS, on_tick, plain),
      g_unix_signal_add(SIGINT, on_interrupt, plain),
      g_unix_signal_add(SIGTERM, on_terminate, plain),
      g_unix_signal_add(SIGHUP, on_terminate, plain),
  };
  session_watch(plain->session, on_event, on_complaint, plain);
  session_start(plain->session);
  watch_input(plain);
  g_main_loop_run(plain->loop);
  tell(plain, session_now(plain->session));
  changes_flush(plain->changes);
  session_watch(plain->session, NULL, NULL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(sources); i++)
    g_source_remove(sources[i]);
  if (plain->source != 0)
    g_source_remove(plain->source);
  if (plain->idle != 0)
    g_source_remove(plain->idle);
}

int
main_plain_session(Session *session, gboolean real)
{
  const Layout *layout = state_layout(session_state(session));
  g_autoptr(Progress) progress = progress_new(layout, FALSE, FALSE, stdout);
  g_autoptr(Changes) changes = changes_new(layout, tell_change, NULL);
  g_autoptr(GString) after = g_string_new(NULL);
  g_autoptr(GString) input = g_string_new(NULL);
  g_autoptr(GHashTable) commands = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  g_autoptr(GMainLoop) loop = g_main_loop_new(NULL, FALSE);
  Plain plain = {.session = session,
                 .layout = layout,
                 .progress = progress,
                 .changes = changes,
                 .loop = loop,
                 .after = after,
                 .commands = commands,
                 .expected = G_MAXUINT64,
                 .input = input};
  signal(SIGPIPE, SIG_IGN); /* a reader that went is an output that fails */
  setvbuf(stdout, NULL, _IOLBF, 0);
  greet(&plain, real);
  run(&plain);
  g_queue_clear_full(&plain.waiting, g_free);
  return 0;
}
