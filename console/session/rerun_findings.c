#include "session/rerun_private.h"

#include <string.h>

char *
rerun_escaped(const char *text)
{
  GString *out = g_string_new(NULL);
  transcript_escape(out, text, strlen(text));
  return g_string_free(out, FALSE);
}

static void
figure_free(gpointer data)
{
  RerunFigure *figure = data;
  g_free(figure->name);
  g_free(figure->unit);
  g_free(figure);
}

static void
expect_clear(gpointer data)
{
  g_free(((RerunExpect *)data)->text);
}

void
rerun_findings_init(RerunFindings *findings)
{
  findings->figures = g_ptr_array_new_with_free_func(figure_free);
  findings->by_name = g_hash_table_new(g_str_hash, g_str_equal);
  findings->expects = g_array_new(FALSE, FALSE, sizeof(RerunExpect));
  g_array_set_clear_func(findings->expects, expect_clear);
}

void
rerun_findings_clear(RerunFindings *findings)
{
  g_hash_table_unref(findings->by_name);
  g_ptr_array_unref(findings->figures);
  g_array_unref(findings->expects);
}

static void
add_figure(RerunFindings *findings, const FigureEvent *event)
{
  g_autofree char *plain = g_strconcat(event->label, ".", event->name, NULL);
  g_autofree char *name = rerun_escaped(plain);
  RerunFigure *figure = g_hash_table_lookup(findings->by_name, name);
  if (figure == NULL) {
    figure = g_new0(RerunFigure, 1);
    figure->name = g_steal_pointer(&name);
    g_ptr_array_add(findings->figures, figure);
    g_hash_table_insert(findings->by_name, figure->name, figure);
  }
  g_free(figure->unit);
  figure->unit = rerun_escaped(event->unit);
  figure->value = event->value;
}

void
rerun_findings_add(RerunFindings *findings, const Event *event)
{
  if (event->kind == EVENT_FIGURE) {
    add_figure(findings, &event->figure);
  } else if (event->kind == EVENT_EXPECT) {
    RerunExpect expect = {rerun_escaped(event->expect.text), event->expect.held,
                          event->expect.value};
    g_array_append_val(findings->expects, expect);
  }
}
