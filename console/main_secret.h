/* Asking the operator for secrets, at the terminal and without echo, before the screen is up. */
#ifndef PULT_MAIN_SECRET_H
#define PULT_MAIN_SECRET_H

#include <glib.h>

/* Answers given so far, so that each thing is asked for once. */
typedef struct MainSecrets MainSecrets;

MainSecrets *main_secrets_new(void);
/* Wipes them. Takes NULL. */
void main_secrets_free(MainSecrets *secrets);
/* A SecretAsk; SECRETS is a MainSecrets. */
char *main_ask_secret(const char *text, gpointer secrets, GError **error);

#endif
