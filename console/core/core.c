#include "core/core_private.h"

#include <string.h>

static void
nodes_init(CoreState *state)
{
  state->nodes = g_new0(Node, state->layout->n_nodes);
  state->limits = g_new(NodeId, state->layout->n_nodes);
  for (NodeId id = 0; id < state->layout->n_nodes; id++) {
    Node *node = &state->nodes[id];
    node->seen.power_t = node->seen.fault_t = node->seen.reserved_t = node->seen.usage_t = -1;
    node->begun_t = node->off_t = -1;
    for (guint stage = 0; stage < LAYOUT_MAX_STAGES; stage++)
      node->seen.stage_t[stage] = -1;
    node->seen.stage_limit = TIME_NEVER;
    node->seen.port = -1;
    node->seen.mac = state->layout->nodes[id].mac;
  }
}

static GHashTable *
bad_sources_new(void)
{
  return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

CoreState *
core_new(const Layout *layout, const CoreOptions *options)
{
  CoreState *state = g_new0(CoreState, 1);
  state->layout = layout;
  state->options = *options;
  state->map = core_map_new(layout);
  nodes_init(state);
  property_init(state);
  state->backends = g_new0(BackendLink, state->map->n_backends);
  state->meters = meters_new(layout);
  state->figures = figures_new();
  state->boots = g_ptr_array_new_with_free_func((GDestroyNotify)boot_unref);
  state->loads = g_ptr_array_new_with_free_func((GDestroyNotify)load_unref);
  state->tasks = g_ptr_array_new_with_free_func((GDestroyNotify)task_free);
  state->requests = g_ptr_array_new_with_free_func((GDestroyNotify)request_free);
  state->log = g_new0(LogEntry, STATE_LOG_MAX);
  state->bad_sources = bad_sources_new();
  for (int kind = 0; kind < DUE_N; kind++)
    state->due[kind] = TIME_NEVER;
  state->deadline = TIME_NEVER;
  return state;
}

/* Runs that have ended are shared, so the original's count changes. */
static gpointer
copy_boot(gconstpointer boot, gpointer data)
{
  (void)data;
  return boot_clone((Boot *)boot);
}

static gpointer
copy_load(gconstpointer load, gpointer data)
{
  (void)data;
  return load_clone((Load *)load);
}

static gpointer
copy_task(gconstpointer task, gpointer data)
{
  (void)data;
  return task_clone(task);
}

static gpointer
copy_request(gconstpointer request, gpointer data)
{
  (void)data;
  return request_clone(request);
}

static GPtrArray *
copy_array(GPtrArray *from, GCopyFunc copy, GDestroyNotify free_function)
{
  GPtrArray *to = g_ptr_array_copy(from, copy, NULL);
  g_ptr_array_set_free_func(to, free_function);
  return to;
}

static Node *
copy_nodes(const CoreState *state)
{
  Node *nodes = g_memdup2(state->nodes, state->layout->n_nodes * sizeof *nodes);
  for (NodeId id = 0; id < state->layout->n_nodes; id++) {
    Node *node = &nodes[id];
    node->seen.fault = g_strdup(node->seen.fault);
    node->seen.reserved = g_strdup(node->seen.reserved);
    if (node->properties)
      node->properties = g_memdup2(node->properties, node->n_properties * sizeof(Property));
    for (guint i = 0; i < node->n_properties; i++) {
      node->properties[i].fact = g_strdup(node->properties[i].fact);
      node->properties[i].value = g_strdup(node->properties[i].value);
    }
  }
  return nodes;
}

static void
copy_bad_source(gpointer source, gpointer value, gpointer copy)
{
  (void)value;
  g_hash_table_add(copy, g_strdup(source));
}

CoreState *
core_clone(const CoreState *state)
{
  CoreState *copy = g_memdup2(state, sizeof *state);
  core_map_ref(copy->map);
  copy->nodes = copy_nodes(state);
  copy->limits = g_memdup2(state->limits, state->layout->n_nodes * sizeof *state->limits);
  copy->bonds = g_memdup2(state->bonds, state->map->n_bonds * sizeof *state->bonds);
  copy->port_up = g_memdup2(state->port_up, state->map->n_ports * sizeof *state->port_up);
  copy->port_speed = g_memdup2(state->port_speed, state->map->n_ports * sizeof *state->port_speed);
  copy->link_up = g_memdup2(state->link_up, state->layout->n_links * sizeof *state->link_up);
  copy->backends = g_memdup2(state->backends, state->map->n_backends * sizeof *state->backends);
  for (guint i = 0; i < state->map->n_backends; i++)
    copy->backends[i].down = g_strdup(state->backends[i].down);
  copy->meters = meters_clone(state->meters);
  copy->figures = figures_clone(state->figures);
  copy->boots = copy_array(state->boots, copy_boot, (GDestroyNotify)boot_unref);
  copy->loads = copy_array(state->loads, copy_load, (GDestroyNotify)load_unref);
  copy->tasks = copy_array(state->tasks, copy_task, (GDestroyNotify)task_free);
  copy->requests = copy_array(state->requests, copy_request, (GDestroyNotify)request_free);
  log_copy(copy, state);
  copy->bad_sources = bad_sources_new();
  g_hash_table_foreach(state->bad_sources, copy_bad_source, copy->bad_sources);
  copy->pending.text = g_strdup(state->pending.text);
  copy->pending.plan = g_strdup(state->pending.plan);
  copy->pending.difference = g_strdup(state->pending.difference);
  copy->menu_shown = g_strdup(state->menu_shown);
  return copy;
}

void
core_free(CoreState *state)
{
  if (!state)
    return;
  for (NodeId id = 0; id < state->layout->n_nodes; id++)
    node_clear(&state->nodes[id]);
  for (guint i = 0; i < state->map->n_backends; i++)
    g_free(state->backends[i].down);
  log_free(state);
  g_hash_table_unref(state->bad_sources);
  pending_clear(state);
  g_free(state->menu_shown);
  g_ptr_array_unref(state->boots);
  g_ptr_array_unref(state->loads);
  g_ptr_array_unref(state->tasks);
  g_ptr_array_unref(state->requests);
  figures_free(state->figures);
  meters_free(state->meters);
  g_free(state->nodes);
  g_free(state->limits);
  g_free(state->bonds);
  g_free(state->port_up);
  g_free(state->port_speed);
  g_free(state->link_up);
  g_free(state->backends);
  core_map_unref(state->map);
  g_free(state);
}

void
core_due(CoreState *state, DueKind kind, gint64 t)
{
  if (t < state->due[kind])
    state->due[kind] = t;
}

void
core_undue(CoreState *state, DueKind kind, gint64 t)
{
  /* Working a deadline out takes a look at everything of its kind: only when the next one went. */
  if (t <= state->due[kind])
    state->stale[kind] = TRUE;
}

static gint64
due_of(const CoreState *state, DueKind kind)
{
  switch (kind) {
  case DUE_NODES:
    return limits_due(state);
  case DUE_REQUESTS:
    return requests_due(state);
  case DUE_TASKS:
    return tasks_due(state);
  case DUE_LOADS:
    return loads_due(state);
  case DUE_RESERVED:
    return reservations_due(state);
  }
  g_assert_not_reached();
}

static void
update_deadline(CoreState *state)
{
  state->deadline = TIME_NEVER;
  for (DueKind kind = 0; kind < DUE_N; kind++) {
    if (state->stale[kind])
      state->due[kind] = due_of(state, kind);
    state->stale[kind] = FALSE;
    state->deadline = MIN(state->deadline, state->due[kind]);
  }
}

gint64
core_deadline(const CoreState *state)
{
  return state->deadline;
}

/* A connection is called `BACKEND:NODE`: it is the backend that says so, of the node. */
static void
log_link(CoreState *state, const LinkEvent *link)
{
  const char *colon = strchr(link->name, ':');
  g_autofree char *backend = colon ? g_strndup(link->name, (gsize)(colon - link->name)) : NULL;
  log_add(state, link->up ? SEVERITY_INFO : SEVERITY_WARNING,
          colon ? layout_find(state->layout, colon + 1) : NODE_NONE, backend ? backend : link->name,
          link->text);
}

static gboolean
is_source_of(gpointer source, gpointer value, gpointer link)
{
  gsize length = strlen(link);
  (void)value;
  return g_str_has_prefix(source, link) &&
         (((char *)source)[length] == '\0' || ((char *)source)[length] == '/');
}

static void
link_step(CoreState *state, const LinkEvent *link)
{
  int index = core_map_backend(state->map, link->name);
  log_link(state, link);
  g_hash_table_foreach_remove(state->bad_sources, is_source_of, (gpointer)link->name);
  if (!link->up)
    meters_forget(state->meters, link->name);
  if (index < 0 || state->backends[index].up == link->up)
    return;
  BackendLink *backend = &state->backends[index];
  backend->up = link->up;
  g_free(backend->down);
  backend->down = link->up ? NULL : core_bounded(link->text);
  if (link->up)
    requests_link_up(state, (guint)index);
  else
    requests_link_down(state, (guint)index);
}

/* A source that is wrong is wrong ten times a second: once said is enough. */
static void
tell_bad_source(CoreState *state, const char *source, const char *text)
{
  if (!text || g_hash_table_contains(state->bad_sources, source) ||
      g_hash_table_size(state->bad_sources) >= BAD_SOURCES_MAX)
    return;
  core_note(state, SEVERITY_WARNING, NODE_NONE, "%s", text);
  g_hash_table_add(state->bad_sources, g_strdup(source));
}

static void
samples_step(CoreState *state, const SamplesEvent *samples)
{
  g_autoptr(GError) error = NULL;
  if (meters_fold(state->meters, state->now, samples, &error)) {
    measure_fold(state);
    loads_settle(state);
  }
  tell_bad_source(state, samples->source,
                  g_error_matches(error, METER_ERROR, METER_ERROR_SAMPLES)
                      ? error->message
                      : meters_refusal(state->meters, samples->source));
}

static void
line_step(CoreState *state, const LineEvent *line)
{
  NodeId node = line->node < state->layout->n_nodes ? line->node : NODE_NONE;
  const Request *request = request_find(state, line->request);
  gboolean figures =
      request && request->owner == OWNER_LOAD && g_str_equal(line->stream, "figures");
  gboolean of_menu = request && request->owner == OWNER_TASK && g_str_equal(line->stream, "was");
  /* The load's skew tells a person of all starts, and a plan what a menu was. */
  if (!of_menu && (!figures || !load_is_start(line->text)))
    log_add(state, SEVERITY_INFO, node, line->stream, line->text);
  if (request && request->owner == OWNER_TASK)
    menu_line(state, request, line->stream, line->text);
  if (figures)
    load_line(state, request, node, line->text);
}

static void
wake_step(CoreState *state)
{
  requests_wake(state);
  nodes_wake(state);
  loads_wake(state);
  reservations_wake(state);
  tasks_wake(state);
}

void
core_step(CoreState *state, const Event *input, CoreEmit emit, gpointer data)
{
  state->now = MAX(state->now, input->t);
  state->emit = emit;
  state->emit_data = data;
  switch (input->kind) {
  case EVENT_LINK:
    link_step(state, &input->link);
    break;
  case EVENT_COMMAND:
    command_step(state, &input->command);
    break;
  case EVENT_WAKE:
    wake_step(state);
    break;
  case EVENT_RESULT:
    request_result(state, &input->result);
    break;
  case EVENT_LINE:
    line_step(state, &input->line);
    break;
  case EVENT_SAMPLES:
    samples_step(state, &input->samples);
    break;
  case EVENT_OBSERVE:
    node_observe(state, &input->observe);
    break;
  case EVENT_REQUEST:
  case EVENT_CANCEL:
  case EVENT_DONE:
  case EVENT_NOTE:
  case EVENT_FIGURE:
  case EVENT_EXPECT:
  case EVENT_PLAN:
    break; /* what core said itself */
  }
  if (state->touches != state->settled)
    tasks_settle(state);
  update_deadline(state);
  state->emit = NULL;
}
