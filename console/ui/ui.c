#include "ui/view.h"

#include "core/complete.h"
#include "model/units.h"

#include <string.h>

#define SMALLEST_ROWS 10
#define SMALLEST_COLUMNS 40
#define VIEW_ROWS 4    /* in fewer no view is drawn: a long plan stands there */
#define CHOICES_MAX 40 /* of Tab, as many as are shown */

const View *const ui_views[VIEW_N] = {&view_help, &view_lab, &view_boot, &view_load,
                                      &view_net,  &view_log, &view_card};

Ui *
ui_new(const CoreState *state, const HostOps *ops, gpointer host)
{
  Ui *ui = g_new0(Ui, 1);
  ui->state = state;
  ui->ops = ops;
  ui->host = host;
  ui->view = ui->from[VIEW_HELP] = ui->from[VIEW_CARD] = VIEW_LAB;
  ui->page = 1;
  ui->whatif_era = -1;
  ui->said_at = NOTHING_SAID;
  ui->line = prompt_new();
  ui->consent = prompt_new();
  ui->find = prompt_new();
  ui->place = prompt_new();
  ui->found = NOTHING_FOUND;
  ui->spots = g_array_new(FALSE, FALSE, sizeof(Spot));
  ui->spots_before = g_array_new(FALSE, FALSE, sizeof(Spot));
  ui->link_leads_out = traffic_links_out(state_layout(state));
  select_init(ui);
  return ui;
}

void
ui_free(Ui *ui)
{
  if (!ui)
    return;
  g_array_unref(ui->spots);
  g_array_unref(ui->spots_before);
  prompt_free(ui->line);
  prompt_free(ui->consent);
  prompt_free(ui->find);
  prompt_free(ui->place);
  g_free(ui->wanted);
  g_free(ui->said_path);
  select_clear(ui);
  g_free(ui->link_leads_out);
  g_free(ui->message);
  g_free(ui);
}

void
ui_set_state(Ui *ui, const CoreState *state)
{
  ui->state = state;
}

const char *
ui_view_name(guint i, const char **about)
{
  if (i >= VIEW_CARD) /* which belongs to a seat, and is the last */
    return NULL;
  if (about)
    *about = ui_views[i]->about;
  return ui_views[i]->name;
}

gboolean
ui_set_view(Ui *ui, const char *name)
{
  for (ViewIndex i = 0; i < VIEW_CARD; i++) {
    if (g_str_equal(ui_views[i]->name, name)) {
      ui->view = i;
      return TRUE;
    }
  }
  return FALSE;
}

void
ui_message(Ui *ui, Severity severity, const char *text)
{
  g_free(ui->message);
  ui->message = g_strdup(text);
  ui->message_severity = severity;
}

gint64
ui_now(const Ui *ui)
{
  return MAX(ui->status.now, state_now(ui->state));
}

void
ui_scroll(Ui *ui, Move move, gboolean backwards)
{
  int sense = backwards ? -1 : 1, *scroll = &ui->scroll[ui->view];
  int first = backwards ? G_MAXINT / 2 : 0, last = backwards ? 0 : G_MAXINT / 2;
  switch (move) {
  case MOVE_UP:
    *scroll -= sense;
    break;
  case MOVE_DOWN:
    *scroll += sense;
    break;
  case MOVE_PAGE_UP:
    *scroll -= sense * ui->page;
    break;
  case MOVE_PAGE_DOWN:
    *scroll += sense * ui->page;
    break;
  case MOVE_HOME:
    *scroll = first;
    break;
  case MOVE_END:
    *scroll = last;
    break;
  default:
    break;
  }
  *scroll = MAX(*scroll, 0);
}

/* A replay shows the question as well; only a session can be answered. */
gboolean
ui_asks_consent(const Ui *ui)
{
  const PendingConsent *pending = state_pending(ui->state);
  return pending->text && pending->cmd != ui->consent_left;
}

static gboolean
takes_consent(const Ui *ui)
{
  return ui->ops->say && ui_asks_consent(ui);
}

/* The line for consent opens with the plan, once for each command that asks. */
static void
look_for_consent(Ui *ui)
{
  guint32 asking = takes_consent(ui) ? state_pending(ui->state)->cmd : 0;
  if (asking == ui->consent_open)
    return;
  ui->consent_open = asking;
  if (asking)
    prompt_open(ui->consent, "");
  else
    prompt_close(ui->consent);
}

static void
submit(Ui *ui, const char *line, gint confirm)
{
  g_autoptr(GError) error = NULL;
  answer_await(ui, line);
  if (ui->ops->say(ui->host, line, confirm, &error))
    return;
  answer_forget(ui);
  ui_message(ui, SEVERITY_ERROR, error->message);
}

static void
consent_key(Ui *ui, UiKey key)
{
  const PendingConsent *pending = state_pending(ui->state);
  PromptResult result = prompt_key(ui->consent, key);
  guint64 number;
  if (result == PROMPT_OPEN)
    return;
  ui->consent_left = pending->cmd;
  if (result == PROMPT_CANCELLED) {
    ui_message(ui, SEVERITY_INFO, "left as it was; nothing was sent");
  } else if (!units_parse_count(prompt_text(ui->consent), G_MAXINT32, &number, NULL)) {
    ui_message(ui, SEVERITY_INFO, "that is not the number of seats; nothing was sent");
  } else {
    g_autofree char *line = g_strdup(pending->text);
    submit(ui, line, (gint)number);
  }
}

static void
show_choices(Ui *ui, char **words)
{
  guint n = g_strv_length(words), shown = MIN(n, CHOICES_MAX);
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < shown; i++)
    g_string_append_printf(text, "%s%s", i ? "  " : "", words[i]);
  if (n > shown)
    g_string_append_printf(text, "  and %u more", n - shown);
  ui_message(ui, SEVERITY_INFO, text->str);
}

/* Tab: as far as all that may come agree; then they are shown. */
static void
complete(Ui *ui)
{
  gsize start;
  g_autofree char *before = prompt_before(ui->line);
  g_auto(GStrv) words = complete_line(ui->state, ui->status.jobs, before, &start);
  if (!words[0])
    return;
  g_autofree char *common = complete_common(words);
  gboolean alone = !words[1], further = strlen(common) > strlen(before + start);
  g_autofree char *text = g_strconcat(common, alone ? " " : "", NULL);
  if (alone || further)
    prompt_replace(ui->line, start, text);
  else
    show_choices(ui, words);
}

/* `help` and `q` are words of the screen, which habit tries first. */
static void
typing_key(Ui *ui, UiKey key)
{
  if (key == UI_KEY_TAB) {
    complete(ui);
    return;
  }
  if (prompt_key(ui->line, key) != PROMPT_ENTERED)
    return;
  g_autofree char *line = g_strstrip(g_strdup(prompt_text(ui->line)));
  if (g_str_equal(line, "help"))
    press_view(ui, UI_KEY_F1 + VIEW_HELP);
  else if (g_str_equal(line, "q") || (g_str_equal(line, "quit") && press_quit_asks(ui)))
    press_quit(ui, key);
  else if (*line)
    submit(ui, line, -1);
}

static void
find_key(Ui *ui, UiKey key)
{
  if (prompt_key(ui->find, key) == PROMPT_ENTERED && *prompt_text(ui->find))
    find_text(ui, prompt_text(ui->find));
}

static void
place_key(Ui *ui, UiKey key)
{
  g_autoptr(GError) error = NULL;
  if (prompt_key(ui->place, key) == PROMPT_ENTERED && *prompt_text(ui->place) &&
      !ui->ops->go(ui->host, prompt_text(ui->place), &error))
    ui_message(ui, SEVERITY_ERROR, error->message);
}

/* What cannot be seen is not acted on: only leaving, stopping and suspending are left. */
static gboolean
works_unseen(UiKey key)
{
  return key == UI_KEY_CTRL_C || key == UI_KEY_CTRL_Z || key == 'Q' || key == UI_KEY_F1 + 9;
}

void
ui_key(Ui *ui, UiKey key)
{
  g_clear_pointer(&ui->message, g_free);
  answer_forget(ui);
  ui->touched = TRUE;
  if (!ui->too_small && press_leave(ui, key))
    return;
  ui->quit_asked = ui->quit_asked && (key == 'Q' || key == UI_KEY_F1 + 9);
  if (ui->too_small) {
    if (works_unseen(key))
      bindings_press(ui, key);
    return;
  }
  look_for_consent(ui);
  if (key == UI_KEY_CTRL_Z)
    bindings_press(ui, key);
  else if (takes_consent(ui))
    consent_key(ui, key);
  else if (prompt_is_open(ui->line))
    typing_key(ui, key);
  else if (prompt_is_open(ui->find))
    find_key(ui, key);
  else if (prompt_is_open(ui->place))
    place_key(ui, key);
  else
    bindings_press(ui, key);
}

void
ui_set_status(Ui *ui, const HostStatus *status)
{
  ui->status = *status;
}

static void
swap_spots(Ui *ui)
{
  GArray *spots = ui->spots;
  ui->spots = ui->spots_before;
  ui->spots_before = spots;
}

static void
draw_too_small(Canvas *canvas)
{
  int row = canvas->rows >= 2 ? canvas->rows / 2 - 1 : 0;
  canvas_put(canvas, row, 0, -1, STYLE_WARNING, "too small for the console;");
  canvas_printf(canvas, row + 1, 0, -1, STYLE_NORMAL, "%dx%d at least. Q leaves.", SMALLEST_COLUMNS,
                SMALLEST_ROWS);
}

void
ui_draw(Ui *ui, Canvas *canvas, const HostStatus *status)
{
  ui->status = *status;
  canvas_clear(canvas);
  swap_spots(ui);
  g_array_set_size(ui->spots, 0);
  ui->too_small = canvas->rows < SMALLEST_ROWS || canvas->columns < SMALLEST_COLUMNS;
  if (ui->too_small) {
    draw_too_small(canvas);
    return;
  }
  look_for_consent(ui);
  ui->page = canvas->rows - 6;
  ui->full_scale = seats_full_scale(ui);
  frame_draw_header(ui, canvas);
  int left = canvas->rows - 3 - frame_draw_sentence(ui, canvas, canvas->rows - 3);
  if (left >= VIEW_ROWS)
    ui_views[ui->view]->draw(ui, canvas, (Area){1, 0, left, canvas->columns});
  frame_draw_prompt(ui, canvas, canvas->rows - 2);
  bindings_draw_bar(ui, canvas, canvas->rows - 1);
}

void
ui_undraw(Ui *ui)
{
  swap_spots(ui);
}
