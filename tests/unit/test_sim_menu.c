#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tests/unit/sim_lab.h"

static SimLab *
new_lab(void)
{
  g_autofree char *text = NULL;
  assert_true(g_file_get_contents("tests/unit/samples/boot-menu.yaml", &text, NULL, NULL));
  SimLab *lab = sim_lab_new(text, 1);
  sim_lab_keep_all(lab);
  return lab;
}

/* What the last change would be made of. Free with g_free. */
static char *
last_was(const SimLab *lab)
{
  const char *line = g_strrstr(lab->said->str, " was ");
  assert_non_null(line);
  line += strlen(" was ");
  return g_strndup(line, strcspn(line, "\n"));
}

static void
change(SimLab *lab, const char *setting, const char *value)
{
  g_string_truncate(lab->said, 0);
  sim_lab_do(lab, OP_GET, "s1", WITH("path", "s1.pxe", "setting", setting, "value", value));
  g_autofree char *was = last_was(lab);
  sim_lab_do(lab, OP_SET, "s1",
             WITH("path", "s1.pxe", "setting", setting, "value", value, "was", was));
}

static gboolean
shows(SimLab *lab, const char *line)
{
  g_string_truncate(lab->said, 0);
  sim_lab_do(lab, OP_GET, "s1", WITH("path", "s1.pxe"));
  return strstr(lab->said->str, line) != NULL;
}

static void
test_changes(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_lab();
  assert_true(shows(lab, "timeout        10.0 s  (pxelinux.cfg/default:3)"));
  change(lab, "timeout", "35");
  assert_true(shows(lab, "timeout        3.5 s  (pxelinux.cfg/default:3)"));
  change(lab, "default-entry", "disk");
  assert_true(shows(lab, "default-entry  disk  (pxelinux.cfg/default:2)"));
  change(lab, "password", "env:NOBODY_HAS_THIS"); /* no word is looked for */
  assert_true(shows(lab, "password       sha512  ("));
  sim_lab_do(lab, OP_GET, "s1", WITH("path", "s1.pxe", "undo", "yes"));
  g_autofree char *was = last_was(lab);
  sim_lab_do(lab, OP_SET, "s1", WITH("path", "s1.pxe", "undo", "yes", "was", was));
  assert_true(shows(lab, "password       none"));
  assert_true(shows(lab, "default-entry  disk"));
}

static void
test_refusals(void **state)
{
  (void)state;
  g_autoptr(SimLab) lab = new_lab();
  assert_non_null(strstr(sim_lab_fails(lab, OP_GET, "s1", WITH("path", "s1.pxe", "undo", "yes")),
                         "there is nothing to take back"));
  assert_non_null(
      strstr(sim_lab_fails(lab, OP_GET, "s1",
                           WITH("path", "s1.pxe", "setting", "default-entry", "value", "ubunto")),
             "the menu has no entry `ubunto`"));
  assert_non_null(strstr(sim_lab_fails(lab, OP_SET, "s1",
                                       WITH("path", "s1.pxe", "setting", "timeout", "value", "1",
                                            "was", "what it was not")),
                         "changed by somebody else meanwhile"));
  assert_true(shows(lab, "timeout        10.0 s"));
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_changes),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
