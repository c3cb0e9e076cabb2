/* PCRE2 patterns that data files bring and foreign text is held against: compiled with the JIT and
 * with limits, so that a hostile pattern costs bounded time and never the stack.
 *
 * A pattern is anchored to whole lines: it must match all of the text it is given, trailing CR and
 * LF aside. UTF-8 is not assumed: text is bytes. A Pattern never changes for who uses it; several
 * threads may, each with a PatternMatch of its own.
 */
#ifndef PULT_MODEL_PATTERN_H
#define PULT_MODEL_PATTERN_H

#include <glib.h>

#define PATTERN_MAX_LENGTH 4096
#define PATTERN_MAX_NAMES 32

typedef struct Pattern Pattern;
typedef struct PatternMatch PatternMatch;

#define PATTERN_ERROR (g_quark_from_static_string("pult-pattern"))

/* NULL with `at N: what is wrong`. */
Pattern *pattern_new(const char *text, GError **error);
/* The same of TEXT behind DEFINITIONS, a group `(?(DEFINE)…)` whose subpatterns it may call; they
 * count as names. */
Pattern *pattern_new_with(const char *definitions, const char *text, GError **error);
void pattern_free(Pattern *pattern);
const char *pattern_text(const Pattern *pattern);
/* Names of its named groups, in the order of their numbers, NULL-terminated. */
const char *const *pattern_names(const Pattern *pattern);

PatternMatch *pattern_match_new(void);
void pattern_match_free(PatternMatch *match);

typedef enum {
  PATTERN_NO,      /* it does not match, nor would it with more text behind */
  PATTERN_PARTIAL, /* only with pattern_match_partial(): more text could make it match */
  PATTERN_YES,
  PATTERN_LIMIT, /* given up: a limit was reached */
} PatternResult;

/* MATCH holds the captures until it is used again, and points into TEXT. */
PatternResult pattern_match(const Pattern *pattern, PatternMatch *match, const char *text,
                            gsize length);
/* For replies that arrive in pieces: TEXT is what has come of a line so far. */
PatternResult pattern_match_partial(const Pattern *pattern, PatternMatch *match, const char *text,
                                    gsize length);
/* A copy of what the group called NAME took; NULL when there is none such or it took no part. */
char *pattern_match_get(const PatternMatch *match, const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Pattern, pattern_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PatternMatch, pattern_match_free)

#endif
