#include "main_check.h"

#include <string.h>

#include "backends/vswitch/device.h"
#include "main_means.h"
#include "main_options.h"
#include "main_say.h"
#include "model/yaml.h"
#include "session/data.h"

/* Each says on stdout what a good file is, or gives all its errors. */
typedef gboolean (*Check)(const char *path, const char *text, gsize length, GError **error);

static gboolean
check_layout(const char *path, const char *text, gsize length, GError **error)
{
  g_autoptr(Layout) layout = layout_parse(path, text, length, error);
  g_autoptr(JobSet) jobs = layout != NULL ? data_jobs_for(layout, NULL, error) : NULL;
  if (jobs == NULL)
    return FALSE;
  guint n_clients = 0;
  for (NodeId id = 0; id < layout->n_nodes; id++)
    n_clients += layout->nodes[id].kind == NODE_CLIENT ? 1 : 0;
  printf("%s: layout of ", path);
  main_print(stdout, layout->lab);
  printf(", %u clients, %u rooms\n", n_clients, layout->n_rooms);
  main_print_means(stdout, layout);
  return TRUE;
}

static gboolean
check_job(const char *path, const char *text, gsize length, GError **error)
{
  g_autoptr(Job) job = job_parse(path, text, length, error);
  if (job != NULL)
    printf("%s: job %s\n", path, job->name);
  return job != NULL;
}

static gboolean
check_device(const char *path, const char *text, gsize length, GError **error)
{
  g_autoptr(Device) device = device_parse(path, text, length, error);
  if (device != NULL)
    printf("%s: device %s, %u scripts\n", path, device->name, device->scripts->len);
  return device != NULL;
}

static gboolean
check_stages(const char *path, const char *text, gsize length, GError **error)
{
  g_autoptr(StageSource) source = stage_source_parse(path, text, length, error);
  if (source != NULL)
    printf("%s: stages of %s, %u patterns\n", path, stage_source_name(source),
           stage_source_n_patterns(source));
  return source != NULL;
}

static gboolean
check_yaml(const char *path, const char *text, gsize length, GError **error)
{
  g_autoptr(YamlFile) file = yaml_parse(path, text, length, error);
  if (file == NULL)
    return FALSE;
  const YamlNode *root = yaml_root(file);
  gboolean map = root != NULL && root->kind == YAML_MAP;
  Check check_as = map && yaml_get(root, "job") != NULL      ? check_job
                   : map && yaml_get(root, "device") != NULL ? check_device
                   : map && yaml_get(root, "stages") != NULL ? check_stages
                                                             : check_layout;
  return check_as(path, text, length, error);
}

static gboolean
check_script(const char *path, const char *text, gsize length, GError **error)
{
  g_autoptr(Script) script = script_parse(path, text, length, error);
  if (script != NULL)
    printf("%s: script\n", path);
  return script != NULL;
}

static gboolean
check_transcript(const char *path, const char *text, gsize length, GError **error)
{
  (void)text;
  (void)length;
  g_autoptr(TranscriptReader) reader = transcript_open(path, error);
  if (reader == NULL)
    return FALSE;
  GError *problem = NULL;
  guint64 n = 0;
  while (transcript_next(reader, NULL, &problem) != NULL)
    n++;
  if (problem != NULL) {
    g_propagate_error(error, problem);
    return FALSE;
  }
  printf("%s: transcript of ", path);
  main_print(stdout, transcript_layout(reader)->lab);
  printf(", %" G_GUINT64_FORMAT " events\n", n);
  return TRUE;
}

/* A key at the beginning of a line, as YAML at its top has it. */
static gboolean
has_key(const char *text, const char *key)
{
  for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
    line += *line == '\n' ? 1 : 0;
    gsize length = strlen(key);
    if (strncmp(line, key, length) == 0 && line[length] == ':')
      return TRUE;
  }
  return FALSE;
}

static Check
choose(const char *path, const char *text)
{
  if (g_str_has_suffix(path, ".yaml") || g_str_has_suffix(path, ".yml"))
    return check_yaml;
  if (g_str_has_suffix(path, ".pult"))
    return check_script;
  static const char *const first[] = {"lab", "job", "device", "stages"};
  for (gsize i = 0; i < G_N_ELEMENTS(first); i++)
    if (has_key(text, first[i]))
      return check_yaml;
  return check_script;
}

static gboolean
is_transcript(const char *path)
{
  static const char begin[] = "{\"pult\"";
  char head[sizeof begin - 1];
  if (g_str_has_suffix(path, ".jsonl"))
    return TRUE;
  /* A pipe would lose what is read here. */
  FILE *file = g_file_test(path, G_FILE_TEST_IS_REGULAR) ? fopen(path, "re") : NULL;
  if (file == NULL)
    return FALSE;
  gsize n = fread(head, 1, sizeof head, file);
  fclose(file);
  return n == sizeof head && memcmp(head, begin, n) == 0;
}

static gboolean
check(const char *path, GError **error)
{
  if (is_transcript(path))
    return check_transcript(path, NULL, 0, error);
  g_autofree char *text = NULL;
  gsize length;
  if (!data_read_file(path, &text, &length, error))
    return FALSE;
  return choose(path, text)(path, text, length, error);
}

int
main_check(int argc, char **argv)
{
  const GOptionEntry entries[] = {G_OPTION_ENTRY_NULL};
  g_autoptr(GError) error = NULL;
  if (!main_parse_entries(entries, "FILE…",
                          "Checks layouts, jobs, devices, stages, scripts and transcripts.", &argc,
                          &argv, &error))
    return main_fail(error);
  if (argc < 2) {
    main_complain("check takes one file or more");
    return EXIT_USAGE;
  }
  int status = 0;
  for (int i = 1; i < argc; i++) {
    g_autoptr(GError) problem = NULL;
    if (!check(argv[i], &problem))
      status = main_fail(problem);
  }
  return main_finish_output(status);
}
