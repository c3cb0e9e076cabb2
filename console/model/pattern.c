#include "model/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

/* The match limit counts steps of backtracking: some ten milliseconds at worst. */
#define MATCH_LIMIT 1000000
#define DEPTH_LIMIT 1000
#define HEAP_LIMIT_KIB 1024

struct Pattern {
  char *text;
  pcre2_code *code;
  char **names;
  gsize quick; /* once: it has been through the JIT */
};

struct PatternMatch {
  pcre2_match_context *context;
  pcre2_match_data *data;
  const Pattern *pattern; /* of the latest match that succeeded, or NULL */
  const char *text;
};

static gboolean
fail(GError **error, int code, gsize at)
{
  PCRE2_UCHAR message[256];

  pcre2_get_error_message(code, message, sizeof message);
  g_set_error(error, PATTERN_ERROR, 0, "at %zu: %s", at + 1, (const char *)message);
  return FALSE;
}

static gboolean
read_names(Pattern *pattern, GError **error)
{
  guint32 n, size;
  PCRE2_SPTR table;

  pcre2_pattern_info(pattern->code, PCRE2_INFO_NAMECOUNT, &n);
  pcre2_pattern_info(pattern->code, PCRE2_INFO_NAMEENTRYSIZE, &size);
  pcre2_pattern_info(pattern->code, PCRE2_INFO_NAMETABLE, &table);
  if (n > PATTERN_MAX_NAMES) {
    g_set_error(error, PATTERN_ERROR, 0, "%u names: at most %d", n, PATTERN_MAX_NAMES);
    return FALSE;
  }
  /* The table is sorted by name; its first two bytes are the group's number. */
  pattern->names = g_new0(char *, n + 1);
  guint taken = 0;
  for (guint number = 1; taken < n && number <= G_MAXUINT16; number++)
    for (guint i = 0; i < n; i++) {
      PCRE2_SPTR entry = table + (gsize)i * size;
      if ((guint)(entry[0] << 8 | entry[1]) == number)
        pattern->names[taken++] = g_strdup((const char *)entry + 2);
    }
  return TRUE;
}

Pattern *
pattern_new(const char *text, GError **error)
{
  return pattern_new_with("", text, error);
}

Pattern *
pattern_new_with(const char *definitions, const char *text, GError **error)
{
  if (strlen(text) > PATTERN_MAX_LENGTH) {
    g_set_error(error, PATTERN_ERROR, 0, "a pattern of %zu bytes: at most %d", strlen(text),
                PATTERN_MAX_LENGTH);
    return NULL;
  }
  g_autoptr(Pattern) pattern = g_new0(Pattern, 1);
  pcre2_compile_context *context = pcre2_compile_context_create(NULL);
  int code;
  PCRE2_SIZE at;

  pcre2_set_compile_extra_options(context, PCRE2_EXTRA_MATCH_LINE);
  g_autofree char *whole = g_strconcat(definitions, text, NULL);
  pattern->text = g_strdup(text);
  pattern->code =
      pcre2_compile((PCRE2_SPTR)whole, PCRE2_ZERO_TERMINATED,
                    PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C, &code, &at, context);
  pcre2_compile_context_free(context);
  if (pattern->code == NULL) {
    fail(error, code, at - MIN(at, strlen(definitions)));
    return NULL;
  }
  if (!read_names(pattern, error))
    return NULL;
  return g_steal_pointer(&pattern);
}

void
pattern_free(Pattern *pattern)
{
  if (pattern == NULL)
    return;
  pcre2_code_free(pattern->code);
  g_strfreev(pattern->names);
  g_free(pattern->text);
  g_free(pattern);
}

const char *
pattern_text(const Pattern *pattern)
{
  return pattern->text;
}

const char *const *
pattern_names(const Pattern *pattern)
{
  return (const char *const *)pattern->names;
}

PatternMatch *
pattern_match_new(void)
{
  PatternMatch *match = g_new0(PatternMatch, 1);

  match->context = pcre2_match_context_create(NULL);
  pcre2_set_match_limit(match->context, MATCH_LIMIT);
  pcre2_set_depth_limit(match->context, DEPTH_LIMIT);
  pcre2_set_heap_limit(match->context, HEAP_LIMIT_KIB);
  match->data = pcre2_match_data_create(1 + PATTERN_MAX_NAMES * 2, NULL);
  return match;
}

void
pattern_match_free(PatternMatch *match)
{
  if (match == NULL)
    return;
  pcre2_match_data_free(match->data);
  pcre2_match_context_free(match->context);
  g_free(match);
}

/* Not before it is used: of the many that are read, most sessions hold text against few. Where
 * there is no JIT the interpreter does the same under the same limits. */
static void
make_quick(Pattern *pattern)
{
  if (!g_once_init_enter(&pattern->quick))
    return;
  pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
  g_once_init_leave(&pattern->quick, 1);
}

static PatternResult
run(const Pattern *pattern, PatternMatch *match, const char *text, gsize length, guint32 options)
{
  make_quick((Pattern *)pattern);
  int code =
      pcre2_match(pattern->code, (PCRE2_SPTR)text, length, 0, options, match->data, match->context);

  match->pattern = code >= 0 ? pattern : NULL;
  match->text = text;
  if (code >= 0)
    return PATTERN_YES;
  if (code == PCRE2_ERROR_PARTIAL)
    return PATTERN_PARTIAL;
  return code == PCRE2_ERROR_NOMATCH ? PATTERN_NO : PATTERN_LIMIT;
}

PatternResult
pattern_match(const Pattern *pattern, PatternMatch *match, const char *text, gsize length)
{
  while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
    length--;
  return run(pattern, match, text, length, 0);
}

PatternResult
pattern_match_partial(const Pattern *pattern, PatternMatch *match, const char *text, gsize length)
{
  return run(pattern, match, text, length, PCRE2_PARTIAL_HARD);
}

char *
pattern_match_get(const PatternMatch *match, const char *name)
{
  if (match->pattern == NULL)
    return NULL;
  int number = pcre2_substring_number_from_name(match->pattern->code, (PCRE2_SPTR)name);
  if (number < 0 || (guint32)number >= pcre2_get_ovector_count(match->data))
    return NULL;
  const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(match->data) + 2 * (gsize)number;
  if (ends[0] == PCRE2_UNSET || ends[1] < ends[0])
    return NULL;
  return g_strndup(match->text + ends[0], ends[1] - ends[0]);
}
