/* What the reader of stage sources and the matcher share. */
#ifndef PULT_MODEL_STAGE_PRIVATE_H
#define PULT_MODEL_STAGE_PRIVATE_H

#include "model/stage_source.h"

typedef struct {
  const char *stage; /* interned; NULL */
  Certainty certainty;
  Pattern *pattern;
} StagePattern;

struct StageSource {
  char *name, *about;
  gboolean console;
  char **programs;     /* NULL: any */
  GArray *patterns;    /* of StagePattern */
  const char **stages; /* NULL-terminated */
};

#endif
