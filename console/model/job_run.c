#include "model/job_run.h"
#include "model/layout_backend.h"

#include <string.h>

#define MAX_COMMAND 4096
#define MAX_VALUE 1024
#define MAX_FIGURES 16
#define MAX_NEEDS 16
/* Placeholders beside the parameters: {server}. */
#define N_OWN 1

static const char *const line_names[] = {[JOB_COMMAND] = "command",
                                         [JOB_PREPARE] = "prepare",
                                         [JOB_COLD] = "cold",
                                         [JOB_WARM] = "warm",
                                         [JOB_MEASURE] = "measure",
                                         [JOB_CLEANUP] = "cleanup",
                                         NULL};
static const char *const kind_names[] = {
    [JOB_TEXT] = "text", [JOB_SIZE] = "size", [JOB_TIME] = "time", [JOB_COUNT] = "count", NULL};

const char *
job_line_name(JobLine line)
{
  return line_names[line];
}

/* ---- Reading ------------------------------------------------------------------------------- */

static gboolean
is_parameter_name(const char *name)
{
  if (!g_ascii_islower(*name) || strlen(name) > 32)
    return FALSE;
  for (const char *p = name; *p != '\0'; p++)
    if (!g_ascii_islower(*p) && !g_ascii_isdigit(*p) && *p != '-')
      return FALSE;
  return TRUE;
}

/* Words with a meaning of their own, in `load start`, in a layout or as placeholders. */
static gboolean
is_taken(const char *name)
{
  static const char *const taken[] = {"job", "label",  "cache",  "unarmed", "arm",  "node", "ip",
                                      "mac", "number", "server", "needs",   "drop", "fill", NULL};

  return g_strv_contains(taken, name) || g_strv_contains(line_names, name);
}

static void
read_parameter(const YamlNode *name, const YamlNode *value, JobRecipe *recipe, YamlErrors *errors)
{
  JobParameter *parameter = &recipe->parameters[recipe->n_parameters];
  g_autoptr(GError) error = NULL;
  guint kind = JOB_TEXT;

  if (!is_parameter_name(name->text) || is_taken(name->text)) {
    yaml_errors_add(errors, name, "bad name of a parameter \"%s\"%s", name->text,
                    is_taken(name->text) ? ": it has a meaning already"
                                         : ": a word of small letters, digits and \"-\"");
    return;
  }
  parameter->name = g_strdup(name->text);
  recipe->n_parameters++;
  if (value->kind == YAML_MAP && value->n == 1) {
    if (!yaml_read_choice(value->keys[0], "kind of parameter", kind_names, &kind, errors))
      return;
    value = value->items[0];
  }
  parameter->kind = kind;
  if (value->kind != YAML_SCALAR) {
    yaml_errors_add(errors, value, "%s wants its default, TEXT or {size: …}, {time: …}, {count: …}",
                    name->text);
    return;
  }
  g_autofree char *whole = NULL;
  if (yaml_read_line(value, MAX_VALUE, &parameter->value, errors) && kind != JOB_TEXT &&
      !job_parameter_read(parameter, value->text, &whole, &error))
    yaml_errors_add(errors, value, "%s", error->message);
}

static void
read_parameters(const YamlNode *map, JobRecipe *recipe, YamlErrors *errors)
{
  const YamlNode *parameters = yaml_get_map(map, "parameters", errors);

  for (guint i = 0; parameters != NULL && i < parameters->n; i++) {
    if (i == JOB_MAX_PARAMETERS) {
      yaml_errors_add(errors, parameters->keys[i], "more than %d parameters", JOB_MAX_PARAMETERS);
      return;
    }
    read_parameter(parameters->keys[i], parameters->items[i], recipe, errors);
  }
}

/* Stand-ins for all placeholders, to see whether TEXT has others: those of the first N parameters.
 */
static gboolean
check_text(const JobRecipe *recipe, guint n, const char *text, GError **error)
{
  Argument extra[JOB_MAX_PARAMETERS + N_OWN] = {{"server", ""}};

  for (guint i = 0; i < n; i++)
    extra[N_OWN + i] = (Argument){recipe->parameters[i].name, ""};
  g_autofree char *expanded = layout_expand(NULL, NODE_NONE, text, extra, N_OWN + n, error);
  return expanded != NULL;
}

static void
check_defaults(const YamlNode *map, const JobRecipe *recipe, YamlErrors *errors)
{
  const YamlNode *parameters = yaml_get(map, "parameters");

  for (guint i = 0; i < recipe->n_parameters; i++) {
    const JobParameter *parameter = &recipe->parameters[i];
    g_autoptr(GError) error = NULL;
    if (parameter->kind == JOB_TEXT && parameter->value != NULL &&
        !check_text(recipe, i, parameter->value, &error))
      yaml_errors_add(errors, yaml_get(parameters, parameter->name), "%s", error->message);
  }
}

static void
read_lines(const YamlNode *map, JobRecipe *recipe, YamlErrors *errors)
{
  for (guint line = 0; line < JOB_LINES; line++) {
    const YamlNode *value = yaml_get_scalar(map, line_names[line], errors);
    g_autoptr(GError) error = NULL;
    if (value == NULL || !yaml_read_line(value, MAX_COMMAND, &recipe->lines[line], errors))
      continue;
    if (!check_text(recipe, recipe->n_parameters, value->text, &error))
      yaml_errors_add(errors, value, "%s", error->message);
  }
}

/* One of them alone may stand without a list. */
static guint
entries(const YamlNode *value, const YamlNode *const **items)
{
  if (value == NULL || value->kind == YAML_MAP)
    return 0;
  if (value->kind == YAML_LIST) {
    *items = value->items;
    return value->n;
  }
  return 1;
}

static void
read_needs(const YamlNode *map, JobRecipe *recipe, YamlErrors *errors)
{
  const YamlNode *value = yaml_get(map, "needs");
  const YamlNode *const *items = &value;
  guint n = entries(value, &items);

  if (value == NULL)
    return;
  recipe->needs = g_new0(char *, MAX_NEEDS + 1);
  if (n == 0 || n > MAX_NEEDS) {
    yaml_errors_add(errors, value, "\"needs\" wants 1 to %d programs, as [find, cat]", MAX_NEEDS);
    return;
  }
  for (guint i = 0; i < n; i++) {
    if (items[i]->kind != YAML_SCALAR || *items[i]->text == '\0' ||
        strpbrk(items[i]->text, " \t\n") != NULL)
      yaml_errors_add(errors, items[i], "the name of a program is due");
    else
      yaml_read_line(items[i], MAX_VALUE, &recipe->needs[i], errors);
    if (recipe->needs[i] == NULL)
      return;
  }
}

static void
read_figure(const YamlNode *value, JobRecipe *recipe, YamlErrors *errors)
{
  g_autoptr(GError) error = NULL;

  if (value->kind != YAML_SCALAR) {
    yaml_errors_add(errors, value, "a pattern is due");
    return;
  }
  Pattern *pattern = pattern_new(value->text, &error);
  if (pattern == NULL) {
    yaml_errors_add(errors, value, "bad pattern, %s", error->message);
    return;
  }
  g_ptr_array_add(recipe->figures, pattern);
  const char *const *names = pattern_names(pattern);
  if (names[0] == NULL)
    yaml_errors_add(errors, value, "a pattern without a named group takes nothing");
  for (guint i = 0; names[i] != NULL; i++)
    if (!job_figures_know(names[i]))
      yaml_errors_add(errors, value,
                      "no figure is called \"%s\": bytes, kib, mb, seconds, ms, files, status, "
                      "mib_per_s, mbit_per_s and the like, or amount and unit",
                      names[i]);
  if (g_strv_contains(names, "amount") != g_strv_contains(names, "unit"))
    yaml_errors_add(errors, value, "\"amount\" and \"unit\" come together");
}

static void
read_figures(const YamlNode *map, JobRecipe *recipe, YamlErrors *errors)
{
  const YamlNode *value = yaml_get(map, "figures");
  const YamlNode *const *items = &value;
  guint n = entries(value, &items);

  if (value != NULL && (n == 0 || n > MAX_FIGURES)) {
    yaml_errors_add(errors, value, "\"figures\" wants 1 to %d patterns", MAX_FIGURES);
    return;
  }
  for (guint i = 0; i < n; i++)
    read_figure(items[i], recipe, errors);
}

static void
read_statuses(const YamlNode *map, JobRecipe *recipe, YamlErrors *errors)
{
  const YamlNode *value = yaml_get(map, "status");
  const YamlNode *const *items = &value;
  guint n = entries(value, &items), status;

  if (value == NULL)
    recipe->expected[0] = TRUE;
  else if (n == 0)
    yaml_errors_add(errors, value, "\"status\" wants exit statuses, as 0 or [0, 1]");
  for (guint i = 0; i < n; i++) {
    if (items[i]->kind != YAML_SCALAR)
      yaml_errors_add(errors, items[i], "an exit status is due");
    else if (yaml_read_count(items[i], 0, 255, &status, errors))
      recipe->expected[status] = TRUE;
  }
}

static void
read_words(const YamlNode *map, JobRecipe *recipe, YamlErrors *errors)
{
  static const char *const signals[] = {"TERM", "INT", "HUP", "USR1", "USR2", NULL};
  static const char *const networks[] = {
      [JOB_RECEIVES] = "received", [JOB_SENDS] = "sent", [JOB_NO_NETWORK] = "none", NULL};
  const YamlNode *stop = yaml_get_scalar(map, "stop", errors);
  const YamlNode *network = yaml_get_scalar(map, "network", errors);
  guint index;

  recipe->stop = signals[0];
  if (stop != NULL && yaml_read_choice(stop, "signal", signals, &index, errors))
    recipe->stop = signals[index];
  if (network != NULL &&
      yaml_read_choice(network, "direction of the network", networks, &index, errors))
    recipe->network = index;
}

JobRecipe *
job_recipe_read(const YamlNode *map, YamlErrors *errors)
{
  static const char *const known[] = {"parameters", "needs",   "prepare", "cold",    "warm",
                                      "command",    "measure", "cleanup", "figures", "status",
                                      "stop",       "network", NULL};
  JobRecipe *recipe = g_new0(JobRecipe, 1);

  recipe->figures = g_ptr_array_new_with_free_func((GDestroyNotify)pattern_free);
  yaml_check_keys(map, known, errors);
  yaml_require(map, map, "run", "command", errors);
  read_parameters(map, recipe, errors);
  check_defaults(map, recipe, errors);
  read_lines(map, recipe, errors);
  read_needs(map, recipe, errors);
  read_figures(map, recipe, errors);
  read_statuses(map, recipe, errors);
  read_words(map, recipe, errors);
  return recipe;
}

void
job_recipe_free(JobRecipe *recipe)
{
  if (recipe == NULL)
    return;
  for (guint line = 0; line < JOB_LINES; line++)
    g_free(recipe->lines[line]);
  for (guint i = 0; i < recipe->n_parameters; i++) {
    g_free(recipe->parameters[i].name);
    g_free(recipe->parameters[i].value);
  }
  g_strfreev(recipe->needs);
  g_ptr_array_unref(recipe->figures);
  g_free(recipe);
}
