/* Any keys, clicks and pieces of escape sequences, at any time and on any size of screen, over a
 * simulated lab: nothing is said without Enter, nothing at all happens on a screen too small to
 * show it, and what is drawn stays within its cells. */
#include "fuzz.h"

#include "backends/sim/sim.h"
#include "core/command.h"
#include "session/data.h"
#include "ui/escape.h"
#include "ui/ui.h"

#define T_MAX (90 * TIME_SECOND)
#define STEPS_MAX 1500 /* of the simulator, an input */

typedef struct {
  CoreState *core;
  Backend *sim;
  gint64 t;
  guint steps;
  guint32 cmd;
  Ui *ui;
  Canvas *canvas;
  HostStatus status;
  UiKey key; /* being pressed; 0 none */
  Escape escape;
} Lab;

/* ---- The lab ---- */

static void
take_output(const Event *output, gpointer data)
{
  Lab *lab = data;
  if (output->kind == EVENT_REQUEST)
    lab->sim->class->submit(lab->sim, lab->t, &output->request);
  else if (output->kind == EVENT_CANCEL)
    lab->sim->class->cancel(lab->sim, lab->t, output->cancel.request);
}

static void
take_post(const Event *event, gpointer data)
{
  Lab *lab = data;
  g_assert_cmpint(event->t, >=, lab->t);
  lab->t = event->t;
  core_step(lab->core, event, take_output, lab);
}

static void
pass(Lab *lab, gint64 until)
{
  until = MIN(until, T_MAX);
  for (; lab->steps < STEPS_MAX; lab->steps++) {
    gint64 due = lab->sim->class->next_due(lab->sim), wake = core_deadline(lab->core);
    if (MIN(due, wake) > until)
      break;
    if (due <= wake) {
      lab->sim->class->advance(lab->sim, due);
      continue;
    }
    lab->t = MAX(lab->t, wake);
    Event event = {.kind = EVENT_WAKE, .t = lab->t};
    core_step(lab->core, &event, take_output, lab);
  }
  lab->status.now = MAX(lab->status.now, lab->t);
}

/* ---- What the screen asks for ---- */

static gboolean
is_seen(const Lab *lab)
{
  return lab->canvas->rows >= 10 && lab->canvas->columns >= 40;
}

static gboolean
host_say(gpointer host, const char *line, gint confirm, GError **error)
{
  Lab *lab = host;
  g_assert_true(lab->key == UI_KEY_ENTER && is_seen(lab) && confirm >= -1);
  g_assert_true(g_utf8_validate(line, -1, NULL));
  g_auto(GStrv) commands = command_split(line, error);
  for (guint i = 0; commands != NULL && commands[i] != NULL; i++) {
    g_autofree char *text = core_resolve(lab->core, commands[i], error);
    if (text == NULL)
      return FALSE;
    Event event = {.kind = EVENT_COMMAND,
                   .t = lab->t,
                   .command = {++lab->cmd, commands[i], text, i == 0 ? confirm : -1}};
    core_step(lab->core, &event, take_output, lab);
  }
  return commands != NULL;
}

static void
host_pause(gpointer host, gboolean paused)
{
  Lab *lab = host;
  g_assert_true(is_seen(lab));
  lab->status.paused = paused;
}

static void
host_set_speed(gpointer host, double speed)
{
  Lab *lab = host;
  g_assert_true(is_seen(lab) && speed > 0 && speed <= 1000);
  lab->status.speed = speed;
}

static void
host_leave(gpointer host)
{
  g_assert_true(((Lab *)host)->key != 0);
}

static const HostOps ops = {.say = host_say,
                            .stop = host_leave,
                            .pause = host_pause,
                            .set_speed = host_set_speed,
                            .suspend = host_leave,
                            .quit = host_leave};

/* ---- The screen ---- */

static void
check_row(const Canvas *canvas, int row)
{
  int columns = 0;
  for (int column = 0; column < canvas->columns; column++) {
    const Cell *cell = &canvas->cells[row * canvas->columns + column];
    columns += cell->width;
    g_assert_true(cell->width <= 2 && cell->style < STYLE_N);
    g_assert_true(memchr(cell->text, '\0', CELL_BYTES) && g_utf8_validate(cell->text, -1, NULL));
    for (const char *p = cell->text; *p != '\0'; p = g_utf8_next_char(p))
      g_assert_false(g_unichar_iscntrl(g_utf8_get_char(p)));
  }
  g_assert_cmpint(columns, ==, canvas->columns);
}

static void
draw(Lab *lab)
{
  ui_draw(lab->ui, lab->canvas, &lab->status);
  for (int row = 0; row < lab->canvas->rows; row++)
    check_row(lab->canvas, row);
  g_assert_true(lab->canvas->cursor_row < lab->canvas->rows &&
                lab->canvas->cursor_column < lab->canvas->columns);
}

static void
resize(Lab *lab, guint which)
{
  static const struct {
    int rows, columns;
  } sizes[] = {{24, 80}, {10, 40}, {9, 80}, {24, 39}, {43, 132}, {20, 60},  {1, 1},   {2, 120},
               {30, 1},  {11, 41}, {10, 3}, {12, 80}, {25, 79},  {14, 200}, {24, 64}, {30, 100}};
  guint size = which % G_N_ELEMENTS(sizes);
  canvas_free(lab->canvas);
  lab->canvas = canvas_new(sizes[size].rows, sizes[size].columns, which >= G_N_ELEMENTS(sizes));
  draw(lab);
}

static void
press(Lab *lab, UiKey key)
{
  lab->key = key;
  ui_key(lab->ui, key);
  lab->key = 0;
}

/* ---- Bytes as what happens ---- */

static const UiKey special[] = {UI_KEY_UP,
                                UI_KEY_DOWN,
                                UI_KEY_LEFT,
                                UI_KEY_RIGHT,
                                UI_KEY_PAGE_UP,
                                UI_KEY_PAGE_DOWN,
                                UI_KEY_HOME,
                                UI_KEY_END,
                                UI_KEY_TAB,
                                UI_KEY_BACKTAB,
                                UI_KEY_ENTER, /* 10, a newline */
                                UI_KEY_BACKSPACE,
                                UI_KEY_DELETE,
                                UI_KEY_ESCAPE, /* 13, as the character */
                                UI_KEY_CTRL_C,
                                UI_KEY_CTRL_Z,
                                UI_KEY_F1,
                                UI_KEY_F1 + 1,
                                UI_KEY_F1 + 2,
                                UI_KEY_F1 + 3,
                                UI_KEY_F1 + 4,
                                UI_KEY_F1 + 5,
                                UI_KEY_F1 + 9,
                                UI_KEY_F12,
                                UI_KEY_UNKNOWN,
                                UI_KEY_F1 + 7,
                                UI_KEY_CTRL_L,
                                21,
                                23,
                                1,
                                5,
                                11};
static const UiKey strange[] = {0xe4,
                                0x4e00,
                                0x1f5a5,
                                0x301,
                                0x9b,
                                0x7f,
                                0x200b,
                                0xd800,
                                0x10ffff,
                                0xfffd,
                                0x202e,
                                0x1b,
                                0,
                                -1,
                                UI_KEY_ALT + '1',
                                UI_KEY_ALT + '3',
                                UI_KEY_ALT + '4',
                                UI_KEY_ALT + '5',
                                UI_KEY_ALT + '6',
                                UI_KEY_ALT + 'x',
                                UI_KEY_BASE,
                                G_MAXINT,
                                0xdf,
                                0x300,
                                0xff21,
                                0xa0,
                                0x85,
                                '\t',
                                '\r',
                                0x2028,
                                UI_KEY_CLICK, /* these two where the two bytes before say */
                                UI_KEY_WHEEL_DOWN};

G_STATIC_ASSERT(G_N_ELEMENTS(special) == 32 && G_N_ELEMENTS(strange) == 32);

static void
point(Lab *lab, UiKey key, int row, int column)
{
  lab->key = key;
  ui_mouse(lab->ui, key, row, column);
  lab->key = 0;
}

static void
take_character(Lab *lab, guint8 byte)
{
  UiKey key;
  if (!escape_take(&lab->escape, byte, lab->t / 1000, &key))
    return;
  if (key >= UI_KEY_CLICK && key <= UI_KEY_WHEEL_DOWN)
    point(lab, key, lab->escape.row, lab->escape.column);
  else
    press(lab, key);
}

static void
wait_for_more(Lab *lab, gint64 span)
{
  UiKey key;
  if (escape_pause(&lab->escape, &key))
    press(lab, key);
  pass(lab, lab->t + span);
}

/* BEFORE are the two bytes before it. */
static void
take_byte(Lab *lab, guint8 byte, const guint8 *before)
{
  if (byte < 0x20 && special[byte] != UI_KEY_ESCAPE)
    press(lab, special[byte]);
  else if (byte < 0x80)
    take_character(lab, byte < 0x20 ? 27 : byte);
  else if (byte < 0xc0)
    wait_for_more(lab, (byte - 0x80 + 1) * 250 * TIME_MS);
  else if (byte < 0xe0)
    resize(lab, byte - 0xc0);
  else if (byte < 0xfe)
    press(lab, strange[byte - 0xe0]);
  else
    point(lab, strange[byte - 0xe0], before[0], before[1]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static Layout *layout;
  static JobSet *jobs;
  const CoreOptions options = {.seed = 1};
  if (layout == NULL) {
    layout = data_layout(FUZZ_LAB, NULL);
    jobs = data_jobs(NULL);
  }
  Lab lab = {.core = core_new(layout, &options), .canvas = canvas_new(24, 80, FALSE)};
  lab.status = (HostStatus){
      .lab = layout->lab, .speed = 1, .end = -1, .wall_clock = "14:03", .recording = TRUE};
  lab.sim = sim_new("sim", layout, jobs, 1, take_post, &lab);
  lab.ui = ui_new(lab.core, &ops, &lab);
  lab.sim->class->start(lab.sim, 0);
  pass(&lab, 0);
  draw(&lab);
  for (size_t i = 0; i < MIN(size, 512); i++) {
    take_byte(&lab, data[i], i < 2 ? (const guint8[]){0, 0} : data + i - 2);
    if (i % 8 == 0 || data[i] == '\n')
      draw(&lab);
  }
  draw(&lab);
  ui_free(lab.ui);
  canvas_free(lab.canvas);
  backend_free(lab.sim);
  core_free(lab.core);
  return 0;
}
