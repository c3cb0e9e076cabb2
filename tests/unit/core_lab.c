#include "core_lab.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/nodeset.h"
#include "model/units.h"

static char *
fold(const Lab *lab, const NodeId *nodes, guint n)
{
  g_autofree const char **names = g_new(const char *, n + 1);
  for (guint i = 0; i < n; i++)
    names[i] = lab->layout->nodes[nodes[i]].name;
  return nodeset_fold_names(names, n);
}

static void
append_time(GString *out, gint64 t)
{
  g_autofree char *text = units_fixed((double)t / 1e9, 3);
  char *end = text + strlen(text);
  while (end[-1] == '0')
    *--end = '\0';
  if (end[-1] == '.')
    *--end = '\0';
  g_string_append_printf(out, " until %s s", text);
}

static void
append_request(Lab *lab, const RequestEvent *request)
{
  g_autofree char *nodes = fold(lab, request->nodes, request->n_nodes);
  g_string_append_printf(lab->out, "request %u %s %s %s cmd=%u", request->id,
                         operation_name(request->operation), request->backend, nodes, request->cmd);
  for (guint i = 0; i < request->n_arguments; i++)
    g_string_append_printf(lab->out, " %s=%s", request->arguments[i].key,
                           request->arguments[i].value);
  if (request->deadline != TIME_NEVER)
    append_time(lab->out, request->deadline);
}

static void
append_plan(Lab *lab, const PlanEvent *plan)
{
  g_string_append_printf(lab->out, "plan %u:", plan->cmd);
  for (guint i = 0; i < plan->n_parts; i++) {
    const PlanPart *part = &plan->parts[i];
    g_autofree char *nodes = fold(lab, part->nodes, part->n_nodes);
    g_string_append_printf(lab->out, " %s %s by %s;", part->action, nodes, part->backend);
  }
  g_string_append_printf(lab->out, " %u seats", plan->seats);
  g_autofree char *protected_nodes = fold(lab, plan->protected_nodes, plan->n_protected);
  g_autofree char *in_use = fold(lab, plan->in_use, plan->n_in_use);
  if (plan->n_protected)
    g_string_append_printf(lab->out, "; protected %s", protected_nodes);
  if (plan->n_in_use)
    g_string_append_printf(lab->out, "; in use %s", in_use);
  g_autofree char *reserved = fold(lab, plan->reserved, plan->n_reserved);
  if (plan->n_reserved)
    g_string_append_printf(lab->out, "; reserved %s", reserved);
  g_autofree char *dark = fold(lab, plan->co_victims, plan->n_co_victims);
  g_autofree char *spared = fold(lab, plan->spared, plan->n_spared);
  if (plan->n_co_victims)
    g_string_append_printf(lab->out, "; dark %s", dark);
  if (plan->n_spared)
    g_string_append_printf(lab->out, "; spared %s", spared);
  g_auto(GStrv) lines = g_strsplit(plan->difference ? plan->difference : "", "\n", -1);
  g_autofree char *difference = g_strjoinv("|", lines);
  if (plan->difference)
    g_string_append_printf(lab->out, "; %s", difference);
}

static void
append_figure(Lab *lab, const FigureEvent *figure)
{
  g_autofree char *value = units_fixed(figure->value, 3);
  g_string_append_printf(lab->out, "figure %s.%s %s%s%s n=%u runs=%u", figure->label, figure->name,
                         value, *figure->unit ? " " : "", figure->unit, figure->n, figure->runs);
}

static void
take_output(const Event *event, gpointer data)
{
  Lab *lab = data;
  assert_int_equal(event->t, lab->t);
  switch (event->kind) {
  case EVENT_REQUEST:
    append_request(lab, &event->request);
    break;
  case EVENT_CANCEL:
    g_string_append_printf(lab->out, "cancel %u", event->cancel.request);
    break;
  case EVENT_DONE:
    g_string_append_printf(lab->out, "done %u %s", event->done.cmd,
                           verdict_name(event->done.verdict));
    break;
  case EVENT_NOTE:
    g_string_append_printf(
        lab->out, "note %s%s%s: %s", severity_name(event->note.severity),
        event->note.node == NODE_NONE ? "" : " ",
        event->note.node == NODE_NONE ? "" : lab->layout->nodes[event->note.node].name,
        event->note.text);
    break;
  case EVENT_FIGURE:
    append_figure(lab, &event->figure);
    break;
  case EVENT_EXPECT: {
    g_autofree char *value = units_fixed(event->expect.value, 3);
    g_string_append_printf(lab->out, "expect %s %s: %s", event->expect.held ? "held" : "not", value,
                           event->expect.text);
    break;
  }
  case EVENT_PLAN:
    append_plan(lab, &event->plan);
    break;
  default:
    fail_msg("core said something that is no output: %s", event_kind_name(event->kind));
  }
  g_string_append_c(lab->out, '\n');
}

static void
feed(Lab *lab, Event *event)
{
  event->t = lab->t;
  core_step(lab->state, event, take_output, lab);
}

void
lab_settle(Lab *lab)
{
  for (guint i = 0; core_deadline(lab->state) <= lab->t; i++) {
    Event wake = {.kind = EVENT_WAKE};
    assert_true(i < 1000); /* a deadline that a wake does not move would never end */
    feed(lab, &wake);
  }
}

void
lab_reach(Lab *lab, double seconds)
{
  gint64 t = (gint64)llround(seconds * 1e9);
  lab_settle(lab);
  while (core_deadline(lab->state) < t) {
    lab->t = core_deadline(lab->state);
    lab_settle(lab);
  }
  lab->t = t;
}

void
lab_at(Lab *lab, double seconds)
{
  lab_reach(lab, seconds);
  lab_settle(lab);
}

Lab *
lab_new(const char *file, const CoreOptions *options)
{
  g_autofree char *text = NULL;
  gsize length = 0;
  g_autoptr(GError) error = NULL;
  const char *top = g_getenv("SRC");
  g_autofree char *path = top ? g_build_filename(top, file, NULL) : g_strdup(file);
  Lab *lab = g_new0(Lab, 1);
  if (g_file_get_contents(path, &text, &length, &error))
    lab->layout = layout_parse(file, text, length, &error);
  if (!lab->layout)
    fail_msg("%s", error->message);
  lab->state = core_new(lab->layout, options);
  lab->out = g_string_new(NULL);
  return lab;
}

Lab *
lab_two_seats(const CoreOptions *options)
{
  Lab *lab = lab_new("tests/unit/samples/two-seats.yaml", options);
  static const struct {
    const char *name, *power;
  } nodes[] = {{"a01", "off"}, {"a02", "off"}, {"s1", "on"}};
  lab_link(lab, "sim", TRUE, "simulated lab");
  for (guint i = 0; i < G_N_ELEMENTS(nodes); i++) {
    lab_see(lab, nodes[i].name, "power", nodes[i].power);
    lab_answer(lab, 1, nodes[i].name, VERDICT_OK, "");
  }
  g_string_truncate(lab->out, 0);
  return lab;
}

void
lab_free(Lab *lab)
{
  if (!lab)
    return;
  core_free(lab->state);
  layout_free(lab->layout);
  g_string_free(lab->out, TRUE);
  g_free(lab);
}

void
lab_link(Lab *lab, const char *backend, gboolean up, const char *text)
{
  Event event = {.kind = EVENT_LINK, .link = {backend, up, text}};
  feed(lab, &event);
}

guint32
lab_confirm(Lab *lab, const char *text, int seats)
{
  lab_settle(lab);
  Event event = {.kind = EVENT_COMMAND, .command = {++lab->cmd, text, text, seats}};
  feed(lab, &event);
  return lab->cmd;
}

guint32
lab_say(Lab *lab, const char *text)
{
  return lab_confirm(lab, text, -1);
}

NodeId
lab_node(const Lab *lab, const char *name)
{
  NodeId node = layout_find(lab->layout, name);
  assert_true(node != NODE_NONE);
  return node;
}

void
lab_see(Lab *lab, const char *node, const char *fact, const char *value)
{
  lab_see_by(lab, node, fact, value, "sim");
}

void
lab_see_by(Lab *lab, const char *node, const char *fact, const char *value, const char *source)
{
  Event event = {.kind = EVENT_OBSERVE, .observe = {lab_node(lab, node), fact, value, source}};
  feed(lab, &event);
}

void
lab_answer(Lab *lab, guint32 request, const char *node, Verdict verdict, const char *text)
{
  Event event = {.kind = EVENT_RESULT, .result = {request, lab_node(lab, node), verdict, text}};
  feed(lab, &event);
}

void
lab_line(Lab *lab, guint32 request, const char *node, const char *stream, const char *text)
{
  Event event = {.kind = EVENT_LINE, .line = {request, lab_node(lab, node), stream, text}};
  feed(lab, &event);
}

void
lab_samples(Lab *lab, const char *const *columns, const gint64 *values, guint n)
{
  Event event = {.kind = EVENT_SAMPLES, .samples = {"sim", columns, values, n}};
  feed(lab, &event);
}

void
lab_expect_only(Lab *lab, const char *prefix, const char *lines)
{
  g_auto(GStrv) all = g_strsplit(lab->out->str, "\n", -1);
  g_autoptr(GString) kept = g_string_new(NULL);
  for (guint i = 0; all[i]; i++)
    if (*all[i] && g_str_has_prefix(all[i], prefix))
      g_string_append_printf(kept, "%s\n", all[i]);
  g_string_truncate(lab->out, 0);
  assert_string_equal(kept->str, lines);
}

void
lab_expect(Lab *lab, const char *lines)
{
  lab_expect_only(lab, "", lines);
}

Stage
lab_stage(const Lab *lab, const char *name)
{
  int stage = layout_find_stage(lab->layout, name);
  g_assert_cmpint(stage, >, 0);
  return (Stage)stage;
}

void
lab_see_and_answer(Lab *lab, guint32 request, const char *node, const char *power)
{
  lab_see(lab, node, "power", power);
  lab_answer(lab, request, node, VERDICT_OK, "");
}

void
lab_answer_both(Lab *lab, guint32 request)
{
  lab_answer(lab, request, "a01", VERDICT_OK, "");
  lab_answer(lab, request, "a02", VERDICT_OK, "");
}

void
lab_boot_both(Lab *lab, double t, const char *command, guint32 first)
{
  lab_at(lab, t);
  lab_say(lab, command);
  lab_answer_both(lab, first);
  lab_settle(lab);
  lab_see_and_answer(lab, first + 1, "a01", "on");
  lab_see_and_answer(lab, first + 1, "a02", "on");
}
