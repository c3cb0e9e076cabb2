/* Both runs side by side. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "core/command.h"
#include "model/units.h"
#include "session/report.h"
#include "session/rerun_private.h"

/* A figure of either run or both: NULL where it is missing. */
typedef struct {
  const RerunFigure *first, *again;
} Pair;

static const RerunFigure *
any(const Pair *pair)
{
  return pair->first != NULL ? pair->first : pair->again;
}

/* The first run's in its order, then what only the second has. */
static GArray *
pairs_of(const Rerun *rerun)
{
  GArray *pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
  for (guint i = 0; i < rerun->first.figures->len; i++) {
    const RerunFigure *first = rerun->first.figures->pdata[i];
    Pair pair = {first, g_hash_table_lookup(rerun->again.by_name, first->name)};
    g_array_append_val(pairs, pair);
  }
  for (guint i = 0; i < rerun->again.figures->len; i++) {
    const RerunFigure *again = rerun->again.figures->pdata[i];
    Pair pair = {NULL, again};
    if (!g_hash_table_contains(rerun->first.by_name, again->name))
      g_array_append_val(pairs, pair);
  }
  return pairs;
}

/* As part of the first; NAN when there is nothing to compare. */
static double
difference(const Pair *pair)
{
  if (pair->first == NULL || pair->again == NULL ||
      strcmp(pair->first->unit, pair->again->unit) != 0)
    return NAN;
  double first = pair->first->value, again = pair->again->value;
  if (first == again || (isnan(first) && isnan(again)))
    return 0;
  return first != 0 ? (again - first) / fabs(first) : copysign(INFINITY, again);
}

static gboolean
is_within(const Pair *pair, double tolerance)
{
  return fabs(difference(pair)) <= tolerance; /* FALSE of NAN */
}

static guint
n_differing(const GArray *pairs, double tolerance)
{
  guint n = 0;
  for (guint i = 0; i < pairs->len; i++)
    n += is_within(&g_array_index(pairs, Pair, i), tolerance) ? 0 : 1;
  return n;
}

static const RerunExpect *
expect_at(const RerunFindings *findings, guint i)
{
  return i < findings->expects->len ? &g_array_index(findings->expects, RerunExpect, i) : NULL;
}

/* The expectation of AGAIN that is the I-th of FIRST: with the same text, as often said before. */
static const RerunExpect *
same_expect(const RerunFindings *first, guint i, const RerunFindings *again)
{
  const char *text = expect_at(first, i)->text;
  guint before = 0;
  for (guint k = 0; k < i; k++)
    before += strcmp(expect_at(first, k)->text, text) == 0 ? 1 : 0;
  const RerunExpect *expect;
  for (guint k = 0; (expect = expect_at(again, k)) != NULL; k++)
    if (strcmp(expect->text, text) == 0 && before-- == 0)
      return expect;
  return NULL;
}

/* Held the first time, and now not; `try expect` only compares. */
static gboolean
is_broken(const RerunExpect *first, const RerunExpect *again)
{
  return first->held && (again == NULL || !again->held) && !g_str_has_prefix(first->text, "try ");
}

static guint
n_broken(const Rerun *rerun)
{
  guint n = 0;
  for (guint i = 0; i < rerun->first.expects->len; i++)
    n += is_broken(expect_at(&rerun->first, i), same_expect(&rerun->first, i, &rerun->again)) ? 1
                                                                                              : 0;
  return n;
}

gboolean
rerun_command_lost(const RerunCommand *command)
{
  if (command->done_before == NEVER_DONE)
    return FALSE;
  return !command->done_again ||
         (command->verdict_again != VERDICT_OK && command->verdict_again != command->verdict);
}

static guint
n_lost(const Rerun *rerun)
{
  guint n = 0;
  for (guint i = 0; i < rerun->commands->len; i++)
    n += rerun_command_lost(rerun_command(rerun, i)) ? 1 : 0;
  return n;
}

int
rerun_status(const Rerun *rerun, double tolerance)
{
  g_autoptr(GArray) pairs = pairs_of(rerun);
  if (rerun->interrupted)
    return 130;
  if (rerun->lacks_consent)
    return 2;
  if (n_lost(rerun) > 0)
    return 3;
  return n_differing(pairs, tolerance) > 0 || n_broken(rerun) > 0 ? 1 : 0;
}

/* `+8.3 %`, `0.0 %`, `missing` */
static char *
difference_text(const Pair *pair)
{
  double part = difference(pair);
  if (isnan(part))
    return g_strdup(pair->first == NULL || pair->again == NULL ? "missing" : "another unit");
  if (isinf(part))
    return g_strdup("from 0");
  g_autofree char *percent = units_fixed(part * 100, 1);
  return g_strdup_printf("%s%s %%", part > 0 && strcmp(percent, "0.0") != 0 ? "+" : "", percent);
}

static char *
figure_text(const RerunFigure *figure)
{
  return figure != NULL ? report_value(figure->value, figure->unit) : g_strdup("-");
}

static void
print_figures(const GArray *pairs, double tolerance, FILE *out)
{
  int width = (int)strlen("figure");
  for (guint i = 0; i < pairs->len; i++)
    width = MAX(width, (int)strlen(any(&g_array_index(pairs, Pair, i))->name));
  if (pairs->len > 0)
    fprintf(out, "  %-*s %12s %12s  %s\n", width, "figure", "first", "again", "difference");
  for (guint i = 0; i < pairs->len; i++) {
    const Pair *pair = &g_array_index(pairs, Pair, i);
    g_autofree char *first = figure_text(pair->first);
    g_autofree char *again = figure_text(pair->again);
    g_autofree char *difference = difference_text(pair);
    fprintf(out, "%s %-*s %12s %12s  %10s\n", is_within(pair, tolerance) ? " " : "!", width,
            any(pair)->name, first, again, difference);
  }
}

/* The unit of the figure an expectation is about. */
static const char *
expect_unit(const RerunFindings *findings, const char *text)
{
  g_autoptr(Command) command = command_parse(text, NULL);
  const RerunFigure *figure = command != NULL && command->figure != NULL
                                  ? g_hash_table_lookup(findings->by_name, command->figure)
                                  : NULL;
  return figure != NULL ? figure->unit : "";
}

static void
print_expect(const RerunFindings *findings, const RerunExpect *expect, FILE *out)
{
  if (expect == NULL) {
    fprintf(out, " %22s", "not reached");
    return;
  }
  g_autofree char *value = report_value(expect->value, expect_unit(findings, expect->text));
  fprintf(out, " %12s %-9s", value, expect->held ? "held" : "NOT held");
}

static void
print_expects(const Rerun *rerun, FILE *out)
{
  const RerunExpect *first;
  if (rerun->first.expects->len > 0)
    fprintf(out, "\n  %22s %22s  expectation\n", "first", "again");
  for (guint i = 0; (first = expect_at(&rerun->first, i)) != NULL; i++) {
    const RerunExpect *again = same_expect(&rerun->first, i, &rerun->again);
    fputs(is_broken(first, again) ? "! " : "  ", out);
    print_expect(&rerun->first, first, out);
    print_expect(&rerun->again, again, out);
    fprintf(out, " %s\n", first->text);
  }
}

/* How a command ended the second time. Free with g_free. */
static char *
ended_again(const RerunCommand *command)
{
  return rerun_escaped(command->problem != NULL  ? command->problem
                       : command->done_again     ? verdict_name(command->verdict_again)
                       : command->cmd_again != 0 ? "not done"
                                                 : "not given");
}

static void
print_commands(const Rerun *rerun, FILE *out)
{
  for (guint i = 0; i < rerun->commands->len; i++) {
    const RerunCommand *command = rerun_command(rerun, i);
    if (!rerun_command_lost(command))
      continue;
    g_autofree char *said = rerun_escaped(command->said);
    g_autofree char *again = ended_again(command);
    fprintf(out, "! first %s, again %s: %s\n", verdict_name(command->verdict), again, said);
  }
}

void
rerun_print(const Rerun *rerun, double tolerance, FILE *out)
{
  g_autoptr(GArray) pairs = pairs_of(rerun);
  guint commands = rerun->commands->len, differing = n_differing(pairs, tolerance);
  g_autofree char *percent = units_fixed(tolerance * 100, 1);
  print_figures(pairs, tolerance, out);
  print_expects(rerun, out);
  fputs(pairs->len > 0 ? "\n" : "", out);
  print_commands(rerun, out);
  fprintf(out, "%u of %u commands as the first time\n", commands - n_lost(rerun), commands);
  if (pairs->len > 0)
    fprintf(out, "%u of %u figures within %s %%\n", pairs->len - differing, pairs->len, percent);
  if (n_broken(rerun) > 0)
    fprintf(out, "%u of %u expectations no longer held\n", n_broken(rerun),
            rerun->first.expects->len);
}

/* JSON has neither NAN nor infinity. */
static json_t *
json_of(double value)
{
  return isfinite(value) ? json_real(value) : json_null();
}

static json_t *
json_of_figures(const GArray *pairs, double tolerance)
{
  json_t *list = json_array();
  for (guint i = 0; i < pairs->len; i++) {
    const Pair *pair = &g_array_index(pairs, Pair, i);
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:o, s:o, s:o, s:b}", "figure", any(pair)->name, "unit",
                        any(pair)->unit, "first", json_of(pair->first ? pair->first->value : NAN),
                        "again", json_of(pair->again ? pair->again->value : NAN), "difference",
                        json_of(difference(pair)), "within", is_within(pair, tolerance)));
  }
  return list;
}

static json_t *
json_of_expects(const Rerun *rerun)
{
  json_t *list = json_array();
  const RerunExpect *first;
  for (guint i = 0; (first = expect_at(&rerun->first, i)) != NULL; i++) {
    const RerunExpect *again = same_expect(&rerun->first, i, &rerun->again);
    json_t *held = again != NULL ? json_boolean(again->held) : json_null();
    json_array_append_new(list, json_pack("{s:s, s:b, s:o, s:o, s:o}", "expect", first->text,
                                          "held_first", first->held, "held_again", held, "first",
                                          json_of(first->value), "again",
                                          json_of(again != NULL ? again->value : NAN)));
  }
  return list;
}

static json_t *
json_of_commands(const Rerun *rerun)
{
  json_t *list = json_array();
  for (guint i = 0; i < rerun->commands->len; i++) {
    const RerunCommand *command = rerun_command(rerun, i);
    gboolean done = command->done_before != NEVER_DONE;
    g_autofree char *said = rerun_escaped(command->said);
    g_autofree char *again = ended_again(command);
    json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:b}", "command", said, "first",
                                          done ? verdict_name(command->verdict) : "not done",
                                          "again", again, "lost", rerun_command_lost(command)));
  }
  return list;
}

void
rerun_print_json(const Rerun *rerun, double tolerance, FILE *out)
{
  g_autoptr(GArray) pairs = pairs_of(rerun);
  json_t *root =
      json_pack("{s:f, s:i, s:o, s:o, s:o}", "tolerance", tolerance, "status",
                rerun_status(rerun, tolerance), "figures", json_of_figures(pairs, tolerance),
                "expectations", json_of_expects(rerun), "commands", json_of_commands(rerun));
  json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
  fputc('\n', out);
  json_decref(root);
}
