/* `true` on 34 real sshds, from no connection to all results: pult's backend beside clush, pdsh -R
 * ssh and a shell's `ssh &`, by turns on the same machine, which runs the sshds too. Then 200 sshds
 * at once. Aims: half the wall time of the best of them and a tenth of its processor time, and that
 * all 200 succeed; a best of the others that is missing here is left out. */
#include <stdio.h>

#ifdef HAVE_SSH

#include <string.h>
#include <sys/resource.h>

#include "tests/contract/sshd_lab.h"

#define HOSTS 34u
#define MANY 200u
#define ROUNDS 3u
#define WALL_AIM 0.5
#define CPU_AIM 0.1

typedef struct {
  double wall, cpu; /* s; the best of its rounds */
  gboolean missing, failed;
} Figure;

static double
cpu_of(int who)
{
  struct rusage usage;
  getrusage(who, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void
take(Figure *figure, double wall, double cpu)
{
  figure->wall = figure->wall == 0 ? wall : MIN(figure->wall, wall);
  figure->cpu = figure->cpu == 0 ? cpu : MIN(figure->cpu, cpu);
}

/* The backend is made anew, so nothing is connected. */
static void
run_pult(SshdLab *lab, Figure *figure)
{
  const char *arguments[] = {"command", "true", NULL};
  g_autofree NodeId *nodes = g_new(NodeId, lab->n);
  sshd_lab_open(lab, "    connect: 60 s\n    auth: 60 s\n", "", "");
  for (guint i = 0; i < lab->n; i++) {
    g_autofree char *name = g_strdup_printf("h%u", i + 1);
    nodes[i] = sshd_lab_node(lab, name);
  }
  double cpu = cpu_of(RUSAGE_SELF);
  gint64 begun = g_get_monotonic_time();
  guint32 request =
      backend_check_submit(lab->check, OP_EXEC, nodes, lab->n, 120 * TIME_SECOND, arguments);
  backend_check_finish(lab->check, request, backend_check_now(lab->check) + 120 * TIME_SECOND);
  take(figure, (double)(g_get_monotonic_time() - begun) / 1e6, cpu_of(RUSAGE_SELF) - cpu);
  guint n_ok = backend_check_count(lab->check, VERDICT_OK);
  if (n_ok != lab->n)
    printf("  only %u of %u succeeded: %s\n", n_ok, lab->n, lab->links->str);
  figure->failed |= n_ok != lab->n;
  sshd_lab_close(lab);
}

/* As the others read it. */
static char *
write_config(const SshdLab *lab)
{
  g_autofree char *key = sshd_lab_path(lab, "key");
  g_autofree char *known = sshd_lab_path(lab, "known_hosts");
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < lab->n; i++)
    g_string_append_printf(text, "Host h%u\n  Port %u\n", i + 1, lab->hosts[i].port);
  g_string_append_printf(text,
                         "Host *\n  HostName 127.0.0.1\n  User %s\n  IdentityFile %s\n"
                         "  UserKnownHostsFile %s\n  BatchMode yes\n  IdentitiesOnly yes\n"
                         "  ControlMaster no\n  LogLevel ERROR\n",
                         lab->user, key, known);
  sshd_lab_write(lab, "ssh_config", text->str);
  return sshd_lab_path(lab, "ssh_config");
}

static void
run_other(Figure *figure, const char *program, const char *command)
{
  g_autofree char *there = g_find_program_in_path(program);
  if (there == NULL) {
    figure->missing = TRUE;
    return;
  }
  const char *words[] = {"/bin/sh", "-c", command, NULL};
  int status = -1;
  double cpu = cpu_of(RUSAGE_CHILDREN);
  gint64 begun = g_get_monotonic_time();
  g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, NULL,
               &status, NULL);
  take(figure, (double)(g_get_monotonic_time() - begun) / 1e6, cpu_of(RUSAGE_CHILDREN) - cpu);
  figure->failed |= status != 0;
}

static const Figure *
print_others(const Figure *others, const char *const *names, guint n)
{
  const Figure *best = NULL;
  for (guint i = 0; i < n; i++) {
    if (others[i].missing || others[i].failed) {
      printf("  %-12s %s\n", names[i], others[i].missing ? "not here" : "failed");
      continue;
    }
    printf("  %-12s %6.2f s wall  %6.2f s CPU\n", names[i], others[i].wall, others[i].cpu);
    if (best == NULL || others[i].wall < best->wall)
      best = &others[i];
  }
  return best;
}

static gboolean
compare(void)
{
  static const char *const names[] = {"clush", "pdsh -R ssh", "ssh &"};
  Figure pult = {0}, others[3] = {0};
  SshdLab *lab = sshd_lab_new(HOSTS);
  if (lab == NULL)
    return TRUE;
  g_autofree char *config = write_config(lab);
  g_autofree char *clush =
      g_strdup_printf("clush -q -S -f 64 -o '-F %s' -w h[1-%u] true </dev/null", config, HOSTS);
  g_autofree char *pdsh = g_strdup_printf(
      "PDSH_SSH_ARGS_APPEND='-F %s' pdsh -S -R ssh -f 64 -w h[1-%u] true </dev/null", config,
      HOSTS);
  g_autofree char *ssh =
      g_strdup_printf("for i in $(seq %u); do ssh -n -F %s h$i true & done; wait", HOSTS, config);
  for (guint round = 0; round < ROUNDS; round++) {
    run_pult(lab, &pult);
    run_other(&others[0], "clush", clush);
    run_other(&others[1], "pdsh", pdsh);
    run_other(&others[2], "ssh", ssh);
  }
  sshd_lab_free(lab);
  printf("ssh: true on %u sshds, best of %u rounds\n", HOSTS, ROUNDS);
  printf("  %-12s %6.2f s wall  %6.2f s CPU\n", "pult", pult.wall, pult.cpu);
  const Figure *best = print_others(others, names, G_N_ELEMENTS(names));
  if (best == NULL)
    return !pult.failed;
  double cpu = best->cpu;
  for (guint i = 0; i < G_N_ELEMENTS(others); i++)
    if (!others[i].missing && !others[i].failed)
      cpu = MIN(cpu, others[i].cpu);
  gboolean held = pult.wall <= WALL_AIM * best->wall && pult.cpu <= CPU_AIM * cpu;
  printf("  wall %.2f of the best (aim %.1f), CPU %.3f of the best (aim %.1f): %s\n",
         pult.wall / best->wall, WALL_AIM, pult.cpu / cpu, CPU_AIM, held ? "held" : "NOT held");
  return held && !pult.failed;
}

static gboolean
do_many(void)
{
  Figure pult = {0};
  SshdLab *lab = sshd_lab_new(MANY);
  if (lab == NULL)
    return TRUE;
  run_pult(lab, &pult);
  sshd_lab_free(lab);
  printf("  %u sshds: %.2f s wall  %.2f s CPU, %s\n", MANY, pult.wall, pult.cpu,
         pult.failed ? "NOT all ok" : "all ok");
  return !pult.failed;
}

int
main(void)
{
  gboolean held = compare();
  return do_many() && held ? 0 : 1;
}

#else

int
main(void)
{
  puts("ssh: built without libssh");
  return 0;
}

#endif
