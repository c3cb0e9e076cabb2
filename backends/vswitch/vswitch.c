#include "backends/vswitch/vswitch.h"

#include <gio/gio.h>
#include <string.h>

#include "backends/module.h"
#include "backends/vswitch/vswitch_private.h"

GResource *pult_data_get_resource(void);

static Vswitch *
vswitch_of(Backend *backend)
{
  return (Vswitch *)((char *)backend - offsetof(Vswitch, backend));
}

/* ---- What devices say ---------------------------------------------------------------------- */

/* The transcript has all of it: beside the seat it was asked for, or beside none. */
static void
spoke(gboolean sent, const char *text, gpointer data)
{
  VswitchDesk *desk = data;
  const VswitchWork *work = desk->work;
  g_autofree char *line = g_strdup_printf("%s %s %s", desk->address, sent ? ">" : "<", text);
  LedgerItem *item = NULL;

  for (guint i = 0; work != NULL && item == NULL && i < work->items->len; i++)
    item = work->items->pdata[i];
  for (guint i = 0; sent && work != NULL && vswitch_unit_has_begun(desk->unit) &&
                    desk->asking != NULL && desk->asking->changes && i < work->items->len;
       i++)
    if (work->items->pdata[i] != NULL)
      ((LedgerItem *)work->items->pdata[i])->sent = TRUE;
  if (item != NULL)
    ledger_line(item, "device", line);
  else
    ledger_remark(desk->owner->ledger, "device", line);
}

/* Somebody at its front panel, or another operator. */
static void
told(const Pattern *pattern, const PatternMatch *match, gpointer data)
{
  VswitchDesk *desk = data;
  g_autofree char *in = pattern_match_get(match, "in"), *out = pattern_match_get(match, "out");
  guint64 a, b;
  (void)pattern;

  if (in != NULL && out != NULL && units_parse_count(out, G_MAXUINT32, &a, NULL) &&
      units_parse_count(desk->output, G_MAXUINT32, &b, NULL) && a == b)
    vswitch_desk_shows(desk, in);
}

static void
on_link(gboolean up, const char *text, gpointer data)
{
  VswitchDesk *desk = data;
  g_autofree char *name = g_strdup_printf("%s:%s", desk->owner->backend.name, desk->address);
  Event event = {.kind = EVENT_LINK, .link = {name, up, text}};

  if (!up)
    g_clear_pointer(&desk->shown, g_free);
  if (!desk->owner->closing)
    desk->owner->backend.post(&event, desk->owner->backend.post_data);
}

/* ---- The backend --------------------------------------------------------------------------- */

static gboolean
sort_fresh(gpointer data)
{
  Vswitch *vswitch = data;

  vswitch->sort = 0;
  vswitch_desk_sort(vswitch);
  return G_SOURCE_REMOVE;
}

static void
begin(LedgerItem *item, gpointer data)
{
  Vswitch *vswitch = data;

  if (vswitch->desk[item->node] == NULL) {
    ledger_answer(item, VERDICT_FAILED, "%s has no device for it", vswitch->backend.name);
    return;
  }
  /* Those of one request begin in one turn of the loop: they may go together. */
  g_ptr_array_add(vswitch->fresh, item);
  if (vswitch->sort == 0)
    vswitch->sort = g_idle_add_full(G_PRIORITY_DEFAULT, sort_fresh, vswitch, NULL);
}

static void
end(LedgerItem *item, gpointer data)
{
  Vswitch *vswitch = data;

  g_ptr_array_remove(vswitch->fresh, item);
  if (vswitch->desk[item->node] != NULL)
    vswitch_desk_forget(vswitch->desk[item->node], item);
}

static void
vswitch_start(Backend *backend, gint64 now)
{
  Vswitch *vswitch = vswitch_of(backend);
  (void)now;

  ledger_link(vswitch->ledger, TRUE, "");
  for (NodeId id = 0; id < vswitch->layout->n_nodes; id++) {
    const VswitchDesk *desk = vswitch->desk[id];
    if (desk == NULL || device_script(desk->device, "keys") == NULL)
      continue;
    g_autofree char *at_once = g_strconcat("at once by ", desk->address, NULL);
    ledger_observe(vswitch->ledger, id, "keys-go",
                   device_script(desk->device, "broadcast") != NULL ? at_once : "one by one");
  }
}

static void
vswitch_submit(Backend *backend, gint64 now, const RequestEvent *request)
{
  ledger_submit(vswitch_of(backend)->ledger, now, request);
}

static void
vswitch_cancel(Backend *backend, gint64 now, guint32 request)
{
  (void)now;
  ledger_cancel(vswitch_of(backend)->ledger, request);
}

static void
desk_free(gpointer data)
{
  VswitchDesk *desk = data;

  vswitch_unit_free(desk->unit);
  for (VswitchWork *work; (work = g_queue_pop_head(&desk->waiting)) != NULL;)
    vswitch_work_free(work);
  if (desk->work != NULL)
    vswitch_work_free(desk->work);
  device_free(desk->device);
  g_ptr_array_unref(desk->before);
  g_free(desk->address);
  g_free(desk->output);
  g_free(desk->shown);
  g_free(desk->saved);
  g_free(desk);
}

static void
vswitch_free(Backend *backend)
{
  Vswitch *vswitch = vswitch_of(backend);

  vswitch->closing = TRUE;
  if (vswitch->sort > 0)
    g_source_remove(vswitch->sort);
  ledger_free(vswitch->ledger);
  g_ptr_array_unref(vswitch->desks);
  g_ptr_array_unref(vswitch->fresh);
  for (NodeId id = 0; id < vswitch->layout->n_nodes; id++)
    g_free(vswitch->input[id]);
  g_free(vswitch->input);
  g_free(vswitch->desk);
  g_free(vswitch);
}

/* ---- Descriptions -------------------------------------------------------------------------- */

static Device *
load_shipped(const char *name, GError **error)
{
  g_autofree char *path = g_strdup_printf("/pult/backends/devices/%s.yaml", name);

  pult_data_get_resource();
  g_autoptr(GBytes) bytes = g_resources_lookup_data(path, 0, NULL);
  if (bytes == NULL) {
    g_set_error(error, BACKEND_ERROR, 0,
                "there is no device \"%s\": `pult help devices` lists them, and a file of your own "
                "has a slash or .yaml in its name",
                name);
    return NULL;
  }
  gsize length;
  const char *text = g_bytes_get_data(bytes, &length);
  return device_parse(name, text, length, error);
}

/* A file is named from where the layout is. */
static Device *
load(const Vswitch *vswitch, const char *name, GError **error)
{
  g_autofree char *folder = NULL, *path = NULL, *text = NULL;
  gsize length;

  if (strchr(name, '/') == NULL && !g_str_has_suffix(name, ".yaml"))
    return load_shipped(name, error);
  folder = g_path_get_dirname(vswitch->layout->file);
  path = g_path_is_absolute(name) ? g_strdup(name) : g_build_filename(folder, name, NULL);
  if (!g_file_get_contents(path, &text, &length, error))
    return NULL;
  return device_parse(path, text, length, error);
}

/* ---- Desks --------------------------------------------------------------------------------- */

static char *
setting(const Vswitch *vswitch, NodeId node, const char *key)
{
  return layout_setting_text(vswitch->layout, vswitch->settings, node, key);
}

/* The way that VIA names or, without, the first the device offers. -1 with an error. */
static int
choose_way(const Device *device, const char *via, GError **error)
{
  for (DeviceWay way = 0; way < DEVICE_WAYS; way++)
    if (device->offers[way] && (via == NULL || strcmp(via, device_way_name(way)) == 0))
      return (int)way;
  g_set_error(error, BACKEND_ERROR, 0, "a %s is not reached by %s", device->name, via);
  return -1;
}

typedef struct {
  Argument list[DEVICE_MAX_PARAMETERS];
  guint n;
  char *kept[2 * DEVICE_MAX_PARAMETERS];
  guint n_kept;
} Standing;

static void
standing_add(Standing *standing, char *key, char *value)
{
  standing->kept[standing->n_kept++] = key;
  standing->kept[standing->n_kept++] = value;
  if (value != NULL && standing->n + 1 < DEVICE_MAX_PARAMETERS)
    standing->list[standing->n++] = (Argument){key, value};
}

static void
standing_clear(Standing *standing)
{
  for (guint i = 0; i < standing->n_kept; i++)
    secret_free(standing->kept[i]);
}

static gboolean
fill_standing(const Vswitch *vswitch, const BackendSetup *setup, NodeId node, Standing *standing,
              GError **error)
{
  g_auto(GStrv) values = layout_setting_words(vswitch->layout, vswitch->settings, node, "values");
  GError *problem = NULL;

  standing_add(standing, g_strdup("out"), setting(vswitch, node, "output"));
  standing_add(standing, g_strdup("user"), setting(vswitch, node, "user"));
  standing_add(standing, g_strdup("password"), setup_secret(setup, node, "password", &problem));
  if (problem != NULL) {
    g_propagate_error(error, problem);
    return FALSE;
  }
  for (guint i = 0; values != NULL && values[i] != NULL && i < DEVICE_MAX_PARAMETERS - 4; i++) {
    const char *equals = strchr(values[i], '=');
    if (equals == NULL)
      return setup_fail(setup, node, error, "values: \"%s\" is no KEY=VALUE", values[i]);
    standing_add(standing, g_strndup(values[i], (gsize)(equals - values[i])), g_strdup(equals + 1));
  }
  return TRUE;
}

static VswitchDesk *
desk_new(Vswitch *vswitch, const BackendSetup *setup, NodeId node, char *address, GError **error)
{
  static const VswitchUnitHooks hooks = {{spoke, told}, on_link};
  g_autofree char *name = setting(vswitch, node, "device");
  g_autofree char *via = setting(vswitch, node, "via");
  g_autofree char *pin = setting(vswitch, node, "pin");
  VswitchDesk *desk = g_new0(VswitchDesk, 1);
  Standing standing = {0};
  GError *problem = NULL;

  desk->owner = vswitch;
  desk->address = address;
  desk->output = setting(vswitch, node, "output");
  desk->before = g_ptr_array_new_with_free_func(g_free);
  g_queue_init(&desk->waiting);
  desk->device = name != NULL ? load(vswitch, name, &problem) : NULL;
  if (name == NULL)
    g_set_error(&problem, BACKEND_ERROR, 0, "`device` is missing: what kind of switch it is");
  int way = problem == NULL ? choose_way(desk->device, via, &problem) : -1;
  if (way >= 0 && fill_standing(vswitch, setup, node, &standing, &problem)) {
    VswitchPlace place = {desk->device, (DeviceWay)way, desk->address, pin};
    desk->unit = vswitch_unit_new(&place, standing.list, standing.n, &hooks, desk, &problem);
  }
  standing_clear(&standing);
  if (desk->unit != NULL)
    return desk;
  setup_fail(setup, node, error, "%s", problem->message);
  g_error_free(problem);
  desk_free(desk);
  return NULL;
}

static VswitchDesk *
desk_at(const Vswitch *vswitch, const char *address)
{
  for (guint i = 0; i < vswitch->desks->len; i++) {
    VswitchDesk *desk = vswitch->desks->pdata[i];
    if (strcmp(desk->address, address) == 0)
      return desk;
  }
  return NULL;
}

static gboolean
is_mine(const Vswitch *vswitch, NodeId id)
{
  const LayoutNode *node = &vswitch->layout->nodes[id];

  return g_strcmp0(node->backend[ROLE_KEYS], vswitch->backend.name) == 0 ||
         g_strcmp0(node->backend[ROLE_POWER], vswitch->backend.name) == 0;
}

static gboolean
add_desks(Vswitch *vswitch, const BackendSetup *setup, GError **error)
{
  for (NodeId id = 0; id < vswitch->layout->n_nodes; id++) {
    if (!is_mine(vswitch, id))
      continue;
    char *address = setting(vswitch, id, "address");
    VswitchDesk *desk = address != NULL ? desk_at(vswitch, address) : NULL;
    vswitch->input[id] = setting(vswitch, id, "input");
    if (address == NULL)
      return setup_fail(setup, id, error, "`address` is missing: where the switch is");
    if (desk == NULL && (desk = desk_new(vswitch, setup, id, address, error)) == NULL)
      return FALSE;
    if (desk->address != address)
      g_free(address);
    else
      g_ptr_array_add(vswitch->desks, desk);
    vswitch->desk[id] = desk;
    desk->n_nodes++;
  }
  return TRUE;
}

static guint32
operations_of(const Vswitch *vswitch)
{
  static const struct {
    const char *script;
    guint32 operations;
  } all[] = {{"connect", 1u << OP_ROUTE},     {"keys", 1u << OP_KEYS | 1u << OP_TYPE},
             {"power-on", 1u << OP_ON},       {"power-off", 1u << OP_OFF},
             {"power-reset", 1u << OP_RESET}, {"power-status", 1u << OP_STATUS}};
  guint32 operations = 0;

  for (guint i = 0; i < vswitch->desks->len; i++)
    for (guint k = 0; k < G_N_ELEMENTS(all); k++) {
      const VswitchDesk *desk = vswitch->desks->pdata[i];
      if (device_script(desk->device, all[k].script) != NULL)
        operations |= all[k].operations;
    }
  return operations;
}

Backend *
vswitch_new(const BackendSetup *setup, GError **error)
{
  static const LedgerClass ledger = {.begin = begin, .end = end, .one_each_node = TRUE};
  Vswitch *vswitch = g_new0(Vswitch, 1);

  vswitch->class = (BackendClass){.name = "vswitch",
                                  .start = vswitch_start,
                                  .submit = vswitch_submit,
                                  .cancel = vswitch_cancel,
                                  .free = vswitch_free};
  vswitch->backend = (Backend){&vswitch->class, setup->name, setup->post, setup->post_data};
  vswitch->layout = setup->layout;
  vswitch->settings = setup->settings;
  vswitch->fresh = g_ptr_array_new();
  vswitch->desks = g_ptr_array_new_with_free_func(desk_free);
  vswitch->desk = g_new0(VswitchDesk *, setup->layout->n_nodes);
  vswitch->input = g_new0(char *, setup->layout->n_nodes);
  vswitch->ledger = ledger_new(&vswitch->backend, setup->layout, &ledger, vswitch);
  if (add_desks(vswitch, setup, error)) {
    vswitch->class.operations = operations_of(vswitch);
    return &vswitch->backend;
  }
  backend_free(&vswitch->backend);
  return NULL;
}

BACKEND_MODULE(vswitch, vswitch_new);
