#include <crypt.h>
#include <string.h>

#include "backends/pxe/pxe_edit.h"
#include "backends/secret.h"

#define METHOD "$6$" /* SHA-512: the strongest that menu.c32 knows */

char *
pxe_password_hash(const char *reference, GError **error)
{
  char *word = secret_read(reference, "menu password", NULL, NULL, error);
  if (word == NULL)
    return NULL;
  void *work = NULL;
  int size = 0;
  char *salt = crypt_gensalt_ra(METHOD, 0, NULL, 0);
  const char *hash = salt != NULL ? crypt_ra(word, salt, &work, &size) : NULL;
  char *copy = hash != NULL && g_str_has_prefix(hash, METHOD) ? g_strdup(hash) : NULL;
  if (copy == NULL)
    pxe_fail(error, "this system's crypt does not make " METHOD " hashes");
  if (work != NULL)
    explicit_bzero(work, (gsize)size);
  free(work);
  free(salt);
  secret_free(word);
  return copy;
}
