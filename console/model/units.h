/* Numbers with units, as typed: `5s`, `5 s`, `1.9 Gbit/s`, `34 %`.
 *
 * A unit belongs to every value and case matters. Bits and bytes a second are one dimension
 * (base bit/s); MB is 10^6, MiB 2^20. Nothing depends on the locale.
 */
#ifndef PULT_MODEL_UNITS_H
#define PULT_MODEL_UNITS_H

#include <glib.h>

typedef enum {
  DIMENSION_COUNT,   /* no unit */
  DIMENSION_TIME,    /* base: s    · ns us ms s min h */
  DIMENSION_SIZE,    /* base: B    · B kB MB GB KiB MiB GiB */
  DIMENSION_RATE,    /* base: bit/s · bit/s kbit/s Mbit/s Gbit/s, B/s … GiB/s */
  DIMENSION_PERCENT, /* base: 1/100; `34 %` is 0.34 */
} Dimension;

typedef struct {
  double value; /* in the dimension's base unit */
  Dimension dimension;
} Quantity;

#define UNITS_ERROR (g_quark_from_static_string("pult-units"))

/* Reads the whole of TEXT, at most 64 bytes: digits, perhaps a point and digits, at most one space,
 * the unit. No sign, no exponent, no comma. FALSE, with *QUANTITY untouched and a sentence that
 * names the text, and the nearest known unit where there is one. */
gboolean units_parse(const char *text, Quantity *quantity, GError **error);
/* The same, and of one dimension only. A bare number is refused where a unit is due. */
gboolean units_parse_as(const char *text, Dimension dimension, double *value, GError **error);
/* DUR to the nearest nanosecond, 0 … 10^6 hours. */
gboolean units_parse_duration(const char *text, gint64 *nanoseconds, GError **error);
/* Plain whole number, decimal only, no sign, at most MAX. */
gboolean units_parse_count(const char *text, guint64 max, guint64 *value, GError **error);
/* TRUE when WORD alone is a known unit (so `5 s` may be two words of a command). */
gboolean units_is_unit(const char *word);
const char *units_base_name(Dimension dimension); /* "", "s", "B", "bit/s", "" */
/* The nearest of WORDS (NULL-terminated) to WORD by edit distance, swapped neighbours counting one
 * and case nothing; the first of equals. NULL when none is near (more than a third of the longer
 * word's letters differ). For every "did you mean". */
const char *units_nearest_word(const char *word, const char *const *words);

/* VALUE with DECIMALS places (at most 15), its exact binary value rounded half away from zero,
 * without locale or exponent; `nan`, `inf`, `-inf`. Never `-0`. */
char *units_fixed(double value, guint decimals);
/* For people: `18.0 s`, `1.88 Gbit/s`, `54.2 MB`, `34.0 %`. The unit is the smallest in which the
 * rounded figure stays below 1000 (rates in bits, sizes in decimal bytes), the largest when none
 * does. Three significant digits, below 1 three decimals; whole bytes and plain whole numbers stand
 * whole; 0 has its base unit. */
char *units_print(double value, Dimension dimension);
/* VALUE (in base units) in the unit NAME, which must be known: `267 MiB/s`, `0.790 MiB/s`. */
char *units_print_in(double value, const char *name);

#endif
