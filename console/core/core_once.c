/* Boots of a named entry by a file of the machine's own on the boot server: written before it is
 * switched on, taken back when it has booted or will not. */
#include "core/core_boot_lead.h"

gboolean
once_leads(const CoreState *state, const Command *command)
{
  const char *via = command->via ? command->via : state->layout->boot_profile;
  return command->verb == VERB_BOOT && command->entry && g_str_equal(via, "pxe") &&
         layout_boots_once(state->layout);
}

/* Only simulated machines are booted by what a backend is told of an entry. */
static gboolean
is_chosen(const CoreState *state, NodeId id)
{
  int doer = state->map->doer[OP_BOOT_DEVICE][id];
  const char *name = doer < 0 ? "" : state->map->backends[doer];
  const LayoutBackend *backend = layout_backend(state->layout, name);
  return g_str_equal(backend ? layout_backend_type(backend) : name, "sim");
}

gboolean
once_check(const CoreState *state, const Command *command, const GArray *nodes, GError **error)
{
  NodeId server;
  guint backend;
  if (command->verb != VERB_BOOT || !command->entry || boot_keys_lead(state, command))
    return TRUE;
  if (once_leads(state, command))
    return menu_target(state, &server, &backend, error);
  for (guint i = 0; i < nodes->len; i++) {
    NodeId id = g_array_index(nodes, NodeId, i);
    if (is_chosen(state, id))
      continue;
    g_set_error(error, COMMAND_ERROR, 0,
                "nothing chooses the entry %s for %s: it wants boot: {once: ...} in the layout, or "
                "keys that it knows and `via keys`",
                command->entry, state->layout->nodes[id].name);
    return FALSE;
  }
  return TRUE;
}

static char *
path_of(const char *folder, const char *name)
{
  return folder ? g_build_filename(folder, name, NULL) : NULL;
}

char *
once_text(const CoreState *state)
{
  const LayoutBootOnce *once = &state->layout->boot_once;
  g_autofree char *pxelinux = path_of(once->pxelinux, "01-MAC");
  g_autofree char *ipxe = path_of(once->ipxe, "MAC.ipxe");
  return g_strdup_printf("until login %s%s%s on %s for", pxelinux ? pxelinux : "",
                         pxelinux && ipxe ? " and " : "", ipxe ? ipxe : "",
                         state->layout->nodes[state->layout->boot_server].name);
}

static void
ask(CoreState *state, RequestSpec *spec, const char *entry, const NodeId *nodes, guint n)
{
  NodeId server;
  guint backend;
  if (!menu_target(state, &server, &backend, NULL))
    g_assert_not_reached(); /* the plan has been made */
  g_autofree char *path = g_strconcat(state->layout->nodes[server].name, ".pxe", NULL);
  Argument arguments[] = {{"path", path}, {"once", entry}};
  spec->operation = OP_SET;
  spec->role = ROLE_EXEC;
  spec->arguments = arguments;
  spec->n_arguments = G_N_ELEMENTS(arguments);
  spec->deadline = state->now + state->layout->deadline[DEADLINE_ON];
  request_send_to(state, spec, backend, nodes, n);
}

void
once_send(CoreState *state, const Task *task, const NodeId *nodes, guint n)
{
  RequestSpec spec = {.cmd = task->cmd, .owner = OWNER_TASK};
  ask(state, &spec, task->power.entry, nodes, n);
}

void
once_take_back(CoreState *state, NodeId id)
{
  RequestSpec spec = {.owner = OWNER_NONE};
  if (!state->nodes[id].once)
    return;
  state->nodes[id].once = FALSE;
  ask(state, &spec, "", &id, 1);
}
