/* Between the files of a conversation. */
#ifndef PULT_VSWITCH_DEVICE_TALK_PRIVATE_H
#define PULT_VSWITCH_DEVICE_TALK_PRIVATE_H

#include "backends/vswitch/device_talk.h"

struct DeviceTalk {
  const Device *device;
  DeviceHooks hooks;
  gpointer hook_data;
  PatternMatch *match;

  /* What was heard and is no whole reply yet. */
  GString *heard;
  gboolean too_long; /* the reply is passed over until it ends */

  gint64 free_at; /* the next command may go then */

  /* The run. */
  const DeviceScript *script; /* NULL: there was none */
  DeviceValues *values;
  DeviceValues *masks; /* of the latest run before that had a secret; NULL: none had */
  guint step;
  gboolean over;
  Verdict verdict;
  char *text;
  GHashTable *captures;
  gint64 deadline;
  gboolean sent_any, sent_before; /* in the run, in its steps before this one */
  guint replies;                  /* heard in it */

  /* Its step. */
  GString *out; /* what is sent */
  gsize n_sent;
  gint64 next_byte;
  gint64 asked;     /* since when an answer is waited for; TIME_NEVER: not all is sent */
  gsize n_echoed;   /* bytes of `out` that came back */
  gboolean replied; /* the pattern matched */
  gint64 resume;    /* the end of its pause; 0: none yet */
  char *other;      /* the latest reply that was none of it */
  gboolean ended;   /* the run ended within this call */
};

/* The next step that is there, or the end. */
void device_talk_step(DeviceTalk *talk, gint64 now);
/* The step is done if all it asks for has come. */
void device_talk_progress(DeviceTalk *talk, gint64 now);
void device_talk_end(DeviceTalk *talk, Verdict verdict, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
/* Printable, and secrets as ***. */
char *device_talk_shown(const DeviceTalk *talk, const char *text, gsize n);
/* The same is told as heard. */
void device_talk_spoke(DeviceTalk *talk, const char *text, gsize n);
/* How many bytes of `out` have to come back: of a line, without what ends it. */
gsize device_talk_echo_due(const DeviceTalk *talk);
/* The verdict of a run that had no answer. */
Verdict device_talk_no_answer(const DeviceTalk *talk);
static inline const DeviceStep *
device_talk_now(const DeviceTalk *talk)
{
  return &talk->script->steps[talk->step];
}

/* One whole reply (device_hear.c). */
void device_talk_reply(DeviceTalk *talk, const char *text, gsize n, gint64 now);
/* What has come of the next one, where that may be a prompt. */
void device_talk_prompt(DeviceTalk *talk, gint64 now);
/* Why there was no answer, in words. */
char *device_talk_missing(const DeviceTalk *talk, gint64 now);

#endif
