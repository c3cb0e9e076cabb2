#include "backends/pxe/pxe_file.h"

#include <string.h>

#define AROUND 3

/* One line of the difference: what was, what is, or both. */
typedef struct {
  char sign;
  const char *text;
} Row;

static void
add_row(GArray *rows, char sign, const char *text)
{
  Row row = {sign, text};
  g_array_append_val(rows, row);
}

/* Where in what was the next line comes from that was there, of line I and those behind it. */
static guint
gone_before(const PxeFile *file, guint i)
{
  while (i < file->lines->len && pxe_file_line(file, i)->origin < 0)
    i++;
  return i < file->lines->len ? (guint)pxe_file_line(file, i)->origin : file->read->len;
}

/* Lines keep their order, so each one's origin says what went before it. */
static GArray *
make_rows(const PxeFile *file)
{
  GArray *rows = g_array_new(FALSE, FALSE, sizeof(Row));
  guint old = 0;
  for (guint i = 0; i < file->lines->len; i++) {
    const PxeLine *line = pxe_file_line(file, i);
    for (guint end = gone_before(file, i); old < end; old++)
      add_row(rows, '-', file->read->pdata[old]);
    if (line->origin < 0) {
      add_row(rows, '+', line->text);
      continue;
    }
    const char *was = file->read->pdata[old++];
    if (g_str_equal(was, line->text)) {
      add_row(rows, ' ', was);
      continue;
    }
    add_row(rows, '-', was);
    add_row(rows, '+', line->text);
  }
  while (old < file->read->len)
    add_row(rows, '-', file->read->pdata[old++]);
  return rows;
}

/* A password stands in plain text or hashed; either is nobody's business. */
static void
print_row(GString *text, const Row *row)
{
  g_autoptr(PxeFile) one = pxe_file_new("", row->text, strlen(row->text), NULL);
  const PxeLine *line = pxe_file_line(one, 0);
  g_string_append_c(text, row->sign);
  if ((line->word == PXE_MASTER_PASSWD || line->word == PXE_PASSWD) && line->end > line->value) {
    g_string_append_len(text, line->text, line->value);
    g_string_append(text, "***");
    g_string_append(text, line->text + line->end);
  } else {
    g_string_append(text, row->text);
  }
  if (!g_str_has_suffix(row->text, "\n"))
    g_string_append(text, "\n\\ No newline at end of file\n");
}

static void
print_range(GString *text, char sign, guint start, guint n)
{
  /* Of no line it is the one before. */
  g_string_append_printf(text, "%c%u", sign, n > 0 ? start + 1 : start);
  if (n != 1)
    g_string_append_printf(text, ",%u", n);
}

static void
print_hunk(GString *text, GArray *rows, guint first, guint end, guint old, guint new)
{
  guint n_old = 0, n_new = 0;
  for (guint i = first; i < end; i++) {
    char sign = g_array_index(rows, Row, i).sign;
    n_old += sign != '+';
    n_new += sign != '-';
  }
  g_string_append(text, "@@ ");
  print_range(text, '-', old, n_old);
  g_string_append_c(text, ' ');
  print_range(text, '+', new, n_new);
  g_string_append(text, " @@\n");
  for (guint i = first; i < end; i++)
    print_row(text, &g_array_index(rows, Row, i));
}

/* Behind the last row that belongs to the hunk whose first change is at I. */
static guint
hunk_end(GArray *rows, guint i)
{
  guint last = i;
  for (; i < rows->len && i <= last + 2 * AROUND; i++)
    if (g_array_index(rows, Row, i).sign != ' ')
      last = i;
  return MIN(last + AROUND + 1, rows->len);
}

char *
pxe_file_difference(const PxeFile *file)
{
  g_autoptr(GArray) rows = make_rows(file);
  GString *text = g_string_new(NULL);
  guint old = 0, new = 0;
  for (guint i = 0; i < rows->len;) {
    if (g_array_index(rows, Row, i).sign == ' ') {
      old++, new ++, i++;
      continue;
    }
    if (text->len == 0)
      g_string_append_printf(text, "--- %s\n+++ %s\n", file->path, file->path);
    guint before = MIN(MIN(AROUND, i), MIN(old, new)), end = hunk_end(rows, i);
    print_hunk(text, rows, i - before, end, old - before, new - before);
    for (; i < end; i++) {
      char sign = g_array_index(rows, Row, i).sign;
      old += sign != '+';
      new += sign != '-';
    }
  }
  return g_string_free(text, text->len == 0);
}
