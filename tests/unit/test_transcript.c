#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/draw.h"
#include "session/transcript.h"

#define SAMPLE "tests/unit/samples/two-seats.jsonl"

static char *
read_whole(const char *path, gsize *length)
{
  g_autofree char *text = NULL;
  assert_true(g_file_get_contents(path, &text, length, NULL));
  return g_steal_pointer(&text);
}

static char *
temporary(const char *name)
{
  return g_build_filename(g_get_tmp_dir(), name, NULL);
}

static char *
write_temporary(const char *name, const char *text, gsize length)
{
  char *path = temporary(name);
  assert_true(g_file_set_contents(path, text, (gssize)length, NULL));
  return path;
}

/* Everything in PATH, printed anew. */
static char *
print_back(const char *path, guint *n_events)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(TranscriptReader) reader = transcript_open(path, &error);
  assert_null(error);
  g_autoptr(GString) out = g_string_new(NULL);
  transcript_print_head(out, transcript_head(reader));
  assert_null(transcript_session(reader));
  const Event *event;
  const char *raw;
  gsize before = 0;
  for (*n_events = 0; (event = transcript_next(reader, &raw, &error)) != NULL; (*n_events)++) {
    if (*n_events == 0)
      transcript_print_session(out, transcript_session(reader));
    before = out->len;
    transcript_print_event(out, transcript_layout(reader), event);
    assert_int_equal(out->len - before, strlen(raw) + 1);
    assert_memory_equal(out->str + before, raw, strlen(raw));
  }
  assert_null(error);
  return g_strdup(out->str);
}

static void
test_sample_comes_back(void **state)
{
  (void)state;
  gsize length;
  guint n;
  g_autofree char *text = read_whole(SAMPLE, &length);
  g_autofree char *again = print_back(SAMPLE, &n);
  assert_string_equal(again, text);
  assert_int_equal(n, 18);
}

static void
test_sample_says(void **state)
{
  (void)state;
  g_autoptr(TranscriptReader) reader = transcript_open(SAMPLE, NULL);
  const Layout *layout = transcript_layout(reader);
  assert_string_equal(layout->lab, "Two seats");
  assert_int_equal(transcript_head(reader)->options.seed, 1);
  assert_int_equal(transcript_head(reader)->options.consent, CONSENT_ASK);
  const Event *event;
  guint n_requests = 0;
  while ((event = transcript_next(reader, NULL, NULL)) != NULL) {
    if (event->kind == EVENT_LINE)
      assert_string_equal(event->line.text, "escapes \\ and \x1b[31m, quotes \" and umlauts ä");
    if (event->kind == EVENT_REQUEST && n_requests++ == 0) {
      assert_int_equal(event->request.n_nodes, 3);
      assert_int_equal(event->request.nodes[0], layout_find(layout, "a01"));
      assert_int_equal(event->request.operation, OP_STATUS);
      assert_true(event->request.deadline == 5 * TIME_SECOND);
    }
    if (event->kind == EVENT_PLAN)
      assert_int_equal(event->plan.seats, 2);
    if (event->kind == EVENT_COMMAND && event->seq == 7)
      assert_int_equal(event->command.confirm, -1);
  }
  assert_int_equal(n_requests, 3);
  assert_string_equal(transcript_session(reader)->user, "anna");
  assert_true(transcript_last_time(reader) == 31 * TIME_SECOND);
}

/* Whatever the length of what is left, it opens to its last whole line. */
static void
test_cut_anywhere(void **state)
{
  (void)state;
  gsize length;
  g_autofree char *text = read_whole(SAMPLE, &length);
  gsize head = (gsize)(strchr(text, '\n') - text) + 1;
  guint n_lines = 20;
  g_autofree char *path = write_temporary("cut.jsonl", text, length);
  for (gsize cut = length + 1; cut-- > 0;) {
    assert_int_equal(truncate(path, (off_t)cut), 0);
    n_lines -= cut < length && text[cut] == '\n' ? 1 : 0;
    g_autoptr(GError) error = NULL;
    g_autoptr(TranscriptReader) reader = transcript_open(path, &error);
    assert_int_equal(reader != NULL, cut >= head);
    guint n = 0;
    while (reader != NULL && transcript_next(reader, NULL, &error) != NULL)
      n++;
    assert_int_equal(error != NULL, cut < head);
    assert_int_equal(n, n_lines < 2 ? 0 : n_lines - 2);
  }
  assert_int_equal(n_lines, 0);
}

static void
test_growing_file(void **state)
{
  (void)state;
  gsize length;
  g_autofree char *text = read_whole(SAMPLE, &length);
  gsize head = (gsize)(strchr(text, '\n') - text) + 1;
  g_autofree char *path = write_temporary("growing.jsonl", text, head);
  g_autoptr(TranscriptReader) reader = transcript_open(path, NULL);
  assert_non_null(reader);
  FILE *file = g_fopen(path, "a");
  guint n = 0, n_lines = 1;
  g_autoptr(GError) error = NULL;
  for (gsize i = head; i < length; i++) {
    fputc(text[i], file);
    fflush(file);
    n_lines += text[i] == '\n' ? 1 : 0;
    while (transcript_next(reader, NULL, &error) != NULL)
      n++;
    assert_null(error);
    assert_int_equal(n, n_lines < 2 ? 0 : n_lines - 2);
  }
  fclose(file);
  assert_int_equal(n, 18);
}

static void
test_marks(void **state)
{
  (void)state;
  g_autoptr(TranscriptReader) reader = transcript_open(SAMPLE, NULL);
  TranscriptMark begin = transcript_tell(reader);
  for (int i = 0; i < 7; i++)
    assert_non_null(transcript_next(reader, NULL, NULL));
  TranscriptMark mark = transcript_tell(reader);
  while (transcript_next(reader, NULL, NULL) != NULL)
    ;
  assert_true(transcript_seek(reader, &mark, NULL));
  assert_int_equal(transcript_next(reader, NULL, NULL)->seq, 8);
  assert_int_equal(transcript_line_number(reader), 10);
  assert_true(transcript_seek(reader, &begin, NULL));
  assert_int_equal(transcript_next(reader, NULL, NULL)->seq, 1);
}

static const struct {
  const char *name, *message;
} broken[] = {
    {"empty", "1: is empty: no transcript"},
    {"no-first-line", "1: ends within its first line: no transcript, or one cut there"},
    {"newer", "1: was written by a newer pult: its format is 2, this one reads up to 1"},
    {"not-a-transcript", "1: is not JSON, column 3: '[' or '{' expected near 'Lab'"},
    {"head-without-seed", "1: `seed` is missing"},
    {"consent", "1: `consent` is neither ask, yes nor a number"},
    {"checksum", "1: the layout in it is not the one its checksum was made of"},
    {"layout", "1: the layout in it: *sw9*"},
    {"no-session", "2: `session` is missing"},
    {"unknown-kind", "3: `kind` is `lnik`, a word unknown to this version"},
    {"unknown-key", "3: has an unknown key `down`"},
    {"unknown-node", "6: `node` names `a09`, which the layout has not"},
    {"node-set", "4: `nodes`: *"},
    {"seq-gap", "4: `seq` is 3; 2 is due"},
    {"time-back", "4: `t` is 0, before the line above (7)"},
    {"time-negative", "3: `t` is -1; 0 to 4611686018427387904 is allowed"},
    {"wrong-type", "3: `t` is no whole number"},
    {"missing-field", "3: `text` is missing"},
    {"bad-escape", "3: `text` has a backslash before neither a backslash nor xNN"},
    {"nul", "3: `text` has a NUL character"},
    {"output-unmarked", "4: is of kind request, which is an output; `out` says otherwise"},
    {"input-marked", "3: is of kind link, which is an input; `out` says otherwise"},
    {"verdict", "7: `verdict` is `okay`, a word unknown to this version"},
    {"duplicate-key", "3: is not JSON, column *: duplicate object key near '\"t\"'"},
    {"columns", "8: has 11 columns and 10 values"},
    {"fraction", "8: `v` holds what is no whole number"},
    {"cut-inside", "3: is not JSON, column *"},
    {"string-number", "3: `name` is no string"},
    {"bool-word", "3: `up` is neither true nor false"},
    {"args-list", "4: `args` is no object"},
    {"operation", "4: `op` is `explode`, a word unknown to this version"},
    {"columns-word", "8: `columns` is no list"},
    {"confirm", "12: `confirm` is -2; 0 to 2147483647 is allowed"},
    {"part-word", "10: an entry of `parts` is no JSON object"},
    {"part-action", "10: `action` is missing"},
    {"figure-word", "17: `value` is no number"},
    {"severity", "19: `severity` is `loud`, a word unknown to this version"},
    {"line-list", "3: the line is no JSON object"},
    {"integer-long", "3: is not JSON, column 33: too big integer near '99999999999999999999'"},
    {"time-late", "16: `t` is 4611686018427387905; 0 to 4611686018427387904 is allowed"},
    {"options-word", "1: `options` is no JSON object"},
};

static void
test_broken_files(void **state)
{
  (void)state;
  for (gsize i = 0; i < G_N_ELEMENTS(broken); i++) {
    g_autofree char *path = g_strdup_printf("tests/unit/broken/%s.jsonl", broken[i].name);
    g_autofree char *pattern = g_strdup_printf("%s:%s", path, broken[i].message);
    g_autoptr(GError) error = NULL;
    g_autoptr(TranscriptReader) reader = transcript_open(path, &error);
    while (reader != NULL && transcript_next(reader, NULL, &error) != NULL)
      ;
    assert_non_null(error);
    if (!g_pattern_match_simple(pattern, error->message))
      fail_msg("%s\n  instead of %s", error->message, pattern);
    /* It stands: asking again does not go on behind the bad line. */
    if (reader != NULL)
      assert_null(transcript_next(reader, NULL, NULL));
  }
}

static void
test_broken_files_are_all_named(void **state)
{
  (void)state;
  g_autoptr(GDir) dir = g_dir_open("tests/unit/broken", 0, NULL);
  const char *name;
  gsize n = 0;
  while ((name = g_dir_read_name(dir)) != NULL)
    n += g_str_has_suffix(name, ".jsonl") ? 1 : 0;
  assert_int_equal(n, G_N_ELEMENTS(broken));
}

static void
test_long_lines(void **state)
{
  (void)state;
  gsize length;
  g_autofree char *text = read_whole(SAMPLE, &length);
  char *third = strchr(strchr(text, '\n') + 1, '\n') + 1;
  for (int extra = 0; extra < 2; extra++) {
    g_autoptr(GString) file = g_string_new_len(text, third - text);
    gsize begin = file->len;
    g_string_append(file, "{\"seq\":1,\"t\":0,\"kind\":\"link\",\"name\":\"sim\",\"up\":true,"
                          "\"text\":\"");
    while (file->len - begin < (1 << 20) - 2 + (gsize)extra)
      g_string_append_c(file, 'x');
    g_string_append(file, "\"}\n");
    g_autofree char *path = write_temporary("long.jsonl", file->str, file->len);
    g_autoptr(GError) error = NULL;
    g_autoptr(TranscriptReader) reader = transcript_open(path, NULL);
    assert_int_equal(transcript_next(reader, NULL, &error) != NULL, extra == 0);
    if (extra > 0)
      assert_true(g_str_has_suffix(error->message, "long.jsonl:3: is longer than 1 MiB"));
  }
}

static void
check_escape(const char *bytes, gsize length, const char *escaped)
{
  g_autoptr(GString) out = g_string_new(NULL);
  transcript_escape(out, bytes, length);
  if (escaped != NULL)
    assert_string_equal(out->str, escaped);
  assert_true(g_utf8_validate(out->str, (gssize)out->len, NULL));
  gsize again_length;
  g_autofree char *again = transcript_unescape(out->str, &again_length);
  assert_non_null(again);
  assert_int_equal(again_length, length);
  assert_memory_equal(again, bytes, length);
}

static void
test_escapes(void **state)
{
  (void)state;
  check_escape("plain, tab\t and newline\n", 24, "plain, tab\t and newline\n");
  check_escape("a\\b", 3, "a\\\\b");
  check_escape("\\x41", 4, "\\\\x41");
  check_escape("\x1b[0m\r\x7f", 6, "\\x1b[0m\\x0d\\x7f");
  check_escape("\0", 1, "\\x00");
  check_escape("\xc2\x85", 2, "\\xc2\\x85");          /* C1 */
  check_escape("\xc2\xa0", 2, "\xc2\xa0");            /* and what follows it */
  check_escape("\xe2\x82", 2, "\\xe2\\x82");          /* cut */
  check_escape("\xc0\xaf", 2, "\\xc0\\xaf");          /* overlong */
  check_escape("\xed\xa0\x80", 3, "\\xed\\xa0\\x80"); /* a surrogate */
  check_escape("\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80");
  gsize length;
  assert_null(transcript_unescape("\\", &length));
  assert_null(transcript_unescape("\\n", &length));
  assert_null(transcript_unescape("\\x4", &length));
  assert_null(transcript_unescape("\\xg0", &length));
}

/* Any bytes, with those that matter more often; through an event and jansson as well. */
static void
test_any_bytes(void **state)
{
  (void)state;
  static const char often[] = "\\\"\n\t\x1b\x7f\xc2\x85\xe2\x82\xacx";
  g_autoptr(TranscriptReader) reader = transcript_open(SAMPLE, NULL);
  gsize length;
  g_autofree char *text = read_whole(SAMPLE, &length);
  char *third = strchr(strchr(text, '\n') + 1, '\n') + 1;
  g_autoptr(GString) file = g_string_new_len(text, third - text);
  char bytes[300][65];
  for (guint i = 0; i < 300; i++) {
    gsize n = i % 65;
    for (gsize j = 0; j < n; j++) {
      double draw = draw_uniform(7, "bytes", "", i * 65 + j);
      bytes[i][j] = draw < 0.5 ? often[(gsize)(draw * 2 * (sizeof often - 1))]
                               : (char)(1 + (int)((draw - 0.5) * 2 * 255));
    }
    bytes[i][n] = 0;
    check_escape(bytes[i], n, NULL);
    Event event = {.seq = i + 1, .kind = EVENT_LINK, .link = {"sim", TRUE, bytes[i]}};
    transcript_print_event(file, transcript_layout(reader), &event);
  }
  g_autofree char *path = write_temporary("bytes.jsonl", file->str, file->len);
  g_autoptr(TranscriptReader) again = transcript_open(path, NULL);
  for (guint i = 0; i < 300; i++) {
    const Event *event = transcript_next(again, NULL, NULL);
    assert_non_null(event);
    assert_string_equal(event->link.text, bytes[i]);
  }
}

static void
check_printed(const Event *event, const char *expected)
{
  g_autoptr(TranscriptReader) reader = transcript_open(SAMPLE, NULL);
  g_autoptr(GString) out = g_string_new(NULL);
  transcript_print_event(out, transcript_layout(reader), event);
  assert_string_equal(out->str, expected);
}

static void
test_numbers(void **state)
{
  (void)state;
  static const gint64 values[] = {0,   1,    9,     10,         99,         100,
                                  999, 1000, 12345, G_MAXINT64, G_MININT64, -7};
  Event samples = {.seq = 1, .t = G_MAXINT64 - 1, .kind = EVENT_SAMPLES};
  samples.samples = (SamplesEvent){"sim", NULL, values, G_N_ELEMENTS(values)};
  check_printed(&samples, "{\"seq\":1,\"t\":9223372036854775806,\"kind\":\"samples\","
                          "\"source\":\"sim\",\"v\":[0,1,9,10,99,100,999,1000,12345,"
                          "9223372036854775807,-9223372036854775808,-7]}\n");
  static const struct {
    double value;
    const char *text;
  } figures[] = {
      {18.25, "18.25"},      {18, "18"},
      {1.9e9, "1900000000"}, {0.1, "0.1"},
      {NAN, "null"},         {INFINITY, "null"},
      {-0.0, "0"},           {1e-12, "0"},
      {-2.5, "-2.5"},        {1e20, "100000000000000000000"},
      {100, "100"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(figures); i++) {
    Event figure = {.seq = 2, .kind = EVENT_FIGURE};
    figure.figure = (FigureEvent){"b", "boot.mean", figures[i].value, "s", 16, 2};
    g_autofree char *expected =
        g_strdup_printf("{\"seq\":2,\"t\":0,\"kind\":\"figure\",\"out\":true,\"label\":\"b\","
                        "\"name\":\"boot.mean\",\"value\":%s,\"unit\":\"s\",\"n\":16,"
                        "\"runs\":2}\n",
                        figures[i].text);
    check_printed(&figure, expected);
  }
}

static void
test_writer(void **state)
{
  (void)state;
  g_autofree char *path = temporary("written.jsonl");
  g_remove(path);
  TranscriptWriter *writer = transcript_create(path, NULL);
  assert_non_null(writer);
  assert_true(transcript_write(writer, "one\n", 4, NULL));
  struct stat status;
  assert_int_equal(g_stat(path, &status), 0);
  assert_int_equal(status.st_mode & 0777, 0600);
  assert_int_equal(status.st_size, 0);
  assert_true(transcript_flush(writer, NULL));
  assert_true(transcript_write(writer, "two\n", 4, NULL));
  assert_true(transcript_sync(writer, NULL));
  gsize length;
  g_autofree char *text = read_whole(path, &length);
  assert_string_equal(text, "one\ntwo\n");
  transcript_close(writer);
  g_autoptr(GError) error = NULL;
  assert_null(transcript_create(path, &error));
  assert_true(strstr(error->message, "never overwritten") != NULL);
}

static void
test_full_disk(void **state)
{
  (void)state;
  g_autoptr(TranscriptWriter) writer = transcript_create("/dev/full", NULL);
  assert_non_null(writer);
  assert_true(transcript_write(writer, "x\n", 2, NULL));
  g_autoptr(GError) error = NULL;
  g_autoptr(GError) again = NULL;
  assert_false(transcript_flush(writer, &error));
  assert_string_equal(error->message, "/dev/full: recording failed: No space left on device");
  assert_false(transcript_write(writer, "x\n", 2, &again));
  assert_string_equal(again->message, error->message);
}

static void
test_default_path(void **state)
{
  (void)state;
  g_autofree char *first = transcript_default_path("OpenSLX, two rooms / é", NULL);
  assert_non_null(first);
  assert_true(g_str_has_prefix(first, g_get_tmp_dir()));
  assert_true(g_str_has_suffix(first, "-OpenSLX-two-rooms.jsonl"));
  TranscriptWriter *writer = transcript_create(first, NULL);
  assert_non_null(writer);
  transcript_close(writer);
  g_autofree char *second = transcript_default_path("OpenSLX, two rooms / é", NULL);
  assert_true(g_str_has_suffix(second, "-OpenSLX-two-rooms-2.jsonl"));
  g_autofree char *nameless = transcript_default_path("../", NULL);
  assert_true(g_str_has_suffix(nameless, "-lab.jsonl"));
}

int
main(void)
{
  g_autofree char *place = g_dir_make_tmp("pult-transcript-XXXXXX", NULL);
  g_setenv("XDG_STATE_HOME", place, TRUE);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sample_comes_back),
      cmocka_unit_test(test_sample_says),
      cmocka_unit_test(test_cut_anywhere),
      cmocka_unit_test(test_growing_file),
      cmocka_unit_test(test_marks),
      cmocka_unit_test(test_broken_files),
      cmocka_unit_test(test_broken_files_are_all_named),
      cmocka_unit_test(test_long_lines),
      cmocka_unit_test(test_escapes),
      cmocka_unit_test(test_any_bytes),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_writer),
      cmocka_unit_test(test_full_disk),
      cmocka_unit_test(test_default_path),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
