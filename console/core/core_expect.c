#include "core/core_private.h"

#include <math.h>
#include <string.h>

static Dimension
dimension_of(const char *unit)
{
  if (g_str_equal(unit, "s"))
    return DIMENSION_TIME;
  if (g_str_equal(unit, "bit/s"))
    return DIMENSION_RATE;
  return g_str_equal(unit, "B") ? DIMENSION_SIZE : DIMENSION_COUNT;
}

static void
emit_figure(CoreState *state, const char *label, const char *name, Figure *figure)
{
  Event event = {
      .kind = EVENT_FIGURE,
      .figure = {label, name, figure->value, figure->unit, figure->n, figure->runs},
  };
  core_emit(state, &event);
}

/* ` (n 16)`, or ` (n 96, 6 runs)`. */
static void
append_n(GString *text, const Figure *figure)
{
  g_string_append_printf(text, " (n %u", figure->n);
  if (figure->runs > 1)
    g_string_append_printf(text, ", %u runs", figure->runs);
  g_string_append_c(text, ')');
}

void
figure_values(CoreState *state, const char *label, const char *name, const char *unit,
              const double *values, guint n, const char *statistics)
{
  figures_add_values(state->figures, label, name, unit, values, n);
  g_auto(GStrv) words = g_strsplit(statistics, " ", -1);
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text, "%s.%s", label, name);
  Figure figure = {0};
  for (guint i = 0; words[i]; i++) {
    g_autofree char *full = g_strconcat(name, ".", words[i], NULL);
    if (!figures_get(state->figures, label, full, &figure))
      continue;
    emit_figure(state, label, full, &figure);
    g_autofree char *value = units_print(figure.value, dimension_of(unit));
    g_string_append_printf(text, "%s %s %s", i ? "," : "", words[i], value);
  }
  append_n(text, &figure);
  log_add(state, SEVERITY_INFO, NODE_NONE, "=", text->str);
}

void
figure_one(CoreState *state, const char *label, const char *name, const char *unit, double value,
           guint n)
{
  figures_add(state->figures, label, name, unit, value, n);
  Figure figure = {0};
  if (!figures_get(state->figures, label, name, &figure))
    return;
  emit_figure(state, label, name, &figure);
  g_autofree char *number = units_print(figure.value, dimension_of(unit));
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text, "%s.%s %s", label, name, number);
  append_n(text, &figure);
  log_add(state, SEVERITY_INFO, NODE_NONE, "=", text->str);
}

static gboolean
holds(const Command *command, double found)
{
  double wanted = command->value.value;
  double slack = command->tolerance > 0 ? command->tolerance * fabs(wanted) : 0;
  switch (command->comparison) {
  case COMPARE_LT:
    return found < wanted + slack;
  case COMPARE_LE:
    return found <= wanted + slack;
  case COMPARE_GT:
    return found > wanted - slack;
  case COMPARE_GE:
    return found >= wanted - slack;
  case COMPARE_WITHIN:
    return fabs(found - wanted) <= slack;
  }
  g_assert_not_reached();
}

static char *
missing_text(const CoreState *state, const char *label, const char *name)
{
  g_autofree char *nearest = figures_nearest(state->figures, label, name);
  if (nearest)
    return g_strdup_printf("there is no figure %s.%s; did you mean %s?", label, name, nearest);
  return g_strdup_printf("there is no figure %s.%s", label, name);
}

/* NAN with *WHY when there is nothing to compare. */
static double
find_value(const CoreState *state, const Command *command, char **why)
{
  const char *dot = strchr(command->figure, '.');
  g_autofree char *label = g_strndup(command->figure, dot ? (gsize)(dot - command->figure) : 0);
  const char *name = dot ? dot + 1 : command->figure;
  Figure figure;
  if (!figures_get(state->figures, label, name, &figure)) {
    *why = missing_text(state, label, name);
    return NAN;
  }
  Dimension dimension = dimension_of(figure.unit);
  if (dimension == command->value.dimension)
    return figure.value;
  *why = dimension == DIMENSION_COUNT
             ? g_strdup_printf("%s is a plain number, without unit", command->figure)
             : g_strdup_printf("%s is in %s", command->figure, units_base_name(dimension));
  return NAN;
}

void
expect_step(CoreState *state, const CommandEvent *event, const Command *command)
{
  g_autofree char *why = NULL;
  const char *text = event->text;
  double found = find_value(state, command, &why);
  gboolean held = !isnan(found) && holds(command, found);
  Event output = {.kind = EVENT_EXPECT, .expect = {text, held, found}};
  core_emit(state, &output);
  g_autofree char *value = isnan(found) ? NULL : units_print(found, command->value.dimension);
  g_autofree char *line =
      g_strdup_printf("%s: %s, %s", text, held ? "held" : "did not hold", why ? why : value);
  Severity missed = command->try_only ? SEVERITY_WARNING : SEVERITY_ERROR;
  log_add(state, held ? SEVERITY_INFO : missed, NODE_NONE, ":", line);
  if (why)
    core_note(state, SEVERITY_ERROR, NODE_NONE, "%s", why);
  core_done(state, event->cmd, event->text, VERDICT_OK);
}
