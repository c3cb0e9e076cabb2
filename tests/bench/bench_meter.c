/* Metering 34 clients at 10 Hz over SSH: CPU of the whole program without a screen, transcript and
 * all, as a share of one core. What it takes to connect is left out: two runs of different length
 * are held against each other. Aim: 4 %; twice that fails. */
#include <stdio.h>

#ifdef HAVE_SSH

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/contract/sshd_lab.h"

#include <sys/resource.h>
#include <sys/wait.h>

#define HOSTS 34
#define SHORT_SECONDS 4
#define LONG_SECONDS 14
#define AIM_PERCENT 4.0

static char *
write_lab(const SshdLab *lab)
{
  g_autoptr(GString) text = g_string_new("lab: metered\n"
                                         "defaults: {power: ssh, exec: ssh}\n"
                                         "switches: {sw1: {}}\n");
  g_string_append_printf(text,
                         "clients:\n  h[1-%d]: {switch: sw1, speed: 1 Gbit/s, mac: "
                         "52:54:00:0a:00:00 step 1, ip: 10.21.0.1 step 1}\n"
                         "backends:\n  ssh:\n    address: 127.0.0.1\n    user: \"%s\"\n"
                         "    key: %s/key\n    known-hosts: %s/known_hosts\n    agent: false\n"
                         "    interface: lo\n    usage-every: 0 s\n    interval: 100 ms\n"
                         "    nodes:\n",
                         HOSTS, lab->user, lab->folder, lab->folder);
  for (guint i = 1; i <= lab->n; i++)
    g_string_append_printf(text, "      h%u: {port: %u}\n", i, lab->hosts[i - 1].port);
  sshd_lab_write(lab, "lab.yaml", text->str);
  return sshd_lab_path(lab, "lab.yaml");
}

static guint
count_samples(const char *path)
{
  g_autofree char *text = NULL;
  guint n = 0;
  if (!g_file_get_contents(path, &text, NULL, NULL))
    return 0;
  for (const char *at = text; (at = strstr(at, "\"kind\":\"samples\"")) != NULL; at++)
    n++;
  return n;
}

/* CPU seconds of a session of so many seconds; the samples it recorded. -1: it failed. */
static double
session(const SshdLab *lab, const char *layout, int seconds, guint *n_samples)
{
  const char *pult = g_getenv("PULT");
  g_autofree char *record = sshd_lab_path(lab, "session.jsonl");
  g_autofree char *command = g_strdup_printf("sleep %d s", seconds);
  const char *words[] = {
      pult ? pult : "build/pult", "do", "--layout", layout, "--record", record, command, NULL};
  GPid pid;
  int status;
  struct rusage usage;
  remove(record);
  if (!g_spawn_async(NULL, (char **)words, NULL,
                     G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, &pid,
                     NULL) ||
      wait4(pid, &status, 0, &usage) != pid || status != 0)
    return -1;
  *n_samples = count_samples(record);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int
main(void)
{
  SshdLab *lab = sshd_lab_new(HOSTS);
  guint n_short = 0, n_long = 0;
  if (lab == NULL)
    return 0;
  g_autofree char *layout = write_lab(lab);
  double brief = session(lab, layout, SHORT_SECONDS, &n_short);
  double lasting = session(lab, layout, LONG_SECONDS, &n_long);
  sshd_lab_free(lab);
  if (brief < 0 || lasting < 0 || n_long <= n_short) {
    puts("meter: no session");
    return 1;
  }
  double percent = 100 * (lasting - brief) / (LONG_SECONDS - SHORT_SECONDS);
  double rate = (double)(n_long - n_short) / (LONG_SECONDS - SHORT_SECONDS);
  printf("meter: %d hosts over SSH, %.0f samples/s of %d: %.2f %% of a core (aim %.0f %%)\n", HOSTS,
         rate, HOSTS * 10, percent, AIM_PERCENT);
  return percent <= 2 * AIM_PERCENT ? 0 : 1;
}

#else

int
main(void)
{
  puts("meter: built without libssh");
  return 0;
}

#endif
