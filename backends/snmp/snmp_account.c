#include "backends/snmp/snmp_account.h"

#include <gio/gio.h>
#include <string.h>

#define DEFAULT_PORT 161
#define USER_MAX 32 /* bytes, RFC 3414 */
#define PASSWORD_MIN 8

static gboolean
read_address(SnmpAccount *account, const BackendSetup *setup, NodeId node, GError **error)
{
  g_autofree char *text = layout_setting_text(setup->layout, setup->settings, node, "address");
  g_autoptr(GSocketConnectable) place = g_network_address_parse(text, DEFAULT_PORT, NULL);

  if (place == NULL)
    return setup_fail(setup, node, error, "%s is no HOST or HOST:PORT", text);
  account->host = g_strdup(g_network_address_get_hostname(G_NETWORK_ADDRESS(place)));
  account->port = g_network_address_get_port(G_NETWORK_ADDRESS(place));
  return TRUE;
}

static gboolean
read_secret(char **secret, const BackendSetup *setup, NodeId node, const char *key, GError **error)
{
  g_autoptr(GError) problem = NULL;

  *secret = setup_secret(setup, node, key, &problem);
  if (problem == NULL)
    return TRUE;
  g_propagate_error(error, g_steal_pointer(&problem));
  return FALSE;
}

/* The library's word for one of the layout's: `sha-256` is `SHA-256`. */
static const char *
library_word(const BackendSetup *setup, NodeId node, const char *key)
{
  g_autofree char *word = layout_setting_text(setup->layout, setup->settings, node, key);
  g_autofree char *upper = g_ascii_strup(word, -1);

  return g_intern_string(upper);
}

static gboolean
read_password(char **password, const BackendSetup *setup, NodeId node, const char *key,
              GError **error)
{
  if (!read_secret(password, setup, node, key, error))
    return FALSE;
  return *password == NULL || strlen(*password) >= PASSWORD_MIN ||
         setup_fail(setup, node, error, "%s: a password of version 3 has at least %d characters",
                    key, PASSWORD_MIN);
}

static gboolean
read_v3(SnmpAccount *account, const BackendSetup *setup, NodeId node, GError **error)
{
  account->user = layout_setting_text(setup->layout, setup->settings, node, "user");
  account->auth_word = library_word(setup, node, "auth");
  account->priv_word = library_word(setup, node, "priv");
  if (account->user == NULL || strlen(account->user) > USER_MAX)
    return setup_fail(setup, node, error, "version 3 wants a `user`, of at most %d bytes",
                      USER_MAX);
  if (!read_password(&account->auth, setup, node, "auth-password", error) ||
      !read_password(&account->priv, setup, node, "priv-password", error))
    return FALSE;
  return account->priv == NULL || account->auth != NULL ||
         setup_fail(setup, node, error,
                    "who encrypts signs too: `priv-password` wants `auth-password`");
}

gboolean
snmp_account_read(SnmpAccount *account, const BackendSetup *setup, NodeId node, GError **error)
{
  const Layout *layout = setup->layout;
  g_autofree char *version = layout_setting_text(layout, setup->settings, node, "version");

  account->v3 = g_str_equal(version, "3");
  account->timeout = layout_setting_time(layout, setup->settings, node, "timeout") / 1000;
  account->retries = layout_setting_count(layout, setup->settings, node, "retries");
  if (account->timeout <= 0)
    return setup_fail(setup, node, error, "timeout must be more than nothing");
  if (!read_address(account, setup, node, error))
    return FALSE;
  if (account->v3)
    return read_v3(account, setup, node, error);
  if (!read_secret(&account->community, setup, node, "community", error))
    return FALSE;
  return account->community != NULL ||
         setup_fail(
             setup, node, error,
             "version 2c wants a `community`, by reference: `file:PATH`, `env:NAME` or `prompt`");
}
