#include "tests/unit/device_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
assert_over(const DeviceLab *lab, Verdict verdict, const char *text)
{
  assert_true(device_talk_is_over(lab->talk));
  if (device_talk_verdict(lab->talk) != verdict || strcmp(device_talk_text(lab->talk), text) != 0)
    fail_msg("%s: %s", verdict_name(device_talk_verdict(lab->talk)), device_talk_text(lab->talk));
}

/* One script, all it hears at once, and two minutes for it to end. */
static void
assert_run(const char *name, const char *script, const char *words, const char *heard,
           Verdict verdict, const char *text)
{
  g_autoptr(DeviceLab) lab = device_lab_open(name);

  device_lab_begin(lab, script, words);
  device_lab_hear(lab, heard);
  device_lab_wait(lab, 120 * TIME_SECOND);
  assert_over(lab, verdict, text);
}

static void
test_success(void **state)
{
  (void)state;
  assert_run("extron-sis", "connect", "in=1 out=3", "Out03 In01 All\r\n", VERDICT_OK, "");
  assert_run("kramer-p3000", "connect", "in=1 out=3", "~01@VID 1>3 OK\r\n", VERDICT_OK, "");
  assert_run("nti-keemux", "connect", "in=1", "CS 01,01,01\r*\r", VERDICT_OK, "");
  assert_run("blackbox-cx", "connect", "in=2", "\x11", VERDICT_OK, "");

  g_autoptr(DeviceLab) lab = device_lab_open("nti-keemux");
  device_lab_begin(lab, "query", "out=2");
  device_lab_hear(lab, "RO 01,02\r*\r05\r");
  assert_over(lab, VERDICT_OK, "");
  assert_string_equal(device_talk_capture(lab->talk, "in"), "05");
  assert_null(device_talk_capture(lab->talk, "out"));
}

/* Of a list the one that is asked for, and of one that is too short none. */
static void
test_item(void **state)
{
  static const char reply[] =
      "200 {\"ok\": true, \"atx\": {\"leds\": {\"power\": [ true,  false , true]}}}";
  static const char *const wanted[] = {"true", "false", "true", NULL};
  (void)state;

  for (guint i = 0; i < G_N_ELEMENTS(wanted); i++) {
    g_autoptr(DeviceLab) lab = device_lab_open("pikvm-switch");
    g_autofree char *in = g_strdup_printf("in=%u", i + 1);
    device_lab_begin(lab, "power-status", in);
    device_talk_hear_message(lab->talk, reply, strlen(reply), lab->now);
    if (wanted[i] != NULL)
      assert_over(lab, VERDICT_OK, "");
    else
      assert_over(lab, VERDICT_FAILED, "it tells of 3, and of no number 4");
    assert_int_equal(g_strcmp0(device_talk_capture(lab->talk, "power"), wanted[i]), 0);
  }
}

/* Split anywhere, twice: the same. */
static void
test_pieces(void **state)
{
  static const char reply[] = "(c) Copyright 2009\r\nOut03 In01 All\r\n";
  (void)state;

  for (gsize a = 0; a < sizeof reply; a++)
    for (gsize b = a; b < sizeof reply; b++) {
      g_autoptr(DeviceLab) lab = device_lab_open("extron-sis");
      device_lab_begin(lab, "connect", "in=1 out=3");
      device_talk_hear(lab->talk, reply, a, lab->now);
      device_talk_hear(lab->talk, reply + a, b - a, lab->now);
      assert_int_equal(device_talk_is_over(lab->talk), b + 1 == sizeof reply);
      device_talk_hear(lab->talk, reply + b, sizeof reply - 1 - b, lab->now);
      assert_over(lab, VERDICT_OK, "");
      assert_string_equal(lab->said->str, "> 1*3!\n< (c) Copyright 2009\n< Out03 In01 All\n");
    }
}

/* Each has a sentence of its own. */
static void
test_faults(void **state)
{
  (void)state;
  assert_run("extron-sis", "connect", "in=1 out=3", "E01\r\n", VERDICT_FAILED,
             "it answered \"E01\": there is no such input");
  assert_run("extron-sis", "connect", "in=1 out=3", "", VERDICT_UNKNOWN,
             "it said nothing for 2.00 s to \"1*3!\"; it may have happened");
  assert_run("extron-sis", "query", "out=3", "", VERDICT_TIMEOUT,
             "it said nothing for 2.00 s to \"3&\"");
  assert_run("extron-sis", "connect", "in=1 out=3", "Out03 In0", VERDICT_UNKNOWN,
             "half a reply had come after 2.00 s: \"Out03 In0\"; it may have happened");
  assert_run("extron-sis", "connect", "in=1 out=3", "Ouu03", VERDICT_UNKNOWN,
             "no such reply within 2.00 s; it was saying \"Ouu03\"; it may have happened");
  assert_run("extron-sis", "connect", "in=1 out=3", "Out03 In01 \x01ll\r\n", VERDICT_UNKNOWN,
             "no such reply within 2.00 s; it said \"Out03 In01 \\x01ll\"; it may have happened");
  assert_run("kramer-p3000", "connect", "in=1 out=3", "~01@VID 1>4 ERR003\r\n", VERDICT_FAILED,
             "it answered \"~01@VID 1>4 ERR003\": there is no such input or output");
  assert_run("kramer-p3000", "connect", "in=1 out=3", "~01@VID 1>4 OK\r\n", VERDICT_FAILED,
             "it answered \"~01@VID 1>4 OK\": out 4, not 3");
  assert_run("nti-keemux", "connect", "in=1", "?\r", VERDICT_FAILED,
             "it answered \"?\": it did not understand the command, or the line is bad");
  assert_run("nti-keemux", "connect", "in=1", "*\r", VERDICT_UNKNOWN,
             "it answered \"*\" without the echo: is its echo off?");
  assert_run("nti-keemux", "connect", "in=1", "CS 01,01,01\r", VERDICT_UNKNOWN,
             "it echoed \"CS 01,01,01\\r\" and said nothing more for 1.00 s; it may have happened");
  assert_run("blackbox-cx", "connect", "in=2", "\x12", VERDICT_UNKNOWN,
             "it echoed \"\\x12\", which was not sent");
}

/* Two operators: what another did is state, and neither success nor failure of ours. */
static void
test_told(void **state)
{
  g_autoptr(DeviceLab) lab = device_lab_open("extron-sis");
  (void)state;

  device_lab_hear(lab, "Out05 In02 All\r\n");
  device_lab_begin(lab, "connect", "in=1 out=3");
  device_lab_hear(lab, "Out03 In07 All\r\n");
  assert_false(device_talk_is_over(lab->talk));
  device_lab_hear(lab, "Out03 In01 All\r\n");
  assert_over(lab, VERDICT_OK, "");
  assert_string_equal(lab->said->str, "< Out05 In02 All\n= out 05 in 02\n> 1*3!\n"
                                      "< Out03 In07 All\n= out 03 in 07\n< Out03 In01 All\n");
}

/* An error outranks a success, before it and right behind it, and is of no run begun later. */
static void
test_error_outranks(void **state)
{
  (void)state;
  assert_run("extron-sis", "connect", "in=1 out=3", "E22\r\nOut03 In01 All\r\n", VERDICT_FAILED,
             "it answered \"E22\": it is busy");
  assert_run("extron-sis", "connect", "in=1 out=3", "Out03 In01 All\r\nE22\r\n", VERDICT_FAILED,
             "it answered \"E22\": it is busy");
  g_autoptr(DeviceLab) lab = device_lab_open("extron-sis");
  device_lab_hear(lab, "E22\r\n");
  device_lab_begin(lab, "connect", "in=1 out=3");
  device_lab_hear(lab, "Out03 In01 All\r\n");
  assert_over(lab, VERDICT_OK, "");
  device_lab_hear(lab, "E22\r\n");
  assert_over(lab, VERDICT_OK, "");
}

#define HEAD                                                                                       \
  "device: d\nabout: a\nsource: s\ntcp: {port: 1}\nreplies: {end: '\\r\\n'}\n"                     \
  "parameters: {in: 0 to 255, password: secret}\n"

static void
test_pace(void **state)
{
  g_autoptr(DeviceLab) lab = device_lab_new(
      HEAD "pace: {bytes: 10 ms, commands: 1 s}\n"
           "scripts: {query: {steps: [{send: abc, expect: ok}, {send: de, expect: ok}]}}\n");
  char bytes[8];
  (void)state;

  device_lab_begin(lab, "query", "");
  assert_int_equal(device_talk_take(lab->talk, bytes, sizeof bytes, lab->now), 0);
  assert_int_equal(device_talk_due(lab->talk), lab->now + 10 * TIME_MS);
  device_lab_wait(lab, 20 * TIME_MS);
  device_lab_hear(lab, "ok\r\n");
  assert_int_equal(device_talk_take(lab->talk, bytes, sizeof bytes, lab->now), 0);
  device_lab_wait(lab, TIME_SECOND - 1);
  assert_null(strstr(lab->said->str, "> de"));
  device_lab_wait(lab, 1);
  assert_non_null(strstr(lab->said->str, "> de"));
  device_lab_wait(lab, 10 * TIME_MS);
  device_lab_hear(lab, "ok\r\n");
  assert_over(lab, VERDICT_OK, "");
}

static void
test_silence(void **state)
{
  g_autoptr(DeviceLab) lab =
      device_lab_new(HEAD "errors: {E: no}\n"
                          "scripts: {query: {steps: [{send: a, silence: 3 s, pause: 1 s}]}}\n");
  (void)state;

  device_lab_begin(lab, "query", "");
  device_lab_wait(lab, 4 * TIME_SECOND - 1);
  assert_false(device_talk_is_over(lab->talk));
  device_lab_wait(lab, 1);
  assert_over(lab, VERDICT_OK, "");
  device_lab_begin(lab, "query", "");
  device_lab_wait(lab, TIME_SECOND);
  device_lab_hear(lab, "E\r\n");
  assert_over(lab, VERDICT_FAILED, "it answered \"E\": no");
}

/* What may not be sent twice says so; what a description calls idempotent may. */
static void
test_idempotent(void **state)
{
  g_autoptr(DeviceLab) lab =
      device_lab_new(HEAD "scripts:\n"
                          "  power-on: {steps: [{send: a, expect: b}]}\n"
                          "  power-off: {idempotent: true, steps: [{send: a, expect: b}]}\n");
  (void)state;

  device_lab_begin(lab, "power-on", "");
  device_lab_wait(lab, 3 * TIME_SECOND);
  assert_over(lab, VERDICT_UNKNOWN,
              "it said nothing for 2.00 s to \"a\"; it may have happened: look before it is sent "
              "again");
  device_lab_begin(lab, "power-off", "");
  device_lab_wait(lab, 3 * TIME_SECOND);
  assert_over(lab, VERDICT_UNKNOWN, "it said nothing for 2.00 s to \"a\"; it may have happened");
}

/* A prompt ends with no line; the secret is never shown, wherever it comes back. */
static void
test_login(void **state)
{
  g_autoptr(DeviceLab) lab = device_lab_open("extron-sis");
  (void)state;

  device_lab_begin(lab, "login", "password=s3cret");
  device_lab_hear(lab, "\r\nPass");
  assert_false(device_talk_is_over(lab->talk));
  device_lab_hear(lab, "word: ");
  g_autofree char *sent = device_lab_take(lab);
  assert_string_equal(sent, "s3cret\r");
  device_lab_hear(lab, "s3cret\r\nLogin Administrator\r\n");
  assert_over(lab, VERDICT_OK, "");
  device_lab_begin(lab, "query", "out=1");
  device_lab_hear(lab, "s3cret\r\n12\r\n");
  assert_over(lab, VERDICT_OK, "");
  assert_null(strstr(lab->said->str, "s3cret"));
  assert_string_equal(lab->said->str, "< Password:\n> ***\\r\n< ***\n< Login Administrator\n"
                                      "> 1&\n< ***\n< 12\n");
}

/* Asked once more, it is known at once that the password is wrong. */
static void
test_login_refused(void **state)
{
  g_autoptr(DeviceLab) lab = device_lab_open("extron-sis");
  (void)state;

  device_lab_begin(lab, "login", "password=s3cret");
  device_lab_hear(lab, "\r\nPassword:");
  g_autofree char *sent = device_lab_take(lab);
  assert_string_equal(sent, "s3cret\r");
  device_lab_hear(lab, "\r\nPassword");
  assert_false(device_talk_is_over(lab->talk));
  device_lab_hear(lab, ":");
  assert_over(lab, VERDICT_FAILED,
              "it asks again, with \"Password:\": it did not accept the answer");
}

/* What never ends costs bounded memory; its tail is no reply. */
static void
test_bounds(void **state)
{
  g_autofree char *flood = g_strnfill(1000000, 'x');
  g_autoptr(DeviceLab) lab = device_lab_open("extron-sis");
  (void)state;

  device_lab_begin(lab, "connect", "in=1 out=3");
  device_lab_hear(lab, flood);
  device_lab_hear(lab, "Out03 In01 All\r\n");
  device_lab_wait(lab, 3 * TIME_SECOND);
  assert_int_equal(device_talk_verdict(lab->talk), VERDICT_UNKNOWN);
  assert_true(lab->said->len < 1000);
  device_lab_begin(lab, "query", "out=1");
  for (guint i = 0; i < 2000; i++)
    device_lab_hear(lab, "noise\r\n");
  assert_over(lab, VERDICT_TIMEOUT, "it talks on and on and gives no answer");
}

static void
test_break(void **state)
{
  g_autoptr(DeviceLab) lab = device_lab_open("extron-sis");
  (void)state;

  device_lab_begin(lab, "connect", "in=1 out=3");
  device_talk_break(lab->talk, "it hung up");
  assert_over(lab, VERDICT_UNKNOWN, "it hung up; it may have happened");
  device_lab_begin(lab, "query", "out=3");
  device_talk_break(lab->talk, "it hung up");
  assert_over(lab, VERDICT_FAILED, "it hung up");
}

/* ---- Random streams ------------------------------------------------------------------------ */

/* What alone may be taken for success, told apart without the descriptions' patterns. */
static gboolean
could_be_success(const char *name, const GString *heard)
{
  static const struct {
    const char *device, *needed[2];
  } all[] = {{"extron-sis", {"Out", " All"}},
             {"kramer-p3000", {"@VID ", " OK"}},
             {"nti-keemux", {"CS 01,01,03\r", "*\r"}},
             {"pikvm-switch", {"200 ", "\"ok\": true"}}};

  /* What came before its turn to be sent is no echo of it. */
  if (strcmp(name, "blackbox-cx") == 0)
    return memchr(heard->str, '\x20', heard->len) != NULL;
  for (guint i = 0; i < G_N_ELEMENTS(all); i++)
    if (strcmp(all[i].device, name) == 0)
      return memmem(heard->str, heard->len, all[i].needed[0], strlen(all[i].needed[0])) != NULL &&
             memmem(heard->str, heard->len, all[i].needed[1], strlen(all[i].needed[1])) != NULL;
  return FALSE;
}

/* Bytes at random, and pieces of replies, some spoilt. */
static void
add_random(GRand *random, GString *heard)
{
  static const char *const pieces[] = {"Out03 In01 All\r\n",
                                       "Out03 In02 All\r\n",
                                       "E22\r\n",
                                       "~01@VID 1>3 OK\r\n",
                                       "~01@ERR003\r\n",
                                       "~01@VID 1>2 OK\r\n",
                                       "CS 01,01,03\r",
                                       "*\r",
                                       "?\r",
                                       "\r\n",
                                       "Out",
                                       " In01 All",
                                       "Password:",
                                       "~01@VID 1>3 OK later",
                                       "01",
                                       "200 { \"ok\": true, \"result\": {} }",
                                       "200 { \"ok\": false, \"result\": {} }",
                                       "403 { \"ok\": false }",
                                       "200 ",
                                       "\x10"};

  if (g_rand_boolean(random)) {
    gsize before = heard->len;
    g_string_append(heard, pieces[g_rand_int_range(random, 0, G_N_ELEMENTS(pieces))]);
    if (g_rand_int_range(random, 0, 4) == 0)
      heard->str[g_rand_int_range(random, (gint32)before, (gint32)heard->len)] ^= (char)0x10;
  } else {
    for (int n = g_rand_int_range(random, 1, 40); n > 0; n--)
      g_string_append_c(heard, (char)g_rand_int_range(random, 0, 256));
  }
}

/* All but its last byte, then that; or, where replies come whole, all at once. */
static void
hear_random(DeviceLab *lab, const char *bytes, gsize n)
{
  if (lab->device->framing == DEVICE_MESSAGES) {
    device_talk_hear_message(lab->talk, bytes, n, lab->now);
    return;
  }
  device_talk_hear(lab->talk, bytes, n - 1, lab->now);
  device_talk_hear(lab->talk, bytes + n - 1, 1, lab->now);
}

static void
run_random(DeviceLab *lab, const char *name, const char *words, GRand *random, guint *n_ok)
{
  g_autoptr(GString) heard = g_string_new(NULL);

  device_lab_begin(lab, "connect", words);
  for (int n = g_rand_int_range(random, 0, 8); n > 0 && !device_talk_is_over(lab->talk); n--) {
    gsize before = heard->len;
    add_random(random, heard);
    hear_random(lab, heard->str + before, heard->len - before);
    device_lab_wait(lab, g_rand_int_range(random, 0, 500) * TIME_MS);
  }
  device_lab_wait(lab, 20 * TIME_SECOND);
  assert_true(device_talk_is_over(lab->talk));
  if (device_talk_verdict(lab->talk) == VERDICT_OK) {
    (*n_ok)++;
    if (!could_be_success(name, heard))
      fail_msg("%s: ok after \"%s\"", name, heard->str);
  } else {
    assert_true(*device_talk_text(lab->talk) != '\0');
    for (const char *p = device_talk_text(lab->talk); *p != '\0'; p++)
      assert_true(g_ascii_isprint(*p));
  }
}

static void
test_random(void **state)
{
  static const char *const all[][2] = {{"extron-sis", "in=1 out=3"},
                                       {"kramer-p3000", "in=1 out=3"},
                                       {"nti-keemux", "in=1 out=3"},
                                       {"blackbox-cx", "in=1 out=2"},
                                       {"pikvm-switch", "in=1"}};
  (void)state;

  for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
    g_autoptr(DeviceLab) lab = device_lab_open(all[i][0]);
    GRand *random = g_rand_new_with_seed(i + 1);
    guint n_ok = 0;
    for (guint n = 0; n < 10000; n++) {
      g_string_truncate(lab->said, 0);
      run_random(lab, all[i][0], all[i][1], random, &n_ok);
    }
    g_rand_free(random);
    /* Else the pieces would prove nothing. */
    if (n_ok == 0 || n_ok > 5000)
      fail_msg("%s: %u of 10000 streams succeeded", all[i][0], n_ok);
  }
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_success),        cmocka_unit_test(test_pieces),
      cmocka_unit_test(test_item),           cmocka_unit_test(test_faults),
      cmocka_unit_test(test_told),           cmocka_unit_test(test_pace),
      cmocka_unit_test(test_error_outranks), cmocka_unit_test(test_silence),
      cmocka_unit_test(test_login),          cmocka_unit_test(test_login_refused),
      cmocka_unit_test(test_idempotent),     cmocka_unit_test(test_bounds),
      cmocka_unit_test(test_break),          cmocka_unit_test(test_random),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
