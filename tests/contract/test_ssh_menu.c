/* The boot server's menu over a real sshd: read, changed, taken back, and what may go wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <crypt.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_SSH

#include "backends/ssh/ssh_private.h"
#include "tests/contract/sshd_group.h"

#define DEFAULT "pxelinux.cfg/default"

static guint32
ask(Operation operation, const char *node, double seconds, const char *const *arguments)
{
  NodeId id = sshd_lab_node(lab, node);
  return backend_check_submit(lab->check, operation, &id, 1, (gint64)(seconds * 1e9), arguments);
}

#define WITH(...)                                                                                  \
  (const char *const[])                                                                            \
  {                                                                                                \
    __VA_ARGS__, NULL                                                                              \
  }

/* Puts TEXT into NAME below the root that the layouts here have. */
static void
put_menu(const char *name, const char *text)
{
  g_autofree char *path = g_build_filename(lab->folder, "tftp", name, NULL);
  g_autofree char *folder = g_path_get_dirname(path);
  assert_int_equal(g_mkdir_with_parents(folder, 0755), 0);
  assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void
test_menu(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *rest = g_strdup_printf("boot: {root: %s/tftp}\n", lab->folder);
  put_menu("pxelinux.cfg/default", "DEFAULT menu.c32\r\nTIMEOUT 35\r\nONTIMEOUT disk\r\n"
                                   "MENU MASTER PASSWD $6$salt$hash\r\n"
                                   "INCLUDE it's;touch${IFS}pwned\r\nINCLUDE none\r\n"
                                   "INCLUDE empty\r\n");
  put_menu("it's;touch${IFS}pwned", "LABEL linux\nLABEL disk");
  put_menu("empty", "");
  sshd_lab_open(lab, "", "", rest);
  guint32 get = ask(OP_GET, "h1", 30, WITH("path", "h1.pxe"));
  sshd_lab_expect(lab, get, "h1", VERDICT_OK);
  assert_string_equal(lab->lines->str,
                      "h1 out default-entry  linux  (it's;touch${IFS}pwned:1)\n"
                      "h1 out untouched      disk\n"
                      "h1 out timeout        3.5 s  (pxelinux.cfg/default:2)\n"
                      "h1 out total-timeout  none\n"
                      "h1 out title          none\n"
                      "h1 out password       sha512  (pxelinux.cfg/default:4)\n"
                      "h1 out theme          none\n"
                      "h1 out entries        linux\n"
                      "h1 out                disk\n"
                      "h1 out note: pxelinux.cfg/default:6: there is no none to include\n");
  sshd_lab_close(lab);
}

static void
test_no_menu(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *rest =
      g_strdup_printf("boot: {root: %s/tftp, menu: pxelinux.cfg/folder}\n", lab->folder);
  sshd_lab_open(lab, "", "", rest);
  guint32 get = ask(OP_GET, "h1", 30, WITH("path", "h1.pxe"));
  sshd_lab_expect(lab, get, "h1", VERDICT_FAILED);
  sshd_group_check_text(get, "h1", "h1: there is no pxelinux.cfg/folder");
  put_menu("pxelinux.cfg/folder/file", "");
  get = ask(OP_GET, "h1", 30, WITH("path", "h1.pxe"));
  sshd_lab_expect(lab, get, "h1", VERDICT_FAILED);
  sshd_group_check_text(get, "h1", "pxelinux.cfg/folder: exit status 1: base64: ");
  sshd_lab_close(lab);
  sshd_lab_open(lab, "", "", "");
  get = ask(OP_GET, "h1", 30, WITH("path", "h1.pxe"));
  sshd_lab_expect(lab, get, "h1", VERDICT_FAILED);
  sshd_group_check_text(get, "h1", "h1: the layout does not say where the menu is");
  sshd_lab_close(lab);
}

/* ---- Changes ------------------------------------------------------------------------------- */

static char *
path_of(const char *name)
{
  return g_build_filename(lab->folder, "tftp", name, NULL);
}

static void
check_file(const char *name, const char *text)
{
  g_autofree char *path = path_of(name), *is = NULL;
  if (!g_file_get_contents(path, &is, NULL, NULL)) {
    assert_null(text);
    return;
  }
  if (text == NULL)
    fail_msg("%s is there", name);
  assert_string_equal(is, text);
}

/* Of what a change began and left. */
static void
check_no_temps(const char *folder)
{
  g_autofree char *path = path_of(folder);
  g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
  assert_non_null(dir);
  for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
    if (strstr(name, ".pult-") != NULL && !g_str_has_suffix(name, ".pult-old") &&
        !g_str_has_suffix(name, ".pult-undo"))
      fail_msg("%s/%s was left", folder, name);
}

static void
open_lab(const char *settings)
{
  g_autofree char *rest = g_strdup_printf("boot: {root: %s/tftp}\n", lab->folder);
  sshd_lab_open(lab, settings, "", rest);
}

/* What a change would be made of; NULL: it would change nothing. */
static char *
look(const char *const *arguments)
{
  g_string_truncate(lab->lines, 0);
  guint32 get = ask(OP_GET, "h1", 60, arguments);
  sshd_lab_expect(lab, get, "h1", VERDICT_OK);
  const char *was = strstr(lab->lines->str, "h1 was ");
  if (was == NULL)
    return NULL;
  was += strlen("h1 was ");
  return g_strndup(was, strcspn(was, "\n"));
}

static char *
look_set(const char *setting, const char *value)
{
  return look(WITH("path", "h1.pxe", "setting", setting, "value", value));
}

static guint32
set(const char *setting, const char *value, const char *was)
{
  return ask(OP_SET, "h1", 60,
             WITH("path", "h1.pxe", "setting", setting, "value", value, "was", was));
}

static void
change(const char *setting, const char *value)
{
  g_autofree char *was = look_set(setting, value);
  assert_non_null(was);
  sshd_lab_expect(lab, set(setting, value, was), "h1", VERDICT_OK);
}

static void
undo(void)
{
  g_autofree char *was = look(WITH("path", "h1.pxe", "undo", "yes"));
  assert_non_null(was);
  guint32 back = ask(OP_SET, "h1", 60, WITH("path", "h1.pxe", "undo", "yes", "was", was));
  sshd_lab_expect(lab, back, "h1", VERDICT_OK);
}

#define MENU "DEFAULT one\r\nTIMEOUT 35 # short\r\nINCLUDE more\r\n"

static void
test_set(void **state)
{
  (void)state;
  sshd_group_need_lab();
  put_menu(DEFAULT, MENU);
  put_menu("more", "LABEL one\nLABEL two\nMENU TITLE it's $HOME");
  g_autofree char *path = path_of("more");
  assert_int_equal(chmod(path, 0440), 0);
  open_lab("");
  assert_null(look_set("timeout", "35"));
  change("timeout", "100");
  check_file(DEFAULT, "DEFAULT one\r\nTIMEOUT 100 # short\r\nINCLUDE more\r\n");
  check_file(DEFAULT ".pult-old", MENU);
  undo();
  check_file(DEFAULT, MENU);
  check_file(DEFAULT ".pult-old", NULL);
  check_file(DEFAULT ".pult-undo", NULL);
  change("title", "'; touch \"pwned\" $(touch pwned)");
  assert_non_null(strstr(lab->lines->str, "h1 difference --- more\n"));
  check_file("more", "LABEL one\nLABEL two\nMENU TITLE '; touch \"pwned\" $(touch pwned)");
  check_file(DEFAULT, MENU);
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(info.st_mode & 07777, 0440);
  undo();
  check_file("more", "LABEL one\nLABEL two\nMENU TITLE it's $HOME");
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(info.st_mode & 07777, 0440);
  guint32 again = ask(OP_GET, "h1", 60, WITH("path", "h1.pxe", "undo", "yes"));
  sshd_lab_expect(lab, again, "h1", VERDICT_FAILED);
  sshd_group_check_text(again, "h1", "there is nothing to take back");
  guint32 entry =
      ask(OP_GET, "h1", 60, WITH("path", "h1.pxe", "setting", "default-entry", "value", "three"));
  sshd_lab_expect(lab, entry, "h1", VERDICT_FAILED);
  sshd_group_check_text(entry, "h1", "the menu has no entry `three`; it has one, two");
  check_no_temps("pxelinux.cfg");
  check_no_temps(".");
  sshd_lab_close(lab);
}

/* One change that concerns two files is of both or none. */
static void
test_two_files(void **state)
{
  (void)state;
  const char *top = "UI menu.c32\nINCLUDE more\nLABEL two\n", *more = "LABEL one\n  MENU DEFAULT\n";
  sshd_group_need_lab();
  put_menu(DEFAULT, top);
  put_menu("more", more);
  open_lab("");
  change("default-entry", "two");
  check_file(DEFAULT, "UI menu.c32\nINCLUDE more\nLABEL two\n  MENU DEFAULT\n");
  check_file("more", "LABEL one\n");
  put_menu("more", "LABEL one\nLABEL three\n");
  guint32 back = ask(OP_GET, "h1", 60, WITH("path", "h1.pxe", "undo", "yes"));
  sshd_lab_expect(lab, back, "h1", VERDICT_FAILED);
  sshd_group_check_text(back, "h1", "more was changed by somebody else since");
  put_menu("more", "LABEL one\n");
  undo();
  check_file(DEFAULT, top);
  check_file("more", more);
  sshd_lab_close(lab);
}

static void
test_password(void **state)
{
  (void)state;
  sshd_group_need_lab();
  put_menu(DEFAULT, "MENU MASTER PASSWD plain-one\nLABEL one\n");
  sshd_lab_write(lab, "word", "hidden-word\n");
  g_autofree char *file = sshd_lab_path(lab, "word"), *path = path_of(DEFAULT), *text = NULL;
  g_autofree char *reference = g_strconcat("file:", file, NULL);
  assert_int_equal(chmod(file, 0644), 0);
  open_lab("");
  guint32 open_to_all =
      ask(OP_GET, "h1", 60, WITH("path", "h1.pxe", "setting", "password", "value", reference));
  sshd_lab_expect(lab, open_to_all, "h1", VERDICT_FAILED);
  sshd_group_check_text(open_to_all, "h1", "can be read by others; chmod 600");
  assert_int_equal(chmod(file, 0600), 0);
  change("password", reference);
  assert_non_null(strstr(lab->lines->str, "h1 difference -MENU MASTER PASSWD ***\n"
                                          "h1 difference +MENU MASTER PASSWD ***\n"));
  assert_null(strstr(lab->lines->str, "plain-one"));
  assert_null(strstr(lab->lines->str, "$6$"));
  assert_true(g_file_get_contents(path, &text, NULL, NULL));
  assert_true(g_str_has_prefix(text, "MENU MASTER PASSWD $6$"));
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  const char *hash = lines[0] + strlen("MENU MASTER PASSWD ");
  assert_string_equal(crypt("hidden-word", hash), hash);
  undo();
  check_file(DEFAULT, "MENU MASTER PASSWD plain-one\nLABEL one\n");
  sshd_lab_close(lab);
}

static void
test_meanwhile(void **state)
{
  (void)state;
  sshd_group_need_lab();
  put_menu(DEFAULT, "TIMEOUT 1\n");
  open_lab("");
  g_autofree char *was = look_set("timeout", "2");
  put_menu(DEFAULT, "TIMEOUT 1\n# mine\n");
  guint32 late = set("timeout", "2", was);
  sshd_lab_expect(lab, late, "h1", VERDICT_FAILED);
  sshd_group_check_text(late, "h1", "changed by somebody else meanwhile");
  check_file(DEFAULT, "TIMEOUT 1\n# mine\n");
  sshd_lab_close(lab);
}

static void
test_link(void **state)
{
  (void)state;
  sshd_group_need_lab();
  put_menu("site/menu", "TIMEOUT 1\n");
  g_autofree char *path = path_of(DEFAULT);
  unlink(path);
  assert_int_equal(symlink("../site/menu", path), 0);
  open_lab("");
  change("timeout", "2");
  check_file("site/menu", "TIMEOUT 2\n");
  assert_true(g_file_test(path, G_FILE_TEST_IS_SYMLINK));
  undo();
  check_file("site/menu", "TIMEOUT 1\n");
  assert_true(g_file_test(path, G_FILE_TEST_IS_SYMLINK));
  check_no_temps("site");
  sshd_lab_close(lab);
  unlink(path);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

/* A program of that name that is found before the host's own. */
static void
put_program(const char *name, const char *text)
{
  g_autofree char *programs = sshd_lab_path(lab, "programs");
  g_autofree char *path = g_build_filename(programs, name, NULL);
  assert_int_equal(g_mkdir_with_parents(programs, 0755), 0);
  assert_true(g_file_set_contents(path, text, -1, NULL));
  assert_int_equal(chmod(path, 0755), 0);
}

static void
open_with_programs(const char *menu)
{
  g_autofree char *programs = sshd_lab_path(lab, "programs");
  g_autofree char *text =
      g_strdup_printf("#!/bin/sh\nPATH=%s:$PATH\nexport PATH\nexec sh \"$@\"\n", programs);
  put_program("shell", text);
  g_autofree char *settings = g_strdup_printf("    shell: %s/shell\n", programs);
  g_autofree char *rest = g_strdup_printf("boot: {root: %s/tftp, menu: %s}\n", lab->folder, menu);
  sshd_lab_open(lab, settings, "", rest);
}

static gboolean
is_there(SshdLab *of, gconstpointer path)
{
  (void)of;
  return g_file_test(path, G_FILE_TEST_EXISTS);
}

static gboolean
is_clean(SshdLab *of, gconstpointer folder)
{
  (void)of;
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
    if (strstr(name, ".pult-") != NULL)
      return FALSE;
  return TRUE;
}

/* The connection ends while the new file is on its way, which is longer than what pipes and
 * buffers between us hold. */
static void
test_lost(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *filling = g_strnfill(200 * 1024, '#');
  for (gsize i = 79; i < 200 * 1024; i += 80)
    filling[i] = '\n';
  g_autofree char *menu = g_strconcat("TIMEOUT 1\n", filling, NULL);
  g_autofree char *begun = sshd_lab_path(lab, "begun"), *go = sshd_lab_path(lab, "go");
  g_autofree char *folder = path_of("lost");
  g_autofree char *program =
      g_strdup_printf("#!/bin/sh\n: >%s\nwhile [ ! -e %s ]; do sleep .05; done\n"
                      "exec /usr/bin/mktemp \"$@\"\n",
                      begun, go);
  put_menu("lost/default", menu);
  put_program("mktemp", program);
  open_with_programs("lost/default");
  g_autofree char *was = look_set("timeout", "2");
  guint32 lost = set("timeout", "2", was);
  assert_true(sshd_lab_until(lab, is_there, begun, 60));
  sshd_lab_end(lab, 1, TRUE);
  sshd_lab_expect(lab, lost, "h1", VERDICT_UNKNOWN);
  sshd_group_check_text(lost, "h1", "the menu was being written");
  sshd_lab_write(lab, "go", "");
  assert_true(sshd_lab_until(lab, is_clean, folder, 60));
  check_file("lost/default", menu);
  sshd_lab_run(lab, 1);
  change("timeout", "2");
  undo();
  check_file("lost/default", menu);
  sshd_lab_close(lab);
}

/* Between our reading and the renaming: only the host can see that. */
static void
test_at_the_last_moment(void **state)
{
  (void)state;
  sshd_group_need_lab();
  put_menu("late/default", "TIMEOUT 1\n");
  g_autofree char *path = path_of("late/default");
  g_autofree char *program = g_strdup_printf("#!/bin/sh\necho '# mine' >>%s\n"
                                             "exec /usr/bin/mktemp \"$@\"\n",
                                             path);
  put_program("mktemp", program);
  open_with_programs("late/default");
  g_autofree char *was = look_set("timeout", "2");
  guint32 late = set("timeout", "2", was);
  sshd_lab_expect(lab, late, "h1", VERDICT_FAILED);
  sshd_group_check_text(late, "h1", "changed by somebody else meanwhile");
  g_autofree char *text = NULL;
  assert_true(g_file_get_contents(path, &text, NULL, NULL));
  assert_true(g_str_has_prefix(text, "TIMEOUT 1\n# mine\n"));
  check_no_temps("late");
  sshd_lab_close(lab);
}

/* A site's own program that sets what it knows; it takes nothing but what it should be told. */
static void
test_slxsettings(void **state)
{
  (void)state;
  sshd_group_need_lab();
  put_menu(DEFAULT, "TIMEOUT 1\nMENU TITLE old\n");
  g_autofree char *path = path_of(DEFAULT), *programs = sshd_lab_path(lab, "programs");
  g_autofree char *program = g_strdup_printf(
      "#!/bin/sh\n"
      "[ $# = 2 ] && [ \"$1\" = set ] || { echo \"usage: $# $*\" >&2; exit 64; }\n"
      "case $2 in\n"
      "pxe-timeout=30) ;; # told, and not done\n"
      "pxe-timeout=*[!0-9]*) echo no number >&2; exit 65;;\n"
      "pxe-timeout=*) sed -i \"s/^TIMEOUT .*/TIMEOUT ${2#*=}/\" %s;;\n"
      "'pxe-title=It'\\''s; $HOME') sed -i \"s/^MENU TITLE .*/MENU TITLE It's; \\$HOME/\" %s;;\n"
      "*) echo \"no $2\" >&2; exit 66;;\n"
      "esac\n",
      path, path);
  put_program("slxsettings", program);
  put_program("mktemp", "#!/bin/sh\nexit 1\n");
  g_autofree char *settings = g_strdup_printf("    shell: %s/shell\n", programs);
  g_autofree char *rest =
      g_strdup_printf("boot: {root: %s/tftp}\n"
                      "control:\n"
                      "  h1:\n"
                      "    pxe.timeout: {set: \"slxsettings set pxe-timeout={value}\"}\n"
                      "    pxe.title: {set: \"slxsettings set pxe-title={value}\"}\n"
                      "    pxe.theme: {set: \"slxsettings theme {value}\"}\n"
                      "    pxe.password: {set: \"slxsettings set pxe-passwd={value}\"}\n",
                      lab->folder);
  open_with_programs(DEFAULT);
  sshd_lab_close(lab);
  sshd_lab_open(lab, settings, "", rest);
  change("timeout", "100");
  assert_string_equal(lab->lines->str, "h1 difference -timeout 1\nh1 difference +timeout 100\n"
                                       "h1 difference  by slxsettings set pxe-timeout='100'\n"
                                       "h1 was timeout 1\n");
  change("title", "It's; $HOME");
  check_file(DEFAULT, "TIMEOUT 100\nMENU TITLE It's; $HOME\n");
  assert_null(look_set("timeout", "100"));
  g_autofree char *was = look_set("timeout", "30");
  guint32 idle = set("timeout", "30", was);
  sshd_lab_expect(lab, idle, "h1", VERDICT_FAILED);
  sshd_group_check_text(idle, "h1", "pxe-timeout='30'` went well, and timeout is 100");
  guint32 theme = set("theme", "x.png", "theme none");
  sshd_lab_expect(lab, theme, "h1", VERDICT_FAILED);
  sshd_group_check_text(theme, "h1", "exit status 64: usage: 2 theme x.png");
  guint32 late = set("timeout", "40", "timeout 1");
  sshd_lab_expect(lab, late, "h1", VERDICT_FAILED);
  sshd_group_check_text(late, "h1", "changed by somebody else meanwhile");
  guint32 seen = set("password", "env:HOME", "password none");
  sshd_lab_expect(lab, seen, "h1", VERDICT_FAILED);
  sshd_group_check_text(seen, "h1", "in whose arguments all");
  sshd_lab_close(lab);
}

/* Mounts that only a process of ours and those that join it see. 0: this machine lets nobody. */
static GPid
start_mounts(const char *script, int *out)
{
  const char *const arguments[] = {"unshare", "-m", "sh", "-ec", script, NULL};
  GPid pid = 0;
  if (geteuid() != 0 ||
      !g_spawn_async_with_pipes(NULL, (char **)arguments, NULL,
                                G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
                                sshd_lab_die_with_test, NULL, &pid, NULL, out, NULL, NULL))
    return 0;
  char ready[8] = "";
  gssize n = read(*out, ready, sizeof ready);
  if (n > 0)
    return pid;
  close(*out);
  sshd_lab_reap(pid);
  return 0;
}

static void
try_disk(const char *root, const char *complaint)
{
  g_autofree char *programs = sshd_lab_path(lab, "programs");
  g_autofree char *settings = g_strdup_printf("    shell: %s/shell\n", programs);
  g_autofree char *rest = g_strdup_printf("boot: {root: %s/%s}\n", lab->folder, root);
  sshd_lab_open(lab, settings, "", rest);
  g_autofree char *was = look_set("timeout", "2");
  guint32 full = set("timeout", "2", was);
  sshd_lab_expect(lab, full, "h1", VERDICT_FAILED);
  sshd_group_check_text(full, "h1", "the menu is as it was");
  sshd_group_check_text(full, "h1", complaint);
  /* The same as before, and nothing beside it. */
  g_autofree char *is = look_set("timeout", "2");
  assert_string_equal(was, is);
  g_autofree char *list = g_strdup_printf("ls %s/%s/pxelinux.cfg", lab->folder, root);
  g_string_truncate(lab->lines, 0);
  sshd_lab_expect(lab, sshd_lab_exec(lab, "h1", list, 60), "h1", VERDICT_OK);
  assert_string_equal(lab->lines->str, "h1 out default\n");
  sshd_lab_close(lab);
}

static void
test_disks(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *filling = g_strnfill(20000, '\n');
  g_autofree char *menu = g_strconcat("TIMEOUT 1\n", filling, NULL);
  put_menu(DEFAULT, menu);
  g_autofree char *script = g_strdup_printf(
      "cd %s; mkdir -p full ro; mount --make-rprivate /; "
      "for at in full ro; do mount -t tmpfs -o size=56k tmpfs $at; mkdir $at/pxelinux.cfg; "
      "cp tftp/pxelinux.cfg/default $at/pxelinux.cfg; done; "
      "mount -o remount,ro ro; echo ready; exec sleep 1000",
      lab->folder);
  int out = -1;
  GPid pid = start_mounts(script, &out);
  if (pid == 0) {
    print_message("no mounts can be made here: not tried on full and read-only disks\n");
    return;
  }
  g_autofree char *shell =
      g_strdup_printf("#!/bin/sh\nexec nsenter -t %d -m sh \"$@\"\n", (int)pid);
  put_program("shell", shell);
  try_disk("full", "No space left on device");
  try_disk("ro", "Read-only file system");
  kill(pid, SIGKILL);
  sshd_lab_reap(pid);
  close(out);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_menu),        cmocka_unit_test(test_no_menu),
      cmocka_unit_test(test_set),         cmocka_unit_test(test_two_files),
      cmocka_unit_test(test_password),    cmocka_unit_test(test_meanwhile),
      cmocka_unit_test(test_link),        cmocka_unit_test(test_lost),
      cmocka_unit_test(test_disks),       cmocka_unit_test(test_at_the_last_moment),
      cmocka_unit_test(test_slxsettings),
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
