#include "model/job_run.h"
#include "model/layout_backend.h"
#include "model/layout_job.h"

#include <string.h>

#define MAX_SIZE 1e15
#define MAX_TIME 1e6
#define MAX_VALUE 4096
/* Placeholders beside the parameters: {server}. */
#define N_OWN 1
#define N_EXTRA (N_OWN + JOB_MAX_PARAMETERS)

#define JOB_RUN_ERROR (g_quark_from_static_string("pult-job-run"))

/* ---- Parameters ---------------------------------------------------------------------------- */

gboolean
job_parameter_read(const JobParameter *parameter, const char *text, char **value, GError **error)
{
  static const struct {
    Dimension dimension;
    double max;
  } kinds[] = {[JOB_SIZE] = {DIMENSION_SIZE, MAX_SIZE},
               [JOB_TIME] = {DIMENSION_TIME, MAX_TIME},
               [JOB_COUNT] = {DIMENSION_COUNT, MAX_SIZE}};
  double number;

  if (parameter->kind == JOB_TEXT) {
    *value = g_strdup(text);
    return TRUE;
  }
  if (!units_parse_as(text, kinds[parameter->kind].dimension, &number, error))
    return FALSE;
  if (number < 1 || number > kinds[parameter->kind].max) {
    g_autofree char *most =
        units_print(kinds[parameter->kind].max, kinds[parameter->kind].dimension);
    g_set_error(error, JOB_RUN_ERROR, 0, "%s=%s is out of range: 1 to %s", parameter->name, text,
                most);
    return FALSE;
  }
  *value = units_fixed(number, 0);
  return TRUE;
}

const JobParameter *
job_recipe_parameter(const JobRecipe *recipe, const char *name)
{
  for (guint i = 0; i < recipe->n_parameters; i++)
    if (strcmp(recipe->parameters[i].name, name) == 0)
      return &recipe->parameters[i];
  return NULL;
}

static void
unknown_word(const JobRecipe *recipe, const char *job, const char *key, gboolean with_lines,
             GError **error)
{
  g_autoptr(GPtrArray) known = g_ptr_array_new();

  for (guint i = 0; i < recipe->n_parameters; i++)
    g_ptr_array_add(known, recipe->parameters[i].name);
  for (guint line = 0; with_lines && line < JOB_LINES; line++)
    g_ptr_array_add(known, (gpointer)job_line_name(line));
  if (with_lines)
    g_ptr_array_add(known, (gpointer) "needs");
  g_ptr_array_add(known, NULL);
  const char *nearest = units_nearest_word(key, (const char *const *)known->pdata);
  g_autofree char *all = g_strjoinv(", ", (char **)known->pdata);
  if (nearest != NULL)
    g_set_error(error, JOB_RUN_ERROR, 0, "%s has no \"%s\"; did you mean \"%s\"?", job, key,
                nearest);
  else
    g_set_error(error, JOB_RUN_ERROR, 0, "%s has no \"%s\"; it takes %s", job, key,
                *all != '\0' ? all : "no such words");
}

/* Words of `load start` that are not the job's. */
static gboolean
is_common(const char *key)
{
  static const char *const words[] = {"job", "label", "cache", "unarmed",
                                      "arm", "drop",  "fill",  NULL};

  return g_strv_contains(words, key);
}

static gboolean
check_given(const JobRecipe *recipe, const char *job, const Argument *given, guint n,
            GError **error)
{
  for (guint i = 0; i < n; i++)
    if (!is_common(given[i].key) && job_recipe_parameter(recipe, given[i].key) == NULL) {
      unknown_word(recipe, job, given[i].key, FALSE, error);
      return FALSE;
    }
  return TRUE;
}

/* ---- Expanding ----------------------------------------------------------------------------- */

/* Where NODE finds what it loads: its server, or the machine itself. */
static char *
server_address(const Layout *layout, NodeId node)
{
  if (node == NODE_NONE)
    return g_strdup("");
  const LayoutNode *of = &layout->nodes[node];
  if (of->kind == NODE_CLIENT && of->server != NODE_NONE)
    of = &layout->nodes[of->server];
  guint32 ip = of->ip;
  for (guint i = 0; ip == 0 && of->as_server != NULL && i < of->as_server->n_bonds; i++)
    ip = of->as_server->bonds[i].ip;
  if (ip == 0)
    return g_strdup(of->name);
  return g_strdup_printf("%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
}

/* A word that says the same to a shell with quotes and without stays as it is: it is read by
 * people, and $((…)) takes no quotes. */
static char *
quote(const char *text)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_./:@%+,-";

  return *text != '\0' && strspn(text, plain) == strlen(text) ? g_strdup(text)
                                                              : g_shell_quote(text);
}

typedef struct {
  const JobRecipe *recipe;
  const char *job;
  const Layout *layout;
  NodeId node;
  Argument extra[N_EXTRA]; /* values are ours */
  guint n;
} Expansion;

static void
expansion_clear(Expansion *expansion)
{
  for (guint i = 0; i < expansion->n; i++)
    g_free((char *)expansion->extra[i].value);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Expansion, expansion_clear)

static gboolean
add_parameter(Expansion *expansion, const JobParameter *parameter, const Argument *given, guint n,
              GError **error)
{
  const char *word = NULL;
  char *value = NULL;

  for (guint i = 0; i < n; i++)
    if (strcmp(given[i].key, parameter->name) == 0)
      word = given[i].value;
  if (word != NULL) {
    if (!job_parameter_read(parameter, word, &value, error))
      return FALSE;
  } else {
    const char *own = layout_job_value(expansion->layout, expansion->job, parameter->name);
    g_autofree char *filled =
        layout_expand(expansion->layout, expansion->node, own != NULL ? own : parameter->value,
                      expansion->extra, expansion->n, error);
    if (filled == NULL || !job_parameter_read(parameter, filled, &value, error))
      return FALSE;
  }
  expansion->extra[expansion->n++] = (Argument){parameter->name, value};
  return TRUE;
}

static void
quote_all(Expansion *expansion)
{
  for (guint i = 0; i < expansion->n; i++) {
    char *plain = (char *)expansion->extra[i].value;
    expansion->extra[i].value = quote(plain);
    g_free(plain);
  }
}

static gboolean
expand_lines(Expansion *expansion, JobCommands *commands, GError **error)
{
  for (guint line = 0; line < JOB_LINES; line++) {
    const char *own = layout_job_value(expansion->layout, expansion->job, job_line_name(line));
    const char *text = own != NULL ? own : expansion->recipe->lines[line];
    if (text == NULL)
      continue;
    commands->lines[line] = layout_expand(expansion->layout, expansion->node, text,
                                          expansion->extra, expansion->n, error);
    if (commands->lines[line] == NULL)
      return FALSE;
  }
  return TRUE;
}

/* What the file says it needs is for the file's command. */
static char **
needs_of(const Expansion *expansion)
{
  const char *own = layout_job_value(expansion->layout, expansion->job, "needs");

  if (own != NULL)
    return g_strsplit(own, " ", 16);
  if (layout_job_value(expansion->layout, expansion->job, job_line_name(JOB_COMMAND)) != NULL)
    return NULL;
  return g_strdupv(expansion->recipe->needs);
}

JobCommands *
job_commands_new(const JobRecipe *recipe, const char *job, const Layout *layout, NodeId node,
                 const Argument *given, guint n, GError **error)
{
  g_autoptr(JobCommands) commands = g_new0(JobCommands, 1);
  g_auto(Expansion) expansion = {.recipe = recipe,
                                 .job = job,
                                 .layout = layout,
                                 .node = node,
                                 .extra = {{"server", server_address(layout, node)}},
                                 .n = N_OWN};

  if (!check_given(recipe, job, given, n, error))
    return NULL;
  for (guint i = 0; i < recipe->n_parameters; i++)
    if (!add_parameter(&expansion, &recipe->parameters[i], given, n, error))
      return NULL;
  quote_all(&expansion);
  if (!expand_lines(&expansion, commands, error))
    return NULL;
  commands->needs = needs_of(&expansion);
  return g_steal_pointer(&commands);
}

void
job_commands_free(JobCommands *commands)
{
  if (commands == NULL)
    return;
  for (guint line = 0; line < JOB_LINES; line++)
    g_free(commands->lines[line]);
  g_strfreev(commands->needs);
  g_free(commands);
}

/* ---- Words of a layout --------------------------------------------------------------------- */

gboolean
job_recipe_check_word(const JobRecipe *recipe, const char *job, const char *key, const char *value,
                      GError **error)
{
  Argument extra[N_EXTRA] = {{"server", ""}};
  const JobParameter *parameter = job_recipe_parameter(recipe, key);
  gboolean is_line = FALSE;

  for (guint line = 0; line < JOB_LINES; line++)
    is_line |= strcmp(job_line_name(line), key) == 0;
  if (parameter == NULL && !is_line && strcmp(key, "needs") != 0) {
    unknown_word(recipe, job, key, TRUE, error);
    return FALSE;
  }
  if (strlen(value) > MAX_VALUE) {
    g_set_error(error, JOB_RUN_ERROR, 0, "\"%s\" is longer than %d bytes", key, MAX_VALUE);
    return FALSE;
  }
  /* A parameter knows those before it. */
  guint n = parameter != NULL ? (guint)(parameter - recipe->parameters) : recipe->n_parameters;
  for (guint i = 0; i < n; i++)
    extra[N_OWN + i] = (Argument){recipe->parameters[i].name, ""};
  g_autofree char *filled = layout_expand(NULL, NODE_NONE, value, extra, N_OWN + n, error);
  g_autofree char *read = NULL;
  if (filled == NULL)
    return FALSE;
  return parameter == NULL || parameter->kind == JOB_TEXT ||
         job_parameter_read(parameter, filled, &read, error);
}
