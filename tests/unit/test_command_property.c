#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/command.h"
#include "session/script.h"

/* Commands made by the grammar, from one seed, and then damaged. */

static GRand *random_source;

static guint
pick(guint n)
{
  return (guint)g_rand_int_range(random_source, 0, (gint32)n);
}

#define PICK(words) ((words)[pick(G_N_ELEMENTS(words))])

static void
blank(GString *out)
{
  static const char *const blanks[] = {" ", "  ", "\t", " \t "};
  g_string_append(out, PICK(blanks));
}

/* A word of characters that lead a careless reader astray. */
static void
add_text(GString *out)
{
  static const char *const bits[] = {
      "a", "on", "as", "\\\\", "\\\"", "\\$", "$",  ";",      "#",   " ", "\t", "ü",    "\\n",
      "=", "5",  "%",  "s",    "+-",   "\\-", "..", "\u00a0", "{x}", "'", "{",  "🖥", "\\x"};
  g_string_append_c(out, '"');
  guint n = 1 + pick(6);
  for (guint i = 0; i < n; i++)
    g_string_append(out, PICK(bits));
  g_string_append_c(out, '"');
}

static void
add_set(GString *out)
{
  static const char *const sets[] = {"a01",          "a[01-17]",      "@all!@off&a[1-3]",
                                     "roomA",        "first(3,@off)", "\"first(3, @on)\"",
                                     "\"as\"",       "a\"\"01",       "@roomA,b[1-9/2]^b3",
                                     "r[1-2]n[1-4]", "\"cold\"",      "\"a01 , a02\""};
  blank(out);
  g_string_append(out, PICK(sets));
}

static void
add_label(GString *out)
{
  static const char *const labels[] = {"b16",     "x",    "Label_9", "\"as\"",
                                       "\"off\"", "on_2", "\"b\"1"};
  blank(out);
  g_string_append(out, PICK(labels));
}

static void
add_number(GString *out)
{
  static const char *const numbers[] = {"%u", "0%u", "%u.5", "0.%u", "%u.000", "%u.123456789"};
  g_string_append_printf(out, PICK(numbers), 1 + pick(3) * pick(1000));
}

static void
add_duration(GString *out)
{
  static const char *const units[] = {"ns", "us", "ms", "s", "min", "h"};
  blank(out);
  gboolean quoted = pick(5) == 0;
  if (quoted)
    g_string_append_c(out, '"');
  const char *unit = PICK(units);
  if (g_str_equal(unit, "ns"))
    g_string_append_printf(out, "%u", 1 + pick(2000000000)); /* less than 0.5 ns would be 0 */
  else
    add_number(out);
  if (quoted && pick(2) == 0)
    g_string_append_c(out, ' ');
  else if (!quoted && pick(2) == 0)
    blank(out);
  g_string_append(out, unit);
  if (quoted)
    g_string_append_c(out, '"');
}

static void
add_value(GString *out)
{
  static const char *const units[] = {" s", "ms", "Mbit/s", " MiB/s", "GB", " B", " %", "", "kB/s"};
  blank(out);
  add_number(out);
  g_string_append(out, PICK(units));
}

typedef void (*Add)(GString *out);

typedef struct {
  const char *words; /* one of these, split at | */
  Add add;           /* then an argument; may be NULL */
} Part;

static void
add_part(GString *out, const Part *part)
{
  if (part->words != NULL) {
    g_auto(GStrv) words = g_strsplit(part->words, "|", -1);
    blank(out);
    g_string_append(out, words[pick(g_strv_length(words))]);
  }
  if (part->add != NULL)
    part->add(out);
}

/* Some of N parts, each at most once, in any order. */
static void
add_some(GString *out, const Part *parts, guint n)
{
  guint used = 0;
  for (guint i = pick(n + 1); i > 0; i--) {
    guint part = pick(n);
    if ((used & (1u << part)) == 0)
      add_part(out, &parts[part]);
    used |= 1u << part;
  }
}

static void
add_key(GString *out)
{
  static const char *const keys[] = {" block=8", " KEY=\"a b\"", " k-2=", " \"x=$y\"",
                                     " z=a=\"\\\"\""};
  g_string_append(out, PICK(keys));
}

static const Part power_parts[] = {{"stagger", add_duration}, {"including in-use", NULL}};
static const Part boot_parts[] = {{"via pxe|via disk|via keys|via kexec", NULL},
                                  {"entry", add_label},
                                  {"cold|warm", NULL},
                                  {"stagger", add_duration},
                                  {"as", add_label},
                                  {"including in-use", NULL}};
static const Part wait_parts[] = {{"at-least 1|at-least 65536|at-least 007", NULL},
                                  {"timeout", add_duration}};
static const Part load_parts[] = {
    {"cold|warm", NULL}, {"for", add_duration}, {"as", add_label}, {NULL, add_key}};
static const Part window_part[] = {{"window", add_duration}};

static void
add_power(GString *out)
{
  add_part(out, &(Part){"status|on|off|cycle|reset", add_set});
  add_some(out, power_parts, G_N_ELEMENTS(power_parts));
}

static void
add_off(GString *out)
{
  add_part(out, &(Part){"off|cycle", add_set});
  add_part(out, &(Part){"soft|hard", NULL});
}

static void
add_boot(GString *out)
{
  add_set(out);
  add_some(out, boot_parts, G_N_ELEMENTS(boot_parts));
}

static void
add_wait(GString *out)
{
  static const Part kinds[] = {
      {"boot", add_set}, {"boot", add_label}, {"load", add_label}, {"power", add_set}};
  static const Part ends[] = {{"firmware|dhcp|tftp|kernel|initramfs|root|login", NULL},
                              {"login", NULL},
                              {NULL, NULL},
                              {"on|off", NULL}};
  guint kind = pick(G_N_ELEMENTS(kinds));
  add_part(out, &kinds[kind]);
  add_part(out, &ends[kind]);
  add_some(out, wait_parts, G_N_ELEMENTS(wait_parts));
}

static void
add_load(GString *out)
{
  if (pick(5) == 0) {
    add_part(out, &(Part){"stop|leave", add_label});
    return;
  }
  add_part(out, &(Part){"start", add_label});
  add_part(out, &(Part){"on", add_set});
  add_some(out, load_parts, G_N_ELEMENTS(load_parts));
}

static void
add_measure(GString *out)
{
  static const char *const sources[] = {"bond",  "bond:bond0", "port:eth0",         "link:sw2-sw3",
                                        "seats", "server",     "\"port:slx1/eth1\""};
  guint first = pick(G_N_ELEMENTS(sources));
  for (guint i = 0; i <= pick(4); i++) {
    blank(out);
    g_string_append(out, sources[(first + i) % G_N_ELEMENTS(sources)]);
  }
  if (pick(2) == 0)
    add_part(out, &(Part){"for", add_duration});
  else
    add_part(out, &(Part){"during", add_label});
  add_some(out, window_part, 1);
  add_part(out, &(Part){"as", add_label});
}

static void
add_expect(GString *out)
{
  static const char *const figures[] = {" x.skew", " b16.other.thing", " \"x\".skew"};
  static const char *const tolerances[] = {"+-8%", "+-0.125 %", "+-100%", "+-12.3456789%",
                                           "+-0.000001%"};
  g_string_append(out, PICK(figures));
  if (pick(2) == 0) {
    add_part(out, &(Part){"<|<=|>|>=", add_value});
    return;
  }
  add_part(out, &(Part){"within", add_value});
  blank(out);
  g_string_append(out, PICK(tolerances));
}

static void
add_assignment(GString *out)
{
  static const char *const paths[] = {" slx1/bond0.policy ", " link:sw2-sw3.state ",
                                      " n-1.x.nfsd "};
  g_string_append(out, PICK(paths));
  if (pick(2) == 0)
    add_value(out);
  else
    add_text(out);
}

static void
add_mark(GString *out)
{
  blank(out);
  add_text(out);
}

static void
add_reserve(GString *out)
{
  static const char *const times[] = {" 18:00", " 2026-12-02T18:00", " \"2028-02-29T23:59:59\""};
  static const Part until = {"until", NULL};
  add_set(out);
  add_part(out, &until);
  if (pick(2) == 0)
    g_string_append(out, PICK(times));
  else
    add_duration(out);
  blank(out);
  add_text(out);
}

static void
add_pxe(GString *out)
{
  static const Part parts[] = {
      {"show|undo|set password file:/root/word|set timeout 300ms|set total-timeout 0.5 min", NULL},
      {"set default-entry|set title|set theme", add_mark}};
  add_part(out, &PICK(parts));
}

static const struct {
  const char *verb;
  Add add;
} makers[] = {
    {"power", add_power},    {"power", add_off},       {"boot", add_boot},
    {"wait", add_wait},      {"load", add_load},       {"measure", add_measure},
    {"expect", add_expect},  {"set", add_assignment},  {"mark", add_mark},
    {"sleep", add_duration}, {"reserve", add_reserve}, {"release", add_set},
    {"console", add_set},    {"pxe", add_pxe},
};

static char *
make_command(void)
{
  static const char *const prefixes[] = {"", "", "", "try ", "plan ", "plan\ttry ", " try  plan "};
  GString *out = g_string_new(PICK(prefixes));
  guint maker = pick(G_N_ELEMENTS(makers));
  g_string_append(out, makers[maker].verb);
  makers[maker].add(out);
  if (pick(4) == 0)
    g_string_append(out, " # \"a remark");
  return g_string_free(out, FALSE);
}

static gboolean
same_list(char **a, char **b)
{
  if (a == NULL || b == NULL)
    return a == b;
  return g_strv_equal((const char *const *)a, (const char *const *)b);
}

static gboolean
same(const Command *a, const Command *b)
{
  return a->verb == b->verb && a->try_only == b->try_only && a->plan_only == b->plan_only &&
         g_strcmp0(a->set, b->set) == 0 && g_strcmp0(a->label, b->label) == 0 &&
         a->stagger == b->stagger && a->including_in_use == b->including_in_use &&
         a->power == b->power && a->soft == b->soft && g_strcmp0(a->via, b->via) == 0 &&
         g_strcmp0(a->entry, b->entry) == 0 && a->cold == b->cold && a->warm == b->warm &&
         a->wait == b->wait && g_strcmp0(a->target, b->target) == 0 &&
         g_strcmp0(a->stage, b->stage) == 0 && a->at_least == b->at_least &&
         a->duration == b->duration && a->load_stop == b->load_stop &&
         a->load_leave == b->load_leave && g_strcmp0(a->job, b->job) == 0 && a->cache == b->cache &&
         same_list(a->keys, b->keys) && same_list(a->values, b->values) &&
         same_list(a->sources, b->sources) && a->window == b->window &&
         g_strcmp0(a->figure, b->figure) == 0 && a->comparison == b->comparison &&
         a->value.value == b->value.value && a->value.dimension == b->value.dimension &&
         a->tolerance == b->tolerance && g_strcmp0(a->value_text, b->value_text) == 0 &&
         g_strcmp0(a->path, b->path) == 0 && g_strcmp0(a->text, b->text) == 0 &&
         g_strcmp0(a->clock, b->clock) == 0 && a->menu == b->menu &&
         g_strcmp0(a->setting, b->setting) == 0;
}

static void
check_fixed_point(const Command *command, const char *text)
{
  g_autofree char *printed = command_print(command);
  g_autoptr(GError) error = NULL;
  g_autoptr(Command) again = command_parse(printed, &error);
  if (again == NULL)
    fail_msg("%s\n→ %s\n→ %s", text, printed, error->message);
  if (!same(command, again))
    fail_msg("%s\n→ %s\nis another command", text, printed);
  g_autofree char *twice = command_print(again);
  assert_string_equal(printed, twice);
  assert_int_equal(command_disturbs(command), command_disturbs(again));
}

/* In a script the canonical text is the same command: its dollars are no variables. */
static void
check_in_script(const Command *command)
{
  g_autofree char *printed = command_print(command);
  g_autofree char *text = g_strdup_printf("load start j on a\n%s", printed);
  g_autoptr(GError) error = NULL;
  g_autoptr(Script) script = script_parse("s", text, strlen(text), &error);
  if (script == NULL)
    fail_msg("%s: %s", printed, error->message);
  g_autoptr(ScriptRun) run = script_run_new(script, 1);
  assert_non_null(script_run_next(run, NULL, NULL, NULL));
  script_run_told(run, VERDICT_OK);
  const char *given = script_run_next(run, NULL, NULL, NULL);
  g_autoptr(Command) again = command_parse(given, NULL);
  assert_true(again != NULL && same(command, again));
}

static void
test_print_is_a_fixed_point(void **state)
{
  (void)state;
  for (int i = 0; i < 20000; i++) {
    g_autofree char *text = make_command();
    g_autoptr(GError) error = NULL;
    g_autoptr(Command) command = command_parse(text, &error);
    if (command == NULL)
      fail_msg("%s: %s", text, error->message);
    check_fixed_point(command, text);
    check_in_script(command);
  }
}

static char *
damage(const char *text)
{
  static const char bytes[] = " \t\";#\\$=[](),.0as<>+-%\xc3\xbc\xff\x01@!";
  GString *out = g_string_new(text);
  for (guint n = 1 + pick(3); n > 0 && out->len > 0; n--) {
    guint at = pick((guint)out->len);
    switch (pick(4)) {
    case 0:
      g_string_erase(out, at, 1);
      break;
    case 1:
      g_string_insert_c(out, at, bytes[pick(sizeof bytes - 1)]);
      break;
    case 2:
      out->str[at] = bytes[pick(sizeof bytes - 1)];
      break;
    default:
      g_string_truncate(out, at);
    }
  }
  return g_string_free(out, FALSE);
}

/* `column N: text`, with N within the text or just behind it. */
static void
check_message(const char *text, const GError *error)
{
  assert_true(g_utf8_validate(error->message, -1, NULL));
  assert_true(g_str_has_prefix(error->message, "column "));
  char *end;
  guint64 column = g_ascii_strtoull(error->message + strlen("column "), &end, 10);
  assert_true(g_str_has_prefix(end, ": ") && end[2] != 0);
  if (column < 1 || column > strlen(text) + 1)
    fail_msg("%s: %s", text, error->message);
}

static void
test_damaged_commands(void **state)
{
  (void)state;
  guint n_parsed = 0, n_refused = 0;
  for (int i = 0; i < 50000; i++) {
    g_autofree char *whole = make_command();
    g_autofree char *text = damage(whole);
    g_autoptr(GError) error = NULL;
    g_autoptr(Command) command = command_parse(text, &error);
    if (command != NULL) {
      check_fixed_point(command, text);
      n_parsed++;
    } else {
      check_message(text, error);
      n_refused++;
    }
    g_clear_error(&error);
    g_auto(GStrv) commands = command_split(text, &error);
    if (commands == NULL)
      check_message(text, error);
  }
  assert_true(n_parsed > 5000 && n_refused > 5000);
}

/* A line for a script: a command, or a piece of a block. */
static void
add_script_line(GString *out)
{
  static const char *const pieces[] = {"foreach x in a b do",
                                       "foreach y in 1..3 order random do",
                                       "repeat 2 do",
                                       "with s1.nfsd 8 do",
                                       "end",
                                       "end; end",
                                       "mark \"$x ${y}\"",
                                       "mark $x; mark $y",
                                       "do",
                                       "layout lab"};
  if (pick(2) == 0) {
    g_string_append(out, PICK(pieces));
  } else {
    g_autofree char *command = make_command();
    g_string_append(out, command);
  }
  g_string_append(out, pick(4) == 0 ? "; " : "\n");
}

static const char *
some_property(const char *path, gpointer data)
{
  (void)data;
  return strlen(path) % 2 == 0 ? "old \"value\"" : NULL;
}

static void
check_script_message(const GError *error)
{
  g_auto(GStrv) lines = g_strsplit(error->message, "\n", -1);
  guint last = 0;
  for (guint i = 0; i < 100 && lines[i] != NULL; i++) {
    assert_true(g_str_has_prefix(lines[i], "s:"));
    guint line = (guint)g_ascii_strtoull(lines[i] + 2, NULL, 10);
    assert_true(line >= 1 && line >= last);
    last = line;
  }
}

static void
test_damaged_scripts(void **state)
{
  (void)state;
  guint n_run = 0;
  for (int i = 0; i < 20000; i++) {
    g_autoptr(GString) whole = g_string_new("foreach x in a \"b c\" do\n");
    for (guint n = pick(5); n > 0; n--)
      add_script_line(whole);
    g_string_append(whole, "mark \"$x\"; end");
    g_autofree char *text = pick(2) == 0 ? damage(whole->str) : g_strdup(whole->str);
    g_autoptr(GError) error = NULL;
    g_autoptr(Script) script = script_parse("s", text, strlen(text), &error);
    if (script == NULL) {
      check_script_message(error);
      continue;
    }
    n_run++;
    g_autoptr(ScriptRun) run = script_run_new(script, (guint64)i);
    const char *given;
    while ((given = script_run_next(run, some_property, NULL, &error)) != NULL) {
      g_autoptr(Command) command = command_parse(given, NULL);
      assert_non_null(command);
      if (pick(20) == 0)
        script_run_interrupt(run);
      script_run_told(run, (Verdict)(pick(3) == 0 ? pick(VERDICT_REFUSED + 1) : VERDICT_OK));
    }
  }
  assert_true(n_run > 1000);
}

/* What help says can be typed. */
static void
test_help_examples(void **state)
{
  (void)state;
  for (const VerbInfo *verb = command_verbs; verb->name != NULL; verb++) {
    const char *example = strstr(verb->help, "\nExample:\n");
    assert_non_null(example);
    example += strlen("\nExample:\n");
    g_autofree char *text = g_strdup_printf(
        "%s%s", example, strstr(example, "wait boot nbd16") != NULL ? "boot a as nbd16\n" : "");
    g_autoptr(GError) error = NULL;
    g_autoptr(Script) script = script_parse(verb->name, text, strlen(text), &error);
    if (script == NULL)
      fail_msg("%s", error->message);
    assert_non_null(strstr(example, verb->name));
  }
}

static void
check_width(const char *text)
{
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (g_utf8_strlen(lines[i], -1) > 79 || g_str_has_suffix(lines[i], " "))
      fail_msg("too wide, or blanks at its end: %s", lines[i]);
  assert_true(g_str_has_suffix(text, "\n") && !g_str_has_suffix(text, "\n\n"));
}

static void
test_help_texts(void **state)
{
  (void)state;
  guint n = 0;
  g_autofree char *table = command_help_table();
  check_width(table);
  for (const VerbInfo *verb = command_verbs; verb->name != NULL; verb++, n++) {
    g_autofree char *help = command_help(verb->name);
    check_width(help);
    assert_true(g_str_has_prefix(help, verb->name) && strstr(help, verb->help) != NULL);
    g_autofree char *row = g_strdup_printf("%-9s %s\n", verb->name, verb->summary);
    assert_non_null(strstr(table, row));
    g_autoptr(Command) command = command_parse(verb->name, NULL);
    assert_true(command == NULL || g_str_equal(verb->name, "stop") ||
                g_str_equal(verb->name, "quit"));
  }
  assert_int_equal(n, 25);
  assert_null(command_help("bot"));
}

static int
set_up(void **state)
{
  (void)state;
  random_source = g_rand_new_with_seed(20100401);
  return 0;
}

static int
tear_down(void **state)
{
  (void)state;
  g_rand_free(random_source);
  return 0;
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_print_is_a_fixed_point),
      cmocka_unit_test(test_damaged_commands),
      cmocka_unit_test(test_damaged_scripts),
      cmocka_unit_test(test_help_examples),
      cmocka_unit_test(test_help_texts),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
