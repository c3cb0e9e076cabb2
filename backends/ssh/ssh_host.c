#include "backends/ssh/ssh_host.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

struct SshKeyring {
  GHashTable *keys; /* path → ssh_key */
};

static void
key_free(gpointer key)
{
  ssh_key_free(key);
}

SshKeyring *
ssh_keyring_new(void)
{
  SshKeyring *keyring = g_new0(SshKeyring, 1);
  keyring->keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, key_free);
  return keyring;
}

void
ssh_keyring_free(SshKeyring *keyring)
{
  if (keyring == NULL)
    return;
  g_hash_table_unref(keyring->keys);
  g_free(keyring);
}

static char *
expand_home(char *path)
{
  if (path == NULL || !g_str_has_prefix(path, "~/"))
    return path;
  char *whole = g_build_filename(g_get_home_dir(), path + 2, NULL);
  g_free(path);
  return whole;
}

#define ASKED_MAX 3 /* times for one passphrase */

/* ---- Keys ---------------------------------------------------------------------------------- */

typedef struct {
  const BackendSetup *setup;
  NodeId node;
  const char *path;
  gboolean may_ask;
  gboolean locked; /* it needs a passphrase */
  guint n_asked;   /* how often somebody was asked for it */
  GError *error;
} Unlocking;

/* Somebody who is asked may mistype. */
static char *
ask_passphrase(Unlocking *unlocking)
{
  const BackendSetup *setup = unlocking->setup;
  guint n = unlocking->n_asked++;
  g_autofree char *what =
      g_strdup_printf("%s%s passphrase of %s%s", n > 0 ? "that was wrong: " : "", setup->name,
                      unlocking->path, n + 1 == ASKED_MAX ? ", for the last time" : "");
  return secret_read("prompt", what, setup->ask, setup->ask_data, &unlocking->error);
}

static char *
passphrase_of(Unlocking *unlocking)
{
  const BackendSetup *setup = unlocking->setup;
  g_autofree char *reference =
      layout_setting_text(setup->layout, setup->settings, unlocking->node, "passphrase");
  if (reference == NULL ? unlocking->may_ask : g_str_equal(reference, "prompt"))
    return ask_passphrase(unlocking);
  return setup_secret(setup, unlocking->node, "passphrase", &unlocking->error);
}

/* libssh comes here when, and only when, the key needs a passphrase. */
static int
unlock(const char *prompt, char *buffer, size_t size, int echo, int verify, void *data)
{
  (void)prompt;
  (void)echo;
  (void)verify;
  Unlocking *unlocking = data;
  unlocking->locked = TRUE;
  char *secret = passphrase_of(unlocking);
  gboolean fits = secret != NULL && g_strlcpy(buffer, secret, size) < size;
  secret_free(secret);
  return fits ? 0 : -1;
}

/* As ssh has it, and as secrets are held to: a key that others can read is none. */
static gboolean
check_key(const char *path, GError **error)
{
  GStatBuf info;
  if (g_stat(path, &info) != 0)
    g_set_error(error, BACKEND_ERROR, 0, "key %s: there is no such file", path);
  else if (info.st_uid == geteuid() && (info.st_mode & 077) != 0)
    g_set_error(error, BACKEND_ERROR, 0, "key %s: it can be read by others; chmod 600 %s", path,
                path);
  else
    return TRUE;
  return FALSE;
}

static ssh_key
read_key(SshKeyring *keyring, Unlocking *unlocking, GError **error)
{
  ssh_key key = g_hash_table_lookup(keyring->keys, unlocking->path);
  if (key != NULL)
    return key;
  if (!check_key(unlocking->path, error))
    return NULL;
  guint n_asked;
  do {
    n_asked = unlocking->n_asked;
    if (ssh_pki_import_privkey_file(unlocking->path, NULL, unlock, unlocking, &key) == SSH_OK) {
      g_hash_table_insert(keyring->keys, g_strdup(unlocking->path), key);
      return key;
    }
  } while (unlocking->error == NULL && unlocking->n_asked > n_asked &&
           unlocking->n_asked < ASKED_MAX);
  if (unlocking->error != NULL)
    g_propagate_error(error, unlocking->error);
  else
    g_set_error(error, BACKEND_ERROR, 0, "key %s: %s", unlocking->path,
                unlocking->locked ? "its passphrase is wrong" : "it is no private key");
  unlocking->error = NULL;
  return NULL;
}

static gboolean
add_key(SshHost *host, SshKeyring *keyring, Unlocking *unlocking, GError **error)
{
  ssh_key key = read_key(keyring, unlocking, error);
  if (key == NULL)
    return FALSE;
  g_ptr_array_add(host->keys, key);
  char *names = host->key_names == NULL ? g_strdup(unlocking->path)
                                        : g_strconcat(host->key_names, ", ", unlocking->path, NULL);
  g_free(host->key_names);
  host->key_names = names;
  return TRUE;
}

/* Those of ssh's own names that are there. A locked one is left to the agent, if one runs. */
static gboolean
add_usual_keys(SshHost *host, SshKeyring *keyring, const BackendSetup *setup, NodeId node,
               GError **error)
{
  static const char *const names[] = {"id_ed25519", "id_ecdsa", "id_rsa"};
  gboolean has_agent = host->agent && g_getenv("SSH_AUTH_SOCK") != NULL;
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *path = g_build_filename(g_get_home_dir(), ".ssh", names[i], NULL);
    Unlocking unlocking = {
        .setup = setup, .node = node, .path = path, .may_ask = !has_agent && setup->ask != NULL};
    GError *problem = NULL;
    if (!g_file_test(path, G_FILE_TEST_EXISTS) || add_key(host, keyring, &unlocking, &problem))
      continue;
    if (!unlocking.locked || unlocking.may_ask) {
      g_propagate_error(error, problem);
      return FALSE;
    }
    g_error_free(problem);
  }
  return TRUE;
}

static gboolean
add_keys(SshHost *host, const BackendSetup *setup, NodeId node, SshKeyring *keyring, GError **error)
{
  host->keys = g_ptr_array_new();
  g_autofree char *path =
      expand_home(layout_setting_text(setup->layout, setup->settings, node, "key"));
  if (path == NULL)
    return add_usual_keys(host, keyring, setup, node, error);
  Unlocking unlocking = {.setup = setup, .node = node, .path = path, .may_ask = TRUE};
  return add_key(host, keyring, &unlocking, error);
}

/* ---- Settings ------------------------------------------------------------------------------ */

static gboolean
set_option(ssh_session session, enum ssh_options_e option, const void *value, GError **error)
{
  if (ssh_options_set(session, option, value) == SSH_OK)
    return TRUE;
  g_set_error(error, BACKEND_ERROR, 0, "%s", ssh_get_error(session));
  return FALSE;
}

/* The layout's own settings win, as the command line's do with ssh: set behind what the file says;
 * those it leaves to the file are taken from there. */
static gboolean
read_config(SshHost *host, const char *path, gboolean has_user, gboolean has_port, GError **error)
{
  g_autofree char *whole = expand_home(g_strdup(path));
  host->prototype = ssh_new();
  if (!set_option(host->prototype, SSH_OPTIONS_HOST, host->address, error))
    return FALSE;
  if (!g_file_test(whole, G_FILE_TEST_IS_REGULAR) ||
      ssh_options_parse_config(host->prototype, whole) != SSH_OK) {
    g_set_error(error, BACKEND_ERROR, 0, "config %s: it cannot be read", whole);
    return FALSE;
  }
  char *value = NULL;
  guint port = 0;
  if (ssh_options_get(host->prototype, SSH_OPTIONS_HOST, &value) == SSH_OK) {
    g_free(host->address);
    host->address = g_strdup(value);
    ssh_string_free_char(value);
  }
  if (!has_user && ssh_options_get(host->prototype, SSH_OPTIONS_USER, &value) == SSH_OK) {
    g_free(host->user);
    host->user = g_strdup(value);
    ssh_string_free_char(value);
  }
  if (!has_port && ssh_options_get_port(host->prototype, &port) == SSH_OK && port > 0)
    host->port = port;
  host->proxied = ssh_options_get(host->prototype, SSH_OPTIONS_PROXYCOMMAND, &value) == SSH_OK;
  if (host->proxied)
    ssh_string_free_char(value);
  return TRUE;
}

static gint64
setting_us(const BackendSetup *setup, NodeId node, const char *key)
{
  return layout_setting_time(setup->layout, setup->settings, node, key) / 1000;
}

static gboolean
is_given(const BackendSetup *setup, NodeId node, const char *key, const char *fallback)
{
  g_autofree char *text = layout_setting_text(setup->layout, setup->settings, node, key);
  return text != NULL && g_strcmp0(text, fallback) != 0;
}

static void
read_settings(SshHost *host, const BackendSetup *setup, NodeId node)
{
  const Layout *layout = setup->layout;
  const LayoutBackend *settings = setup->settings;
  host->address = layout_setting_text(layout, settings, node, "address");
  host->user = layout_setting_text(layout, settings, node, "user");
  if (host->user == NULL)
    host->user = g_strdup(g_get_user_name());
  host->port = layout_setting_count(layout, settings, node, "port");
  host->shell = layout_setting_text(layout, settings, node, "shell");
  host->jump = layout_setting_text(layout, settings, node, "jump");
  host->known_hosts = expand_home(layout_setting_text(layout, settings, node, "known-hosts"));
  host->accept_new = layout_setting_flag(layout, settings, node, "accept-new");
  host->agent = layout_setting_flag(layout, settings, node, "agent");
  host->connect = setting_us(setup, node, "connect");
  host->auth = setting_us(setup, node, "auth");
  host->keep_alive = setting_us(setup, node, "keep-alive");
  host->lease = setting_us(setup, node, "lease");
  host->idle = setting_us(setup, node, "idle");
  host->retry = setting_us(setup, node, "retry");
}

SshHost *
ssh_host_new(const BackendSetup *setup, NodeId node, SshKeyring *keyring, GError **error)
{
  g_autoptr(SshHost) host = g_new0(SshHost, 1);
  read_settings(host, setup, node);
  g_autofree char *config = layout_setting_text(setup->layout, setup->settings, node, "config");
  if (config != NULL && !read_config(host, config, is_given(setup, node, "user", NULL),
                                     is_given(setup, node, "port", "22"), error))
    return NULL;
  return add_keys(host, setup, node, keyring, error) ? g_steal_pointer(&host) : NULL;
}

/* HOST may be [an IPv6 address]. */
static gboolean
split_place(SshHost *host, const char *place)
{
  g_autoptr(GError) none = NULL;
  g_autoptr(GRegex) form = g_regex_new(
      "^(?:([^@\\s]+)@)?(?:\\[([^]\\s]+)\\]|([^:\\s]+))(?::([0-9]{1,5}))?$", 0, 0, &none);
  g_autoptr(GMatchInfo) match = NULL;
  if (!g_regex_match(form, place, 0, &match))
    return FALSE;
  g_autofree char *user = g_match_info_fetch(match, 1);
  g_autofree char *bracketed = g_match_info_fetch(match, 2);
  g_autofree char *port = g_match_info_fetch(match, 4);
  if (*user != '\0') {
    g_free(host->user);
    host->user = g_steal_pointer(&user);
  }
  host->address = *bracketed != '\0' ? g_steal_pointer(&bracketed) : g_match_info_fetch(match, 3);
  host->port = port != NULL && *port != '\0' ? (guint)g_ascii_strtoull(port, NULL, 10) : 22;
  return host->port >= 1 && host->port <= 65535;
}

SshHost *
ssh_host_new_jump(const SshHost *of, const char *where, GError **error)
{
  g_autoptr(SshHost) host = g_memdup2(of, sizeof *of);
  host->address = host->jump = NULL;
  host->user = g_strdup(of->user);
  host->shell = g_strdup(of->shell);
  host->known_hosts = g_strdup(of->known_hosts);
  host->key_names = g_strdup(of->key_names);
  host->keys = g_ptr_array_ref(of->keys);
  host->prototype = NULL;
  host->proxied = FALSE;
  if (split_place(host, where))
    return g_steal_pointer(&host);
  g_set_error(error, BACKEND_ERROR, 0, "jump `%s` is not [USER@]HOST[:PORT]", where);
  return NULL;
}

void
ssh_host_free(SshHost *host)
{
  if (host == NULL)
    return;
  g_free(host->address);
  g_free(host->user);
  g_free(host->shell);
  g_free(host->jump);
  g_free(host->known_hosts);
  g_free(host->key_names);
  g_clear_pointer(&host->keys, g_ptr_array_unref);
  ssh_free(host->prototype);
  g_free(host);
}

ssh_session
ssh_host_session(const SshHost *host, GError **error)
{
  ssh_session session = NULL;
  gboolean reads = FALSE, adapts = TRUE;
  if (host->prototype == NULL)
    session = ssh_new();
  else
    ssh_options_copy(host->prototype, &session);
  if (session == NULL) {
    g_set_error(error, BACKEND_ERROR, 0, "no session could be made");
    return NULL;
  }
  ssh_set_blocking(session, 0);
  if (set_option(session, SSH_OPTIONS_PROCESS_CONFIG, &reads, error) &&
      set_option(session, SSH_OPTIONS_HOST, host->address, error) &&
      set_option(session, SSH_OPTIONS_PORT, &host->port, error) &&
      set_option(session, SSH_OPTIONS_USER, host->user, error) &&
      set_option(session, SSH_OPTIONS_KNOWNHOSTS, host->known_hosts, error) &&
      set_option(session, SSH_OPTIONS_NODELAY, &adapts, error))
    return session;
  ssh_free(session);
  return NULL;
}
