#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backends/absent.h"
#include "tests/contract/backend_ask.h"

#define WHY "backend `x` is the module /x.so, which is not there"

typedef struct {
  Layout *layout;
  BackendCheck *check;
  guint n_links; /* `down`, and why */
} Lab;

static const char layout_text[] = "lab: t\ndefaults: {power: ipmi}\nswitches: {sw1: {}}\n"
                                  "clients: {\"a[1-4]\": {switch: sw1, speed: 1 Gbit/s}}\n";

static void
on_seen(const Event *event, gpointer data)
{
  Lab *lab = data;

  if (event->kind != EVENT_LINK)
    return;
  assert_string_equal(event->link.name, "power");
  assert_false(event->link.up);
  assert_string_equal(event->link.text, WHY);
  lab->n_links++;
}

static int
set_up(void **state)
{
  Lab *lab = g_new0(Lab, 1);
  GError *error = NULL;

  lab->layout = layout_parse("t", layout_text, strlen(layout_text), &error);
  if (lab->layout == NULL)
    fail_msg("%s", error->message);
  lab->check = backend_check_new(lab->layout, on_seen, lab);
  BackendSetup setup = {.name = g_intern_string("power"),
                        .layout = lab->layout,
                        .post = backend_check_post,
                        .post_data = lab->check};
  g_autofree char *why = g_strdup(WHY);
  backend_check_start(lab->check, absent_new(&setup, why));
  *state = lab;
  return 0;
}

static int
tear_down(void **state)
{
  Lab *lab = *state;

  backend_check_free(lab->check);
  layout_free(lab->layout);
  g_free(lab);
  return 0;
}

/* Whatever is asked: why it cannot be had, and never that it could not be done. */
static void
test_each(void **state)
{
  const Lab *lab = *state;

  assert_int_equal(lab->n_links, 1);
  for (Operation operation = OP_STATUS; operation < OP_N; operation++) {
    guint32 asked = backend_ask(lab->check, operation, "a1 a3", 10 * TIME_SECOND, NULL);
    backend_ask_finish(lab->check, asked);
    backend_ask_expect(lab->check, asked, "a1", VERDICT_FAILED, "a1: " WHY);
    backend_ask_expect(lab->check, asked, "a3", VERDICT_FAILED, "a3: " WHY);
  }
  assert_int_equal(lab->n_links, 1);
}

static void
test_walk(void **state)
{
  const Lab *lab = *state;
  static const CheckAsk asks[] = {
      {OP_ON, 3, NULL, NULL}, {OP_STATUS, 1, NULL, NULL}, {OP_STATUS, 0, NULL, NULL}};
  static const NodeId nodes[] = {0, 1, 2, 3};
  const CheckWalk walk = {asks, nodes, G_N_ELEMENTS(nodes), 100, TIME_SECOND / 50};

  backend_check_walk(lab->check, &walk, 7);
  assert_null(backend_check_violation(lab->check));
  assert_int_equal(backend_check_n_open(lab->check), 0);
  assert_int_not_equal(backend_check_count(lab->check, VERDICT_FAILED), 0);
  assert_int_equal(backend_check_count(lab->check, VERDICT_OK), 0);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_each, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_walk, set_up, tear_down),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
