#include "backends/powerman/powerman.h"

#include <string.h>

#include "backends/ledger.h"
#include "backends/powerman/powerman_line.h"
#include "model/nodeset.h"

/* Of a command line to powermand; it takes some more. */
#define MAX_PLUGS 1000
/* Between two looks whether it is off (or on) at last, ms. */
#define LOOK_AGAIN 1000

typedef struct Powerman Powerman;

typedef struct Device Device;

/* Nodes of one request that one device serves: one command, and then looks at their status, since
 * for many devices powermand calls done what was only said. */
typedef struct {
  Device *device;
  Operation operation;
  gboolean looking;
  char *refusal;     /* what the command ended with, if with errors */
  GPtrArray *items;  /* of LedgerItem; NULL: over */
  GHashTable *state; /* plug → `on`, `off`, `unknown` as powermand said */
  guint rest;        /* timer, to the next look */
} Batch;

struct Device {
  Powerman *owner;
  PowermanLine *line;
  GQueue waiting;     /* of Batch */
  Batch *batch;       /* under way */
  GPtrArray *resting; /* of Batch: between two looks */
};

struct Powerman {
  Backend backend;
  const Layout *layout;
  Ledger *ledger;
  char **plugs; /* by node */
  char *address;
  GPtrArray *fresh;    /* of LedgerItem: begun in this turn of the loop */
  guint sort;          /* idle source that sorts them, 0 none */
  PowermanLine *asks;  /* for the devices */
  gboolean asked;      /* the devices are known */
  GPtrArray *devices;  /* of Device */
  GHashTable *by_plug; /* plug → Device */
};

static void start_batch(Device *device);

/* ---- Batches ------------------------------------------------------------------------------- */

static void
batch_free(gpointer data)
{
  Batch *batch = data;

  if (batch->rest > 0)
    g_source_remove(batch->rest);
  g_ptr_array_unref(batch->items);
  g_hash_table_unref(batch->state);
  g_free(batch->refusal);
  g_free(batch);
}

static const char *
plug_of(const LedgerItem *item, const Powerman *powerman)
{
  return powerman->plugs[item->node];
}

static gboolean
is_over(const Batch *batch)
{
  for (guint i = 0; i < batch->items->len; i++)
    if (batch->items->pdata[i] != NULL)
      return FALSE;
  return TRUE;
}

static char *
command_of(const Powerman *powerman, const Batch *batch)
{
  Operation operation = batch->looking ? OP_STATUS : batch->operation;
  const char *verb = operation == OP_STATUS ? "status"
                     : operation == OP_ON   ? "on"
                     : operation == OP_OFF  ? "off"
                                            : "reset";
  g_autoptr(GString) text = g_string_new(verb);
  char separator = ' ';

  for (guint i = 0; i < batch->items->len; i++) {
    const LedgerItem *item = batch->items->pdata[i];
    if (item == NULL)
      continue;
    g_string_append_printf(text, "%c%s", separator, plug_of(item, powerman));
    separator = ',';
  }
  return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Takes ITEM off its batch, so that nothing more is done for it, and gives its place free. */
static void
forget(Batch *batch, const LedgerItem *item)
{
  for (guint i = 0; i < batch->items->len; i++)
    if (batch->items->pdata[i] == item)
      batch->items->pdata[i] = NULL;
}

/* ---- Answers ------------------------------------------------------------------------------- */

static void
said(guint code, const char *text, gpointer data)
{
  const Device *device = data;
  const char *colon = strstr(text, ": ");

  if (code != 303 || colon == NULL)
    return;
  g_hash_table_insert(device->batch->state, g_strndup(text, (gsize)(colon - text)),
                      g_strdup(colon + 2));
}

static void
answer_status(Powerman *powerman, const Batch *batch, LedgerItem *item, const char *text)
{
  const char *plug = plug_of(item, powerman);
  const char *state = g_hash_table_lookup(batch->state, plug);

  if (g_strcmp0(state, "on") == 0 || g_strcmp0(state, "off") == 0) {
    ledger_observe(powerman->ledger, item->node, "power", state);
    ledger_answer(item, VERDICT_OK, NULL);
  } else if (state != NULL) {
    ledger_answer(item, VERDICT_UNKNOWN, "powerman does not know the state of %s: %s", plug, state);
  } else {
    ledger_answer(item, VERDICT_FAILED, "powerman says nothing of %s: %s", plug, text);
  }
}

/* What is seen decides. Where the command ended with errors, nobody knows of whom, the first look
 * is the last; else there is time until shortly before the deadline. */
static void
answer_look(Powerman *powerman, const Batch *batch, LedgerItem *item)
{
  const char *state = g_hash_table_lookup(batch->state, plug_of(item, powerman));
  gboolean on = g_strcmp0(state, "on") == 0, off = g_strcmp0(state, "off") == 0;
  gint64 next = g_get_monotonic_time() + 2 * LOOK_AGAIN * 1000;

  if (on || off)
    ledger_observe(powerman->ledger, item->node, "power", state);
  if (batch->operation == OP_ON ? on : off)
    ledger_answer(item, VERDICT_OK, NULL);
  else if (batch->refusal != NULL && (on || off))
    ledger_answer(item, VERDICT_FAILED, "powerman could not, it is still %s: %s", state,
                  batch->refusal);
  else if (batch->refusal != NULL)
    ledger_answer(item, VERDICT_UNKNOWN, "it may have happened: %s", batch->refusal);
  else if (item->deadline < next && (on || off))
    ledger_answer(item, VERDICT_TIMEOUT, "powerman calls it done, but it is still %s", state);
  else if (item->deadline < next)
    ledger_answer(item, VERDICT_UNKNOWN, "powerman calls it done, and does not know its state");
}

static void
answer_item(Powerman *powerman, const Batch *batch, LedgerItem *item, guint code, const char *text,
            gboolean sent)
{
  gboolean asks = batch->operation == OP_STATUS;

  if (batch->looking)
    answer_look(powerman, batch, item);
  else if (code == 0 && sent && !asks)
    ledger_answer(item, VERDICT_UNKNOWN, "it may have happened: %s", text);
  else if (code == 0)
    ledger_answer(item, VERDICT_FAILED, "%s", text);
  else if (asks)
    answer_status(powerman, batch, item, text);
  else if (code >= 200)
    ledger_answer(item, VERDICT_FAILED, "powerman: %s", text);
  else
    ledger_answer(item, VERDICT_OK, NULL);
}

static gboolean
look_again(gpointer data)
{
  Batch *batch = data;
  Device *device = batch->device;

  batch->rest = 0;
  g_ptr_array_remove(device->resting, batch);
  g_queue_push_tail(&device->waiting, batch);
  start_batch(device);
  return G_SOURCE_REMOVE;
}

/* Only 1xx is success; 210 is `completed with errors`. */
static void
done(guint code, const char *text, gboolean sent, gpointer data)
{
  Device *device = data;
  Batch *batch = device->batch;
  gboolean changes = batch->operation == OP_ON || batch->operation == OP_OFF;

  if (changes && !batch->looking && ((code >= 100 && code < 200) || code == 210)) {
    batch->looking = TRUE;
    batch->refusal = code == 210 ? g_strdup(text) : NULL;
    g_autofree char *look = command_of(device->owner, batch);
    powerman_line_send(device->line, look, said, done, device);
    return;
  }
  device->batch = NULL;
  for (guint i = 0; i < batch->items->len; i++) {
    LedgerItem *item = batch->items->pdata[i];
    if (item != NULL)
      answer_item(device->owner, batch, item, code, text, sent);
  }
  if (is_over(batch)) {
    batch_free(batch);
  } else {
    g_hash_table_remove_all(batch->state);
    g_ptr_array_add(device->resting, batch);
    batch->rest = g_timeout_add(LOOK_AGAIN, look_again, batch);
  }
  start_batch(device);
}

static void
start_batch(Device *device)
{
  if (device->batch != NULL)
    return;
  while ((device->batch = g_queue_pop_head(&device->waiting)) != NULL && is_over(device->batch))
    batch_free(device->batch);
  if (device->batch == NULL)
    return;
  Batch *batch = device->batch;
  for (guint i = 0; i < batch->items->len; i++)
    if (batch->items->pdata[i] != NULL)
      ((LedgerItem *)batch->items->pdata[i])->sent = TRUE;
  g_autofree char *command = command_of(device->owner, batch);
  powerman_line_send(device->line, command, said, done, device);
}

/* ---- Devices ------------------------------------------------------------------------------- */

static void
device_free(gpointer data)
{
  Device *device = data;
  Batch *batch;

  powerman_line_free(device->line);
  while ((batch = g_queue_pop_head(&device->waiting)) != NULL)
    batch_free(batch);
  if (device->batch != NULL)
    batch_free(device->batch);
  for (guint i = 0; i < device->resting->len; i++)
    batch_free(device->resting->pdata[i]);
  g_ptr_array_unref(device->resting);
  g_free(device);
}

static void
add_device(Powerman *powerman, const char *hosts)
{
  g_autoptr(Nodeset) set = nodeset_parse(hosts, NULL, NULL, NULL);
  Device *device = g_new0(Device, 1);

  device->owner = powerman;
  device->line = powerman_line_new(powerman->address);
  g_queue_init(&device->waiting);
  device->resting = g_ptr_array_new();
  g_ptr_array_add(powerman->devices, device);
  for (guint i = 0; set != NULL && i < nodeset_count(set); i++)
    g_hash_table_insert(powerman->by_plug, g_strdup(nodeset_name(set, i)), device);
}

/* `bmcs: state=connected reconnects=000 actions=006 type=ipmipower hosts=a[01-03]` */
static void
device_said(guint code, const char *text, gpointer data)
{
  const char *hosts = strstr(text, " hosts=");

  if (code == 304 && hosts != NULL)
    add_device(data, hosts + strlen(" hosts="));
}

static Batch *
batch_for(Device *device, GPtrArray *batches, const LedgerItem *item)
{
  for (guint i = 0; i < batches->len; i++) {
    Batch *batch = batches->pdata[i];
    if (batch->device == device && batch->operation == item->operation &&
        batch->items->len < MAX_PLUGS)
      return batch;
  }
  Batch *batch = g_new0(Batch, 1);
  batch->device = device;
  batch->operation = item->operation;
  batch->items = g_ptr_array_new();
  batch->state = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  g_queue_push_tail(&device->waiting, batch);
  g_ptr_array_add(batches, batch);
  return batch;
}

static void
put_item(Powerman *powerman, GPtrArray *batches, LedgerItem *item)
{
  Device *device = g_hash_table_lookup(powerman->by_plug, plug_of(item, powerman));

  if (device == NULL) {
    ledger_answer(item, VERDICT_FAILED, "powerman at %s has no node %s", powerman->address,
                  plug_of(item, powerman));
    return;
  }
  Batch *batch = batch_for(device, batches, item);
  item->work = batch;
  g_ptr_array_add(batch->items, item);
}

static void
put_fresh(Powerman *powerman)
{
  g_autoptr(GPtrArray) batches = g_ptr_array_new();
  g_autoptr(GPtrArray) fresh = powerman->fresh;

  powerman->fresh = g_ptr_array_new();
  for (guint i = 0; i < fresh->len; i++)
    put_item(powerman, batches, fresh->pdata[i]);
  for (guint i = 0; i < powerman->devices->len; i++)
    start_batch(powerman->devices->pdata[i]);
}

static void
devices_done(guint code, const char *text, gboolean sent, gpointer data)
{
  Powerman *powerman = data;
  (void)sent;

  if (code >= 100 && code < 200) {
    powerman->asked = TRUE;
    put_fresh(powerman);
    return;
  }
  /* It may have told of some: the next time it is asked for all. */
  g_hash_table_remove_all(powerman->by_plug);
  g_ptr_array_set_size(powerman->devices, 0);
  g_autoptr(GPtrArray) fresh = powerman->fresh;
  powerman->fresh = g_ptr_array_new();
  for (guint i = 0; i < fresh->len; i++)
    ledger_answer(fresh->pdata[i], VERDICT_FAILED, "%s", text);
}

/* ---- The backend --------------------------------------------------------------------------- */

static gboolean
sort_fresh(gpointer data)
{
  Powerman *powerman = data;

  powerman->sort = 0;
  if (powerman->asked)
    put_fresh(powerman);
  else if (!powerman_line_is_busy(powerman->asks))
    powerman_line_send(powerman->asks, "device", device_said, devices_done, powerman);
  return G_SOURCE_REMOVE;
}

static void
begin(LedgerItem *item, gpointer data)
{
  Powerman *powerman = data;

  if (item->operation == OP_OFF && g_strcmp0(ledger_argument(item, "how"), "soft") == 0) {
    ledger_answer(item, VERDICT_FAILED,
                  "powerman cannot ask a system to shut down; without `soft` it cuts the power");
    return;
  }
  /* Those of one request begin in one turn of the loop: they go together. */
  g_ptr_array_add(powerman->fresh, item);
  if (powerman->sort == 0)
    powerman->sort = g_idle_add_full(G_PRIORITY_DEFAULT, sort_fresh, powerman, NULL);
}

static void
end(LedgerItem *item, gpointer data)
{
  Powerman *powerman = data;
  Batch *batch = item->work;

  g_ptr_array_remove(powerman->fresh, item);
  if (batch == NULL)
    return;
  forget(batch, item);
  /* What nobody waits for any more must not keep the next from being asked. */
  for (guint i = 0; i < powerman->devices->len; i++) {
    Device *device = powerman->devices->pdata[i];
    if (device->batch != batch || !is_over(batch))
      continue;
    powerman_line_drop(device->line);
    device->batch = NULL;
    batch_free(batch);
    start_batch(device);
    return;
  }
}

static void
powerman_start(Backend *backend, gint64 now)
{
  (void)now;
  ledger_link(((Powerman *)backend)->ledger, TRUE, "");
}

static void
powerman_submit(Backend *backend, gint64 now, const RequestEvent *request)
{
  ledger_submit(((Powerman *)backend)->ledger, now, request);
}

static void
powerman_cancel(Backend *backend, gint64 now, guint32 request)
{
  (void)now;
  ledger_cancel(((Powerman *)backend)->ledger, request);
}

static void
powerman_free(Backend *backend)
{
  Powerman *powerman = (Powerman *)backend;

  if (powerman->sort > 0)
    g_source_remove(powerman->sort);
  powerman_line_free(powerman->asks);
  g_ptr_array_set_size(powerman->devices, 0);
  ledger_free(powerman->ledger);
  g_ptr_array_unref(powerman->devices);
  g_ptr_array_unref(powerman->fresh);
  g_hash_table_unref(powerman->by_plug);
  for (NodeId id = 0; id < powerman->layout->n_nodes; id++)
    g_free(powerman->plugs[id]);
  g_free(powerman->plugs);
  g_free(powerman->address);
  g_free(powerman);
}

static const BackendClass powerman_class = {
    .name = "powerman",
    .operations = 1u << OP_STATUS | 1u << OP_ON | 1u << OP_OFF | 1u << OP_RESET,
    .start = powerman_start,
    .submit = powerman_submit,
    .cancel = powerman_cancel,
    .free = powerman_free,
};

/* What goes onto powermand's line is one word of a list there. */
static gboolean
is_plug(const char *plug)
{
  if (*plug == '\0' || strlen(plug) > 64)
    return FALSE;
  for (const char *p = plug; *p != '\0'; p++)
    if (!g_ascii_isalnum(*p) && strchr("._-", *p) == NULL)
      return FALSE;
  return TRUE;
}

static gboolean
read_plugs(Powerman *powerman, const BackendSetup *setup, GError **error)
{
  powerman->plugs = g_new0(char *, setup->layout->n_nodes);
  for (NodeId id = 0; id < setup->layout->n_nodes; id++) {
    powerman->plugs[id] = layout_setting_text(setup->layout, setup->settings, id, "plug");
    if (is_plug(powerman->plugs[id]))
      continue;
    g_set_error(error, BACKEND_ERROR, 0, "%s: plug of %s: `%s` is no name", setup->name,
                setup->layout->nodes[id].name, powerman->plugs[id]);
    return FALSE;
  }
  return TRUE;
}

Backend *
powerman_new(const BackendSetup *setup, GError **error)
{
  static const LedgerClass ledger = {.begin = begin, .end = end, .one_each_node = TRUE};
  Powerman *powerman = g_new0(Powerman, 1);

  powerman->backend = (Backend){&powerman_class, setup->name, setup->post, setup->post_data};
  powerman->layout = setup->layout;
  powerman->address = layout_setting_text(setup->layout, setup->settings, NODE_NONE, "address");
  powerman->asks = powerman_line_new(powerman->address);
  powerman->fresh = g_ptr_array_new();
  powerman->devices = g_ptr_array_new_with_free_func(device_free);
  powerman->by_plug = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  powerman->ledger = ledger_new(&powerman->backend, setup->layout, &ledger, powerman);
  if (read_plugs(powerman, setup, error))
    return &powerman->backend;
  backend_free(&powerman->backend);
  return NULL;
}
