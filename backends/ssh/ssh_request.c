#include <string.h>

#include "backends/ssh/ssh_private.h"

#define RESULT_MAX 500
#define VALUE_MAX 500

/* What a request needs beside what the operations know of it. */
typedef struct {
  SshRequest request; /* first */
  Argument *arguments;
  guint n_arguments;
  GSource *timer; /* begins it, ends what is cancelled, keeps its deadline */
  gboolean begun, cancelled;
  guint held; /* while its targets are gone through it is not freed */
} Kept;

static Kept *
kept_of(SshRequest *request)
{
  return (Kept *)request;
}

static void
kept_free(gpointer data)
{
  Kept *kept = data;
  SshRequest *request = &kept->request;
  for (guint i = 0; i < request->n_targets; i++) {
    SshTarget *target = &request->targets[i];
    ssh_command_forget(target->command);
    if (target->open && request->class->free_target != NULL)
      request->class->free_target(target);
  }
  if (request->class->free_data != NULL)
    request->class->free_data(request->data);
  for (guint i = 0; i < kept->n_arguments; i++) {
    g_free((char *)kept->arguments[i].key);
    g_free((char *)kept->arguments[i].value);
  }
  g_free(kept->arguments);
  g_free(request->targets);
  g_source_destroy(kept->timer);
  g_source_unref(kept->timer);
  g_free(kept);
}

GPtrArray *
ssh_requests_new(void)
{
  return g_ptr_array_new_with_free_func(kept_free);
}

static void
remove_if_answered(Kept *kept)
{
  if (kept->request.n_open == 0 && kept->held == 0)
    g_ptr_array_remove(kept->request.ssh->requests, kept);
}

static void
stop_all(Kept *kept, Verdict why)
{
  SshRequest *request = &kept->request;
  for (guint i = 0; i < request->n_targets; i++)
    if (request->targets[i].open)
      request->class->stop(&request->targets[i], why);
}

static void
begin(Kept *kept, gint64 now)
{
  SshRequest *request = &kept->request;
  kept->begun = TRUE;
  gboolean in_time = !kept->cancelled && request->deadline > now;
  if (in_time || request->class->stop == NULL) {
    request->class->begin(request);
    return;
  }
  for (guint i = 0; i < request->n_targets; i++)
    ssh_target_result(&request->targets[i], kept->cancelled ? VERDICT_CANCELLED : VERDICT_TIMEOUT,
                      "%s was not begun: %s", operation_name(request->operation),
                      kept->cancelled ? "cancelled" : "its deadline had come");
}

static gboolean
on_timer(gpointer data)
{
  Kept *kept = data;
  gint64 now = g_get_monotonic_time();
  kept->held++;
  g_source_set_ready_time(kept->timer,
                          kept->request.deadline == G_MAXINT64 ? -1 : kept->request.deadline);
  if (!kept->begun)
    begin(kept, now);
  if (kept->cancelled) {
    kept->cancelled = FALSE;
    stop_all(kept, VERDICT_CANCELLED);
  }
  if (kept->request.deadline <= now) {
    g_source_set_ready_time(kept->timer, -1);
    stop_all(kept, VERDICT_TIMEOUT);
    g_assert(kept->request.n_open == 0);
  }
  kept->held--;
  remove_if_answered(kept);
  return G_SOURCE_CONTINUE;
}

static gboolean
dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
  (void)source;
  return callback(data);
}

static GSourceFuncs timer_class = {.dispatch = dispatch};

static void
copy_arguments(Kept *kept, const RequestEvent *event)
{
  kept->n_arguments = event->n_arguments;
  kept->arguments = g_new(Argument, event->n_arguments);
  for (guint i = 0; i < event->n_arguments; i++)
    kept->arguments[i] =
        (Argument){g_strdup(event->arguments[i].key), g_strdup(event->arguments[i].value)};
}

void
ssh_request_add(SshBackend *ssh, gint64 now, const RequestEvent *event, const SshOperation *class)
{
  Kept *kept = g_new0(Kept, 1);
  SshRequest *request = &kept->request;
  request->ssh = ssh;
  request->id = event->id;
  request->operation = event->operation;
  request->class = class;
  request->deadline = event->deadline == TIME_NEVER
                          ? G_MAXINT64
                          : g_get_monotonic_time() + MAX(event->deadline - now, 0) / 1000;
  request->epoch = g_get_monotonic_time() - now / 1000;
  request->n_targets = request->n_open = event->n_nodes;
  request->targets = g_new0(SshTarget, event->n_nodes);
  for (guint i = 0; i < event->n_nodes; i++)
    request->targets[i] =
        (SshTarget){.request = request,
                    .node = event->nodes[i],
                    .name = ssh->layout->nodes[event->nodes[i]].name,
                    .link = ssh_link_of(ssh, class->at_boot_server ? ssh->layout->boot_server
                                                                   : event->nodes[i]),
                    .open = TRUE};
  for (guint i = 0; i < event->n_nodes; i++)
    g_assert(request->targets[i].link != NULL);
  copy_arguments(kept, event);
  kept->timer = g_source_new(&timer_class, sizeof(GSource));
  g_source_set_callback(kept->timer, on_timer, kept, NULL);
  g_source_set_ready_time(kept->timer, 0);
  g_source_attach(kept->timer, NULL);
  g_ptr_array_add(ssh->requests, kept);
}

void
ssh_request_cancel(SshBackend *ssh, guint32 id)
{
  SshRequest *request = ssh_request_find(ssh, id);
  if (request == NULL)
    return;
  kept_of(request)->cancelled = TRUE;
  g_source_set_ready_time(kept_of(request)->timer, 0);
}

const char *
ssh_request_argument(const SshRequest *request, const char *key)
{
  const Kept *kept = (const Kept *)request;
  for (guint i = 0; i < kept->n_arguments; i++)
    if (strcmp(kept->arguments[i].key, key) == 0)
      return kept->arguments[i].value;
  return NULL;
}

const Argument *
ssh_request_arguments(const SshRequest *request, guint *n)
{
  const Kept *kept = (const Kept *)request;
  *n = kept->n_arguments;
  return kept->arguments;
}

SshRequest *
ssh_request_find(SshBackend *ssh, guint32 id)
{
  for (guint i = 0; i < ssh->requests->len; i++) {
    SshRequest *request = g_ptr_array_index(ssh->requests, i);
    if (request->id == id)
      return request;
  }
  return NULL;
}

gint64
ssh_request_left(const SshRequest *request)
{
  if (request->deadline == G_MAXINT64)
    return SSH_FOREVER;
  return MAX(request->deadline - g_get_monotonic_time(), 0);
}

/* ---- Results -----------------------------------------------------------------------------------
 */

void
ssh_target_result(SshTarget *target, Verdict verdict, const char *format, ...)
{
  SshRequest *request = target->request;
  g_autofree char *text = g_strdup("");
  g_assert(target->open);
  if (format != NULL) {
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *named = g_strdup_printf("%s: %s", target->name, what);
    g_free(text);
    text = ssh_printable(named, strlen(named), RESULT_MAX);
  }
  ssh_command_forget(g_steal_pointer(&target->command));
  if (request->class->free_target != NULL)
    request->class->free_target(target);
  target->open = FALSE;
  request->n_open--;
  Event event = {
      .kind = EVENT_RESULT,
      .result = {.request = request->id, .node = target->node, .verdict = verdict, .text = text}};
  kept_of(request)->held++;
  ssh_post(request->ssh, &event);
  kept_of(request)->held--;
  remove_if_answered(kept_of(request));
}

void
ssh_target_line(SshTarget *target, const char *stream, const char *text, gsize length)
{
  g_autoptr(GString) shown = NULL;
  if (memchr(text, '\0', length) != NULL) {
    shown = g_string_new(NULL);
    for (gsize i = 0; i < length; i++)
      if (text[i] != '\0')
        g_string_append_c(shown, text[i]);
      else
        g_string_append(shown, "\\x00");
  }
  Event event = {.kind = EVENT_LINE,
                 .line = {.request = target->request->id,
                          .node = target->node,
                          .stream = stream,
                          .text = shown != NULL ? shown->str : text}};
  ssh_post(target->request->ssh, &event);
}

void
ssh_target_observe(SshTarget *target, const char *fact, const char *value)
{
  SshBackend *ssh = target->request->ssh;
  g_autofree char *shown = ssh_printable(value, strlen(value), VALUE_MAX);
  Event event = {
      .kind = EVENT_OBSERVE,
      .observe = {.node = target->node, .fact = fact, .value = shown, .source = ssh->base.name}};
  ssh_post(ssh, &event);
}
