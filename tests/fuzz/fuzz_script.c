/* Any text is refused with positions, or runs to its end however its commands come out: what it
 * gives parses. */
#include "fuzz.h"

#include "core/command.h"
#include "session/script.h"

#define COMMANDS_RUN 5000

typedef struct {
  GHashTable *values; /* path → value as `set` left it; any other has 8 */
  gboolean all_ok;
} World;

static const char *
property(const char *path, gpointer data)
{
  const World *world = data;
  const char *value = g_hash_table_lookup(world->values, path);
  return value != NULL ? value : "8";
}

static Verdict
carry_out(World *world, const char *text, guint8 fate)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Command) command = command_parse(text, &error);
  if (command == NULL)
    g_error("%s: %s", text, error->message);
  Verdict verdict = fate < 200 ? VERDICT_OK : (Verdict)(fate % (VERDICT_REFUSED + 1));
  world->all_ok = world->all_ok && verdict == VERDICT_OK;
  if (command->verb == VERB_SET && verdict == VERDICT_OK)
    g_hash_table_insert(world->values, g_strdup(command->path), g_strdup(command->text));
  return verdict;
}

/* DATA decides how the commands end and where Ctrl-C comes. */
static void
run(const Script *script, const uint8_t *data, size_t size)
{
  World world = {.values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                 .all_ok = TRUE};
  g_autoptr(ScriptRun) going = script_run_new(script, size);
  g_autoptr(GError) error = NULL;
  const char *text = NULL;
  gboolean interrupted = FALSE;
  for (guint i = 0; i < COMMANDS_RUN; i++) {
    text = script_run_next(going, property, &world, &error);
    if (text == NULL)
      break;
    g_assert_true(g_str_has_prefix(script_run_where(going), "t.pult:"));
    guint8 fate = size > 0 ? data[(i * 7 + size / 2) % size] : 0;
    script_run_told(going, carry_out(&world, text, fate));
    if (fate == 255) {
      script_run_interrupt(going);
      interrupted = TRUE;
    }
  }
  if (error != NULL)
    fuzz_check_positions(error, "t.pult");
  if (text == NULL && error == NULL && world.all_ok && !interrupted)
    g_assert_false(script_run_failed(going));
  if (text == NULL)
    g_assert_null(script_run_next(going, property, &world, NULL));
  g_hash_table_unref(world.values);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup((const char *)data, size);
  g_autoptr(GError) error = NULL;
  g_autoptr(Script) script = script_parse("t.pult", text, size, &error);
  if (script == NULL) {
    fuzz_check_positions(error, "t.pult");
    return 0;
  }
  g_assert_true(memcmp(script_text(script), data, size) == 0);
  run(script, data, size);
  return 0;
}
