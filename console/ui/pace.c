#include "ui/pace.h"

gboolean
pace_allows(Pace *pace, gint64 now, gsize bytes)
{
  gsize recent = 0;
  for (guint i = 0; i < MIN(pace->n, PACE_FRAMES); i++)
    recent += now - pace->t[i] < G_USEC_PER_SEC ? pace->bytes[i] : 0;
  /* Keys may keep the second full: waiting ends all the same. */
  gboolean waited = pace->waiting_since > 0 && now - pace->waiting_since >= G_USEC_PER_SEC;
  gboolean allowed = recent + bytes <= PACE_BYTES || recent == 0 || waited;
  if (allowed)
    pace->waiting_since = 0;
  else if (pace->waiting_since == 0)
    pace->waiting_since = now;
  return allowed;
}

void
pace_note(Pace *pace, gint64 now, gsize bytes)
{
  guint i = pace->n++ % PACE_FRAMES;
  pace->t[i] = now;
  pace->bytes[i] = bytes;
}
