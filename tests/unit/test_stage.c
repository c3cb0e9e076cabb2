#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/log_line.h"
#include "model/stage_source.h"

#define LOGS "tests/unit/logs/"

static char *
read_file(const char *path)
{
  char *text;
  g_autoptr(GError) error = NULL;
  if (!g_file_get_contents(path, &text, NULL, &error))
    fail_msg("%s", error->message);
  return text;
}

static Layout *
lab(void)
{
  g_autofree char *text = read_file(LOGS "lab.yaml");
  g_autoptr(GError) error = NULL;
  Layout *layout = layout_parse("lab.yaml", text, strlen(text), &error);
  if (layout == NULL)
    fail_msg("%s", error->message);
  return layout;
}

static StageSource *
parse(const char *text)
{
  g_autoptr(GError) error = NULL;
  StageSource *source = stage_source_parse("t.yaml", text, strlen(text), &error);
  if (source == NULL)
    fail_msg("%s", error->message);
  return source;
}

static StageSource *
shipped(const char *name)
{
  g_autofree char *path = g_strdup_printf("backends/stages/%s.yaml", name);
  g_autofree char *text = read_file(path);
  StageSource *source = parse(text);
  assert_string_equal(stage_source_name(source), name);
  return source;
}

/* ---- Heads --------------------------------------------------------------------------------- */

static void
test_heads(void **state)
{
  static const struct {
    const char *line, *stamp, *host, *program, *text;
  } cases[] = {
      {"<30>Dec  2 16:51:24 boot1 dnsmasq-tftp[11736]: sent a to b", "Dec  2 16:51:24", "boot1",
       "dnsmasq-tftp", "sent a to b"},
      {"Dec 12 16:51:24 dnsmasq-dhcp[1]: x", "Dec 12 16:51:24", "", "dnsmasq-dhcp", "x"},
      {"2026-12-02T16:51:24.5+01:00 boot1 kea-dhcp4: INFO  x", "2026-12-02T16:51:24.5+01:00",
       "boot1", "kea-dhcp4", "INFO  x"},
      {"2026-12-02 16:52:54.018 INFO  [kea] x", "2026-12-02 16:52:54.018", "", "", "INFO  [kea] x"},
      {"[12345.678901] boot1 rpc.mountd[7]: x: y", "[12345.678901]", "boot1", "rpc.mountd", "x: y"},
      {"[    0.000000] Linux version 6.1", "[    0.000000]", "", "", "Linux version 6.1"},
      {"<30>1 2026-12-02T16:50:43Z boot1 dnsmasq-dhcp 11736 - - \xef\xbb\xbfx",
       "2026-12-02T16:50:43Z", "boot1", "dnsmasq-dhcp", "x"},
      {"<30>1 2026-12-02T16:50:43Z h p - ID [a@1 k=\"]\\\"\"][b] x y", "2026-12-02T16:50:43Z", "h",
       "p", "x y"},
      {"<6>pc1 ipxe: x", "", "pc1", "ipxe", "x"},
      {"<30>1 - - p - - -", "-", "-", "p", ""},
      {"in.tftpd[22]: RRQ", "", "", "in.tftpd", "RRQ"},
      {"10.77.0.1 - - [02/Dec/2026:16:54:15 +0000] \"GET / HTTP/1.1\"", "", "", "",
       "10.77.0.1 - - [02/Dec/2026:16:54:15 +0000] \"GET / HTTP/1.1\""},
      {"http://a: b", "", "", "", "http://a: b"},
      {"<9999>x", "", "", "", "<9999>x"},
      {"<30", "", "", "", "<30"},
      {"[open", "", "", "", "[open"},
      {"p[12: x", "", "", "", "p[12: x"},
      {"", "", "", "", ""},
  };
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    LogLine read;
    /* Nothing lies behind the line: a head that is read too far is seen under ASan. */
    gsize length = strlen(cases[i].line);
    g_autofree char *line = g_memdup2(cases[i].line, length);
    log_line_read(line, length, &read);
    const LogPart *const parts[] = {&read.stamp, &read.host, &read.program, &read.text};
    const char *const expected[] = {cases[i].stamp, cases[i].host, cases[i].program, cases[i].text};
    for (guint k = 0; k < G_N_ELEMENTS(parts); k++)
      if (!log_part_is(parts[k], expected[k]))
        fail_msg("%s: \"%.*s\" instead of \"%s\"", cases[i].line, (int)parts[k]->length,
                 parts[k]->text, expected[k]);
  }
}

/* ---- Seats --------------------------------------------------------------------------------- */

static void
test_seats(void **state)
{
  static const struct {
    const char *mac, *ip, *name, *node; /* NULL: nobody's */
  } cases[] = {
      {"52:54:00:0a:00:01", NULL, NULL, "a01"},
      {"52-54-00-0A-00-01", NULL, NULL, "a01"},
      {"5254.000a.0001", NULL, NULL, "a01"},
      {"01:52:54:00:0a:00:03", NULL, NULL, "a02"},
      {"00:01:00:01:32:a3:09:05:52:54:00:0a:00:03", NULL, NULL, "a02"},
      {"00:03:00:01:52:54:00:0b:00:01", NULL, NULL, "b01"},
      {"00:02:00:00:52:54:00:0b:00:01", NULL, NULL, NULL}, /* an enterprise number */
      {"52:54:00:0a:00", NULL, NULL, NULL},
      {"52:54:00:0a:00:0", NULL, NULL, NULL},
      {NULL, "10.77.0.3", NULL, "a02"},
      {NULL, "::ffff:10.77.0.3", NULL, "a02"},
      {NULL, "fe80::5054:ff:fe0a:1", NULL, "a01"},
      {NULL, "2001:db8::5054:ff:fe0a:3/64", NULL, "a02"},
      {NULL, "fe80::5054:ff:fe0a:1%br0", NULL, "a01"},
      {NULL, "10.77.0.33", NULL, NULL},
      {NULL, "1:2:3:4:5:6:7:8:9", NULL, NULL},
      {NULL, "::1::2", NULL, NULL},
      {NULL, ":", NULL, NULL},
      {NULL, NULL, "a02", "a02"},
      {NULL, NULL, "b01.pool.example", "b01"},
      {NULL, NULL, "stranger", NULL},
      /* What was learnt outranks the layout, and a stranger takes an address with him. */
      {"52:54:00:0b:00:01", "10.78.0.143", NULL, "b01"},
      {NULL, "10.78.0.143", NULL, "b01"},
      {"52:54:00:0b:00:01", "10.77.0.3", NULL, "b01"},
      {NULL, "10.77.0.3", NULL, "b01"},
      {"52:54:00:ff:ff:ff", "10.77.0.3", NULL, NULL},
      {NULL, "10.77.0.3", "a02", "a02"},
      {NULL, "10.77.0.3", NULL, "a02"},
      {"00:01:00:01:32:a3:09:05:52:54:00:0a:00:01", "fd77::10a", NULL, "a01"},
      {NULL, "fd77:0::0:10A", NULL, "a01"},
  };
  (void)state;
  g_autoptr(Layout) layout = lab();
  g_autoptr(SeatFinder) finder = seat_finder_new(layout);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    NodeId node = seat_finder_find(finder, cases[i].mac, cases[i].ip, cases[i].name);
    const char *found = node == NODE_NONE ? NULL : layout->nodes[node].name;
    if (g_strcmp0(found, cases[i].node) != 0)
      fail_msg("case %u: %s instead of %s", i, found, cases[i].node);
  }
}

/* ---- Lines of the programs' own making ----------------------------------------------------- */

typedef struct {
  Layout *layout;
  StageSource *source;
  SeatFinder *finder;
  StageMatcher *matcher;
} Trial;

static void
begin(Trial *trial, const char *name)
{
  trial->layout = lab();
  trial->source = shipped(name);
  trial->finder = seat_finder_new(trial->layout);
  trial->matcher = stage_matcher_new((const StageSource *const *)&trial->source, 1, trial->finder);
}

static void
end(Trial *trial)
{
  stage_matcher_free(trial->matcher);
  seat_finder_free(trial->finder);
  stage_source_free(trial->source);
  layout_free(trial->layout);
}

static gboolean
take(Trial *trial, const char *line, gsize length, StageSighting *sighting)
{
  return stage_source_reads_console(trial->source)
             ? stage_matcher_take_console(trial->matcher, 1, line, length, sighting)
             : stage_matcher_take(trial->matcher, line, length, sighting);
}

/* `a01/dhcp/likely` */
static char *
describe(const Trial *trial, const StageSighting *sighting)
{
  const char *who = sighting->node == NODE_NONE ? "-" : trial->layout->nodes[sighting->node].name;
  if (sighting->stage == NULL)
    return g_strdup_printf("%s/-", who);
  return g_strdup_printf("%s/%s/%s", who, sighting->stage, certainty_name(sighting->certainty));
}

/* The same several times over as `3xa01/tftp/sure`. */
static char *
describe_log(Trial *trial, const char *text)
{
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autoptr(GString) all = g_string_new(NULL);
  g_autofree char *last = g_strdup("");
  guint n = 0;
  for (char **line = lines; n > 0 || *line != NULL; line += *line != NULL ? 1 : 0) {
    StageSighting sighting;
    if (*line != NULL && !take(trial, *line, strlen(*line), &sighting))
      continue;
    g_autofree char *now = *line != NULL ? describe(trial, &sighting) : g_strdup("");
    if (n > 0 && strcmp(now, last) != 0) {
      if (n > 1)
        g_string_append_printf(all, "%ux", n);
      g_string_append_printf(all, "%s ", last);
      n = 0;
    }
    n += *line != NULL ? 1 : 0;
    g_free(last);
    last = g_steal_pointer(&now);
  }
  return g_strchomp(g_strdup(all->str));
}

#define LEASE(who) who "/dhcp/likely " who "/- " who "/dhcp/possible "
#define HTTP                                                                                       \
  "2xa01/http/sure a01/http/likely a01/kernel/likely a01/http/sure -/kernel/likely "               \
  "a01/http/likely"

/* Recorded in a network namespace from Debian 12's own programs. */
static const struct {
  const char *log, *source, *expected;
} logs[] = {
    {"dnsmasq", "dnsmasq",
     LEASE("a01") LEASE("a01") LEASE("a02") LEASE("a02") LEASE("b01") LEASE(
         "a01") "3xa01/tftp/sure a01/tftp/likely a01/kernel/likely a01/tftp/sure -/kernel/likely "
                "a01/tftp/sure a02/dhcp/likely a02/- 2xa02/dhcp/possible"},
    {"dnsmasq-own", "dnsmasq",
     LEASE("a01") LEASE("a01") LEASE("a02") LEASE("a02") "b01/dhcp/likely b01/- b01/dhcp/possible"},
    {"dnsmasq-iso", "dnsmasq",
     "a01/dhcp/possible 3xa01/tftp/sure a01/tftp/likely a01/kernel/likely a01/tftp/sure "
     "-/kernel/likely a01/tftp/sure"},
    {"isc-dhcpd", "isc-dhcpd",
     LEASE("a01") LEASE("a01") LEASE("a02") LEASE("a02") LEASE("b01") "2xa02/dhcp/possible " LEASE(
         "a01") "a01/- a01/dhcp/possible a01/- a01/dhcp/possible a01/-"},
    {"kea", "kea",
     "a01/dhcp/likely a01/dhcp/possible a01/dhcp/likely a01/dhcp/possible a02/dhcp/likely "
     "a02/dhcp/possible a02/dhcp/likely a02/dhcp/possible b01/dhcp/likely b01/dhcp/possible "
     "a02/dhcp/possible 3xa01/dhcp/likely"},
    {"kea-own", "kea",
     "a02/dhcp/likely a02/dhcp/possible b01/dhcp/likely b01/dhcp/possible a02/dhcp/possible "
     "4xa01/dhcp/likely"},
    {"tftpd-hpa", "tftpd-hpa",
     "3xa01/tftp/sure 2xa01/tftp/likely a01/tftp/sure -/tftp/likely a01/tftp/sure"},
    {"atftpd", "atftpd", "a01/tftp/sure 2xa01/tftp/likely 3xa01/tftp/sure 2xa01/tftp/likely"},
    {"nginx", "nginx", HTTP " 2xa01/http/sure a01/http/likely a01/kernel/likely"},
    {"apache2", "apache2",
     HTTP " 2xa01/http/sure a01/http/likely a01/kernel/likely a01/http/sure -/kernel/likely "
          "a01/http/likely"},
    {"lighttpd", "lighttpd", HTTP},
    {"mountd", "mountd", "a01/root/possible"},
    {"nbd-server", "nbd-server", "a01/root/possible -/root/possible"},
    {"ganesha", "ganesha", "2xa01/root/possible"},
};

static void
test_logs(void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS(logs); i++) {
    Trial trial;
    g_autofree char *path = g_strconcat(LOGS, logs[i].log, ".log", NULL);
    g_autofree char *text = read_file(path);
    begin(&trial, logs[i].source);
    g_autofree char *found = describe_log(&trial, text);
    if (strcmp(found, logs[i].expected) != 0)
      fail_msg("%s:\n%s\ninstead of\n%s", path, found, logs[i].expected);
    end(&trial);
  }
}

/* A line cut off at its end or its beginning is nothing, or what it was; never another seat's. */
static void
test_cut(void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS(logs); i++) {
    Trial trial;
    g_autofree char *path = g_strconcat(LOGS, logs[i].log, ".log", NULL);
    g_autofree char *text = read_file(path);
    begin(&trial, logs[i].source);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line != NULL; line++) {
      StageSighting whole, cut;
      gsize length = strlen(*line);
      if (!take(&trial, *line, length, &whole))
        continue;
      NodeId node = whole.node;
      for (gsize k = 0; k < length; k++) {
        if (take(&trial, *line, k, &cut))
          assert_true(cut.node == node || cut.node == NODE_NONE);
        if (take(&trial, *line + k, length - k, &cut))
          assert_true(cut.node == node || cut.node == NODE_NONE);
      }
    }
    end(&trial);
  }
}

/* ---- Thirty-four clients at once ----------------------------------------------------------- */

#define CLIENTS 34

static Layout *
big_lab(void)
{
  static const char text[] =
      "lab: two rooms\nswitches: {sw1: {}}\nclients:\n"
      "  c[01-34]: {switch: sw1, speed: 1 Gbit/s, mac: \"52:54:00:0c:00:01 step 1\"}\n";
  g_autoptr(GError) error = NULL;
  Layout *layout = layout_parse("big.yaml", text, strlen(text), &error);
  if (layout == NULL)
    fail_msg("%s", error->message);
  return layout;
}

/* The lines of one boot as dnsmasq wrote them, of client I, whose address a lease alone tells. */
static char *
boot_line(guint i, guint step)
{
  static const char *const lines[] = {
      "DHCPDISCOVER(br0) 52:54:00:0c:00:%02x ",
      "DHCPOFFER(br0) 10.77.0.%u 52:54:00:0c:00:%02x ",
      "DHCPREQUEST(br0) 10.77.0.%u 52:54:00:0c:00:%02x ",
      "DHCPACK(br0) 10.77.0.%u 52:54:00:0c:00:%02x ",
      "sent /srv/tftp/pxelinux.0 to 10.77.0.%u",
      "sent /srv/tftp/vmlinuz-6.1.0 to 10.77.0.%u",
      "sent /srv/tftp/initrd.img-6.1.0 to 10.77.0.%u",
  };
  g_autoptr(GString) line = g_string_new("Dec  2 16:51:24 boot1 dnsmasq[11736]: ");
  g_autofree char *ip = g_strdup_printf("%u", 200 - i), *mac = g_strdup_printf("%02x", i + 1);
  if (step >= G_N_ELEMENTS(lines))
    return NULL;
  g_string_truncate(line, line->len - strlen("[11736]: "));
  g_string_append(line, step < 4 ? "-dhcp[11736]: " : "-tftp[11736]: ");
  g_string_append(line, lines[step]);
  g_string_replace(line, "%02x", mac, 0);
  g_string_replace(line, "%u", ip, 0);
  return g_strdup(line->str);
}

static void
test_interleaved(void **state)
{
  static const char *const expected[] = {"dhcp", NULL, "", "dhcp", "tftp", "tftp", "kernel"};
  (void)state;
  g_autoptr(Layout) layout = big_lab();
  g_autoptr(StageSource) source = shipped("dnsmasq");
  g_autoptr(SeatFinder) finder = seat_finder_new(layout);
  g_autoptr(StageMatcher) matcher =
      stage_matcher_new((const StageSource *const *)&source, 1, finder);
  g_autoptr(GRand) rand = g_rand_new_with_seed(6);
  guint at[CLIENTS] = {0}, left = CLIENTS * G_N_ELEMENTS(expected);
  while (left > 0) {
    guint i = (guint)g_rand_int_range(rand, 0, CLIENTS);
    g_autofree char *line = boot_line(i, at[i]);
    if (line == NULL)
      continue;
    StageSighting sighting;
    const char *stage = expected[at[i]++];
    left--;
    if (stage != NULL && *stage == '\0') {
      assert_false(stage_matcher_take(matcher, line, strlen(line), &sighting));
      continue;
    }
    assert_true(stage_matcher_take(matcher, line, strlen(line), &sighting));
    g_autofree char *name = g_strdup_printf("c%02u", i + 1);
    assert_int_equal(sighting.node, layout_find(layout, name));
    assert_int_equal(g_strcmp0(sighting.stage, stage), 0);
  }
}

/* ---- Consoles ------------------------------------------------------------------------------ */

static void
test_consoles(void **state)
{
  static const struct {
    const char *source, *line, *expected; /* NULL: nothing */
  } cases[] = {
      {"ipxe", "\033[2J\033[1;1HSeaBIOS (version 1.16.2-debian-1.16.2-1)\r", "firmware"},
      {"ipxe", "iPXE (http://ipxe.org) 00:02.0 C000 PCI2.10 PnP PMM+0B", "firmware"},
      {"ipxe", "\033[1miPXE 1.21.1+git-20220113\033[0m -- Open Source Network Boot Firmware -- x",
       "firmware"},
      {"ipxe", "Configuring (net0 52:54:00:0a:00:01)...... ok", "dhcp"},
      {"ipxe", "tftp://10.77.0.254/boot.ipxe... ok", "tftp"},
      {"ipxe", "http://10.77.0.254/vmlinuz... 10%\rhttp://10.77.0.254/vmlinuz... ok", "http"},
      {"ipxe", "http://10.77.0.254/initrd.img... ok", "kernel"},
      {"ipxe", "http://10.77.0.254/initrd.img... Connection timed out", NULL},
      {"pxelinux", "PXELINUX 6.04 PXE 20190226 Copyright (C) 1994-2015 H. Peter Anvin et al",
       "tftp"},
      {"pxelinux", "Loading vmlinuz... ok", "tftp"},
      {"pxelinux", "Loading initrd.img...ok", "kernel"},
      {"linux", "[    0.000000] Linux version 6.1.0-35-cloud-amd64 (x) #1 SMP", "kernel"},
      {"linux", "[    2.104733] Run /init as init process", "initramfs"},
      {"linux", "Begin: Running /scripts/init-bottom ... done.", "root"},
      {"linux", "[    3.1] VFS: Mounted root (nfs filesystem) readonly on device 0:15.", "root"},
      {"systemd", "[    5.1] systemd[1]: Switching root.", "root"},
      {"systemd",
       "[\033[0;32m  OK  \033[0m] Reached target \033[0;1;39mmulti-user.target"
       "\033[0m - Multi-User System.",
       "login"},
      {"getty", "a01 login: ", "login"},
      {"getty", "last login: Mon", NULL},
  };
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    Trial trial;
    StageSighting sighting;
    begin(&trial, cases[i].source);
    gboolean taken = take(&trial, cases[i].line, strlen(cases[i].line), &sighting);
    const char *found = taken ? sighting.stage : NULL;
    if (g_strcmp0(found, cases[i].expected) != 0)
      fail_msg("%s: %s instead of %s", cases[i].line, found, cases[i].expected);
    /* It is no log, whatever it looks like. */
    assert_false(
        stage_matcher_take(trial.matcher, cases[i].line, strlen(cases[i].line), &sighting));
    end(&trial);
  }
}

/* ---- Files, and hostile ones --------------------------------------------------------------- */

static void
test_errors(void **state)
{
  static const struct {
    const char *text, *error;
  } cases[] = {
      {"stages: x\nabout: y\n", "t.yaml:1:1: source: \"patterns\" is missing"},
      {"stages: x\nabout: y\npatterns: [{stage: Dhcp, match: '(?<ip>a)'}]\n",
       "t.yaml:3:20: bad stage \"Dhcp\": a word of small letters, digits and \"-\", at most 16"},
      {"stages: x\nabout: y\npatterns: [{match: '(?<ip>a'}]\n",
       "t.yaml:3:20: at 8: missing closing parenthesis"},
      {"stages: x\nabout: y\npatterns: [{match: '(?<mca>a)'}]\n",
       "t.yaml:3:20: there is no group \"mca\": mac, ip, name and file say of whom a line is"},
      {"stages: x\nabout: y\npatterns: [{match: 'a'}]\n",
       "t.yaml:3:20: no group mac, ip or name says of whom it is"},
      {"stages: x\nabout: y\nreads: console\nprograms: [a]\npatterns: []\n",
       "t.yaml:4:11: a console is of no program"},
      {"- a\n", "t.yaml:1:1: a source of stages is a map that begins with stages: NAME"},
  };
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    assert_null(stage_source_parse("t.yaml", cases[i].text, strlen(cases[i].text), &error));
    assert_string_equal(error->message, cases[i].error);
  }
}

/* A pattern that would take for ever is given up, and after a few lines not tried any more; those
 * beside it go on. */
static void
test_hostile(void **state)
{
  (void)state;
  g_autoptr(StageSource) source = parse("stages: bad\nabout: y\npatterns:\n"
                                        "  - {stage: tftp, match: '(?<name>(?:(?:a|aa|aaa)+)+)b'}\n"
                                        "  - {stage: dhcp, match: 'a+(?<name>c)'}\n");
  g_autoptr(StageMatcher) matcher = stage_matcher_new((const StageSource *const *)&source, 1, NULL);
  g_autofree char *many = g_strnfill(60, 'a');
  g_autofree char *bad = g_strconcat(many, "xb", NULL), *good = g_strconcat(many, "c", NULL);
  StageSighting sighting;
  gint64 start = g_get_monotonic_time();
  for (guint i = 0; i < 1000; i++) {
    assert_false(stage_matcher_take(matcher, bad, strlen(bad), &sighting));
    assert_true(stage_matcher_take(matcher, good, strlen(good), &sighting));
    assert_string_equal(sighting.stage, "dhcp");
  }
  /* Three lines of some ten milliseconds, with room for a busy machine; a thousand would be 20 s.
   */
  assert_true(g_get_monotonic_time() - start < 5 * G_USEC_PER_SEC);
  g_autofree char *complaint = stage_matcher_complaint(matcher);
  assert_non_null(complaint);
  assert_non_null(strstr(complaint, "pattern 1 took too long on 3 lines"));
  assert_null(stage_matcher_complaint(matcher));
}

static void
test_long(void **state)
{
  (void)state;
  Trial trial;
  StageSighting sighting;
  begin(&trial, "getty");
  g_autofree char *fill = g_strnfill(LOG_LINE_MAX + 1, 'x');
  assert_false(take(&trial, fill, LOG_LINE_MAX + 1, &sighting));
  assert_false(take(&trial, "\0\0", 2, &sighting));
  end(&trial);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_heads),       cmocka_unit_test(test_seats),
      cmocka_unit_test(test_logs),        cmocka_unit_test(test_cut),
      cmocka_unit_test(test_interleaved), cmocka_unit_test(test_consoles),
      cmocka_unit_test(test_errors),      cmocka_unit_test(test_hostile),
      cmocka_unit_test(test_long),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
