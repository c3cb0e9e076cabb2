#include "core/core_private.h"

#include "model/layout_backend.h"

#include <string.h>

void
request_free(Request *request)
{
  if (!request)
    return;
  g_free(request->nodes);
  g_free(request->answered);
  g_free(request);
}

Request *
request_clone(const Request *request)
{
  Request *copy = g_memdup2(request, sizeof *request);
  copy->nodes = g_memdup2(request->nodes, request->n * sizeof *request->nodes);
  copy->answered = g_memdup2(request->answered, request->n * sizeof *request->answered);
  return copy;
}

static int
request_index(const CoreState *state, guint32 id)
{
  guint low = 0, high = state->requests->len;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    const Request *request = state->requests->pdata[middle];
    if (request->id == id)
      return (int)middle;
    if (request->id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}

Request *
request_find(const CoreState *state, guint32 id)
{
  int index = request_index(state, id);
  return index < 0 ? NULL : state->requests->pdata[index];
}

gpointer
node_search(gconstpointer elements, guint n, gsize size, NodeId node)
{
  const guint8 *base = elements;
  guint low = 0, high = n;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    const guint8 *element = base + middle * size;
    NodeId found;
    memcpy(&found, element, sizeof found);
    if (found == node)
      return (gpointer)element;
    if (found < node)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

/* What any answer about power says of its node, whoever asked. */
static void
answer_power(CoreState *state, const Request *request, NodeId node, Verdict verdict,
             const char *text)
{
  gboolean asks = request->operation == OP_STATUS;
  if (verdict == VERDICT_CANCELLED || verdict == VERDICT_UNSUPPORTED)
    return;
  if (verdict == VERDICT_OK) {
    node_clear_fault(state, node, FAULT_SILENT);
    if (!asks)
      node_clear_fault(state, node, FAULT_POWER);
    return;
  }
  node_set_fault(state, node, asks ? FAULT_SILENT : FAULT_POWER, text);
  /* Unknown is not off, and not what it was when it last answered. */
  if (asks)
    node_power_unknown(state, node);
}

static void
answer_owner(CoreState *state, const Request *request, NodeId node, Verdict verdict,
             const char *text)
{
  switch (request->owner) {
  case OWNER_NONE:
  case OWNER_CONSOLE: /* what became of it stands in the log */
    break;
  case OWNER_TASK:
    task_result(state, request, node, verdict, text);
    break;
  case OWNER_LOAD:
    load_result(state, request, node, verdict, text);
    break;
  }
}

static gboolean
concerns_power(Operation operation)
{
  return operation == OP_STATUS || operation == OP_ON || operation == OP_OFF ||
         operation == OP_RESET || operation == OP_BOOT_DEVICE;
}

static void
answer(CoreState *state, Request *request, guint index, Verdict verdict, const char *text)
{
  NodeId node = request->behalf != NODE_NONE ? request->behalf : request->nodes[index];
  g_autofree char *made = NULL, *helped = NULL;
  request->answered[index] = TRUE;
  request->n_left--;
  if (verdict != VERDICT_OK) {
    if (!*text)
      text = made = g_strdup_printf("%s: %s %s", state->layout->nodes[request->nodes[index]].name,
                                    operation_name(request->operation), verdict_name(verdict));
    if (request->behalf != NODE_NONE) {
      text = helped =
          g_strdup_printf("%s: by its helper %s", state->layout->nodes[node].name, text);
      node_set_fault(state, node, FAULT_POWER, text);
    }
    log_add(state, SEVERITY_WARNING, node, state->map->backends[request->backend], text);
  }
  if (concerns_power(request->operation))
    answer_power(state, request, node, verdict, text);
  answer_owner(state, request, node, verdict, text);
}

static void
remove_if_answered(CoreState *state, Request *request)
{
  if (request->n_left > 0)
    return;
  core_undue(state, DUE_REQUESTS, request->guard);
  g_ptr_array_remove_index(state->requests, (guint)request_index(state, request->id));
}

void
request_result(CoreState *state, const ResultEvent *result)
{
  Request *request = request_find(state, result->request);
  if (!request)
    return; /* core has stopped waiting for it */
  const NodeId *node = node_search(request->nodes, request->n, sizeof(NodeId), result->node);
  guint index = node ? (guint)(node - request->nodes) : 0;
  if (!node || request->answered[index])
    return; /* a second result is none */
  answer(state, request, index, result->verdict, result->text);
  remove_if_answered(state, request);
}

/* Answers for every node still without a result: `a01: sim WHAT`. */
static void
answer_rest(CoreState *state, Request *request, Verdict verdict, const char *what)
{
  for (guint i = 0; i < request->n; i++) {
    if (request->answered[i])
      continue;
    g_autofree char *text =
        g_strdup_printf("%s: %s %s", state->layout->nodes[request->nodes[i]].name,
                        state->map->backends[request->backend], what);
    answer(state, request, i, verdict, text);
  }
  remove_if_answered(state, request);
}

void
request_send_to(CoreState *state, const RequestSpec *spec, guint backend, const NodeId *nodes,
                guint n)
{
  Request *request = g_new0(Request, 1);
  request->id = ++state->last_request;
  request->cmd = spec->cmd;
  request->backend = backend;
  request->operation = spec->operation;
  request->owner = spec->owner;
  request->serial = spec->serial;
  request->behalf = spec->is_behalf ? spec->behalf : NODE_NONE;
  gint64 deadline = spec->deadline;
  if (deadline == DEADLINE_OWN)
    deadline = state->now + core_map_patience(state->map, backend, spec->patience);
  request->guard = deadline == TIME_NEVER ? TIME_NEVER : deadline + GUARD;
  request->n = request->n_left = n;
  request->nodes = g_memdup2(nodes, n * sizeof *nodes);
  request->answered = g_new0(gboolean, n);
  g_ptr_array_add(state->requests, request);
  if (!state->backends[backend].up) {
    answer_rest(state, request, VERDICT_FAILED, "is not connected");
    return;
  }
  core_due(state, DUE_REQUESTS, request->guard);
  Event event = {.kind = EVENT_REQUEST,
                 .request = {.id = request->id,
                             .cmd = spec->cmd,
                             .backend = state->map->backends[backend],
                             .operation = spec->operation,
                             .nodes = request->nodes,
                             .n_nodes = n,
                             .arguments = spec->arguments,
                             .n_arguments = spec->n_arguments,
                             .deadline = deadline}};
  core_emit(state, &event);
}

void
requests_send(CoreState *state, const RequestSpec *spec, const NodeId *nodes, guint n)
{
  const int *backend_of = spec->operation <= OP_BOOT_DEVICE ? state->map->doer[spec->operation]
                                                            : state->map->backend[spec->role];
  g_autofree NodeId *mine = g_new(NodeId, n);
  for (guint backend = 0; backend < state->map->n_backends; backend++) {
    guint n_mine = 0;
    for (guint i = 0; i < n; i++)
      if (backend_of[nodes[i]] == (int)backend)
        mine[n_mine++] = nodes[i];
    if (n_mine)
      request_send_to(state, spec, backend, mine, n_mine);
  }
}

void
requests_wake(CoreState *state)
{
  for (guint i = 0; i < state->requests->len;) {
    Request *request = state->requests->pdata[i];
    if (request->guard > state->now) {
      i++;
      continue;
    }
    g_autoptr(GArray) silent = g_array_new(FALSE, FALSE, sizeof(NodeId));
    for (guint k = 0; k < request->n; k++)
      if (!request->answered[k])
        g_array_append_val(silent, request->nodes[k]);
    g_autofree char *nodes = core_fold(state, (const NodeId *)(gpointer)silent->data, silent->len);
    core_note(state, SEVERITY_WARNING,
              silent->len == 1 ? g_array_index(silent, NodeId, 0) : NODE_NONE,
              "%s gave no result for %s of %s by its deadline",
              state->map->backends[request->backend], operation_name(request->operation), nodes);
    gboolean asks = request->operation == OP_STATUS || request->operation == OP_GET;
    answer_rest(state, request, asks ? VERDICT_TIMEOUT : VERDICT_UNKNOWN,
                "gave no result by its deadline");
  }
}

gboolean
requests_look(const CoreState *state)
{
  for (guint i = 0; i < state->requests->len; i++) {
    const Request *request = state->requests->pdata[i];
    if (request->cmd == 0 && request->operation == OP_STATUS)
      return TRUE;
  }
  return FALSE;
}

gint64
requests_due(const CoreState *state)
{
  gint64 due = TIME_NEVER;
  for (guint i = 0; i < state->requests->len; i++)
    due = MIN(due, ((const Request *)state->requests->pdata[i])->guard);
  return due;
}

/* Nodes for which BACKEND is the one in BACKENDS. */
static GArray *
nodes_of_backend(const CoreState *state, const int *backends, guint backend)
{
  GArray *nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));
  for (NodeId id = 0; id < state->layout->n_nodes; id++)
    if (backends[id] == (int)backend)
      g_array_append_val(nodes, id);
  return nodes;
}

/* The simulator's is the model's own. */
static gint64
watch_interval(const CoreState *state, guint backend)
{
  const LayoutBackend *settings = layout_backend(state->layout, state->map->backends[backend]);

  if (settings == NULL || g_str_equal(layout_backend_type(settings), "sim"))
    return (gint64)(state->layout->boot.tick * 1e9 + 0.5);
  return layout_setting_time(state->layout, settings, NODE_NONE, "interval");
}

static void
watch_logs(CoreState *state, guint backend)
{
  g_autoptr(GArray) nodes = nodes_of_backend(state, state->map->backend[ROLE_LOG], backend);
  Argument what = {"what", "log"};
  RequestSpec watch = {.operation = OP_WATCH,
                       .role = ROLE_LOG,
                       .arguments = &what,
                       .n_arguments = 1,
                       .deadline = TIME_NEVER};
  if (nodes->len)
    requests_send(state, &watch, (const NodeId *)(gpointer)nodes->data, nodes->len);
}

void
requests_link_up(CoreState *state, guint backend)
{
  g_autoptr(GArray) power = nodes_of_backend(state, state->map->doer[OP_STATUS], backend);
  g_autoptr(GArray) metered = nodes_of_backend(state, state->map->backend[ROLE_METER], backend);
  RequestSpec status = {.operation = OP_STATUS,
                        .role = ROLE_POWER,
                        .deadline = DEADLINE_OWN,
                        .patience = DEADLINE_STATUS};
  if (power->len)
    requests_send(state, &status, (const NodeId *)(gpointer)power->data, power->len);
  g_autofree char *interval = g_strdup_printf("%" G_GINT64_FORMAT, watch_interval(state, backend));
  Argument argument = {"interval_ns", interval};
  RequestSpec watch = {.operation = OP_WATCH,
                       .role = ROLE_METER,
                       .arguments = &argument,
                       .n_arguments = 1,
                       .deadline = TIME_NEVER};
  if (metered->len)
    requests_send(state, &watch, (const NodeId *)(gpointer)metered->data, metered->len);
  watch_logs(state, backend);
  consoles_link_up(state, backend);
}

void
requests_link_down(CoreState *state, guint backend)
{
  for (guint i = state->requests->len; i-- > 0;) {
    Request *request = state->requests->pdata[i];
    if (request->backend != backend || request->guard != TIME_NEVER)
      continue;
    if (request->operation == OP_WATCH) {
      g_ptr_array_remove_index(state->requests, i);
      continue;
    }
    /* A job without an end: its backend has this long to say what became of it. */
    request->guard = state->now + state->layout->deadline[DEADLINE_CONNECT] + GUARD;
    core_due(state, DUE_REQUESTS, request->guard);
  }
  g_autoptr(GArray) nodes = nodes_of_backend(state, state->map->doer[OP_STATUS], backend);
  if (nodes->len == 0)
    return;
  for (guint i = 0; i < nodes->len; i++)
    node_power_unknown(state, g_array_index(nodes, NodeId, i));
  g_autofree char *names = core_fold(state, (const NodeId *)(gpointer)nodes->data, nodes->len);
  core_note(state, SEVERITY_WARNING, NODE_NONE, "%s went down (%s): power of %s unknown",
            state->map->backends[backend], state->backends[backend].down, names);
}
