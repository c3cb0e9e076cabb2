#include "core/core_private.h"

#include <string.h>

NodeId
wake_helper(const CoreState *state, guint waker, NodeId seat)
{
  const LayoutBackend *backend = layout_backend(state->layout, state->map->backends[waker]);
  if (!backend || strcmp(layout_backend_type(backend), "wol") != 0)
    return NODE_NONE;
  g_autofree char *via = layout_setting_text(state->layout, backend, seat, "via");
  return via ? layout_find(state->layout, via) : NODE_NONE;
}

gboolean
wake_send(CoreState *state, const RequestSpec *spec, NodeId seat)
{
  int waker = state->map->doer[OP_ON][seat];
  const LayoutBackend *backend = layout_backend(state->layout, state->map->backends[waker]);
  NodeId helper = wake_helper(state, (guint)waker, seat);
  int exec = helper != NODE_NONE ? state->map->backend[ROLE_EXEC][helper] : -1;
  if (exec < 0)
    return FALSE;
  g_autofree char *line = layout_setting_text(state->layout, backend, seat, "via-command");
  Argument argument = {"command", line};
  RequestSpec asked = *spec;
  asked.operation = OP_EXEC;
  asked.arguments = &argument;
  asked.n_arguments = 1;
  asked.behalf = seat;
  asked.is_behalf = TRUE;
  request_send_to(state, &asked, (guint)exec, &helper, 1);
  return TRUE;
}
