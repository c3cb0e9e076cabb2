/* 17 domains of libvirt's test driver, all switched on at once, then off, by pult's backend and by
 * a bare C program with 17 threads, by turns on the same machine; from the request to the last
 * answer. The driver itself needs microseconds, so this is what stands around it. Aim: at most 1.2
 * times the bare program. */
#include <stdio.h>

#ifdef HAVE_LIBVIRT

#include <libvirt/libvirt.h>
#include <string.h>

#include "tests/contract/domain_lab.h"

#define DOMAINS 17u
#define ROUNDS 21u
#define AIM 1.2

typedef struct {
  virConnectPtr connection;
  char name[16];
  gboolean on, ok;
} Job;

static gpointer
change(gpointer data)
{
  Job *job = data;
  virDomainPtr domain = virDomainLookupByName(job->connection, job->name);

  job->ok = domain != NULL && virDomainIsActive(domain) == !job->on &&
            (job->on ? virDomainCreate(domain) : virDomainDestroy(domain)) == 0 &&
            virDomainIsActive(domain) == job->on;
  if (domain != NULL)
    virDomainFree(domain);
  return NULL;
}

/* s; negative: something failed. */
static double
run_bare(virConnectPtr connection, gboolean on)
{
  GThread *threads[DOMAINS];
  Job jobs[DOMAINS];
  gboolean ok = TRUE;
  gint64 begun = g_get_monotonic_time();

  for (guint i = 0; i < DOMAINS; i++) {
    jobs[i] = (Job){.connection = connection, .on = on};
    g_snprintf(jobs[i].name, sizeof jobs[i].name, "vm-a%02u", i + 1);
    threads[i] = g_thread_new("bare", change, &jobs[i]);
  }
  for (guint i = 0; i < DOMAINS; i++) {
    g_thread_join(threads[i]);
    ok &= jobs[i].ok;
  }
  return ok ? (double)(g_get_monotonic_time() - begun) / 1e6 : -1;
}

static double
run_pult(const DomainLab *lab, gboolean on)
{
  gint64 begun = g_get_monotonic_time();
  guint before = backend_check_count(lab->check, VERDICT_OK);
  guint32 request = backend_check_submit(lab->check, on ? OP_ON : OP_OFF, lab->layout->clients,
                                         lab->layout->n_clients, 60 * TIME_SECOND, NULL);

  backend_check_finish(lab->check, request, backend_check_now(lab->check) + 60 * TIME_SECOND);
  double took = (double)(g_get_monotonic_time() - begun) / 1e6;
  return backend_check_count(lab->check, VERDICT_OK) == before + DOMAINS ? took : -1;
}

static int
by_size(gconstpointer a, gconstpointer b)
{
  double one = *(const double *)a, other = *(const double *)b;

  return one < other ? -1 : one > other;
}

static double
median(double values[2 * ROUNDS])
{
  qsort(values, 2 * ROUNDS, sizeof *values, by_size);
  return values[0] < 0 ? -1 : values[ROUNDS];
}

int
main(void)
{
  DomainLab *lab = domain_lab_new(DOMAINS);
  double pult[2 * ROUNDS], bare[2 * ROUNDS];

  domain_lab_open(lab, "  \"a[01-17]\": {switch: sw1, speed: 1 Gbit/s}\n", "    workers: 17\n");
  domain_lab_see(lab, "a17: power off\n");
  virConnectPtr connection = virConnectOpen(lab->room);
  for (guint i = 0; i < 2 * ROUNDS; i++) {
    pult[i] = run_pult(lab, i % 2 == 0);
    bare[i] = run_bare(connection, i % 2 == 0);
  }
  virConnectClose(connection);
  domain_lab_free(lab);
  double ours = median(pult), theirs = median(bare);
  gboolean held = ours > 0 && theirs > 0 && ours <= AIM * theirs;
  printf("libvirt: 17 power changes at once, median of %u\n", 2 * ROUNDS);
  printf("  pult %.2f ms, bare %.2f ms: %.2f (aim %.1f): %s\n", ours * 1e3, theirs * 1e3,
         ours / theirs, AIM, held ? "held" : "NOT held");
  return held ? 0 : 1;
}

#else

int
main(void)
{
  puts("libvirt: built without it");
  return 0;
}

#endif
