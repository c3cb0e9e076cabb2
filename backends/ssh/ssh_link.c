#include <glib-unix.h>
#include <libssh/server.h>
#include <string.h>
#include <unistd.h>

#include "backends/ssh/ssh_link_private.h"
#include "backends/ssh/ssh_private.h"
#include "backends/ssh/ssh_text.h"
#include "backends/ssh/ssh_trust.h"

#define RETRY_FIRST (G_USEC_PER_SEC / 2)
/* Of reading in one go, before others have their turn. */
#define PUMPS_AT_ONCE 64
#define CAUSE_MAX 300

static void run(SshLink *link);

/* ---- What it is ------------------------------------------------------------------------------ */

SshBackend *
ssh_link_backend(const SshLink *link)
{
  return link->ssh;
}

NodeId
ssh_link_node(const SshLink *link)
{
  return link->node;
}

const char *
ssh_link_name(const SshLink *link)
{
  return link->name;
}

const char *
ssh_link_source(const SshLink *link)
{
  return link->source;
}

const char *
ssh_link_shell(const SshLink *link)
{
  return link->host->shell;
}

gboolean
ssh_link_is_up(const SshLink *link)
{
  return link->state == LINK_UP;
}

const char *
ssh_link_trouble(const SshLink *link)
{
  static const char *const stages[] = {
      [LINK_DOWN] = "it is not connected",
      [LINK_WAITING] = "it is not connected",
      [LINK_QUEUED] = "others were being connected to",
      [LINK_REACHING] = "no connection yet",
      [LINK_GREETING] = "the host had not greeted yet",
      [LINK_PROVING] = "the host had not let us in yet",
      [LINK_ASKING] = "the agent had not answered yet",
      [LINK_UP] = "it is connected, and busy",
  };
  return link->cause != NULL && link->state != LINK_UP ? link->cause : stages[link->state];
}

static gboolean
on_timer(gpointer data)
{
  run(data);
  return G_SOURCE_CONTINUE;
}

static gboolean
dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
  (void)source;
  return callback(data);
}

static GSourceFuncs timer_class = {.dispatch = dispatch};

SshLink *
ssh_link_new(SshBackend *ssh, NodeId node, const char *name, SshHost *host)
{
  SshLink *link = g_new0(SshLink, 1);
  link->ssh = ssh;
  link->node = node;
  link->name = g_strdup(name);
  link->source = g_strdup_printf("%s:%s", ssh->base.name, name);
  link->host = host;
  link->commands = g_ptr_array_new();
  link->due = G_MAXINT64;
  return link;
}

/* One that nobody wants has no timer: a loop looks at each it has, and labs have thousands. */
static void
clear_timer(SshLink *link)
{
  if (link->timer == NULL)
    return;
  g_source_destroy(link->timer);
  g_clear_pointer(&link->timer, g_source_unref);
}

void
ssh_link_wake(SshLink *link)
{
  /* While it runs it looks at everything again before it rests. */
  if (link->running)
    return;
  if (link->timer == NULL) {
    link->timer = g_source_new(&timer_class, sizeof(GSource));
    g_source_set_callback(link->timer, on_timer, link, NULL);
    g_source_attach(link->timer, NULL);
  }
  g_source_set_ready_time(link->timer, 0);
}

void
ssh_link_hurry(SshLink *link)
{
  if (link->state == LINK_WAITING)
    link->due = g_get_monotonic_time();
  ssh_link_wake(link);
}

static void
say(SshLink *link, gboolean up, const char *text)
{
  Event event = {.kind = EVENT_LINK, .link = {.name = link->source, .up = up, .text = text}};
  link->told = TRUE;
  ssh_post(link->ssh, &event);
}

/* ---- Connections being made at once ---------------------------------------------------------- */

/* One that others go through does not wait behind those who wait for it. */
static gboolean
enter_gate(SshLink *link)
{
  SshGate *gate = &link->ssh->gate;
  if (link->node == NODE_NONE || link->gated)
    return TRUE;
  if (gate->n >= gate->max) {
    g_queue_push_tail(&gate->waiting, link);
    return FALSE;
  }
  gate->n++;
  link->gated = TRUE;
  return TRUE;
}

static void
leave_gate(SshLink *link)
{
  SshGate *gate = &link->ssh->gate;
  g_queue_remove(&gate->waiting, link);
  if (!link->gated)
    return;
  link->gated = FALSE;
  gate->n--;
  SshLink *next = g_queue_pop_head(&gate->waiting);
  if (next == NULL)
    return;
  next->gated = TRUE;
  gate->n++;
  ssh_link_wake(next);
}

/* ---- Its end --------------------------------------------------------------------------------- */

static void
unwatch(SshLink *link)
{
  if (link->watch != 0)
    g_source_remove(link->watch);
  link->watch = 0;
}

static void
hang_up(SshLink *link)
{
  unwatch(link);
  leave_gate(link);
  ssh_reach_cancel(link);
  ssh_prove_abandon(link);
  for (guint i = 0; i < link->commands->len; i++)
    ssh_command_detach(g_ptr_array_index(link->commands, i));
  if (link->session != NULL) {
    ssh_channel_free(link->pump);
    ssh_disconnect(link->session);
    ssh_free(link->session);
  }
  ssh_tunnel_close(link);
  link->pump = NULL;
  link->session = NULL;
  link->due = G_MAXINT64;
  link->asked = FALSE;
  link->state = LINK_DOWN;
}

/* Growing from RETRY_FIRST to `retry`, and by up to a quarter more that differs by host, so that a
 * room that went down at once does not come back at once. */
static gint64
retry_after(const SshLink *link)
{
  gint64 delay = RETRY_FIRST;
  for (guint i = 1; i < link->tries && delay < link->host->retry; i++)
    delay *= 2;
  delay = MIN(delay, link->host->retry);
  guint32 draw = g_str_hash(link->name) * 2654435761u + link->tries * 40503u;
  return delay + delay / 4 * (gint64)(draw >> 16) / 65536;
}

void
ssh_link_fail(SshLink *link, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *raw = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  char *cause = ssh_printable(raw, strlen(raw), CAUSE_MAX);
  gboolean was_up = link->state == LINK_UP;
  gboolean news = was_up || !link->told || g_strcmp0(cause, link->cause) != 0;
  hang_up(link);
  g_free(link->cause);
  link->cause = cause;
  link->tries = was_up ? 1 : link->tries + 1;
  link->failures++;
  link->state = LINK_WAITING;
  link->due = g_get_monotonic_time() + retry_after(link);
  if (news)
    say(link, FALSE, link->cause);
  ssh_link_wake(link);
}

void
ssh_link_drop(SshLink *link, const char *cause)
{
  g_assert(!link->running);
  if (link->state == LINK_UP)
    ssh_link_fail(link, "%s", cause);
}

void
ssh_link_free(SshLink *link)
{
  if (link == NULL)
    return;
  link->running = TRUE;
  hang_up(link);
  while (link->commands->len > 0)
    ssh_command_drop(g_ptr_array_steal_index(link->commands, 0));
  g_ptr_array_unref(link->commands);
  ssh_after_free(link->after);
  clear_timer(link);
  ssh_host_free(link->host);
  g_free(link->cause);
  g_free(link->name);
  g_free(link->source);
  g_free(link);
}

/* ---- Its beginning --------------------------------------------------------------------------- */

static void
begin(SshLink *link)
{
  link->state = LINK_QUEUED;
  link->due = G_MAXINT64;
  if (!enter_gate(link))
    return;
  link->state = LINK_REACHING;
  link->due = g_get_monotonic_time() + link->host->connect;
  ssh_reach(link);
}

void
ssh_link_reached(SshLink *link, int fd)
{
  GError *error = NULL;
  link->session = ssh_host_session(link->host, &error);
  if (link->session == NULL) {
    if (fd >= 0)
      close(fd);
    ssh_link_fail(link, "%s", error->message);
    g_error_free(error);
    return;
  }
  if (fd >= 0)
    ssh_options_set(link->session, SSH_OPTIONS_FD, &fd);
  link->counter = (struct ssh_counter_struct){0};
  link->state = LINK_GREETING;
  ssh_link_wake(link);
}

static void
come_up(SshLink *link)
{
  link->state = LINK_UP;
  link->due = G_MAXINT64;
  link->tries = 0;
  link->heard = link->used = g_get_monotonic_time();
  link->heard_bytes = 0;
  ssh_lease_reset(link);
  ssh_set_counters(link->session, &link->counter, NULL);
  link->pump = ssh_channel_new(link->session);
  leave_gate(link);
  g_autofree char *text = g_strdup_printf("%s: connected as %s to %s port %u", link->name,
                                          link->host->user, link->host->address, link->host->port);
  say(link, TRUE, text);
}

static void
greet(SshLink *link)
{
  GError *error = NULL;
  int status = ssh_connect(link->session);
  if (status == SSH_AGAIN)
    return;
  if (status != SSH_OK) {
    ssh_link_fail(link, "%s", ssh_get_error(link->session));
    return;
  }
  if (!ssh_trust(link->host, link->session, &error)) {
    ssh_link_fail(link, "%s", error->message);
    g_error_free(error);
    return;
  }
  link->state = LINK_PROVING;
  link->next_key = 0;
  link->due = g_get_monotonic_time() + link->host->auth;
}

static void
prove(SshLink *link)
{
  GError *error = NULL;
  if (ssh_prove(link, &error)) {
    come_up(link);
  } else if (error != NULL) {
    ssh_link_fail(link, "%s", error->message);
    g_error_free(error);
  }
}

/* The state's own deadline has come. */
static void
be_late(SshLink *link)
{
  const SshHost *host = link->host;
  switch (link->state) {
  case LINK_WAITING:
    begin(link);
    break;
  case LINK_REACHING:
    ssh_link_fail(link, "%s port %u gave no answer within %.1f s", host->address, host->port,
                  (double)host->connect / 1e6);
    break;
  case LINK_GREETING:
    ssh_link_fail(link, "%s port %u took the connection and said nothing more within %.1f s",
                  host->address, host->port, (double)host->connect / 1e6);
    break;
  case LINK_PROVING:
  case LINK_ASKING:
    ssh_link_fail(link, "it did not say within %.1f s whether %s may in", (double)host->auth / 1e6,
                  host->user);
    break;
  default:
    break;
  }
}

/* ---- While it is up -------------------------------------------------------------------------- */

/* FALSE: the connection has ended. */
static gboolean
pump(SshLink *link, gint64 now)
{
  gboolean alive = ssh_channel_poll(link->pump, 0) != SSH_ERROR && ssh_is_connected(link->session);
  if (link->counter.in_bytes != link->heard_bytes) {
    link->heard_bytes = link->counter.in_bytes;
    link->heard = now;
    link->asked = FALSE;
  }
  return alive;
}

static gint64
silence_due(const SshLink *link)
{
  return link->heard + link->host->keep_alive * (link->asked ? 2 : 1);
}

static void
keep_alive(SshLink *link, gint64 now)
{
  if (now < silence_due(link))
    return;
  if (link->asked) {
    ssh_link_fail(link, "the host has been silent for %.1f s", (double)(now - link->heard) / 1e6);
    return;
  }
  link->asked = TRUE;
  /* The first takes the answer to the one before, if there was one, and sends nothing. */
  ssh_send_keepalive(link->session);
  ssh_send_keepalive(link->session);
}

static guint
count_open(const SshLink *link)
{
  guint n = 0;
  for (guint i = 0; i < link->commands->len; i++)
    n += ssh_command_is_open(g_ptr_array_index(link->commands, i));
  return n;
}

/* Those that end leave the list, and what they call may add others to its end. */
static void
step_commands(SshLink *link, gint64 now)
{
  guint n_open = count_open(link);
  for (guint i = 0; i < link->commands->len;) {
    SshCommand *command = g_ptr_array_index(link->commands, i);
    gboolean was_open = ssh_command_is_open(command);
    if (command != link->lease)
      link->used = now;
    if (ssh_command_step(command, n_open < SSH_CHANNELS_MAX || command == link->lease, now)) {
      n_open -= was_open;
      continue;
    }
    n_open += !was_open && ssh_command_is_open(command);
    i++;
  }
}

static void
serve(SshLink *link)
{
  gint64 now = g_get_monotonic_time();
  for (guint i = 0; i < PUMPS_AT_ONCE && link->n_choked == 0; i++) {
    guint64 before = link->heard_bytes;
    gboolean alive = pump(link, now);
    step_commands(link, now);
    if (!alive) {
      const char *why = ssh_get_error(link->session);
      ssh_link_fail(link, "the connection has ended: %s",
                    *why != '\0' ? why : "closed by the host");
      return;
    }
    if (link->heard_bytes == before)
      break;
  }
  keep_alive(link, now);
  if (link->state == LINK_UP)
    ssh_lease_step(link, now);
  if (link->state == LINK_UP && ssh_lease_is_idle(link) && now - link->used >= link->host->idle) {
    say(link, FALSE, "closed, having had nothing to do");
    hang_up(link);
  }
}

void
ssh_link_choke(SshLink *link, gboolean choked)
{
  link->n_choked += choked ? 1 : -1;
  ssh_link_wake(link);
}

/* ---- What makes it go ------------------------------------------------------------------------ */

static void
fail_commands(SshLink *link, gint64 now)
{
  const char *cause = link->cause != NULL ? link->cause : "closed";
  for (guint i = 0; i < link->commands->len;)
    if (!ssh_command_without(g_ptr_array_index(link->commands, i), cause, now))
      i++;
}

static gboolean
on_ready(gint fd, GIOCondition condition, gpointer data)
{
  (void)fd;
  (void)condition;
  run(data);
  return G_SOURCE_CONTINUE;
}

static void
rewatch(SshLink *link)
{
  int fd = link->session != NULL && link->state != LINK_ASKING ? ssh_get_fd(link->session) : -1;
  GIOCondition condition = link->n_choked > 0 ? 0 : G_IO_IN | G_IO_HUP | G_IO_ERR;
  if (fd >= 0 && (ssh_get_poll_flags(link->session) & SSH_WRITE_PENDING) != 0)
    condition |= G_IO_OUT;
  if (link->watch != 0 && fd == link->watched && condition == link->watched_for)
    return;
  unwatch(link);
  if (fd < 0 || condition == 0)
    return;
  link->watched = fd;
  link->watched_for = condition;
  link->watch = g_unix_fd_add(fd, condition, on_ready, link);
}

static gint64
next_due(const SshLink *link)
{
  gint64 due = link->due;
  for (guint i = 0; i < link->commands->len; i++)
    due = MIN(due, ssh_command_due(g_ptr_array_index(link->commands, i)));
  if (link->state == LINK_UP) {
    due = MIN(MIN(due, silence_due(link)), ssh_lease_due(link));
    if (ssh_lease_is_idle(link))
      due = MIN(due, link->used + link->host->idle);
  }
  return due;
}

static void
rest(SshLink *link, gboolean again)
{
  gint64 due = next_due(link);
  rewatch(link);
  if (link->state == LINK_DOWN && link->commands->len == 0) {
    clear_timer(link);
    return;
  }
  g_source_set_ready_time(link->timer, again ? 0 : due == G_MAXINT64 ? -1 : due);
}

static void
advance(SshLink *link)
{
  switch (link->state) {
  case LINK_DOWN:
    if (link->commands->len > 0)
      begin(link);
    break;
  case LINK_QUEUED:
    if (link->gated)
      begin(link);
    break;
  case LINK_GREETING:
    greet(link);
    break;
  case LINK_PROVING:
  case LINK_ASKING:
    prove(link);
    break;
  case LINK_UP:
    serve(link);
    break;
  case LINK_WAITING:
  case LINK_REACHING:
    break;
  }
}

static void
run(SshLink *link)
{
  g_assert(!link->running);
  link->running = TRUE;
  gint64 now = g_get_monotonic_time();
  guint n_commands = link->commands->len;
  LinkState before = link->state;
  if (link->due <= now)
    be_late(link);
  advance(link);
  if (link->state != LINK_UP)
    fail_commands(link, now);
  if (link->state == LINK_WAITING && link->commands->len == 0)
    hang_up(link);
  link->running = FALSE;
  rest(link, link->state != before || link->commands->len > n_commands);
}
