#include "backends/vswitch/vswitch_unit.h"

#include <string.h>

#include "backends/secret.h"
#include "backends/vswitch/device_template.h"

#define FIRST_RETRY TIME_SECOND
#define LAST_RETRY (30 * TIME_SECOND)
#define OPENING (10 * TIME_SECOND)
/* What a serial line says that long after a script without an answer is still that one's. */
#define SETTLE TIME_SECOND

typedef enum { CLOSED, BEING_OPENED, SETTING_UP, READY } UnitState;

struct VswitchUnit {
  const Device *device;
  char *address;
  guint n_standing;
  char *keys[DEVICE_MAX_PARAMETERS], *standing[DEVICE_MAX_PARAMETERS];
  char **headers; /* HTTPS; NULL: none */
  VswitchUnitHooks hooks;
  gpointer data;
  VswitchLine *line;
  DeviceTalk *talk;
  UnitState state;
  const DeviceScript *setting_up; /* login or init, while SETTING_UP */
  guint timer;
  gint64 opening_until;
  gint64 retry, retry_at; /* the wait now, and when it may be tried again */
  char *cause;            /* why it is down */
  gint64 settled_at;
  gint64 keep_alive_at;

  /* What is asked of it. */
  const DeviceScript *script; /* NULL: idle */
  DeviceValues *values;       /* until it is begun */
  gboolean begun, keeping_alive, in_step, told_up;
  VswitchDone done;
  void (*idle)(gpointer data);
  gpointer done_data;
};

static void work(VswitchUnit *unit);

static gint64
now_ns(void)
{
  return g_get_monotonic_time() * 1000;
}

/* ---- Values -------------------------------------------------------------------------------- */

static gboolean
is_given(const Argument *arguments, guint n, const char *key)
{
  for (guint i = 0; i < n; i++)
    if (strcmp(arguments[i].key, key) == 0)
      return TRUE;
  return FALSE;
}

/* Of what stands and what is given SCRIPT gets what it takes; the latter counts. */
static DeviceValues *
values_for(const VswitchUnit *unit, const DeviceScript *script, const Argument *arguments, guint n,
           GError **error)
{
  Argument all[2 * DEVICE_MAX_PARAMETERS];
  guint n_all = 0;

  for (guint i = 0; i < unit->n_standing; i++) {
    int parameter = device_parameter(unit->device, unit->keys[i]);
    if (parameter >= 0 && device_script_takes(script, (guint)parameter) &&
        !is_given(arguments, n, unit->keys[i]))
      all[n_all++] = (Argument){unit->keys[i], unit->standing[i]};
  }
  for (guint i = 0; i < n && n_all < G_N_ELEMENTS(all); i++) {
    int parameter = device_parameter(unit->device, arguments[i].key);
    if (parameter >= 0 && device_script_takes(script, (guint)parameter))
      all[n_all++] = arguments[i];
  }
  return device_values_new(unit->device, script, all, n_all, error);
}

static gboolean
fill_headers(VswitchUnit *unit, GError **error)
{
  const DeviceScript *headers = unit->device->headers;

  if (headers == NULL)
    return TRUE;
  g_autoptr(DeviceValues) values = values_for(unit, headers, NULL, 0, error);
  if (values == NULL)
    return FALSE;
  unit->headers = g_new0(char *, headers->n_steps + 1);
  for (guint i = 0; i < headers->n_steps; i++) {
    GString *text = g_string_new(NULL);
    if (!device_template_fill(headers->steps[i].send, values, text, error)) {
      g_string_free(text, TRUE);
      return FALSE;
    }
    unit->headers[i] = g_string_free(text, FALSE);
  }
  return TRUE;
}

/* ---- Setting up ---------------------------------------------------------------------------- */

/* A login without its secret is none: a device that has no password set does not ask for one. */
static gboolean
wants_login(const VswitchUnit *unit)
{
  const DeviceScript *login = device_script(unit->device, "login");
  g_autoptr(DeviceValues) values = login != NULL ? values_for(unit, login, NULL, 0, NULL) : NULL;

  return values != NULL;
}

static const DeviceScript *
next_setup(const VswitchUnit *unit)
{
  const DeviceScript *init = device_script(unit->device, "init");

  if (unit->setting_up == NULL && wants_login(unit))
    return device_script(unit->device, "login");
  return unit->setting_up == init ? NULL : init;
}

static void
finish(VswitchUnit *unit, Verdict verdict, const char *text)
{
  VswitchDone done = unit->done;
  void (*idle)(gpointer) = unit->idle;
  gpointer data = unit->done_data;

  unit->script = NULL;
  unit->done = NULL;
  unit->idle = NULL;
  unit->begun = FALSE;
  g_clear_pointer(&unit->values, device_values_free);
  if (done != NULL)
    done(verdict, text, unit->talk, data);
  else if (idle != NULL)
    idle(data);
}

/* What waited and was not begun has failed with the same cause. */
static void
go_down(VswitchUnit *unit, const char *cause)
{
  gboolean was_up = unit->state == READY;
  gint64 now = now_ns();

  vswitch_line_close(unit->line);
  unit->state = CLOSED;
  unit->setting_up = NULL;
  unit->keeping_alive = FALSE;
  unit->retry = was_up ? FIRST_RETRY : CLAMP(unit->retry * 2, FIRST_RETRY, LAST_RETRY);
  unit->retry_at = now + unit->retry;
  g_free(unit->cause);
  unit->cause = g_strdup_printf("%s: %s", unit->address, cause);
  unit->told_up = FALSE;
  unit->hooks.link(FALSE, unit->cause, unit->data);
  if (unit->script != NULL && !unit->begun)
    finish(unit, VERDICT_FAILED, unit->cause);
}

/* ---- The conversation ---------------------------------------------------------------------- */

static void
begin(VswitchUnit *unit, const DeviceScript *script, DeviceValues *values)
{
  /* Whatever came unasked is told, and taken for no answer. */
  if (unit->state != CLOSED)
    device_talk_begin(unit->talk, script, values, now_ns());
  else
    device_values_free(values);
}

static gboolean
begin_setup(VswitchUnit *unit)
{
  g_autoptr(GError) error = NULL;
  const DeviceScript *next = next_setup(unit);

  if (next == NULL)
    return FALSE;
  DeviceValues *values = values_for(unit, next, NULL, 0, &error);
  unit->setting_up = next;
  if (values != NULL)
    begin(unit, next, values);
  else
    go_down(unit, error->message);
  return TRUE;
}

static void
tell_up(VswitchUnit *unit)
{
  if (unit->told_up)
    return;
  unit->told_up = TRUE;
  g_autofree char *text = g_strdup_printf("%s: connected", unit->address);
  unit->hooks.link(TRUE, text, unit->data);
}

static void
set_up_more(VswitchUnit *unit)
{
  if (begin_setup(unit))
    return;
  unit->state = READY;
  unit->setting_up = NULL;
  unit->retry = 0;
  g_clear_pointer(&unit->cause, g_free);
  unit->keep_alive_at = now_ns() + unit->device->keep_alive;
  /* Over HTTPS only an answer shows that somebody is there. */
  if (unit->device->framing != DEVICE_MESSAGES)
    tell_up(unit);
}

static void
begin_script(VswitchUnit *unit)
{
  vswitch_line_drain(unit->line);
  /* What it said may have been its good-bye. */
  if (unit->state != READY || unit->script == NULL || unit->begun)
    return;
  unit->begun = TRUE;
  begin(unit, unit->script, g_steal_pointer(&unit->values));
}

static void
begin_keep_alive(VswitchUnit *unit)
{
  const DeviceScript *script = device_script(unit->device, "keep-alive");
  DeviceValues *values = values_for(unit, script, NULL, 0, NULL);

  unit->keep_alive_at = now_ns() + unit->device->keep_alive;
  if (values == NULL)
    return;
  unit->keeping_alive = TRUE;
  begin(unit, script, values);
}

/* After a run without an answer the connection begins anew. */
static void
start_anew(VswitchUnit *unit)
{
  vswitch_line_close(unit->line);
  unit->state = CLOSED;
  unit->setting_up = NULL;
  if (unit->device->offers[DEVICE_SERIAL])
    unit->settled_at = now_ns() + SETTLE;
}

/* The run of the conversation has ended, in whatever way. */
static void
run_ended(VswitchUnit *unit)
{
  Verdict verdict = device_talk_verdict(unit->talk);
  g_autofree char *text = g_strdup(device_talk_text(unit->talk));
  gboolean answered = verdict == VERDICT_OK || verdict == VERDICT_FAILED;

  unit->keep_alive_at = now_ns() + unit->device->keep_alive;
  if (unit->state == SETTING_UP) {
    g_autofree char *cause = g_strdup_printf("%s: %s", unit->setting_up->name, text);
    if (verdict == VERDICT_OK)
      set_up_more(unit);
    else
      go_down(unit, cause);
    return;
  }
  if (unit->keeping_alive) {
    unit->keeping_alive = FALSE;
    if (!answered)
      go_down(unit, "it does not answer any more");
    return;
  }
  if (unit->state == READY && !answered)
    start_anew(unit);
  else if (answered)
    tell_up(unit);
  finish(unit, verdict, text);
}

static void
send_due(VswitchUnit *unit)
{
  char bytes[4096];
  gsize n;

  while (unit->state >= SETTING_UP && !vswitch_line_is_writing(unit->line) &&
         (n = device_talk_take(unit->talk, bytes, sizeof bytes, now_ns())) > 0)
    vswitch_line_write(unit->line, bytes, n, (const char *const *)unit->headers);
  explicit_bzero(bytes, sizeof bytes);
}

static gboolean
is_running(const VswitchUnit *unit)
{
  return (unit->state == SETTING_UP && unit->setting_up != NULL) || unit->keeping_alive ||
         unit->begun;
}

/* ---- Time ---------------------------------------------------------------------------------- */

static gboolean
on_timer(gpointer data)
{
  VswitchUnit *unit = data;

  unit->timer = 0;
  device_talk_tick(unit->talk, now_ns());
  work(unit);
  return G_SOURCE_REMOVE;
}

static void
set_timer(VswitchUnit *unit)
{
  gint64 now = now_ns(), due = device_talk_due(unit->talk);

  if (unit->timer > 0)
    g_source_remove(unit->timer);
  unit->timer = 0;
  if (unit->state == BEING_OPENED)
    due = MIN(due, unit->opening_until);
  if (unit->state == CLOSED && unit->script != NULL)
    due = MIN(due, unit->settled_at);
  if (unit->state == READY && unit->device->keep_alive > 0 && unit->script == NULL)
    due = MIN(due, unit->keep_alive_at);
  if (due == TIME_NEVER)
    return;
  gint64 ms = (MAX(due - now, 0) + TIME_MS - 1) / TIME_MS;
  unit->timer = g_timeout_add((guint)MIN(ms, G_MAXINT), on_timer, unit);
}

static void
open_line(VswitchUnit *unit)
{
  gint64 now = now_ns();

  if (now < unit->retry_at && unit->cause != NULL) {
    g_autofree char *wait = units_print((double)(unit->retry_at - now) / 1e9, DIMENSION_TIME);
    g_autofree char *text = g_strdup_printf("%s; it is tried again after %s", unit->cause, wait);
    finish(unit, VERDICT_FAILED, text);
    return;
  }
  if (now < unit->settled_at)
    return;
  unit->state = BEING_OPENED;
  unit->opening_until = now + OPENING;
  vswitch_line_open(unit->line);
}

/* Whatever can go on now does. Not from within itself: what is told on the way may ask for more. */
static void
work(VswitchUnit *unit)
{
  if (unit->in_step)
    return;
  unit->in_step = TRUE;
  for (gboolean more = TRUE; more;) {
    gboolean was_running = is_running(unit);
    more = FALSE;
    if (was_running && device_talk_is_over(unit->talk)) {
      run_ended(unit);
      more = TRUE;
    } else if (unit->state == BEING_OPENED && now_ns() >= unit->opening_until) {
      go_down(unit, "no connection within 10 s");
      more = TRUE;
    } else if (!was_running && unit->script != NULL && unit->state == READY) {
      begin_script(unit);
      more = TRUE;
    } else if (!was_running && unit->script != NULL && unit->state == CLOSED) {
      open_line(unit);
      more = unit->script != NULL && now_ns() >= unit->settled_at;
    } else if (!was_running && unit->state == READY && unit->device->keep_alive > 0 &&
               now_ns() >= unit->keep_alive_at) {
      begin_keep_alive(unit);
    }
    if (unit->state == BEING_OPENED)
      more = FALSE;
    send_due(unit);
    more = more || (is_running(unit) && device_talk_is_over(unit->talk));
  }
  unit->in_step = FALSE;
  set_timer(unit);
}

/* ---- What the line tells ------------------------------------------------------------------- */

static void
on_opened(gpointer data)
{
  VswitchUnit *unit = data;

  unit->state = SETTING_UP;
  set_up_more(unit);
  work(unit);
}

static void
on_heard(const char *bytes, gsize n, gpointer data)
{
  VswitchUnit *unit = data;

  if (unit->device->framing == DEVICE_MESSAGES)
    device_talk_hear_message(unit->talk, bytes, n, now_ns());
  else
    device_talk_hear(unit->talk, bytes, n, now_ns());
  work(unit);
}

/* What was running ends with the cause; a device that goes away in a run may have done it. */
static void
on_broke(const char *cause, gboolean unsent, gpointer data)
{
  VswitchUnit *unit = data;
  gboolean running = unit->begun;

  if (unsent)
    device_talk_take_back(unit->talk);
  device_talk_break(unit->talk, cause);
  go_down(unit, cause);
  if (running && unit->begun) {
    g_autofree char *text = g_strdup(device_talk_text(unit->talk));
    finish(unit, device_talk_verdict(unit->talk), text);
  }
  work(unit);
}

/* ---- Asking -------------------------------------------------------------------------------- */

VswitchUnit *
vswitch_unit_new(const VswitchPlace *place, const Argument *standing, guint n,
                 const VswitchUnitHooks *hooks, gpointer data, GError **error)
{
  static const VswitchLineHooks line_hooks = {on_opened, on_heard, on_broke};
  g_autoptr(VswitchUnit) unit = g_new0(VswitchUnit, 1);

  g_assert(n < DEVICE_MAX_PARAMETERS);
  unit->device = place->device;
  unit->address = g_strdup(place->address);
  unit->hooks = *hooks;
  unit->data = data;
  unit->n_standing = n;
  for (guint i = 0; i < n; i++) {
    unit->keys[i] = g_strdup(standing[i].key);
    unit->standing[i] = g_strdup(standing[i].value);
  }
  unit->line = vswitch_line_new(place, &line_hooks, unit);
  unit->talk = device_talk_new(unit->device, &hooks->talk, data);
  return fill_headers(unit, error) ? g_steal_pointer(&unit) : NULL;
}

void
vswitch_unit_free(VswitchUnit *unit)
{
  if (unit == NULL)
    return;
  if (unit->timer > 0)
    g_source_remove(unit->timer);
  vswitch_line_free(unit->line);
  device_talk_free(unit->talk);
  device_values_free(unit->values);
  for (guint i = 0; i < unit->n_standing; i++) {
    g_free(unit->keys[i]);
    secret_free(unit->standing[i]);
  }
  for (guint i = 0; unit->headers != NULL && unit->headers[i] != NULL; i++)
    explicit_bzero(unit->headers[i], strlen(unit->headers[i]));
  g_strfreev(unit->headers);
  g_free(unit->address);
  g_free(unit->cause);
  g_free(unit);
}

static gboolean
start_work(gpointer data)
{
  VswitchUnit *unit = data;

  unit->timer = 0;
  work(unit);
  return G_SOURCE_REMOVE;
}

void
vswitch_unit_run(VswitchUnit *unit, const DeviceScript *script, const Argument *arguments, guint n,
                 VswitchDone done, gpointer data)
{
  g_autoptr(GError) error = NULL;

  g_assert(unit->script == NULL);
  unit->values = values_for(unit, script, arguments, n, &error);
  if (unit->values == NULL) {
    done(VERDICT_FAILED, error->message, unit->talk, data);
    return;
  }
  unit->script = script;
  unit->done = done;
  unit->done_data = data;
  if (unit->timer > 0)
    g_source_remove(unit->timer);
  unit->timer = g_idle_add(start_work, unit);
}

gboolean
vswitch_unit_is_busy(const VswitchUnit *unit)
{
  return unit->script != NULL;
}

gboolean
vswitch_unit_has_begun(const VswitchUnit *unit)
{
  return unit->begun;
}

void
vswitch_unit_forget(VswitchUnit *unit, void (*idle)(gpointer data), gpointer data)
{
  unit->done = NULL;
  unit->idle = idle;
  unit->done_data = data;
  if (!unit->begun) {
    unit->script = NULL;
    unit->idle = NULL;
    g_clear_pointer(&unit->values, device_values_free);
  }
}
