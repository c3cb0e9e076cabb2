#include "backends/libvirt/libvirt_private.h"
#include "model/keyboard.h"

/* So much before the deadline what is known is said: the ledger only knows that there is none. */
#define BEFORE_END_US 50000
/* A target without a deadline is not looked after for ever. */
#define LONGEST_US (G_GINT64_CONSTANT(600) * G_USEC_PER_SEC)
#define LOOK_MS 1000
/* A thread is busy with them as long as they take. */
#define MAX_KEYS 1000

typedef enum { STAGE_WAITING, STAGE_CALLED, STAGE_LOOKING } TargetStage;

struct LibvirtTarget {
  LedgerItem *item;
  LibvirtDomain *domain;
  TargetStage stage;
  gboolean soft, network;
  char **keys;      /* until they are its call's */
  gboolean taken;   /* libvirt said yes */
  LibvirtSeen seen; /* since it was called */
  LibvirtWork *work;
  guint deadline, look; /* sources */
};

static const char *
word(const LibvirtTarget *target)
{
  Operation operation = target->item->operation;

  return operation == OP_OFF && target->soft ? "soft off" : operation_name(operation);
}

/* Takes TEXT. */
static void
finish(const LibvirtTarget *target, Verdict verdict, char *text)
{
  g_autofree char *what = text;

  if (text == NULL)
    ledger_answer(target->item, verdict, NULL);
  else
    ledger_answer(target->item, verdict, "%s", what);
}

/* ---- What it comes to ---------------------------------------------------------------------- */

static gboolean
is_state(const LibvirtTarget *target)
{
  return target->item->operation == OP_ON || target->item->operation == OP_OFF;
}

static gboolean
is_as_asked(const LibvirtTarget *target)
{
  return target->seen == (target->item->operation == OP_ON ? SEEN_ON : SEEN_OFF);
}

static gboolean
on_look(gpointer data)
{
  libvirt_look(((LibvirtTarget *)data)->domain);
  return G_SOURCE_CONTINUE;
}

static void
look_on(LibvirtTarget *target)
{
  target->stage = STAGE_LOOKING;
  if (target->look == 0)
    target->look = g_timeout_add(LOOK_MS, on_look, target);
}

void
libvirt_target_saw(LibvirtTarget *target, LibvirtSeen seen)
{
  if (target->stage == STAGE_WAITING)
    return;
  target->seen = seen;
  if (seen == SEEN_NOTHING)
    return;
  if (target->item->operation == OP_STATUS ||
      (target->stage == STAGE_LOOKING && is_as_asked(target)))
    finish(target, VERDICT_OK, NULL);
}

void
libvirt_target_unseen(LibvirtTarget *target, const LibvirtCall *call)
{
  if (target->item->operation == OP_STATUS && target->stage == STAGE_CALLED)
    finish(target, VERDICT_FAILED, libvirt_say_failure(call, "status"));
}

void
libvirt_target_failed(LibvirtTarget *target)
{
  g_autofree char *trouble = NULL;

  if (target->item->sent)
    return;
  trouble = libvirt_host_trouble(target->domain->host);
  finish(target, VERDICT_FAILED,
         g_strdup_printf("libvirt at %s: %s", libvirt_host_uri(target->domain->host), trouble));
}

/* At the deadline, of what was sent. */
static char *
say_sent(const LibvirtTarget *target, Verdict *verdict)
{
  const LibvirtHost *host = target->domain->host;
  const char *state = target->seen == SEEN_ON ? "on" : "off";

  *verdict = VERDICT_UNKNOWN;
  if (is_state(target) && target->seen != SEEN_NOTHING) {
    *verdict = VERDICT_TIMEOUT;
    return libvirt_say(host, "%s %s, but it is still %s",
                       target->taken ? "said yes to" : "was told", word(target), state);
  }
  return libvirt_say(host, "was told %s once and has answered nothing since; look at the machine",
                     word(target));
}

static char *
say_not_sent(const LibvirtTarget *target)
{
  const LibvirtHost *host = target->domain->host;

  if (libvirt_host_is_up(host) && target->item->operation == OP_STATUS)
    return libvirt_say(host, "did not tell its state in time");
  if (libvirt_host_is_up(host))
    return libvirt_say(host, "was busy with what was asked before; %s was not sent", word(target));
  g_autofree char *trouble = libvirt_host_trouble(host);
  return g_strdup_printf("libvirt at %s: %s; %s was not sent", libvirt_host_uri(host), trouble,
                         word(target));
}

static gboolean
on_deadline(gpointer data)
{
  LibvirtTarget *target = data;
  Verdict verdict = VERDICT_TIMEOUT;

  target->deadline = 0;
  if (target->item->sent && is_state(target) && is_as_asked(target))
    finish(target, VERDICT_OK, NULL);
  else if (target->item->sent)
    finish(target, verdict, say_sent(target, &verdict));
  else
    finish(target, VERDICT_TIMEOUT, say_not_sent(target));
  return G_SOURCE_REMOVE;
}

/* ---- Its call ------------------------------------------------------------------------------ */

/* The connection broke under way: what can be seen is looked for, when it is there again. */
static void
take_loss(LibvirtTarget *target, const LibvirtCall *call)
{
  if (is_state(target))
    look_on(target);
  else
    finish(target, VERDICT_UNKNOWN,
           libvirt_say(call->host, "was told %s once, and the connection broke: %s", word(target),
                       call->message));
}

static void
take_answer(LibvirtTarget *target, const LibvirtCall *call)
{
  target->work = NULL;
  if (call->unsent) {
    g_autofree char *why = libvirt_say_no_connection(call);
    finish(target, VERDICT_FAILED,
           g_strdup_printf("libvirt at %s: %s", libvirt_host_uri(call->host), why));
  } else if (call->code != 0 && call->lost) {
    take_loss(target, call);
  } else if (call->code != 0) {
    finish(target, VERDICT_FAILED, libvirt_say_failure(call, word(target)));
  } else {
    target->taken = TRUE;
    if (!is_state(target) || is_as_asked(target))
      finish(target, VERDICT_OK, NULL);
    else
      look_on(target);
  }
}

static void
work_done(LibvirtCall *call)
{
  LibvirtWork *work = (LibvirtWork *)call;
  LibvirtDomain *domain = work->domain;

  domain->acting = FALSE;
  if (work->seen != SEEN_NOTHING && !libvirt_call_is_old(call)) {
    /* What libvirt told since it was called is as new, or newer. */
    gboolean old = work->events != domain->events && domain->seen != SEEN_NOTHING;
    libvirt_saw(domain, old ? domain->seen : work->seen);
  }
  if (work->target != NULL)
    take_answer(work->target, call);
}

static void
make_call(LibvirtTarget *target)
{
  static const LibvirtCallClass class = {
      .work = libvirt_work, .done = work_done, .clear = libvirt_work_clear};
  LibvirtDomain *domain = target->domain;
  LibvirtWork *work = libvirt_call_new(sizeof *work, &class, domain->called);

  work->call.changes = TRUE;
  work->target = target;
  work->domain = domain;
  work->operation = target->item->operation;
  work->soft = target->soft;
  work->network = target->network;
  work->keys = g_steal_pointer(&target->keys);
  work->events = domain->events;
  target->work = work;
  target->stage = STAGE_CALLED;
  target->item->sent = TRUE;
  domain->acting = TRUE;
  libvirt_host_call(domain->host, &work->call);
}

void
libvirt_target_pump(LibvirtTarget *target)
{
  LibvirtDomain *domain = target->domain;

  if (!libvirt_host_is_up(domain->host))
    return;
  if (target->item->operation == OP_STATUS) {
    target->stage = STAGE_CALLED;
    libvirt_look(domain);
  } else if (target->stage == STAGE_WAITING && !domain->acting &&
             libvirt_host_has_place(domain->host)) {
    make_call(target);
  }
}

/* ---- Beginning and end --------------------------------------------------------------------- */

static gboolean
read_keys(LibvirtTarget *target, GError **error)
{
  const char *keys = ledger_argument(target->item, "keys");
  const char *text = ledger_argument(target->item, "text");
  const char *keyboard = ledger_argument(target->item, "keyboard");

  if (target->item->operation == OP_KEYS)
    target->keys = keyboard_press(keys != NULL ? keys : "", error);
  else
    target->keys = keyboard_type(g_strcmp0(keyboard, "de") == 0 ? KEYBOARD_DE : KEYBOARD_US,
                                 text != NULL ? text : "", error);
  if (target->keys != NULL && g_strv_length(target->keys) > MAX_KEYS) {
    g_set_error(error, KEYBOARD_ERROR, 0, "more than %d keys at once", MAX_KEYS);
    return FALSE;
  }
  return target->keys != NULL;
}

/* FALSE with an error when they make no sense. */
static gboolean
read_arguments(LibvirtTarget *target, GError **error)
{
  const char *how = ledger_argument(target->item, "how");
  const char *device = ledger_argument(target->item, "device");

  target->soft = g_strcmp0(how, "soft") == 0;
  target->network = g_strcmp0(device, "pxe") == 0;
  if (target->item->operation == OP_KEYS || target->item->operation == OP_TYPE)
    return read_keys(target, error);
  if (target->item->operation == OP_BOOT_DEVICE
          ? target->network || g_strcmp0(device, "disk") == 0
          : target->soft || how == NULL || g_str_equal(how, "hard"))
    return TRUE;
  g_set_error(error, BACKEND_ERROR, 0,
              "a domain goes off soft or hard, and boots from pxe or disk");
  return FALSE;
}

void
libvirt_target_begin(LedgerItem *item, LibvirtDomain *domain)
{
  gint64 now = g_get_monotonic_time();
  gint64 left = MIN(item->deadline - BEFORE_END_US - now, LONGEST_US);
  LibvirtTarget *target = g_new0(LibvirtTarget, 1);
  g_autoptr(GError) error = NULL;

  item->work = target;
  target->item = item;
  target->domain = domain;
  g_queue_push_tail(&domain->targets, target);
  if (!read_arguments(target, &error)) {
    finish(target, VERDICT_FAILED, g_strdup(error->message));
    return;
  }
  target->deadline = g_timeout_add((guint)(MAX(left, 0) / 1000), on_deadline, target);
  libvirt_host_want(domain->host);
  libvirt_target_pump(target);
}

void
libvirt_target_end(LibvirtTarget *target)
{
  if (target->work != NULL)
    target->work->target = NULL;
  if (target->deadline != 0)
    g_source_remove(target->deadline);
  if (target->look != 0)
    g_source_remove(target->look);
  g_queue_remove(&target->domain->targets, target);
  g_strfreev(target->keys);
  g_free(target);
}
