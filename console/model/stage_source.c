#include <string.h>

#include "model/stage_private.h"
#include "model/yaml_read.h"

#define MAX_NAME 64
#define MAX_ABOUT 400
#define MAX_PROGRAMS 16

/* What patterns may call. A loader is whatever a firmware or another loader fetches to go on with;
 * kernels and initial ram disks go by the names that distributions and Linux itself give them. */
static const char definitions[] =
    "(?(DEFINE)"
    "(?<MAC>[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5})"
    "(?<DUID>[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){1,127})"
    "(?<IP>[0-9A-Fa-f]*[:.][0-9A-Fa-f:.]+(?:%[\\w.-]+)?)"
    "(?<NAME>[A-Za-z0-9][A-Za-z0-9._-]*)"
    "(?<LOADER>(?:[^\\s\"]*/)?(?i:l?pxelinux|ldlinux|[^\\s/\"]+\\.(?=(?:0|efi|k?k?pxe|ipxe|"
    "c32|cfg|lkrn)(?:[\\s\"]|$)))[^\\s/\"]*(?:/[^\\s/\"]+)?)"
    "(?<KERNEL>(?:[^\\s\"]*/)?(?i:vmlinu[xz]|bzimage|linux|kernel)[^\\s/\"]*)"
    "(?<INITRD>(?:[^\\s\"]*/)?(?i:initrd|initramfs|ramdisk)[^\\s/\"]*)"
    "(?<IMAGE>[^\\s\"]*\\.(?i:squashfs|sqfs|sqsh|qcow2|img)[^\\s/\"]*)"
    ")";

static const char *const certainties[] = {
    [CERTAINTY_SURE] = "sure",
    [CERTAINTY_LIKELY] = "likely",
    [CERTAINTY_POSSIBLE] = "possible",
    [CERTAINTY_N] = NULL,
};

const char *
certainty_name(Certainty certainty)
{
  return certainties[certainty];
}

int
certainty_parse(const char *name)
{
  for (int i = 0; i < CERTAINTY_N; i++)
    if (strcmp(certainties[i], name) == 0)
      return i;
  return -1;
}

gboolean
stage_is_name(const char *word)
{
  gsize length = strlen(word);
  return length > 0 && length <= STAGE_MAX_NAME && g_ascii_islower(*word) &&
         strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static void
read_head(const YamlNode *root, StageSource *source, YamlErrors *errors)
{
  static const char *const known[] = {"stages", "about", "programs", "reads", "patterns", NULL};
  static const char *const kinds[] = {"log", "console", NULL};
  const YamlNode *name = yaml_get_scalar(root, "stages", errors);
  const YamlNode *about = yaml_get_scalar(root, "about", errors);
  const YamlNode *reads = yaml_get_scalar(root, "reads", errors);
  const YamlNode *programs = yaml_get_list(root, "programs", errors);
  guint kind;

  yaml_check_keys(root, known, errors);
  for (guint i = 0; i < 2; i++)
    yaml_require(root, root, "source", known[i], errors);
  yaml_require(root, root, "source", "patterns", errors);
  if (name != NULL)
    yaml_read_line(name, MAX_NAME, &source->name, errors);
  if (about != NULL)
    yaml_read_line(about, MAX_ABOUT, &source->about, errors);
  if (reads != NULL && yaml_read_choice(reads, "way to read", kinds, &kind, errors))
    source->console = kind == 1;
  if (programs == NULL)
    return;
  if (programs->n > MAX_PROGRAMS || source->console) {
    yaml_errors_add(errors, programs,
                    source->console ? "a console is of no program" : "more than %d programs",
                    MAX_PROGRAMS);
    return;
  }
  source->programs = g_new0(char *, programs->n + 1);
  for (guint i = 0; i < programs->n; i++)
    if (programs->items[i]->kind != YAML_SCALAR ||
        !yaml_read_line(programs->items[i], MAX_NAME, &source->programs[i], errors)) {
      yaml_errors_add(errors, programs->items[i], "a program is a word");
      source->programs[i] = g_strdup("");
    }
}

/* Groups in capitals are what it may call. */
static void
check_groups(const YamlNode *at, const StagePattern *pattern, gboolean console, YamlErrors *errors)
{
  static const char *const known[] = {"mac", "ip", "name", "file", NULL};
  gboolean says_who = FALSE;
  for (const char *const *name = pattern_names(pattern->pattern); *name != NULL; name++) {
    if (g_ascii_isupper(**name))
      continue;
    if (!g_strv_contains(known, *name))
      yaml_errors_add(errors, at,
                      "there is no group \"%s\": mac, ip, name and file say of whom a line is",
                      *name);
    says_who = says_who || strcmp(*name, "file") != 0;
  }
  if (!says_who && !console)
    yaml_errors_add(errors, at, "no group mac, ip or name says of whom it is");
}

static void
read_pattern(const YamlNode *map, StageSource *source, YamlErrors *errors)
{
  static const char *const known[] = {"stage", "certainty", "match", NULL};
  if (map->kind != YAML_MAP) {
    yaml_errors_add(errors, map, "a pattern is a map of stage, certainty and match");
    return;
  }
  yaml_check_keys(map, known, errors);
  yaml_require(map, map, "pattern", "match", errors);
  StagePattern read = {.certainty = CERTAINTY_SURE};
  const YamlNode *stage = yaml_get_scalar(map, "stage", errors);
  const YamlNode *certainty = yaml_get_scalar(map, "certainty", errors);
  const YamlNode *match = yaml_get_scalar(map, "match", errors);
  guint index;

  if (stage != NULL && !stage_is_name(stage->text))
    yaml_errors_add(errors, stage,
                    "bad stage \"%s\": a word of small letters, digits and \"-\", at most %d",
                    stage->text, STAGE_MAX_NAME);
  else if (stage != NULL)
    read.stage = g_intern_string(stage->text);
  if (certainty != NULL && yaml_read_choice(certainty, "certainty", certainties, &index, errors))
    read.certainty = (Certainty)index;
  if (match == NULL)
    return;
  g_autoptr(GError) error = NULL;
  read.pattern = pattern_new_with(definitions, match->text, &error);
  if (read.pattern == NULL) {
    yaml_errors_add(errors, match, "%s", error->message);
    return;
  }
  check_groups(match, &read, source->console, errors);
  g_array_append_val(source->patterns, read);
}

static void
pattern_clear(gpointer data)
{
  pattern_free(((StagePattern *)data)->pattern);
}

static const char **
list_stages(const StageSource *source)
{
  g_autoptr(GPtrArray) stages = g_ptr_array_new();
  for (guint i = 0; i < source->patterns->len; i++) {
    const char *stage = g_array_index(source->patterns, StagePattern, i).stage;
    if (stage != NULL && !g_ptr_array_find(stages, stage, NULL))
      g_ptr_array_add(stages, (gpointer)stage);
  }
  g_ptr_array_add(stages, NULL);
  return (const char **)g_ptr_array_free(g_steal_pointer(&stages), FALSE);
}

StageSource *
stage_source_parse(const char *file_name, const char *text, gsize length, GError **error)
{
  g_autoptr(YamlFile) file = yaml_parse(file_name, text, length, error);
  if (file == NULL)
    return NULL;
  g_autoptr(YamlErrors) errors = yaml_errors_new(file_name);
  g_autoptr(StageSource) source = g_new0(StageSource, 1);
  const YamlNode *root = yaml_root(file);

  source->patterns = g_array_new(FALSE, FALSE, sizeof(StagePattern));
  g_array_set_clear_func(source->patterns, pattern_clear);
  if (root->kind != YAML_MAP) {
    yaml_errors_add(errors, root, "a source of stages is a map that begins with stages: NAME");
  } else {
    read_head(root, source, errors);
    const YamlNode *patterns = yaml_get_list(root, "patterns", errors);
    if (patterns != NULL && patterns->n > STAGE_SOURCE_MAX_PATTERNS)
      yaml_errors_add(errors, patterns, "more than %d patterns", STAGE_SOURCE_MAX_PATTERNS);
    else
      for (guint i = 0; patterns != NULL && i < patterns->n; i++)
        read_pattern(patterns->items[i], source, errors);
  }
  source->stages = list_stages(source);
  if (yaml_errors_count(errors) == 0)
    return g_steal_pointer(&source);
  g_autofree char *message = yaml_errors_text(errors);
  g_set_error_literal(error, STAGE_SOURCE_ERROR, 0, message);
  return NULL;
}

void
stage_source_free(StageSource *source)
{
  if (source == NULL)
    return;
  g_free(source->name);
  g_free(source->about);
  g_strfreev(source->programs);
  g_array_unref(source->patterns);
  g_free(source->stages);
  g_free(source);
}

const char *
stage_source_name(const StageSource *source)
{
  return source->name;
}

const char *
stage_source_about(const StageSource *source)
{
  return source->about;
}

gboolean
stage_source_reads_console(const StageSource *source)
{
  return source->console;
}

const char *const *
stage_source_stages(const StageSource *source)
{
  return source->stages;
}

guint
stage_source_n_patterns(const StageSource *source)
{
  return source->patterns->len;
}
