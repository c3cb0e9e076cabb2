/* Secrets by reference, as layouts give them: `file:PATH`, `env:NAME`, `prompt`.
 *
 * A file must be the operator's own (or root's) and closed to everyone else, as ssh wants its keys;
 * its first line is the secret. A prompt asks the operator once for each TEXT. Errors name the
 * reference and never what it holds.
 */
#ifndef PULT_SECRET_H
#define PULT_SECRET_H

#include <glib.h>

#define SECRET_MAX 1024
#define SECRET_ERROR (g_quark_from_static_string("pult-secret"))

/* Asks the operator for what TEXT names; a copy, wiped with secret_free(). NULL with an error:
 * there is nobody to ask. */
typedef char *(*SecretAsk)(const char *text, gpointer data, GError **error);

/* WHAT it is, for the prompt and for errors: `bmc password`. Free with secret_free(). */
char *secret_read(const char *reference, const char *what, SecretAsk ask, gpointer data,
                  GError **error);
/* Wipes it first. Takes NULL. */
void secret_free(char *secret);

#endif
