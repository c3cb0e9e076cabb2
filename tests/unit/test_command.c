#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/command.h"

/* Parses TEXT, and what it prints, and compares the two prints. */
static Command *
parse(const char *text)
{
  g_autoptr(GError) error = NULL;
  Command *command = command_parse(text, &error);
  if (command == NULL)
    fail_msg("%s: %s", text, error->message);
  return command;
}

static void
check_print(const char *text, const char *expected)
{
  g_autoptr(Command) command = parse(text);
  g_autofree char *printed = command_print(command);
  assert_string_equal(printed, expected);
  g_autoptr(Command) again = parse(printed);
  g_autofree char *twice = command_print(again);
  assert_string_equal(twice, expected);
}

static void
check_error(const char *text, const char *message)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Command) command = command_parse(text, &error);
  if (command != NULL)
    fail_msg("%s was accepted", text);
  assert_true(error->domain == COMMAND_ERROR);
  assert_string_equal(error->message, message);
}

static void
test_canonical(void **state)
{
  (void)state;
  check_print("power status a01", "power status a01");
  check_print(" power\toff  @roomA soft", "power off @roomA soft");
  check_print("power off a01 hard", "power off a01");
  check_print("power cycle a01 stagger 2 s soft", "power cycle a01 soft stagger 2 s");
  check_print("power cycle a[01-17]!a04 including in-use stagger 500ms",
              "power cycle a[01-17]!a04 stagger 500 ms including in-use");
  check_print("power on \"first(3, @off)\"", "power on \"first(3, @off)\"");
  check_print("power on \"first(3,@off)\"", "power on first(3,@off)");
  check_print("boot roomA", "boot roomA");
  check_print("boot roomA as b1 cold stagger 1.5 s entry ubuntu-10.04::nbd via pxe",
              "boot roomA via pxe entry ubuntu-10.04::nbd cold stagger 1.5 s as b1");
  check_print("boot \"cold\" warm as \"on\"", "boot \"cold\" warm as \"on\"");
  check_print("boot a01 stagger 0 s", "boot a01");
  check_print("wait boot b1 login", "wait boot b1 login");
  check_print("wait boot @roomA root timeout 2 min at-least 15",
              "wait boot @roomA root at-least 15 timeout 120 s");
  check_print("wait load f1", "wait load f1");
  check_print("wait power a[01-03] off timeout 90s", "wait power a[01-03] off timeout 90 s");
  check_print("load start find-cat on roomA", "load start find-cat on roomA");
  check_print("load start dd on a01 block=8 KEY=\"two words\" empty= warm for 1 h as d",
              "load start dd on a01 warm for 3600 s as d block=8 KEY=\"two words\" empty=");
  check_print("load stop d", "load stop d");
  check_print("load leave d", "load leave d");
  check_print("measure bond seats link:sw2-sw3 as m during b1",
              "measure bond seats link:sw2-sw3 during b1 as m");
  check_print("measure port:eth0 bond:bond0 server for 10 s window 1000 ms as m",
              "measure port:eth0 bond:bond0 server for 10 s as m");
  check_print("measure bond for 10 s window 0.25 s as m",
              "measure bond for 10 s window 250 ms as m");
  check_print("expect b1.boot.mean within 18s +-8%", "expect b1.boot.mean within 18 s +-8%");
  check_print("expect b1.boot.mean within 18 s +-0.50 %", "expect b1.boot.mean within 18 s +-0.5%");
  check_print("expect m.bond.tx.peak <= 270 MiB/s", "expect m.bond.tx.peak <= 270 MiB/s");
  check_print("expect m.sw2-sw3.tx.mean > 1Gbit/s", "expect m.sw2-sw3.tx.mean > 1 Gbit/s");
  check_print("expect b1.ok >= 16", "expect b1.ok >= 16");
  check_print("expect b1.skew < 5%", "expect b1.skew < 5 %");
  check_print("set slx1/bond0.policy layer2+3", "set slx1/bond0.policy layer2+3");
  check_print("set slx1/eth0.speed \"1 Gbit/s\"", "set slx1/eth0.speed 1 Gbit/s");
  check_print("set slx1/eth0.speed 1 Gbit/s", "set slx1/eth0.speed 1 Gbit/s");
  check_print("set link:sw2-sw3.state on", "set link:sw2-sw3.state on");
  check_print("set slx1.note \"a b\"", "set slx1.note \"a b\"");
  check_print("get node-1.example.org.nfsd", "get node-1.example.org.nfsd");
  check_print("mark \"say \\\"hi\\\", 5 \\$ \\\\ ; # ü\"",
              "mark \"say \\\"hi\\\", 5 \\$ \\\\ ; # ü\"");
  check_print("mark a\\nb # a remark", "mark \"a\\\\nb\"");
  check_print("sleep 0 s", "sleep 0 s");
  check_print("sleep 1.000000001 s", "sleep 1.000000001 s");
  check_print("plan try boot a01", "try plan boot a01");
  check_print("keys roomA  F12 ctrl-alt-del down including in-use",
              "keys roomA F12 Ctrl-Alt-Delete Down including in-use");
  check_print("type a07 \"for ü; # \\\"\"", "type a07 \"for ü; # \\\"\"");
  check_print("route a07 including in-use", "route a07 including in-use");
  check_print("route  next", "route next");
  check_print("try route back", "try route back");
  check_print("route \"back\"", "route \"back\"");
  check_print("stop", "stop");
  check_print("try quit", "try quit");
}

static void
test_reserve(void **state)
{
  (void)state;
  check_print("reserve a[01-17]  until 90min \"exam, Dr. W\"",
              "reserve a[01-17] until 5400 s \"exam, Dr. W\"");
  check_print("reserve roomA until 18:00 exam", "reserve roomA until 18:00 exam");
  check_print("reserve a01 until \"2028-02-29T18:00\" s", "reserve a01 until 2028-02-29T18:00 s");
  check_print("reserve \"until\" until 5 s s", "reserve \"until\" until 5 s s");
  check_print("try release  @all", "try release @all");
  check_print("console  a07", "console a07");
  check_print("console roomA  off", "console roomA off");
  static const char *const bad[] = {"8:00",
                                    "18:60",
                                    "18:0",
                                    "18:00:00",
                                    "18:00x",
                                    "18-00",
                                    "",
                                    "2026-02-29T18:00",
                                    "2026-13-01T18:00",
                                    "0000-01-01T18:00",
                                    "2026-12-02T",
                                    "2026-12-02T18:00:60",
                                    "2026-12-02T18:00:00Z",
                                    "2026-12-02 18:00"};
  ClockTime time;
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
    if (command_clock_parse(bad[i], &time))
      fail_msg("%s is taken for a time", bad[i]);
  assert_true(command_clock_parse("2026-12-02T18:05:09", &time));
  assert_int_equal(time.year * 10000 + time.month * 100 + time.day, 20261202);
  assert_int_equal(time.hour * 10000 + time.minute * 100 + time.second, 180509);
  assert_true(command_clock_parse("07:30", &time));
  assert_int_equal(time.year, 0);
}

static void
test_fields(void **state)
{
  (void)state;
  g_autoptr(Command) wait = parse("wait boot b1 login");
  assert_int_equal(wait->at_least, -1);
  assert_int_equal(wait->duration, -1);
  g_autoptr(Command) expect = parse("try expect b1.boot.mean within 18 s +-8%");
  assert_true(expect->try_only && !expect->plan_only);
  assert_int_equal(expect->comparison, COMPARE_WITHIN);
  assert_true(expect->value.value == 18 && expect->value.dimension == DIMENSION_TIME);
  assert_true(expect->tolerance == 0.08);
  g_autoptr(Command) power = parse("wait power @on off");
  assert_int_equal(power->power, POWER_TURN_OFF);
  g_autoptr(Command) measure = parse("measure bond during b1 as m");
  assert_int_equal(measure->window, 1000000000);
  assert_string_equal(measure->target, "b1");
  assert_string_equal(measure->label, "m");
  g_autoptr(Command) load = parse("load start dd on a01 a=1 b=x=y");
  assert_string_equal(load->keys[1], "b");
  assert_string_equal(load->values[1], "x=y");
  assert_null(load->keys[2]);
}

static const struct {
  const char *text, *message;
} errors[] = {
    {"", "column 1: a command is missing"},
    {"try", "column 4: a command is missing"},
    {"try try boot a01", "column 5: \"try\" is given twice"},
    {"bot roomA", "column 1: unknown command \"bot\"; did you mean \"boot\"?"},
    {"message a01 x", "column 1: unknown command \"message\""},
    {"keys a01", "column 9: a key is missing, such as F12 or Ctrl-Alt-Delete"},
    {"keys a01 Dwon", "column 10: there is no key \"Dwon\"; did you mean \"Down\"?"},
    {"type a01 two words", "column 14: a text of several words stands in quotes"},
    {"route back a01", "column 12: unexpected \"a01\""},
    {"  foreach x in a do", "column 3: \"foreach\" belongs to scripts: it is no command"},
    {"\"boot\" a01", "column 1: \"boot\": a command's name stands without quotes"},
    {"mark a; mark b", "column 7: one command is due, and \";\" ends it"},
    {"mark \"ü", "column 6: this quote is not closed"},
    {"mark ü\x01", "column 7: a control character"},
    {"mark ü\xff", "column 7: this is not UTF-8"},
    {"boot\u00a0roomA", "column 5: a no-break space: type a plain one, or use quotes"},
    {"boot", "column 5: a node set is missing"},
    {"boot via pxe", "column 6: a node set is missing before \"via\""},
    {"boot \"\"", "column 6: a node set is empty"},
    {"boot a[01, 02]", "column 7: \"[\" is not closed; a set with blanks in it stands in quotes"},
    {"boot a01]", "column 9: \"]\" closes nothing"},
    {"boot ä01", "column 6: \"ä\" cannot stand in a node set"},
    {"boot roomA cold warm", "column 17: \"warm\" contradicts \"cold\""},
    {"boot roomA stagger 1s stagger 2s", "column 23: \"stagger\" is given twice"},
    {"boot roomA stager 1s", "column 12: unexpected \"stager\"; did you mean \"stagger\"?"},
    {"boot roomA stagger 1", "column 20: \"1\" has no unit; a time, such as 5 s, is due"},
    {"boot roomA stagger 1 as x", "column 20: \"1\" has no unit; a time, such as 5 s, is due"},
    {"boot roomA stagger 1 sec",
     "column 20: \"1 sec\" has the unknown unit \"sec\"; did you mean \"s\"?"},
    {"boot roomA via px", "column 16: unknown way to boot \"px\"; did you mean \"pxe\"?"},
    {"boot roomA via floppy",
     "column 16: unknown way to boot \"floppy\": one of pxe, disk, keys, kexec is due"},
    {"boot roomA as 16b",
     "column 15: \"16b\" is no label: a letter, then letters, digits and _, at "
     "most 64"},
    {"boot roomA as cold", "column 15: a label is missing before \"cold\""},
    {"boot roomA including use", "column 22: \"in-use\" is due after \"including\""},
    {"power", "column 6: a power action is missing: status, on, off, cycle, reset"},
    {"power of a01", "column 7: unknown power action \"of\"; did you mean \"off\"?"},
    {"power on a01 soft", "column 14: \"soft\" goes with off and cycle only"},
    {"wait boot b1",
     "column 13: a stage is missing: firmware, dhcp, tftp, http, kexec, kernel, initramfs, "
     "root, login"},
    {"wait boot b1 lgin", "column 14: unknown stage \"lgin\"; did you mean \"login\"?"},
    {"wait boot b1 login at-least 0", "column 29: \"0\": at least 1 is due"},
    {"wait boot b1 login at-least 99999", "column 29: \"99999\" is more than 65536"},
    {"wait boot b1 login timeout 0 s", "column 28: \"0 s\": a time above 0 is due"},
    {"wait load @x", "column 11: \"@x\" is no label: a letter, then letters, digits and _, at most "
                     "64"},
    {"load start dd a01", "column 15: \"on\" and a node set are due"},
    {"load start on a01", "column 12: a job is missing before \"on\""},
    {"load start dd on a01 k=1 k=2", "column 26: \"k\" is given twice"},
    {"measure for 5 s as m", "column 9: a source is missing, such as bond or seats"},
    {"measure bnd as m", "column 9: unknown source \"bnd\"; did you mean \"bond\"?"},
    {"measure bond bond as m", "column 14: \"bond\" is given twice"},
    {"measure bond as m", "column 18: \"for DUR\" or \"during LABEL\" is missing"},
    {"measure bond for 1 s", "column 21: \"as LABEL\" is missing"},
    {"measure bond for 1 s during x as m", "column 22: \"during\" contradicts \"for\""},
    {"expect b1 > 5 s", "column 8: \"b1\" is no figure: LABEL.FIGURE, such as b16.boot.mean"},
    {"expect b1.bot.mean > 5 s",
     "column 8: \"b1.bot.mean\" is no figure; did you mean \"b1.boot.mean\"?"},
    {"expect b1.boot.mean = 5 s",
     "column 21: unknown comparison \"=\": one of <, <=, >, >=, within is due"},
    {"expect b1.boot.mean < 18", "column 23: \"18\" has no unit; a time, such as 5 s, is due"},
    {"expect b1.boot.mean < 18 MB",
     "column 23: \"18 MB\" has the wrong unit; a time, such as 5 s, is due"},
    {"expect b1.ok >= 16 s",
     "column 17: \"16 s\" has the wrong unit; a number without unit, such as 64, is due"},
    {"expect b1.boot.mean within 18 s", "column 32: a tolerance is missing, such as +-8%"},
    {"expect b1.boot.mean within 18 s +-8",
     "column 33: \"8\" has no unit; a percentage, such as 8 %, is due"},
    {"expect b1.boot.mean within 18 s +-0%",
     "column 33: a tolerance is above 0 % and at most 100 %"},
    {"expect b1.boot.mean < 18 s +-8%", "column 28: a tolerance goes with \"within\" only"},
    {"set slx1 5",
     "column 5: \"slx1\" is no path: node.property, node/port.property or link:A-B.property"},
    {"set link:sw2.state up", "column 5: \"link:sw2.state\" is no path: node.property, "
                              "node/port.property or link:A-B.property"},
    {"set slx1.nfsd", "column 14: a value is missing"},
    {"set slx1.nfsd 64 threads", "column 18: unexpected \"threads\""},
    {"reserve a01", "column 12: \"until\" and a time are due"},
    {"reserve a01 till 18:00 exam", "column 13: \"until\" and a time are due"},
    {"reserve a01 until", "column 18: a time is missing"},
    {"reserve a01 until 5 exam", "column 19: \"5 exam\" has the unknown unit \"exam\""},
    {"reserve a01 until 0 s exam", "column 19: \"0 s\": a time above 0 is due"},
    {"reserve a01 until 9000 h exam", "column 19: a reservation lasts 366 days at most"},
    {"reserve a01 until 24:00 exam",
     "column 19: \"24:00\" is no time: 18:00, 2026-12-02T18:00 or a duration is due"},
    {"reserve a01 until 18:00", "column 24: the reason, \"why\", is missing"},
    {"reserve a01 until 18:00 two words", "column 29: a reason of several words stands in quotes"},
    {"release a01 now", "column 13: unexpected \"now\""},
    {"console off", "column 9: a node set is missing before \"off\""},
    {"console a01 on", "column 13: unexpected \"on\""},
    {"relase a01", "column 1: unknown command \"relase\"; did you mean \"release\"?"},
    {"mark two words", "column 10: a text of several words stands in quotes"},
    {"stop now", "column 6: unexpected \"now\""},
};

static void
test_errors(void **state)
{
  (void)state;
  for (gsize i = 0; i < G_N_ELEMENTS(errors); i++)
    check_error(errors[i].text, errors[i].message);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_canonical),
      cmocka_unit_test(test_reserve),
      cmocka_unit_test(test_fields),
      cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
