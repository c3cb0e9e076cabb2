#include "ui/term.h"
#include "ui/escape.h"

#include <langinfo.h>
#include <ncurses.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#undef columns /* term.h makes this word a macro */

/* Reports of the mouse's buttons, in a form that holds in every encoding (xterm's control
 * sequences). The terminal's description only says whether it has a mouse at all. */
#define MOUSE_ON "\033[?1000h\033[?1006h"
#define MOUSE_OFF "\033[?1006l\033[?1000l"

/* What they take on most terminals, in bytes. */
#define MOVE_BYTES 8
#define STYLE_BYTES 5

/* One table: how a style looks in each theme. State is never colour alone, so that mono loses
 * nothing; contrast dims nothing and has bright colours only. Colours are foregrounds, -1 being the
 * terminal's own. */
static const struct {
  short colour; /* default and, brighter, contrast */
  attr_t by_default, contrast, mono;
} looks[STYLE_N] = {
    [STYLE_NORMAL] = {-1, A_NORMAL, A_NORMAL, A_NORMAL},
    [STYLE_OFF] = {-1, A_DIM, A_NORMAL, A_DIM},
    [STYLE_BOOTING] = {COLOR_CYAN, A_NORMAL, A_BOLD, A_NORMAL},
    [STYLE_UP] = {COLOR_GREEN, A_NORMAL, A_BOLD, A_NORMAL},
    [STYLE_WARNING] = {COLOR_YELLOW, A_NORMAL, A_BOLD, A_BOLD},
    [STYLE_ERROR] = {COLOR_RED, A_BOLD, A_BOLD | A_REVERSE, A_BOLD},
    [STYLE_FRAME] = {-1, A_DIM, A_NORMAL, A_NORMAL},
    [STYLE_TITLE] = {-1, A_NORMAL, A_BOLD, A_NORMAL},
    [STYLE_FOCUS] = {-1, A_BOLD, A_BOLD | A_UNDERLINE, A_BOLD},
    [STYLE_SELECTED] = {-1, A_REVERSE, A_REVERSE | A_BOLD, A_REVERSE},
    [STYLE_REAL] = {-1, A_REVERSE | A_BOLD, A_REVERSE | A_BOLD, A_REVERSE | A_BOLD},
    [STYLE_KEY] = {-1, A_NORMAL, A_BOLD, A_NORMAL},
    [STYLE_KEY_TEXT] = {-1, A_REVERSE, A_REVERSE, A_REVERSE},
};

static const char *const theme_names[THEME_N] = {"default", "contrast", "mono"};

static const int fatal_signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};

static struct {
  SCREEN *screen;
  gboolean colours;  /* it has some, and they are wanted */
  gboolean mouse;    /* it tells of it */
  gboolean no_mouse; /* not wanted */
  Theme theme;
  Escape escape;
  int rows, columns;
  Cell *shown; /* what the terminal holds, so that only changed cells are touched */
  /* For the signal handler, which may neither allocate nor call curses. */
  struct termios before;
  char leave[256];
  size_t leave_length;
} term;

/* write() and tcsetattr() are async-signal-safe; endwin() is not. */
static void
leave_on_signal(int number)
{
  ssize_t written = write(STDOUT_FILENO, term.leave, term.leave_length);
  (void)written;
  tcsetattr(STDIN_FILENO, TCSANOW, &term.before);
  signal(number, SIG_DFL);
  raise(number);
}

/* TEXT may be what tigetstr() gives for a capability that is not there. */
static gboolean
is_sequence(const char *text)
{
  return text && text != (char *)-1;
}

static void
add_sequence(const char *text)
{
  if (is_sequence(text) && term.leave_length + strlen(text) < sizeof term.leave) {
    memcpy(term.leave + term.leave_length, text, strlen(text));
    term.leave_length += strlen(text);
  }
}

static void
prepare_signals(void)
{
  term.leave_length = 0;
  add_sequence(term.mouse ? MOUSE_OFF : NULL);
  add_sequence(tigetstr("sgr0"));
  add_sequence(tigetstr("rmkx"));
  add_sequence(tigetstr("cnorm"));
  add_sequence(tigetstr("rmcup"));
  for (guint i = 0; i < G_N_ELEMENTS(fatal_signals); i++)
    signal(fatal_signals[i], leave_on_signal);
}

static void
prepare_colours(void)
{
  const char *no_colour = g_getenv("NO_COLOR");
  term.colours = has_colors() && !(no_colour && *no_colour);
  if (!term.colours)
    return;
  start_color();
  use_default_colors();
  for (short i = 0; i < STYLE_N; i++)
    init_pair((short)(i + 1), looks[i].colour, -1);
}

const char *
term_theme_name(Theme theme)
{
  return theme_names[theme];
}

int
term_theme_parse(const char *name)
{
  for (int theme = 0; theme < THEME_N; theme++) {
    if (g_str_equal(theme_names[theme], name))
      return theme;
  }
  return -1;
}

void
term_set_theme(Theme theme)
{
  term.theme = theme;
  g_clear_pointer(&term.shown, g_free); /* every cell looks another way now */
}

Theme
term_theme(void)
{
  return term.screen && !term.colours ? THEME_MONO : term.theme;
}

void
term_set_mouse(gboolean wanted)
{
  term.no_mouse = !wanted;
}

static void
switch_mouse(gboolean on)
{
  if (!term.mouse)
    return;
  putp(on ? MOUSE_ON : MOUSE_OFF);
  fflush(stdout);
}

static gboolean
refuse(GError **error, const char *why)
{
  const char *name = g_getenv("TERM");
  g_set_error(error, TERM_ERROR, 0, "%s (TERM is %s); `pult --plain` and `pult run` need none", why,
              name && *name ? name : "not set");
  return FALSE;
}

gboolean
term_open(gboolean *utf8, GError **error)
{
  int found;
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
    return refuse(error, "the console needs a terminal");
  if (setupterm(NULL, STDOUT_FILENO, &found) == ERR)
    return refuse(error, "this terminal is not known");
  gboolean can_move = is_sequence(tigetstr("cup"));
  del_curterm(cur_term); /* newterm() reads it anew */
  if (!can_move)
    return refuse(error, "this terminal cannot place its cursor");

  tcgetattr(STDIN_FILENO, &term.before);
  set_escdelay(25);
  term.screen = newterm(NULL, stdout, stdin);
  if (!term.screen)
    return refuse(error, "this terminal could not be opened");
  raw(); /* Ctrl-C and Ctrl-Z are keys here */
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  leaveok(stdscr, FALSE);
  define_key(NULL, KEY_MOUSE); /* no key of curses': see escape.h */
  term.escape = (Escape){0};
  term.mouse = !term.no_mouse && is_sequence(tigetstr("kmous"));
  switch_mouse(TRUE);
  prepare_colours();
  prepare_signals();
  *utf8 = g_str_equal(nl_langinfo(CODESET), "UTF-8");
  atexit(term_close);
  return TRUE;
}

void
term_close(void)
{
  if (!term.screen)
    return;
  switch_mouse(FALSE);
  endwin();
  delscreen(term.screen);
  term.screen = NULL;
  g_clear_pointer(&term.shown, g_free);
  for (guint i = 0; i < G_N_ELEMENTS(fatal_signals); i++)
    signal(fatal_signals[i], SIG_DFL);
}

void
term_size(int *rows, int *columns)
{
  getmaxyx(stdscr, *rows, *columns);
}

static attr_t
attributes_of(Style style)
{
  Theme theme = term_theme();
  return theme == THEME_DEFAULT    ? looks[style].by_default
         : theme == THEME_CONTRAST ? looks[style].contrast
                                   : looks[style].mono;
}

static void
show_cell(const Cell *cell, int row, int column)
{
  short pair = term_theme() == THEME_MONO ? 0 : (short)(cell->style + 1);
  attr_set(attributes_of((Style)cell->style), pair, NULL);
  mvaddstr(row, column, cell->text);
}

static gboolean
is_blank(const Cell *cell)
{
  return cell->text[0] == ' ' && cell->text[1] == '\0' && cell->style == STYLE_NORMAL;
}

static gboolean
shows_on_blanks(Style style)
{
  return (attributes_of(style) & (A_REVERSE | A_UNDERLINE)) != 0;
}

/* Blanks between two cells of one style take it where nobody can tell: changing colours costs more
 * bytes than the blanks do. */
static void
bridge_blanks(Cell *cells, int columns)
{
  int left = -1; /* the last cell with something on it */
  for (int i = 0; i < columns; i++) {
    if (is_blank(&cells[i]))
      continue;
    gboolean same = left >= 0 && cells[left].style == cells[i].style;
    for (int k = left + 1; same && k < i && !shows_on_blanks((Style)cells[i].style); k++)
      cells[k].style = cells[i].style;
    left = i;
  }
}

/* The row as it is to be shown. */
static void
take_row(const Canvas *canvas, int row, int columns, Cell *cells)
{
  memcpy(cells, canvas->cells + row * canvas->columns, sizeof *cells * (gsize)canvas->columns);
  bridge_blanks(cells, columns);
}

static gboolean
is_changed(const Cell *cell, const Cell *shown)
{
  return cell->width > 0 && memcmp(cell, shown, sizeof *shown) != 0;
}

static gboolean
is_shown_anew(const Canvas *canvas)
{
  return !term.shown || term.rows != canvas->rows || term.columns != canvas->columns;
}

/* What curses does, roughly: a short gap is written over, a long one costs a movement. */
static gsize
row_cost(const Cell *cells, const Cell *shown, int columns, int *style)
{
  gsize cost = 0, gap = MOVE_BYTES; /* to the first */
  for (int i = 0; i < columns; i++) {
    gsize bytes = strlen(cells[i].text);
    if (!is_changed(&cells[i], &shown[i])) {
      gap += bytes;
      continue;
    }
    cost += bytes + MIN(gap, MOVE_BYTES) + (cells[i].style == *style ? 0 : STYLE_BYTES);
    *style = cells[i].style;
    gap = 0;
  }
  return cost;
}

gsize
term_cost(const Canvas *canvas)
{
  int rows = MIN(canvas->rows, LINES), columns = MIN(canvas->columns, COLS), style = STYLE_NORMAL;
  g_autofree Cell *cells = g_new(Cell, canvas->columns), *blank = g_new0(Cell, canvas->columns);
  gsize cost = 0;
  for (int row = 0; row < rows; row++) {
    take_row(canvas, row, columns, cells);
    cost += row_cost(cells, is_shown_anew(canvas) ? blank : term.shown + row * canvas->columns,
                     columns, &style);
  }
  return cost;
}

void
term_show(const Canvas *canvas)
{
  int rows = MIN(canvas->rows, LINES), columns = MIN(canvas->columns, COLS);
  if (is_shown_anew(canvas)) {
    g_free(term.shown);
    term.shown = g_new0(Cell, (gsize)canvas->rows * (gsize)canvas->columns);
    term.rows = canvas->rows;
    term.columns = canvas->columns;
    erase();
  }
  g_autofree Cell *cells = g_new(Cell, canvas->columns);
  for (int row = 0; row < rows; row++) {
    Cell *shown = term.shown + row * canvas->columns;
    take_row(canvas, row, columns, cells);
    for (int column = 0; column < columns; column++) {
      if (is_changed(&cells[column], &shown[column]))
        show_cell(&cells[column], row, column);
      shown[column] = cells[column];
    }
  }
  if (canvas->cursor_row >= 0) {
    curs_set(1);
    move(MIN(canvas->cursor_row, rows - 1), MIN(canvas->cursor_column, columns - 1));
  } else {
    curs_set(0);
  }
  refresh();
}

static UiKey
named_key(int code)
{
  static const struct {
    int code;
    UiKey key;
  } codes[] = {
      {KEY_UP, UI_KEY_UP},
      {KEY_DOWN, UI_KEY_DOWN},
      {KEY_LEFT, UI_KEY_LEFT},
      {KEY_RIGHT, UI_KEY_RIGHT},
      {KEY_PPAGE, UI_KEY_PAGE_UP},
      {KEY_NPAGE, UI_KEY_PAGE_DOWN},
      {KEY_HOME, UI_KEY_HOME},
      {KEY_END, UI_KEY_END},
      {KEY_ENTER, UI_KEY_ENTER},
      {KEY_BTAB, UI_KEY_BACKTAB},
      {KEY_BACKSPACE, UI_KEY_BACKSPACE},
      {KEY_DC, UI_KEY_DELETE},
  };
  for (guint i = 0; i < G_N_ELEMENTS(codes); i++) {
    if (code == codes[i].code)
      return codes[i].key;
  }
  if (code >= KEY_F(1) && code <= KEY_F(12))
    return UI_KEY_F1 + (code - KEY_F(1));
  return UI_KEY_UNKNOWN;
}

UiKey
term_read_key(int *row, int *column)
{
  wint_t c;
  UiKey key;
  for (;;) {
    int kind = get_wch(&c);
    if (kind == ERR)
      return escape_pause(&term.escape, &key) ? key : -1;
    if (kind == KEY_CODE_YES && c == KEY_RESIZE)
      continue; /* resizeterm() puts it into the queue */
    if (kind == KEY_CODE_YES) {
      term.escape.state = ESCAPE_GROUND;
      return named_key((int)c);
    }
    if (escape_take(&term.escape, c, g_get_monotonic_time(), &key))
      break;
  }
  *row = term.escape.row;
  *column = term.escape.column;
  return key;
}

void
term_suspend(void)
{
  struct sigaction by_default = {.sa_handler = SIG_DFL}, before;
  def_prog_mode();
  switch_mouse(FALSE);
  endwin();
  /* The whole foreground group, as the terminal's own ^Z would. */
  sigaction(SIGTSTP, &by_default, &before);
  kill(0, SIGTSTP);
  sigaction(SIGTSTP, &before, NULL);
  reset_prog_mode();
  switch_mouse(TRUE);
  term_redraw_all();
}

void
term_redraw_all(void)
{
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
    resizeterm(size.ws_row, size.ws_col);
  g_clear_pointer(&term.shown, g_free);
  clearok(stdscr, TRUE);
}
