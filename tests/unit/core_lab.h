/* A lab without a world for tests of core: events go in by hand, outputs come out as lines.
 *
 *   request 3 boot-device sim a[01-02] cmd=1 device=pxe entry=ubuntu-10.04::nfs until 32 s
 *   plan 1: cycle a[01-02] by sim; 2 seats; protected s1; in use a02; -TIMEOUT 1|+TIMEOUT 2|
 *   note warning a02: text · done 1 ok · cancel 4
 *   figure one.boot.mean 18.25 s n=2 runs=1 · expect held 18.25: text
 *
 * It wakes core as the session does: at each deadline on the way to a time, and at that time after
 * what was posted for it and before commands.
 */
#ifndef PULT_TESTS_CORE_LAB_H
#define PULT_TESTS_CORE_LAB_H

#include "core/state.h"

typedef struct {
  Layout *layout;
  CoreState *state;
  GString *out;
  gint64 t;
  guint32 cmd;
} Lab;

/* FILE is relative to the top. Nothing has happened yet. */
Lab *lab_new(const char *file, const CoreOptions *options);
/* two-seats.yaml after its `link up`: a01 and a02 off, s1 on; requests 1 and 2 are gone by. */
Lab *lab_two_seats(const CoreOptions *options);
void lab_free(Lab *lab);

/* Seconds since the session began; the wakes up to that time are given, but not those at it: what
 * backends post then comes first. */
void lab_reach(Lab *lab, double seconds);
/* With those at it. */
void lab_at(Lab *lab, double seconds);
/* The wake of now, if one is due: what a session gives before a command and at rest. */
void lab_settle(Lab *lab);
void lab_link(Lab *lab, const char *backend, gboolean up, const char *text);
/* Returns its cmd. */
guint32 lab_say(Lab *lab, const char *text);
guint32 lab_confirm(Lab *lab, const char *text, int seats);
void lab_see(Lab *lab, const char *node, const char *fact, const char *value); /* by sim */
void lab_see_by(Lab *lab, const char *node, const char *fact, const char *value,
                const char *source);
void lab_answer(Lab *lab, guint32 request, const char *node, Verdict verdict, const char *text);
/* That NODE's POWER is seen, and its verdict ok. */
void lab_see_and_answer(Lab *lab, guint32 request, const char *node, const char *power);
/* Of two seats: ok. */
void lab_answer_both(Lab *lab, guint32 request);
/* Boots two seats from off, T seconds on: boot-device is request FIRST, on the next one. */
void lab_boot_both(Lab *lab, double t, const char *command, guint32 first);
void lab_line(Lab *lab, guint32 request, const char *node, const char *stream, const char *text);
/* COLUMNS NULL after the first; N values. */
void lab_samples(Lab *lab, const char *const *columns, const gint64 *values, guint n);
/* The outputs since the last look, line for line; they are forgotten. */
void lab_expect(Lab *lab, const char *lines);
/* Only those that begin with PREFIX. */
void lab_expect_only(Lab *lab, const char *prefix, const char *lines);
NodeId lab_node(const Lab *lab, const char *name);
Stage lab_stage(const Lab *lab, const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lab, lab_free)

#endif
