#include "tests/contract/backend_check.h"

#include <stdarg.h>
#include <string.h>

/* A real backend shares its machine with others. */
#define REAL_SLACK TIME_SECOND

typedef struct {
  NodeId node;
  int verdict; /* -1 none yet */
  char *text;
} Answer;

typedef struct {
  guint32 id;
  Operation operation;
  gint64 deadline;
  guint n;
  Answer *answers;
} Asked;

struct BackendCheck {
  const Layout *layout;
  BackendPost seen;
  gpointer seen_data;
  Backend *backend;
  gint64 now;
  gint64 base; /* real: of the monotonic clock */
  GPtrArray *asked;
  guint n_open;
  gboolean calling; /* submit or cancel has not returned */
  guint n_posted;
  gboolean linked;
  GHashTable *sources; /* name → Columns: as of its last link event */
  char *violation;
  GRand *random; /* of a walk */
  const CheckWalk *walk;
};

static void broken(BackendCheck *check, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void
broken(BackendCheck *check, const char *format, ...)
{
  if (check->violation != NULL)
    return;
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *what = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  check->violation = g_strdup_printf("at %" G_GINT64_FORMAT " ns: %s", check->now, what);
}

static void
asked_free(gpointer data)
{
  Asked *asked = data;
  for (guint i = 0; i < asked->n; i++)
    g_free(asked->answers[i].text);
  g_free(asked->answers);
  g_free(asked);
}

/* Of one source. */
typedef struct {
  guint n;
  char *units; /* the first letter of each */
  gint64 *values;
} Columns;

static void
columns_free(gpointer data)
{
  Columns *columns = data;
  g_free(columns->units);
  g_free(columns->values);
  g_free(columns);
}

BackendCheck *
backend_check_new(const Layout *layout, BackendPost seen, gpointer data)
{
  BackendCheck *check = g_new0(BackendCheck, 1);
  check->layout = layout;
  check->seen = seen;
  check->seen_data = data;
  check->asked = g_ptr_array_new_with_free_func(asked_free);
  check->sources = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, columns_free);
  return check;
}

void
backend_check_free(BackendCheck *check)
{
  if (check == NULL)
    return;
  backend_free(check->backend);
  g_ptr_array_unref(check->asked);
  g_hash_table_unref(check->sources);
  g_free(check->violation);
  g_free(check);
}

static Asked *
find_asked(const BackendCheck *check, guint32 request)
{
  return request >= 1 && request <= check->asked->len ? g_ptr_array_index(check->asked, request - 1)
                                                      : NULL;
}

static Answer *
find_answer(const BackendCheck *check, guint32 request, NodeId node)
{
  Asked *asked = find_asked(check, request);
  for (guint i = 0; asked != NULL && i < asked->n; i++)
    if (asked->answers[i].node == node)
      return &asked->answers[i];
  return NULL;
}

static gboolean
is_printable(const char *text)
{
  if (!g_utf8_validate(text, -1, NULL))
    return FALSE;
  for (const char *at = text; *at != '\0'; at = g_utf8_next_char(at))
    if (g_unichar_iscntrl(g_utf8_get_char(at)))
      return FALSE;
  return TRUE;
}

/* Whose answer REQUEST and NODE still wait for; NULL, noted, when they do not. */
static Answer *
check_open(BackendCheck *check, const char *what, guint32 request, NodeId node)
{
  Answer *answer = find_answer(check, request, node);
  if (answer == NULL)
    broken(check, "%s of request %u for node %u, which was not asked", what, request, node);
  else if (answer->verdict >= 0)
    broken(check, "%s of request %u for %s after its result", what, request,
           check->layout->nodes[node].name);
  else
    return answer;
  return NULL;
}

static void
check_verdict(BackendCheck *check, const Asked *asked, const ResultEvent *result)
{
  const char *name = check->layout->nodes[result->node].name;
  gboolean can = backend_can(check->backend, asked->operation);
  gint64 slack = check->backend->class->virtual_time ? 0 : REAL_SLACK;

  if (result->verdict > VERDICT_UNSUPPORTED)
    broken(check, "%s has a command's verdict, %s", name, verdict_name(result->verdict));
  if ((result->verdict == VERDICT_UNSUPPORTED) == can)
    broken(check, "%s of %s is %s", operation_name(asked->operation), name,
           can ? "supported, and was answered unsupported" : "not supported, and was answered");
  if (asked->deadline != TIME_NEVER && check->now > asked->deadline + slack)
    broken(check, "%s of %s had its result after its deadline", operation_name(asked->operation),
           name);
  if (!is_printable(result->text))
    broken(check, "the text of %s is not one printable line", name);
  if (result->verdict != VERDICT_OK && strstr(result->text, name) == NULL)
    broken(check, "the text of %s does not name it: %s", name, result->text);
}

static void
check_result(BackendCheck *check, const ResultEvent *result)
{
  Answer *answer = check_open(check, "a result", result->request, result->node);
  if (answer == NULL)
    return;
  check_verdict(check, find_asked(check, result->request), result);
  answer->verdict = (int)result->verdict;
  answer->text = g_strdup(result->text);
  check->n_open--;
}

static Columns *
check_columns(BackendCheck *check, const SamplesEvent *samples)
{
  Columns *columns = g_new0(Columns, 1);
  columns->n = samples->n;
  columns->units = g_new0(char, samples->n + 1);
  columns->values = g_new0(gint64, samples->n + 1);
  for (guint i = 0; i < samples->n; i++) {
    const char *unit = strrchr(samples->columns[i], ' ');
    if (unit == NULL || unit == samples->columns[i] || !is_printable(samples->columns[i]))
      broken(check, "column %u is no NAME UNIT", i);
    else
      columns->units[i] = unit[1];
  }
  g_hash_table_replace(check->sources, g_strdup(samples->source), columns);
  return columns;
}

static void
check_samples(BackendCheck *check, const SamplesEvent *samples)
{
  Columns *columns = samples->columns != NULL
                         ? check_columns(check, samples)
                         : g_hash_table_lookup(check->sources, samples->source);
  if (columns == NULL) {
    broken(check, "samples came before their columns");
    return;
  }
  if (samples->n != columns->n) {
    broken(check, "%u values for %u columns", samples->n, columns->n);
    return;
  }
  for (guint i = 0; i < samples->n; i++) {
    if (samples->values[i] < columns->values[i] && columns->units[i] != 'm')
      broken(check,
             "the counter in column %u of %s went back, from %" G_GINT64_FORMAT
             " to %" G_GINT64_FORMAT,
             i, samples->source, columns->values[i], samples->values[i]);
    columns->values[i] = samples->values[i];
  }
}

static gboolean
goes_with(gpointer source, gpointer columns, gpointer link)
{
  gsize length = strlen(link);
  const char *name = source;
  (void)columns;
  return g_str_has_prefix(name, link) && (name[length] == '\0' || name[length] == '/');
}

/* Whatever comes of a source behind a link event of it needs its columns anew. */
static void
check_link(BackendCheck *check, const LinkEvent *link)
{
  g_hash_table_foreach_remove(check->sources, goes_with, (gpointer)link->name);
}

static void
check_observe(BackendCheck *check, const ObserveEvent *observe)
{
  if (observe->node >= check->layout->n_nodes)
    broken(check, "node %u was observed, which is not in the layout", observe->node);
  if (*observe->fact == '\0' || !is_printable(observe->fact) || !is_printable(observe->value))
    broken(check, "a fact or its value is not one printable word");
  if (*observe->source == '\0')
    broken(check, "%s was observed by nobody", observe->fact);
}

void
backend_check_post(const Event *event, gpointer data)
{
  BackendCheck *check = data;
  check->n_posted++;
  if (check->calling)
    broken(check, "posted %s before submit or cancel returned", event_kind_name(event->kind));
  if (check->backend->class->virtual_time && event->t != check->now)
    broken(check, "posted an event of %" G_GINT64_FORMAT " ns", event->t);
  if (!check->linked && event->kind != EVENT_LINK)
    broken(check, "posted %s before its link was up", event_kind_name(event->kind));
  switch (event->kind) {
  case EVENT_LINK:
    check->linked = TRUE;
    check_link(check, &event->link);
    break;
  case EVENT_RESULT:
    check_result(check, &event->result);
    break;
  case EVENT_LINE:
    if (event->line.request != 0 || event->line.node != NODE_NONE)
      check_open(check, "a line", event->line.request, event->line.node);
    break;
  case EVENT_SAMPLES:
    check_samples(check, &event->samples);
    break;
  case EVENT_OBSERVE:
    check_observe(check, &event->observe);
    break;
  default:
    broken(check, "posted %s, which is not for a backend", event_kind_name(event->kind));
  }
  if (check->seen != NULL)
    check->seen(event, check->seen_data);
}

gint64
backend_check_now(const BackendCheck *check)
{
  return check->now;
}

static void
read_clock(BackendCheck *check)
{
  if (!check->backend->class->virtual_time)
    check->now = g_get_monotonic_time() * 1000 - check->base;
}

const Layout *
backend_check_layout(const BackendCheck *check)
{
  return check->layout;
}

void
backend_check_start(BackendCheck *check, Backend *backend)
{
  g_assert(check->backend == NULL);
  check->backend = backend;
  check->base = g_get_monotonic_time() * 1000;
  check->calling = backend->class->virtual_time;
  backend->class->start(backend, check->now);
  check->calling = FALSE;
}

static GArray *
collect_arguments(const char *const *arguments)
{
  GArray *all = g_array_new(FALSE, FALSE, sizeof(Argument));
  for (guint i = 0; arguments != NULL && arguments[i] != NULL; i += 2) {
    Argument argument = {arguments[i], arguments[i + 1]};
    g_array_append_val(all, argument);
  }
  return all;
}

guint32
backend_check_submit(BackendCheck *check, Operation operation, const NodeId *nodes, guint n_nodes,
                     gint64 deadline, const char *const *arguments)
{
  g_autoptr(GArray) all = collect_arguments(arguments);
  Asked *asked = g_new0(Asked, 1);
  read_clock(check);
  asked->operation = operation;
  asked->deadline = deadline == TIME_NEVER ? TIME_NEVER : check->now + deadline;
  asked->n = n_nodes;
  asked->answers = g_new0(Answer, n_nodes);
  for (guint i = 0; i < n_nodes; i++)
    asked->answers[i] = (Answer){.node = nodes[i], .verdict = -1};
  g_ptr_array_add(check->asked, asked);
  asked->id = check->asked->len;
  check->n_open += n_nodes;
  RequestEvent request = {
      .id = asked->id,
      .backend = check->backend->name,
      .operation = operation,
      .nodes = nodes,
      .n_nodes = n_nodes,
      .arguments = (const Argument *)(const void *)all->data,
      .n_arguments = all->len,
      .deadline = asked->deadline,
  };
  check->calling = TRUE;
  check->backend->class->submit(check->backend, check->now, &request);
  check->calling = FALSE;
  return asked->id;
}

void
backend_check_cancel(BackendCheck *check, guint32 request)
{
  read_clock(check);
  check->calling = TRUE;
  check->backend->class->cancel(check->backend, check->now, request);
  check->calling = FALSE;
}

static gboolean
step_virtual(BackendCheck *check, gint64 t)
{
  const BackendClass *class = check->backend->class;
  guint before = check->n_posted;
  while (check->n_posted == before) {
    gint64 due = class->next_due(check->backend);
    if (due < check->now)
      broken(check, "next_due lies in the past");
    if (due > t) {
      check->now = MAX(check->now, t);
      class->advance(check->backend, check->now);
      if (check->n_posted != before)
        broken(check, "posted before it was due");
      return FALSE;
    }
    /* A moment before it is due nothing may come of it. */
    if (due - 1 > check->now) {
      check->now = due - 1;
      class->advance(check->backend, check->now);
      if (check->n_posted != before)
        broken(check, "posted before it was due");
    }
    check->now = due;
    class->advance(check->backend, due);
  }
  return TRUE;
}

static gboolean
on_time(gpointer data)
{
  gboolean *over = data;
  *over = TRUE;
  return G_SOURCE_REMOVE;
}

static gboolean
step_real(BackendCheck *check, gint64 t)
{
  guint before = check->n_posted;
  gboolean over = FALSE;
  read_clock(check);
  guint timer = g_timeout_add((guint)(MAX(t - check->now, 0) / TIME_MS + 1), on_time, &over);
  while (!over && check->n_posted == before) {
    g_main_context_iteration(NULL, TRUE);
    read_clock(check);
  }
  if (!over)
    g_source_remove(timer);
  return check->n_posted != before;
}

gboolean
backend_check_step(BackendCheck *check, gint64 t)
{
  if (check->backend->class->virtual_time)
    return step_virtual(check, t);
  return step_real(check, t);
}

void
backend_check_run(BackendCheck *check, gint64 t)
{
  while (backend_check_step(check, t))
    ;
}

static gboolean
is_finished(const BackendCheck *check, guint32 request)
{
  const Asked *asked = find_asked(check, request);
  for (guint i = 0; i < asked->n; i++)
    if (asked->answers[i].verdict < 0)
      return FALSE;
  return TRUE;
}

gboolean
backend_check_finish(BackendCheck *check, guint32 request, gint64 t)
{
  while (!is_finished(check, request))
    if (!backend_check_step(check, t))
      return is_finished(check, request);
  return TRUE;
}

int
backend_check_verdict(const BackendCheck *check, guint32 request, NodeId node)
{
  const Answer *answer = find_answer(check, request, node);
  return answer ? answer->verdict : -1;
}

const char *
backend_check_text(const BackendCheck *check, guint32 request, NodeId node)
{
  const Answer *answer = find_answer(check, request, node);
  return answer ? answer->text : NULL;
}

guint
backend_check_n_open(const BackendCheck *check)
{
  return check->n_open;
}

guint
backend_check_count(const BackendCheck *check, Verdict verdict)
{
  guint n = 0;
  for (guint32 request = 1; request <= check->asked->len; request++) {
    const Asked *asked = find_asked(check, request);
    for (guint i = 0; i < asked->n; i++)
      n += asked->answers[i].verdict == (int)verdict ? 1 : 0;
  }
  return n;
}

const char *
backend_check_violation(const BackendCheck *check)
{
  return check->violation;
}

static const CheckAsk *
draw_ask(const BackendCheck *check)
{
  guint sum = 0;
  for (const CheckAsk *ask = check->walk->asks; ask->weight > 0; ask++)
    sum += ask->weight;
  gint32 at = g_rand_int_range(check->random, 0, (gint32)sum);
  const CheckAsk *ask = check->walk->asks;
  while (at >= (gint32)ask->weight)
    at -= (gint32)(ask++)->weight;
  return ask;
}

/* A part of the nodes, each at most once. */
static GArray *
draw_nodes(const BackendCheck *check, const CheckAsk *ask)
{
  GArray *nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));
  if (ask->node != NULL) {
    NodeId node = layout_find(check->layout, ask->node);
    return g_array_append_val(nodes, node);
  }
  double part = g_rand_double(check->random);
  for (guint i = 0; i < check->walk->n_nodes; i++)
    if (g_rand_double(check->random) < part)
      g_array_append_val(nodes, check->walk->nodes[i]);
  if (nodes->len == 0)
    g_array_append_val(nodes, check->walk->nodes[0]);
  return nodes;
}

static guint32
draw_request(const BackendCheck *check)
{
  return (guint32)g_rand_int_range(check->random, 1, (gint32)check->asked->len + 2);
}

static void
ask_something(BackendCheck *check)
{
  static const gint64 deadlines[] = {TIME_NEVER,   0,           20 * TIME_MS,
                                     75 * TIME_MS, TIME_SECOND, 30 * TIME_SECOND};
  const CheckAsk *ask = draw_ask(check);
  g_autoptr(GArray) nodes = draw_nodes(check, ask);
  gint64 deadline = deadlines[g_rand_int_range(check->random, 0, G_N_ELEMENTS(deadlines))];
  g_autofree char *request = g_strdup_printf("%u", draw_request(check));
  g_autoptr(GPtrArray) arguments = g_ptr_array_new();
  for (guint i = 0; ask->arguments != NULL && ask->arguments[i] != NULL; i++) {
    gboolean earlier = g_str_equal(ask->arguments[i], "%request");
    g_ptr_array_add(arguments, earlier ? request : (gpointer)ask->arguments[i]);
  }
  g_ptr_array_add(arguments, NULL);
  backend_check_submit(check, ask->operation, (const NodeId *)(const void *)nodes->data, nodes->len,
                       deadline, (const char *const *)arguments->pdata);
}

static void
walk_a_step(BackendCheck *check)
{
  if (g_rand_int_range(check->random, 0, 5) == 0)
    backend_check_cancel(check, draw_request(check));
  else
    ask_something(check);
}

/* Now and then something is asked from within what is posted. */
static void
walk_seen(const Event *event, gpointer data)
{
  BackendCheck *check = data;
  (void)event;
  if (g_rand_int_range(check->random, 0, 40) == 0)
    walk_a_step(check);
}

void
backend_check_walk(BackendCheck *check, const CheckWalk *walk, guint32 seed)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(seed);
  check->random = random;
  check->walk = walk;
  check->seen = walk_seen;
  check->seen_data = check;
  for (guint i = 0; i < walk->n_steps; i++) {
    walk_a_step(check);
    if (g_rand_boolean(random))
      backend_check_run(check,
                        check->now + (gint64)(g_rand_double(random) * (double)walk->longest));
  }
  check->seen = NULL;
  for (guint32 request = 1; request <= check->asked->len; request++)
    backend_check_cancel(check, request);
  /* Real time is dear: there, what comes too much comes soon. */
  gint64 end = check->now + 30 * TIME_SECOND;
  while (!check->backend->class->virtual_time && check->n_open > 0)
    if (!backend_check_step(check, end))
      break;
  read_clock(check);
  backend_check_run(check,
                    check->backend->class->virtual_time ? end : check->now + TIME_SECOND / 5);
  if (check->n_open > 0)
    broken(check, "%u targets had no result", check->n_open);
  check->random = NULL;
}
