/* Expectations side by side: rows of what was expected, columns of the variants tried.
 *
 * A label's last `_WORD` is the variant it belongs to: `alone_out_H2.bond.tx.peak` is row
 * `alone_out.bond.tx.peak` in column `H2`. A `mark` just before an `expect` names its row. A figure
 * of a load whose caches were not proved, or of what was measured during it, has `unverified` below
 * it. Made from events alone; nothing is printed unless some row has two variants.
 */
#ifndef PULT_SESSION_VARIANTS_H
#define PULT_SESSION_VARIANTS_H

#include <stdio.h>

#include "model/event.h"

typedef struct Variants Variants;

Variants *variants_new(void);
void variants_free(Variants *variants);
void variants_add(Variants *variants, const Event *event);
/* TRUE when there is something to put side by side. */
gboolean variants_has_table(const Variants *variants);
void variants_print(const Variants *variants, FILE *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Variants, variants_free)

#endif
