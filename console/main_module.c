#include "main_module.h"

#include <glib/gstdio.h>
#include <string.h>

#define MODULE_ERROR (g_quark_from_static_string("pult-module"))

/* NULL: there is none that belongs to it. */
static char *
beside_program(const char *name)
{
  g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
  if (program == NULL)
    return NULL;
  g_autofree char *folder = g_path_get_dirname(program);
  g_autofree char *file = g_strdup_printf("%s/modules/%s.so", folder, name);
  GStatBuf of_program, of_module;
  if (g_stat(program, &of_program) != 0 || g_stat(file, &of_module) != 0 ||
      of_program.st_uid != of_module.st_uid)
    return NULL;
  return g_steal_pointer(&file);
}

static gboolean G_GNUC_PRINTF(4, 5)
    fail(const char *name, const char *file, GError **error, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *what = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_set_error(error, MODULE_ERROR, 0, "backend `%s` is the module %s, %s", name, file, what);
  return FALSE;
}

static gboolean
is_ours(GModule *module, const char *name, const char *file, const BackendModule **found,
        GError **error)
{
  g_autofree char *symbol = g_strconcat(BACKEND_MODULE_SYMBOL, name, NULL);
  gpointer address = NULL;
  if (!g_module_symbol(module, symbol, &address) || address == NULL)
    return fail(name, file, error, "which is not one of pult's; install pult again");
  *found = address;
  if (!g_str_equal((*found)->stamp, backend_stamp))
    return fail(name, file, error,
                "which is of another build (%s) than this pult (%s); install both from one build",
                (*found)->stamp, backend_stamp);
  return TRUE;
}

const BackendModule *
main_module(const char *name, GError **error)
{
  g_autofree char *file = beside_program(name);
  if (file == NULL)
    file = g_strdup_printf("%s/%s.so", PULT_MODULEDIR, name);
  if (!g_file_test(file, G_FILE_TEST_EXISTS)) {
    fail(name, file, error, "which is not there; install it, or pult again");
    return NULL;
  }
  g_autoptr(GError) why = NULL;
  GModule *module = g_module_open_full(file, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL, &why);
  if (module == NULL) {
    /* The loader names the file as well, mostly. */
    const char *reason = why->message;
    if (g_str_has_prefix(reason, file) && g_str_has_prefix(reason + strlen(file), ": "))
      reason += strlen(file) + 2;
    fail(name, file, error, "which cannot be loaded (%s); install what it wants, or pult again",
         reason);
    return NULL;
  }
  /* Libraries leave threads, types and handlers behind. */
  g_module_make_resident(module);
  const BackendModule *found = NULL;
  return is_ours(module, name, file, &found, error) ? found : NULL;
}
