#include "backends/snmp/snmp_agent.h"

#include <gio/gio.h>
#include <glib-unix.h>
#include <string.h>

#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "backends/snmp/snmp_session.h"
#include "backends/snmp/snmp_words.h"

/* Of one message: 40 answers with 64 bits each stay below an Ethernet frame. */
#define GET_AT_ONCE 40
#define ROWS_AT_ONCE 30
/* Of a table: as many MAC addresses as large switches learn. */
#define ROWS_MAX 65536

typedef enum { ASK_NOTHING, ASK_GET, ASK_WALK } Ask;

/* What the library called back with while a datagram or a timeout was handled: a session must not
 * be closed from within. */
typedef struct {
  enum { GOT_NOTHING, GOT_VALUES, GOT_STATUS, GOT_REPORT, GOT_TIMEOUT } what;
  long code;
  GArray *values; /* of SnmpValue */
} Got;

struct SnmpAgent {
  const SnmpAccount *account;
  Ask ask;
  GArray *names;  /* of SnmpName: to get; walk: the root */
  SnmpName after; /* walk: the last that came */
  GArray *values; /* of SnmpValue, so far */
  guint at_once;  /* names in one message */
  guint sent;     /* of the message under way */
  SnmpAnswer answer;
  gpointer data;

  GCancellable *resolving; /* NULL: not */
  SnmpSession *session;    /* NULL: none */
  gboolean discovering;    /* version 3: the engine's id is asked for */
  SnmpHeard heard;         /* in this session */
  guint garbage;           /* datagrams, since the message was sent */
  guint start;             /* idle source, 0 none */
  Got got;
};

void
snmp_account_clear(SnmpAccount *account)
{
  char *secrets[] = {account->community, account->auth, account->priv};

  for (gsize i = 0; i < G_N_ELEMENTS(secrets); i++) {
    if (secrets[i] != NULL)
      explicit_bzero(secrets[i], strlen(secrets[i]));
    g_free(secrets[i]);
  }
  g_free(account->host);
  g_free(account->user);
}

SnmpAgent *
snmp_agent_new(const SnmpAccount *account)
{
  SnmpAgent *agent = g_new0(SnmpAgent, 1);

  agent->account = account;
  agent->names = g_array_new(FALSE, FALSE, sizeof(SnmpName));
  agent->values = g_array_new(FALSE, FALSE, sizeof(SnmpValue));
  agent->got.values = g_array_new(FALSE, FALSE, sizeof(SnmpValue));
  agent->at_once = GET_AT_ONCE;
  return agent;
}

static void
close_session(SnmpAgent *agent)
{
  if (agent->start > 0)
    g_source_remove(agent->start);
  agent->start = 0;
  if (agent->resolving != NULL)
    g_cancellable_cancel(agent->resolving);
  g_clear_object(&agent->resolving);
  g_clear_pointer(&agent->session, snmp_session_free);
  agent->discovering = FALSE;
  agent->heard = SNMP_NEVER_HEARD;
}

void
snmp_agent_drop(SnmpAgent *agent)
{
  agent->ask = ASK_NOTHING;
  close_session(agent);
}

void
snmp_agent_free(SnmpAgent *agent)
{
  if (agent == NULL)
    return;
  close_session(agent);
  g_array_unref(agent->names);
  g_array_unref(agent->values);
  g_array_unref(agent->got.values);
  g_free(agent);
}

gboolean
snmp_agent_is_busy(const SnmpAgent *agent)
{
  return agent->ask != ASK_NOTHING;
}

/* ---- Answers ------------------------------------------------------------------------------- */

/* Whoever hears it may ask the next at once. */
static void
finish(SnmpAgent *agent, const char *trouble)
{
  g_autoptr(GArray) values = agent->values;

  agent->values = g_array_new(FALSE, FALSE, sizeof(SnmpValue));
  agent->ask = ASK_NOTHING;
  agent->answer((const SnmpValue *)(gpointer)values->data, trouble == NULL ? values->len : 0,
                trouble, agent->data);
}

static void
fail(SnmpAgent *agent, char *trouble)
{
  g_autofree char *text = trouble;

  close_session(agent);
  finish(agent, text);
}

static const SnmpName *
name_at(const SnmpAgent *agent, guint i)
{
  return &g_array_index(agent->names, SnmpName, i);
}

static gboolean
send_next(SnmpAgent *agent)
{
  agent->garbage = 0;
  if (agent->ask == ASK_WALK)
    return snmp_session_bulk(agent->session, &agent->after, ROWS_AT_ONCE);
  agent->sent = MIN(agent->names->len - agent->values->len, agent->at_once);
  return snmp_session_get(agent->session, name_at(agent, agent->values->len), agent->sent);
}

static void
go_on(SnmpAgent *agent)
{
  if (!send_next(agent))
    fail(agent, snmp_words_error(agent->account, snmp_session_error(agent->session)));
}

static void
take_get(SnmpAgent *agent)
{
  const GArray *got = agent->got.values;
  gboolean same = got->len == agent->sent;

  for (guint i = 0; same && i < got->len; i++)
    same = snmp_name_compare(&g_array_index(got, SnmpValue, i).name,
                             name_at(agent, agent->values->len + i)) == 0;
  if (!same) {
    fail(agent, snmp_words_mismatch(agent->account, "answers what it was not asked"));
    return;
  }
  g_array_append_vals(agent->values, got->data, got->len);
  if (agent->values->len < agent->names->len)
    go_on(agent);
  else
    finish(agent, NULL);
}

/* The end of a table is another table's first row, or the end of all. */
static void
take_walk(SnmpAgent *agent)
{
  const GArray *got = agent->got.values;
  gboolean more = got->len > 0;

  for (guint i = 0; more && i < got->len; i++) {
    const SnmpValue *value = &g_array_index(got, SnmpValue, i);
    more = value->kind != SNMP_NONE && snmp_name_is_under(&value->name, name_at(agent, 0));
    if (!more)
      break;
    if (snmp_name_compare(&value->name, &agent->after) <= 0) {
      fail(agent, snmp_words_mismatch(agent->account, "gives a table that does not go forward"));
      return;
    }
    agent->after = value->name;
    g_array_append_val(agent->values, *value);
    more = agent->values->len < ROWS_MAX;
  }
  if (more)
    go_on(agent);
  else
    finish(agent, NULL);
}

static void
take_status(SnmpAgent *agent)
{
  if (agent->got.code == SNMP_ERR_TOOBIG && agent->ask == ASK_GET && agent->sent > 1) {
    agent->at_once = (agent->sent + 1) / 2;
    go_on(agent);
    return;
  }
  fail(agent, snmp_words_status(agent->account, agent->got.code));
}

/* The report of an agent that was asked for nothing tells its engine's id. */
static void
take_discovery(SnmpAgent *agent)
{
  int code = snmp_session_make_user(agent->session);

  agent->discovering = FALSE;
  if (code != SNMPERR_SUCCESS)
    fail(agent, snmp_words_error(agent->account, code));
  else
    go_on(agent);
}

static void
take(SnmpAgent *agent)
{
  int what = agent->got.what;

  agent->got.what = GOT_NOTHING;
  if (what == GOT_NOTHING || agent->ask == ASK_NOTHING)
    return;
  if (what == GOT_TIMEOUT) {
    fail(agent, snmp_words_silence(agent->account, agent->garbage, agent->heard));
    return;
  }
  agent->heard = agent->discovering ? SNMP_HEARD_ENGINE : SNMP_HEARD;
  if (agent->discovering)
    take_discovery(agent);
  else if (what == GOT_REPORT)
    fail(agent, snmp_words_error(agent->account, (int)agent->got.code));
  else if (what == GOT_STATUS)
    take_status(agent);
  else if (agent->ask == ASK_GET)
    take_get(agent);
  else
    take_walk(agent);
}

/* ---- What the session says ------------------------------------------------------------------ */

static void
on_values(const SnmpValue *values, guint n, gpointer data)
{
  SnmpAgent *agent = data;

  agent->got.what = GOT_VALUES;
  g_array_set_size(agent->got.values, 0);
  g_array_append_vals(agent->got.values, values, n);
}

static void
on_trouble(SnmpTrouble trouble, long code, gpointer data)
{
  SnmpAgent *agent = data;

  agent->got.what = trouble == SNMP_SILENCE  ? GOT_TIMEOUT
                    : trouble == SNMP_STATUS ? GOT_STATUS
                                             : GOT_REPORT;
  agent->got.code = code;
}

static void
on_handled(gboolean was_garbage, gpointer data)
{
  SnmpAgent *agent = data;

  agent->garbage += was_garbage;
  take(agent);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void
open_session(SnmpAgent *agent, GInetAddress *address)
{
  static const SnmpSessionCalls calls = {on_values, on_trouble, on_handled};
  int code = SNMPERR_SUCCESS;

  agent->session = snmp_session_new(agent->account, address, &calls, agent, &code);
  if (agent->session == NULL) {
    fail(agent, snmp_words_error(agent->account, code));
    return;
  }
  if (!agent->account->v3) {
    go_on(agent);
    return;
  }
  agent->discovering = TRUE;
  agent->garbage = 0;
  if (!snmp_session_discover(agent->session))
    fail(agent, snmp_words_error(agent->account, snmp_session_error(agent->session)));
}

static void
on_resolved(GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr(GError) error = NULL;
  GList *addresses = g_resolver_lookup_by_name_finish(G_RESOLVER(source), result, &error);

  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return; /* DATA may be gone */
  SnmpAgent *agent = data;
  g_clear_object(&agent->resolving);
  if (addresses == NULL) {
    fail(agent,
         g_strdup_printf("its address cannot be found out: %s; correct `address`", error->message));
    return;
  }
  open_session(agent, addresses->data);
  g_resolver_free_addresses(addresses);
}

static gboolean
on_start(gpointer data)
{
  SnmpAgent *agent = data;

  agent->start = 0;
  if (agent->session != NULL) {
    go_on(agent);
    return G_SOURCE_REMOVE;
  }
  g_autoptr(GInetAddress) literal = g_inet_address_new_from_string(agent->account->host);
  if (literal != NULL) {
    open_session(agent, literal);
    return G_SOURCE_REMOVE;
  }
  g_autoptr(GResolver) resolver = g_resolver_get_default();
  agent->resolving = g_cancellable_new();
  g_resolver_lookup_by_name_async(resolver, agent->account->host, agent->resolving, on_resolved,
                                  agent);
  return G_SOURCE_REMOVE;
}

static void
start(SnmpAgent *agent, Ask ask, SnmpAnswer answer, gpointer data)
{
  g_assert(agent->ask == ASK_NOTHING);
  agent->ask = ask;
  agent->answer = answer;
  agent->data = data;
  g_array_set_size(agent->values, 0);
  agent->start = g_idle_add_full(G_PRIORITY_DEFAULT, on_start, agent, NULL);
}

void
snmp_agent_get(SnmpAgent *agent, const SnmpName *names, guint n, SnmpAnswer answer, gpointer data)
{
  g_assert(n > 0);
  g_array_set_size(agent->names, 0);
  g_array_append_vals(agent->names, names, n);
  start(agent, ASK_GET, answer, data);
}

void
snmp_agent_walk(SnmpAgent *agent, const SnmpName *root, SnmpAnswer answer, gpointer data)
{
  g_array_set_size(agent->names, 0);
  g_array_append_vals(agent->names, root, 1);
  agent->after = *root;
  start(agent, ASK_WALK, answer, data);
}
