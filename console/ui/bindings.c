/* The one table of keys: what feeds the keyboard, the key bar, Help and `pult help bindings`. */
#include "ui/view.h"

#include <string.h>

typedef struct {
  UiKey key, other; /* other: 0 none */
  const char *keys; /* as shown, ASCII */
  const char *bar;  /* label on the key bar; NULL: not there */
  guint views;      /* bit a view; 0: all */
  void (*press)(Ui *ui, UiKey key);
  const char *help;
} Binding;

#define ON(view) (1u << (view))
#define SCROLLED (ON(VIEW_BOOT) | ON(VIEW_LOAD) | ON(VIEW_NET) | ON(VIEW_LOG) | ON(VIEW_HELP))
#define SIDEWAYS (ON(VIEW_LAB) | ON(VIEW_CARD) | ON(VIEW_BOOT) | ON(VIEW_LOAD))
#define ALT(letter) (UI_KEY_ALT + (letter))

/* data table */
static const Binding bindings[] = {
    {UI_KEY_F1, '?', "F1 ?", "Help", 0, press_view, "this page"},
    {UI_KEY_F1 + 1, ALT('2'), "F2 Alt-2", "Lab", 0, press_view, "the rooms and the server"},
    {UI_KEY_F1 + 2, ALT('3'), "F3 Alt-3", "Boot", 0, press_view, "boots, stage by stage"},
    {UI_KEY_F1 + 3, ALT('4'), "F4 Alt-4", "Load", 0, press_view, "jobs and what they came to"},
    {UI_KEY_F1 + 4, ALT('5'), "F5 Alt-5", "Net", 0, press_view, "every port and link"},
    {UI_KEY_F1 + 5, ALT('6'), "F6 Alt-6", "Log", 0, press_view,
     "what was said and what came of it"},
    {'b', 0, "b", "Boot", ON(VIEW_LAB), press_boot, "offer to boot the selection"},
    {'l', 0, "l", "Load", ON(VIEW_LAB), press_load, "offer a load on the selection"},
    {'p', 0, "p", "Power", ON(VIEW_LAB), press_power, "offer to switch the selection off"},
    {'w', 0, "w", "What if", ON(VIEW_NET), press_whatif,
     "the table for another era of the bond's hash"},
    {':', 0, ":", "Command", 0, press_prompt,
     "type a command, or help or q; Tab completes it, Up and Down bring back earlier ones"},
    {UI_KEY_TAB, UI_KEY_PAGE_DOWN, "Tab PgDn", "Next", ON(VIEW_LAB), press_next_block,
     "the next block"},
    {UI_KEY_BACKTAB, UI_KEY_PAGE_UP, "S-Tab PgUp", NULL, ON(VIEW_LAB), press_next_block,
     "the block before"},
    {UI_KEY_ENTER, 'c', "Enter c", "Card",
     ON(VIEW_LAB) | ON(VIEW_BOOT) | ON(VIEW_LOAD) | ON(VIEW_LOG), press_card,
     "the card of the selected seat, else of the one that failed first"},
    {'P', 0, "P", "Cycle", 0, press_cycle,
     "offer a power cycle of the selected seat, else of the one that failed first"},
    {'0', 0, "0-9", NULL, ON(VIEW_LAB), press_digit, "go to the seat of that number"},
    {'/', 0, "/", "Find", 0, press_find, "find a seat by name or address; in Log an entry"},
    {'n', 'N', "n N", NULL, 0, press_find_again, "the next one found, the one before"},
    {UI_KEY_ESCAPE, 0, "Esc", NULL, ON(VIEW_LAB), press_whole_block,
     "select the whole block again"},
    {UI_KEY_ESCAPE, 0, "Esc", NULL, ON(VIEW_HELP) | ON(VIEW_CARD), press_back,
     "back to where you came from"},
    {UI_KEY_UP, 'k', "Up k", NULL, 0, press_move, "a row up"},
    {UI_KEY_DOWN, 'j', "Down j", NULL, 0, press_move, "a row down"},
    {UI_KEY_LEFT, 'h', "Left h", NULL, SIDEWAYS, press_move,
     "the seat before; in Boot and Load the earlier run"},
    {UI_KEY_RIGHT, 0, "Right", NULL, SIDEWAYS, press_move,
     "the next seat; in Boot and Load the later run"},
    {UI_KEY_PAGE_UP, 0, "PgUp", NULL, SCROLLED, press_move, "a page up"},
    {UI_KEY_PAGE_DOWN, 0, "PgDn", NULL, SCROLLED, press_move, "a page down"},
    {UI_KEY_HOME, 'g', "Home g", NULL, 0, press_move, "to the first"},
    {UI_KEY_END, 'G', "End G", NULL, 0, press_move, "to the last"},
    {'u', 0, "u", "Unit", 0, press_unit, "Mbit/s or MB/s"},
    {'t', 0, "t", NULL, 0, press_theme, "another theme: default, contrast, mono"},
    {' ', 0, "Space", NULL, 0, press_pause, "pause the simulated lab or the replay"},
    {'+', '-', "+ -", NULL, 0, press_speed, "faster, slower (simulated lab, replay)"},
    {'<', '>', "< >", NULL, 0, press_seek, "10 s back, 10 s on (replay)"},
    {',', '.', ", .", NULL, 0, press_seek, "1 s back, 1 s on (replay)"},
    {'e', 'E', "e E", NULL, 0, press_step, "pause at the next event, the one before (replay)"},
    {'m', 'M', "m M", NULL, 0, press_mark, "to the next mark, the one before (replay)"},
    {'T', 0, "T", NULL, 0, press_go, "go to a time, such as 1:30 or +20s, or a mark (replay)"},
    {UI_KEY_CLICK, 0, "click", NULL, 0, press_click,
     "select a seat or a block; on the selected seat: its card; on the bar below: that key"},
    {UI_KEY_WHEEL_UP, UI_KEY_WHEEL_DOWN, "wheel", NULL, 0, press_wheel,
     "rows up and down; in the Lab through the blocks"},
    {UI_KEY_CTRL_C, 0, "Ctrl-C", NULL, 0, press_stop, "stop whatever has not been sent yet"},
    {UI_KEY_CTRL_Z, 0, "Ctrl-Z", NULL, 0, press_suspend, "suspend pult"},
    {'q', 0, "q", "Back", 0, press_back, "back to where you came from, at last to the lab"},
    {'Q', UI_KEY_F1 + 9, "Q F10", NULL, 0, press_quit,
     "ask what becomes of loads that run, and leave pult"},
};
/* end of data table */

static gboolean
is_for(const Binding *binding, ViewIndex view)
{
  return binding->views == 0 || (binding->views & ON(view)) != 0;
}

static gboolean
binding_takes(const Binding *binding, UiKey key)
{
  if (binding->press == press_digit)
    return key >= '0' && key <= '9';
  return key == binding->key || (binding->other && key == binding->other);
}

gboolean
bindings_press(Ui *ui, UiKey key)
{
  for (guint i = 0; i < G_N_ELEMENTS(bindings); i++) {
    const Binding *binding = &bindings[i];
    if (!is_for(binding, ui->view) || !binding_takes(binding, key))
      continue;
    if (binding->press != press_digit)
      ui->number[0] = '\0';
    binding->press(ui, key);
    return TRUE;
  }
  return FALSE;
}

guint
bindings_count(void)
{
  return G_N_ELEMENTS(bindings);
}

char *
bindings_describe(guint i, const char **keys)
{
  const Binding *binding = &bindings[i];
  g_autoptr(GString) text = g_string_new(binding->help);
  *keys = binding->keys;
  const char *before = " (";
  for (ViewIndex view = 0; view < VIEW_N; view++) {
    if ((binding->views & ON(view)) == 0)
      continue;
    g_string_append_printf(text, "%s%s", before, ui_views[view]->name);
    before = ", ";
  }
  if (binding->views != 0)
    g_string_append_c(text, ')');
  return g_string_free(g_steal_pointer(&text), FALSE);
}

/* `F1Help F2Lab   b Boot  : Command`, as many as fit. */
void
bindings_draw_bar(const Ui *ui, Canvas *canvas, int row)
{
  int at = 1;
  gboolean functions = TRUE; /* come first in the table */
  for (guint i = 0; i < G_N_ELEMENTS(bindings); i++) {
    const Binding *binding = &bindings[i];
    if (!binding->bar || !is_for(binding, ui->view))
      continue;
    g_autofree char *key = g_strndup(binding->keys, strcspn(binding->keys, " "));
    gboolean function = key[0] == 'F' && g_ascii_isdigit(key[1]);
    int gap = function ? 0 : 1, width = (int)strlen(key) + (int)strlen(binding->bar) + gap;
    at += functions && !function ? 2 : 0;
    functions = function;
    if (at + width > canvas->columns)
      continue;
    spot_mark(ui, row, at, width, SPOT_KEY, (guint)binding->key);
    at += canvas_put(canvas, row, at, -1, STYLE_KEY, key) + gap;
    at += canvas_put(canvas, row, at, -1, STYLE_KEY_TEXT, binding->bar) + gap + 1;
  }
}

char *
ui_keys_text(void)
{
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(bindings); i++) {
    const char *keys;
    g_autofree char *help = bindings_describe(i, &keys);
    g_string_append_printf(text, "  %-10s  %s\n", keys, help);
  }
  return g_strdup(text->str);
}
