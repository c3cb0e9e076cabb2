/* What fuzz programs share. Each holds one reader of outside input to what its header promises, and
 * aborts where it does not: `make fuzz` invents inputs, `make check` replays those kept in corpus/.
 */
#ifndef PULT_TESTS_FUZZ_H
#define PULT_TESTS_FUZZ_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One input; always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The small lab that several of them play in, from the top of the tree. */
#define FUZZ_LAB "tests/fuzz/lab.yaml"

static inline void
fuzz_check_error(const GError *error)
{
  g_assert_nonnull(error);
  g_assert_true(error->message[0] != '\0' && g_utf8_validate(error->message, -1, NULL));
}

/* Each line of the message is `NAME:LINE:COLUMN: text`, in order of position; the last may be
 * `NAME: `, and how many more there are. */
static inline void
fuzz_check_positions(const GError *error, const char *name)
{
  fuzz_check_error(error);
  g_auto(GStrv) lines = g_strsplit(error->message, "\n", -1);
  guint64 line = 0, column = 0;
  for (guint i = 0; lines[i] != NULL; i++) {
    g_assert_true(g_str_has_prefix(lines[i], name));
    const char *at = lines[i] + strlen(name);
    if (i > 0 && lines[i + 1] == NULL && g_str_has_prefix(at, ": "))
      break;
    char *end;
    g_assert_true(*at == ':' && g_ascii_isdigit(at[1]));
    guint64 next_line = g_ascii_strtoull(at + 1, &end, 10);
    g_assert_true(*end == ':' && g_ascii_isdigit(end[1]));
    guint64 next_column = g_ascii_strtoull(end + 1, &end, 10);
    g_assert_true(g_str_has_prefix(end, ": ") && end[2] != '\0');
    g_assert_true(next_line > line || (next_line == line && next_column >= column));
    line = next_line;
    column = next_column;
  }
}

#endif
