#include "session/variants.h"

#include <math.h>
#include <string.h>

#include "core/command.h"

#define MOST_COLUMNS 8
#define CELL_WIDTH 10

typedef struct {
  gboolean given, held, tried; /* tried: `try expect`, only compared */
  gboolean unverified;         /* the caches of the load it is of */
  double value;
} Cell;

typedef struct {
  char *figure; /* without its variant */
  char *title;
  char *typed;    /* the value, as typed */
  char *expected; /* the same, a bound with its sign: `< 1 s` */
  gboolean bound; /* a value below or above it is no difference from what was expected */
  double wanted;
  Cell cells[MOST_COLUMNS];
  guint n;
} Row;

struct Variants {
  GPtrArray *rows;
  GPtrArray *columns;     /* variants, in the order they came */
  char *mark;             /* the last one, until an expectation took it */
  GHashTable *during;     /* label of a measurement → the load's it ran beside */
  GHashTable *unverified; /* labels of loads */
};

static void
row_free(gpointer data)
{
  Row *row = data;
  g_free(row->figure);
  g_free(row->title);
  g_free(row->typed);
  g_free(row->expected);
  g_free(row);
}

Variants *
variants_new(void)
{
  Variants *variants = g_new0(Variants, 1);
  variants->rows = g_ptr_array_new_with_free_func(row_free);
  variants->columns = g_ptr_array_new_with_free_func(g_free);
  variants->during = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  variants->unverified = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  return variants;
}

void
variants_free(Variants *variants)
{
  if (variants == NULL)
    return;
  g_ptr_array_unref(variants->rows);
  g_ptr_array_unref(variants->columns);
  g_hash_table_unref(variants->during);
  g_hash_table_unref(variants->unverified);
  g_free(variants->mark);
  g_free(variants);
}

/* -1 when there is no room for one more. */
static int
column_of(Variants *variants, const char *variant)
{
  for (guint i = 0; i < variants->columns->len; i++)
    if (strcmp(variants->columns->pdata[i], variant) == 0)
      return (int)i;
  if (variants->columns->len == MOST_COLUMNS)
    return -1;
  g_ptr_array_add(variants->columns, g_strdup(variant));
  return (int)variants->columns->len - 1;
}

static Row *
row_of(Variants *variants, const char *figure, const Command *command)
{
  static const char *const SIGNS[] = {
      [COMPARE_LT] = "< ",  [COMPARE_LE] = "<= ",  [COMPARE_GT] = "> ",
      [COMPARE_GE] = ">= ", [COMPARE_WITHIN] = "",
  };
  g_autofree char *expected = g_strconcat(SIGNS[command->comparison], command->value_text, NULL);
  for (guint i = 0; i < variants->rows->len; i++) {
    Row *row = variants->rows->pdata[i];
    if (strcmp(row->figure, figure) == 0 && strcmp(row->expected, expected) == 0)
      return row;
  }
  Row *row = g_new0(Row, 1);
  row->figure = g_strdup(figure);
  row->title = g_strdup(variants->mark != NULL ? variants->mark : figure);
  row->typed = g_strdup(command->value_text);
  row->expected = g_steal_pointer(&expected);
  row->bound = command->comparison != COMPARE_WITHIN;
  row->wanted = command->value.value;
  g_ptr_array_add(variants->rows, row);
  return row;
}

static gboolean
is_unverified(const Variants *variants, const char *label)
{
  const char *load = g_hash_table_lookup(variants->during, label);
  return g_hash_table_contains(variants->unverified, label) ||
         (load != NULL && g_hash_table_contains(variants->unverified, load));
}

static void
add_expectation(Variants *variants, const ExpectEvent *expect)
{
  g_autoptr(Command) command = command_parse(expect->text, NULL);
  if (command == NULL || command->verb != VERB_EXPECT)
    return;
  const char *dot = strchr(command->figure, '.');
  g_autofree char *label = g_strndup(command->figure, (gsize)(dot - command->figure));
  char *variant = strrchr(label, '_');
  if (variant == NULL || variant[1] == '\0')
    return;
  int column = column_of(variants, variant + 1);
  if (column < 0)
    return;
  gboolean unverified = is_unverified(variants, label);
  *variant = '\0';
  g_autofree char *figure = g_strconcat(label, dot, NULL);
  Row *row = row_of(variants, figure, command);
  row->n += row->cells[column].given ? 0 : 1;
  row->cells[column] = (Cell){TRUE, expect->held, command->try_only, unverified, expect->value};
}

static void
add_command(Variants *variants, const CommandEvent *said)
{
  g_autoptr(Command) command = command_parse(said->text, NULL);
  if (command == NULL)
    return;
  if (command->verb == VERB_MARK) {
    g_free(variants->mark);
    variants->mark = g_strdup(command->text);
  } else if (command->verb == VERB_MEASURE && command->target != NULL) {
    g_hash_table_replace(variants->during, g_strdup(command->label), g_strdup(command->target));
  }
}

void
variants_add(Variants *variants, const Event *event)
{
  if (event->kind == EVENT_COMMAND) {
    add_command(variants, &event->command);
  } else if (event->kind == EVENT_FIGURE && strcmp(event->figure.name, "unverified") == 0) {
    g_hash_table_add(variants->unverified, g_strdup(event->figure.label));
  } else if (event->kind == EVENT_EXPECT) {
    add_expectation(variants, &event->expect);
    g_clear_pointer(&variants->mark, g_free);
  }
}

gboolean
variants_has_table(const Variants *variants)
{
  for (guint i = 0; i < variants->rows->len; i++)
    if (((Row *)variants->rows->pdata[i])->n > 1)
      return TRUE;
  return FALSE;
}

/* `267 -1%`, in the unit the expectation was typed in, and a mark where it did not hold. Beside a
 * bound there are no percents, nor of nothing. */
static char *
cell_text(const Row *row, const Cell *cell)
{
  if (!cell->given)
    return g_strdup("");
  const char *mark = cell->held ? " " : cell->tried ? "!" : "X";
  if (isnan(cell->value))
    return g_strdup_printf("none %s", mark);
  const char *unit = strchr(row->typed, ' ');
  g_autofree char *value = unit != NULL ? units_print_in(cell->value, unit + 1)
                                        : units_print(cell->value, DIMENSION_COUNT);
  value[strcspn(value, " ")] = '\0';
  if (row->bound || row->wanted == 0)
    return g_strdup_printf("%s     %s", value, mark);
  int percent = (int)lround((cell->value / row->wanted - 1) * 100);
  return g_strdup_printf("%s%+4d%%%s", value, percent, mark);
}

/* As wide as they want it: a table of four columns has room in 80. */
static void
widths(const Variants *variants, int *titles, int *expected)
{
  *titles = (int)strlen("expected");
  *expected = 0;
  for (guint i = 0; i < variants->rows->len; i++) {
    const Row *row = variants->rows->pdata[i];
    *titles = MAX(*titles, (int)strlen(row->title));
    *expected = MAX(*expected, (int)strlen(row->expected));
  }
  *titles += 1;
}

/* Below ROW, where caches were not what they were said to be. */
static void
print_unverified(const Variants *variants, const Row *row, int width, FILE *out)
{
  g_autoptr(GString) line = g_string_new(NULL);
  gboolean any = FALSE;
  g_string_printf(line, "%-*s", width, "  caches");
  for (guint c = 0; c < variants->columns->len; c++) {
    any |= row->cells[c].unverified;
    g_string_append_printf(line, " %*s", CELL_WIDTH, row->cells[c].unverified ? "unverified" : "");
  }
  if (any)
    fprintf(out, "%s\n", g_strchomp(line->str));
}

void
variants_print(const Variants *variants, FILE *out)
{
  int titles, expected;
  widths(variants, &titles, &expected);
  fprintf(out, "%-*s", titles + expected, "expected");
  for (guint c = 0; c < variants->columns->len; c++)
    fprintf(out, "%*s%*s", c ? 3 : 1, "", CELL_WIDTH - 2, (char *)variants->columns->pdata[c]);
  fputs("\n", out);
  for (guint i = 0; i < variants->rows->len; i++) {
    const Row *row = variants->rows->pdata[i];
    g_autoptr(GString) line = g_string_new(NULL);
    g_string_printf(line, "%-*s%*s", titles, row->title, expected, row->expected);
    for (guint c = 0; c < variants->columns->len; c++) {
      g_autofree char *text = cell_text(row, &row->cells[c]);
      g_string_append_printf(line, " %*s", CELL_WIDTH, text);
    }
    fprintf(out, "%s\n", g_strchomp(line->str));
    print_unverified(variants, row, titles + expected, out);
  }
  fputs("% difference; ! known mismatch, only compared; X expected to hold and did not\n", out);
}
