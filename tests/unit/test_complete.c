#include "core/complete.h"

#include "core/command.h"
#include "core_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static Lab *lab;
static JobSet *jobs;

static int
set_up(void **state)
{
  static const char *const names[] = {"find-cat", "dd-read"};
  const CoreOptions options = {.seed = 1, .consent = CONSENT_YES};
  (void)state;
  lab = lab_new("layouts/openslx-two-rooms.yaml", &options);
  jobs = job_set_new();
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *text = g_strdup_printf(
        "job: %s\nabout: reads\nsimulate: {protocol: nfs, cap: 1 MB/s}\n", names[i]);
    Job *job = job_parse("job.yaml", text, strlen(text), NULL);
    assert_non_null(job);
    job_set_take(jobs, job);
  }
  lab_link(lab, "sim", TRUE, "simulated lab");
  lab_say(lab, "boot a[01-02] as first");
  lab_say(lab, "load start find-cat on a01 as reading");
  return 0;
}

static int
tear_down(void **state)
{
  (void)state;
  lab_free(lab);
  job_set_free(jobs);
  return 0;
}

/* What LINE goes on with, `START: WORD WORD …`. */
static void
completes(const char *line, const char *expected)
{
  gsize start;
  g_auto(GStrv) words = complete_line(lab->state, jobs, line, &start);
  g_autofree char *joined = g_strjoinv(" ", words);
  g_autofree char *found = g_strdup_printf("%.*s|%s", (int)start, line, joined);
  assert_string_equal(found, expected);
}

static gboolean
offers(const char *line, const char *word)
{
  gsize start;
  g_auto(GStrv) words = complete_line(lab->state, jobs, line, &start);
  return g_strv_contains((const char *const *)words, word);
}

#define VERBS                                                                                      \
  "power boot wait load measure expect set get pxe reserve release console keys type route mark "  \
  "sleep "                                                                                         \
  "stop quit plan try"

static void
test_words(void **state)
{
  (void)state;
  completes("", "|" VERBS);
  completes("  po", "  |power");
  completes("power", "|power");
  completes("power ", "power |status on off cycle reset");
  completes("power o", "power |on off");
  completes("plan power c", "plan power |cycle");
  completes("try plan b", "try plan |boot");
  completes("stop", "|stop");
  completes("stop ", "stop |");
  completes("mark ", "mark |");
  completes("sleep 3", "sleep |");
  completes("power on a01; bo", "power on a01; |boot");
  completes("power on a01;", "power on a01;|" VERBS);
  completes("frobnicate ", "frobnicate |");
  completes("mark \"boot ", "mark \"boot |"); /* an open quote */
  completes("mark \"boot r\"", "mark |");
  completes("power on \xff", "power on \xff|");
}

static void
test_names(void **state)
{
  (void)state;
  completes("boot ro", "boot |roomA roomB");
  completes("boot @ro", "boot |@roomA @roomB");
  completes("boot @of", "boot |@off");
  completes("boot a0", "boot |a01 a02 a03 a04 a05 a06 a07 a08 a09");
  completes("boot roomA,@o", "boot roomA,|@on @off");
  completes("boot roomA!a17", "boot roomA!|a17");
  completes("boot a[01", "boot a[01|"); /* not within brackets */
  completes("boot a[01-17]", "boot a[01-17]|");
  completes("boot a[01-03,05],b1", "boot a[01-03,05],|b10 b11 b12 b13 b14 b15 b16 b17");
  completes("boot sl", "boot |slx1");
  completes("boot sw", "boot |"); /* a switch has no power */
  completes("wait boot f", "wait boot |first");
  completes("wait boot ro", "wait boot |"); /* there a group needs its @ */
  completes("wait boot @ro", "wait boot |@roomA @roomB");
  completes("wait load ", "wait load |reading");
  completes("load stop r", "load stop |reading");
  completes("load start f", "load start |find-cat");
  completes("measure bond during ", "measure bond during |first reading");
  completes("expect f", "expect |first");
  completes("boot roomA entry u", "boot roomA entry |ubuntu-10.04::nfs");
}

static void
test_properties(void **state)
{
  (void)state;
  completes("set slx1/bond0.", "set |slx1/bond0.policy slx1/bond0.era");
  completes("get slx1.", "get |slx1.nfsd slx1.transmit-ceiling slx1.disk-rate");
  completes("get link:sw1", "get |link:sw1-sw2.state");
  completes("set a12", "set |a12/eth0.state a12.mac");
  completes("set slx1/bond0.policy ",
            "set slx1/bond0.policy |layer2 layer2+3 layer3+4 vlan+srcmac");
  completes("set slx1/bond0.era 5", "set slx1/bond0.era |5.18");
  completes("set slx1/eth1.state d", "set slx1/eth1.state |down");
  completes("set slx1.nfsd ", "set slx1.nfsd |");
  completes("measure ", "measure |bond seats server port:eth0 port:eth1 port:eth2 port:eth3 "
                        "bond:bond0 link:sw1-sw2 link:sw2-sw3");
  completes("measure bond b", "measure bond |bond:bond0");
  completes("measure bond l", "measure bond |link:sw1-sw2 link:sw2-sw3");
}

static void
test_figures(void **state)
{
  (void)state;
  static const double values[] = {18, 22};
  /* Figures come into the state by a boot that ends; here only their names count. */
  Figures *figures = (Figures *)state_figures(lab->state);
  figures_add_values(figures, "first", "boot", "s", values, 2);
  completes("expect first.boot.m", "expect |first.boot.mean first.boot.median first.boot.min "
                                   "first.boot.max");
  completes("expect first.boot.mean ", "expect first.boot.mean |< <= > >= within");
  completes("expect nothing.", "expect |");
}

/* Each word without a ~ behind it is offered where it stands, and after its first letter; the whole
 * is a command. */
static void
test_agrees_with_the_parser(void **state)
{
  static const char *const commands[] = {
      "power status roomA",
      "power off roomA soft stagger 1~ s~ including in-use",
      "power cycle @all including in-use hard stagger 1s~",
      "power reset a01",
      "boot roomA via pxe entry ubuntu-10.04::nfs cold stagger 1~ s~ as again~ including in-use",
      "boot @free as x~ warm via kexec",
      "boot a01 via disk",
      "boot a01 via keys",
      "wait boot first login at-least 3~ timeout 5~ min~",
      "wait boot @on firmware timeout 5min~",
      "wait load reading timeout 1~ h~ at-least 1~",
      "wait power roomB on",
      "wait power roomB off timeout 3~ s~",
      "load start dd-read on roomB cold for 60~ s~ as b~",
      "load start find-cat on a01 as b~ warm for 60s~",
      "load stop reading",
      "load leave reading",
      "measure bond seats link:sw2-sw3 port:eth0 for 10~ s~ window 2~ s~ as m~",
      "measure server during first as m~",
      "expect first.ok~ >= 2~",
      "set slx1/bond0.policy layer2+3",
      "set link:sw1-sw2.state up",
      "get slx1.nfsd",
      "pxe show",
      "pxe set timeout 10~ s~",
      "pxe set title \"text\"~",
      "pxe undo",
      "plan power on roomA",
      "try boot roomA",
      "reserve roomA until 18:00~ \"exam\"~",
      "release roomA",
      "console a01 off",
      "keys roomA F12 Ctrl-Alt-Delete~ Down including in-use",
      "type a01 \"text\"~ including in-use",
      "route a01 including in-use",
      "route next",
      "route back",
      "quit",
  };
  (void)state;
  for (guint c = 0; c < G_N_ELEMENTS(commands); c++) {
    g_auto(GStrv) words = g_strsplit(commands[c], " ", -1);
    g_autoptr(GString) line = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    for (guint i = 0; words[i]; i++) {
      gboolean own = g_str_has_suffix(words[i], "~");
      g_autofree char *word = g_strndup(words[i], strlen(words[i]) - own);
      g_autofree char *begun = g_strdup_printf("%s%c", line->str, word[0]);
      if (!own && (!offers(line->str, word) || !offers(begun, word)))
        fail_msg("`%s` is not offered after `%s`", word, line->str);
      g_string_append_printf(line, "%s ", word);
    }
    g_autoptr(Command) command = command_parse(line->str, &error);
    if (!command)
      fail_msg("%s: %s", line->str, error->message);
  }
}

/* What may be missing behind a word for a command. */
static gboolean
leads_on(const char *line, const char *word)
{
  static const char *const rests[] = {
      "",
      " 1",
      " 5 s",
      " pxe",
      " in-use",
      " on",
      " roomA",
      " roomA on",
      " status roomA",
      " on roomA",
      " first login",
      " load reading",
      " reading as x",
      " find-cat on a01",
      " start find-cat on a01",
      " as x",
      " x for 5 s",
      " for 5 s as x",
      " 5 s as x",
      " 5 s for 5 s as x",
      " bond for 5 s as x",
      " 3 +-5%",
      " first.ok > 1",
      " slx1.nfsd",
      " show",
      " slx1.nfsd 8",
      " power on a01",
      " 18:00 \"exam\"",
      " roomA until 18:00 \"exam\"",
  };
  for (guint i = 0; i < G_N_ELEMENTS(rests); i++) {
    g_autofree char *text = g_strconcat(line, word, rests[i], NULL);
    g_autoptr(Command) command = command_parse(text, NULL);
    if (command)
      return TRUE;
  }
  return FALSE;
}

static void
test_offers_nothing_that_leads_nowhere(void **state)
{
  static const char *const lines[] = {
      "",
      "power ",
      "power on ",
      "power off roomA ",
      "boot roomA ",
      "boot roomA cold ",
      "wait ",
      "wait boot first ",
      "wait power roomA ",
      "wait load reading ",
      "load ",
      "load start dd-read ",
      "load start dd-read on roomA ",
      "measure bond ",
      "measure bond for 5 s ",
      "expect first.ok ",
      "set slx1/bond0.era ",
      "reserve roomA ",
      "plan ",
  };
  (void)state;
  for (guint l = 0; l < G_N_ELEMENTS(lines); l++) {
    gsize start;
    g_auto(GStrv) words = complete_line(lab->state, jobs, lines[l], &start);
    assert_non_null(words[0]);
    for (guint w = 0; words[w]; w++) {
      if (!leads_on(lines[l], words[w]))
        fail_msg("`%s%s` leads to no command", lines[l], words[w]);
    }
  }
}

static void
test_common(void **state)
{
  char *one[] = {"roomA", NULL}, *two[] = {"roomA", "roomB", NULL},
       *none[] = {"on", "off", "x", NULL};
  g_autofree char *a = complete_common(one), *b = complete_common(two), *c = complete_common(none);
  (void)state;
  assert_string_equal(a, "roomA");
  assert_string_equal(b, "room");
  assert_string_equal(c, "");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_properties),
      cmocka_unit_test(test_figures),
      cmocka_unit_test(test_agrees_with_the_parser),
      cmocka_unit_test(test_offers_nothing_that_leads_nowhere),
      cmocka_unit_test(test_common),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
