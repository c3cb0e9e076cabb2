/* What the keys of the table do. None of them acts on a machine: the nearest they come to it is a
 * command typed for the operator, who enters it. */
#include "ui/view.h"

static void
say(Ui *ui, const char *text)
{
  ui_message(ui, SEVERITY_INFO, text);
}

/* Help and a card lead back to where they were called from. */
static gboolean
leads_back(ViewIndex view)
{
  return view == VIEW_HELP || view == VIEW_CARD;
}

static void
show(Ui *ui, ViewIndex view)
{
  if (leads_back(view) && ui->view != view)
    ui->from[view] = ui->view;
  ui->view = view;
}

/* The client whose failure stands longest; NODE_NONE. */
static NodeId
first_failed(const Ui *ui)
{
  const Layout *layout = state_layout(ui->state);
  NodeId found = NODE_NONE;
  for (NodeId i = 0; i < layout->n_nodes; i++) {
    const NodeState *node = state_node(ui->state, i);
    if (layout->nodes[i].kind == NODE_CLIENT && node->fault &&
        (found == NODE_NONE || node->fault_t < state_node(ui->state, found)->fault_t))
      found = i;
  }
  return found;
}

/* F1 and on are the views in their order, Alt and a digit the same. */
void
press_view(Ui *ui, UiKey key)
{
  gboolean function = key >= UI_KEY_F1 && key < UI_KEY_F1 + VIEW_CARD;
  int view = key == '?' ? VIEW_HELP : function ? key - UI_KEY_F1 : key - UI_KEY_ALT - '1';
  show(ui, (ViewIndex)view);
}

void
press_back(Ui *ui, UiKey key)
{
  (void)key;
  if (ui->view == VIEW_LAB)
    say(ui, "Q leaves pult");
  ui->view = leads_back(ui->view) ? ui->from[ui->view] : VIEW_LAB;
}

/* Of the seat that failed first where none is selected, else of the block's first. */
void
press_card(Ui *ui, UiKey key)
{
  const LayoutRoom *room = ui_room(ui);
  NodeId failed = first_failed(ui);
  (void)key;
  if (ui->selected == NODE_NONE && failed != NODE_NONE)
    ui_select(ui, failed);
  else if (ui->selected == NODE_NONE && room && room->n_seats)
    ui->selected = room->seats[0];
  if (ui->selected != NODE_NONE)
    show(ui, VIEW_CARD);
}

void
press_find(Ui *ui, UiKey key)
{
  (void)key;
  prompt_open(ui->find, "");
}

void
press_find_again(Ui *ui, UiKey key)
{
  find_again(ui, key == 'N');
}

/* Labels of the loads that run, blanks between; "" when none does, and in a replay. */
static char *
running_loads(const Ui *ui)
{
  g_autoptr(GString) labels = g_string_new(NULL);
  for (guint i = 0; ui->ops->say && i < state_n_loads(ui->state); i++) {
    const LoadRun *run = state_load(ui->state, i);
    if (run->end_t < 0)
      g_string_append_printf(labels, "%s%s", labels->len ? " " : "", run->label);
  }
  return g_string_free(g_steal_pointer(&labels), FALSE);
}

gboolean
press_quit_asks(const Ui *ui)
{
  g_autofree char *labels = running_loads(ui);
  return *labels != '\0';
}

/* Ends them, or lets go of them, and then leaves: what was chosen is in the transcript as the
 * commands themselves. What is under way meanwhile would have to be waited for. */
static void
leave_by(Ui *ui, const char *how)
{
  g_autoptr(GString) line = g_string_new(NULL);
  for (guint i = 0; i < state_n_loads(ui->state); i++) {
    const LoadRun *run = state_load(ui->state, i);
    if (run->end_t < 0)
      g_string_append_printf(line, "try load %s %s; ", how, run->label);
  }
  g_string_append(line, "quit");
  if (ui->status.busy && ui->ops->stop)
    ui->ops->stop(ui->host);
  ui->ops->say(ui->host, line->str, -1, NULL);
}

gboolean
press_leave(Ui *ui, UiKey key)
{
  if (!ui->quit_asked || (key != 's' && key != 'l'))
    return FALSE;
  ui->quit_asked = FALSE;
  leave_by(ui, key == 's' ? "stop" : "leave");
  return TRUE;
}

/* Jobs end with the console's connections unless they are let go of, which is asked. Who does not
 * answer but says it again leaves at once, without their figures. */
void
press_quit(Ui *ui, UiKey key)
{
  (void)key;
  g_autofree char *labels = running_loads(ui);
  if (*labels && !ui->quit_asked) {
    g_autofree char *text = g_strdup_printf("leave? s stops, l lets run, Esc stays: %s", labels);
    say(ui, text);
    ui->quit_asked = TRUE;
    return;
  }
  ui->quit_asked = FALSE;
  if (ui->ops->quit)
    ui->ops->quit(ui->host);
}

/* Opens the `:` line with a command for the selection. Nothing happens before Enter, and what
 * disturbs asks again with its plan. */
static void
offer(Ui *ui, const char *before, const char *target, const char *behind)
{
  if (!ui->ops->say) {
    say(ui, "a replay takes no commands");
    return;
  }
  g_autofree char *text = g_strconcat(before, target, behind, NULL);
  prompt_open(ui->line, text);
}

void
press_prompt(Ui *ui, UiKey key)
{
  (void)key;
  offer(ui, "", "", "");
}

void
press_boot(Ui *ui, UiKey key)
{
  (void)key;
  offer(ui, "boot ", ui_selection(ui), "");
}

void
press_load(Ui *ui, UiKey key)
{
  guint n = state_n_loads(ui->state);
  (void)key;
  g_autofree char *before =
      g_strdup_printf("load start %s on ", n ? state_load(ui->state, n - 1)->job : "find-cat");
  offer(ui, before, ui_selection(ui), " for 60 s");
}

void
press_power(Ui *ui, UiKey key)
{
  (void)key;
  offer(ui, "power off ", ui_selection(ui), "");
}

/* The seat selected, else the one that failed first, else the block. */
void
press_cycle(Ui *ui, UiKey key)
{
  NodeId failed = first_failed(ui);
  (void)key;
  offer(ui, "power cycle ",
        ui->selected == NODE_NONE && failed != NODE_NONE
            ? layout_node(state_layout(ui->state), failed)->name
            : ui_selection(ui),
        "");
}

void
press_next_block(Ui *ui, UiKey key)
{
  gboolean back = key == UI_KEY_BACKTAB || key == UI_KEY_PAGE_UP;
  if (ui->n_rooms > 0)
    ui_select_block(ui, (ui->room + (back ? ui->n_rooms - 1 : 1)) % ui->n_rooms);
}

void
press_whole_block(Ui *ui, UiKey key)
{
  (void)key;
  ui_select_block(ui, ui->room);
}

void
press_digit(Ui *ui, UiKey key)
{
  ui_select_number(ui, (char)key);
}

void
press_whatif(Ui *ui, UiKey key)
{
  (void)key;
  ui->whatif_era = ui->whatif_era == BOND_ERA_5_18 ? -1 : ui->whatif_era + 1;
}

void
press_unit(Ui *ui, UiKey key)
{
  (void)key;
  ui->bytes = !ui->bytes;
}

void
press_theme(Ui *ui, UiKey key)
{
  (void)key;
  if (!ui->ops->next_theme)
    return;
  g_autofree char *text = g_strdup_printf("theme: %s", ui->ops->next_theme(ui->host));
  say(ui, text);
}

/* Several keys may come between two drawings: what they change is noted here at once, so that the
 * next one builds on it. */
void
press_pause(Ui *ui, UiKey key)
{
  (void)key;
  if (!ui->ops->pause) {
    say(ui, "real time does not pause");
    return;
  }
  ui->status.paused = !ui->status.paused;
  ui->ops->pause(ui->host, ui->status.paused);
}

/* 1, 2, 5 and so on; from any other speed to the next of them. */
void
press_speed(Ui *ui, UiKey key)
{
  static const double speeds[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100};
  guint n = G_N_ELEMENTS(speeds), i = 0;
  double speed = ui->status.speed;
  if (!ui->ops->set_speed) {
    say(ui, "real time has one speed");
    return;
  }
  while (i < n && (key == '+' ? speeds[i] <= speed : speeds[i] < speed))
    i++;
  ui->status.speed = speeds[key == '+' ? MIN(i, n - 1) : MAX(i, 1) - 1];
  ui->ops->set_speed(ui->host, ui->status.speed);
}

static const char no_replay[] = "only a replay can go back and forth in time";

void
press_seek(Ui *ui, UiKey key)
{
  gint64 seconds = key == '<' ? -10 : key == '>' ? 10 : key == ',' ? -1 : 1;
  if (!ui->ops->seek) {
    say(ui, no_replay);
    return;
  }
  ui->status.now = CLAMP(ui->status.now + seconds * TIME_SECOND, 0, MAX(0, ui->status.end));
  ui->ops->seek(ui->host, ui->status.now);
}

/* CALLBACK may be NULL. */
static void
jump(Ui *ui, gboolean (*callback)(gpointer host, gboolean back, GError **error), gboolean back)
{
  g_autoptr(GError) error = NULL;
  if (!callback)
    say(ui, no_replay);
  else if (!callback(ui->host, back, &error))
    say(ui, error->message);
}

void
press_step(Ui *ui, UiKey key)
{
  jump(ui, ui->ops->step, key == 'E');
}

void
press_mark(Ui *ui, UiKey key)
{
  jump(ui, ui->ops->mark, key == 'M');
}

void
press_go(Ui *ui, UiKey key)
{
  (void)key;
  if (ui->ops->go)
    prompt_open(ui->place, "");
  else
    say(ui, no_replay);
}

void
press_stop(Ui *ui, UiKey key)
{
  (void)key;
  if (!ui->status.busy)
    say(ui, "nothing was under way; Q leaves pult");
  answer_await(ui, "stop");
  if (ui->ops->stop)
    ui->ops->stop(ui->host);
}

void
press_suspend(Ui *ui, UiKey key)
{
  (void)key;
  if (ui->ops->suspend)
    ui->ops->suspend(ui->host);
}

void
press_move(Ui *ui, UiKey key)
{
  static const struct {
    UiKey key;
    Move move;
  } moves[] = {
      {UI_KEY_UP, MOVE_UP},
      {'k', MOVE_UP},
      {UI_KEY_DOWN, MOVE_DOWN},
      {'j', MOVE_DOWN},
      {UI_KEY_LEFT, MOVE_LEFT},
      {'h', MOVE_LEFT},
      {UI_KEY_RIGHT, MOVE_RIGHT},
      {UI_KEY_PAGE_UP, MOVE_PAGE_UP},
      {UI_KEY_HOME, MOVE_HOME},
      {UI_KEY_PAGE_DOWN, MOVE_PAGE_DOWN},
      {'g', MOVE_HOME},
      {UI_KEY_END, MOVE_END},
      {'G', MOVE_END},
  };
  for (guint i = 0; i < G_N_ELEMENTS(moves); i++) {
    if (moves[i].key == key)
      ui_views[ui->view]->move(ui, moves[i].move);
  }
}
