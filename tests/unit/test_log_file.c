/* Files that grow, are moved, cut and made anew while they are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "backends/log/log_file.h"

typedef struct {
  char *folder, *path;
  LogFile *file;
  GString *read; /* lines with a `|` behind each */
} Reader;

static void
on_line(const char *text, gsize length, gpointer data)
{
  const Reader *reader = data;
  assert_int_equal(strlen(text), length);
  g_string_append_printf(reader->read, "%s|", text);
}

static void
append(const char *path, const char *text, gsize length)
{
  FILE *file = fopen(path, "a");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static void
write_on(const Reader *reader, const char *text)
{
  append(reader->path, text, strlen(text));
}

/* The lines that have come since the last look. */
static void
expect(Reader *reader, const char *lines)
{
  g_string_truncate(reader->read, 0);
  log_file_look(reader->file, on_line, reader);
  assert_string_equal(reader->read->str, lines);
}

static Reader
reader_new(const char *before)
{
  Reader reader = {.folder = g_dir_make_tmp("log-XXXXXX", NULL), .read = g_string_new(NULL)};
  assert_non_null(reader.folder);
  reader.path = g_build_filename(reader.folder, "log", NULL);
  if (before != NULL)
    write_on(&reader, before);
  reader.file = log_file_new(reader.path);
  return reader;
}

static void
reader_free(Reader *reader)
{
  g_autofree char *moved = g_strconcat(reader->path, ".1", NULL);
  log_file_free(reader->file);
  g_unlink(moved);
  g_unlink(reader->path);
  assert_int_equal(g_rmdir(reader->folder), 0);
  g_string_free(reader->read, TRUE);
  g_free(reader->path);
  g_free(reader->folder);
}

static void
test_grows(void **state)
{
  (void)state;
  Reader reader = reader_new("old\n");
  assert_null(log_file_problem(reader.file));
  expect(&reader, "");
  write_on(&reader, "one\ntwo\nthr");
  expect(&reader, "one|two|");
  expect(&reader, "");
  write_on(&reader, "ee\n\n");
  expect(&reader, "three||");
  append(reader.path, "a\0b\n", 4);
  expect(&reader, "a b|");
  reader_free(&reader);
}

static void
test_comes_later(void **state)
{
  (void)state;
  Reader reader = reader_new(NULL);
  assert_string_equal(log_file_problem(reader.file), "No such file or directory");
  expect(&reader, "");
  assert_non_null(log_file_problem(reader.file));
  write_on(&reader, "first\n");
  expect(&reader, "first|");
  assert_null(log_file_problem(reader.file));
  reader_free(&reader);
}

static void
test_moved(void **state)
{
  (void)state;
  Reader reader = reader_new("old\n");
  g_autofree char *moved = g_strconcat(reader.path, ".1", NULL);
  write_on(&reader, "one\nhal");
  assert_int_equal(g_rename(reader.path, moved), 0);
  /* Without a file by that name the one that was moved is still the one. */
  expect(&reader, "one|");
  write_on(&reader, "new\n");
  append(moved, "f\nlast\n", 7);
  expect(&reader, "half|last|new|");
  append(moved, "late\n", 5);
  write_on(&reader, "newer\n");
  expect(&reader, "late|newer|");
  for (guint i = 0; i < 50; i++)
    expect(&reader, "");
  append(moved, "too late\n", 9);
  write_on(&reader, "newest\n");
  expect(&reader, "newest|");
  reader_free(&reader);
}

static void
test_cut(void **state)
{
  (void)state;
  Reader reader = reader_new("a line that was there\n");
  write_on(&reader, "begun");
  expect(&reader, "");
  assert_int_equal(truncate(reader.path, 0), 0);
  write_on(&reader, "anew\n");
  expect(&reader, "anew|");
  reader_free(&reader);
}

static void
test_bounds(void **state)
{
  (void)state;
  Reader reader = reader_new("");
  g_autofree char *whole = g_strnfill(LOG_FILE_LINE, 'x');
  g_autofree char *expected = g_strconcat(whole, "|next|", NULL);
  write_on(&reader, whole);
  write_on(&reader, "\n");
  write_on(&reader, whole);
  write_on(&reader, "y");
  log_file_look(reader.file, on_line, &reader);
  write_on(&reader, "z\nnext\n");
  log_file_look(reader.file, on_line, &reader);
  assert_string_equal(reader.read->str, expected);
  /* More than a look takes comes whole in as many as it needs. */
  g_autofree char *much = g_strnfill(3 * LOG_FILE_BURST, '\n');
  write_on(&reader, much);
  gsize n = 0;
  for (guint i = 0; i < 3; i++) {
    g_string_truncate(reader.read, 0);
    log_file_look(reader.file, on_line, &reader);
    assert_true(reader.read->len <= LOG_FILE_BURST);
    n += reader.read->len;
  }
  assert_int_equal(n, 3 * LOG_FILE_BURST);
  reader_free(&reader);
}

static void
test_no_file(void **state)
{
  (void)state;
  g_autoptr(LogFile) folder = log_file_new("/");
  assert_string_equal(log_file_problem(folder), "it is no regular file");
  g_autoptr(LogFile) device = log_file_new("/dev/null");
  assert_string_equal(log_file_problem(device), "it is no regular file");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_grows),  cmocka_unit_test(test_comes_later),
      cmocka_unit_test(test_moved),  cmocka_unit_test(test_cut),
      cmocka_unit_test(test_bounds), cmocka_unit_test(test_no_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
