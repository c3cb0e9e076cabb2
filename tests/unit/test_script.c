#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/command.h"
#include "session/script.h"

static Script *
parse(const char *text)
{
  g_autoptr(GError) error = NULL;
  Script *script = script_parse("s", text, strlen(text), &error);
  if (script == NULL)
    fail_msg("%s", error->message);
  return script;
}

static void
check_error(const char *text, const char *message)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Script) script = script_parse("s", text, strlen(text), &error);
  if (script != NULL)
    fail_msg("accepted:\n%s", text);
  assert_string_equal(error->message, message);
  assert_true(error->domain == SCRIPT_ERROR);
}

/* A lab of properties: what `set` wrote, `get` finds. */
typedef struct {
  GHashTable *properties;
  const char *answers; /* a letter a command, then ok: see verdicts; ! interrupts too */
} Lab;

static const char *
lab_property(const char *path, gpointer data)
{
  return g_hash_table_lookup(((Lab *)data)->properties, path);
}

static Verdict
lab_answer(Lab *lab, const char *text, guint i)
{
  static const struct {
    char letter;
    Verdict verdict;
  } verdicts[] = {{'o', VERDICT_OK},          {'f', VERDICT_FAILED},      {'p', VERDICT_PARTIAL},
                  {'t', VERDICT_TIMEOUT},     {'u', VERDICT_UNKNOWN},     {'r', VERDICT_REFUSED},
                  {'n', VERDICT_UNCONFIRMED}, {'s', VERDICT_UNSUPPORTED}, {'!', VERDICT_CANCELLED}};
  char letter = i < strlen(lab->answers) ? lab->answers[i] : 'o';
  Verdict verdict = VERDICT_OK;
  for (gsize v = 0; v < G_N_ELEMENTS(verdicts); v++)
    if (verdicts[v].letter == letter)
      verdict = verdicts[v].verdict;
  g_autoptr(Command) command = command_parse(text, NULL);
  assert_non_null(command);
  if (command->verb == VERB_SET && verdict == VERDICT_OK)
    g_hash_table_insert(lab->properties, g_strdup(command->path), g_strdup(command->text));
  return verdict;
}

typedef struct {
  char *commands; /* given, one a line */
  char *error;
  gboolean failed;
} Outcome;

static void
outcome_clear(Outcome *outcome)
{
  g_free(outcome->commands);
  g_free(outcome->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Outcome, outcome_clear)

static Outcome
run_with(const char *text, guint64 seed, const char *answers, GHashTable *properties)
{
  g_autoptr(Script) script = parse(text);
  g_autoptr(ScriptRun) run = script_run_new(script, seed);
  g_autoptr(GString) commands = g_string_new(NULL);
  g_autoptr(GError) error = NULL;
  Lab lab = {properties, answers};
  const char *command;
  for (guint i = 0; (command = script_run_next(run, lab_property, &lab, &error)) != NULL; i++) {
    assert_true(i < 10000);
    g_string_append_printf(commands, "%s\n", command);
    Verdict verdict = lab_answer(&lab, command, i);
    if (verdict == VERDICT_CANCELLED)
      script_run_interrupt(run);
    script_run_told(run, verdict);
  }
  assert_null(script_run_next(run, lab_property, &lab, NULL)); /* and stays at its end */
  return (Outcome){g_string_free(g_steal_pointer(&commands), FALSE),
                   error != NULL ? g_strdup(error->message) : NULL, script_run_failed(run)};
}

static GHashTable *
properties_new(void)
{
  GHashTable *properties = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_insert(properties, g_strdup("s1.nfsd"), g_strdup("64"));
  g_hash_table_insert(properties, g_strdup("s1/bond0.policy"), g_strdup("layer2"));
  g_hash_table_insert(properties, g_strdup("s1.note"), g_strdup("say \"5 $\""));
  return properties;
}

static Outcome
run(const char *text, const char *answers)
{
  g_autoptr(GHashTable) properties = properties_new();
  Outcome outcome = run_with(text, 1, answers, properties);
  return outcome;
}

static void
check_run(const char *text, const char *answers, gboolean failed, const char *commands)
{
  g_auto(Outcome) outcome = run(text, answers);
  assert_string_equal(outcome.commands, commands);
  assert_int_equal(outcome.failed, failed);
  assert_null(outcome.error);
}

static void
test_lines(void **state)
{
  (void)state;
  check_run("", "", FALSE, "");
  check_run("\n# only a remark\n ; ;\n", "", FALSE, "");
  check_run("mark a; mark \"b; # c\" # d\r\n\tmark e", "", FALSE,
            "mark a\nmark \"b; # c\"\nmark e\n");
  check_run("\xef\xbb\xbfmark a", "", FALSE, "mark a\n");
  g_autoptr(Script) script = parse("# first\nlayout \"my lab.yaml\" # it\nmark a\n");
  assert_string_equal(script_layout(script), "my lab.yaml");
  g_autoptr(Script) without = parse("mark a\n");
  assert_null(script_layout(without));
  assert_string_equal(script_text(without), "mark a\n");
}

static void
test_blocks(void **state)
{
  (void)state;
  check_run("foreach x in a \"b c\" do\n  mark \"$x\"\nend\nmark z", "", FALSE,
            "mark \"a\"\nmark \"b c\"\nmark z\n");
  check_run("foreach x in a b do mark $x; mark ${x}1; end; mark z", "", FALSE,
            "mark a\nmark a1\nmark b\nmark b1\nmark z\n");
  check_run("foreach x in a b do; repeat 2 do mark $x\nend; end", "", FALSE,
            "mark a\nmark a\nmark b\nmark b\n");
  check_run("foreach n in 08..11 do mark a$n; end", "", FALSE,
            "mark a08\nmark a09\nmark a10\nmark a11\n");
  check_run("foreach n in 2 .. 0 do mark $n; end", "", FALSE, "mark 2\nmark 1\nmark 0\n");
  check_run("foreach n in 7..7 order given do mark $n; end", "", FALSE, "mark 7\n");
  check_run("foreach n in \"1..3\" \"do\" \"order\" do mark $n; end", "", FALSE,
            "mark 1..3\nmark do\nmark order\n");
  check_run("foreach n in 1 2 do repeat $n do foreach m in 1..$n do mark $n$m; end; end; end", "",
            FALSE, "mark 11\nmark 21\nmark 22\nmark 21\nmark 22\n");
}

static void
test_variables(void **state)
{
  (void)state;
  check_run("foreach x in \"a b\" do foreach y in $x do mark $y; end; end", "", FALSE,
            "mark a\nmark b\n");
  check_run("foreach x in \"a b\" do foreach y in \"$x\" do mark \"$y\"; end; end", "", FALSE,
            "mark \"a b\"\n");
  check_run("foreach x in \"sleep 1 s\" \"mark a\" do try $x; end", "", FALSE,
            "try sleep 1 s\ntry mark a\n");
  check_run("foreach x in \"a\\\"b\\\\c\" do mark \"<$x>\"; end", "", FALSE,
            "mark \"<a\\\"b\\\\c>\"\n");
  check_run("foreach x in a do mark \"\\$x $x \\\\$x \\\"$x\\\" ${x}x\"; end", "", FALSE,
            "mark \"$x a \\\\a \\\"a\\\" ax\"\n");
  check_run("foreach x in ä do mark \"ü${x}ö\"; end", "", FALSE, "mark \"üäö\"\n");
  check_run("foreach x in \"# no remark\" do mark \"$x\"; end", "", FALSE,
            "mark \"# no remark\"\n");
  check_run("foreach x in a\\$b do mark \"$x\"; end", "", FALSE, "mark \"a$b\"\n");
}

/* Columns are the script's, however long the values before them are. */
static void
test_columns(void **state)
{
  (void)state;
  check_error("foreach x in abcdef do mark $x $x; end",
              "s:1:32: a text of several words stands in quotes (with $x \"abcdef\")");
  check_error("foreach x in \"a b\" do mark $x; end",
              "s:1:28: a text of several words stands in quotes (with $x \"a b\")");
  check_error(
      "foreach ä in a do mark m; end",
      "s:1:9: \"ä\" is no variable's name: a letter, then letters, digits and _, at most 64");
  check_error("foreach x in \"m; quit\" do mark $x; end",
              "s:1:32: one command is due, and \";\" ends it (with $x \"m; quit\")");
  check_error("foreach x in a do repeat $x do mark m; end; end",
              "s:1:26: \"a\" is not a plain whole number (with $x \"a\")");
  check_error("foreach x in pq do\n  with s1.$x do mark m; end; end",
              "s:2:13: a value is missing (with $x \"pq\")");
}

static void
test_all_errors(void **state)
{
  (void)state;
  check_error("mark\nfoo\nrepeat x do\n  boot\n  foreach y in a do sleep $y; power; end\n"
              "  mark $z\nend\nlayout\n",
              "s:1:5: a text is missing\n"
              "s:2:1: unknown command \"foo\"\n"
              "s:3:8: \"x\" is not a plain whole number\n"
              "s:4:7: a node set is missing\n"
              "s:5:27: \"a\" does not begin with a plain decimal number, such as 5 or 0.5 "
              "(with $y \"a\")\n"
              "s:5:36: a power action is missing: status, on, off, cycle, reset\n"
              "s:6:8: unknown variable \"z\"\n"
              "s:8:1: \"layout\" stands first in a script\n"
              "s:8:7: a layout is missing: its name or file");
  /* A line that cannot be read brings no errors behind it. */
  check_error("foreach x in \"a b do\n  mark $x\n  stop now\nend\nmark $x",
              "s:1:14: this quote is not closed\ns:3:8: unexpected \"now\"");
  check_error("repeat 2 do\n mark \"\nend", "s:2:7: this quote is not closed");
  g_autoptr(GString) many = g_string_new(NULL);
  for (int i = 0; i < 150; i++)
    g_string_append(many, "foo\n");
  g_autoptr(GError) error = NULL;
  assert_null(script_parse("s", many->str, many->len, &error));
  g_auto(GStrv) lines = g_strsplit(error->message, "\n", -1);
  assert_int_equal(g_strv_length(lines), 101);
  assert_string_equal(lines[100], "s: 50 more errors");
}

static void
test_limits(void **state)
{
  (void)state;
  g_autofree char *line = g_strnfill(65536, 'x');
  memcpy(line, "mark \"", 6);
  line[65535] = '"';
  check_error(line, "s:1:6: a text is longer than 4096 bytes");
  g_autofree char *longer = g_strconcat(line, "x", NULL);
  check_error(longer, "s:1:1: longer than 65536 bytes");
  g_autofree char *file = g_strnfill(4 * 1024 * 1024 + 1, '\n');
  check_error(file, "s:1:1: longer than 4 MiB");
  check_run(file + 1, "", FALSE, "");

  g_autoptr(GString) deep = g_string_new(NULL);
  for (int i = 0; i < 16; i++)
    g_string_append(deep, "repeat 1 do ");
  g_string_append(deep, "mark m; ");
  for (int i = 0; i < 16; i++)
    g_string_append(deep, "end; ");
  check_run(deep->str, "", FALSE, "mark m\n");
  g_autoptr(Script) million = parse("repeat 1000 do foreach n in 1..1000 do mark $n; end; end");
  check_error("mark m; repeat 1000 do foreach n in 1..1000 do mark $n; end; end",
              "s:1:1: more than 1000000 commands would run");
  check_error("repeat 250000 do with s1.nfsd 8 do mark a; mark b; end; end",
              "s:1:1: more than 1000000 commands would run");
  /* A value times itself: refused, not built. */
  g_autofree char *value = g_strnfill(60000, 'y');
  g_autoptr(GString) bomb = g_string_new("foreach x in ");
  g_string_append_printf(bomb, "%s do\nmark ", value);
  for (int i = 0; i < 20000; i++)
    g_string_append(bomb, "$x");
  g_string_append(bomb, "\nend\n");
  g_autoptr(GError) error = NULL;
  assert_null(script_parse("s", bomb->str, bomb->len, &error));
  assert_true(g_str_has_prefix(error->message, "s:2:1: longer than 1048576 bytes"));
}

static void
test_random_order(void **state)
{
  (void)state;
  const char *text = "repeat 3 do foreach n in 1..6 order random do mark $n; end; end";
  g_autoptr(GHashTable) properties = properties_new();
  g_auto(Outcome) first = run_with(text, 1, "", properties);
  g_auto(Outcome) again = run_with(text, 1, "", properties);
  g_auto(Outcome) other = run_with(text, 2, "", properties);
  assert_string_equal(first.commands, again.commands);
  assert_string_not_equal(first.commands, other.commands);
  /* Each pass holds all six, and no two passes here are alike. */
  gsize pass = strlen(first.commands) / 3;
  for (int p = 0; p < 3; p++) {
    for (char c = '1'; c <= '6'; c++)
      assert_non_null(memchr(first.commands + p * pass, c, pass));
    assert_true(strncmp(first.commands, first.commands + ((p + 1) % 3) * pass, pass) != 0 ||
                p == 2);
  }
}

/* Every order of three words comes as often as any other: 6000 seeds, six orders, 1000 each ± 5 σ.
 */
static void
test_random_is_fair(void **state)
{
  (void)state;
  g_autoptr(GHashTable) properties = properties_new();
  g_autoptr(GHashTable) counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint64 seed = 0; seed < 6000; seed++) {
    g_auto(Outcome) outcome =
        run_with("foreach x in a b c order random do mark $x; end", seed, "", properties);
    guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, outcome.commands));
    g_hash_table_insert(counts, g_steal_pointer(&outcome.commands), GUINT_TO_POINTER(n + 1));
  }
  assert_int_equal(g_hash_table_size(counts), 6);
  GHashTableIter iter;
  gpointer count;
  g_hash_table_iter_init(&iter, counts);
  while (g_hash_table_iter_next(&iter, NULL, &count))
    assert_in_range(GPOINTER_TO_UINT(count), 1000 - 145, 1000 + 145);
}

static void
test_interleaved_order(void **state)
{
  (void)state;
  check_run("repeat 3 do foreach x in a b c order interleaved do mark $x; end; end", "", FALSE,
            "mark a\nmark b\nmark c\nmark c\nmark b\nmark a\nmark a\nmark b\nmark c\n");
}

static void
test_with(void **state)
{
  (void)state;
  const char *text = "with s1.nfsd 8 do\n"
                     "  with s1/bond0.policy layer2+3 do mark a; mark b; end\n"
                     "end\nmark c";
  const char *whole = "get s1.nfsd\nset s1.nfsd 8\nget s1/bond0.policy\n"
                      "set s1/bond0.policy layer2+3\nmark a\nmark b\nset s1/bond0.policy layer2\n"
                      "set s1.nfsd 64\nmark c\n";
  check_run(text, "", FALSE, whole);
  /* A body that fails, or is interrupted, leaves nothing changed. */
  const char *half = "get s1.nfsd\nset s1.nfsd 8\nget s1/bond0.policy\n"
                     "set s1/bond0.policy layer2+3\nmark a\nset s1/bond0.policy layer2\n"
                     "set s1.nfsd 64\n";
  static const char letters[] = "fptus";
  for (gsize i = 0; i < strlen(letters); i++) {
    g_autofree char *answers = g_strdup_printf("oooo%c", letters[i]);
    check_run(text, answers, TRUE, half);
  }
  check_run(text, "oooo!", FALSE, half);
  /* A set that may have happened is undone, one that did not is not. */
  const char *set = "get s1.nfsd\nset s1.nfsd 8\nget s1/bond0.policy\n"
                    "set s1/bond0.policy layer2+3\nset s1/bond0.policy layer2\nset s1.nfsd 64\n";
  check_run(text, "ooof", TRUE, set);
  check_run(text, "ooo!", FALSE, set);
  const char *refused = "get s1.nfsd\nset s1.nfsd 8\nget s1/bond0.policy\n"
                        "set s1/bond0.policy layer2+3\nset s1.nfsd 64\n";
  check_run(text, "ooor", TRUE, refused);
  check_run(text, "oof", TRUE, "get s1.nfsd\nset s1.nfsd 8\nget s1/bond0.policy\nset s1.nfsd 64\n");
  check_run(text, "f", TRUE, "get s1.nfsd\n");
  /* Where nothing was consented to (a dry run), the body is looked at and nothing put back. */
  check_run(text, "onon", FALSE,
            "get s1.nfsd\nset s1.nfsd 8\nget s1/bond0.policy\nset s1/bond0.policy layer2+3\n"
            "mark a\nmark b\nmark c\n");
  /* One that cannot be put back: the others still are. */
  check_run(text, "oooooof", TRUE,
            "get s1.nfsd\nset s1.nfsd 8\nget s1/bond0.policy\nset s1/bond0.policy layer2+3\n"
            "mark a\nmark b\nset s1/bond0.policy layer2\nset s1.nfsd 64\n");
}

static void
test_with_values(void **state)
{
  (void)state;
  check_run("with s1.note 1 Gbit/s do mark a; end", "", FALSE,
            "get s1.note\nset s1.note 1 Gbit/s\nmark a\nset s1.note \"say \\\"5 \\$\\\"\"\n");
  check_run("foreach v in \"1 s\" 8 do with s1.nfsd $v do mark \"$v\"; end; end", "", FALSE,
            "get s1.nfsd\nset s1.nfsd 1 s\nmark \"1 s\"\nset s1.nfsd 64\n"
            "get s1.nfsd\nset s1.nfsd 8\nmark \"8\"\nset s1.nfsd 64\n");
}

static void
test_with_quit(void **state)
{
  (void)state;
  check_run("with s1.nfsd 8 do\n  mark a; quit; mark b\nend\nmark c", "", FALSE,
            "get s1.nfsd\nset s1.nfsd 8\nmark a\nset s1.nfsd 64\nquit\n");
  check_run("foreach c in quit do $c; mark c; end", "", FALSE, "quit\n");
  check_run("with s1.nfsd 8 do\n  quit\nend", "oo!", FALSE,
            "get s1.nfsd\nset s1.nfsd 8\nset s1.nfsd 64\n");
}

static void
test_with_no_value(void **state)
{
  (void)state;
  g_auto(Outcome) outcome =
      run("with s1.nfsd 8 do\n  with s1.cores 2 do mark a; end\nend\nmark c", "");
  assert_string_equal(outcome.commands,
                      "get s1.nfsd\nset s1.nfsd 8\nget s1.cores\nset s1.nfsd 64\n");
  assert_string_equal(outcome.error, "s:2:3: s1.cores has no value that could be put back");
  assert_true(outcome.failed);
}

static void
test_try(void **state)
{
  (void)state;
  static const char letters[] = "fptursn";
  for (gsize i = 0; i < strlen(letters); i++) {
    char answers[2] = {letters[i], 0};
    check_run("try mark a\nmark b", answers, FALSE, "try mark a\nmark b\n");
    if (letters[i] != 'n')
      check_run("mark a\nmark b", answers, TRUE, "mark a\n");
  }
  /* `try` reaches no further than its command. */
  check_run("try mark a\nmark b\nmark c", "of", TRUE, "try mark a\nmark b\n");
}

static void
test_where(void **state)
{
  (void)state;
  g_autoptr(GHashTable) properties = properties_new();
  Lab lab = {properties, ""};
  g_autoptr(Script) script = parse("\nwith s1.nfsd 8 do\n  mark a\nend\n");
  g_autoptr(ScriptRun) going = script_run_new(script, 1);
  assert_string_equal(script_run_where(going), "s");
  static const char *const where[] = {"s:2", "s:2", "s:3", "s:2"};
  for (guint i = 0; i < G_N_ELEMENTS(where); i++) {
    assert_non_null(script_run_next(going, lab_property, &lab, NULL));
    assert_string_equal(script_run_where(going), where[i]);
    script_run_told(going, VERDICT_OK);
  }
  assert_null(script_run_next(going, lab_property, &lab, NULL));
}

#define BROKEN "tests/unit/broken"

/* The text behind `# expect: ` in the first line. */
static char *
read_broken(const char *path, char **text, gsize *length)
{
  g_autoptr(GError) error = NULL;
  if (!g_file_get_contents(path, text, length, &error))
    fail_msg("%s", error->message);
  assert_true(g_str_has_prefix(*text, "# expect: "));
  const char *from = *text + strlen("# expect: ");
  return g_strndup(from, strcspn(from, "\n"));
}

static void
test_broken_files(void **state)
{
  (void)state;
  g_autoptr(GDir) folder = g_dir_open(BROKEN, 0, NULL);
  assert_non_null(folder);
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (const char *name; (name = g_dir_read_name(folder)) != NULL;) {
    if (!g_str_has_suffix(name, ".pult"))
      continue;
    g_autofree char *path = g_build_filename(BROKEN, name, NULL);
    g_autofree char *text = NULL;
    gsize length;
    g_autofree char *expected = read_broken(path, &text, &length);
    g_autoptr(GError) error = NULL;
    g_autoptr(Script) script = script_parse(name, text, length, &error);
    if (script != NULL)
      fail_msg("%s was accepted", path);
    g_autofree char *message = g_strdup_printf("%s:%s", name, expected);
    assert_string_equal(error->message, message);
    const char *words = strchr(strchr(expected, ':') + 1, ':') + 1; /* behind LINE:COLUMN: */
    if (!g_hash_table_add(seen, g_strdup(words)))
      fail_msg("%s: a second file with this message", path);
  }
  assert_in_range(g_hash_table_size(seen), 30, 1000);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lines),
      cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_variables),
      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_all_errors),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_random_order),
      cmocka_unit_test(test_random_is_fair),
      cmocka_unit_test(test_interleaved_order),
      cmocka_unit_test(test_with),
      cmocka_unit_test(test_with_values),
      cmocka_unit_test(test_with_quit),
      cmocka_unit_test(test_with_no_value),
      cmocka_unit_test(test_try),
      cmocka_unit_test(test_where),
      cmocka_unit_test(test_broken_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
