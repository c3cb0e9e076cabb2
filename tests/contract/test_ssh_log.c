/* Logs of real hosts, as their own `tail` reads them on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifdef HAVE_SSH

#include "tests/contract/sshd_group.h"

#include <glib/gstdio.h>
#include <string.h>

static const char *const what_log[] = {"what", "log", NULL};

static void
append(const char *name, const char *text)
{
  g_autofree char *path = sshd_lab_path(lab, name);
  FILE *file = fopen(path, "a");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static gboolean
was_told(SshdLab *hosts, gconstpointer words)
{
  return strstr(hosts->lines->str, words) != NULL;
}

static void
wait_told(const char *words)
{
  if (!sshd_lab_until(lab, was_told, words, 60))
    fail_msg("`%s` was not told, but\n%s", words, lab->lines->str);
}

/* Until a line that is written again and again is told: tail has begun. */
static void
wait_tail(const char *name, const char *line, const char *words)
{
  gint64 end = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;
  while (!was_told(lab, words) && g_get_monotonic_time() < end) {
    append(name, line);
    sshd_lab_until(lab, was_told, words, 0.2);
  }
  assert_true(was_told(lab, words));
}

static void
test_lines(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *settings = g_strdup_printf(
      "    retry: 1 s\n    logs: [\"%s/{node}'s log\", \"%s/second\"]\n", lab->folder, lab->folder);
  append("h1's log", "what was there\n");
  append("second", "");
  sshd_lab_open(lab, settings, "", "");
  NodeId nodes[] = {sshd_lab_node(lab, "h1"), sshd_lab_node(lab, "h2")};
  guint32 watch = backend_check_submit(lab->check, OP_WATCH, nodes, 2, TIME_NEVER, what_log);
  wait_tail("h1's log", "first\n", "h1 log first\n");
  append("second", "of another file\ncut");
  wait_told("h1 log of another file\n");
  append("second", " in two\n");
  wait_told("h1 log cut in two\n");
  wait_told("/h2's log\" for reading"); /* tail complains that it is not there */
  assert_null(strstr(lab->lines->str, "what was there"));
  backend_check_cancel(lab->check, watch);
  assert_int_equal(sshd_lab_wait(lab, watch, "h1"), VERDICT_CANCELLED);
  assert_int_equal(sshd_lab_wait(lab, watch, "h2"), VERDICT_CANCELLED);
  sshd_lab_close(lab);
  assert_true(sshd_lab_gone("h2's log", 30)); /* no tail is left there */
}

static guint
count(const char *line)
{
  guint n = 0;
  for (const char *at = lab->lines->str; (at = strstr(at, line)) != NULL; at++)
    n++;
  return n;
}

static void
test_rotated(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *name = sshd_lab_path(lab, "rotated");
  g_autofree char *old = sshd_lab_path(lab, "rotated.1");
  g_autofree char *settings = g_strdup_printf("    logs: [\"%s\"]\n", name);
  append("rotated", "");
  sshd_lab_open(lab, settings, "", "");
  NodeId node = sshd_lab_node(lab, "h1");
  backend_check_submit(lab->check, OP_WATCH, &node, 1, TIME_NEVER, what_log);
  wait_tail("rotated", "first\n", "h1 log first\n");
  append("rotated", "last of the old\n");
  wait_told("h1 log last of the old\n");
  assert_int_equal(g_rename(name, old), 0);
  append("rotated", "one of the new\n");
  wait_told("h1 log one of the new\n");
  /* The middle of a line that is too long is not taken for one. */
  g_autofree char *blanks = g_strnfill(10000, 'x');
  g_autofree char *text = g_strconcat(blanks, "\nafter \x01\xff it\n", NULL);
  append("rotated", text);
  wait_told("h1 log after \x01\xff it\n");
  assert_null(strstr(lab->lines->str, "xx"));
  assert_int_equal(count("last of the old\n"), 1);
  sshd_lab_close(lab);
}

static gboolean
is_down(SshdLab *hosts, gconstpointer unused)
{
  (void)unused;
  return strstr(hosts->links->str, "down ssh:h1") != NULL;
}

/* It is connected again by itself, and reads on. */
static void
test_lost(void **state)
{
  (void)state;
  sshd_group_need_lab();
  g_autofree char *settings =
      g_strdup_printf("    retry: 1 s\n    logs: [\"%s/lost\"]\n", lab->folder);
  append("lost", "");
  sshd_lab_open(lab, settings, "", "");
  NodeId node = sshd_lab_node(lab, "h1");
  guint32 watch = backend_check_submit(lab->check, OP_WATCH, &node, 1, TIME_NEVER, what_log);
  wait_tail("lost", "first\n", "h1 log first\n");
  append("lost", "once\n");
  wait_told("h1 log once\n");
  sshd_lab_end(lab, 1, TRUE);
  assert_true(sshd_lab_until(lab, is_down, NULL, 60));
  sshd_lab_run(lab, 1);
  wait_tail("lost", "again\n", "h1 log again\n");
  assert_int_equal(count("h1 log once\n"), 1);
  backend_check_cancel(lab->check, watch);
  assert_int_equal(sshd_lab_wait(lab, watch, "h1"), VERDICT_CANCELLED);
  sshd_lab_close(lab);
}

static void
test_without(void **state)
{
  (void)state;
  sshd_group_need_lab();
  sshd_lab_open(lab, "", "", "");
  NodeId node = sshd_lab_node(lab, "h1");
  guint32 watch = backend_check_submit(lab->check, OP_WATCH, &node, 1, TIME_NEVER, what_log);
  assert_int_equal(sshd_lab_wait(lab, watch, "h1"), VERDICT_FAILED);
  sshd_lab_close(lab);
  static const char reads[] = "servers: {s1: {switch: sw1, log: ssh, ports: {eth0: {speed: 1 "
                              "Gbit/s}}, ip: 10.21.0.254}}\n";
  g_autoptr(GError) error = NULL;
  assert_false(sshd_lab_try(lab, "", "", reads, &error));
  if (strstr(error->message, "s1: it has no `logs` to read") == NULL)
    fail_msg("%s", error->message);
  g_clear_error(&error);
  assert_false(sshd_lab_try(lab, "    logs: [messages]\n", "", reads, &error));
  assert_non_null(strstr(error->message, "messages has no / before it"));
}

int
main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_rotated),
                                     cmocka_unit_test(test_lost), cmocka_unit_test(test_without)};
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
