/* Lines an operator might type into a simulated lab: sensible, half sensible and garbage. */
#ifndef PULT_TESTS_RANDOM_LINES_H
#define PULT_TESTS_RANDOM_LINES_H

#include "model/layout.h"

/* From 0 to N-1. */
guint random_pick(GRand *random, guint n);
/* One line; three in four parse, and most of those name what LAYOUT has. Waits and sleeps are
 * short, so that a session ends. Free with g_free. */
char *random_line(GRand *random, const Layout *layout);
/* A script of blocks around such lines, which need not make sense. */
char *random_script(GRand *random, const Layout *layout);

#endif
