/* Boot-once files over a real sshd: written, taken back, and whose they are left to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_SSH

#include "tests/contract/sshd_group.h"

#define MARK "# pult boot-once, kept by "
#define FIRST "tftp/px e/01-52-54-00-0a-00-00" /* of h1 and h2 */
#define SECOND "tftp/px e/01-52-54-00-0a-00-01"
#define FIRST_IPXE "tftp/once/52-54-00-0a-00-00.ipxe"
#define SECOND_IPXE "tftp/once/52-54-00-0a-00-01.ipxe"

static void
put(const char *name, const char *text)
{
  g_autofree char *path = sshd_lab_path(lab, name);
  g_autofree char *folder = g_path_get_dirname(path);
  assert_int_equal(g_mkdir_with_parents(folder, 0755), 0);
  assert_true(g_file_set_contents(path, text, -1, NULL));
}

/* NULL: there is none. */
static char *
content(const char *name)
{
  g_autofree char *path = sshd_lab_path(lab, name);
  char *text = NULL;
  return g_file_get_contents(path, &text, NULL, NULL) ? text : NULL;
}

static gboolean
is_there(const char *name)
{
  g_autofree char *path = sshd_lab_path(lab, name);
  return g_file_test(path, G_FILE_TEST_EXISTS);
}

static gboolean
is_gone(SshdLab *of, gconstpointer name)
{
  (void)of;
  return !is_there(name);
}

/* Nothing of anybody's, and no temporary file. */
static void
check_only(const char *folder, const char *name)
{
  g_autofree char *path = sshd_lab_path(lab, folder);
  g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
  assert_non_null(dir);
  for (const char *one; (one = g_dir_read_name(dir)) != NULL;)
    if (g_strcmp0(one, name) != 0)
      fail_msg("%s/%s is there", folder, one);
}

/* A site, and a backend before it. IPXE: its folder there. */
static void
open_site(const char *ipxe)
{
  g_autofree char *root = sshd_lab_path(lab, "tftp");
  char *rm[] = {"rm", "-rf", root, NULL};
  assert_true(
      g_spawn_sync(NULL, rm, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
  put("tftp/pxelinux.cfg/default", "DEFAULT menu.c32\nINCLUDE more\nLABEL disk\n");
  put("tftp/more", "LABEL ubuntu-10.04::nfs\nLABEL ubuntu-10.04::nbd\n");
  g_autofree char *folder = sshd_lab_path(lab, "tftp/px e");
  g_autofree char *once = sshd_lab_path(lab, "tftp/once");
  assert_int_equal(g_mkdir(folder, 0755) + g_mkdir(once, 0755), 0);
  g_autofree char *rest = g_strdup_printf(
      "servers:\n  s1: {switch: sw1, ip: 10.21.0.254, ports: {eth0: {speed: 1 Gbit/s}}}\n"
      "boot: {server: s1, root: \"%s\", once: {pxelinux: \"px e\", ipxe: \"%s\", chain: "
      "\"http://boot/{entry}.ipxe\"}}\n",
      root, ipxe);
  g_autofree char *nodes = g_strdup_printf("      s1: {port: %u}\n", lab->hosts[1].port);
  sshd_lab_open(lab, "", nodes, rest);
}

static guint32
ask(const char *entry, double seconds)
{
  NodeId nodes[] = {sshd_lab_node(lab, "h1"), sshd_lab_node(lab, "h2")};
  return backend_check_submit(lab->check, OP_SET, nodes, 2, (gint64)(seconds * 1e9),
                              (const char *const[]){"path", "s1.pxe", "once", entry, NULL});
}

static void
expect(guint32 request, Verdict first, Verdict second)
{
  sshd_lab_expect(lab, request, "h1", first);
  sshd_lab_expect(lab, request, "h2", second);
}

static void
write_both(void)
{
  expect(ask("ubuntu-10.04::nbd", 30), VERDICT_OK, VERDICT_OK);
}

static void
test_written_and_taken_back(void **state)
{
  (void)state;
  sshd_group_need_lab();
  open_site("once");
  write_both();
  g_autofree char *pxelinux = content(FIRST), *ipxe = content(SECOND_IPXE);
  assert_non_null(pxelinux);
  assert_non_null(strstr(pxelinux, "\n" MARK));
  assert_string_equal(strstr(pxelinux, "INCLUDE"),
                      "INCLUDE pxelinux.cfg/default\nDEFAULT ubuntu-10.04::nbd\nPROMPT 0\n"
                      "TIMEOUT 1\nTOTALTIMEOUT 1\nONTIMEOUT ubuntu-10.04::nbd\n");
  assert_non_null(ipxe);
  assert_true(g_str_has_prefix(ipxe, "#!ipxe\n" MARK));
  assert_string_equal(strstr(ipxe, "chain"), "chain --autofree "
                                             "http://boot/ubuntu-10.04::nbd.ipxe\n");
  /* Another entry for the same seats, which were not taken back. */
  expect(ask("disk", 30), VERDICT_OK, VERDICT_OK);
  g_autofree char *other = content(SECOND);
  assert_non_null(strstr(other, "\nDEFAULT disk\n"));
  expect(ask("", 30), VERDICT_OK, VERDICT_OK);
  check_only("tftp/px e", NULL);
  check_only("tftp/once", NULL);
  expect(ask("", 30), VERDICT_OK, VERDICT_OK);
  sshd_lab_close(lab);
}

static void
test_no_such_label(void **state)
{
  (void)state;
  sshd_group_need_lab();
  open_site("once");
  guint32 request = ask("ubuntu-10.04::ndb", 30);
  expect(request, VERDICT_FAILED, VERDICT_FAILED);
  sshd_group_check_text(request, "h2",
                        "h2: no boot-once file: the menu has no label ubuntu-10.04::ndb; is "
                        "ubuntu-10.04::nbd meant?");
  request = ask("../more", 30);
  expect(request, VERDICT_FAILED, VERDICT_FAILED);
  check_only("tftp/px e", NULL);
  sshd_lab_close(lab);
}

/* One of ours that somebody has changed is nobody's to take away either. */
static void
test_foreign_files(void **state)
{
  (void)state;
  sshd_group_need_lab();
  open_site("once");
  put(FIRST, "DEFAULT disk\n");
  guint32 request = ask("ubuntu-10.04::nbd", 30);
  expect(request, VERDICT_FAILED, VERDICT_OK);
  sshd_group_check_text(request, "h1", FIRST " is there already, and not pult's");
  assert_false(is_there(FIRST_IPXE));
  put(SECOND, "DEFAULT disk\n");
  request = ask("", 30);
  expect(request, VERDICT_OK, VERDICT_FAILED);
  sshd_group_check_text(request, "h2", SECOND " was changed by somebody; it is left there");
  g_autofree char *first = content(FIRST), *second = content(SECOND);
  assert_string_equal(first, "DEFAULT disk\n");
  assert_string_equal(second, "DEFAULT disk\n");
  check_only("tftp/once", NULL);
  sshd_lab_close(lab);
}

/* Half of it is none: the first file does not stay when the second cannot be. */
static void
test_folders_that_take_none(void **state)
{
  (void)state;
  static const struct {
    const char *folder, *why;
  } cases[] = {{"none", "there is no folder "}, {"/proc", "/proc"}};
  sshd_group_need_lab();
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    open_site(cases[i].folder);
    guint32 request = ask("disk", 30);
    expect(request, VERDICT_FAILED, VERDICT_FAILED);
    sshd_group_check_text(request, "h1", cases[i].why);
    check_only("tftp/px e", NULL);
    sshd_lab_close(lab);
  }
}

/* Whatever ends the console or its connection, the host takes them back. */
static void
test_end_of_the_console(void **state)
{
  (void)state;
  sshd_group_need_lab();
  open_site("once");
  write_both();
  sshd_lab_close(lab);
  for (gint64 end = g_get_monotonic_time() + 30 * G_USEC_PER_SEC;
       (is_there(FIRST) || is_there(SECOND_IPXE)) && g_get_monotonic_time() < end;)
    g_usleep(10000);
  check_only("tftp/px e", NULL);
  check_only("tftp/once", NULL);
}

static void
test_end_of_the_connection(void **state)
{
  (void)state;
  sshd_group_need_lab();
  open_site("once");
  write_both();
  sshd_lab_end(lab, 2, TRUE);
  assert_true(sshd_lab_until(lab, is_gone, SECOND_IPXE, 30));
  assert_true(sshd_lab_until(lab, is_gone, FIRST, 30));
  assert_non_null(strstr(lab->lines->str, "what there was of boot-once files the host takes back"));
  guint32 request = ask("", 30);
  expect(request, VERDICT_FAILED, VERDICT_FAILED);
  sshd_lab_run(lab, 2);
  write_both();
  expect(ask("", 30), VERDICT_OK, VERDICT_OK);
  sshd_lab_close(lab);
}

static gboolean
has_seen(SshdLab *of, gconstpointer text)
{
  return strstr(of->lines->str, text) != NULL;
}

/* A machine that went down under its keeper; and one that is another console's. */
static void
test_other_keepers(void **state)
{
  (void)state;
  sshd_group_need_lab();
  open_site("once");
  g_autofree char *stale = g_strdup_printf("# x\n" MARK "%s 4194400\n", g_get_host_name());
  put(FIRST, stale);
  GPid keeper;
  char *words[] = {"sh", "-c", "sleep 60; :", "pult-once", NULL};
  assert_true(g_spawn_async(NULL, words, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
                            sshd_lab_die_with_test, NULL, &keeper, NULL));
  g_autofree char *held =
      g_strdup_printf("#!ipxe\n" MARK "%s %d\n", g_get_host_name(), (int)keeper);
  put(SECOND_IPXE, held);
  g_autofree char *elsewhere = g_strdup("#!ipxe\n" MARK "another 1\n");
  put(FIRST_IPXE, elsewhere);
  guint32 request = ask("disk", 30);
  expect(request, VERDICT_FAILED, VERDICT_FAILED);
  assert_true(
      sshd_lab_until(lab, has_seen, FIRST ", a boot-once file that an earlier session", 30));
  sshd_group_check_text(request, "h1", "another console boots it by ");
  sshd_group_check_text(request, "h2", "another console boots it by ");
  check_only("tftp/px e", NULL);
  assert_true(is_there(FIRST_IPXE) && is_there(SECOND_IPXE));
  kill(keeper, SIGKILL);
  sshd_lab_reap(keeper);
  sshd_lab_close(lab);
}

static void
test_cancelled(void **state)
{
  (void)state;
  sshd_group_need_lab();
  open_site("once");
  for (guint i = 0; i < 20; i++) {
    guint32 request = ask("disk", 30);
    gint64 until = backend_check_now(lab->check) + i * 2 * TIME_MS;
    backend_check_run(lab->check, until);
    backend_check_cancel(lab->check, request);
    sshd_lab_wait(lab, request, "h1");
    sshd_lab_wait(lab, request, "h2");
    expect(ask("", 30), VERDICT_OK, VERDICT_OK);
    check_only("tftp/px e", NULL);
    check_only("tftp/once", NULL);
  }
  sshd_lab_close(lab);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_written_and_taken_back), cmocka_unit_test(test_no_such_label),
      cmocka_unit_test(test_foreign_files),          cmocka_unit_test(test_folders_that_take_none),
      cmocka_unit_test(test_end_of_the_console),     cmocka_unit_test(test_end_of_the_connection),
      cmocka_unit_test(test_other_keepers),          cmocka_unit_test(test_cancelled),
  };
  return cmocka_run_group_tests(tests, sshd_group_set_up, sshd_group_tear_down);
}

#else

#include <stdio.h>

int
main(void)
{
  puts("built without libssh");
  return 77;
}

#endif
