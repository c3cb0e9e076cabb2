/* Random numbers that do not depend on the order of asking: each is keyed by (seed, purpose, node,
 * n). SplitMix64's finaliser over an FNV-1a hash of the key; uniform in [0, 1) with 53 bits. */
#ifndef PULT_MODEL_DRAW_H
#define PULT_MODEL_DRAW_H

#include <glib.h>

/* PURPOSE names the use (`start-delay`); NODE the machine, "" for a draw all machines share. */
double draw_uniform(guint64 seed, const char *purpose, const char *node, guint64 n);

#endif
