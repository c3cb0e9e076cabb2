#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#ifdef HAVE_SSH

#include "tests/contract/sshd_lab.h"

/* h1 and h2 are well, h3 refuses connections, nobody answers at h4. */
#define N_HOSTS 4

static SshdLab *lab;
static char *sleeping, *stubborn; /* commands with a mark in them that no other process has */
static char mark[20];
static guint seen[VERDICT_UNSUPPORTED + 1];

static int
set_up(void **state)
{
  (void)state;
  lab = sshd_lab_new(N_HOSTS);
  if (lab == NULL)
    return 0;
  sshd_lab_end(lab, 3, TRUE);
  g_snprintf(mark, sizeof mark, "401%06u", (guint)getpid());
  sleeping = g_strdup_printf("sleep %s & sleep %s", mark, mark);
  stubborn = g_strdup_printf("trap '' TERM; sleep %s; sleep %s", mark, mark);
  return 0;
}

static int
tear_down(void **state)
{
  (void)state;
  sshd_lab_free(lab);
  g_free(sleeping);
  g_free(stubborn);
  return 0;
}

#define WITH(...)                                                                                  \
  (const char *const[])                                                                            \
  {                                                                                                \
    __VA_ARGS__, NULL                                                                              \
  }

static void
walk(guint32 seed, guint n_steps, gint64 longest)
{
  const CheckAsk asks[] = {
      {OP_STATUS, 6, NULL, NULL},
      {OP_EXEC, 6, WITH("command", "echo one; echo two >&2"), NULL},
      {OP_EXEC, 3, WITH("command", "exit 3"), NULL},
      {OP_EXEC, 3, WITH("command", "kill -KILL $$"), NULL},
      {OP_EXEC, 3, WITH("command", "sleep .2; printf '\\033[2J\\000\\n'"), NULL},
      {OP_EXEC, 2, WITH("command", "head -c 3000000 /dev/zero | tr '\\0' x"), NULL},
      {OP_EXEC, 4, WITH("command", sleeping), NULL},
      {OP_EXEC, 2, WITH("command", stubborn), NULL},
      {OP_EXEC, 1, NULL, NULL},
      {OP_SIGNAL, 6, WITH("request", "%request", "signal", "TERM"), NULL},
      {OP_SIGNAL, 2, WITH("request", "%request", "signal", "KILL"), NULL},
      {OP_SIGNAL, 2, WITH("request", "%request", "signal", "LEAVE", "for", "300 ms"), NULL},
      {OP_SIGNAL, 1, WITH("request", "x", "signal", "TERM"), NULL},
      {OP_SIGNAL, 1, WITH("request", "%request", "signal", "9;reboot"), NULL},
      {OP_WATCH, 3, WITH("interval_ns", "100000000"), NULL},
      {OP_WATCH, 1, WITH("interval_ns", "x"), NULL},
      {OP_GET, 3, WITH("path", "h1.nfsd"), "h1"},
      {OP_SET, 3, WITH("path", "h1.nfsd", "value", "8"), "h1"},
      {OP_SET, 1, WITH("path", "h1.nfsd"), "h1"},
      {OP_GET, 1, WITH("path", "h2.\033[2J"), "h2"},
      {OP_OFF, 2, WITH("how", "soft"), NULL},
      {OP_OFF, 1, WITH("how", "hard"), NULL},
      {OP_RESET, 2, NULL, NULL},
      {OP_BOOT_DEVICE, 1, WITH("device", "kexec"), NULL},
      {OP_MESSAGE, 1, WITH("text", "\033]0;x\a"), NULL},
      {OP_ON, 1, NULL, NULL},
      {OP_KEYS, 1, NULL, NULL},
      {OP_STATUS, 0, NULL, NULL},
  };
  NodeId nodes[N_HOSTS];
  for (guint i = 0; i < N_HOSTS; i++)
    nodes[i] = layout_find(lab->layout, (const char *[]){"h1", "h2", "h3", "h4"}[i]);
  CheckWalk steps = {asks, nodes, N_HOSTS, n_steps, longest};
  backend_check_walk(lab->check, &steps, seed);
  if (backend_check_violation(lab->check) != NULL)
    fail_msg("seed %u: %s", seed, backend_check_violation(lab->check));
  for (Verdict verdict = 0; verdict <= VERDICT_UNSUPPORTED; verdict++)
    seen[verdict] += backend_check_count(lab->check, verdict);
}

static void
test_rules(void **state)
{
  (void)state;
  if (lab == NULL)
    skip();
  sshd_lab_write(lab, "nfsd", "64\n");
  g_autofree char *rest =
      g_strdup_printf("control:\n"
                      "  \"h[1-4]\":\n"
                      "    nfsd: {get: \"cat %s/nfsd\", set: \"echo {value} >%s/nfsd\"}\n"
                      "    soft-off: \"sleep .1\"\n"
                      "    reset: \"kill -KILL $PPID\"\n",
                      lab->folder, lab->folder);
  for (guint32 seed = 1; seed <= 6; seed++) {
    g_autoptr(GSocket) hole = sshd_lab_black_hole(&lab->hosts[3].port);
    sshd_lab_open(lab, "    connect: 2 s\n    retry: 1 s\n    handshakes: 2\n    interface: lo\n",
                  "", rest);
    walk(seed, 80, seed % 2 == 1 ? 150 * TIME_MS : 20 * TIME_MS);
    sshd_lab_close(lab);
    assert_true(sshd_lab_gone(mark, 120));
  }
  print_message("results:");
  for (Verdict verdict = 0; verdict <= VERDICT_UNSUPPORTED; verdict++)
    print_message(" %u %s", seen[verdict], verdict_name(verdict));
  print_message("\n");
  for (Verdict verdict = 0; verdict <= VERDICT_UNSUPPORTED; verdict++)
    assert_true(seen[verdict] >= 5);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rules),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
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
