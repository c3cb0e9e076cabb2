#include "backends/snmp/snmp_session.h"

#include <glib-unix.h>
#include <string.h>

#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include <net-snmp/library/large_fd_set.h>

struct SnmpSession {
  const SnmpSessionCalls *calls;
  gpointer data;
  void *handle; /* the library's */
  int fd;
  guint readable; /* source */
  guint timer;    /* source; 0: nothing is waited for */
};

/* Once. The library would read /etc/snmp and ~/.snmp, where a community of somebody else's may
 * stand, load MIBs nobody asks for, and keep engines' times on disk. */
static void
init_library(void)
{
  static gsize once;

  if (!g_once_init_enter(&once))
    return;
  netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_READ_CONFIGS, 1);
  netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_PERSIST_STATE, 1);
  netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DISABLE_PERSISTENT_LOAD, 1);
  netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DISABLE_PERSISTENT_SAVE, 1);
  netsnmp_register_loghandler(NETSNMP_LOGHANDLER_NONE, LOG_DEBUG);
  g_autofree char *before = g_strdup(g_getenv("MIBS"));
  g_setenv("MIBS", "", TRUE);
  init_snmp("pult");
  if (before != NULL)
    g_setenv("MIBS", before, TRUE);
  else
    g_unsetenv("MIBS");
  g_once_init_leave(&once, 1);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static gboolean
read_name(const netsnmp_variable_list *variable, SnmpName *name)
{
  if (variable->name_length > SNMP_NAME_MAX)
    return FALSE;
  name->n = (guint)variable->name_length;
  for (guint i = 0; i < name->n; i++)
    name->id[i] = (guint32)variable->name[i];
  return TRUE;
}

static void
read_value(const netsnmp_variable_list *variable, SnmpValue *value)
{
  switch (variable->type) {
  case ASN_INTEGER:
    value->kind = SNMP_NUMBER;
    value->number = *variable->val.integer > 0 ? (guint64)*variable->val.integer : 0;
    return;
  case ASN_COUNTER:
  case ASN_GAUGE:
  case ASN_TIMETICKS:
    value->kind = SNMP_NUMBER;
    value->number = (guint32)*variable->val.integer;
    return;
  case ASN_COUNTER64:
    value->kind = SNMP_NUMBER;
    value->number = (guint64)(guint32)variable->val.counter64->high << 32 |
                    (guint32)variable->val.counter64->low;
    return;
  case ASN_OCTET_STR:
    value->kind = SNMP_BYTES;
    value->length = (guint)MIN(variable->val_len, sizeof value->bytes - 1);
    memcpy(value->bytes, variable->val.string, value->length);
    return;
  case SNMP_NOSUCHOBJECT:
  case SNMP_NOSUCHINSTANCE:
  case SNMP_ENDOFMIBVIEW:
    value->kind = SNMP_NONE;
    return;
  }
  value->kind = SNMP_OTHER;
}

/* A name that is longer than any asked for ends the list: what follows is another table. */
static void
give_values(const SnmpSession *session, const netsnmp_pdu *pdu)
{
  g_autoptr(GArray) values = g_array_new(FALSE, TRUE, sizeof(SnmpValue));

  for (const netsnmp_variable_list *v = pdu->variables; v != NULL; v = v->next_variable) {
    SnmpValue value = {.kind = SNMP_NONE};
    if (!read_name(v, &value.name))
      break;
    read_value(v, &value);
    g_array_append_val(values, value);
  }
  session->calls->values((const SnmpValue *)(gpointer)values->data, values->len, session->data);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static int
on_message(int operation, netsnmp_session *handle, int id, netsnmp_pdu *pdu, void *data)
{
  const SnmpSession *session = data;
  (void)handle;
  (void)id;

  if (operation == NETSNMP_CALLBACK_OP_RESEND)
    return 1;
  if (operation != NETSNMP_CALLBACK_OP_RECEIVED_MESSAGE || pdu == NULL)
    session->calls->trouble(SNMP_SILENCE, 0, session->data);
  else if (pdu->command == SNMP_MSG_REPORT)
    session->calls->trouble(SNMP_REPORT, snmpv3_get_report_type(pdu), session->data);
  else if (pdu->errstat != SNMP_ERR_NOERROR)
    session->calls->trouble(SNMP_STATUS, pdu->errstat, session->data);
  else
    give_values(session, pdu);
  return 1;
}

static gboolean on_timeout(gpointer data);

/* The library keeps tries and their times; it wants to be called when the next is due. */
static void
set_timer(SnmpSession *session)
{
  netsnmp_large_fd_set set;
  struct timeval left = {0};
  int n = 0, block = 1;

  if (session->timer > 0)
    g_source_remove(session->timer);
  session->timer = 0;
  netsnmp_large_fd_set_init(&set, FD_SETSIZE);
  snmp_sess_select_info2(session->handle, &n, &set, &left, &block);
  netsnmp_large_fd_set_cleanup(&set);
  if (!block)
    session->timer =
        g_timeout_add((guint)(left.tv_sec * 1000 + left.tv_usec / 1000 + 1), on_timeout, session);
}

static gboolean
on_timeout(gpointer data)
{
  SnmpSession *session = data;

  session->timer = 0;
  snmp_sess_timeout(session->handle);
  set_timer(session);
  session->calls->handled(FALSE, session->data);
  return G_SOURCE_REMOVE;
}

static gboolean
on_readable(int fd, GIOCondition condition, gpointer data)
{
  SnmpSession *session = data;
  netsnmp_large_fd_set set;
  (void)condition;

  netsnmp_large_fd_set_init(&set, FD_SETSIZE);
  netsnmp_large_fd_setfd(fd, &set);
  gboolean garbage = snmp_sess_read2(session->handle, &set) != 0;
  netsnmp_large_fd_set_cleanup(&set);
  set_timer(session);
  session->calls->handled(garbage, session->data);
  return G_SOURCE_CONTINUE;
}

static gboolean
send_pdu(SnmpSession *session, netsnmp_pdu *pdu)
{
  if (snmp_sess_async_send(session->handle, pdu, on_message, session) == 0) {
    snmp_free_pdu(pdu);
    return FALSE;
  }
  set_timer(session);
  return TRUE;
}

static void
add_name(netsnmp_pdu *pdu, const SnmpName *name)
{
  oid id[SNMP_NAME_MAX];

  for (guint i = 0; i < name->n; i++)
    id[i] = name->id[i];
  snmp_add_null_var(pdu, id, name->n);
}

gboolean
snmp_session_get(SnmpSession *session, const SnmpName *names, guint n)
{
  netsnmp_pdu *pdu = snmp_pdu_create(SNMP_MSG_GET);

  for (guint i = 0; i < n; i++)
    add_name(pdu, &names[i]);
  return send_pdu(session, pdu);
}

gboolean
snmp_session_bulk(SnmpSession *session, const SnmpName *after, guint rows)
{
  netsnmp_pdu *pdu = snmp_pdu_create(SNMP_MSG_GETBULK);

  pdu->non_repeaters = 0;
  pdu->max_repetitions = (long)rows;
  add_name(pdu, after);
  return send_pdu(session, pdu);
}

int
snmp_session_error(SnmpSession *session)
{
  int system = 0, library = 0;
  char *text = NULL;

  snmp_sess_error(session->handle, &system, &library, &text);
  free(text); /* the library's malloc */
  return library;
}

/* ---- Version 3 ------------------------------------------------------------------------------- */

gboolean
snmp_session_discover(SnmpSession *session)
{
  netsnmp_pdu *pdu = snmp_pdu_create(SNMP_MSG_GET);

  pdu->version = SNMP_VERSION_3;
  pdu->securityName = strdup("");
  pdu->securityNameLen = 0;
  pdu->securityLevel = SNMP_SEC_LEVEL_NOAUTH;
  pdu->securityModel = SNMP_SEC_MODEL_USM;
  return send_pdu(session, pdu);
}

static void
drop_user(struct usmUser *user)
{
  if (user == NULL)
    return;
  usm_remove_user(user);
  usm_free_user(user);
}

/* A user of that engine that another session made, perhaps of a password that was wrong, must not
 * be found; nor the one without an engine that snmp_sess_open() made before there was any. */
static void
forget_users(const netsnmp_session *handle)
{
  drop_user(
      usm_get_user(handle->securityEngineID, handle->securityEngineIDLen, handle->securityName));
  drop_user(usm_get_user(NULL, 0, handle->securityName));
}

int
snmp_session_make_user(SnmpSession *session)
{
  netsnmp_session *handle = snmp_sess_session(session->handle);

  if (handle->securityEngineIDLen == 0)
    return SNMPERR_UNKNOWN_ENG_ID;
  forget_users(handle);
  handle->flags &= ~(u_long)SNMP_FLAGS_USER_CREATED;
  return usm_create_user_from_session(handle);
}

static int
make_key(const oid *protocol, size_t length, const char *password, u_char *key, size_t *key_length)
{
  *key_length = USM_AUTH_KU_LEN;
  return generate_Ku(protocol, (u_int)length, (const u_char *)password, strlen(password), key,
                     key_length);
}

/* A privacy key is made by the hash of the authentication. */
static int
set_keys(netsnmp_session *handle, const SnmpAccount *account)
{
  handle->securityLevel = account->priv   ? SNMP_SEC_LEVEL_AUTHPRIV
                          : account->auth ? SNMP_SEC_LEVEL_AUTHNOPRIV
                                          : SNMP_SEC_LEVEL_NOAUTH;
  if (account->auth == NULL)
    return SNMPERR_SUCCESS;
  handle->securityAuthProto =
      sc_get_auth_oid(usm_lookup_auth_type(account->auth_word), &handle->securityAuthProtoLen);
  if (handle->securityAuthProto == NULL)
    return SNMPERR_SC_NOT_CONFIGURED;
  int code = make_key(handle->securityAuthProto, handle->securityAuthProtoLen, account->auth,
                      handle->securityAuthKey, &handle->securityAuthKeyLen);
  if (account->priv == NULL || code != SNMPERR_SUCCESS)
    return code;
  handle->securityPrivProto =
      sc_get_priv_oid(usm_lookup_priv_type(account->priv_word), &handle->securityPrivProtoLen);
  if (handle->securityPrivProto == NULL)
    return SNMPERR_SC_NOT_CONFIGURED;
  return make_key(handle->securityAuthProto, handle->securityAuthProtoLen, account->priv,
                  handle->securityPrivKey, &handle->securityPrivKeyLen);
}

/* ---- Making ---------------------------------------------------------------------------------- */

static char *
peer_name(const SnmpAccount *account, GInetAddress *address)
{
  g_autofree char *text = g_inet_address_to_string(address);
  gboolean six = g_inet_address_get_family(address) == G_SOCKET_FAMILY_IPV6;

  return g_strdup_printf(six ? "udp6:[%s]:%u" : "udp:%s:%u", text, account->port);
}

/* What it holds is borrowed: the library copies. SNMP_FLAGS_DONT_PROBE: it would ask for the
 * engine's id within snmp_sess_open(), and wait. */
static int
fill(netsnmp_session *fresh, const SnmpAccount *account, char *peer)
{
  snmp_sess_init(fresh);
  fresh->peername = peer;
  fresh->retries = (int)account->retries;
  fresh->timeout = (long)account->timeout;
  fresh->flags |= SNMP_FLAGS_DONT_PROBE;
  if (!account->v3) {
    fresh->version = SNMP_VERSION_2c;
    fresh->community = (u_char *)account->community;
    fresh->community_len = strlen(account->community);
    return SNMPERR_SUCCESS;
  }
  fresh->version = SNMP_VERSION_3;
  fresh->securityModel = SNMP_SEC_MODEL_USM;
  fresh->securityName = account->user;
  fresh->securityNameLen = strlen(account->user);
  return set_keys(fresh, account);
}

SnmpSession *
snmp_session_new(const SnmpAccount *account, GInetAddress *address, const SnmpSessionCalls *calls,
                 gpointer data, int *code)
{
  g_autofree char *peer = peer_name(account, address);
  netsnmp_session fresh;

  init_library();
  *code = fill(&fresh, account, peer);
  void *handle = *code == SNMPERR_SUCCESS ? snmp_sess_open(&fresh) : NULL;
  if (handle == NULL && *code == SNMPERR_SUCCESS)
    *code = fresh.s_snmp_errno != SNMPERR_SUCCESS ? fresh.s_snmp_errno : SNMPERR_GENERR;
  explicit_bzero(fresh.securityAuthKey, sizeof fresh.securityAuthKey);
  explicit_bzero(fresh.securityPrivKey, sizeof fresh.securityPrivKey);
  if (handle == NULL)
    return NULL;
  SnmpSession *session = g_new0(SnmpSession, 1);
  session->calls = calls;
  session->data = data;
  session->handle = handle;
  session->fd = snmp_sess_transport(handle)->sock;
  session->readable = g_unix_fd_add(session->fd, G_IO_IN, on_readable, session);
  return session;
}

void
snmp_session_free(SnmpSession *session)
{
  if (session == NULL)
    return;
  if (session->timer > 0)
    g_source_remove(session->timer);
  g_source_remove(session->readable);
  snmp_sess_close(session->handle);
  g_free(session);
}
