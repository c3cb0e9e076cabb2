/* The menu that machines boot from, read and changed on the boot server.
 *
 * A change is asked for twice: first what it would do, which is the plan, then for itself, of the
 * very files that the plan was shown of. */
#include "core/core_private.h"

#include <string.h>

#define DIFFERENCE_BYTES (16 * 1024) /* kept of one */

gboolean
menu_target(const CoreState *state, NodeId *node, guint *backend, GError **error)
{
  const Layout *layout = state->layout;
  *node = layout->boot_server;
  if (!layout->boot_root || *node == NODE_NONE) {
    g_set_error(error, COMMAND_ERROR, 0,
                "the layout does not say where the menu is; it wants boot: {server: NODE, root: "
                "DIR}");
    return FALSE;
  }
  int carrier = property_carrier(state, *node);
  if (carrier < 0) {
    g_set_error(error, COMMAND_ERROR, 0, "no backend carries out commands on %s",
                layout->nodes[*node].name);
    return FALSE;
  }
  *backend = (guint)carrier;
  return TRUE;
}

char *
menu_action(const Command *command)
{
  if (command->menu == MENU_UNDO)
    return g_strdup("take back what pxe set changed last");
  g_autofree char *value = command_setting_value(command);
  if (!command_setting_is_time(command->setting))
    return g_strdup_printf("set %s %s", command->setting, value);
  if (command->duration == 0)
    return g_strdup_printf("set %s never (0)", command->setting);
  g_autofree char *seconds = core_seconds(command->duration);
  return g_strdup_printf("set %s %s (%s tenths)", command->setting, seconds, value);
}

/* ---- Asking -------------------------------------------------------------------------------- */

static void
ask(CoreState *state, guint32 cmd, const Command *command, Operation operation, const char *was)
{
  NodeId node;
  guint backend, n = 0;
  Argument arguments[4];
  if (!menu_target(state, &node, &backend, NULL))
    g_assert_not_reached(); /* its plan has been made */
  g_autofree char *path = g_strconcat(state->layout->nodes[node].name, ".pxe", NULL);
  g_autofree char *value = command->menu == MENU_SET ? command_setting_value(command) : NULL;
  arguments[n++] = (Argument){"path", path};
  if (command->menu == MENU_SET) {
    arguments[n++] = (Argument){"setting", command->setting};
    arguments[n++] = (Argument){"value", value};
  } else if (command->menu == MENU_UNDO) {
    arguments[n++] = (Argument){"undo", "yes"};
  }
  if (was)
    arguments[n++] = (Argument){"was", was};
  DeadlineKind patience = operation == OP_SET ? DEADLINE_ON : DEADLINE_CONNECT;
  RequestSpec spec = {.cmd = cmd,
                      .owner = OWNER_TASK,
                      .operation = operation,
                      .role = ROLE_EXEC,
                      .arguments = arguments,
                      .n_arguments = n,
                      .deadline = state->now + state->layout->deadline[patience]};
  request_send_to(state, &spec, backend, &node, 1);
}

void
menu_start(CoreState *state, const CommandEvent *event, const Command *command)
{
  NodeId node;
  guint backend;
  g_autoptr(GError) error = NULL;
  if (!menu_target(state, &node, &backend, &error)) {
    command_end(state, event, SEVERITY_ERROR, VERDICT_FAILED, "%s", error->message);
    return;
  }
  if (command->menu == MENU_SHOW) {
    task_add(state, event->cmd, TASK_PROPERTY, event->text);
  } else {
    Task *task = task_add(state, event->cmd, TASK_MENU, event->text);
    task->menu.confirm = event->confirm;
    task->menu.difference = g_string_new(NULL);
  }
  ask(state, event->cmd, command, OP_GET, NULL);
}

/* ---- Answers ------------------------------------------------------------------------------- */

void
menu_line(CoreState *state, const Request *request, const char *stream, const char *text)
{
  Task *task = task_find(state, request->cmd);
  if (!task || task->kind != TASK_MENU || request->operation != OP_GET)
    return;
  MenuTask *menu = &task->menu;
  if (g_str_equal(stream, "was") && !menu->was)
    menu->was = core_bounded(text);
  else if (g_str_equal(stream, "difference") && menu->difference->len < DIFFERENCE_BYTES)
    g_string_append_printf(menu->difference, "%s\n", text);
}

static void
end(Task *task, Verdict verdict)
{
  task->menu.answered = TRUE;
  task->menu.verdict = verdict;
}

/* Whoever gave a number gave it to the difference that was shown. */
static gboolean
is_as_shown(CoreState *state, const Task *task)
{
  g_autofree char *shown = g_strjoin("\n", task->text, task->menu.was, NULL);
  g_autofree char *before = g_steal_pointer(&state->menu_shown);
  gboolean same_command = before && task->menu.confirm >= 0 &&
                          g_str_has_prefix(before, task->text) &&
                          before[strlen(task->text)] == '\n';
  state->menu_shown = g_steal_pointer(&shown);
  return !same_command || g_str_equal(before, state->menu_shown);
}

static void
change(CoreState *state, Task *task, const Command *command)
{
  task->menu.writing = TRUE;
  ask(state, task->cmd, command, OP_SET, task->menu.was);
}

/* It is known what would change. */
static void
propose(CoreState *state, Task *task)
{
  MenuTask *menu = &task->menu;
  g_autoptr(Command) command = command_parse(task->text, NULL);
  g_autoptr(Plan) plan = command ? plan_new(state, command, NULL) : NULL;
  g_assert(plan);
  CommandEvent event = {.cmd = task->cmd, .text = task->text, .confirm = menu->confirm};
  Verdict verdict = VERDICT_OK;
  if (!menu->was) {
    core_note(state, SEVERITY_INFO, NODE_NONE, "the menu says so already: nothing is to be done");
    end(task, VERDICT_OK);
    return;
  }
  plan->difference = g_strdup(menu->difference->str);
  plan_emit(state, task->cmd, plan);
  if (command->plan_only || state->options.dry_run) {
    end(task, VERDICT_OK);
  } else if (!is_as_shown(state, task)) {
    core_note(state, SEVERITY_WARNING, NODE_NONE,
              "the menu has changed since its plan was shown; nothing was done");
    end(task, VERDICT_REFUSED);
  } else if (plan_is_consented(state, &event, command, plan, &verdict)) {
    change(state, task, command);
  } else {
    end(task, verdict);
  }
}

void
menu_result(CoreState *state, Task *task, Verdict verdict, const char *text)
{
  if (verdict == VERDICT_OK && !task->menu.writing && !task->stopped) {
    propose(state, task);
    return;
  }
  end(task, verdict == VERDICT_OK && !task->menu.writing ? VERDICT_CANCELLED : verdict);
  if (verdict == VERDICT_OK)
    return;
  g_free(task->text); /* as of a property */
  task->text = g_strdup(text);
}
