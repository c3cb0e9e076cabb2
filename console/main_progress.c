#include "main_progress.h"

#include <string.h>

#include "core/command.h"
#include "main_say.h"
#include "model/nodeset.h"
#include "model/units.h"
#include "session/report.h"

typedef enum { SEEN_NOTHING, SEEN_ON, SEEN_OFF } Seen;

/* A command that asks, and what it was told so far. */
typedef struct {
  guint32 cmd;
  char *path;    /* OP_GET */
  GArray *nodes; /* of NodeId */
  char *value;
  guint32 request; /* of a menu: */
  GString *lines;  /* what was told of it */
} Question;

struct Progress {
  const Layout *layout;
  gboolean json, dry_run;
  gboolean plans_only; /* the command under way does nothing but plan */
  guint planned;       /* seats of the plan shown last */
  GHashTable *own;     /* requests that no command asked for */
  FILE *answers;
  Report *report;
  GString *line;
  Seen *seen; /* by node, since the question now open */
  Question question;
};

Progress *
progress_new(const Layout *layout, gboolean json, gboolean dry_run, FILE *answers)
{
  Progress *progress = g_new0(Progress, 1);
  progress->layout = layout;
  progress->json = json;
  progress->dry_run = dry_run;
  progress->answers = answers;
  progress->report = report_new();
  progress->own = g_hash_table_new(NULL, NULL);
  progress->line = g_string_new(NULL);
  progress->seen = g_new0(Seen, layout->n_nodes);
  progress->question.nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));
  progress->question.lines = g_string_new(NULL);
  return progress;
}

static void
forget_question(Progress *progress)
{
  Question *question = &progress->question;
  question->cmd = 0;
  question->request = 0;
  g_string_truncate(question->lines, 0);
  g_array_set_size(question->nodes, 0);
  g_clear_pointer(&question->path, g_free);
  g_clear_pointer(&question->value, g_free);
}

void
progress_free(Progress *progress)
{
  if (progress == NULL)
    return;
  forget_question(progress);
  g_array_unref(progress->question.nodes);
  g_string_free(progress->question.lines, TRUE);
  report_free(progress->report);
  g_hash_table_unref(progress->own);
  g_string_free(progress->line, TRUE);
  g_free(progress->seen);
  g_free(progress);
}

static void
say(const Event *event, const char *mark, const char *text)
{
  g_autofree char *seconds = units_fixed((double)event->t / (double)TIME_SECOND, 3);
  fprintf(stderr, "%10s %s ", seconds, mark);
  main_print(stderr, text);
  fputc('\n', stderr);
}

static char *
fold_nodes(const Layout *layout, const NodeId *nodes, guint n)
{
  g_autofree const char **names = g_new(const char *, n);
  for (guint i = 0; i < n; i++)
    names[i] = layout_node(layout, nodes[i])->name;
  return nodeset_fold_names(names, n);
}

static void
add_left_out(const Progress *progress, GString *text, const char *why, const NodeId *nodes, guint n)
{
  if (n == 0)
    return;
  g_autofree char *folded = fold_nodes(progress->layout, nodes, n);
  g_string_append_printf(text, "; %s: %s", why, folded);
}

char *
progress_plan(const Progress *progress, const PlanEvent *plan)
{
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < plan->n_parts; i++) {
    const PlanPart *part = &plan->parts[i];
    g_autofree char *nodes = fold_nodes(progress->layout, part->nodes, part->n_nodes);
    g_string_append_printf(text, "%s%s %s by %s", i > 0 ? ", " : "", part->action, nodes,
                           part->backend);
  }
  g_string_append_printf(text, "%s%u %s", plan->n_parts > 0 ? ": " : "", plan->seats,
                         plan->seats == 1 ? "seat" : "seats");
  add_left_out(progress, text, "protected", plan->protected_nodes, plan->n_protected);
  add_left_out(progress, text, "in use", plan->in_use, plan->n_in_use);
  add_left_out(progress, text, "reserved", plan->reserved, plan->n_reserved);
  add_left_out(progress, text, "dark with them", plan->co_victims, plan->n_co_victims);
  add_left_out(progress, text, "spared, their outlet is shared", plan->spared, plan->n_spared);
  return g_strdup(text->str);
}

/* What was asked for is an answer; what is about to be done belongs to the course of things. */
static void
show_plan(Progress *progress, const Event *event)
{
  g_autofree char *text = progress_plan(progress, &event->plan);
  progress->planned = event->plan.seats;
  g_auto(GStrv) lines = g_strsplit(event->plan.difference ? event->plan.difference : "", "\n", -1);
  if (progress->plans_only) {
    main_print(stdout, text);
    putchar('\n');
  } else {
    say(event, ">", text);
  }
  for (char **line = lines; *line != NULL && **line != '\0'; line++) {
    main_print(progress->plans_only ? stdout : stderr, *line);
    putc('\n', progress->plans_only ? stdout : stderr);
  }
}

static gboolean
asks_for_plan(const CommandEvent *event)
{
  g_autoptr(Command) command = command_parse(event->text, NULL);
  return command != NULL && command->plan_only;
}

static void
say_expect(const Event *event)
{
  const ExpectEvent *expect = &event->expect;
  g_autofree char *text =
      g_strdup_printf("%s: %s", expect->held ? "held" : "NOT held", expect->text);
  say(event, expect->held ? "=" : "!", text);
}

/* Each that failed says why. What was called off is in the sum; what nobody asked for is for the
 * log. */
static void
say_result(const Progress *progress, const Event *event)
{
  const ResultEvent *result = &event->result;
  if (result->verdict == VERDICT_OK || result->verdict == VERDICT_CANCELLED ||
      *result->text == '\0' ||
      g_hash_table_contains(progress->own, GUINT_TO_POINTER(result->request)))
    return;
  say(event, "!", result->text);
}

/* An unconfirmed command has shown its plan. */
static void
say_done(const Progress *progress, const Event *event)
{
  if (event->done.verdict == VERDICT_OK)
    return;
  g_autofree char *remedy =
      event->done.verdict == VERDICT_UNCONFIRMED && !progress->dry_run
          ? g_strdup_printf(": nothing was done; with --yes-seats %u or --yes it is",
                            progress->planned)
          : NULL;
  g_autofree char *text = g_strconcat(verdict_name(event->done.verdict), remedy, NULL);
  say(event, "!", text);
}

void
progress_course(Progress *progress, const Event *event)
{
  switch (event->kind) {
  case EVENT_COMMAND:
    progress->plans_only = !progress->json && (progress->dry_run || asks_for_plan(&event->command));
    say(event, ":", event->command.said);
    break;
  case EVENT_NOTE:
    say(event, event->note.severity == SEVERITY_INFO ? " " : "!", event->note.text);
    break;
  case EVENT_EXPECT:
    say_expect(event);
    break;
  case EVENT_PLAN:
    show_plan(progress, event);
    break;
  case EVENT_REQUEST:
    if (event->request.cmd == 0)
      g_hash_table_add(progress->own, GUINT_TO_POINTER(event->request.id));
    break;
  case EVENT_RESULT:
    say_result(progress, event);
    break;
  case EVENT_DONE:
    say_done(progress, event);
    break;
  default:
    break;
  }
}

static const char *
argument(const RequestEvent *request, const char *key)
{
  for (guint i = 0; i < request->n_arguments; i++)
    if (strcmp(request->arguments[i].key, key) == 0)
      return request->arguments[i].value;
  return NULL;
}

/* A command that cycles asks as well, on its way, and that is no answer to anything. */
static void
open_question(Progress *progress, const CommandEvent *event)
{
  g_autoptr(Command) command = command_parse(event->text, NULL);
  forget_question(progress);
  if (command != NULL &&
      (command->verb == VERB_GET || (command->verb == VERB_PXE && command->menu == MENU_SHOW) ||
       (command->verb == VERB_POWER && command->power == POWER_STATUS)))
    progress->question.cmd = event->cmd;
}

/* A command may send several requests, one a backend. */
static void
ask(Progress *progress, const RequestEvent *request)
{
  Question *question = &progress->question;
  if (request->cmd != question->cmd || request->cmd == 0 ||
      (request->operation != OP_STATUS && request->operation != OP_GET))
    return;
  g_free(question->path);
  question->path = g_strdup(argument(request, "path"));
  question->request = request->id;
  g_array_append_vals(question->nodes, request->nodes, request->n_nodes);
  for (guint i = 0; i < request->n_nodes; i++)
    progress->seen[request->nodes[i]] = SEEN_NOTHING;
}

/* `bond0.policy` of slx1 is `slx1/bond0.policy`, `nfsd` is `slx1.nfsd`; a link's path is whole. */
static gboolean
is_path_of(const char *path, const char *node, const char *fact)
{
  if (strcmp(path, fact) == 0)
    return TRUE;
  gsize length = strlen(node);
  return strncmp(path, node, length) == 0 && (path[length] == '/' || path[length] == '.') &&
         strcmp(path + length + 1, fact) == 0;
}

static void
learn(Progress *progress, const ObserveEvent *observe)
{
  Question *question = &progress->question;
  if (question->cmd == 0 || observe->node == NODE_NONE)
    return;
  if (strcmp(observe->fact, "power") == 0)
    progress->seen[observe->node] = strcmp(observe->value, "on") == 0    ? SEEN_ON
                                    : strcmp(observe->value, "off") == 0 ? SEEN_OFF
                                                                         : SEEN_NOTHING;
  const char *node = layout_node(progress->layout, observe->node)->name;
  if (question->path != NULL && is_path_of(question->path, node, observe->fact)) {
    g_free(question->value);
    question->value = g_strdup(observe->value);
  }
}

static void
hear(Progress *progress, const LineEvent *line)
{
  Question *question = &progress->question;
  if (question->cmd != 0 && line->request != 0 && line->request == question->request)
    g_string_append_printf(question->lines, "%s\n", line->text);
}

static void
answer_status(const Progress *progress, Seen seen, const char *word, GString *text)
{
  const GArray *nodes = progress->question.nodes;
  g_autoptr(GArray) matching = g_array_new(FALSE, FALSE, sizeof(NodeId));
  for (guint i = 0; i < nodes->len; i++) {
    NodeId node = g_array_index(nodes, NodeId, i);
    if (progress->seen[node] == seen)
      g_array_append_val(matching, node);
  }
  if (matching->len == 0)
    return;
  g_autofree char *folded =
      fold_nodes(progress->layout, (const NodeId *)(gpointer)matching->data, matching->len);
  g_string_append_printf(text, "%-8s %5u  %s\n", word, matching->len, folded);
}

static char *
answer(Progress *progress, const DoneEvent *done)
{
  Question *question = &progress->question;
  if (done->cmd != question->cmd || question->cmd == 0)
    return NULL;
  g_autoptr(GString) text = g_string_new(NULL);
  if (question->path == NULL) {
    answer_status(progress, SEEN_ON, "on", text);
    answer_status(progress, SEEN_OFF, "off", text);
    answer_status(progress, SEEN_NOTHING, "unknown", text);
  } else if (question->value != NULL) {
    g_string_append_printf(text, "%s %s\n", question->path, question->value);
  }
  g_string_append(text, question->lines->str);
  forget_question(progress);
  return g_string_free(g_steal_pointer(&text), FALSE);
}

char *
progress_answer(Progress *progress, const Event *event)
{
  if (event->kind == EVENT_COMMAND)
    open_question(progress, &event->command);
  else if (event->kind == EVENT_REQUEST)
    ask(progress, &event->request);
  else if (event->kind == EVENT_OBSERVE)
    learn(progress, &event->observe);
  else if (event->kind == EVENT_LINE)
    hear(progress, &event->line);
  return event->kind == EVENT_DONE ? answer(progress, &event->done) : NULL;
}

void
progress_event(const Event *event, gpointer data)
{
  Progress *progress = data;
  progress_course(progress, event);
  if (progress->json) {
    g_string_truncate(progress->line, 0);
    transcript_print_event(progress->line, progress->layout, event);
    fwrite(progress->line->str, 1, progress->line->len, stdout);
    return;
  }
  report_add(progress->report, event);
  g_autofree char *text = progress_answer(progress, event);
  if (text != NULL)
    main_print(progress->answers, text);
}

void
progress_complain(const char *message, gpointer data)
{
  (void)data;
  main_complain(message);
}

void
progress_finish(Progress *progress)
{
  if (!progress->json)
    report_print(progress->report, stdout);
}
