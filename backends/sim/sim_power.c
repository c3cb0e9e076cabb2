#include <string.h>

#include "backends/sim/sim_private.h"

static gboolean
is_client(const SimNode *node)
{
  return node->layout->kind == NODE_CLIENT;
}

gboolean
sim_power_is_seen(const Sim *sim, NodeId id)
{
  char *const *backend = sim->layout->nodes[id].backend;
  return backend[ROLE_POWER] != NULL || g_strcmp0(backend[ROLE_EXEC], sim->backend.name) == 0;
}

static void
observe(Sim *sim, NodeId id)
{
  if (!sim_power_is_seen(sim, id))
    return;
  sim_observe(sim, id, "power", sim->nodes[id].on ? "on" : "off");
}

/* Those who asked ID to shut down, and have waited: it is off, whoever did it; or never will be. */
static void
answer_waiting(Sim *sim, NodeId id, const char *failure)
{
  guint i = 0;
  while (i < sim->requests->len) {
    Request *request = g_ptr_array_index(sim->requests, i);
    guint open = request->operation == OP_OFF && request->soft ? request->n_open : 0;
    gboolean last = FALSE;
    for (guint target = 0; open > 0; target++) {
      if (!request->targets[target].open)
        continue;
      open--;
      if (request->targets[target].node != id)
        continue;
      last = request->n_open == 1;
      char *text = failure ? g_strdup_printf("%s %s", sim_name(sim, id), failure) : NULL;
      sim_request_result(sim, request, target, failure ? VERDICT_FAILED : VERDICT_OK, text);
    }
    i += last ? 0 : 1;
  }
}

static void
stop_all(Sim *sim, NodeId id)
{
  sim_agenda_halt(sim, id, TIME_NEVER);
  sim_boot_stop(sim, id);
  sim_load_lost_power(sim, id);
}

static void
switch_on(Sim *sim, NodeId id, gboolean together)
{
  SimNode *node = &sim->nodes[id];
  gboolean was_on = node->on;

  node->on = TRUE;
  observe(sim, id);
  if (was_on)
    return;
  if (is_client(node))
    sim_boot_begin(sim, id, together);
  else
    sim_world_changed(sim);
}

static void
switch_off(Sim *sim, NodeId id)
{
  SimNode *node = &sim->nodes[id];
  gboolean was_on = node->on;

  node->on = FALSE;
  observe(sim, id);
  if (!was_on)
    return;
  stop_all(sim, id);
  if (!is_client(node))
    sim_world_changed(sim);
  answer_waiting(sim, id, NULL);
}

static char *
reset(Sim *sim, NodeId id, gboolean together)
{
  SimNode *node = &sim->nodes[id];

  observe(sim, id);
  if (!node->on)
    return g_strdup_printf("%s is off: there is nothing to reset", sim_name(sim, id));
  stop_all(sim, id);
  answer_waiting(sim, id, "was reset while it shut down");
  if (is_client(node))
    sim_boot_begin(sim, id, together);
  return NULL;
}

void
sim_power_reboot(Sim *sim, NodeId id)
{
  g_free(reset(sim, id, FALSE));
}

void
sim_power_halt(Sim *sim, NodeId id)
{
  switch_off(sim, id);
}

char *
sim_power_do(Sim *sim, const Request *request, NodeId id)
{
  gboolean together = request->n_targets > 1;
  if (request->operation == OP_RESET)
    return reset(sim, id, together);
  if (request->operation == OP_ON)
    switch_on(sim, id, together);
  else if (request->operation == OP_OFF && !request->soft)
    switch_off(sim, id);
  else
    observe(sim, id);
  if (request->soft && sim->nodes[id].on)
    return g_strdup_printf("%s came on as it was asked to shut down", sim_name(sim, id));
  return NULL;
}

/* A machine that is on and asked to shut down answers when it is off. */
static void
submit_soft_off(Sim *sim, Request *request)
{
  for (guint i = 0; i < request->n_targets; i++) {
    NodeId id = request->targets[i].node;
    if (!sim->nodes[id].on)
      sim_request_answer(sim, request, i, 0, VERDICT_OK, NULL);
    else if (sim->due[id].halt == TIME_NEVER)
      sim_agenda_halt(sim, id, sim->now + SIM_SOFT_OFF);
  }
}

void
sim_power_submit(Sim *sim, Request *request, const RequestEvent *event)
{
  static const gint64 delay[OP_N] = {[OP_ON] = SIM_ON, [OP_OFF] = SIM_OFF, [OP_RESET] = SIM_RESET};
  const char *how = sim_request_argument(event, "how");

  if (how != NULL && !g_str_equal(how, "soft") && !g_str_equal(how, "hard")) {
    g_autofree char *quoted = sim_request_quote(how);
    g_autofree char *text = g_strdup_printf("off is soft or hard, not `%s`", quoted);
    sim_request_answer_all(sim, request, 0, VERDICT_FAILED, text);
    return;
  }
  request->soft = request->operation == OP_OFF && how != NULL && g_str_equal(how, "soft");
  if (request->soft)
    submit_soft_off(sim, request);
  else
    sim_request_answer_all(sim, request, delay[request->operation], VERDICT_OK, NULL);
}

/* A menu entry says by its end how the root file system comes, NFS when it says nothing. NULL, or
 * what is wrong; owned. */
static char *
read_entry(const char *entry, Protocol *protocol)
{
  const char *suffix = strstr(entry, "::");
  if (suffix != NULL && !g_str_equal(suffix, "::nfs") && !g_str_equal(suffix, "::nbd")) {
    g_autofree char *quoted = sim_request_quote(entry);
    return g_strdup_printf("menu entry `%s` ends neither in ::nfs nor in ::nbd", quoted);
  }
  *protocol = g_str_has_suffix(entry, "::nbd") ? PROTOCOL_NBD : PROTOCOL_NFS;
  return NULL;
}

static char *
read_boot_device(Sim *sim, Request *request, const RequestEvent *event)
{
  const char *device = sim_request_argument(event, "device");
  const char *entry = sim_request_argument(event, "entry");

  if (device == NULL)
    return g_strdup("boot-device needs a device, pxe or disk");
  if (!g_str_equal(device, "pxe") && !g_str_equal(device, "disk")) {
    g_autofree char *quoted = sim_request_quote(device);
    return g_strdup_printf("boots from pxe or disk, not from `%s`", quoted);
  }
  request->next_disk = g_str_equal(device, "disk");
  if (request->next_disk)
    return NULL;
  return read_entry(entry ? entry : sim_default_entry(sim->layout), &request->next_protocol);
}

void
sim_power_boot_device(Sim *sim, Request *request, const RequestEvent *event)
{
  g_autofree char *failure = read_boot_device(sim, request, event);
  for (guint i = 0; i < request->n_targets; i++) {
    const SimNode *node = &sim->nodes[request->targets[i].node];
    const char *name = node->layout->name;
    if (failure != NULL)
      sim_request_answer(sim, request, i, 0, VERDICT_FAILED,
                         g_strdup_printf("%s: %s", name, failure));
    else if (!is_client(node))
      sim_request_answer(sim, request, i, 0, VERDICT_FAILED,
                         g_strdup_printf("%s is no client: it boots from its own disk", name));
    else
      sim_request_answer(sim, request, i, SIM_BOOT_DEVICE, VERDICT_OK, NULL);
  }
}
