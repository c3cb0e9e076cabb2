/* Escape sequences, whole, late, cut and garbled. */
#include "ui/escape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000

/* What came of the bytes fed: keys by name, one behind the other. */
typedef struct {
  Escape escape;
  gint64 now;
  GString *keys;
} Reader;

static void
note(Reader *reader, UiKey key)
{
  if (key == UI_KEY_CLICK || key == UI_KEY_WHEEL_UP || key == UI_KEY_WHEEL_DOWN)
    g_string_append_printf(reader->keys, "%s %d,%d ",
                           key == UI_KEY_CLICK      ? "click"
                           : key == UI_KEY_WHEEL_UP ? "up"
                                                    : "down",
                           reader->escape.row, reader->escape.column);
  else if (key == UI_KEY_ESCAPE)
    g_string_append(reader->keys, "Esc ");
  else if (key == UI_KEY_CTRL_C)
    g_string_append(reader->keys, "^C ");
  else if (key == UI_KEY_BACKSPACE)
    g_string_append(reader->keys, "Back ");
  else if (key == UI_KEY_ENTER)
    g_string_append(reader->keys, "Enter ");
  else if (key > UI_KEY_ALT)
    g_string_append_printf(reader->keys, "Alt-%d ", key - UI_KEY_ALT);
  else if (key > ' ' && key < 127)
    g_string_append_printf(reader->keys, "%c ", key);
  else
    g_string_append_printf(reader->keys, "#%d ", key);
}

static void
feed(Reader *reader, const char *bytes, gsize n)
{
  UiKey key;
  for (gsize i = 0; i < n; i++) {
    if (escape_take(&reader->escape, (guchar)bytes[i], reader->now, &key))
      note(reader, key);
  }
}

static void
pause_for(Reader *reader, int ms)
{
  UiKey key;
  if (escape_pause(&reader->escape, &key))
    note(reader, key);
  reader->now += ms * MS;
}

/* BYTES, `|` being a pause of PIECE ms; *WANTED is what comes of it. */
static void
gives(const char *bytes, int piece, const char *wanted)
{
  Reader reader = {.now = 1000 * MS, .keys = g_string_new(NULL)};
  for (const char *p = bytes; *p; p++) {
    if (*p == '|')
      pause_for(&reader, piece);
    else
      feed(&reader, p, 1);
  }
  pause_for(&reader, 1000);
  g_strchomp(reader.keys->str);
  if (!g_str_equal(reader.keys->str, wanted))
    fail_msg("`%s` gives `%s`, not `%s`", bytes + 1, reader.keys->str, wanted);
  g_string_free(reader.keys, TRUE);
}

static void
test_keys(void **state)
{
  (void)state;
  gives("aZ\r", 0, "a Z Enter");
  gives("\033", 0, "Esc");
  gives("\033\033", 0, "Esc Esc");
  gives("\0333", 0, "Alt-51");
  gives("\033|3", 30, "Esc 3");
  gives("\033\r", 0, "Alt-13"); /* what Escape leaves is not entered */
  gives("\033|\r", 30, "Esc Enter");
  gives("\033\003", 0, "^C");
  gives("\177\010", 0, "Back Back");
}

static void
test_the_mouse(void **state)
{
  (void)state;
  gives("\033[<0;1;1M", 0, "click 0,0");
  gives("\033[<0;80;24M\033[<0;80;24mq", 0, "click 23,79 q");
  gives("\033[<64;5;7M\033[<65;5;7M", 0, "up 6,4 down 6,4");
  gives("\033[<0;300;250M", 0, "click 249,299");
  /* Other buttons, motion, and with Shift, Alt, Ctrl: the terminal's, or nobody's. */
  gives("\033[<1;5;5M\033[<2;5;5M\033[<32;5;5M\033[<35;5;5M\033[<4;5;5M\033[<8;5;5M\033[<16;5;5M"
        "\033[<68;5;5M\033[<66;5;5M\033[<128;5;5M",
        0, "");
}

static void
test_pieces(void **state)
{
  (void)state;
  gives("\033[<0;1|0;5M", 30, "click 4,9");
  gives("\033[<|0;10;5|M", 400, "click 4,9");
  gives("\033|[<0;10;5M", 30, "Esc click 4,9"); /* a line too slow for the first byte */
  gives("\033[<0;10|Q", 600, "Q");              /* cut off: what comes later is a key again */
  gives("\033|[|Q", 600, "Esc [ Q");
  gives("\033|O|P", 30, "Esc"); /* F1 of a slow line is no `P` */
}

static void
test_what_is_no_report(void **state)
{
  (void)state;
  static const char *const broken[] = {
      "\033[<0;10M",
      "\033[<;10;5M",
      "\033[<0;10;5;5M",
      "\033[<0;0;5M",
      "\033[<0;5;0M",
      "\033[<-1;5;5M",
      "\033[<0;10000;5M",
      "\033[0;10;5M",
      "\033[<0;99999;99M",
      "\033[<0 ;10;5M",
      "\033[<0;10;5Q",
      "\033[<0;10;5~",
      "\033[<<0;10;5M",
      "\033[<0;10;5$M",
      "\033[?1;2c",
      "\033[I",
      "\033[<00000000000000000000000000000;5;5M",
      "\033[M !Q",
      "\033[MQQQ",
      "\033[200~",
      "\033[<4294967296;5;5M",
      "\033Ox",
  };
  for (guint i = 0; i < G_N_ELEMENTS(broken); i++)
    gives(broken[i], 0, "");
  gives("\033[<0;10\003;", 0, "^C ;"); /* a control character breaks it off */
  gives("\033[<0;1\033[<0;10;5M", 0, "click 4,9");
  gives("\033[MQ\003Q", 0, "^C Q");
}

/* xorshift32 */
static guint
draw(guint32 *random, guint n)
{
  *random ^= *random << 13;
  *random ^= *random >> 17;
  *random ^= *random << 5;
  return *random % n;
}

/* Reports with bytes lost, doubled or changed to another of a report's: no key comes of them but
 * those letters, and none that enters, leaves or starts something. */
static void
test_garbled_reports(void **state)
{
  (void)state;
  guint32 random = 20261202;
  for (int round = 0; round < 20000; round++) {
    Reader reader = {.now = 1000 * MS, .keys = g_string_new(NULL)};
    g_autoptr(GString) bytes = g_string_new(NULL);
    for (guint n = 1 + draw(&random, 3); n > 0; n--)
      g_string_append_printf(bytes, "\033[<%u;%u;%u%c", draw(&random, 70), draw(&random, 200),
                             draw(&random, 60), draw(&random, 2) ? 'M' : 'm');
    for (guint n = 1 + draw(&random, 3); n > 0; n--) {
      guint at = draw(&random, (guint)bytes->len), how = draw(&random, 3);
      if (how == 0 && bytes->len > 1)
        g_string_erase(bytes, at, 1);
      else if (how == 1)
        g_string_insert_c(bytes, at, bytes->str[at]);
      else
        bytes->str[at] = "\033[<;0123456789Mm"[draw(&random, 16)];
    }
    guint cut = draw(&random, (guint)bytes->len + 1);
    feed(&reader, bytes->str, cut);
    pause_for(&reader, (int)draw(&random, 700));
    feed(&reader, bytes->str + cut, bytes->len - cut);
    pause_for(&reader, 30);
    g_auto(GStrv) keys = g_strsplit(reader.keys->str, " ", -1);
    for (char **key = keys; *key; key++) {
      gboolean position = strchr(*key, ',') != NULL || **key == '\0';
      gboolean letter = strlen(*key) == 1 && strchr("[<;0123456789Mm", **key);
      gboolean mouse = g_strv_contains((const char *const[]){"click", "up", "down", NULL}, *key);
      if (!position && !letter && !mouse && !g_str_equal(*key, "Esc") &&
          !g_str_has_prefix(*key, "Alt-"))
        fail_msg("`%s` gives `%s`", bytes->str, reader.keys->str);
    }
    g_string_free(reader.keys, TRUE);
  }
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_keys),
      cmocka_unit_test(test_the_mouse),
      cmocka_unit_test(test_pieces),
      cmocka_unit_test(test_what_is_no_report),
      cmocka_unit_test(test_garbled_reports),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
