#include "backends/ipmi/ipmi_private.h"

#define NS_PER_US 1000
#define POLL_FIRST_US 100000
#define POLL_LAST_US 1000000
#define RETRY_US 500000
/* What was seen so lately is not looked at again before it is changed. */
#define LATELY_US (10 * G_USEC_PER_SEC)

struct IpmiJob {
  IpmiBmc *bmc;
  const IpmiTarget *target; /* NULL: it has its result */
  gint64 end_us;
  guint slow; /* source: it has its place so long */
  GCancellable *resolving;
  GSocketAddress *address;
  IpmiSession *session;
  GSource *timer; /* next look or attempt; NULL none */
  gint64 pause_us;
  void (*next)(IpmiJob *job);
  gboolean sent;  /* the control command is out */
  guint8 refused; /* it was, and came back with this code; 0: it did not */
  gboolean taken; /* and was answered well */
  gboolean seen;  /* since then */
  gboolean on;    /* as last seen */
};

static void look(IpmiJob *job);
static void reach(IpmiJob *job);

static const char *
word(const IpmiJob *job)
{
  return ipmi_operation_word(job->target);
}

/* ---- The end ------------------------------------------------------------------------------- */

static void
timer_clear(IpmiJob *job)
{
  if (job->timer == NULL)
    return;
  g_source_destroy(job->timer);
  g_source_unref(job->timer);
  job->timer = NULL;
}

static void
on_over(IpmiTrouble trouble, guint code, const IpmiReply *reply, gpointer data)
{
  IpmiJob *job = data;

  (void)trouble;
  (void)code;
  (void)reply;
  ipmi_over(job->bmc);
}

static gboolean
on_nothing_left(gpointer data)
{
  ipmi_over(((IpmiJob *)data)->bmc);
  return G_SOURCE_REMOVE;
}

/* A BMC that hangs answers the session that it hung in, and no later one. */
static void
note_heard(const IpmiJob *job)
{
  if (job->session != NULL && ipmi_session_is_answered(job->session))
    job->bmc->heard = TRUE;
}

static void
run_later(IpmiJob *job, gint64 us, GSourceFunc function)
{
  timer_clear(job);
  job->timer = g_timeout_source_new((guint)(us / 1000));
  g_source_set_callback(job->timer, function, job, NULL);
  g_source_attach(job->timer, NULL);
}

void
ipmi_job_wind_up(IpmiJob *job)
{
  note_heard(job);
  job->target = NULL;
  timer_clear(job);
  if (job->resolving != NULL)
    g_cancellable_cancel(job->resolving);
  if (job->session != NULL)
    ipmi_session_close(job->session, on_over, job);
  else
    run_later(job, 0, on_nothing_left);
}

/* Takes TEXT, and winds up. */
static void
finish(IpmiJob *job, Verdict verdict, char *text)
{
  g_autofree char *what = text;

  if (verdict != VERDICT_OK && job->target->item->operation == OP_STATUS)
    ipmi_unseen(job->target, verdict, what);
  if (text == NULL)
    ledger_answer(job->target->item, verdict, NULL);
  else
    ledger_answer(job->target->item, verdict, "%s", what);
}

void
ipmi_job_free(IpmiJob *job)
{
  if (job == NULL)
    return;
  timer_clear(job);
  if (job->slow != 0)
    g_source_remove(job->slow);
  if (job->resolving != NULL)
    g_cancellable_cancel(job->resolving);
  g_clear_object(&job->resolving);
  g_clear_object(&job->address);
  ipmi_session_free(job->session);
  g_free(job);
}

static char *
say_unseen(const IpmiJob *job)
{
  if (job->seen)
    return ipmi_say(job->bmc, "was told %s once and the answer got lost; the power is %s",
                    word(job), job->on ? "on" : "off");
  return ipmi_say(job->bmc, "was told %s once and has answered nothing since; look at the machine",
                  word(job));
}

/* What is known of a command that is out. */
static char *
say_sent(const IpmiJob *job, Verdict *verdict)
{
  gboolean state = job->target->item->operation == OP_ON || job->target->item->operation == OP_OFF;

  *verdict = VERDICT_UNKNOWN;
  if (!state || !job->seen)
    return say_unseen(job);
  *verdict = VERDICT_TIMEOUT;
  return ipmi_say(job->bmc, "%s %s, but the power is still %s",
                  job->taken ? "said yes to" : "was told", word(job), job->on ? "on" : "off");
}

static char *
say_late(const IpmiJob *job)
{
  if (job->bmc->heard)
    return ipmi_say(job->bmc,
                    "answers too slowly for %s, and nothing was changed; a longer `deadline` helps "
                    "it, or if it has hung a cold reset of the BMC",
                    word(job));
  return ipmi_say(job->bmc,
                  "did not answer in time for %s, and nothing was changed; is it on the network, "
                  "and IPMI over LAN enabled on it?",
                  word(job));
}

void
ipmi_job_expire(IpmiJob *job)
{
  Verdict verdict = VERDICT_TIMEOUT;

  note_heard(job);
  char *text = job->sent ? say_sent(job, &verdict) : say_late(job);
  finish(job, verdict, text);
}

/* ---- Again --------------------------------------------------------------------------------- */

static gboolean
on_pause_over(gpointer data)
{
  IpmiJob *job = data;

  timer_clear(job);
  job->next(job);
  return G_SOURCE_REMOVE;
}

/* The deadline, which ends all this, is the target's and not looked at here. */
static void
pause_before(IpmiJob *job, gint64 us, void (*next)(IpmiJob *job))
{
  job->next = next;
  run_later(job, us, on_pause_over);
}

static void
on_closed(IpmiTrouble trouble, guint code, const IpmiReply *reply, gpointer data)
{
  IpmiJob *job = data;

  (void)trouble;
  (void)code;
  (void)reply;
  g_clear_pointer(&job->session, ipmi_session_free);
  reach(job);
}

static void
reach_anew(IpmiJob *job)
{
  note_heard(job);
  ipmi_session_close(job->session, on_closed, job);
}

/* Before the command is out a trouble is the end; after it there may still be something to see. */
static void
take_trouble(IpmiJob *job, IpmiTrouble trouble, guint code)
{
  if (trouble == TROUBLE_SILENT && job->bmc->heard)
    trouble = TROUBLE_LOST;
  if (job->sent)
    pause_before(job, RETRY_US, reach_anew);
  else
    finish(job, ipmi_trouble_verdict(trouble), ipmi_say_trouble(job->bmc, trouble, code));
}

/* ---- Power --------------------------------------------------------------------------------- */

static guint8
control_of(const IpmiTarget *target)
{
  switch (target->item->operation) {
  case OP_ON:
    return IPMI_CHASSIS_CONTROL_POWER_UP;
  case OP_OFF:
    return target->soft ? IPMI_CHASSIS_CONTROL_INITIATE_SOFT_SHUTDOWN
                        : IPMI_CHASSIS_CONTROL_POWER_DOWN;
  case OP_RESET:
    return IPMI_CHASSIS_CONTROL_HARD_RESET;
  default:
    g_assert_not_reached();
  }
}

/* How long the one answer is waited for, ns: half of what is left, so that there is time to look
 * what came of it. Of a reset there is little to see, so longer. */
static gint64
answer_wait(const IpmiJob *job)
{
  gint64 left = (job->end_us - g_get_monotonic_time()) * NS_PER_US;
  gint64 look = MIN(left / 2, 2 * job->bmc->patience);

  return MAX(job->target->item->operation == OP_RESET ? left - look : left / 2, NS_PER_US);
}

/* The answer may be lost and the session good: the look that follows is its trial. */
static void
on_controlled(IpmiTrouble trouble, guint code, const IpmiReply *reply, gpointer data)
{
  IpmiJob *job = data;

  (void)code;
  if (trouble != TROUBLE_NONE || reply->code == IPMI_COMP_CODE_COMMAND_TIMEOUT) {
    pause_before(job, RETRY_US, look);
    return;
  }
  if (reply->code != IPMI_COMP_CODE_COMMAND_SUCCESS) {
    /* Perhaps because it is so already, which may not have been looked at just before. */
    job->refused = reply->code;
    job->sent = job->target->item->sent = FALSE;
    look(job);
    return;
  }
  job->taken = TRUE;
  if (job->target->item->operation == OP_RESET)
    finish(job, VERDICT_OK, NULL);
  else
    look(job);
}

static void
control(IpmiJob *job)
{
  IpmiCommand command = {.request = IPMI_CONTROL, .argument = control_of(job->target)};

  job->sent = job->target->item->sent = TRUE;
  job->seen = FALSE;
  job->bmc->seen_us = 0;
  ipmi_session_ask_once(job->session, &command, answer_wait(job), on_controlled, job);
}

static void
judge(IpmiJob *job)
{
  Operation operation = job->target->item->operation;

  if (operation == OP_STATUS || (operation != OP_RESET && job->on == (operation == OP_ON)))
    finish(job, VERDICT_OK, NULL);
  else if (job->refused != 0)
    finish(job, VERDICT_FAILED, ipmi_say_code(job->bmc, word(job), job->refused));
  else if (job->sent && operation == OP_RESET)
    finish(job, VERDICT_UNKNOWN, say_unseen(job));
  else if (job->sent) {
    pause_before(job, job->pause_us, look);
    job->pause_us = MIN(2 * job->pause_us, POLL_LAST_US);
  } else if (operation == OP_RESET && !job->on)
    finish(job, VERDICT_FAILED,
           g_strdup_printf("it is off, and a reset does not switch it on; `power on %s` does",
                           job->bmc->name));
  else
    control(job);
}

static void
on_status(IpmiTrouble trouble, guint code, const IpmiReply *reply, gpointer data)
{
  IpmiJob *job = data;

  if (trouble != TROUBLE_NONE) {
    take_trouble(job, trouble, code);
  } else if (reply->code == IPMI_COMP_CODE_COMMAND_SUCCESS) {
    job->on = reply->on;
    job->seen = TRUE;
    ipmi_seen(job->bmc, reply->on);
    judge(job);
  } else if (job->sent) {
    pause_before(job, POLL_LAST_US, look);
  } else {
    finish(job, VERDICT_FAILED, ipmi_say_code(job->bmc, "status", reply->code));
  }
}

static void
look(IpmiJob *job)
{
  static const IpmiCommand command = {.request = IPMI_STATUS};

  ipmi_session_ask(job->session, &command, on_status, job);
}

/* ---- Boot device --------------------------------------------------------------------------- */

static void
on_boot_read(IpmiTrouble trouble, guint code, const IpmiReply *reply, gpointer data)
{
  IpmiJob *job = data;

  if (trouble != TROUBLE_NONE)
    take_trouble(job, trouble, code);
  else if (reply->code == IPMI_COMP_CODE_COMMAND_SUCCESS && reply->valid &&
           reply->device == job->target->device)
    finish(job, VERDICT_OK, NULL);
  else
    finish(job, VERDICT_UNKNOWN,
           ipmi_say(job->bmc, "was told %s once, the answer got lost, and it does not show it",
                    word(job)));
}

static void
on_boot_set(IpmiTrouble trouble, guint code, const IpmiReply *reply, gpointer data)
{
  IpmiJob *job = data;

  if (trouble != TROUBLE_NONE)
    take_trouble(job, trouble, code);
  else if (reply->code == IPMI_COMP_CODE_COMMAND_SUCCESS)
    finish(job, VERDICT_OK, NULL);
  else
    finish(job, VERDICT_FAILED, ipmi_say_code(job->bmc, word(job), reply->code));
}

static void
boot_device(IpmiJob *job)
{
  static const IpmiCommand get = {.request = IPMI_GET_BOOT};
  IpmiCommand set = {.request = IPMI_SET_BOOT,
                     .argument = job->target->device,
                     .efi = job->bmc->efi,
                     .persistent = job->bmc->persistent};

  if (job->sent) {
    ipmi_session_ask(job->session, &get, on_boot_read, job);
    return;
  }
  job->sent = job->target->item->sent = TRUE;
  ipmi_session_ask_once(job->session, &set, answer_wait(job), on_boot_set, job);
}

/* It was seen lately, and otherwise than it is to be. Should it have changed by itself since then,
 * telling it so does nothing. */
static gboolean
is_due(const IpmiJob *job)
{
  const IpmiBmc *bmc = job->bmc;
  Operation operation = job->target->item->operation;

  return !job->sent && (operation == OP_ON || operation == OP_OFF) && bmc->seen_us > 0 &&
         g_get_monotonic_time() - bmc->seen_us < LATELY_US && bmc->on != (operation == OP_ON);
}

/* ---- To the BMC ---------------------------------------------------------------------------- */

static void
on_open(IpmiTrouble trouble, guint code, const IpmiReply *reply, gpointer data)
{
  IpmiJob *job = data;
  IpmiBmc *bmc = job->bmc;

  (void)reply;
  if (ipmi_is_about_suite(trouble, code) && bmc->suite + 1 < bmc->n_suites) {
    bmc->suite++;
    reach_anew(job);
    return;
  }
  if (trouble != TROUBLE_NONE) {
    take_trouble(job, trouble, code);
    /* Next time from the first on: it may be another BMC by then. */
    if (ipmi_is_about_suite(trouble, code))
      bmc->suite = 0;
    return;
  }
  if (job->target->item->operation == OP_BOOT_DEVICE)
    boot_device(job);
  else if (is_due(job))
    control(job);
  else
    look(job);
}

static void
reach(IpmiJob *job)
{
  IpmiBmc *bmc = job->bmc;

  job->session = ipmi_session_new(job->address, &bmc->account, bmc->suites[bmc->suite],
                                  bmc->retransmit, bmc->patience);
  ipmi_session_open(job->session, on_open, job);
}

static void
on_resolved(GObject *source, GAsyncResult *result, gpointer data)
{
  IpmiJob *job = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(GSocketAddress) address =
      g_socket_address_enumerator_next_finish(G_SOCKET_ADDRESS_ENUMERATOR(source), result, &error);

  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return; /* the job may be gone */
  g_clear_object(&job->resolving);
  if (address == NULL) {
    finish(job, VERDICT_FAILED, ipmi_say_unresolved(job->bmc, error));
    return;
  }
  job->address = g_steal_pointer(&address);
  reach(job);
}

static gboolean
on_slow(gpointer data)
{
  IpmiJob *job = data;

  job->slow = 0;
  ipmi_slow(job->bmc);
  return G_SOURCE_REMOVE;
}

IpmiJob *
ipmi_job_new(IpmiTarget *target)
{
  IpmiJob *job = g_new0(IpmiJob, 1);

  job->bmc = target->bmc;
  job->target = target;
  job->end_us = target->end_us;
  job->pause_us = POLL_FIRST_US;
  return job;
}

void
ipmi_job_start(IpmiJob *job)
{
  g_autoptr(GSocketAddressEnumerator) places = g_socket_connectable_enumerate(job->bmc->place);

  job->slow = g_timeout_add((guint)(job->bmc->retransmit / TIME_MS), on_slow, job);
  job->resolving = g_cancellable_new();
  g_socket_address_enumerator_next_async(places, job->resolving, on_resolved, job);
}
