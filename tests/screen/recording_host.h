/* A host that writes down what the screen asks it for, and carries out nothing; and what a test
 * wants to know of a screen of 80x24. */
#ifndef PULT_TESTS_RECORDING_HOST_H
#define PULT_TESTS_RECORDING_HOST_H

#include "screen_lab.h"

#define LAYOUT "layouts/openslx-two-rooms.yaml"

/* Rows of the screen. */
#define SENTENCE 21
#define PROMPT 22

typedef struct {
  GString *asked;
  const char *refusal; /* of say, step, mark, go; NULL: takes it */
  ScreenLab *lab;
} Fixture;

extern const HostOps session_ops, replay_ops;

/* cmocka's set-up and tear-down: the two-room lab in a session. */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);
Fixture *fixture_new(const char *file, const char *text, const HostOps *ops);
void fixture_free(Fixture *fixture);
/* The host was asked for just EXPECTED since the last look. */
void asked(Fixture *fixture, const char *expected);
void row_is(ScreenLab *lab, int row, const char *expected);
void row_has(ScreenLab *lab, int row, const char *expected);

#endif
