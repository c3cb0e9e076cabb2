/* Sessions of random keys, clicks, sizes and moments. Whatever is pressed: power is asked for only
 * after the right number was typed, nothing is said while the screen is too small, and every screen
 * draws. */
#include "screen_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define SESSIONS 200
#define STEPS 150

typedef struct {
  ScreenLab *lab;
  guint32 random;
  gboolean hidden; /* the last screen drawn was too small */
  guint n_said, n_confirmed;
} Operator;

/* xorshift32: the same keys on every machine. */
static guint
draw(Operator *operator, guint n)
{
  operator->random ^= operator->random << 13;
  operator->random ^= operator->random>> 17;
  operator->random ^= operator->random << 5;
  return operator->random % n;
}

static gboolean
host_say(gpointer data, const char *line, gint confirm, GError **error)
{
  Operator *operator= data;
  ScreenLab *lab = operator->lab;
  g_autofree char *text = core_resolve(lab->core, line, error);
  assert_false(operator->hidden);
  operator->n_said++;
  if (!text)
    return FALSE;
  if (confirm >= 0) { /* only what was asked for is confirmed */
    const PendingConsent *pending = state_pending(lab->core);
    assert_non_null(pending->text);
    assert_string_equal(pending->text, line);
    operator->n_confirmed += confirm ==(gint) pending->seats;
  }
  lab->n_power = 0;
  screen_lab_say(lab, line, confirm);
  /* Nothing is switched at once but by a number that is right. */
  if (confirm < 0)
    assert_int_equal(lab->n_power, 0);
  return TRUE;
}

static void
host_stop(gpointer data)
{
  screen_lab_say(((Operator *)data)->lab, "stop", -1);
}

static void
host_quit(gpointer data)
{
  (void)data;
}

static const HostOps ops = {.say = host_say, .stop = host_stop, .quit = host_quit};

static void
press_any(Operator *operator)
{
  static const UiKey special[] = {
      UI_KEY_UP,
      UI_KEY_DOWN,
      UI_KEY_LEFT,
      UI_KEY_RIGHT,
      UI_KEY_PAGE_UP,
      UI_KEY_PAGE_DOWN,
      UI_KEY_HOME,
      UI_KEY_END,
      UI_KEY_ENTER,
      UI_KEY_TAB,
      UI_KEY_BACKTAB,
      UI_KEY_BACKSPACE,
      UI_KEY_DELETE,
      UI_KEY_ESCAPE,
      UI_KEY_CTRL_C,
      UI_KEY_CTRL_L,
      UI_KEY_UNKNOWN,
      UI_KEY_ALT + '5',
      UI_KEY_F1,
      UI_KEY_F1 + 1,
      UI_KEY_F1 + 2,
      UI_KEY_F1 + 3,
      UI_KEY_F1 + 4,
      UI_KEY_F1 + 5,
      0x7fffffff,
      0x10ffff + 1,
      0xd800,
      0x300,
      0x4e00,
      0x9b,
      1,
      UI_KEY_ALT + 127,
  };
  UiKey key = draw(operator, 2) ? special[draw(operator, G_N_ELEMENTS(special))]
                                : (UiKey)(' ' + draw(operator, 95));
  ui_key(operator->lab->ui, key);
}

static void
click_any(Operator *operator)
{
  static const UiKey keys[] = {UI_KEY_CLICK, UI_KEY_CLICK, UI_KEY_WHEEL_UP, UI_KEY_WHEEL_DOWN};
  int row = (int)draw(operator, 26) - 1, column = (int)draw(operator, 82) - 1;
  guint n_said = operator->n_said;
  ui_mouse(operator->lab->ui, keys[draw(operator, G_N_ELEMENTS(keys))], row, column);
  assert_int_equal(operator->n_said, n_said);
}

static void
type_command(Operator *operator)
{
  static const char *const lines[] = {
      "boot roomA as first",
      "boot @off as rest",
      "power off @on",
      "power cycle a[01-05] stagger 1 s",
      "power reset b01; power on b02",
      "load start find-cat on @on for 5 s as reading",
      "load stop reading",
      "wait boot first login timeout 3 s",
      "measure bond seats for 2 s as m",
      "set slx1/bond0.policy layer2+3",
      "set slx1/eth0.state down",
      "set a03/eth0.state down",
      "get slx1.nfsd",
      "expect first.boot.mean < 20 s",
      "frobnicate",
      "boot nowhere",
      "mark \"x\"",
  };
  Ui *ui = operator->lab->ui;
  ui_key(ui, UI_KEY_ESCAPE);
  ui_key(ui, ':');
  screen_lab_type(operator->lab, lines[draw(operator, G_N_ELEMENTS(lines))]);
  ui_key(ui, UI_KEY_ENTER);
}

static void
answer_consent(Operator *operator)
{
  const PendingConsent *pending = state_pending(operator->lab->core);
  g_autofree char *number = g_strdup_printf("%u", pending->seats + (draw(operator, 4) ? 0 : 1));
  if (!pending->text)
    return;
  screen_lab_type(operator->lab, number);
  ui_key(operator->lab->ui, UI_KEY_ENTER);
}

static void
look(Operator *operator)
{
  static const struct {
    int rows, columns;
  } sizes[] = {{24, 80}, {24, 80}, {43, 132}, {10, 40}, {20, 60},
               {9, 80},  {24, 39}, {1, 1},    {11, 41}};
  guint size = draw(operator, G_N_ELEMENTS(sizes));
  gboolean ascii = draw(operator, 2);
  g_autofree char *screen =
      screen_lab_draw(operator->lab, sizes[size].rows, sizes[size].columns, ascii);
  operator->hidden = sizes[size].rows<10 || sizes[size].columns<40;
  if (ascii)
    assert_true(g_str_is_ascii(screen));
  assert_true(g_utf8_validate(screen, -1, NULL));
}

static void
step(Operator *operator)
{
  switch (draw(operator, 9)) {
  case 0:
    if (!operator->hidden)
      type_command(operator);
    break;
  case 1:
    answer_consent(operator);
    break;
  case 2:
    screen_lab_run(operator->lab,
                   (double)operator->lab->t / 1e9 +(double) draw(operator, 3000) / 1000);
    break;
  case 3:
    look(operator);
    break;
  case 4:
    click_any(operator);
    break;
  default:
    press_any(operator);
  }
}

static void
test_random_sessions(void **state)
{
  guint said = 0, confirmed = 0;
  (void)state;
  for (guint seed = 1; seed <= SESSIONS; seed++) {
    Operator operator= {.random = seed * 2654435761u};
    operator.lab = screen_lab_new("layouts/openslx-two-rooms.yaml", NULL, &ops, &operator);
    for (int i = 0; i < STEPS; i++)
      step(&operator);
    said += operator.n_said;
    confirmed += operator.n_confirmed;
    screen_lab_free(operator.lab);
  }
  print_message("%d sessions of %d steps: %u lines said, %u confirmed\n", SESSIONS, STEPS, said,
                confirmed);
  assert_true(said > SESSIONS && confirmed > SESSIONS / 10);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_sessions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
