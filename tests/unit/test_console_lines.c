/* What a serial line brings in pieces, as lines: of loaders that say ` ok` when a file has come, of
 * prompts that end with nothing, of menus that tick. */
#include "backends/console_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
  Backend backend;
  Layout *layout;
  Ledger *ledger;
  ConsoleLines lines;
  GString *said; /* `LINE|` each */
} Lab;

static const BackendClass class = {.name = "serial", .operations = 1u << OP_WATCH};

static void
on_event(const Event *event, gpointer data)
{
  Lab *lab = data;
  if (event->kind == EVENT_LINE)
    g_string_append_printf(lab->said, "%s|", event->line.text);
}

static void
begin(LedgerItem *item, gpointer data)
{
  Lab *lab = data;
  console_lines_init(&lab->lines, item);
}

static void
end(LedgerItem *item, gpointer data)
{
  (void)item;
  (void)data;
}

static int
set_up(void **state)
{
  static const LedgerClass ledger = {.begin = begin, .end = end};
  static const char layout[] =
      "lab: t\nswitches: {sw1: {}}\nclients: {a1: {switch: sw1, speed: 1 Gbit/s}}\n";
  GError *error = NULL;
  Lab *lab = g_new0(Lab, 1);
  lab->layout = layout_parse("t", layout, strlen(layout), &error);
  if (lab->layout == NULL)
    fail_msg("%s", error->message);
  lab->said = g_string_new(NULL);
  lab->backend = (Backend){.class = &class, .name = "serial", .post = on_event, .post_data = lab};
  lab->ledger = ledger_new(&lab->backend, lab->layout, &ledger, lab);
  NodeId node = lab->layout->clients[0];
  ledger_submit(
      lab->ledger, 0,
      &(RequestEvent){
          .id = 1, .operation = OP_WATCH, .nodes = &node, .n_nodes = 1, .deadline = TIME_NEVER});
  while (lab->lines.item == NULL)
    g_main_context_iteration(NULL, TRUE);
  *state = lab;
  return 0;
}

static int
tear_down(void **state)
{
  Lab *lab = *state;
  console_lines_clear(&lab->lines);
  ledger_free(lab->ledger);
  layout_free(lab->layout);
  g_string_free(lab->said, TRUE);
  g_free(lab);
  return 0;
}

static void
take(Lab *lab, const char *bytes)
{
  console_lines_take(&lab->lines, bytes, strlen(bytes));
}

/* What stands is said once it has stood; nothing is said that was said before. */
static void
rest(Lab *lab)
{
  while (lab->lines.rest != 0)
    g_main_context_iteration(NULL, TRUE);
}

static void
test_whole_lines(void **state)
{
  Lab *lab = *state;
  take(lab, "one\r\n\r\ntwo\nth");
  assert_string_equal(lab->said->str, "one|two|");
  take(lab, "ree\n");
  assert_string_equal(lab->said->str, "one|two|three|");
  console_lines_take(&lab->lines, "a\0b\n", 4);
  assert_string_equal(lab->said->str, "one|two|three|ab|");
}

static void
test_prompt(void **state)
{
  Lab *lab = *state;
  take(lab, "v01 login: ");
  assert_string_equal(lab->said->str, "");
  rest(lab);
  assert_string_equal(lab->said->str, "v01 login: |");
  take(lab, "\r\n");
  console_lines_end(&lab->lines);
  assert_string_equal(lab->said->str, "v01 login: |");
  take(lab, "next");
  console_lines_end(&lab->lines);
  assert_string_equal(lab->said->str, "v01 login: |next|");
}

/* A loader names a file when it asks for it, and the line's end comes with the file's. */
static void
test_goes_on(void **state)
{
  Lab *lab = *state;
  take(lab, "vmlinuz...");
  rest(lab);
  take(lab, " 31%");
  rest(lab);
  take(lab, "\b\b\b\b    \b\b\b\b ok\r\n");
  assert_string_equal(lab->said->str, "vmlinuz...|vmlinuz... 31%|vmlinuz... ok|");
}

/* Each byte is waited for anew: a line is not cut because all of it took long. */
static void
test_slow(void **state)
{
  Lab *lab = *state;
  take(lab, "Linux ver");
  guint first = lab->lines.rest;
  take(lab, "sion 6.1");
  assert_int_not_equal(lab->lines.rest, first);
  take(lab, "\n");
  assert_int_equal(lab->lines.rest, 0);
  assert_string_equal(lab->said->str, "Linux version 6.1|");
}

static void
test_long(void **state)
{
  Lab *lab = *state;
  g_autofree char *menu = g_strnfill(250, '=');
  take(lab, menu);
  rest(lab);
  g_string_truncate(lab->said, 0);
  take(lab, "9 s");
  rest(lab);
  take(lab, "8 s");
  rest(lab);
  assert_string_equal(lab->said->str, "9 s|9 s8 s|");
  g_autofree char *endless = g_strnfill(3000, '.');
  g_string_truncate(lab->said, 0);
  take(lab, endless);
  assert_int_equal(lab->said->len, 2000 + 1);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_whole_lines, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_prompt, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_goes_on, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_slow, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_long, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
