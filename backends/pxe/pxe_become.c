#include "backends/pxe/pxe_file.h"

/* Lines of one side by lines of the other that are compared at the most: a table of bytes. */
#define TABLE_MAX (16 * 1024 * 1024)

/* Of two runs of lines, the part between what they have in common at either end. */
typedef struct {
  const PxeFile *file;
  guint first, n_old, n_new;
  guint8
      *steps; /* n_old + 1 rows of n_new + 1: whether a common line, a new or an old one is next */
} Middle;
enum { STEP_SAME, STEP_NEW, STEP_OLD };

static gboolean
is_same(const PxeFile *file, guint old, guint new)
{
  return g_str_equal(file->read->pdata[old], pxe_file_line(file, new)->text);
}

static void
find_steps(Middle *middle)
{
  guint width = middle->n_new + 1;
  g_autofree guint *below = g_new0(guint, width), *row = g_new0(guint, width);
  middle->steps = g_malloc0((gsize)(middle->n_old + 1) * width);
  for (guint i = middle->n_old; i-- > 0;) {
    for (guint j = middle->n_new; j-- > 0;) {
      guint8 *step = &middle->steps[(gsize)i * width + j];
      gboolean same = is_same(middle->file, middle->first + i, middle->first + j);
      *step = same ? STEP_SAME : row[j + 1] > below[j] ? STEP_NEW : STEP_OLD;
      row[j] = same ? below[j + 1] + 1 : MAX(row[j + 1], below[j]);
    }
    guint *swap = below;
    below = row;
    row = swap;
  }
}

/* Where a line of the middle comes from, by the longest run of lines that both have in order. */
static void
trace(const Middle *middle)
{
  guint i = 0, j = 0, first = middle->first;
  while (j < middle->n_new) {
    PxeLine *line = pxe_file_line(middle->file, first + j);
    guint8 step = i == middle->n_old ? STEP_NEW : middle->steps[(gsize)i * (middle->n_new + 1) + j];
    if (step == STEP_SAME)
      line->origin = (gint)(first + i);
    else if (step == STEP_NEW)
      line->origin = -1;
    i += step != STEP_NEW;
    j += step != STEP_OLD;
  }
}

void
pxe_file_become(PxeFile *file, const char *text, gsize length)
{
  g_autoptr(PxeFile) other = pxe_file_new(file->path, text, length, NULL);
  g_assert(other != NULL);
  GArray *lines = file->lines;
  file->lines = other->lines;
  other->lines = lines;
  guint n_old = file->read->len, n_new = file->lines->len, first = 0, last = 0;
  while (first < MIN(n_old, n_new) && is_same(file, first, first))
    first++;
  while (last < MIN(n_old, n_new) - first && is_same(file, n_old - 1 - last, n_new - 1 - last))
    last++;
  for (guint i = 0; i < n_new; i++)
    pxe_file_line(file, i)->origin = i < first           ? (gint)i
                                     : i >= n_new - last ? (gint)(n_old - (n_new - i))
                                                         : -1;
  Middle middle = {file, first, n_old - first - last, n_new - first - last, NULL};
  if ((guint64)(middle.n_old + 1) * (middle.n_new + 1) > TABLE_MAX)
    return;
  find_steps(&middle);
  trace(&middle);
  g_free(middle.steps);
}
