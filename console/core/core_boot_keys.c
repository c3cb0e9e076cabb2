/* Boots that a keyboard leads: F12 in the firmware, a line of the menu, each so long after the
 * machine was switched on. Nothing here sees a menu: what came of it is for the stages to show. */
#include "core/core_boot_lead.h"

static const char *
via_of(const CoreState *state, const Command *command)
{
  return command->via ? command->via : state->layout->boot_profile;
}

const char *
boot_entry(const CoreState *state, const Command *command)
{
  return command->entry ? command->entry : state->layout->boot_entry;
}

gboolean
boot_keys_lead(const CoreState *state, const Command *command)
{
  return command->verb == VERB_BOOT && g_str_equal(via_of(state, command), "keys");
}

gboolean
boot_keys_check(const CoreState *state, const Command *command, GError **error)
{
  const LayoutBootKeys *menu = &state->layout->boot_keys[LAYOUT_IN_MENU];
  const char *entry = boot_entry(state, command);
  if (!boot_keys_lead(state, command))
    return TRUE;
  if (state->layout->boot_keys[LAYOUT_IN_FIRMWARE].n == 0 && menu->n == 0) {
    g_set_error(error, COMMAND_ERROR, 0,
                "which keys lead to a boot is not in the layout: boot: {keys: {firmware: ..., "
                "menu: ...}}");
    return FALSE;
  }
  if (menu->n == 0 || layout_boot_press(state->layout, LAYOUT_IN_MENU, entry))
    return TRUE;
  g_autoptr(GString) known = g_string_new(NULL);
  for (guint i = 0; i < menu->n; i++)
    g_string_append_printf(known, "%s%s", i ? ", " : "", menu->presses[i].entry);
  if (entry)
    g_set_error(error, COMMAND_ERROR, 0,
                "which keys choose %s in the menu is not in the layout; it knows %s", entry,
                known->str);
  else
    g_set_error(error, COMMAND_ERROR, 0,
                "neither the command nor the layout names an entry of the menu; there are keys "
                "for %s",
                known->str);
  return FALSE;
}

char *
boot_keys_text(const CoreState *state, const Command *command)
{
  g_autoptr(GString) text = g_string_new("press ");
  const char *between = "";
  for (LayoutBootWhere where = 0; where < LAYOUT_BOOT_KEYS_N; where++) {
    const char *const *press = layout_boot_press(state->layout, where, boot_entry(state, command));
    if (!press)
      continue;
    g_autofree char *keys = g_strjoinv(" ", (char **)press);
    g_autofree char *after = core_seconds(state->layout->boot_keys[where].after);
    g_string_append_printf(text, "%s%s after %s", between, keys, after);
    between = ", ";
  }
  return g_string_free(g_steal_pointer(&text), FALSE);
}

/* ---- A boot under way ---------------------------------------------------------------------- */

static LayoutBootWhere
where_of(Step step)
{
  return step == STEP_FIRMWARE ? LAYOUT_IN_FIRMWARE : LAYOUT_IN_MENU;
}

gboolean
boot_keys_next(const CoreState *state, const PowerTask *power, Step *step, gint64 *after)
{
  for (; *step <= STEP_MENU; (*step)++) {
    LayoutBootWhere where = where_of(*step);
    *after = state->layout->boot_keys[where].after;
    if (layout_boot_press(state->layout, where, power->entry))
      return TRUE;
  }
  return FALSE;
}

void
boot_keys_send(CoreState *state, const Task *task, Step step, const NodeId *nodes, guint n)
{
  const char *const *press = layout_boot_press(state->layout, where_of(step), task->power.entry);
  keys_press(state, task->cmd, press, nodes, n);
}

/* From the first seat that had its keys to the last, of each place where there were some. */
void
boot_keys_say_spread(CoreState *state, const PowerTask *power)
{
  g_autofree KeysSeat *seats = g_new(KeysSeat, power->n);
  for (Step step = STEP_FIRMWARE; step <= STEP_MENU; step++) {
    const char *const *press = layout_boot_press(state->layout, where_of(step), power->entry);
    g_autofree char *keys = press ? g_strjoinv(" ", (char **)press) : NULL;
    guint n = 0;
    for (guint i = 0; i < power->n; i++) {
      const PowerSeat *seat = &power->seats[i];
      if (seat->pressed_t[where_of(step)] >= 0)
        seats[n++] = (KeysSeat){seat->node, VERDICT_OK, seat->pressed_t[where_of(step)]};
    }
    if (keys)
      keys_say_spread(state, keys, seats, n);
  }
}
