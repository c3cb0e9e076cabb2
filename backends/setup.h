/* What a real backend is made with. Each has one constructor,
 *
 *   Backend *NAME_new(const BackendSetup *setup, GError **error);
 *
 * which reads its settings and secrets (before the screen is up, so a prompt can be answered) and
 * connects to nothing; start() does. Everything is borrowed and outlives the backend, SETUP itself
 * but for the call.
 */
#ifndef PULT_BACKEND_SETUP_H
#define PULT_BACKEND_SETUP_H

#include "backends/backend.h"
#include "backends/secret.h"
#include "model/job.h"
#include "model/layout_backend.h"

typedef struct {
  const char *name; /* instance, interned */
  const Layout *layout;
  const LayoutBackend *settings;
  const JobSet *jobs;
  SecretAsk ask; /* NULL: nobody is there */
  gpointer ask_data;
  BackendPost post;
  gpointer post_data;
} BackendSetup;

#define BACKEND_ERROR (g_quark_from_static_string("pult-backend"))

/* FALSE, and an error that names file, instance and node. */
static inline gboolean G_GNUC_PRINTF(4, 5)
    setup_fail(const BackendSetup *setup, NodeId node, GError **error, const char *format, ...)
{
  va_list arguments;

  va_start(arguments, format);
  g_autofree char *what = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_set_error(error, BACKEND_ERROR, 0, "%s: backend %s: %s: %s", setup->layout->file, setup->name,
              setup->layout->nodes[node].name, what);
  return FALSE;
}

/* Whether NODE names this instance for anything. */
static inline gboolean
setup_reaches(const BackendSetup *setup, NodeId node)
{
  for (guint role = 0; role < ROLE_N; role++)
    if (g_strcmp0(setup->layout->nodes[node].backend[role], setup->name) == 0)
      return TRUE;
  return FALSE;
}

/* The secret that KEY refers to for NODE; NULL without an error when none is given. Free with
 * secret_free(). */
static inline char *
setup_secret(const BackendSetup *setup, NodeId node, const char *key, GError **error)
{
  g_autofree char *reference = layout_setting_text(setup->layout, setup->settings, node, key);

  if (reference == NULL)
    return NULL;
  g_autofree char *what =
      node == NODE_NONE || g_str_equal(reference, "prompt")
          ? g_strdup_printf("%s %s", setup->name, key)
          : g_strdup_printf("%s %s of %s", setup->name, key, setup->layout->nodes[node].name);
  return secret_read(reference, what, setup->ask, setup->ask_data, error);
}

#endif
