#include <errno.h>
#include <string.h>

#include "backends/ssh/ssh_link_private.h"

/* libssh speaks to the agent without a limit, and an agent may ask its owner first. The thread has
 * the session to itself; who has lost interest leaves it to the thread. */
typedef struct SshProof {
  SshLink *link; /* NULL: abandoned */
  ssh_session session;
  gint turn; /* whose the session is: said beside GLib's locks, which ThreadSanitizer cannot see */
  gboolean answered; /* as the main thread knows */
  int status;
} SshProof;

enum { TURN_MAIN, TURN_AGENT };

#define AGENTS_AT_ONCE 8

static GThreadPool *agents;

static gboolean
on_answered(gpointer data)
{
  SshProof *proof = data;
  g_assert(g_atomic_int_get(&proof->turn) == TURN_MAIN);
  SshLink *link = proof->link;
  if (link == NULL) {
    ssh_disconnect(proof->session);
    ssh_free(proof->session);
    g_free(proof);
    return G_SOURCE_REMOVE;
  }
  proof->answered = TRUE;
  ssh_link_wake(link);
  return G_SOURCE_REMOVE;
}

static void
ask_agent(gpointer data, gpointer none)
{
  SshProof *proof = data;
  (void)none;
  g_assert(g_atomic_int_get(&proof->turn) == TURN_AGENT);
  proof->status = ssh_userauth_agent(proof->session, NULL);
  g_atomic_int_set(&proof->turn, TURN_MAIN);
  g_idle_add_full(G_PRIORITY_DEFAULT, on_answered, proof, NULL);
}

static void
start_asking(SshLink *link)
{
  if (agents == NULL)
    agents = g_thread_pool_new(ask_agent, NULL, AGENTS_AT_ONCE, FALSE, NULL);
  link->proof = g_new0(SshProof, 1);
  *link->proof = (SshProof){.link = link, .session = link->session};
  link->state = LINK_ASKING;
  ssh_set_blocking(link->session, 1);
  g_atomic_int_set(&link->proof->turn, TURN_AGENT);
  g_thread_pool_push(agents, link->proof, NULL);
}

void
ssh_prove_abandon(SshLink *link)
{
  SshProof *proof = link->proof;
  link->proof = NULL;
  if (proof == NULL)
    return;
  if (proof->answered) {
    g_free(proof);
    return;
  }
  proof->link = NULL;
  link->session = NULL;
}

static gboolean
refuse(SshLink *link, GError **error)
{
  const SshHost *host = link->host;
  gboolean agent = host->agent && g_getenv("SSH_AUTH_SOCK") != NULL;
  if (host->key_names == NULL && !agent)
    g_set_error(error, BACKEND_ERROR, 0, "there is no key to show it: name one, or start an agent");
  else
    g_set_error(error, BACKEND_ERROR, 0, "%s is refused; it was shown %s%s%s", host->user,
                host->key_names != NULL ? host->key_names : "",
                host->key_names != NULL && agent ? " and " : "", agent ? "the agent's keys" : "");
  return FALSE;
}

static gboolean
judge(SshLink *link, int status, gboolean *next, GError **error)
{
  *next = FALSE;
  switch (status) {
  case SSH_AUTH_SUCCESS:
    return TRUE;
  case SSH_AUTH_AGAIN:
    return FALSE;
  case SSH_AUTH_ERROR:
    g_set_error(error, BACKEND_ERROR, 0, "%s", ssh_get_error(link->session));
    return FALSE;
  default: /* denied, or not enough by itself */
    *next = TRUE;
    return FALSE;
  }
}

static gboolean
show_keys(SshLink *link, GError **error)
{
  const GPtrArray *keys = link->host->keys;
  gboolean next = TRUE;
  for (; link->next_key < keys->len; link->next_key++) {
    int status = ssh_userauth_publickey(link->session, NULL, keys->pdata[link->next_key]);
    gboolean in = judge(link, status, &next, error);
    if (!next)
      return in;
  }
  if (!link->host->agent || g_getenv("SSH_AUTH_SOCK") == NULL)
    return refuse(link, error);
  start_asking(link);
  return FALSE;
}

gboolean
ssh_prove(SshLink *link, GError **error)
{
  gboolean next;
  if (link->proof == NULL)
    return show_keys(link, error);
  if (!link->proof->answered)
    return FALSE;
  int status = link->proof->status;
  g_clear_pointer(&link->proof, g_free);
  ssh_set_blocking(link->session, 0);
  gboolean in = judge(link, status, &next, error);
  return next ? refuse(link, error) : in;
}
