/* A conversation with one of the shipped devices, or another, at times of the test's own. */
#ifndef PULT_TESTS_DEVICE_LAB_H
#define PULT_TESTS_DEVICE_LAB_H

#include "backends/vswitch/device_talk.h"

typedef struct {
  Device *device;
  DeviceTalk *talk;
  gint64 now;
  GString *said; /* `> sent`, `< heard`, `= out 3 in 1` of a state it told, a line each */
} DeviceLab;

/* The shipped description called NAME, from the top of the tree. */
DeviceLab *device_lab_open(const char *name);
/* A description in TEXT. */
DeviceLab *device_lab_new(const char *text);
void device_lab_free(DeviceLab *lab);

/* WORDS: `in=1 out=3`. Takes what is sent at once. */
void device_lab_begin(DeviceLab *lab, const char *script, const char *words);
/* What is due by now, as one text that the caller frees. */
char *device_lab_take(DeviceLab *lab);
void device_lab_hear(DeviceLab *lab, const char *bytes);
/* Time passes, with what falls due in it. */
void device_lab_wait(DeviceLab *lab, gint64 ns);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(DeviceLab, device_lab_free)

#endif
