/* By what each machine of a layout is reached: `a[01-17]  power by bmc, on by wol, commands by
 * ssh`. */
#ifndef PULT_MAIN_MEANS_H
#define PULT_MAIN_MEANS_H

#include <stdio.h>

#include "model/layout.h"

/* A line for each set of nodes that are reached alike, in the layout's order. */
void main_print_means(FILE *out, const Layout *layout);

#endif
