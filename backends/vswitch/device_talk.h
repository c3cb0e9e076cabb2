/* A conversation with a device: what it says is cut into replies, and scripts are run against it
 * one at a time. Deterministic: bytes and the time come in, what is to be sent and when to look
 * again come out. No clock, no I/O.
 *
 * A reply is held first against the echo that is due, then against the description's errors, then
 * against what the step expects, then against lines to ignore and to take as state. So an error
 * outranks a success, also one that came in the same breath behind it. A capture that bears the
 * name of a parameter has to be what was asked for: where it is not, and the line is one that tells
 * a state, somebody else's doing was told and the wait goes on; else the step has failed.
 *
 * What a run comes to:
 *   ok       every step was answered
 *   failed   the device said so, or said something that cannot be, or nothing was sent yet
 *   timeout  no answer, and nothing can have changed
 *   unknown  no answer, to something that changes: it may have happened
 *
 * Times are ns, any origin, and never decrease.
 */
#ifndef PULT_VSWITCH_DEVICE_TALK_H
#define PULT_VSWITCH_DEVICE_TALK_H

#include "backends/vswitch/device.h"

typedef struct DeviceTalk DeviceTalk;

typedef struct {
  /* A command as it is sent, or a reply as it was heard: one printable line, no secret in it. */
  void (*spoke)(gboolean sent, const char *text, gpointer data);
  /* A state the device told on its own: MATCH has the captures, until this returns. */
  void (*told)(const Pattern *pattern, const PatternMatch *match, gpointer data);
} DeviceHooks;

/* DEVICE is borrowed; HOOKS is copied, each may be NULL. */
DeviceTalk *device_talk_new(const Device *device, const DeviceHooks *hooks, gpointer data);
void device_talk_free(DeviceTalk *talk);

/* SCRIPT with VALUES, which it takes; none may be running. A reply that has begun by now is stale,
 * and thrown away. A secret among VALUES is *** in whatever is heard from now on. */
void device_talk_begin(DeviceTalk *talk, const DeviceScript *script, DeviceValues *values,
                       gint64 now);
/* What came in. */
void device_talk_hear(DeviceTalk *talk, const char *bytes, gsize n, gint64 now);
/* The same of DEVICE_MESSAGES: one reply, whole. */
void device_talk_hear_message(DeviceTalk *talk, const char *text, gsize n, gint64 now);
/* What is due to be sent at NOW, at most MAX bytes; 0: nothing. They count as sent. */
gsize device_talk_take(DeviceTalk *talk, char *bytes, gsize max, gint64 now);
/* Time has passed: deadlines, silences and pauses. */
void device_talk_tick(DeviceTalk *talk, gint64 now);
/* When to take or to tick next; TIME_NEVER: when something was heard. */
gint64 device_talk_due(const DeviceTalk *talk);
/* What was taken for the step that runs did not go out after all. */
void device_talk_take_back(DeviceTalk *talk);
/* The connection is gone, or nobody waits any more: CAUSE says it. The run is over. */
void device_talk_break(DeviceTalk *talk, const char *cause);

/* Whether no script is running. */
gboolean device_talk_is_over(const DeviceTalk *talk);
/* Whether a byte of the latest run was sent. */
gboolean device_talk_has_sent(const DeviceTalk *talk);
/* Of the latest run, when it is over: what it came to, and why it is not ok (never NULL). */
Verdict device_talk_verdict(const DeviceTalk *talk);
const char *device_talk_text(const DeviceTalk *talk);
/* What its replies' group called NAME took last; NULL: nothing. */
const char *device_talk_capture(const DeviceTalk *talk, const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(DeviceTalk, device_talk_free)

#endif
