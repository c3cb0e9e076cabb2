#include "model/job.h"
#include "model/flow.h"
#include "model/layout_job.h"
#include "model/yaml_read.h"

#include <math.h>
#include <string.h>

#define MAX_NAME 64
#define MAX_ABOUT 400
#define MAX_BYTES 1e15
#define MAX_RATE 10e12 /* bit/s */
#define MAX_TIME 3600.0

static gboolean
is_job_name(const char *name)
{
  if (!g_ascii_islower(*name) || strlen(name) > MAX_NAME)
    return FALSE;
  for (const char *p = name; *p != '\0'; p++) {
    if (!g_ascii_islower(*p) && !g_ascii_isdigit(*p) && *p != '-')
      return FALSE;
  }
  return TRUE;
}

static void
read_head(const YamlNode *root, Job *job, YamlErrors *errors)
{
  static const char *const known[] = {"job", "about", "simulate", "run", NULL};
  const YamlNode *name = yaml_get_scalar(root, "job", errors);
  const YamlNode *about = yaml_get_scalar(root, "about", errors);

  yaml_check_keys(root, known, errors);
  yaml_require(root, root, "job", "job", errors);
  yaml_require(root, root, "job", "about", errors);
  if (yaml_get(root, "simulate") == NULL && yaml_get(root, "run") == NULL)
    yaml_errors_add(errors, root, "job: neither \"simulate\" nor \"run\" says what it is");
  if (name != NULL && is_job_name(name->text))
    yaml_read_line(name, MAX_NAME, &job->name, errors);
  else if (name != NULL)
    yaml_errors_add(errors, name, "bad job name \"%s\": a word of small letters, digits and \"-\"",
                    name->text);
  if (about != NULL)
    yaml_read_line(about, MAX_ABOUT, &job->about, errors);
}

#define FIELD(name) offsetof(Job, name)

static const struct {
  const char *key;
  gsize offset;
  Dimension dimension;
  double min, max, scale; /* to the unit in Job */
} figures[] = {
    {"bytes", FIELD(bytes), DIMENSION_SIZE, 1, MAX_BYTES, 1},
    {"cap", FIELD(cap), DIMENSION_RATE, 8, MAX_RATE, 1.0 / 8},
    {"request", FIELD(request), DIMENSION_SIZE, 1, MAX_BYTES, 1},
    {"request-time", FIELD(request_time), DIMENSION_TIME, 0, MAX_TIME, 1},
    {"per-file", FIELD(per_file), DIMENSION_TIME, 0, MAX_TIME, 1},
    {"file-size", FIELD(file_size), DIMENSION_SIZE, 1, MAX_BYTES, 1},
};

static void
read_words(const YamlNode *map, Job *job, YamlErrors *errors)
{
  static const char *const protocols[] = {
      [PROTOCOL_NFS] = "nfs", [PROTOCOL_NBD] = "nbd", [PROTOCOL_LOCAL] = "local", NULL};
  static const char *const directions[] = {"read", "write", NULL};
  const YamlNode *protocol = yaml_get_scalar(map, "protocol", errors);
  const YamlNode *direction = yaml_get_scalar(map, "direction", errors);
  guint index;

  if (protocol != NULL && yaml_read_choice(protocol, "protocol", protocols, &index, errors))
    job->protocol = index;
  if (direction != NULL && yaml_read_choice(direction, "direction", directions, &index, errors))
    job->writes = index == 1;
}

static void
read_simulate(const YamlNode *map, Job *job, YamlErrors *errors)
{
  const char *known[G_N_ELEMENTS(figures) + 4] = {"protocol", "direction", "moves-data"};
  const YamlNode *moves_data = yaml_get_scalar(map, "moves-data", errors);

  for (guint i = 0; i < G_N_ELEMENTS(figures); i++)
    known[i + 3] = figures[i].key;
  yaml_check_keys(map, known, errors);
  yaml_require(map, map, "simulate", "protocol", errors);
  read_words(map, job, errors);
  if (moves_data != NULL)
    yaml_read_bool(moves_data, &job->moves_data, errors);
  for (guint i = 0; i < G_N_ELEMENTS(figures); i++) {
    const YamlNode *value = yaml_get_scalar(map, figures[i].key, errors);
    double number;
    if (value != NULL && yaml_read_quantity(value, figures[i].dimension, figures[i].min,
                                            figures[i].max, &number, errors))
      G_STRUCT_MEMBER(double, job, figures[i].offset) = number * figures[i].scale;
  }
  if (yaml_get(map, "request-time") != NULL)
    yaml_require(map, map, "request-time alone", "request", errors);
  if (yaml_get(map, "per-file") != NULL)
    yaml_require(map, map, "per-file alone", "file-size", errors);
  if (job->protocol == PROTOCOL_LOCAL)
    yaml_require(map, map, "protocol local", "cap", errors);
}

Job *
job_parse(const char *file_name, const char *text, gsize length, GError **error)
{
  g_autoptr(YamlFile) file = yaml_parse(file_name, text, length, error);

  if (file == NULL)
    return NULL;
  g_autoptr(YamlErrors) errors = yaml_errors_new(file_name);
  g_autoptr(Job) job = g_new0(Job, 1);
  const YamlNode *root = yaml_root(file);

  job->moves_data = TRUE;
  job->bytes = INFINITY;
  job->cap = INFINITY;
  if (root->kind != YAML_MAP) {
    yaml_errors_add(errors, root, "a job is a map that begins with job: NAME");
  } else {
    const YamlNode *simulate = yaml_get_map(root, "simulate", errors);
    const YamlNode *run = yaml_get_map(root, "run", errors);
    read_head(root, job, errors);
    job->machines_only = simulate == NULL;
    if (simulate != NULL)
      read_simulate(simulate, job, errors);
    if (run != NULL)
      job->run = job_recipe_read(run, errors);
  }
  if (yaml_errors_count(errors) == 0)
    return g_steal_pointer(&job);
  g_autofree char *message = yaml_errors_text(errors);
  g_set_error_literal(error, JOB_ERROR, 0, message);
  return NULL;
}

void
job_free(Job *job)
{
  if (job == NULL)
    return;
  g_free(job->name);
  g_free(job->about);
  job_recipe_free(job->run);
  g_free(job);
}

JobSet *
job_set_new(void)
{
  return g_new0(JobSet, 1);
}

void
job_set_free(JobSet *set)
{
  if (set == NULL)
    return;
  for (guint i = 0; i < set->n; i++)
    job_free(set->jobs[i]);
  g_free(set->jobs);
  g_free(set);
}

/* The place of NAME: where it is, or where it belongs. */
static guint
place(const JobSet *set, const char *name, gboolean *found)
{
  guint low = 0, high = set->n;

  while (low < high) {
    guint middle = low + (high - low) / 2;
    if (strcmp(set->jobs[middle]->name, name) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  *found = low < set->n && strcmp(set->jobs[low]->name, name) == 0;
  return low;
}

void
job_set_take(JobSet *set, Job *job)
{
  gboolean found;
  guint i = place(set, job->name, &found);

  if (found) {
    job_free(set->jobs[i]);
    set->jobs[i] = job;
    return;
  }
  set->jobs = g_renew(Job *, set->jobs, set->n + 1);
  memmove(&set->jobs[i + 1], &set->jobs[i], (set->n - i) * sizeof *set->jobs);
  set->jobs[i] = job;
  set->n++;
}

const Job *
job_set_find(const JobSet *set, const char *name)
{
  gboolean found;
  guint i = place(set, name, &found);

  return found ? set->jobs[i] : NULL;
}

const Job *
job_set_get(const JobSet *set, const char *name, GError **error)
{
  const Job *job = job_set_find(set, name);

  if (job != NULL)
    return job;
  g_autofree const char **known = g_new0(const char *, set->n + 1);
  for (guint i = 0; i < set->n; i++)
    known[i] = set->jobs[i]->name;
  const char *nearest = units_nearest_word(name, known);
  if (nearest != NULL)
    g_set_error(error, JOB_ERROR, 0, "no job \"%s\"; did you mean \"%s\"?", name, nearest);
  else
    g_set_error(error, JOB_ERROR, 0, "no job \"%s\"", name);
  return NULL;
}

static void
check_word(const Layout *layout, const JobSet *set, const LayoutJobWord *word, GString *problems)
{
  g_autoptr(GError) error = NULL;
  const Job *job = job_set_get(set, word->job, &error);
  guint line = job == NULL ? word->job_line : word->line;
  guint column = job == NULL ? word->job_column : word->column;

  if (job != NULL && job->run == NULL)
    g_set_error(&error, JOB_ERROR, 0, "%s has no \"run\": it is for the simulator alone",
                word->job);
  else if (job != NULL)
    job_recipe_check_word(job->run, word->job, word->key, word->value, &error);
  if (error != NULL)
    g_string_append_printf(problems, "%s%s:%u:%u: %s", problems->len > 0 ? "\n" : "", layout->file,
                           line, column, error->message);
}

gboolean
job_set_check_layout(const JobSet *set, const Layout *layout, GError **error)
{
  g_autoptr(GString) problems = g_string_new(NULL);

  for (guint i = 0; i < layout_n_job_words(layout); i++) {
    const LayoutJobWord *word = layout_job_word(layout, i);
    /* A job there is not is told once. */
    if (i == 0 || strcmp(word->job, layout_job_word(layout, i - 1)->job) != 0 ||
        job_set_find(set, word->job) != NULL)
      check_word(layout, set, word, problems);
  }
  if (problems->len == 0)
    return TRUE;
  g_set_error_literal(error, JOB_ERROR, 0, problems->str);
  return FALSE;
}

double
job_cap(const Job *job, const double *capacity, guint n_hops)
{
  double rate = job->cap;

  if (job->request > 0)
    rate = MIN(rate, flow_serial_rate(job->request, job->request_time, capacity, n_hops));
  if (job->per_file <= 0)
    return rate;
  /* Small files: each costs its own time, and then comes at the rate the path gives. */
  for (guint i = 0; i < n_hops; i++)
    rate = MIN(rate, capacity[i]);
  return rate > 0 ? job->file_size / (job->per_file + job->file_size / rate) : 0;
}
