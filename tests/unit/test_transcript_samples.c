/* A line of counters is read in one of two ways; both must say the same of any line. A blank behind
 * the brace, which a transcript never has, takes the long way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "model/draw.h"
#include "session/transcript_parse.h"

#define GOOD "{\"seq\":7,\"t\":1000,\"kind\":\"samples\",\"source\":\"sim\",\"v\":[1,-20,300]}"

static Layout *layout;

static int
setup(void **state)
{
  (void)state;
  g_autofree char *text = NULL;
  gsize length;
  assert_true(g_file_get_contents("tests/unit/samples/two-seats.yaml", &text, &length, NULL));
  layout = layout_parse("two-seats.yaml", text, length, NULL);
  return layout != NULL ? 0 : 1;
}

static int
teardown(void **state)
{
  (void)state;
  layout_free(layout);
  return 0;
}

static gboolean
scan(const char *text, gsize length)
{
  g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(gint64));
  g_autoptr(GString) source = g_string_new(NULL);
  Event event;
  return transcript_scan_samples(text, length, values, source, &event);
}

/* What TEXT is read as, printed; NULL when it is refused. */
static char *
read_as(const char *text, gsize length)
{
  g_autoptr(TranscriptLine) line = transcript_line_new();
  Event event;
  if (!transcript_parse_event(line, layout, text, length, &event, NULL))
    return NULL;
  GString *out = g_string_new(NULL);
  transcript_print_event(out, layout, &event);
  return g_string_free(out, FALSE);
}

static void
check(const char *text)
{
  gsize length = strlen(text);
  g_autofree char *with_blank = g_strconcat("{ ", text + 1, NULL);
  if (text[0] != '{') /* no line of its own then */
    return;
  assert_false(scan(with_blank, length + 1));
  g_autofree char *one = read_as(text, length);
  g_autofree char *other = read_as(with_blank, length + 1);
  if (g_strcmp0(one, other) != 0)
    fail_msg("%s\n  as %s  or %s", text, one, other);
}

static void
test_plain_lines_are_scanned(void **state)
{
  (void)state;
  static const char *const lines[] = {
      GOOD,
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"\",\"v\":[]}",
      "{\"seq\":999999999999999999,\"t\":999999999999999999,\"kind\":\"samples\",\"source\":\"a "
      "b\","
      "\"v\":[999999999999999999,-999999999999999999,0,-0]}",
  };
  for (gsize i = 0; i < G_N_ELEMENTS(lines); i++) {
    assert_true(scan(lines[i], strlen(lines[i])));
    check(lines[i]);
    g_autofree char *one = read_as(lines[i], strlen(lines[i]));
    assert_non_null(one);
  }
}

static void
test_others_are_not(void **state)
{
  (void)state;
  static const char *const lines[] = {
      "{\"seq\":0,\"t\":0,\"kind\":\"samples\",\"source\":\"a\",\"v\":[]}",
      "{\"seq\":1,\"t\":-1,\"kind\":\"samples\",\"source\":\"a\",\"v\":[]}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\\\\x07\",\"v\":[1]}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"\u00fc\",\"v\":[1]}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\x7f\",\"v\":[1]}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\\u0062\",\"v\":[1]}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\",\"columns\":[\"x.rx "
      "B\"],\"v\":[1]}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\",\"v\":[01]}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\",\"v\":[+1]}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\",\"v\":[1.0]}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\",\"v\":[1e3]}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\",\"v\":[1,]}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\",\"v\":[1 ]}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\",\"v\":[,1]}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\",\"v\":[null]}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\",\"v\":[9223372036854775807]}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\",\"v\":[9223372036854775808]}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\",\"v\":[1],\"out\":false}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\",\"v\":[1]}}",
      "{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\",\"v\":[1]} ",
      "{\"seq\":1,\"t\":0,\"kind\":\"samplers\",\"source\":\"a\",\"v\":[1]}",
  };
  for (gsize i = 0; i < G_N_ELEMENTS(lines); i++) {
    assert_false(scan(lines[i], strlen(lines[i])));
    check(lines[i]);
  }
}

static void
test_cut_lines(void **state)
{
  (void)state;
  for (gsize n = 0; n < strlen(GOOD); n++)
    assert_false(scan(GOOD, n));
}

/* One character of a good line after the other becomes another. */
static void
test_any_change(void **state)
{
  (void)state;
  static const char others[] = "0159-+.,:[]{}\" \\exn\x1f";
  g_autofree char *line = g_strdup(GOOD);
  for (gsize i = 1; i < strlen(line); i++) {
    char was = line[i];
    for (gsize k = 0; k < strlen(others); k++) {
      line[i] = others[k];
      check(line);
    }
    line[i] = was;
  }
}

static void
test_too_many(void **state)
{
  (void)state;
  for (guint n = 65536; n <= 65537; n++) {
    g_autoptr(GString) line =
        g_string_new("{\"seq\":1,\"t\":0,\"kind\":\"samples\",\"source\":\"a\",\"v\":[1");
    for (guint i = 1; i < n; i++)
      g_string_append_printf(line, ",%d", draw_uniform(1, "samples", "", i) < 0.5 ? 0 : 123);
    g_string_append(line, "]}");
    assert_int_equal(scan(line->str, line->len), n <= 65536);
    g_autofree char *read = read_as(line->str, line->len);
    assert_int_equal(read != NULL, n <= 65536);
  }
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plain_lines_are_scanned),
      cmocka_unit_test(test_others_are_not),
      cmocka_unit_test(test_cut_lines),
      cmocka_unit_test(test_any_change),
      cmocka_unit_test(test_too_many),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
