#include "session/data.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <unistd.h>

#include "model/units.h"

#define FILE_MAX_SIZE ((gsize)4 << 20)
#define DATA_ERROR (g_quark_from_static_string("pult-data"))

/* Generated; naming it here is also what links it in. */
GResource *pult_data_get_resource(void);

/* Bounded, because a path may lead to a pipe or a device. */
gboolean
data_read_file(const char *path, char **text, gsize *length, GError **error)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  g_autoptr(GByteArray) bytes = g_byte_array_new();
  guint8 chunk[16384];
  gssize n = fd < 0 ? -1 : 1;
  while (n > 0 && bytes->len <= FILE_MAX_SIZE) {
    n = read(fd, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR)
      n = 1;
    else if (n > 0)
      g_byte_array_append(bytes, chunk, (guint)n);
  }
  int cause = errno;
  if (fd >= 0)
    close(fd);
  if (n < 0) {
    g_set_error(error, DATA_ERROR, 0, "%s: %s", path, g_strerror(cause));
    return FALSE;
  }
  if (bytes->len > FILE_MAX_SIZE) {
    g_set_error(error, DATA_ERROR, 0, "%s: is larger than %" G_GSIZE_FORMAT " MiB", path,
                FILE_MAX_SIZE >> 20);
    return FALSE;
  }
  *length = bytes->len;
  *text = g_strndup((const char *)bytes->data, bytes->len);
  return TRUE;
}

/* The folder above build/, when this program runs in its checkout; else NULL. */
static char *
checkout(void)
{
  g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
  for (int i = 0; program != NULL && i < 4; i++) {
    g_autofree char *folder = g_path_get_dirname(program);
    g_autofree char *mark = g_build_filename(folder, "console", "main.c", NULL);
    if (g_file_test(mark, G_FILE_TEST_EXISTS))
      return g_steal_pointer(&folder);
    g_free(program);
    program = g_steal_pointer(&folder);
  }
  return NULL;
}

/* Where shipped files of FOLDER may lie, best first. */
static GPtrArray *
places(const char *folder)
{
  GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
  g_autofree char *top = checkout();
  if (top != NULL)
    g_ptr_array_add(list, g_build_filename(top, folder, NULL));
  g_ptr_array_add(list, g_build_filename(PULT_DATADIR, folder, NULL));
  return list;
}

static char *
resource_folder(const char *folder)
{
  pult_data_get_resource();
  return g_strconcat("/pult/", folder, NULL);
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of what is compiled in, sorted, NULL-terminated. */
static GPtrArray *
compiled_in(const char *folder, const char *ending)
{
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  g_autofree char *path = resource_folder(folder);
  g_auto(GStrv) children = g_resources_enumerate_children(path, 0, NULL);
  for (char **child = children; child != NULL && *child != NULL; child++)
    if (g_str_has_suffix(*child, ending))
      g_ptr_array_add(names, g_strndup(*child, strlen(*child) - strlen(ending)));
  g_ptr_array_sort(names, compare_names);
  g_ptr_array_add(names, NULL);
  return names;
}

/* Adds what lies in the folder PLACE and is not among NAMES yet. */
static void
add_names(GPtrArray *names, const char *place, const char *ending)
{
  g_autoptr(GDir) dir = g_dir_open(place, 0, NULL);
  const char *file;
  while (dir != NULL && (file = g_dir_read_name(dir)) != NULL) {
    if (!g_str_has_suffix(file, ending))
      continue;
    char *name = g_strndup(file, strlen(file) - strlen(ending));
    if (g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
      g_free(name);
    else
      g_ptr_array_add(names, name);
  }
}

char **
data_names(const char *folder, const char *ending)
{
  GPtrArray *names = compiled_in(folder, ending);
  g_autoptr(GPtrArray) list = places(folder);
  g_ptr_array_remove_index(names, names->len - 1); /* the NULL */
  for (guint i = 0; i < list->len; i++)
    add_names(names, list->pdata[i], ending);
  g_ptr_array_sort(names, compare_names);
  g_ptr_array_add(names, NULL);
  return (char **)g_ptr_array_free(names, FALSE);
}

static gboolean
read_compiled_in(const char *folder, const char *file, char **path, char **text, gsize *length)
{
  g_autofree char *top = resource_folder(folder);
  g_autofree char *resource = g_strconcat(top, "/", file, NULL);
  g_autoptr(GBytes) bytes = g_resources_lookup_data(resource, 0, NULL);
  if (bytes == NULL)
    return FALSE;
  const char *data = g_bytes_get_data(bytes, length);
  *text = g_strndup(data, *length);
  *path = g_strdup(file);
  return TRUE;
}

static void
fail_unknown(const char *folder, const char *ending, const char *name, GError **error)
{
  g_autoptr(GPtrArray) names = compiled_in(folder, ending);
  const char *const *words = (const char *const *)names->pdata;
  const char *near = units_nearest_word(name, words);
  g_autofree char *shipped = g_strjoinv(", ", (char **)names->pdata);
  if (near != NULL)
    g_set_error(error, DATA_ERROR, 0, "`%s` is neither a file nor shipped; is `%s` meant?", name,
                near);
  else
    g_set_error(error, DATA_ERROR, 0, "`%s` is neither a file nor one of the shipped %s: %s", name,
                folder, names->len > 1 ? shipped : "none");
}

gboolean
data_read(const char *folder, const char *name, const char *ending, char **path, char **text,
          gsize *length, GError **error)
{
  gboolean is_path = strchr(name, '/') != NULL;
  if (is_path || g_file_test(name, G_FILE_TEST_IS_REGULAR)) {
    if (!data_read_file(name, text, length, error))
      return FALSE;
    *path = g_strdup(name);
    return TRUE;
  }
  g_autofree char *file = g_strconcat(name, ending, NULL);
  g_autoptr(GPtrArray) list = places(folder);
  for (guint i = 0; i < list->len; i++) {
    g_autofree char *candidate = g_build_filename(list->pdata[i], file, NULL);
    if (!g_file_test(candidate, G_FILE_TEST_EXISTS))
      continue;
    if (!data_read_file(candidate, text, length, error))
      return FALSE;
    *path = g_steal_pointer(&file); /* the same name wherever it lies: it goes into transcripts */
    return TRUE;
  }
  if (read_compiled_in(folder, file, path, text, length))
    return TRUE;
  fail_unknown(folder, ending, name, error);
  return FALSE;
}

Layout *
data_layout(const char *name, GError **error)
{
  g_autofree char *path = NULL;
  g_autofree char *text = NULL;
  gsize length;
  if (!data_read("layouts", name, ".yaml", &path, &text, &length, error))
    return NULL;
  return layout_parse(path, text, length, error);
}

StageSource *
data_stage_source(const char *name, GError **error)
{
  g_autofree char *path = NULL;
  g_autofree char *text = NULL;
  gsize length;
  if (!data_read(DATA_STAGES, name, ".yaml", &path, &text, &length, error))
    return NULL;
  return stage_source_parse(path, text, length, error);
}

/* NAME as data_read() takes it, when LAYOUT's file names it. */
static char *
from_layout(const Layout *layout, const char *name)
{
  if (strchr(name, '/') == NULL || g_path_is_absolute(name) ||
      !g_file_test(layout->file, G_FILE_TEST_IS_REGULAR))
    return g_strdup(name);
  g_autofree char *folder = g_path_get_dirname(layout->file);
  return g_build_filename(folder, name, NULL);
}

static void
free_source(gpointer source)
{
  stage_source_free(source);
}

GPtrArray *
data_stage_sources(const Layout *layout, GError **error)
{
  g_autoptr(GPtrArray) sources = g_ptr_array_new_with_free_func(free_source);
  g_auto(GStrv) names = layout->stage_sources != NULL ? g_strdupv(layout->stage_sources)
                                                      : data_names(DATA_STAGES, ".yaml");
  for (char **name = names; *name != NULL; name++) {
    g_autofree char *path = from_layout(layout, *name);
    StageSource *source = data_stage_source(path, error);
    if (source == NULL)
      return NULL;
    g_ptr_array_add(sources, source);
  }
  return g_steal_pointer(&sources);
}

static gboolean
take_job(JobSet *set, const char *name, const char *text, gsize length, GError **error)
{
  Job *job = job_parse(name, text, length, error);
  if (job != NULL)
    job_set_take(set, job);
  return job != NULL;
}

static gboolean
take_folder(JobSet *set, const char *folder, GError **error)
{
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL)
    if (g_str_has_suffix(name, ".yaml"))
      g_ptr_array_add(paths, g_build_filename(folder, name, NULL));
  g_ptr_array_sort(paths, compare_names);
  for (guint i = 0; i < paths->len; i++) {
    g_autofree char *text = NULL;
    gsize length;
    if (!data_read_file(paths->pdata[i], &text, &length, error) ||
        !take_job(set, paths->pdata[i], text, length, error))
      return FALSE;
  }
  return TRUE;
}

JobSet *
data_jobs(GError **error)
{
  g_autoptr(JobSet) set = job_set_new();
  g_autoptr(GPtrArray) names = compiled_in("scripts/jobs", ".yaml");
  for (guint i = 0; i + 1 < names->len; i++) {
    g_autofree char *file = g_strconcat(names->pdata[i], ".yaml", NULL);
    g_autofree char *path = NULL;
    g_autofree char *text = NULL;
    gsize length;
    if (!read_compiled_in("scripts/jobs", file, &path, &text, &length))
      g_assert_not_reached();
    if (!take_job(set, path, text, length, error))
      return NULL;
  }
  g_autoptr(GPtrArray) list = places("scripts/jobs");
  for (guint i = list->len; i-- > 0;) /* the best place last: it replaces */
    if (!take_folder(set, list->pdata[i], error))
      return NULL;
  return g_steal_pointer(&set);
}

/* The folder `jobs` beside the layout's file; NULL when it was none, or there is none. */
static char *
beside(const Layout *layout)
{
  if (layout == NULL || !g_file_test(layout->file, G_FILE_TEST_IS_REGULAR))
    return NULL;
  g_autofree char *folder = g_path_get_dirname(layout->file);
  return g_build_filename(folder, "jobs", NULL);
}

JobSet *
data_jobs_for(const Layout *layout, const char *folder, GError **error)
{
  g_autoptr(JobSet) set = data_jobs(error);
  g_autofree char *own = g_build_filename(g_get_user_config_dir(), "pult", "jobs", NULL);
  g_autofree char *near = beside(layout);
  if (set == NULL || !take_folder(set, own, error) ||
      (near != NULL && !take_folder(set, near, error)))
    return NULL;
  if (folder != NULL && !g_file_test(folder, G_FILE_TEST_IS_DIR)) {
    g_set_error(error, DATA_ERROR, 0, "%s: is no folder of jobs", folder);
    return NULL;
  }
  if (folder != NULL && !take_folder(set, folder, error))
    return NULL;
  if (layout != NULL && !job_set_check_layout(set, layout, error))
    return NULL;
  return g_steal_pointer(&set);
}
