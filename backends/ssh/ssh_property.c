/* OP_GET and OP_SET: by the commands that the layout's `control` has for them. */
#include <string.h>

#include "backends/ssh/ssh_private.h"

#define OUTPUT_MAX (64 * 1024)

/* Of one target. A set is followed by a get where there is one: what is reported was seen. */
typedef struct {
  char *fact;   /* path within the node */
  char *wanted; /* value of a set, NULL: it is a get */
  char *get;    /* command line; NULL none */
  gboolean getting;
  char *first, *complaint; /* first lines of output and errors */
} Look;

static void
free_look(SshTarget *target)
{
  Look *look = g_steal_pointer(&target->data);
  if (look == NULL)
    return;
  g_free(look->fact);
  g_free(look->wanted);
  g_free(look->get);
  g_free(look->first);
  g_free(look->complaint);
  g_free(look);
}

static void
on_line(SshCommand *command, gboolean is_error, const char *text, gsize length, gpointer data)
{
  Look *look = ((SshTarget *)data)->data;
  char **place = is_error ? &look->complaint : &look->first;
  (void)command;
  if (*place == NULL) {
    g_autofree char *shown = ssh_printable(text, length, 200);
    *place = g_strdup(g_strstrip(shown));
  }
}

static void start_get(SshTarget *target);

static void
conclude(SshTarget *target)
{
  Look *look = target->data;
  if (look->getting && (look->first == NULL || *look->first == '\0')) {
    ssh_target_result(target, VERDICT_FAILED, "%s: its command printed nothing", look->fact);
    return;
  }
  if (look->getting)
    ssh_target_observe(target, look->fact, look->first);
  if (look->getting && look->wanted != NULL && strcmp(look->first, look->wanted) != 0)
    ssh_target_result(target, VERDICT_FAILED, "%s was set to %s, and reads %s", look->fact,
                      look->wanted, look->first);
  else if (!look->getting && look->wanted != NULL && look->get != NULL)
    start_get(target);
  else
    ssh_target_result(target, VERDICT_OK, NULL);
}

static void
on_ended(SshCommand *command, const SshEnd *end, gpointer data)
{
  SshTarget *target = data;
  Look *look = target->data;
  gboolean sets = !look->getting;
  (void)command;
  target->command = NULL;
  if (end->kind == SSH_EXITED && end->status == 0)
    conclude(target);
  else if (end->kind == SSH_LOST && sets)
    ssh_target_result(target, VERDICT_UNKNOWN, "%s was being set: %s", look->fact, end->text);
  else
    ssh_target_result(target, VERDICT_FAILED, "%s of %s: %s%s%s", sets ? "set" : "get", look->fact,
                      end->text, look->complaint != NULL ? ": " : "",
                      look->complaint != NULL ? look->complaint : "");
}

static const SshCommandCalls calls = {.line = on_line, .ended = on_ended};

static void
start_get(SshTarget *target)
{
  Look *look = target->data;
  SshCommandSpec spec = {.line = look->get, .budget = OUTPUT_MAX};
  look->getting = TRUE;
  g_clear_pointer(&look->first, g_free);
  g_clear_pointer(&look->complaint, g_free);
  target->command = ssh_command_start(target->link, &spec, &calls, target);
}

/* It is not given up halfway because the connection ends, so without the watcher. */
static void
start_set(SshTarget *target, const char *set)
{
  g_autofree char *line = g_strconcat("exec </dev/null; ", set, NULL);
  SshCommandSpec spec = {.line = line, .reads = TRUE, .budget = OUTPUT_MAX};
  target->command = ssh_command_start(target->link, &spec, &calls, target);
}

/* Of `slx1/bond0.policy` or `slx1.nfsd` what stands behind the node's name; of a link all. */
static const char *
fact_of(const char *path, const char *name)
{
  gsize length = strlen(name);
  gboolean own = strncmp(path, name, length) == 0 && (path[length] == '/' || path[length] == '.');
  return own ? path + length + 1 : path;
}

static void
begin_target(SshTarget *target, const char *path, const char *value)
{
  const Layout *layout = target->request->ssh->layout;
  Look *look = g_new0(Look, 1);
  target->data = look;
  look->fact = g_strdup(fact_of(path, target->name));
  look->wanted = g_strdup(value);
  look->get = layout_control(layout, target->node, look->fact, "get", NULL);
  g_autofree char *set =
      value != NULL ? layout_control(layout, target->node, look->fact, "set", value) : NULL;
  if (set != NULL)
    start_set(target, set);
  else if (value == NULL && look->get != NULL)
    start_get(target);
  else
    ssh_target_result(target, VERDICT_FAILED, "the layout has no control command that %s %s",
                      value != NULL ? "sets" : "gets", look->fact);
}

static void
begin(SshRequest *request)
{
  const char *path = ssh_request_argument(request, "path");
  gboolean sets = request->operation == OP_SET;
  const char *value = sets ? ssh_request_argument(request, "value") : NULL;
  for (guint i = 0; i < request->n_targets; i++)
    if (path == NULL || (sets && value == NULL))
      ssh_target_result(&request->targets[i], VERDICT_FAILED, "%s",
                        path != NULL ? "set needs a value" : "a property's path is missing");
    else
      begin_target(&request->targets[i], path, value);
}

static void
stop(SshTarget *target, Verdict why)
{
  const Look *look = target->data;
  gboolean sets = look->wanted != NULL && !look->getting;
  if (sets && ssh_command_is_started(target->command))
    ssh_target_result(target, VERDICT_UNKNOWN, "%s was being set", look->fact);
  else if (look->wanted != NULL && look->getting)
    ssh_target_result(target, VERDICT_UNKNOWN, "%s was set, and not read back yet", look->fact);
  else
    ssh_target_result(target, why, "%s of %s: %s", sets ? "set" : "get", look->fact,
                      why == VERDICT_CANCELLED ? "cancelled" : ssh_link_trouble(target->link));
}

const SshOperation ssh_property_operation = {
    .begin = begin, .stop = stop, .free_target = free_look};
