/* What stands beside a seat's number when it is reserved or in use, and on its card. */
#include "screen_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const HostOps no_ops = {0};

static void
shows(ScreenLab *lab, const char *text)
{
  g_autofree char *screen = screen_lab_draw(lab, 24, 80, FALSE);
  if (!strstr(screen, text))
    fail_msg("no \"%s\" on\n%s", text, screen);
}

/* a01 to a04 are up, the others off. */
static ScreenLab *
half_a_room(void)
{
  ScreenLab *lab = screen_lab_new("layouts/openslx-two-rooms.yaml", NULL, &no_ops, NULL);
  screen_lab_run(lab, 1);
  screen_lab_say(lab, "boot a[01-04]", 4);
  screen_lab_run(lab, 90);
  return lab;
}

static void
test_tiles(void **state)
{
  (void)state;
  g_autoptr(ScreenLab) lab = half_a_room();
  shows(lab, "01· 02· 03·   04· 05- 06-");
  screen_lab_say(lab, "reserve a[02,04-05] until 1 h \"exam\"", -1);
  screen_lab_say(lab, "set a03.usage \"in use\"", 1);
  screen_lab_say(lab, "set a04.usage \"in use\"", 1);
  screen_lab_run(lab, 91);
  shows(lab, "01· 02L 03u   04u 05L 06-");
  shows(lab, "4 of 17 on, 3 L");
  screen_lab_say(lab, "boot roomA", -1);
  assert_non_null(strstr(state_pending(lab->core)->plan,
                         "13 seats, 1 on, 2 in use, 2 reserved; left out: a[03-04] (in use), "
                         "a[02,05] (reserved)"));
}

static void
test_they_end(void **state)
{
  (void)state;
  g_autoptr(ScreenLab) lab = half_a_room();
  screen_lab_say(lab, "reserve a[02,05] until 30 s \"exam\"", -1);
  shows(lab, "01· 02L 03·   04· 05L 06-");
  screen_lab_run(lab, 119);
  shows(lab, "01· 02L 03·   04· 05L 06-");
  screen_lab_run(lab, 121);
  shows(lab, "01· 02· 03·   04· 05- 06-");
  screen_lab_say(lab, "reserve a05 until 1 h \"exam\"", -1);
  screen_lab_say(lab, "release roomA", -1);
  shows(lab, "01· 02· 03·   04· 05- 06-");
}

static void
test_card_tells_why(void **state)
{
  (void)state;
  g_autoptr(ScreenLab) lab = half_a_room();
  screen_lab_say(lab, "reserve a12 until 90 min \"exam, Dr. Weber\"", -1);
  screen_lab_type(lab, "12");
  ui_key(lab->ui, UI_KEY_ENTER);
  shows(lab, "for 90 min more, until 01:31:30 of this session: exam, Dr.");
  screen_lab_say(lab, "reserve a12 until 50 h \"exam\"", -1);
  shows(lab, "for 50 h 0 min more, until 50:01:30 of this session: exam");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tiles),
      cmocka_unit_test(test_they_end),
      cmocka_unit_test(test_card_tells_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
