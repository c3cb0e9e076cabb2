#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/command.h"
#include "core_lab.h"

static const CoreOptions yes = {.seed = 1, .consent = CONSENT_YES};
static const CoreOptions asks = {.seed = 1, .consent = CONSENT_ASK};

static const NodeState *
seat(const Lab *lab, const char *name)
{
  return state_node(lab->state, lab_node(lab, name));
}

static void
test_plans_leave_reserved_seats_out(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "reserve a02 until 60 s \"exam\"");
  lab_expect(lab, "done 1 ok\n");
  assert_string_equal(seat(lab, "a02")->reserved, "exam");
  assert_int_equal(state_counts(lab->state, NULL, 0).reserved, 1);
  lab_say(lab, "power on a[01-02]");
  lab_expect(lab, "plan 2: on a01 by sim; 1 seats; reserved a02\n"
                  "note warning: left out: a02 (reserved)\n"
                  "request 3 on sim a01 cmd=2 until 30 s\n");
  lab_say(lab, "boot a02");
  lab_expect(lab, "plan 3: 0 seats; reserved a02\n"
                  "note warning: nothing is left to boot pxe ubuntu-10.04::nfs: a02 (reserved)\n"
                  "done 3 refused\n");
  lab_say(lab, "power on a02 including in-use");
  lab_expect(lab, "plan 4: on a02 by sim; 1 seats; reserved a02\n"
                  "request 4 on sim a02 cmd=4 until 30 s\n");
}

static void
test_question_counts_them(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&asks);
  lab_say(lab, "reserve a[01-02] until 1 min \"exam\"");
  lab_see(lab, "a01", "usage", "in use");
  lab_say(lab, "power off a[01-02] including in-use");
  assert_string_equal(state_pending(lab->state)->plan,
                      "off a[01-02] by sim: 2 seats, 0 on, 1 in use, 1 reserved");
}

static void
test_status_and_loads_go_on(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "reserve a02 until 60 s \"exam\"");
  lab_say(lab, "power status a[01-02]");
  lab_expect(lab, "done 1 ok\nrequest 3 status sim a[01-02] cmd=2 until 5 s\n");
}

static void
test_expiry(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "reserve a01 until 60 s \"exam\"");
  lab_say(lab, "reserve a02 until 90 s \"exam\"");
  lab_expect(lab, "done 1 ok\ndone 2 ok\n");
  assert_int_equal(core_deadline(lab->state), 60 * TIME_SECOND);
  lab_at(lab, 59.9);
  lab_expect(lab, "");
  g_autoptr(CoreState) copy = core_clone(lab->state);
  lab_at(lab, 60);
  lab_expect(lab, "note info: a01: the reservation is over\n");
  assert_int_equal(seat(lab, "a01")->reserved_t, -1);
  assert_null(seat(lab, "a01")->reserved);
  assert_int_equal(core_deadline(lab->state), 90 * TIME_SECOND);
  assert_string_equal(state_node(copy, lab_node(lab, "a01"))->reserved, "exam");
  /* A later time takes the place of the earlier, which then ends nothing. */
  lab_say(lab, "reserve a02 until 120 s \"longer\"");
  lab_expect(lab, "note info: a02: reserved before already; this takes its place\ndone 3 ok\n");
  lab_at(lab, 100);
  lab_expect(lab, "");
  assert_string_equal(seat(lab, "a02")->reserved, "longer");
  lab_at(lab, 180);
  lab_expect(lab, "note info: a02: the reservation is over\n");
  assert_int_equal(core_deadline(lab->state), TIME_NEVER);
}

static void
test_release(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "reserve a[01-02] until 60 s \"exam\"");
  lab_say(lab, "release a[01-02]");
  lab_expect(lab, "done 1 ok\ndone 2 ok\n");
  assert_int_equal(state_counts(lab->state, NULL, 0).reserved, 0);
  assert_int_equal(core_deadline(lab->state), TIME_NEVER);
  lab_say(lab, "release a01");
  lab_expect(lab, "note info: a01: not reserved\ndone 3 ok\n");
}

static void
test_observed(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_see(lab, "a01", "reserved", "until 60 s by anna@desk1: exam");
  assert_string_equal(seat(lab, "a01")->reserved, "by anna@desk1: exam");
  assert_int_equal(seat(lab, "a01")->reserved_t, 60 * TIME_SECOND);
  lab_see(lab, "a01", "reserved", "no");
  assert_int_equal(seat(lab, "a01")->reserved_t, -1);
  static const char *const nonsense[] = {"",
                                         "until",
                                         "until 60 by a: b",
                                         "until 0 s by a: b",
                                         "until -1 s by a: b",
                                         "until 99999999 s by a: b",
                                         "until 99999999999999999999 s by a: b"};
  for (guint i = 0; i < G_N_ELEMENTS(nonsense); i++) {
    lab_see(lab, "a01", "reserved", nonsense[i]);
    assert_int_equal(seat(lab, "a01")->reserved_t, -1);
  }
  lab_expect(lab, "");
}

static void
test_free_has_none(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  lab_say(lab, "reserve a02 until 60 s \"exam\"");
  g_autofree char *text = core_resolve(lab->state, "boot @free", NULL);
  assert_string_equal(text, "boot a01");
  lab_see(lab, "a01", "usage", "in use");
  assert_null(core_resolve(lab->state, "boot @free", NULL));
  lab_see(lab, "a01", "usage", "unknown");
  g_autofree char *again = core_resolve(lab->state, "release @free", NULL);
  assert_string_equal(again, "release a01");
  assert_string_equal(state_property(lab->state, "a01.usage"), "unknown");
}

static void
test_resolved(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  g_autofree char *text = core_resolve(lab->state, "reserve roomA until 1 h \"exam\"", NULL);
  assert_string_equal(text, "reserve a[01-02] until 3600 s exam");
  /* Core has no clock. */
  lab_say(lab, "reserve a01 until 18:00 \"exam\"");
  lab_expect(lab, "note error: 18:00 was not turned into a duration\ndone 1 failed\n");
}

static void
test_read_only_and_dry_run(void **state)
{
  (void)state;
  static const char *const commands[] = {"reserve a01 until 60 s \"exam\"", "release a01"};
  CoreOptions options = {.seed = 1, .read_only = TRUE};
  g_autoptr(Lab) watched = lab_two_seats(&options);
  g_autoptr(Lab) dry = lab_two_seats(&(CoreOptions){.seed = 1, .dry_run = TRUE});
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
    guint32 cmd = lab_say(watched, commands[i]);
    lab_say(dry, commands[i]);
    g_autofree char *refused =
        g_strdup_printf("note warning: this session is read-only\ndone %u refused\n", cmd);
    g_autofree char *ok = g_strdup_printf("done %u ok\n", cmd);
    lab_expect(watched, refused);
    lab_expect(dry, ok);
  }
  assert_int_equal(seat(dry, "a01")->reserved_t, -1);
}

static void
test_label_of_a_node(void **state)
{
  (void)state;
  g_autoptr(Lab) lab = lab_two_seats(&yes);
  static const char *const refused[] = {"boot a01 as a02", "load start find-cat on a01 as s1",
                                        "measure bond for 1 s as a01"};
  for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
    g_autoptr(GError) error = NULL;
    assert_null(core_resolve(lab->state, refused[i], &error));
    assert_true(g_str_has_suffix(error->message, " is a node here, and cannot be a label as well"));
  }
  g_autofree char *text = core_resolve(lab->state, "boot a01 as a03", NULL);
  assert_string_equal(text, "boot a01 as a03");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plans_leave_reserved_seats_out),
      cmocka_unit_test(test_question_counts_them),
      cmocka_unit_test(test_status_and_loads_go_on),
      cmocka_unit_test(test_expiry),
      cmocka_unit_test(test_release),
      cmocka_unit_test(test_observed),
      cmocka_unit_test(test_free_has_none),
      cmocka_unit_test(test_resolved),
      cmocka_unit_test(test_read_only_and_dry_run),
      cmocka_unit_test(test_label_of_a_node),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
