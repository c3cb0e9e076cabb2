#include "backends/snmp/snmp_words.h"

#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

static char *
place(const SnmpAccount *account)
{
  return g_strdup_printf(strchr(account->host, ':') ? "[%s]:%u" : "%s:%u", account->host,
                         account->port);
}

char *
snmp_words_silence(const SnmpAccount *account, guint garbage, SnmpHeard heard)
{
  g_autofree char *where = place(account);
  double seconds = (double)account->timeout / G_USEC_PER_SEC * (double)(account->retries + 1);

  if (garbage > 0)
    return g_strdup_printf("%s answers with what is no SNMP message that can be read (%u of them "
                           "in %.1f s): is it an SNMP agent, and is its port %u?",
                           where, garbage, seconds, account->port);
  if (heard == SNMP_HEARD_ENGINE)
    return g_strdup_printf("%s tells its engine's id, and is silent when user `%s` asks: that is "
                           "how a question is met that cannot be decrypted; look at "
                           "`priv-password` and `priv` (%s)",
                           where, account->user, account->priv_word);
  if (heard == SNMP_HEARD)
    return g_strdup_printf("no answer any more from %s in %.1f s: the agent ended, or the way "
                           "there broke; it is asked again",
                           where, seconds);
  if (account->v3)
    return g_strdup_printf("no answer from %s in %.1f s: is its agent running, does it speak "
                           "version 3, and does no filter stop UDP port %u?",
                           where, seconds, account->port);
  return g_strdup_printf("no answer from %s in %.1f s: is its agent running, does no filter stop "
                         "UDP port %u, and is the community right? A wrong one is answered with "
                         "silence",
                         where, seconds, account->port);
}

char *
snmp_words_error(const SnmpAccount *account, int code)
{
  g_autofree char *where = place(account);
  const char *user = account->user != NULL ? account->user : "";

  switch (code) {
  case SNMPERR_UNKNOWN_USER_NAME:
  case SNMPERR_USM_UNKNOWNSECURITYNAME:
    return g_strdup_printf("%s knows no version 3 user `%s`: make it there, or correct `user`",
                           where, user);
  case SNMPERR_AUTHENTICATION_FAILURE:
  case SNMPERR_USM_AUTHENTICATIONFAILURE:
    return g_strdup_printf("%s calls the digest of user `%s` wrong: `auth-password` or `auth` (%s) "
                           "is not what the agent has",
                           where, user, account->auth_word);
  case SNMPERR_DECRYPTION_ERR:
  case SNMPERR_USM_DECRYPTIONERROR:
    return g_strdup_printf("what passes between %s and user `%s` cannot be decrypted: "
                           "`priv-password` or `priv` (%s) is not what the agent has",
                           where, user, account->priv_word);
  case SNMPERR_UNSUPPORTED_SEC_LEVEL:
  case SNMPERR_USM_UNSUPPORTEDSECURITYLEVEL:
    return g_strdup_printf("%s does not let user `%s` %s: set `auth-password` and `priv-password` "
                           "as the agent has them for that user",
                           where, user,
                           account->priv   ? "encrypt"
                           : account->auth ? "sign without encrypting"
                                           : "ask without signing");
  case SNMPERR_NOT_IN_TIME_WINDOW:
  case SNMPERR_USM_NOTINTIMEWINDOW:
    return g_strdup_printf("%s finds the question not in its time window, although its own time "
                           "was taken: its clock or its count of boots jumps, or two agents have "
                           "one engine id; its time is asked for anew",
                           where);
  case SNMPERR_UNKNOWN_ENG_ID:
  case SNMPERR_USM_UNKNOWNENGINEID:
    return g_strdup_printf("%s has another engine id than it had: it is asked for anew", where);
  }
  return g_strdup_printf("%s cannot be asked: %s", where, snmp_api_errstring(code));
}

char *
snmp_words_status(const SnmpAccount *account, long status)
{
  g_autofree char *where = place(account);

  switch (status) {
  case SNMP_ERR_AUTHORIZATIONERROR:
  case SNMP_ERR_NOACCESS:
    return g_strdup_printf("%s does not let %s%s read its interfaces (%s): widen the view that the "
                           "agent gives%s",
                           where, account->v3 ? "user " : "that community",
                           account->v3 ? account->user : "", snmp_errstring((int)status),
                           account->v3 && account->priv == NULL
                               ? ", or sign and encrypt: `auth-password`, `priv-password`"
                               : "");
  case SNMP_ERR_TOOBIG:
    return g_strdup_printf("%s finds the answer to a single question too big: its greatest "
                           "message size is too small to be used",
                           where);
  }
  return g_strdup_printf("%s answers with an error of its own: %s", where,
                         snmp_errstring((int)status));
}

char *
snmp_words_mismatch(const SnmpAccount *account, const char *what)
{
  g_autofree char *where = place(account);

  return g_strdup_printf("%s %s: its agent is broken, and nothing of this is believed", where,
                         what);
}
