#include "main_lab.h"

#include <string.h>

#include "backends/absent.h"
#include "backends/command/command.h"
#include "backends/log/log.h"
#include "backends/powerman/powerman.h"
#include "backends/probe/probe.h"
#include "backends/setup.h"
#include "backends/sim/sim.h"
#include "backends/wol.h"
#include "main_module.h"
#include "main_say.h"
#include "main_secret.h"
#include "session/reservations.h"

#define LAB_ERROR (g_quark_from_static_string("pult-lab"))

/* One of the two: a virtual backend is made by `simulate`, a real one by `reach`, or by the module
 * of its type's name when both are NULL. */
typedef struct {
  const char *type;
  Backend *(*simulate)(const Lab *lab, const char *name, guint64 seed);
  Backend *(*reach)(const BackendSetup *setup, GError **error);
} BackendKind;

/* An instance that the layout's nodes name. */
typedef struct {
  const char *name; /* interned */
  const BackendKind *kind;
} NeededBackend;

static Backend *
open_sim(const Lab *lab, const char *name, guint64 seed)
{
  return sim_new(name, lab->layout, lab->jobs, seed, session_post, lab->session);
}

static const BackendKind kinds[] = {
    {"sim", open_sim, NULL},
#ifdef HAVE_SSH
    {"ssh", NULL, NULL},
#endif
    {"command", NULL, command_backend_new},
#ifdef HAVE_IPMI
    {"ipmi", NULL, NULL},
#endif
    {"powerman", NULL, powerman_new},
    {"wol", NULL, wol_new},
    {"log", NULL, log_backend_new},
    {"probe", NULL, probe_backend_new},
#ifdef HAVE_SNMP
    {"snmp", NULL, NULL},
#endif
#ifdef HAVE_VSWITCH
    {"vswitch", NULL, NULL},
#endif
#ifdef HAVE_LIBVIRT
    {"libvirt", NULL, NULL},
#endif
};

char *
lab_backends(void)
{
  g_autoptr(GString) names = g_string_new(NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
    g_string_append_printf(names, "%s%s", i > 0 ? " " : "", kinds[i].type);
  return g_strdup(names->str);
}

static const BackendKind *
find_kind(const char *type)
{
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (strcmp(kinds[i].type, type) == 0)
      return &kinds[i];
  return NULL;
}

static gboolean
is_needed(const GArray *needed, const char *name)
{
  for (guint i = 0; i < needed->len; i++)
    if (g_array_index(needed, NeededBackend, i).name == name)
      return TRUE;
  return FALSE;
}

static gboolean
need_backend(const Layout *layout, const LayoutNode *node, const char *name, GArray *needed,
             GError **error)
{
  const LayoutBackend *backend = layout_backend(layout, name);
  const char *type = backend != NULL ? layout_backend_type(backend) : name;
  NeededBackend need = {g_intern_string(name), find_kind(type)};
  if (is_needed(needed, need.name))
    return TRUE;
  if (need.kind != NULL) {
    g_array_append_val(needed, need);
    return TRUE;
  }
  g_autofree char *known = lab_backends();
  g_set_error(error, LAB_ERROR, 0, "%s: %s names backend `%s`, which this pult has not; it has: %s",
              layout->file, node->name, type, known);
  return FALSE;
}

/* Fills NEEDED with what the layout's nodes name, each once, in the order first named. */
static gboolean
needed_backends(const Layout *layout, GArray *needed, GError **error)
{
  for (NodeId id = 0; id < layout->n_nodes; id++) {
    const LayoutNode *node = &layout->nodes[id];
    for (guint role = 0; role < ROLE_N; role++)
      if (node->backend[role] != NULL &&
          !need_backend(layout, node, node->backend[role], needed, error))
        return FALSE;
  }
  return TRUE;
}

static gboolean
any_real(const GArray *needed)
{
  for (guint i = 0; i < needed->len; i++)
    if (g_array_index(needed, NeededBackend, i).kind->simulate == NULL)
      return TRUE;
  return FALSE;
}

static CoreOptions
core_options(const MainOptions *options, gboolean real, gboolean console)
{
  CoreOptions core = {
      .seed = options->seed,
      .read_only = options->read_only,
      .dry_run = options->dry_run,
      .consent = CONSENT_ASK,
  };
  if (options->yes_seats >= 0) {
    core.consent = CONSENT_SEATS;
    core.consent_seats = (guint)options->yes_seats;
  } else if (options->yes || (!real && !console)) {
    core.consent = CONSENT_YES;
  }
  return core;
}

static gboolean
open_session(Lab *lab, const MainOptions *options, const Script *script, const char *script_name,
             gboolean console, GError **error)
{
  g_autofree char *record = g_strdup(options->record);
  if (record == NULL && console && !options->no_record) {
    GError *problem = NULL;
    record = transcript_default_path(lab->layout->lab, &problem);
    if (record == NULL) {
      g_set_error(error, LAB_ERROR, 0, "%s; --record FILE writes elsewhere, --no-record not at all",
                  problem->message);
      g_error_free(problem);
      return FALSE;
    }
  }
  g_autofree char *reservations = reservations_default_path(lab->layout->lab);
  SessionOptions session = {
      .layout = lab->layout,
      .core = core_options(options, lab->real, console),
      .clock = options->clock,
      .speed = options->speed,
      .record = record,
      .script_name = script_name,
      .script_text = script != NULL ? script_text(script) : NULL,
      .must_record = record != NULL,
      .reservations = reservations,
      .stages = lab->stages,
      .shipped_stages = lab->real,
  };
  lab->session = session_new(&session, error);
  return lab->session != NULL;
}

/* A module that cannot be had takes nothing from what others reach. */
static Backend *
reach(const BackendKind *kind, const BackendSetup *setup, GError **error)
{
  if (kind->reach != NULL)
    return kind->reach(setup, error);
  g_autoptr(GError) why = NULL;
  const BackendModule *module = main_module(kind->type, &why);
  if (module != NULL)
    return module->reach(setup, error);
  main_complain(why->message);
  return absent_new(setup, why->message);
}

static Backend *
open_backend(Lab *lab, const NeededBackend *need, guint64 seed, GError **error)
{
  if (need->kind->simulate != NULL)
    return need->kind->simulate(lab, need->name, seed);
  BackendSetup setup = {.name = need->name,
                        .layout = lab->layout,
                        .settings = layout_backend(lab->layout, need->name),
                        .jobs = lab->jobs,
                        .ask = main_ask_secret,
                        .ask_data = lab->secrets,
                        .post = session_post,
                        .post_data = lab->session};
  /* What SETUP points to outlives the backend, and SETUP itself is not kept: backends/setup.h. */
  /* cppcheck-suppress returnDanglingLifetime */
  return reach(need->kind, &setup, error);
}

static gboolean
add_backends(Lab *lab, const GArray *needed, guint64 seed, GError **error)
{
  lab->secrets = main_secrets_new();
  for (guint i = 0; i < needed->len; i++) {
    Backend *backend = open_backend(lab, &g_array_index(needed, NeededBackend, i), seed, error);
    if (backend == NULL || !session_add_backend(lab->session, backend, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
look_for_real(Lab *lab, const GArray *needed, GError **error)
{
  lab->real = any_real(needed);
  /* Those it names may be its own, and wrong. */
  gboolean named = lab->real && lab->layout->stage_sources != NULL;
  if (named)
    lab->stages = data_stage_sources(lab->layout, error);
  return !named || lab->stages != NULL;
}

Lab *
lab_open(const MainOptions *options, const Script *script, const char *script_name,
         gboolean console, GError **error)
{
  const char *layout = options->layout;
  if (layout == NULL && script != NULL)
    layout = script_layout(script);
  g_autoptr(Lab) lab = g_new0(Lab, 1);
  g_autoptr(GArray) needed = g_array_new(FALSE, FALSE, sizeof(NeededBackend));
  lab->layout = data_layout(layout != NULL ? layout : LAB_DEFAULT_LAYOUT, error);
  if (lab->layout == NULL || !needed_backends(lab->layout, needed, error))
    return NULL;
  lab->jobs = data_jobs_for(lab->layout, options->jobs, error);
  if (lab->jobs == NULL || !look_for_real(lab, needed, error) ||
      !open_session(lab, options, script, script_name, console, error))
    return NULL;
  return add_backends(lab, needed, options->seed, error) ? g_steal_pointer(&lab) : NULL;
}

gboolean
lab_reaches_real(const Layout *layout, gboolean *real, GError **error)
{
  g_autoptr(GArray) needed = g_array_new(FALSE, FALSE, sizeof(NeededBackend));
  if (!needed_backends(layout, needed, error))
    return FALSE;
  *real = any_real(needed);
  return TRUE;
}

Lab *
lab_open_as(Layout *layout, const SessionOptions *options, GError **error)
{
  g_autoptr(Lab) lab = g_new0(Lab, 1);
  g_autoptr(GArray) needed = g_array_new(FALSE, FALSE, sizeof(NeededBackend));
  lab->layout = layout;
  if (!needed_backends(layout, needed, error))
    return NULL;
  lab->jobs = data_jobs_for(layout, NULL, error);
  if (lab->jobs == NULL || !look_for_real(lab, needed, error))
    return NULL;
  SessionOptions own = *options;
  own.stages = lab->stages;
  own.shipped_stages = lab->real;
  lab->session = session_new(&own, error);
  if (lab->session == NULL || !add_backends(lab, needed, options->core.seed, error))
    return NULL;
  return g_steal_pointer(&lab);
}

/* Whoever wanted otherwise learns how. */
static void
say_what_ends(Session *session)
{
  g_autofree char *labels = session != NULL ? session_end_loads(session) : NULL;
  if (labels == NULL)
    return;
  g_autofree char *text = g_strdup_printf(
      "still running, and ended with pult: %s; `load leave` lets a load run on", labels);
  main_complain(text);
}

void
lab_free(Lab *lab)
{
  if (lab == NULL)
    return;
  say_what_ends(lab->session);
  session_free(lab->session);
  if (lab->jobs != NULL)
    job_set_free(lab->jobs);
  g_clear_pointer(&lab->stages, g_ptr_array_unref);
  main_secrets_free(lab->secrets);
  layout_free(lab->layout);
  g_free(lab);
}
