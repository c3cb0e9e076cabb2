#include "backends/ssh/ssh_trust.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "SHA256:…", as ssh shows it. */
static char *
fingerprint(ssh_key key)
{
  unsigned char *hash = NULL;
  size_t length;
  if (key == NULL || ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &length) != 0)
    return g_strdup("none");
  char *text = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, length);
  char *copy = g_strdup(text);
  ssh_string_free_char(text);
  ssh_clean_pubkey_hash(&hash);
  return copy;
}

/* As known_hosts names it. */
static char *
host_name(const SshHost *host)
{
  return host->port == 22 ? g_strdup(host->address)
                          : g_strdup_printf("[%s]:%u", host->address, host->port);
}

/* Adds the fingerprints of FILE's keys for NAME to KNOWN, those of TYPE first. */
static void
look_in(const char *file, const char *name, enum ssh_keytypes_e type, GPtrArray *known)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents(file, &text, NULL, NULL))
    return;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    struct ssh_knownhosts_entry *entry = NULL;
    if (*lines[i] == '\0' || *lines[i] == '#' ||
        ssh_known_hosts_parse_line(name, lines[i], &entry) != SSH_OK)
      continue;
    g_ptr_array_insert(known, ssh_key_type(entry->publickey) == type ? 0 : -1,
                       fingerprint(entry->publickey));
    ssh_knownhosts_entry_free(entry);
  }
}

static char *
known_fingerprint(const SshHost *host, ssh_key key)
{
  g_autofree char *name = host_name(host);
  g_autoptr(GPtrArray) known = g_ptr_array_new_with_free_func(g_free);
  look_in(host->known_hosts, name, ssh_key_type(key), known);
  look_in("/etc/ssh/ssh_known_hosts", name, ssh_key_type(key), known);
  return known->len > 0 ? g_strdup(g_ptr_array_index(known, 0)) : g_strdup("another");
}

static gboolean
fail_at(const char *path, GError **error)
{
  int code = errno;
  g_set_error(error, BACKEND_ERROR, 0, "its key cannot be noted in %s: %s", path, g_strerror(code));
  return FALSE;
}

/* One write at the end of the file: whoever reads it meanwhile sees the line whole or not, and two
 * who note at once do not mix theirs. */
static gboolean
append(const char *path, const char *line, GError **error)
{
  g_autofree char *folder = g_path_get_dirname(path);
  if (g_mkdir_with_parents(folder, 0700) != 0)
    return fail_at(path, error);
  int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0)
    return fail_at(path, error);
  struct stat info;
  char last = '\n';
  gboolean ok =
      fstat(fd, &info) == 0 && (info.st_size == 0 || pread(fd, &last, 1, info.st_size - 1) == 1);
  g_autofree char *whole = g_strconcat(last == '\n' ? "" : "\n", line, NULL);
  gssize length = (gssize)strlen(whole);
  ok = ok && write(fd, whole, (gsize)length) == length && fsync(fd) == 0;
  if (!ok)
    fail_at(path, error);
  close(fd);
  return ok;
}

static gboolean
note(const SshHost *host, ssh_session session, GError **error)
{
  char *entry = NULL;
  if (ssh_session_export_known_hosts_entry(session, &entry) != SSH_OK) {
    g_set_error(error, BACKEND_ERROR, 0, "its key cannot be noted: %s", ssh_get_error(session));
    return FALSE;
  }
  g_autofree char *line = g_strconcat(g_strchomp(entry), "\n", NULL);
  ssh_string_free_char(entry);
  return append(host->known_hosts, line, error);
}

static gboolean
refuse_unknown(const SshHost *host, const char *seen, GError **error)
{
  g_set_error(error, BACKEND_ERROR, 0,
              "its host key %s is not in %s; add it there if it is right, or let the layout say "
              "accept-new",
              seen, host->known_hosts);
  return FALSE;
}

static gboolean
refuse_changed(const SshHost *host, ssh_key key, const char *seen, GError **error)
{
  g_autofree char *known = known_fingerprint(host, key);
  g_set_error(error, BACKEND_ERROR, 0,
              "its host key has changed: known is %s, it shows %s; if that is right, take the old "
              "one out of %s",
              known, seen, host->known_hosts);
  return FALSE;
}

gboolean
ssh_trust(const SshHost *host, ssh_session session, GError **error)
{
  ssh_key key = NULL;
  if (ssh_get_server_publickey(session, &key) != SSH_OK) {
    g_set_error(error, BACKEND_ERROR, 0, "it shows no host key");
    return FALSE;
  }
  g_autofree char *seen = fingerprint(key);
  gboolean trusted = FALSE;
  switch (ssh_session_is_known_server(session)) {
  case SSH_KNOWN_HOSTS_OK:
    trusted = TRUE;
    break;
  case SSH_KNOWN_HOSTS_CHANGED:
  case SSH_KNOWN_HOSTS_OTHER:
    refuse_changed(host, key, seen, error);
    break;
  case SSH_KNOWN_HOSTS_UNKNOWN:
  case SSH_KNOWN_HOSTS_NOT_FOUND:
    trusted = host->accept_new ? note(host, session, error) : refuse_unknown(host, seen, error);
    break;
  case SSH_KNOWN_HOSTS_ERROR:
    g_set_error(error, BACKEND_ERROR, 0, "its host key cannot be looked up: %s",
                ssh_get_error(session));
    break;
  }
  ssh_key_free(key);
  return trusted;
}
