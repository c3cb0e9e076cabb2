#include "ui/view.h"

#include <string.h>

/* Below this many columns the header leaves out what another place tells as well. */
#define NARROW 60
#define CLOCK_FROM 72
/* Rows that a long sentence leaves to the view and its header; a plan that waits for consent leaves
 * the header alone. */
#define LEFT_TO_VIEW 4
#define LEFT_BY_PLAN 1

Style
frame_severity_style(Severity severity)
{
  return severity == SEVERITY_ERROR     ? STYLE_ERROR
         : severity == SEVERITY_WARNING ? STYLE_WARNING
                                        : STYLE_NORMAL;
}

static const char *
sign(const Canvas *canvas, const char *text, const char *ascii)
{
  return canvas->ascii ? ascii : text;
}

void
frame_draw_rule(Canvas *canvas, int row, int column, int columns, Style style, const char *title,
                Style right_style, const char *right)
{
  canvas_fill(canvas, row, column, columns, STYLE_FRAME, sign(canvas, "─", "-"));
  int used = canvas_printf(canvas, row, column + 1, columns - 2, style, " %s ", title);
  int width = canvas_text_width(right) + 2;
  if (*right && used + width + 2 <= columns)
    canvas_printf(canvas, row, column + columns - 1 - width, width, right_style, " %s ", right);
}

void
frame_draw_box(Canvas *canvas, Area area)
{
  int bottom = area.row + area.rows - 1, right = area.column + area.columns - 1;
  const char *const horizontal = sign(canvas, "─", "-"), *vertical = sign(canvas, "│", "|");
  canvas_fill(canvas, area.row, area.column, area.columns, STYLE_FRAME, horizontal);
  canvas_fill(canvas, bottom, area.column, area.columns, STYLE_FRAME, horizontal);
  for (int row = area.row + 1; row < bottom; row++) {
    canvas_put(canvas, row, area.column, 1, STYLE_FRAME, vertical);
    canvas_put(canvas, row, right, 1, STYLE_FRAME, vertical);
  }
  canvas_put(canvas, area.row, area.column, 1, STYLE_FRAME, sign(canvas, "┌", "+"));
  canvas_put(canvas, area.row, right, 1, STYLE_FRAME, sign(canvas, "┐", "+"));
  canvas_put(canvas, bottom, area.column, 1, STYLE_FRAME, sign(canvas, "└", "+"));
  canvas_put(canvas, bottom, right, 1, STYLE_FRAME, sign(canvas, "┘", "+"));
}

void
frame_draw_heading(Canvas *canvas, Area area, int row, Style style, const char *title,
                   Style right_style, const char *right)
{
  gboolean top = row == area.row;
  frame_draw_rule(canvas, row, area.column, area.columns, style, title, right_style, right);
  canvas_put(canvas, row, area.column, 1, STYLE_FRAME, sign(canvas, top ? "┌" : "├", "+"));
  canvas_put(canvas, row, area.column + area.columns - 1, 1, STYLE_FRAME,
             sign(canvas, top ? "┐" : "┤", "+"));
}

static char *
clock_text(gint64 t)
{
  gint64 seconds = t / TIME_SECOND;
  return g_strdup_printf("%02" G_GINT64_FORMAT ":%02" G_GINT64_FORMAT ":%02" G_GINT64_FORMAT,
                         seconds / 3600, seconds / 60 % 60, seconds % 60);
}

static char *
time_text(const Ui *ui, const Canvas *canvas)
{
  const HostStatus *status = &ui->status;
  g_autofree char *now = clock_text(status->now);
  g_autofree char *end =
      status->end >= 0 && canvas->columns >= NARROW ? clock_text(status->end) : NULL;
  char speed[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(speed, sizeof speed, "%.3g", status->speed);
  return g_strdup_printf("%s%s%s %s%s", now, end ? "/" : "", end ? end : "",
                         status->paused ? "paused" : sign(canvas, "×", "x"),
                         status->paused ? "" : speed);
}

static const char *
recording_text(const HostStatus *status)
{
  if (status->replay)
    return status->following ? "FOLLOW" : "REPLAY";
  return status->record_error ? "NO REC!" : status->recording ? "REC" : "no rec";
}

/* Puts TEXT in front of what stands at *AT. */
static void
put_before(Canvas *canvas, int *at, int gap, Style style, const char *text)
{
  if (*text == '\0')
    return;
  *at -= canvas_text_width(text) + gap;
  canvas_put(canvas, 0, *at, -1, style, text);
}

void
frame_draw_header(const Ui *ui, Canvas *canvas)
{
  const HostStatus *status = &ui->status;
  const NodeId *clients;
  guint n;
  layout_group(state_layout(ui->state), "all", &clients, &n);
  StateCounts counts = state_counts(ui->state, clients, n);
  gboolean narrow = canvas->columns < NARROW;
  int gap = narrow ? 1 : 2, at = canvas->columns - 1;
  g_autofree char *time = time_text(ui, canvas);
  g_autofree char *on = g_strdup_printf("%u on", counts.on);
  g_autofree char *off = g_strdup_printf("%u off", counts.off);
  g_autofree char *unknown = counts.unknown ? g_strdup_printf("%u ?", counts.unknown) : NULL;
  g_autofree char *failed = g_strdup_printf("%u err", counts.failed);

  at += gap; /* the first has none behind it */
  put_before(canvas, &at, gap, STYLE_NORMAL,
             canvas->columns < CLOCK_FROM ? "" : status->wall_clock);
  put_before(canvas, &at, gap, STYLE_NORMAL, time);
  put_before(canvas, &at, gap, status->record_error ? STYLE_ERROR : STYLE_NORMAL,
             recording_text(status));
  at -= narrow ? 0 : 1;
  put_before(canvas, &at, gap, counts.failed ? STYLE_ERROR : STYLE_NORMAL, failed);
  put_before(canvas, &at, gap, STYLE_WARNING, unknown ? unknown : "");
  put_before(canvas, &at, gap, STYLE_NORMAL, narrow ? "" : off);
  put_before(canvas, &at, gap, STYLE_NORMAL, on);
  int used = canvas_put(canvas, 0, 1, 6, status->real ? STYLE_REAL : STYLE_OFF,
                        status->real ? " REAL " : "sim");
  if (at > used + 5 + 6) /* less than six letters of it say nothing */
    canvas_put(canvas, 0, used + 3, at - used - 5, STYLE_NORMAL, status->lab);
}

/* What the line says: in this order a plan that waits for consent, the answer to what was said, a
 * message, the state's sentence, why nothing is recorded, a hint to who has pressed no key yet. */
static char *
sentence_text(const Ui *ui, const Canvas *canvas, Style *style)
{
  Severity severity = SEVERITY_INFO;
  *style = STYLE_WARNING;
  if (ui_asks_consent(ui))
    return g_strdup(state_pending(ui->state)->plan);
  g_autofree char *sentence = NULL;
  const LogEntry *answer = answer_entry(ui);
  if (answer) {
    severity = answer->severity;
    sentence = g_strdup(answer->text);
  } else if (ui->message) {
    severity = ui->message_severity;
    sentence = g_strdup(ui->message);
  } else {
    sentence = state_sentence(ui->state, &severity);
    if (*sentence == '\0' && ui->status.record_error) {
      severity = SEVERITY_ERROR;
      g_free(sentence);
      sentence = g_strdup(ui->status.record_error);
    }
  }
  if (*sentence == '\0' && !ui->touched && ui->ops->say) {
    *style = STYLE_NORMAL;
    return g_strdup("b offers to boot the block, Tab goes to the next, : takes commands, F1 helps");
  }
  const char *mark = severity == SEVERITY_ERROR     ? "! "
                     : severity == SEVERITY_WARNING ? sign(canvas, "▲ ", "^ ")
                                                    : "";
  *style = frame_severity_style(severity);
  return g_strconcat(mark, sentence, NULL);
}

static void
add_difference(GPtrArray *lines, const char *difference)
{
  g_auto(GStrv) more = g_strsplit(difference ? difference : "", "\n", -1);
  for (char **line = more; *line && **line; line++)
    g_ptr_array_add(lines, g_strdup(*line));
}

/* Whole, as far as there is room: who gives a number must have seen what it is for, or that there
 * is more of it. */
int
frame_draw_sentence(const Ui *ui, Canvas *canvas, int row)
{
  Style style;
  g_autofree char *text = sentence_text(ui, canvas, &style);
  g_autoptr(GPtrArray) lines = text_wrap(text, canvas->columns - 2);
  if (ui_asks_consent(ui))
    add_difference(lines, state_pending(ui->state)->difference);
  int n = MIN((int)lines->len, row - (ui_asks_consent(ui) ? LEFT_BY_PLAN : LEFT_TO_VIEW));
  for (int i = 0; i < n; i++)
    canvas_put(canvas, row - n + 1 + i, 1, canvas->columns - 2, style, lines->pdata[i]);
  if (n < (int)lines->len)
    canvas_put_right(canvas, row, canvas->columns - 6, 5, style, sign(canvas, " …", " ..."));
  return n;
}

/* A long line is shown from where its cursor stays in sight. */
static void
draw_typed(const Prompt *prompt, Canvas *canvas, int row, const char *lead)
{
  const char *text = prompt_text(prompt);
  int lead_width = canvas_put(canvas, row, 1, -1, STYLE_NORMAL, lead);
  int room = MAX(1, canvas->columns - lead_width - 2);
  const char *cursor = g_utf8_offset_to_pointer(text, (glong)prompt_cursor(prompt));
  const char *start = text;
  g_autofree char *before = g_strndup(start, (gsize)(cursor - start));
  const char *shown = before;
  while (canvas_text_width(shown) >= room && *shown)
    shown = g_utf8_next_char(shown);
  start += shown - before;
  canvas_put(canvas, row, 1 + lead_width, room, STYLE_NORMAL, start);
  canvas->cursor_row = row;
  canvas->cursor_column = 1 + lead_width + canvas_text_width(shown);
}

static void
draw_working(const Ui *ui, Canvas *canvas, int row)
{
  guint waiting = ui->status.waiting;
  g_autofree char *more = waiting ? g_strdup_printf(", %u more to come", waiting) : g_strdup("");
  canvas_printf(canvas, row, 1, -1, STYLE_OFF, "working%s; Ctrl-C stops what has not been sent",
                more);
}

void
frame_draw_prompt(const Ui *ui, Canvas *canvas, int row)
{
  if (prompt_is_open(ui->place)) { /* of a replay, which may show a question that is not its own */
    draw_typed(ui->place, canvas, row, "go to: ");
  } else if (ui_asks_consent(ui)) {
    g_autofree char *lead =
        g_strdup_printf("Type %u to go on, Esc leaves it: ", state_pending(ui->state)->seats);
    if (ui->ops->say)
      draw_typed(ui->consent, canvas, row, lead);
    else
      canvas_put(canvas, row, 1, -1, STYLE_NORMAL, lead);
  } else if (prompt_is_open(ui->line)) {
    draw_typed(ui->line, canvas, row, ":");
  } else if (prompt_is_open(ui->find)) {
    draw_typed(ui->find, canvas, row, "/");
  } else if (ui->number[0]) {
    canvas_printf(canvas, row, 1, -1, STYLE_NORMAL, "seat %s", ui->number);
  } else if (ui->status.busy) {
    draw_working(ui, canvas, row);
  }
}
