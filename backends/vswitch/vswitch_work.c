#include "backends/vswitch/vswitch_private.h"

#include <string.h>

#include "model/keyboard.h"

static const struct {
  Operation operation;
  const char *script;
} power_scripts[] = {{OP_STATUS, "power-status"},
                     {OP_ON, "power-on"},
                     {OP_OFF, "power-off"},
                     {OP_RESET, "power-reset"}};

void
vswitch_work_free(gpointer data)
{
  VswitchWork *work = data;

  g_ptr_array_unref(work->items);
  g_strfreev(work->keys);
  g_free(work->remark);
  g_free(work);
}

/* ---- What there is to do ------------------------------------------------------------------- */

static gboolean
presses(Operation operation)
{
  return operation == OP_KEYS || operation == OP_TYPE;
}

static gboolean
has_keys(const VswitchWork *work)
{
  return presses(work->operation);
}

gboolean
vswitch_desk_connects(const VswitchDesk *desk)
{
  const DeviceScript *keys = device_script(desk->device, "keys");
  int in = device_parameter(desk->device, "in");

  return keys != NULL && device_script(desk->device, "connect") != NULL && in >= 0 &&
         !device_script_takes(keys, (guint)in);
}

static Keyboard
keyboard_of(const LedgerItem *item)
{
  return g_strcmp0(ledger_argument(item, "keyboard"), "de") == 0 ? KEYBOARD_DE : KEYBOARD_US;
}

/* NULL with an error. */
static char **
read_keys(const LedgerItem *item, GError **error)
{
  const char *keys = ledger_argument(item, "keys"), *text = ledger_argument(item, "text");

  if (item->operation == OP_TYPE)
    return keyboard_type(keyboard_of(item), text != NULL ? text : "", error);
  return keyboard_press(keys != NULL ? keys : "", error);
}

static const char *
script_name(const LedgerItem *item)
{
  if (item->operation == OP_ROUTE)
    return "connect";
  if (presses(item->operation))
    return "keys";
  for (guint i = 0; i < G_N_ELEMENTS(power_scripts); i++)
    if (power_scripts[i].operation == item->operation)
      return item->operation == OP_OFF && g_strcmp0(ledger_argument(item, "how"), "soft") == 0
                 ? "power-soft-off"
                 : power_scripts[i].script;
  g_assert_not_reached();
}

static VswitchWork *
work_new(LedgerItem *item, char **keys)
{
  VswitchWork *work = g_new0(VswitchWork, 1);

  work->items = g_ptr_array_new();
  g_ptr_array_add(work->items, item);
  work->operation = item->operation;
  work->node = item->node;
  work->keys = keys;
  item->work = work;
  return work;
}

/* A broadcast that is being put together for ITEM's request. */
static VswitchWork *
broadcast_for(VswitchDesk *desk, const LedgerItem *item)
{
  VswitchWork *last = g_queue_peek_tail(&desk->waiting);

  if (last == NULL || !last->broadcast || last->items->pdata[0] == NULL ||
      ledger_request(last->items->pdata[0]) != ledger_request(item))
    return NULL;
  return last;
}

static guint
count_of_request(const Vswitch *vswitch, const GPtrArray *fresh, const VswitchDesk *desk,
                 guint32 request)
{
  guint n = 0;

  for (guint i = 0; i < fresh->len; i++) {
    const LedgerItem *item = fresh->pdata[i];
    if (item != NULL && ledger_request(item) == request && vswitch->desk[item->node] == desk)
      n++;
  }
  return n;
}

/* FALSE: it was answered, and is gone. */
static gboolean
put(Vswitch *vswitch, const GPtrArray *fresh, LedgerItem *item)
{
  VswitchDesk *desk = vswitch->desk[item->node];
  g_autoptr(GError) error = NULL;
  gboolean keys = presses(item->operation);

  if (device_script(desk->device, script_name(item)) == NULL) {
    ledger_answer(item, VERDICT_UNSUPPORTED, "a %s cannot do that: it has no script %s",
                  desk->device->name, script_name(item));
    return FALSE;
  }
  gboolean all = keys && device_script(desk->device, "broadcast") != NULL && desk->n_nodes > 1 &&
                 count_of_request(vswitch, fresh, desk, ledger_request(item)) == desk->n_nodes;
  VswitchWork *work = all ? broadcast_for(desk, item) : NULL;
  if (work != NULL) {
    item->work = work;
    g_ptr_array_add(work->items, item);
    return TRUE;
  }
  char **read = keys ? read_keys(item, &error) : NULL;
  if (keys && read == NULL) {
    ledger_answer(item, VERDICT_FAILED, "%s", error->message);
    return FALSE;
  }
  work = work_new(item, read);
  work->broadcast = all;
  work->back = g_strcmp0(ledger_argument(item, "to"), "back") == 0;
  g_queue_push_tail(&desk->waiting, work);
  return TRUE;
}

void
vswitch_desk_sort(Vswitch *vswitch)
{
  g_autoptr(GPtrArray) fresh = vswitch->fresh;

  vswitch->fresh = g_ptr_array_new();
  for (guint i = 0; i < fresh->len; i++)
    if (!put(vswitch, fresh, fresh->pdata[i]))
      fresh->pdata[i] = NULL;
  for (guint i = 0; i < vswitch->desks->len; i++)
    vswitch_desk_next(vswitch->desks->pdata[i]);
}

/* ---- What is shown ------------------------------------------------------------------------- */

static gboolean
same_input(const char *a, const char *b)
{
  guint64 x, y;

  if (units_parse_count(a, G_MAXUINT32, &x, NULL) && units_parse_count(b, G_MAXUINT32, &y, NULL))
    return x == y;
  return strcmp(a, b) == 0;
}

void
vswitch_desk_shows(VswitchDesk *desk, const char *input)
{
  const Vswitch *vswitch = desk->owner;

  if (desk->shown != NULL && same_input(desk->shown, input))
    return;
  for (NodeId id = 0; id < vswitch->layout->n_nodes; id++) {
    if (vswitch->desk[id] != desk)
      continue;
    if (same_input(vswitch->input[id], input))
      ledger_observe(vswitch->ledger, id, "shown", "yes");
    else if (desk->shown == NULL || same_input(vswitch->input[id], desk->shown))
      ledger_observe(vswitch->ledger, id, "shown", "no");
  }
  g_free(desk->shown);
  desk->shown = g_strdup(input);
}

/* ---- Steps --------------------------------------------------------------------------------- */

static void on_done(Verdict verdict, const char *text, const DeviceTalk *talk, gpointer data);

static void
ask(VswitchDesk *desk, const char *name, const char *input, const char *key)
{
  Argument arguments[2];
  guint n = 0;

  if (input != NULL)
    arguments[n++] = (Argument){"in", input};
  if (key != NULL)
    arguments[n++] = (Argument){"key", key};
  desk->asking = device_script(desk->device, name);
  vswitch_unit_run(desk->unit, desk->asking, arguments, n, on_done, desk);
}

static void
answer_all(VswitchWork *work, Verdict verdict, const char *text)
{
  for (guint i = 0; i < work->items->len; i++) {
    LedgerItem *item = work->items->pdata[i];
    if (item == NULL)
      continue;
    work->items->pdata[i] = NULL;
    item->work = NULL;
    if (text == NULL)
      ledger_answer(item, verdict, NULL);
    else
      ledger_answer(item, verdict, "%s", text);
  }
}

static void
end_work(VswitchDesk *desk, Verdict verdict, const char *text)
{
  VswitchWork *work = desk->work;

  desk->work = NULL;
  desk->asking = NULL;
  answer_all(work, verdict, verdict == VERDICT_OK ? work->remark : text);
  vswitch_work_free(work);
  vswitch_desk_next(desk);
}

/* Whether it is to be asked what is shown, which is to be restored or gone back to. A device that
 * tells nobody of ties may have been told of others since. */
static gboolean
asks_first(const VswitchDesk *desk, const VswitchWork *work, gboolean first)
{
  return (work->operation == OP_ROUTE || (first && !work->connected && desk->saved == NULL)) &&
         (desk->shown == NULL || desk->device->states->len == 0) && !work->asked &&
         device_script(desk->device, "query") != NULL;
}

static void
ask_power(VswitchDesk *desk, const VswitchWork *work)
{
  const LedgerItem *item = work->items->pdata[0];

  ask(desk, script_name(item), desk->owner->input[work->node], NULL);
}

static void
ask_route(VswitchDesk *desk, const VswitchWork *work)
{
  if (!work->back)
    ask(desk, "connect", desk->owner->input[work->node], NULL);
  else if (desk->before->len > 0)
    ask(desk, "connect", desk->before->pdata[desk->before->len - 1], NULL);
  else
    end_work(desk, VERDICT_FAILED, "nothing was shown before, or nobody could say what");
}

/* What is next of the work; its end, when nothing is. */
static void
go_on(VswitchDesk *desk)
{
  VswitchWork *work = desk->work;
  const char *input = desk->owner->input[work->node];
  gboolean first = has_keys(work) && !work->broadcast && vswitch_desk_connects(desk);

  if (has_keys(work) && work->keys[work->at] == NULL)
    end_work(desk, VERDICT_OK, NULL);
  else if (asks_first(desk, work, first))
    ask(desk, "query", NULL, NULL);
  else if (first && !work->connected)
    ask(desk, "connect", input, NULL);
  else if (has_keys(work))
    ask(desk, work->broadcast ? "broadcast" : "keys", input, work->keys[work->at]);
  else if (work->operation == OP_ROUTE)
    ask_route(desk, work);
  else
    ask_power(desk, work);
}

static void
saw_power(VswitchDesk *desk, const VswitchWork *work, const DeviceTalk *talk)
{
  const char *power = device_talk_capture(talk, "power");
  gboolean on = power != NULL &&
                (strcmp(power, "on") == 0 || strcmp(power, "true") == 0 || strcmp(power, "1") == 0);

  if (power != NULL)
    ledger_observe(desk->owner->ledger, work->node, "power", on ? "on" : "off");
}

/* A picture stands: what was there before it is kept for the way back. */
static void
take_routed(VswitchDesk *desk, const VswitchWork *work)
{
  GPtrArray *before = desk->before;

  g_clear_pointer(&desk->saved, g_free);
  if (work->back) {
    vswitch_desk_shows(desk, before->pdata[before->len - 1]);
    g_ptr_array_remove_index(before, before->len - 1);
    return;
  }
  const char *input = desk->owner->input[work->node];
  if (desk->shown != NULL && !same_input(desk->shown, input)) {
    if (before->len == VSWITCH_MAX_BEFORE)
      g_ptr_array_remove_index(before, 0);
    g_ptr_array_add(before, g_strdup(desk->shown));
  }
  vswitch_desk_shows(desk, input);
}

/* A step went well. TRUE: the work has more of them, perhaps. */
static gboolean
take_success(VswitchDesk *desk, const DeviceTalk *talk)
{
  VswitchWork *work = desk->work;
  const char *name = desk->asking->name;
  const char *in = device_talk_capture(talk, "in");

  if (strcmp(name, "query") == 0) {
    if (in != NULL)
      vswitch_desk_shows(desk, in);
    return TRUE;
  }
  if (strcmp(name, "connect") == 0) {
    if (!has_keys(work)) {
      take_routed(desk, work);
      return FALSE;
    }
    if (desk->saved == NULL && desk->shown != NULL)
      desk->saved = g_strdup(desk->shown);
    vswitch_desk_shows(desk, desk->owner->input[work->node]);
    work->connected = TRUE;
    return TRUE;
  }
  if (!has_keys(work)) {
    saw_power(desk, work, talk);
    return FALSE;
  }
  work->at++;
  return TRUE;
}

static void
end_failed(VswitchDesk *desk, Verdict verdict, const char *text)
{
  const VswitchWork *work = desk->work;
  g_autofree char *whole = NULL;

  if (!has_keys(work) || !(work->connected || !vswitch_desk_connects(desk)))
    whole = g_strdup(text);
  else
    whole = g_strdup_printf("key %u of %u, %s: %s", work->at + 1, g_strv_length(work->keys),
                            work->keys[work->at], text);
  end_work(desk, verdict, whole);
}

static void
on_restored(Verdict verdict, const char *text, const DeviceTalk *talk, gpointer data)
{
  VswitchDesk *desk = data;
  (void)text;
  (void)talk;

  desk->asking = NULL;
  if (verdict == VERDICT_OK)
    vswitch_desk_shows(desk, desk->saved);
  g_clear_pointer(&desk->saved, g_free);
  vswitch_desk_next(desk);
}

static void
on_done(Verdict verdict, const char *text, const DeviceTalk *talk, gpointer data)
{
  VswitchDesk *desk = data;

  /* Without the question answered it goes on all the same: there is nothing to go back to then. */
  if (strcmp(desk->asking->name, "query") == 0) {
    desk->work->asked = TRUE;
    if (verdict != VERDICT_OK) {
      g_clear_pointer(&desk->shown, g_free);
      desk->work->remark = g_strdup_printf("what was shown before is not known: %s", text);
      go_on(desk);
      return;
    }
  }
  if (verdict != VERDICT_OK)
    end_failed(desk, verdict, text);
  else if (take_success(desk, talk))
    go_on(desk);
  else
    end_work(desk, VERDICT_OK, NULL);
}

/* Nobody waits, and the answer has come. */
static void
on_idle(gpointer data)
{
  VswitchDesk *desk = data;
  VswitchWork *work = g_steal_pointer(&desk->work);

  desk->broken_off = FALSE;
  desk->asking = NULL;
  if (work != NULL)
    vswitch_work_free(work);
  vswitch_desk_next(desk);
}

void
vswitch_desk_next(VswitchDesk *desk)
{
  if (desk->work != NULL || desk->broken_off || vswitch_unit_is_busy(desk->unit) ||
      desk->owner->closing)
    return;
  desk->work = g_queue_pop_head(&desk->waiting);
  if (desk->work != NULL) {
    go_on(desk);
    return;
  }
  if (desk->saved == NULL)
    return;
  Argument in = {"in", desk->saved};
  desk->asking = device_script(desk->device, "connect");
  vswitch_unit_run(desk->unit, desk->asking, &in, 1, on_restored, desk);
}

static gboolean
anybody_waits(const VswitchWork *work)
{
  for (guint i = 0; i < work->items->len; i++)
    if (work->items->pdata[i] != NULL)
      return TRUE;
  return FALSE;
}

void
vswitch_desk_forget(VswitchDesk *desk, LedgerItem *item)
{
  VswitchWork *work = item->work;

  if (work == NULL)
    return;
  for (guint i = 0; i < work->items->len; i++)
    if (work->items->pdata[i] == item)
      work->items->pdata[i] = NULL;
  if (anybody_waits(work))
    return;
  if (desk->work != work) {
    g_queue_remove(&desk->waiting, work);
    vswitch_work_free(work);
    return;
  }
  desk->broken_off = TRUE;
  vswitch_unit_forget(desk->unit, on_idle, desk);
  if (!vswitch_unit_is_busy(desk->unit))
    on_idle(desk);
}
