/* Any line is refused with a column, or means the same again when it is printed, split or resolved.
 */
#include "fuzz.h"

#include "core/command.h"
#include "core/core.h"
#include "session/data.h"

/* Of the error for TEXT: `column N: …`, N within it or right behind. */
static void
check_column(const GError *error, const char *text)
{
  fuzz_check_error(error);
  char *end;
  g_assert_true(g_str_has_prefix(error->message, "column "));
  guint64 column = g_ascii_strtoull(error->message + strlen("column "), &end, 10);
  g_assert_true(g_str_has_prefix(end, ": ") && end[2] != '\0');
  g_assert_true(column >= 1 && column <= strlen(text) + 1);
}

static void
check_fixed_point(const Command *command)
{
  g_autofree char *printed = command_print(command);
  g_autoptr(GError) error = NULL;
  g_autoptr(Command) again = command_parse(printed, &error);
  if (again == NULL)
    g_error("%s: %s", printed, error->message);
  g_autofree char *twice = command_print(again);
  g_assert_cmpstr(printed, ==, twice);
  g_assert_true(again->verb == command->verb && again->plan_only == command->plan_only &&
                again->try_only == command->try_only);
  g_assert_true(command_disturbs(command) == command_disturbs(again));
}

/* A line's commands are lines of one command each; the line is good when all of them are. */
static void
check_split(const char *line)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GError) problem = NULL;
  gboolean good = command_check_line(line, &problem), all = TRUE;
  if (!good)
    check_column(problem, line);
  g_auto(GStrv) commands = command_split(line, &error);
  if (commands == NULL) {
    check_column(error, line);
    g_assert_false(good);
    return;
  }
  for (guint i = 0; commands[i] != NULL; i++) {
    g_auto(GStrv) one = command_split(commands[i], NULL);
    g_assert_true(one != NULL && g_strv_length(one) == 1);
    g_assert_cmpstr(one[0], ==, commands[i]);
    g_autoptr(Command) command = command_parse(commands[i], NULL);
    all = all && command != NULL;
  }
  g_assert_true(all == good);
}

/* Once resolved, nothing is left to resolve. */
static void
check_resolve(const char *text)
{
  static CoreState *core;
  const CoreOptions options = {.seed = 1};
  if (core == NULL)
    core = core_new(data_layout(FUZZ_LAB, NULL), &options);
  g_autoptr(GError) error = NULL;
  g_autofree char *resolved = core_resolve(core, text, &error);
  if (resolved == NULL) {
    g_assert_true(error != NULL && error->message[0] != '\0');
    return;
  }
  g_autofree char *again = core_resolve(core, resolved, &error);
  if (again == NULL)
    g_error("%s: %s", resolved, error->message);
  g_assert_cmpstr(resolved, ==, again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup((const char *)data, size);
  g_autoptr(GError) error = NULL;
  g_autoptr(Command) command = command_parse(text, &error);
  if (command != NULL)
    check_fixed_point(command);
  else
    check_column(error, text);
  check_split(text);
  check_resolve(text);
  return 0;
}
