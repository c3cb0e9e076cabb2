#include "backends/ledger.h"

#include <string.h>

#define MAX_TEXT 400
/* Deadlines so close are those of questions that were asked together. */
#define TOGETHER_US 100000

typedef struct {
  guint32 id;
  guint n_arguments;
  char **keys, **values;
} Asked; /* counted by g_rc_box */

typedef struct {
  LedgerItem item; /* first: what the backend holds points here */
  Asked *asked;
  gboolean begun, cancelled;
} Entry;

struct Ledger {
  const Backend *backend;
  const Layout *layout;
  LedgerClass class;
  gpointer data;
  GQueue entries; /* of Entry, as asked */
  guint n_begun;
  guint8 *busy; /* by node: items under way, one bit */
  GSource *turn;
};

static void
asked_clear(gpointer data)
{
  Asked *asked = data;

  for (guint i = 0; i < asked->n_arguments; i++) {
    g_free(asked->keys[i]);
    g_free(asked->values[i]);
  }
  g_free(asked->keys);
  g_free(asked->values);
}

static Asked *
asked_new(const RequestEvent *request)
{
  Asked *asked = g_rc_box_new0(Asked);

  asked->id = request->id;
  asked->n_arguments = request->n_arguments;
  asked->keys = g_new(char *, request->n_arguments);
  asked->values = g_new(char *, request->n_arguments);
  for (guint i = 0; i < request->n_arguments; i++) {
    asked->keys[i] = g_strdup(request->arguments[i].key);
    asked->values[i] = g_strdup(request->arguments[i].value);
  }
  return asked;
}

static gboolean
changes(Operation operation)
{
  return operation != OP_STATUS && operation != OP_GET && operation != OP_WATCH;
}

/* ---- The end of an item -------------------------------------------------------------------- */

static void
post(const Ledger *ledger, const Event *event)
{
  ledger->backend->post(event, ledger->backend->post_data);
}

static void
wake(Ledger *ledger, gint64 when)
{
  gint64 before = g_source_get_ready_time(ledger->turn);

  if (before < 0 || when < before)
    g_source_set_ready_time(ledger->turn, when);
}

static char *
printable(const char *text)
{
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  g_autoptr(GString) out = g_string_new(NULL);

  for (const char *at = valid; *at != '\0' && out->len < MAX_TEXT; at = g_utf8_next_char(at)) {
    gunichar c = g_utf8_get_char(at);
    if (g_unichar_iscntrl(c))
      g_string_append_printf(out, "\\x%02x", c);
    else
      g_string_append_unichar(out, c);
  }
  return g_string_free(g_steal_pointer(&out), FALSE);
}

/* All is in order before it is told: whoever hears it may ask for more at once. */
static void
end_entry(Entry *entry, Verdict verdict, const char *text)
{
  Ledger *ledger = entry->item.ledger;
  Event event = {.kind = EVENT_RESULT,
                 .result = {entry->asked->id, entry->item.node, verdict, text}};

  g_queue_remove(&ledger->entries, entry);
  if (entry->begun) {
    ledger->n_begun--;
    ledger->busy[entry->item.node] = FALSE;
  }
  ledger->class.end(&entry->item, ledger->data);
  g_rc_box_release_full(entry->asked, asked_clear);
  g_free(entry);
  wake(ledger, 0);
  post(ledger, &event);
}

/* Who waits to ask NODE for its status, as nothing is to change it before. */
static Entry *
next_asking(const Ledger *ledger, NodeId node, gint64 latest)
{
  for (GList *link = ledger->entries.head; link != NULL; link = link->next) {
    Entry *entry = link->data;
    if (entry->item.node != node)
      continue;
    gboolean asks = entry->item.operation == OP_STATUS && !entry->begun && !entry->cancelled;
    return asks && entry->item.deadline <= latest ? entry : NULL;
  }
  return NULL;
}

/* Where one of a node is asked at a time, what a status was answered need not be asked for again:
 * good news by nobody who waited, other by none who asked at the same time. */
static void
finish(Entry *entry, Verdict verdict, const char *text)
{
  Ledger *ledger = entry->item.ledger;
  NodeId node = entry->item.node;
  gboolean shared = ledger->class.one_each_node && entry->item.operation == OP_STATUS &&
                    entry->begun && verdict != VERDICT_CANCELLED;
  gint64 latest = verdict == VERDICT_OK || entry->item.deadline > G_MAXINT64 - TOGETHER_US
                      ? G_MAXINT64
                      : entry->item.deadline + TOGETHER_US;
  Entry *other;

  end_entry(entry, verdict, text);
  while (shared && (other = next_asking(ledger, node, latest)) != NULL)
    end_entry(other, verdict, text);
}

static void
finish_saying(Entry *entry, Verdict verdict, const char *what)
{
  const Ledger *ledger = entry->item.ledger;
  g_autofree char *text =
      g_strdup_printf("%s: %s", ledger->layout->nodes[entry->item.node].name, what);

  finish(entry, verdict, text);
}

void
ledger_answer(LedgerItem *item, Verdict verdict, const char *format, ...)
{
  va_list arguments;

  if (format == NULL) {
    g_assert(verdict == VERDICT_OK);
    finish((Entry *)item, verdict, "");
    return;
  }
  va_start(arguments, format);
  g_autofree char *what = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_autofree char *clean = printable(what);
  finish_saying((Entry *)item, verdict, clean);
}

static gboolean
may_have_happened(const Entry *entry)
{
  return entry->item.sent && changes(entry->item.operation);
}

static void
expire(Entry *entry)
{
  const char *name = operation_name(entry->item.operation);
  g_autofree char *what = NULL;

  if (may_have_happened(entry))
    what = g_strdup_printf("no answer to %s by its deadline: it may have happened", name);
  else if (entry->begun)
    what = g_strdup_printf("no answer to %s by its deadline", name);
  else
    what = g_strdup_printf("%s not sent by its deadline: %s still waited for an earlier answer",
                           name, entry->item.ledger->backend->name);
  finish_saying(entry, may_have_happened(entry) ? VERDICT_UNKNOWN : VERDICT_TIMEOUT, what);
}

static void
call_off(Entry *entry)
{
  const char *name = operation_name(entry->item.operation);
  g_autofree char *what = g_strdup_printf(
      may_have_happened(entry) ? "%s cancelled after it was sent: it may have happened"
                               : "%s cancelled",
      name);

  finish_saying(entry, may_have_happened(entry) ? VERDICT_UNKNOWN : VERDICT_CANCELLED, what);
}

/* What cannot be done waits for nothing, and that is what is said of it. */
static void
refuse(Entry *entry)
{
  g_autofree char *what = g_strdup_printf("%s cannot %s", entry->item.ledger->backend->name,
                                          operation_name(entry->item.operation));

  finish_saying(entry, VERDICT_UNSUPPORTED, what);
}

static gboolean
is_possible(const Entry *entry)
{
  return backend_can(entry->item.ledger->backend, entry->item.operation);
}

/* ---- Turns --------------------------------------------------------------------------------- */

static Entry *
find_due(const Ledger *ledger, gint64 now)
{
  for (GList *link = ledger->entries.head; link != NULL; link = link->next) {
    Entry *entry = link->data;
    if (entry->cancelled || entry->item.deadline <= now || !is_possible(entry))
      return entry;
  }
  return NULL;
}

/* What was asked or called off while others began is find_due()'s first. */
static gboolean
can_begin(const Entry *entry)
{
  const Ledger *ledger = entry->item.ledger;

  return !entry->begun && !entry->cancelled && is_possible(entry) &&
         !(ledger->class.one_each_node && ledger->busy[entry->item.node]);
}

static Entry *
find_turn(const Ledger *ledger)
{
  if (ledger->class.limit > 0 && ledger->n_begun >= ledger->class.limit)
    return NULL;
  for (GList *link = ledger->entries.head; link != NULL; link = link->next) {
    Entry *entry = link->data;
    if (can_begin(entry))
      return entry;
  }
  return NULL;
}

static void
begin(Entry *entry)
{
  Ledger *ledger = entry->item.ledger;

  entry->begun = TRUE;
  ledger->n_begun++;
  ledger->busy[entry->item.node] = TRUE;
  ledger->class.begin(&entry->item, ledger->data);
}

/* Anything may come and go while one item is begun or ended, so each is looked for anew. */
static gboolean
take_turns(gpointer data)
{
  Ledger *ledger = data;
  gint64 now = g_get_monotonic_time(), next = G_MAXINT64;
  Entry *entry;

  g_source_set_ready_time(ledger->turn, -1);
  while ((entry = find_due(ledger, now)) != NULL) {
    if (!is_possible(entry))
      refuse(entry);
    else if (entry->cancelled)
      call_off(entry);
    else
      expire(entry);
  }
  while ((entry = find_turn(ledger)) != NULL)
    begin(entry);
  for (GList *link = ledger->entries.head; link != NULL; link = link->next)
    next = MIN(next, ((const Entry *)link->data)->item.deadline);
  if (next != G_MAXINT64)
    wake(ledger, next);
  return G_SOURCE_CONTINUE;
}

static gboolean
dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
  (void)source;
  return callback(data);
}

static GSourceFuncs turn_functions = {.dispatch = dispatch};

Ledger *
ledger_new(const Backend *backend, const Layout *layout, const LedgerClass *class, gpointer data)
{
  Ledger *ledger = g_new0(Ledger, 1);

  ledger->backend = backend;
  ledger->layout = layout;
  ledger->class = *class;
  ledger->data = data;
  ledger->busy = g_new0(guint8, layout->n_nodes);
  g_queue_init(&ledger->entries);
  ledger->turn = g_source_new(&turn_functions, sizeof(GSource));
  g_source_set_callback(ledger->turn, take_turns, ledger, NULL);
  g_source_attach(ledger->turn, NULL);
  return ledger;
}

void
ledger_free(Ledger *ledger)
{
  Entry *entry;

  if (ledger == NULL)
    return;
  g_source_destroy(ledger->turn);
  g_source_unref(ledger->turn);
  while ((entry = g_queue_pop_head(&ledger->entries)) != NULL) {
    ledger->class.end(&entry->item, ledger->data);
    g_rc_box_release_full(entry->asked, asked_clear);
    g_free(entry);
  }
  g_free(ledger->busy);
  g_free(ledger);
}

/* ---- Asking and telling -------------------------------------------------------------------- */

void
ledger_submit(Ledger *ledger, gint64 now, const RequestEvent *request)
{
  Asked *asked = asked_new(request);
  gint64 deadline = G_MAXINT64;

  if (request->deadline != TIME_NEVER)
    deadline = g_get_monotonic_time() + (request->deadline - now) / 1000;
  for (guint i = 0; i < request->n_nodes; i++) {
    Entry *entry = g_new0(Entry, 1);
    entry->item.ledger = ledger;
    entry->item.node = request->nodes[i];
    entry->item.operation = request->operation;
    entry->item.deadline = deadline;
    entry->asked = g_rc_box_acquire(asked);
    g_queue_push_tail(&ledger->entries, entry);
  }
  g_rc_box_release_full(asked, asked_clear);
  wake(ledger, 0);
}

void
ledger_cancel(Ledger *ledger, guint32 request)
{
  for (GList *link = ledger->entries.head; link != NULL; link = link->next) {
    Entry *entry = link->data;
    if (entry->asked->id == request)
      entry->cancelled = TRUE;
  }
  wake(ledger, 0);
}

const char *
ledger_argument(const LedgerItem *item, const char *key)
{
  const Asked *asked = ((const Entry *)item)->asked;

  for (guint i = 0; i < asked->n_arguments; i++)
    if (strcmp(asked->keys[i], key) == 0)
      return asked->values[i];
  return NULL;
}

guint32
ledger_request(const LedgerItem *item)
{
  return ((const Entry *)item)->asked->id;
}

void
ledger_observe(Ledger *ledger, NodeId node, const char *fact, const char *value)
{
  Event event = {.kind = EVENT_OBSERVE, .observe = {node, fact, value, ledger->backend->name}};

  post(ledger, &event);
}

void
ledger_line(const LedgerItem *item, const char *stream, const char *text)
{
  Event event = {.kind = EVENT_LINE, .line = {ledger_request(item), item->node, stream, text}};

  post(item->ledger, &event);
}

void
ledger_remark(Ledger *ledger, const char *stream, const char *text)
{
  Event event = {.kind = EVENT_LINE, .line = {0, NODE_NONE, stream, text}};

  post(ledger, &event);
}

void
ledger_link(Ledger *ledger, gboolean up, const char *text)
{
  Event event = {.kind = EVENT_LINK, .link = {ledger->backend->name, up, text}};

  post(ledger, &event);
}
