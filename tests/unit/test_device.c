#include "backends/vswitch/device_template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A description of which the last lines are the test's. */
#define HEAD                                                                                       \
  "device: d\nabout: a\nsource: s\ntcp: {port: 1}\nreplies: {end: '\\r\\n'}\n"                     \
  "parameters: {in: 0 to 255, user: 1 to 15, key: text, password: secret, two-part: 1 to 9,\n"     \
  "  way: {words: {Down: ArrowDown, Up: ArrowUp}, default: Up}}\n"

static Device *
parse(const char *text)
{
  g_autoptr(GError) error = NULL;
  Device *device = device_parse("t.yaml", text, strlen(text), &error);

  if (device == NULL)
    fail_msg("%s", error->message);
  return device;
}

static Device *
with_send(const char *send)
{
  g_autofree char *text =
      g_strdup_printf(HEAD "scripts: {connect: {steps: [{send: '%s', expect: ok}]}}", send);

  return parse(text);
}

/* KEY=VALUE words, separated by blanks. */
static DeviceValues *
values_of(const Device *device, const char *name, const char *words, GError **error)
{
  g_auto(GStrv) list = g_strsplit(words, " ", -1);
  Argument given[DEVICE_MAX_PARAMETERS];
  guint n = 0;

  for (; list[n] != NULL && *list[n] != '\0'; n++) {
    char *equals = strchr(list[n], '=');
    *equals = '\0';
    given[n] = (Argument){list[n], equals + 1};
  }
  return device_values_new(device, device_script(device, name), given, n, error);
}

static void
assert_sent(const char *send, const char *words, const char *expected, gsize n)
{
  g_autoptr(Device) device = with_send(send);
  g_autoptr(GError) error = NULL;
  g_autoptr(DeviceValues) values = values_of(device, "connect", words, &error);
  g_autoptr(GString) out = g_string_new(NULL);

  assert_null(error);
  assert_true(
      device_template_fill(device_script(device, "connect")->steps[0].send, values, out, &error));
  assert_int_equal(out->len, n);
  assert_memory_equal(out->str, expected, n);
}

static void
test_templates(void **state)
{
  (void)state;
  assert_sent("{in}*{user}!", "in=1 user=3", "1*3!", 4);
  assert_sent("CS {in:2},{user:3}\\r", "in=7 user=12", "CS 07,012\r", 10);
  assert_sent("{in:x2}{in:X2}{in:o3}{in:b8}", "in=171", "abAB25310101011", 15);
  assert_sent("{in:x}", "in=0", "0", 1);
  assert_sent("{user:nibble}{in-1:nibble}", "user=1 in=2", "\x11", 1);
  assert_sent("\\x00{in:byte}\\xfF", "in=127", "\0\x7f\xff", 3);
  assert_sent("{in+1}", "in=41", "42", 2);
  assert_sent("{{{in}}\\\\\\e\\n\\t", "in=1", "{1}\\\x1b\n\t", 7);
  assert_sent("{key}", "key=a", "a", 1);
  assert_sent("{key:url}", "key=a/b&c", "a%2Fb%26c", 9);
  assert_sent("{two-part}{two-part-1}", "two-part=5", "54", 2);
  assert_sent("{way}", "way=Down", "ArrowDown", 9);
  assert_sent("{way}", "", "ArrowUp", 7);
  /* A width is the least. */
  assert_sent("{in:2}", "in=123", "123", 3);
}

static void
assert_template_error(const char *send, const char *expected)
{
  g_autofree char *text =
      g_strdup_printf(HEAD "scripts: {connect: {steps: [{send: '%s', expect: ok}]}}", send);
  g_autoptr(GError) error = NULL;

  assert_null(device_parse("t", text, strlen(text), &error));
  g_autofree char *message = g_strconcat("t:8:36: ", expected, NULL);
  assert_string_equal(error->message, message);
}

static void
test_template_errors(void **state)
{
  (void)state;
  assert_template_error("{inn}", "at 1: there is no parameter {inn}: did you mean {in}?");
  assert_template_error("ab{in", "at 3: the brace is not closed; {{ is one");
  assert_template_error("\\q", "at 1: no such escape: known are \\r \\n \\t \\e \\\\ \\xHH");
  assert_template_error("\\x1", "at 1: no such escape: known are \\r \\n \\t \\e \\\\ \\xHH");
  assert_template_error("{in:nibble}", "half a byte is left over: nibbles come in pairs");
  assert_template_error("{in:nibble}-{in:nibble}",
                        "half a byte is left over: nibbles come in pairs");
  assert_template_error("{in:17}", "at 1: \"17\" is no form of a number: known are 2, x2, X2, o3, "
                                   "b8, byte, nibble");
  assert_template_error("{in:url}", "at 1: \"url\" is no form of a number: known are 2, x2, X2, "
                                    "o3, b8, byte, nibble");
  assert_template_error("{key:2}", "at 1: \"2\" is no form of a text: known are url");
  assert_template_error("{in+}", "at 1: + is no number");
  assert_template_error("{in+256}", "at 1: +256 is no number of at most 255");
  assert_template_error("{key+1}", "at 1: {key} is no number to count from");
}

static void
assert_no_values(const char *send, const char *words, const char *expected)
{
  g_autoptr(Device) device = with_send(send);
  g_autoptr(GError) error = NULL;
  g_autoptr(DeviceValues) values = values_of(device, "connect", words, &error);

  assert_null(values);
  assert_string_equal(error->message, expected);
}

static void
test_values(void **state)
{
  (void)state;
  assert_no_values("{in}", "in=256", "in=256: it takes 0 to 255");
  assert_no_values("{in}", "in=-1", "in=-1: it takes 0 to 255");
  assert_no_values("{in}", "in=x", "in=x: it takes 0 to 255");
  assert_no_values("{in}", "in=1 in=1", "in is given twice");
  assert_no_values("{in}", "", "connect of d needs in=");
  assert_no_values("{in}", "in=1 user=2", "connect of d takes no \"user\": it takes in");
  assert_no_values("x", "in=1", "connect of d takes no \"in\": it takes nothing");
  assert_no_values("{way}", "way=Dwon", "way=Dwon: it knows no such word; did you mean \"Down\"?");
  /* What would end one command and begin another. */
  assert_no_values("{key}", "key=a\rb", "key holds a control character");

  g_autoptr(Device) device = with_send("{in-1}");
  g_autoptr(DeviceValues) values = values_of(device, "connect", "in=0", NULL);
  g_autoptr(GString) out = g_string_new(NULL);
  g_autoptr(GError) error = NULL;
  assert_false(
      device_template_fill(device_script(device, "connect")->steps[0].send, values, out, &error));
  assert_string_equal(error->message,
                      "in=0 does not fit what is sent: it would be -1 of 0 to 4294967295");
}

static void
test_shown(void **state)
{
  (void)state;
  g_autoptr(Device) device = with_send("{password}{key}");
  g_autoptr(DeviceValues) values = values_of(device, "connect", "password=s3/cret key=open", NULL);
  g_autofree char *shown = device_shown(values, "as3/cretb\r\x01\\s3%2Fcret open", 26);
  assert_string_equal(shown, "a***b\\r\\x01\\\\*** open");

  char many[1000];
  memset(many, '\xff', sizeof many);
  g_autofree char *bounded = device_shown(NULL, many, sizeof many);
  assert_true(strlen(bounded) < 220 && g_str_has_suffix(bounded, "..."));
}

static void
test_shipped(void **state)
{
  static const struct {
    const char *file, *script, *words, *sent;
    gsize n;
  } all[] = {
      {"extron-sis", "connect", "in=1 out=3", "1*3!", 4},
      {"extron-sis", "query", "out=5", "5&", 2},
      {"kramer-p3000", "connect", "in=1 out=2", "#VID 1>2\r", 9},
      {"kramer-p3000", "query", "out=2", "#VID? 2\r", 8},
      {"nti-keemux", "connect", "unit=1 in=5 out=2", "CS 01,05,02\r", 12},
      {"nti-keemux", "query", "out=2", "RO 01,02\r", 9},
      {"blackbox-cx", "connect", "out=1 in=2", "\x11", 1},
      {"blackbox-cx", "connect", "out=5 in=16", "\x5f", 1},
  };
  (void)state;

  for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
    g_autofree char *path = g_strdup_printf("backends/devices/%s.yaml", all[i].file);
    g_autofree char *text = NULL;
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_autoptr(Device) device = parse(text);
    assert_string_equal(device->name, all[i].file);
    g_autoptr(DeviceValues) values = values_of(device, all[i].script, all[i].words, NULL);
    g_autoptr(GString) out = g_string_new(NULL);
    assert_non_null(values);
    assert_true(device_template_fill(device_script(device, all[i].script)->steps[0].send, values,
                                     out, NULL));
    assert_int_equal(out->len, all[i].n);
    assert_memory_equal(out->str, all[i].sent, out->len);
  }
}

static void
assert_error(const char *text, const char *expected)
{
  g_autoptr(GError) error = NULL;

  assert_null(device_parse("t", text, strlen(text), &error));
  assert_string_equal(error->message, expected);
}

#define OK_SCRIPT "scripts: {query: {steps: [{send: x, expect: ok}]}}\n"

static void
test_errors(void **state)
{
  (void)state;
  assert_error("[]", "t:1:1: a description is a map that begins with device: NAME");
  assert_error("device: d\nabout: a\nsource: s\n" OK_SCRIPT,
               "t:1:1: device: one of \"serial\", \"tcp\", \"telnet\", \"https\" has to be there\n"
               "t:1:1: device: \"replies\" is missing");
  assert_error(HEAD "pase: {}\n" OK_SCRIPT, "t:8:1: unknown key \"pase\": did you mean \"pace\"?");
  assert_error(HEAD "scripts: {conect: {steps: [{send: x, expect: y}]}}",
               "t:8:11: unknown script \"conect\": did you mean \"connect\"?");
  assert_error(HEAD "scripts: {query: {steps: [{send: x}]}}",
               "t:8:27: how does one see that it worked? \"expect\", \"echo\" or \"silence\" says "
               "so");
  assert_error(HEAD "scripts: {query: {steps: [{send: x, expect: '(', within: 5}]}}",
               "t:8:45: at 2: missing closing parenthesis\n"
               "t:8:58: \"5\" has no unit; a time, such as 5 s, is due");
  assert_error(HEAD "scripts: {query: {steps: [{send: x, expect: y, item: z}]}}",
               "t:8:54: which of a list is counted by a parameter that is a number");
  assert_error(HEAD "errors: {'E(': a}\n" OK_SCRIPT, "t:8:10: at 3: missing closing parenthesis");
  assert_error("device: D\nabout: a\nsource: s\nserial: {speed: 9600, parity: evne}\n"
               "replies: {end: '\\r', length: 1}\n" OK_SCRIPT,
               "t:1:9: bad device name \"D\": a word of small letters, digits and \"-\"\n"
               "t:4:31: unknown parity \"evne\": did you mean \"even\"?\n"
               "t:5:10: replies have an \"end\" or a \"length\"");
  assert_error("device: d\nabout: a\nsource: s\ntcp: {port: 1}\nreplies: {length: 1}\n"
               "parameters: {a: 5 to 1, b: {is: 1 to 5, default: 9}, c: {is: secret, default: x},\n"
               "  d: {words: {x: y}, default: z}}\n" OK_SCRIPT,
               "t:6:17: \"5 to 1\" is no parameter: 1 to 64, text, secret, or {words: ...}\n"
               "t:6:50: 9 is out of range: 1 to 5\n"
               "t:6:79: a secret does not stand in a description\n"
               "t:7:31: unknown word \"z\": known are x");
}

static void
test_https(void **state)
{
  (void)state;
  assert_error("device: d\nabout: a\nsource: s\nhttps: {}\nreplies: {length: 1}\n"
               "parameters: {k: text}\n"
               "scripts: {keys: {steps: [{send: 'PUT /x', expect: ok},\n"
               "  {send: 'GET /{k}', expect: ok}]}}",
               "t:5:10: over https each reply is \"STATUS BODY\"\n"
               "t:7:33: over https a step sends \"GET /...\" or \"POST /...\"\n"
               "t:8:10: a text in a request needs :url, as {key:url}");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_templates), cmocka_unit_test(test_template_errors),
      cmocka_unit_test(test_values),    cmocka_unit_test(test_shown),
      cmocka_unit_test(test_shipped),   cmocka_unit_test(test_errors),
      cmocka_unit_test(test_https),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
