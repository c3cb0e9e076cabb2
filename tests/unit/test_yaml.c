#include "model/yaml.h"

#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static YamlFile *
parse_ok(const char *text)
{
  g_autoptr(GError) error = NULL;
  YamlFile *file = yaml_parse("t.yaml", text, strlen(text), &error);

  if (file == NULL)
    fail_msg("%s", error->message);
  return file;
}

static void
assert_error(const char *text, gsize length, const char *expected)
{
  g_autoptr(GError) error = NULL;

  assert_null(yaml_parse("t.yaml", text, length, &error));
  assert_non_null(error);
  assert_string_equal(error->message, expected);
}

static void
test_tree_and_positions(void **state)
{
  (void)state;
  g_autoptr(YamlFile) file = parse_ok("# Räume\n"
                                      "lab: Köln, Süd\n"
                                      "rooms:\n"
                                      "  ä: {x: [1, 010], y: }\n"
                                      "text: |\n"
                                      "  two\n"
                                      "  lines\n");
  const YamlNode *root = yaml_root(file);

  assert_int_equal(root->kind, YAML_MAP);
  assert_int_equal(root->n, 3);
  assert_int_equal(root->line, 2);
  assert_string_equal(yaml_get(root, "lab")->text, "Köln, Süd");
  assert_int_equal(yaml_get(root, "lab")->column, 6);
  assert_null(yaml_get(root, "note"));
  const YamlNode *room = yaml_get(yaml_get(root, "rooms"), "ä");
  const YamlNode *list = yaml_get(room, "x");
  assert_int_equal(list->kind, YAML_LIST);
  assert_int_equal(list->n, 2);
  assert_null(list->keys);
  /* a string until a typed reader takes it; characters, not bytes, make a column */
  assert_string_equal(list->items[1]->text, "010");
  assert_int_equal(list->items[1]->line, 4);
  assert_int_equal(list->items[1]->column, 14);
  assert_string_equal(yaml_get(room, "y")->text, "");
  assert_string_equal(yaml_get(root, "text")->text, "two\nlines\n");
}

static void
test_windows_lines(void **state)
{
  (void)state;
  g_autoptr(YamlFile) file = parse_ok("\xef\xbb\xbf"
                                      "a: 1\r\nb: 2\r\n");
  const YamlNode *b = yaml_get(yaml_root(file), "b");

  assert_string_equal(yaml_get(yaml_root(file), "a")->text, "1");
  assert_string_equal(b->text, "2");
  assert_int_equal(b->line, 2);
  assert_int_equal(b->column, 4);
}

static void
test_refused(void **state)
{
  (void)state;
  static const struct {
    const char *text, *expected;
  } cases[] = {
      {"", "t.yaml:1:1: the file is empty"},
      {"# only a comment\n", "t.yaml:1:1: the file is empty"},
      {"a: 1\nb: 2\na: 3\n", "t.yaml:3:1: key \"a\" again: it is given in line 1 already"},
      {"a: {x: 1, y: 2, x: 3}\n", "t.yaml:1:17: key \"x\" again: it is given in line 1 already"},
      {"a: 1\nb: &x 2\n", "t.yaml:2:4: anchor &x: write the value out where it is meant"},
      {"a: &x {b: 1}\n", "t.yaml:1:4: anchor &x: write the value out where it is meant"},
      {"a: &x [b]\n", "t.yaml:1:4: anchor &x: write the value out where it is meant"},
      {"&x a: 1\n", "t.yaml:1:1: anchor &x: write the value out where it is meant"},
      {"a: *x\n", "t.yaml:1:4: alias *x: write the value out"},
      {"*x : 1\n", "t.yaml:1:1: alias *x: write the value out"},
      {"a: !!int 3\n", "t.yaml:1:4: a tag (!) has no meaning here: put text that begins with it "
                       "in quotes"},
      {"a: ! 3\n", "t.yaml:1:4: a tag (!) has no meaning here: put text that begins with it in "
                   "quotes"},
      {"ä: [ü, ! [3]]\n", "t.yaml:1:8: a tag (!) has no meaning here: put text that begins with "
                          "it in quotes"},
      {"a: {<<: {b: 1}}\n", "t.yaml:1:5: merge key <<: write the keys out"},
      {"a: \"x\\0y\"\n", "t.yaml:1:4: an escaped NUL (\\0) in a value"},
      {"a: \"x\\ey\"\n", "t.yaml:1:4: an escaped control character (U+001B) in a value"},
      {"a: \"\\x9b\"\n", "t.yaml:1:4: an escaped control character (U+009B) in a value"},
      {"a: \"\\u2028\"\n", "t.yaml:1:4: an escaped control character (U+2028) in a value"},
      {"\"\\a\": 1\n", "t.yaml:1:1: an escaped control character (U+0007) in a value"},
      {"? [a, b]\n: 1\n", "t.yaml:1:3: a key must be a word, not a list or a map"},
      {"? {a: b}\n: 1\n", "t.yaml:1:3: a key must be a word, not a list or a map"},
      {"a: 1\n---\nb: 2\n", "t.yaml:2:1: a second document begins: a file holds one"},
      {"a: x\033[31m\n", "t.yaml:1:5: control character U+001B"},
      {"ä: x\x7f\n", "t.yaml:1:5: control character U+007F"},
      {"a: 1\rb: 2\n", "t.yaml:1:5: control character U+000D"},
      {"a: 1\nb: x\xff\n", "t.yaml:2:5: byte 0xff is not UTF-8"},
      {"a: \xc3", "t.yaml:1:4: byte 0xc3 is not UTF-8"},
      {"a: \xed\xa0\x80\n", "t.yaml:1:4: byte 0xed is not UTF-8"},
      {"a: [1, 2\nb: 3\n", "t.yaml:2:2: did not find expected ',' or ']' while parsing a flow "
                           "sequence begun in line 1"},
      {"a: {b: 1\n", "t.yaml:2:1: did not find expected ',' or '}' while parsing a flow mapping "
                     "begun in line 1"},
      {"a: 1\n  b: 2\n", "t.yaml:2:4: mapping values are not allowed in this context"},
      {"a:\n\tb: 2\n", "t.yaml:2:1: found character that cannot start any token while scanning "
                       "for the next token begun in line 2"},
      {"a: \"x\n", "t.yaml:2:1: found unexpected end of stream while scanning a quoted scalar "
                   "begun in line 1"},
      {"a: 1\nb\n", "t.yaml:3:1: could not find expected ':' while scanning a simple key begun "
                    "in line 2"},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    assert_error(cases[i].text, strlen(cases[i].text), cases[i].expected);
  assert_error("a: x\0y\n", 7, "t.yaml:1:5: control character U+0000");
}

static char *
nested(guint depth)
{
  GString *text = g_string_new("a: ");

  for (guint i = 1; i < depth; i++)
    g_string_append_c(text, '[');
  for (guint i = 1; i < depth; i++)
    g_string_append_c(text, ']');
  return g_string_free(text, FALSE);
}

static char *
entries(guint n, const char *before, const char *after)
{
  GString *text = g_string_new(NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf(text, "%s%u%s\n", before, i, after);
  return g_string_free(text, FALSE);
}

static void
test_limits(void **state)
{
  (void)state;
  g_autofree char *deep = nested(16), *deeper = nested(17);
  yaml_file_free(parse_ok(deep));
  assert_error(deeper, strlen(deeper), "t.yaml:1:19: nested more than 16 deep");

  g_autofree char *list = entries(65536, "- ", ""), *longer = entries(65537, "- ", "");
  g_autoptr(YamlFile) file = parse_ok(list);
  assert_int_equal(yaml_root(file)->n, 65536);
  assert_error(longer, strlen(longer), "t.yaml:65537:3: more than 65536 entries in a list");

  g_autofree char *map = entries(65537, "k", ": 1");
  assert_error(map, strlen(map), "t.yaml:65537:1: more than 65536 entries in a map");

  g_autofree char *x = g_strnfill(65536, 'x'), *line = g_strdup_printf("a: 1\n%sx", x);
  yaml_file_free(parse_ok(x));
  assert_error(line, strlen(line), "t.yaml:2:65537: a line longer than 64 KiB");

  g_autofree char *large = g_strnfill((4 << 20) + 1, '\n');
  assert_error(large, (4 << 20) + 1, "t.yaml:1:1: larger than 4 MiB");
}

/* A file cut anywhere is read or refused with a position, and nothing leaks. */
static void
test_cut_anywhere(void **state)
{
  (void)state;
  const char *text = "a: {b: [1, \"x\\n\", {c: d}], e: f}\ng:\n  - h: i\n    j: |\n     k\n";

  for (gsize length = 0; length <= strlen(text); length++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(YamlFile) file = yaml_parse("t", text, length, &error);
    assert_true((file == NULL) == (error != NULL));
    if (error != NULL)
      assert_true(g_str_has_prefix(error->message, "t:"));
  }
}

static void
test_load(void **state)
{
  (void)state;
  g_autoptr(GError) error = NULL;
  g_autofree char *directory = g_dir_make_tmp("pult-yaml-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(directory, "x.yaml", NULL);

  assert_true(g_file_set_contents(path, "a: 1\n", -1, NULL));
  g_autoptr(YamlFile) file = yaml_load(path, &error);
  assert_non_null(file);
  assert_string_equal(yaml_get(yaml_root(file), "a")->text, "1");
  g_remove(path);

  assert_null(yaml_load(path, &error));
  g_autofree char *absent = g_strdup_printf("%s: No such file or directory", path);
  assert_string_equal(error->message, absent);
  g_clear_error(&error);

  assert_null(yaml_load(directory, &error));
  g_autofree char *is_directory = g_strdup_printf("%s: Is a directory", directory);
  assert_string_equal(error->message, is_directory);
  g_clear_error(&error);
  g_rmdir(directory);

  assert_null(yaml_load("/dev/zero", &error)); /* endless, yet bounded */
  assert_string_equal(error->message, "/dev/zero:1:1: larger than 4 MiB");
}

static void
test_errors_sorted_and_bounded(void **state)
{
  (void)state;
  g_autoptr(YamlErrors) errors = yaml_errors_new("t.yaml");
  YamlNode late = {.line = 9, .column = 2}, early = {.line = 3, .column = 7};
  YamlNode same_line = {.line = 3, .column = 5};

  assert_int_equal(yaml_errors_count(errors), 0);
  yaml_errors_add(errors, &late, "late %d", 1);
  yaml_errors_add(errors, &early, "first here");
  yaml_errors_add(errors, &early, "second \"%s\"", "a\n\tb");
  yaml_errors_add(errors, &same_line, "before both");
  g_autofree char *text = yaml_errors_text(errors);
  assert_string_equal(text, "t.yaml:3:5: before both\n"
                            "t.yaml:3:7: first here\n"
                            "t.yaml:3:7: second \"a\\n\\tb\"\n"
                            "t.yaml:9:2: late 1");

  for (guint i = 0; i < 200; i++)
    yaml_errors_add(errors, &late, "again");
  yaml_errors_add(errors, &same_line, "still told");
  assert_int_equal(yaml_errors_count(errors), 205);
  g_autofree char *many = yaml_errors_text(errors);
  g_auto(GStrv) lines = g_strsplit(many, "\n", -1);
  assert_int_equal(g_strv_length(lines), 101);
  assert_string_equal(lines[1], "t.yaml:3:5: still told");
  assert_string_equal(lines[99], "t.yaml:9:2: again");
  assert_string_equal(lines[100], "t.yaml: and 105 more");
}

static void
test_long_message_is_cut(void **state)
{
  (void)state;
  g_autoptr(YamlErrors) errors = yaml_errors_new("t.yaml");
  YamlNode at = {.line = 1, .column = 1};
  g_autofree char *value = g_strnfill(60000, 'x');

  yaml_errors_add(errors, &at, "value \"%s\"", value);
  g_autofree char *text = yaml_errors_text(errors);
  assert_true(strlen(text) < 450);
  assert_true(g_str_has_suffix(text, "xxx..."));
}

static void
test_unknown_keys(void **state)
{
  (void)state;
  static const char *const known[] = {"switch", "subnet", "speed", NULL};
  g_autoptr(YamlErrors) errors = yaml_errors_new("t.yaml");
  g_autoptr(YamlFile) file = parse_ok("switch: a\nswich: b\nSpeed: c\nzzz: d\n");

  yaml_check_keys(yaml_root(file), known, errors);
  g_autofree char *text = yaml_errors_text(errors);
  assert_string_equal(text, "t.yaml:2:1: unknown key \"swich\": did you mean \"switch\"?\n"
                            "t.yaml:3:1: unknown key \"Speed\": did you mean \"speed\"?\n"
                            "t.yaml:4:1: unknown key \"zzz\": known here are switch, subnet, "
                            "speed");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tree_and_positions),
      cmocka_unit_test(test_windows_lines),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_cut_anywhere),
      cmocka_unit_test(test_load),
      cmocka_unit_test(test_errors_sorted_and_bounded),
      cmocka_unit_test(test_long_message_is_cut),
      cmocka_unit_test(test_unknown_keys),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
