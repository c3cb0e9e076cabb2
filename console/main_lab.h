/* A lab ready to be worked with: its layout, its backends and a session over them. */
#ifndef PULT_MAIN_LAB_H
#define PULT_MAIN_LAB_H

#include "main_options.h"
#include "main_secret.h"
#include "session/data.h"

typedef struct {
  Layout *layout;
  JobSet *jobs;
  GPtrArray *stages; /* of StageSource, that the layout names; NULL: it names none */
  Session *session;
  MainSecrets *secrets;
  gboolean real; /* some backend touches real machines */
} Lab;

#define LAB_DEFAULT_LAYOUT "openslx-two-rooms"

/* A session not yet started. SCRIPT may be NULL; its layout yields to the one in OPTIONS. With
 * CONSOLE the operator is asked for consent and the session is recorded unless told otherwise;
 * without, only on request. */
Lab *lab_open(const MainOptions *options, const Script *script, const char *script_name,
              gboolean console, GError **error);
/* The same of a session begun with just these OPTIONS over LAYOUT, which is theirs and is taken. */
Lab *lab_open_as(Layout *layout, const SessionOptions *options, GError **error);
/* *REAL: some backend of LAYOUT touches real machines. FALSE when one is not compiled in. */
gboolean lab_reaches_real(const Layout *layout, gboolean *real, GError **error);
void lab_free(Lab *lab);
/* Names of the backends compiled in, blanks between. */
char *lab_backends(void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lab, lab_free)

#endif
