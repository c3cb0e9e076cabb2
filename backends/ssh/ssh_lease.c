#include "backends/ssh/ssh_link_private.h"

/* What is over sooner has none: it costs the host a shell. */
#define LEASE_AFTER G_USEC_PER_SEC
/* Of so many signs of life one must come through. */
#define LEASE_BEATS 4

/* $1: seconds. The shell reads; what sleeps beside it ends the connection if it is not ended
 * before. A server that does not heed TERM, since it was stopped, has KILL. Nothing but an SSH
 * server is given either: behind a command of the account's own ($PPID is that) there is no lease.
 */
static const char program[] =
    "read -r name </proc/$PPID/comm; "
    "case $name in sshd*|dropbear*) ;; *) exit 1 ;; esac; "
    "expire() {"
    " trap 'kill $!; exit' TERM;"
    " sleep $1 & wait $! && { kill -TERM $PPID; sleep 2; kill -KILL $PPID; };"
    "}; "
    "guard=; "
    "while read -r beat; do"
    " [ -z \"$guard\" ] || kill $guard;"
    " expire $1 </dev/null >/dev/null 2>&1 &"
    " guard=$!;"
    "done; "
    "kill $guard";

/* Nothing is run on a host that others are only reached through. */
static gboolean
has_lease(const SshLink *link)
{
  return link->host->lease > 0 && link->node != NODE_NONE;
}

gboolean
ssh_lease_is_idle(const SshLink *link)
{
  return link->commands->len == (link->lease != NULL);
}

static void
beat(SshLink *link, gint64 now)
{
  ssh_command_write(link->lease, "\n", 1);
  link->beat_at = now + link->host->lease / LEASE_BEATS;
}

static void
on_started(SshCommand *command, gpointer data)
{
  SshLink *link = data;
  (void)command;
  link->leased = TRUE;
}

/* Ended by the host it is not tried again before the next connection. */
static void
on_ended(SshCommand *command, const SshEnd *end, gpointer data)
{
  SshLink *link = data;
  (void)command;
  link->lease = NULL;
  if (end->kind != SSH_LOST || link->state == LINK_UP)
    link->leased = FALSE;
}

static void
begin(SshLink *link, gint64 now)
{
  static const SshCommandCalls calls = {.started = on_started, .ended = on_ended};
  g_autofree char *quoted = g_shell_quote(program);
  g_autofree char *line =
      g_strdup_printf("exec %s -c %s pult %" G_GINT64_FORMAT, ssh_link_shell(link), quoted,
                      MAX(link->host->lease / G_USEC_PER_SEC, 1));
  SshCommandSpec spec = {.line = line, .reads = TRUE};
  link->lease = ssh_command_start(link, &spec, &calls, link);
  link->lease_asked = TRUE;
  beat(link, now);
}

void
ssh_lease_reset(SshLink *link)
{
  link->lease_asked = link->leased = FALSE;
}

void
ssh_lease_want(SshLink *link)
{
  link->busy = 1;
}

void
ssh_lease_step(SshLink *link, gint64 now)
{
  if (!has_lease(link))
    return;
  if (ssh_lease_is_idle(link))
    link->busy = 0;
  else if (link->busy == 0)
    link->busy = now;
  if (link->lease != NULL && now >= link->beat_at)
    beat(link, now);
  else if (!link->lease_asked && link->busy != 0 && now >= link->busy + LEASE_AFTER)
    begin(link, now);
}

gint64
ssh_lease_due(const SshLink *link)
{
  if (!has_lease(link))
    return G_MAXINT64;
  if (link->lease != NULL)
    return link->beat_at;
  return link->lease_asked || link->busy == 0 ? G_MAXINT64 : link->busy + LEASE_AFTER;
}
